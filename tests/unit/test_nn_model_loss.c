/* Definitions of models: inputs, losses, turns, tensors that are shared or
 * frozen. */
#include "test_nn_model.h"

static unsigned layer(const struct pr_model *m, const char *name)
{
    for (unsigned i = 0; i < m->layer_count; i++)
        if (strcmp(m->layers[i].name, name) == 0)
            return i;
    fail_msg("there is no '%s'", name);
    return 0;
}

/* ---- inputs and losses */

static void an_input_and_classes_are_two_inputs_and_a_loss(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = parse_body(a, "layers: [{linear: 3}]\n");
    const struct pr_loss *l = &m->losses[0];

    (void)state;
    assert_int_equal(m->input_count, 2);
    assert_int_equal(pr_model_input(m, "input"), 0);
    assert_int_equal(pr_model_input(m, "labels"), 1);
    assert_int_equal(pr_model_input(m, "linear1"), -1);
    assert_int_equal(m->layers[0].ids, 0);
    assert_int_equal(m->layers[1].ids, 3);
    assert_int_equal(m->layers[1].shape.dims, 1);
    assert_int_equal(m->layers[1].shape.at[0], 1);
    assert_int_equal(m->loss_count, 1);
    assert_int_equal(m->turn_count, 1);
    assert_int_equal(l->kind, PR_LOSS_CROSS_ENTROPY);
    assert_int_equal(l->of[0], m->output);
    assert_true(l->target_count == 1 && l->targets[0] == 1);
    assert_true(l->weights == -1 && l->lengths == -1 && l->ignore == -1);
    assert_true(l->factor == 1 && l->smoothing == 0 && !l->sum);
    assert_string_equal(m->data, "");
    assert_int_equal(m->items, 1);
}

static const char many[] =
    "model: many\ndata: words\nitems: $n * 2\noutput: head\n"
    "given: {n: 4}\n"
    "inputs:\n"
    "  rows: {shape: [$n, 6]}\n"
    "  ids: {shape: [$n], ids: 5}\n"
    "  share: {shape: [$n]}\n"
    "  length: {shape: [1], ids: $n + 1}\n"
    "  wanted: {shape: [$n, 5]}\n"
    "  places: {shape: [4, 6]}\n"
    "  kinds: {shape: [6], ids: 3}\n"
    "layers:\n"
    "  - {linear: 5, name: head}\n"
    "  - {linear: 5, name: variance, from: rows}\n"
    "  - {linear: 6, name: where, from: rows}\n"
    "  - {reshape: [3, 8], name: what}\n"
    "  - {slice: 0, count: 6, axis: 1, name: class}\n"
    "losses:\n"
    "  - {cross_entropy: head, target: ids, weights: share, smoothing: 0.1, "
    "ignore: 0, reduce: sum, factor: 1 / $n, name: words}\n"
    "  - {mse: head, target: wanted}\n"
    "  - {mse: head, target: -0.5}\n"
    "  - {bce: head, target: 1, reduce: mean}\n"
    "  - {smooth_l1: head, target: 1 / $n, beta: 0.25}\n"
    "  - {kl: [head, variance], factor: 2}\n"
    "  - {ctc: head, target: ids, lengths: length}\n"
    "  - {multibox: [where, class], target: [places, kinds]}\n";

static void losses_are_read(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = parse(a, many, NULL);
    const struct pr_loss *l = m->losses;

    (void)state;
    assert_int_equal(m->loss_count, 8);
    assert_string_equal(m->data, "words");
    assert_int_equal(m->items, 8);
    assert_int_equal(m->output, layer(m, "head"));
    assert_int_equal(m->classes, 0);
    assert_string_equal(m->item, "sample");
    assert_string_equal(l[0].name, "words");
    assert_string_equal(l[1].name, "loss2");
    assert_int_equal(l[0].weights, pr_model_input(m, "share"));
    assert_true(l[0].sum && l[0].factor == 0.25 && l[0].smoothing == 0.1);
    assert_int_equal(l[0].ignore, 0);
    assert_int_equal(l[1].targets[0], pr_model_input(m, "wanted"));
    assert_true(l[1].target_count == 1 && !l[1].sum);
    assert_true(l[2].target_count == 0 && l[2].value == -0.5);
    assert_true(l[3].kind == PR_LOSS_BCE && l[3].value == 1);
    assert_true(l[4].kind == PR_LOSS_SMOOTH_L1 && l[4].beta == 0.25);
    assert_true(l[4].value == 0.25);
    assert_true(l[5].sum && l[5].of_count == 2 && l[5].factor == 2);
    assert_int_equal(l[5].of[1], layer(m, "variance"));
    assert_int_equal(l[6].lengths, pr_model_input(m, "length"));
    assert_true(l[7].target_count == 2);
    assert_int_equal(l[7].targets[1], pr_model_input(m, "kinds"));
    assert_string_equal(pr_loss_kind_name(l[7].kind), "multibox");
    assert_string_equal(pr_loss_kind_name(PR_LOSS_KIND_COUNT), "?");
}

