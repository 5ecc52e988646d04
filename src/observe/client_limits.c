/*
 * Figures of the client while it trains: what it may use, its devices and its
 * network, looked at as phases begin and end.
 */
#include "observe/client_limits.h"

#include "base/clock.h"
#include "base/file.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* ---- processors and memory that this process may use, by affinity, by what
 * the machine has, and by the control groups it is in (both versions) */

enum { MAX_TEXT = 1 << 20 };

/* A file below the root, in the arena; NULL: not there. */
static const char *client_limits_read_text(struct pr_arena *a, const char *root,
                                           const char *name)
{
    char path[4096];
    const char *text;
    size_t len;

    if (snprintf(path, sizeof path, "%s/%s", root, name) >= (int)sizeof path ||
        pr_file_read(path, MAX_TEXT, a, &text, &len, NULL))
        return NULL;
    return text;
}

/* A number alone in a file. False: not there, or no number. */
static bool client_limits_read_number(struct pr_arena *a, const char *root,
                                      const char *name, double *ret)
{
    const char *text = client_limits_read_text(a, root, name);
    char *end;
    double n;

    if (!text)
        return false;
    n = strtod(text, &end);
    if (end == text)
        return false;
    *ret = n;
    return true;
}

/* ---- one group */

/* Folder of a group below /sys, and how to read a limit there. */
typedef bool read_fn(struct pr_arena *a, const char *sys, const char *folder,
                     double *ret);

static bool quota_v2(struct pr_arena *a, const char *sys, const char *folder,
                     double *ret)
{
    const char *name = pr_arena_printf(a, "%s/cpu.max", folder);
    const char *text = name ? client_limits_read_text(a, sys, name) : NULL;
    double quota, period;

    /* Without a quota it is "max 100000". */
    if (!text || sscanf(text, "%lf %lf", &quota, &period) != 2 || quota <= 0 ||
        period <= 0)
        return false;
    *ret = quota / period;
    return true;
}

static bool quota_v1(struct pr_arena *a, const char *sys, const char *folder,
                     double *ret)
{
    const char *quota_name = pr_arena_printf(a, "%s/cpu.cfs_quota_us", folder);
    const char *period_name =
        pr_arena_printf(a, "%s/cpu.cfs_period_us", folder);
    double quota, period;

    if (!quota_name || !period_name ||
        !client_limits_read_number(a, sys, quota_name, &quota) ||
        !client_limits_read_number(a, sys, period_name, &period) ||
        quota <= 0 || period <= 0)
        return false;
    *ret = quota / period;
    return true;
}

static bool memory_v2(struct pr_arena *a, const char *sys, const char *folder,
                      double *ret)
{
    const char *name = pr_arena_printf(a, "%s/memory.max", folder);

    return name && client_limits_read_number(a, sys, name, ret);
}

static bool memory_v1(struct pr_arena *a, const char *sys, const char *folder,
                      double *ret)
{
    const char *name = pr_arena_printf(a, "%s/memory.limit_in_bytes", folder);

    return name && client_limits_read_number(a, sys, name, ret);
}

/* ---- from the group of this process to the top */

/* The lowest limit of a group and those above it; *best is lowered. */
static void walk_up(struct pr_arena *a, const char *sys, const char *mount,
                    const char *path, read_fn *read, double *best)
{
    char folder[4096];
    size_t least = strlen(mount);
    int n = snprintf(folder, sizeof folder, "%s%s", mount, path);

    if (n < 0 || n >= (int)sizeof folder)
        return;
    for (;;) {
        char *slash;
        double here;

        if (read(a, sys, folder, &here) && here > 0 && here < *best)
            *best = here;
        slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < least)
            return;
        *slash = '\0';
    }
}

/* Whether a list of names with commas has this one. */
static bool has_name(const char *list, size_t len, const char *name)
{
    size_t n = strlen(name);

    for (const char *p = list; p + n <= list + len; p++)
        if (memcmp(p, name, n) == 0 && (p == list || p[-1] == ',') &&
            (p + n == list + len || p[n] == ','))
            return true;
    return false;
}

/* Lines are NUMBER:CONTROLLERS:PATH; without controllers it is version 2. */
static void group_limit(const struct pr_client_limits *l, struct pr_arena *a,
                        const char *controller, read_fn *v1, read_fn *v2,
                        double *best)
{
    const char *text = client_limits_read_text(a, l->roots.proc, "self/cgroup");
    const char *sys = l->roots.sys;
    char path[2048], mount[64];

    for (const char *line = text; line && *line;) {
        const char *next = strchr(line, '\n');
        const char *names = strchr(line, ':');
        const char *colon = names ? strchr(names + 1, ':') : NULL;
        size_t len;

        if (!next)
            next = line + strlen(line);
        if (!colon || colon > next)
            break;
        len = (size_t)(colon - ++names);
        snprintf(path, sizeof path, "%.*s", (int)(next - colon - 1), colon + 1);
        if (!len) {
            walk_up(a, sys, "fs/cgroup", path, v2, best);
            walk_up(a, sys, "fs/cgroup/unified", path, v2, best);
        } else if (has_name(names, len, controller)) {
            snprintf(mount, sizeof mount, "fs/cgroup/%s", controller);
            walk_up(a, sys, mount, path, v1, best);
        }
        line = *next ? next + 1 : next;
    }
}

