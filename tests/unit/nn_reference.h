/*
 * A network computed the plain way: every layer of a model in double, forward
 * and backward, one loop after another. What the engine gives is compared with
 * this. Values of a layer are [batch, shape] in plain order; ids are numbers
 * like others. This file has what all layers have in common.
 */
#ifndef TESTS_UNIT_NN_REFERENCE_H
#define TESTS_UNIT_NN_REFERENCE_H

#include "nn/model/model.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

struct ref_layer {
    double *y, *dy;
    size_t size; /* of one sample */
    /* Of layers like another: that one's. */
    double *p[PR_LAYER_TENSORS], *dp[PR_LAYER_TENSORS];
    double *m[PR_LAYER_TENSORS], *v[PR_LAYER_TENSORS]; /* optimiser */
    double *aside[PR_LAYER_TENSORS]; /* gradients of another turn */
    size_t elements[PR_LAYER_TENSORS];
    bool is_learned[PR_LAYER_TENSORS];
    double *mean, *inv;  /* norms */
    double *mask;        /* dropout: what an element is multiplied with */
    double *scale;       /* lrn: the base of the power */
    double *work;        /* lstm, gru: gates; attention: shares */
    double *begin, *end; /* lstm, gru: state before and after, h and then c */
};

struct ref {
    const struct pr_model *m;
    size_t batch;
    bool training;
    bool has_kink;      /* something so near to where it bends that float32 may
                           take the other side */
    bool may_be_sparse; /* embeddings change by rows, where the optimiser can */
    struct ref_layer *l;
    double *room; /* for a sample of the largest layer */
    double losses[PR_LOSSES];
    double *fixed[PR_LOSSES]; /* targets of them; NULL: what is there */
    double loss;              /* all of them */
    unsigned steps;
};

/* ---- making one */

static inline size_t ref_elements(const struct pr_layer_shape *s)
{
    size_t n = 1;

    for (unsigned k = 0; k < s->dims; k++)
        n *= (size_t)s->at[k];
    return n;
}

/* The last dimension. */
static inline size_t ref_width(const struct pr_layer_shape *s)
{
    return (size_t)s->at[s->dims - 1];
}

static inline void ref_new_tensors(struct ref *r, struct pr_arena *a,
                                   unsigned layer)
{
    struct pr_layer_tensor ts[PR_LAYER_TENSORS];
    const struct pr_layer *pl = &r->m->layers[layer];
    struct ref_layer *l = &r->l[layer];
    const struct ref_layer *owner = &r->l[pl->like];
    unsigned n = pr_layer_tensors(r->m, pl, ts);

    for (unsigned k = 0; k < n; k++) {
        size_t e = 1;

        for (unsigned d = 0; d < ts[k].dims; d++)
            e *= (size_t)ts[k].at[d];
        l->elements[k] = e;
        l->is_learned[k] = ts[k].is_learned && pl->learns != PR_FROZEN;
        if (l == owner) {
            l->p[k] = PR_ARENA_ARRAY(a, double, e);
            l->dp[k] = PR_ARENA_ARRAY(a, double, e);
            l->aside[k] = PR_ARENA_ARRAY(a, double, e);
            l->m[k] = PR_ARENA_ARRAY(a, double, e);
            l->v[k] = PR_ARENA_ARRAY(a, double, e);
        } else {
            l->p[k] = owner->p[k];
            l->dp[k] = owner->dp[k];
        }
    }
}

/* Numbers of the work of a sample. */
static inline size_t ref_work(const struct ref *r, const struct pr_layer *l)
{
    size_t rows = (size_t)l->shape.at[0], keys;

    switch (l->op) {
    case PR_LAYER_LSTM:
    case PR_LAYER_GRU:
        return 5 * rows * (size_t)l->out;
    case PR_LAYER_ATTENTION:
    case PR_LAYER_ADDITIVE_ATTENTION:
        keys = (size_t)r->m->layers[l->inputs[l->input_count > 2]].shape.at[0];
        return rows * keys * (size_t)(l->heads ? l->heads : 1);
    default:
        return 0;
    }
}

