/* Relu, sigmoid and tanh, and their way back from what they gave. */
#include "nn/kernel_exp.h"
#include "nn/kernel_flat.h"

PR_INLINE void sigmoid_loop(const struct pr_flat *f, const struct pr_io *io,
                            size_t first, size_t from, size_t to)
{
    (void)f, (void)first;
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec x = -PR_AT(io->in[0] + i), e;

        pr_vec_exp(&x, &e);
        PR_PUT(io->out[0] + i, 1 / (1 + e));
    }
}
PR_FLAT(sigmoid)

/* With e = exp(-2 |x|) - 1, which is exact near 0: -e / (e + 2). */
PR_INLINE void tangent_loop(const struct pr_flat *f, const struct pr_io *io,
                            size_t first, size_t from, size_t to)
{
    (void)f, (void)first;
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec x = PR_AT(io->in[0] + i), scale, rest, e;
        pr_ivec sign = PR_BITS(x) & INT32_MIN;

        x = -2 * (pr_vec)(PR_BITS(x) ^ sign);
        pr_vec_exp_parts(&x, &scale, &rest);
        e = scale * rest + (scale - 1);
        e = -e / (e + 2);
        PR_PUT(io->out[0] + i, (pr_vec)(PR_BITS(e) | sign));
    }
}
PR_FLAT(tangent)

void pr_k_curve(const struct pr_par *p, size_t count, enum pr_curve kind,
                const float *x, float *y)
{
    struct pr_flat f = {{{x}, {y}, 1, 1}, count, {0}, 0, 0};

    if (kind == PR_CURVE_RELU)
        pr_k_sum(p, count, &x, 1, true, y);
    else
        pr_kernel_run(p, count, kind == PR_CURVE_TANH ? tangent() : sigmoid(),
                      &f);
}

/* in: y, terms */
PR_INLINE void back_kind(const struct pr_io *io, size_t from, size_t to,
                         enum pr_curve kind)
{
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec y = PR_AT(io->in[0] + i), g = PR_AT(io->in[1] + i);

        for (unsigned k = 2; k < io->ins; k++)
            g += PR_AT(io->in[k] + i);
        if (kind == PR_CURVE_RELU)
            g = (pr_vec)(PR_BITS(g) & ~(pr_ivec)(y <= 0));
        else if (kind == PR_CURVE_SIGMOID)
            g *= y * (1 - y);
        else
            g *= 1 - y * y;
        PR_PUT(io->out[0] + i, g);
    }
}

PR_INLINE void back_loop(const struct pr_flat *f, const struct pr_io *io,
                         size_t first, size_t from, size_t to)
{
    (void)first;
    if (f->key == PR_CURVE_RELU)
        back_kind(io, from, to, PR_CURVE_RELU);
    else if (f->key == PR_CURVE_SIGMOID)
        back_kind(io, from, to, PR_CURVE_SIGMOID);
    else
        back_kind(io, from, to, PR_CURVE_TANH);
}
PR_FLAT(back)

void pr_k_curve_back(const struct pr_par *p, size_t count, enum pr_curve kind,
                     const float *y, const float *const *terms,
                     unsigned term_count, float *dx)
{
    struct pr_flat f = {
        .io = {.in = {y}, .out = {dx}, .ins = term_count + 1, .outs = 1},
        .count = count,
        .key = kind,
    };

    for (unsigned i = 0; i < term_count; i++)
        f.io.in[i + 1] = terms[i];
    pr_kernel_run(p, count, back(), &f);
}
