/* Slices of rates: what is carried over, and the odd cases. More against
 * milarun's own in tests/peers/steady_vs_python.py. */
#include "base/stats/histogram.h"

#include "torture.h"

#include <math.h>

static struct pr_rateslices made(double slice_s)
{
    struct pr_rateslices s;

    assert_int_equal(pr_rateslices_init(&s, slice_s, NULL), PR_OK);
    return s;
}

static void a_slice_takes_its_share_of_an_iteration(void **state)
{
    struct pr_rateslices s = made(0.5);

    (void)state;
    assert_false(pr_rateslices_add(&s, 0.25, 10));
    assert_int_equal(s.len, 0);
    assert_true(pr_rateslices_add(&s, 0.5, 20)); /* 0.75 s: one and a half */
    assert_int_equal(s.len, 1);
    assert_float_equal(s.rates[0], 40, 1e-12);
    assert_float_equal(s.time, 0.25, 1e-12);
    assert_float_equal(s.count, 10, 1e-12);
    assert_true(pr_rateslices_add(&s, 0.25, 30));
    assert_float_equal(s.rates[1], 80, 1e-12);
    pr_rateslices_end(&s); /* nothing is left */
    assert_int_equal(s.len, 2);
    assert_float_equal(s.total_time, 1, 1e-12);
    assert_float_equal(s.total_count, 60, 1e-12);
    assert_int_equal(s.iterations, 3);
    pr_rateslices_free(&s);
}

static void a_slow_iteration_is_many_equal_slices(void **state)
{
    struct pr_rateslices s = made(0.5);

    (void)state;
    assert_true(pr_rateslices_add(&s, 2.25, 9));
    assert_int_equal(s.len, 4);
    for (size_t i = 0; i < 4; i++)
        assert_float_equal(s.rates[i], 4, 1e-12);
    pr_rateslices_end(&s);
    assert_int_equal(s.len, 5);
    assert_float_equal(s.rates[4], 4, 1e-9);
    pr_rateslices_free(&s);
}

/* milarun divides by zero here. */
static void an_iteration_may_count_nothing(void **state)
{
    struct pr_rateslices s = made(0.5);

    (void)state;
    assert_true(pr_rateslices_add(&s, 0.6, 0));
    assert_int_equal(s.len, 1);
    assert_float_equal(s.rates[0], 0, 0);
    assert_true(pr_rateslices_add(&s, 0.4, 10));
    assert_float_equal(s.rates[1], 20, 1e-9);
    pr_rateslices_end(&s);
    assert_int_equal(s.len, 2);
    pr_rateslices_free(&s);
}

static void what_took_no_time_is_counted_with_the_next(void **state)
{
    struct pr_rateslices s = made(0.5);

    (void)state;
    assert_false(pr_rateslices_add(&s, 0, 10));
    pr_rateslices_end(&s);
    assert_int_equal(s.len, 0);
    pr_rateslices_free(&s);
    s = made(0.5);
    assert_false(pr_rateslices_add(&s, 0, 10));
    assert_true(pr_rateslices_add(&s, 0.5, 10));
    assert_float_equal(s.rates[0], 40, 1e-12);
    pr_rateslices_free(&s);
}

/* More than there is room for: the newest stay. */
static void the_oldest_are_dropped(void **state)
{
    struct pr_rateslices s = made(0.5);
    const double most = PR_RATESLICES_MOST;

    (void)state;
    (void)pr_rateslices_add(&s, 0.5 * most, most);
    assert_int_equal(s.len, PR_RATESLICES_MOST);
    assert_int_equal(s.dropped, 0);
    (void)pr_rateslices_add(&s, 0.5, 7);
    assert_int_equal(s.dropped, PR_RATESLICES_MOST / 2);
    assert_int_equal(s.len, PR_RATESLICES_MOST / 2 + 1);
    assert_float_equal(s.rates[s.len - 1], 14, 1e-6);
    assert_float_equal(s.rates[s.len - 2], 2, 1e-6);
    pr_rateslices_free(&s);
}

/* Years in one iteration: at once, and no more memory than there is. */
static void an_endless_iteration_is_noted_quickly(void **state)
{
    struct pr_rateslices s = made(0.5);

    (void)state;
    assert_true(pr_rateslices_add(&s, 1e15, 5e14));
    assert_int_equal(s.len, PR_RATESLICES_MOST);
    assert_true(s.dropped > (uint64_t)1e15);
    assert_float_equal(s.rates[0], 0.5, 1e-9);
    pr_rateslices_free(&s);
}

static int begin(void)
{
    struct pr_rateslices s = {0};
    int rc = pr_rateslices_init(&s, 0.5, NULL);

    pr_rateslices_free(&s);
    return rc;
}

static void memory_may_end(void **state)
{
    (void)state;
    torture(begin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_takes_its_share_of_an_iteration),
        cmocka_unit_test(a_slow_iteration_is_many_equal_slices),
        cmocka_unit_test(an_iteration_may_count_nothing),
        cmocka_unit_test(what_took_no_time_is_counted_with_the_next),
        cmocka_unit_test(the_oldest_are_dropped),
        cmocka_unit_test(an_endless_iteration_is_noted_quickly),
        cmocka_unit_test(memory_may_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