/* ---- processors and memory there are */

static double allowed_processors(void)
{
    cpu_set_t cpus;

    /* More processors than the set has room for: all of them. */
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        return CPU_COUNT(&cpus);
    return (double)sysconf(_SC_NPROCESSORS_ONLN);
}

static void client_limits_find_processors(struct pr_client_limits *l)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);

    l->processors = allowed_processors();
    if (a)
        group_limit(l, a, "cpu", quota_v1, quota_v2, &l->processors);
}

static void client_limits_find_memory(struct pr_client_limits *l)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    const char *text =
        a ? client_limits_read_text(a, l->roots.proc, "meminfo") : NULL;
    const char *at = text ? strstr(text, "MemTotal:") : NULL;
    double bytes;

    if (!at || sscanf(at, "MemTotal: %lf", &bytes) != 1)
        return;
    bytes *= 1024;
    group_limit(l, a, "memory", memory_v1, memory_v2, &bytes);
    l->memory = (uint64_t)bytes;
}

/* ---- the block devices under a folder, and what the kernel counts of them: a
 * partition stands for its disk, a volume or RAID for the disks it is made of;
 * the busiest of these is what limits */

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
    const char *text = client_limits_read_text(a, folder, name);

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
    if (client_limits_read_text(a, folder, "partition")) {
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
        client_limits_read_text(a, l->roots.proc, "self/mountinfo");

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

/* Which devices are under a folder. */
static void client_limits_find_devices(struct pr_client_limits *l,
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

/* ---- what devices did */

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

/* The counters of the devices. add: what they grew by since the last look is
 * added up. False: not all of them are there. */
static bool client_limits_sample_devices(struct pr_client_limits *l, bool add)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    const char *line =
        a && l->device_count
            ? client_limits_read_text(a, l->roots.proc, "diskstats")
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

/* ---- bytes that came over the network: where there are real interfaces only
 * those count, so that a byte is not counted again at a bridge or bond above
 * them; in a container there are none, and all but lo count */

/* NAME: BYTES … of /proc/net/dev. */
static bool netdev_read_line(const char *line, char name[static 32],
                             uint64_t *ret_bytes)
{
    const char *colon = strchr(line, ':'), *end = strchr(line, '\n');
    unsigned long long bytes;
    size_t len;

    line += strspn(line, " ");
    if (!colon || (end && colon > end) ||
        sscanf(colon + 1, "%llu", &bytes) != 1)
        return false;
    len = (size_t)(colon - line);
    if (!len || len >= 32)
        return false;
    memcpy(name, line, len);
    name[len] = '\0';
    *ret_bytes = bytes;
    return strcmp(name, "lo") != 0;
}

static const char *netdev_next_line(const char *line)
{
    line = strchr(line, '\n');
    return line ? line + 1 : "";
}

static bool is_real(const struct pr_client_limits *l, const char *name)
{
    char path[4096];
    struct stat sb;

    return snprintf(path, sizeof path, "%s/class/net/%s/device", l->roots.sys,
                    name) < (int)sizeof path &&
           stat(path, &sb) == 0;
}

/* Megabits a second in a file; -1 or an error when nobody knows. */
static double speed_of(const struct pr_client_limits *l, struct pr_arena *a,
                       const char *name)
{
    char path[64];
    double mbit;

    snprintf(path, sizeof path, "class/net/%s/speed", name);
    if (!client_limits_read_number(a, l->roots.sys, path, &mbit) || mbit <= 0 ||
        mbit >= UINT32_MAX)
        return 0;
    return mbit * 1e6 / 8;
}

static void add_nets(struct pr_client_limits *l, struct pr_arena *a,
                     const char *text, bool real)
{
    char name[32];
    uint64_t bytes;

    for (const char *line = text; *line; line = netdev_next_line(line)) {
        struct pr_client_limits_net *n = &l->nets[l->net_count];

        if (l->net_count == PR_CLIENT_LIMITS_NETS)
            return;
        if (!netdev_read_line(line, name, &bytes) ||
            (real && !is_real(l, name)))
            continue;
        memcpy(n->name, name, sizeof name);
        n->speed = speed_of(l, a, name);
        l->net_count++;
    }
}

static void client_limits_find_nets(struct pr_client_limits *l)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    const char *text =
        a ? client_limits_read_text(a, l->roots.proc, "net/dev") : NULL;

    if (!text)
        return;
    add_nets(l, a, text, true);
    if (!l->net_count)
        add_nets(l, a, text, false);
}

/* Bytes of the interfaces, likewise. */
static bool client_limits_sample_nets(struct pr_client_limits *l, bool add)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16384);
    const char *text =
        a && l->net_count ? client_limits_read_text(a, l->roots.proc, "net/dev")
                          : NULL;
    char name[32];
    uint64_t bytes;
    size_t seen = 0;

    for (const char *line = text; line && *line;
         line = netdev_next_line(line)) {
        if (!netdev_read_line(line, name, &bytes))
            continue;
        for (size_t i = 0; i < l->net_count; i++)
            if (strcmp(l->nets[i].name, name) == 0) {
                if (add && bytes > l->nets[i].was_bytes)
                    l->nets[i].bytes += bytes - l->nets[i].was_bytes;
                l->nets[i].was_bytes = bytes;
                seen++;
            }
    }
    return seen && seen == l->net_count;
}

