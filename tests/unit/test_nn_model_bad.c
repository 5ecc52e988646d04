/* Layers that are wrong: ops, options, shapes, names. */
#include "test_nn_model_bad.h"

/* ---- ops and options */

static void ops_and_options_are_known(void **state)
{
    static const struct row rows[] = {
        {LAYERS "- convv\n", "f:5:3", "'convv' is neither an op nor a block",
         "did you mean 'conv'?"},
        {LAYERS "- {kernel: 3, cnv: 4}\n", "f:5:15",
         "'cnv' is neither an op nor a block", "did you mean 'conv'?"},
        {LAYERS "- {name: x, qqqqqqq: 4}\n", "f:5:13",
         "'qqqqqqq' is neither an op nor a block", NULL},
        {LAYERS "- {name: x}\n", "f:5:4", "'name' is neither an op nor a block",
         NULL},
        {LAYERS "- input\n", "f:5:3", "'input' is neither an op nor a block",
         NULL},
        {LAYERS "- {conv: 4, relu: }\n", "f:5:13",
         "one layer with two ops, 'conv' and 'relu'", NULL},
        {LAYERS "- {}\n", "f:5:3", "a layer without an op", NULL},
        {LAYERS "- 5\n", "f:5:3",
         "a layer is the name of an op or a map, not a whole number", NULL},
        {LAYERS "- [relu]\n", "f:5:3",
         "a layer is the name of an op or a map, not a list", NULL},
        {LAYERS "- {conv: 4, kernal: 3}\n", "f:5:13",
         "'conv' has no option 'kernal'", "did you mean 'kernel'?"},
        {LAYERS "- {linear: 4, outputs: 3}\n", "f:5:15",
         "'linear' has no option 'outputs'", NULL},
        {LAYERS "- {relu: , repaet: 3}\n", "f:5:12",
         "'relu' has no option 'repaet'", "did you mean 'repeat'?"},
        {LAYERS "- conv\n", "f:5:3", "'conv' wants its outputs",
         "{conv: outputs}"},
        {LAYERS "- {dropout: }\n", "f:5:4", "'dropout' wants its rate",
         "{dropout: rate}"},
        {LAYERS "- add\n", "f:5:3", "'add' of what?",
         "give it a list of branches, or 'from: [a, b]'"},
        {LAYERS "- {relu: 3}\n", "f:5:10", "'relu' takes no value", NULL},
        {LAYERS "- {conv: true}\n", "f:5:10",
         "'outputs' wants a whole number, got True", NULL},
        {LAYERS "- {conv: big}\n", "f:5:10",
         "'outputs' wants a whole number, got 'big'", NULL},
        {LAYERS "- {conv: 2.5}\n", "f:5:10",
         "'outputs' wants a whole number, got 2.5", NULL},
        {LAYERS "- {conv: {a: 1}}\n", "f:5:10", "a map is not a value", NULL},
        {LAYERS "- {conv: 0}\n", "f:5:10",
         "'outputs' wants a whole number of at least 1, got 0", NULL},
        {LAYERS "- {conv: 2000000000}\n", "f:5:10",
         "'outputs' wants a whole number of at most 1073741824, got 2000000000",
         NULL},
        {LAYERS "- {conv: 4, kernel: [1, 2, 3]}\n", "f:5:21",
         "'kernel' wants [rows, columns], got a list", NULL},
        {LAYERS "- {conv: 4, kernel: [1, 0]}\n", "f:5:25",
         "'kernel' wants a whole number of at least 1, got 0", NULL},
        {LAYERS "- {conv: 4, kernel: [1, [2]]}\n", "f:5:25", "a list in a list",
         NULL},
        {LAYERS "- {conv: 4, kernel: [1, 2, 3, 4, 5]}\n", "f:5:21",
         "a list of at most 4 values is wanted here", NULL},
        {LAYERS "- {conv: 4, kernel: same}\n", "f:5:21",
         "'kernel' wants a whole number or [rows, columns], got 'same'", NULL},
        {LAYERS "- {conv: 4, kernel: }\n", "f:5:21",
         "'kernel' wants a whole number or [rows, columns], got nothing", NULL},
        {LAYERS "- {conv: 4, pad: [1, 2, 3]}\n", "f:5:18",
         "'pad' wants [rows, columns] or [top, left, bottom, right], got a "
         "list",
         NULL},
        {LAYERS "- {conv: 4, pad: valid}\n", "f:5:18",
         "'pad' wants a whole number, [rows, columns], [top, left, bottom, "
         "right] or 'same', got 'valid'",
         NULL},
        {LAYERS "- {conv: 4, bias: 1}\n", "f:5:19",
         "'bias' wants true or false, got 1", NULL},
        {LAYERS "- {dropout: 1}\n", "f:5:13",
         "'rate' wants a number from 0 to below 1, got 1", NULL},
        {LAYERS "- {scale: .nan}\n", "f:5:11",
         "'factor' wants a number from -1e+30 to 1e+30, got nan", NULL},
        {LAYERS "- {batch_norm: , epsilon: 0}\n", "f:5:27",
         "'epsilon' wants a number above 0 to 1, got 0", NULL},
        {LAYERS "- {lrn: 4}\n", "f:5:4", "'lrn' wants an odd size", NULL},
        {LAYERS "- {max_pool: 3, pad: 2}\n", "f:5:4",
         "'pad' of 'max_pool' is at most half of its kernel", NULL},
        {LAYERS "- {conv: 4, groups: 2, depthwise: true}\n", "f:5:4",
         "'depthwise' and 'groups' exclude each other", NULL},
        {LAYERS "- {relu: , repeat: -1}\n", "f:5:20",
         "'repeat' wants a whole number of at least 0, got -1", NULL},
        {LAYERS "- {relu: , if: 1}\n", "f:5:16",
         "'if' wants true or false, got 1", NULL},
        /* also in what is left out */
        {LAYERS "- {relu: , if: false, nam: x}\n", "f:5:23",
         "'relu' has no option 'nam'", "did you mean 'name'?"},
    };

    (void)state;
    CHECK(rows);
}

