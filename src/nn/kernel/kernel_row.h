/*
 * Vectors of a row that need not fill the last one, and sums over a row: in
 * float32 over a piece, pieces in doubles.
 */
#ifndef PR_NN_KERNEL_ROW_H
#define PR_NN_KERNEL_ROW_H

#include "nn/kernel/kernel_exp.h"

/* Elements whose sum is taken in float32. */
enum { PR_ROW_PIECE = 1024 };

/* A vector of what is left of a row; what is missing becomes fill. By a copy in
 * memory: lanes of a number that is not known would keep the vector there in
 * whole loops. */
PR_INLINE void pr_row_load(const float *x, size_t count, float fill,
                           pr_vec *ret)
{
    float all[PR_LANES];

    if (count >= PR_LANES) {
        *ret = PR_AT(x);
        return;
    }
    for (size_t i = 0; i < PR_LANES; i++)
        all[i] = i < count ? x[i] : fill;
    *ret = PR_AT(all);
}

PR_INLINE void pr_row_store(const pr_vec *v, float *to, size_t count)
{
    float all[PR_LANES];

    if (count >= PR_LANES) {
        PR_PUT(to, *v);
        return;
    }
    PR_PUT(all, *v);
    for (size_t i = 0; i < count; i++)
        to[i] = all[i];
}

PR_INLINE float pr_vec_total(const pr_vec *v)
{
    return (((*v)[0] + (*v)[4]) + ((*v)[2] + (*v)[6])) +
           (((*v)[1] + (*v)[5]) + ((*v)[3] + (*v)[7]));
}

PR_INLINE void pr_vec_add_up(const pr_vec *v, pr_dvec *sum)
{
    *sum += PR_TO_DOUBLE((const float *)v);
    *sum += PR_TO_DOUBLE((const float *)v + PR_DLANES);
}

PR_INLINE double pr_dvec_total(const pr_dvec *v)
{
    return ((*v)[0] + (*v)[2]) + ((*v)[1] + (*v)[3]);
}

/* The larger one of each lane; NaN in b is not seen. */
PR_INLINE void pr_vec_most(pr_vec *a, const pr_vec *b)
{
    pr_ivec more = (pr_ivec)(*b > *a);

    *a = (pr_vec)((PR_BITS(*b) & more) | (PR_BITS(*a) & ~more));
}

PR_INLINE float pr_row_max(const float *x, size_t n)
{
    enum { STEP = 4 * PR_LANES };
    pr_vec m0 = PR_ALL(x[0]), m1 = m0, m2 = m0, m3 = m0, v;
    size_t i = 0;
    float ret;

#define SLOT(k)                      \
    v = PR_AT(x + i + k * PR_LANES); \
    pr_vec_most(&m##k, &v);
    for (; i + STEP <= n; i += STEP) {
        SLOT(0) SLOT(1) SLOT(2) SLOT(3)
    }
#undef SLOT
    for (; i < n; i += PR_LANES) {
        pr_row_load(x + i, n - i, x[0], &v);
        pr_vec_most(&m0, &v);
    }
    pr_vec_most(&m0, &m1);
    pr_vec_most(&m3, &m2);
    pr_vec_most(&m0, &m3);
    ret = m0[0];
    for (int k = 1; k < PR_LANES; k++)
        ret = m0[k] > ret ? m0[k] : ret;
    return ret;
}

/* x = exp(x - max) over a piece; their sum is added to sum. */
PR_INLINE void pr_row_exp_piece(float *x, size_t n, float max, pr_dvec *sum)
{
    pr_vec all = {0}, v, e;
    size_t i = 0;

    for (; i + PR_LANES <= n; i += PR_LANES) {
        v = PR_AT(x + i) - max;
        pr_vec_exp(&v, &e);
        PR_PUT(x + i, e);
        all += e;
    }
    if (i < n) {
        pr_row_load(x + i, n - i, max, &v);
        v -= max;
        pr_vec_exp(&v, &e);
        pr_row_store(&e, x + i, n - i);
        for (size_t k = n - i; k < PR_LANES; k++)
            e[k] = 0;
        all += e;
    }
    pr_vec_add_up(&all, sum);
}

/* Softmax of n numbers, in place. */
PR_INLINE void pr_row_softmax(float *x, size_t n)
{
    float max = pr_row_max(x, n), factor;
    pr_dvec sum = {0};
    size_t i = 0;

    for (size_t at = 0; at < n; at += PR_ROW_PIECE)
        pr_row_exp_piece(x + at, n - at < PR_ROW_PIECE ? n - at : PR_ROW_PIECE,
                         max, &sum);
    factor = (float)(1 / pr_dvec_total(&sum));
    for (; i + PR_LANES <= n; i += PR_LANES)
        PR_PUT(x + i, PR_AT(x + i) * factor);
    for (; i < n; i++)
        x[i] *= factor;
}

/* sum(a * b) */
PR_INLINE double pr_row_dot(const float *a, const float *b, size_t n)
{
    pr_dvec sum = {0};

    for (size_t at = 0; at < n; at += PR_ROW_PIECE) {
        size_t end = n - at < PR_ROW_PIECE ? n : at + PR_ROW_PIECE, i = at;
        pr_vec s = {0}, t = {0}, u, v;

        for (; i + 2 * PR_LANES <= end; i += 2 * PR_LANES) {
            s += PR_AT(a + i) * PR_AT(b + i);
            t += PR_AT(a + i + PR_LANES) * PR_AT(b + i + PR_LANES);
        }
        for (; i < end; i += PR_LANES) {
            pr_row_load(a + i, end - i, 0, &u);
            pr_row_load(b + i, end - i, 0, &v);
            s += u * v;
        }
        s += t;
        pr_vec_add_up(&s, &sum);
    }
    return pr_dvec_total(&sum);
}

/* x = y * (x - sum(x * y)) * factor: the way back through softmax, in place */
PR_INLINE void pr_row_softmax_back(const float *y, size_t n, float factor,
                                   float *x)
{
    float mean = (float)pr_row_dot(x, y, n);
    size_t i = 0;

    for (; i + PR_LANES <= n; i += PR_LANES)
        PR_PUT(x + i, PR_AT(y + i) * (PR_AT(x + i) - mean) * factor);
    for (; i < n; i++)
        x[i] = y[i] * (x[i] - mean) * factor;
}

#endif
