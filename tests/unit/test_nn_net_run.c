/* Networks over several steps: updates, repeatability, tensors in and out of
 * all layouts, and calls that are refused. */
#include "test_nn_net.h"

/* Grouped and depthwise convolutions, a first one of few channels, linear
 * layers of [C, H, W] and of [F], with odd numbers. */
static const char layers[] =
    "- {conv: 12, kernel: 3, pad: 1, name: first}\n- batch_norm\n- tanh\n"
    "- {conv: 16, kernel: 3, groups: 2, name: grouped}\n- tanh\n"
    "- {conv: 16, kernel: 3, depthwise: true, bias: false, name: deep}\n"
    "- {batch_norm: , scale: false, name: norm}\n"
    "- {conv: 9, name: odd}\n- tanh\n- {linear: 10, name: wide}\n- tanh\n"
    "- {dropout: 0.2}\n- {linear: $classes, name: head}\n";
static const char input[] = "[3, 8, 8]";

enum { BATCH = 4 };

static struct pr_net *small_net(struct pr_arena *a, bool training,
                                const struct pr_optimizer_opts *opt,
                                unsigned threads)
{
    struct pr_net_opts o = opts_of(BATCH, training);

    if (opt)
        o.optimizer = *opt;
    if (threads)
        o.threads = threads;
    return net_of(model_of(a, input, layers), &o);
}

/* ---- updates */

static void updates_are_those_of_the_plain_network(void **state)
{
    static const struct pr_optimizer_opts all[] = {
        {PR_SGD, 0.1, 0, 0, 0, 0, 0, 0},
        {PR_SGD, 0.05, 0.9, 0, 0, 0, 0, 0},
        {PR_SGD, 0.05, 0.9, 0.01, 0, 0, 0, 0},
        {PR_SGD, 0.1, 0, 0.1, 0, 0, 0, 0},
        {PR_ADAM, 0.01, 0, 0, 0.9, 0.999, 1e-3, 0},
        {PR_ADAM, 0.01, 0, 0.1, 0.8, 0.9, 1e-3, 0},
    };

    (void)state;
    for (size_t i = is_brief() ? 2 : 0; i < sizeof all / sizeof *all;
         i += is_brief() ? 2 : 1) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
        struct pr_net *net = small_net(a, true, &all[i], 0);
        struct pr_optimizer_opts opt = all[i];
        struct pr_net_score score;
        struct pr_err err = {0};
        struct ref r;

        fill_net(net, i);
        ref_new(&r, a, net->model, BATCH, true);
        load_ref(&r, net);
        for (int step = 0; step < (is_brief() ? 4 : 5); step++) {
            if (step == 3) { /* from the next step on */
                opt.learning_rate *= 0.1;
                pr_net_set_learning_rate(net, opt.learning_rate);
            }
            load_masks(&r, net);
            ref_step(&r, &opt);
            assert_int_equal(pr_net_train(net, &score, &err), PR_OK);
            assert_true(fabs(score.loss - r.loss) < 1e-3 * r.loss);
            compare_tensors(&r, net, false, 5e-4, "after a step");
        }
        pr_net_free(net);
    }
}

/* ---- the same bits */

static void train_some(struct pr_net *net, int steps, double *losses)
{
    for (int i = 0; i < steps; i++) {
        struct pr_net_score score;
        struct pr_err err = {0};

        assert_int_equal(pr_net_train(net, &score, &err), PR_OK);
        losses[i] = score.loss;
    }
}

/* Values of all tensors in a row. */
static float *all_of(struct pr_net *net, size_t *count)
{
    struct pr_net_tensor t;
    struct pr_err err = {0};
    size_t at = 0;
    float *x;

    *count = 0;
    for (unsigned i = 0; i < pr_net_tensor_count(net); i++) {
        pr_net_tensor(net, i, &t);
        *count += t.elements;
    }
    x = numbers(*count);
    for (unsigned i = 0; i < pr_net_tensor_count(net); i++) {
        pr_net_tensor(net, i, &t);
        assert_int_equal(pr_net_get(net, i, x + at, &err), PR_OK);
        at += t.elements;
    }
    return x;
}

static void the_same_seed_gives_the_same_bits(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_net *one = small_net(a, true, NULL, 0);
    struct pr_net *two = small_net(a, true, NULL, 0);
    double losses[2][4];
    size_t n, m;
    float *x = all_of(one, &n), *y = all_of(two, &m);

    (void)state;
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n * sizeof *x); /* random weights of the seed */
    free(x);
    free(y);
    fill_net(one, 1);
    fill_net(two, 1);
    train_some(one, 4, losses[0]);
    train_some(two, 4, losses[1]);
    assert_memory_equal(losses[0], losses[1], sizeof losses[0]);
    x = all_of(one, &n);
    y = all_of(two, &m);
    assert_memory_equal(x, y, n * sizeof *x);
    free(x);
    free(y);
    pr_net_free(one);
    pr_net_free(two);
}