/* ---- shapes */

static void shapes_fit(void **state)
{
    static const struct row rows[] = {
        {LAYERS "- {conv: 4, kernel: 9}\n", "f:5:4",
         "the window of 'conv1' is larger than its input: 9 rows of 8 with "
         "padding 0 and 0",
         NULL},
        {LAYERS "- {conv: 4, kernel: [1, 5], dilation: 3, pad: 2}\n", "f:5:4",
         "the window of 'conv1' is larger than its input: 13 columns of 8 "
         "with padding 2 and 2",
         NULL},
        {LAYERS "- {max_pool: 9}\n", "f:5:4",
         "the window of 'max_pool1' is larger than its input: 9 rows of 8 "
         "with padding 0 and 0",
         NULL},
        {LAYERS "- {conv: 4, groups: 3}\n", "f:5:4",
         "3 groups do not divide 2 channels into 4", NULL},
        {LAYERS "- {conv: 3, groups: 2}\n", "f:5:4",
         "2 groups do not divide 2 channels into 3", NULL},
        {LAYERS "- {add: [[{conv: 3}], []], name: x}\n", "f:5:4",
         "'add' wants equal shapes, got [3, 8, 8] of 'conv1' and [2, 8, 8] of "
         "'input'",
         NULL},
        {LAYERS "- concat: [[{max_pool: 2}], [relu]]\n", "f:5:3",
         "'concat' wants equal rows and columns, got [2, 4, 4] of "
         "'max_pool1' and [2, 8, 8] of 'relu1'",
         NULL},
        {LAYERS "- concat: [[global_pool], [relu]]\n", "f:5:3",
         "'concat' wants equal rows and columns, got [2] of 'global_pool1' "
         "and [2, 8, 8] of 'relu1'",
         NULL},
        {LAYERS "- flatten\n- {conv: 3}\n", "f:6:4",
         "'conv' wants [channels, rows, columns], got [128] of 'flatten1'",
         NULL},
        {LAYERS "- global_pool\n- global_pool\n", "f:6:3",
         "'global_pool' wants [channels, rows, columns], got [2] of "
         "'global_pool1'",
         NULL},
        {LAYERS "- softmax\n", "f:5:3",
         "'softmax' wants [features] or [rows, features], got [2, 8, 8] of "
         "'input'",
         "flatten or global_pool before it makes one of it"},
        {LAYERS "- {average_pool: 3, stride: 2, pad: [1, 0], ceil: true}\n",
         "f:5:4",
         "with 'pad' and 'ceil', 'average_pool' wants 'count_pad: false' here",
         NULL},
        {LAYERS "- {conv: 1, pad: 1000000000}\n", "f:5:4",
         "the output of 'conv1' is too large: [1, 2000000008, 2000000008]",
         NULL},
        {LAYERS "- {conv: 1073741824, pad: 1000}\n", "f:5:4",
         "the output of 'conv1' is too large: [1073741824, 2008, 2008]", NULL},
        {LAYERS "- {conv: 1, pad: 100000}\n- {linear: 1073741824}\n", "f:6:4",
         "'linear1' is too large to be counted", NULL},
        {LAYERS "- {linear: 1073741824, repeat: 5}\n- {linear: 3}\n", "f",
         "the model is too large to be counted", NULL},
        {LAYERS "- {linear: 4}\n", "f:5:4",
         "the last layer, 'linear1', gives [4], not one number for each class: "
         "[3]",
         "end with {linear: $classes}"},
        {LAYERS "- {conv: 3, kernel: 8}\n", "f:5:4",
         "the last layer, 'conv1', gives [3, 1, 1], not one number for each "
         "class: [3]",
         "end with {linear: $classes}"},
        {LAYERS "- {linear: 3}\n- softmax\n", "f:6:3",
         "the last layer is a softmax, which the loss computes itself",
         "leave it out"},
        {"layers: []\n", "f", "the model has no layers", NULL},
    };

    (void)state;
    CHECK(rows);
}

