/*
 * A network computed the plain way: every layer of a model in double, forward
 * and backward, one loop after another. What the engine gives is compared with
 * this. Values of a layer are [batch, shape] in plain order.
 */
#ifndef TESTS_UNIT_NN_REFERENCE_H
#define TESTS_UNIT_NN_REFERENCE_H

#include "nn/model.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

struct ref_layer {
    double *y, *dy;
    size_t size; /* of one sample */
    double *p[PR_LAYER_TENSORS], *dp[PR_LAYER_TENSORS];
    double *m[PR_LAYER_TENSORS], *v[PR_LAYER_TENSORS]; /* optimiser */
    size_t elements[PR_LAYER_TENSORS];
    bool is_learned[PR_LAYER_TENSORS];
    double *mean, *inv; /* batch norm, of the batch */
    double *mask;       /* dropout: what an element is multiplied with */
    double *scale;      /* lrn: the base of the power */
};

struct ref {
    const struct pr_model *m;
    size_t batch;
    bool training;
    bool has_kink; /* something so near to where it bends that float32 may
                      take the other side */
    struct ref_layer *l;
    const int32_t *labels;
    double loss;
    unsigned steps;
};

/* batch norm's tensors */
enum { REF_WEIGHT, REF_BIAS, REF_MEAN, REF_VAR };

static inline void ref_new(struct ref *r, struct pr_arena *a,
                           const struct pr_model *m, size_t batch,
                           bool training)
{
    *r = (struct ref){.m = m, .batch = batch, .training = training};
    r->l = PR_ARENA_ARRAY(a, struct ref_layer, m->layer_count);
    for (unsigned i = 0; i < m->layer_count; i++) {
        struct pr_layer_tensor ts[PR_LAYER_TENSORS];
        struct ref_layer *l = &r->l[i];
        unsigned n = pr_layer_tensors(m, &m->layers[i], ts);
        size_t c = (size_t)m->layers[i].shape.at[0];

        l->size = 1;
        for (unsigned k = 0; k < m->layers[i].shape.dims; k++)
            l->size *= (size_t)m->layers[i].shape.at[k];
        l->y = PR_ARENA_ARRAY(a, double, batch * l->size);
        l->dy = PR_ARENA_ARRAY(a, double, batch * l->size);
        l->mask = PR_ARENA_ARRAY(a, double, batch * l->size);
        l->scale = PR_ARENA_ARRAY(a, double, batch * l->size);
        l->mean = PR_ARENA_ARRAY(a, double, c);
        l->inv = PR_ARENA_ARRAY(a, double, c);
        for (unsigned k = 0; k < n; k++) {
            size_t e = 1;

            for (unsigned d = 0; d < ts[k].dims; d++)
                e *= (size_t)ts[k].at[d];
            l->elements[k] = e;
            l->is_learned[k] = ts[k].is_learned;
            l->p[k] = PR_ARENA_ARRAY(a, double, e);
            l->dp[k] = PR_ARENA_ARRAY(a, double, e);
            l->m[k] = PR_ARENA_ARRAY(a, double, e);
            l->v[k] = PR_ARENA_ARRAY(a, double, e);
        }
    }
}

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

/* Shape of a layer's values: samples are c * h * w apart. */
struct ref_dims {
    size_t c, h, w;
};

static inline struct ref_dims ref_dims(const struct ref *r, unsigned layer)
{
    const struct pr_layer_shape *s = &r->m->layers[layer].shape;

    return (struct ref_dims){(size_t)s->at[0],
                             s->dims == 3 ? (size_t)s->at[1] : 1,
                             s->dims == 3 ? (size_t)s->at[2] : 1};
}

/* ---- layers with a window: calls for each pair of places that meet */

struct ref_pair {
    size_t n, o, c; /* sample, channel of the output and of the input */
    size_t y, x, w; /* places in output, input, weights */
};
typedef void ref_pair_fn(struct ref *r, unsigned layer,
                         const struct ref_pair *p);

static inline void ref_window(struct ref *r, unsigned layer, ref_pair_fn *fn,
                              struct ref_pair p, size_t oy, size_t ox)
{
    const struct pr_layer *l = &r->m->layers[layer];
    struct ref_dims in = ref_dims(r, l->inputs[0]);
    struct ref_dims out = ref_dims(r, layer);
    bool conv = l->op == PR_LAYER_CONV;
    size_t groups = conv ? (size_t)l->groups : out.c;
    size_t ic = in.c / groups, first = p.o / (out.c / groups) * ic;