static void weights_are_random_and_of_their_seed(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    const struct pr_model *m =
        model_of(a, input,
                 "- {conv: 64, kernel: 5, name: c}\n- batch_norm\n"
                 "- {linear: $classes}");
    struct pr_net_opts o = opts_of(1, true);
    struct pr_net *one = net_of(m, &o), *two;
    size_t n, k = 64 * 3 * 25;
    float *x = all_of(one, &n), *y;
    double sum = 0, squares = 0;

    (void)state;
    o.seed++;
    two = net_of(m, &o);
    y = all_of(two, &n);
    assert_memory_not_equal(x, y, k * sizeof *x);
    for (size_t i = 0; i < k; i++) {
        sum += (double)x[i];
        squares += (double)(x[i] * x[i]);
    }
    assert_true(fabs(sum / (double)k) < 0.02);
    assert_true(fabs(squares / (double)k / (2.0 / 75) - 1) < 0.1);
    for (size_t i = 0; i < 64; i++) { /* bias; weight, bias, mean, var */
        assert_true(x[k + i] == 0.0f);
        assert_true(x[k + 64 + i] == 1.0f);
        assert_true(x[k + 128 + i] == 0.0f);
        assert_true(x[k + 192 + i] == 0.0f);
        assert_true(x[k + 256 + i] == 1.0f);
    }
    free(x);
    free(y);
    pr_net_free(one);
    pr_net_free(two);
}

/* ---- tensors */

static void tensors_come_back_as_they_were_set(void **state)
{
    (void)state;
    for (int training = 0; training < 2; training++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
        struct pr_net *net = small_net(a, training, NULL, 0);
        struct pr_net_score score;
        struct pr_err err = {0};

        for (unsigned i = 0; i < pr_net_tensor_count(net); i++) {
            struct pr_net_tensor t;
            float *x, *y;

            pr_net_tensor(net, i, &t);
            x = numbers(t.elements);
            y = numbers(t.elements);
            for (size_t k = 0; k < t.elements; k++)
                x[k] = (float)(i * 100000 + k);
            assert_int_equal(pr_net_set(net, i, x, &err), PR_OK);
            assert_int_equal(pr_net_get(net, i, y, &err), PR_OK);
            assert_memory_equal(x, y, t.elements * sizeof *x);
            free(x);
            free(y);
        }
        fill_net(net, 3); /* so that the outputs are numbers */
        assert_int_equal(pr_net_infer(net, &score, &err), PR_OK);
        pr_net_free(net);
    }
}

static void trained_weights_go_to_a_net_for_inference(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_net *from = small_net(a, true, NULL, 0);
    struct pr_net *to = small_net(a, false, NULL, 0);
    struct pr_net_score score, again;
    struct pr_err err = {0};
    double losses[3];
    float *x, *y;
    size_t n, m;
    struct ref r;

    (void)state;
    fill_net(from, 5);
    fill_net(to, 6);
    for (int round = 0; round < 2; round++) {
        train_some(from, 3, losses);
        assert_int_equal(pr_net_copy(to, from, &err), PR_OK);
        x = all_of(from, &n);
        y = all_of(to, &m);
        assert_int_equal(n, m);
        assert_memory_equal(x, y, n * sizeof *x);
        free(x);
        free(y);
        ref_new(&r, a, to->model, BATCH, false);
        load_ref(&r, to);
        ref_forward(&r);
        ref_loss(&r);
        assert_int_equal(pr_net_infer(to, &score, &err), PR_OK);
        compare_output(&r, to, 1e-4, "copied");
        assert_true(fabs(score.loss - r.loss) < 1e-4);
        assert_int_equal(pr_net_infer(to, &again, &err), PR_OK);
        assert_true(score.loss == again.loss && score.right == again.right);
        assert_int_equal(pr_net_infer(to, NULL, &err), PR_OK);
    }
    pr_net_free(from);
    pr_net_free(to);
}

/* ---- what is refused */

