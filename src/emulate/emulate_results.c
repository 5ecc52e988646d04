/*
 * The measures of an emulated training, written twice from one list: as metric
 * lines of an experiment, and as an object in DLIO's summary. What is not
 * known is left out.
 */
#include "emulate/emulate_results.h"

#include "base/units.h"
#include "emulate/dlio/dlio_files.h"
#include "job/result_lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static double ratio_or_0(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* ---- checkpoints: how long they took until the slowest rank was done and the
 * checkpoint had its name, and for a rank on average; and what the ranks run
 * here stand for */

static const char *const op_words[2] = {"write", "read"};

static void checkpoint_sum_here_and_all(const struct pr_emulate *e,
                                        struct pr_checkpoint_sum *here,
                                        struct pr_checkpoint_sum *all)
{
    const struct pr_checkpoint_shape *c = &e->checkpoint;

    pr_checkpoint_sum_ranks(c, c->first, c->ranks, here);
    pr_checkpoint_sum_ranks(c, 0, c->all, all);
}

static uint64_t checkpoint_sum_bytes(const struct pr_checkpoint_sum *s)
{
    return s->model_bytes + s->optimizer_bytes;
}

static double pauses_of(const struct pr_emulate_stats *s)
{
    const struct pr_checkpoint_total *t = &s->checkpoints.total[0];

    return t->slowest_s;
}

static double cached_of(const struct pr_checkpoint_total *t)
{
    return t->cached_count ? t->cached / (double)t->cached_count : 0;
}

/* ---- checkpoints: measures */

static void checkpoint_put_total(struct pr_result_lines *k, int which,
                                 const struct pr_checkpoint_total *t)
{
    double n = (double)t->count;
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"s", t->slowest_s / n},
        {"max_s", t->slowest_max_s},
        {"rank_mean_s", t->mean_s / n},
        {"stdev_s",
         pr_checkpoint_stdev(t->slowest_s, t->slowest_square, t->count)},
        {"gb_per_second", ratio_or_0((double)t->bytes / 1e9, t->slowest_s)},
    };
    char name[64];

    snprintf(name, sizeof name, "checkpoint_%ss", op_words[which]);
    pr_result_lines_put_uint(k, name, t->count);
    for (size_t i = 0; t->count && i < sizeof rows / sizeof *rows; i++) {
        snprintf(name, sizeof name, "checkpoint_%s_%s", op_words[which],
                 rows[i].name);
        pr_result_lines_put_float(k, name, rows[i].value);
    }
}

static void put_op(struct pr_json_writer *jb, const struct pr_checkpoint_op *op)
{
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "operation", op_words[op->is_read]);
    pr_json_put_uint(jb, "epoch", op->at.epoch);
    pr_json_put_uint(jb, "step", op->at.step);
    pr_json_put_float(jb, "seconds", op->slowest_s);
    pr_json_put_float(jb, "rank_mean_s", op->mean_s);
    pr_json_put_float(jb, "rank_fastest_s", op->fastest_s);
    pr_json_put_float(jb, "gb_per_second",
                      ratio_or_0((double)op->bytes / 1e9, op->slowest_s));
    pr_json_put_uint(jb, "ranks", op->writers);
    pr_json_close(jb);
}

static void checkpoint_put_shape(struct pr_result_lines *k,
                                 const struct pr_emulate *e)
{
    const struct pr_checkpoint_shape *c = &e->checkpoint;
    struct pr_checkpoint_sum here, all;

    checkpoint_sum_here_and_all(e, &here, &all);
    pr_result_lines_put_uint(k, "checkpoint_bytes",
                             checkpoint_sum_bytes(&here));
    pr_result_lines_put_uint(k, "checkpoint_files", here.files);
    pr_result_lines_put_uint(k, "checkpoint_ranks", c->ranks);
    if (c->ranks == c->all)
        return;
    pr_result_lines_put_uint(k, "checkpoint_first_rank", c->first);
    pr_result_lines_put_uint(k, "checkpoint_all_ranks", c->all);
    pr_result_lines_put_uint(k, "checkpoint_all_bytes",
                             checkpoint_sum_bytes(&all));
    pr_result_lines_put_uint(k, "checkpoint_all_files", all.files);
}

