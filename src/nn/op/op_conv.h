/* What convolutions and those turned around share. */
#ifndef PR_NN_OP_CONV_H
#define PR_NN_OP_CONV_H

#include "nn/engine/net_impl.h"

/* The type of numbers that products are made of; results are float32. */
enum pr_layout_type pr_op_product_type(const struct pr_net *net);

/* The same shape in whatever layout oneDNN likes. NULL: out of memory. */
const struct pr_layout *pr_op_product_any_layout(struct pr_net *net,
                                                 const struct pr_layout *like,
                                                 enum pr_layout_type type);

/* A primitive with the layouts that values have (forced), unless oneDNN has no
 * code for that. hint: the forward one, for the others. */
int pr_op_product_choose(struct pr_net *net, enum pr_pass pass,
                         const struct pr_product *free,
                         const struct pr_product *forced,
                         const struct pr_primitive *hint,
                         struct pr_primitive **ret,
                         struct pr_err *err) PR_MUST_CHECK;

/* The layer's weights in the layout of a primitive. */
int pr_op_product_weights(struct pr_net *net, const struct pr_net_node *n,
                          const struct pr_primitive *p, int *ret,
                          struct pr_err *err) PR_MUST_CHECK;

/* transposed_conv (op_pool.c). */
extern const struct pr_op pr_op_transposed;

#endif
