/* The plain network: convolutions, linear layers and pools. */
#ifndef TESTS_UNIT_NN_REFERENCE_WINDOW_H
#define TESTS_UNIT_NN_REFERENCE_WINDOW_H

#include "nn_reference.h"

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

/* A linear layer is a window of its whole input, or of each row of it. */
static inline void ref_linear(struct ref *r, unsigned layer, bool back)
{
    struct ref_layer *l = &r->l[layer];
    size_t out = (size_t)r->m->layers[layer].out;
    size_t in = l->elements[0] / out, rows = r->batch * l->size / out;

    for (size_t n = 0; n < rows; n++)
        for (size_t o = 0; o < out; o++)
            for (size_t i = 0; i < in; i++) {
                size_t y = n * out + o, x = n * in + i, w = o * in + i;

                if (!back) {
                    l->y[y] += l->p[0][w] * ref_x(r, layer, 0)[x];
                    continue;
                }
                l->dp[0][w] += l->dy[y] * ref_x(r, layer, 0)[x];
                ref_dx(r, layer, 0)[x] += l->dy[y] * l->p[0][w];
            }
}

/* ---- transposed: each value of the input is put, times the kernel, where a
 * convolution would have taken it from */

static inline void ref_put(struct ref *r, unsigned layer, size_t n, size_t c,
                           size_t at, bool back)
{
    const struct pr_layer *pl = &r->m->layers[layer];
    struct ref_layer *l = &r->l[layer];
    struct ref_dims in = ref_dims(r, pl->inputs[0]), out = ref_dims(r, layer);
    size_t x = (n * in.c + c) * in.h * in.w + at;
    size_t kernel = (size_t)(pl->kernel[0] * pl->kernel[1]);

    for (size_t k = 0; k < out.c * kernel; k++) {
        int64_t ky = (int64_t)(k % kernel) / pl->kernel[1];
        int64_t kx = (int64_t)(k % kernel) % pl->kernel[1];
        int64_t oy = (int64_t)(at / in.w) * pl->stride[0] - pl->pad[0] + ky;
        int64_t ox = (int64_t)(at % in.w) * pl->stride[1] - pl->pad[1] + kx;
        size_t w = c * out.c * kernel + k, y;

        if (oy < 0 || oy >= (int64_t)out.h || ox < 0 || ox >= (int64_t)out.w)
            continue;
        y = ((n * out.c + k / kernel) * out.h + (size_t)oy) * out.w +
            (size_t)ox;
        if (!back) {
            l->y[y] += l->p[0][w] * ref_x(r, layer, 0)[x];
            continue;
        }
        l->dp[0][w] += l->dy[y] * ref_x(r, layer, 0)[x];
        ref_dx(r, layer, 0)[x] += l->dy[y] * l->p[0][w];
    }
}

static inline void ref_transposed(struct ref *r, unsigned layer, bool back)
{
    struct ref_dims in = ref_dims(r, r->m->layers[layer].inputs[0]);

    for (size_t n = 0; n < r->batch; n++)
        for (size_t c = 0; c < in.c; c++)
            for (size_t at = 0; at < in.h * in.w; at++)
                ref_put(r, layer, n, c, at, back);
}

/* ---- pools. mask: how many there are in a window, or the largest's place */

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

#endif