static void emulate_put_checkpoints(struct pr_result_lines *k,
                                    const struct pr_emulate *e,
                                    const struct pr_emulate_stats *s)
{
    const struct pr_checkpoint_ops *o = &s->checkpoints;
    struct pr_emulate_totals t;

    if (!e->workflow.checkpoint)
        return;
    checkpoint_put_shape(k, e);
    checkpoint_put_total(k, 0, &o->total[0]);
    checkpoint_put_total(k, 1, &o->total[1]);
    if (o->total[1].cached_count)
        pr_result_lines_put_float(k, "checkpoint_read_cached_share",
                                  cached_of(&o->total[1]));
    pr_emulate_stats_sum(s, false, &t);
    if (t.phases)
        pr_result_lines_put_float(
            k, "checkpoint_share",
            ratio_or_0(pauses_of(s), pauses_of(s) + t.seconds));
    pr_result_lines_put_str(k, "checkpoint_engine", s->checkpoint_engine);
    pr_result_lines_put_uint(k, "checkpoint_threads", s->checkpoint_threads);
    pr_result_lines_put_bool(k, "checkpoint_fsync", e->checkpoint.opts.fsync);
    if (o->total[1].count)
        pr_result_lines_put_bool(k, "checkpoint_verified",
                                 e->checkpoint.opts.verify);
    pr_json_open_array(k->at, pr_result_lines_begin(k, "checkpoints"));
    for (const struct pr_checkpoint_op *op = o->first; op; op = op->next)
        put_op(k->at, op);
    pr_json_close(k->at);
    pr_result_lines_end(k);
}

/* DLIO's, under its names. */
static void emulate_put_dlio_checkpoints(struct pr_result_lines *k,
                                         const struct pr_emulate_stats *s)
{
    static const char *const names[2] = {"save", "load"};
    char name[80];

    for (int i = 0; i < 2; i++) {
        const struct pr_checkpoint_total *t = &s->checkpoints.total[i];

        if (!t->count)
            continue;
        snprintf(name, sizeof name, "dlio.%s_checkpoint_io_mean_GB_per_second",
                 names[i]);
        pr_result_lines_put_float(
            k, name, pr_checkpoint_mean(t->rate, t->count) / (1 << 30));
        snprintf(name, sizeof name, "dlio.%s_checkpoint_duration_mean_seconds",
                 names[i]);
        pr_result_lines_put_float(k, name,
                                  pr_checkpoint_mean(t->slowest_s, t->count));
    }
}

/* ---- checkpoints: words */

static void checkpoint_verdict_add_total(const struct pr_checkpoint_total *t,
                                         const char *verb, struct pr_buf *out)
{
    char time[24], rate[16];

    if (!t->count)
        return;
    pr_buf_printf(out, ", %s in %s (%s/s)", verb,
                  pr_format_seconds(time, t->slowest_s / (double)t->count),
                  pr_format_bytes(rate, (uint64_t)ratio_or_0((double)t->bytes,
                                                             t->slowest_s)));
}

/* What was not synced is in the page cache as a rule. */
static bool into_memory(const struct pr_emulate *e,
                        const struct pr_emulate_stats *s)
{
    static const char *const cached[] = {"pread", "mmap", "io_uring"};

    for (size_t i = 0; i < sizeof cached / sizeof *cached; i++)
        if (s->checkpoint_engine && !strcmp(s->checkpoint_engine, cached[i]))
            return !e->checkpoint.opts.fsync;
    return false;
}

