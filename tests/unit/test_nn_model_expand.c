/* Definitions of models: blocks, branches and repetitions written out, values
 * computed, shapes found. */
#include "test_nn_model.h"

/* "name op inputs shape": one layer in words. */
static const char *layer_text(struct pr_arena *a, const struct pr_model *m,
                              unsigned i)
{
    const struct pr_layer *l = &m->layers[i];
    const char *in = "";
    char shape[72];

    for (unsigned k = 0; k < l->input_count; k++)
        in = pr_arena_printf(a, "%s%s%s", in, k ? "+" : "",
                             m->layers[l->inputs[k]].name);
    return pr_arena_printf(a, "%s %s %s %s", l->name, pr_layer_op_name(l->op),
                           in, pr_shape_text(&l->shape, shape));
}

static void expect(const struct pr_model *m, const char *const *want)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    unsigned i = m->input_count;

    for (; *want; want++, i++) {
        assert_true(i < m->layer_count);
        assert_string_equal(layer_text(a, m, i), *want);
    }
    assert_int_equal(i, m->layer_count);
}

/* ---- names, blocks, branches */

static void blocks_branches_and_repetitions_are_written_out(void **state)
{
    static const char text[] = "blocks:\n"
                               "  unit:\n"
                               "    given: {width: null, wide: 2 * $width}\n"
                               "    layers:\n"
                               "      - add:\n"
                               "          - - {conv: $width, kernel: 1}\n"
                               "            - relu\n"
                               "          - - {conv: $wide // 2}\n"
                               "      - relu\n"
                               "  stage:\n"
                               "    layers:\n"
                               "      - {unit: , width: 2, repeat: 2}\n"
                               "layers:\n"
                               "  - {unit: , width: 2}\n"
                               "  - {unit: , width: 2, wide: 5, name: u}\n"
                               "  - {stage: , name: s, repeat: 2}\n"
                               "  - {relu: , repeat: 2}\n"
                               "  - {tanh: , repeat: 2, name: t}\n"
                               "  - {concat: , from: [unit1, u, s.1, s, t.1, "
                               "t, input]}\n"
                               "  - {linear: $classes}\n";
    static const char *const want[] = {
        "unit1.conv1 conv input [2, 8, 8]",
        "unit1.relu1 relu unit1.conv1 [2, 8, 8]",
        "unit1.conv2 conv input [2, 8, 8]",
        "unit1.add1 add unit1.relu1+unit1.conv2 [2, 8, 8]",
        "unit1.relu2 relu unit1.add1 [2, 8, 8]",
        "u.conv1 conv unit1.relu2 [2, 8, 8]",
        "u.relu1 relu u.conv1 [2, 8, 8]",
        "u.conv2 conv unit1.relu2 [2, 8, 8]",
        "u.add1 add u.relu1+u.conv2 [2, 8, 8]",
        "u.relu2 relu u.add1 [2, 8, 8]",
        "s.1.unit1.conv1 conv u.relu2 [2, 8, 8]",
        "s.1.unit1.relu1 relu s.1.unit1.conv1 [2, 8, 8]",
        "s.1.unit1.conv2 conv u.relu2 [2, 8, 8]",
        "s.1.unit1.add1 add s.1.unit1.relu1+s.1.unit1.conv2 [2, 8, 8]",
        "s.1.unit1.relu2 relu s.1.unit1.add1 [2, 8, 8]",
        "s.1.unit2.conv1 conv s.1.unit1.relu2 [2, 8, 8]",
        "s.1.unit2.relu1 relu s.1.unit2.conv1 [2, 8, 8]",
        "s.1.unit2.conv2 conv s.1.unit1.relu2 [2, 8, 8]",
        "s.1.unit2.add1 add s.1.unit2.relu1+s.1.unit2.conv2 [2, 8, 8]",
        "s.1.unit2.relu2 relu s.1.unit2.add1 [2, 8, 8]",
        "s.2.unit1.conv1 conv s.1.unit2.relu2 [2, 8, 8]",
        "s.2.unit1.relu1 relu s.2.unit1.conv1 [2, 8, 8]",
        "s.2.unit1.conv2 conv s.1.unit2.relu2 [2, 8, 8]",
        "s.2.unit1.add1 add s.2.unit1.relu1+s.2.unit1.conv2 [2, 8, 8]",
        "s.2.unit1.relu2 relu s.2.unit1.add1 [2, 8, 8]",
        "s.2.unit2.conv1 conv s.2.unit1.relu2 [2, 8, 8]",
        "s.2.unit2.relu1 relu s.2.unit2.conv1 [2, 8, 8]",
        "s.2.unit2.conv2 conv s.2.unit1.relu2 [2, 8, 8]",
        "s.2.unit2.add1 add s.2.unit2.relu1+s.2.unit2.conv2 [2, 8, 8]",
        "s.2.unit2.relu2 relu s.2.unit2.add1 [2, 8, 8]",
        "relu1 relu s.2.unit2.relu2 [2, 8, 8]",
        "relu2 relu relu1 [2, 8, 8]",
        "t.1 tanh relu2 [2, 8, 8]",
        "t.2 tanh t.1 [2, 8, 8]",
        "concat1 concat "
        "unit1.relu2+u.relu2+s.1.unit2.relu2+s.2.unit2.relu2+t.1+t.2+input "
        "[13, 8, 8]",
        "linear1 linear concat1 [3]",
        NULL};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

    (void)state;
    expect(parse_body(a, text), want);
}

