/*
 * Series of results: which belong where, how values become points in order of
 * x, and how they compare to a baseline.
 */
#include "analyse/series/plot_data.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "base/stats/statistics.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANCE 0.025 /* of either side, outside of the interval */

int pr_plot_data_maker_init(struct pr_plot_data_maker *m, struct pr_arena *a,
                            struct pr_err *err)
{
    *m = (struct pr_plot_data_maker){.arena = a, .x = pr_names_new()};
    return m->x ? PR_OK : pr_fail_nomem(err);
}

void pr_plot_data_maker_free(struct pr_plot_data_maker *m)
{
    pr_names_free(m->x);
    pr_free(m->values);
}

int pr_plot_data_add(struct pr_plot_data_maker *m, size_t series, const char *x,
                     size_t x_len, double y, bool whole, struct pr_err *err)
{
    uint32_t id = pr_names_add(m->x, x, x_len);

    if (m->count == m->cap && id != PR_NO_NAME) {
        size_t cap = m->cap ? 2 * m->cap : 256;
        void *more = cap <= UINT32_MAX
                         ? pr_realloc(m->values, cap * sizeof *m->values)
                         : NULL;

        if (!more)
            return pr_fail_nomem(err);
        m->values = more;
        m->cap = cap;
    }
    if (id == PR_NO_NAME)
        return pr_fail_nomem(err);
    m->values[m->count] = (struct pr_plot_data_value){
        (uint32_t)series, id, (uint32_t)m->count, whole, y};
    m->count++;
    return PR_OK;
}

/* ---- the order of x */

struct x {
    const char *text;
    double number;
    uint32_t id;
};

static int by_x_number(const void *a, const void *b)
{
    const struct x *p = a, *q = b;
    int by = (p->number > q->number) - (p->number < q->number);

    return by ? by : (p->id > q->id) - (p->id < q->id);
}

/* All x, numbers in their order, other text as it came; rank[id] is the place
 * of each. */
static int order_x(struct pr_plot_data_maker *m, struct pr_plot_data *set,
                   struct x **ret, uint32_t **ret_rank, struct pr_err *err)
{
    size_t n = pr_names_count(m->x);
    struct x *all = PR_ARENA_ARRAY(m->arena, struct x, n + 1);
    uint32_t *rank = PR_ARENA_ARRAY(m->arena, uint32_t, n + 1);

    set->x_values = PR_ARENA_ARRAY(m->arena, const char *, n + 1);
    if (!all || !rank || !set->x_values)
        return pr_fail_nomem(err);
    set->x_numbers = true;
    for (uint32_t i = 0; i < n; i++) {
        all[i].text = pr_arena_str(m->arena, pr_names_text(m->x, i));
        all[i].id = i;
        if (!all[i].text)
            return pr_fail_nomem(err);
        if (!pr_parse_float(all[i].text, &all[i].number) ||
            !isfinite(all[i].number)) {
            all[i].number = NAN;
            set->x_numbers = false;
        }
    }
    if (set->x_numbers)
        qsort(all, n, sizeof *all, by_x_number);
    for (uint32_t i = 0; i < n; i++) {
        rank[all[i].id] = i;
        set->x_values[i] = all[i].text;
    }
    set->x_count = n;
    *ret = all;
    *ret_rank = rank;
    return PR_OK;
}

