/*
 * Recurrent layers: products with weights that were packed once and are used
 * for every row, the loops over gates, and both ways to go over the rows.
 *
 * What is kept of a row for the way back is four numbers for each output: the
 * gates i, f, g, o of an lstm; of a gru R h + rb of n, then r, z, n, so that
 * what comes from the state is the first three, what comes from the input the
 * last three. Backward has the gradients of the sums in their place.
 */
#ifndef PR_NN_KERNEL_RNN_H
#define PR_NN_KERNEL_RNN_H

#include "nn/engine/threads.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- products with a packed matrix (kernel_product.c) */

enum { PR_PANEL = 16 }; /* columns of a panel; the last may have half of them */

/* A matrix b of [k, n] in panels of columns, each with its rows one after
 * another; columns that fill up are 0. */
struct pr_panels {
    size_t k, n;
    float *data;
};
/* Floats of it. */
size_t pr_panels_floats(size_t k, size_t n);

/* c (+)= a * b of m rows. Element (i, k) of a is a[i * a_row + k * a_col].
 * Columns [from, to) of b, from a multiple of PR_PANEL; c is the place of
 * column 0. On the caller. */
struct pr_panel_product {
    const struct pr_panels *b;
    size_t m, from, to;
    const float *a;
    size_t a_row, a_col;
    float *c;
    size_t c_row;
    bool add;
};
void pr_kernel_panel_product(const struct pr_panel_product *p);

/* Puts a matrix of count rows into part [thread] of [threads] of the panels:
 * columns [n0, n0 + n) and rows [k0, k0 + k) of them. Element (k, n) is
 * from[k * by_k + n * by_n]. The rest must be 0 already. */
struct pr_panel_fill {
    const float *from;
    size_t by_k, by_n;
    size_t k0, k, n0, n;
};
void pr_kernel_panel_fill(const struct pr_panels *to,
                          const struct pr_panel_fill *f, unsigned thread,
                          unsigned threads);

/* ---- gates of one row of count samples, on the caller (kernel_rnn.c) */

/* What is ours has room for a multiple of 8 where gap says so: `gap` numbers
 * from gate to gate, out or out rounded up. y, state, dy and what was before
 * have out numbers each. */
struct pr_rnn_gates {
    bool is_gru;
    size_t count, out, gap;
    float *gates; /* in: sums; out: what is kept */
    size_t gate_row;
    const float *bias; /* added to the sums, 4 times out rounded up; or NULL */
    const float *before; /* lstm: c, gru: h; NULL: 0 */
    size_t before_row;
    float *cell; /* lstm: c, gap numbers; may be what was before */
    size_t cell_row;
    float *y, *state; /* h, twice; state may be NULL, and what was before */
    size_t y_row, state_row;
};
void pr_kernel_rnn_gates(const struct pr_rnn_gates *g);

struct pr_rnn_gates_back {
    bool is_gru;
    size_t count, out, gap;
    const float *gates; /* as kept */
    size_t gate_row;
    float *sums; /* their gradients; may be gates */
    size_t sum_row;
    const float *before; /* as in forward */
    size_t before_row;
    const float *cell; /* lstm: c */
    size_t cell_row;
    const float *dy;
    size_t dy_row;
    float *dh; /* in: what the row after this one gives; out, gru: what goes
                  past the gates, to which the product is to be added */
    float *dc; /* lstm: in and out */
    size_t d_row;
    bool is_last; /* no row after this one: dh and dc are 0 */
};
void pr_kernel_rnn_gates_back(const struct pr_rnn_gates_back *g);

/* The biases as gates take them: 4 times out rounded up. */
void pr_kernel_rnn_bias(bool is_gru, size_t out, const float *bias,
                        const float *recurrent, float *to);

/* ---- a layer */

struct pr_rnn {
    bool is_gru, reverse;
    size_t batch, rows, in, out;
};

static inline size_t pr_rnn_gate_count(const struct pr_rnn *r)
{
    return r->is_gru ? 3 : 4;
}

/* Tensors of it; [batch, rows, features] and as pr_layer_tensors says. */
struct pr_rnn_data {
    const float *x;
    const float *weight, *recurrent, *bias, *recurrent_bias;
    float *y;
    float *state; /* carried: h, then c, each [batch, out]; NULL: 0 */
    float *begin; /* state as it was before; NULL: not wanted */
    float *kept;  /* gates, then cells; see the sizes */
    float *room;
    /* Backward. */
    const float *dy;
    float *sums; /* steps: gradients of sums, like kept; may be that */
    float *dx;   /* NULL: not wanted, as all of these or the next four */
    float *dweight, *drecurrent, *dbias, *drecurrent_bias;
};

/* A piece of room at *at, which moves on; NULL while it is only measured. */
static inline float *pr_rnn_cut_room(const struct pr_rnn_data *d, size_t *at,
                                     size_t floats)
{
    float *piece = d->room ? d->room + *at : NULL;

    *at += pr_round_up(floats, 16);
    return piece;
}

/* ---- by samples: each thread takes some through all rows, with weights that
 * stay in its cache (kernel_rnn.c) */

/* Whether it is the better way: up to about 100 outputs both take the same
 * processor time, but here threads do not wait for each other row after row;
 * from 190 on the other way takes a quarter less. Few samples must not leave
 * threads idle, unless there is hardly anything to do. */
bool pr_rnn_samples_fit(const struct pr_rnn *r, unsigned threads);
/* Floats of kept and of room. */
size_t pr_rnn_samples_kept(const struct pr_rnn *r, bool training);
size_t pr_rnn_samples_room(const struct pr_rnn *r, unsigned threads,
                           bool backward);
void pr_rnn_samples_forward(const struct pr_threads *p, const struct pr_rnn *r,
                            const struct pr_rnn_data *d, bool training);
void pr_rnn_samples_back(const struct pr_threads *p, const struct pr_rnn *r,
                         const struct pr_rnn_data *d);

/* ---- row by row: all threads share the product of each, and what does not
 * depend on the state is one product for all rows (op_rnn_steps.c) */

struct pr_onednn;
struct pr_err;

size_t pr_rnn_steps_kept(const struct pr_rnn *r);
size_t pr_rnn_steps_room(const struct pr_rnn *r, bool backward);
int pr_rnn_steps_forward(const struct pr_onednn *dnn,
                         const struct pr_threads *p, const struct pr_rnn *r,
                         const struct pr_rnn_data *d,
                         struct pr_err *err) PR_MUST_CHECK;
int pr_rnn_steps_back(const struct pr_onednn *dnn, const struct pr_threads *p,
                      const struct pr_rnn *r, const struct pr_rnn_data *d,
                      struct pr_err *err) PR_MUST_CHECK;

#endif
