/*
 * What is compared, read from wherever it lies. What tells tests apart are the
 * parameters that differ within a source; what differs between sources is what
 * is being compared, and no part of a test's name.
 */
#include "analyse/compare/compare.h"
#include "analyse/results/results.h"
#include "analyse/run/run_data.h"
#include "analyse/suite/suite.h"
#include "base/names.h"
#include "base/stats/statistics.h"
#include "base/text.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- fleets */

/*
 * When two sides have no machine in common, their machines are repeats of each
 * other, and not tests of their own.
 */

static bool has_value(const struct pr_results *b, const char *name,
                      const struct pr_value *v)
{
    for (size_t i = 0; i < pr_results_size(b); i++) {
        const struct pr_value *o =
            pr_get(&pr_results_row_at(b, i)->params, name);
        if (o && pr_value_equal(o, v))
            return true;
    }
    return false;
}

/* Whether the first of the sets shares a value of that name with another. */
static bool compare_has_common_value(struct pr_results *const *sets,
                                     size_t count, const char *name)
{
    const struct pr_value *last = NULL;

    for (size_t i = 0; count && sets[0] && i < pr_results_size(sets[0]); i++) {
        const struct pr_value *v =
            pr_get(&pr_results_row_at(sets[0], i)->params, name);

        if (!v || (last && pr_value_equal(v, last)))
            continue; /* rows of one machine stand together */
        last = v;
        for (size_t k = 1; k < count; k++)
            if (sets[k] && has_value(sets[k], name, v))
                return true;
    }
    return false;
}

/* ---- which way a figure is better */

/*
 * From its name, by the first row that matches. Names are ours, DLBS's,
 * DLIO's, milarun's and what people tend to call theirs.
 */

static const struct {
    const char *pattern;
    enum pr_better better;
} rows[] = {
    /* Not of the speed, though they sound like it. */
    {"*_std", PR_BETTER_LESS},
    {"*_stdev", PR_BETTER_LESS},
    {"*accuracy*", PR_BETTER_MORE},
    {"*loss*", PR_BETTER_LESS},
    {"*learning_rate*", PR_BETTER_UNKNOWN},
    {"*error_rate*", PR_BETTER_LESS},
    {"*error*", PR_BETTER_LESS},
    {"*wait_share*", PR_BETTER_LESS},
    {"*stall*", PR_BETTER_LESS},
    {"data_wait", PR_BETTER_LESS},
    {"*_per_joule", PR_BETTER_MORE},
    {"*per_watt", PR_BETTER_MORE},
    {"*joules*", PR_BETTER_LESS},
    {"*energy*", PR_BETTER_LESS},
    {"*watt*", PR_BETTER_LESS},
    {"*power*", PR_BETTER_LESS},
    /* Rates. */
    {"*throughput*", PR_BETTER_FASTER},
    {"*per_second*", PR_BETTER_FASTER},
    {"*_per_s", PR_BETTER_FASTER},
    {"*/s", PR_BETTER_FASTER},
    {"*bandwidth*", PR_BETTER_FASTER},
    {"*iops*", PR_BETTER_FASTER},
    {"*fps*", PR_BETTER_FASTER},
    {"*flops_rate", PR_BETTER_FASTER},
    {"*rate", PR_BETTER_FASTER},
    {"perf", PR_BETTER_FASTER},
    {"train", PR_BETTER_FASTER},
    {"*speed*", PR_BETTER_FASTER},
    {"*utilisation", PR_BETTER_MORE},
    {"*utilization", PR_BETTER_MORE},
    {"*_au_*", PR_BETTER_MORE},
    {"efficiency", PR_BETTER_MORE},
    {"*score*", PR_BETTER_MORE},
    /* Amounts. */
    {"*bytes*", PR_BETTER_LESS},
    {"*memory*", PR_BETTER_LESS},
    {"*rss*", PR_BETTER_LESS},
    /* Times. */
    {"time", PR_BETTER_SHORTER},
    {"time_*", PR_BETTER_SHORTER},
    {"*_time", PR_BETTER_SHORTER},
    {"*latency*", PR_BETTER_SHORTER},
    {"*elapsed*", PR_BETTER_SHORTER},
    {"*duration*", PR_BETTER_SHORTER},
    {"*_ms", PR_BETTER_SHORTER},
    {"*_ms_*", PR_BETTER_SHORTER},
    {"*_us", PR_BETTER_SHORTER},
    {"*_us_*", PR_BETTER_SHORTER},
    {"*_ns", PR_BETTER_SHORTER},
    {"*_s", PR_BETTER_SHORTER},
    {"*seconds", PR_BETTER_SHORTER},
};

