/* Permutations without a table: complete, invertible, even, and fast. */
#include "loader/order.h"

#include "brief.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 70000 };

static uint8_t seen[MOST];

static void assert_permutation(uint64_t n, uint64_t key)
{
    struct pr_permutation p;

    pr_permutation_init(&p, n, key);
    memset(seen, 0, n);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = pr_permutation_at(&p, i);

        if (x >= n || seen[x]++ || pr_permutation_of(&p, x) != i)
            fail_msg("n %llu, key %llu: %llu goes to %llu",
                     (unsigned long long)n, (unsigned long long)key,
                     (unsigned long long)i, (unsigned long long)x);
    }
}

static void every_index_comes_once_and_the_inverse_finds_it(void **state)
{
    static const uint64_t large[] = {1023, 1024,  1025,  4095,  4096,
                                     4097, 10007, 65535, 65536, 65537};

    (void)state;
    for (uint64_t n = 1; n < 600; n++)
        for (uint64_t key = 0; key < 4; key++)
            assert_permutation(n, key * 977);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        for (uint64_t key = 0; key < 3; key++)
            assert_permutation(large[i], key);
}

/* Too many to look at all of them: indices all over the range and back. */
static void huge_ones_are_invertible_and_within_bounds(void **state)
{
    static const uint64_t sizes[] = {
        10000000,         50000000,        UINT32_MAX, 1ull << 32,
        (1ull << 32) + 1, 123456789012345, 1ull << 62, INT64_MAX - 1,
        INT64_MAX,        UINT64_MAX};

    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct pr_permutation p;
        uint64_t n = sizes[k], step = n / 5000;

        pr_permutation_init(&p, n, k);
        for (uint64_t i = 0; i < 5000; i++) {
            uint64_t at[] = {i, n - 1 - i, i * step};

            for (int j = 0; j < 3; j++) {
                uint64_t x = pr_permutation_at(&p, at[j]);
                assert_true(x < n);
                assert_int_equal(pr_permutation_of(&p, x), at[j]);
            }
        }
    }
}

/* The number of a permutation of n among all n!. */
static unsigned number_of(const struct pr_permutation *p)
{
    unsigned number = 0;

    for (uint64_t i = 0; i < p->n; i++) {
        unsigned below = 0;
        for (uint64_t k = i + 1; k < p->n; k++)
            below += pr_permutation_at(p, k) < pr_permutation_at(p, i);
        number = number * (unsigned)(p->n - i) + below;
    }
    return number;
}

static double chi_square(const unsigned *count, unsigned cells, double want)
{
    double chi = 0;

    for (unsigned i = 0; i < cells; i++)
        chi += (count[i] - want) * (count[i] - want) / want;
    return chi;
}

static void all_small_permutations_are_equally_likely(void **state)
{
    static const struct {
        unsigned n, factorial;
    } rows[] = {{1, 1}, {2, 2}, {3, 6}, {4, 24}, {5, 120}, {6, 720}};

    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        unsigned count[720] = {0}, cells = rows[r].factorial;
        struct pr_permutation p;
        double df = cells - 1;

        for (uint64_t key = 0; key < 200u * cells; key++) {
            pr_permutation_init(&p, rows[r].n, key);
            count[number_of(&p)]++;
        }
        if (fabs(chi_square(count, cells, 200) - df) > 4 * sqrt(2 * df))
            fail_msg("n %u: %g", rows[r].n, chi_square(count, cells, 200));
    }
}

/* Where two indices go together, over many keys. */
static void pairs_are_independent(void **state)
{
    static const unsigned sizes[] = {7, 16, 17, 20, 31, 33, 40, 64, 100};
    static unsigned count[100 * 100];

    (void)state;
    for (size_t r = 0; r < sizeof sizes / sizeof *sizes; r++)
        for (uint64_t b = 1; b < (is_brief() ? 2 : 7); b++) {
            unsigned n = sizes[r], keys = 30 * n * (n - 1);
            double df = n * (n - 1.0) - 1, chi = n * 30.0; /* the diagonal */
            struct pr_permutation p;

            memset(count, 0, sizeof count);
            for (uint64_t key = 0; key < keys; key++) {
                pr_permutation_init(&p, n, key);
                count[pr_permutation_at(&p, 0) * n +
                      pr_permutation_at(&p, b)]++;
            }
            chi = chi_square(count, n * n, 30) - chi;
            if (fabs(chi - df) > 4.5 * sqrt(2 * df))
                fail_msg("n %u, 0 and %u: %g of %g", n, (unsigned)b, chi, df);
        }
}

