/*
 * Vectors of positive numbers that each have an exponent of their own, a float
 * from 1 to 2 times a power of 2: products of thousands of probabilities do not
 * vanish. It is as good as logarithms, and adding two takes neither exp nor
 * log.
 */
#ifndef PR_NN_KERNEL_PAIR_H
#define PR_NN_KERNEL_PAIR_H

#include "nn/kernel/kernel_vec.h"

/* Whole numbers, anywhere in memory. */
typedef int32_t pr_iloose
    __attribute__((vector_size(32), aligned(4), may_alias));
#define PR_IAT(p) (*(const pr_iloose *)(const void *)(p))
#define PR_IPUT(p, v) (*(pr_iloose *)(void *)(p) = (v))

enum {
    PR_NEVER = -(1 << 29), /* exponent of 0 */
    PR_PAD = PR_LANES,     /* states of probability 0 before and after all */
};

/* m * 2^e of each state; two before and two after them may be read. */
struct pr_line {
    float *m;
    int32_t *e;
};

struct pr_pair {
    pr_vec m;
    pr_ivec e;
};

static inline void pr_line_at(float *at, size_t floats, struct pr_line *ret)
{
    ret->m = at + PR_PAD;
    ret->e = (int32_t *)(void *)(at + floats) + PR_PAD;
}

static inline void pr_line_zero(const struct pr_line *l, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        l->m[i] = 0;
        l->e[i] = PR_NEVER;
    }
}

/* What is around states; and these too. */
static inline void pr_line_pads(const struct pr_line *l, size_t wide)
{
    struct pr_line before = {l->m - PR_PAD, l->e - PR_PAD};

    pr_line_zero(&before, 0, PR_PAD);
    pr_line_zero(l, wide, wide + PR_PAD);
}

static inline void pr_line_clear(const struct pr_line *l, size_t wide)
{
    pr_line_pads(l, wide);
    pr_line_zero(l, 0, wide);
}

PR_INLINE void pr_pair_load(const struct pr_line *l, size_t at, int before,
                            struct pr_pair *ret)
{
    ret->m = PR_AT(l->m + at - before);
    ret->e = PR_IAT(l->e + at - before);
}

PR_INLINE void pr_pair_store(const struct pr_pair *p, const struct pr_line *l,
                             size_t at)
{
    PR_PUT(l->m + at, p->m);
    PR_IPUT(l->e + at, p->e);
}

PR_INLINE void pr_pair_mask(const pr_ivec *mask, struct pr_pair *p)
{
    p->m = (pr_vec)(PR_BITS(p->m) & *mask);
    p->e = (p->e & *mask) | (PR_NEVER & ~*mask);
}

PR_INLINE void pr_ivec_most(const pr_ivec *v, pr_ivec *most)
{
    pr_ivec more = *v > *most;

    *most = (*v & more) | (*most & ~more);
}

/* p->m * 2^(p->e - top), with p->e not above top. */
PR_INLINE void pr_pair_at(const struct pr_pair *p, const pr_ivec *top,
                          pr_vec *ret)
{
    pr_ivec d = p->e - *top, is_some = d > -127;

    *ret = p->m * (pr_vec)(((d + 127) << 23) & is_some);
}

/* Makes m from 1 to 2 again; what is 0, or too small, becomes 0. */
PR_INLINE void pr_pair_normalise(struct pr_pair *p)
{
    pr_ivec bits = PR_BITS(p->m), k = (bits >> 23) - 127;
    pr_ivec is_some = (k > -127) & (p->e > PR_NEVER);

    p->m = (pr_vec)((bits & 0x7fffff) | (127 << 23));
    p->e += k;
    pr_pair_mask(&is_some, p);
}

PR_INLINE void pr_pair_add(const struct pr_pair *a, const struct pr_pair *b,
                           const struct pr_pair *c, struct pr_pair *ret)
{
    pr_ivec top = a->e;
    pr_vec x, y, z;

    pr_ivec_most(&b->e, &top);
    pr_ivec_most(&c->e, &top);
    pr_pair_at(a, &top, &x);
    pr_pair_at(b, &top, &y);
    pr_pair_at(c, &top, &z);
    ret->m = (x + y) + z;
    ret->e = top;
}

PR_INLINE void pr_pair_multiply(const struct pr_pair *a, struct pr_pair *b)
{
    b->m *= a->m;
    b->e += a->e;
}

#endif
