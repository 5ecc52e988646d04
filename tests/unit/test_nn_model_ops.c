/* Definitions of models: what each op gives, keeps and costs. */
#include "test_nn_model.h"

#include <inttypes.h>

#define INPUTS                          \
    "model: m\n"                        \
    "given: {rows: 6}\n"                \
    "inputs:\n"                         \
    "  image: {shape: [4, 5, 7]}\n"     \
    "  row: {shape: [12]}\n"            \
    "  rows: {shape: [$rows, 12]}\n"    \
    "  keys: {shape: [9, 12]}\n"        \
    "  values: {shape: [9, 8]}\n"       \
    "  ids: {shape: [3], ids: 6}\n"     \
    "  one: {shape: [1], ids: 6}\n"     \
    "  length: {shape: [1], ids: 10}\n" \
    "  few: {shape: [1], ids: $rows + 1}\n"

/* So that all inputs are of use. */
static const char uses[] =
    "  - {flatten: , from: image, name: u1}\n"
    "  - {flatten: , from: rows, name: u2}\n"
    "  - {flatten: , from: keys, name: u3}\n"
    "  - {flatten: , from: values, name: u4}\n"
    "  - {embedding: 1, from: ids, name: u5}\n"
    "  - {embedding: 1, from: one, name: u6}\n"
    "  - {embedding: 1, from: length, name: u7}\n"
    "  - {embedding: 1, from: few, name: u8}\n"
    "  - {concat: , from: [u5, u6, u7, u8], name: u9}\n"
    "  - {flatten: , name: u10}\n"
    "  - {concat: , from: [u1, u2, u3, u4, row, u10], name: u}\n";

static struct pr_model *model_with(struct pr_arena *a, const char *layer)
{
    return parse(a,
                 pr_arena_printf(a,
                                 INPUTS "layers:\n  - %s\n%s"
                                        "losses: [{mse: x, target: 0}, {mse: "
                                        "u, target: 0}]\n",
                                 layer, uses),
                 NULL);
}

/* "weight [4, 12] bias [4]": what is kept in words; ~ is not learned. */
static const char *tensor_text(struct pr_arena *a, const struct pr_model *m,
                               const struct pr_layer *l)
{
    struct pr_layer_tensor t[PR_LAYER_TENSORS];
    unsigned n = pr_layer_tensors(m, l, t);
    const char *text = "";

    for (unsigned i = 0; i < n; i++) {
        text = pr_arena_printf(a, "%s%s%s%s [", text, i ? " " : "",
                               t[i].is_learned ? "" : "~", t[i].suffix);
        for (unsigned k = 0; k < t[i].dims; k++)
            text = pr_arena_printf(a, "%s%s%" PRId64, text, k ? ", " : "",
                                   t[i].at[k]);
        text = pr_arena_printf(a, "%s]", text);
    }
    return text;
}

