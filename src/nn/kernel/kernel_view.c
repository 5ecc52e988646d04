/* Means over the places of a view, and their way back. */
#include "nn/kernel/kernel_unit.h"

#include <string.h>

struct kernel_view_job {
    const struct pr_grid *v;
    struct pr_io io;
    const float *dy;
    float *y;
};

size_t pr_grid_elements(const struct pr_grid *v)
{
    return v->n * pr_view_blocks(v) * v->block * v->s;
}

/* ---- sums of x */

PR_INLINE void view_sums_core(const struct pr_io *io, struct pr_lanes *l,
                              size_t at, size_t steps, size_t step, size_t lane,
                              int slots)
{
    const float *x = io->in[0] + at;

#define OPEN(i) pr_vec s##i = {0};
#define STEP(i)    \
    if (slots > i) \
        s##i += PR_AT(x + PR_LANES * i);
#define CLOSE(i)                                    \
    if (slots > i) {                                \
        size_t to = lane + PR_LANES * i;            \
        PR_PUT(l->s + to, PR_AT(l->s + to) + s##i); \
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

PR_INLINE void view_sums_start(const struct pr_io *io, struct pr_lanes *l,
                               const struct pr_grid *v, size_t at)
{
    (void)io, (void)v, (void)at;
    memset(l->s, 0, sizeof l->s);
}

PR_INLINE void view_sums_flush(struct pr_lanes *l, const struct pr_grid *v,
                               size_t rows)
{
    double *a = l->tally->a;

    (void)rows;
    pr_lanes_fold(v, l->s);
    for (size_t i = 0; i < l->lanes; i += PR_DLANES)
        PR_DPUT(a + i, PR_DAT(a + i) + PR_TO_DOUBLE(l->s + i));
}

PR_UNIT_LOOP(view_sums)

PR_INLINE void view_mean_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct kernel_view_job *j = ctx;
    const struct pr_grid *v = j->v;
    size_t units = pr_unit_count(v), from, to;

    pr_threads_part(v->n * units, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t n = i / units;
        struct pr_tally t = {0};
        struct pr_lanes l = {.tally = &t};
        struct pr_unit u;

        pr_unit_at(v, i % units, &u);
        l.lanes = u.lanes;
        view_sums_range(&j->io, &l, v, &u, n * v->s, (n + 1) * v->s);
        for (size_t k = 0; k < u.real; k++)
            j->y[n * v->c + u.first + k] = (float)(t.a[k] / (double)v->s);
    }
}
PR_KERNEL(view_mean)

void pr_kernel_mean(const struct pr_threads *p, const struct pr_grid *v,
                    const float *x, float *y)
{
    struct kernel_view_job j = {.v = v, .io = {.in = {x}, .ins = 1}, .y = y};

    pr_kernel_run(p, pr_grid_elements(v), view_mean(), &j);
}

/* ---- dx = p0 */

PR_INLINE void view_fill_core(const struct pr_io *io, struct pr_lanes *l,
                              size_t at, size_t steps, size_t step, size_t lane,
                              int slots)
{
    float *dx = io->out[0] + at;

    for (size_t n = 0; n < steps; n++, dx += step)
        for (int i = 0; i < slots; i++)
            PR_PUT(dx + PR_LANES * i, PR_AT(l->p[0] + lane + PR_LANES * i));
}

PR_UNIT_NO_SUMS(view_fill)
PR_UNIT_LOOP(view_fill)

PR_INLINE void view_mean_back_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct kernel_view_job *j = ctx;
    const struct pr_grid *v = j->v;
    size_t units = pr_unit_count(v), from, to;

    pr_threads_part(v->n * units, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t n = i / units;
        struct pr_lanes l = {.relu = 0};
        struct pr_unit u;

        pr_unit_at(v, i % units, &u);
        for (size_t k = 0; k < u.real; k++)
            l.p[0][k] = j->dy[n * v->c + u.first + k] / (float)v->s;
        pr_lanes_repeat(v, l.p[0]);
        view_fill_range(&j->io, &l, v, &u, n * v->s, (n + 1) * v->s);
    }
}
PR_KERNEL(view_mean_back)

void pr_kernel_mean_back(const struct pr_threads *p, const struct pr_grid *v,
                         const float *dy, float *dx)
{
    struct kernel_view_job j = {
        .v = v, .io = {.out = {dx}, .outs = 1}, .dy = dy};

    pr_kernel_run(p, pr_grid_elements(v), view_mean_back(), &j);
}
