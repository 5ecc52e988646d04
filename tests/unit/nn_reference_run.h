/* The plain network: a step with all layers and losses of it, turn by turn. */
#ifndef TESTS_UNIT_NN_REFERENCE_RUN_H
#define TESTS_UNIT_NN_REFERENCE_RUN_H

#include "nn_reference_loss.h"
#include "nn_reference_move.h"
#include "nn_reference_norm.h"
#include "nn_reference_rnn.h"
#include "nn_reference_rows.h"
#include "nn_reference_window.h"

/* ---- one layer */

/* What has parameters, or takes from several places. */
static inline bool ref_known(struct ref *r, unsigned i, bool back)
{
    switch (r->m->layers[i].op) {
    case PR_LAYER_CONV:
        ref_pairs(r, i, back ? ref_conv_back_pair : ref_conv_pair);
        ref_bias(r, i, back);
        return true;
    case PR_LAYER_TRANSPOSED_CONV:
        ref_transposed(r, i, back);
        ref_bias(r, i, back);
        return true;
    case PR_LAYER_LINEAR:
        ref_linear(r, i, back);
        ref_bias(r, i, back);
        return true;
    case PR_LAYER_MAX_POOL:
    case PR_LAYER_AVERAGE_POOL:
        (back ? ref_pool_back : ref_pool)(r, i);
        return true;
    case PR_LAYER_BATCH_NORM:
        (back ? ref_norm_back : ref_norm)(r, i);
        return true;
    case PR_LAYER_LAYER_NORM:
    case PR_LAYER_INSTANCE_NORM:
        (back ? ref_own_norm_back : ref_own_norm)(r, i);
        return true;
    case PR_LAYER_LSTM:
    case PR_LAYER_GRU:
        (back ? ref_rnn_back : ref_rnn)(r, i);
        return true;
    default:
        return false;
    }
}

typedef void ref_layer_fn(struct ref *r, unsigned layer, bool back);

static inline void ref_layer(struct ref *r, unsigned i, bool back)
{
    static ref_layer_fn *const all[PR_LAYER_OP_COUNT] = {
        [PR_LAYER_EMBEDDING] = ref_table,
        [PR_LAYER_LRN] = ref_lrn,
        [PR_LAYER_GLOBAL_POOL] = ref_global,
        [PR_LAYER_SOFTMAX] = ref_softmax,
        [PR_LAYER_ATTENTION] = ref_attention,
        [PR_LAYER_ADDITIVE_ATTENTION] = ref_attention,
        [PR_LAYER_GATHER] = ref_table,
        [PR_LAYER_TRANSPOSE] = ref_move,
        [PR_LAYER_SLICE] = ref_move,
        [PR_LAYER_PIXEL_SHUFFLE] = ref_move,
        [PR_LAYER_UPSAMPLE] = ref_move,
        [PR_LAYER_REFLECT_PAD] = ref_move,
        [PR_LAYER_GRAM] = ref_gram,
        [PR_LAYER_CONCAT] = ref_concat,
        [PR_LAYER_MULTIPLY] = ref_multiply,
        [PR_LAYER_ADD] = ref_add,
    };
    ref_layer_fn *fn = all[r->m->layers[i].op];

    if (!ref_known(r, i, back))
        (fn ? fn : ref_values)(r, i, back);
}

/* ---- forward and losses */

static inline void ref_forward_turn(struct ref *r, unsigned turn)
{
    for (unsigned i = r->m->input_count; i < r->m->layer_count; i++) {
        if (r->m->layers[i].turn != turn)
            continue;
        ref_zero(r->l[i].y, r->batch * r->l[i].size);
        ref_layer(r, i, false);
    }
}

static inline void ref_loss_turn(struct ref *r, unsigned turn, bool back)
{
    for (unsigned i = 0; i < r->m->loss_count; i++)
        if (r->m->losses[i].turn == turn)
            r->losses[i] = ref_one_loss(r, i, back);
    r->loss = 0;
    for (unsigned i = 0; i < r->m->loss_count; i++)
        r->loss += r->losses[i];
}

/* Of all turns. */
static inline void ref_forward(struct ref *r)
{
    r->has_kink = false;
    for (unsigned t = 0; t < r->m->turn_count; t++)
        ref_forward_turn(r, t);
}

static inline void ref_loss(struct ref *r)
{
    for (unsigned t = 0; t < r->m->turn_count; t++)
        ref_loss_turn(r, t, false);
}

/* ---- backward */

static inline bool ref_learns(const struct ref *r, unsigned layer,
                              unsigned turn)
{
    return r->m->layers[layer].like == layer &&
           r->m->layers[layer].learns == (int)turn;
}

