/*
 * Reports of suites: letter by letter as milarun and milabench print them, and
 * for CSV and Markdown.
 */
#include "present/report/report_suite.h"

#include "base/text.h"
#include "present/screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- tables of reports that others wrote first */

/* Room for so many rows and columns. */
static void text_frame_init(struct pr_text_frame *f, struct pr_arena *a,
                            size_t rows, size_t cols)
{
    *f = (struct pr_text_frame){
        .arena = a,
        .rows = rows,
        .cols = cols,
        .head = PR_ARENA_ARRAY(a, const char *, cols),
        .names = PR_ARENA_ARRAY(a, const char *, rows),
        .cells = PR_ARENA_ARRAY(a, const char *, rows *cols),
    };
    f->failed = !f->head || !f->names || !f->cells;
}

static const char *text_frame_keep(struct pr_text_frame *f,
                                   const struct pr_buf *b)
{
    const char *s =
        pr_buf_ok(b) ? pr_arena_copy(f->arena, b->data ? b->data : "", b->len)
                     : NULL;

    f->failed |= !s;
    return s;
}

/* Sets the name of a row; it is made harmless for a screen. */
static void text_frame_name(struct pr_text_frame *f, size_t row,
                            const char *name)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 24);

    if (f->failed)
        return;
    pr_screen_clean(&b, name, strlen(name));
    f->names[row] = text_frame_keep(f, &b);
}

/* Begins a column; its cells are set one by one. */
static void text_frame_column(struct pr_text_frame *f, const char *head)
{
    if (!f->failed)
        f->head[f->filled++] = head;
}

static void text_frame_set_text(struct pr_text_frame *f, size_t row,
                                const char *s)
{
    if (!f->failed)
        f->cells[(f->filled - 1) * f->rows + row] = s;
}

void pr_text_frame_number(struct pr_buf *out, double v,
                          const struct pr_text_frame_number *how)
{
    int width = how->width - how->percent;

    if (isnan(v) && how->none) {
        pr_buf_str(out, how->none);
        return;
    }
    if (how->percent)
        v *= 100;
    if (isnan(v)) /* never "-nan" */
        pr_buf_printf(out, "%*s", width, "nan");
    else
        pr_buf_printf(out, "%*.*f", width, how->digits, v);
    if (how->percent)
        pr_buf_char(out, '%');
}

static void text_frame_set(struct pr_text_frame *f, size_t row, double v,
                           const struct pr_text_frame_number *how)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(4096);

    if (f->failed)
        return;
    pr_text_frame_number(&b, v, how);
    text_frame_set_text(f, row, text_frame_keep(f, &b));
}

/* Characters, as Python's len() counts them. */
static size_t text_frame_length(const char *s)
{
    return s ? pr_utf8_columns(s) : 0;
}

static void text_frame_put_left(struct pr_buf *out, const char *s, size_t width)
{
    size_t n = text_frame_length(s);

    pr_buf_str(out, s);
    pr_screen_blanks(out, n < width ? width - n : 0);
}

static void text_frame_put_right(struct pr_buf *out, const char *s,
                                 size_t width)
{
    size_t n = text_frame_length(s);

    pr_screen_blanks(out, n < width ? width - n : 0);
    pr_buf_str(out, s);
}

static size_t text_frame_column_width(const char *const *s, size_t n,
                                      const char *head)
{
    size_t width = text_frame_length(head);

    for (size_t i = 0; i < n; i++)
        if (text_frame_length(s[i]) > width)
            width = text_frame_length(s[i]);
    return width;
}

/* head: what stands over the names; sep: between columns. Columns whose head
 * is ragged are not padded. */
static void text_frame_print(const struct pr_text_frame *f, const char *head,
                             const char *sep, const char *ragged,
                             struct pr_buf *out)
{
    size_t names, *widths;