/* By the name of a figure, without "results.". */
static enum pr_better measure_better(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fnmatch(rows[i].pattern, name, FNM_CASEFOLD) == 0)
            return rows[i].better;
    return PR_BETTER_UNKNOWN;
}

/* ---- sets of tests */

/*
 * Found by a hash of their names, since a set may have as many as a plan has
 * experiments.
 */

enum { FIRST_CHAINS = 64 };

static size_t *get_test_chain(const struct pr_compare_set *s, const char *name)
{
    return &s->chains[pr_hash_bytes(name, strlen(name), 0) &
                      (s->chain_count - 1)];
}

/* Newest first: what comes now is most often what came last. */
static void link_in(struct pr_compare_set *s, size_t i)
{
    size_t *chain = get_test_chain(s, s->tests[i].name);

    s->tests[i].chained = *chain;
    *chain = i + 1;
}

/* Twice as many chains, with all tests in them anew. */
static bool more_chains(struct pr_compare_set *s, struct pr_arena *a)
{
    size_t n = s->chain_count ? 2 * s->chain_count : FIRST_CHAINS;
    size_t *chains = PR_ARENA_ARRAY(a, size_t, n);

    if (!chains)
        return false;
    s->chains = chains;
    s->chain_count = n;
    for (size_t i = 0; i < s->count; i++)
        link_in(s, i);
    return true;
}

struct pr_compare_test *
pr_compare_next_test(const struct pr_compare_set *s, const char *name,
                     const struct pr_compare_test *after)
{
    size_t at = after            ? after->chained
                : s->chain_count ? *get_test_chain(s, name)
                                 : 0;

    while (at && strcmp(s->tests[at - 1].name, name) != 0)
        at = s->tests[at - 1].chained;
    return at ? &s->tests[at - 1] : NULL;
}

struct pr_compare_test *pr_compare_get_test(struct pr_compare_set *s,
                                            const char *name,
                                            const char *measure,
                                            struct pr_arena *a)
{
    struct pr_compare_test *t = pr_compare_next_test(s, name, NULL);

    while (t && strcmp(t->measure, measure) != 0)
        t = pr_compare_next_test(s, name, t);
    if (t)
        return t;
    t = pr_arena_grow(a, s->tests, s->count, &s->cap, sizeof *t);
    if (!t)
        return NULL;
    s->tests = t;
    if (s->count == s->chain_count && !more_chains(s, a))
        return NULL;
    t += s->count;
    *t = (struct pr_compare_test){
        .name = name, .measure = measure, .better = measure_better(measure)};
    link_in(s, s->count++);
    return t;
}

bool pr_compare_add_run(struct pr_compare_test *t,
                        const struct pr_compare_run *r, struct pr_arena *a)
{
    t->runs = pr_arena_grow(a, t->runs, t->count, &t->cap, sizeof *t->runs);
    if (!t->runs)
        return false;
    t->runs[t->count++] = *r;
    return true;
}

/* ---- suites as sets */

/*
 * A child is a run, its job id tells which repeat and device it was. Of
 * summaries only moments are known.
 */

enum { CURVE = 256 };

/* Whether figures are named, and whether this is one of them. */
static bool compare_is_measure_asked(const struct pr_compare_read_opts *how,
                                     const char *name)
{
    for (size_t i = 0; how->measures && how->measures[i]; i++)
        if (fnmatch(how->measures[i], name, 0) == 0)
            return true;
    return how->all_measures;
}

static bool compare_has_measures(const struct pr_compare_read_opts *how)
{
    return how->all_measures || (how->measures && how->measures[0]);
}

