/*
 * What milabench writes of a run, a .data file with one event a line: all of
 * it, for suites, and as one result among others. There the figure is the mean
 * of the rates, without the smallest and the largest where there are five or
 * more, as its own report has it.
 */
#include "analyse/results/results_take.h"
#include "analyse/suite/suite_milabench.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/stats/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- all of it */

/*
 * What milabench's own code cannot bear (a sample without power, a run without
 * an end) is unknown here.
 */

enum { CURVE_MAX = 4096 };

struct events {
    struct pr_milabench_data *d;
    struct pr_arena *keep, *scratch;
};

static int milabench_keep_text(struct events *e, const char *s,
                               const char **ret)
{
    if (!s)
        return PR_OK;
    *ret = pr_arena_str(e->keep, s);
    return *ret ? PR_OK : PR_E_NOMEM;
}

/* ---- config and meta */

/* Machines times devices of one job. */
static uint64_t milabench_count_gpus(const struct pr_value *config)
{
    const struct pr_value *devices = pr_get(config, "devices");
    const char *method = pr_text_at(pr_get(config, "plan"), "method", NULL);
    double machines = pr_number_at(config, "num_machines", NAN);
    uint64_t local = 1;

    if (method && strcmp(method, "njobs") == 0)
        local = devices && devices->kind == PR_LIST ? devices->len : 0;
    return machines >= 0 && machines < 1e6 ? (uint64_t)machines * local : local;
}

static int milabench_read_config_device(struct events *e,
                                        const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);

    if (!v || (v->kind != PR_INT && v->kind != PR_STR))
        return PR_OK;
    pr_value_write_text(&text, v);
    e->d->has_device = true;
    e->d->device = text.data ? pr_arena_copy(e->keep, text.data, text.len) : "";
    return e->d->device && pr_buf_ok(&text) ? PR_OK : PR_E_NOMEM;
}

static int milabench_read_config(struct events *e, const struct pr_value *c)
{
    struct pr_milabench_data *d = e->d;
    const struct pr_value *enabled = pr_get(c, "enabled");
    const struct pr_value *tag = pr_get(c, "tag");
    double weight = pr_number_at(c, "weight", NAN);
    int rc = milabench_keep_text(e, pr_text_at(c, "name", NULL), &d->name);

    if (!rc)
        rc = milabench_keep_text(e, pr_text_at(c, "group", NULL), &d->group);
    d->has_config = d->name != NULL;
    d->weight = isnan(weight) ? 0 : weight;
    d->enabled =
        enabled && ((enabled->kind == PR_BOOL && enabled->b) ||
                    (pr_value_is_number(enabled) && pr_value_number(enabled)));
    d->gpus = milabench_count_gpus(c);
    for (uint32_t i = 0; tag && tag->kind == PR_LIST && i < tag->len; i++)
        d->no_log |= tag->items[i].kind == PR_STR &&
                     strcmp(tag->items[i].s, "nolog") == 0;
    return rc ? rc : milabench_read_config_device(e, pr_get(c, "device"));
}

/* Text is borrowed. The last accelerator stands for all. */
void pr_milabench_host_read(const struct pr_value *meta,
                            struct pr_suite_host *ret)
{
    const struct pr_value *cpu = meta ? pr_get(meta, "cpu") : NULL;
    const struct pr_value *accelerators =
        meta ? pr_get(meta, "accelerators") : NULL;
    const struct pr_value *gpus =
        accelerators ? pr_get(accelerators, "gpus") : NULL;
    const struct pr_value *last = NULL;
    double n = pr_number_at(cpu, "count", NAN);

    *ret = (struct pr_suite_host){.cpu = pr_text_at(cpu, "brand", NULL),
                                  .cpus = n > 0 && n < 1e9 ? (uint64_t)n : 0,
                                  .gpu_memory = (double)NAN};
    if (!gpus || gpus->kind != PR_MAP || !gpus->len)
        return;
    last = &gpus->members[gpus->len - 1].value;
    ret->gpus = gpus->len;
    ret->gpu = pr_text_at(last, "product", NULL);
    ret->gpu_memory = pr_number_at(pr_get(last, "memory"), "total", NAN);
}

