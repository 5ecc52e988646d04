/* Layers that are wrong: ops on rows, shapes, ids, shared tensors. */
#include "test_nn_model_bad.h"

/* Lines 1 to 9; the first layer is on line 11. */
#define INPUTS                      \
    "model: m\n"                    \
    "inputs:\n"                     \
    "  image: {shape: [4, 5, 7]}\n" \
    "  row: {shape: [12]}\n"        \
    "  rows: {shape: [6, 12]}\n"    \
    "  keys: {shape: [9, 12]}\n"    \
    "  values: {shape: [9, 8]}\n"   \
    "  ids: {shape: [3], ids: 8}\n" \
    "  length: {shape: [1], ids: 8}\n"

static void check_layers(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

        check(pr_arena_printf(a,
                              INPUTS "layers:\n%slosses: [{mse: x, target: "
                                     "0}]\n",
                              rows[i].text),
              NULL, &rows[i]);
    }
}
#define CHECK_LAYERS(rows) check_layers(rows, sizeof rows / sizeof *rows)

static void options_of_ops_are_sound(void **state)
{
    static const struct row rows[] = {
        {"- {transposed_conv: 4, pad: same}\n", "f:11:29",
         "'pad' wants a whole number, [rows, columns] or [top, left, bottom, "
         "right], got 'same'",
         NULL},
        {"- {transposed_conv: 4, groups: 2}\n", "f:11:24",
         "'transposed_conv' has no option 'groups'", NULL},
        {"- {leaky_relu: }\n", "f:11:4", "'leaky_relu' wants its factor",
         "{leaky_relu: factor}"},
        {"- {leaky_relu: 2}\n", "f:11:16",
         "'factor' wants a number from 0 to 1, got 2", NULL},
        {"- {lstm: 4, revers: true}\n", "f:11:13",
         "'lstm' has no option 'revers'", "did you mean 'reverse'?"},
        {"- attention\n", "f:11:3", "'attention' wants its heads",
         "{attention: heads}"},
        {"- {attention: 0}\n", "f:11:15",
         "'heads' wants a whole number of at least 1, got 0", NULL},
        {"- {gelu: 3}\n", "f:11:10", "'gelu' takes no value", NULL},
        {"- {reshape: 3}\n", "f:11:13",
         "'shape' wants one to three whole numbers, got 3", NULL},
        {"- {reshape: [1, 2, 3, 4]}\n", "f:11:13",
         "'shape' wants one to three whole numbers, got a list", NULL},
        {"- {reshape: [0, 3]}\n", "f:11:14",
         "'shape' wants a whole number of at least 1, or -1, got 0", NULL},
        {"- {reshape: [-2, 3]}\n", "f:11:14",
         "'shape' wants a whole number of at least -1, got -2", NULL},
        {"- {slice: -1}\n", "f:11:11",
         "'first' wants a whole number of at least 0, got -1", NULL},
        {"- {linear: 3, freeze: 1}\n", "f:11:23",
         "'freeze' wants true or false, got 1", NULL},
        {"- {linear: 3, like: 1}\n", "f:11:21",
         "'like' wants the name of an earlier use, got 1", NULL},
        {"- {multiply: }\n", "f:11:4", "'multiply' of what?",
         "give it a list of branches, or 'from: [a, b]'"},
    };

    (void)state;
    CHECK_LAYERS(rows);
}

static void inputs_of_layers_are_sound(void **state)
{
    static const struct row rows[] = {
        {"- {additive_attention: , from: rows}\n", "f:11:4",
         "'additive_attention' wants 'from: [queries, keys, values]'", NULL},
        {"- {additive_attention: }\n", "f:11:4",
         "'additive_attention' wants 'from: [queries, keys, values]'", NULL},
        {"- {attention: 2, from: [rows, keys]}\n", "f:11:24",
         "'attention' wants 'from: [queries, keys, values]' or one layer",
         NULL},
        {"- {gather: , from: [rows, ids, ids]}\n", "f:11:20",
         "'gather' wants 'from: [rows, ids]'", NULL},
        {"- {gather: , from: [rows, ids], repeat: 2}\n", "f:11:41",
         "'gather' of a list cannot be repeated", NULL},
        {"- {attention: 2, from: [rows, kyes, keys]}\n", "f:11:31",
         "there is no layer 'kyes' before this one here",
         "did you mean 'keys'?"},
        {"- {attention: 2, from: rows, lengths: lenght}\n", "f:11:39",
         "there is no layer 'lenght'", "did you mean 'length'?"},
        {"- {attention: 2, from: rows, lengths: 3}\n", "f:11:39",
         "'lengths' wants the name of a layer, got 3", NULL},
        {"- {relu: , from: $far}\n", "f:11:18",
         "there is no parameter '$far' here",
         "parameters of a block or of the model stand under 'given'"},
        /* ids and numbers */
        {"- {linear: 3, from: ids}\n", "f:11:4",
         "'linear' wants numbers, 'ids' has ids", NULL},
        {"- {concat: , from: [row, ids]}\n", "f:11:4",
         "'concat' wants numbers, 'ids' has ids", NULL},
        {"- {embedding: 3, from: row}\n", "f:11:4",
         "'embedding' wants ids here, 'row' has numbers", NULL},
        {"- {gather: , from: [rows, row]}\n", "f:11:4",
         "'gather' wants ids here, 'row' has numbers", NULL},
        {"- {gather: , from: [ids, ids]}\n", "f:11:4",
         "'gather' wants numbers, 'ids' has ids", NULL},
        {"- {attention: 2, from: rows, lengths: row}\n", "f:11:4",
         "'attention' wants ids here, 'row' has numbers", NULL},
        {"- {attention: 2, from: rows, lengths: ids}\n", "f:11:4",
         "'lengths' wants one id, 'ids' has 3", NULL},
        {"- {attention: 2, from: rows, lengths: length}\n", "f:11:4",
         "'lengths' are at most 6, the ids of 'length' go up to 7", NULL},
        {"- {gather: , from: [rows, ids]}\n", "f:11:4",
         "'rows' has 6 rows, the ids of 'ids' go up to 7", NULL},
    };

    (void)state;
    CHECK_LAYERS(rows);
}

