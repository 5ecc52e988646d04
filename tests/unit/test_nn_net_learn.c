/* How networks learn: optimisers, gradients that are clipped, embeddings that
 * change by rows, tensors that are shared or frozen; each over several batches
 * against the plain network. And ids that are none. */
#include "test_nn_net.h"

static const char words[] =
    "inputs:\n  t: {shape: [4], ids: 40}\n  next: {shape: [4], ids: 5}\n";
static const char tied[] =
    "inputs:\n  t: {shape: [4], ids: 9}\n  next: {shape: [4], ids: 9}\n";

#define CHAIN                                                            \
    "- {embedding: 6, sparse: true, name: e}\n- {gru: 5, carry: true}\n" \
    "- tanh\n- {linear: 5, name: head}\n"                                \
    "losses: [{cross_entropy: head, target: next, factor: 3}]\n"
#define TIED                                                               \
    "- {embedding: 6, sparse: true, name: e}\n- {lstm: 6}\n- layer_norm\n" \
    "- {linear: 9, bias: false, like: e, name: head}\n"                    \
    "losses: [{cross_entropy: head, target: next, factor: 3}]\n"
#define HALF                                                                \
    "- {embedding: 6, name: e, freeze: true}\n- {linear: 7}\n- gelu\n"      \
    "- {batch_norm: , freeze: true}\n- {linear: 7, freeze: true}\n- tanh\n" \
    "- {linear: 5, name: head}\n"                                           \
    "losses: [{cross_entropy: head, target: next}]\n"

static const struct {
    const char *input, *layers;
    struct pr_optimizer_opts by;
    bool keep;      /* gradients: no rows then */
    bool is_sparse; /* what the embedding is */
} all[] = {
    {words, CHAIN, {PR_SGD, 0.1, 0, 0, 0, 0, 0, 0}, false, true},
    {words, CHAIN, {PR_SGD, 0.1, 0.9, 0, 0, 0, 0, 0}, false, false},
    {words, CHAIN, {PR_SGD, 0.1, 0, 0.01, 0, 0, 0, 0}, false, false},
    {words, CHAIN, {PR_SGD, 0.1, 0, 0, 0, 0, 0, 0.2}, false, false},
    {words, CHAIN, {PR_SGD, 0.1, 0.9, 0.01, 0, 0, 0, 0.2}, true, false},
    {words, CHAIN, {PR_SGD, 0.1, 0, 0, 0, 0, 0, 1e6}, false, false},
    {words, CHAIN, {PR_ADAM, 0.01, 0, 0, 0.9, 0.99, 1e-2, 0}, false, true},
    {words, CHAIN, {PR_ADAM, 0.01, 0, 0, 0.8, 0.9, 1e-3, 0}, true, false},
    {words, CHAIN, {PR_ADAM, 0.01, 0, 0, 0.8, 0.9, 1e-3, 0.3}, false, false},
    {words, CHAIN, {PR_ADAM, 0.01, 0, 0.1, 0.8, 0.9, 1e-3, 0}, false, false},
    {tied, TIED, {PR_SGD, 0.1, 0, 0, 0, 0, 0, 0}, false, false},
    {tied, TIED, {PR_ADAM, 0.01, 0, 0, 0.9, 0.99, 1e-2, 0}, false, false},
    {tied, TIED, {PR_SGD, 0.1, 0.9, 0.01, 0, 0, 0, 0.5}, true, false},
    {words, HALF, {PR_SGD, 0.1, 0.9, 0.01, 0, 0, 0, 0}, true, false},
    {words, HALF, {PR_ADAM, 0.01, 0, 0, 0.9, 0.99, 1e-2, 0.1}, false, false},
};

static void draw_batch(struct pr_net *net, struct ref *r, struct pr_rng *rng)
{
    for (unsigned i = 0; i < net->model->input_count; i++)
        fill_input(net, i, rng);
    load_inputs(r, net);
}

