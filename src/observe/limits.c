/* Figures of the client while it trains: phases, and what is made of them. */
#include "observe/limits.h"

#include "base/clock.h"
#include "observe/limits_impl.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <time.h>

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
    pr_client_limits_find_processors(l);
    pr_client_limits_find_memory(l);
    pr_client_limits_find_nets(l);
    if (strcmp(l->kind, "none") != 0 && strcmp(l->kind, "memory") != 0)
        pr_client_limits_find_devices(l, folder);
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
        text = *e->d_name == '.' ? NULL
                                 : pr_client_limits_read_text(a, path, name);
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
        a ? pr_client_limits_read_text(a, l->roots.proc, "stat") : NULL;
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
    l->has_devices = pr_client_limits_sample_devices(l, false);
    l->has_nets = pr_client_limits_sample_nets(l, false);
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
    if (l->has_devices && pr_client_limits_sample_devices(l, true))
        l->device_s += seconds;
    if (l->has_nets && pr_client_limits_sample_nets(l, true))
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
