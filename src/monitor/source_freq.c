/* Clock frequency of the cores, from cpufreq or, in many virtual machines, from
 * /proc/cpuinfo. Asked once a second: either may take a while. */
#include "base/mem.h"
#include "monitor/scan.h"
#include "monitor/source.h"

#include <stdio.h>
#include <stdlib.h>

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

    (void)l;
    if (strlen(name) >= sizeof(s->policies->dir))
        return;
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->policies[i].dir, name) == 0)
            return;
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        struct policy *more = cap <= POLICIES_MAX
                                  ? pr_realloc(s->policies, cap * sizeof(*more))
                                  : NULL;

        if (!more)
            return;
        s->policies = more;
        s->cap = cap;
    }
    s->policies[s->n] = (struct policy){.dir = ""};
    memcpy(s->policies[s->n++].dir, name, strlen(name) + 1);
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
    .look = frequency_sample,
    .close = frequency_close,
};