/* Gradients of what learns in other turns are put aside, or back. */
static inline void ref_aside(struct ref *r, unsigned turn, bool back)
{
    for (unsigned i = 0; i < r->m->layer_count; i++)
        for (unsigned k = 0; k < PR_LAYER_TENSORS; k++) {
            struct ref_layer *l = &r->l[i];
            size_t bytes = l->elements[k] * sizeof(double);

            if (!bytes || r->m->layers[i].like != i)
                continue;
            if (ref_learns(r, i, turn))
                memset(l->dp[k], 0, back ? 0 : bytes);
            else
                memcpy(back ? l->dp[k] : l->aside[k],
                       back ? l->aside[k] : l->dp[k], bytes);
        }
}

static inline void ref_backward_turn(struct ref *r, unsigned turn)
{
    ref_aside(r, turn, false);
    for (unsigned i = 0; i < r->m->layer_count; i++)
        ref_zero(r->l[i].dy, r->batch * r->l[i].size);
    ref_loss_turn(r, turn, true);
    for (unsigned i = r->m->layer_count; i-- > r->m->input_count;)
        if (r->m->layers[i].turn <= turn)
            ref_layer(r, i, true);
    ref_aside(r, turn, true);
}

static inline void ref_backward(struct ref *r)
{
    for (unsigned t = 0; t < r->m->turn_count; t++)
        ref_backward_turn(r, t);
}

/* ---- updates */

/* One number, its gradient and what the optimiser keeps of it. */
static inline void ref_change(const struct ref *r,
                              const struct pr_optimizer_opts *o, bool sparse,
                              double *w, double g, double *m, double *v)
{
    double t = (double)r->steps + 1, past;

    g += o->weight_decay * *w;
    if (o->kind == PR_SGD) {
        *m = r->steps ? o->momentum * *m + g : g;
        *w -= o->learning_rate * *m;
        return;
    }
    *m = o->beta1 * *m + (1 - o->beta1) * g;
    *v = o->beta2 * *v + (1 - o->beta2) * g * g;
    past = sqrt(1 - pow(o->beta2, t));
    /* SparseAdam's epsilon is divided by that too. */
    *w -= o->learning_rate * (*m / (1 - pow(o->beta1, t))) /
          (sqrt(*v) / past + o->epsilon / (sparse ? past : 1));
}

static inline bool ref_is_sparse(const struct ref *r, unsigned layer,
                                 const struct pr_optimizer_opts *o)
{
    const struct pr_layer *l = &r->m->layers[layer];
    bool is = l->sparse && r->may_be_sparse && o->clip == 0 &&
              o->weight_decay == 0 && (o->kind == PR_ADAM || o->momentum == 0);

    for (unsigned i = 0; i < r->m->layer_count; i++)
        is = is && (i == layer || r->m->layers[i].like != layer);
    return is;
}

static inline bool ref_is_touched(const struct ref *r, unsigned layer,
                                  size_t row)
{
    const struct ref_layer *ids = &r->l[r->m->layers[layer].inputs[0]];

    for (size_t i = 0; i < r->batch * ids->size; i++)
        if ((size_t)ids->y[i] == row)
            return true;
    return false;
}

/* By the length of all gradients of the turn. */
static inline void ref_clip(struct ref *r, unsigned turn, double clip)
{
    double squares = 0, by;

    for (int pass = 0; pass < 2; pass++) {
        by = clip / (sqrt(squares) + 1e-6);
        for (unsigned i = 0; i < r->m->layer_count; i++)
            for (unsigned k = 0; k < PR_LAYER_TENSORS; k++) {
                struct ref_layer *l = &r->l[i];

                if (!ref_learns(r, i, turn) || !l->is_learned[k])
                    continue;
                for (size_t e = 0; e < l->elements[k]; e++) {
                    if (!pass)
                        squares += l->dp[k][e] * l->dp[k][e];
                    else
                        l->dp[k][e] *= by < 1 ? by : 1;
                }
            }
    }
}

static inline void ref_update_turn(struct ref *r, unsigned turn,
                                   const struct pr_optimizer_opts *o)
{
    if (o->clip > 0)
        ref_clip(r, turn, o->clip);
    for (unsigned i = 0; i < r->m->layer_count; i++) {
        bool sparse = ref_is_sparse(r, i, o);
        size_t width = (size_t)r->m->layers[i].out;

        for (unsigned k = 0; k < PR_LAYER_TENSORS; k++) {
            struct ref_layer *l = &r->l[i];

            if (!ref_learns(r, i, turn) || !l->is_learned[k])
                continue;
            for (size_t e = 0; e < l->elements[k]; e++)
                if (!sparse || ref_is_touched(r, i, e / width))
                    ref_change(r, o, sparse, &l->p[k][e], l->dp[k][e],
                               &l->m[k][e], &l->v[k][e]);
        }
    }
}

/* A step as the engine does it: what a turn changed is there in the next. */
static inline void ref_step(struct ref *r, const struct pr_optimizer_opts *o)
{
    r->has_kink = false;
    for (unsigned t = 0; t < r->m->turn_count; t++) {
        ref_forward_turn(r, t);
        ref_backward_turn(r, t);
        ref_update_turn(r, t, o);
    }
    ref_carry(r);
    r->steps++;
}

#endif
