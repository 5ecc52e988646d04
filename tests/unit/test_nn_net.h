/*
 * For tests of networks: networks with random numbers in all their tensors, and
 * the same in the plain network of nn_reference.h, to compare. With the thread
 * sanitizer there is one thread, as it does not know the OpenMP runtime's ways
 * of waiting.
 */
#ifndef TESTS_UNIT_TEST_NN_NET_H
#define TESTS_UNIT_TEST_NN_NET_H

#include "base/buf.h"
#include "base/mem.h"
#include "nn/engine/net_impl.h"

#include "nn_model_text.h"
#include "nn_reference_run.h"
#include "skip.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(__SANITIZE_THREAD__)
#define TEST_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_THREADS 1
#endif
#endif
#ifndef TEST_THREADS
#define TEST_THREADS 2
#endif

static inline struct pr_net_opts opts_of(uint64_t batch, bool training)
{
    return (struct pr_net_opts){
        .batch = batch,
        .training = training,
        .threads = TEST_THREADS,
        .keep_gradients = training,
        .seed = 7,
        .optimizer = {PR_SGD, 0.05, 0.9, 1e-3, 0.9, 0.999, 1e-8, 0},
    };
}

/* Skips the test without oneDNN here. */
static inline struct pr_net *net_of(const struct pr_model *m,
                                    const struct pr_net_opts *o)
{
    struct pr_net *net = NULL;
    struct pr_err err = {0};
    char version[32];

    if (!pr_net_is_available(version, &err))
        skip_for(&err);
    if (pr_net_new(m, o, &net, &err))
        fail_msg("%s: %s (%s)", err.where, err.msg, err.hint);
    return net;
}

static inline float *numbers(size_t n)
{
    float *x = malloc((n ? n : 1) * sizeof *x);

    assert_non_null(x);
    return x;
}

/* ---- models that learn in turn */

/* What learns first does so in a turn of its own; all others in a second one,
 * from the same losses and what was computed in the first. So backward passes
 * are there twice. False: there is nothing for a second turn. */
static inline bool split_turns(struct pr_arena *a, struct pr_model *m)
{
    struct pr_layer_tensor ts[PR_LAYER_TENSORS];
    struct pr_loss *twice =
        PR_ARENA_ARRAY(a, struct pr_loss, 2 * m->loss_count);
    unsigned first = m->layer_count, others = 0;

    for (unsigned i = 0; i < m->layer_count; i++) {
        struct pr_layer *l = &m->layers[i];

        if (l->learns != 0 || !pr_layer_tensors(m, l, ts))
            continue;
        first = i < first ? i : first;
        l->learns = l->like != first;
        others += (unsigned)l->learns;
    }
    for (unsigned i = 0; i < 2 * m->loss_count; i++) {
        twice[i] = m->losses[i % m->loss_count];
        twice[i].turn = i >= m->loss_count;
    }
    m->losses = twice;
    m->loss_count *= 2;
    m->turn_count = 2;
    return others > 0 && m->loss_count <= PR_LOSSES;
}

/* ---- random numbers in a network */

static inline float draw(struct pr_rng *rng, const struct pr_net_tensor *t)
{
    const char *dot = strrchr(t->name, '.');
    double g = pr_rng_gauss(rng);

    if (t->dims > 1)
        return (float)(g * sqrt(2.0 * (double)t->at[0] / (double)t->elements));
    if (strcmp(dot, ".var") == 0)
        return (float)(0.5 + pr_rng_double(rng));
    if (strcmp(dot, ".weight") == 0)
        return (float)(0.6 + 0.8 * pr_rng_double(rng)) * (g < -1 ? -1 : 1);
    return (float)(0.3 * g);
}

static inline float *input_of(struct pr_net *net)
{
    return pr_net_input(net, 0);
}

static inline int32_t *labels_of(struct pr_net *net)
{
    return pr_net_input(net, 1);
}

static inline void fill_input(struct pr_net *net, unsigned i,
                              struct pr_rng *rng)
{
    const struct pr_layer *l = &net->model->layers[i];
    float *numbers = pr_net_input(net, i);
    int32_t *ids = pr_net_input(net, i);

    for (size_t k = 0; k < net->opts.batch * pr_op_sample_numbers(l); k++) {
        double x = draw_input(net->model, i, rng);

        if (l->ids)
            ids[k] = (int32_t)x;
        else
            numbers[k] = (float)x;
    }
}

