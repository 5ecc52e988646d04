/*
 * The search for the largest number of accelerators.
 *
 * Short scouts that only read tell how fast the storage is, and so about where
 * the answer lies. Trials there close in on two neighbours, one that meets the
 * threshold and one that does not: beyond the knee utilisation falls as 1/n,
 * so each trial predicts the next. Both neighbours are then repeated until
 * Student's test is sure, with the spread of all repeated points together.
 */
#include "analyse/capacity/capacity.h"

#include <math.h>

enum {
    LEAP = 8,    /* times as many accelerators, at most, from scout to scout */
    SCOUTS = 12, /* no more than these */
    GUIDED = 6,  /* predicted trials, then the middle is taken */
    BEYOND = 4,  /* growth where nothing can be predicted */
    LEAST_RUNS = 2, /* of the two that decide */
    SPOILT = 3,     /* runs of a number, until it is taken as it is */
};

/* Utilisation that far below the first point's is beyond the knee. */
#define KNEE 0.02

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
    return p->utilisation < pr_capacity_top_utilisation(c) - KNEE;
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

    if (last->kind != PR_CAPACITY_FULL || !pr_capacity_is_spoilt(o, last))
        return 0;
    for (size_t i = 0; i < count; i++)
        if (trials[i].kind == last->kind &&
            trials[i].accelerators == last->accelerators) {
            if (!pr_capacity_is_spoilt(o, &trials[i]))
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
