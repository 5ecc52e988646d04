/*
 * The comparison: tests of two sets side by side, Welch's t of logarithms with
 * variances that learn from each other, and one level of confidence for all of
 * it (Šidák's): verdict and interval always agree.
 */
#include "analyse/compare/compare.h"

#include "analyse/compare/compare_impl.h"
#include "base/stats/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *pr_compare_verdict_word(enum pr_compare_verdict v)
{
    static const char *const words[] = {
#define X(id, word) [PR_VERDICT_##id] = word,
        PR_VERDICTS(X)
#undef X
    };

    return words[v];
}

/* ---- pairs */

/* Two sides of one test, and what they say. */
struct match {
    struct pr_compare_row row;
    struct pr_compare_side a, b;
    bool in_a, in_b;
    struct pr_log_estimate diff;
};

struct work {
    const struct pr_compare_opts *o;
    struct pr_arena *arena;
    double least, margin, confidence, between_runs;
    double chance; /* of one look, both tails */
};

/* A test all of whose runs failed has no figure: it stands for any. */
static bool is_same_measure(const struct pr_compare_test *t,
                            const struct pr_compare_test *like)
{
    return strcmp(t->measure, like->measure) == 0 || !*t->measure ||
           !*like->measure;
}

/* The first that is: one that failed everywhere stands for one figure alone. */
static const struct pr_compare_test *
find_like_test(const struct pr_compare_set *s,
               const struct pr_compare_test *like)
{
    const struct pr_compare_test *first = NULL, *t = NULL;

    while ((t = pr_compare_next_test(s, like->name, t)))
        if (is_same_measure(t, like) && (!first || t < first))
            first = t;
    return first;
}

static int fill_match(struct work *w, const struct pr_compare_test *a,
                      const struct pr_compare_test *b, struct match *m,
                      struct pr_err *err)
{
    const struct pr_compare_test *any = a ? a : b;
    int rc = PR_OK;

    *m = (struct match){.in_a = a, .in_b = b};
    m->row = (struct pr_compare_row){.name = any->name,
                                     .measure = any->measure,
                                     .better = any->better,
                                     .a = NAN,
                                     .b = NAN,
                                     .ratio = NAN,
                                     .low = NAN,
                                     .high = NAN,
                                     .p = NAN};
    m->a.mean = m->b.mean = m->diff.mean = NAN;
    if (a)
        rc = pr_compare_fill_side(a, w->o->skip_first, w->arena, &m->a, err);
    if (!rc && b)
        rc = pr_compare_fill_side(b, w->o->skip_first, w->arena, &m->b, err);
    m->row.runs_a = m->a.repeats;
    m->row.runs_b = m->b.repeats;
    m->row.failed_a = m->a.failed;
    m->row.failed_b = m->b.failed;
    m->row.a = exp(m->a.mean);
    m->row.b = exp(m->b.mean);
    return rc;
}

/* Digits by their number, as people sort: scaling.2 before scaling.10. */
static int by_match_name(const void *a, const void *b)
{
    const struct match *x = a, *y = b;

    return strverscmp(x->row.name, y->row.name);
}

/* Sorting must keep the order of measures of a test: a stable sort. */
static void sort_matches(struct match *m, size_t n, struct match *room)
{
    size_t half = n / 2, i = 0, k = half, out = 0;

    if (n < 2)
        return;
    sort_matches(m, half, room);
    sort_matches(m + half, n - half, room);
    while (i < half || k < n) {
        bool left = k == n || (i < half && by_match_name(&m[i], &m[k]) <= 0);

        room[out++] = left ? m[i++] : m[k++];
    }
    memcpy(m, room, n * sizeof *m);
}

