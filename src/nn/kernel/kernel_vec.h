/*
 * Vectors for the loops of kernels.h. A loop is written once, as an inline
 * function NAME_body with eight floats to a vector; PR_KERNEL(NAME) compiles it
 * for AVX2 with FMA and for what every processor has, and NAME() is the one
 * that fits this machine. All but the peak wait for memory, so wider vectors
 * gain nothing. Vectors are never handed over by value: how, depends on what
 * a function was compiled for.
 */
#ifndef PR_NN_KERNEL_VEC_H
#define PR_NN_KERNEL_VEC_H

#include "nn/kernel/kernels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PR_INLINE static inline __attribute__((always_inline, unused))

enum { PR_LANES = 8 };

typedef float pr_vec __attribute__((vector_size(32)));
typedef int32_t pr_ivec __attribute__((vector_size(32)));
typedef uint32_t pr_uvec __attribute__((vector_size(32)));

/* Anywhere in memory. */
typedef float pr_loose __attribute__((vector_size(32), aligned(4), may_alias));

#define PR_AT(p) (*(const pr_loose *)(const void *)(p))
#define PR_PUT(p, v) (*(pr_loose *)(void *)(p) = (v))
#define PR_ALL(x) ((pr_vec){0} + (x))
#define PR_BITS(v) ((pr_ivec)(v))

/* Four doubles, for sums. */
enum { PR_DLANES = 4 };
typedef double pr_dvec __attribute__((vector_size(32)));
typedef double pr_dloose
    __attribute__((vector_size(32), aligned(8), may_alias));
typedef float pr_half __attribute__((vector_size(16), aligned(4), may_alias));
#define PR_DAT(p) (*(const pr_dloose *)(const void *)(p))
#define PR_DPUT(p, v) (*(pr_dloose *)(void *)(p) = (v))
#define PR_TO_DOUBLE(p) \
    __builtin_convertvector(*(const pr_half *)(const void *)(p), pr_dvec)

/* Where mask is all ones, what is not above 0 becomes 0; NaN stays. */
#define PR_CUT(v, mask) ((pr_vec)(PR_BITS(v) & ~((pr_ivec)((v) <= 0) & (mask))))

#if defined(__x86_64__)
#define PR_WIDE __attribute__((target("avx2,fma")))
#define PR_HAS_WIDE() \
    (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define PR_WIDE
#define PR_HAS_WIDE() 0
#endif

#define PR_KERNEL(name)                                                \
    PR_WIDE static void name##_wide(void *ctx, unsigned t, unsigned n) \
    {                                                                  \
        name##_body(ctx, t, n);                                        \
    }                                                                  \
    static void name##_plain(void *ctx, unsigned t, unsigned n)        \
    {                                                                  \
        name##_body(ctx, t, n);                                        \
    }                                                                  \
    static pr_threads_fn *name(void)                                   \
    {                                                                  \
        return PR_HAS_WIDE() ? name##_wide : name##_plain;             \
    }

/* Runs on all threads, or at once where starting them takes longer. */
static inline void pr_kernel_run(const struct pr_threads *p, size_t elements,
                                 pr_threads_fn *fn, void *ctx)
{
    enum { FEW = 8192 };

    if (elements < FEW)
        fn(ctx, 0, 1);
    else
        pr_threads_run(p, fn, ctx);
}

/* What a loop reads and writes: element i of each belongs together. */
enum { PR_INS = PR_TERMS + 2, PR_OUTS = 3 };
struct pr_io {
    const float *in[PR_INS];
    float *out[PR_OUTS];
    unsigned ins, outs;
};

/* A vector of each, for the elements that do not fill one. */
struct pr_io_tail {
    struct pr_io io;
    float in[PR_INS][PR_LANES], out[PR_OUTS][PR_LANES];
};

/* Copies count < 8 elements from at on; what is missing is 0, or fill's in the
 * first input. */
static inline void pr_io_cut(const struct pr_io *io, size_t at, size_t count,
                             const float *fill, struct pr_io_tail *t)
{
    t->io = *io;
    for (unsigned k = 0; k < io->ins; k++) {
        for (size_t i = 0; i < PR_LANES; i++)
            t->in[k][i] = i < count        ? io->in[k][at + i]
                          : k == 0 && fill ? fill[i]
                                           : 0;
        t->io.in[k] = t->in[k];
    }
    for (unsigned k = 0; k < io->outs; k++) {
        for (size_t i = 0; i < PR_LANES; i++)
            t->out[k][i] = i < count ? io->out[k][at + i] : 0;
        t->io.out[k] = t->out[k];
    }
}

static inline void pr_io_paste(const struct pr_io *io, size_t at, size_t count,
                               const struct pr_io_tail *t)
{
    for (unsigned k = 0; k < io->outs; k++)
        for (size_t i = 0; i < count; i++)
            io->out[k][at + i] = t->out[k][i];
}

#endif
