/*
 * Layers that move values, curves, joins and convolutions turned around, in
 * networks: what the engine says a small change of each tensor does to the
 * loss, and what it does.
 */
#include "base/mem.h"
#include "base/random.h"
#include "nn/engine/net.h"

#include "skip.h"
#include "torture.h"

#include <math.h>
#include <string.h>

/* Layouts with blocks that are full and not, and plain ones. */
static const char places[] =
    "model: places\n"
    "inputs: {x: {shape: [3, 5, 6]}, want: {shape: [2, 27, 33]}}\n"
    "losses: [{mse: last, target: want}]\n"
    "layers:\n"
    "  - {transposed_conv: 5, kernel: 4, stride: 2, pad: 1, bias: true}\n"
    "  - relu\n"
    "  - {upsample: 2}\n"
    "  - {reflect_pad: [2, 1, 3, 4]}\n"
    "  - {conv: 8, kernel: 3, pad: 1}\n"
    "  - {leaky_relu: 0.2}\n"
    "  - {pixel_shuffle: 2}\n"
    "  - {transposed_conv: 4, kernel: [3, 4], pad: [1, 1, 1, 2], bias: false}\n"
    "  - gelu\n"
    "  - {slice: 3, count: 27, axis: 1}\n"
    "  - {slice: 1, count: 33, axis: 2}\n"
    "  - {slice: 1, count: 2}\n"
    "  - {tanh: , name: last}\n";

static const char blocks[] =
    "model: blocks\n"
    "inputs: {x: {shape: [16, 6, 5]}, want: {shape: [20, 32, 28]}}\n"
    "losses: [{mse: last, target: want}]\n"
    "layers:\n"
    "  - {conv: 16, kernel: 3, pad: 1}\n"
    "  - {transposed_conv: 12, kernel: 3, stride: 2, pad: 1, bias: true}\n"
    "  - relu\n"
    "  - {reflect_pad: [2, 1, 3, 4]}\n"
    "  - {transposed_conv: 20, kernel: 4, stride: 2, pad: 1, bias: true}\n"
    "  - {sigmoid: , name: s}\n"
    "  - {conv: 20, kernel: 3, pad: 1}\n"
    "  - {exp: , name: e}\n"
    "  - {conv: 20, kernel: 1, from: s, name: c}\n"
    "  - {multiply: , from: [c, e, s], name: last}\n";

static const char rows[] =
    "model: rows\n"
    "inputs: {x: {shape: [6, 8]}, want: {shape: [30, 7]}}\n"
    "losses: [{mse: last, target: want}]\n"
    "layers:\n"
    "  - {linear: 12, name: a}\n"
    "  - {gelu: , name: g}\n"
    "  - {sigmoid: , from: a, name: s}\n"
    "  - {multiply: , from: [g, s, a], name: m}\n"
    "  - {softmax: , name: p}\n"
    "  - {concat: , from: [g, p], axis: 1}\n"
    "  - {linear: 7, name: b}\n"
    "  - {exp: , name: e}\n"
    "  - {transpose: , from: b}\n"
    "  - {reshape: [6, 7], name: r}\n"
    "  - {slice: 1, count: 4, from: b, name: part}\n"
    "  - {slice: 2, count: 5, axis: 1, from: m}\n"
    "  - {linear: 7, name: c}\n"
    "  - {multiply: , from: [c, r], name: cr}\n"
    "  - {slice: 0, count: 2, from: e, name: two}\n"
    "  - {concat: , from: [e, r, b, part, cr, two]}\n"
    "  - {leaky_relu: 0.3, name: last}\n";

static const char gram[] =
    "model: gram\n"
    "inputs:\n"
    "  x: {shape: [3, 9, 8]}\n"
    "  style: {shape: [10, 10]}\n"
    "  want: {shape: [10, 9, 16]}\n"
    "losses:\n"
    "  - {mse: style_of, target: style, factor: 50}\n"
    "  - {mse: both, target: want}\n"
    "layers:\n"
    "  - {conv: 10, kernel: 3, pad: 1, name: c}\n"
    "  - {sigmoid: , name: s}\n"
    "  - {gram: , name: style_of}\n"
    "  - {leaky_relu: 0.1, from: c, name: l}\n"
    "  - {concat: , from: [s, l], axis: 2, name: both}\n";

enum { BATCH = 3 };

static struct pr_net *net_of(struct pr_arena *a, const char *text,
                             struct pr_model **ret)
{
    struct pr_net_opts o = {.batch = BATCH,
                            .training = true,
                            .threads = 2,
                            .keep_gradients = true,
                            .seed = 3,
                            .optimizer = {.kind = PR_SGD}};
    struct pr_err err = {0};
    struct pr_net *net = NULL;
    char version[32];

