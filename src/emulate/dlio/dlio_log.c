/*
 * DLIO's log lines. Those that tell of a point in time carry it; figures are
 * DLIO's, by its formulas, of the first accelerator where DLIO shows those of
 * its first rank.
 */
#include "base/clock.h"
#include "emulate/dlio/dlio_files.h"

#include <inttypes.h>

void pr_dlio_put_stamp(struct pr_buf *out, uint64_t wall_ns)
{
    char text[32];

    pr_buf_printf(out, "[OUTPUT] %s ", pr_dlio_format_time(text, wall_ns));
}

static void stamp_now(struct pr_buf *out)
{
    pr_dlio_put_stamp(out, pr_wall_clock_ns());
}

void pr_dlio_log_mode(const struct pr_emulate *e, struct pr_buf *out)
{
    const struct {
        bool on;
        const char *text;
    } modes[] = {
        {e->workflow.generate_data, "Generating data"},
        {e->workflow.train, "Training"},
        {e->workflow.evaluation, "Evaluation"},
        {e->workflow.checkpoint, "Checkpointing"},
    };
    const char *gap = "";

    stamp_now(out);
    pr_buf_str(out, "Running DLIO [");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (modes[i].on) {
            pr_buf_printf(out, "%s%s", gap, modes[i].text);
            gap = " & ";
        }
    pr_buf_printf(out, "] with %" PRIu64 " process(es)\n", e->accelerators);
}

void pr_dlio_log_making(bool is_end, struct pr_buf *out)
{
    stamp_now(out);
    pr_buf_str(out,
               is_end ? "Generation done\n" : "Starting data generation\n");
}

static void say_caching(const struct pr_emulate *e, struct pr_buf *out)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 14);
    struct pr_dlio_host h;

    if (!a)
        return;
    pr_dlio_host_read(&h, a);
    if (pr_dlio_can_cache(e, &h))
        pr_buf_str(out,
                   "[WARNING] The amount of dataset is smaller than the host "
                   "memory; data might be cached after the first epoch. "
                   "Increase the size of dataset to eliminate the caching "
                   "effect!!!\n");
}

static void say_cap(const struct pr_emulate *e, uint64_t steps,
                    struct pr_buf *out)
{
    int64_t cap = e->train.total_training_steps;
    uint64_t all = steps * (uint64_t)e->train.epochs;
    bool run = e->train.total_training_steps_of[0] == 'r';
    uint64_t most = run ? all : steps;

    if (cap <= 0)
        return;
    stamp_now(out);
    pr_buf_printf(out,
                  "Total training steps is set to be %" PRId64
                  ". Will only run up to %" PRIu64 "\n",
                  cap, (uint64_t)cap < all ? (uint64_t)cap : all);
    if ((uint64_t)cap > most)
        pr_buf_printf(out,
                      "[WARNING] Only have enough data for %" PRIu64
                      " steps but %" PRId64 " wanted\n",
                      most, cap);
}

static void say_eval_steps(const struct pr_emulate *e, struct pr_buf *out)
{
    uint64_t per_file = (uint64_t)e->set.opts.num_samples_per_file;
    uint64_t batch = pr_dlio_batch_size(e, true);

    stamp_now(out);
    pr_buf_printf(out,
                  "Steps per eval: %" PRIu64 " = %" PRIu64 " * %" PRIu64
                  " / %" PRIu64 " / %" PRIu64 " (samples per file * num files "
                  "/ batch size eval / comm size)\n",
                  per_file * e->set.files[PR_VALID] / batch / e->accelerators,
                  per_file, e->set.files[PR_VALID], batch, e->accelerators);
}

void pr_dlio_log_start(const struct pr_emulate *e, uint64_t steps,
                       struct pr_buf *out)
{
    say_caching(e, out);
    stamp_now(out);
    pr_buf_printf(out,
                  "Max steps per epoch: %" PRIu64 " = %" PRId64 " * %" PRIu64
                  " / %" PRIu64 " / %" PRIu64 " (samples per file * num files "
                  "/ batch size / comm size)\n",
                  steps, e->set.opts.num_samples_per_file,
                  e->set.files[PR_TRAIN], pr_dlio_batch_size(e, false),
                  e->accelerators);
    say_cap(e, steps, out);
    if (e->workflow.evaluation)
        say_eval_steps(e, out);
}

void pr_dlio_log_epoch(const struct pr_emulate *e, unsigned epoch,
                       uint64_t steps, struct pr_buf *out)
{
    stamp_now(out);
    if (e->train.total_training_steps > 0)
        pr_buf_printf(out,
                      "Starting epoch %u: Overriding number of steps to "
                      "%" PRIu64 ".\n",
                      epoch, steps);
    else
        pr_buf_printf(out, "Starting epoch %u: %" PRIu64 " steps expected\n",
                      epoch, steps);
    pr_dlio_log_next_block(1, out);
}

void pr_dlio_log_next_block(uint64_t block, struct pr_buf *out)
{
    stamp_now(out);
    pr_buf_printf(out, "Starting block %" PRIu64 "\n", block);
}

