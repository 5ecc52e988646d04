/* A comparison for programs: JSON and CSV. */
#include "base/json/json_write.h"
#include "present/report/compare_impl.h"

#include <math.h>

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

int pr_compare_json(const struct pr_compare *c,
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
    FROM,
    TO,
    COMPARE_JSON_TEST,
    COMPARE_JSON_MEASURE,
    COMPARE_JSON_A,
    COMPARE_JSON_B,
    RUNS_A,
    RUNS_B,
    FAILED_A,
    FAILED_B,
    COMPARE_JSON_RATIO,
    LOW,
    HIGH,
    P,
    COMPARE_JSON_VERDICT,
    COMPARE_JSON_COLUMNS
};

static void csv_row(struct pr_table *t, const struct pr_compare_pair *p,
                    const struct pr_compare_row *r)
{
    pr_table_row(t);
    pr_table_set_str(t, FROM, p->label_a);
    pr_table_set_str(t, TO, p->label_b);
    pr_table_set_str(t, COMPARE_JSON_TEST, r->name);
    pr_table_set_str(t, COMPARE_JSON_MEASURE, r->measure);
    pr_table_set_float(t, COMPARE_JSON_A, r->a);
    pr_table_set_float(t, COMPARE_JSON_B, r->b);
    pr_table_set_int(t, RUNS_A, (int64_t)r->runs_a);
    pr_table_set_int(t, RUNS_B, (int64_t)r->runs_b);
    pr_table_set_int(t, FAILED_A, (int64_t)r->failed_a);
    pr_table_set_int(t, FAILED_B, (int64_t)r->failed_b);
    pr_table_set_float(t, COMPARE_JSON_RATIO, r->ratio);
    pr_table_set_float(t, LOW, r->low);
    pr_table_set_float(t, HIGH, r->high);
    pr_table_set_float(t, P, r->p);
    pr_table_set_str(t, COMPARE_JSON_VERDICT,
                     pr_compare_verdict_word(r->verdict));
}

int pr_compare_csv(const struct pr_compare *c,
                   const struct pr_compare_show *how, struct pr_buf *out,
                   struct pr_err *err)
{
    static const struct pr_table_column cols[COMPARE_JSON_COLUMNS] = {
        [FROM] = {.title = "from", .kind = PR_COL_STR},
        [TO] = {.title = "to", .kind = PR_COL_STR},
        [COMPARE_JSON_TEST] = {.title = "test", .kind = PR_COL_STR},
        [COMPARE_JSON_MEASURE] = {.title = "measure", .kind = PR_COL_STR},
        [COMPARE_JSON_A] = {.title = "a", .kind = PR_COL_FLOAT},
        [COMPARE_JSON_B] = {.title = "b", .kind = PR_COL_FLOAT},
        [RUNS_A] = {.title = "runs_a", .kind = PR_COL_INT},
        [RUNS_B] = {.title = "runs_b", .kind = PR_COL_INT},
        [FAILED_A] = {.title = "failed_a", .kind = PR_COL_INT},
        [FAILED_B] = {.title = "failed_b", .kind = PR_COL_INT},
        [COMPARE_JSON_RATIO] = {.title = "ratio", .kind = PR_COL_FLOAT},
        [LOW] = {.title = "low", .kind = PR_COL_FLOAT},
        [HIGH] = {.title = "high", .kind = PR_COL_FLOAT},
        [P] = {.title = "p", .kind = PR_COL_FLOAT},
        [COMPARE_JSON_VERDICT] = {.title = "verdict", .kind = PR_COL_STR},
    };
    struct pr_table *t = pr_table_new(cols, COMPARE_JSON_COLUMNS);
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
