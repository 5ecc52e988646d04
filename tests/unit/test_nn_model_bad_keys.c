/* Definitions that are wrong: blocks, expressions, keys, options, limits. */
#include "test_nn_model_bad.h"

/* ---- blocks */

#define USE "layers:\n- {b: }\n- {linear: 3}\n" /* after the blocks */

static void blocks_are_sound(void **state)
{
    static const struct row rows[] = {
        {"blocks: 3\n" USE, "f:4:9", "'blocks' wants a map of blocks, got 3",
         NULL},
        {"blocks:\n  conv:\n    layers: []\n" USE, "f:5:3",
         "a block cannot be called 'conv', which has a meaning already", NULL},
        {"blocks:\n  a-b:\n    layers: []\n" USE, "f:5:3",
         "'a-b' cannot be a block: letters, digits and '_' make a name", NULL},
        {"blocks:\n  b:\n    given: {}\n" USE, "f:5:3",
         "block 'b' has no 'layers'", NULL},
        {"blocks:\n  b: [relu]\n" USE, "f:5:3", "block 'b' has no 'layers'",
         NULL},
        {"blocks:\n  b: {layers: [], gven: {}}\n" USE, "f:5:19",
         "a block has 'given' and 'layers', and no 'gven'",
         "did you mean 'given'?"},
        {"blocks:\n  b: {layers: relu}\n" USE, "f:5:15",
         "'layers' is a list of layers, not text", "[] is a list without any"},
        {"blocks:\n  b: {layers: [], given: [a]}\n" USE, "f:5:26",
         "'given' wants parameters and their defaults: {width: null}, got a "
         "list",
         NULL},
        {"blocks:\n  b: {layers: [], given: {name: 1}}\n" USE, "f:5:27",
         "a parameter cannot be called 'name', which has a meaning already",
         NULL},
        {"blocks:\n  b: {layers: [], given: {classes: 1}}\n" USE, "f:5:27",
         "a parameter cannot be called 'classes', which has a meaning already",
         NULL},
        {"blocks:\n  b: {layers: [], given: {1a: 1}}\n" USE, "f:5:27",
         "'1a' cannot be a parameter: letters, digits and '_' make one", NULL},
        {"blocks:\n  b: {layers: [b]}\n" USE, "f:5:16", "block 'b' uses itself",
         NULL},
        {"blocks:\n  b: {layers: [{c: , if: false}]}\n"
         "  c: {layers: [add: [[b], []]]}\n" USE,
         "f:6:23", "block 'b' uses itself, by way of 'c'", NULL},
        {"blocks:\n  b: {layers: [relu], given: {n: null}}\n" USE, "f:7:4",
         "block 'b' wants 'n'", "{b: , n: VALUE}"},
        {"blocks:\n  b: {layers: [relu], given: {n: null}}\n"
         "layers: [{b: , n: }]\n",
         "f:6:19", "'n' wants a value, got nothing", NULL},
        {"blocks:\n  b: {layers: [relu], given: {width: 1}}\n"
         "layers: [{b: , widht: 2}]\n",
         "f:6:16", "'b' has no option 'widht'", "did you mean 'width'?"},
        {"blocks:\n  b: {layers: [relu], given: {n: 1}}\nlayers: [{b: 4}]\n",
         "f:6:14", "'b' takes no value",
         "a block's parameters are given by name: {b: , NAME: VALUE}"},
        {"blocks:\n  b: {layers: [{relu: , from: stem}]}\n"
         "layers: [{relu: , name: stem}, b]\n",
         "f:5:31", "there is no layer 'stem' before this one here", NULL},
    };

    (void)state;
    CHECK(rows);
}

/* ---- expressions */

#define WITH(x)                                                            \
    "blocks:\n  b: {given: {n: 2, l: [1, 2], w: same}, layers: [{conv: " x \
    "}]}\n" USE

