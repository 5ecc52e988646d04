/*
 * Batch norm, with add and relu, and instance norm, which is that of one sample
 * after the other. The statistics of a channel are taken in pieces of a few
 * dozen rows, each around the mean of those before, and put together in doubles
 * (Chan, Golub and LeVeque 1979): one pass, no cancellation whatever the mean.
 */
#include "nn/kernel/kernel_unit.h"
#include "nn/kernel/kernels.h"

#include <math.h>
#include <string.h>

/*
 * ---- batch norm backward
 *
 * With g the gradient before relu (the sum of the terms, 0 where y is) and h =
 * (x - mean) * inv_std:
 *     dbeta = sum(g), dgamma = sum(g * h),
 *     dx = gamma * inv_std * (g - mean(g) - h * mean(g * h)).
 * Two passes: the first adds up, and leaves g where the second finds it with
 * one read, unless it is a lone term anyway.
 */

struct norm_back_job {
    const struct pr_threads *par;
    const struct pr_grid *v;
    const struct pr_norm_back *b;
    struct pr_io sums; /* x, terms, y?; g? */
    struct pr_io dx;   /* x, g; dx */
};

/* ---- backward: sums of g and of g * (x - p0) */

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

/* ---- backward: dx = (g - p1 - (x - p0) * p2) * p3 */

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

/* ---- backward: channels */

static void set_means(const struct norm_back_job *j, const struct pr_unit *u,
                      struct pr_lanes *l)
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

static void keep_unit_gradients(const struct norm_back_job *j,
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
static void set_backward_lanes(const struct norm_back_job *j,
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

/* ---- backward: threads */

PR_INLINE void norm_units_back_body(void *ctx, unsigned thread,
                                    unsigned threads)
{
    const struct norm_back_job *j = ctx;
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
    const struct norm_back_job *j = ctx;
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
    const struct norm_back_job *j = ctx;
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
    const struct norm_back_job *j = ctx;
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
static void set_norm_back_io(struct norm_back_job *j)
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
    struct norm_back_job j = {.par = p, .v = v, .b = b};
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

/* ---- batch norm forward */

struct job {
    const struct pr_threads *par;
    const struct pr_grid *v;
    const struct pr_norm *norm;
    struct pr_io io; /* x, add?; y */
    bool relu, infer;
};

/* ---- forward: statistics: a is the mean, b the sum of squares around it */

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

/* ---- forward: y = relu?((x - p0) * p1 + p2 + add) */

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

/* ---- forward: channels */

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

/* ---- forward: threads */

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

/* ---- instance norm */

static size_t count_padded_channels(const struct pr_grid *v)
{
    return (v->c + v->block - 1) / v->block * v->block;
}

/* The norm of sample i. */
static struct pr_norm sample_norm(const struct pr_grid *v,
                                  const struct pr_norm *norm, size_t i)
{
    struct pr_norm ret = *norm;

    ret.mean += i * count_padded_channels(v);
    ret.inv_std += i * count_padded_channels(v);
    ret.running_mean = ret.running_var = NULL;
    return ret;
}

void pr_kernel_instance_norm(const struct pr_threads *p,
                             const struct pr_grid *v,
                             const struct pr_norm *norm, const float *x,
                             float *y)
{
    struct pr_grid one = *v;
    size_t step;

    one.n = 1;
    step = pr_grid_elements(&one);
    for (size_t i = 0; i < v->n; i++) {
        struct pr_norm of = sample_norm(v, norm, i);

        pr_kernel_norm_train(p, &one, &of, x + i * step, NULL, false,
                             y + i * step);
    }
}

size_t pr_kernel_instance_norm_work(const struct pr_grid *v)
{
    return 2 * v->n * count_padded_channels(v);
}

/* to[c] = sum of from[n][c] */
static void sum_over_samples(const float *from, size_t n, size_t c, float *to)
{
    for (size_t k = 0; k < c; k++) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += (double)from[i * c + k];
        to[k] = (float)sum;
    }
}

void pr_kernel_instance_norm_back(const struct pr_threads *p,
                                  const struct pr_grid *v,
                                  const struct pr_instance_back *b)
{
    size_t c = count_padded_channels(v), step;
    float *gammas = b->work, *betas = b->work + v->n * c;
    struct pr_grid one = *v;

    one.n = 1;
    step = pr_grid_elements(&one);
    for (size_t i = 0; i < v->n; i++) {
        struct pr_norm of = sample_norm(v, b->norm, i);
        struct pr_norm_back back = {
            .norm = &of,
            .x = b->x + i * step,
            .terms = {b->dy + i * step},
            .term_count = 1,
            .dx = b->dx + i * step,
            .dgamma = gammas + i * c,
            .dbeta = betas + i * c,
        };

        pr_kernel_norm_back(p, &one, &back);
    }
    if (b->dgamma)
        sum_over_samples(gammas, v->n, c, b->dgamma);
    if (b->dbeta)
        sum_over_samples(betas, v->n, c, b->dbeta);
}
