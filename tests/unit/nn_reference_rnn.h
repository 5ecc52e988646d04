/* The plain network: lstm and gru, a row after another. */
#ifndef TESTS_UNIT_NN_REFERENCE_RNN_H
#define TESTS_UNIT_NN_REFERENCE_RNN_H

#include "nn_reference.h"

/* A row of a sample. What is kept of it: of an lstm gates i, f, g, o and the
 * cell; of a gru r, z, n and what the state gives to n. */
struct ref_row {
    const struct pr_layer *pl;
    struct ref_layer *l;
    size_t out, in, gates;
    const double *x, *h, *c; /* h, c: before this row */
    double *dx, *y, *kept;
    const double *dy;
};

static inline double ref_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Step s of sample n, steps in the order in which rows are taken. */
static inline struct ref_row ref_row_at(const struct ref *r, unsigned layer,
                                        size_t n, size_t s)
{
    const struct pr_layer *pl = &r->m->layers[layer];
    struct ref_layer *l = &r->l[layer];
    size_t rows = (size_t)pl->shape.at[0], out = (size_t)pl->out;
    size_t in = ref_width(ref_in_shape(r, layer, 0));
    size_t t = n * rows + (pl->reverse ? rows - 1 - s : s);
    size_t before = pl->reverse ? t + 1 : t - 1;

    return (struct ref_row){
        .pl = pl,
        .l = l,
        .out = out,
        .in = in,
        .gates = pl->op == PR_LAYER_LSTM ? 4 : 3,
        .x = ref_x(r, layer, 0) + t * in,
        .dx = ref_dx(r, layer, 0) + t * in,
        .y = l->y + t * out,
        .dy = l->dy + t * out,
        .kept = l->work + t * 5 * out,
        .h = s ? l->y + before * out : l->begin + n * out,
        .c = s ? l->work + before * 5 * out + 4 * out
               : l->begin + (r->batch + n) * out,
    };
}

/* Gate g of output o: what the input gives, or what the state gives. */
static inline double ref_gate(const struct ref_row *w, size_t g, size_t o,
                              bool state)
{
    size_t at = g * w->out + o, n = state ? w->out : w->in;
    const double *x = state ? w->h : w->x;
    double sum = w->l->p[state ? 3 : 2][at];

    for (size_t i = 0; i < n; i++)
        sum += w->l->p[state ? 1 : 0][at * n + i] * x[i];
    return sum;
}

/* The way back from it; dh: of the row before. */
static inline void ref_gate_back(const struct ref_row *w, size_t g, size_t o,
                                 bool state, double d, double *dh)
{
    size_t at = g * w->out + o, n = state ? w->out : w->in;
    const double *x = state ? w->h : w->x;
    double *dx = state ? dh : w->dx;

    w->l->dp[state ? 3 : 2][at] += d;
    for (size_t i = 0; i < n; i++) {
        w->l->dp[state ? 1 : 0][at * n + i] += d * x[i];
        dx[i] += d * w->l->p[state ? 1 : 0][at * n + i];
    }
}

/* ---- forward */

static inline void ref_lstm_row(const struct ref_row *w, size_t o)
{
    double *k = w->kept + o, a[4];
    size_t n = w->out;

    for (size_t g = 0; g < 4; g++)
        a[g] = ref_gate(w, g, o, false) + ref_gate(w, g, o, true);
    k[0] = ref_sigmoid(a[0]);
    k[n] = ref_sigmoid(a[1]);
    k[2 * n] = tanh(a[2]);
    k[3 * n] = ref_sigmoid(a[3]);
    k[4 * n] = k[n] * w->c[o] + k[0] * k[2 * n];
    w->y[o] = k[3 * n] * tanh(k[4 * n]);
}

static inline void ref_gru_row(const struct ref_row *w, size_t o)
{
    double *k = w->kept + o;
    size_t n = w->out;

    k[0] = ref_sigmoid(ref_gate(w, 0, o, false) + ref_gate(w, 0, o, true));
    k[n] = ref_sigmoid(ref_gate(w, 1, o, false) + ref_gate(w, 1, o, true));
    k[3 * n] = ref_gate(w, 2, o, true);
    k[2 * n] = tanh(ref_gate(w, 2, o, false) + k[0] * k[3 * n]);
    w->y[o] = (1 - k[n]) * k[2 * n] + k[n] * w->h[o];
}

