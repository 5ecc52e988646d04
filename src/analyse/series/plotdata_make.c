/* From values to points: in order of x, and one y of all that are there. */
#include "analyse/series/plotdata_impl.h"
#include "base/mem.h"
#include "base/stats/statistics.h"
#include "base/units.h"

#include <math.h>
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
