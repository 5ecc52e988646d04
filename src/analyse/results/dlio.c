/* Folders of DLIO's results: the run and its epochs. */
#include "analyse/results/dlio.h"

#include "base/file.h"
#include "base/json/json.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 1 << 30, MAX_EPOCHS = 1000000 };

int pr_dlio_read_json(const char *dir, const char *name, struct pr_arena *a,
                      struct pr_value *ret, struct pr_err *err)
{
    const char *path = pr_arena_printf(a, "%s/%s", dir, name);
    struct pr_json_in in = {.name = path};
    int rc;

    if (!path)
        return pr_fail_nomem(err);
    rc = pr_file_read_in(dir, path, MAX_FILE, a, &in.text, &in.len, err);
    if (!rc)
        rc = pr_json_read(&in, a, ret, NULL, err);
    return rc == PR_E_NOMEM ? rc : rc == PR_OK;
}

static int by_series_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Python's inclusive cut point i of 100. */
static double cut_point(const double *sorted, size_t n, size_t i)
{
    size_t whole = i * (n - 1) / 100, part = i * (n - 1) % 100;

    if (!part)
        return sorted[whole];
    return (sorted[whole] * (double)(100 - part) +
            sorted[whole + 1] * (double)part) /
           100;
}

void pr_dlio_stats(double *series, size_t n, struct pr_dlio_stats *ret)
{
    long double sum = 0, squares = 0, mean;

    *ret = (struct pr_dlio_stats){.n = n};
    if (n < 2)
        return;
    qsort(series, n, sizeof *series, by_series_value);
    for (size_t i = 0; i < n; i++)
        sum += series[i];
    mean = sum / n;
    for (size_t i = 0; i < n; i++)
        squares += (series[i] - mean) * (series[i] - mean);
    ret->mean = (double)mean;
    ret->std = (double)sqrtl(squares / (n - 1));
    ret->min = series[0];
    ret->max = series[n - 1];
    ret->median =
        n % 2 ? series[n / 2] : (series[n / 2 - 1] + series[n / 2]) / 2;
    ret->p90 = cut_point(series, n, 90);
    ret->p99 = cut_point(series, n, 99);
}

/* Days since 1970, by the proleptic Gregorian calendar. */
static int64_t days_since_1970(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
           719468;
}

/* ".920473" in microseconds. */
static int64_t parse_fraction_us(const char *p)
{
    int64_t us = 0;

    if (*p != '.')
        return 0;
    for (int64_t unit = 100000; unit && isdigit((unsigned char)*++p);
         unit /= 10)
        us += (*p - '0') * unit;
    return us;
}

bool pr_dlio_parse_time(const char *text, int64_t *ret_us)
{
    int y, mo, d, h, mi, s, used = 0;

    if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &y, &mo, &d, &h, &mi,
               &s, &used) != 6) {
        if (sscanf(text, "%2d/%2d/%4d %2d:%2d:%2d%n", &mo, &d, &y, &h, &mi, &s,
                   &used) != 6)
            return false;
        y += y < 100 ? 2000 : 0;
        if (strcmp(text + used, " PM") == 0 && h < 12)
            h += 12;
        else if (strcmp(text + used, " AM") == 0 && h == 12)
            h = 0;
    }
    if (mo < 1 || mo > 12 || d < 1 || d > 31)
        return false;
    *ret_us =
        (((days_since_1970(y, mo, d) * 24 + h) * 60 + mi) * 60 + s) * 1000000 +
        parse_fraction_us(text + used);
    return true;
}

/* A member as text; "" when it is missing. Numbers with two decimals. */
static const char *dlio_get_text(struct pr_arena *a, const struct pr_value *map,
                                 const char *key)
{
    const struct pr_value *v = pr_get(map, key);
    const char *text = "";

    if (v && v->kind == PR_STR)
        text = v->s;
    else if (v && pr_value_is_number(v))
        text = pr_arena_printf(a, "%.2f", pr_value_number(v));
    return text ? text : "";
}

