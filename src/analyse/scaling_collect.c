/*
 * Results to points: which network, on what, with which batch, how long.
 * Names become numbers, points are found by hashing, so that a hundred
 * thousand results take one pass, in each thread that reads them. Sums are
 * kept to twice the digits, so that they do not depend on who was first.
 */
#include "analyse/scaling.h"
#include "base/decimal.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/student.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pr_scaling_names[] = {
    "exp.model_title",
    "exp.model",
    "exp.name",
    "exp.gpus",
    "exp.num_gpus",
    "exp.num_nodes",
    "exp.num_replicas",
    "exp.replica_batch",
    "exp.effective_batch",
    "exp.num_local_replicas",
    "results.throughput",
    "results.samples_per_second",
    "results.time",
    "results.batch",
    "results.replicas",
    "results.accelerators",
    "results.exit_status",
    "results.elapsed_s",
    NULL,
};

/* A point, with the sums of its times and their squares, and of the rates that
 * were reported. */
struct point {
    uint32_t net, device;
    int64_t batch;
    uint64_t n, rated;
    double sum, sum_rest, squares, squares_rest, rates, rates_rest;
    bool foreign; /* no run of ours is among them */
};

struct collector {
    struct pr_arena *arena, *scratch;
    struct pr_names *nets, *devices;
    struct pr_scaling_column *columns; /* by number of the device */
    size_t column_cap;
    struct point *points;
    size_t count, cap;
    uint32_t *table; /* of point + 1 */
    size_t mask;
    uint64_t without, unusable, unrated;
};

struct pr_scaling_gather {
    const struct pr_scaling_opts *opts;
    struct collector collectors[PR_BENCH_MAX_THREADS];
};

static int collector_init(struct collector *c, struct pr_err *err)
{
    c->arena = pr_arena_new(4096);
    c->scratch = pr_arena_new(4096);
    c->nets = pr_names_new();
    c->devices = pr_names_new();
    return c->arena && c->scratch && c->nets && c->devices ? PR_OK
                                                           : pr_fail_nomem(err);
}

static void collector_done(struct collector *c)
{
    pr_arena_free(c->arena);
    pr_arena_free(c->scratch);
    pr_names_free(c->nets);
    pr_names_free(c->devices);
    pr_free(c->points);
    pr_free(c->table);
    *c = (struct collector){0};
}

/* ---- what a result says */

static bool is_plain_number(const char *s, size_t len)
{
    size_t i = len && *s == '-', digits = 0;

    for (; i < len && s[i] >= '0' && s[i] <= '9'; i++)
        digits++;
    if (i < len && s[i] == '.')
        for (i++; i < len && s[i] >= '0' && s[i] <= '9'; i++)
            digits++;
    return digits && i == len;
}

/* A number, also one in quotes. NaN: none. */
static double number_of(const struct pr_value *v)
{
    if (v && pr_is_number(v))
        return pr_number(v);
    if (v && v->kind == PR_STR && is_plain_number(v->s, v->len))
        return pr_decimal_read(v->s, v->len);
    return NAN;
}

static int64_t whole_at(const struct pr_value *map, const char *name)
{
    double f = number_of(pr_get(map, name));

    return f >= 1 && f < 1e15 ? (int64_t)f : 0;
}

static int64_t count_words(const char *s)
{
    int64_t n = 0;

    for (;;) {
        s += strspn(s, " \t,:");
        if (!*s)
            return n;
        n++;
        s += strcspn(s, " \t,:");
    }
}

/* exp.gpus as text; "" when there is none. */
static const char *gpus_of(const struct pr_value *params, char out[static 32])
{
    const struct pr_value *v = pr_get(params, "exp.gpus");

    if (v && v->kind == PR_STR)
        return v->s;
    out[0] = '\0';
    if (v && v->kind == PR_INT)
        snprintf(out, 32, "%lld", (long long)v->i);
    return out;
}

int64_t pr_scaling_devices(const struct pr_bench_row *row, struct pr_arena *a,
                           const char **ret_device)
{
    const struct pr_value *p = &row->params;
    int64_t nodes = whole_at(p, "exp.num_nodes"), n, gpus;
    const char *text;
    char number[32];

    nodes = nodes ? nodes : 1;
    text = gpus_of(p, number);
    n = count_words(text);
    gpus = whole_at(p, "exp.num_gpus");
    if (n) {
        n *= nodes;
        *ret_device =
            nodes > 1 ? pr_arena_printf(a, "%s x%lld", text, (long long)nodes)
                      : pr_arena_str(a, text);
        return n;
    }
    if (gpus) {
        *ret_device = pr_arena_printf(a, "%lld", (long long)gpus);
        return gpus;
    }
    n = whole_at(p, "results.accelerators");
    text = n ? "acc" : "cpu"; /* emulated ones */
    n = n ? n : whole_at(p, "results.replicas");
    n = n ? n : whole_at(p, "exp.num_replicas");
    if (!n)
        n = whole_at(p, "exp.num_local_replicas") * nodes;
    n = n ? n : nodes;
    *ret_device = n > 1 ? pr_arena_printf(a, "%s x%lld", text, (long long)n)
                        : pr_arena_str(a, text);
    return n;
}