    p.y = ((p.n * out.c + p.o) * out.h + oy) * out.w + ox;
    for (size_t c = 0; c < ic; c++)
        for (int64_t ky = 0; ky < l->kernel[0]; ky++)
            for (int64_t kx = 0; kx < l->kernel[1]; kx++) {
                int64_t iy = (int64_t)oy * l->stride[0] - l->pad[0] +
                             ky * (conv ? l->dilation[0] : 1);
                int64_t ix = (int64_t)ox * l->stride[1] - l->pad[1] +
                             kx * (conv ? l->dilation[1] : 1);

                if (iy < 0 || iy >= (int64_t)in.h || ix < 0 ||
                    ix >= (int64_t)in.w)
                    continue;
                p.c = first + c;
                p.x = ((p.n * in.c + p.c) * in.h + (size_t)iy) * in.w +
                      (size_t)ix;
                p.w = ((p.o * ic + c) * (size_t)l->kernel[0] + (size_t)ky) *
                          (size_t)l->kernel[1] +
                      (size_t)kx;
                fn(r, layer, &p);
            }
}

static inline void ref_pairs(struct ref *r, unsigned layer, ref_pair_fn *fn)
{
    struct ref_dims out = ref_dims(r, layer);
    struct ref_pair p = {0};

    for (p.n = 0; p.n < r->batch; p.n++)
        for (p.o = 0; p.o < out.c; p.o++)
            for (size_t oy = 0; oy < out.h; oy++)
                for (size_t ox = 0; ox < out.w; ox++)
                    ref_window(r, layer, fn, p, oy, ox);
}

static inline double *ref_x(const struct ref *r, unsigned layer, unsigned i)
{
    return r->l[r->m->layers[layer].inputs[i]].y;
}

static inline double *ref_dx(const struct ref *r, unsigned layer, unsigned i)
{
    return r->l[r->m->layers[layer].inputs[i]].dy;
}

static inline void ref_conv_pair(struct ref *r, unsigned layer,
                                 const struct ref_pair *p)
{
    r->l[layer].y[p->y] += r->l[layer].p[0][p->w] * ref_x(r, layer, 0)[p->x];
}

static inline void ref_conv_back_pair(struct ref *r, unsigned layer,
                                      const struct ref_pair *p)
{
    double g = r->l[layer].dy[p->y];

    r->l[layer].dp[0][p->w] += g * ref_x(r, layer, 0)[p->x];
    ref_dx(r, layer, 0)[p->x] += g * r->l[layer].p[0][p->w];
}

/* Adds the bias of each channel, or sums its gradient. */
static inline void ref_bias(struct ref *r, unsigned layer, bool back)
{
    double *b = ref_of(r, layer, "bias", back);
    struct ref_dims d = ref_dims(r, layer);
    size_t s = d.h * d.w;

    for (size_t i = 0; b && i < r->batch * r->l[layer].size; i++) {
        if (back)
            b[i / s % d.c] += r->l[layer].dy[i];
        else
            r->l[layer].y[i] += b[i / s % d.c];
    }
}

/* A linear layer is a window of its whole input, without places. */
static inline void ref_linear(struct ref *r, unsigned layer, bool back)
{
    struct ref_layer *l = &r->l[layer];
    size_t in = r->l[r->m->layers[layer].inputs[0]].size;

    for (size_t n = 0; n < r->batch; n++)
        for (size_t o = 0; o < l->size; o++)
            for (size_t i = 0; i < in; i++) {
                size_t y = n * l->size + o, x = n * in + i, w = o * in + i;

                if (!back) {
                    l->y[y] += l->p[0][w] * ref_x(r, layer, 0)[x];
                    continue;
                }
                l->dp[0][w] += l->dy[y] * ref_x(r, layer, 0)[x];
                ref_dx(r, layer, 0)[x] += l->dy[y] * l->p[0][w];
            }
}

/* ---- pools. mask: how many there are in a window, or the largest's place */

/* Two values that float32 may see in another order. */
static inline void ref_near(struct ref *r, double difference)
{
    if (difference != 0 && fabs(difference) < 3e-5)
        r->has_kink = true;
}

static inline void ref_max_pair(struct ref *r, unsigned layer,
                                const struct ref_pair *p)
{
    struct ref_layer *l = &r->l[layer];
    double x = ref_x(r, layer, 0)[p->x];

    if (l->mask[p->y] >= 0)
        ref_near(r, x - l->y[p->y]);
    if (l->mask[p->y] < 0 || x > l->y[p->y]) {
        l->y[p->y] = x;
        l->mask[p->y] = (double)p->x;
    }
}

static inline void ref_mean_pair(struct ref *r, unsigned layer,
                                 const struct ref_pair *p)
{
    r->l[layer].y[p->y] += ref_x(r, layer, 0)[p->x];
    r->l[layer].mask[p->y] += 1;
}