static void say_ranks(const struct pr_emulate *e,
                      const struct pr_checkpoint_sum *all, struct pr_buf *out)
{
    const struct pr_checkpoint_shape *c = &e->checkpoint;
    char size[16];

    if (c->ranks == c->all)
        return;
    pr_buf_printf(out,
                  "; ranks %llu to %llu of %llu ran: the whole checkpoint is "
                  "%s in %llu files",
                  (unsigned long long)c->first,
                  (unsigned long long)(c->first + c->ranks - 1),
                  (unsigned long long)c->all,
                  pr_format_bytes(size, checkpoint_sum_bytes(all)),
                  (unsigned long long)all->files);
}

/* In words: as the whole verdict, or behind one about training. */
static void emulate_checkpoint_verdict(const struct pr_emulate *e,
                                       const struct pr_emulate_stats *s,
                                       struct pr_buf *out)
{
    const struct pr_checkpoint_ops *o = &s->checkpoints;
    struct pr_checkpoint_sum here, all;
    struct pr_emulate_totals t;
    char size[16];

    if (!e->workflow.checkpoint || (!o->total[0].count && !o->total[1].count))
        return;
    checkpoint_sum_here_and_all(e, &here, &all);
    pr_emulate_stats_sum(s, false, &t);
    if (t.phases && t.seconds > 0)
        pr_buf_printf(out,
                      "; training stood still for checkpoints %.1f %% of "
                      "the time",
                      100 * ratio_or_0(pauses_of(s), pauses_of(s) + t.seconds));
    pr_buf_printf(out, "%scheckpoints of %s", out->len ? "; " : "",
                  pr_format_bytes(size, checkpoint_sum_bytes(&here)));
    checkpoint_verdict_add_total(&o->total[0], "written", out);
    if (o->total[0].count && into_memory(e, s))
        pr_buf_str(out, " into memory, for checkpoint.fsync is off");
    checkpoint_verdict_add_total(&o->total[1], "read", out);
    if (cached_of(&o->total[1]) >= 0.1)
        pr_buf_printf(out, ", %.0f %% of it from the page cache",
                      100 * cached_of(&o->total[1]));
    if (o->total[1].count && e->checkpoint.opts.verify)
        pr_buf_str(out, ", every byte as it was written");
    say_ranks(e, &all, out);
}

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
    return ratio_or_0(compute, all);
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
    pr_json_put_float(jb, "mean", ratio_or_0(sum, (double)count));
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

static void emulate_put_accelerators(const struct pr_emulate_stats *s,
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
                      ratio_or_0((double)p->feed.storage_bytes / 1e6, s));
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

static void emulate_put_epochs(const struct pr_emulate_stats *s,
                               struct pr_json_writer *jb, const char *key)
{
    size_t n = 0;

    pr_json_open_array(jb, key);
    for (const struct pr_emulate_phase *p = s->first; p && n < PR_EPOCHS_LISTED;
         p = p->next, n++)
        emulate_put_epoch(jb, p);
    pr_json_close(jb);
}

bool pr_emulate_is_dlio_misleading(const struct pr_emulate *e,
                                   const struct pr_emulate_stats *s)
{
    struct pr_dlio_measures f;
    struct pr_emulate_totals t;

    pr_emulate_stats_sum(s, false, &t);
    if (!t.counted_steps ||
        (double)t.ahead_steps < 0.1 * (double)t.counted_steps)
        return false;
    pr_dlio_compute_measures(s, false, pr_dlio_batch_size(e, false), &f);
    return f.au / 100 > pr_emulate_totals_utilisation(&t) + 0.05 ||
           f.throughput > 1.1 * ratio_or_0((double)t.samples, t.seconds);
}

bool pr_emulate_is_dlio_main(const struct pr_emulate *e,
                             const struct pr_emulate_stats *s)
{
    return e->opts.compat && !strcmp(e->opts.compat, "dlio") &&
           !pr_emulate_is_dlio_misleading(e, s);
}