/* What a run of ours did, not what it was asked for: the two differ in suites
 * and where training is emulated. 0: it does not say. */
static int64_t reported_batch(const struct pr_bench_row *row)
{
    const struct pr_value *p = &row->params;
    int64_t batch = whole_at(p, "results.batch");
    double samples;

    if (batch || !pr_bench_is_ours(row))
        return batch;
    samples =
        round(pr_bench_rate(row) * number_of(pr_get(p, "results.time")) / 1e3);
    return samples >= 1 && samples < 1e15 ? (int64_t)samples : 0;
}

int64_t pr_scaling_batch(const struct pr_bench_row *row, int64_t devices)
{
    const struct pr_value *p = &row->params;
    int64_t batch = reported_batch(row);
    int64_t replicas = whole_at(p, "exp.num_replicas");

    batch = batch ? batch : whole_at(p, "exp.effective_batch");
    if (batch)
        return batch;
    batch = whole_at(p, "exp.replica_batch");
    replicas = replicas ? replicas : devices;
    return batch && replicas < INT64_MAX / batch ? batch * replicas : 0;
}

static int net_of(struct collector *c, const struct pr_value *p, uint32_t *ret,
                  struct pr_err *err)
{
    static const char *const names[] = {"exp.model_title", "exp.model",
                                        "exp.name"};
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    const struct pr_value *v = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        v = pr_get(p, names[i]);
        if (v && !(v->kind == PR_STR && v->len == 0))
            break;
    }
    if (v && v->kind == PR_STR) {
        *ret = pr_names_add(c->nets, v->s, v->len);
    } else {
        if (v)
            pr_text(&text, v);
        else
            pr_buf_char(&text, '-');
        *ret = pr_names_add(c->nets, pr_buf_ok(&text) ? text.data : "-",
                            pr_buf_ok(&text) ? text.len : 1);
    }
    return *ret == PR_NO_NAME ? pr_fail_nomem(err) : PR_OK;
}

/* ---- points */

static uint64_t hash_point(const struct point *p)
{
    return pr_hash_mix((uint64_t)p->net << 32 | p->device) ^
           pr_hash_mix((uint64_t)p->batch + 0x9e3779b97f4a7c15u);
}

static bool same(const struct point *a, const struct point *b)
{
    return a->net == b->net && a->device == b->device && a->batch == b->batch;
}

static uint32_t *slot_of(const struct collector *c, const struct point *p)
{
    size_t i = pr_hash_mix(hash_point(p)) & c->mask;

    while (c->table[i] && !same(&c->points[c->table[i] - 1], p))
        i = (i + 1) & c->mask;
    return &c->table[i];
}

static int grow_table(struct collector *c, struct pr_err *err)
{
    size_t cap = c->cap ? c->cap * 2 : 256;
    struct point *points = pr_realloc(c->points, cap * sizeof *points);
    uint32_t *table;

    if (!points)
        return pr_fail_nomem(err);
    c->points = points;
    table = pr_alloc_zeroed(cap * 2 * sizeof *table);
    if (!table)
        return pr_fail_nomem(err);
    pr_free(c->table);
    c->table = table;
    c->mask = cap * 2 - 1;
    c->cap = cap;
    for (size_t i = 0; i < c->count; i++)
        *slot_of(c, &points[i]) = (uint32_t)i + 1;
    return PR_OK;
}

/* sum + rest + x, without loss (Knuth's two-sum). */
static void add_exactly(double *sum, double *rest, double x)
{
    double all = *sum + x, part = all - *sum;

    *rest += (*sum - (all - part)) + (x - part);
    *sum = all;
}

static int add_point(struct collector *c, const struct point *key,
                     struct pr_err *err)
{
    struct point *p;
    uint32_t *slot;

    if (c->count == c->cap) {
        int rc = grow_table(c, err);
        if (rc)
            return rc;
    }
    slot = slot_of(c, key);
    if (!*slot) {
        c->points[c->count] = *key;
        *slot = (uint32_t)++c->count;
        return PR_OK;
    }
    p = &c->points[*slot - 1];
    p->n += key->n;
    add_exactly(&p->sum, &p->sum_rest, key->sum);
    p->sum_rest += key->sum_rest;
    add_exactly(&p->squares, &p->squares_rest, key->squares);
    p->squares_rest += key->squares_rest;
    p->rated += key->rated;
    add_exactly(&p->rates, &p->rates_rest, key->rates);
    p->rates_rest += key->rates_rest;
    p->foreign = p->foreign && key->foreign;
    return PR_OK;
}

