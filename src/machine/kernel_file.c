/*
 * Small files of /proc and /sys, and finding things in their text: by a path,
 * and below the root of an environment capture.
 */
#include "machine/kernel_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- by a path */

static bool read_path(const char *path, char *out, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n = 0;

    if (fd < 0)
        return false;
    while (len < bytes - 1 && (n = read(fd, out + len, bytes - 1 - len)) > 0)
        len += (size_t)n;
    close(fd);
    while (len && isspace((unsigned char)out[len - 1]))
        len--;
    out[len] = '\0';
    return n >= 0;
}

bool pr_sysfile_path(char out[static PATH_MAX], const char *dir,
                     const char *name)
{
    int n = snprintf(out, PATH_MAX, "%s/%s", dir, name);

    if (n > 0 && n < PATH_MAX)
        return true;
    out[0] = '\0';
    return false;
}

bool pr_sysfile_vread(char *out, size_t bytes, const char *fmt, va_list ap)
{
    char path[PATH_MAX];
    int n = vsnprintf(path, sizeof path, fmt, ap);

    return n > 0 && n < PATH_MAX && read_path(path, out, bytes);
}

bool pr_sysfile_read(char *out, size_t bytes, const char *fmt, ...)
{
    va_list ap;
    bool found;

    va_start(ap, fmt);
    found = pr_sysfile_vread(out, bytes, fmt, ap);
    va_end(ap);
    return found;
}

bool pr_sysfile_number(uint64_t *ret, const char *fmt, ...)
{
    unsigned long long v;
    char text[64], *end;
    va_list ap;
    bool found;

    va_start(ap, fmt);
    found = pr_sysfile_vread(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!found || !isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    v = strtoull(text, &end, 10);
    if (errno)
        return false;
    *ret = v;
    return true;
}

int pr_sysfile_write(const char *dir, const char *name, const char *text)
{
    char path[PATH_MAX];
    size_t len = strlen(text);
    ssize_t put;
    int fd, rc;

    if (!pr_sysfile_path(path, dir, name))
        return -ENAMETOOLONG;
    /* The kernel's files are there or cannot be made; made-up ones of tests
     * are made. */
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC, 0644);
    if (fd < 0)
        return -errno;
    put = write(fd, text, len);
    rc = put < 0 ? -errno : (size_t)put < len ? -EIO : 0;
    close(fd);
    return rc;
}

