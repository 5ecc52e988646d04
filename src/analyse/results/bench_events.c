/*
 * What milabench writes of a run, one event a line. The figure is the mean of
 * the rates, without the smallest and the largest where there are five or
 * more, as its own report has it.
 */
#include "analyse/results/bench_lines.h"
#include "base/json/json.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RATES = 1 << 22 };

struct pr_milabench_events {
    struct pr_arena *arena; /* of one line */
    struct pr_arena *keep;  /* of the config */
    struct pr_value config;
    double *rates;
    size_t count, cap;
    double loss, started, ended;
    bool has_loss, nan_loss, stopped_early, failed;
    int64_t status;
    bool has_status;
};

struct pr_milabench_events *pr_milabench_events_new(void)
{
    struct pr_milabench_events *e = pr_alloc_zeroed(sizeof *e);

    if (!e)
        return NULL;
    e->arena = pr_arena_new(4096);
    e->keep = pr_arena_new(4096);
    if (!e->arena || !e->keep) {
        pr_milabench_events_free(e);
        return NULL;
    }
    return e;
}

void pr_milabench_events_free(struct pr_milabench_events *e)
{
    if (!e)
        return;
    pr_arena_free(e->arena);
    pr_arena_free(e->keep);
    pr_free(e->rates);
    pr_free(e);
}

static int events_add_rate(struct pr_milabench_events *e, double rate,
                           struct pr_err *err)
{
    if (!isfinite(rate) || e->count == MAX_RATES)
        return PR_OK;
    if (e->count == e->cap) {
        size_t cap = e->cap ? e->cap * 2 : 256;
        double *rates = pr_realloc(e->rates, cap * sizeof *rates);
        if (!rates)
            return pr_fail_nomem(err);
        e->rates = rates;
        e->cap = cap;
    }
    e->rates[e->count++] = rate;
    return PR_OK;
}

static bool is_member_text(const struct pr_value *map, const char *key,
                           const char *want)
{
    const struct pr_value *v = pr_get(map, key);

    return v && v->kind == PR_STR && strcmp(v->s, want) == 0;
}

static int events_read_data(struct pr_milabench_events *e,
                            const struct pr_value *data, struct pr_err *err)
{
    const struct pr_value *rate = pr_get(data, "rate");
    const struct pr_value *loss = pr_get(data, "loss");

    if (is_member_text(data, "task", "early_stop"))
        e->stopped_early = true;
    if (loss && pr_value_is_number(loss)) {
        e->has_loss = true;
        e->loss = pr_value_number(loss);
        e->nan_loss |= isnan(e->loss);
    }
    return rate && pr_value_is_number(rate) &&
                   is_member_text(data, "task", "train")
               ? events_add_rate(e, pr_value_number(rate), err)
               : PR_OK;
}

static void events_read_time(const struct pr_value *data, double *time)
{
    const struct pr_value *v = pr_get(data, "time");

    if (v && pr_value_is_number(v))
        *time = pr_value_number(v);
}

static int events_read_event(struct pr_milabench_events *e,
                             const struct pr_value *v, struct pr_err *err)
{
    const struct pr_value *data = pr_get(v, "data");
    const struct pr_value *status;

    if (!data)
        return PR_OK;
    if (is_member_text(v, "event", "config")) {
        pr_arena_reset(e->keep);
        return pr_value_copy(e->keep, data, &e->config) ? PR_OK
                                                        : pr_fail_nomem(err);
    }
    if (is_member_text(v, "event", "data"))
        return events_read_data(e, data, err);
    if (is_member_text(v, "event", "start"))
        events_read_time(data, &e->started);
    if (is_member_text(v, "event", "error"))
        e->failed = true;
    if (is_member_text(v, "event", "end")) {
        events_read_time(data, &e->ended);
        status = pr_get(data, "return_code");
        if (status && status->kind == PR_INT) {
            e->has_status = true;
            e->status = status->i;
        }
    }
    return PR_OK;
}