double pr_emulate_main_utilisation(const struct pr_emulate *e,
                                   const struct pr_emulate_stats *s)
{
    struct pr_dlio_measures f;
    struct pr_emulate_totals t;

    if (pr_emulate_is_dlio_main(e, s)) {
        pr_dlio_compute_measures(s, false, pr_dlio_batch_size(e, false), &f);
        return f.au / 100;
    }
    pr_emulate_stats_sum(s, false, &t);
    return pr_emulate_totals_utilisation(&t);
}

/* ---- of the whole */

static void put_percentiles(struct pr_result_lines *k, const char *name,
                            const struct pr_histogram *h)
{
    static const struct {
        const char *name;
        double p;
    } rows[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
    char full[48];

    if (!h->count)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(full, sizeof full, "%s_%s", name, rows[i].name);
        pr_result_lines_put_float(k, full,
                                  (double)pr_histogram_at(h, rows[i].p) / 1e6);
    }
    snprintf(full, sizeof full, "%s_max", name);
    pr_result_lines_put_float(k, full, (double)h->max / 1e6);
}

static void put_utilisation_by_epoch(struct pr_result_lines *k,
                                     const struct pr_emulate_stats *s,
                                     bool dlio)
{
    size_t n = 0;

    pr_json_open_array(k->at, pr_result_lines_begin(k, "utilisation_by_epoch"));
    for (const struct pr_emulate_phase *p = s->first; p && n < PR_EPOCHS_LISTED;
         p = p->next)
        if (!p->evaluation) {
            pr_json_put_float(k->at, NULL,
                              dlio ? pr_dlio_phase_au(p) / 100
                                   : pr_emulate_phase_utilisation(p));
            n++;
        }
    pr_json_close(k->at);
    pr_result_lines_end(k);
}

/* Utilisation and samples a second, ours or DLIO's. */
static void emulate_put_main(struct pr_result_lines *k,
                             const struct pr_emulate *e,
                             const struct pr_emulate_stats *s,
                             const struct pr_emulate_totals *t)
{
    double utilisation = pr_emulate_totals_utilisation(t);
    double rate = ratio_or_0((double)t->samples, t->seconds);
    bool dlio = k->lines && pr_emulate_is_dlio_main(e, s);
    struct pr_dlio_measures f;

    if (dlio) {
        pr_result_lines_put_float(k, "prony.utilisation", utilisation);
        pr_result_lines_put_float(k, "prony.samples_per_second", rate);
        pr_dlio_compute_measures(s, false, pr_dlio_batch_size(e, false), &f);
        utilisation = f.au / 100;
        rate = f.throughput;
    }
    pr_result_lines_put_float(k, "utilisation", utilisation);
    put_utilisation_by_epoch(k, s, dlio);
    pr_result_lines_put_float(k, "samples_per_second", rate);
    if (t->compute_s > 0) {
        pr_result_lines_put_float(k, "target_utilisation", e->metric.au);
        pr_result_lines_put_bool(k, "target_met", utilisation >= e->metric.au);
    }
}

static void put_amounts(struct pr_result_lines *k, const struct pr_emulate *e,
                        const struct pr_emulate_stats *s,
                        const struct pr_emulate_totals *t)
{
    pr_result_lines_put_uint(k, "accelerators", e->accelerators);
    pr_result_lines_put_uint(k, "epochs", t->phases);
    pr_result_lines_put_uint(k, "steps", t->steps);
    pr_result_lines_put_uint(k, "samples", t->samples);
    pr_result_lines_put_uint(k, "skipped_samples", t->failed);
    pr_result_lines_put_float(k, "seconds", t->seconds);
    pr_result_lines_put_uint(k, "bytes_read", t->storage_bytes);
    pr_result_lines_put_uint(k, "bytes_delivered", t->bytes);
    if (t->device_bytes != UINT64_MAX)
        pr_result_lines_put_uint(k, "device_bytes", t->device_bytes);
    if (s->data_bytes)
        pr_result_lines_put_uint(k, "data_set_bytes", s->data_bytes);
    if (s->generated_bytes) {
        pr_result_lines_put_uint(k, "generated_bytes", s->generated_bytes);
        pr_result_lines_put_float(k, "generated_seconds", s->generated_s);
    }
    pr_result_lines_put_float(
        k, "storage_mb_per_second",
        ratio_or_0((double)t->storage_bytes / 1e6, t->seconds));
}

