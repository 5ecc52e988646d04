/* What a network needs, before it is there and while memory runs out. */
#include "test_nn_net.h"

/* A tower of residual blocks with all kinds of layers, so that what is made of
 * it fills several blocks of memory. */
static const char *tower(struct pr_arena *a, int height)
{
    const char *text = "- {conv: 8, kernel: 3, pad: 1, name: b0}\n";

    for (int i = 1; i <= height; i++)
        text =
            pr_arena_printf(a,
                            "%s- {conv: 5, name: c%d}\n- batch_norm\n- relu\n"
                            "- {conv: 8, kernel: 3, pad: 1, bias: false}\n"
                            "- {batch_norm: , scale: false, name: n%d}\n"
                            "- {add: , from: [n%d, b%d]}\n- relu\n"
                            "- {max_pool: 3, stride: 1, pad: 1}\n"
                            "- {sigmoid: , name: p%d}\n- {concat: , from: "
                            "[p%d, b%d]}\n- {lrn: 3}\n"
                            "- {conv: 8, name: b%d}\n",
                            text, i, i, i, i - 1, i, i, i - 1, i);
    return pr_arena_printf(a, "%s- {linear: 20}\n- {linear: $classes}\n", text);
}

static void a_plan_alone_says_what_it_needs(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    const struct pr_model *m = model_of(a, "[3, 8, 8]", tower(a, 2));
    struct pr_net_opts o = opts_of(4, true);
    struct pr_net_facts plan, whole, larger;
    struct pr_net_score score;
    struct pr_err err = {0};
    struct pr_net *net;

    (void)state;
    net = net_of(m, &o);
    pr_net_facts(net, &whole);
    check_plan(net, "tower");
    pr_net_free(net);
    o.plan_only = true;
    net = net_of(m, &o);
    pr_net_facts(net, &plan);
    assert_int_equal(plan.bytes, whole.bytes);
    assert_int_equal(plan.weight_bytes, whole.weight_bytes);
    assert_int_equal(plan.steps, whole.steps);
    assert_int_equal(plan.threads, TEST_THREADS);
    assert_int_equal(pr_net_train(net, &score, &err), PR_E_CONF);
    assert_int_equal(pr_net_infer(net, &score, &err), PR_E_CONF);
    pr_net_free(net);
    o.batch = 8;
    net = net_of(m, &o);
    pr_net_facts(net, &larger);
    pr_net_free(net);
    assert_true(larger.bytes > plan.bytes && larger.flops == 2 * plan.flops);
    assert_true(plan.weight_bytes < plan.bytes && plan.steps > 20);
    assert_true(plan.conv_flops > 0 && plan.conv_flops < plan.flops);
}

/* Ten thousand samples of a plan are no memory at all. */
static void what_does_not_fit_is_refused_with_its_size(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    const struct pr_model *m = model_of(
        a, "[3, 256, 256]", "- {conv: 64, kernel: 3}\n- {linear: $classes}");
    struct pr_net_opts o = opts_of(16384, false);
    struct pr_net_facts facts;
    struct pr_err err = {0};
    struct pr_net *net = NULL;

    (void)state;
    o.memory_limit = (uint64_t)1 << 50;
    o.plan_only = true;
    net = net_of(m, &o);
    pr_net_facts(net, &facts);
    pr_net_free(net);
    net = NULL;
    assert_true(facts.bytes > (uint64_t)250 << 30);
    o.memory_limit = 0; /* what the machine has */
    assert_int_equal(pr_net_new(m, &o, &net, &err), PR_E_NOMEM);
    assert_non_null(strstr(err.msg, "a batch of 16384 needs 2"));
    assert_non_null(strstr(err.hint, "exp.replica_batch"));
    o.memory_limit = facts.bytes - 1;
    assert_int_equal(pr_net_new(m, &o, &net, &err), PR_E_NOMEM);
    o.memory_limit = facts.bytes;
    net = net_of(m, &o);
    pr_net_free(net);
}

/* Gradients that are kept, and none that are not: the same steps. */
static void inference_needs_less_than_training(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    const struct pr_model *m = model_of(a, "[3, 8, 8]", tower(a, 3));
    struct pr_net_facts facts[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct pr_net_opts o = opts_of(4, i > 0);
        struct pr_net *net;

        o.keep_gradients = i == 2;
        net = net_of(m, &o);
        check_plan(net, "tower");
        pr_net_facts(net, &facts[i]);
        pr_net_free(net);
    }
    assert_true(facts[0].bytes < facts[1].bytes);
    assert_true(facts[1].bytes < facts[2].bytes);
}

static void rows_are_the_layers_that_do_something(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    const struct pr_model *m =
        model_of(a, "[3, 8, 8]",
                 "- {conv: 16, kernel: 3, bias: false}\n- batch_norm\n- relu\n"
                 "- {dropout: 0}\n- flatten\n- {linear: $classes}");
    struct pr_net_opts o = opts_of(4, true);
    struct pr_net_score score;
    struct pr_err err = {0};
    struct pr_net_row row;
    struct pr_net *net;
    double sum = 0;

    (void)state;
    o.profile = true;
    net = net_of(m, &o);
    fill_net(net, 1);
    assert_int_equal(pr_net_train(net, &score, &err), PR_OK);
    for (unsigned i = 0; i < 3; i++) {
        static const char *const names[] = {"conv1", "batch_norm1", "linear1"};

        assert_true(pr_net_row(net, i, &row));
        assert_string_equal(row.layer, names[i]);
        assert_true(row.forward_s > 0 && row.backward_s > 0);
        sum += row.forward_flops + row.backward_flops;
    }
    assert_false(pr_net_row(net, 3, &row));
    /* conv: 16*27*36 multiply-adds, no gradient of the input */
    assert_true(sum == 2.0 * 4 * (2 * 16 * 27 * 36 + 3 * 16 * 36 * 3));
    pr_net_forget_times(net);
    pr_net_row(net, 0, &row);
    assert_true(row.forward_s == 0);
    pr_net_free(net);
}

