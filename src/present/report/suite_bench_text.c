/* The report of milabench's runs, as it prints it. */
#include "present/report/suite_frame.h"
#include "present/report/suite_report.h"
#include "present/screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NUMBER(name, value)                                                  \
    static double name(const struct pr_suite_row *r)                         \
    {                                                                        \
        const struct pr_milabench_test *b = r->test ? r->test->bench : NULL; \
        (void)b;                                                             \
        return value;                                                        \
    }

NUMBER(milabench_failures, r->fail)
NUMBER(milabench_runs, r->n)
NUMBER(milabench_gpus, b ? (double)b->gpus : 0)
NUMBER(milabench_perf, r->perf)
NUMBER(milabench_sem, b ? b->sem / r->perf : (double)NAN)
NUMBER(milabench_std, r->std_share)
NUMBER(milabench_peak_memory, b ? b->peak_memory : (double)NAN)
NUMBER(milabench_score, r->score)
NUMBER(milabench_weight, isnan(r->weight) ? 0 : r->weight)
NUMBER(milabench_kilojoules, b ? b->kilojoules : 0)
NUMBER(milabench_per_watt, b ? b->per_watt : 0)
NUMBER(milabench_watts, b ? b->watts : (double)NAN)

static const struct {
    const char *head;
    double (*of)(const struct pr_suite_row *r);
    struct pr_text_frame_number how;
} columns[] = {
    {"fail", milabench_failures, {4, 0, false, NULL}},
    {"n", milabench_runs, {3, 0, false, NULL}},
    {"ngpu", milabench_gpus, {4, 0, false, NULL}},
    {"perf", milabench_perf, {10, 2, false, NULL}},
    {"sem%", milabench_sem, {6, 1, true, NULL}},
    {"std%", milabench_std, {6, 1, true, NULL}},
    {"peak_memory", milabench_peak_memory, {11, 0, false, NULL}},
    {"score", milabench_score, {10, 2, false, NULL}},
    {"weight", milabench_weight, {6, 2, false, NULL}},
    {"energy (Kj)", milabench_kilojoules, {3, 3, false, NULL}},
    {"perf_watt", milabench_per_watt, {3, 3, false, NULL}},
    {"median_watt",
     milabench_watts,
     {3, 3, false, NULL}}, /* if any has been sampled */
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static bool milabench_has_load(const struct pr_suite_report *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->rows[i].test && r->rows[i].test->bench->has_load)
            return true;
    return false;
}

static void milabench_add_baseline(struct pr_text_frame *f,
                                   const struct pr_suite_report *r, size_t base)
{
    static const struct pr_text_frame_number fixed = {10, 2, false, NULL};
    const char *heads[] = {"perf_base", "perf_ratio"};

    for (int k = 0; k < 2; k++) {
        const char *head =
            base ? pr_arena_printf(f->arena, "%s_%zu", heads[k], base + 1)
                 : heads[k];
        f->failed |= !head;
        pr_text_frame_column(f, head);
        for (size_t i = 0; i < r->count; i++)
            pr_text_frame_set(f, i,
                              k ? r->rows[i].beside[base].ratio
                                : r->rows[i].beside[base].perf,
                              &fixed);
    }
}

static void milabench_print_rows(const struct pr_suite_report *r,
                                 struct pr_arena *a, struct pr_buf *out)
{
    size_t n = milabench_has_load(r) ? COLUMNS : COLUMNS - 1;
    struct pr_text_frame f;

