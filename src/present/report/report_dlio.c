/*
 * Results in DLIO's form: our own reading of them, by phase, by rank and as
 * JSON, and the report of DLIO's post-processor, with its structure and
 * figures.
 */
#include "present/report/report_dlio.h"

#include "base/text.h"
#include "present/screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- our own reading */

/* What the ranks of a phase did together. */
struct total {
    double load_s, compute_s, au, throughput;
    uint64_t steps; /* of all ranks */
};

static struct total total_of(const struct pr_dlio_phase *p)
{
    struct total t = {0};

    for (size_t i = 0; i < p->rank_count; i++) {
        t.load_s += p->ranks[i].load_s;
        t.compute_s += p->ranks[i].compute_s;
        t.steps += p->ranks[i].steps;
        t.au += p->ranks[i].au / (double)p->rank_count;
        t.throughput += p->ranks[i].throughput;
    }
    return t;
}

enum phase_column {
    EPOCH,
    PHASE,
    DURATION,
    STEPS,
    UTILISATION,
    WAIT,
    SAMPLES,
    DLIO_AU,
    DLIO_SAMPLES,
};

static const struct pr_table_column phase_columns[] = {
    [EPOCH] = {"epoch", PR_COL_INT, NULL, PR_ALIGN_AUTO, "epoch"},
    [PHASE] = {"phase", PR_COL_STR, NULL, PR_ALIGN_AUTO, "phase"},
    [DURATION] = {"duration", PR_COL_SECONDS, NULL, PR_ALIGN_AUTO,
                  "duration_s"},
    [STEPS] = {"steps of all", PR_COL_INT, NULL, PR_ALIGN_AUTO, "steps"},
    [UTILISATION] = {"utilisation", PR_COL_PERCENT, NULL, PR_ALIGN_AUTO,
                     "utilisation_pct"},
    [WAIT] = {"waiting", PR_COL_PERCENT, NULL, PR_ALIGN_AUTO, "wait_pct"},
    [SAMPLES] = {"samples/s", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO,
                 "samples_per_s"},
    [DLIO_AU] = {"DLIO's AU", PR_COL_PERCENT, NULL, PR_ALIGN_AUTO,
                 "dlio_au_pct"},
    [DLIO_SAMPLES] = {"DLIO's samples/s", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO,
                      "dlio_samples_per_s"},
};

/* Utilisation: what all ranks computed, of the time that all of them had. */
static void add_phase(struct pr_table *t, const struct pr_dlio_run *run,
                      unsigned epoch, const struct pr_dlio_phase *p)
{
    uint64_t batch = p->evaluation ? run->setup.batch_eval : run->setup.batch;
    struct total all = total_of(p);
    double had = p->seconds * (double)p->rank_count;

    pr_table_row(t);
    pr_table_set_int(t, EPOCH, epoch);
    pr_table_set_str(t, PHASE, p->name);
    pr_table_set_float(t, DURATION, p->seconds);
    if (!p->rank_count)
        return;
    pr_table_set_int(t, STEPS, (int64_t)all.steps);
    if (had > 0) {
        pr_table_set_float(t, UTILISATION, 100 * all.compute_s / had);
        pr_table_set_float(t, WAIT, 100 * all.load_s / had);
        if (batch)
            pr_table_set_float(t, SAMPLES,
                               (double)all.steps * (double)batch / p->seconds);
    }
    pr_table_set_float(t, DLIO_AU, all.au);
    pr_table_set_float(t, DLIO_SAMPLES, all.throughput);
}

static struct pr_table *phase_table(const struct pr_dlio_run *run)
{
    struct pr_table *t = pr_table_new(phase_columns, sizeof phase_columns /
                                                         sizeof *phase_columns);

    for (size_t i = 0; t && i < run->epoch_count; i++)
        for (const struct pr_dlio_phase *p = run->epochs[i].phases; p;
             p = p->next)
            add_phase(t, run, run->epochs[i].number, p);
    return t;
}

