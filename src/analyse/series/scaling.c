/*
 * Results to points, and points to the tables of DLBS's summary builder, with
 * its formulas.
 *
 * A point is which network, on what, with which batch, and how long. Names
 * become numbers, points are found by hashing, so that a hundred thousand
 * results take one pass, in each thread that reads them. Sums are kept to
 * twice the digits, so that they do not depend on who was first.
 */
#include "analyse/series/scaling.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/number.h"
#include "base/stats/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is looked at, and after these the target where it is none of them. */
enum field {
    MODEL_TITLE,
    MODEL,
    NAME,
    GPUS,
    NUM_GPUS,
    NUM_NODES,
    NUM_REPLICAS,
    REPLICA_BATCH,
    EFFECTIVE_BATCH,
    LOCAL_REPLICAS,
    THROUGHPUT,
    SAMPLES_PER_SECOND,
    TIME,
    BATCH,
    REPLICAS,
    ACCELERATORS,
    EXIT_STATUS,
    ELAPSED,
    TARGET,
    FIELDS
};

const char *const pr_scaling_names[] = {
    [MODEL_TITLE] = "exp.model_title",
    [MODEL] = "exp.model",
    [NAME] = "exp.name",
    [GPUS] = "exp.gpus",
    [NUM_GPUS] = "exp.num_gpus",
    [NUM_NODES] = "exp.num_nodes",
    [NUM_REPLICAS] = "exp.num_replicas",
    [REPLICA_BATCH] = "exp.replica_batch",
    [EFFECTIVE_BATCH] = "exp.effective_batch",
    [LOCAL_REPLICAS] = "exp.num_local_replicas",
    [THROUGHPUT] = "results.throughput",
    [SAMPLES_PER_SECOND] = "results.samples_per_second",
    [TIME] = "results.time",
    [BATCH] = "results.batch",
    [REPLICAS] = "results.replicas",
    [ACCELERATORS] = "results.accelerators",
    [EXIT_STATUS] = "results.exit_status",
    [ELAPSED] = "results.elapsed_s",
    NULL,
};

/* What a result says of each; NULL: nothing. */
struct said {
    const struct pr_value *of[FIELDS];
};

enum { PLACES = 32 };

/* A point, with the sums of its times and their squares, and of the rates that
 * were reported. */
struct point {
    uint32_t net, device;
    int64_t batch;
    uint64_t n, rated;
    double sum, sum_rest, squares, squares_rest, rates, rates_rest;
    bool foreign; /* no run of ours is among them */
};

/* A point is looked at only where its hash says so: it is not in the cache. */
struct slot {
    uint32_t hash, number; /* of the point + 1; 0: free */
};

struct collector {
    struct pr_arena *arena, *scratch;
    struct pr_names *nets, *devices;
    struct pr_scaling_column *columns; /* by number of the device */
    size_t column_cap;
    struct point *points;
    size_t count, cap;
    struct slot *table;
    size_t mask;
    struct {
        const char *key;
        enum field field;
    } places[PLACES]; /* of members in the result before */
    uint64_t without, unusable, unrated;
};

struct pr_scaling_gather {
    const struct pr_scaling_opts *opts;
    enum field target;
    struct collector collectors[PR_RESULTS_MAX_THREADS];
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

static enum field field_of(const struct pr_member *m, const char *target)
{
    enum field f = MODEL_TITLE;

    for (; f < TARGET; f++)
        if (strcmp(pr_scaling_names[f], m->key) == 0)
            break;
    if (f == TARGET && strcmp(target, m->key) != 0)
        f = FIELDS;
    return strlen(m->key) == m->key_len ? f : FIELDS;
}

/* Results of a reader have the same names at the same addresses, mostly in the
 * same places. */
static void collect_params(struct collector *c, const struct pr_value *params,
                           const char *target, struct said *ret)
{
    *ret = (struct said){0};
    for (uint32_t i = 0; i < params->len; i++) {
        const struct pr_member *m = &params->members[i];
        enum field f;

        if (i < PLACES && c->places[i].key == m->key) {
            f = c->places[i].field;
        } else {
            f = field_of(m, target);
            if (i < PLACES) {
                c->places[i].key = m->key;
                c->places[i].field = f;
            }
        }
        if (f < FIELDS)
            ret->of[f] = &m->value;
    }
}

/* One result alone. */
static struct said read_result_params(const struct pr_results_row *row)
{
    struct said s = {0};

