/* Steps of SGD with momentum and of Adam, in PyTorch's order of operations. */
#include "nn/kernel_flat.h"

#include <math.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* ---- SGD: in g; out w, m; f: -rate, momentum, decay; mask: not the first */

PR_INLINE void sgd_loop(const struct pr_flat *f, const struct pr_io *io,
                        size_t first, size_t from, size_t to)
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
PR_FLAT(sgd)

PR_INLINE void plain_loop(const struct pr_flat *f, const struct pr_io *io,
                          size_t first, size_t from, size_t to)
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
PR_FLAT(plain)

void pr_k_sgd(const struct pr_par *p, size_t count, float rate, float momentum,
              float decay, bool first, float *w, const float *g, float *m)
{
    bool with = momentum != 0;
    struct pr_flat f = {
        .io = {{g}, {w, m}, 1, with ? 2 : 1},
        .count = count,
        .f = {-rate, momentum, decay},
        .mask = first ? 0 : -1,
    };

    pr_kernel_run(p, count, with ? sgd() : plain(), &f);
}

/* ---- Adam */

PR_INLINE void root(pr_vec *x)
{
#if defined(__SSE2__)
    float *p = (float *)x;

    _mm_storeu_ps(p, _mm_sqrt_ps(_mm_loadu_ps(p)));
    _mm_storeu_ps(p + 4, _mm_sqrt_ps(_mm_loadu_ps(p + 4)));
#else
    for (int i = 0; i < PR_LANES; i++)
        (*x)[i] = sqrtf((*x)[i]);
#endif
}

enum { STEP, KEEP1, KEEP2, BETA2, EPSILON, DECAY, CORRECTION };

/* in g; out w, m, v. KEEP1, KEEP2: 1 - beta. */
PR_INLINE void adam_loop(const struct pr_flat *f, const struct pr_io *io,
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
        root(&s);
        PR_PUT(m + i, a);
        PR_PUT(v + i, b);
        PR_PUT(w + i, old - a / (s * k[CORRECTION] + k[EPSILON]) * k[STEP]);
    }
}
PR_FLAT(adam)

void pr_k_adam(const struct pr_par *p, size_t count, const struct pr_adam *o,
               float *w, const float *g, float *m, float *v)
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

    pr_kernel_run(p, count, adam(), &f);
}