static void losses_are_in_the_json(void **state)
{
    static const char *const want[] = {
        "\"given\": {\"n\": 4}, \"input\": [4, 6], \"classes\": 0, \"output\": "
        "\"head\", \"data\": \"words\", \"items\": 8, \"turns\": 1, ",
        "{\"name\": \"ids\", \"shape\": [4], \"ids\": 5}, ",
        "{\"name\": \"words\", \"kind\": \"cross_entropy\", \"of\": [\"head\"],"
        " \"target\": [\"ids\"], \"weights\": \"share\", \"lengths\": null, "
        "\"reduce\": \"sum\", \"factor\": 0.25, \"smoothing\": 0.1, \"beta\": "
        "1.0, \"ignore\": 0, \"turn\": 0}, ",
        "{\"name\": \"loss3\", \"kind\": \"mse\", \"of\": [\"head\"], "
        "\"target\": -0.5, \"weights\": null, \"lengths\": null, \"reduce\": "
        "\"mean\", \"factor\": 1.0, \"smoothing\": 0.0, \"beta\": 1.0, "
        "\"ignore\": null, \"turn\": 0}, ",
        "{\"name\": \"loss6\", \"kind\": \"kl\", \"of\": [\"head\", "
        "\"variance\"], \"target\": null, \"weights\": null, \"lengths\": "
        "null, \"reduce\": \"sum\", ",
        "\"of\": [\"head\"], \"target\": [\"ids\"], \"weights\": null, "
        "\"lengths\": \"length\", ",
        "\"of\": [\"where\", \"class\"], \"target\": [\"places\", \"kinds\"], ",
        "{\"name\": \"ids\", \"op\": \"input\", \"inputs\": [], \"shape\": "
        "[4], \"params\": 0, \"flops\": 0, \"ids\": 5}, ",
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_json_writer jb;

    (void)state;
    pr_json_writer_init(&jb, &out, 0);
    pr_model_write_json(parse(a, many, NULL), &jb);
    assert_true(pr_buf_ok(&out));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (!strstr(out.data, want[i]))
            fail_msg("no %s\nin %s", want[i], out.data);
}

/* Names of inputs mean the same in every block, unless it has its own. */
static void inputs_are_known_in_blocks(void **state)
{
    static const char text[] =
        "model: m\n"
        "inputs: {x: {shape: [4]}, y: {shape: [4]}}\n"
        "blocks:\n"
        "  deep:\n"
        "    given: {far: null}\n"
        "    layers:\n"
        "      - {add: , from: [x, y], name: sum}\n"
        "      - {add: , from: [sum, input, $far], name: y}\n"
        "      - {relu: , from: y}\n"
        "  twice:\n"
        "    given: {far: null}\n"
        "    layers: [{tanh: , name: t}, {deep: , far: $far}]\n"
        "layers:\n"
        "  - {linear: 4, name: first}\n"
        "  - {twice: , far: first}\n"
        "losses: [{mse: twice1, target: y}]\n";
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = parse(a, text, NULL);
    const struct pr_layer *sum = &m->layers[layer(m, "twice1.deep1.sum")];
    const struct pr_layer *y = &m->layers[layer(m, "twice1.deep1.y")];

    (void)state;
    assert_true(sum->inputs[0] == 0 && sum->inputs[1] == 1);
    assert_int_equal(y->inputs[1], layer(m, "twice1.t"));
    assert_int_equal(y->inputs[2], layer(m, "first"));
    assert_int_equal(m->layers[m->output].inputs[0],
                     layer(m, "twice1.deep1.y"));
    assert_int_equal(m->losses[0].targets[0], 1);
}

/* ---- like and freeze */

static const char shared[] =
    "model: m\n"
    "inputs: {ids: {shape: [3], ids: 7}, more: {shape: [3], ids: 7}}\n"
    "blocks:\n"
    "  inner: {layers: [{linear: 4}, {batch_norm: , name: n}]}\n"
    "  outer: {layers: [{linear: 4, name: l}, relu, {inner: , name: i}]}\n"
    "layers:\n"
    "  - {embedding: 4, name: e}\n"
    "  - {outer: , name: a}\n"
    "  - {outer: , name: b, like: a}\n"
    "  - {outer: , like: b}\n"
    "  - {linear: 7, bias: false, like: e, name: head}\n"
    "  - {embedding: 4, from: more, like: e, name: f}\n"
    "  - {outer: , name: c, freeze: true}\n"
    "  - {outer: , name: d, like: c, freeze: true}\n"
    "losses: [{cross_entropy: head, target: ids}, {mse: d, target: 0}]\n";

static void layers_are_like_others(void **state)
{
    static const struct {
        const char *name, *like;
    } rows[] = {
        {"b.l", "a.l"},
        {"b.i.linear1", "a.i.linear1"},
        {"b.i.n", "a.i.n"},
        {"outer3.i.n", "a.i.n"}, /* of the owner, not of b */
        {"head", "e"},
        {"f", "e"},
        {"d.i.linear1", "c.i.linear1"},
        {"b.relu1", "b.relu1"},
        {"a.l", "a.l"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = parse(a, shared, NULL);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned at = layer(m, rows[i].name);

        assert_string_equal(m->layers[m->layers[at].like].name, rows[i].like);
        if (m->layers[at].like != at)
            assert_int_equal(m->layers[at].params, 0);
    }
    assert_int_equal(m->params, 28 + 2 * (20 + 20 + 8));
    assert_int_equal(m->layers[layer(m, "b.l")].flops, 2 * 3 * 16);
}

static void frozen_layers_do_not_learn(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = parse(a, shared, NULL);

    (void)state;
    assert_int_equal(m->layers[layer(m, "c.i.linear1")].learns, PR_FROZEN);
    assert_int_equal(m->layers[layer(m, "d.i.n")].learns, PR_FROZEN);
    assert_int_equal(m->layers[layer(m, "c.relu1")].learns, 0);
    assert_int_equal(m->layers[layer(m, "b.l")].learns, 0);
    assert_int_equal(m->layers[layer(m, "e")].learns, 0);
    /* It is like a frozen one, and so frozen, also where that is not said. */
    m = parse_body(a, "layers:\n- {linear: 3, freeze: true, name: a}\n"
                      "- {linear: 3, name: b}\n- {linear: 3, like: b}\n"
                      "- {linear: 3, name: c, freeze: true}\n"
                      "- {linear: 3, name: d, like: c, freeze: false}\n");
    assert_int_equal(m->layers[layer(m, "d")].learns, PR_FROZEN);
}

/* ---- turns */

static const char in_turn[] =
    "model: m\n"
    "inputs: {real: {shape: [6]}, noise: {shape: [2]}}\n"
    "output: shown\n"
    "blocks:\n"
    "  judge: {layers: [{linear: 3}, relu, {linear: 1}]}\n"
    "  maker: {layers: [{linear: 6}]}\n"
    "layers:\n"
    "  - {maker: , from: noise, name: made}\n"
    "  - {judge: , from: real, name: right}\n"
    "  - {scale: 2, from: made, name: late}\n"
    "  - {judge: , from: late, like: right, name: again}\n"
    "  - {tanh: , from: late, name: shown}\n"
    "  - {judge: , from: made, like: right, name: fake}\n"
    "losses:\n"
    "  - {bce: again, target: 1, turn: 2, name: fool}\n"
    "  - {bce: right, target: 1}\n"
    "  - {bce: fake, target: 0, turn: 1}\n"
    "turns: [[right], [made]]\n";

static void layers_have_their_turn(void **state)
{
    static const struct {
        const char *name;
        unsigned turn;
        int learns;
    } rows[] = {
        {"real", 0, 0},
        {"made.linear1", 0, 1}, /* the first turn needs it, the second learns */
        {"right.linear2", 0, 0},
        {"fake.linear1", 0, 0},
        {"late", 1, 0},
        {"again.linear1", 1, 0},
        {"again.relu1", 1, 0},
        {"shown", 1, 0}, /* not before what it takes */
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = parse(a, in_turn, NULL);

    (void)state;
    assert_int_equal(m->turn_count, 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pr_layer *l = &m->layers[layer(m, rows[i].name)];

        if (l->turn != rows[i].turn || l->learns != rows[i].learns)
            fail_msg("%s is computed in %u, learns in %d", l->name, l->turn,
                     l->learns);
    }
    /* By turn, else as written. */
    assert_string_equal(m->losses[0].name, "loss2");
    assert_string_equal(m->losses[1].name, "loss3");
    assert_string_equal(m->losses[2].name, "fool");
    assert_int_equal(m->losses[2].turn, 1);
}

/* What is as usual is left out. */
static void turns_are_in_the_json(void **state)
{
    static const char *const want[] = {
        "\"output\": \"shown\", \"data\": \"\", \"items\": 1, \"turns\": 2, ",
        "{\"name\": \"made.linear1\", \"op\": \"linear\", \"inputs\": "
        "[\"noise\"], \"shape\": [6], \"params\": 18, \"flops\": 24, "
        "\"out\": 6, \"bias\": true, \"learns\": 1}, ",
        "\"inputs\": [\"real\"], \"shape\": [3], \"params\": 21, \"flops\": "
        "36, \"out\": 3, \"bias\": true}, ",
        "{\"name\": \"again.linear1\", \"op\": \"linear\", \"inputs\": "
        "[\"late\"], \"shape\": [3], \"params\": 0, \"flops\": 36, \"out\": "
        "3, \"bias\": true, \"like\": \"right.linear1\", \"turn\": 1}, ",
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_json_writer jb;

    (void)state;
    pr_json_writer_init(&jb, &out, 0);
    pr_model_write_json(parse(a, in_turn, NULL), &jb);
    assert_true(pr_buf_ok(&out));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (!strstr(out.data, want[i]))
            fail_msg("no %s\nin %s", want[i], out.data);
}

static void gradients_can_be_clipped(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_model *m = parse_body(a, "optimizer: {name: sgd, clip: 0.25}\n"
                                       "layers: [{linear: 3}]\n");

    (void)state;
    assert_true(m->optimizer.clip == 0.25);
    m = parse_body(a, "given: {rate: 0.5}\n"
                      "optimizer: {name: adam, learning_rate: $rate}\n"
                      "layers: [{linear: 3}]\n");
    assert_true(m->optimizer.clip == 0 && m->optimizer.learning_rate == 0.5);
}

static int attempt(void)
{
    struct pr_arena *a = pr_arena_new(256);
    struct pr_model *m = NULL;
    int rc = a ? PR_OK : PR_E_NOMEM;

    if (!rc)
        rc = pr_model_parse(shared, sizeof shared - 1, "t", NULL, a, &m, NULL);
    if (!rc)
        rc =
            pr_model_parse(in_turn, sizeof in_turn - 1, "t", NULL, a, &m, NULL);
    pr_arena_free(a);
    return rc;
}

static void no_allocation_is_taken_for_granted(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_input_and_classes_are_two_inputs_and_a_loss),
        cmocka_unit_test(losses_are_read),
        cmocka_unit_test(losses_are_in_the_json),
        cmocka_unit_test(inputs_are_known_in_blocks),
        cmocka_unit_test(layers_are_like_others),
        cmocka_unit_test(frozen_layers_do_not_learn),
        cmocka_unit_test(layers_have_their_turn),
        cmocka_unit_test(turns_are_in_the_json),
        cmocka_unit_test(gradients_can_be_clipped),
        cmocka_unit_test(no_allocation_is_taken_for_granted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
