/* Suites as sets to compare: a child is a run, its job id tells which repeat
 * and device it was. Of summaries only moments are known. */
#include "analyse/compare/compare_impl.h"
#include "analyse/suite/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CURVE = 256 };

static bool is_measure_wanted(const struct pr_compare_read_opts *how,
                              const char *name)
{
    return pr_compare_has_measures(how) ? pr_compare_is_measure_asked(how, name)
                                        : strcmp(name, "throughput") == 0;
}

/* The mean of its ranks. */
static double get_child_rate(const struct pr_suite_child *r)
{
    double sum = 0;

    if (!r->good || !r->rate_count)
        return (double)NAN;
    for (uint32_t i = 0; i < r->rate_count; i++)
        sum += r->rates[i].rate;
    return sum / r->rate_count;
}

/* The steady part of its curve: what its rate is the mean of, or, where the
 * curve was made shorter, the second half. */
static bool set_child_slices(const struct pr_suite_child *r,
                             struct pr_compare_run *run, struct pr_arena *a)
{
    uint32_t from = r->curve_len / 2, to = r->curve_len;
    double *slices;

    if (!r->curve || !r->rate_count)
        return true;
    if (r->curve_len == r->rates[0].slices) {
        from = to > 20 ? to - 20 : 0;
        to = to > 2 ? to - 2 : 0;
    }
    if (from >= to)
        return true;
    slices = PR_ARENA_ARRAY(a, double, to - from);
    for (uint32_t i = from; slices && i < to; i++)
        slices[i - from] = (double)r->curve[i];
    run->slices = slices;
    run->slice_count = to - from;
    return slices;
}

static bool compare_add_child(struct pr_compare_set *s, const char *test,
                              const char *measure,
                              const struct pr_suite_child *r, double value,
                              struct pr_arena *a)
{
    const char *dot = r->job_id ? strchr(r->job_id, '.') : NULL;
    struct pr_compare_run run = {.value = value};
    struct pr_compare_test *t = pr_compare_get_test(s, test, measure, a);

    if (!t)
        return false;
    run.repeat = r->job_id ? strtoll(r->job_id, NULL, 10) : (int64_t)t->count;
    run.device = pr_arena_str(a, dot ? dot + 1 : r->device ? r->device : "");
    return run.device && set_child_slices(r, &run, a) &&
           pr_compare_add_run(t, &run, a);
}

/* A repeat has each device once, and all devices of a repeat may be disturbed
 * alike: they count as one, whose spread is that of a device. */
static void join_device_stats(const struct pr_suite_test *t,
                              struct pr_compare_test *out)
{
    double sum = 0, logs = 0;

    out->repeats = 1;
    for (size_t i = 0; i < t->device_count; i++) {
        const struct pr_suite_stats *s = &t->devices[i].stats;

        if (s->n > out->repeats)
            out->repeats = s->n;
        sum += pow(s->std / s->mean, 2) / (double)t->device_count;
        logs += log(s->mean) / (double)t->device_count;
    }
    out->mean = exp(logs); /* as runs are put together, too */
    out->deviation = out->mean * sqrt(sum);
}

static bool add_summary(struct pr_compare_set *s, const char *name,
                        const struct pr_suite_test *t, struct pr_arena *a)
{
    struct pr_compare_test *out = pr_compare_get_test(s, name, "throughput", a);

    if (!out)
        return false;
    out->failures = t->failures;
    out->mean = t->train.mean;
    out->deviation = t->train.std;
    /* Several ranks of a run are as many rates. */
    out->repeats = t->n > t->failures ? t->n - t->failures : 0;
    if (t->train.n < out->repeats)
        out->repeats = t->train.n;
    if (t->device_count > 1 && out->repeats)
        join_device_stats(t, out);
    /* Without any good run it is a test that failed. */
    if (!out->repeats || !(out->mean > 0)) {
        struct pr_compare_run none = {.value = (double)NAN, .device = ""};

        out->repeats = 0;
        return pr_compare_add_run(out, &none, a);
    }
    return true;
}

static bool add_test(struct pr_compare_set *s,
                     const struct pr_compare_read_opts *how,
                     const struct pr_suite_test *t, struct pr_arena *a)
{
    const char *name = pr_arena_str(a, t->name);
    bool rates = is_measure_wanted(how, "throughput"),
         totals = is_measure_wanted(how, "total_s");

    if (!name)
        return false;
    if (!t->run_count)
        return !rates || add_summary(s, name, t, a);
    for (size_t i = 0; i < t->run_count; i++) {
        const struct pr_suite_child *r = t->runs[i];

        if (rates &&
            !compare_add_child(s, name, "throughput", r, get_child_rate(r), a))
            return false;
        if (totals && !compare_add_child(s, name, "total_s", r,
                                         r->good ? r->total : (double)NAN, a))
            return false;
    }
    return true;
}

int pr_compare_read_suite(const char *path,
                          const struct pr_compare_read_opts *how,
                          struct pr_arena *a, struct pr_compare_set *s,
                          struct pr_err *err)
{
    struct pr_suite_read_opts opts = {.curve = CURVE};
    struct pr_suite *suite;
    int rc = pr_suite_read(path, &opts, &suite, err);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < suite->count; i++) {
        const struct pr_suite_test *t = &suite->tests[i];

        s->results += t->n;
        if (!add_test(s, how, t, a))
            rc = pr_fail_nomem(err);
    }
    s->window = pr_suite_window_text(suite->kind);
    s->unreadable = suite->bad;
    if (suite->note_count)
        pr_fail(&s->note, PR_E_FORMAT, suite->notes[0].where, "%s",
                suite->notes[0].text);
    pr_suite_free(suite);
    return rc;
}
