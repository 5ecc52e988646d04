/* Recurrent layers in networks: oneDNN's primitives and loops of ours agree in
 * outputs, gradients and what learning makes of weights, call after call. */
#include "test_nn_net.h"

static const struct {
    const char *input, *options;
    uint64_t batch;
    int out;
} rows[] = {
    {"[4, 3]", "", 5, 6},
    {"[7, 5]", ", reverse: true", 3, 8},
    {"[3, 2]", ", carry: true", 4, 5},
    {"[2, 9]", ", reverse: true, carry: true", 2, 16},
    {"[1, 4]", ", carry: true", 1, 3},
    {"[1, 4]", "", 6, 9},
    {"[5, 24]", "", 7, 112}, /* too large to go by samples */
    {"[4, 40]", ", reverse: true, carry: true", 3, 104},
};

static struct pr_model *rnn_model(struct pr_arena *a, size_t i, bool is_gru)
{
    const char *layers =
        pr_arena_printf(a,
                        "  - {linear: 7}\n"
                        "  - {%s: %d%s}\n"
                        "  - {reshape: [-1]}\n"
                        "  - {linear: 3}\n",
                        is_gru ? "gru" : "lstm", rows[i].out, rows[i].options);

    return model_of(a, rows[i].input, layers);
}

static struct pr_net *rnn_net(const struct pr_model *m, uint64_t batch,
                              enum pr_nn_rnn way, bool training)
{
    struct pr_net_opts o = opts_of(batch, training);
    struct pr_net *net;

    o.rnn = way;
    net = net_of(m, &o);
    fill_net(net, 5);
    return net;
}

static void compare_numbers(const float *a, const float *b, size_t count,
                            const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(a[i] - b[i]) <= 2e-5f * (1 + fabsf(a[i]))))
            fail_msg("%s[%zu]: %g and %g", what, i, (double)a[i], (double)b[i]);
}

/* True: some gradient of it is not 0. */
static bool compare_tensor(struct pr_net *a, struct pr_net *b, unsigned i,
                           bool gradients)
{
    struct pr_err err = {0};
    struct pr_net_tensor t;
    bool moves = false;
    float *x, *y;

    pr_net_tensor(a, i, &t);
    x = numbers(t.elements);
    y = numbers(t.elements);
    assert_int_equal((gradients ? pr_net_gradient : pr_net_get)(a, i, x, &err),
                     PR_OK);
    assert_int_equal((gradients ? pr_net_gradient : pr_net_get)(b, i, y, &err),
                     PR_OK);
    compare_numbers(x, y, t.elements, t.name);
    for (uint64_t k = 0; k < t.elements; k++)
        moves = moves || x[k] != 0;
    free(x);
    free(y);
    return moves;
}

static void compare_nets(struct pr_net *a, struct pr_net *b, bool training)
{
    struct pr_net_score s, t;
    struct pr_err err = {0};

    for (unsigned call = 0; call < 3; call++) {
        if ((training ? pr_net_train : pr_net_infer)(a, &s, &err) ||
            (training ? pr_net_train : pr_net_infer)(b, &t, &err))
            fail_msg("%s: %s", err.where, err.msg);
        assert_true(fabs(s.loss - t.loss) < 1e-5 * (1 + s.loss));
        compare_numbers(pr_net_output(a), pr_net_output(b), a->opts.batch * 3,
                        "output");
        for (unsigned i = 0; i < pr_net_tensor_count(a) && training; i++) {
            compare_tensor(a, b, i, false);
            compare_tensor(a, b, i, true);
        }
    }
}

static void compare_ways(bool training)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned is_gru = 0; is_gru < 2; is_gru++) {
            PR_AUTO_ARENA struct pr_arena *arena = pr_arena_new(1 << 16);
            struct pr_model *m = rnn_model(arena, i, is_gru);
            uint64_t batch = rows[i].batch;
            struct pr_net *a = rnn_net(m, batch, PR_NN_RNN_UNROLLED, training);
            struct pr_net *b = rnn_net(m, batch, PR_NN_RNN_ONEDNN, training);

            compare_nets(a, b, training);
            pr_net_free(a);
            pr_net_free(b);
        }
}

static void both_ways_learn_the_same(void **state)
{
    (void)state;
    compare_ways(true);
}

static void both_ways_infer_the_same(void **state)
{
    (void)state;
    compare_ways(false);
}

/* Outputs of a second call differ from those of the first just where the state
 * is carried. */
static void a_state_is_carried_if_asked_for(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 8; k++) {
        PR_AUTO_ARENA struct pr_arena *arena = pr_arena_new(1 << 16);
        bool carries = k & 1;
        struct pr_model *m = rnn_model(arena, carries ? 2 : 0, k & 2);
        struct pr_net *net =
            rnn_net(m, 4, k & 4 ? PR_NN_RNN_ONEDNN : PR_NN_RNN_UNROLLED, false);
        struct pr_err err = {0};
        float first[12];

        assert_int_equal(pr_net_infer(net, NULL, &err), PR_OK);
        memcpy(first, pr_net_output(net), sizeof first);
        assert_int_equal(pr_net_infer(net, NULL, &err), PR_OK);
        assert_true((memcmp(first, pr_net_output(net), sizeof first) != 0) ==
                    carries);
        pr_net_free(net);
    }
}

/* All four tensors of the layer have gradients. */
static void all_tensors_learn(void **state)
{
    PR_AUTO_ARENA struct pr_arena *arena = pr_arena_new(1 << 16);
    struct pr_model *m = rnn_model(arena, 0, false);
    struct pr_net *net = rnn_net(m, 3, PR_NN_RNN_AUTO, true);
    struct pr_net_score score;
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(pr_net_tensor_count(net), 8);
    assert_int_equal(pr_net_train(net, &score, &err), PR_OK);
    for (unsigned i = 0; i < 8; i++)
        assert_true(compare_tensor(net, net, i, true));
    pr_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_learn_the_same),
        cmocka_unit_test(both_ways_infer_the_same),
        cmocka_unit_test(a_state_is_carried_if_asked_for),
        cmocka_unit_test(all_tensors_learn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