int pr_milabench_events_line(void *ctx, const char *line, size_t len,
                             struct pr_err *err)
{
    struct pr_milabench_events *e = ctx;
    struct pr_json_in in = {.text = line, .len = len, .name = ""};
    struct pr_value v;
    int rc = pr_json_read(&in, e->arena, &v, NULL, NULL);

    if (rc == PR_OK)
        rc = events_read_event(e, &v, err);
    else if (rc == PR_E_NOMEM)
        rc = pr_fail_nomem(err);
    else
        rc = PR_OK; /* half a last line, or a stranger's */
    pr_arena_reset(e->arena);
    return rc;
}

static int by_rate_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int events_put_rates(struct pr_milabench_events *e,
                            struct pr_results_reader *r, struct pr_err *err)
{
    struct pr_value n = pr_int((int64_t)e->count);
    size_t from = 0, to = e->count;
    double sum = 0, var = 0;
    int rc;

    if (!e->count)
        return PR_OK;
    qsort(e->rates, e->count, sizeof *e->rates, by_rate_value);
    if (e->count >= 5) {
        from++;
        to--;
    }
    for (size_t i = from; i < to; i++)
        sum += e->rates[i];
    sum /= (double)(to - from);
    for (size_t i = from; i < to; i++)
        var += (e->rates[i] - sum) * (e->rates[i] - sum);
    rc = pr_results_row_put_float(r, "results.throughput", sum, err);
    if (!rc)
        rc = pr_results_row_put_float(r, "results.throughput_std",
                                      sqrt(var / (double)(to - from)), err);
    return rc ? rc : pr_results_row_put(r, "results.rates", 13, &n, err);
}

static int put_joined(struct pr_results_reader *r, const char *name,
                      const struct pr_value *list, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);

    for (uint32_t i = 0; list && list->kind == PR_LIST && i < list->len; i++) {
        pr_buf_str(&text, i ? "." : "");
        pr_value_write_text(&text, &list->items[i]);
    }
    if (!text.len || !pr_buf_ok(&text))
        return PR_OK;
    return pr_results_row_put_str(r, name, text.data, err);
}

static int put_config(struct pr_milabench_events *e,
                      struct pr_results_reader *r, struct pr_err *err)
{
    static const char *const names[][2] = {
        {"name", "exp.name"},
        {"run_name", "exp.run"},
        {"arch", "exp.arch"},
    };
    int rc = e->config.kind == PR_MAP
                 ? pr_results_row_put_flat(r, "config.", &e->config, err)
                 : PR_OK;

    for (size_t i = 0; !rc && i < sizeof names / sizeof *names; i++) {
        const struct pr_value *v = pr_get(&e->config, names[i][0]);
        if (v)
            rc =
                pr_results_row_put(r, names[i][1], strlen(names[i][1]), v, err);
    }
    return rc ? rc : put_joined(r, "exp.id", pr_get(&e->config, "tag"), err);
}

int pr_milabench_events_put(struct pr_milabench_events *e,
                            struct pr_results_reader *r, struct pr_err *err)
{
    bool ok = e->stopped_early || (e->has_status && e->status == 0 &&
                                   !e->failed && !e->nan_loss && e->count);
    struct pr_value status = pr_int(e->status);
    int rc = put_config(e, r, err);

    if (!rc)
        rc = pr_results_row_put_str(r, "exp.status", ok ? "ok" : "failed", err);
    if (!rc && e->has_status)
        rc = pr_results_row_put(r, "results.return_code", 19, &status, err);
    if (!rc && e->has_loss)
        rc = pr_results_row_put_float(r, "results.loss", e->loss, err);
    if (!rc && e->ended > e->started && e->started > 0)
        rc = pr_results_row_put_float(r, "results.elapsed_s",
                                      e->ended - e->started, err);
    return rc ? rc : events_put_rates(e, r, err);
}
