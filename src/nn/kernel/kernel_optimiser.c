/* Steps of SGD with momentum and of Adam, in PyTorch's order of operations, and
 * how long a gradient is. */
#include "nn/kernel/kernel_flat.h"
#include "nn/kernel/kernel_root.h"

#include <math.h>

/* ---- SGD: in g; out w, m; f: -rate, momentum, decay; mask: not the first */

PR_INLINE void sgd_momentum_loop(const struct pr_flat *f,
                                 const struct pr_io *io, size_t first,
                                 size_t from, size_t to)
{
    const float *g = io->in[0];
    float *w = io->out[0], *m = io->out[1];
    pr_ivec later = (pr_ivec){0} + f->mask;

    (void)first;
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec old = PR_AT(w + i);
        pr_vec d = PR_AT(g + i) + old * f->f[2];
        /* On the first step there may be anything in m. */
        pr_vec had = (pr_vec)(PR_BITS(PR_AT(m + i)) & later);

        d += had * f->f[1];
        PR_PUT(m + i, d);
        PR_PUT(w + i, old + d * f->f[0]);
    }
}
PR_FLAT(sgd_momentum)

PR_INLINE void sgd_without_momentum_loop(const struct pr_flat *f,
                                         const struct pr_io *io, size_t first,
                                         size_t from, size_t to)
{
    const float *g = io->in[0];
    float *w = io->out[0];

    (void)first;
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec old = PR_AT(w + i);
        pr_vec d = PR_AT(g + i) + old * f->f[2];

        PR_PUT(w + i, old + d * f->f[0]);
    }
}
PR_FLAT(sgd_without_momentum)

void pr_kernel_sgd(const struct pr_threads *p, size_t count, float rate,
                   float momentum, float decay, bool first, float *w,
                   const float *g, float *m)
{
    bool with = momentum != 0;
    struct pr_flat f = {
        .io = {{g}, {w, m}, 1, with ? 2 : 1},
        .count = count,
        .f = {-rate, momentum, decay},
        .mask = first ? 0 : -1,
    };

    pr_kernel_run(p, count, with ? sgd_momentum() : sgd_without_momentum(), &f);
}

/* ---- Adam */

enum { STEP, KEEP1, KEEP2, BETA2, EPSILON, DECAY, CORRECTION };

/* in g; out w, m, v. KEEP1, KEEP2: 1 - beta. */
PR_INLINE void adam_update_loop(const struct pr_flat *f, const struct pr_io *io,
                                size_t first, size_t from, size_t to)
{
    const float *g = io->in[0], *k = f->f;
    float *w = io->out[0], *m = io->out[1], *v = io->out[2];

    (void)first;
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec old = PR_AT(w + i), d = PR_AT(g + i) + old * k[DECAY];
        pr_vec a = PR_AT(m + i), b = PR_AT(v + i), s;

        a += (d - a) * k[KEEP1];
        b = b * k[BETA2] + d * d * k[KEEP2];
        s = b;
        pr_vec_root(&s);
        PR_PUT(m + i, a);
        PR_PUT(v + i, b);
        PR_PUT(w + i, old - a / (s * k[CORRECTION] + k[EPSILON]) * k[STEP]);
    }
}
PR_FLAT(adam_update)

void pr_kernel_adam(const struct pr_threads *p, size_t count,
                    const struct pr_adam *o, float *w, const float *g, float *m,
                    float *v)
{
    double left1 = 1 - pow(o->beta1, (double)o->step);
    double left2 = 1 - pow(o->beta2, (double)o->step);
    struct pr_flat f = {
        .io = {{g}, {w, m, v}, 1, 3},
        .count = count,
        .f = {[STEP] = (float)(o->rate / left1),
              [KEEP1] = (float)(1 - o->beta1),
              [KEEP2] = (float)(1 - o->beta2),
              [BETA2] = (float)o->beta2,
              [EPSILON] = (float)o->epsilon,
              [DECAY] = (float)o->decay,
              [CORRECTION] = (float)(1 / sqrt(left2))},
    };

    pr_kernel_run(p, count, adam_update(), &f);
}

/* ---- the sum of squares: one for each thread, added up in their order */

struct squares {
    const struct pr_threads *par;
    const float *x;
    size_t count;
};

PR_INLINE void sum_squares_body(void *ctx, unsigned thread, unsigned n)
{
    const struct squares *s = ctx;
    double *sum = pr_threads_scratch(s->par, thread);
    pr_dvec all = {0};
    size_t i, to;

    pr_threads_part(s->count, PR_LANES, thread, n, &i, &to);
    for (; i + PR_DLANES <= to; i += PR_DLANES) {
        pr_dvec v = PR_TO_DOUBLE(s->x + i);

        all += v * v;
    }
    *sum = (all[0] + all[1]) + (all[2] + all[3]);
    for (; i < to; i++)
        *sum += (double)s->x[i] * (double)s->x[i];
}
PR_KERNEL(sum_squares)

double pr_kernel_squares(const struct pr_threads *p, size_t count,
                         const float *x)
{
    struct squares s = {p, x, count};
    double sum = 0;

    for (unsigned t = 0; t < pr_threads_count(p); t++)
        *(double *)pr_threads_scratch(p, t) = 0;
    pr_kernel_run(p, count, sum_squares(), &s);
    for (unsigned t = 0; t < pr_threads_count(p); t++)
        sum += *(double *)pr_threads_scratch(p, t);
    return sum;
}
