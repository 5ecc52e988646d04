/* Small models with every kind of layer, and of joins of them: the engine is
 * compared with the plain network in them, and that with finite differences. */
#ifndef TESTS_UNIT_NN_MODELS_H
#define TESTS_UNIT_NN_MODELS_H

struct nn_row {
    const char *input, *layers;
    unsigned batch;
};

/* Each ends in a linear layer; most begin with a convolution or a linear layer,
 * whose weights' gradient tells of the gradient of what follows. */
static const struct nn_row nn_rows[] = {
    /* linear */
    {"[5]", "- {linear: $classes}", 4},
    {"[5]", "- {linear: 7, bias: false}\n- relu\n- {linear: $classes}", 4},
    {"[5]",
     "- {linear: 16}\n- tanh\n- {linear: 24}\n- sigmoid\n"
     "- {linear: $classes}",
     3},
    {"[3, 4, 5]", "- {linear: $classes}", 4},
    {"[3, 4, 5]",
     "- {conv: 5, kernel: 2}\n- {linear: 9}\n- relu\n"
     "- {linear: $classes}",
     4},
    {"[3, 4, 5]",
     "- {conv: 16, kernel: 2}\n- flatten\n- {linear: 9}\n"
     "- {linear: $classes}",
     4},
    {"[1, 1, 1]",
     "- {conv: 12, kernel: 3, pad: 1}\n- {linear: 4}\n- {linear: $classes}", 1},
    /* conv */
    {"[3, 8, 8]", "- {conv: 8, kernel: 3}\n- {linear: $classes}", 2},
    {"[3, 8, 8]",
     "- {conv: 7, kernel: 3, bias: false}\n"
     "- {conv: 9, kernel: 3}\n- {linear: $classes}",
     2},
    {"[3, 9, 8]",
     "- {conv: 16, kernel: 3, pad: 1}\n- relu\n"
     "- {conv: 24, kernel: [3, 1], stride: 2, pad: [1, 0]}\n"
     "- relu\n- {conv: 8}\n- {linear: $classes}",
     2},
    {"[4, 9, 9]",
     "- {conv: 6, kernel: 3, pad: [0, 1, 2, 1], stride: [2, 1]}\n"
     "- {conv: 5, kernel: 2, pad: same}\n- {linear: $classes}",
     3},
    {"[3, 9, 9]",
     "- {conv: 8, kernel: 1}\n"
     "- {conv: 8, kernel: 3, dilation: 2, pad: 2}\n"
     "- {conv: 5, kernel: 3, dilation: [1, 3]}\n"
     "- {linear: $classes}",
     2},
    {"[4, 6, 6]",
     "- {conv: 16, groups: 2, kernel: 3, pad: 1}\n"
     "- {conv: 6, groups: 2, kernel: 3, bias: false}\n"
     "- {conv: 32, kernel: 1}\n"
     "- {conv: 16, groups: 2, kernel: 1}\n"
     "- {linear: $classes}",
     3},
    {"[3, 6, 6]",
     "- {conv: 16, kernel: 1}\n"
     "- {conv: 16, kernel: 3, pad: 1, depthwise: true}\n"
     "- {conv: 11, kernel: 1}\n"
     "- {conv: 11, kernel: 3, stride: 2, depthwise: true, "
     "bias: false}\n"
     "- {conv: 22, kernel: 1, depthwise: true}\n"
     "- {linear: $classes}",
     3},
    {"[1, 12, 12]",
     "- {conv: 6, kernel: 5, pad: 2}\n- relu\n- {max_pool: 2}\n"
     "- {conv: 16, kernel: 5}\n- relu\n- flatten\n"
     "- {linear: 10}\n- relu\n- {linear: $classes}",
     4},
    /* batch norm */
    {"[3, 5, 5]", "- {conv: 8, kernel: 3}\n- batch_norm\n- {linear: $classes}",
     4},
    {"[3, 5, 5]",
     "- {conv: 5, kernel: 2, bias: false}\n"
     "- {batch_norm: , scale: false, epsilon: 0.01}\n- relu\n"
     "- {conv: 4, kernel: 2}\n- {batch_norm: , momentum: 0.3}\n"
     "- {linear: $classes}",
     4},
    {"[9]",
     "- {linear: 12}\n- batch_norm\n- relu\n- {linear: 5}\n"
     "- {batch_norm: , scale: false}\n- {linear: $classes}",
     16},
    {"[3, 5, 5]", "- batch_norm\n- {linear: $classes}", 4},
    /* lrn, pools */
    {"[3, 5, 5]",
     "- {conv: 8}\n- {lrn: 5, alpha: 0.5, k: 2}\n"
     "- {linear: $classes}",
     2},
    {"[3, 5, 5]",
     "- {conv: 11}\n- {lrn: 3, alpha: 0.3, beta: 0.5}\n"
     "- {conv: 16}\n- {lrn: 5, alpha: 0.1}\n"
     "- {linear: $classes}",
     2},
    {"[3, 9, 9]",
     "- {conv: 8}\n- {max_pool: 3, stride: 2, pad: 1}\n"
     "- {max_pool: 3, stride: 1, pad: same}\n"
     "- {linear: $classes}",
     2},
    {"[3, 8, 9]",
     "- {conv: 5}\n- {max_pool: 3, stride: 2, ceil: true}\n"
     "- {max_pool: 2}\n- {linear: $classes}",
     2},
    {"[3, 9, 9]",
     "- {conv: 8}\n- {average_pool: 3, stride: 2, pad: 1}\n"
     "- {average_pool: 2, pad: same, stride: 1}\n"
     "- {linear: $classes}",
     2},
    {"[3, 9, 8]",
     "- {conv: 5}\n"
     "- {average_pool: 3, stride: 2, pad: 1, count_pad: false}\n"
     "- {average_pool: 2, ceil: true}\n"
     "- {linear: $classes}",
     2},
    {"[2, 7, 6]", "- {average_pool: 2}\n- {conv: 3}\n- {linear: $classes}", 2},
    {"[3, 5, 5]", "- {conv: 8}\n- global_pool\n- {linear: $classes}", 3},
    {"[3, 5, 5]", "- {conv: 3}\n- global_pool", 3},
    {"[3, 5, 5]",
     "- {conv: 13}\n- relu\n- global_pool\n- {dropout: 0.4}\n"
     "- {linear: $classes}",
     3},
    /* element by element */
    {"[3, 5, 5]",
     "- {conv: 5}\n- sigmoid\n- {conv: 6, kernel: 2}\n- tanh\n"
     "- {scale: 0.7}\n- {conv: 8}\n- sigmoid\n"
     "- {conv: 3, kernel: 4}\n- {linear: $classes}",
     3},
    {"[6]", "- {linear: 9}\n- softmax\n- {linear: $classes}", 3},
    {"[3, 5, 5]",
     "- {conv: 5}\n- {dropout: 0.5}\n- {conv: 8}\n"
     "- {dropout: 0.3}\n- flatten\n- {linear: 6}\n"
     "- {dropout: 0.2}\n- {linear: $classes}",
     3},
    {"[3, 5, 5]",
     "- {conv: 8}\n- relu\n- relu\n- {dropout: 0}\n- relu\n"
     "- {linear: $classes}",
     3},
    {"[5]", "- {linear: 3}\n- relu\n- {scale: 2}", 3},
    {"[5]", "- {linear: 3}\n- {dropout: 0.5}", 6},
    /* flatten, and what minds the order after it */
    {"[3, 4, 4]",
     "- {conv: 5}\n- flatten\n- batch_norm\n- relu\n"
     "- {linear: $classes}",
     16},
    {"[3, 4, 4]",
     "- {conv: 5, name: a}\n- {flatten: , name: f}\n"
     "- {linear: 4, from: a, name: b}\n"
     "- {concat: , from: [f, b]}\n- {linear: $classes}",
     4},
    {"[3, 4, 4]",
     "- {conv: 8}\n- {flatten: , name: f}\n- relu\n"
     "- {dropout: 0.5}\n- {linear: 80, name: g}\n- relu\n"
     "- {linear: $classes}",
     4},
    {"[3, 4, 4]",
     "- {conv: 8}\n- {flatten: , name: f}\n"
     "- {linear: 128, name: g}\n- {add: , from: [f, g]}\n"
     "- softmax\n- {linear: $classes}",
     4},
    {"[3, 1, 1]", "- {conv: 3}\n- flatten", 4},
};