    widths = PR_ARENA_ARRAY(f->arena, size_t, f->filled);
    if (f->failed || !widths) {
        out->failed = true;
        return;
    }
    names = text_frame_column_width(f->names, f->rows, head);
    text_frame_put_left(out, head, names);
    for (size_t c = 0; c < f->filled; c++) {
        if (!ragged || strcmp(ragged, f->head[c]) != 0)
            widths[c] = text_frame_column_width(f->cells + c * f->rows, f->rows,
                                                f->head[c]);
        pr_buf_str(out, sep);
        text_frame_put_right(out, f->head[c], widths[c]);
    }
    pr_buf_char(out, '\n');
    for (size_t r = 0; r < f->rows; r++) {
        text_frame_put_left(out, f->names[r], names);
        for (size_t c = 0; c < f->filled; c++) {
            pr_buf_str(out, sep);
            text_frame_put_right(out, f->cells[c * f->rows + r], widths[c]);
        }
        pr_buf_char(out, '\n');
    }
}

/* Devices side by side, a column each. */
struct devices_look {
    const char *head, *sep; /* as of pr_text_frame_print */
    int wide;               /* of the number of a device, at least */
    struct pr_text_frame_number how;
};

static void text_frame_put_devices(const struct pr_suite_matrix *m,
                                   const struct devices_look *look,
                                   struct pr_arena *a, struct pr_buf *out)
{
    struct pr_text_frame f;

    text_frame_init(&f, a, m->rows, m->devices);
    for (size_t i = 0; i < m->rows; i++)
        text_frame_name(&f, i, m->names[i]);
    for (size_t d = 0; d < m->devices; d++) {
        const char *head = pr_arena_printf(a, "%-*zu", look->wide, d);

        f.failed |= !head;
        text_frame_column(&f, head);
        for (size_t i = 0; i < m->rows; i++)
            text_frame_set(&f, i, m->cells[i * m->devices + d], &look->how);
    }
    text_frame_print(&f, look->head, look->sep, NULL, out);
}

static void text_frame_put_rule(struct pr_buf *out, char c, size_t n)
{
    while (n--)
        pr_buf_char(out, c);
    pr_buf_char(out, '\n');
}

static void text_frame_title(struct pr_buf *out, const char *title)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);
    size_t n;

    pr_screen_clean(&b, title, strlen(title));
    n = text_frame_length(b.data);
    text_frame_put_rule(out, '=', n);
    pr_buf_add(out, b.data ? b.data : "", b.len);
    pr_buf_char(out, '\n');
    text_frame_put_rule(out, '=', n);
    out->failed |= b.failed;
}

/* A title between rules of '=', a heading over one of '-'. */
static void text_frame_section(struct pr_buf *out, const char *title)
{
    pr_buf_printf(out, "\n%s\n", title);
    text_frame_put_rule(out, '-', text_frame_length(title));
}

/* ---- CSV and Markdown: one row for each test, raw numbers */

enum { NAME, WEIGHT, N, FAIL, PERF, STD, ADJ, FAIR, PEAK, FIXED };

static const char *suite_table_number_name(struct pr_arena *a, const char *name,
                                           size_t base)
{
    return base ? pr_arena_printf(a, "%s_%zu", name, base + 1) : name;
}

/* A program reads it in a column, a person below the table. */
static bool suite_table_has_window(const struct pr_suite_report *r,
                                   enum pr_table_format format)
{
    return format == PR_TABLE_CSV && pr_suite_window_text(r->suite->kind);
}

static struct pr_table *suite_table_make(const struct pr_suite_report *r,
                                         enum pr_table_format format,
                                         struct pr_arena *a)
{
    static const struct pr_table_column fixed[FIXED] = {
        [NAME] = {"test", PR_COL_STR, NULL, PR_ALIGN_AUTO, "test"},
        [WEIGHT] = {"weight", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO, "weight"},
        [N] = {"n", PR_COL_INT, NULL, PR_ALIGN_AUTO, "n"},
        [FAIL] = {"fail", PR_COL_INT, NULL, PR_ALIGN_AUTO, "fail"},
        [PERF] = {"perf", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO, "perf"},
        [STD] = {"std%", PR_COL_PERCENT, NULL, PR_ALIGN_AUTO, "std_percent"},
        [ADJ] = {"perf_adj", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO, "perf_adj"},
        [FAIR] = {"perf_penalised", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO,
                  "perf_penalised"},
        [PEAK] = {"peak MiB", PR_COL_FLOAT, NULL, PR_ALIGN_AUTO,
                  "peak_memory_mib"},
    };
    struct pr_table_column *cols =
        PR_ARENA_ARRAY(a, struct pr_table_column, FIXED + 2 * r->bases + 1);

