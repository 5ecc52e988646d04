/* The plain network: norms. */
#ifndef TESTS_UNIT_NN_REFERENCE_NORM_H
#define TESTS_UNIT_NN_REFERENCE_NORM_H

#include "nn_reference.h"

/* Batch norm: also the running mean and variance, when training. */
static inline void ref_norm(struct ref *r, unsigned layer)
{
    const struct pr_layer *pl = &r->m->layers[layer];
    struct ref_layer *l = &r->l[layer];
    struct ref_dims d = ref_dims(r, layer);
    size_t s = d.h * d.w, size = d.c * s;
    const double *x = ref_x(r, layer, 0), *g = ref_of(r, layer, "weight", 0);
    double *run_mean = ref_of(r, layer, "mean", 0);
    double *run_var = ref_of(r, layer, "var", 0);
    double count = (double)(d.n * s);

    for (size_t c = 0; c < d.c; c++) {
        double mean = 0, var = 0;

        for (size_t k = 0; k < d.n * s; k++)
            mean += x[k / s * size + c * s + k % s] / count;
        for (size_t k = 0; k < d.n * s; k++) {
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
        for (size_t k = 0; k < d.n * s; k++) {
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
    size_t s = d.h * d.w, size = d.c * s;
    const double *x = ref_x(r, layer, 0), *g = ref_of(r, layer, "weight", 0);
    double *dg = ref_of(r, layer, "weight", 1);
    double count = (double)(d.n * s);

    for (size_t c = 0; c < d.c; c++) {
        double sum = 0, dot = 0;

        for (size_t k = 0; k < d.n * s; k++) {
            size_t i = k / s * size + c * s + k % s;

            sum += l->dy[i];
            dot += l->dy[i] * (x[i] - l->mean[c]) * l->inv[c];
        }
        if (dg)
            dg[c] += dot;
        ref_of(r, layer, "bias", 1)[c] += sum;
        for (size_t k = 0; k < d.n * s; k++) {
            size_t i = k / s * size + c * s + k % s;
            double hat = (x[i] - l->mean[c]) * l->inv[c];

            ref_dx(r, layer, 0)[i] +=
                (g ? g[c] : 1) * l->inv[c] *
                (l->dy[i] - sum / count - hat * dot / count);
        }
    }
}

/* ---- the same of each row, or of each channel of each sample */

struct ref_group {
    size_t count, first;          /* numbers that have one mean */
    size_t channel, channel_step; /* of the first, and from one to the next */
};

/* Group i; false: there is none. */
static inline bool ref_group(const struct ref *r, unsigned layer, size_t i,
                             struct ref_group *ret)
{
    struct ref_dims d = ref_dims(r, layer);
    size_t s = d.h * d.w;

    if (r->m->layers[layer].op == PR_LAYER_LAYER_NORM) {
        *ret = (struct ref_group){d.c, i * d.c, 0, 1};
        return i < d.n;
    }
    *ret = (struct ref_group){s, i * s, i % d.c, 0};
    return i < d.n * d.c;
}

static inline void ref_own_norm(struct ref *r, unsigned layer)
{
    struct ref_layer *l = &r->l[layer];
    const double *x = ref_x(r, layer, 0),
                 *gamma = ref_of(r, layer, "weight", 0);
    const double *beta = ref_of(r, layer, "bias", 0);
    struct ref_group g;

    for (size_t i = 0; ref_group(r, layer, i, &g); i++) {
        double mean = 0, var = 0;

        for (size_t k = 0; k < g.count; k++)
            mean += x[g.first + k] / (double)g.count;
        for (size_t k = 0; k < g.count; k++)
            var += (x[g.first + k] - mean) * (x[g.first + k] - mean) /
                   (double)g.count;
        l->mean[i] = mean;
        l->inv[i] = 1 / sqrt(var + r->m->layers[layer].epsilon);
        for (size_t k = 0; k < g.count; k++) {
            size_t c = g.channel + k * g.channel_step;

            l->y[g.first + k] =
                (x[g.first + k] - mean) * l->inv[i] * (gamma ? gamma[c] : 1) +
                beta[c];
        }
    }
}

static inline void ref_own_norm_back(struct ref *r, unsigned layer)
{
    struct ref_layer *l = &r->l[layer];
    const double *x = ref_x(r, layer, 0),
                 *gamma = ref_of(r, layer, "weight", 0);
    double *dgamma = ref_of(r, layer, "weight", 1);
    double *dbeta = ref_of(r, layer, "bias", 1);
    struct ref_group g;

    for (size_t i = 0; ref_group(r, layer, i, &g); i++) {
        double sum = 0, dot = 0;

        for (size_t k = 0; k < g.count; k++) {
            size_t c = g.channel + k * g.channel_step, at = g.first + k;
            double hat = (x[at] - l->mean[i]) * l->inv[i];
            double d = l->dy[at] * (gamma ? gamma[c] : 1);

            sum += d / (double)g.count;
            dot += d * hat / (double)g.count;
            dbeta[c] += l->dy[at];
            if (dgamma)
                dgamma[c] += l->dy[at] * hat;
        }
        for (size_t k = 0; k < g.count; k++) {
            size_t c = g.channel + k * g.channel_step, at = g.first + k;
            double hat = (x[at] - l->mean[i]) * l->inv[i];

            ref_dx(r, layer, 0)[at] +=
                l->inv[i] *
                (l->dy[at] * (gamma ? gamma[c] : 1) - sum - hat * dot);
        }
    }
}

/* ---- of channels side by side */

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

#endif
