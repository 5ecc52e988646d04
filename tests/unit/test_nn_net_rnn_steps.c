/* Recurrent layers row by row, against a plain computation in doubles and its
 * differences. */
#include "test_nn_rnn.h"

static size_t steps_kept(const struct pr_rnn *r, bool training)
{
    (void)training;
    return pr_rnn_steps_kept(r);
}

static size_t steps_room(const struct pr_rnn *r, unsigned threads,
                         bool backward)
{
    (void)threads;
    return pr_rnn_steps_room(r, backward);
}

static void steps_forward(struct pr_onednn *dnn, const struct pr_threads *p,
                          const struct pr_rnn *r, const struct pr_rnn_data *d,
                          bool training)
{
    struct pr_err err = {0};

    (void)training;
    assert_int_equal(pr_rnn_steps_forward(dnn, p, r, d, &err), PR_OK);
}

static void steps_backward(struct pr_onednn *dnn, const struct pr_threads *p,
                           const struct pr_rnn *r, const struct pr_rnn_data *d)
{
    struct pr_err err = {0};

    assert_int_equal(pr_rnn_steps_back(dnn, p, r, d, &err), PR_OK);
}

static const struct rnn_way by_steps = {
    .kept = steps_kept,
    .room = steps_room,
    .forward = steps_forward,
    .backward = steps_backward,
};

static void steps_all(const struct pr_threads *p)
{
    struct rnn_way way = by_steps;
    struct pr_err err = {0};
    int rc = pr_onednn_new(&way.dnn, &err);

    if (rc == PR_E_UNAVAIL)
        skip_for(&err);
    assert_int_equal(rc, PR_OK);
    check_all(p, &way);
    pr_onednn_free(way.dnn);
}

static void by_steps_is_as_computed_plainly(void **state)
{
    (void)state;
    with_threads(steps_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_steps_is_as_computed_plainly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
