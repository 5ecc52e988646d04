/* Outputs, losses and gradients of every kind of layer, and of what they are
 * joined to, are those of the plain network. */
#include "nn_models.h"
#include "test_nn_net.h"

/* One draw of numbers. False when gradients could not be compared: something is
 * so near to where it bends that float32 may take the other side. */
static bool compare(const struct nn_row *row, uint64_t seed, bool training)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    const struct pr_model *m = model_of(a, row->input, row->layers);
    struct pr_net_opts o = opts_of(row->batch, training);
    struct pr_net *net = net_of(m, &o);
    struct pr_net_score score;
    struct pr_err err = {0};
    bool is_clear;
    struct ref r;

    fill_net(net, seed);
    ref_new(&r, a, m, row->batch, training);
    load_ref(&r, net);
    load_masks(&r, net);
    ref_forward(&r);
    ref_loss(&r);
    is_clear = !r.has_kink;
    if ((training ? pr_net_train : pr_net_infer)(net, &score, &err))
        fail_msg("%s: %s\n%s", err.where, err.msg, row->layers);
    compare_output(&r, net, 1e-4, row->layers);
    assert_true(fabs(score.loss - r.loss) < 1e-4 * fmax(1, r.loss));
    if (training && is_clear) {
        ref_backward(&r);
        compare_tensors(&r, net, true, 1e-4, row->layers);
    }
    pr_net_free(net);
    return is_clear || !training;
}

/* Draws again until gradients were compared: no row may go without. */
static void compare_row(const struct nn_row *row, uint64_t seed, bool training)
{
    enum { DRAWS = 10 };

    for (uint64_t k = 0; k < DRAWS; k++)
        if (compare(row, seed + 1000 * k, training))
            return;
    fail_msg("gradients not compared: all %d draws are near a bend\n%s", DRAWS,
             row->layers);
}

static void compare_all(const struct nn_row *all, size_t count, bool training)
{
    size_t step = is_brief() ? 11 : 1;

    for (size_t i = 0; i < count; i += step)
        compare_row(&all[i], i, training);
}

static void gradients_of_layers(void **state)
{
    (void)state;
    compare_all(nn_rows, NN_ROWS, true);
}

static void gradients_of_joins(void **state)
{
    (void)state;
    compare_all(nn_joins, NN_JOINS, true);
}

static void outputs_of_inference(void **state)
{
    (void)state;
    compare_all(nn_rows, NN_ROWS, false);
    compare_all(nn_joins, NN_JOINS, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_layers),
        cmocka_unit_test(gradients_of_joins),
        cmocka_unit_test(outputs_of_inference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
