/*
 * Batch norm forward, with add and relu. The statistics of a channel are taken
 * in pieces of a few dozen rows, each around the mean of those before, and put
 * together in doubles (Chan, Golub and LeVeque 1979): one pass, no cancellation
 * whatever the mean.
 */
#include "nn/kernel/kernel_unit.h"

#include <math.h>
#include <string.h>

struct job {
    const struct pr_threads *par;
    const struct pr_grid *v;
    const struct pr_norm *norm;
    struct pr_io io; /* x, add?; y */
    bool relu, infer;
};

/* ---- statistics: a is the mean, b the sum of squares around it */

PR_INLINE void stats_core(const struct pr_io *io, struct pr_lanes *l, size_t at,
                          size_t steps, size_t step, size_t lane, int slots)
{
    const float *x = io->in[0] + at;

#define OPEN(i)                                \
    pr_vec k##i = {0}, s##i = {0}, q##i = {0}; \
    if (slots > i)                             \
        k##i = PR_AT(l->p[0] + lane + PR_LANES * i);
#define STEP(i)                                    \
    if (slots > i) {                               \
        pr_vec d = PR_AT(x + PR_LANES * i) - k##i; \
        s##i += d;                                 \
        q##i += d * d;                             \
    }
#define CLOSE(i)                                    \
    if (slots > i) {                                \
        size_t to = lane + PR_LANES * i;            \
        PR_PUT(l->s + to, PR_AT(l->s + to) + s##i); \
        PR_PUT(l->q + to, PR_AT(l->q + to) + q##i); \
    }
    PR_EACH_SLOT(OPEN)
    for (size_t n = 0; n < steps; n++, x += step) {
        PR_EACH_SLOT(STEP)
    }
    PR_EACH_SLOT(CLOSE)
#undef OPEN
#undef STEP
#undef CLOSE
}

/* Rows are taken around the mean so far, the very first around one of them. */
PR_INLINE void stats_start(const struct pr_io *io, struct pr_lanes *l,
                           const struct pr_grid *v, size_t at)
{
    size_t lanes = pr_view_is_narrow(v) ? v->block : PR_TILE;

    memset(l->s, 0, sizeof l->s);
    memset(l->q, 0, sizeof l->q);
    if (l->tally->count == 0 && !l->centred)
        for (size_t i = 0; i < lanes; i++)
            l->p[0][i] = i < l->lanes ? io->in[0][at + i] : 0;
    else
        for (size_t i = 0; i < lanes; i++)
            l->p[0][i] = (float)l->tally->a[i];
    pr_lanes_repeat(v, l->p[0]);
}

/* Adds count rows with these means and sums of squares, four lanes at a time:
 * those beyond the last lane are never looked at. */
PR_INLINE void tally_add(struct pr_tally *t, size_t lane, double count,
                         const pr_dvec *mean, const pr_dvec *squares)
{
    double all = t->count + count;
    pr_dvec old = PR_DAT(t->a + lane), delta = *mean - old;

    PR_DPUT(t->a + lane, old + delta * (count / all));
    PR_DPUT(t->b + lane, PR_DAT(t->b + lane) + *squares +
                             delta * delta * (t->count * count / all));
}

PR_INLINE void stats_flush(struct pr_lanes *l, const struct pr_grid *v,
                           size_t rows)
{
    double count = (double)rows, part = 1 / count;

    pr_lanes_fold(v, l->s);
    pr_lanes_fold(v, l->q);
    for (size_t i = 0; i < l->lanes; i += PR_DLANES) {
        pr_dvec s = PR_TO_DOUBLE(l->s + i);
        pr_dvec mean = PR_TO_DOUBLE(l->p[0] + i) + s * part;
        pr_dvec squares = PR_TO_DOUBLE(l->q + i) - s * s * part;

        tally_add(l->tally, i, count, &mean, &squares);
    }
    l->tally->count += count;
}

PR_UNIT_LOOP(stats)

/* The first rows are taken twice, so that they have a mean to begin with. */
PR_INLINE void stats_twice(const struct pr_io *io, struct pr_lanes *l,
                           const struct pr_grid *v, const struct pr_unit *u,
                           size_t from, size_t to)
{
    enum { FIRST = 256 };
    size_t end = to - from < FIRST ? to : from + FIRST;

    for (int pass = l->tally->count == 0 ? 0 : 1; pass < 2; pass++) {
        stats_range(io, l, v, u, from, pass == 0 ? end : to);
        if (pass == 0) {
            l->tally->count = 0;
            memset(l->tally->b, 0, sizeof l->tally->b);
            l->centred = true;
        }
    }
}

/* ---- y = relu?((x - p0) * p1 + p2 + add) */

PR_INLINE void apply_steps(const struct pr_io *io, const struct pr_lanes *l,
                           size_t at, size_t steps, size_t step, size_t lane,
                           int slots, bool add)
{
    const float *x = io->in[0] + at, *more = add ? io->in[1] + at : NULL;
    float *y = io->out[0] + at;
    pr_ivec relu = (pr_ivec){0} + l->relu;

#define OPEN(i)                                      \
    pr_vec m##i = {0}, a##i = {0}, b##i = {0};       \
    if (slots > i) {                                 \
        m##i = PR_AT(l->p[0] + lane + PR_LANES * i); \
        a##i = PR_AT(l->p[1] + lane + PR_LANES * i); \
        b##i = PR_AT(l->p[2] + lane + PR_LANES * i); \
    }
#define STEP(i)                                                    \
    if (slots > i) {                                               \
        pr_vec z = (PR_AT(x + PR_LANES * i) - m##i) * a##i + b##i; \
        if (add)                                                   \
            z += PR_AT(more + PR_LANES * i);                       \
        PR_PUT(y + PR_LANES * i, PR_CUT(z, relu));                 \
    }
    PR_EACH_SLOT(OPEN)
    for (size_t n = 0; n < steps; n++, x += step, y += step) {
        PR_EACH_SLOT(STEP)
        if (add)
            more += step;
    }
#undef OPEN
#undef STEP
}

PR_INLINE void apply_core(const struct pr_io *io, struct pr_lanes *l, size_t at,
                          size_t steps, size_t step, size_t lane, int slots)
{
    if (io->ins > 1)
        apply_steps(io, l, at, steps, step, lane, slots, true);
    else
        apply_steps(io, l, at, steps, step, lane, slots, false);
}

PR_UNIT_NO_SUMS(apply)
PR_UNIT_LOOP(apply)

/* ---- channels */

static float norm_inv_std(const struct pr_norm *norm, double var)
{
    return (float)(1 / sqrt(var + (double)norm->epsilon));
}

static void mix_into_running(float *old, float momentum, double now)
{
    *old =
        (float)((1 - (double)momentum) * (double)*old + (double)momentum * now);
}

/* Writes down what backward and inference need. */
static void keep_channel_stats(const struct pr_norm *norm,
                               const struct pr_tally *t, size_t i, size_t c)
{
    double rest = t->count > 1 ? t->count - 1 : 1;

    norm->mean[c] = (float)t->a[i];
    norm->inv_std[c] = norm_inv_std(norm, t->b[i] / t->count);
    if (norm->running_mean)
        mix_into_running(&norm->running_mean[c], norm->momentum, t->a[i]);
    if (norm->running_var)
        mix_into_running(&norm->running_var[c], norm->momentum, t->b[i] / rest);
}

/* Mean and deviation of a unit from its tally. */
static void finish_unit_stats(const struct job *j, const struct pr_unit *u,
                              const struct pr_tally *t)
{
    const struct pr_norm *norm = j->norm;

    for (size_t i = 0; i < u->real; i++)
        keep_channel_stats(norm, t, i, u->first + i);
    for (size_t i = u->real; i < u->lanes; i++)
        norm->mean[u->first + i] = norm->inv_std[u->first + i] = 0;
}

/* Parameters of a unit; what fills up becomes 0. */
static void set_forward_lanes(const struct job *j, const struct pr_unit *u,
                              struct pr_lanes *l)
{
    const struct pr_norm *norm = j->norm;

    for (size_t i = 0; i < u->lanes; i++) {
        size_t c = u->first + i;
        bool real = i < u->real;
        float inv = !real ? 0
                    : j->infer
                        ? norm_inv_std(norm, (double)norm->running_var[c])
                        : norm->inv_std[c];

        l->p[0][i] =
            !real ? 0 : (j->infer ? norm->running_mean : norm->mean)[c];
        l->p[1][i] = norm->gamma ? inv * norm->gamma[c] : inv;
        l->p[2][i] = real && norm->beta ? norm->beta[c] : 0;
    }
    for (int k = 0; k < 3; k++)
        pr_lanes_repeat(j->v, l->p[k]);
}

/* ---- threads */

/* Statistics and result of whole units. */
PR_INLINE void norm_units_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    size_t rows = j->v->n * j->v->s, from, to;

    pr_threads_part(pr_unit_count(j->v), 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        struct pr_tally t = {0};
        struct pr_lanes l = {.relu = j->relu ? -1 : 0, .tally = &t};
        struct pr_unit u;

        pr_unit_at(j->v, i, &u);
        l.lanes = u.lanes;
        if (!j->infer) {
            stats_twice(&j->io, &l, j->v, &u, 0, rows);
            finish_unit_stats(j, &u, &t);
        }
        set_forward_lanes(j, &u, &l);
        apply_range(&j->io, &l, j->v, &u, 0, rows);
    }
}
PR_KERNEL(norm_units)

/* Statistics of some rows of all units. */
PR_INLINE void norm_tally_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    struct pr_tally *t = pr_threads_scratch(j->par, thread);
    size_t units = pr_unit_count(j->v), turn = pr_unit_turn(j->v);
    size_t from, to, rows;

    pr_unit_rows(j->v, thread, threads, &from, &to);
    memset(t, 0, units * sizeof *t);
    for (size_t r = from; r < to; r += rows) {
        rows = turn < to - r ? turn : to - r;
        for (size_t i = 0; i < units; i++) {
            struct pr_lanes l = {.tally = &t[i]};
            struct pr_unit u;

            pr_unit_at(j->v, i, &u);
            l.lanes = u.lanes;
            stats_twice(&j->io, &l, j->v, &u, r, r + rows);
        }
    }
}
PR_KERNEL(norm_tally)

/* Puts the tallies of all threads together, in their order. */
PR_INLINE void norm_gather_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    size_t from, to;

    pr_threads_part(pr_unit_count(j->v), 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        struct pr_tally all = {0};
        struct pr_unit u;

        pr_unit_at(j->v, i, &u);
        for (unsigned k = 0; k < threads; k++) {
            const struct pr_tally *t = pr_threads_scratch(j->par, k);

            t += i;
            if (t->count == 0)
                continue;
            for (size_t n = 0; n < u.lanes; n += PR_DLANES) {
                pr_dvec mean = PR_DAT(t->a + n), squares = PR_DAT(t->b + n);

                tally_add(&all, n, t->count, &mean, &squares);
            }
            all.count += t->count;
        }
        finish_unit_stats(j, &u, &all);
    }
}
PR_KERNEL(norm_gather)

