/* Histograms against sorted arrays: exact ends, quantiles within 2 %. */
#include "base/stats/histogram.h"

#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 20000 };

static uint64_t values[MANY];
static struct pr_histogram h, part;

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Of all sizes up to 2^bits, or of a few. */
static void make_values(unsigned n, unsigned bits, uint64_t seed)
{
    struct pr_rng r;

    pr_rng_seed(&r, seed, 0);
    for (unsigned i = 0; i < n; i++)
        values[i] = pr_rng_u64(&r) >> (64 - bits) >> pr_rng_u64(&r) % bits;
}

static void add_all(struct pr_histogram *to, unsigned from, unsigned until)
{
    for (unsigned i = from; i < until; i++)
        pr_histogram_add(to, values[i]);
}

static void assert_near(uint64_t got, uint64_t want)
{
    double off = fabs((double)got - (double)want);

    if (want < 64 ? got != want : off >= 0.02 * (double)want)
        fail_msg("%llu instead of %llu", (unsigned long long)got,
                 (unsigned long long)want);
}

static void an_empty_one_is_all_zero(void **state)
{
    (void)state;
    memset(&h, 0, sizeof h);
    assert_int_equal(pr_histogram_at(&h, 0.5), 0);
    assert_true(pr_histogram_mean(&h) == 0);
    pr_histogram_merge(&h, &part);
    assert_int_equal(h.count, 0);
}

static void small_values_are_exact(void **state)
{
    (void)state;
    for (uint64_t v = 0; v < 64; v++) {
        memset(&h, 0, sizeof h);
        pr_histogram_add(&h, 0);
        pr_histogram_add(&h, v);
        pr_histogram_add(&h, 1000);
        assert_int_equal(pr_histogram_at(&h, 0.5), v);
    }
}

static void every_value_is_off_by_less_than_2_percent(void **state)
{
    static const uint64_t beside[] = {0, 1, 2, 3, 5, 7};

    (void)state;
    for (unsigned bit = 0; bit < 48; bit++)
        for (uint64_t sub = 0; sub < 64; sub++)
            for (unsigned k = 0; k < 6; k++) {
                uint64_t base = (uint64_t)1 << bit;
                uint64_t v = base + base / 64 * sub + beside[k];

                memset(&h, 0, sizeof h);
                pr_histogram_add(&h, 0);
                pr_histogram_add(&h, v);
                pr_histogram_add(&h, UINT64_MAX);
                if (v < (uint64_t)1 << 48)
                    assert_near(pr_histogram_at(&h, 0.5), v);
            }
}

static void assert_quantiles(unsigned n)
{
    static const double shares[] = {0,    0.001, 0.01, 0.1,  0.25,  0.5,
                                    0.75, 0.9,   0.95, 0.99, 0.999, 1};
    uint64_t sum = 0;

    qsort(values, n, sizeof *values, by_value);
    for (unsigned i = 0; i < n; i++)
        sum += values[i];
    for (unsigned i = 0; i < sizeof shares / sizeof *shares; i++) {
        double rank = ceil(shares[i] * n);
        uint64_t want = values[rank < 1 ? 0 : (unsigned)rank - 1];

        assert_near(pr_histogram_at(&h, shares[i]), want);
    }
    assert_int_equal(pr_histogram_at(&h, 0), values[0]);
    assert_int_equal(pr_histogram_at(&h, 1), values[n - 1]);
    assert_int_equal(h.count, n);
    assert_int_equal(h.min, values[0]);
    assert_int_equal(h.max, values[n - 1]);
    assert_int_equal(h.sum, sum);
    assert_true(fabs(pr_histogram_mean(&h) - (double)sum / n) <= 1e-9 * sum);
}

static void quantiles_are_those_of_the_sorted_values(void **state)
{
    static const struct {
        unsigned n, bits;
    } rows[] = {{1, 40},   {2, 40},    {3, 6},    {10, 20},
                {99, 47},  {100, 30},  {1000, 5}, {1000, 48},
                {MANY, 1}, {MANY, 33}, {MANY, 48}};

    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(&h, 0, sizeof h);
        make_values(rows[i].n, rows[i].bits, i);
        add_all(&h, 0, rows[i].n);
        assert_quantiles(rows[i].n);
    }
}

static void parts_merged_are_the_whole(void **state)
{
    (void)state;
    for (unsigned cut = 0; cut <= MANY; cut += MANY / 4) {
        memset(&h, 0, sizeof h);
        memset(&part, 0, sizeof part);
        make_values(MANY, 40, cut);
        add_all(&h, 0, cut);
        add_all(&part, cut, MANY);
        pr_histogram_merge(&h, &part);
        assert_quantiles(MANY);
    }
}

static void shares_out_of_range_are_the_ends(void **state)
{
    (void)state;
    memset(&h, 0, sizeof h);
    pr_histogram_add(&h, 1001);
    pr_histogram_add(&h, 5003);
    pr_histogram_add(&h, 9007);
    assert_int_equal(pr_histogram_at(&h, -1), 1001);
    assert_int_equal(pr_histogram_at(&h, 2), 9007);
    assert_int_equal(pr_histogram_at(&h, NAN), 1001);
}

static void huge_values_stay_within_minimum_and_maximum(void **state)
{
    (void)state;
    memset(&h, 0, sizeof h);
    for (int i = 0; i < 4; i++)
        pr_histogram_add(&h, UINT64_MAX - 1);
    assert_int_equal(pr_histogram_at(&h, 0.5), UINT64_MAX - 1);
    assert_int_equal(h.sum, UINT64_MAX); /* no more than fits */
    pr_histogram_add(&h, 3);
    assert_int_equal(pr_histogram_at(&h, 0), 3);
    assert_int_equal(pr_histogram_at(&h, 1), UINT64_MAX - 1);
}

static void full_buckets_stay_full(void **state)
{
    (void)state;
    memset(&h, 0, sizeof h);
    memset(&part, 0, sizeof part);
    pr_histogram_add(&h, 10);
    pr_histogram_add(&h, 20);
    pr_histogram_add(&h, 30);
    h.bucket[20] = UINT32_MAX;
    part = h;
    pr_histogram_add(&h, 20);
    assert_int_equal(h.bucket[20], UINT32_MAX);
    pr_histogram_merge(&h, &part);
    assert_int_equal(h.bucket[20], UINT32_MAX);
    assert_int_equal(h.bucket[10], 2);
    assert_int_equal(pr_histogram_at(&h, 0.5), 20);
    assert_int_equal(pr_histogram_at(&h, 1), 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_one_is_all_zero),
        cmocka_unit_test(small_values_are_exact),
        cmocka_unit_test(every_value_is_off_by_less_than_2_percent),
        cmocka_unit_test(quantiles_are_those_of_the_sorted_values),
        cmocka_unit_test(parts_merged_are_the_whole),
        cmocka_unit_test(shares_out_of_range_are_the_ends),
        cmocka_unit_test(huge_values_stay_within_minimum_and_maximum),
        cmocka_unit_test(full_buckets_stay_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