static double seconds_between(const char *start, const char *end)
{
    int64_t from, to;

    if (!pr_dlio_parse_time(start, &from) || !pr_dlio_parse_time(end, &to))
        return (double)NAN;
    return (double)(to - from) / 1e6;
}

struct pr_dlio_phase *pr_dlio_get_phase(struct pr_arena *a,
                                        struct pr_dlio_read_epoch *e,
                                        const char *name)
{
    struct pr_dlio_phase *p;

    for (p = e->phases; p; p = p->next)
        if (strcmp(p->name, name) == 0)
            return p;
    p = PR_ARENA_NEW(a, struct pr_dlio_phase);
    if (!p)
        return NULL;
    p->name = name;
    p->start = p->end = p->duration = "";
    p->seconds = (double)NAN;
    p->evaluation = strncmp(name, "eval", 4) == 0;
    *(e->last ? &e->last->next : &e->phases) = p;
    e->last = p;
    return p;
}

static int read_epoch_times(struct pr_arena *a, struct pr_dlio_read_epoch *e,
                            const struct pr_value *times, struct pr_err *err)
{
    e->start = dlio_get_text(a, times, "start");
    e->end = dlio_get_text(a, times, "end");
    e->duration = dlio_get_text(a, times, "duration");
    for (uint32_t i = 0; i < times->len; i++) {
        const struct pr_member *m = &times->members[i];
        struct pr_dlio_phase *p;

        if (m->value.kind != PR_MAP)
            continue;
        p = pr_dlio_get_phase(a, e, m->key);
        if (!p)
            return pr_fail_nomem(err);
        p->start = dlio_get_text(a, &m->value, "start");
        p->end = dlio_get_text(a, &m->value, "end");
        p->duration = dlio_get_text(a, &m->value, "duration");
        p->seconds = seconds_between(p->start, p->end);
    }
    return PR_OK;
}

/* Epochs are the keys "1", "2", …, without a gap. */
static size_t count_epochs(const struct pr_value *stats)
{
    size_t n = 0;
    char key[24];

    if (stats->kind != PR_MAP)
        return 0;
    while (n < stats->len && n < MAX_EPOCHS) {
        const struct pr_value *v;
        snprintf(key, sizeof key, "%zu", n + 1);
        v = pr_get(stats, key);
        if (!v || v->kind != PR_MAP)
            break;
        n++;
    }
    return n;
}

static int read_epoch_stats(const char *dir, struct pr_arena *a,
                            struct pr_value *ret, struct pr_err *err)
{
    int rc = pr_dlio_read_json(dir, "0_per_epoch_stats.json", a, ret, err);

    if (!rc)
        rc = pr_dlio_read_json(dir, "per_epoch_stats.json", a, ret, err);
    if (!rc) /* the ranks may still tell how many there were */
        rc = pr_dlio_read_json(dir, "0_output.json", a, ret, err);
    if (!rc)
        *ret = pr_null();
    return rc < 0 ? rc : PR_OK;
}

static int read_epochs(const char *dir, struct pr_arena *a,
                       struct pr_dlio_run *run, struct pr_err *err)
{
    struct pr_value stats;
    size_t n;
    char key[24];
    int rc = read_epoch_stats(dir, a, &stats, err);

    if (rc)
        return rc;
    n = count_epochs(&stats);
    if (run->setup.epochs && run->setup.epochs < n)
        n = (size_t)run->setup.epochs;
    run->epochs = PR_ARENA_ARRAY(a, struct pr_dlio_read_epoch, n + 1);
    if (!run->epochs)
        return pr_fail_nomem(err);
    run->epoch_count = n;
    for (size_t i = 0; i < n && !rc; i++) {
        struct pr_dlio_read_epoch *e = &run->epochs[i];
        e->number = (unsigned)(i + 1);
        e->start = e->end = e->duration = "";
        snprintf(key, sizeof key, "%zu", i + 1);
        /* Of a rank's own file only the number of epochs counts here. */
        if (!pr_get(pr_get(&stats, key), "load"))
            rc = read_epoch_times(a, e, pr_get(&stats, key), err);
    }
    return rc;
}

