/* Inside of op_rnn_onednn*.c. */
#ifndef PR_NN_OP_RNN_ONEDNN_H
#define PR_NN_OP_RNN_ONEDNN_H

#include "nn/op/op_rnn.h"

/* Copies gates of a gru, `size` numbers each: reset and update change places;
 * there and back is the same. */
void pr_op_rnn_swap_gates(const float *from, size_t size, float *to);
/* A step that does so; *ret may be a tensor already. */
int pr_op_rnn_emit_swap(struct pr_net *net, int from, size_t size, int *ret,
                        struct pr_err *err) PR_MUST_CHECK;

/* What a pass takes of weights. */
struct pr_op_rnn_onednn_weights {
    int weights, recurrent, bias;
};
int pr_op_rnn_onednn_weights(struct pr_net *net, unsigned layer,
                             const struct pr_primitive *prim,
                             struct pr_op_rnn_onednn_weights *ret,
                             struct pr_err *err) PR_MUST_CHECK;
/* A step with the arguments that both passes have. */
int pr_op_rnn_onednn_add_step(struct pr_net *net, unsigned layer,
                              struct pr_primitive *prim,
                              const struct pr_op_rnn_onednn_weights *w,
                              struct pr_err *err) PR_MUST_CHECK;
struct pr_recurrent pr_op_rnn_onednn_sizes(const struct pr_net *net,
                                           unsigned layer);

int pr_op_rnn_onednn_backward(struct pr_net *net, unsigned layer,
                              struct pr_err *err) PR_MUST_CHECK;

#endif
