/* Random small networks: training, inference and the plan of the memory, each
 * against the plain network. PRONY_TEST_GRAPHS=N draws N of them. */
#include "test_nn_net.h"

#include "nn_graphs_more.h"

struct drawn {
    struct pr_arena *a;
    struct pr_model *m;
    unsigned batch;
    const char *text; /* for messages */
};

static struct drawn draw_model(uint64_t seed)
{
    struct pr_buf text = PR_BUF_INIT(1 << 16);
    struct drawn d = {.a = pr_arena_new(1 << 16)};
    struct graph g;
    char input[32];

    graph_draw(&g, seed, &text, input);
    d.batch = (unsigned)g.batch;
    d.text = pr_arena_printf(d.a, "seed %d, batch %d, input: %s\n%s", (int)seed,
                             g.batch, input, text.data);
    d.m = model_of(d.a, input, text.data);
    pr_buf_free(&text);
    return d;
}

static int graphs(void)
{
    const char *n = getenv("PRONY_TEST_GRAPHS");

    return n ? atoi(n) : is_brief() ? 3 : 100;
}

/* Two steps: gradients, then what the weights became. False: too near to where
 * something bends. */
static bool train_twice(const struct drawn *d, struct pr_net *net,
                        struct ref *r)
{
    for (int i = 0; i < 2; i++) {
        struct pr_net_score score;
        struct pr_err err = {0};

        load_masks(r, net);
        ref_step(r, &net->opts.optimizer);
        if (pr_net_train(net, &score, &err))
            fail_msg("%s: %s\n%s", err.where, err.msg, d->text);
        if (r->has_kink)
            return false;
        compare_output(r, net, 1e-3, d->text);
        if (fabs(score.loss - r->loss) > 1e-3 * fmax(1, r->loss))
            fail_msg("loss %g, not %g\n%s", score.loss, r->loss, d->text);
        compare_tensors(r, net, true, 1e-3, d->text);
        compare_tensors(r, net, false, 1e-3, d->text);
    }
    return true;
}

static void training_is_that_of_the_plain_network(void **state)
{
    int whole = 0, n = graphs();

    (void)state;
    for (int i = 0; i < n; i++) {
        struct drawn d = draw_model((uint64_t)i);
        struct pr_net_opts o = opts_of(d.batch, true);
        struct pr_net *net;
        struct ref r;

        o.threads = (unsigned)(1 + i % TEST_THREADS);
        o.rnn = i % 5 < 3 ? PR_NN_RNN_UNROLLED : PR_NN_RNN_ONEDNN;
        if (i % 3 == 1)
            o.optimizer.kind = PR_ADAM;
        o.optimizer.epsilon = 1e-3; /* less would make steps of noise */
        o.optimizer.learning_rate = 0.01;
        if (i % 4 == 3)
            split_turns(d.a, d.m);
        net = net_of(d.m, &o);
        check_plan(net, d.text);
        fill_net(net, (uint64_t)i);
        ref_new(&r, d.a, d.m, d.batch, true);
        load_ref(&r, net);
        whole += train_twice(&d, net, &r);
        pr_net_free(net);
        pr_arena_free(d.a);
    }
    assert_true(whole * 10 >= n * 7); /* else little was compared */
}

static void inference_is_that_of_the_plain_network(void **state)
{
    (void)state;
    for (int i = 0, n = graphs(); i < n; i++) {
        struct drawn d = draw_model((uint64_t)i);
        struct pr_net_opts o = opts_of(d.batch, false);
        struct pr_net_score score;
        struct pr_err err = {0};
        struct pr_net *net;
        struct ref r;

        o.rnn = i % 2 ? PR_NN_RNN_UNROLLED : PR_NN_RNN_ONEDNN;
        net = net_of(d.m, &o);
        check_plan(net, d.text);
        ref_new(&r, d.a, d.m, d.batch, false);
        for (uint64_t k = 0; k < 2; k++) { /* weights may be set again */
            fill_net(net, k);
            load_ref(&r, net);
            ref_forward(&r);
            ref_loss(&r);
            ref_carry(&r);
            if (pr_net_infer(net, &score, &err))
                fail_msg("%s: %s\n%s", err.where, err.msg, d.text);
            compare_output(&r, net, 1e-3, d.text);
            assert_true(fabs(score.loss - r.loss) < 1e-3 * fmax(1, r.loss));
        }
        pr_net_free(net);
        pr_arena_free(d.a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_is_that_of_the_plain_network),
        cmocka_unit_test(inference_is_that_of_the_plain_network),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