    if (!cols)
        return NULL;
    for (size_t i = 0; i < FIXED; i++)
        cols[i] = fixed[i];
    for (size_t i = 0; i < r->bases; i++) {
        struct pr_table_column *c = &cols[FIXED + 2 * i];
        c[0] = (struct pr_table_column){
            .title = suite_table_number_name(a, "perf_base", i),
            .kind = PR_COL_FLOAT};
        c[1] = (struct pr_table_column){
            .title = suite_table_number_name(a, "perf_ratio", i),
            .kind = PR_COL_FLOAT};
        c[0].key = c[0].title;
        c[1].key = c[1].title;
        if (!c[0].title || !c[1].title)
            return NULL;
    }
    cols[FIXED + 2 * r->bases] = (struct pr_table_column){
        "perf of", PR_COL_STR, NULL, PR_ALIGN_AUTO, "perf_of"};
    return pr_table_new(cols, FIXED + 2 * r->bases +
                                  suite_table_has_window(r, format));
}

static void suite_table_fill_row(struct pr_table *t,
                                 const struct pr_suite_report *r,
                                 enum pr_table_format format,
                                 const struct pr_suite_row *row)
{
    pr_table_row(t);
    pr_table_set_str(t, NAME, row->name);
    pr_table_set_float(t, WEIGHT, row->weight);
    if (row->test) {
        pr_table_set_int(t, N, (int64_t)row->test->n);
        pr_table_set_int(t, FAIL, (int64_t)row->test->failures);
        if (row->test->peak_memory > 0)
            pr_table_set_float(t, PEAK, row->test->peak_memory);
    }
    pr_table_set_float(t, PERF, row->perf);
    pr_table_set_float(t, STD, row->std_share * 100);
    pr_table_set_float(t, ADJ, row->plain_adj);
    pr_table_set_float(t, FAIR, row->fair_adj);
    for (size_t i = 0; i < r->bases; i++) {
        pr_table_set_float(t, FIXED + 2 * i, row->beside[i].perf);
        pr_table_set_float(t, FIXED + 2 * i + 1, row->beside[i].ratio);
    }
    if (suite_table_has_window(r, format))
        pr_table_set_str(t, FIXED + 2 * r->bases,
                         pr_suite_window_text(r->suite->kind));
}

static void score_line(struct pr_buf *out, const char *name, double v)
{
    static const struct pr_text_frame_number plain = {0, 2, false, NULL};

    pr_buf_printf(out, "| %s | ", name);
    pr_text_frame_number(out, v, &plain);
    pr_buf_str(out, " |\n");
}

static void markdown_scores(const struct pr_suite_report *r, struct pr_buf *out)
{
    const char *window = pr_suite_window_text(r->suite->kind);

    if (window)
        pr_buf_printf(out, "\nperf: %s\n", window);
    pr_buf_printf(out, "\n| score | %s |\n|---|---:|\n",
                  r->pass ? "PASS" : "FAIL");
    score_line(out, "failure rate %", r->failure_rate * 100);
    if (r->suite->kind == PR_SUITE_MILABENCH)
        score_line(out, "milabench", r->score);
    if (!r->scored)
        return;
    score_line(out, "milarun", r->milarun);
    score_line(out, "with the variance penalty", r->penalised);
    score_line(out, "strict", r->strict);
    score_line(out, "covered weights %", r->coverage * 100);
    for (size_t i = 0; i < r->bases; i++)
        if (!r->base_scores[i].empty)
            score_line(out, i ? "baseline, next" : "baseline",
                       r->base_scores[i].score);
}

