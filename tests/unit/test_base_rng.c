/* Random numbers: even, independent, and the same ones for ever. */
#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MANY = 200000 };

static void the_same_key_and_stream_give_the_same_numbers(void **state)
{
    struct pr_rng a, b;

    (void)state;
    pr_rng_seed(&a, 42, 7);
    pr_rng_seed(&b, 42, 7);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(pr_rng_u64(&a), pr_rng_u64(&b));
}

/* Neighbours differ in about half of all bits from the first number on. */
static void keys_and_streams_are_strangers(void **state)
{
    static const struct {
        uint64_t key, stream;
    } rows[] = {{0, 0}, {0, 1}, {1, 0},          {1, 1},         {2, 1},
                {1, 2}, {3, 3}, {1ull << 63, 0}, {0, 1ull << 63}};
    enum { N = sizeof rows / sizeof *rows };

    (void)state;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < i; k++) {
            struct pr_rng a, b;
            unsigned bits = 0;

            pr_rng_seed(&a, rows[i].key, rows[i].stream);
            pr_rng_seed(&b, rows[k].key, rows[k].stream);
            for (int n = 0; n < 100; n++)
                bits += (unsigned)__builtin_popcountll(pr_rng_u64(&a) ^
                                                       pr_rng_u64(&b));
            assert_in_range(bits, 3200 - 240, 3200 + 240); /* 6 deviations */
        }
}

static void each_bit_is_even(void **state)
{
    unsigned ones[64] = {0};
    struct pr_rng r;

    (void)state;
    pr_rng_seed(&r, 1, 1);
    for (int i = 0; i < MANY; i++) {
        uint64_t x = pr_rng_u64(&r);
        for (int bit = 0; bit < 64; bit++)
            ones[bit] += x >> bit & 1;
    }
    for (int bit = 0; bit < 64; bit++) /* 5.4 deviations */
        assert_in_range(ones[bit], MANY / 2 - 1200, MANY / 2 + 1200);
}

static void doubles_fill_the_unit_interval_evenly(void **state)
{
    unsigned count[100] = {0};
    double sum = 0, chi = 0;
    struct pr_rng r;

    (void)state;
    pr_rng_seed(&r, 5, 0);
    for (int i = 0; i < MANY; i++) {
        double x = pr_rng_double(&r);
        assert_true(x >= 0 && x < 1);
        count[(int)(x * 100)]++;
        sum += x;
    }
    for (int i = 0; i < 100; i++)
        chi += pow(count[i] - MANY / 100.0, 2) / (MANY / 100.0);
    assert_true(chi > 45 && chi < 175); /* 99 ± 14 */
    assert_true(fabs(sum / MANY - 0.5) < 5 * 0.2887 / sqrt(MANY));
}

static void gauss_has_the_moments_and_tails_of_a_normal(void **state)
{
    double m[5] = {0};
    int beyond[4] = {0};
    struct pr_rng r;

    (void)state;
    pr_rng_seed(&r, 9, 0);
    for (int i = 0; i < MANY; i++) {
        double x = pr_rng_gauss(&r), power = 1;
        for (int k = 0; k < 5; k++, power *= x)
            m[k] += power / MANY;
        for (int k = 0; k < 4; k++)
            beyond[k] += fabs(x) > k;
    }
    assert_true(fabs(m[1]) < 0.012);
    assert_true(fabs(m[2] - 1) < 0.016);
    assert_true(fabs(m[3]) < 0.04);
    assert_true(fabs(m[4] - 3) < 0.12);
    assert_true(fabs(beyond[1] / (double)MANY - 0.31731) < 0.0055);
    assert_true(fabs(beyond[2] / (double)MANY - 0.04550) < 0.0025);
    assert_true(fabs(beyond[3] / (double)MANY - 0.00270) < 0.0007);
}

static void draws_in_a_row_are_not_related(void **state)
{
    double last, sum = 0;
    struct pr_rng r;

    (void)state;
    pr_rng_seed(&r, 3, 3);
    last = pr_rng_gauss(&r);
    for (int i = 0; i < MANY; i++) {
        double x = pr_rng_gauss(&r);
        sum += x * last;
        last = x;
    }
    assert_true(fabs(sum / MANY) < 5 / sqrt(MANY));
}

/* A changed bit of the input changes about half of the output. */
static void mixing_spreads_every_bit(void **state)
{
    (void)state;
    assert_true(pr_mix64(0) != 0);
    for (int bit = 0; bit < 64; bit++) {
        unsigned changed = 0;
        for (uint64_t x = 0; x < 1000; x++)
            changed += (unsigned)__builtin_popcountll(
                pr_mix64(x) ^ pr_mix64(x ^ 1ull << bit));
        assert_in_range(changed, 32000 - 800, 32000 + 800);
    }
}

/* splitmix64 from 0, by its authors: the orders of old runs stay. */
static void numbers_never_change(void **state)
{
    struct pr_rng r;

    (void)state;
    assert_int_equal(pr_mix64(0), 0xe220a8397b1dcdafu);
    assert_int_equal(pr_mix64(0x9e3779b97f4a7c15u), 0x6e789e6aa1b965f4u);
    /* xoshiro256** from the state 1, 2, 3, 4. */
    r = (struct pr_rng){{1, 2, 3, 4}};
    assert_int_equal(pr_rng_u64(&r), 11520u);
    assert_int_equal(pr_rng_u64(&r), 0u);
    assert_int_equal(pr_rng_u64(&r), 1509978240u);
    assert_int_equal(pr_rng_u64(&r), 1215971899390074240u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_key_and_stream_give_the_same_numbers),
        cmocka_unit_test(keys_and_streams_are_strangers),
        cmocka_unit_test(each_bit_is_even),
        cmocka_unit_test(doubles_fill_the_unit_interval_evenly),
        cmocka_unit_test(gauss_has_the_moments_and_tails_of_a_normal),
        cmocka_unit_test(draws_in_a_row_are_not_related),
        cmocka_unit_test(mixing_spreads_every_bit),
        cmocka_unit_test(numbers_never_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