static void ops_have_shapes_tensors_and_costs(void **state)
{
    static const struct {
        const char *layer, *shape;
        uint64_t params, flops;
        const char *tensors;
    } rows[] = {
        {"{conv: 8, kernel: 3, groups: 2, from: image, name: x}", "[8, 3, 5]",
         8 * 2 * 9 + 8, 2 * 8 * 2 * 9 * 15, "weight [8, 2, 3, 3] bias [8]"},
        /* (5 - 1) * 2 - 1 - 2 + 3, (7 - 1) * 3 - 0 - 1 + 4 */
        {"{transposed_conv: 6, kernel: [3, 4], stride: [2, 3], pad: [1, 0, 2, "
         "1], from: image, name: x}",
         "[6, 8, 21]", 4 * 6 * 12 + 6, 2 * 4 * 6 * 12 * 35,
         "weight [4, 6, 3, 4] bias [6]"},
        {"{transposed_conv: 6, from: image, bias: false, name: x}", "[6, 5, 7]",
         24, 2 * 24 * 35, "weight [4, 6, 1, 1]"},
        {"{linear: 5, from: image, name: x}", "[5]", 705, 1400,
         "weight [5, 140] bias [5]"},
        {"{linear: 5, from: row, name: x}", "[5]", 65, 120,
         "weight [5, 12] bias [5]"},
        {"{linear: 5, from: rows, name: x}", "[6, 5]", 65, 6 * 120,
         "weight [5, 12] bias [5]"},
        {"{embedding: 4, from: ids, name: x}", "[3, 4]", 24, 0,
         "weight [6, 4]"},
        {"{embedding: 4, from: length, sparse: true, name: x}", "[1, 4]", 40, 0,
         "weight [10, 4]"},
        {"{batch_norm: , from: image, name: x}", "[4, 5, 7]", 8, 0,
         "weight [4] bias [4] ~mean [4] ~var [4]"},
        {"{batch_norm: , from: rows, name: x}", "[6, 12]", 24, 0,
         "weight [12] bias [12] ~mean [12] ~var [12]"},
        {"{layer_norm: , from: rows, name: x}", "[6, 12]", 24, 0,
         "weight [12] bias [12]"},
        {"{layer_norm: , from: row, scale: false, name: x}", "[12]", 12, 0,
         "bias [12]"},
        {"{instance_norm: , from: image, name: x}", "[4, 5, 7]", 8, 0,
         "weight [4] bias [4]"},
        {"{lstm: 5, from: rows, name: x}", "[6, 5]", 20 * (12 + 5 + 2),
         6 * 2 * 4 * 5 * 17,
         "weight [20, 12] recurrent [20, 5] bias [20] recurrent_bias [20]"},
        {"{gru: 5, from: rows, reverse: true, name: x}", "[6, 5]",
         15 * (12 + 5 + 2), 6 * 2 * 3 * 5 * 17,
         "weight [15, 12] recurrent [15, 5] bias [15] recurrent_bias [15]"},
        {"{attention: 2, from: rows, name: x}", "[6, 4]", 0, 4 * 6 * 6 * 4, ""},
        {"{attention: 3, from: [rows, keys, keys], name: x}", "[6, 12]", 0,
         4 * 6 * 9 * 12, ""},
        {"{additive_attention: , from: [rows, keys, values], name: x}",
         "[6, 8]", 12, 0, "weight [12]"},
        {"{gather: , from: [rows, ids], name: x}", "[3, 12]", 0, 0, ""},
        {"{reshape: [3, -1], from: rows, name: x}", "[3, 24]", 0, 0, ""},
        {"{reshape: [2 * $rows, 2, 3], from: rows, name: x}", "[12, 2, 3]", 0,
         0, ""},
        {"{reshape: [-1], from: image, name: x}", "[140]", 0, 0, ""},
        {"{transpose: , from: rows, name: x}", "[12, 6]", 0, 0, ""},
        {"{slice: 2, from: rows, name: x}", "[1, 12]", 0, 0, ""},
        {"{slice: 2, count: 10, axis: 1, from: rows, name: x}", "[6, 10]", 0, 0,
         ""},
        {"{slice: 0, count: 7, axis: 2, from: image, name: x}", "[4, 5, 7]", 0,
         0, ""},
        {"{pixel_shuffle: 2, from: image, name: x}", "[1, 10, 14]", 0, 0, ""},
        {"{upsample: 3, from: image, name: x}", "[4, 15, 21]", 0, 0, ""},
        {"{reflect_pad: 4, from: image, name: x}", "[4, 13, 15]", 0, 0, ""},
        {"{reflect_pad: [1, 2, 3, 4], from: image, name: x}", "[4, 9, 13]", 0,
         0, ""},
        {"{gram: , from: image, name: x}", "[4, 4]", 0, 2 * 16 * 35, ""},
        {"{concat: , from: [rows, keys], name: x}", "[15, 12]", 0, 0, ""},
        {"{concat: , from: [keys, values], axis: 1, name: x}", "[9, 20]", 0, 0,
         ""},
        {"{multiply: [[relu], [tanh]], from: rows, name: x}", "[6, 12]", 0, 0,
         ""},
        {"{gelu: , from: rows, name: x}", "[6, 12]", 0, 0, ""},
        {"{exp: , from: image, name: x}", "[4, 5, 7]", 0, 0, ""},
        {"{leaky_relu: 0.2, from: row, name: x}", "[12]", 0, 0, ""},
        {"{softmax: , from: rows, name: x}", "[6, 12]", 0, 0, ""},
        {"{flatten: , from: rows, name: x}", "[72]", 0, 0, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_model *m = model_with(a, rows[i].layer);
        const struct pr_layer *l = &m->layers[m->losses[0].of[0]];
        char shape[72];

        if (strcmp(pr_shape_text(&l->shape, shape), rows[i].shape) != 0 ||
            l->params != rows[i].params || l->flops != rows[i].flops ||
            strcmp(tensor_text(a, m, l), rows[i].tensors) != 0)
            fail_msg("%s gives %s, %" PRIu64 ", %" PRIu64 ", %s", rows[i].layer,
                     shape, l->params, l->flops, tensor_text(a, m, l));
    }
}

/* Each layer as JSON, from its op on to the end. */
static void options_are_in_the_json(void **state)
{
    static const struct {
        const char *layer, *json;
    } rows[] = {
        {"{transposed_conv: 2, kernel: 2, stride: 2, from: image, name: x}",
         "\"out\": 2, \"kernel\": [2, 2], \"stride\": [2, 2], \"dilation\": "
         "[1, 1], \"pad\": [0, 0, 0, 0], \"groups\": 1, \"bias\": true}"},
        {"{embedding: 4, from: ids, sparse: true, name: x}",
         "\"out\": 4, \"ids\": 6, \"sparse\": true}"},
        {"{layer_norm: , from: rows, epsilon: 0.01, name: x}",
         "\"epsilon\": 0.01, \"scale\": true}"},
        {"{instance_norm: , from: image, scale: false, name: x}",
         "\"epsilon\": 1e-05, \"scale\": false}"},
        {"{lstm: 3, from: rows, carry: true, name: x}",
         "\"out\": 3, \"reverse\": false, \"carry\": true}"},
        {"{gru: 3, from: rows, reverse: true, name: x}",
         "\"out\": 3, \"reverse\": true, \"carry\": false}"},
        {"{attention: 2, causal: true, lengths: few, from: rows, name: x}",
         "\"heads\": 2, \"causal\": true, \"lengths\": true}"},
        {"{additive_attention: , from: [rows, keys, values], name: x}",
         "\"lengths\": false}"},
        {"{slice: 2, count: 3, axis: 1, from: rows, name: x}",
         "\"axis\": 1, \"first\": 2, \"count\": 3}"},
        {"{concat: , from: [rows, keys], name: x}", "\"axis\": 0}"},
        {"{pixel_shuffle: 2, from: image, name: x}", "\"size\": 2}"},
        {"{upsample: 2, from: image, name: x}", "\"size\": 2}"},
        {"{reflect_pad: [1, 2], from: image, name: x}",
         "\"pad\": [1, 2, 1, 2]}"},
        {"{leaky_relu: 0.2, from: row, name: x}", "\"factor\": 0.2}"},
        {"{linear: 2, from: row, freeze: true, name: x}",
         "\"out\": 2, \"bias\": true, \"learns\": null}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
        struct pr_json_writer jb;
        const char *at;

        pr_json_writer_init(&jb, &out, 0);
        pr_model_write_json(model_with(a, rows[i].layer), &jb);
        assert_true(pr_buf_ok(&out));
        at = strstr(out.data, "{\"name\": \"x\", \"op\"");
        assert_non_null(at);
        at = strstr(at, "\"flops\": ");
        at = strstr(at, ", ") + 2;
        if (strncmp(at, rows[i].json, strlen(rows[i].json)) != 0)
            fail_msg("%s gives %.100s", rows[i].layer, at);
    }
}

/* Lengths are the last input; queries, keys and values come before. */
static void lengths_are_an_input(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = model_with(
        a, "{attention: 4, from: [rows, keys, keys], lengths: length, name: "
           "x}");
    const struct pr_layer *l = &m->layers[m->losses[0].of[0]];

    (void)state;
    assert_true(l->has_lengths);
    assert_int_equal(l->input_count, 4);
    assert_int_equal(l->inputs[0], pr_model_input(m, "rows"));
    assert_int_equal(l->inputs[2], pr_model_input(m, "keys"));
    assert_int_equal(l->inputs[3], pr_model_input(m, "length"));
    m = model_with(a, "{attention: 4, from: rows, lengths: few, name: x}");
    l = &m->layers[m->losses[0].of[0]];
    assert_int_equal(l->input_count, 2);
    assert_int_equal(l->inputs[1], pr_model_input(m, "few"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_have_shapes_tensors_and_costs),
        cmocka_unit_test(options_are_in_the_json),
        cmocka_unit_test(lengths_are_an_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