static int dlio_print_table(struct pr_table *t, enum pr_table_format format,
                            const struct pr_table_style *style,
                            struct pr_buf *out, struct pr_err *err)
{
    int rc =
        t ? pr_table_print(t, format, style, out, err) : pr_fail_nomem(err);

    pr_table_free(t);
    return rc;
}

int pr_dlio_phase_table(const struct pr_dlio_run *run,
                        enum pr_table_format format,
                        const struct pr_table_style *style, struct pr_buf *out,
                        struct pr_err *err)
{
    return dlio_print_table(phase_table(run), format, style, out, err);
}

enum rank_column { RANK, RANK_STEPS, RANK_WAIT, RANK_COMPUTE, RANK_AU };

static const struct pr_table_column rank_columns[] = {
    [RANK] = {"rank", PR_COL_INT, NULL, PR_ALIGN_AUTO, "rank"},
    [RANK_STEPS] = {"steps", PR_COL_INT, NULL, PR_ALIGN_AUTO, "steps"},
    [RANK_WAIT] = {"waited", PR_COL_SECONDS, NULL, PR_ALIGN_AUTO, "wait_s"},
    [RANK_COMPUTE] = {"computed", PR_COL_SECONDS, NULL, PR_ALIGN_AUTO,
                      "compute_s"},
    [RANK_AU] = {"DLIO's AU", PR_COL_PERCENT, NULL, PR_ALIGN_AUTO,
                 "dlio_au_pct"},
};

struct rank_sum {
    struct pr_dlio_rank sum;
    size_t phases;
};

/* The i-th rank of all phases of training: phases list them in one order. */
static struct rank_sum sum_rank(const struct pr_dlio_run *run, uint64_t rank)
{
    struct rank_sum s = {.sum = {.rank = rank}};

    for (size_t i = 0; i < run->epoch_count; i++)
        for (const struct pr_dlio_phase *p = run->epochs[i].phases; p;
             p = p->next)
            for (size_t k = 0; k < p->rank_count && !p->evaluation; k++) {
                if (p->ranks[k].rank != rank)
                    continue;
                s.sum.steps += p->ranks[k].steps;
                s.sum.load_s += p->ranks[k].load_s;
                s.sum.compute_s += p->ranks[k].compute_s;
                s.sum.au += p->ranks[k].au;
                s.phases++;
            }
    return s;
}

static struct pr_table *rank_table(const struct pr_dlio_run *run)
{
    const struct pr_dlio_phase *p =
        run->epoch_count ? run->epochs[0].phases : NULL;
    struct pr_table *t =
        pr_table_new(rank_columns, sizeof rank_columns / sizeof *rank_columns);

    while (p && (p->evaluation || !p->rank_count))
        p = p->next;
    for (size_t i = 0; t && p && i < p->rank_count; i++) {
        struct rank_sum s = sum_rank(run, p->ranks[i].rank);
        pr_table_row(t);
        pr_table_set_int(t, RANK, (int64_t)s.sum.rank);
        pr_table_set_int(t, RANK_STEPS, (int64_t)s.sum.steps);
        pr_table_set_float(t, RANK_WAIT, s.sum.load_s);
        pr_table_set_float(t, RANK_COMPUTE, s.sum.compute_s);
        if (s.phases)
            pr_table_set_float(t, RANK_AU, s.sum.au / (double)s.phases);
    }
    return t;
}

int pr_dlio_rank_table(const struct pr_dlio_run *run,
                       enum pr_table_format format,
                       const struct pr_table_style *style, struct pr_buf *out,
                       struct pr_err *err)
{
    return dlio_print_table(rank_table(run), format, style, out, err);
}

