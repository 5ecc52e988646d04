/*
 * Processors, from /proc/stat: where their time went, all together and each,
 * and how often they switched and were interrupted. The kernel counts in ticks,
 * mostly of 10 ms: a look every 100 ms is exact to a tenth of a core, means are
 * exact. A source of its own is their clock frequency.
 */
#include "base/mem.h"
#include "base/text.h"
#include "monitor/monitor_source.h"
#include "monitor/scan.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    USER,
    NICE,
    SYSTEM,
    IDLE,
    IOWAIT,
    IRQ,
    SOFTIRQ,
    STEAL,
    TIMES,
    /* Beyond this, cores tell their share alone: a line would get long. */
    CORES_IN_DETAIL = 64,
    CORES_MAX = 4096,
};

/* What is told of the whole and of each core. */
enum { BUSY, IN_USER, IN_SYSTEM, IN_IOWAIT, IN_STEAL, SHARES };

struct place {
    uint64_t was[TIMES];
    int column[SHARES];
    bool seen;   /* was is known in this experiment */
    bool online; /* in this look */
};

struct cpu {
    struct pr_kernel_file stat;
    struct place all, *cores;
    unsigned n_cores;
    bool named;
    uint64_t switches, interrupts;
    int switches_s, interrupts_s, running;
};

static void name_cpu_columns(struct pr_monitor_sample *l, struct place *p,
                             const char *prefix,
                             enum pr_monitor_column_sum busy,
                             enum pr_monitor_column_sum other, bool detail)
{
    static const char *const endings[SHARES] = {"", ".user", ".system",
                                                ".iowait", ".steal"};
    char name[48];

    for (int i = 0; i < SHARES; i++) {
        struct pr_monitor_column c = {
            .name = name, .unit = "share", .decimals = 4};

        c.sum = i == BUSY ? busy : other;
        snprintf(name, sizeof(name), "%s%s", prefix, endings[i]);
        p->column[i] =
            i == BUSY || detail ? pr_monitor_sample_column(l, &c) : -1;
    }
}

static void name_all_cpu_columns(struct pr_monitor_sample *l, struct cpu *s)
{
    static const struct pr_monitor_column
        switches = {"cpu.switches_s", "1/s", PR_SUM_MEAN, 0, 0, NULL},
        interrupts = {"cpu.interrupts_s", "1/s", PR_SUM_NONE, 0, 0, NULL},
        running = {"cpu.running", "threads", PR_SUM_MEAN, 2, 0, NULL};

    name_cpu_columns(l, &s->all, "cpu", PR_SUM_MEAN, PR_SUM_MEAN, true);
    s->switches_s = pr_monitor_sample_column(l, &switches);
    s->interrupts_s = pr_monitor_sample_column(l, &interrupts);
    s->running = pr_monitor_sample_column(l, &running);
    s->named = true;
}

/* Room for cores 0 to n; their columns are named as they come. */
static struct place *find_cpu_core(struct pr_monitor_sample *l, struct cpu *s,
                                   uint64_t n)
{
    if (n >= CORES_MAX)
        return NULL;
    if (n >= s->n_cores) {
        struct place *more =
            pr_realloc(s->cores, ((size_t)n + 1) * sizeof(*more));

        if (!more)
            return NULL;
        s->cores = more;
        while (s->n_cores <= n) {
            char prefix[24];

            more[s->n_cores] = (struct place){0};
            snprintf(prefix, sizeof(prefix), "cpu.%u", s->n_cores);
            name_cpu_columns(l, &more[s->n_cores], prefix, PR_SUM_NONE,
                             PR_SUM_NONE, s->n_cores < CORES_IN_DETAIL);
            s->n_cores++;
        }
    }
    return &s->cores[n];
}

