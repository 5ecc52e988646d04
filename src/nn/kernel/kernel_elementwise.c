/*
 * Loops over elements: products and sums of tensors, what is added to channels,
 * parts of rows, scaling, dropout, curves.
 */
#include "base/names.h"
#include "nn/kernel/kernel_exp.h"
#include "nn/kernel/kernel_flat.h"

#include <string.h>

/* ---- y = product of factors */

PR_INLINE void multiply_elements_loop(const struct pr_flat *f,
                                      const struct pr_io *io, size_t first,
                                      size_t from, size_t to)
{
    (void)f, (void)first;
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec y = PR_AT(io->in[0] + i);

        for (unsigned k = 1; k < io->ins; k++)
            y *= PR_AT(io->in[k] + i);
        PR_PUT(io->out[0] + i, y);
    }
}
PR_FLAT(multiply_elements)

void pr_kernel_multiply(const struct pr_threads *p, size_t count,
                        const float *const *factors, unsigned factor_count,
                        float *y)
{
    struct pr_flat f = {
        .io = {.out = {y}, .ins = factor_count, .outs = 1},
        .count = count,
    };

    for (unsigned i = 0; i < factor_count; i++)
        f.io.in[i] = factors[i];
    pr_kernel_run(p, count, multiply_elements(), &f);
}

/* ---- y = relu?(y + bias) */

struct bias_job {
    const struct pr_grid *v;
    size_t blocks;
    const float *bias;
    bool relu;
    float *y;
};

PR_INLINE void bias_one(const struct bias_job *j, float add, float *y)
{
    *y += add;
    if (j->relu && *y <= 0)
        *y = 0;
}

/* Places that have the same floats added to each. */
PR_INLINE void bias_plane(const struct bias_job *j, const float *bias, float *y)
{
    const pr_ivec relu = (pr_ivec){0} + (j->relu ? -1 : 0);
    size_t s = j->v->s, block = j->v->block;
    bool is_lone = block == 1;
    size_t width = is_lone ? s : block, whole = width / PR_LANES * PR_LANES;

    for (size_t i = 0; i < (is_lone ? 1 : s); i++, y += block) {
        for (size_t k = 0; k < whole; k += PR_LANES) {
            pr_vec at = PR_AT(y + k);

            if (bias && is_lone)
                at += bias[0];
            else if (bias)
                at += PR_AT(bias + k);
            PR_PUT(y + k, PR_CUT(at, relu));
        }
        for (size_t k = whole; k < width; k++)
            bias_one(j, bias ? bias[is_lone ? 0 : k] : 0, y + k);
    }
}

PR_INLINE void add_channel_bias_body(void *ctx, unsigned thread,
                                     unsigned threads)
{
    const struct bias_job *j = ctx;
    const struct pr_grid *v = j->v;
    size_t from, to;

    pr_threads_part(v->n * j->blocks, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++)
        bias_plane(j, j->bias ? j->bias + i % j->blocks * v->block : NULL,
                   j->y + i * v->s * v->block);
}
PR_KERNEL(add_channel_bias)

void pr_kernel_bias(const struct pr_threads *p, const struct pr_grid *v,
                    const float *bias_values, bool relu, float *y)
{
    struct bias_job j = {v, (v->c + v->block - 1) / v->block, bias_values, relu,
                         y};

    pr_kernel_run(p, pr_grid_elements(v), add_channel_bias(), &j);
}

/* ---- parts of rows */

struct part_job {
    size_t rows, width;
    const float *x;
    float *y;
    size_t x_step, y_step;
    size_t before, after; /* floats of y that become 0 */
};

static void copy_parts(void *ctx, unsigned thread, unsigned threads)
{
    const struct part_job *j = ctx;
    size_t from, to;

    pr_threads_part(j->rows, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        float *y = j->y + i * j->y_step;

        if (j->before)
            memset(y, 0, j->before * sizeof *y);
        y += j->before;
        memcpy(y, j->x + i * j->x_step, j->width * sizeof *y);
        if (j->after)
            memset(y + j->width, 0, j->after * sizeof *y);
    }
}

