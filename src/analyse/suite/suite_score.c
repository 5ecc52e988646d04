/*
 * Rows and scores, as milarun computes them, and beside its score two others:
 * with the variance penalty that its README documents, and over those tests
 * alone that have a figure. docs/score.md says what each means.
 */
#include "analyse/suite/suite_impl.h"
#include "base/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PASS_RATE 0.01 /* failures, as milarun has it */

struct make {
    const struct pr_suite *s;
    const struct pr_suite_report_opts *o;
    struct pr_arena *arena;
    struct pr_suite_row *rows;
    size_t count, cap;
    struct pr_keyset names;
    bool bench; /* milabench's: its groups, weights and score */
};

/* ---- which rows */

/* milabench puts benches of one group together. */
static const char *get_row_group(const struct pr_suite_row *r)
{
    return r->test && r->test->bench ? r->test->bench->group : r->name;
}

static int by_row_group(const void *a, const void *b)
{
    const struct pr_suite_row *x = a, *y = b;
    int order = strcmp(get_row_group(x), get_row_group(y));

    return order ? order : strcmp(x->name, y->name);
}

static int score_add_row(struct make *m, const char *name,
                         struct pr_suite_row **ret_row)
{
    uint32_t at = (uint32_t)m->count;
    int rc = pr_keyset_put(&m->names, name, (uint32_t)strlen(name), at, &at);
    double nan = (double)NAN;

    if (rc < 0)
        return rc;
    if (!rc) {
        struct pr_suite_row *rows =
            pr_arena_grow(m->arena, m->rows, m->count, &m->cap, sizeof *rows);
        if (!rows)
            return PR_E_NOMEM;
        m->rows = rows;
        rows[m->count++] = (struct pr_suite_row){.name = name,
                                                 .weight = nan,
                                                 .n = nan,
                                                 .fail = nan,
                                                 .perf = nan,
                                                 .std_share = nan,
                                                 .adj = nan,
                                                 .plain_adj = nan,
                                                 .fair_adj = nan,
                                                 .score = nan};
    }
    *ret_row = &m->rows[at];
    return PR_OK;
}

static int score_add_rows(struct make *m)
{
    const struct pr_suite_report_opts *o = m->o;
    struct pr_suite_row *row;
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < m->s->count; i++) {
        rc = score_add_row(m, m->s->tests[i].name, &row);
        if (!rc)
            row->test = &m->s->tests[i];
    }
    for (size_t b = 0; b < o->base_count; b++)
        for (size_t i = 0; !rc && i < o->bases[b]->count; i++)
            rc = score_add_row(m, o->bases[b]->tests[i].name, &row);
    for (size_t i = 0; !rc && o->weights && i < o->weights->count; i++) {
        rc = score_add_row(m, o->weights->list[i].name, &row);
        if (!rc)
            row->weight = o->weights->list[i].weight;
    }
    if (!rc && m->count)
        qsort(m->rows, m->count, sizeof *m->rows, by_row_group);
    return rc;
}

/* ---- figures of a row */

static double compute_penalty(const struct pr_suite_stats *t)
{
    return t->std < t->mean ? t->std : t->mean;
}

/* What failed everywhere has no rate, and is worth nothing: 0, not unknown. */
static void score_fill_row(struct pr_suite_row *row, bool penalise)
{
    const struct pr_suite_test *t = row->test;
    double share;

    if (!t)
        return;
    row->n = (double)t->n;
    row->fail = (double)t->failures;
    row->perf = t->train.mean;
    row->std_share = t->train.std / t->train.mean;
    share = t->n ? 1 - row->fail / row->n : (double)NAN;
    row->plain_adj = share * row->perf;
    row->fair_adj = share * (row->perf - compute_penalty(&t->train));
    if (t->n && t->failures == t->n && isnan(row->perf))
        row->plain_adj = row->fair_adj = 0;
    row->adj = penalise ? row->fair_adj : row->plain_adj;
}

