/* Definitions that are wrong: inputs, losses, turns, the output. */
#include "test_nn_model_bad.h"

/* ---- inputs and keys */

static void inputs_are_sound(void **state)
{
    static const struct row rows[] = {
        {"inputs: 3\n", "f:3:9",
         "'inputs' wants a map such as {image: {shape: [3, 64, 64]}}, got 3",
         NULL},
        {"inputs: {}\n", "f:3:9",
         "'inputs' wants a map such as {image: {shape: [3, 64, 64]}}, got a "
         "map",
         NULL},
        {"inputs: {x: [3]}\n", "f:3:13",
         "'x' wants {shape: [3, 64, 64]} or {shape: [1], ids: 10}, got a list",
         NULL},
        {"inputs: {x: {}}\n", "f:3:10", "input 'x' has no 'shape'", NULL},
        {"inputs: {x: {shap: [3]}}\n", "f:3:14", "an input has no 'shap'",
         "did you mean 'shape'?"},
        {"inputs: {x: {shape: 3}}\n", "f:3:21",
         "'shape' wants [channels, rows, columns], [rows, features] or "
         "[features], got 3",
         NULL},
        {"inputs: {x: {shape: [$n]}}\n", "f:3:22",
         "there is no parameter '$n' here",
         "parameters of a block or of the model stand under 'given'"},
        {"inputs: {x: {shape: [3], ids: 0}}\n", "f:3:31",
         "'ids' wants a whole number of at least 1, got 0", NULL},
        {"inputs: {x: {shape: [3, 4], ids: 5}}\n", "f:3:21",
         "'shape' of ids is [count]", NULL},
        {"inputs: {a.b: {shape: [3]}}\n", "f:3:10",
         "'a.b' cannot be an input: letters, digits, '_' and '-' make a name",
         NULL},
        {"inputs: {x: {shape: [3]}, input: {shape: [3]}}\n", "f:3:27",
         "only the first input can be called 'input', which is what comes in",
         NULL},
        {"inputs: {x: {shape: [3]}}\nlayers: [{linear: 3, name: x}]\n",
         "f:4:11", "the name 'x' is used twice", "see line 3"},
        {"inputs: {x: {shape: [3]}, y: {shape: [3]}}\n"
         "layers: [{linear: 3}]\n",
         "f:3:27", "nothing uses the input 'y'", NULL},
        {"inputs: {x: {shape: [3]}}\ninput: [3]\n", "f:3:9",
         "'input' and 'inputs' exclude each other", NULL},
        {"inputs: {x: {shape: [3]}}\nloss: cross_entropy\n", "f:4:7",
         "'loss' and 'losses' exclude each other", NULL},
        {"title: x\n", "f:1:1", "the model has no 'input'", NULL},
        {"input: [3]\nclasses: 2\nlayers: [{linear: 2}]\n", "f",
         "nothing uses the input 'labels'", NULL},
        {"inputs: {x: {shape: [3]}}\nlayers: []\n", "f",
         "the model has no layers", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        bool whole = strstr(rows[i].text, "layers:");

        check(pr_arena_printf(a,
                              "model: m\nlosses: [{mse: linear1, target: 0}]\n"
                              "%s%s",
                              rows[i].text,
                              whole ? "" : "layers: [{linear: 3}]\n"),
              NULL, &rows[i]);
    }
}

static void some_keys_are_needed(void **state)
{
    static const struct row rows[] = {
        {"model: m\ninput: [3]\nlayers: []\n", "f:1:1",
         "the model has no 'classes'", NULL},
        {"model: m\ninputs: {x: {shape: [3]}}\nlayers: []\n", "f:1:1",
         "the model has no 'losses'", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(rows[i].text, NULL, &rows[i]);
}

/* ---- losses */

/* Lines 1 to 9; the losses are on line 10. */
#define MODEL                                                            \
    "model: m\n"                                                         \
    "inputs: {x: {shape: [4, 6]}, row: {shape: [4]}, ids: {shape: [4], " \
    "ids: 6}, one: {shape: [1], ids: 5}, many: {shape: [1], ids: 9}}\n"  \
    "layers:\n"                                                          \
    "- {linear: 6, name: y}\n"                                           \
    "- {softmax: , name: p}\n"                                           \
    "- {sigmoid: , name: s}\n"                                           \
    "- {flatten: , name: f}\n"                                           \
    "- {reshape: [2, 3, 4], name: image}\n"                              \
    "- {linear: 1, name: last}\n"

static void check_losses(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

        check(pr_arena_printf(a, MODEL "%s", rows[i].text), NULL, &rows[i]);
    }
}
#define CHECK_LOSSES(rows) check_losses(rows, sizeof rows / sizeof *rows)

static void losses_are_known(void **state)
{
    static const struct row rows[] = {
        {"losses: 3\n", "f:10:9", "'losses' wants a list of losses, got 3",
         NULL},
        {"losses: []\n", "f:10:9",
         "'losses' wants a list of losses, got a list", NULL},
        {"losses: [mse]\n", "f:10:10",
         "a loss is a map such as {mse: LAYER, target: NAME}, not text", NULL},
        {"losses: [{}]\n", "f:10:10",
         "a loss is a map such as {mse: LAYER, target: NAME}, not an empty one",
         NULL},
        {"losses: [{target: x, msee: y}]\n", "f:10:22", "'msee' is not a loss",
         "did you mean 'mse'?"},
        {"losses: [{mse: y, bce: y}]\n", "f:10:19",
         "one loss of two kinds, 'mse' and 'bce'", NULL},
        {"losses: [{mse: y, taget: x}]\n", "f:10:19",
         "'mse' has no option 'taget'", "did you mean 'target'?"},
        {"losses: [{mse: y, \"\": x}]\n", "f:10:19", "'mse' has no option ''",
         NULL},
        {"losses: [{mse: y, smoothing: 0.1}]\n", "f:10:19",
         "'mse' has no option 'smoothing'", NULL},
        {"losses: [{multibox: [y, y], reduce: sum}]\n", "f:10:29",
         "'multibox' has no option 'reduce'", NULL},
        {"losses: [{mse: y}]\n", "f:10:11", "'mse' wants a 'target'", NULL},
        {"losses: [{mse: yy, target: 0}]\n", "f:10:16",
         "there is no layer 'yy'", "did you mean 'y'?"},
        {"losses: [{mse: [y], target: 0}]\n", "f:10:16",
         "'mse' wants the name of a layer, got a list", NULL},
        {"losses: [{mse: x, target: 0}]\n", "f:10:16",
         "'mse' is about 'x', which is an input", NULL},
        {"losses: [{mse: y, target: z}]\n", "f:10:27", "there is no layer 'z'",
         NULL},
        {"losses: [{mse: y, target: 1e40}]\n", "f:10:27",
         "'target' wants a number from -1e+30 to 1e+30, got 1e+40", NULL},
        {"losses: [{kl: y}]\n", "f:10:15",
         "'kl' wants two names: [a, b], got 'y'", NULL},
        {"losses: [{kl: [y, y], reduce: mean}]\n", "f:10:31",
         "'reduce' wants sum, got 'mean'", NULL},
        {"losses: [{mse: y, target: 0, reduce: total}]\n", "f:10:38",
         "'reduce' wants sum or mean, got 'total'", NULL},
        {"losses: [{mse: y, target: 0, factor: big}]\n", "f:10:38",
         "'factor' wants a number, got 'big'", NULL},
        {"losses: [{smooth_l1: y, target: 0, beta: 0}]\n", "f:10:42",
         "'beta' wants a number above 0 to 1e+30, got 0", NULL},
        {"losses: [{cross_entropy: y, target: ids, smoothing: 1}]\n", "f:10:53",
         "'smoothing' wants a number from 0 to below 1, got 1", NULL},
        {"losses: [{cross_entropy: y, target: ids, ignore: -1}]\n", "f:10:50",
         "'ignore' wants a whole number of at least 0, got -1", NULL},
        {"losses: [{cross_entropy: y, target: ids, weights: y}]\n", "f:10:51",
         "'weights' are an input, 'y' is none", NULL},
        {"losses: [{mse: y, target: 0, turn: 2}]\n", "f:10:36",
         "'turn' wants a whole number of at most 1, got 2", NULL},
        {"losses: [{mse: y, target: 0, name: a b}]\n", "f:10:36",
         "'name' wants a word, got 'a b'", NULL},
        {"losses: [{mse: y, target: 0, name: a}, {mse: y, target: 1, name: "
         "a}]\n",
         "f:10:66", "two losses are called 'a'", NULL},
        {"losses: [{mse: y, target: 0, name: loss2}, {mse: y, target: 1}]\n",
         "f:10:45", "two losses are called 'loss2'", NULL},
        {"losses: [{mse: y, target: 0}, {mse: y, target: 0}, {mse: y, target: "
         "0}, {mse: y, target: 0}, {mse: y, target: 0}, {mse: y, target: 0}, "
         "{mse: y, target: 0}, {mse: y, target: 0}, {mse: y, target: 0}, {mse: "
         "y, target: 0}, {mse: y, target: 0}, {mse: y, target: 0}, {mse: y, "
         "target: 0}, {mse: y, target: 0}, {mse: y, target: 0}, {mse: y, "
         "target: 0}, {mse: y, target: 0}]\n",
         "f:10:9", "more than 16 losses", NULL},
    };

    (void)state;
    CHECK_LOSSES(rows);
}

static void losses_fit(void **state)
{
    static const struct row rows[] = {
        {"losses: [{mse: y, target: row}]\n", "f:10:16",
         "'mse' wants [4, 6] as its target, 'row' has [4]", NULL},
        {"losses: [{bce: y, target: ids}]\n", "f:10:16",
         "'bce' wants numbers as its target, 'ids' has ids", NULL},
        {"losses: [{bce: s, target: x}]\n", "f:10:16",
         "'s' is a sigmoid, which 'bce' computes itself",
         "take what comes into it"},
        {"losses: [{kl: [y, f]}]\n", "f:10:15",
         "'kl' wants [4, 6] as its log variance, 'f' has [24]", NULL},
        {"losses: [{cross_entropy: y, target: x}]\n", "f:10:26",
         "'cross_entropy' wants ids as its target, 'x' has numbers", NULL},
        {"losses: [{cross_entropy: f, target: ids}]\n", "f:10:26",
         "'cross_entropy' wants [1] as its target, 'ids' has [4]", NULL},
        {"losses: [{cross_entropy: last, target: one}]\n", "f:10:26",
         "'cross_entropy' has ids below 1 as its target, those of 'one' go up "
         "to 4",
         NULL},
        {"losses: [{cross_entropy: image, target: ids}]\n", "f:10:26",
         "'cross_entropy' wants [classes] or [rows, classes], 'image' has [2, "
         "3, 4]",
         NULL},
        {"losses: [{cross_entropy: p, target: ids}]\n", "f:10:26",
         "'p' is a softmax, which 'cross_entropy' computes itself",
         "take what comes into it"},
        {"losses: [{cross_entropy: y, target: ids, weights: x}]\n", "f:10:26",
         "'cross_entropy' wants [4] as its weights, 'x' has [4, 6]", NULL},
        {"losses: [{cross_entropy: y, target: ids, weights: ids}]\n", "f:10:26",
         "'cross_entropy' wants numbers as its weights, 'ids' has "
         "ids",
         NULL},
        {"losses: [{ctc: f, target: ids, lengths: one}]\n", "f:10:16",
         "'ctc' wants [rows, classes], 'f' has [24]", NULL},
        {"losses: [{ctc: y, target: ids}]\n", "f:10:16",
         "'ctc' wants 'lengths'", NULL},
        {"losses: [{ctc: y, target: ids, lengths: row}]\n", "f:10:16",
         "'ctc' wants ids as its lengths, 'row' has numbers", NULL},
        {"losses: [{ctc: y, target: ids, lengths: many}]\n", "f:10:16",
         "'ctc' has ids below 5 as its lengths, those of 'many' go up to 8",
         NULL},
        {"losses: [{ctc: y, target: ids, lengths: ids}]\n", "f:10:16",
         "'ctc' has ids below 5 as its lengths, those of 'ids' go up to 5",
         NULL},
        {"losses: [{multibox: [y, f], target: [x, ids]}]\n", "f:10:21",
         "'multibox' wants [4, boxes] and [classes, boxes], got [4, 6] of 'y' "
         "and [24] of 'f'",
         NULL},
        {"losses: [{multibox: [y, y], target: [row, ids]}]\n", "f:10:21",
         "'multibox' wants [4, 6] as its target, 'row' has [4]", NULL},
        {"losses: [{multibox: [y, y], target: [x, one]}]\n", "f:10:21",
         "'multibox' has ids below 4 as its target, those of 'one' go up to 4",
         NULL},
        {"losses: [{multibox: [y, y], target: x}]\n", "f:10:37",
         "'target' wants two names: [a, b], got 'x'", NULL},
    };

    (void)state;
    CHECK_LOSSES(rows);
}

/* ---- turns and the output */

static void turns_and_output_are_sound(void **state)
{
    static const struct row rows[] = {
        {"turns: a\n", "f:7:8",
         "'turns' wants a list of names for each turn: [[a], [b]], got 'a'",
         NULL},
        {"turns: [a, b]\n", "f:7:9",
         "'turns' wants a list of names for each turn: [[a], [b]], got 'a'",
         NULL},
        {"turns: [[3]]\n", "f:7:10",
         "'turns' wants the name of a layer or block, got 3", NULL},
        {"turns: [[a, relu1, b]]\n", "f:7:13", "nothing called 'relu1' learns",
         NULL},
        {"turns: [[a, c]]\n", "f:7:13", "nothing called 'c' learns", NULL},
        {"turns: [[a]]\n", "f:6:4", "'b' learns in no turn",
         "name it under 'turns', or say 'freeze: true'"},
        {"turns: [[a, b, a]]\n", "f:7:16", "'a' learns in two turns", NULL},
        {"turns: [[a], [b]]\n", "f:7:14", "turn 2 has no loss", NULL},
        {"turns: [[a], [b]]\nlosses: [{mse: b, target: 0}, {mse: relu1, "
         "target: 0, turn: 2}]\n",
         "f:6:4", "no loss of its turn teaches 'b'",
         "what shall stay as it is says 'freeze: true'"},
        {"turns: [[b], [a]]\nlosses: [{mse: b, target: 0}, {mse: b, target: 1, "
         "turn: 2}]\n",
         "f:6:4",
         "turn 2 goes back through 'b', which was computed before it learned "
         "in turn 1",
         "use it once more for that loss, with 'like: b'"},
        {"losses: [{mse: relu1, target: b}]\n", "f:6:4", "no loss teaches 'b'",
         "what shall stay as it is says 'freeze: true'"},
        {"output: z\n", "f:7:9", "there is no layer 'z'", NULL},
        {"output: 3\n", "f:7:9", "'output' wants the name of a layer, got 3",
         NULL},
        {"output: x\n", "f:7:9", "the output is an input", NULL},
        {"classes: 2\noutput: a\n", "f:8:9",
         "the output, 'a', gives [3], not one number for each class: [2]",
         "end with {linear: $classes}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        bool has = strstr(rows[i].text, "losses:");

        check(pr_arena_printf(a,
                              "model: m\ninputs: {x: {shape: [3]}}\nlayers:\n"
                              "- {linear: 3, name: a}\n- relu\n"
                              "- {linear: 3, name: b}\n%s%s",
                              rows[i].text,
                              has ? "" : "losses: [{mse: b, target: 0}]\n"),
              NULL, &rows[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_sound),
        cmocka_unit_test(some_keys_are_needed),
        cmocka_unit_test(losses_are_known),
        cmocka_unit_test(losses_fit),
        cmocka_unit_test(turns_and_output_are_sound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
