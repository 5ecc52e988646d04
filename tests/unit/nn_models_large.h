/* Models whose layers are large enough that threads share the work of each, as
 * nn_models.h; with sizes that do not divide evenly, and nothing that bends. */
#ifndef TESTS_UNIT_NN_MODELS_LARGE_H
#define TESTS_UNIT_NN_MODELS_LARGE_H

#include "nn_models.h"

static const struct nn_row nn_large[] = {
    /* a block of a transformer, 33000 numbers in most layers */
    {"inputs:\n  t: {shape: [27], ids: 61}\n  n: {shape: [1], ids: 28}\n"
     "  next: {shape: [27], ids: 61}\n",
     "- {embedding: 41, name: e}\n- layer_norm\n- {linear: 120}\n"
     "- {attention: 4, lengths: n, causal: true}\n- {linear: 41}\n"
     "- {add: , from: [linear2, e], name: a}\n- layer_norm\n- {linear: 51}\n"
     "- gelu\n- {linear: 41}\n- {add: , from: [linear4, a]}\n"
     "- {linear: 61, bias: false, like: e, name: head}\n"
     "losses: [{cross_entropy: head, target: next, smoothing: 0.1}]\n",
     31},
    /* sequences to other places */
    {"inputs:\n  x: {shape: [29, 13]}\n  at: {shape: [23], ids: 29}\n"
     "  y: {shape: [23, 37]}\n",
     "- {linear: 37, name: a}\n- {dropout: 0.2}\n"
     "- {gather: , from: [dropout1, at], name: g}\n- softmax\n"
     "- {slice: 3, count: 23, from: a, name: s}\n- batch_norm\n- tanh\n"
     "- {multiply: , from: [tanh1, softmax1]}\n- transpose\n- transpose\n"
     "- {concat: , axis: 1, from: [transpose2, s]}\n"
     "- {slice: 20, count: 37, axis: 1}\n- {sigmoid: , name: out}\n"
     "losses: [{smooth_l1: out, target: y, beta: 0.5}, "
     "{bce: s, target: 1}, {mse: g, target: y}]\n",
     25},
    {"inputs:\n  x: {shape: [19, 9]}\n  n: {shape: [1], ids: 20}\n"
     "  y: {shape: [19, 21]}\n",
     "- {linear: 33, name: q}\n- {linear: 33, from: x, name: k}\n"
     "- {linear: 21, from: x, name: v}\n"
     "- {additive_attention: , from: [q, k, v], lengths: n}\n"
     "- {gru: 21, name: out}\nlosses: [{mse: out, target: y}]\n",
     43},
    /* images to other places */
    {"[3, 13, 17]",
     "- {conv: 16, kernel: 3, pad: 1}\n- instance_norm\n- tanh\n"
     "- {reflect_pad: 1}\n- {pixel_shuffle: 2}\n- {slice: 2, count: 13, "
     "axis: 1, name: s}\n- {slice: 5, count: 17, axis: 2}\n- gelu\n"
     "- {transposed_conv: 9, kernel: 3, pad: 1}\n"
     "- {upsample: 2}\n- {average_pool: 2}\n- {concat: , axis: 1, "
     "from: [average_pool1, transposed_conv1]}\n- gram\n- flatten\n"
     "- {linear: $classes}",
     9},
    {"[5, 11, 12]",
     "- {conv: 24}\n- {scale: 0.3}\n- exp\n- {conv: 24, from: conv1}\n"
     "- sigmoid\n- {multiply: , from: [exp1, sigmoid1, conv1]}\n"
     "- {slice: 1, count: 19}\n- {instance_norm: , scale: false}\n"
     "- {conv: 8, kernel: 2}\n- {linear: $classes}",
     7},
};

enum { NN_LARGE = sizeof nn_large / sizeof *nn_large };

#endif