    for (enum field f = MODEL_TITLE; f < TARGET; f++)
        s.of[f] = pr_get(&row->params, pr_scaling_names[f]);
    return s;
}

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
static double scaling_get_number(const struct pr_value *v)
{
    if (v && pr_value_is_number(v))
        return pr_value_number(v);
    if (v && v->kind == PR_STR && is_plain_number(v->s, v->len))
        return pr_decimal_read(v->s, v->len);
    return NAN;
}

static int64_t get_whole_number(const struct said *s, enum field field)
{
    double f = scaling_get_number(s->of[field]);

    return f >= 1 && f < 1e15 ? (int64_t)f : 0;
}

static int64_t count_words(const char *s)
{
    int64_t n = 0;
    bool inside = false;

    for (; *s; s++) {
        bool word = *s != ' ' && *s != '\t' && *s != ',' && *s != ':';

        n += word && !inside;
        inside = word;
    }
    return n;
}

/* exp.gpus as text; "" when there is none. */
static const char *get_gpus_text(const struct said *s, char out[static 32])
{
    const struct pr_value *v = s->of[GPUS];

    if (v && v->kind == PR_STR)
        return v->s;
    out[0] = '\0';
    if (v && v->kind == PR_INT)
        snprintf(out, 32, "%lld", (long long)v->i);
    return out;
}

static const char *multiply_device_text(struct pr_arena *a, const char *text,
                                        int64_t n)
{
    return n > 1 ? pr_arena_printf(a, "%s x%lld", text, (long long)n)
                 : pr_arena_str(a, text);
}

static int64_t devices_of(const struct said *s, struct pr_arena *a,
                          const char **ret_device)
{
    int64_t nodes = get_whole_number(s, NUM_NODES), n, gpus;
    const char *text;
    char number[32];

    nodes = nodes ? nodes : 1;
    text = get_gpus_text(s, number);
    n = count_words(text);
    if (n) {
        *ret_device = multiply_device_text(a, text, nodes);
        return n * nodes;
    }
    gpus = get_whole_number(s, NUM_GPUS);
    if (gpus) {
        *ret_device = pr_arena_printf(a, "%lld", (long long)gpus);
        return gpus;
    }
    n = get_whole_number(s, ACCELERATORS);
    text = n ? "acc" : "cpu"; /* emulated ones */
    n = n ? n : get_whole_number(s, REPLICAS);
    n = n ? n : get_whole_number(s, NUM_REPLICAS);
    if (!n)
        n = get_whole_number(s, LOCAL_REPLICAS) * nodes;
    n = n ? n : nodes;
    *ret_device = multiply_device_text(a, text, n);
    return n;
}

int64_t pr_scaling_row_devices(const struct pr_results_row *row,
                               struct pr_arena *a, const char **ret_device)
{
    struct said s = read_result_params(row);

