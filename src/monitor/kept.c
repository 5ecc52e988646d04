/* Files of /proc and /sys that are read again and again through one
 * descriptor. */
#include "monitor/source.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kernel gives tables in pieces of a page, each piece as full as the next
 * row allows. One shorter than this is the last: the read that would say so
 * can be spared. */
enum { SHORT_PIECE = 1024, ROOM = 8192 };

static int kernel_file_open_below(const char *root, const char *path)
{
    char full[PATH_MAX];

    if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(full, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

void pr_kernel_file_close(struct pr_kernel_file *k)
{
    if (k->fd_plus_1)
        close(k->fd_plus_1 - 1);
    *k = (struct pr_kernel_file){0};
}

static bool kernel_file_read_all(int fd, struct pr_buf *out)
{
    pr_buf_clear(out);
    for (;;) {
        ssize_t n;

        if (!pr_buf_reserve(out, ROOM))
            return false;
        n = pread(fd, out->data + out->len, out->cap - out->len - 1,
                  (off_t)out->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        out->len += (size_t)n;
        if (n < SHORT_PIECE)
            break;
    }
    out->data[out->len] = '\0';
    return out->len > 0;
}

const char *pr_kernel_file_read(struct pr_monitor_sample *l,
                                struct pr_kernel_file *k, const char *path,
                                size_t *ret_len)
{
    if (!k->fd_plus_1 && k->tried && !l->rescan)
        return NULL;
    if (!k->fd_plus_1)
        k->fd_plus_1 = kernel_file_open_below(l->root, path) + 1;
    if (!k->fd_plus_1 || !kernel_file_read_all(k->fd_plus_1 - 1, l->text)) {
        pr_kernel_file_close(k);
        k->tried = true;
        return NULL;
    }
    if (ret_len)
        *ret_len = l->text->len;
    return l->text->data;
}

bool pr_kernel_file_number(struct pr_monitor_sample *l,
                           struct pr_kernel_file *k, const char *path,
                           double *ret)
{
    const char *text = pr_kernel_file_read(l, k, path, NULL);
    char *end;
    long long v;

    if (!text)
        return false;
    errno = 0;
    v = strtoll(text, &end, 10);
    if (end == text || errno || (*end && !isspace((unsigned char)*end)))
        return false;
    *ret = (double)v;
    return true;
}

bool pr_kernel_file_read_line(struct pr_monitor_sample *l, const char *path,
                              char *out, size_t cap)
{
    int fd = kernel_file_open_below(l->root, path);
    ssize_t n;

    if (fd < 0)
        return false;
    n = read(fd, out, cap - 1);
    close(fd);
    if (n <= 0)
        return false;
    out[n] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return true;
}

void pr_kernel_file_each_entry(
    struct pr_monitor_sample *l, const char *path, const char *prefix,
    void (*each)(void *ctx, struct pr_monitor_sample *l, const char *name),
    void *ctx)
{
    char full[PATH_MAX];
    struct dirent *e;
    DIR *d;

    if (snprintf(full, sizeof(full), "%s%s", l->root, path) >=
        (int)sizeof(full))
        return;
    d = opendir(full);
    while (d && (e = readdir(d)))
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0)
            each(ctx, l, e->d_name);
    if (d)
        closedir(d);
}

const char *pr_kernel_file_label(char *out, size_t cap, const char *label)
{
    size_t n = 0;

    for (; *label && n + 1 < cap; label++) {
        unsigned char c = (unsigned char)*label;

        out[n++] = (c < 128 && isalnum(c)) || strchr("._-", c)
                       ? (char)tolower(c)
                       : '_';
    }
    out[n] = '\0';
    return out;
}
