/* Small models with every kind of loss, tensors that are shared or frozen, and
 * networks that learn in turn. As nn_models.h. */
#ifndef TESTS_UNIT_NN_MODELS_LOSSES_H
#define TESTS_UNIT_NN_MODELS_LOSSES_H

#include "nn_models.h"

#define NN_TOKENS                                                        \
    "inputs:\n  t: {shape: [4], ids: 6}\n  next: {shape: [4], ids: 6}\n" \
    "  w: {shape: [4]}\n"
#define NN_NUMBERS "inputs:\n  x: {shape: [5]}\n  y: {shape: [4]}\n"
#define NN_MORE "  z: {shape: [3, 2]}\n"
#define NN_BLOCKS                                                           \
    "blocks:\n  judge: {layers: [{linear: 6}, {leaky_relu: 0.2}, {linear: " \
    "1}]}\n"                                                                \
    "  maker: {layers: [{linear: 7}, {batch_norm: }, {tanh: }, {linear: "   \
    "5}]}\n"

static const struct nn_row nn_losses[] = {
    {NN_TOKENS,
     "- {embedding: 5}\n- {linear: 6, name: a}\n"
     "- {linear: 6, from: embedding1, name: b}\n"
     "- {linear: 6, from: embedding1, name: c}\n"
     "losses:\n- {cross_entropy: a, target: next, weights: w}\n"
     "- {cross_entropy: b, target: next, ignore: 2, smoothing: 0.2, "
     "factor: 0.7}\n"
     "- {cross_entropy: c, target: t, reduce: sum, weights: w, "
     "smoothing: 0.1, ignore: 0}\n"
     "- {cross_entropy: c, target: next, reduce: sum, factor: 0.1}\n",
     3},
    {NN_NUMBERS NN_MORE,
     "- {linear: 8}\n- tanh\n- {linear: 4, name: a}\n"
     "- {linear: 6, from: tanh1}\n- {reshape: [3, 2], name: b}\n"
     "losses:\n- {mse: a, target: y}\n- {mse: b, target: z, reduce: sum}\n"
     "- {bce: a, target: 1, factor: 0.5}\n- {bce: b, target: 0}\n"
     "- {bce: a, target: y, reduce: sum}\n"
     "- {smooth_l1: a, target: y, beta: 0.5}\n"
     "- {smooth_l1: b, target: 0.25, factor: 2, reduce: sum}\n"
     "- {smooth_l1: a, target: -3, beta: 0.01}\n- {mse: a, target: 0.3}\n",
     3},
    {"inputs:\n  x: {shape: [5]}\n  noise: {shape: [3]}\n",
     "- {linear: 8}\n- relu\n- {linear: 3, name: mean}\n"
     "- {linear: 3, from: relu1, name: var}\n- {scale: 0.5}\n- exp\n"
     "- {multiply: , from: [exp1, noise]}\n- {add: , from: [multiply1, mean]}\n"
     "- {linear: 5, name: again}\n"
     "losses:\n- {mse: again, target: x, reduce: sum}\n"
     "- {kl: [mean, var], factor: 0.5}\n",
     4},
    {"inputs:\n  x: {shape: [7, 3]}\n  ids: {shape: [3], ids: 5}\n"
     "  n: {shape: [1], ids: 4}\n",
     "- {linear: 6}\n- {gru: 5}\n- {linear: 5, name: a}\n"
     "- {linear: 5, from: gru1, name: b}\n"
     "losses:\n- {ctc: a, target: ids, lengths: n}\n"
     "- {ctc: b, target: ids, lengths: n, reduce: sum, factor: 0.3}\n",
     5},
    {"inputs:\n  x: {shape: [2, 3]}\n  ids: {shape: [3], ids: 3}\n"
     "  n: {shape: [1], ids: 4}\n",
     "- {linear: 4}\n- tanh\n- {linear: 3, name: a}\n"
     "losses:\n- {ctc: a, target: ids, lengths: n}\n",
     6},
    {"inputs:\n  x: {shape: [3, 4, 4]}\n  places: {shape: [4, 12]}\n"
     "  kinds: {shape: [12], ids: 3}\n",
     "- {conv: 12, kernel: 2}\n- {slice: 0, count: 9, axis: 0}\n"
     "- {reshape: [27, 3]}\n- {linear: 4}\n- transpose\n"
     "- {slice: 2, count: 12, axis: 1, name: where}\n"
     "- {linear: 12, from: reshape1}\n- {slice: 5, count: 3, name: what}\n"
     "losses:\n- {multibox: [where, what], target: [places, kinds], "
     "factor: 1.5}\n",
     3},
    {"inputs:\n  x: {shape: [2, 5]}\n  places: {shape: [4, 9]}\n"
     "  kinds: {shape: [9], ids: 2}\n",
     "- {linear: 9}\n- {slice: 0, count: 2, name: what}\n"
     "- {reshape: [2, 9]}\n- {concat: , from: [reshape1, linear1], "
     "name: where}\n"
     "losses: [{multibox: [where, what], target: [places, kinds]}]\n",
     1},
    /* shared tensors */
    {NN_TOKENS,
     "- {embedding: 5}\n- {gru: 5}\n"
     "- {linear: 6, bias: false, like: embedding1, name: head}\n"
     "losses: [{cross_entropy: head, target: next, weights: w}]\n",
     2},
    {NN_TOKENS "  other: {shape: [3], ids: 6}\n",
     "- {embedding: 5, sparse: true, name: e}\n"
     "- {embedding: 5, like: e, from: other, name: f}\n- {lstm: 4, name: r}\n"
     "- {slice: 0, count: 3, from: e}\n- {lstm: 4, like: r, name: s}\n"
     "- {concat: , from: [r, s]}\n- {slice: 1, count: 4}\n"
     "- {linear: 6, name: head}\n"
     "losses: [{cross_entropy: head, target: next, weights: w}]\n",
     3},
    {NN_NUMBERS
     "blocks:\n  twin: {layers: [{linear: 8}, {batch_norm: }, {relu: }, "
     "{reshape: [2, 2, 2]}, {conv: 3, kernel: 2}, {linear: 5}]}\n",
     "- {twin: , name: a}\n- {twin: , like: a, name: b}\n"
     "- {twin: , from: x, like: a, name: c}\n- {add: , from: [a, b, c]}\n"
     "- {linear: 4, name: out}\nlosses: [{mse: out, target: y}]\n",
     4},
    {"inputs: {x: {shape: [5]}, z: {shape: [3, 2]}}\n",
     "- {linear: 6, name: a}\n- layer_norm\n- {linear: 6, name: b}\n"
     "- {layer_norm: , like: layer_norm1}\n- {linear: 6, like: b, name: c}\n"
     "- {reshape: [3, 2]}\n- {additive_attention: , name: p, "
     "from: [reshape1, reshape1, z]}\n"
     "- {additive_attention: , like: p, from: [z, reshape1, p], name: q}\n"
     "losses: [{mse: q, target: z}]\n",
     3},
    {"inputs:\n  x: {shape: [3, 4, 4]}\n  y: {shape: [3, 8, 8]}\n",
     "- {conv: 3, kernel: 3, pad: 1, name: a}\n- instance_norm\n"
     "- {conv: 3, kernel: 3, pad: 1, like: a, name: b}\n"
     "- {instance_norm: , like: instance_norm1}\n"
     "- {transposed_conv: 3, kernel: 2, name: u}\n"
     "- {transposed_conv: 3, kernel: 2, like: u, name: v}\n- {upsample: 2}\n"
     "- {slice: 1, count: 8, axis: 1}\n"
     "- {slice: 2, count: 8, axis: 2, name: out}\n"
     "losses: [{smooth_l1: out, target: y}]\n",
     2},
    /* frozen, and a layer as target */
    {NN_NUMBERS
     "blocks:\n  still: {layers: [{linear: 6}, {batch_norm: }, {relu: }, "
     "{linear: 4}]}\n",
     "- {linear: 5, name: first}\n- {still: , freeze: true, name: s}\n"
     "- {linear: 4, name: out}\n- {still: , from: x, like: s, name: goal}\n"
     "losses: [{mse: out, target: goal}, {mse: s, target: y}]\n",
     4},
    {"inputs:\n  x: {shape: [3, 5, 5]}\n",
     "- {conv: 3, name: made}\n- {conv: 8, freeze: true, name: f}\n- relu\n"
     "- {gram: , name: g}\n- {conv: 8, from: x, like: f, name: f2}\n- relu\n"
     "- {gram: , name: h}\noutput: made\n"
     "losses: [{mse: g, target: h, factor: 10}, {mse: f, target: f2}]\n",
     2},
    /* sums that are done along with a norm: one that is frozen; and where a
     * loss reads what they are added to */
    {"inputs:\n  x: {shape: [3, 5, 5]}\n  y: {shape: [4]}\n",
     "- {conv: 8, name: a}\n- {conv: 8, from: x, freeze: true}\n"
     "- {batch_norm: , freeze: true}\n- {add: , from: [batch_norm1, a]}\n"
     "- relu\n- {linear: 4, name: out}\nlosses: [{mse: out, target: y}]\n",
     2},
    {"inputs:\n  x: {shape: [3, 5, 5]}\n  y: {shape: [8, 5, 5]}\n",
     "- {conv: 8}\n- {tanh: , name: r}\n- {conv: 8, from: x}\n- batch_norm\n"
     "- {add: , from: [batch_norm1, r]}\n- relu\n- {conv: 8, name: out}\n"
     "losses: [{mse: out, target: y}, {mse: r, target: 0.5}]\n",
     2},
    {"inputs:\n  x: {shape: [3, 5, 5]}\n",
     "- {conv: 8}\n- {tanh: , name: r}\n- {conv: 8, from: x}\n- batch_norm\n"
     "- {add: , from: [r, batch_norm1]}\n- {conv: 8, name: out}\n"
     "losses: [{mse: out, target: r}]\n",
     2},
    /* in turn */
    {NN_NUMBERS NN_BLOCKS,
     "- {maker: , from: y, name: made}\n- {judge: , from: x, name: real}\n"
     "- {judge: , from: made, like: real, name: fake}\n"
     "- {judge: , from: made, like: real, name: again}\n"
     "losses:\n- {bce: real, target: 1}\n- {bce: fake, target: 0}\n"
     "- {bce: again, target: 1, turn: 2}\nturns: [[real], [made]]\n"
     "output: made\n",
     4},
    {NN_NUMBERS,
     "- {linear: 6, name: a}\n- tanh\n- {linear: 5, name: b}\n- tanh\n"
     "- {linear: 4, name: c}\n- {linear: 4, from: tanh1, name: d}\n"
     "losses:\n- {mse: c, target: y}\n"
     "- {mse: d, target: y, turn: 2, factor: 3}\n"
     "- {smooth_l1: tanh1, target: 0, turn: 3}\n"
     "turns: [[b, c], [d], [a]]\noutput: d\n",
     3},
};

enum { NN_LOSSES = sizeof nn_losses / sizeof *nn_losses };

#endif
