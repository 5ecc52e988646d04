/* Networks that learn in turn, nets that learn together, and trained weights
 * for nets that compute less. */
#include "test_nn_net.h"

#include <pthread.h>
#include <unistd.h>

#define INPUTS "inputs:\n  x: {shape: [5]}\n  y: {shape: [4]}\n"
#define BLOCKS                                                           \
    "blocks:\n"                                                          \
    "  judge: {layers: [{linear: 6}, {leaky_relu: 0.2}, {linear: 1}]}\n" \
    "  maker: {layers: [{linear: 7}, {layer_norm: }, {tanh: }, "         \
    "{linear: 5}]}\n"

/* maker and judge, as freeze says of the one or the other. */
#define USES(maker, judge)                              \
    "- {maker: , from: y, name: made" maker "}\n"       \
    "- {judge: , from: x, name: real" judge "}\n"       \
    "- {judge: , from: made, like: real, name: fake}\n" \
    "- {judge: , from: made, like: real, name: again}\n"

static const char both[] =
    USES("", "") "losses:\n- {bce: real, target: 1}\n- {bce: fake, target: 0}\n"
                 "- {bce: again, target: 1, turn: 2}\nturns: [[real], [made]]\n"
                 "output: again\n";
static const char judges[] =
    USES(", freeze: true",
         "") "losses:\n- {bce: real, target: 1}\n- {bce: fake, target: 0}\n"
             "- {bce: again, target: 1, factor: 0}\noutput: again\n";
static const char makes[] =
    USES("", ", freeze: true") "losses:\n- {bce: real, target: 1, factor: 0}\n"
                               "- {bce: fake, target: 0, factor: 0}\n- {bce: "
                               "again, target: 1}\n"
                               "output: again\n";

static int find_named(const struct pr_net *net, const char *name)
{
    for (unsigned i = 0; i < pr_net_tensor_count(net); i++) {
        struct pr_net_tensor t;

        pr_net_tensor(net, i, &t);
        if (strcmp(t.name, name) == 0)
            return (int)i;
    }
    return -1;
}

/* Tensors whose name begins with the prefix; the largest difference. */
static double differ_or_copy(struct pr_net *to, struct pr_net *from,
                             const char *prefix, bool copy)
{
    struct pr_err err = {0};
    double most = 0;
    unsigned count = 0;

    for (unsigned i = 0; i < pr_net_tensor_count(from); i++) {
        struct pr_net_tensor t;
        float *x, *y;
        int k;

        pr_net_tensor(from, i, &t);
        if (strncmp(t.name, prefix, strlen(prefix)) != 0)
            continue;
        k = find_named(to, t.name);
        assert_true(k >= 0);
        x = numbers(t.elements);
        y = numbers(t.elements);
        assert_int_equal(pr_net_get(from, i, x, &err), PR_OK);
        assert_int_equal(pr_net_get(to, (unsigned)k, y, &err), PR_OK);
        for (size_t e = 0; e < t.elements; e++)
            most = fmax(most, fabs((double)x[e] - (double)y[e]));
        if (copy)
            assert_int_equal(pr_net_set(to, (unsigned)k, x, &err), PR_OK);
        free(x);
        free(y);
        count++;
    }
    assert_true(count > 0);
    return most;
}

static struct pr_net *new_net(struct pr_arena *a, const char *layers,
                              bool training)
{
    struct pr_net_opts o = opts_of(4, training);
    struct pr_net *net = net_of(model_of(a, INPUTS BLOCKS, layers), &o);

    fill_net(net, 8);
    return net;
}

static void turns_are_two_networks_one_after_the_other(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_net *net = new_net(a, both, true);
    struct pr_net *judge = new_net(a, judges, true);
    struct pr_net *maker = new_net(a, makes, true);
    struct pr_net_score score, first, second;
    struct pr_err err = {0};

    (void)state;
    differ_or_copy(judge, net, "", true);
    differ_or_copy(maker, net, "", true);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pr_net_train(net, &score, &err), PR_OK);
        assert_int_equal(pr_net_train(judge, &first, &err), PR_OK);
        differ_or_copy(maker, judge, "real.", true);
        assert_int_equal(pr_net_train(maker, &second, &err), PR_OK);
        differ_or_copy(judge, maker, "made.", true);
        assert_true(fabs(score.losses[0] - first.losses[0]) < 1e-5);
        assert_true(fabs(score.losses[1] - first.losses[1]) < 1e-5);
        assert_true(fabs(score.losses[2] - second.losses[2]) < 1e-5);
        assert_true(differ_or_copy(net, maker, "", false) < 1e-5);
    }
    pr_net_free(net);
    pr_net_free(judge);
    pr_net_free(maker);
}

