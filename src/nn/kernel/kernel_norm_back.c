/*
 * Batch norm backward. With g the gradient before relu (the sum of the terms,
 * 0 where y is) and h = (x - mean) * inv_std:
 *     dbeta = sum(g), dgamma = sum(g * h),
 *     dx = gamma * inv_std * (g - mean(g) - h * mean(g * h)).
 * Two passes: the first adds up, and leaves g where the second finds it with
 * one read, unless it is a lone term anyway.
 */
#include "nn/kernel/kernel_unit.h"

#include <string.h>

struct kernel_norm_back_job {
    const struct pr_threads *par;
    const struct pr_grid *v;
    const struct pr_norm_back *b;
    struct pr_io sums; /* x, terms, y?; g? */
    struct pr_io dx;   /* x, g; dx */
};

/* ---- sums of g and of g * (x - p0) */

PR_INLINE void norm_sums_steps(const struct pr_io *io, struct pr_lanes *l,
                               size_t at, size_t steps, size_t step,
                               size_t lane, int slots, unsigned terms,
                               bool masked)
{
    const float *x = io->in[0];
    const float *y = masked ? io->in[terms + 1] : NULL;
    float *out = io->outs ? io->out[0] : NULL;

#define OPEN(i)                                \
    pr_vec k##i = {0}, s##i = {0}, q##i = {0}; \
    if (slots > i)                             \
        k##i = PR_AT(l->p[0] + lane + PR_LANES * i);
#define STEP(i)                                                       \
    if (slots > i) {                                                  \
        size_t e = at + PR_LANES * i;                                 \
        pr_vec g = PR_AT(io->in[1] + e);                              \
        for (unsigned t = 2; t <= terms; t++)                         \
            g += PR_AT(io->in[t] + e);                                \
        if (masked)                                                   \
            g = (pr_vec)(PR_BITS(g) & ~(pr_ivec)(PR_AT(y + e) <= 0)); \
        if (out)                                                      \
            PR_PUT(out + e, g);                                       \
        s##i += g;                                                    \
        q##i += g * (PR_AT(x + e) - k##i);                            \
    }
#define CLOSE(i)                                    \
    if (slots > i) {                                \
        size_t to = lane + PR_LANES * i;            \
        PR_PUT(l->s + to, PR_AT(l->s + to) + s##i); \
        PR_PUT(l->q + to, PR_AT(l->q + to) + q##i); \
    }
    PR_EACH_SLOT(OPEN)
    for (size_t n = 0; n < steps; n++, at += step) {
        PR_EACH_SLOT(STEP)
    }
    PR_EACH_SLOT(CLOSE)
#undef OPEN
#undef STEP
#undef CLOSE
}

PR_INLINE void norm_sums_core(const struct pr_io *io, struct pr_lanes *l,
                              size_t at, size_t steps, size_t step, size_t lane,
                              int slots)
{
    bool masked = l->relu;
    unsigned terms = io->ins - 1 - masked;

    if (slots > 1 && terms == 1 && masked)
        norm_sums_steps(io, l, at, steps, step, lane, slots, 1, true);
    else if (slots > 1 && terms == 1)
        norm_sums_steps(io, l, at, steps, step, lane, slots, 1, false);
    else if (slots > 1 && terms == 2 && masked)
        norm_sums_steps(io, l, at, steps, step, lane, slots, 2, true);
    else
        norm_sums_steps(io, l, at, steps, step, lane, slots, terms, masked);
}

PR_INLINE void norm_sums_start(const struct pr_io *io, struct pr_lanes *l,
                               const struct pr_grid *v, size_t at)
{
    (void)io, (void)v, (void)at;
    memset(l->s, 0, sizeof l->s);
    memset(l->q, 0, sizeof l->q);
}

PR_INLINE void norm_sums_flush(struct pr_lanes *l, const struct pr_grid *v,
                               size_t rows)
{
    struct pr_tally *t = l->tally;

    pr_lanes_fold(v, l->s);
    pr_lanes_fold(v, l->q);
    for (size_t i = 0; i < l->lanes; i += PR_DLANES) {
        PR_DPUT(t->a + i, PR_DAT(t->a + i) + PR_TO_DOUBLE(l->s + i));
        PR_DPUT(t->b + i, PR_DAT(t->b + i) + PR_TO_DOUBLE(l->q + i));
    }
    t->count += (double)rows;
}

PR_UNIT_LOOP(norm_sums)

/* ---- dx = (g - p1 - (x - p0) * p2) * p3 */

PR_INLINE void dx_core(const struct pr_io *io, struct pr_lanes *l, size_t at,
                       size_t steps, size_t step, size_t lane, int slots)
{
    const float *x = io->in[0], *g = io->in[1];
    float *dx = io->out[0];

#define OPEN(i)                                            \
    pr_vec k##i = {0}, a##i = {0}, b##i = {0}, c##i = {0}; \
    if (slots > i) {                                       \
        k##i = PR_AT(l->p[0] + lane + PR_LANES * i);       \
        a##i = PR_AT(l->p[1] + lane + PR_LANES * i);       \
        b##i = PR_AT(l->p[2] + lane + PR_LANES * i);       \
        c##i = PR_AT(l->p[3] + lane + PR_LANES * i);       \
    }
#define STEP(i)                                                        \
    if (slots > i) {                                                   \
        size_t e = at + PR_LANES * i;                                  \
        pr_vec d = PR_AT(g + e) - a##i - (PR_AT(x + e) - k##i) * b##i; \
        PR_PUT(dx + e, d * c##i);                                      \
    }
    PR_EACH_SLOT(OPEN)
    for (size_t n = 0; n < steps; n++, at += step) {
        PR_EACH_SLOT(STEP)
    }
#undef OPEN
#undef STEP
}

PR_UNIT_NO_SUMS(dx)
PR_UNIT_LOOP(dx)

/* ---- channels */

static void set_means(const struct kernel_norm_back_job *j,
                      const struct pr_unit *u, struct pr_lanes *l)
{
    for (size_t i = 0; i < u->lanes; i++)
        l->p[0][i] = i < u->real ? j->b->norm->mean[u->first + i] : 0;
    pr_lanes_repeat(j->v, l->p[0]);
}

static void put_unit_lane(float *to, const struct pr_unit *u, size_t i,
                          double value)
{
    if (to)
        to[u->first + i] = i < u->real ? (float)value : 0;
}

static void keep_unit_gradients(const struct kernel_norm_back_job *j,
                                const struct pr_unit *u,
                                const struct pr_tally *t)
{
    for (size_t i = 0; i < u->lanes; i++) {
        double inv =
            i < u->real ? (double)j->b->norm->inv_std[u->first + i] : 0;

        put_unit_lane(j->b->dbeta, u, i, t->a[i]);
        put_unit_lane(j->b->dgamma, u, i, t->b[i] * inv);
    }
}

/* The other parameters; p0 is there. */
static void set_backward_lanes(const struct kernel_norm_back_job *j,
                               const struct pr_unit *u,
                               const struct pr_tally *t, struct pr_lanes *l)
{
    const struct pr_norm *norm = j->b->norm;

    for (size_t i = 0; i < u->lanes; i++) {
        bool real = i < u->real;
        float inv = real ? norm->inv_std[u->first + i] : 0;
        double square = (double)inv * (double)inv;

        l->p[1][i] = real ? (float)(t->a[i] / t->count) : 0;
        l->p[2][i] = real ? (float)(t->b[i] * square / t->count) : 0;
        l->p[3][i] =
            real && norm->gamma ? inv * norm->gamma[u->first + i] : inv;
    }
    for (int k = 1; k < 4; k++)
        pr_lanes_repeat(j->v, l->p[k]);
}

/* ---- threads */

PR_INLINE void norm_units_back_body(void *ctx, unsigned thread,
                                    unsigned threads)
{
    const struct kernel_norm_back_job *j = ctx;
    size_t rows = j->v->n * j->v->s, from, to;

    pr_threads_part(pr_unit_count(j->v), 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        struct pr_tally t = {0};
        struct pr_lanes l = {.relu = j->b->y ? -1 : 0, .tally = &t};
        struct pr_unit u;

        pr_unit_at(j->v, i, &u);
        l.lanes = u.lanes;
        set_means(j, &u, &l);
        norm_sums_range(&j->sums, &l, j->v, &u, 0, rows);
        keep_unit_gradients(j, &u, &t);
        set_backward_lanes(j, &u, &t, &l);
        dx_range(&j->dx, &l, j->v, &u, 0, rows);
    }
}
PR_KERNEL(norm_units_back)

PR_INLINE void norm_tally_back_body(void *ctx, unsigned thread,
                                    unsigned threads)
{
    const struct kernel_norm_back_job *j = ctx;
    struct pr_tally *t = pr_threads_scratch(j->par, thread);
    size_t units = pr_unit_count(j->v), turn = pr_unit_turn(j->v);
    size_t from, to, rows;

    pr_unit_rows(j->v, thread, threads, &from, &to);
    memset(t, 0, units * sizeof *t);
    for (size_t r = from; r < to; r += rows) {
        rows = turn < to - r ? turn : to - r;
        for (size_t i = 0; i < units; i++) {
            struct pr_lanes l = {.relu = j->b->y ? -1 : 0, .tally = &t[i]};
            struct pr_unit u;

            pr_unit_at(j->v, i, &u);
            l.lanes = u.lanes;
            set_means(j, &u, &l);
            norm_sums_range(&j->sums, &l, j->v, &u, r, r + rows);
        }
    }
}
PR_KERNEL(norm_tally_back)

/* Puts the sums of all threads together, in the memory of the first. */
static void norm_gather_back(void *ctx, unsigned thread, unsigned threads)
{
    const struct kernel_norm_back_job *j = ctx;
    struct pr_tally *all = pr_threads_scratch(j->par, 0);
    size_t from, to;

    pr_threads_part(pr_unit_count(j->v), 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        struct pr_unit u;

        pr_unit_at(j->v, i, &u);
        for (unsigned k = 1; k < threads; k++) {
            const struct pr_tally *t = pr_threads_scratch(j->par, k);

            for (size_t n = 0; n < PR_TILE; n++) {
                all[i].a[n] += t[i].a[n];
                all[i].b[n] += t[i].b[n];
            }
            all[i].count += t[i].count;
        }
        keep_unit_gradients(j, &u, &all[i]);
    }
}

PR_INLINE void norm_rows_back_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct kernel_norm_back_job *j = ctx;
    const struct pr_tally *all = pr_threads_scratch(j->par, 0);
    size_t units = pr_unit_count(j->v), turn = pr_unit_turn(j->v);
    size_t from, to, rows;

    pr_unit_rows(j->v, thread, threads, &from, &to);
    for (size_t r = from; r < to; r += rows) {
        rows = turn < to - r ? turn : to - r;
        for (size_t i = 0; i < units; i++) {
            struct pr_lanes l = {.relu = 0};
            struct pr_unit u;

            pr_unit_at(j->v, i, &u);
            set_means(j, &u, &l);
            set_backward_lanes(j, &u, &all[i], &l);
            dx_range(&j->dx, &l, j->v, &u, r, r + rows);
        }
    }
}
PR_KERNEL(norm_rows_back)

/* Where g is left by the first pass, and found by the second. */
static void set_norm_back_io(struct kernel_norm_back_job *j)
{
    const struct pr_norm_back *b = j->b;
    bool lone = b->term_count == 1 && !b->y;
    float *out = b->masked ? b->masked : lone ? NULL : b->dx;

    j->sums.in[j->sums.ins++] = b->x;
    for (unsigned i = 0; i < b->term_count; i++)
        j->sums.in[j->sums.ins++] = b->terms[i];
    if (b->y)
        j->sums.in[j->sums.ins++] = b->y;
    if (out && !(lone && out == b->terms[0]))
        j->sums.out[j->sums.outs++] = out;
    j->dx.in[0] = b->x;
    j->dx.in[1] = out ? out : b->terms[0];
    j->dx.ins = 2;
    j->dx.out[0] = b->dx;
    j->dx.outs = 1;
}

void pr_kernel_norm_back(const struct pr_threads *p, const struct pr_grid *v,
                         const struct pr_norm_back *b)
{
    struct kernel_norm_back_job j = {.par = p, .v = v, .b = b};
    size_t elements = pr_grid_elements(v);

    set_norm_back_io(&j);
    if (!pr_unit_by_rows(p, v)) {
        pr_kernel_run(p, elements, norm_units_back(), &j);
        return;
    }
    pr_kernel_run(p, elements, norm_tally_back(), &j);
    pr_kernel_run(p, elements, norm_gather_back, &j);
    pr_kernel_run(p, elements, norm_rows_back(), &j);
}