static int by_x_place(const void *a, const void *b)
{
    const struct pr_plot_data_value *p = a, *q = b;

    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

/* Of one series; mostly they are in order. */
static void sort_series(struct pr_plot_data_value *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (by_x_place(&v[i - 1], &v[i]) > 0) {
            qsort(v, n, sizeof *v, by_x_place);
            return;
        }
}

/* All values by series, then by x, then as they came. */
static int sort_values(struct pr_plot_data_maker *m, size_t series,
                       const uint32_t *rank, struct pr_err *err)
{
    size_t *ends = PR_ARENA_ARRAY(m->arena, size_t, series + 1);
    struct pr_plot_data_value *sorted =
        pr_alloc((m->count + 1) * sizeof *sorted);

    if (!ends || !sorted) {
        pr_free(sorted);
        return pr_fail_nomem(err);
    }
    for (size_t i = 0; i < m->count; i++)
        ends[m->values[i].series + 1]++;
    for (size_t k = 1; k <= series; k++)
        ends[k] += ends[k - 1];
    for (size_t i = 0; i < m->count; i++) {
        struct pr_plot_data_value *v = &sorted[ends[m->values[i].series]++];

        *v = m->values[i];
        v->x = rank[v->x];
    }
    for (size_t k = 0, from = 0; k < series; from = ends[k++])
        sort_series(sorted + from, ends[k] - from);
    pr_free(m->values);
    m->values = sorted;
    return PR_OK;
}

/* ---- points */

static void set_point_mean(struct pr_plot_data_point *p)
{
    double sum = 0, square = 0, least = p->values[0], half;

    for (size_t i = 0; i < p->count; i++) {
        sum += p->values[i];
        least = fmin(least, p->values[i]);
    }
    p->y = sum / (double)p->count;
    p->low = p->high = p->y;
    p->whole = false;
    if (p->count < 2)
        return;
    for (size_t i = 0; i < p->count; i++)
        square += (p->values[i] - p->y) * (p->values[i] - p->y);
    half = pr_student_t(CHANCE, (unsigned)p->count - 1) *
           sqrt(square / (double)(p->count - 1) / (double)p->count);
    /* Times and rates are never negative. */
    p->low = least >= 0 ? fmax(0, p->y - half) : p->y - half;
    p->high = p->y + half;
}

static void aggregate_point(struct pr_plot_data_point *p,
                            enum pr_plot_data_how how)
{
    if (how == PR_PLOTDATA_AVG) {
        set_point_mean(p);
        return;
    }
    p->y = p->values[0];
    for (size_t i = 1; i < p->count; i++)
        p->y = how == PR_PLOTDATA_MIN ? fmin(p->y, p->values[i])
                                      : fmax(p->y, p->values[i]);
    p->low = p->high = p->y;
}

static void make_points(const struct pr_plot_data_maker *m, const struct x *xs,
                        enum pr_plot_data_how how, double *ys,
                        struct pr_plot_data_point *points,
                        struct pr_plot_data *set)
{
    for (size_t i = 0; i < m->count;) {
        const struct pr_plot_data_value *v = &m->values[i];
        struct pr_plot_data_series *s = &set->series[v->series];
        struct pr_plot_data_point *p = points++;
        size_t end = i;

        *p = (struct pr_plot_data_point){.x = xs[v->x].text,
                                         .x_number = xs[v->x].number,
                                         .values = ys + i,
                                         .whole = true};
        for (; end < m->count && m->values[end].series == v->series &&
               m->values[end].x == v->x;
             end++) {
            ys[end] = m->values[end].y;
            p->whole = p->whole && m->values[end].whole;
        }
        p->count = end - i;
        aggregate_point(p, how);
        if (!s->count++)
            s->points = p;
        i = end;
    }
}

int pr_plot_data_finish(struct pr_plot_data_maker *m, enum pr_plot_data_how how,
                        struct pr_plot_data *set, struct pr_err *err)
{
    struct pr_plot_data_point *points =
        PR_ARENA_ARRAY(m->arena, struct pr_plot_data_point, m->count + 1);
    double *ys = PR_ARENA_ARRAY(m->arena, double, m->count + 1);
    struct x *xs = NULL;
    uint32_t *rank = NULL;
    int rc =
        points && ys ? order_x(m, set, &xs, &rank, err) : pr_fail_nomem(err);

    if (!rc)
        rc = sort_values(m, set->count, rank, err);
    if (rc)
        return rc;
    make_points(m, xs, how, ys, points, set);
    return PR_OK;
}

/* ---- series as DLBS writes them */

static struct pr_value make_map_value(const struct pr_member *members, size_t n)
{
    return (struct pr_value){
        .kind = PR_MAP, .len = (uint32_t)n, .members = members};
}

static struct pr_value make_list_value(const struct pr_value *items, size_t n)
{
    return (struct pr_value){
        .kind = PR_LIST, .len = (uint32_t)n, .items = items};
}

static bool series_value(struct pr_arena *a,
                         const struct pr_plot_data_series *s,
                         struct pr_value *ret)
{
    struct pr_member *data = PR_ARENA_ARRAY(a, struct pr_member, s->count + 1);
    struct pr_member *both = PR_ARENA_ARRAY(a, struct pr_member, 2);

    if (!data || !both)
        return false;
    for (size_t i = 0; i < s->count; i++) {
        const struct pr_plot_data_point *p = &s->points[i];

        data[i] = pr_plot_data_member(p->x, p->whole ? pr_int((int64_t)p->y)
                                                     : pr_float(p->y));
    }
    both[0] = pr_plot_data_member("filters", s->filters);
    both[1] = pr_plot_data_member("data", make_map_value(data, s->count));
    *ret = make_map_value(both, 2);
    return true;
}

int pr_plot_data_write_json(const struct pr_plot_data *s, struct pr_buf *out,
                            struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_value *series =
        a ? PR_ARENA_ARRAY(a, struct pr_value, s->count + 1) : NULL;
    struct pr_value *xs =
        a ? PR_ARENA_ARRAY(a, struct pr_value, s->x_count + 1) : NULL;
    struct pr_member all[4];
    struct pr_value doc;

    if (!series || !xs)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < s->count; i++)
        if (!series_value(a, &s->series[i], &series[i]))
            return pr_fail_nomem(err);
    for (size_t i = 0; i < s->x_count; i++)
        xs[i] = pr_str(s->x_values[i]);
    all[0] = pr_plot_data_member("ylabel", pr_str(s->y));
    all[1] = pr_plot_data_member("xlabel", pr_str(s->x));
    all[2] = pr_plot_data_member("series", make_list_value(series, s->count));
    all[3] = pr_plot_data_member("xvals", make_list_value(xs, s->x_count));
    doc = make_map_value(all, 4);
    pr_json_write_indented(out, &doc, 4, 0);
    pr_buf_char(out, '\n');
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}