static void expressions_are_sound(void **state)
{
    static const struct row rows[] = {
        {WITH("$nn"), "f:5:58", "there is no parameter '$nn' here",
         "did you mean '$n'?"},
        {WITH("2 * $in"), "f:5:58", "there is no parameter '$in' here",
         "write the number, or 'depthwise: true' for as many groups as "
         "channels"},
        {WITH("$n +"), "f:5:58", NULL, NULL},
        {WITH("n + 1"), "f:5:58", "'n' means nothing in an expression",
         "a parameter has a $ in front: $n"},
        {WITH("$n ** 9"), "f:5:58",
         "'$n ** 9' is not an expression: cannot read '** 9'", NULL},
        {WITH("\"'a' * 3\""), "f:5:58",
         "''a' * 3' is not an expression: cannot read ''a' * 3'", NULL},
        {WITH("$l + 1"), "f:5:58", "'$l' is a list and cannot be computed with",
         NULL},
        {WITH("$w + 1"), "f:5:58", "'$w' is text and cannot be computed with",
         NULL},
        {WITH("$w"), "f:5:58", "'outputs' wants a whole number, got 'same'",
         NULL},
        {WITH("$l"), "f:5:58", "'outputs' wants a whole number, got a list",
         NULL},
        {WITH("$n / 0"), "f:5:58", NULL, NULL},
        {WITH("$n / 2"), "f:5:58", "'outputs' wants a whole number, got 1.0",
         NULL},
        {WITH("$n > 1"), "f:5:58", "'outputs' wants a whole number, got True",
         NULL},
        {WITH("$n - 2"), "f:5:58",
         "'outputs' wants a whole number of at least 1, got 0", NULL},
        {WITH("9223372036854775807 * $n"), "f:5:58", NULL, NULL},
        {"blocks:\n  b: {given: {x: $y, y: 1}, layers: [{conv: $x}]}\n" USE,
         "f:5:18", "'$y' is not known yet here", NULL},
        {LAYERS "- {linear: $clases}\n", "f:5:12",
         "there is no parameter '$clases' here", "did you mean '$classes'?"},
        {LAYERS "- {linear: $}\n", "f:5:12",
         "'$' is not an expression: cannot read '$'", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        const char *text = pr_arena_printf(a, HEAD "%s", rows[i].text);
        struct pr_model *m = NULL;
        struct pr_err err = {0};

        if (rows[i].msg) {
            check(text, NULL, &rows[i]);
            continue;
        }
        /* In the words of the evaluator. */
        assert_int_equal(
            pr_model_parse(text, strlen(text), "f", NULL, a, &m, &err),
            PR_E_CONF);
        assert_string_equal(err.where, rows[i].where);
        assert_int_equal(strncmp(err.msg, "cannot compute '", 16), 0);
    }
}

/* ---- keys */

static void keys_are_known_and_there(void **state)
{
    static const struct row rows[] = {
        {"- 1\n", "f:1:1",
         "a model is a map with 'model', 'input', 'classes' and 'layers', not "
         "a list",
         NULL},
        {"model: m\ninput: [3]\nclasses: 3\nlayer: []\n", "f:4:1",
         "a model has no key 'layer'", "did you mean 'layers'?"},
        {"model: m\ninput: [3]\nclasses: 3\n", "f:1:1",
         "the model has no 'layers'", NULL},
        {"input: [3]\nclasses: 3\nlayers: []\n", "f:1:1",
         "the model has no 'model'", NULL},
        {"model: a b\n", "f:1:8",
         "'model' wants a name of letters, digits, '_', '.' and '-', got 'a b'",
         NULL},
        {"title: 3\n", "f:1:8", "'title' wants text, got 3", NULL},
        {"input: [3, 4, 5, 6]\n", "f:1:8",
         "'input' wants [channels, rows, columns], [rows, features] or "
         "[features], got a list",
         NULL},
        {"input: [3, 0, 4]\n", "f:1:8",
         "'input' wants [channels, rows, columns], [rows, features] or "
         "[features], got a list",
         NULL},
        {"input: [1000000000, 1000000000, 1000000000]\n", "f:1:8",
         "'input' wants [channels, rows, columns], [rows, features] or "
         "[features], got a list",
         NULL},
        {"input: 540\n", "f:1:8",
         "'input' wants [channels, rows, columns], [rows, features] or "
         "[features], got 540",
         NULL},
        {"classes: 0\n", "f:1:10",
         "'classes' wants a whole number of at least 1, got 0", NULL},
        {"loss: mse\n", "f:1:7", "'loss' is cross_entropy or left out",
         "others stand under 'losses'"},
        {"reference: 3\n", "f:1:12",
         "'reference' wants {params: N, flops: N, source: TEXT}, got 3", NULL},
        {"reference: {param: 3}\n", "f:1:13", "'reference' has no 'param'",
         "did you mean 'params'?"},
        {"reference: {params: 3}\n", "f:1:12",
         "'reference' wants a 'source': where the figures are from", NULL},
        {"optimizer: sgd\n", "f:1:12",
         "'optimizer' wants {name: sgd, learning_rate: 0.1}, got 'sgd'", NULL},
        {"optimizer: {learning_rate: 1}\n", "f:1:12",
         "'optimizer' has no 'name'", NULL},
        {"optimizer: {name: sdg}\n", "f:1:19",
         "'name' wants sgd or adam, got 'sdg'", NULL},
        {"optimizer: {name: adam, momentum: 0.9}\n", "f:1:25",
         "'adam' has no option 'momentum'", NULL},
        {"optimizer: {name: sgd, learning_rat: 1}\n", "f:1:24",
         "'sgd' has no option 'learning_rat'", "did you mean 'learning_rate'?"},
        {"optimizer: {name: sgd, learning_rate: 0}\n", "f:1:39",
         "'learning_rate' wants a number above 0 to 1e+09, got 0", NULL},
        {"optimizer: {name: sgd, momentum: 1}\n", "f:1:34",
         "'momentum' wants a number from 0 to below 1, got 1", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(rows[i].text, NULL, &rows[i]);
}

static void the_reference_is_kept(void **state)
{
    static const struct row rows[] = {
        {"reference: {params: 388, source: x}\nlayers: [{linear: 3}]\n",
         "f:4:21", "the layers have 387 parameters, not 388", NULL},
        {"reference: {params: 387, flops: 800, source: x}\n"
         "layers: [{linear: 3}]\n",
         "f:4:33", "the layers take 768 operations, not 800",
         "forward of one sample, two for each multiply-add of conv and "
         "linear"},
        {"reference: {params: many, source: x}\nlayers: [{linear: 3}]\n",
         "f:4:21", "'params' wants a whole number of at least 1, got 'many'",
         NULL},
        {"reference: {flops: -1, source: x}\nlayers: [{linear: 3}]\n", "f:4:20",
         "'flops' wants a number above 0, got -1", NULL},
    };

    (void)state;
    CHECK(rows);
}

/* The model's own number of classes is no change. */
static void the_reference_is_kept_with_equal_opts(void **state)
{
    static const struct row row = {
        "", "f:4:21", "the layers have 387 parameters, not 388", NULL};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value opts = json(a, "{\"classes\": 3, \"input\": [2, 8, 8]}");

    (void)state;
    check(HEAD "reference: {params: 388, source: x}\nlayers: [{linear: 3}]\n",
          &opts, &row);
}

static void opts_are_checked(void **state)
{
    static const struct row rows[] = {
        {"{\"clases\": 4}", "exp.model_opts",
         "a model has no option 'clases', only input and classes",
         "did you mean 'classes'?"},
        {"{\"classes\": 0}", "exp.model_opts",
         "'classes' wants a whole number of at least 1", NULL},
        {"{\"input\": [3, 4, 5, 6]}", "exp.model_opts",
         "'input' wants a list of whole numbers such as [3, 64, 64] or [540]",
         NULL},
        {"{\"input\": [3]}", "exp.model_opts",
         "'input' of 'm' has 3 numbers, not 1", NULL},
        {"[1]", "exp.model_opts",
         "the options of a model are a map such as {\"classes\": 10}, not a "
         "list",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_value opts = json(a, rows[i].text);

        check(HEAD "layers: [{linear: $classes}]\n", &opts, &rows[i]);
    }
}

/* ---- limits */

static void what_is_too_much_is_refused(void **state)
{
    static const struct row rows[] = {
        {LAYERS "- {relu: , repeat: 100001}\n", "f:5:20",
         "'repeat' wants a whole number of at most 100000, got 100001", NULL},
        {LAYERS "- {linear: 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 "
                "+ 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + "
                "1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 "
                "+ 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1}\n",
         "f:5:12", "an expression has at most 200 characters", NULL},
        /* These take a while: not in brief. */
        {LAYERS "- {relu: , repeat: 100000}\n- {linear: 3}\n", "f:6:4",
         "more than 100000 layers", NULL},
        {"blocks:\n  b: {layers: []}\n  c: {layers: [{b: , repeat: 1000}]}\n"
         "layers: [{c: , repeat: 1000}]\n",
         "f:6:30", "the definition takes more than 500000 steps", NULL},
    };

    (void)state;
    check_rows(rows, is_brief() ? 2 : sizeof rows / sizeof *rows);
}

/* count blocks, each using the one before; the first has branches in it.
 * Their names are short: all of them make up the name of the layer. */
static void put_chain(struct pr_buf *out, int count)
{
    static const char names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGH";

    pr_buf_str(out, HEAD "blocks:\n  a: {layers: [add: [[relu], []]]}\n");
    for (int i = 1; i < count; i++)
        pr_buf_printf(out, "  %c: {layers: [%c]}\n", names[i], names[i - 1]);
    pr_buf_printf(out, "layers: [%c, {linear: 3}]\n", names[count - 1]);
}

static void depth_is_limited(void **state)
{
    static const struct row in_blocks = {
        "", "f:5:16", "more than 32 blocks and branches inside each other",
        NULL};
    static const struct row in_branches = {
        "", "f:4:239", "more than 32 branches inside each other", NULL};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    struct pr_model *m = NULL;

    (void)state;
    put_chain(&text, 31);
    assert_int_equal(
        pr_model_parse(text.data, text.len, "f", NULL, a, &m, NULL), PR_OK);
    pr_buf_clear(&text);
    put_chain(&text, 32);
    check(text.data, NULL, &in_blocks);
    pr_buf_clear(&text);
    pr_buf_str(&text, HEAD "layers: [");
    for (int i = 0; i < 33; i++)
        pr_buf_str(&text, "add: [[");
    for (int i = 0; i < 33; i++)
        pr_buf_str(&text, "], []]");
    pr_buf_str(&text, "]\n");
    check(text.data, NULL, &in_branches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_sound),
        cmocka_unit_test(expressions_are_sound),
        cmocka_unit_test(keys_are_known_and_there),
        cmocka_unit_test(the_reference_is_kept),
        cmocka_unit_test(the_reference_is_kept_with_equal_opts),
        cmocka_unit_test(opts_are_checked),
        cmocka_unit_test(what_is_too_much_is_refused),
        cmocka_unit_test(depth_is_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