static void steps_are_those_of_the_plain_network(void **state)
{
    enum { BATCH = 3, STEPS = 4 };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i += is_brief() ? 4 : 1) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
        const struct pr_model *m = model_of(a, all[i].input, all[i].layers);
        struct pr_net_opts o = opts_of(BATCH, true);
        struct pr_net_score score;
        struct pr_err err = {0};
        struct pr_net *net;
        struct pr_rng rng;
        struct ref r;

        o.optimizer = all[i].by;
        o.keep_gradients = all[i].keep;
        net = net_of(m, &o);
        assert_int_equal(net->params[0].is_sparse, all[i].is_sparse);
        check_plan(net, all[i].layers);
        fill_net(net, i);
        ref_new(&r, a, m, BATCH, true);
        load_ref(&r, net);
        pr_rng_seed(&rng, i, 9);
        for (int step = 0; step < STEPS; step++) {
            draw_batch(net, &r, &rng);
            ref_step(&r, &o.optimizer);
            assert_int_equal(pr_net_train(net, &score, &err), PR_OK);
            compare_losses(&r, &score, 1e-3, all[i].layers);
            compare_tensors(&r, net, false, 5e-4, all[i].layers);
            if (o.keep_gradients)
                compare_tensors(&r, net, true, 1e-3, all[i].layers);
        }
        pr_net_free(net);
    }
}

/* ---- frozen */

static void what_is_frozen_stays_bit_by_bit(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_net_opts o = opts_of(3, true);
    struct pr_net *net = net_of(model_of(a, words, HALF), &o);
    struct pr_net_score score;
    struct pr_err err = {0};

    (void)state;
    fill_net(net, 4);
    for (unsigned i = 0; i < pr_net_tensor_count(net); i++) {
        struct pr_net_tensor t;
        float *x, *y;
        bool frozen;

        pr_net_tensor(net, i, &t);
        if (!t.is_learned)
            continue;
        frozen = strncmp(t.name, "e.", 2) == 0 ||
                 strncmp(t.name, "batch_norm", 10) == 0 ||
                 strncmp(t.name, "linear2", 7) == 0;
        x = numbers(t.elements);
        y = numbers(t.elements);
        assert_int_equal(pr_net_get(net, i, x, &err), PR_OK);
        assert_int_equal(pr_net_train(net, &score, &err), PR_OK);
        assert_int_equal(pr_net_get(net, i, y, &err), PR_OK);
        assert_int_equal(memcmp(x, y, t.elements * sizeof *x) == 0, frozen);
        assert_int_equal(pr_net_gradient(net, i, x, &err),
                         frozen ? PR_E_CONF : PR_OK);
        free(x);
        free(y);
    }
    pr_net_free(net);
}

/* ---- in turn */

static const char two_inputs[] =
    "inputs:\n  x: {shape: [5]}\n  y: {shape: [4]}\n  z: {shape: [4]}\n";
static const char two_turns[] =
    "- {linear: 6, name: a}\n- {linear: 4, name: b}\n"
    "losses: [{mse: b, target: y}, {mse: b, target: z, turn: 2}]\n"
    "turns: [[a], [b]]\n";

/* The first turn has learned by then, the second has not. */
static void a_loss_of_a_turn_that_is_no_number_is_named(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_net_opts o = opts_of(3, true);
    struct pr_net *net = net_of(model_of(a, two_inputs, two_turns), &o);
    float before[4][30], after[30];
    struct pr_net_score score;
    struct pr_err err = {0};

    (void)state;
    fill_net(net, 4);
    assert_int_equal(pr_net_tensor_count(net), 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pr_net_get(net, i, before[i], &err), PR_OK);
    ((float *)pr_net_input(net, 2))[7] = NAN;
    assert_int_equal(pr_net_train(net, &score, &err), PR_E_JOB);
    assert_non_null(strstr(err.msg, "loss2 of step 1 is not a number"));
    for (unsigned i = 0; i < 4; i++) {
        struct pr_net_tensor t;

        pr_net_tensor(net, i, &t);
        assert_int_equal(pr_net_get(net, i, after, &err), PR_OK);
        assert_int_equal(memcmp(before[i], after, t.elements * sizeof *after) ==
                             0,
                         t.name[0] == 'b');
    }
    pr_net_free(net);
}

