/*
 * The block devices under a folder, and what the kernel counts of them. A
 * partition stands for its disk, a volume or RAID for the disks it is made of:
 * the busiest of these is what limits.
 */
#include "observe/limits_impl.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { DEPTH = 8, SECTOR = 512 };

/* ---- which devices */

static void disk_add_device(struct pr_client_limits *l, unsigned major,
                            unsigned minor)
{
    for (size_t i = 0; i < l->device_count; i++)
        if (l->devices[i].major == major && l->devices[i].minor == minor)
            return;
    if (l->device_count < PR_CLIENT_LIMITS_DEVICES)
        l->devices[l->device_count++] =
            (struct pr_client_limits_device){.major = major, .minor = minor};
}

static bool read_dev(struct pr_arena *a, const char *folder, const char *name,
                     unsigned *ret_major, unsigned *ret_minor)
{
    const char *text = pr_client_limits_read_text(a, folder, name);

    return text && sscanf(text, "%u:%u", ret_major, ret_minor) == 2;
}

static void disk_resolve_device(struct pr_client_limits *l, struct pr_arena *a,
                                unsigned major, unsigned minor, int depth);

/* The devices that this one is made of. False: it is not. */
static bool resolve_parts(struct pr_client_limits *l, struct pr_arena *a,
                          const char *folder, int depth)
{
    char path[4096];
    unsigned major, minor;
    struct dirent *e;
    bool any = false;
    DIR *dir;

    if (snprintf(path, sizeof path, "%s/slaves", folder) >= (int)sizeof path)
        return false;
    dir = opendir(path);
    while (dir && (e = readdir(dir))) {
        char name[300];

        snprintf(name, sizeof name, "%s/dev", e->d_name);
        if (*e->d_name != '.' && read_dev(a, path, name, &major, &minor)) {
            disk_resolve_device(l, a, major, minor, depth + 1);
            any = true;
        }
    }
    if (dir)
        (void)closedir(dir);
    return any;
}

static void disk_resolve_device(struct pr_client_limits *l, struct pr_arena *a,
                                unsigned major, unsigned minor, int depth)
{
    char folder[4096];
    struct stat sb;

    if (snprintf(folder, sizeof folder, "%s/dev/block/%u:%u", l->roots.sys,
                 major, minor) >= (int)sizeof folder ||
        stat(folder, &sb) < 0 || depth > DEPTH)
        return;
    if (pr_client_limits_read_text(a, folder, "partition")) {
        /* The name is a link into the disk's folder. */
        if (read_dev(a, folder, "../dev", &major, &minor))
            disk_resolve_device(l, a, major, minor, depth + 1);
    } else if (!resolve_parts(l, a, folder, depth)) {
        disk_add_device(l, major, minor);
    }
}

/* File systems with a device number of their own (btrfs): the mount tells the
 * device. The line that fits is
 *   36 35 0:49 / /data rw,noatime shared:1 - btrfs /dev/sda2 rw */
static void resolve_mount(struct pr_client_limits *l, struct pr_arena *a,
                          unsigned major, unsigned minor)
{
    const char *line =
        pr_client_limits_read_text(a, l->roots.proc, "self/mountinfo");

    for (; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        const char *end = strchr(line, '\n');
        const char *dash = strstr(line, " - ");
        char source[256];
        unsigned x, y;
        struct stat sb;

        if (sscanf(line, "%*u %*u %u:%u", &x, &y) == 2 && x == major &&
            y == minor && dash && (!end || dash < end) &&
            sscanf(dash, " - %*s %255s", source) == 1 &&
            stat(source, &sb) == 0 && S_ISBLK(sb.st_mode))
            disk_resolve_device(l, a, major(sb.st_rdev), minor(sb.st_rdev), 0);
    }
}

void pr_client_limits_find_devices(struct pr_client_limits *l,
                                   const char *folder)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    struct stat sb;

    if (!a || stat(folder, &sb) < 0)
        return;
    disk_resolve_device(l, a, major(sb.st_dev), minor(sb.st_dev), 0);
    if (!l->device_count && major(sb.st_dev) == 0)
        resolve_mount(l, a, major(sb.st_dev), minor(sb.st_dev));
}

/* ---- what they did */

/* One counter went up; older kernels have them in 32 bits. */
static uint64_t disk_counter_growth(uint64_t was, uint64_t now)
{
    if (now >= was)
        return now - was;
    return was <= UINT32_MAX ? now + UINT32_MAX + 1 - was : 0;
}

static void disk_count_sample(struct pr_client_limits_device *d,
                              uint64_t sectors, uint64_t ms, bool add)
{
    if (add) {
        d->bytes += disk_counter_growth(d->was_bytes, sectors) * SECTOR;
        d->busy_ms += disk_counter_growth(d->was_ms, ms);
    }
    d->was_bytes = sectors;
    d->was_ms = ms;
}

bool pr_client_limits_sample_devices(struct pr_client_limits *l, bool add)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    const char *line =
        a && l->device_count
            ? pr_client_limits_read_text(a, l->roots.proc, "diskstats")
            : NULL;
    size_t seen = 0;

    for (; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        unsigned long long in, out, ms;
        unsigned x, y;

        /* reads, merged, SECTORS, ms, writes, merged, SECTORS, ms, now, MS */
        if (sscanf(line, "%u %u %*s %*u %*u %llu %*u %*u %*u %llu %*u %*u %llu",
                   &x, &y, &in, &out, &ms) != 5)
            continue;
        for (size_t i = 0; i < l->device_count; i++)
            if (l->devices[i].major == x && l->devices[i].minor == y) {
                disk_count_sample(&l->devices[i], in + out, ms, add);
                seen++;
            }
    }
    return seen && seen == l->device_count;
}