static inline void ref_rnn(struct ref *r, unsigned layer)
{
    const struct pr_layer *pl = &r->m->layers[layer];
    struct ref_layer *l = &r->l[layer];
    size_t rows = (size_t)pl->shape.at[0], out = (size_t)pl->out;

    if (!pl->carry)
        ref_zero(l->begin, 2 * r->batch * out);
    for (size_t n = 0; n < r->batch; n++)
        for (size_t s = 0; s < rows; s++) {
            struct ref_row w = ref_row_at(r, layer, n, s);

            for (size_t o = 0; o < out; o++)
                (w.gates == 4 ? ref_lstm_row : ref_gru_row)(&w, o);
            memcpy(l->end + n * out, w.y, out * sizeof *w.y);
            memcpy(l->end + (r->batch + n) * out, w.kept + 4 * out,
                   out * sizeof *w.y);
        }
}

/* ---- backward. dh, dc: in, of this row; out, of the row before. */

static inline void ref_lstm_row_back(const struct ref_row *w, size_t o,
                                     double dy, double *dh, double *dc)
{
    const double *k = w->kept + o;
    size_t n = w->out;
    double t = tanh(k[4 * n]), d = dc[o] + dy * k[3 * n] * (1 - t * t);
    double a[4] = {d * k[2 * n] * k[0] * (1 - k[0]),
                   d * w->c[o] * k[n] * (1 - k[n]),
                   d * k[0] * (1 - k[2 * n] * k[2 * n]),
                   dy * t * k[3 * n] * (1 - k[3 * n])};

    dc[o] = d * k[n];
    for (size_t g = 0; g < 4; g++) {
        ref_gate_back(w, g, o, false, a[g], dh);
        ref_gate_back(w, g, o, true, a[g], dh);
    }
}

static inline void ref_gru_row_back(const struct ref_row *w, size_t o,
                                    double dy, double *dh)
{
    const double *k = w->kept + o;
    size_t n = w->out;
    double dn = dy * (1 - k[n]) * (1 - k[2 * n] * k[2 * n]);
    double dr = dn * k[3 * n] * k[0] * (1 - k[0]);
    double dz = dy * (w->h[o] - k[2 * n]) * k[n] * (1 - k[n]);

    dh[o] += dy * k[n];
    for (int state = 0; state < 2; state++) {
        ref_gate_back(w, 0, o, state, dr, dh);
        ref_gate_back(w, 1, o, state, dz, dh);
        ref_gate_back(w, 2, o, state, state ? dn * k[0] : dn, dh);
    }
}

static inline void ref_rnn_back(struct ref *r, unsigned layer)
{
    const struct pr_layer *pl = &r->m->layers[layer];
    size_t rows = (size_t)pl->shape.at[0], out = (size_t)pl->out;
    double *dh = r->room, *dc = dh + out, *sum = dc + out;

    for (size_t n = 0; n < r->batch; n++) {
        ref_zero(dh, 2 * out);
        for (size_t s = rows; s-- > 0;) {
            struct ref_row w = ref_row_at(r, layer, n, s);

            for (size_t o = 0; o < out; o++)
                sum[o] = w.dy[o] + dh[o];
            ref_zero(dh, out);
            for (size_t o = 0; o < out; o++) {
                if (w.gates == 4)
                    ref_lstm_row_back(&w, o, sum[o], dh, dc);
                else
                    ref_gru_row_back(&w, o, sum[o], dh);
            }
        }
    }
}

/* What the next batch begins with. */
static inline void ref_carry(struct ref *r)
{
    for (unsigned i = 0; i < r->m->layer_count; i++)
        if (r->m->layers[i].carry)
            memcpy(r->l[i].begin, r->l[i].end,
                   2 * r->batch * (size_t)r->m->layers[i].out * sizeof(double));
}

#endif