    return devices_of(&s, a, ret_device);
}

static bool is_ours(const struct said *s)
{
    return s->of[EXIT_STATUS] || s->of[ELAPSED];
}

static double rate_said(const struct said *s)
{
    for (enum field f = THROUGHPUT; f <= SAMPLES_PER_SECOND; f++)
        if (s->of[f] && pr_value_is_number(s->of[f]))
            return pr_value_number(s->of[f]);
    return (double)NAN;
}

/* What a run of ours did, not what it was asked for: the two differ in suites
 * and where training is emulated. 0: it does not say. */
static int64_t reported_batch(const struct said *s)
{
    int64_t batch = get_whole_number(s, BATCH);
    double samples;

    if (batch || !is_ours(s))
        return batch;
    samples = round(rate_said(s) * scaling_get_number(s->of[TIME]) / 1e3);
    return samples >= 1 && samples < 1e15 ? (int64_t)samples : 0;
}

static int64_t batch_of(const struct said *s, int64_t devices)
{
    int64_t batch = reported_batch(s), replicas;

    batch = batch ? batch : get_whole_number(s, EFFECTIVE_BATCH);
    if (batch)
        return batch;
    batch = get_whole_number(s, REPLICA_BATCH);
    replicas = get_whole_number(s, NUM_REPLICAS);
    replicas = replicas ? replicas : devices;
    return batch && replicas < INT64_MAX / batch ? batch * replicas : 0;
}

int64_t pr_scaling_row_batch(const struct pr_results_row *row, int64_t devices)
{
    struct said s = read_result_params(row);

    return batch_of(&s, devices);
}

static int scaling_add_net(struct collector *c, const struct said *s,
                           uint32_t *ret, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    const struct pr_value *v = NULL;

    for (enum field f = MODEL_TITLE; f <= NAME; f++) {
        v = s->of[f];
        if (v && !(v->kind == PR_STR && v->len == 0))
            break;
    }
    if (v && v->kind == PR_STR) {
        *ret = pr_names_add(c->nets, v->s, v->len);
    } else {
        if (v)
            pr_value_write_text(&text, v);
        else
            pr_buf_char(&text, '-');
        *ret = pr_names_add(c->nets, pr_buf_ok(&text) ? text.data : "-",
                            pr_buf_ok(&text) ? text.len : 1);
    }
    return *ret == PR_NO_NAME ? pr_fail_nomem(err) : PR_OK;
}

/* ---- points */

static uint32_t hash_point(const struct point *p)
{
    return (uint32_t)pr_hash_mix(((uint64_t)p->net << 32 | p->device) ^
                                 (uint64_t)p->batch * 0x9e3779b97f4a7c15u);
}

static bool is_same_point(const struct point *a, const struct point *b)
{
    return a->net == b->net && a->device == b->device && a->batch == b->batch;
}

static struct slot *find_point_slot(const struct collector *c, uint32_t hash,
                                    const struct point *p)
{
    size_t i = hash & c->mask;

    while (c->table[i].number &&
           (c->table[i].hash != hash ||
            !is_same_point(&c->points[c->table[i].number - 1], p)))
        i = (i + 1) & c->mask;
    return &c->table[i];
}

static int grow_table(struct collector *c, struct pr_err *err)
{
    size_t cap = c->cap ? c->cap * 2 : 256;
    struct point *points = pr_realloc(c->points, cap * sizeof *points);
    struct slot *table;

    if (!points)
        return pr_fail_nomem(err);
    c->points = points;
    table = pr_alloc_zeroed(cap * 2 * sizeof *table);
    if (!table)
        return pr_fail_nomem(err);
    for (size_t i = 0; c->cap && i <= c->mask; i++) {
        size_t k = c->table[i].hash & (cap * 2 - 1);

        if (!c->table[i].number)
            continue;
        while (table[k].number)
            k = (k + 1) & (cap * 2 - 1);
        table[k] = c->table[i];
    }
    pr_free(c->table);
    c->table = table;
    c->mask = cap * 2 - 1;
    c->cap = cap;
    return PR_OK;
}

/* sum + rest + x, without loss (Knuth's two-sum). */
static void add_exactly(double *sum, double *rest, double x)
{
    double all = *sum + x, part = all - *sum;

    *rest += (*sum - (all - part)) + (x - part);
    *sum = all;
}

static void point_add(struct point *p, const struct point *other)
{
    p->n += other->n;
    add_exactly(&p->sum, &p->sum_rest, other->sum);
    p->sum_rest += other->sum_rest;
    add_exactly(&p->squares, &p->squares_rest, other->squares);
    p->squares_rest += other->squares_rest;
    p->rated += other->rated;
    add_exactly(&p->rates, &p->rates_rest, other->rates);
    p->rates_rest += other->rates_rest;
    p->foreign = p->foreign && other->foreign;
}

static int scaling_add_point(struct collector *c, const struct point *key,
                             struct pr_err *err)
{
    uint32_t hash = hash_point(key);
    struct slot *slot;