/* ---- which results are in which series */

struct sorter {
    const struct pr_results *set;
    const struct pr_plot_data_opts *o;
    struct pr_arena *arena;
    struct pr_plot_data *out;
    struct pr_query **queries; /* of filters; NULL: by values of a name */
    const char *name;          /* … of this one */
    uint32_t *of_row;          /* … and the series of each result, if any */
    struct pr_plot_data_maker maker;
    size_t *taken; /* results so far, of each series */
};

static int fail_series(const char *what, struct pr_err *err)
{
    pr_fail(err, PR_E_USAGE, "--series", "%s", what);
    return pr_hint(err, "a list of filters, [{\"exp.framework\": \"mxnet\"}, "
                        "…], or the name of a parameter");
}

static int series_make_queries(struct sorter *s, struct pr_err *err)
{
    const struct pr_value *list = &s->o->series;
    int rc = PR_OK;

    s->queries = PR_ARENA_ARRAY(s->arena, struct pr_query *, list->len + 1);
    s->out->series =
        PR_ARENA_ARRAY(s->arena, struct pr_plot_data_series, list->len + 1);
    if (!s->queries || !s->out->series)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; !rc && i < list->len; i++) {
        s->out->series[i].filters = list->items[i];
        rc = pr_query_new(&list->items[i], "--series", &s->queries[i], err);
        s->out->count += !rc;
    }
    return rc;
}

/* A series of each value of a parameter, as they come. */
static int find_values(struct sorter *s, struct pr_err *err)
{
    size_t cap = 0;

    s->name = s->o->series.s;
    s->of_row = PR_ARENA_ARRAY(s->arena, uint32_t, pr_results_size(s->set) + 1);
    if (!s->of_row)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < pr_results_size(s->set); i++) {
        const struct pr_value *v =
            pr_get(&pr_results_row_at(s->set, i)->params, s->name);
        struct pr_member *m;
        size_t k = 0;

        while (v && k < s->out->count &&
               !pr_value_equal(&s->out->series[k].filters.members[0].value, v))
            k++;
        s->of_row[i] = v ? (uint32_t)k : PR_PLOTDATA_MOST;
        if (!v || k < s->out->count)
            continue;
        if (k == PR_PLOTDATA_MOST)
            return fail_series("the parameter has more than 1000 values", err);
        s->out->series = pr_arena_grow(s->arena, s->out->series, k, &cap,
                                       sizeof *s->out->series);
        m = PR_ARENA_NEW(s->arena, struct pr_member);
        if (!s->out->series || !m)
            return pr_fail_nomem(err);
        *m = pr_plot_data_member(s->name, *v);
        s->out->series[k] = (struct pr_plot_data_series){
            .filters = {.kind = PR_MAP, .len = 1, .members = m}};
        s->out->count++;
    }
    return PR_OK;
}

