/* For operations that take ids. */
#ifndef PR_NN_OP_H
#define PR_NN_OP_H

#include "nn/engine/net_impl.h"

/* PR_E_FORMAT, with the layer's name, when one of the ids of the batch, so many
 * of a sample, is not in [0, limit). */
int pr_op_check_ids(const struct pr_net *net, const struct pr_net_step *s,
                    const int32_t *ids, size_t each, int64_t limit,
                    struct pr_err *err) PR_MUST_CHECK;

/* The same for lengths, one of a sample, in [1, most]. */
int pr_op_check_lengths(const struct pr_net *net, const struct pr_net_step *s,
                        const int32_t *lengths, int64_t most,
                        struct pr_err *err) PR_MUST_CHECK;

#endif
