/* What some operations share, beside what all do (net_impl.h). */
#ifndef PR_NN_OP_SHARE_H
#define PR_NN_OP_SHARE_H

#include "nn/engine/net_impl.h"

/* Numbers of a sample that lie together from a dimension on. */
static inline size_t pr_op_part_numbers(const struct pr_layer *l, unsigned axis)
{
    size_t n = 1;

    for (unsigned i = axis; i < l->shape.dims; i++)
        n *= (size_t)l->shape.at[i];
    return n;
}

#endif
