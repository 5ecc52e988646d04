/* Sums, scaling, dropout, and looking for what is not a number. */
#include "base/names.h"
#include "nn/kernel/kernel_flat.h"

/* ---- y = relu?(sum of terms) */

PR_INLINE void sum_terms(const struct pr_flat *f, const struct pr_io *io,
                         size_t from, size_t to, unsigned terms)
{
    pr_ivec relu = (pr_ivec){0} + f->mask;
    float *y = io->out[0];

    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec s = PR_AT(io->in[0] + i);

        if (terms > 1)
            s += PR_AT(io->in[1] + i);
        if (terms > 2)
            s += PR_AT(io->in[2] + i);
        if (terms > 3)
            s += PR_AT(io->in[3] + i);
        PR_PUT(y + i, PR_CUT(s, relu));
    }
}

PR_INLINE void sum_elements_loop(const struct pr_flat *f,
                                 const struct pr_io *io, size_t first,
                                 size_t from, size_t to)
{
    (void)first;
    if (io->ins == 1)
        sum_terms(f, io, from, to, 1);
    else if (io->ins == 2)
        sum_terms(f, io, from, to, 2);
    else if (io->ins == 3)
        sum_terms(f, io, from, to, 3);
    else
        sum_terms(f, io, from, to, 4);
}
PR_FLAT(sum_elements)

void pr_kernel_sum(const struct pr_threads *p, size_t count,
                   const float *const *terms, unsigned term_count, bool relu,
                   float *y)
{
    struct pr_flat f = {
        .io = {.out = {y}, .ins = term_count, .outs = 1},
        .count = count,
        .mask = relu ? -1 : 0,
    };

    for (unsigned i = 0; i < term_count; i++)
        f.io.in[i] = terms[i];
    pr_kernel_run(p, count, sum_elements(), &f);
}

/* ---- y = f0 * x */

PR_INLINE void scale_elements_loop(const struct pr_flat *f,
                                   const struct pr_io *io, size_t first,
                                   size_t from, size_t to)
{
    const float *x = io->in[0];
    float *y = io->out[0], factor = f->f[0];

    (void)first;
    for (size_t i = from; i < to; i += PR_LANES)
        PR_PUT(y + i, PR_AT(x + i) * factor);
}
PR_FLAT(scale_elements)

void pr_kernel_scale(const struct pr_threads *p, size_t count, float factor,
                     const float *x, float *y)
{
    struct pr_flat f = {{{x}, {y}, 1, 1}, count, {factor}, 0, 0};

    pr_kernel_run(p, count, scale_elements(), &f);
}

/* ---- dropout: a hash of the place, and two words of the key */

/* Spreads the bits of each number over its whole: multiplication goes up,
 * shifts go down. Constants of C. Wellons' search for little bias. */
PR_INLINE void mix_bits(pr_uvec *x)
{
    *x ^= *x >> 16;
    *x *= 0x21f0aaadu;
    *x ^= *x >> 15;
    *x *= 0x735a2d97u;
    *x ^= *x >> 15;
}

/* f0: factor of what is kept; f->mask holds the bits of the limit. */
PR_INLINE void dropout_elements_loop(const struct pr_flat *f,
                                     const struct pr_io *io, size_t first,
                                     size_t from, size_t to)
{
    const pr_uvec lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    uint32_t k0 = (uint32_t)f->key, k1 = (uint32_t)(f->key >> 32);
    uint32_t limit = (uint32_t)f->mask;
    const float *x = io->in[0];
    float *y = io->out[0], factor = f->f[0];

    for (size_t i = from; i < to; i += PR_LANES) {
        uint64_t place = (uint64_t)first + i;
        uint32_t high = (uint32_t)(place >> 32) * 0x9e3779b1u;
        pr_uvec h = lanes + ((uint32_t)place + k0);
        pr_vec kept = PR_AT(x + i) * factor;

        mix_bits(&h);
        h ^= k1 + high;
        mix_bits(&h);
        PR_PUT(y + i, (pr_vec)(PR_BITS(kept) & (pr_ivec)(h >= limit)));
    }
}
PR_FLAT(dropout_elements)

void pr_kernel_dropout(const struct pr_threads *p, size_t count, float rate,
                       uint64_t key, const float *x, float *y)
{
    /* Below 1 a float is at most 1 - 2^-24, so that the limit has 32 bits. */
    bool all = !(rate < 1);
    double limit = all ? 0 : (double)rate * 4294967296.0;
    struct pr_flat f = {
        .io = {{x}, {y}, 1, 1},
        .count = count,
        .f = {all ? 0 : (float)(1 / (1 - (double)rate))},
        .mask = (int32_t)(uint32_t)(limit > 0 ? limit : 0),
        .key = pr_hash_mix(key + 0x9e3779b97f4a7c15u),
    };

    pr_kernel_run(p, count, dropout_elements(), &f);
}
