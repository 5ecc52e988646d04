/* The steady state of runs that were made up. Against numpy, and with many
 * more, in tests/peers/steady_vs_python.py. */
#include "base/random.h"
#include "base/stats/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 400 };

static struct pr_steady steady(const double *v, size_t count)
{
    struct pr_slices s = {.rates = v, .count = count};
    struct pr_steady t;
    double room[MOST];

    pr_steady_compute(&s, room, &t);
    return t;
}

/* About normal: a sum of twelve. */
static double noise(struct pr_rng *rng)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += pr_rng_double(rng);
    return sum;
}

static void milaruns_window_is_by_index(void **state)
{
    double v[25];

    (void)state;
    for (size_t i = 0; i < 25; i++)
        v[i] = (double)(i + 1);
    assert_true(isnan(pr_steady_by_index(v, 0)));
    assert_true(isnan(pr_steady_by_index(v, 2)));
    assert_float_equal(pr_steady_by_index(v, 3), 1, 0);
    assert_float_equal(pr_steady_by_index(v, 19), 9, 1e-12);
    assert_float_equal(pr_steady_by_index(v, 20), 9.5, 1e-12);
    assert_float_equal(pr_steady_by_index(v, 25), 14.5, 1e-12);
}

static void ours_is_by_time(void **state)
{
    double v[40];
    struct pr_slices s = {.rates = v, .count = 40, .slice_s = 0.5};

    (void)state;
    for (size_t i = 0; i < 40; i++)
        v[i] = (double)i;
    assert_float_equal(pr_steady_by_time(&s), 28.5, 1e-9); /* 20 to 37 */
    /* Slices of 2 s: all of 36 to 38, half of 35 and of 39. */
    s.slice_s = 2;
    assert_float_equal(pr_steady_by_time(&s),
                       (35 * 2 + 36 * 2 + 37 * 2 + 38 * 2 + 39) / 9.0, 1e-9);
    /* A partial last slice moves the window. */
    s.slice_s = 0.5;
    s.total_s = 19.75;
    assert_float_equal(pr_steady_by_time(&s),
                       (19 * 0.25 + 0.5 * (20 + 36) * 17 / 2 + 37 * 0.25) / 9,
                       1e-9);
    s.count = 2;
    s.total_s = 0;
    assert_true(isnan(pr_steady_by_time(&s)));
}

static void a_warm_up_is_left_out(void **state)
{
    struct pr_rng rng;
    struct pr_steady t;
    double v[100];

    (void)state;
    pr_rng_seed(&rng, 1, 1);
    for (size_t i = 0; i < 100; i++)
        v[i] = (i < 17 ? 40 : 100) + noise(&rng);
    t = steady(v, 100);
    assert_true(t.settled);
    assert_in_range(t.warmup, 17, 25);
    assert_float_equal(t.warmup_s, 0.5 * (double)t.warmup, 1e-12);
    assert_float_equal(t.mean, 100, 1);
    assert_true(t.low < 100 && 100 < t.high);
    assert_true(t.p5 < t.p50 && t.p50 < t.p95 && t.p95 < t.max);
}

static void what_never_settles_says_so(void **state)
{
    struct pr_steady t;
    double v[60];

    (void)state;
    for (size_t i = 0; i < 60; i++)
        v[i] = 10 + (double)i;
    t = steady(v, 60);
    assert_false(t.settled);
    assert_false(steady(v, 7).settled); /* too short to tell */
    assert_int_equal(steady(v, 7).warmup, 0);
}

/* Equal but for rounding: nothing is warm-up, and nothing unsure. */
static void equal_slices_are_sure(void **state)
{
    struct pr_steady t;
    double v[30];

    (void)state;
    for (size_t i = 0; i < 30; i++)
        v[i] = i % 3 ? 457.1428571428571 : 457.14285714285717;
    t = steady(v, 30);
    assert_true(t.settled);
    assert_int_equal(t.warmup, 0);
    assert_true(pr_steady_error(&t) < 1e-12);
}

/*
 * Of many runs whose true mean is known, the interval has it in about 95 of
 * 100: also where each slice is much like the one before, and an error
 * without correlation would be three times too small.
 */
static void intervals_hold_what_they_promise(void **state)
{
    const double likes[] = {0, 0.8};
    struct pr_rng rng;
    double v[MOST];

    (void)state;
    pr_rng_seed(&rng, 7, 1);
    for (size_t l = 0; l < 2; l++) {
        int good = 0;

        for (int run = 0; run < 500; run++) {
            double x = noise(&rng);
            struct pr_steady t;

            for (size_t i = 0; i < MOST; i++) {
                x = likes[l] * x + noise(&rng);
                v[i] = 200 + x;
            }
            t = steady(v, MOST);
            good += t.low < 200 && 200 < t.high;
        }
        assert_in_range(good, 440, 495);
    }
}

static void nothing_is_nothing(void **state)
{
    struct pr_slices s = {.rates = NULL};
    struct pr_steady t;

    (void)state;
    pr_steady_compute(&s, NULL, &t);
    assert_true(isnan(t.index_rate) && isnan(t.time_rate) && isnan(t.mean));
    assert_true(isnan(pr_steady_error(&t)));
    assert_int_equal(t.count, 0);
    assert_false(t.settled);
}

/* A partial last slice is no measure of the spread. */
static void a_partial_slice_is_left_out(void **state)
{
    double v[12] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 90};
    struct pr_slices s = {.rates = v, .count = 12, .total_s = 5.51};
    struct pr_steady t;

    (void)state;
    pr_steady_compute(&s, NULL, &t);
    assert_int_equal(t.count, 11);
    assert_float_equal(t.max, 5, 0);
    assert_true(isnan(t.p50));
}

/* What numpy gives for these, where one after another gives another digit. */
static void sums_are_numpys(void **state)
{
    double v[300];

    (void)state;
    for (size_t i = 0; i < 300; i++)
        v[i] = 1 / (double)(i + 1);
    assert_true(pr_pairwise_sum(v, 7) == 2.5928571428571425);
    assert_true(pr_pairwise_sum(v, 18) == 3.4951080781963135);
    assert_true(pr_pairwise_sum(v, 300) == 6.282663880299504);
    assert_true(pr_pairwise_std(v, 300) == 0.07094677343195521);
    assert_true(isnan(pr_pairwise_mean(v, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(milaruns_window_is_by_index),
        cmocka_unit_test(ours_is_by_time),
        cmocka_unit_test(a_warm_up_is_left_out),
        cmocka_unit_test(what_never_settles_says_so),
        cmocka_unit_test(equal_slices_are_sure),
        cmocka_unit_test(intervals_hold_what_they_promise),
        cmocka_unit_test(nothing_is_nothing),
        cmocka_unit_test(a_partial_slice_is_left_out),
        cmocka_unit_test(sums_are_numpys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