static inline double ref_share(const struct ref *r, unsigned layer, size_t y)
{
    const struct pr_layer *l = &r->m->layers[layer];

    return l->count_pad ? (double)(l->kernel[0] * l->kernel[1])
                        : r->l[layer].mask[y];
}

static inline void ref_mean_back_pair(struct ref *r, unsigned layer,
                                      const struct ref_pair *p)
{
    ref_dx(r, layer, 0)[p->x] +=
        r->l[layer].dy[p->y] / ref_share(r, layer, p->y);
}

static inline void ref_pool(struct ref *r, unsigned layer)
{
    struct ref_layer *l = &r->l[layer];
    bool max = r->m->layers[layer].op == PR_LAYER_MAX_POOL;
    size_t count = r->batch * l->size;

    for (size_t i = 0; i < count; i++)
        l->mask[i] = max ? -1 : 0;
    ref_pairs(r, layer, max ? ref_max_pair : ref_mean_pair);
    for (size_t i = 0; i < count && !max; i++)
        l->y[i] /= ref_share(r, layer, i);
}

static inline void ref_pool_back(struct ref *r, unsigned layer)
{
    struct ref_layer *l = &r->l[layer];

    if (r->m->layers[layer].op == PR_LAYER_AVERAGE_POOL)
        ref_pairs(r, layer, ref_mean_back_pair);
    else
        for (size_t i = 0; i < r->batch * l->size; i++)
            ref_dx(r, layer, 0)[(size_t)l->mask[i]] += l->dy[i];
}

/* ---- norms */

/* Batch norm: also the running mean and variance, when training. */
static inline void ref_norm(struct ref *r, unsigned layer)
{
    const struct pr_layer *pl = &r->m->layers[layer];
    struct ref_layer *l = &r->l[layer];
    struct ref_dims d = ref_dims(r, layer);
    size_t s = d.h * d.w, size = l->size;
    const double *x = ref_x(r, layer, 0), *g = ref_of(r, layer, "weight", 0);
    double *run_mean = ref_of(r, layer, "mean", 0);
    double *run_var = ref_of(r, layer, "var", 0);
    double count = (double)(r->batch * s);

    for (size_t c = 0; c < d.c; c++) {
        double mean = 0, var = 0;

        for (size_t k = 0; k < r->batch * s; k++)
            mean += x[k / s * size + c * s + k % s] / count;
        for (size_t k = 0; k < r->batch * s; k++) {
            double v = x[k / s * size + c * s + k % s] - mean;
            var += v * v / count;
        }
        if (r->training) {
            double keep = 1 - pl->momentum;

            run_mean[c] = keep * run_mean[c] + pl->momentum * mean;
            run_var[c] =
                keep * run_var[c] + pl->momentum * var * count / (count - 1);
        }
        l->mean[c] = r->training ? mean : run_mean[c];
        l->inv[c] = 1 / sqrt((r->training ? var : run_var[c]) + pl->epsilon);
        for (size_t k = 0; k < r->batch * s; k++) {
            size_t i = k / s * size + c * s + k % s;

            l->y[i] = (x[i] - l->mean[c]) * l->inv[c] * (g ? g[c] : 1) +
                      ref_of(r, layer, "bias", 0)[c];
        }
    }
}

static inline void ref_norm_back(struct ref *r, unsigned layer)
{
    struct ref_layer *l = &r->l[layer];
    struct ref_dims d = ref_dims(r, layer);
    size_t s = d.h * d.w, size = l->size;
    const double *x = ref_x(r, layer, 0), *g = ref_of(r, layer, "weight", 0);
    double *dg = ref_of(r, layer, "weight", 1);
    double count = (double)(r->batch * s);

    for (size_t c = 0; c < d.c; c++) {
        double sum = 0, dot = 0;

        for (size_t k = 0; k < r->batch * s; k++) {
            size_t i = k / s * size + c * s + k % s;

            sum += l->dy[i];
            dot += l->dy[i] * (x[i] - l->mean[c]) * l->inv[c];
        }
        if (dg)
            dg[c] += dot;
        ref_of(r, layer, "bias", 1)[c] += sum;
        for (size_t k = 0; k < r->batch * s; k++) {
            size_t i = k / s * size + c * s + k % s;
            double hat = (x[i] - l->mean[c]) * l->inv[c];

            ref_dx(r, layer, 0)[i] +=
                (g ? g[c] : 1) * l->inv[c] *
                (l->dy[i] - sum / count - hat * dot / count);
        }
    }
}

#endif