/* ---- nets that compute less */

static void infer_like(struct pr_arena *a, struct pr_net *from,
                       const char *text, const char *const *names,
                       unsigned count)
{
    struct pr_net_opts o = opts_of(from->opts.batch, false);
    const struct pr_model *m = from->model;
    struct pr_net *to = net_of(m, &o);
    struct pr_net_row row;
    struct pr_err err = {0};
    struct ref r;

    fill_net(to, 77);
    assert_int_equal(pr_net_copy(to, from, &err), PR_OK);
    assert_int_equal(pr_net_tensor_count(to), count);
    for (unsigned i = 0; i < count; i++)
        assert_true(find_named(to, names[i]) >= 0);
    assert_true(differ_or_copy(from, to, "", false) == 0);
    ref_new(&r, a, m, o.batch, false);
    load_ref(&r, from);
    load_inputs(&r, to);
    ref_forward(&r);
    assert_int_equal(pr_net_infer(to, NULL, &err), PR_OK);
    compare_output(&r, to, 1e-4, text);
    for (unsigned i = 0; pr_net_row(to, i, &row); i++)
        assert_true(row.layout[0] != '\0');
    pr_net_free(to);
}

static void train_some(struct pr_net *net)
{
    struct pr_net_score score;
    struct pr_err err = {0};

    for (int i = 0; i < 3; i++)
        assert_int_equal(pr_net_train(net, &score, &err), PR_OK);
}

/* What owns a tensor need not be computed: here it is `real`, or the
 * embedding. */
static void weights_go_to_nets_that_have_fewer_layers(void **state)
{
    static const char *const maker[] = {
        "real.linear1.weight",     "real.linear1.bias",
        "real.linear2.weight",     "real.linear2.bias",
        "made.linear1.weight",     "made.linear1.bias",
        "made.layer_norm1.weight", "made.layer_norm1.bias",
        "made.linear2.weight",     "made.linear2.bias"};
    static const char *const head[] = {"e.weight"};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_net *net = new_net(a, both, true);
    struct pr_net_opts o = opts_of(3, true);

    (void)state;
    train_some(net);
    infer_like(a, net, both, maker, 10);
    pr_net_free(net);
    net = net_of(model_of(a,
                          "inputs:\n  t: {shape: [4], ids: 9}\n"
                          "  x: {shape: [4, 6]}\n  y: {shape: [4, 9]}\n",
                          "- {linear: 6, from: x, name: first}\n"
                          "- {embedding: 6, from: t, name: e}\n- {gru: 6}\n"
                          "- {linear: 9, bias: false, like: e, name: far}\n"
                          "- {linear: 9, bias: false, like: e, from: x, "
                          "name: head}\noutput: head\n"
                          "losses: [{mse: far, target: y}, "
                          "{mse: head, target: y}, {mse: first, target: 1}]\n"),
                 &o);
    fill_net(net, 3);
    train_some(net);
    infer_like(a, net, "head", head, 1);
    pr_net_free(net);
}

/* ---- nets that learn together */

enum { RANKS = 2, HALF = 3 };

struct meeting {
    pthread_barrier_t barrier;
    float *values[RANKS];
    unsigned calls;
};

struct member {
    struct meeting *at;
    struct pr_net_reduce reduce;
    struct pr_net *net;
    unsigned rank;
    struct pr_net_score score;
    int rc;
};

static int meet(void *ctx, float *values, size_t count, struct pr_err *err)
{
    struct member *me = ctx;
    struct meeting *m = me->at;

    (void)err;
    m->values[me->rank] = values;
    pthread_barrier_wait(&m->barrier);
    if (me->rank == 0) {
        m->calls++;
        for (size_t i = 0; i < count; i++)
            m->values[0][i] = m->values[1][i] =
                (m->values[0][i] + m->values[1][i]) / 2;
    }
    pthread_barrier_wait(&m->barrier);
    return PR_OK;
}