    if (c->count == c->cap) {
        int rc = grow_table(c, err);
        if (rc)
            return rc;
    }
    slot = find_point_slot(c, hash, key);
    if (!slot->number) {
        c->points[c->count] = *key;
        *slot = (struct slot){hash, (uint32_t)++c->count};
        return PR_OK;
    }
    point_add(&c->points[slot->number - 1], key);
    return PR_OK;
}

static int scaling_add_device(struct collector *c, const char *text,
                              int64_t count, uint32_t *ret, struct pr_err *err)
{
    uint32_t before = pr_names_count(c->devices);
    struct pr_scaling_column *columns;

    *ret = text ? pr_names_add(c->devices, text, strlen(text)) : PR_NO_NAME;
    if (*ret == PR_NO_NAME)
        return pr_fail_nomem(err);
    if (*ret < before) {
        /* One text for two counts: not whoever comes first, which is by chance
         * where threads read. */
        if (count < c->columns[*ret].count)
            c->columns[*ret].count = count;
        return PR_OK;
    }
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
static void scaling_set_rate(struct collector *c, const struct said *s,
                             enum field target, struct point *p)
{
    double rate = rate_said(s);

    p->foreign = !is_ours(s);
    if (isfinite(rate) && rate > 0 && (!p->foreign || target == TIME)) {
        p->rated = 1;
        p->rates = rate;
    }
    c->unrated += !p->rated && !p->foreign;
}

static int scaling_add_row(struct collector *c, const struct said *s,
                           enum field target, struct pr_err *err)
{
    double time = scaling_get_number(s->of[target]);
    struct point p = {.n = 1, .sum = time, .squares = time * time};
    const char *device;
    int64_t count;
    int rc;

    pr_arena_reset(c->scratch);
    count = devices_of(s, c->scratch, &device);
    p.batch = batch_of(s, count);
    if (!p.batch || !isfinite(time) || time <= 0) {
        c->unusable++;
        return PR_OK;
    }
    /* What a square loses is its rest. */
    p.squares_rest = fma(time, time, -p.squares);
    scaling_set_rate(c, s, target, &p);
    rc = scaling_add_device(c, device, count, &p.device, err);
    if (!rc)
        rc = scaling_add_net(c, s, &p.net, err);
    return rc ? rc : scaling_add_point(c, &p, err);
}

static int scaling_gather_row(void *ctx, unsigned thread,
                              const struct pr_results_row *row,
                              struct pr_err *err)
{
    struct pr_scaling_gather *g = ctx;
    struct collector *c = &g->collectors[thread];
    struct said s;
    int rc;

    collect_params(c, &row->params, g->opts->target, &s);
    if (!s.of[g->target]) {
        c->without++;
        return PR_OK;
    }
    rc =
        pr_results_match_row(row, g->opts->filters, g->opts->filter_count, err);
    if (rc != 1)
        return rc;
    if (!c->arena)
        rc = collector_init(c, err);
    else
        rc = PR_OK;
    return rc ? rc : scaling_add_row(c, &s, g->target, err);
}

/* ---- order */

struct ranked {
    const char *text;
    int64_t count;
    uint32_t number;
};

static int by_ranked_device(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    size_t la = strlen(a->text), lb = strlen(b->text);

    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    if (la != lb)
        return la < lb ? -1 : 1;
    return strcmp(a->text, b->text);
}

static int by_ranked_text(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;

    return strcmp(a->text, b->text);
}

/* Of one net. */
static int by_point(const void *x, const void *y)
{
    const struct point *a = *(struct point *const *)x;
    const struct point *b = *(struct point *const *)y;

    if (a->batch != b->batch)
        return a->batch < b->batch ? -1 : 1;
    return a->device < b->device ? -1 : a->device > b->device;
}

/* Sorted, with the place that each number has now. */
static struct ranked *
scaling_rank_names(struct pr_arena *a, const struct pr_names *names,
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
        qsort(list, n, sizeof *list,
              columns ? by_ranked_device : by_ranked_text);
    for (uint32_t i = 0; i < n; i++)
        place[list[i].number] = i;
    *ret_place = place;
    return list;
}

/* What was reported. Only a log of DLBS's that has times alone is rated by its
 * batch, as DLBS documents it. */
static double get_point_rate(const struct point *p, double mean)
{
    if (p->rated)
        return (p->rates + p->rates_rest) / (double)p->rated;
    return p->foreign ? (double)p->batch * (1000.0 / mean) : (double)NAN;
}

static struct pr_scaling_point sum_point(const struct point *p)
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
        .rate = get_point_rate(p, mean),
    };
}

/* The points of all threads. Those of a net stand together before they are
 * sorted: many small lists take less than a large one. */
static int sort_points(struct pr_scaling_gather *g, struct pr_arena *a,
                       struct pr_scaling_points *p, struct pr_err *err)
{
    size_t *ends = PR_ARENA_ARRAY(a, size_t, p->net_count + 1), n = 0, from = 0;
    struct point **sorted;

