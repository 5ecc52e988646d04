/*
 * DLIO's own orders: numpy's shuffles number for number, its maps against
 * lists made the way that DLIO makes them, and a golden map.
 */
#include "loader/order_dlio.h"

#include "torture.h"

#include "base/random.h"

#include <string.h>

enum { MOST = 4000 };

static struct pr_order order_of(uint64_t files, uint64_t each, uint64_t ranks,
                                uint64_t batch, bool shuffle)
{
    const struct pr_order_opts opts = {.files = files,
                                       .samples_per_file = each,
                                       .accelerators = ranks,
                                       .batch = batch,
                                       .drop_last = true,
                                       .shuffle_files = shuffle,
                                       .shuffle_samples = shuffle};
    struct pr_order o;

    assert_int_equal(pr_order_init(&o, &opts, NULL), PR_OK);
    return o;
}

static void shuffles_are_those_of_numpy(void **state)
{
    static const struct {
        uint32_t seed;
        unsigned n, want[16];
    } rows[] = {
        {42, 10, {8, 1, 5, 0, 7, 2, 9, 4, 3, 6}},
        {124, 16, {11, 10, 13, 3, 6, 5, 15, 8, 4, 0, 9, 2, 7, 1, 12, 14}},
        {125, 16, {8, 4, 9, 1, 12, 11, 14, 10, 5, 0, 6, 3, 7, 2, 15, 13}},
        {7, 1, {0}},
    };
    uint64_t list[16];

    (void)state;
    pr_order_dlio_shuffle(1, NULL, 0);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (uint64_t i = 0; i < rows[r].n; i++)
            list[i] = i;
        pr_order_dlio_shuffle(rows[r].seed, list, rows[r].n);
        for (unsigned i = 0; i < rows[r].n; i++)
            assert_int_equal(list[i], rows[r].want[i]);
    }
}

/* F = 8, R = 2, two threads. Rank 1 begins in its own file and then reads
 * those of rank 0. */
static void the_golden_map_of_the_iterative_loader(void **state)
{
    static const struct {
        uint64_t batch, want[2][4];
    } rows[] = {
        {2, {{0, 1, 2, 3}, {4, 1, 2, 3}}}, /* a batch of t0, one of t1 */
        {1, {{0, 2, 1, 3}, {4, 2, 1, 3}}}, /* in turn */
    };
    const struct pr_order_dlio_opts opts = {.iterative = true, .threads = 2};

    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct pr_order o = order_of(8, 1, 2, rows[r].batch, false);
        struct pr_order_dlio *d = NULL;

        assert_int_equal(pr_order_dlio_new(&o, &opts, &d, NULL), PR_OK);
        assert_ptr_equal(o.dlio, d);
        assert_int_equal(o.batches, 4 / rows[r].batch);
        for (uint64_t a = 0; a < 2; a++)
            for (uint64_t q = 0; q < 4; q++)
                assert_int_equal(pr_order_read(&o, a, q), rows[r].want[a][q]);
        pr_order_dlio_free(d);
    }
}

static void epochs_shuffle_what_the_one_before_left(void **state)
{
    static const struct {
        bool change;
        uint32_t seeds[3];
    } rows[] = {{true, {124, 125, 126}}, {false, {123, 123, 123}}};
    uint64_t list[16];

    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct pr_order_dlio_opts opts = {
            .iterative = true, .seed = 123, .seed_change = rows[r].change};
        struct pr_order o = order_of(16, 1, 1, 4, true);
        struct pr_order_dlio *d = NULL, *late = NULL;

        for (uint64_t i = 0; i < 16; i++)
            list[i] = i;
        assert_int_equal(pr_order_dlio_new(&o, &opts, &late, NULL), PR_OK);
        pr_order_dlio_epoch(late, 3);
        assert_int_equal(pr_order_dlio_new(&o, &opts, &d, NULL), PR_OK);
        for (uint64_t e = 1; e <= 3; e++) {
            pr_order_dlio_epoch(d, e);
            pr_order_dlio_epoch(d, e); /* twice is once */
            pr_order_dlio_shuffle(rows[r].seeds[e - 1], list, 16);
            for (uint64_t q = 0; q < 16; q++)
                assert_int_equal(pr_order_read(&o, 0, q), list[q]);
        }
        for (uint64_t q = 0; q < 16; q++)
            assert_int_equal(pr_order_dlio_read(late, 0, q), list[q]);
        pr_order_dlio_free(d);
        pr_order_dlio_free(late);
    }
}

