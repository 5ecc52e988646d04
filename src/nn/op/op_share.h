/* What some operations share, beside what all do (net_impl.h). */
#ifndef PR_NN_OP_SHARE_H
#define PR_NN_OP_SHARE_H

#include "nn/engine/net_impl.h"

/* ---- layers whose output lies like their input, element by element, whatever
 * the layout: one step each way (op_simple.c) */

/* Forward from src, which is the layer's input or that in another layout. The
 * step's tensors: output, src. */
int pr_op_elementwise_forward(struct pr_net *net, unsigned layer, int src,
                              pr_net_step_fn *run,
                              struct pr_err *err) PR_MUST_CHECK;

/* Backward, over the gradient where nobody else reads it. The step's tensors:
 * gradient of the input, of the output, other unless it is PR_NO_TENSOR. */
int pr_op_elementwise_backward(struct pr_net *net, unsigned layer, int other,
                               pr_net_step_fn *run,
                               struct pr_err *err) PR_MUST_CHECK;

/* ---- numbers of a sample that lie together from a dimension on */
static inline size_t pr_op_part_numbers(const struct pr_layer *l, unsigned axis)
{
    size_t n = 1;

    for (unsigned i = axis; i < l->shape.dims; i++)
        n *= (size_t)l->shape.at[i];
    return n;
}

#endif
