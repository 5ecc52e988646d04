/*
 * A comparison for people: a sentence, a table a pair, and notes; and the same
 * numbers for programs.
 */
#include "present/report/report_compare.h"

#include "base/json/json_write.h"
#include "present/screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHANGE_TEXT = 64 };

/* ---- JSON */

static const char *better_word(enum pr_better b)
{
    static const char *const words[] = {
        [PR_BETTER_UNKNOWN] = "unknown", [PR_BETTER_FASTER] = "up",
        [PR_BETTER_SHORTER] = "down",    [PR_BETTER_MORE] = "up",
        [PR_BETTER_LESS] = "down",
    };

    return words[b];
}

static void compare_write_interval(const struct pr_compare_row *r,
                                   struct pr_json_writer *jb)
{
    pr_json_put_float(jb, "ratio", r->ratio);
    pr_json_put_float(jb, "low", r->low);
    pr_json_put_float(jb, "high", r->high);
    pr_json_put_float(jb, "p", r->p);
    pr_json_put_str(jb, "verdict", pr_compare_verdict_word(r->verdict));
}

static void compare_write_row(const struct pr_compare_row *r,
                              const struct pr_compare_show *how,
                              struct pr_json_writer *jb)
{
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "test", r->name);
    pr_json_put_str(jb, "measure", r->measure);
    pr_json_put_str(jb, "better", better_word(r->better));
    pr_json_put_float(jb, "a", r->a);
    pr_json_put_float(jb, "b", r->b);
    pr_json_put_uint(jb, "runs_a", r->runs_a);
    pr_json_put_uint(jb, "runs_b", r->runs_b);
    pr_json_put_uint(jb, "failed_a", r->failed_a);
    pr_json_put_uint(jb, "failed_b", r->failed_b);
    compare_write_interval(r, jb);
    if (how->rule_count)
        pr_json_put_bool(
            jb, "breaks_rule",
            pr_compare_is_rule_broken(r, how->rules, how->rule_count));
    pr_json_open_array(jb, "notes");
    for (size_t i = 0; i < r->note_count; i++)
        pr_json_put_str(jb, NULL, r->notes[i].text);
    pr_json_close(jb);
    pr_json_close(jb);
}

static void compare_write_pair(const struct pr_compare_pair *p,
                               const struct pr_compare_show *how,
                               struct pr_json_writer *jb)
{
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "a", p->label_a);
    pr_json_put_str(jb, "b", p->label_b);
    if (p->window_a)
        pr_json_put_str(jb, "rates_of_a", p->window_a);
    if (p->window_b)
        pr_json_put_str(jb, "rates_of_b", p->window_b);
    pr_json_open_array(jb, "rows");
    for (size_t i = 0; i < p->count; i++)
        compare_write_row(&p->rows[i], how, jb);
    pr_json_close(jb);
    if (p->has_all) {
        pr_json_open_object(jb, "over_all");
        pr_json_put_uint(jb, "tests", p->all.runs_a);
        compare_write_interval(&p->all, jb);
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

static int compare_json(const struct pr_compare *c,
                        const struct pr_compare_show *how, struct pr_buf *out,
                        struct pr_err *err)
{
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "schema", "prony.compare/1");
    pr_json_put_float(&jb, "confidence", c->confidence);
    pr_json_put_float(&jb, "least_change", c->least);
    pr_json_put_float(&jb, "same_within", c->margin);
    pr_json_put_uint(&jb, "looks", c->looks);
    pr_json_open_array(&jb, "pairs");
    for (size_t i = 0; i < c->count; i++)
        compare_write_pair(&c->pairs[i], how, &jb);
    pr_json_close(&jb);
    pr_json_close(&jb);
    pr_buf_char(out, '\n');
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}

/* ---- CSV */

enum {
    CSV_FROM,
    CSV_TO,
    CSV_TEST,
    CSV_MEASURE,
    CSV_A,
    CSV_B,
    CSV_RUNS_A,
    CSV_RUNS_B,
    CSV_FAILED_A,
    CSV_FAILED_B,
    CSV_RATIO,
    CSV_LOW,
    CSV_HIGH,
    CSV_P,
    CSV_VERDICT,
    CSV_COLUMNS
};