static void dlio_write_stats(struct pr_json_writer *jb, const char *key,
                             const struct pr_dlio_stats *s)
{
    if (s->n < 2)
        return;
    pr_json_open_object(jb, key);
    pr_json_put_float(jb, "mean", s->mean);
    pr_json_put_float(jb, "std", s->std);
    pr_json_put_float(jb, "min", s->min);
    pr_json_put_float(jb, "median", s->median);
    pr_json_put_float(jb, "p90", s->p90);
    pr_json_put_float(jb, "p99", s->p99);
    pr_json_put_float(jb, "max", s->max);
    pr_json_close(jb);
}

static void dlio_write_overall(const struct pr_dlio_run *run,
                               struct pr_json_writer *jb)
{
    pr_json_open_object(jb, "overall");
    pr_json_put_str(jb, "name", run->setup.name);
    pr_json_put_str(jb, "start", *run->start ? run->start : NULL);
    pr_json_put_str(jb, "end", *run->end ? run->end : NULL);
    pr_json_put_float(jb, "duration_s", run->seconds);
    pr_json_put_uint(jb, "ranks", run->ranks);
    if (run->setup.batch)
        pr_json_put_uint(jb, "batch_size", run->setup.batch);
    pr_json_put_float(jb, "avg_process_loading_time", run->load_s);
    pr_json_put_float(jb, "avg_process_processing_time", run->proc_s);
    dlio_write_stats(jb, "samples/s", &run->samples);
    dlio_write_stats(jb, "MB/s", &run->mb);
    pr_json_close(jb);
}

static void dlio_write_table(struct pr_table *t, struct pr_json_writer *jb,
                             const char *key)
{
    if (t)
        pr_table_json(t, jb, key);
    else
        jb->out->failed = true;
    pr_table_free(t);
}

/* DLIO writes NaN, which is no JSON: those are left out. */
static void dlio_write_metric(const struct pr_value *metric,
                              struct pr_json_writer *jb)
{
    if (!metric || metric->kind != PR_MAP)
        return;
    pr_json_open_object(jb, "metric");
    for (uint32_t i = 0; i < metric->len; i++) {
        const struct pr_member *m = &metric->members[i];
        if (pr_value_is_number(&m->value))
            pr_json_put_float(jb, m->key, pr_value_number(&m->value));
        else if (m->value.kind == PR_STR)
            pr_json_put_str(jb, m->key, m->value.s);
    }
    pr_json_close(jb);
}

void pr_dlio_report_json(const struct pr_dlio_run *run,
                         struct pr_json_writer *jb)
{
    dlio_write_overall(run, jb);
    dlio_write_table(phase_table(run), jb, "phases");
    dlio_write_table(rank_table(run), jb, "ranks");
    dlio_write_metric(pr_get(&run->summary, "metric"), jb);
}

/* ---- the report of DLIO's post-processor */

/* Where the columns of figures begin, and the line above them. */
enum { LABEL_WIDTH = 35, LINE_WIDTH = 90 };

static const char *const disk_labels[] = {
#define X(name, key, label) label,
    PR_DLIO_DISK_MEASURES(X)
#undef X
};

static const char *const cpu_labels[] = {
#define X(name, key, label) label,
    PR_DLIO_CPU_MEASURES(X)
#undef X
};

/* A label, then a value at a fixed column. */
static void dlio_print_item(struct pr_buf *out, size_t indent, size_t width,
                            const char *label, const char *value)
{
    pr_screen_blanks(out, indent);
    pr_buf_printf(out, "%-*s", (int)width, label);
    pr_screen_clean(out, value, strlen(value));
    pr_buf_char(out, '\n');
}

/* "2026-11-15T20:55:08" as it is shown: "2026-11-15 20:55:08". */
static void dlio_print_time(struct pr_buf *out, size_t indent, size_t width,
                            const char *label, const char *time)
{
    char text[64];

    snprintf(text, sizeof text, "%s", *time ? time : "n/a");
    if (strlen(text) > 10 && text[10] == 'T')
        text[10] = ' ';
    dlio_print_item(out, indent, width, label, text);
}

