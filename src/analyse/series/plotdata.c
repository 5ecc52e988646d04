/* Series of results: which belong where, and how they compare to a baseline. */
#include "analyse/series/plotdata.h"

#include "analyse/series/plotdata_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
        *m = (struct pr_member){
            .key = s->name, .key_len = (uint32_t)strlen(s->name), .value = *v};
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