    for (unsigned i = 0; i < PR_RESULTS_MAX_THREADS; i++)
        n += g->collectors[i].count;
    sorted = PR_ARENA_ARRAY(a, struct point *, n);
    p->list = PR_ARENA_ARRAY(a, struct pr_scaling_point, n);
    if (!ends || !sorted || !p->list)
        return pr_fail_nomem(err);
    for (unsigned i = 0; i < PR_RESULTS_MAX_THREADS; i++)
        for (size_t k = 0; k < g->collectors[i].count; k++)
            ends[g->collectors[i].points[k].net + 1]++;
    for (size_t i = 0; i < p->net_count; i++)
        ends[i + 1] += ends[i];
    for (unsigned i = 0; i < PR_RESULTS_MAX_THREADS; i++)
        for (size_t k = 0; k < g->collectors[i].count; k++) {
            struct point *point = &g->collectors[i].points[k];

            sorted[ends[point->net]++] = point;
        }
    for (size_t i = 0; i < p->net_count; from = ends[i++])
        if (ends[i] > from + 1)
            qsort(sorted + from, ends[i] - from, sizeof *sorted, by_point);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && is_same_point(sorted[i], sorted[k]); k++)
            point_add(sorted[i], sorted[k]);
        p->list[p->count++] = sum_point(sorted[i]);
    }
    return PR_OK;
}

/* Numbers of names to places in the report. */
static void place_points(struct collector *c, const uint32_t *nets,
                         const uint32_t *devices)
{
    for (size_t i = 0; i < c->count; i++) {
        c->points[i].net = nets[c->points[i].net];
        c->points[i].device = devices[c->points[i].device];
    }
}

static int scaling_sort_points(struct pr_scaling_gather *g, struct pr_arena *a,
                               struct pr_scaling_points *p, struct pr_err *err)
{
    struct collector *c = &g->collectors[0];
    uint32_t *net_place, *device_place;
    struct ranked *nets = scaling_rank_names(a, c->nets, NULL, &net_place);
    struct ranked *devices =
        scaling_rank_names(a, c->devices, c->columns, &device_place);
    uint32_t net_count = pr_names_count(c->nets);
    uint32_t device_count = pr_names_count(c->devices);
    const char **texts = PR_ARENA_ARRAY(a, const char *, net_count);
    struct pr_scaling_column *columns =
        PR_ARENA_ARRAY(a, struct pr_scaling_column, device_count);

    if (!nets || !devices || !texts || !columns)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < net_count; i++)
        texts[i] = nets[i].text;
    for (uint32_t i = 0; i < device_count; i++)
        columns[i] = (struct pr_scaling_column){.device = devices[i].text,
                                                .count = devices[i].count};
    p->nets = texts;
    p->net_count = net_count;
    p->devices = columns;
    p->device_count = device_count;
    for (unsigned i = 0; i < PR_RESULTS_MAX_THREADS; i++)
        place_points(&g->collectors[i], net_place, device_place);
    return sort_points(g, a, p, err);
}

/* ---- all threads together */

/* Points of a thread get the numbers that names have in the first one. */
static int collector_merge(struct collector *to, struct collector *from,
                           struct pr_err *err)
{
    uint32_t net_count = from->count ? pr_names_count(from->nets) : 0;
    uint32_t device_count = from->count ? pr_names_count(from->devices) : 0;
    uint32_t *nets = PR_ARENA_ARRAY(to->arena, uint32_t, net_count);
    uint32_t *devices = PR_ARENA_ARRAY(to->arena, uint32_t, device_count);
    int rc = nets && devices ? PR_OK : pr_fail_nomem(err);

    for (uint32_t i = 0; !rc && i < net_count; i++) {
        const char *text = pr_names_text(from->nets, i);

        nets[i] = pr_names_add(to->nets, text, strlen(text));
        rc = nets[i] == PR_NO_NAME ? pr_fail_nomem(err) : PR_OK;
    }
    for (uint32_t i = 0; !rc && i < device_count; i++)
        rc = scaling_add_device(to, from->columns[i].device,
                                from->columns[i].count, &devices[i], err);
    if (!rc)
        place_points(from, nets, devices);
    return rc;
}

/* NULL: no memory */
static struct pr_scaling_gather *
scaling_gather_new(const struct pr_scaling_opts *opts)
{
    struct pr_scaling_gather *g = pr_alloc_zeroed(sizeof *g);

    if (!g)
        return NULL;
    g->opts = opts;
    while (g->target < TARGET &&
           strcmp(pr_scaling_names[g->target], opts->target) != 0)
        g->target++;
    return g;
}

