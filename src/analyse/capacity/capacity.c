/*
 * The search for the largest number of accelerators, and the curve it follows:
 * means of the trials, their spread, and how sure each point is.
 *
 * Short scouts that only read tell how fast the storage is, and so about where
 * the answer lies. Trials there close in on two neighbours, one that meets the
 * threshold and one that does not: beyond the knee utilisation falls as 1/n,
 * so each trial predicts the next. Both neighbours are then repeated until
 * Student's test is sure, with the spread of all repeated points together.
 */
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

/* A disturbance only takes time: what meets the threshold even so is met. */
static bool is_trial_spoilt(const struct pr_capacity_opts *o,
                            const struct pr_capacity_trial *t)
{
    return t->figures.disturbed && !(t->utilisation >= o->threshold);
}

/* Runs that were spoilt count where there are no others. */
static bool is_trial_counted(const struct pr_capacity_opts *o,
                             const struct pr_capacity_point *p,
                             const struct pr_capacity_trial *t)
{
    return is_full_trial_of(t, p->accelerators) &&
           (p->figures.disturbed || !is_trial_spoilt(o, t));
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
            p->discarded += is_trial_spoilt(o, &trials[i]);
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

enum {
    LEAP = 8,    /* times as many accelerators, at most, from scout to scout */
    SCOUTS = 12, /* no more than these */
    GUIDED = 6,  /* predicted trials, then the middle is taken */
    BEYOND = 4,  /* growth where nothing can be predicted */
    LEAST_RUNS = 2, /* of the two that decide */
    SPOILT = 3,     /* runs of a number, until it is taken as it is */
};

static uint64_t clamp_accelerators(double x, uint64_t low, uint64_t high)
{
    if (!(x > (double)low))
        return low;
    return x < (double)high ? (uint64_t)x : high;
}

/* As a share of the whole, so that rounding does not take one off. */
static double floor_with_tolerance(double x)
{
    return floor(x * (1 + 1e-9));
}

uint64_t pr_capacity_expect(const struct pr_capacity_opts *o,
                            const struct pr_capacity_trial *t)
{
    if (!(o->need > 0) || !(t->samples_per_second > 0))
        return 0;
    return clamp_accelerators(
        floor_with_tolerance(t->samples_per_second / o->need), 0,
        UINT64_MAX / 2);
}

/* ---- before anything failed */

static const struct pr_capacity_trial *
last_scout(const struct pr_capacity_trial *trials, size_t count,
           unsigned *ret_scouts)
{
    const struct pr_capacity_trial *last = NULL;

    *ret_scouts = 0;
    for (size_t i = 0; i < count; i++)
        if (trials[i].kind == PR_CAPACITY_SCOUT) {
            last = &trials[i];
            ++*ret_scouts;
        }
    return last;
}

/* More readers may read faster: scouts go on until they do not. 0: enough. */
static uint64_t next_scout(const struct pr_capacity_opts *o,
                           const struct pr_capacity_trial *trials, size_t count,
                           uint64_t low)
{
    unsigned scouts;
    const struct pr_capacity_trial *t = last_scout(trials, count, &scouts);
    uint64_t there, expected;

    if (!(o->need > 0) || scouts >= SCOUTS)
        return 0;
    there = t ? t->accelerators : low;
    expected = t ? pr_capacity_expect(o, t) : LEAP * there;
    if (t && (double)expected <= 1.5 * (double)there)
        return 0;
    if (expected > LEAP * there)
        expected = LEAP * there;
    expected = expected < o->max ? expected : o->max;
    return expected > there ? expected : 0;
}

static unsigned points_above(const struct pr_capacity_curve *c, uint64_t n)
{
    unsigned found = 0;

    for (size_t i = 0; i < c->count; i++)
        found += c->points[i].accelerators > n;
    return found;
}

static bool is_beyond_knee(const struct pr_capacity_curve *c,
                           const struct pr_capacity_point *p)
{
    return p->utilisation < pr_capacity_top_utilisation(c) - PR_CAPACITY_KNEE;
}

/* Beyond the knee 1/n tells where the threshold is. Where it has told too
 * little before, strides grow. */
static double capacity_predict_next(const struct pr_capacity_opts *o,
                                    const struct pr_capacity_curve *c)
{
    const struct pr_capacity_point *p = c->low, *before = p - 1;
    double n = (double)p->accelerators, stride;
    double next = floor_with_tolerance(n * p->utilisation / o->threshold);

    if (p == c->points || !is_beyond_knee(c, before))
        return next;
    stride = n - (double)before->accelerators;
    if (p->utilisation * n <=
        before->utilisation * (double)before->accelerators * 1.01)
        return next;
    return fmax(next, n + 2 * stride);
}

/* The next larger number, where every point so far meets the threshold. */
static uint64_t next_above_all(const struct pr_capacity_opts *o,
                               const struct pr_capacity_trial *trials,
                               size_t count, const struct pr_capacity_curve *c)
{
    uint64_t low = c->low->accelerators, expected;
    double next = (double)low * BEYOND;
    unsigned scouts, tries;
    const struct pr_capacity_trial *t = last_scout(trials, count, &scouts);

    if (is_beyond_knee(c, c->low)) {
        next = capacity_predict_next(o, c);
    } else if (t) {
        expected = pr_capacity_expect(o, t);
        tries = points_above(c, expected ? expected - 1 : 0);
        next = (double)expected;
        if (expected <= low) /* it promised too little */
            next = (double)low +
                   fmax(1, (double)low / 8) * (double)(1u << (tries & 15));
    }
    return clamp_accelerators(next, low + 1, o->max);
}

/* ---- between one that meets and one that does not */

static uint64_t next_between_ends(const struct pr_capacity_opts *o,
                                  const struct pr_capacity_curve *c)
{
    uint64_t low = c->low ? c->low->accelerators : 0;
    uint64_t high = c->high->accelerators;
    double a, b, next;

    if (points_above(c, low / 2) - points_above(c, 2 * high) > GUIDED)
        return low + (high - low) / 2;
    next = (double)high * c->high->utilisation / o->threshold;
    if (c->low && is_beyond_knee(c, c->low)) {
        /* 1 / utilisation is a straight line there */
        a = 1 / c->low->utilisation;
        b = 1 / fmax(c->high->utilisation, 1e-6);
        next = (double)low +
               (1 / o->threshold - a) / (b - a) * (double)(high - low);
    }
    return clamp_accelerators(floor_with_tolerance(next), low + 1, high - 1);
}

/* ---- being sure */

static bool is_point_open(const struct pr_capacity_opts *o,
                          const struct pr_capacity_point *p)
{
    if (!p || p->runs >= o->repeats || p->discarded >= o->repeats)
        return false;
    return p->runs < LEAST_RUNS || !(p->p <= 1 - o->confidence);
}

static const struct pr_capacity_point *
open_one(const struct pr_capacity_opts *o, const struct pr_capacity_curve *c)
{
    if (!is_point_open(o, c->low))
        return is_point_open(o, c->high) ? c->high : NULL;
    return is_point_open(o, c->high) && c->high->runs < c->low->runs ? c->high
                                                                     : c->low;
}

/* 0: two neighbours are known, or there is no larger number. */
static uint64_t new_point(const struct pr_capacity_opts *o,
                          const struct pr_capacity_trial *trials, size_t count,
                          const struct pr_capacity_curve *c,
                          enum pr_capacity_kind *ret_kind)
{
    uint64_t low = c->low ? c->low->accelerators : 0, scout;

    if (c->high)
        return c->high->accelerators - low > 1 ? next_between_ends(o, c) : 0;
    if (low >= o->max)
        return 0;
    scout = is_beyond_knee(c, c->low) ? 0 : next_scout(o, trials, count, low);
    if (scout)
        *ret_kind = PR_CAPACITY_SCOUT;
    return scout ? scout : next_above_all(o, trials, count, c);
}

/* What was spoilt is tried again. 0: the last trial was not, or that did not
 * help. */
static uint64_t once_more(const struct pr_capacity_opts *o,
                          const struct pr_capacity_trial *trials, size_t count)
{
    const struct pr_capacity_trial *last = &trials[count - 1];
    unsigned tries = 0;

    if (last->kind != PR_CAPACITY_FULL || !is_trial_spoilt(o, last))
        return 0;
    for (size_t i = 0; i < count; i++)
        if (trials[i].kind == last->kind &&
            trials[i].accelerators == last->accelerators) {
            if (!is_trial_spoilt(o, &trials[i]))
                return 0; /* there is a better one */
            tries++;
        }
    return tries < SPOILT ? last->accelerators : 0;
}

int pr_capacity_next_step(const struct pr_capacity_opts *o,
                          const struct pr_capacity_trial *trials, size_t count,
                          struct pr_capacity_step *ret, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(8192);
    const struct pr_capacity_point *again;
    struct pr_capacity_step step = {.kind = PR_CAPACITY_FULL,
                                    .accelerators = o->min};
    struct pr_capacity_curve c;
    int rc = a ? pr_capacity_fill_curve(o, trials, count, a, &c, err)
               : pr_fail_nomem(err);

    if (rc)
        return rc;
    if (c.count && once_more(o, trials, count)) {
        step.accelerators = once_more(o, trials, count);
    } else if (c.count) {
        step.accelerators = new_point(o, trials, count, &c, &step.kind);
        again = step.accelerators ? NULL : open_one(o, &c);
        if (again)
            step.accelerators = again->accelerators;
        step.done = !step.accelerators;
    }
    *ret = step;
    return PR_OK;
}