static void cpu_set_shares(struct pr_monitor_sample *l, const struct place *p,
                           const double *d)
{
    double user = d[USER] + d[NICE];
    double system = d[SYSTEM] + d[IRQ] + d[SOFTIRQ];
    double all = user + system + d[IDLE] + d[IOWAIT] + d[STEAL];
    double share[SHARES] = {user + system, user, system, d[IOWAIT], d[STEAL]};

    for (int i = 0; i < SHARES; i++)
        pr_monitor_sample_set(l, p->column[i], all > 0 ? share[i] / all : 0);
}

static void sample_cpu_place(struct pr_monitor_sample *l, struct place *p,
                             const char *numbers)
{
    uint64_t now[TIMES] = {0};
    double d[TIMES];

    if (pr_scan_all(&numbers, now, TIMES) < IDLE + 1)
        return;
    for (int i = 0; i < TIMES; i++)
        d[i] = pr_scan_gain(now[i], p->was[i]);
    if (l->dt > 0 && p->seen)
        cpu_set_shares(l, p, d);
    memcpy(p->was, now, sizeof(now));
    p->online = true;
}

static void sample_cpu_count(struct pr_monitor_sample *l, int column,
                             uint64_t *was, const char *number)
{
    uint64_t now;

    pr_scan_u64(number, &now);
    if (l->dt > 0)
        pr_monitor_sample_set(l, column, pr_scan_gain(now, *was) / l->dt);
    *was = now;
}

static void sample_cpu_line(struct pr_monitor_sample *l, struct cpu *s,
                            const char *line)
{
    uint64_t n;

    if (pr_text_starts_with(line, "cpu ")) {
        sample_cpu_place(l, &s->all, line + 4);
    } else if (pr_text_starts_with(line, "cpu")) {
        const char *numbers = pr_scan_u64(line + 3, &n);
        struct place *p = find_cpu_core(l, s, n);

        if (p)
            sample_cpu_place(l, p, numbers);
    } else if (pr_text_starts_with(line, "intr ")) {
        sample_cpu_count(l, s->interrupts_s, &s->interrupts, line + 5);
    } else if (pr_text_starts_with(line, "ctxt ")) {
        sample_cpu_count(l, s->switches_s, &s->switches, line + 5);
    } else if (pr_text_starts_with(line, "procs_running ")) {
        pr_scan_u64(line + 14, &n);
        pr_monitor_sample_set(l, s->running, (double)n);
    }
}

/* A core that was away starts anew: its counters may, too. */
static void settle_cpu_place(struct place *p)
{
    p->seen = p->online;
    p->online = false;
}

static void cpu_sample(void *state, struct pr_monitor_sample *l)
{
    struct cpu *s = state;
    const char *text = pr_kernel_file_read(l, &s->stat, "/proc/stat", NULL);

    if (!s->named)
        name_all_cpu_columns(l, s);
    for (; text && *text; text = pr_scan_line(text))
        sample_cpu_line(l, s, text);
    settle_cpu_place(&s->all);
    for (unsigned i = 0; i < s->n_cores; i++)
        settle_cpu_place(&s->cores[i]);
}

static void cpu_close(void *state)
{
    struct cpu *s = state;

    pr_kernel_file_close(&s->stat);
    pr_free(s->cores);
}

const struct pr_monitor_source pr_source_cpu = {
    .name = "cpu",
    .desc = "shares of the processors' time, all and each; switches and "
            "interrupts: /proc/stat",
    .state_bytes = sizeof(struct cpu),
    .sample = cpu_sample,
    .close = cpu_close,
};

/* ---- clock frequency of the cores: cpufreq or, in many virtual machines,
 * /proc/cpuinfo. Either may take a while, so it is asked once a second. */

enum { POLICIES_MAX = 4096 };

struct policy {
    char dir[24];
    struct pr_kernel_file file;
};

struct freq {
    struct policy *policies;
    size_t n, cap;
    struct pr_kernel_file cpuinfo;
    bool named;
    int mean, min, max;
};

struct sum {
    double sum, min, max;
    unsigned n;
};