void pr_kernel_part(const struct pr_threads *p, size_t rows, size_t width,
                    const float *x, size_t x_step, float *y, size_t y_step)
{
    struct part_job j = {.rows = rows,
                         .width = width,
                         .x = x,
                         .y = y,
                         .x_step = x_step,
                         .y_step = y_step};

    pr_kernel_run(p, rows * width, copy_parts, &j);
}

void pr_kernel_part_back(const struct pr_threads *p, size_t rows, size_t width,
                         const float *x, float *y, size_t first, size_t y_step)
{
    struct part_job j = {.rows = rows,
                         .width = width,
                         .x = x,
                         .y = y,
                         .x_step = width,
                         .y_step = y_step,
                         .before = first,
                         .after = y_step - first - width};

    pr_kernel_run(p, rows * y_step, copy_parts, &j);
}

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

/* ---- curves, and their way back from what they gave or were given */

PR_INLINE void sigmoid_curve_loop(const struct pr_flat *f,
                                  const struct pr_io *io, size_t first,
                                  size_t from, size_t to)
{
    (void)f, (void)first;
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec x = -PR_AT(io->in[0] + i), e;

        pr_vec_exp(&x, &e);
        PR_PUT(io->out[0] + i, 1 / (1 + e));
    }
}
PR_FLAT(sigmoid_curve)

PR_INLINE void tangent_curve_loop(const struct pr_flat *f,
                                  const struct pr_io *io, size_t first,
                                  size_t from, size_t to)
{
    (void)f, (void)first;
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec x = PR_AT(io->in[0] + i);

        pr_vec_tangent(&x);
        PR_PUT(io->out[0] + i, x);
    }
}
PR_FLAT(tangent_curve)

/* Near the largest number there is, and over it, in two factors. */
PR_INLINE void exponent_curve_loop(const struct pr_flat *f,
                                   const struct pr_io *io, size_t first,
                                   size_t from, size_t to)
{
    const float shift = 44, factor = 1.28516001e19f; /* exp(shift) */

    (void)f, (void)first;
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec x = PR_AT(io->in[0] + i), e, scale;
        pr_ivec large = (pr_ivec)(x > 80);

        x -= (pr_vec)(PR_BITS(PR_ALL(shift)) & large);
        pr_vec_exp(&x, &e);
        scale = (pr_vec)((PR_BITS(PR_ALL(factor)) & large) |
                         (PR_BITS(PR_ALL(1.f)) & ~large));
        PR_PUT(io->out[0] + i, e * scale);
    }
}
PR_FLAT(exponent_curve)

/* ---- gelu: x times the part of the normal distribution that is below x */

/* The part below -|x| is its density times a quotient of polynomials in |x|,
 * fitted to the least relative error; so nothing cancels out on either side.
 * *density lacks its factor; far out it is 0. */
PR_INLINE void normal_below(const pr_vec *in, pr_vec *below, pr_vec *density)
{
    const float far_out = 12.5f;
    pr_vec x = (pr_vec)(PR_BITS(*in) & INT32_MAX), a, b, d;
    pr_ivec is_far = (pr_ivec)(x > far_out), left = (pr_ivec)(*in < 0);

    x = (pr_vec)((PR_BITS(x) & ~is_far) | (PR_BITS(PR_ALL(far_out)) & is_far));
    d = x * x * -0.5f;
    pr_vec_exp(&d, &d);
    *density = (pr_vec)(PR_BITS(d) & ~is_far);
    a = x * 4.0201880381e-3f + 3.9984190780e-2f;
    a = a * x + 0.18130686725f;
    a = a * x + 0.43568654775f;
    a = a * x + 0.5f;
    b = x * 1.0076973798e-2f + 0.10023288402f;
    b = b * x + 0.46438060347f;
    b = b * x + 1.1944847970f;
    b = b * x + 1.6692580144f;
    b = b * x + 1.f;
    a *= *density / b;
    *below = (pr_vec)((PR_BITS(a) & left) | (PR_BITS(1 - a) & ~left));
}

PR_INLINE void gelu_curve_loop(const struct pr_flat *f, const struct pr_io *io,
                               size_t first, size_t from, size_t to)
{
    (void)f, (void)first;
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec x = PR_AT(io->in[0] + i), below, density;

        normal_below(&x, &below, &density);
        PR_PUT(io->out[0] + i, x * below);
    }
}
PR_FLAT(gelu_curve)

