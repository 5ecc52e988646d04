/*
 * Orders of samples: for thousands of random set-ups every sample comes at
 * most once, what is dropped is what must be, windows keep their bounds.
 */
#include "loader/order.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 4096, ROUNDS = 6000 };

static uint8_t seen[MOST];
static uint64_t read_at[MOST]; /* which read is delivered at a position */

static struct pr_order order_of(const struct pr_order_opts *opts)
{
    struct pr_order o;

    assert_int_equal(pr_order_init(&o, opts, NULL), PR_OK);
    return o;
}

static uint64_t up_to(struct pr_rng *r, uint64_t max)
{
    return pr_rng_u64(r) % (max + 1);
}

static struct pr_order_opts random_opts(struct pr_rng *r)
{
    static const uint64_t files[] = {0, 1, 2, 3, 8, 40, 200};
    static const uint64_t batches[] = {1, 2, 4, 9, 40};
    uint64_t each = 1 + up_to(r, 1) * up_to(r, 12);

    return (struct pr_order_opts){
        .files = up_to(r, files[up_to(r, 6)]),
        .samples_per_file = each,
        .accelerators = 1 + up_to(r, up_to(r, 3) ? 4 : 30),
        .batch = 1 + up_to(r, batches[up_to(r, 4)]),
        .drop_last = up_to(r, 1),
        .shared = up_to(r, 1),
        .shuffle_files = up_to(r, 1),
        .shuffle_samples = up_to(r, 1),
        .window = up_to(r, 1) * up_to(r, up_to(r, 1) ? 100 : 8),
        .seed = pr_rng_u64(r),
    };
}

/* Calls check for many set-ups; the number of a failing one is printed. */
static void for_random_orders(void (*check)(const struct pr_order *o))
{
    struct pr_rng r;

    for (uint64_t round = 0; round < ROUNDS; round++) {
        pr_rng_seed(&r, 2024, round);
        struct pr_order_opts opts = random_opts(&r);
        struct pr_order o = order_of(&opts);
        check(&o);
    }
}

static void check_each_once(const struct pr_order *o)
{
    const struct pr_order_opts *p = &o->o;
    uint64_t total = p->files * p->samples_per_file, count = 0, most = 0;
    uint64_t left = p->drop_last ? total % (p->batch * p->accelerators) : 0;

    memset(seen, 0, sizeof seen);
    for (uint64_t a = 0; a < p->accelerators; a++) {
        uint64_t n = pr_order_samples(o, a);

        for (uint64_t q = 0; q < n; q++, count++) {
            uint64_t sample = pr_order_read(o, a, q);
            assert_true(sample < total);
            assert_int_equal(seen[sample]++, 0);
        }
        if (p->drop_last)
            assert_int_equal(n % p->batch, 0);
        assert_int_equal(pr_order_batches(o, a), (n + p->batch - 1) / p->batch);
        if (n > most)
            most = n;
        assert_true(most - n <= 1); /* fair: nobody is two ahead */
        if (p->drop_last)
            assert_int_equal(n, most);
    }
    assert_int_equal(o->total, total);
    assert_int_equal(o->used, count);
    assert_int_equal(count, total - left);
    assert_int_equal(o->batches, (most + p->batch - 1) / p->batch);
}

static void each_sample_comes_once_but_for_those_dropped(void **state)
{
    (void)state;
    for_random_orders(check_each_once);
}

static void check_places(const struct pr_order *o)
{
    uint64_t w = o->o.shuffle_samples ? o->o.window : 0;

    for (uint64_t a = 0; a < o->o.accelerators; a++) {
        uint64_t n = pr_order_samples(o, a);

        memset(seen, 0, n);
        for (uint64_t q = 0; q < n; q++) {
            uint64_t place = pr_order_place(o, a, q);
            assert_true(place < n);
            assert_int_equal(seen[place]++, 0);
            if (!w)
                assert_int_equal(place, q);
            else
                assert_int_equal(place / w, q / w);
        }
    }
}

static void places_are_a_permutation_within_the_window(void **state)
{
    (void)state;
    for_random_orders(check_places);
}

static void check_needed(const struct pr_order *o)
{
    uint64_t w = o->o.shuffle_samples ? o->o.window : 0;

    for (uint64_t a = 0; a < o->o.accelerators; a++) {
        uint64_t n = pr_order_samples(o, a), least = 0;

        for (uint64_t q = 0; q < n; q++)
            read_at[pr_order_place(o, a, q)] = q;
        assert_int_equal(pr_order_needed(o, a, 0), 0);
        for (uint64_t pos = 1; pos <= n; pos++) {
            uint64_t needed = pr_order_needed(o, a, pos);

            if (read_at[pos - 1] + 1 > least)
                least = read_at[pos - 1] + 1;
            assert_true(needed >= least && needed <= n);
            if (!w)
                assert_int_equal(needed, pos);
            else if (pos % w && pos < n) /* to the end of the window */
                assert_int_equal(needed,
                                 n < pos - pos % w + w ? n : pos - pos % w + w);
            else /* a window is complete: not one more */
                assert_int_equal(needed, least);
        }
    }
}

