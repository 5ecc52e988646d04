/*
 * Loops over a row of logits that losses have in common. Whole vectors go in a
 * loop without branches; what is left is copied into one.
 */
#ifndef PR_NN_KERNEL_LOGITS_H
#define PR_NN_KERNEL_LOGITS_H

#include "nn/kernel/kernel_row.h"

#include <math.h>

/* exp(x - max) of whole vectors, to "to" unless that is NULL, and their sum. */
PR_INLINE void pr_logits_exp_piece(const float *x, size_t c, float max,
                                   size_t ahead, float *to, pr_vec *sum)
{
    pr_vec all = {0}, v, e;

    for (size_t i = 0; i < c; i += PR_LANES) {
        __builtin_prefetch(x + i + ahead, 0, 2);
        v = PR_AT(x + i) - max;
        pr_vec_exp_down(&v, &e);
        all += e;
        if (to)
            PR_PUT(to + i, e);
    }
    *sum = all;
}

/* The sum of exp(x - max); each of them goes to "to" unless that is NULL. A few
 * vectors are added up before they become doubles. What lies ahead elements
 * further on is fetched along the way, as the next row: memory works while we
 * compute. */
PR_INLINE double pr_logits_exp(const float *x, size_t c, float max,
                               size_t ahead, float *to)
{
    enum { PIECE = 16 * PR_LANES };
    size_t whole = c - c % PR_LANES, i = 0;
    pr_dvec sum = {0};
    pr_vec all;

    for (; i + PIECE <= whole; i += PIECE) {
        pr_logits_exp_piece(x + i, PIECE, max, ahead, to ? to + i : NULL, &all);
        pr_vec_add_up(&all, &sum);
    }
    pr_logits_exp_piece(x + i, whole - i, max, ahead, to ? to + i : NULL, &all);
    pr_vec_add_up(&all, &sum);
    if (whole < c) {
        float tail[PR_LANES];
        pr_vec v;

        pr_row_load(x + whole, c - whole, -INFINITY, &v);
        PR_PUT(tail, v);
        pr_logits_exp_piece(tail, PR_LANES, max, 0, tail, &all);
        pr_vec_add_up(&all, &sum);
        v = PR_AT(tail);
        if (to)
            pr_row_store(&v, to + whole, c - whole);
    }
    return pr_dvec_total(&sum);
}

/* x = x * factor + more */
PR_INLINE void pr_logits_scale(float *x, size_t c, float factor, float more)
{
    size_t i = 0;

    for (; i + PR_LANES <= c; i += PR_LANES)
        PR_PUT(x + i, PR_AT(x + i) * factor + more);
    for (; i < c; i++)
        x[i] = x[i] * factor + more;
}

#endif