/* ---- names and inputs */

static void names_are_found_and_used_once(void **state)
{
    static const struct row rows[] = {
        {LAYERS "- {relu: , name: stem}\n- {relu: , from: sten}\n", "f:6:18",
         "there is no layer 'sten' before this one here",
         "did you mean 'stem'?"},
        {LAYERS "- {relu: , from: late}\n- {relu: , name: late}\n", "f:5:18",
         "there is no layer 'late' before this one here", NULL},
        {LAYERS "- {add: , from: [input, relu9]}\n", "f:5:25",
         "there is no layer 'relu9' before this one here", NULL},
        {LAYERS "- {relu: , from: 3}\n", "f:5:18",
         "'from' wants the name of a layer, got 3", NULL},
        {LAYERS "- {relu: , from: [input, input]}\n", "f:5:18",
         "'relu' has one input, not a list", NULL},
        {LAYERS "- {add: , from: input}\n", "f:5:17",
         "'from' wants a list of names, got 'input'", NULL},
        {LAYERS "- {add: [[relu], []], from: [input, input]}\n", "f:5:29",
         "'add' has branches already", NULL},
        {LAYERS "- relu\n- {add: , from: [input, relu1], repeat: 2}\n",
         "f:6:41", "'add' of a list cannot be repeated", NULL},
        {LAYERS "- {add: , from: [input, input]}\n", "f:5:4",
         "'add' gets 'input' twice", NULL},
        {LAYERS "- add: [[], []]\n", "f:5:3", "'add' gets 'input' twice", NULL},
        {LAYERS "- add: [[relu]]\n", "f:5:3", "'add' wants two inputs or more",
         NULL},
        {LAYERS "- {concat: , from: []}\n", "f:5:4",
         "'concat' wants two inputs or more", NULL},
        {LAYERS "- add: relu\n", "f:5:8",
         "'add' wants a list of branches, got 'relu'", NULL},
        {LAYERS "- add: [[relu], tanh]\n", "f:5:17",
         "a branch is a list of layers, not text", "[] is a list without any"},
        {LAYERS "- {relu: , name: a}\n- {tanh: , name: a}\n", "f:6:4",
         "the name 'a' is used twice", "see line 5"},
        {LAYERS "- relu\n- {tanh: , name: relu2}\n- relu\n", "f:7:3",
         "the name 'relu2' is used twice", "see line 6"},
        {LAYERS "- {relu: , name: input}\n", "f:5:18",
         "no layer can be called 'input', which is what comes in", NULL},
        {LAYERS "- {relu: , name: a b}\n", "f:5:18",
         "'a b' cannot be a name: letters, digits, '_', '.' and '-' make one",
         NULL},
        {LAYERS "- {relu: , name: 7}\n", "f:5:18", "'name' wants text, got 7",
         NULL},
        {LAYERS "- {relu: , name: side}\n- {linear: 3, from: input}\n", "f:5:4",
         "nothing uses the output of 'side'", NULL},
        {LAYERS
         "- {relu: , name: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxxxxxxxxxx}\n",
         "f:5:4",
         "the name 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' has more than "
         "128 characters",
         NULL},
    };

    (void)state;
    CHECK(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_and_options_are_known),
        cmocka_unit_test(shapes_fit),
        cmocka_unit_test(names_are_found_and_used_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