/* The whole machine: the sum over its devices where they are known. */
static double machine_score(const struct pr_suite_test *t)
{
    double sum = 0, perf;

    for (size_t i = 0; i < t->device_count; i++)
        sum += t->devices[i].stats.mean;
    perf = sum > 0 ? sum : t->train.mean;
    return perf * (t->n ? 1 - (double)t->failures / (double)t->n : 1);
}

/* A bench weighs what its config says, unless weights were given. */
static void score_fill_milabench(struct pr_suite_row *row, bool weighed,
                                 bool penalise)
{
    const struct pr_milabench_test *b = row->test ? row->test->bench : NULL;

    if (!b)
        return;
    if (!weighed)
        row->weight = b->weight;
    row->score = row->plain_adj = machine_score(row->test);
    row->fair_adj = row->score * (row->std_share < 1 ? 1 - row->std_share : 0);
    row->adj = penalise ? row->fair_adj : row->plain_adj;
}

/* Failures of a baseline do not count, as in milarun. */
static void fill_beside(struct pr_suite_beside *b, const struct pr_suite_row *r,
                        const struct pr_suite_test *t, bool penalise)
{
    double nan = (double)NAN;

    *b = (struct pr_suite_beside){nan, nan, nan, nan, nan};
    if (!t)
        return;
    b->perf = t->train.mean;
    b->ratio = r->perf / b->perf;
    b->adj = b->perf - (penalise ? compute_penalty(&t->train) : 0);
    b->ratio_adj = r->adj / b->adj;
    b->machine = machine_score(t);
}

/* Tests of a baseline by name: a suite may have many. */
static int index_base(const struct pr_suite *s, struct pr_keyset *ret)
{
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < s->count; i++)
        rc = pr_keyset_put(ret, s->tests[i].name,
                           (uint32_t)strlen(s->tests[i].name), (uint32_t)i,
                           &(uint32_t){0});
    return rc < 0 ? rc : PR_OK;
}

static int fill_base(struct make *m, size_t base, struct pr_suite_beside *all)
{
    const struct pr_suite *s = m->o->bases[base];
    struct pr_keyset names = {0};
    int rc = index_base(s, &names);

    for (size_t i = 0; !rc && i < m->count; i++) {
        const struct pr_suite_row *row = &m->rows[i];
        uint32_t at = 0;
        bool found = pr_keyset_find(&names, row->name,
                                    (uint32_t)strlen(row->name), &at) == 1;
        fill_beside(&all[i * m->o->base_count + base], row,
                    found ? &s->tests[at] : NULL, m->o->penalise);
    }
    pr_keyset_free(&names);
    return rc;
}

static bool is_row_enabled(const struct pr_suite_row *r)
{
    return !r->test || !r->test->bench || r->test->bench->enabled;
}

/* Nothing ran, or nothing of it could: that is a gap, not a failure. */
static bool has_no_rate(const struct pr_suite_row *r)
{
    return isnan(r->plain_adj) ||
           (r->test && r->test->n && r->test->unavailable == r->test->n);
}

static int score_fill_rows(struct make *m)
{
    size_t bases = m->o->base_count;
    struct pr_suite_beside *all =
        PR_ARENA_ARRAY(m->arena, struct pr_suite_beside, m->count * bases);
    int rc = all ? PR_OK : PR_E_NOMEM;

    for (size_t i = 0; !rc && i < m->count; i++) {
        struct pr_suite_row *row = &m->rows[i];
        score_fill_row(row, m->o->penalise);
        if (m->bench)
            score_fill_milabench(row, m->o->weights != NULL, m->o->penalise);
        row->missing =
            row->weight > 0 && is_row_enabled(row) && has_no_rate(row);
        row->beside = all + i * bases;
    }
    for (size_t b = 0; !rc && b < bases; b++)
        rc = fill_base(m, b, all);
    return rc;
}

