/* A report of a suite as milarun prints it. */
#include "present/report/suite_frame.h"
#include "present/report/suite_report.h"
#include "present/screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct pr_text_frame_number whole = {0, 0, false, "NaN"};
static const struct pr_text_frame_number fixed = {10, 2, false, "NaN"};
static const struct pr_text_frame_number weight = {4, 2, false, "NaN"};
static const struct pr_text_frame_number share = {6, 1, true, "NaN"};
static const struct pr_text_frame_number plain = {10, 2, false, NULL};
static const struct pr_text_frame_number rate = {10, 2, true, NULL};

enum { EMPTY_NAMES = 100 }; /* pandas shows no more */

#define MAX_COLUMNS(r) (6 + 4 * (r)->bases)

/* A column of one member of the rows. */
static void suite_text_add_column(struct pr_text_frame *f,
                                  const struct pr_suite_report *r,
                                  const char *head, size_t offset,
                                  const struct pr_text_frame_number *how)
{
    pr_text_frame_column(f, head);
    for (size_t i = 0; i < r->count; i++)
        pr_text_frame_set(
            f, i, *(const double *)((const char *)&r->rows[i] + offset), how);
}

/* "perf_base"; of the second baseline "perf_base_2". */
static void suite_text_add_baseline(struct pr_text_frame *f,
                                    const struct pr_suite_report *r,
                                    const char *head, size_t base,
                                    size_t offset)
{
    if (base)
        head = pr_arena_printf(f->arena, "%s_%zu", head, base + 1);
    f->failed |= !head;
    pr_text_frame_column(f, head);
    for (size_t i = 0; i < r->count; i++) {
        const char *at = (const char *)&r->rows[i].beside[base] + offset;
        pr_text_frame_set(f, i, *(const double *)at, &fixed);
    }
}

/* What pandas says of a table without columns. */
static void print_empty(const char *const *names, size_t rows,
                        struct pr_buf *out)
{
    pr_buf_str(out, "Empty DataFrame\nColumns: []\nIndex: [");
    for (size_t i = 0; i < rows && i < EMPTY_NAMES; i++) {
        pr_buf_str(out, i ? ", " : "");
        pr_screen_clean(out, names[i], strlen(names[i]));
    }
    pr_buf_str(out, rows > EMPTY_NAMES ? ", ...]\n" : "]\n");
}

#define ROW(member) offsetof(struct pr_suite_row, member)
#define SIDE(member) offsetof(struct pr_suite_beside, member)

static void suite_text_print_rows(const struct pr_suite_report *r,
                                  struct pr_arena *a, struct pr_buf *out)
{
    struct pr_text_frame f;

    if (!r->count) {
        print_empty(NULL, 0, out);
        return;
    }
    pr_text_frame_init(&f, a, r->count, MAX_COLUMNS(r));
    for (size_t i = 0; i < r->count; i++)
        pr_text_frame_name(&f, i, r->rows[i].name);
    if (r->has_weights)
        suite_text_add_column(&f, r, "weight", ROW(weight), &weight);
    suite_text_add_column(&f, r, "n", ROW(n), &whole);
    suite_text_add_column(&f, r, "fail", ROW(fail), &whole);
    suite_text_add_column(&f, r, "perf", ROW(perf), &fixed);
    for (size_t i = 0; i < r->bases; i++) {
        suite_text_add_baseline(&f, r, "perf_base", i, SIDE(perf));
        suite_text_add_baseline(&f, r, "perf_ratio", i, SIDE(ratio));
    }
    suite_text_add_column(&f, r, "std%", ROW(std_share), &share);
    suite_text_add_column(&f, r, "perf_adj", ROW(adj), &fixed);
    for (size_t i = 0; i < r->bases; i++) {
        suite_text_add_baseline(&f, r, "perf_base_adj", i, SIDE(adj));
        suite_text_add_baseline(&f, r, "perf_ratio_adj", i, SIDE(ratio_adj));
    }
    pr_text_frame_print(&f, "", " ", NULL, out);
}

/* ---- scores */

static void suite_text_print_label(struct pr_buf *out, const char *name,
                                   size_t width)
{
    pr_buf_printf(out, "%s:%*s ", name, (int)(width - strlen(name) - 1), "");
}

static const char *base_label(char *text, size_t room, const char *what,
                              size_t base, size_t bases)
{
    if (strcmp(what, "Ratio") == 0 && (bases == 1 || !base))
        return "Ratio";
    if (!base)
        return "Score (baseline)";
    snprintf(text, room,
             strcmp(what, "Ratio") == 0 ? "Ratio %zu" : "Score (baseline %zu)",
             base + 1);
    return text;
}

static size_t suite_text_label_width(const struct pr_suite_report *r,
                                     bool priced)
{
    char text[64];
    size_t width = strlen("Failure rate");

    for (size_t i = 0; i < r->bases; i++) {
        size_t n = strlen(base_label(text, sizeof text, "Score", i, r->bases));
        if (!r->base_scores[i].empty && n > width)
            width = n;
    }
    if (priced && width < strlen("RPP (Price / Score)"))
        width = strlen("RPP (Price / Score)");
    return width + 2;
}

static void suite_text_print_score(struct pr_buf *out, const char *name,
                                   size_t width, double v)
{
    suite_text_print_label(out, name, width);
    pr_text_frame_number(out, v, &plain);
    pr_buf_char(out, '\n');
}

static void suite_text_print_scores(const struct pr_suite_report *r,
                                    struct pr_buf *out)
{
    bool priced = !isnan(r->price);
    size_t width = suite_text_label_width(r, priced);
    char text[64];

    pr_text_frame_section(out, "Scores");
    suite_text_print_label(out, "Failure rate", width);
    pr_text_frame_number(out, r->failure_rate, &rate);
    pr_buf_printf(out, " (%s)\n", r->pass ? "PASS" : "FAIL");
    suite_text_print_score(out, "Score", width, r->score);
    for (size_t i = 0; i < r->bases; i++) {
        if (r->base_scores[i].empty)
            continue;
        suite_text_print_score(
            out, base_label(text, sizeof text, "Score", i, r->bases), width,
            r->base_scores[i].score);
        suite_text_print_score(
            out, base_label(text, sizeof text, "Ratio", i, r->bases), width,
            r->base_scores[i].ratio);
    }
    if (!priced)
        return;
    suite_text_print_score(out, "Price ($)", width, r->price);
    suite_text_print_score(out, "RPP (Price / Score)", width, r->rpp);
}

/* ---- devices */

static void print_matrix(const struct pr_suite_matrix *m, struct pr_arena *a,
                         struct pr_buf *out)
{
    struct pr_text_frame_devices look = {"", " ", 1, {0, 0, true, "NaN"}};

    /* All numbers of devices are as long as the last. */
    for (size_t last = m->devices; last > 10; last = (last + 9) / 10)
        look.wide++;
    if (!m->rows || !m->devices) {
        print_empty(m->names, m->rows, out);
        return;
    }
    pr_text_frame_devices(m, &look, a, out);
}

int pr_suite_text(const struct pr_suite_report *r, struct pr_buf *out,
                  struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    char head[64];

    if (!a)
        return pr_fail_nomem(err);
    pr_text_frame_title(out, r->title);
    suite_text_print_rows(r, a, out);
    if (r->scored)
        suite_text_print_scores(r, out);
    for (int i = 0; r->has_matrix && i < 3; i++) {
        snprintf(head, sizeof head, "GPU comparison (%s)",
                 r->matrix[i].measure);
        pr_text_frame_section(out, head);
        print_matrix(&r->matrix[i], a, out);
    }
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}