static void frequency_add(struct sum *s, double mhz)
{
    s->min = !s->n || mhz < s->min ? mhz : s->min;
    s->max = !s->n || mhz > s->max ? mhz : s->max;
    s->sum += mhz;
    s->n++;
}

static void add_frequency_policy(void *ctx, struct pr_monitor_sample *l,
                                 const char *name)
{
    struct freq *s = ctx;
    struct policy *list;

    (void)l;
    if (strlen(name) >= sizeof(s->policies->dir))
        return;
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->policies[i].dir, name) == 0)
            return;
    list = pr_monitor_list_reserve(s->policies, s->n, &s->cap, POLICIES_MAX,
                                   sizeof(*list));
    if (!list)
        return;
    s->policies = list;
    list[s->n] = (struct policy){.dir = ""};
    memcpy(list[s->n++].dir, name, strlen(name) + 1);
}

static void read_cpufreq(struct freq *s, struct pr_monitor_sample *l,
                         struct sum *sum)
{
    if (l->rescan)
        pr_kernel_file_each_entry(l, "/sys/devices/system/cpu/cpufreq",
                                  "policy", add_frequency_policy, s);
    for (size_t i = 0; i < s->n; i++) {
        char path[96];
        double khz;

        snprintf(path, sizeof(path),
                 "/sys/devices/system/cpu/cpufreq/%s/scaling_cur_freq",
                 s->policies[i].dir);
        if (pr_kernel_file_number(l, &s->policies[i].file, path, &khz) &&
            khz > 0)
            frequency_add(sum, khz / 1e3);
    }
}

static void read_cpuinfo_mhz(struct freq *s, struct pr_monitor_sample *l,
                             struct sum *sum)
{
    static const char row[] = "\ncpu MHz";
    const char *text =
        pr_kernel_file_read(l, &s->cpuinfo, "/proc/cpuinfo", NULL);
    const char *at = text ? strstr(text, row) : NULL;

    while (at) {
        const char *colon = at + strcspn(at + 1, ":\n") + 1;
        double mhz = *colon == ':' ? strtod(colon + 1, NULL) : 0;

        if (mhz > 0)
            frequency_add(sum, mhz);
        at = strstr(colon, row);
    }
}

static void frequency_sample(void *state, struct pr_monitor_sample *l)
{
    static const struct pr_monitor_column
        mean = {"freq.mean_mhz", "MHz", PR_SUM_LOW, 0, 0, NULL},
        min = {"freq.min_mhz", "MHz", PR_SUM_NONE, 0, 0, NULL},
        max = {"freq.max_mhz", "MHz", PR_SUM_NONE, 0, 0, NULL};
    struct freq *s = state;
    struct sum sum = {0};

    read_cpufreq(s, l, &sum);
    if (!sum.n)
        read_cpuinfo_mhz(s, l, &sum);
    if (!sum.n)
        return;
    if (!s->named) {
        s->mean = pr_monitor_sample_column(l, &mean);
        s->min = pr_monitor_sample_column(l, &min);
        s->max = pr_monitor_sample_column(l, &max);
        s->named = true;
    }
    pr_monitor_sample_set(l, s->mean, sum.sum / sum.n);
    pr_monitor_sample_set(l, s->min, sum.min);
    pr_monitor_sample_set(l, s->max, sum.max);
}

static void frequency_close(void *state)
{
    struct freq *s = state;

    for (size_t i = 0; i < s->n; i++)
        pr_kernel_file_close(&s->policies[i].file);
    pr_free(s->policies);
    pr_kernel_file_close(&s->cpuinfo);
}

const struct pr_monitor_source pr_source_freq = {
    .name = "freq",
    .desc = "clock frequency of the cores: cpufreq, /proc/cpuinfo",
    .period_s = 1,
    .state_bytes = sizeof(struct freq),
    .sample = frequency_sample,
    .close = frequency_close,
};
