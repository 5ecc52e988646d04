/* Inside of op_rnn_onednn*.c. */
#ifndef PR_NN_OP_RNN_ONEDNN_H
#define PR_NN_OP_RNN_ONEDNN_H

#include "nn/op_rnn.h"

/* Copies gates of a gru, `size` numbers each: reset and update change places;
 * there and back is the same. */
void pr_ro_swap_gates(const float *from, size_t size, float *to);
/* A step that does so; *ret may be a tensor already. */
int pr_ro_swapped(struct pr_net *net, int from, size_t size, int *ret,
                  struct pr_err *err) PR_MUST_CHECK;

/* What a pass takes of weights. */
struct pr_ro_taken {
    int weights, recurrent, bias;
};
int pr_ro_take(struct pr_net *net, unsigned layer, const struct pr_prim *prim,
               struct pr_ro_taken *ret, struct pr_err *err) PR_MUST_CHECK;
/* A step with the arguments that both passes have. */
int pr_ro_add(struct pr_net *net, unsigned layer, struct pr_prim *prim,
              const struct pr_ro_taken *w, struct pr_err *err) PR_MUST_CHECK;
struct pr_recurrent pr_ro_what(const struct pr_net *net, unsigned layer);

int pr_op_rnn_onednn_back(struct pr_net *net, unsigned layer,
                          struct pr_err *err) PR_MUST_CHECK;

#endif