static void scaling_gather_restart(void *ctx)
{
    struct pr_scaling_gather *g = ctx;

    for (unsigned i = 0; i < PR_RESULTS_MAX_THREADS; i++)
        collector_done(&g->collectors[i]);
}

/* NULL is fine */
static void scaling_gather_free(struct pr_scaling_gather *g)
{
    if (g)
        scaling_gather_restart(g);
    pr_free(g);
}

static int scaling_gather_finish(struct pr_scaling_gather *g,
                                 struct pr_arena *a,
                                 struct pr_scaling_points *points,
                                 struct pr_scaling *s, struct pr_err *err)
{
    struct collector *first = &g->collectors[0];
    int rc = first->arena ? PR_OK : collector_init(first, err);

    for (unsigned i = 0; !rc && i < PR_RESULTS_MAX_THREADS; i++) {
        s->without += g->collectors[i].without;
        s->unusable += g->collectors[i].unusable;
        s->unrated += g->collectors[i].unrated;
        if (i)
            rc = collector_merge(first, &g->collectors[i], err);
    }
    return rc ? rc : scaling_sort_points(g, a, points, err);
}

double pr_scaling_half_width(struct pr_scaling_student_t *last, uint64_t n,
                             double m2)
{
    unsigned freedom;

    if (n < 2)
        return 0;
    freedom = n - 1 > 1000000 ? 1000000 : (unsigned)(n - 1);
    if (last->n != n)
        *last = (struct pr_scaling_student_t){n, pr_student_t(0.025, freedom)};
    return last->t * sqrt(m2 / (double)(n - 1) / (double)n);
}

/* ---- the tables */

/* Cells of a report; beyond this nobody reads it, and memory ends. */
enum { MAX_CELLS = 20000000 };

static const char *const words[] = {
    [PR_SCALING_WEAK] = "weak-scaling",
    [PR_SCALING_STRONG] = "strong-scaling",
    [PR_SCALING_EXPLORATION] = "exploration",
};

bool pr_scaling_find_type(const char *word, enum pr_scaling_type *ret)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0) {
            *ret = (enum pr_scaling_type)i;
            return true;
        }
    return false;
}

struct builder {
    const struct pr_scaling_points *points;
    struct pr_scaling *s;
    struct pr_arena *arena;
    struct pr_scaling_row *rows;
    size_t cap;
    struct pr_scaling_student_t last;
};

/* From a place before it on: it is near. */
static const struct pr_scaling_point *
scaling_find_point(const struct pr_scaling_points *p, size_t from,
                   int64_t batch, uint32_t device)
{
    const struct pr_scaling_point *q = &p->list[from],
                                  *end = p->list + p->count;
    uint32_t net = q->net;
    size_t low = from, step = 1;

    for (size_t high = p->count; low < high;) {
        size_t mid = low + (step < (high - low) / 2 ? step : (high - low) / 2);

        q = &p->list[mid];
        if (q->net != net       ? q->net < net
            : q->batch != batch ? q->batch < batch
                                : q->device < device) {
            low = mid + 1;
            step *= 2;
        } else {
            high = mid;
        }
    }
    q = &p->list[low];
    return q < end && q->net == net && q->batch == batch && q->device == device
               ? q
               : NULL;
}

static void scaling_fill_cell(struct builder *b,
                              const struct pr_scaling_point *p,
                              struct pr_scaling_cell *c)
{
    *c = (struct pr_scaling_cell){
        .n = p->n,
        .time = p->mean,
        .time_ci = pr_scaling_half_width(&b->last, p->n, p->m2),
        .rate = p->rate,
    };
    b->s->repeats |= p->n > 1;
}

/* A row with room for its cells; NULL: no memory, or too many. */
static struct pr_scaling_row *new_row(struct builder *b, uint32_t net,
                                      int64_t batch,
                                      struct pr_scaling_cell **ret_cells,
                                      struct pr_err *err)
{
    struct pr_scaling *s = b->s;
    struct pr_scaling_row *rows;