/* How long after training began the first and the last accelerator ended. */
static void put_done(struct pr_result_lines *k,
                     const struct pr_emulate_stats *s)
{
    const struct pr_emulate_phase *first = NULL, *last = NULL;
    uint64_t low = UINT64_MAX, high = 0;

    for (const struct pr_emulate_phase *p = s->first; p; p = p->next)
        if (!p->evaluation) {
            first = first ? first : p;
            last = p;
        }
    for (uint64_t i = 0; last && i < last->accelerators; i++) {
        const struct pr_emulate_accelerator_stats *a = &last->accel[i];

        if (a->steps && a->last_ns < low)
            low = a->last_ns;
        if (a->steps && a->last_ns > high)
            high = a->last_ns;
    }
    if (!high || low < first->start_ns)
        return;
    pr_result_lines_put_float(k, "first_done_s",
                              (double)(low - first->start_ns) / 1e9);
    pr_result_lines_put_float(k, "last_done_s",
                              (double)(high - first->start_ns) / 1e9);
}

static void emulate_put_times(struct pr_result_lines *k,
                              const struct pr_emulate_stats *s,
                              const struct pr_emulate_totals *t)
{
    pr_result_lines_put_float(k, "wait_share",
                              ratio_or_0(t->wait_s, t->accelerator_s));
    pr_result_lines_put_float(k, "barrier_share",
                              ratio_or_0(t->barrier_s, t->accelerator_s));
    put_percentiles(k, "wait_ms", &t->wait);
    put_percentiles(k, "step_ms", &t->step);
    pr_result_lines_put_float(k, "late_us_mean",
                              ratio_or_0(t->late_s * 1e6, (double)t->steps));
    pr_result_lines_put_float(k, "late_us_max", t->late_max_s * 1e6);
    if (t->counted_steps)
        pr_result_lines_put_float(k, "read_ahead_share",
                                  (double)t->ahead_steps /
                                      (double)t->counted_steps);
    put_done(k, s);
}

static void put_reading(struct pr_result_lines *k, const struct pr_emulate *e,
                        const struct pr_emulate_stats *s,
                        const struct pr_emulate_totals *t)
{
    bool known = t->storage_share >= 0 && t->storage_bytes;

    pr_result_lines_put_float(k, "storage_share",
                              known ? t->storage_share : NAN);
    if (e->reader.decode)
        pr_result_lines_put_float(k, "decode_share",
                                  known ? 1 - t->storage_share : NAN);
    pr_result_lines_put_float(k, "cached_share",
                              t->cached >= 0 ? t->cached : NAN);
    pr_result_lines_put_bool(k, "decode", e->reader.decode);
    if (e->set.spec.payload != PR_PIXELS)
        pr_result_lines_put_str(k, "payload", e->set.opts.payload);
    pr_result_lines_put_bool(k, "checksum", e->reader.checksum);
    pr_result_lines_put_str(k, "engine",
                            s->engine ? s->engine : e->storage.engine);
    if (s->threads)
        pr_result_lines_put_uint(k, "threads", s->threads);
}