/* ---- no memory */

/* What towers have not, with several inputs, losses and turns. */
static const char mixed_inputs[] =
    "inputs:\n  t: {shape: [4], ids: 7}\n  n: {shape: [1], ids: 5}\n"
    "  at: {shape: [3], ids: 4}\n  x: {shape: [3, 4, 4]}\n"
    "  next: {shape: [4], ids: 7}\n  few: {shape: [2], ids: 6}\n"
    "  many: {shape: [1], ids: 3}\n  places: {shape: [4, 6]}\n"
    "  kinds: {shape: [6], ids: 3}\n";
static const char mixed[] =
    "- {embedding: 6, name: e}\n- layer_norm\n- {linear: 18}\n"
    "- {attention: 3, lengths: n, causal: true}\n- gelu\n"
    "- {gather: , from: [gelu1, at]}\n"
    "- {additive_attention: , from: [gather1, gelu1, gelu1]}\n"
    "- {lstm: 6}\n- {concat: , from: [lstm1, gelu1]}\n- transpose\n"
    "- {slice: 1, count: 4, axis: 1}\n- {reshape: [4, 6]}\n"
    "- {gru: 6, reverse: true, carry: true, name: g}\n"
    "- {linear: 7, bias: false, like: e, name: head}\n"
    "- {linear: 6, from: g, name: sound}\n"
    "- {transposed_conv: 4, kernel: 2, from: x}\n- instance_norm\n"
    "- {leaky_relu: 0.1}\n- {pixel_shuffle: 2}\n- {upsample: 2}\n"
    "- {reflect_pad: 1}\n- {slice: 0, count: 6, axis: 1}\n"
    "- {slice: 0, count: 6, axis: 2}\n- {reshape: [6, 6]}\n- softmax\n"
    "- {multiply: , from: [softmax1, reshape2]}\n"
    "- {slice: 0, count: 4, name: where}\n"
    "- {slice: 1, count: 3, from: multiply1, name: what}\n"
    "- {gram: , from: transposed_conv1, name: gr}\noutput: head\n"
    "losses:\n- {cross_entropy: head, target: next, ignore: 1}\n"
    "- {ctc: sound, target: few, lengths: many}\n"
    "- {multibox: [where, what], target: [places, kinds], turn: 2}\n"
    "- {mse: gr, target: 0, turn: 2}\n"
    "turns: [[e, layer_norm1, linear1, additive_attention1, lstm1, g, sound], "
    "[transposed_conv1, instance_norm1]]\n";

static const struct pr_model *scarce;
static struct pr_net_opts scarce_opts;

/* Ids that all inputs have. */
static void fill_ids(struct pr_net *net)
{
    for (unsigned i = 0; i < scarce->input_count; i++) {
        int32_t *ids = pr_net_input(net, i);
        size_t n = scarce_opts.batch * pr_op_sample_numbers(&scarce->layers[i]);

        for (size_t k = 0; scarce->layers[i].ids && k < n; k++)
            ids[k] = 1;
    }
}

static int make_and_run(void)
{
    struct pr_net *net = NULL;
    struct pr_net_score score;
    struct pr_err err = {0};
    int rc = pr_net_new(scarce, &scarce_opts, &net, &err);

    if (!rc)
        fill_ids(net);
    if (!rc)
        rc = scarce_opts.training ? pr_net_train(net, &score, &err)
                                  : pr_net_infer(net, &score, &err);
    if (!rc && scarce_opts.training)
        rc = pr_net_copy(net, net, &err);
    pr_net_free(net);
    return rc;
}

/* Steps wait for all gradients, or do not; recurrent layers go both ways. */
static void no_memory_for_all_kinds_of_layers_is_an_error(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);

    (void)state;
    scarce = model_of(a, mixed_inputs, mixed);
    for (int i = is_brief() ? 2 : 0; i < 3; i++) {
        struct pr_net *net;

        scarce_opts = opts_of(2, i > 0);
        scarce_opts.optimizer.clip = i == 2 ? 0.1 : 0;
        scarce_opts.rnn = i == 2 ? PR_NN_RNN_ONEDNN : PR_NN_RNN_UNROLLED;
        scarce_opts.threads = 1;
        net = net_of(scarce, &scarce_opts);
        check_plan(net, mixed);
        pr_net_free(net);
        torture(make_and_run);
    }
}

/* Towers of each height: what runs out is another thing each time. */
static void no_memory_at_any_place_is_an_error(void **state)
{
    int most = is_brief() ? 1 : 2;

    (void)state;
    for (int i = 0; i < 2 * most; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);

        scarce = model_of(a, "[3, 4, 4]", tower(a, i / 2));
        scarce_opts = opts_of(2, i % 2);
        pr_net_free(net_of(scarce, &scarce_opts));
        torture(make_and_run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_alone_says_what_it_needs),
        cmocka_unit_test(what_does_not_fit_is_refused_with_its_size),
        cmocka_unit_test(inference_needs_less_than_training),
        cmocka_unit_test(rows_are_the_layers_that_do_something),
        cmocka_unit_test(no_memory_at_any_place_is_an_error),
        cmocka_unit_test(no_memory_for_all_kinds_of_layers_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
