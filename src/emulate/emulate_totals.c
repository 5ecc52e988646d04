/*
 * Figures of an emulated training over several phases: sums and means of ours,
 * and means and deviations as DLIO has them.
 */
#include "emulate/emulate_stats.h"

#include <math.h>

static void add_accelerators(struct pr_emulate_totals *t,
                             const struct pr_emulate_phase *p)
{
    for (uint64_t i = 0; i < p->accelerators; i++) {
        const struct pr_emulate_accelerator_stats *a = &p->accel[i];
        double late_max_s = (double)a->late_max_ns / 1e9;

        t->steps += a->steps;
        t->samples += a->samples;
        t->compute_s += (double)a->compute_ns / 1e9;
        t->wait_s += (double)a->wait_ns / 1e9;
        t->barrier_s += (double)a->barrier_ns / 1e9;
        t->late_s += (double)a->late_ns / 1e9;
        if (late_max_s > t->late_max_s)
            t->late_max_s = late_max_s;
        t->counted_steps += a->counted_steps;
        t->ahead_steps += a->ahead_steps;
    }
}

static void add_feed(struct pr_emulate_totals *t, const struct pr_feed_stats *f)
{
    t->bytes += f->bytes;
    t->storage_bytes += f->storage_bytes;
    t->failed += f->failed;
    if (f->failed && !t->first_error)
        t->first_error = &f->first_error;
}

/* Sums that become means once all phases are in. */
struct means {
    double cached, cached_bytes, share, sample_s, samples;
};

static void totals_add_means(struct means *m, const struct pr_emulate_phase *p)
{
    const struct pr_feed_stats *f = &p->feed;
    double bytes = (double)f->storage_bytes, samples = (double)f->samples;

    if (p->cached >= 0) {
        m->cached += p->cached * bytes;
        m->cached_bytes += bytes;
    }
    m->share += f->storage_share * samples;
    if (f->timed)
        m->sample_s += (double)f->timed_ns / (double)f->timed / 1e9 * samples;
    m->samples += samples;
}

static void totals_add_device_bytes(struct pr_emulate_totals *t,
                                    const struct pr_emulate_phase *p)
{
    if (p->device_bytes == UINT64_MAX || t->device_bytes == UINT64_MAX)
        t->device_bytes = UINT64_MAX;
    else
        t->device_bytes += p->device_bytes;
}

void pr_emulate_stats_sum(const struct pr_emulate_stats *s, bool evaluation,
                          struct pr_emulate_totals *ret)
{
    struct means m = {0};

    *ret = (struct pr_emulate_totals){.wait = s->past[evaluation].wait,
                                      .step = s->past[evaluation].step};
    for (const struct pr_emulate_phase *p = s->first; p; p = p->next) {
        if (p->evaluation != evaluation)
            continue;
        ret->phases++;
        if (p->accelerators > ret->accelerators)
            ret->accelerators = p->accelerators;
        ret->seconds += pr_emulate_phase_seconds(p);
        ret->accelerator_s +=
            pr_emulate_phase_seconds(p) * (double)p->accelerators;
        ret->stall_s += (double)p->stall_ns / 1e9;
        ret->stall_max_s =
            fmax(ret->stall_max_s, (double)p->stall_max_ns / 1e9);
        add_accelerators(ret, p);
        add_feed(ret, &p->feed);
        totals_add_device_bytes(ret, p);
        totals_add_means(&m, p);
        if (p->live) {
            pr_histogram_merge(&ret->wait, &p->live->wait);
            pr_histogram_merge(&ret->step, &p->live->step);
        }
    }
    /* What could not be read was not delivered. */
    ret->samples -= ret->failed < ret->samples ? ret->failed : ret->samples;
    if (!ret->phases)
        ret->device_bytes = UINT64_MAX;
    ret->cached = m.cached_bytes > 0 ? m.cached / m.cached_bytes : -1;
    ret->storage_share = m.samples > 0 ? m.share / m.samples : -1;
    ret->sample_s = m.samples > 0 ? m.sample_s / m.samples : 0;
}

double pr_emulate_totals_utilisation(const struct pr_emulate_totals *t)
{
    return t->accelerator_s > 0 ? t->compute_s / t->accelerator_s : 0;
}

double pr_dlio_phase_au(const struct pr_emulate_phase *p)
{
    double sum = 0;

    for (uint64_t i = 0; i < p->accelerators; i++)
        sum += pr_dlio_au(p, i);
    return sum / (double)p->accelerators;
}

double pr_dlio_phase_throughput(const struct pr_emulate_phase *p,
                                uint64_t batch)
{
    double sum = 0;

    for (uint64_t i = 0; i < p->accelerators; i++)
        sum += pr_dlio_throughput(p, i, batch);
    return sum;
}

/* DLIO multiplies by the length that was configured; files may be smaller. */
static double phase_mb(const struct pr_emulate_phase *p, uint64_t batch)
{
    double samples = (double)p->feed.samples;

    return samples > 0 ? pr_dlio_phase_throughput(p, batch) *
                             (double)p->feed.storage_bytes / samples / 1048576
                       : 0;
}

static double square_of(double x)
{
    return x * x;
}

void pr_dlio_compute_measures(const struct pr_emulate_stats *s, bool evaluation,
                              uint64_t batch, struct pr_dlio_measures *ret)
{
    const struct pr_emulate_phase *p;
    double n;

    *ret = (struct pr_dlio_measures){0};
    for (p = s->first; p; p = p->next)
        if (p->evaluation == evaluation) {
            ret->epochs++;
            ret->au += pr_dlio_phase_au(p);
            ret->throughput += pr_dlio_phase_throughput(p, batch);
            ret->mb += phase_mb(p, batch);
        }
    if (!ret->epochs)
        return;
    n = (double)ret->epochs;
    ret->au /= n;
    ret->throughput /= n;
    ret->mb /= n;
    for (p = s->first; p; p = p->next)
        if (p->evaluation == evaluation) {
            ret->au_stdev += square_of(pr_dlio_phase_au(p) - ret->au);
            ret->throughput_stdev +=
                square_of(pr_dlio_phase_throughput(p, batch) - ret->throughput);
            ret->mb_stdev += square_of(phase_mb(p, batch) - ret->mb);
        }
    ret->au_stdev = sqrt(ret->au_stdev / n);
    ret->throughput_stdev = sqrt(ret->throughput_stdev / n);
    ret->mb_stdev = sqrt(ret->mb_stdev / n);
}