static void csv_row(struct pr_table *t, const struct pr_compare_pair *p,
                    const struct pr_compare_row *r)
{
    pr_table_row(t);
    pr_table_set_str(t, CSV_FROM, p->label_a);
    pr_table_set_str(t, CSV_TO, p->label_b);
    pr_table_set_str(t, CSV_TEST, r->name);
    pr_table_set_str(t, CSV_MEASURE, r->measure);
    pr_table_set_float(t, CSV_A, r->a);
    pr_table_set_float(t, CSV_B, r->b);
    pr_table_set_int(t, CSV_RUNS_A, (int64_t)r->runs_a);
    pr_table_set_int(t, CSV_RUNS_B, (int64_t)r->runs_b);
    pr_table_set_int(t, CSV_FAILED_A, (int64_t)r->failed_a);
    pr_table_set_int(t, CSV_FAILED_B, (int64_t)r->failed_b);
    pr_table_set_float(t, CSV_RATIO, r->ratio);
    pr_table_set_float(t, CSV_LOW, r->low);
    pr_table_set_float(t, CSV_HIGH, r->high);
    pr_table_set_float(t, CSV_P, r->p);
    pr_table_set_str(t, CSV_VERDICT, pr_compare_verdict_word(r->verdict));
}

static int compare_csv(const struct pr_compare *c,
                       const struct pr_compare_show *how, struct pr_buf *out,
                       struct pr_err *err)
{
    static const struct pr_table_column cols[CSV_COLUMNS] = {
        [CSV_FROM] = {.title = "from", .kind = PR_COL_STR},
        [CSV_TO] = {.title = "to", .kind = PR_COL_STR},
        [CSV_TEST] = {.title = "test", .kind = PR_COL_STR},
        [CSV_MEASURE] = {.title = "measure", .kind = PR_COL_STR},
        [CSV_A] = {.title = "a", .kind = PR_COL_FLOAT},
        [CSV_B] = {.title = "b", .kind = PR_COL_FLOAT},
        [CSV_RUNS_A] = {.title = "runs_a", .kind = PR_COL_INT},
        [CSV_RUNS_B] = {.title = "runs_b", .kind = PR_COL_INT},
        [CSV_FAILED_A] = {.title = "failed_a", .kind = PR_COL_INT},
        [CSV_FAILED_B] = {.title = "failed_b", .kind = PR_COL_INT},
        [CSV_RATIO] = {.title = "ratio", .kind = PR_COL_FLOAT},
        [CSV_LOW] = {.title = "low", .kind = PR_COL_FLOAT},
        [CSV_HIGH] = {.title = "high", .kind = PR_COL_FLOAT},
        [CSV_P] = {.title = "p", .kind = PR_COL_FLOAT},
        [CSV_VERDICT] = {.title = "verdict", .kind = PR_COL_STR},
    };
    struct pr_table *t = pr_table_new(cols, CSV_COLUMNS);
    int rc;

    if (!t)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < c->count; i++) {
        const struct pr_compare_pair *p = &c->pairs[i];

        for (size_t k = 0; k < p->count; k++)
            csv_row(t, p, &p->rows[k]);
        if (p->has_all)
            csv_row(t, p, &p->all);
    }
    rc = pr_table_print(t, PR_TABLE_CSV, how->style, out, err);
    pr_table_free(t);
    return rc;
}

static double compare_change_percent(double ratio)
{
    double change = 100 * (ratio - 1);

    return fabs(change) < 0.05 ? 0 : change; /* not "-0.0" */
}

/* "+14.8% ± 1.6". Returns out. */
static const char *compare_change_text(char out[static CHANGE_TEXT],
                                       const struct pr_compare_row *r)
{
    double high = compare_change_percent(r->high);

    if (!isfinite(r->ratio))
        out[0] = 0;
    else if (!isfinite(high) || high > 9999)
        snprintf(out, CHANGE_TEXT, "%+.1f%% (%+.1f to ?)",
                 compare_change_percent(r->ratio),
                 compare_change_percent(r->low));
    else
        snprintf(out, CHANGE_TEXT, "%+.1f%% (%+.1f to %+.1f)",
                 compare_change_percent(r->ratio),
                 compare_change_percent(r->low), high);
    return out;
}

/* ---- the sentence */

struct tally {
    size_t better, worse, same, unclear, other, failed, missing;
};

static struct tally tally_of(const struct pr_compare_pair *p)
{
    struct tally t = {0};

    for (size_t i = 0; i < p->count; i++)
        switch (p->rows[i].verdict) {
        case PR_VERDICT_FASTER:
        case PR_VERDICT_IMPROVED:
            t.better++;
            break;
        case PR_VERDICT_SLOWER:
        case PR_VERDICT_WORSENED:
            t.worse++;
            break;
        case PR_VERDICT_SAME:
            t.same++;
            break;
        case PR_VERDICT_UNCLEAR:
            t.unclear++;
            break;
        case PR_VERDICT_FAILED:
            t.failed++;
            break;
        case PR_VERDICT_MISSING:
            t.missing++;
            break;
        default:
            t.other++;
        }
    return t;
}