static void dlio_print_seconds(struct pr_buf *out, size_t indent, size_t width,
                               const char *label, double s)
{
    char text[64];

    snprintf(text, sizeof text, "%.2f", s);
    dlio_print_item(out, indent, width, label, isfinite(s) ? text : "n/a");
}

static void dlio_print_count(struct pr_buf *out, size_t indent, size_t width,
                             const char *label, uint64_t n)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    dlio_print_item(out, indent, width, label, n ? text : "n/a");
}

static void dlio_print_stats_row(struct pr_buf *out, size_t indent,
                                 size_t inner, const char *label,
                                 const struct pr_dlio_stats *s)
{
    const double values[] = {s->mean, s->std, s->min, s->median,
                             s->p90,  s->p99, s->max};

    pr_screen_blanks(out, indent + inner);
    pr_buf_printf(out, "%-*s", (int)(LABEL_WIDTH - inner), label);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (s->n < 2)
            pr_buf_printf(out, "%12s ", "n/a");
        else
            pr_buf_printf(out, "%12.2f ", values[i]);
    }
    pr_buf_char(out, '\n');
}

static void dlio_print_table_head(struct pr_buf *out, size_t indent)
{
    static const char *const names[] = {"mean", "std", "min", "median",
                                        "p90",  "p99", "max"};

    pr_screen_blanks(out, indent + LABEL_WIDTH);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pr_buf_printf(out, "%12s ", names[i]);
    pr_buf_char(out, '\n');
    pr_screen_blanks(out, indent + LABEL_WIDTH);
    for (int i = 0; i < LINE_WIDTH; i++)
        pr_buf_char(out, '-');
    pr_buf_char(out, '\n');
}

static void dlio_print_machine(const struct pr_dlio_run *run,
                               const struct pr_dlio_machine *m, size_t indent,
                               struct pr_buf *out)
{
    pr_buf_char(out, '\n');
    dlio_print_item(out, indent, 0, "I/O Stats (over all time segments)", "");
    for (size_t d = 0; d < run->disk_count; d++) {
        dlio_print_item(out, indent + 2, 0, "Device: ", run->disks[d]);
        for (size_t f = 0; f < PR_DLIO_DISK_COUNT; f++)
            dlio_print_stats_row(out, indent, 4, disk_labels[f],
                                 &m->disks[d].figure[f]);
        pr_buf_char(out, '\n');
    }
    dlio_print_item(out, indent, 0, "CPU Stats", "");
    for (size_t f = 0; f < PR_DLIO_CPU_COUNT; f++)
        dlio_print_stats_row(out, indent, 4, cpu_labels[f], &m->cpu[f]);
}

/* throughput NULL: there is none, only what the machine did. */
static void dlio_print_tables(const struct pr_dlio_run *run,
                              const char *throughput,
                              const struct pr_dlio_stats *samples,
                              const struct pr_dlio_stats *mb,
                              const struct pr_dlio_machine *m, size_t indent,
                              struct pr_buf *out)
{
    if (!throughput && !run->has_iostat)
        return;
    dlio_print_table_head(out, indent);
    if (throughput) {
        dlio_print_item(out, indent, 0, throughput, "");
        dlio_print_stats_row(out, indent, 2, "Samples/s:", samples);
        dlio_print_stats_row(out, indent, 2,
                             "MB/s (derived from Samples/s):", mb);
    }
    if (run->has_iostat)
        dlio_print_machine(run, m, indent, out);
    pr_buf_char(out, '\n');
}

static void dlio_print_overall(const struct pr_dlio_run *run,
                               struct pr_buf *out)
{
    enum { WIDTH = 30 };
    const struct pr_dlio_setup *s = &run->setup;