/* All tensors, then all inputs. */
static inline void fill_net(struct pr_net *net, uint64_t seed)
{
    struct pr_err err = {0};
    struct pr_rng rng;

    pr_rng_seed(&rng, seed, 1);
    for (unsigned i = 0; i < pr_net_tensor_count(net); i++) {
        struct pr_net_tensor t;
        float *x;

        pr_net_tensor(net, i, &t);
        x = numbers(t.elements);
        for (uint64_t k = 0; k < t.elements; k++)
            x[k] = draw(&rng, &t);
        assert_int_equal(pr_net_set(net, i, x, &err), PR_OK);
        free(x);
    }
    for (unsigned i = 0; i < net->model->input_count; i++)
        fill_input(net, i, &rng);
}

/* ---- the same numbers in the plain network */

/* Layer and tensor of it that a tensor of the network is. */
static inline void find_tensor(const struct ref *r, const struct pr_net *net,
                               unsigned i, unsigned *layer, unsigned *k)
{
    struct pr_net_tensor t;
    const char *dot;
    int at;

    pr_net_tensor(net, i, &t);
    dot = strrchr(t.name, '.');
    for (*layer = 0; *layer < r->m->layer_count; ++*layer) {
        const char *name = r->m->layers[*layer].name;

        if (strlen(name) == (size_t)(dot - t.name) &&
            strncmp(name, t.name, strlen(name)) == 0)
            break;
    }
    assert_true(*layer < r->m->layer_count);
    at = ref_tensor(r, *layer, dot + 1);
    assert_true(at >= 0);
    *k = (unsigned)at;
    assert_int_equal(t.elements, r->l[*layer].elements[*k]);
    if (r->m->layers[*layer].learns != PR_FROZEN)
        assert_int_equal(t.is_learned, r->l[*layer].is_learned[*k]);
}

static inline void load_inputs(struct ref *r, struct pr_net *net)
{
    for (unsigned i = 0; i < r->m->input_count; i++) {
        const float *numbers = pr_net_input(net, i);
        const int32_t *ids = pr_net_input(net, i);

        for (size_t k = 0; k < r->batch * r->l[i].size; k++)
            r->l[i].y[k] =
                r->m->layers[i].ids ? (double)ids[k] : (double)numbers[k];
    }
}

static inline void load_ref(struct ref *r, struct pr_net *net)
{
    struct pr_err err = {0};

    for (unsigned i = 0; i < pr_net_tensor_count(net); i++) {
        unsigned layer, k;
        float *x;

        find_tensor(r, net, i, &layer, &k);
        x = numbers(r->l[layer].elements[k]);
        assert_int_equal(pr_net_get(net, i, x, &err), PR_OK);
        for (size_t e = 0; e < r->l[layer].elements[k]; e++)
            r->l[layer].p[k][e] = (double)x[e];
        free(x);
    }
    r->may_be_sparse = !net->opts.keep_gradients && !net->opts.reduce;
    load_inputs(r, net);
}

/* What the dropout layer keeps in the next step, from the loop itself; places
 * are those of the layer's layout. */
static inline void load_mask(struct ref *r, const struct pr_net *net,
                             unsigned layer)
{
    const struct pr_net_node *n = &net->nodes[layer];
    uint64_t seed =
        net->opts.dropout_seed ? net->opts.dropout_seed : net->opts.seed;
    struct ref_layer *l = &r->l[layer];
    size_t count;
    struct pr_grid v;
    float *one;

    for (size_t i = 0; i < r->batch * l->size; i++)
        l->mask[i] = 1;
    if (n->leader != layer) /* it does nothing */
        return;
    assert_true(pr_layout_view(pr_net_tensor_layout(net, n->out), &v));
    count = pr_net_tensor_elements(net, n->out);
    one = pr_alloc_aligned(64, count * sizeof *one);
    assert_non_null(one);
    for (size_t i = 0; i < count; i++)
        one[i] = 1;
    pr_kernel_dropout(net->par, count, (float)n->layer->rate,
                      pr_mix64(pr_mix64(seed + net->step_number) + layer), one,
                      one);
    for (size_t i = 0; i < r->batch * l->size; i++) {
        size_t s = i % v.s, c = i / v.s % v.c, b = i / v.s / v.c;
        size_t blocks = (v.c + v.block - 1) / v.block;

        l->mask[i] = (double)
            one[((b * blocks + c / v.block) * v.s + s) * v.block + c % v.block];
    }
    pr_free(one);
}

static inline void load_masks(struct ref *r, const struct pr_net *net)
{
    for (unsigned i = 0; i < r->m->layer_count; i++)
        if (r->m->layers[i].op == PR_LAYER_DROPOUT)
            load_mask(r, net, i);
}