static bool is_measure_wanted(const struct pr_compare_read_opts *how,
                              const char *name)
{
    return compare_has_measures(how) ? compare_is_measure_asked(how, name)
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

/* A suite: results of milarun or milabench, or a summary. Adds to *s. */
static int compare_read_suite(const char *path,
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

enum { MAX_VARIED = 8 };

struct reading {
    const struct pr_compare_read_opts *how;
    struct pr_arena *arena;
    const char *varied[MAX_VARIED];
    size_t varied_count;
};

/* ---- what tells tests apart */

/* Names that differ from run to run, whatever is measured. */
static bool says_nothing(const char *name)
{
    static const char *const no[] = {
        "results.*",     "runtime.*",   "hw.*",
        "sys.*",         "exp.id",      "exp.status*",
        "exp.log_file",  "exp.repeat",  "task.repeat",
        "task.system",   "exp.node_id", "exp.device",
        "exp.devices",   "exp.gpus",    "exp.rerun",
        "exp.slot*",     "exp.time*",   "exp.started",
        "exp.ended",     "exp.date*",   "exp.framework_fork",
        "exp.gpu_title", "exp.*_ver",   "*_msg",
        "exp.log_root",
    };

    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (fnmatch(no[i], name, 0) == 0)
            return true;
    return false;
}

static void add_varied_name(struct reading *r, const char *name)
{
    for (size_t i = 0; i < r->varied_count; i++)
        if (strcmp(r->varied[i], name) == 0)
            return;
    if (r->varied_count < MAX_VARIED)
        r->varied[r->varied_count++] = name;
}

static void drop_varied(struct reading *r, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < r->varied_count; i++)
        if (strcmp(r->varied[i], name) != 0)
            r->varied[n++] = r->varied[i];
    r->varied_count = n;
}

/* A run directory's plan says what was meant to vary; what follows from that
 * need not be said again. */
static int compare_find_varied(struct reading *r, const struct pr_results *b,
                               struct pr_err *err)
{
    const struct pr_results_row *row;
    struct pr_run_data *d = NULL;
    int rc = PR_OK;

    if (pr_results_size(b) < 2)
        return PR_OK;
    row = pr_results_row_at(b, 0);
    /* Other sources have no plan. */
    if (pr_run_data_open(row->from, &d, NULL))
        d = NULL;
    for (uint32_t i = 0; i < row->params.len; i++) {
        const char *name = row->params.members[i].key;
        const char *copy;

        if (says_nothing(name) || (d && !pr_run_data_is_varied(d, name)) ||
            !pr_results_is_varied(b, name))
            continue;
        copy = pr_arena_str(r->arena, name);
        if (!copy) {
            rc = pr_fail_nomem(err);
            break;
        }
        add_varied_name(r, copy);
    }
    if (d)
        pr_run_data_close(d);
    return rc;
}

static const char *compare_get_text(const struct pr_value *map, const char *key)
{
    const struct pr_value *v = pr_get(map, key);

    return v && v->kind == PR_STR && *v->s ? v->s : NULL;
}

/* "resnet50", or "model=resnet50 batch=16" where several differ. */
static const char *test_name(struct reading *r,
                             const struct pr_results_row *row)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    const char *name;

    for (size_t i = 0; i < r->varied_count; i++) {
        const struct pr_value *v = pr_get(&row->params, r->varied[i]);
        const char *last = strrchr(r->varied[i], '.');

        if (!v)
            continue;
        if (r->varied_count > 1)
            pr_buf_printf(&out, "%s%s=", out.len ? " " : "",
                          last ? last + 1 : r->varied[i]);
        pr_value_write_text(&out, v);
    }
    if (!pr_buf_ok(&out))
        return NULL;
    if (out.len)
        return pr_arena_copy(r->arena, out.data, out.len);
    name = compare_get_text(&row->params, "exp.name");
    if (!name)
        name = compare_get_text(&row->params, "exp.model");
    return pr_arena_str(r->arena, name ? name : "run");
}

/* ---- figures */

static const struct pr_value *row_get_measure(const struct pr_results_row *row,
                                              const char *name)
{
    char key[256];
    const struct pr_value *v;

    if ((size_t)snprintf(key, sizeof key, "results.%s", name) >= sizeof key)
        return NULL;
    v = pr_get(&row->params, key);
    return v && pr_value_is_number(v) && isfinite(pr_value_number(v)) ? v
                                                                      : NULL;
}

static bool is_speed_measure(const char *name)
{
    enum pr_better b = measure_better(name);

    return b == PR_BETTER_FASTER || b == PR_BETTER_SHORTER;
}

/* The one figure that is the speed of a row, by habit; or NULL. */
static const char *find_headline_measure(const struct pr_results_row *row)
{
    static const char *const known[] = {"throughput", "samples_per_second",
                                        "time"};
    const char *shortest = NULL;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (row_get_measure(row, known[i]))
            return known[i];
    for (uint32_t i = 0; i < row->params.len; i++) {
        const char *key = row->params.members[i].key;

        if (!pr_text_starts_with(key, "results.") ||
            !row_get_measure(row, key + 8))
            continue;
        if (measure_better(key + 8) == PR_BETTER_FASTER)
            return key + 8;
        if (!shortest && measure_better(key + 8) == PR_BETTER_SHORTER)
            shortest = key + 8;
    }
    return shortest;
}