    pr_text_frame_init(&f, a, r->count, COLUMNS + 1 + 2 * r->bases);
    for (size_t i = 0; i < r->count; i++)
        pr_text_frame_name(&f, i, r->rows[i].name);
    for (size_t k = 0; k < n; k++) {
        pr_text_frame_column(&f, columns[k].head);
        for (size_t i = 0; i < r->count; i++)
            pr_text_frame_set(&f, i, columns[k].of(&r->rows[i]),
                              &columns[k].how);
    }
    for (size_t i = 0; i < r->bases; i++)
        milabench_add_baseline(&f, r, i);
    pr_text_frame_column(&f, "enabled");
    for (size_t i = 0; i < r->count; i++)
        pr_text_frame_set_text(
            &f, i,
            r->rows[i].test && r->rows[i].test->bench->enabled ? "True"
                                                               : "False");
    pr_text_frame_print(&f, "index", " | ", "enabled", out);
}

static void clean_line(struct pr_buf *out, const char *label, const char *text)
{
    pr_buf_str(out, label);
    pr_screen_clean(out, text, strlen(text));
    pr_buf_char(out, '\n');
}

static void milabench_print_system(const struct pr_suite_host *h,
                                   struct pr_buf *out)
{
    if (!h->cpu && !h->gpus)
        return;
    pr_text_frame_section(out, "System");
    if (h->cpu) {
        clean_line(out, "cpu:      ", h->cpu);
        pr_buf_printf(out, "n_cpu:    %" PRIu64 "\n", h->cpus);
    }
    if (h->gpus) {
        char memory[32];
        clean_line(out, "product:  ", h->gpu ? h->gpu : "NA");
        pr_buf_printf(out, "n_gpu:    %" PRIu64 "\nmemory:   ", h->gpus);
        pr_buf_add(
            out, memory,
            pr_float_repr(memory, isnan(h->gpu_memory) ? 0 : h->gpu_memory));
        pr_buf_char(out, '\n');
    }
}

static void milabench_print_score(struct pr_buf *out, const char *label,
                                  size_t width, double v)
{
    static const struct pr_text_frame_number plain = {10, 2, false, NULL};

    pr_buf_printf(out, "%s:%*s ", label, (int)(width - strlen(label) - 1), "");
    pr_text_frame_number(out, v, &plain);
    pr_buf_char(out, '\n');
}

static void milabench_print_scores(const struct pr_suite_report *r,
                                   struct pr_buf *out)
{
    static const struct pr_text_frame_number rate = {10, 2, true, NULL};
    bool priced = !isnan(r->price);
    size_t width = priced ? 21 : r->bases ? 18 : 14;

    pr_text_frame_section(out, "Scores");
    pr_buf_printf(out, "Failure rate:%*s ", (int)width - 13, "");
    pr_text_frame_number(out, r->failure_rate, &rate);
    pr_buf_printf(out, " (%s)\n", r->pass ? "PASS" : "FAIL");
    milabench_print_score(out, "Score", width, isnan(r->score) ? -1 : r->score);
    for (size_t i = 0; i < r->bases; i++) {
        milabench_print_score(out, "Score (baseline)", width,
                              r->base_scores[i].score);
        milabench_print_score(out, "Ratio", width, r->base_scores[i].ratio);
    }
    if (!priced)
        return;
    milabench_print_score(out, "Price ($)", width, r->price);
    milabench_print_score(out, "RPP (Price / Score)", width, r->rpp);
}

int pr_milabench_text(const struct pr_suite_report *r, struct pr_buf *out,
                      struct pr_err *err)
{
    static const struct pr_text_frame_devices devices = {
        "index", " | ", 1, {0, 0, true, NULL}};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    char head[64];

    if (!a)
        return pr_fail_nomem(err);
    clean_line(out, "Source: ", r->suite->path);
    pr_text_frame_title(out, r->title);
    milabench_print_system(&r->suite->host, out);
    pr_text_frame_section(out, "Breakdown");
    milabench_print_rows(r, a, out);
    milabench_print_scores(r, out);
    for (int i = 0; r->has_matrix && i < 3; i++) {
        snprintf(head, sizeof head, "GPU comparison (%s)",
                 r->matrix[i].measure);
        pr_text_frame_section(out, head);
        pr_text_frame_devices(&r->matrix[i], &devices, a, out);
    }
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}