void pr_dlio_log_block(const struct pr_emulate *e,
                       const struct pr_emulate_phase *p,
                       const struct pr_emulate_block *b, struct pr_buf *out)
{
    pr_dlio_put_stamp(out, b->end_wall_ns);
    pr_buf_printf(out,
                  "Ending block %" PRIu64 " - %" PRIu64
                  " steps completed in %.2f s\n",
                  b->number, b->steps, (double)(b->end_ns - b->start_ns) / 1e9);
    stamp_now(out);
    pr_buf_printf(out,
                  "Epoch %u - Block %" PRIu64
                  " [Training] Accelerator Utilization [AU] (%%): %.4f\n",
                  p->epoch, b->number, b->au);
    stamp_now(out);
    pr_buf_printf(out,
                  "Epoch %u - Block %" PRIu64
                  " [Training] Throughput (samples/second): %.4f\n",
                  p->epoch, b->number,
                  b->rate * (double)pr_dlio_batch_size(e, false) *
                      (double)p->accelerators);
    stamp_now(out);
    pr_buf_printf(out,
                  "Epoch %u - Block %" PRIu64
                  " [Training] Computation time per step (second): "
                  "%.4f+/-%.4f (set value: ",
                  p->epoch, b->number, b->compute, b->compute_dev);
    pr_duration_text(&e->compute, out);
    pr_buf_str(out, ")\n");
}

/* Blocks before the last one were told of when they ended. */
static void say_training(const struct pr_emulate *e,
                         const struct pr_emulate_phase *p, struct pr_buf *out)
{
    uint64_t ended = p->last_block ? p->last_block->number : 0;
    struct pr_emulate_block b = {0};

    while (pr_emulate_phase_next_block(p, &b))
        if (b.number > ended)
            pr_dlio_log_block(e, p, &b, out);
    stamp_now(out);
    pr_buf_printf(
        out, "Ending epoch %u - %" PRIu64 " steps completed in %.2f s\n",
        p->epoch, p->accel[0].steps, (double)(p->end_ns - p->start_ns) / 1e9);
}

static void say_evaluation(const struct pr_emulate *e,
                           const struct pr_emulate_phase *p, struct pr_buf *out)
{
    pr_dlio_put_stamp(out, p->start_wall_ns);
    pr_buf_printf(out, "Starting eval - %" PRIu64 " steps expected\n",
                  p->steps_planned);
    pr_dlio_put_stamp(out, p->end_wall_ns);
    pr_buf_printf(out, "Ending eval - %" PRIu64 " steps completed in %.2f s\n",
                  p->accel[0].steps, pr_emulate_phase_seconds(p));
    stamp_now(out);
    pr_buf_printf(out,
                  "Epoch %u [Eval] Accelerator Utilization [AU] (%%): %.4f\n",
                  p->epoch, pr_dlio_au(p, 0));
    stamp_now(out);
    pr_buf_printf(out, "Epoch %u [Eval] Throughput (samples/second): %.4f\n",
                  p->epoch,
                  pr_dlio_throughput(p, 0, pr_dlio_batch_size(e, true)) *
                      (double)p->accelerators);
}

void pr_dlio_log_phase(const struct pr_emulate *e,
                       const struct pr_emulate_phase *p, struct pr_buf *out)
{
    if (p->evaluation)
        say_evaluation(e, p, out);
    else
        say_training(e, p, out);
}

static void say_metric(const struct pr_emulate *e,
                       const struct pr_emulate_stats *s, bool evaluation,
                       struct pr_buf *out)
{
    const char *kind = evaluation ? "Eval" : "Training";
    int digits = evaluation ? 6 : 4;
    struct pr_dlio_measures f;

    pr_dlio_compute_measures(s, evaluation, pr_dlio_batch_size(e, evaluation),
                             &f);
    pr_buf_printf(out,
                  "[METRIC] %s Accelerator Utilization [AU] (%%): %.4f "
                  "(%.4f)\n",
                  kind, f.au, f.au_stdev);
    pr_buf_printf(out, "[METRIC] %s Throughput (samples/second): %.*f (%.*f)\n",
                  kind, digits, f.throughput, digits, f.throughput_stdev);
    pr_buf_printf(out, "[METRIC] %s %sThroughput (MB/second): %.*f (%.*f)\n",
                  kind, evaluation ? "" : "I/O ", digits, f.mb, digits,
                  f.mb_stdev);
    pr_buf_printf(out, "[METRIC] %s_au_meet_expectation: %s\n",
                  evaluation ? "eval" : "train", pr_dlio_met_word(e, f.au));
}

void pr_dlio_log_end(const struct pr_emulate *e,
                     const struct pr_emulate_stats *s, struct pr_buf *out)
{
    static const char line[] =
        "[METRIC] ======================================================"
        "====\n";
    const char *folder = e->output.folder;

    stamp_now(out);
    pr_buf_printf(out, "Saved outputs in %s\n",
                  folder && *folder ? folder : e->job->dir);
    pr_buf_str(out, "[OUTPUT] Averaged metric over all steps/epochs\n");
    pr_buf_str(out, line);
    pr_buf_printf(out,
                  "[METRIC] Number of Simulated Accelerators: %" PRIu64 " \n",
                  e->accelerators);
    if (e->workflow.train)
        say_metric(e, s, false, out);
    pr_dlio_log_checkpoints(s, out);
    if (e->workflow.evaluation)
        say_metric(e, s, true, out);
    pr_buf_str(out, line);
    pr_buf_char(out, '\n');
    stamp_now(out);
    pr_buf_str(out, "outputs saved in RANKID_output.json\n");
}
