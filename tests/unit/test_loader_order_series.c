/* Epochs without end: each has every sample it uses once, another order, and
 * windows of its own. */
#include "loader/order.h"

#include "torture.h"

#include <string.h>

enum { EPOCHS = 5, MAX = 200 };

struct row {
    uint64_t files, each, batch, window;
    bool keep_last;
};

static void make(const struct row *r, struct pr_order_series *s,
                 struct pr_order *o)
{
    struct pr_order_opts opts = {.files = r->files,
                                 .samples_per_file = r->each,
                                 .accelerators = 1,
                                 .batch = r->batch,
                                 .drop_last = !r->keep_last,
                                 .shuffle_files = true,
                                 .shuffle_samples = true,
                                 .window = r->window,
                                 .seed = 7};

    assert_int_equal(pr_order_series_init(s, &opts, o, NULL), PR_OK);
}

static const struct row rows[] = {
    {64, 1, 8, 0, false},  {67, 1, 8, 0, false},  {9, 11, 10, 0, false},
    {9, 11, 10, 4, false}, {5, 20, 7, 30, false}, {3, 1, 3, 2, false},
    {64, 1, 8, 0, true},   {67, 1, 8, 0, true},   {9, 11, 10, 4, true},
    {5, 20, 7, 30, true},  {9, 1, 8, 0, true},    {5, 1, 3, 4, true},
};

static void an_epoch_has_each_sample_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t all = rows[i].files * rows[i].each;
        uint64_t used = rows[i].keep_last ? all : all - all % rows[i].batch;
        uint64_t came[EPOCHS][MAX];
        struct pr_order_series s;
        struct pr_order o;
        uint64_t moved = 0;

        make(&rows[i], &s, &o);
        assert_true(o.batches > (uint64_t)1 << 30);
        assert_int_equal(s.used, used);
        memset(came, 0xff, sizeof came);
        for (uint64_t q = 0; q < EPOCHS * used; q++) {
            uint64_t place = pr_order_place(&o, 0, q);

            moved += place != q;
            assert_int_equal(pr_order_series_epoch(&s, place), q / used);
            assert_true(came[place / used][place % used] == UINT64_MAX);
            came[place / used][place % used] = pr_order_read(&o, 0, q);
        }
        if (rows[i].window) /* read in order, delivered in another */
            assert_true(moved > used);
        else
            assert_int_equal(moved, 0);
        for (int e = 0; e < EPOCHS; e++) {
            bool seen[MAX] = {false};

            for (uint64_t p = 0; p < used; p++) {
                assert_true(came[e][p] < all);
                assert_false(seen[came[e][p]]);
                seen[came[e][p]] = true;
            }
            for (int f = 0; used > 5 && f < e; f++)
                assert_memory_not_equal(came[e], came[f], used * sizeof **came);
        }
    }
}

static void what_is_needed_suffices(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_order_series s;
        struct pr_order o;

        make(&rows[i], &s, &o);
        for (uint64_t pos = 0; pos <= 3 * s.used; pos++) {
            uint64_t need = pr_order_needed(&o, 0, pos);

            assert_true(need >= pos && need < pos + rows[i].window + 1);
            for (uint64_t q = need; q < need + 2 * rows[i].window + 2; q++)
                assert_true(pr_order_place(&o, 0, q) >= pos);
        }
    }
}

/* Position by position: batches follow one another, full but for the last one
 * of an epoch. */
static void batches_end_with_their_epoch(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t batch = 0, count = 0;
        struct pr_order_series s;
        struct pr_order o;

        make(&rows[i], &s, &o);
        assert_int_equal(s.batches,
                         (s.used + rows[i].batch - 1) / rows[i].batch);
        for (uint64_t pos = 0; pos < EPOCHS * s.used; pos++) {
            if (count == rows[i].batch || (pos && pos % s.used == 0)) {
                assert_int_equal(pr_order_batch_samples(&o, 0, batch), count);
                batch++;
                count = 0;
            }
            if (!count++)
                assert_int_equal(pr_order_batch_start(&o, batch), pos);
            assert_int_equal(pr_order_batch_of(&o, pos), batch);
        }
        assert_int_equal(batch + 1, EPOCHS * s.batches);
    }
}

/* A ring of batches has room for all that are made ready at once. */
static void more_is_enough(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t size = rows[i].batch, room, end;
        struct pr_order_series s;
        struct pr_order o;

        make(&rows[i], &s, &o);
        room = 1 + pr_order_series_more(&s);
        if (rows[i].window)
            room += 2 + 2 * (rows[i].window / size);
        for (uint64_t b = 0; b < EPOCHS * s.batches; b++) {
            uint64_t from = pr_order_batch_start(&o, b);

            end = pr_order_needed(&o, 0, from) + size - 1;
            end = pr_order_needed(&o, 0, end);
            if (end > from)
                assert_true(pr_order_batch_of(&o, end - 1) - b < room);
        }
    }
}

static void too_few_samples_have_no_batch(void **state)
{
    struct pr_order_series s;
    struct pr_order o;

    (void)state;
    for (int keep_last = 0; keep_last < 2; keep_last++) {
        struct row r = {3, 2, 7, 0, keep_last};

        make(&r, &s, &o);
        assert_int_equal(o.batches, 0);
        assert_int_equal(o.total, 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_has_each_sample_once),
        cmocka_unit_test(what_is_needed_suffices),
        cmocka_unit_test(batches_end_with_their_epoch),
        cmocka_unit_test(more_is_enough),
        cmocka_unit_test(too_few_samples_have_no_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