    if ((s->row_count + 1) * s->column_count > MAX_CELLS) {
        pr_fail(err, PR_E_CONF, "", "the report would have more than %d cells",
                MAX_CELLS);
        pr_hint(err, "--query picks what belongs together");
        return NULL;
    }
    rows =
        pr_arena_grow(b->arena, b->rows, s->row_count, &b->cap, sizeof *rows);
    *ret_cells =
        PR_ARENA_ARRAY(b->arena, struct pr_scaling_cell, s->column_count);
    if (!rows || !*ret_cells) {
        pr_fail_nomem(err);
        return NULL;
    }
    b->rows = rows;
    rows = &rows[s->row_count++];
    *rows = (struct pr_scaling_row){
        .net = b->points->nets[net], .batch = batch, .cells = *ret_cells};
    return rows;
}

static double get_relative_ci(const struct pr_scaling_cell *c)
{
    return c->time_ci / c->time;
}

/* DLBS compares whole samples a second. Where that is none at all, it divided
 * by zero; the rates themselves are compared then. */
static double compute_speedup(double base, double rate)
{
    return trunc(base) > 0 ? trunc(rate) / trunc(base) : rate / base;
}

static void compare_to_base(struct builder *b, struct pr_scaling_cell *cells)
{
    const struct pr_scaling_column *columns = b->s->columns;
    struct pr_scaling_cell *base = NULL;
    int64_t least = columns[0].count;

    for (size_t i = 0; !base && i < b->s->column_count; i++)
        if (columns[i].count == least && cells[i].n)
            base = &cells[i];
    if (!base)
        return;
    base->base = true;
    for (size_t i = 0; i < b->s->column_count; i++) {
        struct pr_scaling_cell *c = &cells[i];
        double share = b->s->type == PR_SCALING_STRONG
                           ? (double)columns[i].count / (double)least
                           : 1;

        if (!c->n)
            continue;
        c->rated = true;
        c->speedup = compute_speedup(base->rate, c->rate);
        c->efficiency =
            c == base ? 100
                      : trunc(10000.0 * base->time / (share * c->time)) / 100.0;
        if (c != base)
            c->efficiency_ci = c->efficiency *
                               hypot(get_relative_ci(base), get_relative_ci(c));
    }
}

/* ---- by devices */

static int add_strong(struct builder *b, size_t *at, struct pr_err *err)
{
    const struct pr_scaling_point *p = &b->points->list[*at];
    struct pr_scaling_cell *cells;

    if (!new_row(b, p->net, p->batch, &cells, err))
        return err ? err->code : PR_E_NOMEM;
    for (uint32_t net = p->net; *at < b->points->count; ++*at, p++) {
        if (p->net != net || p->batch != b->rows[b->s->row_count - 1].batch)
            break;
        scaling_fill_cell(b, p, &cells[p->device]);
    }
    compare_to_base(b, cells);
    return PR_OK;
}

/* A point of the fewest devices begins a row; more devices have more. */
static int add_weak(struct builder *b, size_t *at, struct pr_err *err)
{
    size_t from = (*at)++;
    const struct pr_scaling_point *p = &b->points->list[from];
    const struct pr_scaling_column *columns = b->s->columns;
    int64_t least = columns[0].count, batch = p->batch / least;
    struct pr_scaling_row *last =
        b->s->row_count ? &b->rows[b->s->row_count - 1] : NULL;
    struct pr_scaling_cell *cells;

    if (columns[p->device].count != least || p->batch % least)
        return PR_OK;
    if (last && last->net == b->points->nets[p->net] && last->batch == batch)
        return PR_OK; /* another device of the same number */
    if (!new_row(b, p->net, batch, &cells, err))
        return err ? err->code : PR_E_NOMEM;
    for (size_t i = 0; i < b->s->column_count; i++) {
        const struct pr_scaling_point *q =
            columns[i].count < INT64_MAX / batch
                ? scaling_find_point(b->points, from, batch * columns[i].count,
                                     (uint32_t)i)
                : NULL;
        if (q)
            scaling_fill_cell(b, q, &cells[i]);
    }
    compare_to_base(b, cells);
    return PR_OK;
}

static int tabulate_by_devices(struct builder *b, struct pr_err *err)
{
    int rc = PR_OK;

    b->s->columns = b->points->devices;
    b->s->column_count = b->points->device_count;
    for (size_t i = 0; !rc && i < b->points->count;)
        rc = b->s->type == PR_SCALING_WEAK ? add_weak(b, &i, err)
                                           : add_strong(b, &i, err);
    return rc;
}

/* ---- by batches */