static void compare_add_count(struct pr_buf *out, size_t n, const char *word,
                              const char **comma)
{
    if (!n)
        return;
    pr_buf_printf(out, "%s%zu %s", *comma, n, word);
    *comma = ", ";
}

/* "B is faster over all: …", without an end of line. */
static void compare_sentence(const struct pr_compare_pair *p,
                             struct pr_buf *out)
{
    struct tally t = tally_of(p);
    const char *comma = "";
    char change[CHANGE_TEXT];

    if (p->has_all && p->all.verdict == PR_VERDICT_SAME)
        pr_buf_printf(out, "over all, A and B are the same, %s: ",
                      compare_change_text(change, &p->all));
    else if (p->has_all && p->all.verdict == PR_VERDICT_UNCLEAR)
        pr_buf_printf(out, "over all, these runs cannot tell, %s: ",
                      compare_change_text(change, &p->all));
    else if (p->has_all)
        pr_buf_printf(out, "over all, B is %s than A, %s: ",
                      pr_compare_verdict_word(p->all.verdict),
                      compare_change_text(change, &p->all));
    compare_add_count(out, t.better, "faster", &comma);
    compare_add_count(out, t.worse, "slower", &comma);
    compare_add_count(out, t.same, "the same", &comma);
    compare_add_count(out, t.unclear, "unclear", &comma);
    compare_add_count(out, t.other, "other", &comma);
    compare_add_count(out, t.failed, "failed", &comma);
    compare_add_count(out, t.missing, "missing", &comma);
    if (!*comma)
        pr_buf_str(out, "nothing to compare");
}

/* ---- the table */

/* Four digits, more before the point when there are more. */
static void compare_set_measure(struct pr_table *t, size_t col, double v)
{
    char text[32];

    if (!isfinite(v))
        return;
    snprintf(text, sizeof text, fabs(v) >= 1000 ? "%.0f" : "%.4g", v);
    pr_table_set_str(t, col, text);
}

static void set_runs(struct pr_table *t, size_t col,
                     const struct pr_compare_row *r)
{
    char text[64];

    snprintf(text, sizeof text, "%" PRIu64 ", %" PRIu64, r->runs_a, r->runs_b);
    pr_table_set_str(t, col, text);
}

static bool one_measure(const struct pr_compare_pair *p)
{
    for (size_t i = 1; i < p->count; i++)
        if (strcmp(p->rows[i].measure, p->rows[0].measure) != 0)
            return false;
    return true;
}

enum { TEST, MEASURE, RUNS, A, B, RATIO, CHANGE, VERDICT, COLUMNS };

/* Without the measure, when there is but one. */
static size_t compare_column_place(size_t col, bool short_form)
{
    return short_form && col > MEASURE ? col - 1 : col;
}

static void set_row(struct pr_table *t, const struct pr_compare_row *r,
                    bool one)
{
    char text[CHANGE_TEXT];

    pr_table_row(t);
    pr_table_set_str(t, TEST, r->name);
    if (!one)
        pr_table_set_str(t, MEASURE, r->measure);
    set_runs(t, compare_column_place(RUNS, one), r);
    compare_set_measure(t, compare_column_place(A, one), r->a);
    compare_set_measure(t, compare_column_place(B, one), r->b);
    if (isfinite(r->ratio)) {
        snprintf(text, sizeof text, "%.3f", r->ratio);
        pr_table_set_str(t, compare_column_place(RATIO, one), text);
        pr_table_set_str(t, compare_column_place(CHANGE, one),
                         compare_change_text(text, r));
    }
    pr_table_set_str(t, compare_column_place(VERDICT, one),
                     pr_compare_verdict_word(r->verdict));
}

static int compare_print_table(const struct pr_compare_pair *p,
                               const struct pr_compare_show *how,
                               struct pr_buf *out, struct pr_err *err)
{
    struct pr_table_column cols[COLUMNS] = {
        {"test", PR_COL_STR, NULL, PR_ALIGN_LEFT, NULL},
        {"measure", PR_COL_STR, NULL, PR_ALIGN_LEFT, NULL},
        {"runs", PR_COL_STR, NULL, PR_ALIGN_RIGHT, NULL},
        {"A", PR_COL_STR, NULL, PR_ALIGN_RIGHT, NULL},
        {"B", PR_COL_STR, NULL, PR_ALIGN_RIGHT, NULL},
        {"B/A", PR_COL_STR, NULL, PR_ALIGN_RIGHT, NULL},
        {"change", PR_COL_STR, NULL, PR_ALIGN_RIGHT, NULL},
        {"verdict", PR_COL_STR, NULL, PR_ALIGN_LEFT, NULL},
    };
    bool one = one_measure(p);
    struct pr_table *t;
    int rc;

