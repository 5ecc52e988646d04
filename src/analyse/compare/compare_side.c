/*
 * One side of a test: from runs to one number a repeat. Devices that ran at
 * the same time shared the machine, so they are one observation, not several;
 * and since devices differ from each other, a repeat in which one is missing
 * is put right by what that device does otherwise.
 */
#include "analyse/compare/compare_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run that counts. */
struct point {
    double log;
    int64_t repeat;
    const struct pr_compare_run *run;
};

static int by_point_device(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    int c = strcmp(x->run->device, y->run->device);

    return c ? c : (x->repeat > y->repeat) - (x->repeat < y->repeat);
}

static int by_repeat(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->repeat != y->repeat)
        return x->repeat < y->repeat ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

/* Takes from each device what it differs from the mean of all. */
static void level_devices(struct point *p, size_t n)
{
    double means = 0;
    size_t devices = 0;

    qsort(p, n, sizeof *p, by_point_device);
    for (size_t i = 0, end; i < n; i = end) {
        double sum = 0;

        for (end = i;
             end < n && strcmp(p[end].run->device, p[i].run->device) == 0;
             end++)
            sum += p[end].log;
        sum /= (double)(end - i);
        for (size_t k = i; k < end; k++)
            p[k].log -= sum;
        means += sum;
        devices++;
    }
    means /= (double)devices;
    for (size_t i = 0; i < n; i++)
        p[i].log += means;
}

/* One number for each repeat. Returns how many. */
static size_t join_repeats(struct point *p, size_t n, double *logs)
{
    size_t count = 0;

    qsort(p, n, sizeof *p, by_repeat);
    for (size_t i = 0, end; i < n; i = end) {
        double sum = 0;

        for (end = i; end < n && p[end].repeat == p[i].repeat; end++)
            sum += p[end].log;
        logs[count++] = sum / (double)(end - i);
    }
    return count;
}

/* ---- the only run */

/* The error within it: of each device's slices, then of their mean. */
static void estimate_within_run(const struct point *p, size_t n,
                                struct pr_compare_side *s)
{
    double sum = 0, freedom = 0;

    for (size_t i = 0; i < n; i++) {
        const struct pr_compare_run *r = p[i].run;
        double e2, f;

        if (!r->slices ||
            !pr_compare_batch_error(r->slices, r->slice_count, &e2, &f))
            return;
        sum += e2 / (r->value * r->value); /* a share, as logarithms have it */
        freedom += f;
    }
    s->within2 = sum / (double)(n * n);
    s->within_freedom = freedom;
}

/* ---- a summary */

static void fill_side_from_summary(const struct pr_compare_test *t,
                                   struct pr_compare_side *s)
{
    double n = (double)t->repeats, share = t->deviation / t->mean;

    s->repeats = t->repeats;
    s->failed = t->failures;
    if (!(t->mean > 0)) {
        s->repeats = 0;
        return;
    }
    s->mean = log(t->mean) - share * share / 2;
    if (n > 1 && isfinite(share)) {
        s->variance = share * share * n / (n - 1);
        s->freedom = n - 1;
    }
}

static bool is_good(const struct pr_compare_run *r)
{
    return isfinite(r->value) && r->value > 0;
}

/* The number of repeats that are left out is by their order, not number. */
static int64_t first_that_counts(const struct pr_compare_test *t,
                                 unsigned skip_first)
{
    int64_t from = INT64_MIN;

    for (unsigned i = 0; i < skip_first; i++) {
        int64_t least = INT64_MAX;

        for (size_t k = 0; k < t->count; k++)
            if (t->runs[k].repeat >= from && t->runs[k].repeat < least)
                least = t->runs[k].repeat;
        if (least == INT64_MAX)
            break;
        from = least + 1;
    }
    return from;
}

int pr_compare_fill_side(const struct pr_compare_test *t, unsigned skip_first,
                         struct pr_arena *a, struct pr_compare_side *ret,
                         struct pr_err *err)
{
    int64_t from = first_that_counts(t, skip_first);
    struct point *p;
    size_t n = 0;

    *ret = (struct pr_compare_side){
        .mean = NAN, .variance = NAN, .within2 = NAN, .test = t};
    if (t->repeats) {
        fill_side_from_summary(t, ret);
        return PR_OK;
    }
    p = PR_ARENA_ARRAY(a, struct point, t->count + 1);
    ret->logs = PR_ARENA_ARRAY(a, double, t->count + 1);
    if (!p || !ret->logs)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < t->count; i++) {
        const struct pr_compare_run *r = &t->runs[i];

        ret->failed += !is_good(r);
        if (is_good(r) && r->repeat >= from)
            p[n++] = (struct point){log(r->value), r->repeat, r};
    }
    if (!n)
        return PR_OK;
    level_devices(p, n);
    ret->repeats = join_repeats(p, n, ret->logs);
    pr_compare_moments(ret->logs, ret->repeats, &ret->mean, &ret->variance);
    ret->freedom = (double)ret->repeats - 1;
    if (ret->repeats == 1)
        estimate_within_run(p, n, ret);
    return PR_OK;
}