/* ---- what kind of storage */

const char *pr_client_limits_filesystem_kind(uint64_t f_type)
{
    static const struct {
        uint64_t type;
        const char *kind;
    } rows[] = {
        {0x6969, "network"},                             /* NFS */
        {0x517b, "network"},                             /* SMB */
        {0xfe534d42, "network"},                         /* SMB2 */
        {0xff534d42, "network"},                         /* CIFS */
        {0x0bd00bd0, "network"},                         /* Lustre */
        {0x00c36400, "network"},                         /* Ceph */
        {0x47504653, "network"},                         /* GPFS */
        {0x19830326, "network"},                         /* BeeGFS */
        {0x20030528, "network"},                         /* OrangeFS */
        {0x013111a8, "network"},                         /* IBRIX */
        {0xaad7aaea, "network"},                         /* PanFS */
        {0x01021997, "network"},                         /* 9p */
        {0x5346414f, "network"},                         /* AFS */
        {0x73757245, "network"},                         /* Coda */
        {0x7461636f, "network"},                         /* OCFS2 */
        {0x01161970, "network"},                         /* GFS2 */
        {0x65735546, "fuse"},    {0x01021994, "memory"}, /* tmpfs */
        {0x858458f6, "memory"},                          /* ramfs */
        {0x958458f6, "memory"},                          /* hugetlbfs */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == f_type)
            return rows[i].kind;
    return "local disk";
}

static const char *client_limits_find_kind(const char *engine,
                                           const char *folder)
{
    struct statfs fs;

    if (strcmp(engine, "null") == 0)
        return "none";
    if (strcmp(engine, "memory") == 0)
        return "memory";
    if (statfs(folder, &fs) < 0)
        return "";
    /* f_type is signed on some machines. */
    return pr_client_limits_filesystem_kind((uint32_t)fs.f_type);
}

/* ---- phases */

void pr_client_limits_init(struct pr_client_limits *l, const char *engine,
                           const char *folder)
{
    static const struct pr_client_limits_roots roots = {"/proc", "/sys"};

    pr_client_limits_init_at(l, engine, folder, &roots);
}

void pr_client_limits_init_at(struct pr_client_limits *l, const char *engine,
                              const char *folder,
                              const struct pr_client_limits_roots *roots)
{
    *l = (struct pr_client_limits){
        .roots = *roots, .kind = client_limits_find_kind(engine, folder)};
    client_limits_find_processors(l);
    client_limits_find_memory(l);
    client_limits_find_nets(l);
    if (strcmp(l->kind, "none") != 0 && strcmp(l->kind, "memory") != 0)
        client_limits_find_devices(l, folder);
}

/* Of all threads, those that have ended included. */
static uint64_t cpu_ns(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) < 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The kernel's count of each thread: ran, waited for a processor, turns. */
static bool look_at_delay(const struct pr_client_limits *l, uint64_t *ret)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const char *path =
        a ? pr_arena_printf(a, "%s/self/task", l->roots.proc) : NULL;
    DIR *tasks = path ? opendir(path) : NULL;
    struct dirent *e;
    uint64_t sum = 0;
    bool any = false;

    while (tasks && (e = readdir(tasks))) {
        char name[300];
        const char *text;
        unsigned long long delay;

        snprintf(name, sizeof name, "%s/schedstat", e->d_name);
        text =
            *e->d_name == '.' ? NULL : client_limits_read_text(a, path, name);
        if (text && sscanf(text, "%*u %llu", &delay) == 1) {
            sum += delay;
            any = true;
        }
    }
    if (tasks)
        closedir(tasks);
    *ret = sum;
    return any;
}