/* ---- comparing. The largest difference as a share of the largest value;
 * floor is what is no more than noise. */

static inline double largest(const double *x, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static inline double difference(const float *got, const double *want, size_t n,
                                double floor)
{
    double scale = fmax(largest(want, n), floor), most = 0;

    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - want[i]) / scale;

        if (!(d <= most))
            most = d;
        if (isnan(d))
            return INFINITY;
    }
    return most;
}

/* Values of all tensors, or gradients of those that are learned. what is for
 * the message. */
static inline void compare_tensors(struct ref *r, struct pr_net *net,
                                   bool gradients, double limit,
                                   const char *what)
{
    double all = 1e-12; /* what float32 has of it is nothing */

    for (unsigned i = 0; i < r->m->layer_count; i++)
        for (unsigned k = 0; k < PR_LAYER_TENSORS; k++)
            if (r->l[i].elements[k])
                all =
                    fmax(all, largest(gradients ? r->l[i].dp[k] : r->l[i].p[k],
                                      r->l[i].elements[k]));
    for (unsigned i = 0; i < pr_net_tensor_count(net); i++) {
        struct pr_err err = {0};
        struct pr_net_tensor t;
        unsigned layer, k;
        double d;
        float *x;

        pr_net_tensor(net, i, &t);
        find_tensor(r, net, i, &layer, &k);
        if (gradients && !r->l[layer].is_learned[k])
            continue;
        x = numbers(t.elements);
        if ((gradients ? pr_net_gradient : pr_net_get)(net, i, x, &err))
            fail_msg("%s: %s: %s\n%s", t.name, err.where, err.msg, what);
        d = difference(x, gradients ? r->l[layer].dp[k] : r->l[layer].p[k],
                       t.elements, 0.03 * all);
        if (d > limit)
            fail_msg("%s of %s differs by %g\n%s",
                     gradients ? "gradient" : "value", t.name, d, what);
        free(x);
    }
}

static inline void compare_output(const struct ref *r, struct pr_net *net,
                                  double limit, const char *what)
{
    const struct ref_layer *l = &r->l[r->m->output];
    double d = difference(pr_net_output(net), l->y, r->batch * l->size, 0.01);

    if (d > limit)
        fail_msg("outputs differ by %g\n%s", d, what);
}

/* Each loss, and their sum. */
static inline void compare_losses(const struct ref *r,
                                  const struct pr_net_score *score,
                                  double limit, const char *what)
{
    for (unsigned i = 0; i < r->m->loss_count; i++)
        if (!(fabs(score->losses[i] - r->losses[i]) <=
              limit * fmax(1, fabs(r->losses[i]))))
            fail_msg("loss '%s' is %g, not %g\n%s", r->m->losses[i].name,
                     score->losses[i], r->losses[i], what);
    if (!(fabs(score->loss - r->loss) <= limit * fmax(1, fabs(r->loss))))
        fail_msg("loss %g, not %g\n%s", score->loss, r->loss, what);
}

/* ---- the plan: what lives at the same time lies apart, and inside. When
 * something lives is found from the steps again. */

struct life {
    size_t from, to; /* bytes */
    size_t first, last;
};

static inline struct life life_of(const struct pr_net *net, int tensor)
{
    const struct pr_net_tensor_memory *t = &net->tensors[tensor];
    struct life l = {t->at, t->at + t->bytes, net->step_count, 0};

    for (size_t i = 0; i < net->step_count; i++)
        for (unsigned k = 0; k < net->steps[i].count; k++)
            if (net->steps[i].tensors[k] == tensor) {
                l.first = i < l.first ? i : l.first;
                l.last = i > l.last ? i : l.last;
            }
    if (t->is_kept) {
        l.first = 0;
        l.last = net->step_count;
    }
    return l;
}

static inline void check_plan(const struct pr_net *net, const char *what)
{
    for (size_t i = 0; i < net->tensor_count; i++) {
        struct life a = life_of(net, (int)i);

        if (a.first > a.last) /* nobody uses it */
            continue;
        if (a.to > net->bytes || a.from % 64 || a.from == a.to)
            fail_msg("tensor %d is not inside\n%s", (int)i, what);
        for (size_t k = i + 1; k < net->tensor_count; k++) {
            struct life b = life_of(net, (int)k);

            if (b.first <= a.last && a.first <= b.last && b.from < a.to &&
                a.from < b.to)
                fail_msg("tensors %d and %d overlap\n%s", (int)i, (int)k, what);
        }
    }
}

#endif
