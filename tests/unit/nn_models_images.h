/* Small models of images: what was not in nn_models.h. */
#ifndef TESTS_UNIT_NN_MODELS_IMAGES_H
#define TESTS_UNIT_NN_MODELS_IMAGES_H

#include "nn_models.h"

static const struct nn_row nn_images[] = {
    /* transposed_conv */
    {"[3, 4, 5]",
     "- {transposed_conv: 8, kernel: 3}\n- relu\n- {linear: $classes}", 2},
    {"[5, 3, 3]",
     "- {conv: 4}\n- {transposed_conv: 7, kernel: 4, stride: 2, pad: 1}\n"
     "- batch_norm\n- relu\n- {linear: $classes}",
     3},
    {"[6, 1, 1]",
     "- {transposed_conv: 16, kernel: 4, bias: false}\n- batch_norm\n- relu\n"
     "- {transposed_conv: 8, kernel: 4, stride: 2, pad: 1, bias: false}\n"
     "- tanh\n- {conv: 3, kernel: 4, stride: 2}\n- {linear: $classes}",
     2},
    {"[3, 3, 4]",
     "- {conv: 16}\n"
     "- {transposed_conv: 5, kernel: [2, 3], stride: [3, 2], "
     "pad: [0, 1, 1, 0]}\n- {leaky_relu: 0.2}\n- {linear: $classes}",
     1},
    /* instance_norm */
    {"[3, 5, 5]",
     "- {conv: 8, kernel: 2}\n- instance_norm\n- relu\n- {linear: $classes}",
     3},
    {"[3, 4, 5]",
     "- {conv: 16}\n- {instance_norm: , scale: false, epsilon: 0.01}\n"
     "- {conv: 11}\n- instance_norm\n- {leaky_relu: 0.3}\n- {conv: 3}\n"
     "- {linear: $classes}",
     2},
    {"[3, 4, 4]", "- instance_norm\n- {linear: $classes}", 1},
    {"[3, 4, 4]",
     "- {conv: 8, name: a}\n- instance_norm\n- relu\n- {conv: 8}\n"
     "- instance_norm\n- {add: , from: [instance_norm2, a]}\n"
     "- {linear: $classes}",
     2},
    /* curves in layouts of oneDNN */
    {"[3, 5, 5]",
     "- {conv: 16}\n- gelu\n- {conv: 8}\n- {leaky_relu: 0.2}\n- {conv: 9}\n"
     "- {scale: 0.2}\n- exp\n- {conv: 16}\n- {leaky_relu: 0}\n"
     "- {linear: $classes}",
     2},
    {"[3, 4, 4]",
     "- {conv: 8, name: a}\n- {conv: 8, from: input, name: b}\n- sigmoid\n"
     "- {multiply: , from: [a, sigmoid1]}\n- {conv: 8, name: c}\n- relu\n"
     "- {multiply: , from: [relu1, a, multiply1]}\n- {linear: $classes}",
     2},
    /* points to other places */
    {"[3, 3, 4]",
     "- {conv: 12}\n- {pixel_shuffle: 2}\n- {conv: 5}\n- {linear: $classes}",
     2},
    {"[9, 2, 2]", "- {pixel_shuffle: 3}\n- {conv: 4}\n- {linear: $classes}", 3},
    {"[3, 3, 4]",
     "- {conv: 8}\n- relu\n- {upsample: 2}\n- {conv: 5, kernel: 3}\n"
     "- {upsample: 3}\n- {max_pool: 3, stride: 2}\n- {linear: $classes}",
     2},
    {"[3, 4, 5]",
     "- {conv: 8}\n- {reflect_pad: 1}\n- {conv: 5, kernel: 3}\n- relu\n"
     "- {reflect_pad: [1, 2, 3, 0]}\n- {linear: $classes}",
     2},
    {"[3, 4, 5]",
     "- {conv: 16, name: a}\n- {slice: 3, count: 7}\n- {conv: 8}\n- relu\n"
     "- {slice: 1, count: 2, axis: 1}\n- {slice: 2, count: 3, axis: 2}\n"
     "- {slice: 8, count: 8, from: a, name: b}\n- {linear: 4, name: l}\n"
     "- {linear: 5, from: slice3, name: k}\n- {concat: , from: [l, k]}\n"
     "- {linear: $classes}",
     2},
    {"[3, 4, 5]",
     "- {conv: 8, name: a}\n- {conv: 8, from: input, name: b}\n- relu\n"
     "- {concat: , axis: 1, from: [a, relu1]}\n- {conv: 4, name: d}\n- relu\n"
     "- {concat: , axis: 2, from: [d, relu2]}\n- batch_norm\n"
     "- {linear: $classes}",
     2},
    /* unet: down, up, across */
    {"[2, 6, 6]",
     "- {conv: 8, kernel: 3, pad: 1, name: d}\n- batch_norm\n- relu\n"
     "- {max_pool: 2}\n- {conv: 16, kernel: 3, pad: 1}\n- relu\n"
     "- {transposed_conv: 8, kernel: 2, stride: 2}\n"
     "- {concat: , from: [relu1, transposed_conv1]}\n"
     "- {conv: 4, kernel: 3, pad: 1}\n- {linear: $classes}",
     2},
    /* gram */
    {"[3, 4, 5]",
     "- {conv: 8}\n- relu\n- gram\n- flatten\n- {linear: $classes}", 2},
    {"[3, 3, 3]",
     "- {conv: 5, kernel: 2}\n- gram\n- {linear: 2}\n- flatten\n"
     "- {linear: $classes}",
     1},
    {"[3, 4, 4]",
     "- {conv: 5, name: a}\n- {dropout: 0.3}\n- gram\n- transpose\n"
     "- {flatten: , name: g}\n- {global_pool: , from: a}\n"
     "- {concat: , from: [g, global_pool1]}\n- layer_norm\n"
     "- {linear: $classes}",
     3},
};

enum { NN_IMAGES = sizeof nn_images / sizeof *nn_images };

#endif