static int find_series(struct sorter *s, struct pr_err *err)
{
    switch (s->o->series.kind) {
    case PR_NULL:
        s->out->series = PR_ARENA_NEW(s->arena, struct pr_plot_data_series);
        if (!s->out->series)
            return pr_fail_nomem(err);
        s->out->series->filters.kind = PR_MAP;
        s->out->count = 1;
        return PR_OK;
    case PR_STR:
        return find_values(s, err);
    case PR_LIST:
        if (s->o->series.len > PR_PLOTDATA_MOST)
            return fail_series("more than 1000 series", err);
        return series_make_queries(s, err);
    default:
        return fail_series("this is neither a list nor text", err);
    }
}

/* 1: result i belongs to series k. */
static int series_match_row(const struct sorter *s, size_t i, size_t k,
                            struct pr_err *err)
{
    if (s->queries)
        return pr_results_match_row(
            pr_results_row_at(s->set, i),
            &(struct pr_results_filter){s->queries[k], PR_QUERY_STRICT}, 1,
            err);
    return !s->of_row || s->of_row[i] == k;
}

/* ---- values */

static int add_at(struct sorter *s, size_t k, size_t x,
                  const struct pr_value *y, struct pr_err *err)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%zu", x);

    return pr_plot_data_add(&s->maker, k, text, (size_t)n, pr_value_number(y),
                            y->kind == PR_INT, err);
}

/* x is where the value stands. */
static int add_placed(struct sorter *s, size_t k, const struct pr_value *y,
                      struct pr_err *err)
{
    int rc = PR_OK;

    if (y->kind != PR_LIST)
        return add_at(s, k, ++s->taken[k], y, err);
    for (uint32_t i = 0; !rc && i < y->len; i++)
        if (pr_value_is_number(&y->items[i]))
            rc = add_at(s, k, i + 1, &y->items[i], err);
    return rc;
}

static int series_add_named(struct sorter *s, size_t k,
                            const struct pr_value *x, const struct pr_value *y,
                            struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);
    const struct pr_value *items = y->kind == PR_LIST ? y->items : y;
    uint32_t n = y->kind == PR_LIST ? y->len : 1;
    int rc = PR_OK;

    pr_value_write_text(&b, x);
    if (!pr_buf_ok(&b))
        return pr_fail_nomem(err);
    for (uint32_t i = 0; !rc && i < n; i++)
        if (pr_value_is_number(&items[i]))
            rc = pr_plot_data_add(&s->maker, k, b.data ? b.data : "", b.len,
                                  pr_value_number(&items[i]),
                                  items[i].kind == PR_INT, err);
    return rc;
}

static bool is_usable(const struct pr_value *y)
{
    if (y->kind == PR_LIST)
        for (uint32_t i = 0; i < y->len; i++)
            if (pr_value_is_number(&y->items[i]) &&
                isfinite(pr_value_number(&y->items[i])))
                return true;
    return pr_value_is_number(y) && isfinite(pr_value_number(y));
}

static int series_add_row(struct sorter *s, size_t i, struct pr_err *err)
{
    const struct pr_results_row *row = pr_results_row_at(s->set, i);
    const struct pr_value *y = pr_get(&row->params, s->o->y);
    const struct pr_value *x = s->o->x ? pr_get(&row->params, s->o->x) : NULL;
    int rc = PR_OK;

    if (!y || (s->o->x && !x))
        return PR_OK;
    if (!is_usable(y)) {
        s->out->unusable++;
        return PR_OK;
    }
    for (size_t k = 0; rc >= 0 && k < s->out->count; k++) {
        rc = series_match_row(s, i, k, err);
        if (rc == 1)
            rc = x ? series_add_named(s, k, x, y, err)
                   : add_placed(s, k, y, err);
    }
    return rc < 0 ? rc : PR_OK;
}

/* ---- baselines */

static struct pr_plot_data_point *point_at(struct pr_plot_data_series *s,
                                           const char *x)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->points[i].x, x) == 0)
            return &s->points[i];
    return NULL;
}