/* ---- scores */

enum column { ADJ, PLAIN, FAIR, STRICT, BASE, MACHINE };

static double get_score_cell(const struct pr_suite_row *r, enum column c,
                             size_t base)
{
    switch (c) {
    case ADJ:
        return r->adj;
    case FAIR:
        return r->fair_adj;
    case BASE:
        return r->beside[base].adj;
    case MACHINE:
        return r->beside[base].machine;
    default:
        return r->plain_adj;
    }
}

/* The weighted geometric mean. Both sums leave out what is unknown, each for
 * itself, as milarun's do: a test without a figure then counts as 1. Strictly
 * it is left out of both. */
static double compute_milarun_score(const struct make *m, enum column c,
                                    size_t base)
{
    double sum = 0, weights = 0;

    for (size_t i = 0; i < m->count; i++) {
        const struct pr_suite_row *r = &m->rows[i];
        double value = get_score_cell(r, c, base),
               term = log(value) * r->weight;

        if (isnan(r->weight) || (c == STRICT && has_no_rate(r)))
            continue;
        weights += r->weight;
        if (!isnan(term))
            sum += term;
    }
    return exp(sum / weights);
}

/* milabench's: logarithms of one more than each, and what has none is 0. */
static double compute_milabench_score(const struct make *m, enum column c,
                                      size_t base)
{
    double sum = 0, weights = 0;

    for (size_t i = 0; i < m->count; i++) {
        const struct pr_suite_row *r = &m->rows[i];
        double value = get_score_cell(r, c, base);

        if (isnan(r->weight) || !is_row_enabled(r) ||
            (c == STRICT && has_no_rate(r)))
            continue;
        weights += r->weight;
        if (!isnan(value))
            sum += log(value + 1) * r->weight;
    }
    return exp(sum / weights);
}

static double compute_total_score(const struct make *m, enum column c)
{
    return m->bench ? compute_milabench_score(m, c, 0)
                    : compute_milarun_score(m, c, 0);
}

static int score_bases(const struct make *m, struct pr_suite_report *ret)
{
    struct pr_suite_base_score *scores =
        PR_ARENA_ARRAY(m->arena, struct pr_suite_base_score, ret->bases);

    if (!scores)
        return PR_E_NOMEM;
    for (size_t i = 0; i < ret->bases; i++) {
        scores[i].score = m->bench ? compute_milabench_score(m, MACHINE, i)
                                   : compute_milarun_score(m, BASE, i);
        scores[i].ratio = ret->score / scores[i].score;
        scores[i].empty = !m->o->bases[i]->count;
    }
    ret->base_scores = scores;
    return PR_OK;
}

static int fill_scores(const struct make *m, struct pr_suite_report *ret)
{
    double fail = 0, n = 0, all = 0, there = 0;

    for (size_t i = 0; i < m->count; i++) {
        const struct pr_suite_row *r = &m->rows[i];
        fail += isnan(r->fail) ? 0 : r->fail;
        n += isnan(r->n) ? 0 : r->n;
        all += isnan(r->weight) || !is_row_enabled(r) ? 0 : r->weight;
        there += isnan(r->weight) || !is_row_enabled(r) || r->missing
                     ? 0
                     : r->weight;
        ret->missing += r->missing;
    }
    ret->failure_rate = fail / n;
    ret->pass = ret->failure_rate <= PASS_RATE;
    if (!ret->scored)
        return PR_OK;
    ret->coverage = there / all;
    ret->milarun = compute_total_score(m, PLAIN);
    ret->penalised = compute_total_score(m, FAIR);
    ret->strict = compute_total_score(m, STRICT);
    ret->score = compute_total_score(m, ADJ);
    if (m->o->price > 0 || m->o->price < 0) {
        ret->price = m->o->price;
        ret->rpp = ret->price / ret->score;
    }
    return score_bases(m, ret);
}