static int device_of(struct collector *c, const char *text, int64_t count,
                     uint32_t *ret, struct pr_err *err)
{
    uint32_t before = pr_names_count(c->devices);
    struct pr_scaling_column *columns;

    *ret = text ? pr_names_add(c->devices, text, strlen(text)) : PR_NO_NAME;
    if (*ret == PR_NO_NAME)
        return pr_fail_nomem(err);
    if (*ret < before)
        return PR_OK;
    columns = pr_arena_grow(c->arena, c->columns, before, &c->column_cap,
                            sizeof *columns);
    text = pr_arena_str(c->arena, text);
    if (!columns || !text)
        return pr_fail_nomem(err);
    c->columns = columns;
    columns[before] =
        (struct pr_scaling_column){.device = text, .count = count};
    return PR_OK;
}

/* Of a time of somebody else's that is not results.time it is not known
 * whether the throughput belongs to it. */
static void take_rate(struct collector *c, const struct pr_bench_row *row,
                      const char *target, struct point *p)
{
    double rate = pr_bench_rate(row);

    p->foreign = !pr_bench_is_ours(row);
    if (isfinite(rate) && rate > 0 &&
        (!p->foreign || strcmp(target, "results.time") == 0)) {
        p->rated = 1;
        p->rates = rate;
    }
    c->unrated += !p->rated && !p->foreign;
}

static int add_row(struct collector *c, const struct pr_bench_row *row,
                   const char *target, struct pr_err *err)
{
    double time = number_of(pr_get(&row->params, target));
    struct point p = {.n = 1, .sum = time, .squares = time * time};
    const char *device;
    int64_t count;
    int rc;

    pr_arena_reset(c->scratch);
    count = pr_scaling_devices(row, c->scratch, &device);
    p.batch = pr_scaling_batch(row, count);
    if (!p.batch || !isfinite(time) || time <= 0) {
        c->unusable++;
        return PR_OK;
    }
    /* What a square loses is its rest. */
    p.squares_rest = fma(time, time, -p.squares);
    take_rate(c, row, target, &p);
    rc = device_of(c, device, count, &p.device, err);
    if (!rc)
        rc = net_of(c, &row->params, &p.net, err);
    return rc ? rc : add_point(c, &p, err);
}

int pr_scaling_each(void *ctx, unsigned thread, const struct pr_bench_row *row,
                    struct pr_err *err)
{
    struct pr_scaling_gather *g = ctx;
    struct collector *c = &g->collectors[thread];
    int rc;

    if (!pr_get(&row->params, g->opts->target)) {
        c->without++;
        return PR_OK;
    }
    rc = pr_bench_match(row, g->opts->filters, g->opts->filter_count, err);
    if (rc != 1)
        return rc;
    if (!c->arena)
        rc = collector_init(c, err);
    else
        rc = PR_OK;
    return rc ? rc : add_row(c, row, g->opts->target, err);
}

/* ---- order */

struct ranked {
    const char *text;
    int64_t count;
    uint32_t number;
};

static int by_device(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    size_t la = strlen(a->text), lb = strlen(b->text);

    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    if (la != lb)
        return la < lb ? -1 : 1;
    return strcmp(a->text, b->text);
}

static int by_text(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;

    return strcmp(a->text, b->text);
}

static int by_point(const void *x, const void *y)
{
    const struct pr_scaling_point *a = x, *b = y;

    if (a->net != b->net)
        return a->net < b->net ? -1 : 1;
    if (a->batch != b->batch)
        return a->batch < b->batch ? -1 : 1;
    return a->device < b->device ? -1 : a->device > b->device;
}

/* Sorted, with the place that each number has now. */
static struct ranked *rank(struct pr_arena *a, const struct pr_names *names,
                           const struct pr_scaling_column *columns,
                           uint32_t **ret_place)
{
    uint32_t n = pr_names_count(names);
    struct ranked *list = PR_ARENA_ARRAY(a, struct ranked, n);
    uint32_t *place = PR_ARENA_ARRAY(a, uint32_t, n);

    if (!list || !place)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        list[i].text = pr_arena_str(a, pr_names_text(names, i));
        list[i].count = columns ? columns[i].count : 0;
        list[i].number = i;
        if (!list[i].text)
            return NULL;
    }
    if (n)
        qsort(list, n, sizeof *list, columns ? by_device : by_text);
    for (uint32_t i = 0; i < n; i++)
        place[list[i].number] = i;
    *ret_place = place;
    return list;
}

/* What was reported. Only a log of DLBS's that has times alone is rated by its
 * batch, as DLBS documents it. */
