/* The plain network: layers without a window, and a step with all of them. */
#ifndef TESTS_UNIT_NN_REFERENCE_RUN_H
#define TESTS_UNIT_NN_REFERENCE_RUN_H

#include "nn_reference.h"

/* ---- element by element: y, and what dy is multiplied with */

static inline double ref_value(struct ref *r, unsigned layer, size_t i,
                               bool back)
{
    const struct pr_layer *l = &r->m->layers[layer];
    double x = ref_x(r, layer, 0)[i], y = r->l[layer].y[i];

    switch (l->op) {
    case PR_LAYER_RELU:
        ref_near(r, x);
        return back ? x > 0 : x > 0 ? x : 0;
    case PR_LAYER_SIGMOID:
        return back ? y * (1 - y) : 1 / (1 + exp(-x));
    case PR_LAYER_TANH:
        return back ? 1 - y * y : tanh(x);
    case PR_LAYER_SCALE:
        return l->factor * (back ? 1 : x);
    case PR_LAYER_DROPOUT:
        return (r->training ? r->l[layer].mask[i] : 1) * (back ? 1 : x);
    default: /* flatten */
        return back ? 1 : x;
    }
}

static inline void ref_values(struct ref *r, unsigned layer, bool back)
{
    struct ref_layer *l = &r->l[layer];

    for (size_t i = 0; i < r->batch * l->size; i++) {
        if (back)
            ref_dx(r, layer, 0)[i] += l->dy[i] * ref_value(r, layer, i, true);
        else
            l->y[i] = ref_value(r, layer, i, false);
    }
}

/* Local response norm: x * scale^-beta, scale = k + alpha / size * squares of
 * the channels around. */
static inline void ref_lrn(struct ref *r, unsigned layer, bool back)
{
    const struct pr_layer *pl = &r->m->layers[layer];
    struct ref_layer *l = &r->l[layer];
    struct ref_dims d = ref_dims(r, layer);
    size_t s = d.h * d.w;
    const double *x = ref_x(r, layer, 0);
    double f = pl->alpha / (double)pl->size;

    for (size_t i = 0; i < r->batch * l->size && !back; i++)
        l->scale[i] = pl->k;
    for (size_t i = 0; i < r->batch * l->size; i++) {
        int64_t c = (int64_t)(i / s % d.c), half = pl->size / 2;

        if (back)
            ref_dx(r, layer, 0)[i] += l->dy[i] * pow(l->scale[i], -pl->beta);
        for (int64_t k = c - half; k <= c + half; k++) {
            size_t at = i + (size_t)(k - c) * s;

            if (k < 0 || k >= (int64_t)d.c)
                continue;
            if (!back)
                l->scale[i] += f * x[at] * x[at];
            else
                ref_dx(r, layer, 0)[at] -= l->dy[i] * x[i] * pl->beta *
                                           pow(l->scale[i], -pl->beta - 1) * 2 *
                                           f * x[at];
        }
    }
    for (size_t i = 0; i < r->batch * l->size && !back; i++)
        l->y[i] = x[i] * pow(l->scale[i], -pl->beta);
}

/* ---- rows, joins, means */

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

static inline void ref_softmax(struct ref *r, unsigned layer, bool back)
{
    struct ref_layer *l = &r->l[layer];

    for (size_t n = 0; n < r->batch; n++) {
        double *y = l->y + n * l->size, *dy = l->dy + n * l->size, dot = 0;

        if (!back) {
            ref_softmax_row(ref_x(r, layer, 0) + n * l->size, l->size, y);
            continue;
        }
        for (size_t i = 0; i < l->size; i++)
            dot += y[i] * dy[i];
        for (size_t i = 0; i < l->size; i++)
            ref_dx(r, layer, 0)[n * l->size + i] += y[i] * (dy[i] - dot);
    }
}

static inline void ref_concat(struct ref *r, unsigned layer, bool back)
{
    const struct pr_layer *pl = &r->m->layers[layer];
    struct ref_layer *l = &r->l[layer];
    size_t first = 0;

    for (unsigned k = 0; k < pl->input_count; k++) {
        size_t size = r->l[pl->inputs[k]].size;

        for (size_t i = 0; i < r->batch * size; i++) {
            size_t y = i / size * l->size + first + i % size;

            if (back)
                ref_dx(r, layer, k)[i] += l->dy[y];
            else
                l->y[y] = ref_x(r, layer, k)[i];
        }
        first += size;
    }
}

static inline void ref_add(struct ref *r, unsigned layer, bool back)
{
    struct ref_layer *l = &r->l[layer];

    for (unsigned k = 0; k < r->m->layers[layer].input_count; k++)
        for (size_t i = 0; i < r->batch * l->size; i++) {
            if (back)
                ref_dx(r, layer, k)[i] += l->dy[i];
            else
                l->y[i] += ref_x(r, layer, k)[i];
        }
}