/* Samples a second of the epochs, as summary.json has them. */
static int read_throughput(struct pr_arena *a, struct pr_dlio_run *run,
                           struct pr_err *err)
{
    const struct pr_value *list = pr_get(&run->summary, "metric");
    size_t n = 0;
    double *series;

    list = list ? pr_get(list, "train_throughput_samples_per_second") : NULL;
    if (!list || list->kind != PR_LIST)
        return PR_OK;
    series = PR_ARENA_ARRAY(a, double, list->len + 1);
    if (!series)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < list->len; i++)
        if (pr_value_is_number(&list->items[i]) &&
            isfinite(pr_value_number(&list->items[i])))
            series[n++] = pr_value_number(&list->items[i]);
    pr_dlio_stats(series, n, &run->samples);
    for (size_t i = 0; i < n; i++)
        series[i] *= run->setup.record_bytes / 1024 / 1024;
    pr_dlio_stats(series, run->setup.record_bytes > 0 ? n : 0, &run->mb);
    return PR_OK;
}

/* One number of a map by another; 0: there is none. */
static double divide_members(const struct pr_value *map, const char *of,
                             const char *by)
{
    const struct pr_value *a = map ? pr_get(map, of) : NULL;
    const struct pr_value *b = map ? pr_get(map, by) : NULL;

    return a && b && pr_value_is_number(a) && pr_value_is_number(b) &&
                   pr_value_number(b) > 0
               ? pr_value_number(a) / pr_value_number(b)
               : 0;
}

/* Of runs of ours it is known how much was read, whatever the config says. Of
 * others the mean size of a record follows from samples/s and MB/s, too. */
static void guess_record(struct pr_dlio_run *run)
{
    double ours =
        divide_members(pr_get(&run->summary, "prony"), "bytes_read", "samples");

    if (ours > 0)
        run->setup.record_bytes = ours;
    if (run->setup.record_bytes <= 0)
        run->setup.record_bytes =
            divide_members(pr_get(&run->summary, "metric"),
                           "train_io_mean_MB_per_second",
                           "train_throughput_mean_samples_per_second") *
            1048576;
}

static void read_span(struct pr_arena *a, struct pr_dlio_run *run)
{
    run->start = dlio_get_text(a, &run->summary, "start");
    run->end = dlio_get_text(a, &run->summary, "end");
    if (run->epoch_count && *run->epochs[0].start)
        run->start = run->epochs[0].start;
    if (run->epoch_count && *run->epochs[run->epoch_count - 1].end)
        run->end = run->epochs[run->epoch_count - 1].end;
    run->seconds = seconds_between(run->start, run->end);
}

int pr_dlio_read(const char *dir, const struct pr_dlio_opts *opts,
                 struct pr_arena *a, struct pr_dlio_run *ret,
                 struct pr_err *err)
{
    struct pr_dlio_run run = {.setup = opts->setup};
    struct pr_err local = {0};
    struct pr_err *why = err ? err : &local;
    int rc = pr_dlio_read_json(dir, "summary.json", a, &run.summary, why);

    if (rc != 1) {
        if (why->code == PR_E_IO)
            pr_hint(why, "expected a folder of results, as DLIO makes one");
        return why->code;
    }
    if (run.summary.kind != PR_MAP)
        return pr_fail(err, PR_E_FORMAT, dir, "summary.json holds no map");
    rc = pr_dlio_read_setup(dir, opts->hydra, a, &run.setup, err);
    if (rc)
        return rc;
    guess_record(&run);
    rc = read_epochs(dir, a, &run, err);
    if (!rc)
        rc = pr_dlio_read_ranks(dir, a, &run, err);
    if (!rc && !run.ranks) {
        pr_fail(err, PR_E_FORMAT, dir,
                "there is a summary.json, but no RANK_output.json beside it");
        return pr_hint(err, "expected a folder of results, as DLIO makes one");
    }
    if (!rc)
        rc = read_throughput(a, &run, err);
    if (!rc)
        rc = pr_dlio_read_iostat(dir, a, &run, err);
    if (rc)
        return rc;
    read_span(a, &run);
    *ret = run;
    return PR_OK;
}
