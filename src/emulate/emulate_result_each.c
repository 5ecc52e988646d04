/* The measures of an emulated training for each accelerator and each epoch. */
#include "emulate/emulate_result_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- of each accelerator */

/* A measure of one accelerator over all training. */
typedef double of_accelerator(const struct pr_emulate_stats *s, uint64_t i);

static double accelerator_samples(const struct pr_emulate_stats *s, uint64_t i)
{
    uint64_t n = 0;

    for (const struct pr_emulate_phase *p = s->first; p; p = p->next)
        n += p->evaluation ? 0 : p->accel[i].samples;
    return (double)n;
}

static double utilisation_of(const struct pr_emulate_stats *s, uint64_t i)
{
    double compute = 0, all = 0;

    for (const struct pr_emulate_phase *p = s->first; p; p = p->next)
        if (!p->evaluation) {
            compute += (double)p->accel[i].compute_ns / 1e9;
            all += pr_emulate_phase_seconds(p);
        }
    return pr_emulate_ratio(compute, all);
}

static void put_spread(struct pr_json_writer *jb,
                       const struct pr_emulate_stats *s, uint64_t count,
                       of_accelerator *of)
{
    double low = INFINITY, high = -INFINITY, sum = 0;

    for (uint64_t i = 0; i < count; i++) {
        double f = of(s, i);

        low = f < low ? f : low;
        high = f > high ? f : high;
        sum += f;
    }
    pr_json_put_float(jb, "min", low);
    pr_json_put_float(jb, "mean", pr_emulate_ratio(sum, (double)count));
    pr_json_put_float(jb, "max", high);
}

static void put_each(struct pr_json_writer *jb,
                     const struct pr_emulate_stats *s, const char *key,
                     uint64_t count, of_accelerator *of)
{
    if (count > PR_ACCELERATORS_LISTED) {
        pr_json_open_object(jb, key);
        put_spread(jb, s, count, of);
    } else {
        pr_json_open_array(jb, key);
        for (uint64_t i = 0; i < count; i++)
            if (of == accelerator_samples)
                pr_json_put_uint(jb, NULL, (uint64_t)of(s, i));
            else
                pr_json_put_float(jb, NULL, of(s, i));
    }
    pr_json_close(jb);
}

void pr_emulate_put_accelerators(const struct pr_emulate_stats *s,
                                 struct pr_json_writer *jb, const char *key)
{
    uint64_t count = s->first ? s->first->accelerators : 0;

    pr_json_open_object(jb, key);
    put_each(jb, s, "utilisation", count, utilisation_of);
    put_each(jb, s, "samples", count, accelerator_samples);
    pr_json_close(jb);
}

/* ---- of each epoch */

static void emulate_put_epoch(struct pr_json_writer *jb,
                              const struct pr_emulate_phase *p)
{
    struct pr_emulate_phase_waits w = pr_emulate_phase_get_waits(p);
    double s = pr_emulate_phase_seconds(p);
    char order[24];

    pr_json_open_object(jb, NULL);
    pr_json_put_uint(jb, "epoch", p->epoch);
    pr_json_put_str(jb, "phase", p->evaluation ? "eval" : "train");
    pr_json_put_float(jb, "seconds", s);
    pr_json_put_float(jb, "utilisation", pr_emulate_phase_utilisation(p));
    pr_json_put_float(jb, "samples_per_second",
                      pr_emulate_phase_samples_per_s(p));
    pr_json_put_float(jb, "mb_per_second",
                      pr_emulate_ratio((double)p->feed.storage_bytes / 1e6, s));
    if (w.count) {
        pr_json_put_float(jb, "wait_ms_p50", (double)w.p50_ns / 1e6);
        pr_json_put_float(jb, "wait_ms_p99", (double)w.p99_ns / 1e6);
        pr_json_put_float(jb, "wait_ms_max", (double)w.max_ns / 1e6);
    }
    if (p->feed.samples) {
        snprintf(order, sizeof order, "%016" PRIx64, p->feed.order);
        pr_json_put_str(jb, "order_hash", order);
    }
    if (p->cached >= 0)
        pr_json_put_float(jb, "cached_share", p->cached);
    if (p->device_bytes != UINT64_MAX)
        pr_json_put_uint(jb, "device_bytes", p->device_bytes);
    pr_json_close(jb);
}

void pr_emulate_put_epochs(const struct pr_emulate_stats *s,
                           struct pr_json_writer *jb, const char *key)
{
    size_t n = 0;

    pr_json_open_array(jb, key);
    for (const struct pr_emulate_phase *p = s->first; p && n < PR_EPOCHS_LISTED;
         p = p->next, n++)
        emulate_put_epoch(jb, p);
    pr_json_close(jb);
}