static inline void ref_global(struct ref *r, unsigned layer, bool back)
{
    struct ref_dims d = ref_dims(r, r->m->layers[layer].inputs[0]);
    struct ref_layer *l = &r->l[layer];
    size_t s = d.h * d.w;

    for (size_t i = 0; i < r->batch * l->size * s; i++) {
        if (back)
            ref_dx(r, layer, 0)[i] += l->dy[i / s] / (double)s;
        else
            l->y[i / s] += ref_x(r, layer, 0)[i] / (double)s;
    }
}

/* ---- all of them */

static inline void ref_layer(struct ref *r, unsigned i, bool back)
{
    switch (r->m->layers[i].op) {
    case PR_LAYER_CONV:
        ref_pairs(r, i, back ? ref_conv_back_pair : ref_conv_pair);
        ref_bias(r, i, back);
        break;
    case PR_LAYER_LINEAR:
        ref_linear(r, i, back);
        ref_bias(r, i, back);
        break;
    case PR_LAYER_MAX_POOL:
    case PR_LAYER_AVERAGE_POOL:
        (back ? ref_pool_back : ref_pool)(r, i);
        break;
    case PR_LAYER_BATCH_NORM:
        (back ? ref_norm_back : ref_norm)(r, i);
        break;
    case PR_LAYER_LRN:
        ref_lrn(r, i, back);
        break;
    case PR_LAYER_SOFTMAX:
        ref_softmax(r, i, back);
        break;
    case PR_LAYER_CONCAT:
        ref_concat(r, i, back);
        break;
    case PR_LAYER_ADD:
        ref_add(r, i, back);
        break;
    case PR_LAYER_GLOBAL_POOL:
        ref_global(r, i, back);
        break;
    default:
        ref_values(r, i, back);
    }
}

static inline void ref_loss(struct ref *r)
{
    struct ref_layer *l = &r->l[r->m->output];
    size_t c = l->size;

    r->loss = 0;
    for (size_t n = 0; n < r->batch; n++) {
        double *g = l->dy + n * c, *p = l->scale;

        ref_softmax_row(l->y + n * c, c, p);
        r->loss -= log(p[r->labels[n]]) / (double)r->batch;
        for (size_t i = 0; i < c; i++)
            g[i] = (p[i] - (i == (size_t)r->labels[n])) / (double)r->batch;
    }
}

static inline void ref_zero(double *x, size_t n)
{
    memset(x, 0, n * sizeof *x);
}

static inline void ref_forward(struct ref *r)
{
    r->has_kink = false;
    for (unsigned i = 1; i < r->m->layer_count; i++) {
        ref_zero(r->l[i].y, r->batch * r->l[i].size);
        ref_layer(r, i, false);
    }
}

static inline void ref_backward(struct ref *r)
{
    for (unsigned i = 0; i < r->m->layer_count; i++) {
        if (i != r->m->output)
            ref_zero(r->l[i].dy, r->batch * r->l[i].size);
        for (unsigned k = 0; k < PR_LAYER_TENSORS; k++)
            if (r->l[i].elements[k])
                ref_zero(r->l[i].dp[k], r->l[i].elements[k]);
    }
    for (unsigned i = r->m->layer_count; i-- > 1;)
        ref_layer(r, i, true);
}

/* One number, its gradient and what the optimiser keeps of it. */
static inline void ref_change(const struct ref *r,
                              const struct pr_optimizer_opts *o, double *w,
                              double g, double *m, double *v)
{
    double t = (double)r->steps + 1;

    g += o->weight_decay * *w;
    if (o->kind == PR_SGD) {
        *m = r->steps ? o->momentum * *m + g : g;
        *w -= o->learning_rate * *m;
        return;
    }
    *m = o->beta1 * *m + (1 - o->beta1) * g;
    *v = o->beta2 * *v + (1 - o->beta2) * g * g;
    *w -= o->learning_rate * (*m / (1 - pow(o->beta1, t))) /
          (sqrt(*v / (1 - pow(o->beta2, t))) + o->epsilon);
}

static inline void ref_update(struct ref *r, const struct pr_optimizer_opts *o)
{
    for (unsigned i = 0; i < r->m->layer_count; i++)
        for (unsigned k = 0; k < PR_LAYER_TENSORS; k++) {
            struct ref_layer *l = &r->l[i];

            for (size_t e = 0; l->is_learned[k] && e < l->elements[k]; e++)
                ref_change(r, o, &l->p[k][e], l->dp[k][e], &l->m[k][e],
                           &l->v[k][e]);
        }
    r->steps++;
}

#endif