static int match_sets(struct work *w, const struct pr_compare_set *a,
                      const struct pr_compare_set *b, struct match **ret,
                      size_t *ret_count, struct pr_err *err)
{
    struct match *m =
        PR_ARENA_ARRAY(w->arena, struct match, a->count + b->count + 1);
    struct match *room =
        PR_ARENA_ARRAY(w->arena, struct match, a->count + b->count + 1);
    size_t n = 0;
    int rc = m && room ? PR_OK : pr_fail_nomem(err);

    for (size_t i = 0; !rc && i < a->count; i++)
        rc = fill_match(w, &a->tests[i], find_like_test(b, &a->tests[i]),
                        &m[n++], err);
    for (size_t i = 0; !rc && i < b->count; i++)
        if (!find_like_test(a, &b->tests[i]))
            rc = fill_match(w, NULL, &b->tests[i], &m[n++], err);
    if (rc)
        return rc;
    sort_matches(m, n, room);
    *ret = m;
    *ret_count = n;
    return PR_OK;
}

/* ---- verdicts */

static enum pr_compare_verdict verdict_of_change(enum pr_better better, bool up)
{
    switch (better) {
    case PR_BETTER_FASTER:
        return up ? PR_VERDICT_FASTER : PR_VERDICT_SLOWER;
    case PR_BETTER_SHORTER:
        return up ? PR_VERDICT_SLOWER : PR_VERDICT_FASTER;
    case PR_BETTER_MORE:
        return up ? PR_VERDICT_IMPROVED : PR_VERDICT_WORSENED;
    case PR_BETTER_LESS:
        return up ? PR_VERDICT_WORSENED : PR_VERDICT_IMPROVED;
    default:
        return up ? PR_VERDICT_HIGHER : PR_VERDICT_LOWER;
    }
}

/* A change, when the interval excludes that there is none; the same, when it
 * excludes all that matters. What does neither says nothing. */
static enum pr_compare_verdict word_for(const struct work *w, double mean,
                                        double half, enum pr_better better)
{
    if (fabs(mean) > half && fabs(mean) > log1p(w->least))
        return verdict_of_change(better, mean > 0);
    return fabs(mean) + half <= log1p(w->margin) ? PR_VERDICT_SAME
                                                 : PR_VERDICT_UNCLEAR;
}

/* Ratio, interval and word from a difference. */
static void judge_difference(const struct work *w,
                             const struct pr_log_estimate *d,
                             struct pr_compare_row *r)
{
    double error = sqrt(d->error2);
    double half = error * pr_student_t(w->chance / 2, d->freedom);

    r->ratio = exp(d->mean);
    r->low = exp(d->mean - half);
    r->high = exp(d->mean + half);
    r->p = fmin(1, 2 * pr_student_above(fabs(d->mean) / error, d->freedom));
    r->verdict = word_for(w, d->mean, half, r->better);
}

static void judge_match(const struct work *w,
                        const struct pr_variance_prior *prior, struct match *m)
{
    struct pr_log_estimate a, b;

    if (!m->in_b || !m->in_a) {
        m->row.verdict = m->in_a ? PR_VERDICT_MISSING : PR_VERDICT_ADDED;
        return;
    }
    if (!m->b.repeats || !m->a.repeats) {
        m->row.verdict = m->b.repeats ? PR_VERDICT_ADDED : PR_VERDICT_FAILED;
        return;
    }
    a = pr_compare_estimate(&m->a, &m->b, prior, w->between_runs);
    b = pr_compare_estimate(&m->b, &m->a, prior, w->between_runs);
    m->diff = pr_compare_difference(&a, &b);
    judge_difference(w, &m->diff, &m->row);
}

/* What all variances of a pair have in common. */
static int fit_variance_prior(const struct work *w, const struct match *m,
                              size_t n, struct pr_variance_prior *ret,
                              struct pr_err *err)
{
    double *v = PR_ARENA_ARRAY(w->arena, double, 2 * n + 1);
    double *f = PR_ARENA_ARRAY(w->arena, double, 2 * n + 1);
    size_t count = 0;

