/* Recurrent layers: their tensors, and the ways to compute them. */
#ifndef PR_NN_OP_RNN_ONEDNN_H
#define PR_NN_OP_RNN_ONEDNN_H

#include "nn/engine/net_impl.h"
#include "nn/kernel/kernel_rnn.h"

/* Tensors of pr_layer_tensors. */
enum { PR_RNN_WEIGHT, PR_RNN_RECURRENT, PR_RNN_BIAS, PR_RNN_RECURRENT_BIAS };

/* What a node keeps in extra. */
enum {
    PR_RNN_KEPT,  /* between forward and backward */
    PR_RNN_STATE, /* from call to call; PR_NO_TENSOR without carry */
    PR_RNN_BEGIN, /* what it was before; in training */
    PR_RNN_WAY,   /* enum pr_nn_rnn */
    /* oneDNN's has more tensors for states, and keeps in node.work. */
    PR_RNN_BEGIN_CELL,
    PR_RNN_END,
    PR_RNN_END_CELL = PR_RNN_KEPT,
};

struct pr_rnn pr_op_rnn_sizes(const struct pr_net *net, unsigned layer);

extern const struct pr_op pr_op_rnn_unrolled, pr_op_rnn_onednn;

#endif