/* a: weights in the first turn; b: its input in the first, weights in the
 * second. */
static void each_turn_counts_its_own_gradients(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_net_opts o = opts_of(3, true);
    struct pr_net *net = net_of(model_of(a, two_inputs, two_turns), &o);
    struct pr_net_row one, two, none;
    struct pr_net_facts facts;

    (void)state;
    assert_true(pr_net_row(net, 0, &one) && pr_net_row(net, 1, &two));
    assert_false(pr_net_row(net, 2, &none));
    assert_true(one.forward_flops == 2 * 3 * 5 * 6);
    assert_true(one.backward_flops == one.forward_flops);
    assert_true(two.forward_flops == 2 * 3 * 6 * 4);
    assert_true(two.backward_flops == 2 * two.forward_flops);
    pr_net_facts(net, &facts);
    assert_true(facts.flops == 2 * one.forward_flops + 3 * two.forward_flops);
    pr_net_free(net);
}

/* Forward of all turns, with nothing learned in between. */
static void a_net_that_trains_in_turns_can_infer(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    const struct pr_model *m = model_of(
        a, two_inputs,
        "- {linear: 6, name: a}\n- batch_norm\n- {dropout: 0.4}\n"
        "- {linear: 4, name: b}\n- {linear: 4, from: batch_norm1, name: c}\n"
        "losses: [{mse: b, target: y}, {mse: c, target: z, turn: 2}]\n"
        "turns: [[b, a, batch_norm1], [c]]\n");
    struct pr_net_opts o = opts_of(3, true);
    struct pr_net *net = net_of(m, &o);
    struct pr_net_score score;
    struct pr_err err = {0};
    struct ref r;

    (void)state;
    fill_net(net, 6);
    ref_new(&r, a, m, 3, true);
    load_ref(&r, net);
    load_masks(&r, net);
    ref_forward(&r);
    ref_loss(&r);
    assert_int_equal(pr_net_infer(net, &score, &err), PR_OK);
    compare_losses(&r, &score, 1e-4, "infer");
    compare_output(&r, net, 1e-4, "infer");
    pr_net_free(net);
}

/* ---- without dropout, training computes what inference does */

static void inference_is_training_without_dropout(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    const struct pr_model *m = model_of(
        a, "[5, 6]",
        "- {linear: 12}\n- {dropout: 0.5}\n- {attention: 2}\n- layer_norm\n"
        "- {dropout: 0.3}\n- {lstm: 7}\n- flatten\n- {dropout: 0.2}\n"
        "- {linear: $classes}\n");
    struct pr_net_opts o = opts_of(4, true), p = opts_of(4, false);
    struct pr_net *with, *without, *infer;
    struct pr_net_score one, two, three;
    struct pr_err err = {0};

    (void)state;
    with = net_of(m, &o);
    o.no_dropout = true;
    without = net_of(m, &o);
    infer = net_of(m, &p);
    fill_net(with, 3);
    fill_net(without, 3);
    fill_net(infer, 3);
    assert_int_equal(pr_net_infer(with, &one, &err), PR_OK);
    assert_int_equal(pr_net_infer(without, &two, &err), PR_OK);
    assert_int_equal(pr_net_infer(infer, &three, &err), PR_OK);
    assert_true(fabs(one.loss - two.loss) > 1e-3);
    assert_true(fabs(two.loss - three.loss) < 1e-5);
    for (size_t i = 0; i < 12; i++)
        assert_true(fabs((double)pr_net_output(without)[i] -
                         (double)pr_net_output(infer)[i]) < 1e-5);
    pr_net_free(with);
    pr_net_free(without);
    pr_net_free(infer);
}

