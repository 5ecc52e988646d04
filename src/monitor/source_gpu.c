/*
 * NVIDIA's GPUs by their management library: columns gpu.N.…, N as NVML counts
 * (by place on the PCI bus, as nvidia-smi). Without a driver there is nothing
 * to see. A device that is lost sets nothing until it answers again.
 */
#include "machine/nvml.h"
#include "monitor/monitor_source.h"

#include <math.h>
#include <stdio.h>

/* Figures that are what they are now. */
static const struct {
    struct pr_monitor_column is; /* name: without "gpu.N." */
    size_t at;                   /* of the double in struct pr_nvml_state */
} gauges[] = {
#define GAUGE_OF(name, unit, sum, decimals, flags, member) \
    {                                                      \
        {name, unit, sum, decimals, flags, NULL},          \
            offsetof(struct pr_nvml_state, member)         \
    }
#define GAUGE(name, unit, sum, decimals, member) \
    GAUGE_OF(name, unit, sum, decimals, 0, member)
#define RANGE(name, unit, decimals, member) \
    GAUGE_OF(name, unit, PR_SUM_MEAN, decimals, PR_MONITOR_COLUMN_MIN, member)
    RANGE("use", "share", 2, utilisation),
    GAUGE("memory_use", "share", PR_SUM_MEAN, 2, memory_utilisation),
    RANGE("memory_bytes", "bytes", 0, memory_bytes),
    GAUGE("sm_mhz", "MHz", PR_SUM_MEAN, 0, sm_mhz),
    GAUGE("memory_mhz", "MHz", PR_SUM_NONE, 0, memory_mhz),
    RANGE("temperature_c", "°C", 0, temperature_c),
    GAUGE("fan", "share", PR_SUM_NONE, 2, fan),
#undef RANGE
#undef GAUGE
#undef GAUGE_OF
};

enum { GAUGES = sizeof gauges / sizeof *gauges };
enum column { POWER = GAUGES, PCIE_IN, PCIE_OUT, THROTTLE, COLUMNS };

static const struct pr_monitor_column others[] = {
    {"power_w", "W", PR_SUM_RATE, 1, PR_MONITOR_COLUMN_ENERGY, NULL},
    {"pcie_in_bytes_s", "bytes/s", PR_SUM_RATE, 0, 0, NULL},
    {"pcie_out_bytes_s", "bytes/s", PR_SUM_RATE, 0, 0, NULL},
    {"throttle", "bits", PR_SUM_BITS, 0, 0, pr_nvml_throttle_words},
};

struct device {
    int column_plus_1[COLUMNS]; /* 0: not asked for yet */
    bool seen;                  /* before holds its look before */
    struct pr_nvml_state before;
};

struct state {
    struct pr_nvml *nvml;
    struct device dev[PR_NVML_MAX];
};

/* A column appears when the device first has a value for it. */
static int find_gpu_column(struct pr_monitor_sample *l, struct device *d,
                           unsigned i, int which)
{
    struct pr_monitor_column c;
    char name[48];

    if (d->column_plus_1[which])
        return d->column_plus_1[which] - 1;
    c = which < GAUGES ? gauges[which].is : others[which - GAUGES];
    snprintf(name, sizeof name, "gpu.%u.%s", i, c.name);
    c.name = name;
    d->column_plus_1[which] = pr_monitor_sample_column(l, &c) + 1;
    return d->column_plus_1[which] - 1;
}

/* What a counter has gone up by; NaN where that is not known. */
static double counter_gain(const struct device *d,
                           const struct pr_monitor_sample *l, double now,
                           double before)
{
    return d->seen && l->dt > 0 && now >= before ? now - before : NAN;
}

static void set_gpu_power(struct pr_monitor_sample *l, struct device *d,
                          unsigned i, const struct pr_nvml_state *now)
{
    double joules = counter_gain(d, l, now->energy_j, d->before.energy_j);
    double watts = isnan(now->power_w) ? joules / l->dt : now->power_w;

    if (isnan(watts))
        return;
    if (isnan(joules))
        pr_monitor_sample_set(l, find_gpu_column(l, d, i, POWER), watts);
    else
        pr_monitor_sample_set_rate(l, find_gpu_column(l, d, i, POWER), watts,
                                   joules);
}

static void set_gpu_bytes(struct pr_monitor_sample *l, struct device *d,
                          unsigned i, int which, double bytes)
{
    if (!isnan(bytes))
        pr_monitor_sample_set_rate(l, find_gpu_column(l, d, i, which),
                                   bytes / l->dt, bytes);
}

static void set_gpu_columns(struct pr_monitor_sample *l, struct device *d,
                            unsigned i, const struct pr_nvml_state *now)
{
    enum { IDLE = 1 };

    for (int k = 0; k < GAUGES; k++) {
        double v = *(const double *)((const char *)now + gauges[k].at);
        if (!isnan(v))
            pr_monitor_sample_set(l, find_gpu_column(l, d, i, k), v);
    }
    set_gpu_power(l, d, i, now);
    set_gpu_bytes(
        l, d, i, PCIE_IN,
        counter_gain(d, l, now->pcie_in_bytes, d->before.pcie_in_bytes));
    set_gpu_bytes(
        l, d, i, PCIE_OUT,
        counter_gain(d, l, now->pcie_out_bytes, d->before.pcie_out_bytes));
    if (!isnan(now->throttle))
        pr_monitor_sample_set(
            l, find_gpu_column(l, d, i, THROTTLE),
            (double)((uint64_t)now->throttle & ~(uint64_t)IDLE));
}

static void gpu_sample(void *state, struct pr_monitor_sample *l)
{
    struct state *s = state;

    /* A driver that is loaded later is found by the next experiment. */
    if (!s->nvml && l->dt == 0)
        s->nvml = pr_nvml_open(NULL);
    for (unsigned i = 0; i < pr_nvml_count(s->nvml); i++) {
        struct device *d = &s->dev[i];
        struct pr_nvml_state now;

        if (pr_nvml_read(s->nvml, i, &now)) {
            set_gpu_columns(l, d, i, &now);
            d->before = now;
            d->seen = true;
        } else {
            d->seen = false;
        }
    }
}

static void gpu_close(void *state)
{
    struct state *s = state;

    pr_nvml_close(s->nvml);
}

const struct pr_monitor_source pr_source_gpu = {
    .name = "gpu",
    .desc = "each NVIDIA GPU by NVML: use, memory, power, clocks, temperature, "
            "fan, PCIe traffic, why it is held back",
    .state_bytes = sizeof(struct state),
    .sample = gpu_sample,
    .close = gpu_close,
};
