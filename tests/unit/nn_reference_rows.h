/* The plain network: rows of features, and what chooses among them. */
#ifndef TESTS_UNIT_NN_REFERENCE_ROWS_H
#define TESTS_UNIT_NN_REFERENCE_ROWS_H

#include "nn_reference.h"

static inline void ref_softmax(struct ref *r, unsigned layer, bool back)
{
    struct ref_layer *l = &r->l[layer];
    size_t w = ref_width(&r->m->layers[layer].shape);

    for (size_t i = 0; i < r->batch * l->size; i += w) {
        if (back)
            ref_softmax_row_back(l->y + i, l->dy + i, w,
                                 ref_dx(r, layer, 0) + i, true);
        else
            ref_softmax_row(ref_x(r, layer, 0) + i, w, l->y + i);
    }
}

/* Rows of a table: of the layer's own, or of each sample's input. */
static inline void ref_table(struct ref *r, unsigned layer, bool back)
{
    struct ref_layer *l = &r->l[layer];
    bool own = r->m->layers[layer].op == PR_LAYER_EMBEDDING;
    size_t w = ref_width(&r->m->layers[layer].shape), rows = l->size / w;
    const double *ids = ref_x(r, layer, own ? 0 : 1);

    for (size_t i = 0; i < r->batch * rows; i++) {
        size_t row = (size_t)ids[i];
        const double *from = own ? l->p[0] : ref_x(r, layer, 0);
        double *to = own ? l->dp[0] : ref_dx(r, layer, 0);

        if (!own)
            row += i / rows * (size_t)ref_in_shape(r, layer, 0)->at[0];
        for (size_t k = 0; k < w; k++) {
            if (back)
                to[row * w + k] += l->dy[i * w + k];
            else
                l->y[i * w + k] = from[row * w + k];
        }
    }
}

/* ---- attention. One head of one sample: rows are ld apart. */

struct ref_head {
    size_t queries, keys, counted; /* keys that count */
    size_t width, value_width;
    size_t ld[3], ldy; /* of queries, keys, values; of the output */
    const double *x[3];
    double *dx[3];
    double *y, *dy, *shares; /* [queries, keys] */
    const double *w;         /* additive */
    double *dw;
    bool causal;
};

static inline size_t ref_seen(const struct ref_head *h, size_t query)
{
    return h->causal && query + 1 < h->counted ? query + 1 : h->counted;
}

/* How well a key fits, or the gradients of that. */
static inline double ref_fit(const struct ref_head *h, size_t q, size_t k,
                             bool back, double g)
{
    double sum = 0, by = 1 / sqrt((double)h->width);

    for (size_t f = 0; f < h->width; f++) {
        size_t a = q * h->ld[0] + f, b = k * h->ld[1] + f;
        double t = tanh(h->x[0][a] + h->x[1][b]);

        if (!back) {
            sum += h->w ? h->w[f] * t : by * h->x[0][a] * h->x[1][b];
            continue;
        }
        h->dx[0][a] += g * (h->w ? h->w[f] * (1 - t * t) : by * h->x[1][b]);
        h->dx[1][b] += g * (h->w ? h->w[f] * (1 - t * t) : by * h->x[0][a]);
        if (h->w)
            h->dw[f] += g * t;
    }
    return sum;
}

static inline void ref_head(const struct ref_head *h)
{
    for (size_t q = 0; q < h->queries; q++) {
        double *share = h->shares + q * h->keys;

        for (size_t k = 0; k < ref_seen(h, q); k++)
            share[k] = ref_fit(h, q, k, false, 0);
        ref_softmax_row(share, ref_seen(h, q), share);
        for (size_t k = 0; k < ref_seen(h, q); k++)
            for (size_t f = 0; f < h->value_width; f++)
                h->y[q * h->ldy + f] += share[k] * h->x[2][k * h->ld[2] + f];
    }
}

static inline void ref_head_back(const struct ref_head *h, double *room)
{
    for (size_t q = 0; q < h->queries; q++) {
        const double *share = h->shares + q * h->keys;
        const double *dy = h->dy + q * h->ldy;

        ref_zero(room, h->keys);
        for (size_t k = 0; k < ref_seen(h, q); k++)
            for (size_t f = 0; f < h->value_width; f++) {
                room[k] += dy[f] * h->x[2][k * h->ld[2] + f];
                h->dx[2][k * h->ld[2] + f] += dy[f] * share[k];
            }
        ref_softmax_row_back(share, room, ref_seen(h, q), room, false);
        for (size_t k = 0; k < ref_seen(h, q); k++)
            ref_fit(h, q, k, true, room[k]);
    }
}

/* Head i of all samples' heads. */
static inline struct ref_head ref_head_at(const struct ref *r, unsigned layer,
                                          size_t i)
{
    const struct pr_layer *pl = &r->m->layers[layer];
    const struct ref_layer *l = &r->l[layer];
    bool packed = pl->input_count - pl->has_lengths == 1;
    bool additive = pl->op == PR_LAYER_ADDITIVE_ATTENTION;
    size_t heads = additive ? 1 : (size_t)pl->heads, n = i / heads;
    const struct pr_layer_shape *q = ref_in_shape(r, layer, 0);
    const struct pr_layer_shape *k = ref_in_shape(r, layer, packed ? 0 : 1);
    struct ref_head h = {
        .queries = (size_t)q->at[0],
        .keys = (size_t)k->at[0],
        .counted = (size_t)k->at[0],
        .width = ref_width(q) / heads / (packed ? 3 : 1),
        .value_width = ref_width(&pl->shape) / heads,
        .ldy = ref_width(&pl->shape),
        .y = l->y + n * l->size,
        .dy = l->dy + n * l->size,
        .causal = pl->causal,
        .w = additive ? l->p[0] : NULL,
        .dw = additive ? l->dp[0] : NULL,
    };

    if (pl->has_lengths)
        h.counted = (size_t)ref_x(r, layer, pl->input_count - 1)[n];
    h.shares = l->work + i * h.queries * h.keys;
    h.y += i % heads * h.value_width;
    h.dy += i % heads * h.value_width;
    for (unsigned p = 0; p < 3; p++) {
        unsigned in = packed ? 0 : p;
        const struct ref_layer *x = &r->l[pl->inputs[in]];
        size_t at = n * x->size +
                    i % heads * (p == 2 ? h.value_width : h.width) +
                    (packed ? p * h.ldy : 0);

        h.ld[p] = ref_width(ref_in_shape(r, layer, in));
        h.x[p] = x->y + at;
        h.dx[p] = x->dy + at;
    }
    return h;
}

static inline void ref_attention(struct ref *r, unsigned layer, bool back)
{
    const struct pr_layer *pl = &r->m->layers[layer];
    size_t heads =
        pl->op == PR_LAYER_ADDITIVE_ATTENTION ? 1 : (size_t)pl->heads;

    for (size_t i = 0; i < r->batch * heads; i++) {
        struct ref_head h = ref_head_at(r, layer, i);

        if (back)
            ref_head_back(&h, r->room);
        else
            ref_head(&h);
    }
}

#endif
