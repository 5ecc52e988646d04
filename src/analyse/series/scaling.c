/* Points to the tables of DLBS's summary builder, with its formulas. */
#include "analyse/series/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    int rc = pr_scaling_gather_finish(g, a, &points, &s, err);

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
    struct pr_scaling_gather *g = pr_scaling_gather_new(opts);
    int rc = g ? PR_OK : pr_fail_nomem(err);

    for (size_t i = 0; !rc && i < pr_results_size(set); i++)
        rc = pr_scaling_gather_row(g, 0, pr_results_row_at(set, i), err);
    if (!rc)
        rc = scaling_make_table(g, opts, a, ret, err);
    pr_scaling_gather_free(g);
    return rc;
}

int pr_scaling_read(const char *const *inputs, size_t count,
                    const struct pr_results_opts *how,
                    const struct pr_scaling_opts *opts, struct pr_arena *a,
                    struct pr_scaling *ret, struct pr_results **ret_set,
                    struct pr_err *err)
{
    struct pr_scaling_gather *g = pr_scaling_gather_new(opts);
    struct pr_results_opts o = *how;
    struct pr_results *set = NULL;
    int rc;

    if (!g)
        return pr_fail_nomem(err);
    o.each = pr_scaling_gather_row;
    o.restart = pr_scaling_gather_restart;
    o.ctx = g;
    rc = pr_results_read(inputs, count, &o, &set, err);
    if (!rc)
        rc = scaling_make_table(g, opts, a, ret, err);
    pr_scaling_gather_free(g);
    if (rc)
        pr_results_free(set);
    else
        *ret_set = set;
    return rc;
}
