/* Reading /proc/diskstats, /proc/stat and the names in /sys. */
#include "observe/iostat.h"
#include "observe/iostat_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int pr_iostat_load(const char *proc, const char *file, struct pr_buf *text,
                   struct pr_err *err)
{
    char path[4096];
    ssize_t n = 1;
    int fd;

    snprintf(path, sizeof path, "%s/%s", proc, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pr_fail_errno(err, PR_E_IO, path, "cannot open");
    pr_buf_clear(text);
    while (n) {
        if (!pr_buf_reserve(text, 4096)) {
            close(fd);
            return pr_fail_nomem(err);
        }
        n = read(fd, text->data + text->len, text->cap - text->len - 1);
        if (n < 0 && errno != EINTR) {
            pr_fail_errno(err, PR_E_IO, path, "cannot read");
            close(fd);
            return PR_E_IO;
        }
        text->len += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    text->data[text->len] = '\0';
    return PR_OK;
}

/* ---- devices */

enum {
    /* Numbers of a line by their place after the name; Documentation/
     * admin-guide/iostats.rst. Older kernels stop before the discards, or
     * before the flushes. */
    FIELDS_MIN = 11,
    FIELDS_DISCARD = 15,
    FIELDS_MAX = 17,
};

static bool read_disk(const char *numbers, struct pr_iostat_disk *d)
{
    uint64_t v[FIELDS_MAX] = {0};
    int n = 0;

    for (; n < FIELDS_MAX; n++) {
        char *end;

        v[n] = strtoull(numbers, &end, 10);
        if (end == numbers)
            break;
        numbers = end;
    }
    if (n < FIELDS_MIN)
        return false;
    *d = (struct pr_iostat_disk){
        .io = {{v[0], v[1], v[2]}, {v[4], v[5], v[6]}, {v[11], v[12], v[13]}},
        .ms = {(uint32_t)v[3], (uint32_t)v[7], (uint32_t)v[14]},
        .busy_ms = (uint32_t)v[9],
        .queue_ms = (uint32_t)v[10],
        .flushes = v[15],
        .flush_ms = (uint32_t)v[16],
        .there = true,
    };
    return true;
}

/* "   8       0 sda 1 2 3 …": the name, ended by a NUL; *rest is after it. */
static char *diskstats_split_name(char *line, char **rest)
{
    char *save = NULL;

    (void)strtok_r(line, " \t", &save);
    (void)strtok_r(NULL, " \t", &save);
    line = strtok_r(NULL, " \t", &save);
    *rest = save;
    return line;
}

int pr_iostat_each_disk(char *text, pr_iostat_each *each, void *ctx)
{
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        struct pr_iostat_disk d;
        char *numbers, *name = diskstats_split_name(line, &numbers);
        int rc;

        if (!name || !numbers || !read_disk(numbers, &d))
            continue;
        rc = each(ctx, name, &d);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- processors */

static unsigned count_cpus(const char *text)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, "\ncpu")); at += 4)
        n += at[4] >= '0' && at[4] <= '9';
    return n;
}

bool pr_iostat_read_cpu(const char *text, struct pr_iostat_cpu *ret,
                        unsigned *ret_count)
{
    unsigned long long v[8] = {0};
    int n;

    /* Guests' time is in user and nice already. */
    n = sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0],
               &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
    if (n < 4)
        return false;
    *ret =
        (struct pr_iostat_cpu){v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
    *ret_count = count_cpus(text);
    return true;
}

/* ---- names */

void pr_iostat_device_name(const char *given, char out[static 64])
{
    char real[PATH_MAX];

    if (*given == '/' && realpath(given, real))
        given = real;
    if (strncmp(given, "/dev/", 5) == 0)
        given += 5;
    snprintf(out, 64, "%.63s", given);
}

/* The last part of a path, which it loses. */
static char *cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash)
        return NULL;
    *slash = '\0';
    return slash + 1;
}

/* A partition's folder is in that of its disk and has a file of this name. */
static bool is_partition(const char *folder)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/partition", folder);
    return access(path, F_OK) == 0;
}

bool pr_iostat_disk_name(const char *sys, unsigned major, unsigned minor,
                         char out[static 64])
{
    char link[4096], real[PATH_MAX], *name;
    bool partition;

    snprintf(link, sizeof link, "%s/dev/block/%u:%u", sys, major, minor);
    if (!realpath(link, real))
        return false;
    partition = is_partition(real);
    name = cut_last(real);
    if (partition)
        name = cut_last(real);
    if (!name || !*name || strlen(name) >= 64)
        return false;
    /* "cciss!c0d0" in /sys is "cciss/c0d0" everywhere else. */
    for (char *c = name; *c; c++)
        if (*c == '!')
            *c = '/';
    memcpy(out, name, strlen(name) + 1);
    return true;
}

bool pr_iostat_find_device(const char *path, char out[static 64])
{
    struct stat st;

    return stat(path, &st) == 0 &&
           pr_iostat_disk_name("/sys", major(st.st_dev), minor(st.st_dev), out);
}