static double rate_of(const struct point *p, double mean)
{
    if (p->rated)
        return (p->rates + p->rates_rest) / (double)p->rated;
    return p->foreign ? (double)p->batch * (1000.0 / mean) : (double)NAN;
}

static struct pr_scaling_point summed(const struct point *p)
{
    double n = (double)p->n, mean = (p->sum + p->sum_rest) / n;
    double rest = p->sum_rest + fma(-mean, n, p->sum);
    /* The sum of squares about the mean; both are large and alike. */
    double lost = fma(mean, p->sum, -(mean * p->sum));
    double m2 = (p->squares - mean * p->sum) - lost + p->squares_rest -
                mean * p->sum_rest - mean * rest;

    return (struct pr_scaling_point){
        .net = p->net,
        .device = p->device,
        .batch = p->batch,
        .n = p->n,
        .mean = mean,
        .m2 = p->n > 1 && m2 > 0 ? m2 : 0,
        .rate = rate_of(p, mean),
    };
}

static int put_in_order(struct collector *c, struct pr_arena *a,
                        struct pr_scaling_points *p, struct pr_err *err)
{
    uint32_t *net_place, *device_place;
    struct ranked *nets = rank(a, c->nets, NULL, &net_place);
    struct ranked *devices = rank(a, c->devices, c->columns, &device_place);
    uint32_t net_count = pr_names_count(c->nets);
    uint32_t device_count = pr_names_count(c->devices);
    const char **texts = PR_ARENA_ARRAY(a, const char *, net_count);
    struct pr_scaling_column *columns =
        PR_ARENA_ARRAY(a, struct pr_scaling_column, device_count);

    p->list = PR_ARENA_ARRAY(a, struct pr_scaling_point, c->count);
    if (!nets || !devices || !texts || !columns || !p->list)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < net_count; i++)
        texts[i] = nets[i].text;
    for (uint32_t i = 0; i < device_count; i++)
        columns[i] = (struct pr_scaling_column){.device = devices[i].text,
                                                .count = devices[i].count};
    for (size_t i = 0; i < c->count; i++) {
        p->list[i] = summed(&c->points[i]);
        p->list[i].net = net_place[c->points[i].net];
        p->list[i].device = device_place[c->points[i].device];
    }
    if (c->count)
        qsort(p->list, c->count, sizeof *p->list, by_point);
    p->nets = texts;
    p->net_count = net_count;
    p->devices = columns;
    p->device_count = device_count;
    p->count = c->count;
    return PR_OK;
}

/* ---- all threads together */

static int merge(struct collector *to, const struct collector *from,
                 struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < from->count; i++) {
        struct point p = from->points[i];
        const struct pr_scaling_column *column = &from->columns[p.device];
        const char *net = pr_names_text(from->nets, p.net);

        p.net = pr_names_add(to->nets, net, strlen(net));
        rc = p.net == PR_NO_NAME
                 ? pr_fail_nomem(err)
                 : device_of(to, column->device, column->count, &p.device, err);
        if (!rc)
            rc = add_point(to, &p, err);
    }
    return rc;
}

struct pr_scaling_gather *
pr_scaling_gather_new(const struct pr_scaling_opts *opts)
{
    struct pr_scaling_gather *g = pr_alloc_zeroed(sizeof *g);

    if (g)
        g->opts = opts;
    return g;
}

void pr_scaling_restart(void *ctx)
{
    struct pr_scaling_gather *g = ctx;

    for (unsigned i = 0; i < PR_BENCH_MAX_THREADS; i++)
        collector_done(&g->collectors[i]);
}

void pr_scaling_gather_free(struct pr_scaling_gather *g)
{
    if (g)
        pr_scaling_restart(g);
    pr_free(g);
}

int pr_scaling_gathered(struct pr_scaling_gather *g, struct pr_arena *a,
                        struct pr_scaling_points *points, struct pr_scaling *s,
                        struct pr_err *err)
{
    struct collector *first = &g->collectors[0];
    int rc = first->arena ? PR_OK : collector_init(first, err);

    for (unsigned i = 0; !rc && i < PR_BENCH_MAX_THREADS; i++) {
        s->without += g->collectors[i].without;
        s->unusable += g->collectors[i].unusable;
        s->unrated += g->collectors[i].unrated;
        if (i)
            rc = merge(first, &g->collectors[i], err);
    }
    return rc ? rc : put_in_order(first, a, points, err);
}

double pr_scaling_half_width(struct pr_scaling_t *last, uint64_t n, double m2)
{
    unsigned freedom;

    if (n < 2)
        return 0;
    freedom = n - 1 > 1000000 ? 1000000 : (unsigned)(n - 1);
    if (last->n != n)
        *last = (struct pr_scaling_t){n, pr_student_t(0.025, freedom)};
    return last->t * sqrt(m2 / (double)(n - 1) / (double)n);
}
