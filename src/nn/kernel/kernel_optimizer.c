/*
 * Steps of SGD with momentum and of Adam, in PyTorch's order of operations, and
 * how long a gradient is; and the peak of the machine.
 */
#include "base/clock.h"
#include "nn/kernel/kernel_flat.h"
#include "nn/kernel/kernel_root.h"
#include "nn/kernel/kernels.h"

#include <math.h>

/* ---- what the machine can do at most: multiply-adds on registers, with more
 * sums under way than the units take steps to finish one */

struct work {
    const struct pr_threads *par;
    pr_threads_fn *fn;
    size_t steps;
    float factor, more;
};

#define FEW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define MANY(X) \
    FEW(X)      \
    X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)

#define OPEN(i) vec a##i = start + (float)(i);
#define PEAK_STEP(i) a##i = a##i * factor + more;
#define CLOSE(i) start += a##i;

/* A loop NAME on vectors of so many bytes, with the sums of LIST; NAME_flops is
 * what a step does. The result is put where a compiler cannot ignore it. */
#define LOOP(name, target, bytes, LIST, count)                               \
    enum { name##_flops = (bytes) / 4 * (count)*2 };                         \
    target static void name(void *ctx, unsigned thread, unsigned threads)    \
    {                                                                        \
        typedef float vec __attribute__((vector_size(bytes)));               \
        const struct work *w = ctx;                                          \
        vec start = {0}, factor = start + w->factor, more = start + w->more; \
        float *out = pr_threads_scratch(w->par, thread);                     \
                                                                             \
        (void)threads;                                                       \
        LIST(OPEN)                                                           \
        for (size_t n = 0; n < w->steps; n++) {                              \
            LIST(PEAK_STEP)                                                  \
        }                                                                    \
        LIST(CLOSE)                                                          \
        for (size_t i = 0; i < (bytes) / 4; i++)                             \
            out[i] = start[i];                                               \
    }

/* clang-format off */
#if defined(__x86_64__)
LOOP(peak_avx512, __attribute__((target("avx512f"))), 64, MANY, 24)
LOOP(peak_avx2, __attribute__((target("avx2,fma"))), 32, FEW, 12)
LOOP(peak_baseline, , 16, FEW, 12)
#else
LOOP(peak_baseline, , 16, MANY, 24)
#endif
/* clang-format on */

static pr_threads_fn *choose_peak_loop(double *ret_flops)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        *ret_flops = peak_avx512_flops;
        return peak_avx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        *ret_flops = peak_avx2_flops;
        return peak_avx2;
    }
#endif
    *ret_flops = peak_baseline_flops;
    return peak_baseline;
}

/* Beside the result a thread leaves how long it took. */
enum { NS_AT = 64 };

static void run_timed_loop(void *ctx, unsigned thread, unsigned threads)
{
    const struct work *w = ctx;
    char *scratch = pr_threads_scratch(w->par, thread);
    uint64_t from = pr_clock_ns();

    w->fn(ctx, thread, threads);
    *(uint64_t *)(void *)(scratch + NS_AT) = pr_clock_ns() - from;
}

/* How long the work took the quickest and the slowest thread: where others
 * compute too, the round itself is mostly waiting for threads to start. */
static void read_loop_times(const struct pr_threads *p, uint64_t *ret_least,
                            uint64_t *ret_most)
{
    *ret_least = UINT64_MAX;
    *ret_most = 1;
    for (unsigned i = 0; i < pr_threads_count(p); i++) {
        const char *scratch = pr_threads_scratch(p, i);
        uint64_t ns = *(const uint64_t *)(const void *)(scratch + NS_AT);

        *ret_least = ns < *ret_least ? ns : *ret_least;
        *ret_most = ns > *ret_most ? ns : *ret_most;
    }
}

double pr_kernel_peak(const struct pr_threads *p)
{
    const uint64_t round_ns = 3000000, all_ns = 250000000;
    struct work w = {p, NULL, 10000, 0.9999f, 0.0001f};
    uint64_t begin = pr_clock_ns();
    double flops, best = 0;

    w.fn = choose_peak_loop(&flops);
    flops *= pr_threads_count(p);
    while (pr_clock_ns() - begin < all_ns) {
        uint64_t least, most;
        double rate;

        pr_threads_run(p, run_timed_loop, &w);
        read_loop_times(p, &least, &most);
        rate = flops * (double)w.steps * 1e9 / (double)most;
        if (rate > best)
            best = rate;
        if (least < round_ns)
            w.steps *= 2;
    }
    return best;
}

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
