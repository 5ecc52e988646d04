/* Several steps of models with every kind of layer and loss are those of the
 * plain network: what they give, gradients, and what weights become. */
#include "nn_models_images.h"
#include "nn_models_losses.h"
#include "nn_models_rows.h"
#include "test_nn_net_rows.h"

static const struct way thrice = {true, TEST_THREADS, PR_NN_RNN_AUTO,
                                  3,    false,        false};
static const struct way in_turns = {true, TEST_THREADS, PR_NN_RNN_UNROLLED,
                                    2,    true,         false};
static const struct way other_in_turns = {true, 1,    PR_NN_RNN_ONEDNN,
                                          2,    true, false};

static void steps_of_images(void **state)
{
    (void)state;
    compare_all(nn_images, NN_IMAGES, &thrice);
}

static void steps_of_sequences(void **state)
{
    (void)state;
    compare_all(nn_sequences, NN_SEQUENCES, &thrice);
}

static void steps_of_losses(void **state)
{
    (void)state;
    compare_all(nn_losses, NN_LOSSES, &thrice);
}

static void steps_in_two_turns(void **state)
{
    (void)state;
    compare_all(nn_images, NN_IMAGES, &in_turns);
    compare_all(nn_sequences, NN_SEQUENCES, &in_turns);
    compare_all(nn_sequences, NN_SEQUENCES, &other_in_turns);
    compare_all(nn_losses, NN_LOSSES, &in_turns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_images),
        cmocka_unit_test(steps_of_sequences),
        cmocka_unit_test(steps_of_losses),
        cmocka_unit_test(steps_in_two_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