int pr_suite_table(const struct pr_suite_report *r, enum pr_table_format format,
                   struct pr_buf *out, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_table *t = a ? suite_table_make(r, format, a) : NULL;
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < r->count; i++)
        suite_table_fill_row(t, r, format, &r->rows[i]);
    rc = pr_table_print(t, format, NULL, out, err);
    pr_table_free(t);
    if (!rc && format == PR_TABLE_MARKDOWN)
        markdown_scores(r, out);
    return rc;
}

/* ---- milabench's report */

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
        text_frame_column(f, head);
        for (size_t i = 0; i < r->count; i++)
            text_frame_set(f, i,
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

    text_frame_init(&f, a, r->count, COLUMNS + 1 + 2 * r->bases);
    for (size_t i = 0; i < r->count; i++)
        text_frame_name(&f, i, r->rows[i].name);
    for (size_t k = 0; k < n; k++) {
        text_frame_column(&f, columns[k].head);
        for (size_t i = 0; i < r->count; i++)
            text_frame_set(&f, i, columns[k].of(&r->rows[i]), &columns[k].how);
    }
    for (size_t i = 0; i < r->bases; i++)
        milabench_add_baseline(&f, r, i);
    text_frame_column(&f, "enabled");
    for (size_t i = 0; i < r->count; i++)
        text_frame_set_text(&f, i,
                            r->rows[i].test && r->rows[i].test->bench->enabled
                                ? "True"
                                : "False");
    text_frame_print(&f, "index", " | ", "enabled", out);
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
    text_frame_section(out, "System");
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

    text_frame_section(out, "Scores");
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
    static const struct devices_look devices = {
        "index", " | ", 1, {0, 0, true, NULL}};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    char head[64];

    if (!a)
        return pr_fail_nomem(err);
    clean_line(out, "Source: ", r->suite->path);
    text_frame_title(out, r->title);
    milabench_print_system(&r->suite->host, out);
    text_frame_section(out, "Breakdown");
    milabench_print_rows(r, a, out);
    milabench_print_scores(r, out);
    for (int i = 0; r->has_matrix && i < 3; i++) {
        snprintf(head, sizeof head, "GPU comparison (%s)",
                 r->matrix[i].measure);
        text_frame_section(out, head);
        text_frame_put_devices(&r->matrix[i], &devices, a, out);
    }
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}

/* ---- milarun's report */

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
    text_frame_column(f, head);
    for (size_t i = 0; i < r->count; i++)
        text_frame_set(
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
    text_frame_column(f, head);
    for (size_t i = 0; i < r->count; i++) {
        const char *at = (const char *)&r->rows[i].beside[base] + offset;
        text_frame_set(f, i, *(const double *)at, &fixed);
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
    text_frame_init(&f, a, r->count, MAX_COLUMNS(r));
    for (size_t i = 0; i < r->count; i++)
        text_frame_name(&f, i, r->rows[i].name);
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
    text_frame_print(&f, "", " ", NULL, out);
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

    text_frame_section(out, "Scores");
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
    struct devices_look look = {"", " ", 1, {0, 0, true, "NaN"}};

    /* All numbers of devices are as long as the last. */
    for (size_t last = m->devices; last > 10; last = (last + 9) / 10)
        look.wide++;
    if (!m->rows || !m->devices) {
        print_empty(m->names, m->rows, out);
        return;
    }
    text_frame_put_devices(m, &look, a, out);
}

int pr_suite_text(const struct pr_suite_report *r, struct pr_buf *out,
                  struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    char head[64];

    if (!a)
        return pr_fail_nomem(err);
    text_frame_title(out, r->title);
    suite_text_print_rows(r, a, out);
    if (r->scored)
        suite_text_print_scores(r, out);
    for (int i = 0; r->has_matrix && i < 3; i++) {
        snprintf(head, sizeof head, "GPU comparison (%s)",
                 r->matrix[i].measure);
        text_frame_section(out, head);
        print_matrix(&r->matrix[i], a, out);
    }
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}