static void *run_member(void *arg)
{
    struct member *me = arg;
    struct pr_err err = {0};

    me->rc = pr_net_train(me->net, &me->score, &err);
    return NULL;
}

/* Samples of the whole batch, in their order. */
static void share_out(struct pr_net *whole, struct member *members)
{
    for (unsigned i = 0; i < whole->model->input_count; i++) {
        size_t bytes =
            HALF * pr_op_sample_numbers(&whole->model->layers[i]) * 4;
        const char *from = pr_net_input(whole, i);

        for (unsigned k = 0; k < RANKS; k++)
            memcpy(pr_net_input(members[k].net, i), from + k * bytes, bytes);
    }
}

static void train_together(struct member *members)
{
    pthread_t t;

    alarm(120); /* rather than to wait for ever */
    assert_int_equal(pthread_create(&t, NULL, run_member, &members[1]), 0);
    run_member(&members[0]);
    assert_int_equal(pthread_join(t, NULL), 0);
    alarm(0);
    assert_int_equal(members[0].rc, PR_OK);
    assert_int_equal(members[1].rc, PR_OK);
}

static void learn_together(const struct pr_model *m,
                           const struct pr_optimizer_opts *by)
{
    struct pr_net_opts o = opts_of(HALF * RANKS, true);
    struct meeting at = {.calls = 0};
    struct member members[RANKS] = {{.rank = 0}, {.rank = 1}};
    struct pr_net *whole;
    struct pr_err err = {0};

    o.threads = 1;
    o.optimizer = *by;
    whole = net_of(m, &o);
    fill_net(whole, 12);
    pthread_barrier_init(&at.barrier, NULL, RANKS);
    o.batch = HALF;
    for (unsigned k = 0; k < RANKS; k++) {
        members[k].at = &at;
        members[k].reduce = (struct pr_net_reduce){RANKS, &members[k], meet};
        o.reduce = &members[k].reduce;
        members[k].net = net_of(m, &o);
        check_plan(members[k].net, m->name);
        assert_int_equal(pr_net_copy(members[k].net, whole, &err), PR_OK);
    }
    share_out(whole, members);
    for (unsigned step = 0; step < 4; step++) {
        struct pr_net_score score;

        assert_int_equal(pr_net_train(whole, &score, &err), PR_OK);
        train_together(members);
        assert_int_equal(at.calls, (step + 1) * m->turn_count);
        assert_true(fabs((members[0].score.loss + members[1].score.loss) / 2 -
                         score.loss) < 1e-4);
        assert_true(differ_or_copy(members[0].net, members[1].net, "", false) ==
                    0);
        assert_true(differ_or_copy(whole, members[0].net, "", false) < 1e-5);
    }
    pthread_barrier_destroy(&at.barrier);
    for (unsigned k = 0; k < RANKS; k++)
        pr_net_free(members[k].net);
    pr_net_free(whole);
}

static void nets_with_half_of_a_batch_learn_as_one(void **state)
{
    static const struct pr_optimizer_opts by[] = {
        {PR_SGD, 0.1, 0.9, 0.01, 0, 0, 0, 0},
        {PR_SGD, 0.1, 0, 0, 0, 0, 0, 0.1},
        {PR_ADAM, 0.01, 0, 0, 0.9, 0.99, 1e-2, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);

        learn_together(model_of(a, INPUTS BLOCKS, both), &by[i]);
        learn_together(
            model_of(a,
                     "inputs:\n  t: {shape: [4], ids: 9}\n"
                     "  next: {shape: [4], ids: 9}\n",
                     "- {embedding: 6, sparse: true, name: e}\n- {lstm: 6}\n"
                     "- {linear: 18}\n- {attention: 2}\n- layer_norm\n"
                     "- {linear: 9, bias: false, like: e, name: head}\n"
                     "losses: [{cross_entropy: head, target: next}]\n"),
            &by[i]);
        learn_together(model_of(a, "[3, 5, 5]",
                                "- {conv: 8, kernel: 2}\n- instance_norm\n"
                                "- tanh\n- {transposed_conv: 5, kernel: 2}\n"
                                "- {linear: $classes}\n"),
                       &by[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_two_networks_one_after_the_other),
        cmocka_unit_test(weights_go_to_nets_that_have_fewer_layers),
        cmocka_unit_test(nets_with_half_of_a_batch_learn_as_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