/* The slices of a run: of ours in results.timings.train, of milarun's flat. */
static const struct pr_value *find_slices(const struct pr_results_row *row)
{
    const struct pr_value *v = pr_get(&row->params, "results.timings.train");

    v = v && v->kind == PR_MAP ? pr_get(v, "rates")
                               : pr_get(&row->params, "timings.train.rates");
    return v && v->kind == PR_LIST && v->len > 1 ? v : NULL;
}

/* Those that are left when warm-up is over; the last one is not whole. */
static bool set_row_slices(const struct pr_results_row *row,
                           struct pr_compare_run *run, struct pr_arena *a)
{
    const struct pr_value *list = find_slices(row);
    size_t n = list ? list->len - 1 : 0, from;
    double *v = PR_ARENA_ARRAY(a, double, n + 1);
    bool settled;

    if (!v)
        return false;
    for (size_t i = 0; i < n; i++)
        if (pr_value_is_number(&list->items[i]))
            v[i] = pr_value_number(&list->items[i]);
    from = n ? pr_steady_warmup(v, n, &settled) : 0;
    run->slices = n > from ? v + from : NULL;
    run->slice_count = n > from ? n - from : 0;
    return true;
}

static int compare_add_measure(struct reading *r, struct pr_compare_set *s,
                               const char *test, const char *name, double value,
                               const struct pr_results_row *row)
{
    const struct pr_value *repeat = pr_get(&row->params, "exp.repeat");
    const char *device = compare_get_text(&row->params, "exp.device");
    struct pr_compare_run run = {.value = value, .device = ""};
    const char *copy = pr_arena_str(r->arena, name);
    struct pr_compare_test *t =
        copy ? pr_compare_get_test(s, test, copy, r->arena) : NULL;

    if (!t)
        return PR_E_NOMEM;
    if (device)
        run.device = pr_arena_str(r->arena, device);
    run.repeat =
        repeat && repeat->kind == PR_INT ? repeat->i : (int64_t)t->count + 1;
    /* The same repeat again is a source that was put together of several. */
    if (!device && t->count && t->runs[t->count - 1].repeat >= run.repeat)
        run.repeat = t->runs[t->count - 1].repeat + 1;
    if (strcmp(name, "throughput") == 0 && !set_row_slices(row, &run, r->arena))
        return PR_E_NOMEM;
    return run.device && pr_compare_add_run(t, &run, r->arena) ? PR_OK
                                                               : PR_E_NOMEM;
}

/* Those that the experiment itself calls main, without what says the same
 * twice. */
static int add_main(struct reading *r, struct pr_compare_set *s,
                    const char *test, const struct pr_value *names,
                    const struct pr_results_row *row, size_t *ret_count)
{
    bool has_rate = row_get_measure(row, "throughput");
    int rc = PR_OK;

    for (uint32_t i = 0; !rc && i < names->len; i++) {
        const struct pr_value *n = &names->items[i], *v;

        if (n->kind != PR_STR || !is_speed_measure(n->s) ||
            (has_rate && strcmp(n->s, "time") == 0))
            continue;
        v = row_get_measure(row, n->s);
        if (!v)
            continue;
        rc = compare_add_measure(r, s, test, n->s, pr_value_number(v), row);
        ++*ret_count;
    }
    return rc;
}

static int add_asked(struct reading *r, struct pr_compare_set *s,
                     const char *test, const struct pr_results_row *row,
                     size_t *ret_count)
{
    int rc = PR_OK;

    for (uint32_t i = 0; !rc && i < row->params.len; i++) {
        const char *key = row->params.members[i].key;
        const struct pr_value *v;

        if (!pr_text_starts_with(key, "results.") ||
            !compare_is_measure_asked(r->how, key + 8) ||
            !(v = row_get_measure(row, key + 8)))
            continue;
        /* Nothing is a failure of a rate; of others it has no ratio. */
        if (pr_value_number(v) <= 0 &&
            measure_better(key + 8) != PR_BETTER_FASTER)
            continue;
        rc = compare_add_measure(r, s, test, key + 8, pr_value_number(v), row);
        ++*ret_count;
    }
    return rc;
}

static bool is_failed(const struct pr_results_row *row)
{
    const char *status = compare_get_text(&row->params, "exp.status");

    return status && strcmp(status, "ok") != 0 &&
           strcmp(status, "success") != 0;
}