/* One index in n stays where it is: e of them in e permutations. */
static void indices_neither_stay_nor_flee(void **state)
{
    enum { KEYS = 20000 };
    static const uint64_t sizes[] = {4, 16, 30, 100, 1000};
    size_t count = sizeof sizes / sizeof *sizes - is_brief();

    (void)state;
    for (size_t r = 0; r < count; r++) {
        struct pr_permutation p;
        unsigned fixed = 0;

        for (uint64_t key = 0; key < KEYS; key++) {
            pr_permutation_init(&p, sizes[r], key);
            for (uint64_t i = 0; i < sizes[r]; i++)
                fixed += pr_permutation_at(&p, i) == i;
        }
        assert_in_range(fixed, KEYS - 650, KEYS + 650); /* 4.6 deviations */
    }
}

static void an_index_goes_everywhere_alike(void **state)
{
    enum { N = 1000, KEYS = 50000 };
    static const uint64_t indices[] = {0, 1, 31, 32, 499, 500, 998, 999};

    (void)state;
    for (size_t k = 0; k < sizeof indices / sizeof *indices; k++) {
        unsigned count[N] = {0};
        struct pr_permutation p;
        double chi;

        for (uint64_t key = 0; key < KEYS; key++) {
            pr_permutation_init(&p, N, key);
            count[pr_permutation_at(&p, indices[k])]++;
        }
        chi = chi_square(count, N, KEYS / N);
        assert_true(fabs(chi - 999) < 4.5 * sqrt(2 * 999));
    }
}

/* Within one permutation: steps from one value to the next, and values by
 * where they are. */
static void neighbours_are_strangers(void **state)
{
    static const uint64_t sizes[] = {4096, 65536, 65537, 1000000, 10000000};
    enum { CELLS = 32 };

    (void)state;
    for (size_t r = 0; r < sizeof sizes / sizeof *sizes; r++) {
        uint64_t n = sizes[r], seen_n = n < 200000 ? n : 200000;
        unsigned step[CELLS] = {0}, place[CELLS * CELLS] = {0};
        struct pr_permutation p;
        uint64_t last;
        double df = CELLS * CELLS - 1, chi;

        pr_permutation_init(&p, n, 99);
        last = pr_permutation_at(&p, n - 1);
        for (uint64_t i = 0; i < seen_n; i++) {
            uint64_t x = pr_permutation_at(&p, i);
            step[(x + n - last) % n * CELLS / n]++;
            place[x * CELLS / n * CELLS + i * CELLS / seen_n]++;
            last = x;
        }
        chi = chi_square(step, CELLS, (double)seen_n / CELLS);
        assert_true(chi < 31 + 5 * sqrt(62));
        chi = chi_square(place, CELLS * CELLS, seen_n / (double)(df + 1));
        assert_true(chi < df + 5 * sqrt(2 * df));
    }
}

static void other_keys_give_other_permutations(void **state)
{
    struct pr_permutation a, b;
    unsigned same = 0;

    (void)state;
    for (uint64_t bit = 0; bit < 64; bit++) {
        pr_permutation_init(&a, 1000, 5);
        pr_permutation_init(&b, 1000, 5 ^ 1ull << bit);
        for (uint64_t i = 0; i < 1000; i++)
            same += pr_permutation_at(&a, i) == pr_permutation_at(&b, i);
    }
    assert_in_range(same, 64 - 40, 64 + 40); /* one for each pair */
}

/* Orders are a promise: the same seed reads the same in every version. */
static void values_never_change(void **state)
{
    static const struct {
        uint64_t n, key, want[4];
    } rows[] = {
        {5, 1, {2, 1, 3, 4}},
        {100, 1, {29, 44, 0, 68}},
        {10000000, 1, {242981, 3684841, 3755251, 941425}},
    };
    struct pr_permutation p;

    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        pr_permutation_init(&p, rows[r].n, rows[r].key);
        for (uint64_t i = 0; i < 4; i++)
            assert_int_equal(pr_permutation_at(&p, i), rows[r].want[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_comes_once_and_the_inverse_finds_it),
        cmocka_unit_test(huge_ones_are_invertible_and_within_bounds),
        cmocka_unit_test(all_small_permutations_are_equally_likely),
        cmocka_unit_test(pairs_are_independent),
        cmocka_unit_test(indices_neither_stay_nor_flee),
        cmocka_unit_test(an_index_goes_everywhere_alike),
        cmocka_unit_test(neighbours_are_strangers),
        cmocka_unit_test(other_keys_give_other_permutations),
        cmocka_unit_test(values_never_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