static inline void ref_new(struct ref *r, struct pr_arena *a,
                           const struct pr_model *m, size_t batch,
                           bool training)
{
    size_t most = 0;

    *r = (struct ref){.m = m, .batch = batch, .training = training};
    r->l = PR_ARENA_ARRAY(a, struct ref_layer, m->layer_count);
    for (unsigned i = 0; i < m->layer_count; i++) {
        struct ref_layer *l = &r->l[i];
        size_t n = batch * ref_elements(&m->layers[i].shape);

        l->size = n / batch;
        l->y = PR_ARENA_ARRAY(a, double, n);
        l->dy = PR_ARENA_ARRAY(a, double, n);
        l->mask = PR_ARENA_ARRAY(a, double, n);
        l->scale = PR_ARENA_ARRAY(a, double, n);
        l->mean = PR_ARENA_ARRAY(a, double, n);
        l->inv = PR_ARENA_ARRAY(a, double, n);
        l->work =
            PR_ARENA_ARRAY(a, double, batch *ref_work(r, &m->layers[i]) + 1);
        l->begin =
            PR_ARENA_ARRAY(a, double, 2 * batch * (size_t)m->layers[i].out + 1);
        l->end =
            PR_ARENA_ARRAY(a, double, 2 * batch * (size_t)m->layers[i].out + 1);
        ref_new_tensors(r, a, i);
        most = l->size > most ? l->size : most;
    }
    r->room = PR_ARENA_ARRAY(a, double, 8 * most + 64);
}

/* ---- finding things */

/* Which of a layer's tensors has that suffix; -1: none. */
static inline int ref_tensor(const struct ref *r, unsigned layer,
                             const char *suffix)
{
    struct pr_layer_tensor ts[PR_LAYER_TENSORS];
    unsigned n = pr_layer_tensors(r->m, &r->m->layers[layer], ts);

    for (unsigned k = 0; k < n; k++)
        if (ts[k].suffix && strcmp(ts[k].suffix, suffix) == 0)
            return (int)k;
    return -1;
}

static inline double *ref_of(const struct ref *r, unsigned layer,
                             const char *suffix, bool gradient)
{
    int k = ref_tensor(r, layer, suffix);

    return k < 0 ? NULL : gradient ? r->l[layer].dp[k] : r->l[layer].p[k];
}

/* Shape of a layer's values: n of them are c * h * w apart. Each row of [rows,
 * features] is one by itself. */
struct ref_dims {
    size_t n, c, h, w;
};

static inline struct ref_dims ref_dims(const struct ref *r, unsigned layer)
{
    const struct pr_layer_shape *s = &r->m->layers[layer].shape;

    if (s->dims == 3)
        return (struct ref_dims){r->batch, (size_t)s->at[0], (size_t)s->at[1],
                                 (size_t)s->at[2]};
    return (struct ref_dims){r->batch * (s->dims == 2 ? (size_t)s->at[0] : 1),
                             ref_width(s), 1, 1};
}

static inline double *ref_x(const struct ref *r, unsigned layer, unsigned i)
{
    return r->l[r->m->layers[layer].inputs[i]].y;
}

static inline double *ref_dx(const struct ref *r, unsigned layer, unsigned i)
{
    return r->l[r->m->layers[layer].inputs[i]].dy;
}

static inline const struct pr_layer_shape *
ref_in_shape(const struct ref *r, unsigned layer, unsigned i)
{
    return &r->m->layers[r->m->layers[layer].inputs[i]].shape;
}

static inline void ref_zero(double *x, size_t n)
{
    memset(x, 0, n * sizeof *x);
}

/* Two values that float32 may see in another order. */
static inline void ref_near(struct ref *r, double difference)
{
    if (difference != 0 && fabs(difference) < 3e-5)
        r->has_kink = true;
}

/* ---- softmax of a row, and the way back */

static inline void ref_softmax_row(const double *x, size_t n, double *y)
{
    double most = x[0], sum = 0;

    for (size_t i = 1; i < n; i++)
        most = fmax(most, x[i]);
    for (size_t i = 0; i < n; i++)
        sum += y[i] = exp(x[i] - most);
    for (size_t i = 0; i < n; i++)
        y[i] /= sum;
}

/* dx may be dy; it is added to where `add` says so. */
static inline void ref_softmax_row_back(const double *y, const double *dy,
                                        size_t n, double *dx, bool add)
{
    double dot = 0;

    for (size_t i = 0; i < n; i++)
        dot += y[i] * dy[i];
    for (size_t i = 0; i < n; i++)
        dx[i] = (add ? dx[i] : 0) + y[i] * (dy[i] - dot);
}

#endif