/* A run without figures: it counts for all figures of its test. */
static int add_failed(struct reading *r, struct pr_compare_set *s,
                      const char *test, const struct pr_results_row *row)
{
    const struct pr_compare_test *t = pr_compare_next_test(s, test, NULL);
    int rc = t ? PR_OK : compare_add_measure(r, s, test, "", (double)NAN, row);

    for (; t && !rc; t = pr_compare_next_test(s, test, t))
        rc = compare_add_measure(r, s, test, t->measure, (double)NAN, row);
    return rc;
}

static int compare_add_row(struct reading *r, struct pr_compare_set *s,
                           const struct pr_results_row *row, bool failed,
                           struct pr_err *err)
{
    const char *test = test_name(r, row);
    const struct pr_value *names = pr_get(&row->params, "results.prony.main");
    const char *head;
    size_t count = 0;
    int rc = test ? PR_OK : PR_E_NOMEM;

    if (!rc && failed)
        rc = add_failed(r, s, test, row);
    else if (!rc && compare_has_measures(r->how))
        rc = add_asked(r, s, test, row, &count);
    else if (!rc && names && names->kind == PR_LIST)
        rc = add_main(r, s, test, names, row, &count);
    if (!rc && !failed && !count && !compare_has_measures(r->how) &&
        (head = find_headline_measure(row)))
        rc = compare_add_measure(
            r, s, test, head, pr_value_number(row_get_measure(row, head)), row);
    return rc ? pr_fail_nomem(err) : PR_OK;
}

static int compare_add_rows(struct reading *r, const struct pr_results *b,
                            struct pr_compare_set *s, struct pr_err *err)
{
    const struct pr_results_counts *counts = pr_results_get_counts(b);
    int rc = PR_OK;

    s->results = counts->results;
    s->unreadable = counts->unreadable;
    s->cut = counts->damaged > 0;
    if (counts->note_count)
        s->note = s->cut ? counts->damage : counts->notes[0];
    /* Those that failed come last: by then it is known what they lack. */
    for (int failed = 0; failed < 2; failed++)
        for (size_t i = 0; !rc && i < pr_results_size(b); i++) {
            const struct pr_results_row *row = pr_results_row_at(b, i);

            if (is_failed(row) == (failed == 1))
                rc = compare_add_row(r, s, row, failed, err);
        }
    return rc;
}

/* A folder of a suite's results, unless it is one of ours with a plan and
 * nothing of the kind beside it. */
static bool is_suite_input(const char *path)
{
    char plan[4096];
    struct stat st;

    if (stat(path, &st) || !S_ISDIR(st.st_mode))
        return false;
    if (pr_suite_is_folder(path))
        return true;
    return snprintf(plan, sizeof plan, "%s/plan.json", path) <
               (int)sizeof plan &&
           access(plan, F_OK) != 0 && pr_suite_is_tree(path);
}

/* Rows of an input; none (*ret NULL) of what is a suite, or nothing else. */
static int compare_read_rows(struct reading *r, const char *path,
                             struct pr_results **ret, struct pr_err *err)
{
    struct pr_results_opts opts = {.recursive = true};
    int rc;

    if (is_suite_input(path))
        return PR_OK;
    rc = pr_results_read(&path, 1, &opts, ret, err);
    if (rc)
        return rc;
    if (pr_results_size(*ret))
        return compare_find_varied(r, *ret, err);
    pr_results_free(*ret);
    *ret = NULL;
    return PR_OK;
}

int pr_compare_read_sets(const char *const *inputs, size_t count,
                         const struct pr_compare_read_opts *how,
                         struct pr_arena *a, struct pr_compare_set *ret,
                         struct pr_err *err)
{
    struct reading r = {.how = how, .arena = a};
    struct pr_results **sets =
        PR_ARENA_ARRAY(a, struct pr_results *, count + 1);
    int rc = sets ? PR_OK : pr_fail_nomem(err);

    for (size_t i = 0; !rc && i < count; i++) {
        ret[i] = (struct pr_compare_set){.label = inputs[i]};
        rc = compare_read_rows(&r, inputs[i], &sets[i], err);
    }
    if (!rc && !compare_has_common_value(sets, count, "exp.node_title"))
        drop_varied(&r, "exp.node_title");
    for (size_t i = 0; !rc && i < count; i++)
        rc = sets[i] ? compare_add_rows(&r, sets[i], &ret[i], err)
                     : compare_read_suite(inputs[i], how, a, &ret[i], err);
    for (size_t i = 0; sets && i < count; i++)
        pr_results_free(sets[i]);
    return rc;
}