PR_INLINE void gelu_slope(const pr_vec *x, pr_vec *ret)
{
    pr_vec below, density;

    normal_below(x, &below, &density);
    *ret = below + *x * 0.398942280f * density; /* 1 / sqrt(2 pi) */
}

void pr_kernel_curve(const struct pr_threads *p, size_t count,
                     enum pr_curve kind, const float *x, float *y)
{
    struct pr_flat f = {{{x}, {y}, 1, 1}, count, {0}, 0, 0};

    if (kind == PR_CURVE_RELU)
        pr_kernel_sum(p, count, &x, 1, true, y);
    else
        pr_kernel_run(p, count,
                      kind == PR_CURVE_TANH      ? tangent_curve()
                      : kind == PR_CURVE_SIGMOID ? sigmoid_curve()
                      : kind == PR_CURVE_EXP     ? exponent_curve()
                                                 : gelu_curve(),
                      &f);
}

/* ---- curves: backward. in: y or x, terms */

PR_INLINE void curve_back_kind(const struct pr_io *io, size_t from, size_t to,
                               enum pr_curve kind)
{
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec y = PR_AT(io->in[0] + i), g = PR_AT(io->in[1] + i);

        for (unsigned k = 2; k < io->ins; k++)
            g += PR_AT(io->in[k] + i);
        if (kind == PR_CURVE_RELU) {
            g = (pr_vec)(PR_BITS(g) & ~(pr_ivec)(y <= 0));
        } else if (kind == PR_CURVE_SIGMOID) {
            g *= y * (1 - y);
        } else if (kind == PR_CURVE_TANH) {
            g *= 1 - y * y;
        } else if (kind == PR_CURVE_EXP) {
            g *= y;
        } else {
            gelu_slope(&y, &y);
            g *= y;
        }
        PR_PUT(io->out[0] + i, g);
    }
}

PR_INLINE void curve_back_loop(const struct pr_flat *f, const struct pr_io *io,
                               size_t first, size_t from, size_t to)
{
    (void)first;
    if (f->key == PR_CURVE_RELU)
        curve_back_kind(io, from, to, PR_CURVE_RELU);
    else if (f->key == PR_CURVE_SIGMOID)
        curve_back_kind(io, from, to, PR_CURVE_SIGMOID);
    else if (f->key == PR_CURVE_TANH)
        curve_back_kind(io, from, to, PR_CURVE_TANH);
    else if (f->key == PR_CURVE_EXP)
        curve_back_kind(io, from, to, PR_CURVE_EXP);
    else
        curve_back_kind(io, from, to, PR_CURVE_GELU);
}
PR_FLAT(curve_back)

void pr_kernel_curve_back(const struct pr_threads *p, size_t count,
                          enum pr_curve kind, const float *y,
                          const float *const *terms, unsigned term_count,
                          float *dx)
{
    struct pr_flat f = {
        .io = {.in = {y}, .out = {dx}, .ins = term_count + 1, .outs = 1},
        .count = count,
        .key = kind,
    };

    for (unsigned i = 0; i < term_count; i++)
        f.io.in[i + 1] = terms[i];
    pr_kernel_run(p, count, curve_back(), &f);
}

/* ---- leaky relu: in[1] times f0, where in[0] is not above 0 */

PR_INLINE void leaky_curve_loop(const struct pr_flat *f, const struct pr_io *io,
                                size_t first, size_t from, size_t to)
{
    (void)first;
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec x = PR_AT(io->in[0] + i), y = PR_AT(io->in[1] + i);
        pr_ivec above = (pr_ivec)(x > 0);

        PR_PUT(io->out[0] + i, (pr_vec)((PR_BITS(y) & above) |
                                        (PR_BITS(y * f->f[0]) & ~above)));
    }
}
PR_FLAT(leaky_curve)

void pr_kernel_leaky_back(const struct pr_threads *p, size_t count,
                          float factor, const float *x, const float *dy,
                          float *dx)
{
    struct pr_flat f = {{{x, dy}, {dx}, 2, 1}, count, {factor}, 0, 0};

    pr_kernel_run(p, count, leaky_curve(), &f);
}

void pr_kernel_leaky(const struct pr_threads *p, size_t count, float factor,
                     const float *x, float *y)
{
    pr_kernel_leaky_back(p, count, factor, x, x, y);
}
