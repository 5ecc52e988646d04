/*
 * What DLIO's log and result files say of checkpoints. Its GB are 1024 ** 3
 * bytes. The durations of the summary and of the log, which MLPerf's tools
 * read, are those of the slowest rank, as its rules have it; a rank's own file
 * has those of that rank.
 */
#include "base/clock.h"
#include "emulate/dlio/emulate_dlio_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const double gib = 1024.0 * 1024 * 1024;

static double dlio_checkpoint_gb(const struct pr_emulate *e)
{
    const struct pr_checkpoint_shape *c = &e->checkpoint;
    struct pr_checkpoint_sum sum;

    pr_checkpoint_sum_ranks(c, c->first, c->ranks, &sum);
    return (double)(sum.model_bytes + sum.optimizer_bytes) / gib;
}

/* ---- log lines */

static void say_size(const char *what, uint64_t bytes, bool subset,
                     struct pr_buf *out)
{
    pr_dlio_put_stamp(out, pr_wall_clock_ns());
    pr_buf_printf(out, "%s: %.6f GB %s\n", what, (double)bytes / gib,
                  subset ? " (subset)" : "");
}

void pr_dlio_log_sizes(const struct pr_emulate *e, struct pr_buf *out)
{
    const struct pr_checkpoint_shape *c = &e->checkpoint;
    bool subset = strcmp(c->opts.mode, "subset") == 0;
    struct pr_checkpoint_sum sum;

    pr_checkpoint_sum_ranks(c, c->first, c->ranks, &sum);
    if (subset) {
        pr_dlio_put_stamp(out, pr_wall_clock_ns());
        pr_buf_printf(out,
                      "Performing subset checkpointing: %" PRIu64 " of %" PRIu64
                      "\n",
                      c->ranks, c->all);
    }
    if (c->parameters) {
        pr_dlio_put_stamp(out, pr_wall_clock_ns());
        pr_buf_printf(out,
                      "Total number of parameters in the model: %" PRIu64 "\n",
                      c->parameters);
    }
    if (sum.model_bytes)
        say_size("Model size", sum.model_bytes, subset, out);
    if (sum.optimizer_bytes)
        say_size("Optimizer state size", sum.optimizer_bytes, subset, out);
    say_size("Total checkpoint size", sum.model_bytes + sum.optimizer_bytes,
             subset, out);
}

void pr_dlio_log_checkpoints_only(bool is_read, bool is_end, struct pr_buf *out)
{
    pr_dlio_put_stamp(out, pr_wall_clock_ns());
    pr_buf_printf(out, "Checkpointing %s %s\n", is_read ? "read" : "write",
                  is_end ? "finished" : "started");
}

void pr_dlio_log_checkpoint_start(bool is_read,
                                  const struct pr_checkpoint_at *at,
                                  uint64_t steps, struct pr_buf *out)
{
    pr_dlio_put_stamp(out, pr_wall_clock_ns());
    pr_buf_printf(out,
                  "Starting %s checkpoint %" PRIu64 " after total step %" PRIu64
                  " for epoch %" PRIu64 "\n",
                  is_read ? "loading" : "saving", at->block, steps, at->epoch);
}

static double checkpoint_op_gib_per_s(const struct pr_checkpoint_op *op,
                                      double seconds)
{
    return seconds > 0 ? (double)op->bytes / gib / seconds : 0;
}

void pr_dlio_log_checkpoint_end(const struct pr_checkpoint_op *op,
                                struct pr_buf *out)
{
    pr_dlio_put_stamp(out, op->end_wall_ns);
    pr_buf_printf(out,
                  "Finished %s checkpoint %" PRIu64 " for epoch %" PRIu64
                  " in %.4f s; Throughput: %.4f GB/s\n",
                  op->is_read ? "loading" : "saving", op->at.block,
                  op->at.epoch, op->slowest_s,
                  checkpoint_op_gib_per_s(op, op->slowest_s));
}

static void dlio_log_checkpoint_total(const char *what,
                                      const struct pr_checkpoint_total *t,
                                      struct pr_buf *out)
{
    uint64_t n = t->count;

    if (!n)
        return;
    pr_buf_printf(out,
                  "[METRIC] Checkpoint %s duration (seconds): %.4f "
                  "(%.4f)\n",
                  what, pr_checkpoint_mean(t->slowest_s, n),
                  pr_checkpoint_stdev(t->slowest_s, t->slowest_square, n));
    pr_buf_printf(out,
                  "[METRIC] Checkpoint %s I/O Throughput (GB/second): %.4f "
                  "(%.4f)\n",
                  what, pr_checkpoint_mean(t->rate, n) / gib,
                  pr_checkpoint_stdev(t->rate, t->rate_square, n) / gib);
}

void pr_dlio_log_checkpoints(const struct pr_emulate_stats *s,
                             struct pr_buf *out)
{
    dlio_log_checkpoint_total("save", &s->checkpoints.total[0], out);
    dlio_log_checkpoint_total("load", &s->checkpoints.total[1], out);
}

/* ---- files */

static void dlio_put_checkpoint_total(struct pr_json_writer *jb,
                                      const char *what,
                                      const struct pr_checkpoint_total *t)
{
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"io_mean_GB_per_second", pr_checkpoint_mean(t->rate, t->count) / gib},
        {"io_stdev_GB_per_second",
         pr_checkpoint_stdev(t->rate, t->rate_square, t->count) / gib},
        {"duration_mean_seconds", pr_checkpoint_mean(t->slowest_s, t->count)},
        {"duration_stdev_seconds",
         pr_checkpoint_stdev(t->slowest_s, t->slowest_square, t->count)},
    };
    char name[80];

    for (size_t i = 0; t->count && i < sizeof rows / sizeof *rows; i++) {
        snprintf(name, sizeof name, "%s_checkpoint_%s", what, rows[i].name);
        pr_json_put_float(jb, name, rows[i].value);
    }
}

void pr_dlio_put_checkpoints(const struct pr_emulate *e,
                             const struct pr_emulate_stats *s,
                             struct pr_json_writer *jb)
{
    dlio_put_checkpoint_total(jb, "save", &s->checkpoints.total[0]);
    dlio_put_checkpoint_total(jb, "load", &s->checkpoints.total[1]);
    pr_json_put_float(jb, "checkpoint_size_GB", dlio_checkpoint_gb(e));
}

void pr_dlio_put_checkpoint_ops(const struct pr_checkpoint_op **cursor,
                                uint64_t epoch, uint64_t block, uint64_t r,
                                struct pr_json_writer *jb)
{
    const struct pr_checkpoint_op *op;
    char name[48];

    while (*cursor && (*cursor)->at.epoch < epoch)
        *cursor = (*cursor)->next;
    for (op = *cursor;
         op && op->at.epoch == epoch && (!block || op->at.block == block);
         op = op->next) {
        double s = op->rank_s ? (double)op->rank_s[r] : op->slowest_s;

        snprintf(name, sizeof name, "%s_ckpt%" PRIu64,
                 op->is_read ? "load" : "save", op->at.block);
        pr_json_open_object(jb, name);
        pr_dlio_put_time(jb, "start", op->start_wall_ns);
        pr_dlio_put_time(jb, "end", op->start_wall_ns + (uint64_t)(s * 1e9));
        pr_json_put_float(jb, "duration", s);
        pr_json_put_float(jb, "throughput", checkpoint_op_gib_per_s(op, s));
        pr_json_close(jb);
    }
    *cursor = op;
}
