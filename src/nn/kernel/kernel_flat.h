/*
 * Loops that treat all elements alike, whatever the layout. PR_FLAT(NAME) makes
 * one that runs on all threads out of
 *     NAME_loop(flat, io, first, from, to)
 * which gets whole vectors of elements [from, to) of io, whose first one is
 * element first of all; those that do not fill a vector are copied.
 */
#ifndef PR_NN_KERNEL_FLAT_H
#define PR_NN_KERNEL_FLAT_H

#include "nn/kernel/kernel_vec.h"

struct pr_flat {
    struct pr_io io;
    size_t count;
    float f[8];   /* numbers of the operation */
    int32_t mask; /* 0 or -1: a choice of the operation */
    uint64_t key;
};

#define PR_FLAT(name)                                                  \
    PR_INLINE void name##_body(void *ctx, unsigned thread, unsigned n) \
    {                                                                  \
        enum { GRAIN = 1024 };                                         \
        const struct pr_flat *f = ctx;                                 \
        size_t from, to, rest;                                         \
                                                                       \
        pr_threads_part(f->count, GRAIN, thread, n, &from, &to);       \
        rest = (to - from) % PR_LANES;                                 \
        name##_loop(f, &f->io, 0, from, to - rest);                    \
        if (rest) {                                                    \
            struct pr_io_tail t;                                       \
                                                                       \
            pr_io_cut(&f->io, to - rest, rest, NULL, &t);              \
            name##_loop(f, &t.io, to - rest, 0, PR_LANES);             \
            pr_io_paste(&f->io, to - rest, rest, &t);                  \
        }                                                              \
    }                                                                  \
    PR_KERNEL(name)

#endif