static int milabench_read_meta(struct events *e, const struct pr_value *meta)
{
    struct pr_suite_host *h = &e->d->host;
    int rc;

    pr_milabench_host_read(meta, h);
    rc = milabench_keep_text(e, h->cpu, &h->cpu);
    return rc ? rc : milabench_keep_text(e, h->gpu, &h->gpu);
}

/* ---- samples of devices */

static struct pr_milabench_load *milabench_get_load(struct events *e,
                                                    const char *id)
{
    struct pr_milabench_data *d = e->d;
    struct pr_milabench_load *loads;

    for (size_t i = 0; i < d->load_count; i++)
        if (strcmp(d->loads[i].id, id) == 0)
            return &d->loads[i];
    loads = pr_arena_grow(e->keep, d->loads, d->load_count, &d->load_cap,
                          sizeof *loads);
    if (!loads)
        return NULL;
    d->loads = loads;
    loads[d->load_count] =
        (struct pr_milabench_load){.id = pr_arena_str(e->keep, id)};
    return loads[d->load_count].id ? &loads[d->load_count++] : NULL;
}

/* An idle device, and one whose memory cannot be told, do not count. */
static int milabench_read_device(struct events *e, const struct pr_member *m)
{
    const struct pr_value *memory = pr_get(&m->value, "memory");
    double load = pr_number_at(&m->value, "load", NAN);
    double power = pr_number_at(&m->value, "power", NAN), used = (double)NAN;
    struct pr_milabench_load *l;
    int rc;

    if (memory && memory->kind == PR_LIST && memory->len &&
        pr_value_is_number(&memory->items[0]))
        used = pr_value_number(&memory->items[0]);
    if (isnan(used) || used == 1 || load == 0)
        return PR_OK;
    l = milabench_get_load(e, m->key);
    rc = l ? pr_suite_numbers_add(&l->memory, used) : PR_E_NOMEM;
    return rc ? rc : pr_suite_numbers_add(&l->power, isnan(power) ? 0 : power);
}

static int milabench_read_samples(struct events *e, const struct pr_value *v,
                                  double now)
{
    struct pr_milabench_data *d = e->d;
    int rc = PR_OK;

    if (v->kind != PR_MAP)
        return PR_OK;
    if (isnan(d->first_time))
        d->first_time = now;
    for (uint32_t i = 0; !rc && i < v->len; i++) {
        const struct pr_member *m = &v->members[i];
        double power = pr_number_at(&m->value, "power", NAN);

        if (d->has_device && strcmp(m->key, d->device) != 0)
            continue;
        if (!isnan(now) && !isnan(d->last_time) && !isnan(power))
            d->energy += power * (now - d->last_time);
        rc = milabench_read_device(e, m);
    }
    if (!d->has_device || pr_get(v, d->device))
        d->last_time = now;
    return rc;
}

/* ---- events */

static int milabench_read_data(struct events *e, const struct pr_value *data)
{
    struct pr_milabench_data *d = e->d;
    const char *task = pr_text_at(data, "task", NULL);
    double rate = pr_number_at(data, "rate", NAN),
           loss = pr_number_at(data, "loss", NAN);
    const struct pr_value *gpus = pr_get(data, "gpudata");
    const struct pr_value *l = pr_get(data, "loss");
    int rc = PR_OK;

    d->nan_loss |= l && pr_value_is_number(l) && isnan(loss);
    if (task && strcmp(task, "train") == 0 && !isnan(rate)) {
        rc = pr_suite_numbers_add(&d->rates, rate);
        pr_suite_slices_add(&d->slices, rate);
    }
    if (!rc && gpus)
        rc = milabench_read_samples(e, gpus, pr_number_at(data, "time", NAN));
    return rc;
}