static void needed_reads_cover_what_is_delivered(void **state)
{
    (void)state;
    for_random_orders(check_needed);
}

/* In pieces: accelerator by accelerator; shared: in turn. Both times the same
 * sequence of samples. */
static void check_dealing(const struct pr_order *o)
{
    struct pr_order_opts opts = o->o;
    struct pr_order other;
    uint64_t at = 0;

    opts.shared = true;
    other = order_of(&opts);
    opts.shared = false;
    struct pr_order pieces = order_of(&opts);
    for (uint64_t a = 0; a < opts.accelerators; a++)
        for (uint64_t q = 0; q < pr_order_samples(&pieces, a); q++, at++)
            assert_int_equal(pr_order_read(&pieces, a, q),
                             pr_order_read(&other, at % opts.accelerators,
                                           at / opts.accelerators));
}

static void pieces_and_shares_are_cut_from_one_sequence(void **state)
{
    (void)state;
    for_random_orders(check_dealing);
}

/* Without a shuffle in order; with one of files, files stay whole. */
static void check_sequence(const struct pr_order *o)
{
    struct pr_order_opts opts = o->o;
    uint64_t each = opts.samples_per_file;

    if (opts.shuffle_samples && !opts.window)
        return;
    opts.shared = opts.drop_last = false;
    opts.accelerators = 1;
    struct pr_order one = order_of(&opts);
    for (uint64_t q = 0; q < one.used; q++) {
        uint64_t sample = pr_order_read(&one, 0, q);
        if (!opts.shuffle_files)
            assert_int_equal(sample, q);
        else {
            assert_int_equal(sample % each, q % each);
            assert_int_equal(sample / each,
                             pr_order_read(&one, 0, q - q % each) / each);
        }
    }
}

static void files_are_read_whole_unless_samples_are_shuffled(void **state)
{
    (void)state;
    for_random_orders(check_sequence);
}

static unsigned differences(const struct pr_order *a, const struct pr_order *b)
{
    unsigned n = 0;

    for (uint64_t q = 0; q < pr_order_samples(a, 0); q++)
        n += pr_order_read(a, 0, q) != pr_order_read(b, 0, q) ||
             pr_order_place(a, 0, q) != pr_order_place(b, 0, q);
    return n;
}

static void seeds_decide_the_order(void **state)
{
    static const struct {
        bool files, samples;
        uint64_t window, each;
        unsigned least; /* of 200 that must differ */
    } rows[] = {
        {false, false, 0, 10, 0}, {true, false, 0, 1, 180},
        {true, false, 0, 5, 150}, {false, true, 0, 10, 180},
        {true, true, 0, 10, 180}, {false, true, 16, 10, 150},
        {true, true, 4, 1, 180},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_order_opts opts = {.files = 400 / rows[i].each,
                                     .samples_per_file = rows[i].each,
                                     .accelerators = 2,
                                     .batch = 4,
                                     .drop_last = true,
                                     .shuffle_files = rows[i].files,
                                     .shuffle_samples = rows[i].samples,
                                     .window = rows[i].window,
                                     .seed = 123};
        struct pr_order one = order_of(&opts), again = order_of(&opts);
        unsigned n;

        assert_int_equal(differences(&one, &again), 0);
        opts.seed++;
        struct pr_order next = order_of(&opts);
        n = differences(&one, &next);
        if (n < rows[i].least || (!rows[i].least && n))
            fail_msg("row %zu: %u differ", i, n);
    }
}

/* Each window, and each accelerator, has a shuffle of its own. */
static void windows_are_shuffled_apart(void **state)
{
    const struct pr_order_opts opts = {.files = 2000,
                                       .samples_per_file = 1,
                                       .accelerators = 2,
                                       .batch = 1,
                                       .shuffle_samples = true,
                                       .window = 100};
    struct pr_order o = order_of(&opts);
    unsigned same[2] = {0};

    (void)state;
    for (uint64_t q = 0; q < 900; q++) {
        uint64_t place = pr_order_place(&o, 0, q);
        same[0] += pr_order_place(&o, 0, q + 100) == place + 100;
        same[1] += pr_order_place(&o, 1, q) == place;
    }
    assert_in_range(same[0], 0, 30); /* 9 by chance */
    assert_in_range(same[1], 0, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_comes_once_but_for_those_dropped),
        cmocka_unit_test(places_are_a_permutation_within_the_window),
        cmocka_unit_test(needed_reads_cover_what_is_delivered),
        cmocka_unit_test(pieces_and_shares_are_cut_from_one_sequence),
        cmocka_unit_test(files_are_read_whole_unless_samples_are_shuffled),
        cmocka_unit_test(seeds_decide_the_order),
        cmocka_unit_test(windows_are_shuffled_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