static void shapes_of_rows_fit(void **state)
{
    static const struct row rows[] = {
        {"- {lstm: 3, from: row}\n", "f:11:4",
         "'lstm' wants [rows, features], got [12] of 'row'",
         "reshape before it makes rows of it"},
        {"- {gru: 3, from: image}\n", "f:11:4",
         "'gru' wants [rows, features], got [4, 5, 7] of 'image'",
         "reshape before it makes rows of it"},
        {"- {transpose: , from: image}\n", "f:11:4",
         "'transpose' wants [rows, features], got [4, 5, 7] of 'image'",
         "reshape before it makes rows of it"},
        {"- {layer_norm: , from: image}\n", "f:11:4",
         "'layer_norm' wants [features] or [rows, features], got [4, 5, 7] of "
         "'image'",
         "flatten or global_pool before it makes one of it"},
        {"- {instance_norm: , from: rows}\n", "f:11:4",
         "'instance_norm' wants [channels, rows, columns], got [6, 12] of "
         "'rows'",
         NULL},
        {"- {gram: , from: rows}\n", "f:11:4",
         "'gram' wants [channels, rows, columns], got [6, 12] of 'rows'", NULL},
        {"- {attention: 2, from: values}\n", "f:11:4",
         "'attention' wants queries, keys and values side by side, 'values' "
         "has 8 features",
         NULL},
        {"- {attention: 5, from: rows}\n", "f:11:4",
         "5 heads do not divide 4 features", NULL},
        {"- {attention: 2, from: [rows, values, values]}\n", "f:11:4",
         "'attention' wants equal features of queries and keys, got [6, 12] of "
         "'rows' and [9, 8] of 'values'",
         NULL},
        {"- {attention: 2, from: [rows, keys, rows]}\n", "f:11:4",
         "'attention' wants as many values as keys, got [9, 12] of 'keys' and "
         "[6, 12] of 'rows'",
         NULL},
        {"- {attention: 2, from: [rows, keys, values]}\n", "f:11:4",
         "'attention' wants equal features of keys and values, got [9, 12] of "
         "'keys' and [9, 8] of 'values'",
         NULL},
        {"- {attention: 2, causal: true, from: [rows, keys, keys]}\n", "f:11:4",
         "'attention' wants as many queries as keys to be causal, got [6, 12] "
         "of 'rows' and [9, 12] of 'keys'",
         NULL},
        {"- {additive_attention: , from: [row, keys, values]}\n", "f:11:4",
         "'additive_attention' wants [rows, features], got [12] of 'row'",
         "reshape before it makes rows of it"},
        {"- {reshape: [5, -1], from: rows}\n", "f:11:4",
         "[6, 12] of 'rows' cannot become [5, -1]", NULL},
        {"- {reshape: [-1, -1], from: rows}\n", "f:11:4",
         "'reshape' has more than one -1", NULL},
        {"- {reshape: [1073741824, 1073741824, 1073741824], from: row}\n",
         "f:11:4",
         "[12] of 'row' cannot become [1073741824, 1073741824, 1073741824]",
         NULL},
        {"- {slice: 5, count: 2, from: rows}\n", "f:11:4",
         "'slice' wants 2 from 5 on, got [6, 12] of 'rows'", NULL},
        {"- {slice: 0, axis: 1, from: row}\n", "f:11:4",
         "[12] of 'row' has no axis 1", NULL},
        {"- {concat: , from: [rows, keys], axis: 2}\n", "f:11:4",
         "[6, 12] of 'rows' has no axis 2", NULL},
        {"- {concat: , from: [rows, keys], axis: 1}\n", "f:11:4",
         "'concat' wants equal shapes beside its axis, got [6, 12] of 'rows' "
         "and [9, 12] of 'keys'",
         NULL},
        {"- {multiply: , from: [rows, keys]}\n", "f:11:4",
         "'multiply' wants equal shapes, got [6, 12] of 'rows' and [9, 12] of "
         "'keys'",
         NULL},
        {"- {pixel_shuffle: 3, from: image}\n", "f:11:4",
         "'pixel_shuffle' wants channels in groups of 9, got 4", NULL},
        {"- {upsample: 1073741824, from: image}\n", "f:11:4",
         "the output of 'upsample1' is too large", NULL},
        {"- {reflect_pad: 5, from: image}\n", "f:11:4",
         "'reflect_pad' has less than the 5 rows there are, not 5", NULL},
        {"- {reflect_pad: [0, 7], from: image}\n", "f:11:4",
         "'reflect_pad' has less than the 7 columns there are, not 7", NULL},
        {"- {transposed_conv: 2, pad: 3, from: image}\n", "f:11:4",
         "'transposed_conv1' has more padding than there is to take away",
         NULL},
    };

    (void)state;
    CHECK_LAYERS(rows);
}