/* ---- scores, and ids that are none */

static void rows_that_are_ignored_are_not_scored(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    const struct pr_model *m =
        model_of(a, tied,
                 "- {embedding: 9, name: e}\nlosses:\n"
                 "- {cross_entropy: e, target: next, ignore: 0}\n"
                 "- {cross_entropy: e, target: t}\n");
    struct pr_net_opts o = opts_of(2, true);
    struct pr_net *net = net_of(m, &o);
    int32_t *t = pr_net_input(net, 0), *next = pr_net_input(net, 1);
    struct pr_net_score score;
    struct pr_err err = {0};
    float table[81] = {0};

    (void)state;
    for (int i = 0; i < 9; i++) /* each word says itself */
        table[i * 9 + i] = 5;
    assert_int_equal(pr_net_set(net, 0, table, &err), PR_OK);
    for (int i = 0; i < 8; i++) {
        t[i] = i;
        next[i] = i < 3 ? 0 : i < 6 ? i : 8;
    }
    assert_int_equal(pr_net_train(net, &score, &err), PR_OK);
    assert_int_equal(score.rows, 5);
    assert_int_equal(score.right, 3);
    assert_true(score.losses[0] > score.losses[1] && score.losses[1] > 0);
    assert_true(score.loss == score.losses[0] + score.losses[1]);
    pr_net_free(net);
}

static void ids_that_are_none_are_refused(void **state)
{
    static const struct {
        unsigned input;
        int32_t id;
        const char *says;
    } bad[] = {
        {0, 7, "'t' of sample 1"},    {0, -1, "'t' of sample 1"},
        {1, 4, "'at' of sample 1"},   {1, -7, "'at' of sample 1"},
        {2, 5, "'n' of sample 1"},    {2, 0, "length 0 of sample 1"},
        {3, 3, "'next' of sample 1"}, {3, INT32_MIN, "'next' of sample 1"},
    };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    const struct pr_model *m = model_of(
        a,
        "inputs:\n  t: {shape: [4], ids: 7}\n  at: {shape: [2], ids: 4}\n"
        "  n: {shape: [1], ids: 5}\n  next: {shape: [2], ids: 3}\n",
        "- {embedding: 6}\n- {linear: 9}\n- {attention: 3, lengths: n}\n"
        "- {gather: , from: [attention1, at]}\n- {linear: 3, name: head}\n"
        "losses: [{cross_entropy: head, target: next}]\n");
    struct pr_net_opts o = opts_of(2, true);
    struct pr_net *net = net_of(m, &o);
    struct pr_net_score score;
    struct pr_err err = {0};

    (void)state;
    fill_net(net, 2);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct pr_layer *l = &m->layers[bad[i].input];
        int32_t *ids = pr_net_input(net, bad[i].input);
        size_t at = 2 * (size_t)l->shape.at[0] - 1;
        int32_t was = ids[at];

        ids[at] = bad[i].id;
        assert_int_equal(pr_net_train(net, &score, &err), PR_E_FORMAT);
        if (!strstr(err.msg, bad[i].says))
            fail_msg("'%s', not '%s'", err.msg, bad[i].says);
        assert_int_equal(pr_net_infer(net, NULL, &err), PR_E_FORMAT);
        ids[at] = was;
    }
    assert_int_equal(pr_net_train(net, &score, &err), PR_OK);
    pr_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_the_plain_network),
        cmocka_unit_test(what_is_frozen_stays_bit_by_bit),
        cmocka_unit_test(a_loss_of_a_turn_that_is_no_number_is_named),
        cmocka_unit_test(each_turn_counts_its_own_gradients),
        cmocka_unit_test(a_net_that_trains_in_turns_can_infer),
        cmocka_unit_test(inference_is_training_without_dropout),
        cmocka_unit_test(rows_that_are_ignored_are_not_scored),
        cmocka_unit_test(ids_that_are_none_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