/* ---- devices */

/* Whether a test has exactly the devices 0 to n - 1; where[i] is its place. */
static bool has_devices(const struct pr_suite_test *t, size_t n, size_t *where)
{
    if (t->device_count != n)
        return false;
    memset(where, 0xff, n * sizeof *where);
    for (size_t i = 0; i < n; i++) {
        int64_t id = t->devices[i].number;
        if (id < 0 || (size_t)id >= n || where[id] != SIZE_MAX)
            return false;
        where[id] = i;
    }
    return true;
}

static double get_device_measure(const struct pr_suite_stats *s,
                                 unsigned measure)
{
    return measure == 0 ? s->mean : measure == 1 ? s->min : s->max;
}

static void fill_shares(double *cells, const struct pr_suite_test *t, size_t n,
                        const size_t *where, unsigned measure)
{
    double best = (double)NAN;

    for (size_t i = 0; i < n; i++) {
        cells[i] = get_device_measure(&t->devices[where[i]].stats, measure);
        if (isnan(best) || cells[i] > best)
            best = cells[i];
    }
    for (size_t i = 0; i < n; i++)
        cells[i] /= best;
}

static int fill_matrix(const struct make *m, struct pr_suite_report *ret)
{
    static const char *const measures[] = {"mean", "min", "max"};
    const struct pr_suite *s = m->s;
    size_t most = 0, *where;

    for (size_t i = 0; i < s->count; i++)
        if (s->tests[i].device_count > most)
            most = s->tests[i].device_count;
    where = PR_ARENA_ARRAY(m->arena, size_t, most);
    for (unsigned k = 0; k < 3; k++) {
        struct pr_suite_matrix *x = &ret->matrix[k];
        double *cells = PR_ARENA_ARRAY(m->arena, double, s->count *most);
        x->names = PR_ARENA_ARRAY(m->arena, const char *, s->count);
        if (!where || !cells || !x->names)
            return PR_E_NOMEM;
        x->measure = measures[k];
        x->devices = most;
        x->cells = cells;
        for (size_t i = 0; i < s->count; i++) {
            if (!has_devices(&s->tests[i], most, where))
                continue;
            fill_shares(cells + x->rows * most, &s->tests[i], most, where, k);
            x->names[x->rows++] = s->tests[i].name;
        }
    }
    return PR_OK;
}

/* ---- all */

static int score_fill_report(struct make *m, struct pr_suite_report *ret)
{
    int rc = score_add_rows(m);

    if (!rc)
        rc = score_fill_rows(m);
    if (rc)
        return rc;
    ret->rows = m->rows;
    ret->count = m->count;
    rc = fill_scores(m, ret);
    return rc || !m->o->compare_devices ? rc : fill_matrix(m, ret);
}

int pr_suite_score_report(const struct pr_suite *s,
                          const struct pr_suite_report_opts *opts,
                          struct pr_arena *a, struct pr_suite_report *ret,
                          struct pr_err *err)
{
    bool bench = s->kind == PR_SUITE_MILABENCH;
    struct make m = {.s = s, .o = opts, .arena = a, .bench = bench};
    double nan = (double)NAN;
    int rc;

    *ret = (struct pr_suite_report){
        .suite = s,
        .title =
            opts->title && *opts->title ? opts->title : "Benchmark results",
        .has_weights = bench || opts->weights != NULL,
        .scored = bench || (opts->weights && opts->weights->count),
        .bases = opts->base_count,
        .base_names = opts->base_names,
        .failure_rate = nan,
        .score = nan,
        .milarun = nan,
        .penalised = nan,
        .strict = nan,
        .coverage = nan,
        .price = nan,
        .rpp = nan,
        .has_matrix = opts->compare_devices,
    };
    rc = score_fill_report(&m, ret);
    pr_keyset_free(&m.names);
    return rc ? pr_fail_nomem(err) : PR_OK;
}