static void what_is_like_fits(void **state)
{
    static const struct row rows[] = {
        {"- {linear: 3, from: row, name: a}\n- {linear: 3, like: b}\n",
         "f:12:21", "there is no layer 'b' before this one here", NULL},
        {"- {linear: 3, from: row, name: a}\n"
         "- {linear: 4, from: row, like: a}\n",
         "f:12:4", "'linear2' cannot be like 'a': their tensors differ", NULL},
        {"- {linear: 12, from: row, name: a}\n"
         "- {linear: 12, bias: false, like: a}\n",
         "f:12:4", "'linear2' cannot be like 'a': their tensors differ", NULL},
        {"- {layer_norm: , from: row, name: a}\n"
         "- {batch_norm: , like: a}\n",
         "f:12:4", "'batch_norm1' cannot be like 'a': their tensors differ",
         NULL},
        {"- {conv: 8, from: image, name: a}\n- {conv: 8, groups: 2, like: a}\n",
         "f:12:4", "'conv2' cannot be like 'a': their tensors differ", NULL},
        {"- {linear: 12, from: row, name: a}\n- {relu: , like: a}\n", "f:12:18",
         "'relu' has no tensors that could be like others", NULL},
        {"- {linear: 12, from: row, name: a}\n"
         "- {linear: 12, like: a, freeze: true}\n",
         "f:12:4", "'linear2' has the tensors of 'a', which are not frozen",
         NULL},
    };

    (void)state;
    CHECK_LAYERS(rows);
}

/* Blocks that are like others: lines 4 to 7 of the head are theirs. */
static void blocks_that_are_like_others_fit(void **state)
{
    static const struct row rows[] = {
        {LAYERS "- {b: , like: a}\n", "f:9:15",
         "there is no block 'a' before this one here", NULL},
        {LAYERS "- {linear: 3, name: a}\n- {b: , like: a}\n", "f:10:15",
         "there is no block 'a' before this one here", NULL},
        /* One without layers has the name of what came into it. */
        {"  none: {layers: []}\n"
         "  far_away: {layers: [{none: , name: a}, {b: , like: a}]}\n" LAYERS
         "- far_away\n",
         "f:6:16",
         "'far_away1.b1.linear1' should be like 'far_away1.a.linear1', which "
         "there is not",
         NULL},
        {LAYERS "- {b: , name: a}\n- {c: , like: a}\n", "f:7:23",
         "'c1.extra' should be like 'a.extra', which there is not", NULL},
        {LAYERS "- {b: , name: a, repeat: 2}\n- {b: , like: a}\n", "f:6:16",
         "'b3.linear1' should be like 'a.linear1', which there is not", NULL},
        {LAYERS "- {b: , name: a}\n- {linear: 4}\n- {b: , like: a}\n", "f:6:16",
         "'b2.linear1' cannot be like 'a.linear1': their tensors differ", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

        check(pr_arena_printf(a,
                              "model: m\ninput: [3]\nclasses: 3\ntitle: t\n"
                              "blocks:\n  b: {layers: [linear: 3]}\n"
                              "  c: {layers: [relu, {linear: 3, name: extra}]}"
                              "\n%s",
                              rows[i].text),
              NULL, &rows[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_ops_are_sound),
        cmocka_unit_test(inputs_of_layers_are_sound),
        cmocka_unit_test(shapes_of_rows_fit),
        cmocka_unit_test(what_is_like_fits),
        cmocka_unit_test(blocks_that_are_like_others_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