/* Where layers begin that say so, and what if and repeat leave out. */
static void inputs_and_conditions(void **state)
{
    static const char text[] = "blocks:\n"
                               "  side:\n"
                               "    given: {on: true, n: 1, k: [1, 1]}\n"
                               "    layers:\n"
                               "      - {conv: 2, name: a, kernel: $k}\n"
                               "      - {relu: , if: $on and $n > 1}\n"
                               "      - {tanh: , repeat: $n - 1}\n"
                               "      - {sigmoid: , from: a, name: b}\n"
                               "      - {conv: 2, from: input, name: c}\n"
                               "      - {add: , from: [b, c]}\n"
                               "layers:\n"
                               "  - {relu: , if: false}\n"
                               "  - {side: }\n"
                               "  - {concat: [[tanh, tanh], [relu]], "
                               "from: side1.b}\n"
                               "  - {add: , from: [side1, side1.a], name: d}\n"
                               "  - {add: [[], [{scale: 2}]], from: d}\n"
                               "  - {concat: , from: [concat1, add2]}\n"
                               "  - flatten\n"
                               "  - {linear: 3}\n";
    static const char *const want[] = {
        "side1.a conv input [2, 8, 8]",
        "side1.b sigmoid side1.a [2, 8, 8]",
        "side1.c conv input [2, 8, 8]",
        "side1.add1 add side1.b+side1.c [2, 8, 8]",
        "tanh1 tanh side1.b [2, 8, 8]",
        "tanh2 tanh tanh1 [2, 8, 8]",
        "relu1 relu side1.b [2, 8, 8]",
        "concat1 concat tanh2+relu1 [4, 8, 8]",
        "d add side1.add1+side1.a [2, 8, 8]",
        "scale1 scale d [2, 8, 8]",
        "add2 add d+scale1 [2, 8, 8]",
        "concat2 concat concat1+add2 [6, 8, 8]",
        "flatten1 flatten concat2 [384]",
        "linear1 linear flatten1 [3]",
        NULL};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

    (void)state;
    expect(parse_body(a, text), want);
}

/* ---- values */

