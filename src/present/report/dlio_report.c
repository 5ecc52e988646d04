/* The report of DLIO's post-processor: its structure and figures. */
#include "present/report/dlio_report.h"

#include "present/screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

static void dlio_print_blanks(struct pr_buf *out, size_t n)
{
    while (n--)
        pr_buf_char(out, ' ');
}

/* A label, then a value at a fixed column. */
static void dlio_print_item(struct pr_buf *out, size_t indent, size_t width,
                            const char *label, const char *value)
{
    dlio_print_blanks(out, indent);
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

    dlio_print_blanks(out, indent + inner);
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

    dlio_print_blanks(out, indent + LABEL_WIDTH);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        pr_buf_printf(out, "%12s ", names[i]);
    pr_buf_char(out, '\n');
    dlio_print_blanks(out, indent + LABEL_WIDTH);
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
    dlio_print_blanks(out, 4);
    if (strncmp(p->name, "block", 5) == 0)
        pr_buf_printf(out, "Block %u\n", ++n->block);
    else if (p->evaluation)
        pr_buf_printf(out, "Eval %u\n", ++n->eval);
    else if (strncmp(p->name, "ckpt", 4) == 0)
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