/* What took time from the measurement. */
static void put_disturbance(struct pr_result_lines *k,
                            const struct pr_emulate *e,
                            const struct pr_emulate_stats *s,
                            const struct pr_emulate_totals *t)
{
    static const char *const words[] = {[PR_STOPPED] = "stopped",
                                        [PR_STARVED] = "other work",
                                        [PR_STOLEN] = "stolen processors"};
    enum pr_disturbance d = pr_verdict_emulate_disturbance(e, s);

    if (!t->steps)
        return;
    pr_result_lines_put_bool(k, "disturbed", d != PR_UNDISTURBED);
    pr_result_lines_put_str(k, "disturbed_by", words[d]);
    pr_result_lines_put_float(k, "stall_s", t->stall_s);
    pr_result_lines_put_float(k, "stall_max_s", t->stall_max_s);
    pr_result_lines_put_float(k, "run_delay_s", pr_verdict_emulate_delay_s(s));
    pr_result_lines_put_float(k, "steal_share",
                              pr_client_limits_steal_share(&s->limits));
}

/* What the client had left. */
static void put_limits(struct pr_result_lines *k,
                       const struct pr_client_limits *l)
{
    const char *kind = pr_client_limits_storage_kind(l);

    pr_result_lines_put_float(k, "cpu_share", pr_client_limits_cpu_share(l));
    pr_result_lines_put_float(k, "processors", pr_client_limits_processors(l));
    pr_result_lines_put_float(k, "memory_share",
                              pr_client_limits_memory_share(l));
    pr_result_lines_put_float(k, "device_busy_share",
                              pr_client_limits_device_busy_share(l));
    pr_result_lines_put_float(k, "device_mb_per_second",
                              pr_client_limits_device_mb_per_s(l));
    pr_result_lines_put_float(k, "network_mb_per_second",
                              pr_client_limits_network_mb_per_s(l));
    pr_result_lines_put_float(k, "network_share",
                              pr_client_limits_network_share(l));
    pr_result_lines_put_str(k, "storage_kind", kind && *kind ? kind : NULL);
}

static void put_evaluation(struct pr_result_lines *k,
                           const struct pr_emulate_stats *s)
{
    struct pr_emulate_totals t;

    pr_emulate_stats_sum(s, true, &t);
    if (!t.phases)
        return;
    pr_result_lines_put_float(k, "eval_utilisation",
                              pr_emulate_totals_utilisation(&t));
    pr_result_lines_put_float(k, "eval_samples_per_second",
                              ratio_or_0((double)t.samples, t.seconds));
    pr_result_lines_put_float(
        k, "eval_storage_mb_per_second",
        ratio_or_0((double)t.storage_bytes / 1e6, t.seconds));
    pr_result_lines_put_uint(k, "eval_samples", t.samples);
    pr_result_lines_put_uint(k, "eval_bytes_read", t.storage_bytes);
    pr_result_lines_put_float(k, "eval_seconds", t.seconds);
    put_percentiles(k, "eval_wait_ms", &t.wait);
}

/* ---- as lines, and as an object */

static void emulate_put_results(struct pr_result_lines *k,
                                const struct pr_emulate *e,
                                const struct pr_emulate_stats *s,
                                const struct pr_emulate_totals *t)
{
    PR_AUTO_BUF struct pr_buf verdict = PR_BUF_INIT(1 << 16);

    if (!pr_emulate_is_save_only(e))
        pr_verdict_emulate_write(e, s, &verdict);
    emulate_checkpoint_verdict(e, s, &verdict);
    pr_result_lines_put_str(k, "verdict",
                            pr_buf_ok(&verdict) ? verdict.data : NULL);
    if (pr_emulate_is_save_only(e)) {
        emulate_put_checkpoints(k, e, s);
        return;
    }
    emulate_put_main(k, e, s, t);
    put_amounts(k, e, s, t);
    emulate_put_times(k, s, t);
    put_reading(k, e, s, t);
    put_disturbance(k, e, s, t);
    put_limits(k, &s->limits);
    put_evaluation(k, s);
    emulate_put_checkpoints(k, e, s);
    emulate_put_accelerators(s, k->at,
                             pr_result_lines_begin(k, "by_accelerator"));
    pr_result_lines_end(k);
    emulate_put_epochs(s, k->at, pr_result_lines_begin(k, "by_epoch"));
    pr_result_lines_end(k);
}