/* numpy.random.seed(42); shuffle of 10, then of 5. */
static void evaluation_goes_on_with_the_numbers_of_training(void **state)
{
    static const unsigned want[] = {1, 0, 3, 4, 2};
    const struct pr_order_dlio_opts opts = {
        .iterative = true, .seed = 42, .files_before = 10};
    struct pr_order o = order_of(5, 1, 1, 1, true);
    struct pr_order_dlio *d = NULL;

    (void)state;
    assert_int_equal(pr_order_dlio_new(&o, &opts, &d, NULL), PR_OK);
    for (uint64_t q = 0; q < 5; q++)
        assert_int_equal(pr_order_read(&o, 0, q), want[q]);
    pr_order_dlio_free(d);
}

static void index_loaders_read_in_order_whatever_is_asked_for(void **state)
{
    const struct pr_order_dlio_opts opts = {.seed = 123, .seed_change = true};
    struct pr_order o = order_of(10, 3, 4, 2, true);
    struct pr_order_dlio *d = NULL;

    (void)state;
    assert_int_equal(pr_order_dlio_new(&o, &opts, &d, NULL), PR_OK);
    assert_int_equal(o.batches, 3); /* 30 / 2 / 4 */
    assert_int_equal(o.used, 24);
    for (uint64_t a = 0; a < 4; a++) {
        assert_int_equal(pr_order_samples(&o, a), 6);
        assert_int_equal(pr_order_batches(&o, a), 3);
        for (uint64_t q = 0; q < 6; q++) {
            assert_int_equal(pr_order_read(&o, a, q), a * 8 + q);
            assert_int_equal(pr_order_place(&o, a, q), q);
            assert_int_equal(pr_order_needed(&o, a, q), q);
        }
    }
    pr_order_dlio_epoch(d, 2);
    assert_int_equal(pr_order_read(&o, 1, 0), 8);
    pr_order_dlio_free(d);
}

/* What DLIO makes: a list for each thread, then batches of them in turn.
 * Samples that fill up a batch are the thread's last one. */
static uint64_t naive_list(const struct pr_order *o, uint64_t threads,
                           uint64_t a, uint64_t *out)
{
    static uint64_t lists[MOST][2];
    uint64_t each = o->o.samples_per_file, files = o->o.files, n = 0;
    uint64_t per = (o->total + o->o.accelerators - 1) / o->o.accelerators;
    uint64_t file = a * (files / o->o.accelerators % files), end, k = 0;

    end = (a + 1) * per < o->total ? (a + 1) * per : o->total;
    for (uint64_t g = a * per; g < end; g++) {
        lists[k][0] = k / (per / threads) % threads;
        lists[k][1] = file * each + k % each;
        k++;
        file = k / each % files;
    }
    for (uint64_t turn = 0, more = 1; more; turn++) {
        more = 0;
        for (uint64_t t = 0; t < threads; t++) {
            uint64_t skip = turn * o->o.batch, take = 0, last = 0;

            for (uint64_t i = 0; i < k; i++) {
                if (lists[i][0] != t || (skip && skip--))
                    continue;
                if (take++ < o->o.batch)
                    out[n++] = last = lists[i][1];
            }
            more |= take > 0;
            for (; take && take < o->o.batch; take++)
                out[n++] = last;
        }
    }
    return n;
}

