/* Curves, and their way back from what they gave or what they were given. */
#include "nn/kernel/kernel_exp.h"
#include "nn/kernel/kernel_flat.h"

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

/* ---- backward. in: y or x, terms */

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