    if (!v || !f)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < 2 * n; i++) {
        const struct pr_compare_side *s = i % 2 ? &m[i / 2].b : &m[i / 2].a;

        if (s->repeats > 1 && isfinite(s->variance)) {
            v[count] = s->variance;
            f[count++] = s->freedom;
        }
    }
    pr_compare_fit_prior(v, f, count, ret);
    return PR_OK;
}

/* ---- over all */

static bool is_speed_row(const struct pr_compare_row *r)
{
    return (r->better == PR_BETTER_FASTER || r->better == PR_BETTER_SHORTER) &&
           isfinite(r->ratio);
}

/* The figure of a test that counts over all: its first that is a speed. */
static bool is_match_counted(const struct match *m, size_t i)
{
    if (!is_speed_row(&m[i].row))
        return false;
    for (size_t k = i; k-- > 0 && strcmp(m[k].row.name, m[i].row.name) == 0;)
        if (is_speed_row(&m[k].row))
            return false;
    return true;
}

static double get_speed_sign(const struct match *m)
{
    return m->row.better == PR_BETTER_SHORTER ? -1 : 1;
}

/* Means over tests for each repeat of one side. What disturbs a repeat as a
 * whole shows here alone. False: tests were repeated differently. */
static bool estimate_over_repeats(const struct work *w, const struct match *m,
                                  size_t n, bool b, struct pr_log_estimate *ret,
                                  bool *ret_nomem)
{
    uint64_t repeats = 0;
    double *sums, tests = 0, mean, var;

    for (size_t i = 0; i < n; i++) {
        const struct pr_compare_side *s = b ? &m[i].b : &m[i].a;

        if (!is_match_counted(m, i))
            continue;
        if (!s->logs || s->repeats < 2 || (repeats && s->repeats != repeats))
            return false;
        repeats = s->repeats;
    }
    sums = PR_ARENA_ARRAY(w->arena, double, repeats + 1);
    *ret_nomem |= !sums;
    for (size_t i = 0; sums && i < n; i++) {
        const struct pr_compare_side *s = b ? &m[i].b : &m[i].a;

        if (!is_match_counted(m, i))
            continue;
        for (uint64_t k = 0; k < repeats; k++)
            sums[k] += get_speed_sign(&m[i]) * s->logs[k];
        tests++;
    }
    if (!sums || !repeats)
        return false;
    for (uint64_t k = 0; k < repeats; k++)
        sums[k] /= tests;
    pr_compare_moments(sums, repeats, &mean, &var);
    *ret = (struct pr_log_estimate){.mean = mean,
                                    .error2 = var / (double)repeats,
                                    .freedom = (double)repeats - 1};
    return var > 0;
}

/* As if tests had nothing to do with each other. */
static struct pr_log_estimate estimate_over_tests(const struct match *m,
                                                  size_t n, size_t *ret_tests)
{
    struct pr_log_estimate e = {0};
    double parts = 0, tests = 0;

    for (size_t i = 0; i < n; i++) {
        const struct pr_log_estimate *d = &m[i].diff;

        if (!is_match_counted(m, i))
            continue;
        e.mean += get_speed_sign(&m[i]) * d->mean;
        e.error2 += d->error2;
        parts += d->error2 * d->error2 / d->freedom;
        tests++;
    }
    *ret_tests = (size_t)tests;
    if (tests > 0) {
        e.freedom = e.error2 * e.error2 / parts;
        e.mean /= tests;
        e.error2 /= tests * tests;
    }
    return e;
}

static double half_width(const struct work *w, const struct pr_log_estimate *e)
{
    return sqrt(e->error2) * pr_student_t(w->chance / 2, e->freedom);
}

/* Both ways, and the wider interval. */
static int judge_all(const struct work *w, const struct match *m, size_t n,
                     struct pr_compare_pair *pair, struct pr_err *err)
{
    size_t tests;
    struct pr_log_estimate e = estimate_over_tests(m, n, &tests), a, b, d;
    bool nomem = false;