static void a_loss_that_is_no_number_changes_no_weight(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_net *net = small_net(a, true, NULL, 0);
    struct pr_net_score score = {.loss = -1, .right = 99};
    struct pr_err err = {0};
    double losses[2];
    float *x, *y;
    size_t n;

    (void)state;
    fill_net(net, 5);
    train_some(net, 2, losses);
    x = all_of(net, &n);
    input_of(net)[17] = NAN;
    assert_int_equal(pr_net_train(net, &score, &err), PR_E_JOB);
    assert_non_null(strstr(err.msg, "the loss of step 3 is not a number"));
    assert_true(score.loss == -1 && score.right == 99);
    y = all_of(net, &n);
    for (size_t i = 0, at = 0; i < pr_net_tensor_count(net); i++) {
        struct pr_net_tensor t;

        pr_net_tensor(net, (unsigned)i, &t);
        if (t.is_learned)
            assert_memory_equal(x + at, y + at, t.elements * sizeof *x);
        at += t.elements;
    }
    free(x);
    free(y);
    pr_net_free(net);
}

static void labels_that_are_no_class_are_refused(void **state)
{
    static const int32_t bad[] = {-1, 3, INT32_MAX, INT32_MIN};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_net *net = small_net(a, true, NULL, 0);
    struct pr_net_score score;
    size_t n;
    float *x, *y;

    (void)state;
    fill_net(net, 5);
    x = all_of(net, &n);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pr_err err = {0};

        labels_of(net)[2] = bad[i];
        assert_int_equal(pr_net_train(net, &score, &err), PR_E_FORMAT);
        assert_non_null(strstr(err.msg, "'labels' of sample 2 is"));
        assert_int_equal(pr_net_infer(net, &score, &err), PR_E_FORMAT);
    }
    y = all_of(net, &n);
    assert_memory_equal(x, y, n * sizeof *x); /* not even a running mean */
    free(x);
    free(y);
    pr_net_free(net);
}

static void wrong_calls_are_refused(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_net *net = small_net(a, false, NULL, 0);
    struct pr_net_score score;
    struct pr_err err = {0};
    float x[2000];

    (void)state;
    fill_net(net, 5);
    assert_int_equal(pr_net_train(net, &score, &err), PR_E_CONF);
    assert_int_equal(pr_net_gradient(net, 0, x, &err), PR_E_CONF);
    assert_int_equal(pr_net_infer(net, &score, &err), PR_OK);
    pr_net_free(net);
}

static void what_cannot_be_made_is_refused(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    const struct pr_model *m = model_of(a, input, layers);
    struct pr_net *net = NULL;
    struct pr_err err = {0};
    struct pr_net_opts o = opts_of(0, true);

    (void)state;
    assert_int_equal(pr_net_new(m, &o, &net, &err), PR_E_CONF);
    assert_non_null(strstr(err.msg, "a batch must have"));
    o = opts_of((1 << 20) + 1, true);
    assert_int_equal(pr_net_new(m, &o, &net, &err), PR_E_CONF);
    o = opts_of(2, true);
    o.dtype = PR_NN_BF16;
    if (!__builtin_cpu_supports("avx512f")) {
        assert_int_equal(pr_net_new(m, &o, &net, &err), PR_E_UNAVAIL);
        assert_non_null(strstr(err.msg, "no bfloat16 arithmetic"));
        assert_string_equal(err.hint, "use exp.dtype=float32");
    }
    assert_null(net);
}

static void a_concat_of_too_many_is_refused_by_name(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    struct pr_net_opts o = opts_of(2, true);
    struct pr_net *net = NULL;
    struct pr_err err = {0};
    const struct pr_model *m;

    (void)state;
    for (int i = 0; i < 17; i++)
        pr_buf_printf(&text, "- {linear: 2, from: input, name: a%d}\n", i);
    pr_buf_str(&text, "- {concat: , name: many, from: [a0");
    for (int i = 1; i < 17; i++)
        pr_buf_printf(&text, ", a%d", i);
    pr_buf_str(&text, "]}\n- {linear: $classes}\n");
    m = model_of(a, "[4]", text.data);
    assert_int_equal(pr_net_new(m, &o, &net, &err), PR_E_UNAVAIL);
    assert_non_null(strstr(err.msg, "layer 'many' (concat): concat of 17 "
                                    "inputs; this engine joins at most 16"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_are_those_of_the_plain_network),
        cmocka_unit_test(the_same_seed_gives_the_same_bits),
        cmocka_unit_test(weights_are_random_and_of_their_seed),
        cmocka_unit_test(tensors_come_back_as_they_were_set),
        cmocka_unit_test(trained_weights_go_to_a_net_for_inference),
        cmocka_unit_test(a_loss_that_is_no_number_changes_no_weight),
        cmocka_unit_test(labels_that_are_no_class_are_refused),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(what_cannot_be_made_is_refused),
        cmocka_unit_test(a_concat_of_too_many_is_refused_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