/* Result of some rows of all units. */
PR_INLINE void norm_rows_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    size_t units = pr_unit_count(j->v), turn = pr_unit_turn(j->v);
    size_t from, to, rows;

    pr_unit_rows(j->v, thread, threads, &from, &to);
    for (size_t r = from; r < to; r += rows) {
        rows = turn < to - r ? turn : to - r;
        for (size_t i = 0; i < units; i++) {
            struct pr_lanes l = {.relu = j->relu ? -1 : 0};
            struct pr_unit u;

            pr_unit_at(j->v, i, &u);
            set_forward_lanes(j, &u, &l);
            apply_range(&j->io, &l, j->v, &u, r, r + rows);
        }
    }
}
PR_KERNEL(norm_rows)

static void run_norm(struct job *j)
{
    size_t elements = pr_grid_elements(j->v);

    if (!pr_unit_by_rows(j->par, j->v)) {
        pr_kernel_run(j->par, elements, norm_units(), j);
        return;
    }
    if (!j->infer) {
        pr_kernel_run(j->par, elements, norm_tally(), j);
        pr_kernel_run(j->par, elements, norm_gather(), j);
    }
    pr_kernel_run(j->par, elements, norm_rows(), j);
}

void pr_kernel_norm_train(const struct pr_threads *p, const struct pr_grid *v,
                          const struct pr_norm *norm, const float *x,
                          const float *add, bool relu, float *y)
{
    struct job j = {p, v, norm, {{x, add}, {y}, add ? 2 : 1, 1}, relu, false};

    run_norm(&j);
}

void pr_kernel_norm_infer(const struct pr_threads *p, const struct pr_grid *v,
                          const struct pr_norm *norm, const float *x,
                          const float *add, bool relu, float *y)
{
    struct job j = {p, v, norm, {{x, add}, {y}, add ? 2 : 1, 1}, relu, true};

    run_norm(&j);
}