    if (tests < 2)
        return PR_OK;
    if (estimate_over_repeats(w, m, n, false, &a, &nomem) &&
        estimate_over_repeats(w, m, n, true, &b, &nomem)) {
        d = pr_compare_difference(&a, &b);
        if (half_width(w, &d) > half_width(w, &e)) {
            e.error2 = d.error2;
            e.freedom = d.freedom;
        }
    }
    if (nomem)
        return pr_fail_nomem(err);
    pair->has_all = true;
    pair->all = (struct pr_compare_row){.name = "over all",
                                        .measure = "",
                                        .better = PR_BETTER_FASTER,
                                        .a = NAN,
                                        .b = NAN,
                                        .runs_a = tests,
                                        .runs_b = tests};
    judge_difference(w, &e, &pair->all);
    return PR_OK;
}

/* ---- everything */

static int judge_pair(const struct work *w, struct match *m, size_t n,
                      struct pr_compare_pair *pair, struct pr_err *err)
{
    struct pr_variance_prior prior;
    int rc = fit_variance_prior(w, m, n, &prior, err);

    pair->rows = PR_ARENA_ARRAY(w->arena, struct pr_compare_row, n + 1);
    if (!rc && !pair->rows)
        rc = pr_fail_nomem(err);
    for (size_t i = 0; !rc && i < n; i++) {
        judge_match(w, &prior, &m[i]);
        rc = pr_compare_add_notes(&m[i].row, &m[i].a, &m[i].b, w->arena, err);
        pair->rows[i] = m[i].row;
    }
    pair->count = n;
    return rc ? rc : judge_all(w, m, n, pair, err);
}

/* How many comparisons chance gets to try. */
static size_t count_looks(const struct match *m, size_t n)
{
    size_t looks = 0;

    for (size_t i = 0; i < n; i++)
        looks += m[i].a.repeats && m[i].b.repeats;
    return looks + (looks > 1); /* that over all */
}

int pr_compare_sets(const struct pr_compare_set *sets, size_t count,
                    const struct pr_compare_opts *o, struct pr_arena *a,
                    struct pr_compare *ret, struct pr_err *err)
{
    struct work w = {.o = o,
                     .arena = a,
                     .least = o->least,
                     .margin = o->margin > 0 ? o->margin : 0.05,
                     .confidence = o->confidence > 0 ? o->confidence : 0.95,
                     .between_runs =
                         o->between_runs > 0 ? o->between_runs : 0.025};
    struct match **matches = PR_ARENA_ARRAY(a, struct match *, count + 1);
    size_t *counts_of = PR_ARENA_ARRAY(a, size_t, count + 1);
    struct pr_compare out = {
        .confidence = w.confidence, .least = w.least, .margin = w.margin};
    int rc = PR_OK;

    out.pairs = PR_ARENA_ARRAY(a, struct pr_compare_pair, count + 1);
    if (!matches || !counts_of || !out.pairs)
        return pr_fail_nomem(err);
    out.count = count ? count - 1 : 0;
    for (size_t i = 0; !rc && i < out.count; i++) {
        rc = match_sets(&w, &sets[0], &sets[i + 1], &matches[i], &counts_of[i],
                        err);
        if (!rc)
            out.looks += count_looks(matches[i], counts_of[i]);
    }
    w.chance = 1 - pow(w.confidence, 1.0 / (double)(out.looks ? out.looks : 1));
    for (size_t i = 0; !rc && i < out.count; i++) {
        out.pairs[i].label_a = sets[0].label;
        out.pairs[i].label_b = sets[i + 1].label;
        out.pairs[i].window_a = sets[0].window;
        out.pairs[i].window_b = sets[i + 1].window;
        rc = judge_pair(&w, matches[i], counts_of[i], &out.pairs[i], err);
    }
    if (!rc)
        *ret = out;
    return rc;
}
