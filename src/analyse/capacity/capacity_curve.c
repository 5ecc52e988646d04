/* From trials to a curve: means, spread, and how sure each point is. */
#include "analyse/capacity/capacity.h"
#include "base/stats/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Repeats that agree by chance are not that exact. */
#define LEAST_STDEV 0.0005

static const char *const kind_words[] = {
#define X(kind, word) word,
    PR_CAPACITY_KINDS(X)
#undef X
};

const char *pr_capacity_kind_word(enum pr_capacity_kind kind)
{
    return kind_words[kind];
}

/* ---- means */

enum { FIGURES = 7 };

struct mean {
    double sum;
    unsigned n;
};

static void mean_add(struct mean *m, double x)
{
    if (!isnan(x)) {
        m->sum += x;
        m->n++;
    }
}

static double mean_get(const struct mean *m)
{
    return m->n ? m->sum / m->n : NAN;
}

static void add_trial_measures(const struct pr_capacity_trial *t,
                               struct mean m[FIGURES],
                               struct pr_capacity_measures *f)
{
    mean_add(&m[0], t->figures.cached_share);
    mean_add(&m[1], t->figures.cpu_share);
    mean_add(&m[2], t->figures.decode_share);
    mean_add(&m[3], t->figures.device_busy_share);
    mean_add(&m[4], t->figures.network_share);
    mean_add(&m[5], t->figures.wait_share);
    mean_add(&m[6], t->figures.barrier_share);
    if (*t->figures.storage_kind)
        memcpy(f->storage_kind, t->figures.storage_kind,
               sizeof f->storage_kind);
}

static bool is_full_trial_of(const struct pr_capacity_trial *t, uint64_t n)
{
    return t->kind == PR_CAPACITY_FULL && t->accelerators == n;
}

/* Runs that were spoilt count where there are no others. */
static bool is_trial_counted(const struct pr_capacity_opts *o,
                             const struct pr_capacity_point *p,
                             const struct pr_capacity_trial *t)
{
    return is_full_trial_of(t, p->accelerators) &&
           (p->figures.disturbed || !pr_capacity_is_spoilt(o, t));
}

static void mark_discarded_trials(const struct pr_capacity_opts *o,
                                  struct pr_capacity_point *p,
                                  const struct pr_capacity_trial *trials,
                                  size_t count)
{
    unsigned all = 0;

    for (size_t i = 0; i < count; i++)
        if (is_full_trial_of(&trials[i], p->accelerators)) {
            all++;
            p->discarded += pr_capacity_is_spoilt(o, &trials[i]);
        }
    p->figures.disturbed = p->discarded == all;
    if (p->figures.disturbed)
        p->discarded = 0;
}

static void fill_point(const struct pr_capacity_opts *o,
                       struct pr_capacity_point *p,
                       const struct pr_capacity_trial *trials, size_t count)
{
    struct mean au = {0}, mb = {0}, m[FIGURES] = {{0}};
    double squares = 0;

    mark_discarded_trials(o, p, trials, count);
    for (size_t i = 0; i < count; i++)
        if (is_trial_counted(o, p, &trials[i])) {
            mean_add(&au, trials[i].utilisation);
            mean_add(&mb, trials[i].mb_per_second);
            add_trial_measures(&trials[i], m, &p->figures);
        }
    p->runs = au.n;
    p->utilisation = au.n ? mean_get(&au) : 0;
    p->mb_per_second = mean_get(&mb);
    for (size_t i = 0; i < count; i++)
        if (is_trial_counted(o, p, &trials[i])) {
            double d = trials[i].utilisation - p->utilisation;
            squares += d * d;
        }
    p->stdev = p->runs > 1 ? sqrt(squares / (p->runs - 1)) : NAN;
    p->figures.cached_share = mean_get(&m[0]);
    p->figures.cpu_share = mean_get(&m[1]);
    p->figures.decode_share = mean_get(&m[2]);
    p->figures.device_busy_share = mean_get(&m[3]);
    p->figures.network_share = mean_get(&m[4]);
    p->figures.wait_share = mean_get(&m[5]);
    p->figures.barrier_share = mean_get(&m[6]);
}

/* ---- the spread, and what it makes of each point */

static void pool_deviation(struct pr_capacity_curve *c)
{
    double squares = 0;

    c->freedom = 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->points[i].runs > 1) {
            unsigned n = c->points[i].runs - 1;
            squares += n * c->points[i].stdev * c->points[i].stdev;
            c->freedom += n;
        }
    c->stdev = c->freedom ? fmax(sqrt(squares / c->freedom), LEAST_STDEV) : NAN;
}

/* A point is looked at after each run from the second on, and there are two
 * that decide. Look k spends 1 / (k (k + 1)) of the chance to be wrong, half
 * of it for each: together that is all of it, however long it takes. */
static double compute_looks_factor(unsigned runs)
{
    double k = runs > 2 ? runs - 1 : 1;

    return 2 * k * (k + 1);
}

static void judge_point(const struct pr_capacity_opts *o,
                        const struct pr_capacity_curve *c,
                        struct pr_capacity_point *p)
{
    double error = c->freedom ? c->stdev / sqrt(p->runs) : NAN;

    p->meets = p->utilisation >= o->threshold;
    p->error = error;
    p->p = NAN;
    if (!c->freedom)
        return;
    p->p = fmin(
        1, compute_looks_factor(p->runs) *
               pr_student_above(fabs(p->utilisation - o->threshold) / error,
                                c->freedom));
    p->error = error * pr_student_t((1 - o->confidence) / 2, c->freedom);
}

static int by_accelerators(const void *a, const void *b)
{
    const struct pr_capacity_point *x = a, *y = b;

    return (x->accelerators > y->accelerators) -
           (x->accelerators < y->accelerators);
}

static bool has_point(const struct pr_capacity_curve *c, uint64_t n)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->points[i].accelerators == n)
            return true;
    return false;
}

/* The first that fails, and the last before it. */
static void find_ends(struct pr_capacity_curve *c)
{
    for (size_t i = 0; i < c->count && !c->high; i++)
        if (c->points[i].meets)
            c->low = &c->points[i];
        else
            c->high = &c->points[i];
}

int pr_capacity_fill_curve(const struct pr_capacity_opts *o,
                           const struct pr_capacity_trial *trials, size_t count,
                           struct pr_arena *a, struct pr_capacity_curve *ret,
                           struct pr_err *err)
{
    struct pr_capacity_curve c = {0};

    c.points = PR_ARENA_ARRAY(a, struct pr_capacity_point, count + 1);
    if (!c.points)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        if (trials[i].kind == PR_CAPACITY_FULL &&
            !has_point(&c, trials[i].accelerators))
            c.points[c.count++].accelerators = trials[i].accelerators;
    qsort(c.points, c.count, sizeof *c.points, by_accelerators);
    for (size_t i = 0; i < c.count; i++)
        fill_point(o, &c.points[i], trials, count);
    pool_deviation(&c);
    for (size_t i = 0; i < c.count; i++)
        judge_point(o, &c, &c.points[i]);
    find_ends(&c);
    *ret = c;
    return PR_OK;
}
