/* Small files of /proc and /sys, and finding things in their text. */
#include "machine/sysfile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