    pr_buf_str(out, "Overall\n\n");
    dlio_print_item(out, 4, WIDTH, "Run name:", s->name ? s->name : "");
    dlio_print_time(out, 4, WIDTH, "Started:", run->start);
    dlio_print_time(out, 4, WIDTH, "Ended:", run->end);
    dlio_print_seconds(out, 4, WIDTH, "Duration (s):", run->seconds);
    dlio_print_count(out, 4, WIDTH, "Num Ranks:", run->ranks);
    dlio_print_count(out, 4, WIDTH, "Batch size (per rank):", s->batch);
    if (s->evaluation)
        dlio_print_count(out, 4, WIDTH, "Eval batch size:", s->batch_eval);
    pr_buf_char(out, '\n');
    dlio_print_tables(run, "Throughput Stats (over all epochs)", &run->samples,
                      &run->mb, &run->machine, 4, out);
}

/* Blocks and evaluations are numbered through the whole run. */
struct numbering {
    unsigned block, eval, checkpoint;
};

static void dlio_print_phase_title(const struct pr_dlio_phase *p,
                                   struct numbering *n, struct pr_buf *out)
{
    pr_screen_blanks(out, 4);
    if (pr_text_starts_with(p->name, "block"))
        pr_buf_printf(out, "Block %u\n", ++n->block);
    else if (p->evaluation)
        pr_buf_printf(out, "Eval %u\n", ++n->eval);
    else if (pr_text_starts_with(p->name, "ckpt"))
        pr_buf_printf(out, "Checkpoint %u\n", ++n->checkpoint);
    else
        dlio_print_item(out, 0, 0, "", p->name);
}

static void dlio_print_phase(const struct pr_dlio_run *run,
                             const struct pr_dlio_phase *p, struct numbering *n,
                             struct pr_buf *out)
{
    enum { WIDTH = 39 };

    dlio_print_phase_title(p, n, out);
    dlio_print_time(out, 8, WIDTH, "Started:", p->start);
    dlio_print_time(out, 8, WIDTH, "Ended:", p->end);
    dlio_print_item(out, 8, WIDTH,
                    "Duration (s):", *p->duration ? p->duration : "n/a");
    if (p->steps_known) {
        dlio_print_seconds(out, 8, WIDTH,
                           "Avg loading time / rank (s):", p->load_s);
        dlio_print_seconds(out, 8, WIDTH,
                           "Avg processing time / rank (s):", p->proc_s);
    }
    pr_buf_char(out, '\n');
    dlio_print_tables(
        run, p->steps_known ? "Throughput Stats (over all steps)" : NULL,
        &p->samples, &p->mb, &p->machine, 8, out);
}

void pr_dlio_report_text(const struct pr_dlio_run *run, struct pr_buf *out)
{
    enum { WIDTH = 21 };
    struct numbering n = {0};

    pr_buf_str(out, "DLIO v1.0 Report\n\n"
                    "Note: figures of fewer than two points are shown as "
                    "'n/a'.\n\n");
    dlio_print_overall(run, out);
    pr_buf_str(out, "\nDetailed Report\n\n");
    for (size_t i = 0; i < run->epoch_count; i++) {
        const struct pr_dlio_read_epoch *e = &run->epochs[i];

        pr_buf_printf(out, "Epoch %u\n", e->number);
        dlio_print_time(out, 4, WIDTH, "Started:", e->start);
        dlio_print_time(out, 4, WIDTH, "Ended:", e->end);
        dlio_print_item(out, 4, WIDTH,
                        "Duration (s):", *e->duration ? e->duration : "n/a");
        pr_buf_char(out, '\n');
        for (const struct pr_dlio_phase *p = e->phases; p; p = p->next)
            dlio_print_phase(run, p, &n, out);
    }
}

void pr_dlio_report_name(const struct pr_dlio_run *run, struct pr_buf *out)
{
    enum { MAX_NAME = 100 };
    const char *name = run->setup.name ? run->setup.name : "";

    pr_buf_str(out, *name ? "DLIO_" : "DLIO");
    for (size_t i = 0; name[i] && i < MAX_NAME; i++)
        pr_buf_char(out, name[i] == '/' || (unsigned char)name[i] < ' '
                             ? '_'
                             : name[i]);
    pr_buf_str(out, "_report.txt");
}