    if (one)
        memmove(cols + MEASURE, cols + RUNS, (COLUMNS - RUNS) * sizeof *cols);
    t = pr_table_new(cols, COLUMNS - one);
    if (!t)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < p->count; i++)
        set_row(t, &p->rows[i], one);
    if (p->has_all) {
        set_row(t, &p->all, one);
        pr_table_set_str(t, compare_column_place(RUNS, one), NULL);
    }
    rc = pr_table_print(t, how->format, how->style, out, err);
    pr_table_free(t);
    return rc;
}

/* ---- notes */

static void put_clean(struct pr_buf *out, const char *s)
{
    pr_screen_clean(out, s, strlen(s));
}

/* Whether a row before this one has such a note; *ret_more: how many after it
 * do. */
static bool told_before(const struct pr_compare_pair *p, size_t row,
                        const struct pr_compare_note *note, size_t *ret_more)
{
    *ret_more = 0;
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->rows[i].note_count; k++)
            if (p->rows[i].notes[k].odd == note->odd &&
                p->rows[i].notes[k].side == note->side) {
                if (i < row)
                    return true;
                *ret_more += i > row;
                break;
            }
    return false;
}

/* Tests that are odd in the same way are told together, unless all are asked
 * for. */
static void compare_print_notes(const struct pr_compare_pair *p,
                                const struct pr_compare_show *how,
                                struct pr_buf *out)
{
    const char *mark = how->format == PR_TABLE_MARKDOWN ? "- " : "note: ";
    const char *gap = "\n";
    size_t more = 0;

    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->rows[i].note_count; k++) {
            const struct pr_compare_note *n = &p->rows[i].notes[k];

            if (!how->all_notes && told_before(p, i, n, &more))
                continue;
            pr_buf_printf(out, "%s%s", gap, mark);
            gap = "";
            put_clean(out, p->rows[i].name);
            if (more)
                pr_buf_printf(out, " and %zu more", more);
            pr_buf_str(out, ": ");
            put_clean(out, n->text);
            pr_buf_char(out, '\n');
        }
}

/* ---- the whole */

static void compare_print_label(const char *label, const char *window,
                                struct pr_buf *out)
{
    put_clean(out, label);
    if (window)
        pr_buf_printf(out, " (rates: %s)", window);
}

static void compare_print_head(const struct pr_compare_pair *p,
                               const struct pr_compare_show *how,
                               struct pr_buf *out)
{
    bool md = how->format == PR_TABLE_MARKDOWN;

    pr_buf_str(out, md ? "**A** " : "A  ");
    compare_print_label(p->label_a, p->window_a, out);
    pr_buf_str(out, md ? ", **B** " : "\nB  ");
    compare_print_label(p->label_b, p->window_b, out);
    pr_buf_str(out, "\n\n");
}

static int compare_print_pair(const struct pr_compare *c,
                              const struct pr_compare_pair *p,
                              const struct pr_compare_show *how,
                              struct pr_buf *out, struct pr_err *err)
{
    int rc;

    compare_print_head(p, how, out);
    rc = compare_print_table(p, how, out, err);
    if (rc)
        return rc;
    pr_buf_char(out, '\n');
    compare_sentence(p, out);
    pr_buf_char(out, '\n');
    compare_print_notes(p, how, out);
    if (p == &c->pairs[c->count - 1])
        pr_buf_printf(out,
                      "\nin brackets: an interval; all of them hold the true "
                      "change %.3g times of 100.\nfaster, slower: it does not "
                      "hold 0, and the change is over %.3g %%. same: it lies\n"
                      "within %.3g %%. unclear: neither; more repeats would "
                      "tell.\n",
                      100 * c->confidence, 100 * c->least, 100 * c->margin);
    return PR_OK;
}

int pr_compare_report(const struct pr_compare *c,
                      const struct pr_compare_show *how, struct pr_buf *out,
                      struct pr_err *err)
{
    int rc = PR_OK;

    if (how->format == PR_TABLE_JSON)
        return compare_json(c, how, out, err);
    if (how->format == PR_TABLE_CSV)
        return compare_csv(c, how, out, err);
    for (size_t i = 0; !rc && i < c->count; i++) {
        if (i)
            pr_buf_str(out, "\n\n");
        rc = compare_print_pair(c, &c->pairs[i], how, out, err);
    }
    return rc;
}
