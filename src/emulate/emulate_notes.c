/* What an emulated training warns of. */
#include "emulate/emulate_notes.h"

#include "base/json/json.h"
#include "emulate/dlio/emulate_dlio.h"
#include "emulate/emulate_result.h"

#include <string.h>

void pr_warnings_add_ranks(const struct pr_emulate *e, struct pr_buf *notes)
{
    if (e->accelerators > PR_DLIO_RANKS)
        pr_buf_printf(notes,
                      "DLIO's result files are written of the first %d "
                      "accelerators only\n",
                      PR_DLIO_RANKS);
}

void pr_warnings_add_copies(const struct pr_emulate *e, struct pr_buf *notes)
{
    const struct pr_checkpoint_shape *c = &e->checkpoint;
    int64_t data = c->parallelism.data;

    if (data > 0 && (uint64_t)data != c->dp)
        pr_buf_printf(
            notes,
            "%llu ranks hold %llu %s of the model, not "
            "model.parallelism.data=%lld: with checkpoint.mode=subset "
            "they would be some of the ranks of that job\n",
            (unsigned long long)c->ranks, (unsigned long long)c->dp,
            c->dp == 1 ? "copy" : "copies", (long long)data);
}

void pr_warnings_add_step_cap(const struct pr_emulate *e, uint64_t batches,
                              struct pr_buf *notes)
{
    int64_t cap = e->train.total_training_steps;
    bool over_run = strcmp(e->train.total_training_steps_of, "run") == 0;
    double have =
        over_run ? (double)batches * (double)e->train.epochs : (double)batches;

    if (cap > 0 && over_run)
        pr_buf_str(notes, "train.total_training_steps limits all epochs "
                          "together (train.total_training_steps_of=run)\n");
    if (cap > 0 && (double)cap > have)
        pr_buf_printf(notes,
                      "train.total_training_steps asks for %lld steps, but "
                      "the data has only enough for %.0f%s\n",
                      (long long)cap, have, over_run ? "" : " in an epoch");
}

int pr_warnings_add_evaluation(const struct pr_emulate *e, struct pr_buf *notes,
                               bool *ret_has, struct pr_err *err)
{
    struct pr_order_opts opts;
    struct pr_order order;
    int rc;

    *ret_has = false;
    if (!e->workflow.evaluation)
        return PR_OK;
    pr_emulate_fill_order_opts(e, true, 1, &opts);
    rc = pr_order_init(&order, &opts, err);
    *ret_has = !rc && order.batches;
    if (!rc && !order.batches)
        pr_buf_printf(notes,
                      "nothing is evaluated: the %llu samples of "
                      "dataset.num_files_eval do not make one batch of %llu "
                      "for each accelerator\n",
                      (unsigned long long)order.total,
                      (unsigned long long)opts.batch);
    return rc;
}

static void note_skipped(const struct pr_emulate_stats *s, struct pr_buf *notes)
{
    struct pr_emulate_totals t;

    pr_emulate_stats_sum(s, false, &t);
    if (t.failed)
        pr_buf_printf(notes,
                      "samples that could not be read and were skipped: %llu; "
                      "the first: %s: %s\n",
                      (unsigned long long)t.failed, t.first_error->where,
                      t.first_error->msg);
}

/* DLIO's formula takes two steps off, which leaves nothing of so few. */
static void warn_few_steps(const struct pr_emulate_stats *s,
                           struct pr_buf *notes)
{
    const struct pr_emulate_phase *p = s->first;

    while (p && (p->evaluation || p->steps_planned > 2))
        p = p->next;
    if (p)
        pr_buf_printf(notes,
                      "epoch %u has fewer than 3 steps: DLIO's formula gives a "
                      "throughput of 0 then, samples_per_second is right\n",
                      p->epoch);
}

static void note_ahead(const struct pr_emulate *e,
                       const struct pr_emulate_stats *s, struct pr_buf *notes)
{
    struct pr_dlio_measures f;
    struct pr_emulate_totals t;

    if (!pr_emulate_is_dlio_misleading(e, s))
        return;
    pr_emulate_stats_sum(s, false, &t);
    pr_dlio_compute_measures(s, false, (uint64_t)e->reader.batch_size, &f);
    pr_buf_printf(
        notes,
        "epochs are short beside what is read ahead: %.0f %% of the steps "
        "that DLIO's formulas count were read before the first of them, so "
        "their utilisation of %.1f %% and %.4g samples/s leave that reading "
        "out; %.1f %% and %.4g samples/s have it in; use more files, or a "
        "smaller reader.prefetch_size\n",
        100 * (double)t.ahead_steps / (double)t.counted_steps, f.au,
        f.throughput, 100 * pr_emulate_totals_utilisation(&t),
        (double)t.samples / t.seconds);
}

void pr_warnings_add_steps(const struct pr_emulate *e,
                           const struct pr_emulate_stats *s,
                           struct pr_buf *notes)
{
    note_skipped(s, notes);
    warn_few_steps(s, notes);
    note_ahead(e, s, notes);
}

/* The text up to the next line end; NULL: no more. */
static const char *warnings_next_line(const struct pr_buf *notes,
                                      const char *at)
{
    return notes->len ? strchr(at, '\n') : NULL;
}

void pr_warnings_put_dlio_log(const struct pr_buf *notes, struct pr_buf *log)
{
    const char *end;

    for (const char *at = notes->data; (end = warnings_next_line(notes, at));
         at = end + 1)
        pr_buf_printf(log, "[WARNING] %.*s\n", (int)(end - at), at);
}

void pr_warnings_put_lines(const struct pr_buf *notes, struct pr_buf *out)
{
    const char *end;

    for (const char *at = notes->data; (end = warnings_next_line(notes, at));
         at = end + 1) {
        pr_buf_str(out, "__warning__= ");
        pr_json_write_string(out, at, (size_t)(end - at));
        pr_buf_char(out, '\n');
    }
}
