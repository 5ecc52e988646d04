/* Figures of the client while it trains: phases, and what is made of them. */
#include "workload/limits.h"

#include "base/clock.h"
#include "workload/limits_impl.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <time.h>

/* ---- what kind of storage */

const char *pr_limits_kind_of(uint64_t f_type)
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

static const char *find_kind(const char *engine, const char *folder)
{
    struct statfs fs;

    if (strcmp(engine, "null") == 0)
        return "none";
    if (strcmp(engine, "memory") == 0)
        return "memory";
    if (statfs(folder, &fs) < 0)
        return "";
    /* f_type is signed on some machines. */
    return pr_limits_kind_of((uint32_t)fs.f_type);
}

/* ---- phases */

void pr_limits_init(struct pr_limits *l, const char *engine, const char *folder)
{
    static const struct pr_limits_roots roots = {"/proc", "/sys"};

    pr_limits_init_at(l, engine, folder, &roots);
}

void pr_limits_init_at(struct pr_limits *l, const char *engine,
                       const char *folder, const struct pr_limits_roots *roots)
{
    *l = (struct pr_limits){.roots = *roots, .kind = find_kind(engine, folder)};
    pr_limits_find_processors(l);
    pr_limits_find_memory(l);
    pr_limits_find_nets(l);
    if (strcmp(l->kind, "none") != 0 && strcmp(l->kind, "memory") != 0)
        pr_limits_find_devices(l, folder);
}

/* Of all threads, those that have ended included. */
static uint64_t cpu_ns(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) < 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void pr_limits_begin(struct pr_limits *l)
{
    l->has_devices = pr_limits_look_at_devices(l, false);
    l->has_nets = pr_limits_look_at_nets(l, false);
    l->was_cpu_ns = cpu_ns();
    l->was_ns = pr_clock_ns();
    l->is_open = true;
}

void pr_limits_end(struct pr_limits *l)
{
    double seconds = (double)(pr_clock_ns() - l->was_ns) / 1e9;

    if (!l->is_open)
        return;
    l->is_open = false;
    l->seconds += seconds;
    l->cpu_s += (double)(cpu_ns() - l->was_cpu_ns) / 1e9;
    if (l->has_devices && pr_limits_look_at_devices(l, true))
        l->device_s += seconds;
    if (l->has_nets && pr_limits_look_at_nets(l, true))
        l->net_s += seconds;
}

/* ---- figures */

static double per(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

double pr_limits_cpu_share(const struct pr_limits *l)
{
    return per(l->cpu_s, l->seconds * l->processors);
}

double pr_limits_processors(const struct pr_limits *l)
{
    return l->processors > 0 ? l->processors : (double)NAN;
}

double pr_limits_device_busy_share(const struct pr_limits *l)
{
    uint64_t most = 0;

    for (size_t i = 0; i < l->device_count; i++)
        if (l->devices[i].busy_ms > most)
            most = l->devices[i].busy_ms;
    /* The kernel counts in ticks, which may be one more than the phase had. */
    return l->device_s > 0 ? fmin(1, (double)most / 1e3 / l->device_s)
                           : (double)NAN;
}

double pr_limits_device_mb_per_second(const struct pr_limits *l)
{
    double bytes = 0;

    for (size_t i = 0; i < l->device_count; i++)
        bytes += (double)l->devices[i].bytes;
    return per(bytes / 1e6, l->device_s);
}

double pr_limits_network_mb_per_second(const struct pr_limits *l)
{
    double bytes = 0;

    for (size_t i = 0; i < l->net_count; i++)
        bytes += (double)l->nets[i].bytes;
    return per(bytes / 1e6, l->net_s);
}

double pr_limits_network_share(const struct pr_limits *l)
{
    double most = (double)NAN;

    for (size_t i = 0; i < l->net_count; i++)
        if (l->nets[i].speed > 0) /* fmax leaves a NAN out */
            most = fmax(most, per((double)l->nets[i].bytes,
                                  l->net_s * l->nets[i].speed));
    return most;
}

double pr_limits_memory_share(const struct pr_limits *l)
{
    struct rusage used;

    if (!l->memory || getrusage(RUSAGE_SELF, &used) < 0)
        return (double)NAN;
    return (double)used.ru_maxrss * 1024 / (double)l->memory;
}

const char *pr_limits_storage_kind(const struct pr_limits *l)
{
    return l->kind;
}
