/* The plain network: what is done element by element, joins, and values that
 * come to other places. */
#ifndef TESTS_UNIT_NN_REFERENCE_MOVE_H
#define TESTS_UNIT_NN_REFERENCE_MOVE_H

#include "nn_reference.h"

/* ---- element by element: y, and what dy is multiplied with */

static inline double ref_gelu(double x, bool back)
{
    double below = 0.5 * (1 + erf(x / sqrt(2)));

    return back ? below + x * exp(-x * x / 2) / sqrt(2 * acos(-1)) : x * below;
}

static inline double ref_value(struct ref *r, unsigned layer, size_t i,
                               bool back)
{
    const struct pr_layer *l = &r->m->layers[layer];
    double x = ref_x(r, layer, 0)[i], y = r->l[layer].y[i];
    double below = l->op == PR_LAYER_LEAKY_RELU ? l->factor : 0;

    switch (l->op) {
    case PR_LAYER_RELU:
    case PR_LAYER_LEAKY_RELU:
        ref_near(r, x);
        return (x > 0 ? 1 : below) * (back ? 1 : x);
    case PR_LAYER_GELU:
        return ref_gelu(x, back);
    case PR_LAYER_SIGMOID:
        return back ? y * (1 - y) : 1 / (1 + exp(-x));
    case PR_LAYER_TANH:
        return back ? 1 - y * y : tanh(x);
    case PR_LAYER_EXP:
        return exp(x);
    case PR_LAYER_SCALE:
        return l->factor * (back ? 1 : x);
    case PR_LAYER_DROPOUT:
        return (r->training ? r->l[layer].mask[i] : 1) * (back ? 1 : x);
    default: /* flatten, reshape */
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

/* ---- joins */

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

static inline void ref_multiply(struct ref *r, unsigned layer, bool back)
{
    struct ref_layer *l = &r->l[layer];
    unsigned n = r->m->layers[layer].input_count;

    for (size_t i = 0; i < r->batch * l->size; i++) {
        double all = 1;

        for (unsigned k = 0; k < n; k++)
            all *= ref_x(r, layer, k)[i];
        if (!back)
            l->y[i] = all;
        for (unsigned k = 0; k < n && back; k++) {
            double others = 1;

            for (unsigned j = 0; j < n; j++)
                others *= j == k ? 1 : ref_x(r, layer, j)[i];
            ref_dx(r, layer, k)[i] += l->dy[i] * others;
        }
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

static inline void ref_gram(struct ref *r, unsigned layer, bool back)
{
    struct ref_dims d = ref_dims(r, r->m->layers[layer].inputs[0]);
    struct ref_layer *l = &r->l[layer];
    size_t s = d.h * d.w;
    double by = 1 / (double)(d.c * s);

    for (size_t i = 0; i < r->batch * d.c * d.c * s; i++) {
        size_t y = i / s, n = y / d.c / d.c;
        size_t a = (n * d.c + y / d.c % d.c) * s + i % s;
        size_t b = (n * d.c + y % d.c) * s + i % s;
        const double *x = ref_x(r, layer, 0);

        if (!back) {
            l->y[y] += by * x[a] * x[b];
            continue;
        }
        ref_dx(r, layer, 0)[a] += by * l->dy[y] * x[b];
        ref_dx(r, layer, 0)[b] += by * l->dy[y] * x[a];
    }
}

/* ---- places. A sample as [a, b, c], of fewer dimensions the first are 1. */

struct ref_place {
    size_t at[3];
};

static inline void ref_sizes(const struct pr_layer_shape *s, size_t to[3])
{
    for (unsigned i = 0; i < 3; i++)
        to[i] = i + s->dims < 3 ? 1 : (size_t)s->at[i + s->dims - 3];
}

static inline struct ref_place ref_split(const struct pr_layer_shape *s,
                                         size_t i)
{
    size_t n[3];

    ref_sizes(s, n);
    return (struct ref_place){
        {i / n[2] / n[1] % n[0], i / n[2] % n[1], i % n[2]}};
}

static inline size_t ref_join(const struct pr_layer_shape *s,
                              const struct ref_place *p)
{
    size_t n[3];

    ref_sizes(s, n);
    return (p->at[0] * n[1] + p->at[1]) * n[2] + p->at[2];
}

static inline size_t ref_mirror(size_t at, int64_t pad, int64_t size)
{
    int64_t i = (int64_t)at - pad;

    return (size_t)(i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i);
}

/* Where the value at a place of the output comes from. */
static inline struct ref_place ref_source(const struct pr_layer *l,
                                          const struct pr_layer_shape *in,
                                          struct ref_place p)
{
    size_t size = (size_t)l->size, was = p.at[0];

    switch (l->op) {
    case PR_LAYER_TRANSPOSE:
        return (struct ref_place){{0, p.at[2], p.at[1]}};
    case PR_LAYER_SLICE:
        p.at[l->axis + 3 - in->dims] += (size_t)l->first;
        return p;
    case PR_LAYER_PIXEL_SHUFFLE: /* channel c * size² + row * size + column */
        p.at[0] = (was * size + p.at[1] % size) * size + p.at[2] % size;
        p.at[1] /= size;
        p.at[2] /= size;
        return p;
    case PR_LAYER_UPSAMPLE:
        p.at[1] /= size;
        p.at[2] /= size;
        return p;
    default: /* reflect_pad */
        p.at[1] = ref_mirror(p.at[1], l->pad[0], in->at[1]);
        p.at[2] = ref_mirror(p.at[2], l->pad[1], in->at[2]);
        return p;
    }
}

static inline void ref_move(struct ref *r, unsigned layer, bool back)
{
    const struct pr_layer *pl = &r->m->layers[layer];
    const struct pr_layer_shape *in = ref_in_shape(r, layer, 0);
    struct ref_layer *l = &r->l[layer];

    for (size_t i = 0; i < r->batch * l->size; i++) {
        struct ref_place from =
            ref_source(pl, in, ref_split(&pl->shape, i % l->size));
        size_t x = i / l->size * ref_elements(in) + ref_join(in, &from);

        if (back)
            ref_dx(r, layer, 0)[x] += l->dy[i];
        else
            l->y[i] = ref_x(r, layer, 0)[x];
    }
}

static inline void ref_concat(struct ref *r, unsigned layer, bool back)
{
    const struct pr_layer *pl = &r->m->layers[layer];
    struct ref_layer *l = &r->l[layer];
    unsigned axis = pl->axis + 3 - pl->shape.dims;
    size_t first = 0;

    for (unsigned k = 0; k < pl->input_count; k++) {
        const struct pr_layer_shape *in = ref_in_shape(r, layer, k);
        size_t size = ref_elements(in);

        for (size_t i = 0; i < r->batch * size; i++) {
            struct ref_place p = ref_split(in, i % size);
            size_t y;

            p.at[axis] += first;
            y = i / size * l->size + ref_join(&pl->shape, &p);
            if (back)
                ref_dx(r, layer, k)[i] += l->dy[y];
            else
                l->y[y] = ref_x(r, layer, k)[i];
        }
        first += (size_t)in->at[pl->axis];
    }
}

#endif
