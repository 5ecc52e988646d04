/* Small models of rows of features: sequences, attention, and what turns other
 * shapes into rows and back. As nn_models.h. */
#ifndef TESTS_UNIT_NN_MODELS_ROWS_H
#define TESTS_UNIT_NN_MODELS_ROWS_H

#include "nn_models.h"

#define NN_IDS                                                        \
    "inputs:\n  t: {shape: [5], ids: 7}\n  n: {shape: [1], ids: 6}\n" \
    "  labels: {shape: [1], ids: 3}\n"
#define NN_HEAD                              \
    "- flatten\n- {linear: 3, name: head}\n" \
    "losses: [{cross_entropy: head, target: labels}]\n"
#define NN_HEAD2                             \
    "- flatten\n- {linear: 3, name: head}\n" \
    "losses: [{cross_entropy: head, target: labels}, {mse: c, target: 1}]\n"
#define NN_ROWS_OF(shape) \
    "inputs:\n  x: {shape: " shape "}\n  labels: {shape: [1], ids: 3}\n"

static const struct nn_row nn_sequences[] = {
    /* embedding, linear, norms, curves: of rows */
    {"inputs: {t: {shape: [5], ids: 7}, labels: {shape: [1], ids: 3}}\n",
     "- {embedding: 6}\n" NN_HEAD, 3},
    {"inputs: {t: {shape: [1], ids: 9}, labels: {shape: [1], ids: 3}}\n",
     "- {embedding: 5, sparse: true}\n- {linear: 4}\n- tanh\n" NN_HEAD, 4},
    {NN_ROWS_OF("[5, 6]"),
     "- {linear: 9, bias: false}\n- softmax\n- {linear: 4}\n" NN_HEAD, 2},
    {NN_ROWS_OF("[3, 7]"),
     "- {linear: 16}\n- gelu\n- {linear: 7, name: a}\n"
     "- {add: , from: [x, a]}\n- layer_norm\n" NN_HEAD,
     3},
    {NN_ROWS_OF("[4, 5]"),
     "- {linear: 17}\n- {layer_norm: , epsilon: 0.01}\n- relu\n"
     "- {linear: 3}\n- {leaky_relu: 0.2}\n- {layer_norm: , scale: false}\n"
     "- {scale: 0.5}\n- exp\n" NN_HEAD,
     1},
    {NN_ROWS_OF("[4, 5]"),
     "- {linear: 11}\n- batch_norm\n- relu\n- {linear: 8}\n"
     "- {batch_norm: , scale: false}\n- {dropout: 0.3}\n" NN_HEAD,
     3},
    {"[9]", "- {linear: 12}\n- layer_norm\n- gelu\n- {linear: $classes}", 3},
    {"[9]", "- {linear: 20}\n- {leaky_relu: 0.1}\n- exp\n- {linear: 3}", 3},
    /* lstm, gru */
    {NN_ROWS_OF("[4, 5]"), "- {linear: 6}\n- {lstm: 7}\n" NN_HEAD, 3},
    {NN_ROWS_OF("[3, 2]"), "- {lstm: 16, reverse: true}\n" NN_HEAD, 1},
    {NN_ROWS_OF("[5, 3]"),
     "- {linear: 4}\n- {lstm: 5, carry: true}\n- {lstm: 3}\n" NN_HEAD, 2},
    {NN_ROWS_OF("[1, 6]"), "- {lstm: 9}\n" NN_HEAD, 5},
    {NN_ROWS_OF("[4, 5]"), "- {linear: 6}\n- {gru: 7}\n" NN_HEAD, 3},
    {NN_ROWS_OF("[3, 2]"), "- {gru: 16, reverse: true}\n" NN_HEAD, 1},
    {NN_ROWS_OF("[5, 3]"),
     "- {linear: 4}\n- {gru: 5, carry: true, reverse: true}\n"
     "- {gru: 3}\n" NN_HEAD,
     2},
    {NN_ROWS_OF("[1, 6]"), "- {gru: 9}\n" NN_HEAD, 5},
    {NN_ROWS_OF("[6, 5]"),
     "- {linear: 4, name: a}\n- {lstm: 6, name: f}\n"
     "- {lstm: 6, reverse: true, from: a, name: b}\n"
     "- {concat: , axis: 1, from: [f, b]}\n- {gru: 5, name: g}\n"
     "- {dropout: 0.2}\n- {linear: 5, name: l}\n- {add: , from: [l, "
     "g]}\n" NN_HEAD,
     2},
    /* attention */
    {NN_ROWS_OF("[4, 5]"),
     "- {linear: 12}\n- {attention: 2}\n- {linear: 5}\n" NN_HEAD, 3},
    {NN_ROWS_OF("[5, 4]"),
     "- {linear: 15}\n- {attention: 1, causal: true}\n" NN_HEAD, 1},
    {NN_IDS,
     "- {embedding: 4, from: t}\n- {linear: 24}\n"
     "- {attention: 4, lengths: n}\n" NN_HEAD,
     4},
    {NN_IDS,
     "- {embedding: 6, from: t}\n- {linear: 18}\n"
     "- {attention: 3, lengths: n, causal: true}\n" NN_HEAD,
     3},
    {NN_IDS,
     "- {embedding: 6, from: t, name: e}\n"
     "- {slice: 1, count: 2, name: s}\n- {linear: 8, name: q}\n"
     "- {linear: 8, from: e, name: k}\n- {linear: 8, from: e, name: v}\n"
     "- {attention: 2, from: [q, k, v], lengths: n}\n" NN_HEAD,
     3},
    {NN_ROWS_OF("[3, 6]"),
     "- {linear: 6, name: q}\n- {attention: 2, causal: true, "
     "from: [q, x, q]}\n" NN_HEAD,
     2},
    {NN_ROWS_OF("[3, 6]"),
     "- {linear: 6, name: q}\n- {attention: 1, from: [q, q, q]}\n" NN_HEAD, 2},
    {NN_IDS,
     "- {embedding: 6, from: t, name: e}\n"
     "- {slice: 1, count: 3, name: s}\n- {linear: 9, name: q}\n"
     "- {linear: 9, from: e, name: k}\n"
     "- {additive_attention: , from: [q, k, e], lengths: n}\n" NN_HEAD,
     3},
    {NN_ROWS_OF("[4, 5]"),
     "- {linear: 6, name: q}\n- {linear: 6, name: k}\n"
     "- {additive_attention: , from: [q, k, q]}\n" NN_HEAD,
     2},
    /* rows to other places */
    {"inputs:\n  x: {shape: [6, 4]}\n  at: {shape: [3], ids: 6}\n"
     "  labels: {shape: [1], ids: 3}\n",
     "- {linear: 5, name: a}\n- {gather: , from: [a, at], name: g}\n"
     "- {linear: 5, name: l}\n- {concat: , from: [l, a, g]}\n" NN_HEAD,
     3},
    {NN_ROWS_OF("[4, 6]"),
     "- {linear: 7, name: a}\n- transpose\n- {linear: 3}\n- tanh\n"
     "- transpose\n- {slice: 1, count: 2, axis: 1, from: a, name: c}\n"
     "- {slice: 0, count: 3, from: transpose2, name: d}\n"
     "- {slice: 1, count: 3, axis: 0, from: a, name: b}\n"
     "- {multiply: , from: [d, b]}\n" NN_HEAD2,
     3},
    {NN_ROWS_OF("[3, 5]"),
     "- {linear: 4, name: a}\n- {linear: 4, from: x, name: b}\n"
     "- {concat: , axis: 1, from: [a, b, x]}\n- {linear: 4, name: c}\n"
     "- {concat: , axis: 0, from: [c, a, b]}\n- relu\n"
     "- {multiply: , from: [relu1, concat2]}\n" NN_HEAD,
     2},
    {NN_ROWS_OF("[3, 5]"),
     "- {linear: 4, name: a}\n- {linear: 4, from: x, name: b}\n"
     "- {linear: 4, from: x, name: c}\n"
     "- {multiply: , from: [a, b, c]}\n- {add: , from: [multiply1, "
     "a]}\n" NN_HEAD,
     2},
    /* shapes */
    {"[3, 6, 4]",
     "- {conv: 8, kernel: 2, stride: 2}\n- {reshape: [8, -1]}\n- transpose\n"
     "- {linear: 24}\n- {attention: 2}\n- layer_norm\n- flatten\n"
     "- {linear: $classes}",
     2},
    {"[12]",
     "- {linear: 24}\n- {reshape: [2, 3, 4]}\n- {conv: 5, kernel: 2}\n- relu\n"
     "- {reshape: [10, 3]}\n- {lstm: 4}\n- {reshape: [-1]}\n"
     "- {linear: $classes}",
     3},
    {"[3, 5, 5]",
     "- {conv: 16, kernel: 3}\n- relu\n- {reshape: [16, 9]}\n- {gru: 3}\n"
     "- {reshape: [3, 4, 4]}\n- batch_norm\n- relu\n- {conv: 2}\n"
     "- {linear: $classes}",
     2},
    {"[8, 4]",
     "- {linear: 9}\n- {reshape: [8, 3, 3]}\n- {conv: 8, kernel: 2}\n"
     "- batch_norm\n- relu\n- {reshape: [4, 8]}\n- softmax\n- flatten\n"
     "- {linear: $classes}",
     3},
};

enum { NN_SEQUENCES = sizeof nn_sequences / sizeof *nn_sequences };

#endif