static bool look_at_steal(const struct pr_client_limits *l, uint64_t ret[2])
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const char *text =
        a ? client_limits_read_text(a, l->roots.proc, "stat") : NULL;
    unsigned long long t[8];

    if (!text ||
        sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0],
               &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
        return false;
    ret[0] = t[7];
    ret[1] = 0;
    for (int i = 0; i < 8; i++)
        ret[1] += t[i];
    return true;
}

/* What was taken from this process while it could have run. */
static void end_disturbance(struct pr_client_limits *l)
{
    uint64_t delay, steal[2];

    l->has_delay = l->has_delay && look_at_delay(l, &delay);
    if (l->has_delay && delay > l->was_delay_ns)
        l->delay_s += (double)(delay - l->was_delay_ns) / 1e9;
    l->has_steal = l->has_steal && look_at_steal(l, steal);
    /* Counters of a machine that was moved may go back. */
    for (int i = 0; l->has_steal && i < 2; i++)
        if (steal[i] > l->was_steal[i])
            l->steal[i] += (double)(steal[i] - l->was_steal[i]);
}

void pr_client_limits_begin(struct pr_client_limits *l)
{
    l->has_delay = look_at_delay(l, &l->was_delay_ns);
    l->has_steal = look_at_steal(l, l->was_steal);
    l->has_devices = client_limits_sample_devices(l, false);
    l->has_nets = client_limits_sample_nets(l, false);
    l->was_cpu_ns = cpu_ns();
    l->was_ns = pr_now(l->clock);
    l->is_open = true;
}

void pr_client_limits_end(struct pr_client_limits *l)
{
    double seconds = (double)(pr_now(l->clock) - l->was_ns) / 1e9;

    if (!l->is_open)
        return;
    l->is_open = false;
    l->seconds += seconds;
    l->cpu_s += (double)(cpu_ns() - l->was_cpu_ns) / 1e9;
    end_disturbance(l);
    if (l->has_devices && client_limits_sample_devices(l, true))
        l->device_s += seconds;
    if (l->has_nets && client_limits_sample_nets(l, true))
        l->net_s += seconds;
}

/* ---- figures */

static double ratio_or_nan(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

double pr_client_limits_cpu_share(const struct pr_client_limits *l)
{
    return ratio_or_nan(l->cpu_s, l->seconds * l->processors);
}

double pr_client_limits_delay_s(const struct pr_client_limits *l)
{
    return l->has_delay ? l->delay_s : (double)NAN;
}

double pr_client_limits_steal_share(const struct pr_client_limits *l)
{
    return l->has_steal ? ratio_or_nan(l->steal[0], l->steal[1]) : (double)NAN;
}

double pr_client_limits_processors(const struct pr_client_limits *l)
{
    return l->processors > 0 ? l->processors : (double)NAN;
}

double pr_client_limits_device_busy_share(const struct pr_client_limits *l)
{
    uint64_t most = 0;

    for (size_t i = 0; i < l->device_count; i++)
        if (l->devices[i].busy_ms > most)
            most = l->devices[i].busy_ms;
    /* The kernel counts in ticks, which may be one more than the phase had. */
    return l->device_s > 0 ? fmin(1, (double)most / 1e3 / l->device_s)
                           : (double)NAN;
}

double pr_client_limits_device_mb_per_s(const struct pr_client_limits *l)
{
    double bytes = 0;

    for (size_t i = 0; i < l->device_count; i++)
        bytes += (double)l->devices[i].bytes;
    return ratio_or_nan(bytes / 1e6, l->device_s);
}

double pr_client_limits_network_mb_per_s(const struct pr_client_limits *l)
{
    double bytes = 0;

    for (size_t i = 0; i < l->net_count; i++)
        bytes += (double)l->nets[i].bytes;
    return ratio_or_nan(bytes / 1e6, l->net_s);
}

double pr_client_limits_network_share(const struct pr_client_limits *l)
{
    double most = (double)NAN;

    for (size_t i = 0; i < l->net_count; i++)
        if (l->nets[i].speed > 0) /* fmax leaves a NAN out */
            most = fmax(most, ratio_or_nan((double)l->nets[i].bytes,
                                           l->net_s * l->nets[i].speed));
    return most;
}

double pr_client_limits_memory_share(const struct pr_client_limits *l)
{
    struct rusage used;

    if (!l->memory || getrusage(RUSAGE_SELF, &used) < 0)
        return (double)NAN;
    return (double)used.ru_maxrss * 1024 / (double)l->memory;
}

const char *pr_client_limits_storage_kind(const struct pr_client_limits *l)
{
    return l->kind;
}
