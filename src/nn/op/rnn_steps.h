/*
 * Inside of op_rnn_steps*.c: a recurrent layer row by row, for weights that are
 * too large for a cache. All threads share the product of each row's state with
 * them. They are packed once for all rows; the products with the input and
 * those for the weights' gradients are each one of oneDNN's for all rows.
 */
#ifndef PR_NN_RNN_STEPS_H
#define PR_NN_RNN_STEPS_H

#include "nn/engine/dnn.h"
#include "nn/kernel/kernel_vec.h"
#include "nn/kernel/rnn.h"

#include <string.h>

struct pr_rnn_steps {
    const struct pr_rnn *r;
    const struct pr_rnn_data *d;
    size_t row;    /* that is computed */
    size_t before; /* the one before it; rows: none */
    bool is_last;  /* to be computed */
    float *cells, *bias, *dh, *dc, *sums;
    struct pr_panels weights, more; /* of states; gru: more is r and z */
};

/* Where what depends on the input begins in what is kept of a row. */
static inline size_t pr_rnn_steps_input_at(const struct pr_rnn *r)
{
    return r->is_gru ? r->out : 0;
}

static inline float *pr_rnn_steps_kept_at(const struct pr_rnn_steps *j,
                                          size_t sample, size_t row)
{
    return j->d->kept + (sample * j->r->rows + row) * 4 * j->r->out;
}

/* What d says, with room cut up. */
struct pr_rnn_steps pr_rnn_steps_init(const struct pr_rnn *r,
                                      const struct pr_rnn_data *d,
                                      bool backward);
/* The row to be computed i-th. */
void pr_rnn_steps_go_to(struct pr_rnn_steps *j, size_t i);
/* h and c of the row before, of the first sample; NULL: 0. */
const float *pr_rnn_steps_state_before(const struct pr_rnn_steps *j,
                                       const float *state, size_t *ret_row);
const float *pr_rnn_steps_cell_before(const struct pr_rnn_steps *j,
                                      const float *state, size_t *ret_row);
/* What fills up the last panel becomes 0. */
void pr_rnn_steps_clear_last(const struct pr_panels *to);

#endif