static void iterative_maps_are_those_that_dlio_lists(void **state)
{
    static uint64_t want[MOST];

    (void)state;
    for (uint64_t round = 0; round < 4000; round++) {
        struct pr_rng r;
        pr_rng_seed(&r, 77, round);
        uint64_t files = 1 + pr_rng_u64(&r) % 40;
        uint64_t each = 1 + pr_rng_u64(&r) % 4;
        uint64_t ranks = 1 + pr_rng_u64(&r) % 5;
        uint64_t per = (files * each + ranks - 1) / ranks;
        struct pr_order_dlio_opts opts = {.iterative = true,
                                          .threads = 1 + pr_rng_u64(&r) % per};
        struct pr_order o =
            order_of(files, each, ranks, 1 + pr_rng_u64(&r) % 6, false);
        struct pr_order_dlio *d = NULL;

        assert_int_equal(pr_order_dlio_new(&o, &opts, &d, NULL), PR_OK);
        for (uint64_t a = 0; a < ranks; a++) {
            uint64_t n = naive_list(&o, opts.threads, a, want);
            for (uint64_t q = 0; q < o.share; q++) {
                uint64_t got = pr_order_read(&o, a, q);
                assert_true(got < o.total);
                if (q < n && got != want[q])
                    fail_msg("round %u: rank %u reads %u, not %u",
                             (unsigned)round, (unsigned)a, (unsigned)got,
                             (unsigned)want[q]);
            }
        }
        pr_order_dlio_free(d);
    }
}

static void odd_numbers_never_leave_the_data(void **state)
{
    static const struct {
        uint64_t files, each, ranks, batch, threads;
    } rows[] = {{0, 1, 2, 1, 4},  {5, 0, 2, 1, 4},   {1, 1, 3, 1, 4},
                {3, 1, 2, 1, 99}, {10, 1, 4, 1, 0},  {9, 1, 7, 1, 3},
                {2, 7, 3, 2, 3},  {100, 1, 3, 7, 5}, {2, 1, 1, 9, 1}};

    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int how = 0; how < 4; how++) {
            struct pr_order o = order_of(rows[r].files, rows[r].each,
                                         rows[r].ranks, rows[r].batch, how & 1);
            struct pr_order_dlio_opts opts = {.iterative = how & 2,
                                              .threads = rows[r].threads};
            struct pr_order_dlio *d = NULL;

            assert_int_equal(pr_order_dlio_new(&o, &opts, &d, NULL), PR_OK);
            assert_int_equal(o.batches, rows[r].files * rows[r].each /
                                            rows[r].batch / rows[r].ranks);
            for (uint64_t a = 0; a < rows[r].ranks; a++)
                for (uint64_t q = 0; q < pr_order_samples(&o, a); q++)
                    assert_true(pr_order_read(&o, a, q) < o.total);
            pr_order_dlio_free(d);
        }
    pr_order_dlio_free(NULL);
}

static int attempt(void)
{
    const struct pr_order_dlio_opts opts = {.iterative = true};
    struct pr_order o = order_of(50, 1, 1, 1, true);
    struct pr_order_dlio *d = NULL;
    int rc = pr_order_dlio_new(&o, &opts, &d, NULL);

    if (rc)
        assert_true(!d && !o.dlio);
    pr_order_dlio_free(d);
    return rc;
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffles_are_those_of_numpy),
        cmocka_unit_test(the_golden_map_of_the_iterative_loader),
        cmocka_unit_test(epochs_shuffle_what_the_one_before_left),
        cmocka_unit_test(evaluation_goes_on_with_the_numbers_of_training),
        cmocka_unit_test(index_loaders_read_in_order_whatever_is_asked_for),
        cmocka_unit_test(iterative_maps_are_those_that_dlio_lists),
        cmocka_unit_test(odd_numbers_never_leave_the_data),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
