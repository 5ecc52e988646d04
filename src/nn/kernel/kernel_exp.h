/* The exponential of a vector, to about 1e-7 of the result, and the hyperbolic
 * tangent. */
#ifndef PR_NN_KERNEL_EXP_H
#define PR_NN_KERNEL_EXP_H

#include "nn/kernel/kernel_vec.h"

/* exp(x) = *scale * (1 + *rest): in two parts, because exp(x) - 1 wants them.
 * For x from -87 to 88, and NaN. */
PR_INLINE void pr_vec_exp_core(const pr_vec *in, pr_vec *scale, pr_vec *rest)
{
    const float round = 12582912; /* 1.5 * 2^23: its last bit is worth 1 */
    pr_vec x = *in, n, r, p;

    n = x * 1.44269504f + round;
    *scale = (pr_vec)((PR_BITS(n) + 127) << 23);
    n -= round;
    r = x - n * 0.693359375f; /* ln 2 in two parts, the first one short */
    r -= n * -2.12194440e-4f;
    p = r * (1 / 5040.f) + 1 / 720.f;
    p = p * r + 1 / 120.f;
    p = p * r + 1 / 24.f;
    p = p * r + 1 / 6.f;
    p = p * r + 0.5f;
    p = p * r + 1.f;
    *rest = p * r;
}

/* x is taken as -87 below that and 88 above; NaN stays. */
PR_INLINE void pr_vec_exp_parts(const pr_vec *in, pr_vec *scale, pr_vec *rest)
{
    pr_vec x = *in;
    pr_ivec high = x > 88, low = x < -87;

    x = (pr_vec)((PR_BITS(x) & ~(high | low)) | (PR_BITS(PR_ALL(88.f)) & high) |
                 (PR_BITS(PR_ALL(-87.f)) & low));
    pr_vec_exp_core(&x, scale, rest);
}

/* Of x at most 0: 0 below -87. */
PR_INLINE void pr_vec_exp_down(const pr_vec *x, pr_vec *ret)
{
    pr_ivec low = *x < -87;
    pr_vec scale, rest;

    pr_vec_exp_core(x, &scale, &rest);
    *ret = (pr_vec)(PR_BITS(scale * rest + scale) & ~low);
}

PR_INLINE void pr_vec_exp(const pr_vec *x, pr_vec *ret)
{
    pr_vec scale, rest;

    pr_vec_exp_parts(x, &scale, &rest);
    *ret = scale * rest + scale;
}

/* With e = exp(-2 |x|) - 1, which is exact near 0: -e / (e + 2). */
PR_INLINE void pr_vec_tangent(pr_vec *x)
{
    pr_ivec sign = PR_BITS(*x) & INT32_MIN;
    pr_vec e = -2 * (pr_vec)(PR_BITS(*x) ^ sign), scale, rest;

    pr_vec_exp_parts(&e, &scale, &rest);
    e = scale * rest + (scale - 1);
    e = -e / (e + 2);
    *x = (pr_vec)(PR_BITS(e) | sign);
}

#endif
