/* Outputs, losses and gradients of every kind of layer, and of what they are
 * joined to, are those of the plain network. */
#include "nn_models_images.h"
#include "nn_models_large.h"
#include "nn_models_losses.h"
#include "nn_models_rows.h"
#include "test_nn_net_rows.h"

static const struct way once = {true, TEST_THREADS, PR_NN_RNN_AUTO,
                                1,    false,        false};
static const struct way inference = {false, TEST_THREADS, PR_NN_RNN_AUTO,
                                     0,     false,        false};
static const struct way other_inference = {false, 1,     PR_NN_RNN_ONEDNN,
                                           0,     false, true};

static const struct way alone = {true, 1, PR_NN_RNN_ONEDNN, 2, false, false};

static void gradients_of_layers(void **state)
{
    (void)state;
    compare_all(nn_rows, NN_ROWS, &once);
}

static void gradients_of_joins(void **state)
{
    (void)state;
    compare_all(nn_joins, NN_JOINS, &once);
}

static void gradients_that_threads_share(void **state)
{
    (void)state;
    compare_all(nn_large, NN_LARGE, &once);
}

static void steps_on_one_thread(void **state)
{
    (void)state;
    compare_all(nn_images, NN_IMAGES, &alone);
    compare_all(nn_sequences, NN_SEQUENCES, &alone);
    compare_all(nn_losses, NN_LOSSES, &alone);
}

static void outputs_of_inference(void **state)
{
    (void)state;
    compare_all(nn_rows, NN_ROWS, &inference);
    compare_all(nn_joins, NN_JOINS, &inference);
    compare_all(nn_images, NN_IMAGES, &inference);
    compare_all(nn_sequences, NN_SEQUENCES, &inference);
    compare_all(nn_sequences, NN_SEQUENCES, &other_inference);
    compare_all(nn_losses, NN_LOSSES, &inference);
    compare_all(nn_losses, NN_LOSSES, &other_inference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_layers),
        cmocka_unit_test(gradients_of_joins),
        cmocka_unit_test(gradients_that_threads_share),
        cmocka_unit_test(steps_on_one_thread),
        cmocka_unit_test(outputs_of_inference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