bool pr_sysfile_field(const char *text, const char *key, char *out,
                      size_t bytes)
{
    size_t n = strlen(key), len;

    while (strncmp(text, key, n) != 0) {
        text = strchr(text, '\n');
        if (!text)
            return false;
        text++;
    }
    text += n;
    text += strspn(text, " \t");
    len = strcspn(text, "\n");
    if (len >= bytes)
        return false;
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

bool pr_sysfile_has_word(const char *text, const char *by, const char *word)
{
    size_t n = strlen(word);

    for (;;) {
        size_t len;

        text += strspn(text, by);
        if (!*text)
            return false;
        len = strcspn(text, by);
        if (len == n && memcmp(text, word, n) == 0)
            return true;
        text += len;
    }
}

void pr_sysfile_unescape(char *s)
{
    char *to = s;

    for (; *s; s++) {
        if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
            s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
            *to++ =
                (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
            s += 3;
        } else {
            *to++ = *s;
        }
    }
    *to = '\0';
}

/* A number in a file of /proc, after a word. UINT64_MAX: not there. */
static uint64_t number_after(const char *path, const char *word)
{
    unsigned long long n;
    char text[16384];
    const char *at;

    if (!pr_sysfile_read(text, sizeof text, "%s", path))
        return UINT64_MAX;
    at = strstr(text, word);
    return at && sscanf(at + strlen(word), "%llu", &n) == 1 ? n : UINT64_MAX;
}

uint64_t pr_machine_device_bytes(void)
{
    return number_after("/proc/self/io", "\nread_bytes:");
}

uint64_t pr_machine_available_memory(void)
{
    uint64_t kib = number_after("/proc/meminfo", "\nMemAvailable:");

    if (kib < UINT64_MAX / 1024)
        return kib * 1024;
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- below a root */

static bool kernel_file_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool kernel_file_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool make_path(const struct pr_machine_env *e, char out[static 4096],
                      const char *fmt, va_list ap)
{
    size_t len = strlen(e->root);
    int n;

    if (len >= 2048)
        return false;
    memcpy(out, e->root, len + 1);
    n = vsnprintf(out + len, 4096 - len, fmt, ap);
    return n >= 0 && (size_t)n < 4096 - len;
}

bool pr_machine_env_path(const struct pr_machine_env *e, char out[static 4096],
                         const char *fmt, ...)
{
    va_list ap;
    bool ok;

    va_start(ap, fmt);
    ok = make_path(e, out, fmt, ap);
    va_end(ap);
    return ok;
}

/* Not waiting: what should be a file may be a pipe in a strange container. */
static int kernel_file_open_path(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static ssize_t read_retrying(int fd, char *p, size_t size)
{
    ssize_t n;

    do
        n = read(fd, p, size);
    while (n < 0 && errno == EINTR);
    return n;
}

static bool kernel_file_read_text(const char *path, char *out, size_t size)
{
    int fd = kernel_file_open_path(path);
    size_t used = 0, start = 0;
    ssize_t n = 1;

    if (fd < 0)
        return false;
    while (n > 0 && used < size - 1) {
        n = read_retrying(fd, out + used, size - 1 - used);
        used += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    out[used] = '\0';
    used = strlen(out);
    while (used && kernel_file_is_space(out[used - 1]))
        used--;
    while (start < used && kernel_file_is_space(out[start]))
        start++;
    memmove(out, out + start, used - start);
    out[used - start] = '\0';
    return used > start;
}

bool pr_machine_env_text(const struct pr_machine_env *e, char *out, size_t size,
                         const char *fmt, ...)
{
    char path[4096];
    va_list ap;
    bool ok;

    va_start(ap, fmt);
    ok = make_path(e, path, fmt, ap);
    va_end(ap);
    return ok && kernel_file_read_text(path, out, size);
}

bool pr_machine_env_parse_uint(const char *s, uint64_t *ret)
{
    uint64_t u = 0;

    if (!kernel_file_is_digit(*s))
        return false;
    for (; kernel_file_is_digit(*s); s++)
        if (__builtin_mul_overflow(u, 10, &u) ||
            __builtin_add_overflow(u, (uint64_t)(*s - '0'), &u))
            return false;
    *ret = u;
    return true;
}

bool pr_machine_env_uint(const struct pr_machine_env *e, uint64_t *ret,
                         const char *fmt, ...)
{
    char path[4096], text[64];
    va_list ap;
    bool ok;

    va_start(ap, fmt);
    ok = make_path(e, path, fmt, ap);
    va_end(ap);
    return ok && kernel_file_read_text(path, text, sizeof text) &&
           pr_machine_env_parse_uint(text, ret);
}

bool pr_machine_env_lines_open(const struct pr_machine_env *e,
                               struct pr_machine_env_lines *l, const char *path)
{
    char full[4096];

    l->start = l->end = 0;
    l->cut = false;
    l->fd = pr_machine_env_path(e, full, "%s", path)
                ? kernel_file_open_path(full)
                : -1;
    return l->fd >= 0;
}

/* Reads more behind what is left; false at the end or when it is full. */
static bool env_lines_refill(struct pr_machine_env_lines *l)
{
    ssize_t n;

    memmove(l->buf, l->buf + l->start, l->end - l->start);
    l->end -= l->start;
    l->start = 0;
    if (l->end == sizeof l->buf - 1)
        return false;
    n = read_retrying(l->fd, l->buf + l->end, sizeof l->buf - 1 - l->end);
    if (n <= 0)
        return false;
    l->end += (size_t)n;
    return true;
}

/* Forgets the rest of a line that was cut. */
static void skip_rest(struct pr_machine_env_lines *l)
{
    char *nl;

    while (!(nl = memchr(l->buf + l->start, '\n', l->end - l->start))) {
        l->start = l->end;
        if (!env_lines_refill(l))
            return;
    }
    l->start = (size_t)(nl - l->buf) + 1;
}

char *pr_machine_env_lines_next(struct pr_machine_env_lines *l)
{
    char *line, *nl;

    if (l->cut)
        skip_rest(l);
    l->cut = false;
    while (!(nl = memchr(l->buf + l->start, '\n', l->end - l->start)))
        if (!env_lines_refill(l))
            break;
    line = l->buf + l->start;
    if (nl) {
        *nl = '\0';
        l->start = (size_t)(nl - l->buf) + 1;
        return line;
    }
    if (l->start == l->end) {
        pr_machine_env_lines_close(l);
        return NULL;
    }
    l->buf[l->end] = '\0';
    l->start = l->end;
    l->cut = true;
    return line;
}

void pr_machine_env_lines_close(struct pr_machine_env_lines *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

const char *pr_machine_env_field(const char *line, const char *key)
{
    size_t n = strlen(key);

    if (strncmp(line, key, n) != 0)
        return NULL;
    for (line += n; *line == ' ' || *line == '\t'; line++)
        ;
    if (*line++ != ':')
        return NULL;
    while (kernel_file_is_space(*line))
        line++;
    return line;
}

char *pr_machine_env_chosen(char *text)
{
    char *open = strchr(text, '[');
    char *close_at = open ? strchr(open, ']') : NULL;

    if (!close_at || close_at == open + 1)
        return NULL;
    *close_at = '\0';
    return open + 1;
}

uint64_t pr_machine_env_list_count(const char *list)
{
    uint64_t count = 0;

    while (kernel_file_is_digit(*list)) {
        uint64_t from, to;
        if (!pr_machine_env_parse_uint(list, &from))
            return 0;
        to = from;
        list += strspn(list, "0123456789");
        if (*list == '-' && !pr_machine_env_parse_uint(list + 1, &to))
            return 0;
        list += strspn(list, "-0123456789");
        if (to < from || to - from > 1 << 20)
            return 0;
        count += to - from + 1;
        list += *list == ',';
    }
    return count;
}

static bool env_is_wanted_name(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);

    if (n == 0)
        return name[0] != '.';
    return strncmp(name, prefix, n) == 0 && name[n] &&
           strspn(name + n, "0123456789") == strlen(name + n);
}

/* policy2 before policy10. */
static int env_compare_numbered(const void *a, const void *b)
{
    return strverscmp(a, b);
}

void pr_machine_env_each(struct pr_machine_env *e, const char *dir,
                         const char *prefix, pr_machine_env_visit *see,
                         void *ctx)
{
    enum { MOST = 1024 };
    char path[4096], names[MOST][64];
    size_t count = 0;
    struct dirent *d;
    DIR *folder = NULL;

    if (pr_machine_env_path(e, path, "%s", dir))
        folder = opendir(path);
    if (!folder)
        return;
    while (count < MOST && (d = readdir(folder))) {
        size_t len = strlen(d->d_name);
        if (env_is_wanted_name(d->d_name, prefix) && len < sizeof names[0])
            memcpy(names[count++], d->d_name, len + 1);
    }
    closedir(folder);
    qsort(names, count, sizeof names[0], env_compare_numbered);
    for (size_t i = 0; i < count; i++)
        see(e, names[i], ctx);
}

/* ---- below a root: into the JSON */

void pr_machine_env_put_text(struct pr_machine_env *e, const char *key,
                             const char *text)
{
    pr_json_put_str(&e->jb, key, text[0] ? text : NULL);
}

void pr_machine_env_put_cpu_file(struct pr_machine_env *e, const char *key,
                                 const char *name)
{
    char word[PR_MACHINE_ENV_WORD];

    if (pr_machine_env_text(e, word, sizeof word, "/sys/devices/system/cpu/%s",
                            name))
        pr_json_put_str(&e->jb, key, word);
}