static int milabench_read_error(struct events *e, const struct pr_value *data)
{
    const char *type = pr_text_at(data, "type", NULL),
               *text = pr_text_at(data, "message", NULL);

    if (!type && !text)
        return PR_OK;
    e->d->error = pr_arena_printf(e->keep, "%s%s%s", type ? type : "",
                                  type && text ? ": " : "", text ? text : "");
    return e->d->error ? PR_OK : PR_E_NOMEM;
}

static int milabench_read_event(struct events *e, const struct pr_value *v)
{
    const struct pr_value *data = pr_get(v, "data"), *code;
    const char *event = pr_text_at(v, "event", NULL);
    struct pr_milabench_data *d = e->d;

    if (!event || !data)
        return PR_OK;
    if (strcmp(event, "data") == 0)
        return milabench_read_data(e, data);
    if (strcmp(event, "config") == 0)
        return milabench_read_config(e, data);
    if (strcmp(event, "meta") == 0)
        return milabench_read_meta(e, data);
    if (strcmp(event, "error") == 0)
        return milabench_read_error(e, data);
    if (strcmp(event, "stop") == 0)
        d->early_stop = true;
    if (strcmp(event, "start") == 0) {
        d->started = true;
        d->start_time = pr_number_at(data, "time", NAN);
    }
    if (strcmp(event, "end") == 0) {
        d->ended = true;
        d->end_time = pr_number_at(data, "time", NAN);
        code = pr_get(data, "return_code");
        d->return_code = code && code->kind == PR_INT ? code->i : -1;
    }
    return PR_OK;
}

static int milabench_read_line(struct events *e, const char *line, size_t len)
{
    struct pr_json_in in = {.text = line, .len = len, .name = ""};
    struct pr_value v;
    int rc;

    if (!len || *line != '{')
        return PR_OK;
    rc = pr_json_read(&in, e->scratch, &v, NULL, NULL);
    if (!rc)
        rc = milabench_read_event(e, &v);
    pr_arena_reset(e->scratch);
    return rc == PR_E_NOMEM ? rc : PR_OK; /* half a line, or a stranger's */
}

int pr_milabench_data_read(struct pr_milabench_data *d, const char *text,
                           size_t len, struct pr_arena *keep,
                           struct pr_arena *scratch, unsigned curve,
                           struct pr_err *err)
{
    struct events e = {.d = d, .keep = keep, .scratch = scratch};
    const char *end = text + len;
    int rc = PR_OK;

    *d = (struct pr_milabench_data){.start_time = (double)NAN,
                                    .end_time = (double)NAN,
                                    .first_time = (double)NAN,
                                    .last_time = (double)NAN,
                                    .host.gpu_memory = (double)NAN,
                                    .slices.each = 1};
    if (curve) {
        d->slices.room = curve > CURVE_MAX ? CURVE_MAX : curve + curve % 2;
        d->slices.points = PR_ARENA_ARRAY(keep, double, d->slices.room);
        rc = d->slices.points ? PR_OK : PR_E_NOMEM;
    }
    while (!rc && text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((stop ? stop : end) - text);
        rc = milabench_read_line(&e, text, n);
        text += n + 1;
    }
    return rc ? pr_fail_nomem(err) : PR_OK;
}

void pr_milabench_data_free(struct pr_milabench_data *d)
{
    pr_free(d->rates.v);
    for (size_t i = 0; i < d->load_count; i++) {
        pr_free(d->loads[i].memory.v);
        pr_free(d->loads[i].power.v);
    }
    *d = (struct pr_milabench_data){0};
}

bool pr_milabench_data_is_good(const struct pr_milabench_data *d)
{
    return d->no_log || d->early_stop ||
           (d->return_code == 0 && !d->nan_loss && d->rates.count);
}

/* ---- as one result */

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

static int events_put_rates(struct pr_milabench_events *e,
                            struct pr_results_reader *r, struct pr_err *err)
{
    struct pr_value n = pr_int((int64_t)e->count);
    size_t from = 0, to = e->count;
    double sum = 0, var = 0;
    int rc;

    if (!e->count)
        return PR_OK;
    qsort(e->rates, e->count, sizeof *e->rates, pr_double_compare);
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