static int by_batch_number(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return (a > b) - (a < b);
}

static int list_batches(struct builder *b, struct pr_err *err)
{
    size_t n = b->points->count, kept = 0;
    int64_t *all = PR_ARENA_ARRAY(b->arena, int64_t, n);
    struct pr_scaling_column *columns =
        PR_ARENA_ARRAY(b->arena, struct pr_scaling_column, n);

    if (!all || !columns)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        all[i] = b->points->list[i].batch;
    if (n)
        qsort(all, n, sizeof *all, by_batch_number);
    for (size_t i = 0; i < n; i++)
        if (!i || all[i] != all[i - 1])
            columns[kept++] = (struct pr_scaling_column){.batch = all[i]};
    b->s->columns = columns;
    b->s->column_count = kept;
    return PR_OK;
}

static size_t batch_place(const struct pr_scaling *s, int64_t batch)
{
    size_t low = 0, high = s->column_count;

    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (s->columns[mid].batch <= batch)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static int by_net_device(const void *x, const void *y)
{
    const struct pr_scaling_point *a = x, *b = y;

    if (a->net != b->net)
        return a->net < b->net ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->batch > b->batch) - (a->batch < b->batch);
}

static int tabulate_by_batches(struct builder *b, struct pr_err *err)
{
    struct pr_scaling_point *list = b->points->list;
    struct pr_scaling_cell *cells = NULL;
    int rc = list_batches(b, err);

    if (rc)
        return rc;
    if (b->points->count)
        qsort(list, b->points->count, sizeof *list, by_net_device);
    for (size_t i = 0; i < b->points->count; i++) {
        if (!i || list[i].net != list[i - 1].net ||
            list[i].device != list[i - 1].device) {
            struct pr_scaling_row *row =
                new_row(b, list[i].net, 0, &cells, err);
            if (!row)
                return err ? err->code : PR_E_NOMEM;
            row->device = b->points->devices[list[i].device].device;
        }
        scaling_fill_cell(b, &list[i],
                          &cells[batch_place(b->s, list[i].batch)]);
    }
    return PR_OK;
}

static int scaling_make_table(struct pr_scaling_gather *g,
                              const struct pr_scaling_opts *opts,
                              struct pr_arena *a, struct pr_scaling *ret,
                              struct pr_err *err)
{
    struct pr_scaling s = {.type = opts->type};
    struct pr_scaling_points points = {0};
    struct builder b = {.points = &points, .s = &s, .arena = a};
    int rc = scaling_gather_finish(g, a, &points, &s, err);

    if (!rc)
        rc = opts->type == PR_SCALING_EXPLORATION
                 ? tabulate_by_batches(&b, err)
                 : tabulate_by_devices(&b, err);
    if (rc)
        return rc;
    s.rows = b.rows;
    *ret = s;
    return PR_OK;
}

int pr_scaling_build(const struct pr_results *set,
                     const struct pr_scaling_opts *opts, struct pr_arena *a,
                     struct pr_scaling *ret, struct pr_err *err)
{
    struct pr_scaling_gather *g = scaling_gather_new(opts);
    int rc = g ? PR_OK : pr_fail_nomem(err);

    for (size_t i = 0; !rc && i < pr_results_size(set); i++)
        rc = scaling_gather_row(g, 0, pr_results_row_at(set, i), err);
    if (!rc)
        rc = scaling_make_table(g, opts, a, ret, err);
    scaling_gather_free(g);
    return rc;
}

int pr_scaling_read(const char *const *inputs, size_t count,
                    const struct pr_results_opts *how,
                    const struct pr_scaling_opts *opts, struct pr_arena *a,
                    struct pr_scaling *ret, struct pr_results **ret_set,
                    struct pr_err *err)
{
    struct pr_scaling_gather *g = scaling_gather_new(opts);
    struct pr_results_opts o = *how;
    struct pr_results *set = NULL;
    int rc;

    if (!g)
        return pr_fail_nomem(err);
    o.each = scaling_gather_row;
    o.restart = scaling_gather_restart;
    o.ctx = g;
    rc = pr_results_read(inputs, count, &o, &set, err);
    if (!rc)
        rc = scaling_make_table(g, opts, a, ret, err);
    scaling_gather_free(g);
    if (rc)
        pr_results_free(set);
    else
        *ret_set = set;
    return rc;
}