/* Joins: every value has one to six users, in the order of definition. */
static const struct nn_row nn_joins[] = {
    {"[3, 5, 5]",
     "- {conv: 8, name: a}\n- {conv: 8, from: input, name: b}\n"
     "- {concat: , from: [a, b]}\n- relu\n- {conv: 4}\n"
     "- {linear: $classes}",
     2},
    {"[3, 5, 5]",
     "- {conv: 3, name: a}\n- {conv: 5, from: input, name: b}\n"
     "- {conv: 8, from: a, name: c}\n"
     "- {dropout: 0, from: a, name: a2}\n"
     "- {concat: , from: [a, b, c, a2, input]}\n- {conv: 7}\n"
     "- {linear: $classes}",
     2},
    {"[8, 4, 4]",
     "- {conv: 11, name: a}\n"
     "- {dropout: 0, from: a, name: a2}\n"
     "- {concat: , from: [input, a, a2], name: c}\n"
     "- {concat: , from: [c, a]}\n- batch_norm\n- relu\n"
     "- {conv: 7}\n- {linear: $classes}",
     2},
    {"[5]",
     "- {linear: 3, name: a}\n- {linear: 10, from: input, name: b}\n"
     "- {scale: 2}\n- {dropout: 0, from: b, name: b2}\n"
     "- {concat: , from: [b, a, scale1, b2]}\n- {linear: $classes}",
     3},
    {"[3, 5, 5]",
     "- {conv: 8, name: a}\n"
     "- {dropout: 0, from: a, name: a2}\n"
     "- {add: , from: [a, a2]}\n"
     "- {linear: $classes}",
     2},
    {"[3, 5, 5]",
     "- {conv: 8, name: a}\n- relu\n"
     "- {dropout: 0, from: a, name: a2}\n"
     "- {add: , from: [a, a2]}\n"
     "- relu\n- {add: , from: [relu1, relu2, a]}\n"
     "- {linear: $classes}",
     2},
    {"[3, 5, 5]",
     "- {conv: 8, name: a}\n- {conv: 8, name: b}\n"
     "- {dropout: 0, from: a, name: a2}\n"
     "- {dropout: 0, from: a, name: a3}\n"
     "- {dropout: 0, from: a, name: a4}\n"
     "- {dropout: 0, from: a, name: a5}\n"
     "- {add: , from: [a, a2, a3, a4, a5, b]}\n- relu\n"
     "- {linear: $classes}",
     2},
    {"[3, 5, 5]",
     "- {conv: 8, name: a}\n- {conv: 8, name: b}\n"
     "- {dropout: 0, from: a, name: a2}\n"
     "- {dropout: 0, from: a, name: a3}\n"
     "- {dropout: 0, from: a, name: a4}\n"
     "- {dropout: 0, from: a, name: a5}\n"
     "- {dropout: 0, from: a, name: a6}\n"
     "- {dropout: 0, from: a, name: a7}\n"
     "- {dropout: 0, from: a, name: a8}\n"
     "- {dropout: 0, from: b, name: b2}\n"
     "- {add: , from: [b, a, a2, a3, a4, a5, a6, a7, a8, b2]}\n"
     "- tanh\n"
     "- {linear: $classes}",
     2},
    {"[3, 5, 5]",
     "- {conv: 7, name: a}\n- relu\n- {conv: 7, name: b}\n"
     "- {conv: 7, from: a, name: c}\n"
     "- {conv: 7, from: a, name: d}\n- tanh\n"
     "- {conv: 7, from: relu1, name: e}\n"
     "- {conv: 7, from: e, name: f}\n"
     "- {add: , from: [a, b, c, d, e, f]}\n- relu\n"
     "- {scale: 3, from: a}\n- {scale: 0.1, from: a}\n"
     "- {concat: , from: [relu2, a, tanh1, scale1, scale2]}\n"
     "- {linear: $classes}",
     2},
    /* more parts of concats than a gradient has terms */
    {"[3, 4, 4]",
     "- {conv: 4, name: y}\n- {conv: 4, name: z}\n"
     "- {dropout: 0, from: y, name: y2}\n"
     "- {dropout: 0, from: y, name: y3}\n"
     "- {dropout: 0, from: y, name: y4}\n"
     "- {dropout: 0, from: y, name: y5}\n"
     "- {dropout: 0, from: z, name: z2}\n"
     "- {dropout: 0, from: z, name: z3}\n"
     "- {dropout: 0, from: z, name: z4}\n"
     "- {concat: , from: [y, y2, y3, y4, y5], name: c}\n"
     "- {concat: , from: [y, z, z2, z3, z4], name: d}\n"
     "- {add: , from: [c, d]}\n- {linear: $classes}",
     2},
    {"[3, 4, 4]",
     "- {conv: 4, name: y}\n- tanh\n"
     "- {concat: , from: [tanh1, y], name: c}\n"
     "- {conv: 8, from: y, name: d}\n"
     "- {dropout: 0, from: d, name: d2}\n"
     "- {dropout: 0, from: d, name: d3}\n"
     "- {dropout: 0, from: d, name: d4}\n"
     "- {dropout: 0, from: d, name: d5}\n"
     "- {dropout: 0, from: d, name: d6}\n"
     "- {add: , from: [c, d, d2, d3, d4, d5, d6]}\n"
     "- {linear: $classes}",
     2},
    /* as in ResNets: identity and projection, and the same turned round */
    {"[3, 6, 6]",
     "- {conv: 8, bias: false}\n- batch_norm\n- relu\n"
     "- {conv: 8, kernel: 3, pad: 1, bias: false}\n- batch_norm\n"
     "- relu\n- {conv: 8, bias: false}\n- batch_norm\n"
     "- {add: , from: [batch_norm3, relu1]}\n- relu\n"
     "- {conv: 8, bias: false, name: x}\n- batch_norm\n"
     "- {add: , from: [relu3, batch_norm4]}\n- relu\n"
     "- global_pool\n- {linear: $classes}",
     2},
    /* inference may add in place, but not where the conv reads as well */
    {"[3, 6, 6]",
     "- {conv: 40}\n- relu\n- {conv: 40, kernel: 3, pad: 1}\n"
     "- batch_norm\n- {add: , from: [batch_norm1, relu1]}\n"
     "- relu\n- {conv: 8}\n- {linear: $classes}",
     2},
    {"[3, 6, 6]",
     "- {conv: 5, bias: false}\n- batch_norm\n- relu\n"
     "- {conv: 12, kernel: 3, stride: 2, bias: false}\n"
     "- batch_norm\n"
     "- {conv: 12, kernel: 3, stride: 2, bias: false, "
     "from: relu1}\n- batch_norm\n"
     "- {add: , from: [batch_norm2, batch_norm3]}\n- relu\n"
     "- {linear: $classes}",
     4},
    {"[3, 6, 6]",
     "- {conv: 8}\n- {batch_norm: , name: n}\n"
     "- {conv: 8, from: conv1}\n- relu\n"
     "- {add: , from: [n, relu1]}\n- {linear: $classes}",
     3},
    {"[8, 5, 5]",
     "- {conv: 8}\n- {batch_norm: , scale: false}\n"
     "- {add: , from: [input, batch_norm1]}\n- relu\n"
     "- {linear: $classes}",
     3},
    {"[8, 5, 5]",
     "- {conv: 8, name: a}\n- batch_norm\n"
     "- {add: , from: [a, batch_norm1]}\n- relu\n"
     "- {add: , from: [relu1, a]}\n- batch_norm\n- {dropout: 0.3}\n"
     "- {add: , from: [dropout1, add1]}\n- {linear: $classes}",
     3},
    {"[8, 5, 5]",
     "- {conv: 8, name: a}\n- batch_norm\n- batch_norm\n- relu\n"
     "- {add: , from: [batch_norm1, batch_norm2]}\n"
     "- {add: , from: [add1, relu1]}\n- {linear: $classes}",
     4},
    {"[3, 5, 5]",
     "- {conv: 9, name: a}\n- {batch_norm: , name: n}\n"
     "- {add: , from: [a, n], name: s}\n"
     "- {conv: 9, from: s, name: u}\n- {conv: 9, from: s}\n"
     "- tanh\n- {concat: , from: [s, tanh1, u, a]}\n"
     "- {max_pool: 2}\n- {linear: $classes}",
     3},
    {"[3, 5, 5]",
     "- {conv: 6}\n- {max_pool: 2, stride: 1}\n"
     "- {average_pool: 2, stride: 1, from: conv1}\n"
     "- {concat: , from: [max_pool1, average_pool1]}\n- relu\n"
     "- {lrn: 3, alpha: 0.2}\n- {linear: $classes}",
     3},
};

enum {
    NN_ROWS = sizeof nn_rows / sizeof *nn_rows,
    NN_JOINS = sizeof nn_joins / sizeof *nn_joins,
};

#endif