/* Its values as well: they are what boxes show. */
static void divide_point(struct pr_plot_data_point *p, double by)
{
    p->y /= by;
    p->low /= by;
    p->high /= by;
    if (p->low > p->high) {
        double low = p->high;
        p->high = p->low;
        p->low = low;
    }
    for (size_t i = 0; i < p->count; i++)
        p->values[i] /= by;
    p->whole = false;
}

static void divide_by_x(struct pr_plot_data *set, const char *x,
                        struct pr_arena *a)
{
    for (size_t k = 0; k < set->count; k++) {
        const struct pr_plot_data_point *p = point_at(&set->series[k], x);

        if (p && p->y != 0)
            continue;
        set->warning = pr_arena_printf(
            a, "series %zu has %s at '%s': values are not divided", k,
            p ? "zero" : "no value", x);
        return;
    }
    for (size_t k = 0; k < set->count; k++) {
        double base = point_at(&set->series[k], x)->y;

        for (size_t i = 0; i < set->series[k].count; i++)
            divide_point(&set->series[k].points[i], base);
    }
}

/* Both go by the order of x, so that they are walked together. */
static const struct pr_plot_data_point *
next_at(const struct pr_plot_data_series *base, size_t *at, const char *x)
{
    for (size_t n = 0; n < base->count; n++, *at = (*at + 1) % base->count)
        if (base->points[*at].x == x)
            return &base->points[*at];
    return NULL;
}

static bool is_series_covered(const struct pr_plot_data_series *base,
                              const struct pr_plot_data_series *s,
                              const char **ret_x)
{
    size_t at = 0;

    for (size_t i = 0; i < s->count; i++) {
        const struct pr_plot_data_point *p = next_at(base, &at, s->points[i].x);

        *ret_x = s->points[i].x;
        if (!p || p->y == 0)
            return false;
    }
    return true;
}

static void divide_by_series(struct pr_plot_data *set, size_t number,
                             struct pr_arena *a)
{
    struct pr_plot_data_series *base = &set->series[number];
    const char *x = "";

    for (size_t k = 0; k < set->count; k++)
        if (!is_series_covered(base, &set->series[k], &x)) {
            set->warning = pr_arena_printf(
                a,
                "series %zu has nothing at '%s' to divide by: values stay "
                "as they are",
                number, x);
            return;
        }
    for (size_t k = 0; k < set->count; k++) {
        size_t at = 0;

        for (size_t i = 0; k != number && i < set->series[k].count; i++)
            divide_point(&set->series[k].points[i],
                         next_at(base, &at, set->series[k].points[i].x)->y);
    }
    for (size_t i = 0; i < base->count; i++)
        divide_point(&base->points[i], base->points[i].y);
}

/* ---- all of it */

static int sort_in(struct sorter *s, struct pr_err *err)
{
    int rc = find_series(s, err);

    s->taken = rc ? NULL : PR_ARENA_ARRAY(s->arena, size_t, s->out->count + 1);
    if (!rc && !s->taken)
        rc = pr_fail_nomem(err);
    if (!rc && s->o->baseline_series >= (long)s->out->count)
        rc = pr_fail(err, PR_E_USAGE, "--baseline-series",
                     "there is no series %ld: there are %zu, from 0",
                     s->o->baseline_series, s->out->count);
    for (size_t i = 0; !rc && i < pr_results_size(s->set); i++)
        rc = series_add_row(s, i, err);
    return rc ? rc : pr_plot_data_finish(&s->maker, s->o->how, s->out, err);
}

int pr_plot_data_build(const struct pr_results *set,
                       const struct pr_plot_data_opts *o, struct pr_arena *a,
                       struct pr_plot_data *ret, struct pr_err *err)
{
    struct pr_plot_data out = {.x = o->x ? o->x : "number", .y = o->y};
    struct sorter s = {.set = set, .o = o, .arena = a, .out = &out};
    int rc = pr_plot_data_maker_init(&s.maker, a, err);

    if (!rc)
        rc = sort_in(&s, err);
    for (size_t i = 0; s.queries && i < out.count; i++)
        pr_query_free(s.queries[i]);
    pr_plot_data_maker_free(&s.maker);
    if (rc)
        return rc;
    if (o->baseline_x)
        divide_by_x(&out, o->baseline_x, a);
    if (o->baseline_series >= 0)
        divide_by_series(&out, (size_t)o->baseline_series, a);
    *ret = out;
    return PR_OK;
}
