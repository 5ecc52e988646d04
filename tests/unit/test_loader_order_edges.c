/* Orders of samples at the edges: none, too few, too many, and what drops. */
#include "loader/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct pr_order order_of(const struct pr_order_opts *opts)
{
    struct pr_order o;

    assert_int_equal(pr_order_init(&o, opts, NULL), PR_OK);
    return o;
}

/* Three of ten samples are left out; over the epochs everyone's turn comes. */
static void other_samples_are_dropped_each_epoch(void **state)
{
    struct pr_order_opts opts = {.files = 10,
                                 .samples_per_file = 1,
                                 .accelerators = 1,
                                 .batch = 7,
                                 .drop_last = true,
                                 .shuffle_samples = true};
    unsigned came[10] = {0};

    (void)state;
    for (opts.seed = 0; opts.seed < 1000; opts.seed++) {
        struct pr_order o = order_of(&opts);
        assert_int_equal(o.used, 7);
        for (uint64_t q = 0; q < 7; q++)
            came[pr_order_read(&o, 0, q)]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(came[i], 700 - 70, 700 + 70);
}

static void shares_at_the_edges(void **state)
{
    static const struct {
        uint64_t files, each, accelerators, batch;
        bool drop_last;
        uint64_t used, batches, first, last; /* of the accelerators */
    } rows[] = {
        {0, 5, 2, 3, true, 0, 0, 0, 0},
        {5, 0, 2, 3, false, 0, 0, 0, 0},
        /* fewer than fill a batch each */
        {5, 1, 2, 3, true, 0, 0, 0, 0},
        {5, 1, 2, 3, false, 5, 1, 3, 2},
        {1, 1, 4, 1, false, 1, 1, 1, 0},
        {6, 1, 2, 3, true, 6, 1, 3, 3},
        {11, 1, 2, 3, true, 6, 1, 3, 3},
        {11, 1, 2, 3, false, 11, 2, 6, 5},
        /* a step of more samples than there can be */
        {9, 9, 1ull << 40, 1ull << 40, true, 0, 0, 0, 0},
        {9, 9, 1, UINT64_MAX, false, 81, 1, 81, 81},
        {1ull << 31, 1ull << 31, 4, 4, true, 1ull << 62, 1ull << 58, 1ull << 60,
         1ull << 60},
        {INT64_MAX, 1, 1, 1, false, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned how = 0; how < 8; how++) {
            struct pr_order_opts opts = {.files = rows[i].files,
                                         .samples_per_file = rows[i].each,
                                         .accelerators = rows[i].accelerators,
                                         .batch = rows[i].batch,
                                         .drop_last = rows[i].drop_last,
                                         .shared = how & 1,
                                         .shuffle_files = how & 2,
                                         .shuffle_samples = how & 4};
            struct pr_order o = order_of(&opts);
            uint64_t end = opts.accelerators - 1, first = rows[i].first;

            assert_int_equal(o.total, rows[i].files * rows[i].each);
            assert_int_equal(o.used, rows[i].used);
            assert_int_equal(o.batches, rows[i].batches);
            assert_int_equal(pr_order_samples(&o, 0), first);
            assert_int_equal(pr_order_samples(&o, end), rows[i].last);
            assert_int_equal(pr_order_needed(&o, 0, 5), first < 5 ? first : 5);
            if (rows[i].last)
                assert_true(pr_order_read(&o, end, rows[i].last - 1) < o.total);
        }
}

static void too_many_samples_are_refused(void **state)
{
    static const struct {
        uint64_t files, each;
    } rows[] = {{1ull << 32, 1ull << 32},
                {1ull << 32, 1ull << 31},
                {UINT64_MAX, 1},
                {1, 1ull << 63},
                {UINT64_MAX, UINT64_MAX}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_order_opts opts = {.files = rows[i].files,
                                     .samples_per_file = rows[i].each,
                                     .accelerators = 1,
                                     .batch = 1};
        struct pr_order o = {.total = 77};
        struct pr_err err = {0};

        assert_int_equal(pr_order_init(&o, &opts, &err), PR_E_CONF);
        assert_non_null(strstr(err.msg, "too many"));
        assert_int_equal(o.total, 77);
    }
}

/* Fifty million files: the ends of every share are in place at once. */
static void a_window_larger_than_the_share_is_one_window(void **state)
{
    const struct pr_order_opts opts = {.files = 50000000,
                                       .samples_per_file = 1,
                                       .accelerators = 64,
                                       .batch = 1,
                                       .drop_last = true,
                                       .shuffle_samples = true,
                                       .window = UINT64_MAX};
    struct pr_order o = order_of(&opts);
    uint64_t n = pr_order_samples(&o, 63);

    (void)state;
    assert_int_equal(n, 781250);
    assert_true(pr_order_place(&o, 63, n - 1) < n);
    assert_int_equal(pr_order_needed(&o, 63, 1), n);
    assert_int_equal(pr_order_read(&o, 63, n - 1), 49999999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_samples_are_dropped_each_epoch),
        cmocka_unit_test(shares_at_the_edges),
        cmocka_unit_test(too_many_samples_are_refused),
        cmocka_unit_test(a_window_larger_than_the_share_is_one_window),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
