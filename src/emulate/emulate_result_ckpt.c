/*
 * The measures of checkpoints: how long they took until the slowest rank was
 * done and the checkpoint had its name, and for a rank on average; and what
 * the ranks run here stand for.
 */
#include "base/units.h"
#include "emulate/emulate_result_impl.h"

#include <stdio.h>
#include <string.h>

static const char *const emulate_result_ckpt_words[2] = {"write", "read"};

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

/* ---- figures */

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
        {"gb_per_second",
         pr_emulate_ratio((double)t->bytes / 1e9, t->slowest_s)},
    };
    char name[64];

    snprintf(name, sizeof name, "checkpoint_%ss",
             emulate_result_ckpt_words[which]);
    pr_result_lines_put_uint(k, name, t->count);
    for (size_t i = 0; t->count && i < sizeof rows / sizeof *rows; i++) {
        snprintf(name, sizeof name, "checkpoint_%s_%s",
                 emulate_result_ckpt_words[which], rows[i].name);
        pr_result_lines_put_float(k, name, rows[i].value);
    }
}

static void put_op(struct pr_json_writer *jb, const struct pr_checkpoint_op *op)
{
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "operation", emulate_result_ckpt_words[op->is_read]);
    pr_json_put_uint(jb, "epoch", op->at.epoch);
    pr_json_put_uint(jb, "step", op->at.step);
    pr_json_put_float(jb, "seconds", op->slowest_s);
    pr_json_put_float(jb, "rank_mean_s", op->mean_s);
    pr_json_put_float(jb, "rank_fastest_s", op->fastest_s);
    pr_json_put_float(jb, "gb_per_second",
                      pr_emulate_ratio((double)op->bytes / 1e9, op->slowest_s));
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

void pr_emulate_put_checkpoints(struct pr_result_lines *k,
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
            pr_emulate_ratio(pauses_of(s), pauses_of(s) + t.seconds));
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

void pr_emulate_put_dlio_checkpoints(struct pr_result_lines *k,
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

/* ---- words */

static void checkpoint_verdict_add_total(const struct pr_checkpoint_total *t,
                                         const char *verb, struct pr_buf *out)
{
    char time[24], rate[16];

    if (!t->count)
        return;
    pr_buf_printf(out, ", %s in %s (%s/s)", verb,
                  pr_format_seconds(time, t->slowest_s / (double)t->count),
                  pr_format_bytes(rate, (uint64_t)pr_emulate_ratio(
                                            (double)t->bytes, t->slowest_s)));
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

void pr_emulate_checkpoint_verdict(const struct pr_emulate *e,
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
        pr_buf_printf(
            out,
            "; training stood still for checkpoints %.1f %% of "
            "the time",
            100 * pr_emulate_ratio(pauses_of(s), pauses_of(s) + t.seconds));
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