void pr_emulate_put_object(const struct pr_emulate *e,
                           const struct pr_emulate_stats *s,
                           struct pr_json_writer *jb, const char *key)
{
    struct pr_result_lines k;
    struct pr_emulate_totals t;

    pr_result_lines_init_object(&k, jb);
    pr_emulate_stats_sum(s, false, &t);
    pr_json_open_object(jb, key);
    emulate_put_results(&k, e, s, &t);
    pr_json_close(jb);
}

static void emulate_put_dlio_measures(struct pr_result_lines *k,
                                      const struct pr_emulate *e,
                                      const struct pr_emulate_stats *s,
                                      bool evaluation)
{
    const char *kind = evaluation ? "eval" : "train";
    struct pr_dlio_measures f;
    char name[80];

    pr_dlio_compute_measures(s, evaluation, pr_dlio_batch_size(e, evaluation),
                             &f);
#define PUT(put, what, value)                              \
    snprintf(name, sizeof name, "dlio.%s_%s", kind, what); \
    put(k, name, value)
    PUT(pr_result_lines_put_float, "au_mean_percentage", f.au);
    PUT(pr_result_lines_put_float, "au_stdev_percentage", f.au_stdev);
    PUT(pr_result_lines_put_str, "au_meet_expectation",
        pr_dlio_met_word(e, f.au));
    PUT(pr_result_lines_put_float, "throughput_mean_samples_per_second",
        f.throughput);
    PUT(pr_result_lines_put_float, "throughput_stdev_samples_per_second",
        f.throughput_stdev);
    PUT(pr_result_lines_put_float, "io_mean_MB_per_second", f.mb);
    PUT(pr_result_lines_put_float, "io_stdev_MB_per_second", f.mb_stdev);
#undef PUT
}

/* The figures that a table of several runs shows. */
static void emulate_put_main_names(const struct pr_emulate *e,
                                   const struct pr_emulate_stats *s,
                                   struct pr_buf *out)
{
    bool writes = s->checkpoints.total[0].count,
         reads = s->checkpoints.total[1].count;
    bool computes = pr_duration_mean(&e->compute) > 0;

    if (pr_emulate_is_save_only(e)) {
        pr_buf_printf(out, "__results.prony.main__= [%s%s%s]\n",
                      writes ? "\"checkpoint_write_s\", "
                               "\"checkpoint_write_gb_per_second\""
                             : "",
                      writes && reads ? ", " : "",
                      reads ? "\"checkpoint_read_s\", "
                              "\"checkpoint_read_gb_per_second\""
                            : "");
        return;
    }
    pr_buf_printf(out,
                  "__results.prony.main__= [%s\"samples_per_second\", "
                  "\"storage_mb_per_second\"%s%s]\n",
                  computes ? "\"utilisation\", " : "",
                  computes ? ", \"wait_ms_p99\"" : "",
                  writes ? ", \"checkpoint_share\"" : "");
}

void pr_emulate_write_results(const struct pr_emulate *e,
                              const struct pr_emulate_stats *s,
                              struct pr_buf *out)
{
    struct pr_result_lines k;
    struct pr_emulate_totals t;

    pr_result_lines_init(&k, out);
    pr_emulate_stats_sum(s, false, &t);
    emulate_put_main_names(e, s, out);
    emulate_put_results(&k, e, s, &t);
    if (t.step.count) { /* as DLBS has it: a step, in milliseconds */
        pr_result_lines_put_float(&k, "time", pr_histogram_mean(&t.step) / 1e6);
        pr_result_lines_put_uint(
            &k, "batch", (uint64_t)e->reader.batch_size * e->accelerators);
    }
    if (e->workflow.train)
        emulate_put_dlio_measures(&k, e, s, false);
    if (e->workflow.evaluation)
        emulate_put_dlio_measures(&k, e, s, true);
    emulate_put_dlio_checkpoints(&k, s);
}