    if (!pr_net_is_available(version, &err))
        skip_for(&err);
    if (pr_model_parse(text, strlen(text), "test", NULL, a, ret, &err) ||
        pr_net_new(*ret, &o, &net, &err))
        fail_msg("%s: %s (%s)", err.where, err.msg, err.hint);
    return net;
}

static void fill_inputs(struct pr_net *net, const struct pr_model *m,
                        struct pr_rng *rng)
{
    for (unsigned i = 0; i < m->input_count; i++) {
        const struct pr_layer_shape *s = &m->layers[i].shape;
        float *x = pr_net_input(net, i);
        size_t n = BATCH;

        for (unsigned d = 0; d < s->dims; d++)
            n *= (size_t)s->at[d];
        for (size_t k = 0; k < n; k++)
            x[k] = (float)pr_rng_gauss(rng);
    }
}

static double length(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* A direction that has much of the gradient in it and some of all else. */
static double direct(const float *g, size_t n, struct pr_rng *rng, float *d)
{
    double slope = 0, of_d, of_g = length(g, n);

    for (size_t i = 0; i < n; i++)
        d[i] = (float)pr_rng_gauss(rng);
    of_d = length(d, n);
    for (size_t i = 0; i < n; i++) {
        d[i] = (float)((double)d[i] / of_d + (double)g[i] / of_g);
        slope += (double)g[i] * (double)d[i];
    }
    return slope;
}

static double loss_at(struct pr_net *net, unsigned i, const float *w,
                      const float *d, size_t n, double h)
{
    float *moved = pr_alloc(n * sizeof *moved);
    struct pr_net_score score = {0};
    struct pr_err err = {0};

    assert_non_null(moved);
    for (size_t k = 0; k < n; k++)
        moved[k] = (float)((double)w[k] + h * (double)d[k]);
    assert_int_equal(pr_net_set(net, i, moved, &err), PR_OK);
    assert_int_equal(pr_net_infer(net, &score, &err), PR_OK);
    pr_free(moved);
    return score.loss;
}

static void check_tensor(struct pr_net *net, unsigned i, double loss,
                         struct pr_rng *rng)
{
    struct pr_net_tensor t;
    float *w, *g, *d;
    double slope, got, h;
    struct pr_err err = {0};

    pr_net_tensor(net, i, &t);
    w = pr_alloc(3 * t.elements * sizeof *w);
    assert_non_null(w);
    g = w + t.elements;
    d = g + t.elements;
    assert_int_equal(pr_net_get(net, i, w, &err), PR_OK);
    assert_int_equal(pr_net_gradient(net, i, g, &err), PR_OK);
    slope = direct(g, t.elements, rng, d);
    h = 3e-5 * loss / slope; /* so small because of the kinks of relu */
    got = (loss_at(net, i, w, d, t.elements, h) -
           loss_at(net, i, w, d, t.elements, -h)) /
          (2 * h);
    if (fabs(got - slope) > 8e-3 * fabs(slope))
        fail_msg("%s: the slope is %.6g, not %.6g", t.name, got, slope);
    assert_int_equal(pr_net_set(net, i, w, &err), PR_OK);
    pr_free(w);
}

static void check(const char *text)
{
    struct pr_arena *a = pr_arena_new(64 << 10);
    struct pr_model *m = NULL;
    struct pr_net *net = net_of(a, text, &m);
    struct pr_net_score score = {0};
    struct pr_err err = {0};
    struct pr_rng rng;

    pr_rng_seed(&rng, 5, 1);
    fill_inputs(net, m, &rng);
    if (pr_net_train(net, &score, &err)) /* at a rate of 0 */
        fail_msg("%s: %s", err.where, err.msg);
    for (unsigned i = 0; i < pr_net_tensor_count(net); i++)
        check_tensor(net, i, score.loss, &rng);
    pr_net_free(net);
    pr_arena_free(a);
}

static void gradients_through_places(void **state)
{
    (void)state;
    check(places);
}

static void gradients_through_blocks_of_channels(void **state)
{
    (void)state;
    check(blocks);
}

static void gradients_through_rows(void **state)
{
    (void)state;
    check(rows);
}

static void gradients_through_gram(void **state)
{
    (void)state;
    check(gram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_through_places),
        cmocka_unit_test(gradients_through_blocks_of_channels),
        cmocka_unit_test(gradients_through_rows),
        cmocka_unit_test(gradients_through_gram),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