static void expressions_give_numbers(void **state)
{
    static const struct {
        const char *text;
        int64_t want;
    } rows[] = {
        {"7", 7},       {"$n", 6},       {"2 * $n", 12},
        {"$n+1", 7},    {"-1 * -$n", 6}, {"($n - $m) * 2", 18},
        {"$n // 4", 1}, {"$n % 4", 2},   {"8 // ($n - 4)", 4},
        {"$n*$n", 36},  {"$classes", 3}, {"\"3\"", 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_model *m = parse_body(
            a, pr_arena_printf(a,
                               "blocks:\n  b:\n    given: {n: 6, m: -3, t: "
                               "true}\n    layers:\n      - {conv: %s}\n"
                               "layers: [{b: }, {linear: 3}]\n",
                               rows[i].text));
        if (m->layers[2].out != rows[i].want)
            fail_msg("%s is %lld", rows[i].text, (long long)m->layers[2].out);
    }
}

static void conditions_are_true_or_false(void **state)
{
    static const struct {
        const char *text;
        bool want;
    } rows[] = {
        {"true", true},
        {"$t", true},
        {"not $t", false},
        {"$n > 5", true},
        {"$n >= 6 and $n <= 6", true},
        {"$n < 6 or $n != 6", false},
        {"$n == 6 and not false", true},
        {"($n - 6) / 2 == 0.0", true},
        {"$m == -3", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_model *m = parse_body(
            a, pr_arena_printf(a,
                               "blocks:\n  b:\n    given: {n: 6, m: -3, t: "
                               "true}\n    layers:\n      - {relu: , if: %s}\n"
                               "layers: [{b: }, {linear: 3}]\n",
                               rows[i].text));
        if ((m->layer_count == 4) != rows[i].want)
            fail_msg("%s", rows[i].text);
    }
}

/* ---- shapes */

static void windows_are_those_of_pytorch(void **state)
{
    static const struct {
        struct pr_model_window w;
        int64_t out, begin, end;
    } rows[] = {
        {{8, 3, 1, 1, 0, 0, false, false}, 6, 0, 0},
        {{8, 3, 2, 1, 1, 1, false, false}, 4, 1, 1},
        {{8, 3, 1, 2, 0, 0, false, false}, 4, 0, 0},
        {{8, 8, 1, 1, 0, 0, false, false}, 1, 0, 0},
        {{8, 9, 1, 1, 0, 0, false, false}, 0, 0, 0},
        {{8, 9, 1, 1, 1, 0, false, false}, 1, 1, 0},
        {{4, 3, 1, 2, 0, 0, false, false}, 0, 0, 0},
        /* same: the odd one at the end */
        {{8, 3, 1, 1, 0, 0, true, false}, 8, 1, 1},
        {{8, 3, 2, 1, 0, 0, true, false}, 4, 0, 1},
        {{8, 4, 1, 1, 0, 0, true, false}, 8, 1, 2},
        {{9, 3, 2, 1, 0, 0, true, false}, 5, 1, 1},
        {{8, 1, 2, 1, 0, 0, true, false}, 4, 0, 0},
        {{8, 3, 1, 2, 0, 0, true, false}, 8, 2, 2},
        {{2, 9, 1, 1, 0, 0, true, false}, 2, 4, 4},
        /* ceil */
        {{6, 3, 2, 1, 0, 0, false, true}, 3, 0, 1},
        {{7, 3, 2, 1, 0, 0, false, true}, 3, 0, 0},
        {{112, 3, 2, 1, 0, 0, false, true}, 56, 0, 1},
        {{5, 2, 3, 1, 1, 1, false, true}, 2, 1, 0}, /* one dropped */
        {{2, 3, 2, 1, 0, 0, false, true}, 1, 0, 1},
        {{1, 3, 1, 1, 0, 0, false, true}, 0, 0, 0},
        {{3, 3, 2, 1, 1, 1, false, true}, 2, 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_model_window w = rows[i].w;
        int64_t out = pr_model_window_out(&w);

        if (out != rows[i].out ||
            (out && (w.pad_begin != rows[i].begin || w.pad_end != rows[i].end)))
            fail_msg("row %zu: %lld with %lld and %lld", i, (long long)out,
                     (long long)w.pad_begin, (long long)w.pad_end);
    }
}

static void options_reach_the_layer(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = parse_body(
        a, "layers:\n"
           "  - {conv: 4, kernel: [3, 1], stride: [2, 1], pad: [1, 0]}\n"
           "  - {conv: 8, kernel: 3, pad: [0, 1, 2, 3], dilation: [1, 2]}\n"
           "  - {conv: 16, kernel: 3, pad: same, depthwise: true}\n"
           "  - {batch_norm: , epsilon: 1e-3, momentum: 0.01}\n"
           "  - {average_pool: 3, stride: 1, pad: same}\n"
           "  - {average_pool: 2, ceil: true}\n"
           "  - {average_pool: 2, stride: 2, pad: 1, count_pad: false}\n"
           "  - {lrn: 5, alpha: 2, beta: 0.5, k: 3}\n"
           "  - {linear: 3}\n");
    const struct pr_layer *l = m->layers + 1;

    (void)state;
    assert_memory_equal(l[1].shape.at, ((int64_t[]){4, 4, 8}), 24);
    assert_memory_equal(l[1].pad, ((int64_t[]){1, 0, 1, 0}), 32);
    assert_memory_equal(l[2].shape.at, ((int64_t[]){8, 4, 8}), 24);
    assert_memory_equal(l[2].pad, ((int64_t[]){0, 1, 2, 3}), 32);
    assert_int_equal(l[3].groups, 8);
    assert_int_equal(l[3].params, 16 * 9 + 16);
    assert_true(l[4].epsilon == 1e-3 && l[4].momentum == 0.01);
    assert_true(l[4].has_scale);
    assert_false(l[5].count_pad); /* as it is with same */
    assert_memory_equal(l[5].pad, ((int64_t[]){1, 1, 1, 1}), 32);
    assert_true(l[6].count_pad); /* nothing to round */
    assert_false(l[7].count_pad);
    assert_true(l[8].alpha == 2 && l[8].beta == 0.5 && l[8].k == 3);
    assert_int_equal(l[8].size, 5);
}

/* What rounding up adds is no padding that counts: PyTorch divides by what
 * the window sees. */
static void padding_of_ceil_does_not_count(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m =
        parse_body(a, "layers: [{average_pool: 3, ceil: true}, {linear: 3}]\n");

    (void)state;
    assert_memory_equal(m->layers[2].shape.at, ((int64_t[]){1, 3, 3}), 24);
    assert_memory_equal(m->layers[2].pad, ((int64_t[]){0, 0, 1, 1}), 32);
    assert_false(m->layers[2].count_pad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_branches_and_repetitions_are_written_out),
        cmocka_unit_test(inputs_and_conditions),
        cmocka_unit_test(expressions_give_numbers),
        cmocka_unit_test(conditions_are_true_or_false),
        cmocka_unit_test(windows_are_those_of_pytorch),
        cmocka_unit_test(options_reach_the_layer),
        cmocka_unit_test(padding_of_ceil_does_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
