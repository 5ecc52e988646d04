/* Batches that are kept: again and again the same, held-out ones beside them,
 * and all of them as a file. */
#include "test_native_task.h"

#include "format/tensor_file_io.h"

#include <stdio.h>
#include <unistd.h>

enum { BATCH = 3 };

static struct pr_task_batches open_batches(const struct pr_model *m,
                                           uint64_t steps)
{
    struct pr_task_batches b;

    assert_int_equal(pr_task_batches_open(&b, m, 4, BATCH, steps, NULL), PR_OK);
    return b;
}

static bool is_same(const struct pr_model *m, const struct batch *a,
                    const struct batch *b)
{
    for (unsigned i = 0; i < m->input_count; i++)
        if (memcmp(a->in[i], b->in[i], a->bytes[i]) != 0)
            return false;
    return true;
}

static struct batch got(struct pr_task_batches *b, uint64_t step)
{
    struct batch x = batch_of(b->task.model, BATCH);

    pr_task_batches_get(b, step, x.in);
    return x;
}

/* Only as many are kept as are asked for; after them the first comes again. */
static void batches_come_around(void **state)
{
    struct work w = work_of("wlm", true, 4);
    struct pr_task_batches b = open_batches(w.model, 5);

    (void)state;
    assert_int_equal(b.count, 5);
    /* out of order: made when they are wanted */
    for (uint64_t i = 0; i < 12; i++) {
        uint64_t step = (7 * i) % 12;
        struct batch x = got(&b, step), want = made(&w, step % 5, BATCH);

        assert_true(is_same(w.model, &x, &want));
        batch_done(&x);
        batch_done(&want);
    }
    pr_task_batches_close(&b);
    b = open_batches(w.model, 1000000);
    assert_in_range(b.count, 2, 64);
    assert_int_equal(b.made, 0);
    pr_task_batches_close(&b);
    work_done(&w);
}

/* A batch that is larger than all that may be kept is kept alone. */
static void few_large_batches_are_kept(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 20);
    struct pr_model *m = model_of(a, "ssd", false);
    struct pr_task_batches b;

    (void)state;
    assert_int_equal(pr_task_batches_open(&b, m, 4, 200, 100, NULL), PR_OK);
    assert_int_equal(b.count, 1);
    pr_task_batches_close(&b);
    assert_int_equal(pr_task_batches_open(&b, m, 4, 64, 100, NULL), PR_OK);
    assert_int_equal(b.count, ((uint64_t)256 << 20) / b.bytes);
    assert_true(b.count > 1 && b.count < 64);
    pr_task_batches_close(&b);
}

static void what_cannot_be_counted_is_refused(void **state)
{
    struct work w = work_of("wlm", true, 4);
    struct pr_task_batches b;
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(
        pr_task_batches_open(&b, w.model, 4, (uint64_t)1 << 61, 9, &err),
        PR_E_NOMEM);
    assert_non_null(strstr(err.msg, "2305843009213693952 does not fit"));
    work_done(&w);
}

static void parts_of_ranks_make_a_whole(void **state)
{
    struct work w = work_of("recom", true, 4);
    struct batch whole = made(&w, 1, 2 * BATCH);

    (void)state;
    for (uint64_t rank = 0; rank < 2; rank++) {
        struct pr_task_batches b = open_batches(w.model, 9);
        struct batch x;

        b.first = rank * BATCH;
        b.columns = (uint64_t)2 * BATCH;
        x = got(&b, 1);
        for (unsigned i = 0; i < w.model->input_count; i++)
            assert_memory_equal(
                x.in[i], (char *)whole.in[i] + rank * x.bytes[i], x.bytes[i]);
        batch_done(&x);
        pr_task_batches_close(&b);
    }
    batch_done(&whole);
    work_done(&w);
}

/* No step has them, and they are the same whatever was trained before. */
static void held_out_batches_are_others(void **state)
{
    struct work w = work_of("translator", true, 4);
    struct pr_task_batches b = open_batches(w.model, 64);
    struct batch one = batch_of(w.model, BATCH), two = batch_of(w.model, BATCH);
    struct batch again = batch_of(w.model, BATCH);

    (void)state;
    pr_task_batches_get_held_out(&b, 0, one.in);
    pr_task_batches_get_held_out(&b, 1, two.in);
    assert_false(is_same(w.model, &one, &two));
    for (uint64_t i = 0; i < 64; i++) {
        struct batch x = got(&b, i);

        assert_false(is_same(w.model, &x, &one));
        assert_false(is_same(w.model, &x, &two));
        batch_done(&x);
    }
    pr_task_batches_get_held_out(&b, 0, again.in);
    assert_true(is_same(w.model, &one, &again));
    batch_done(&one);
    batch_done(&two);
    batch_done(&again);
    pr_task_batches_close(&b);
    work_done(&w);
}

/* ---- as a file */

static char path[] = "/tmp/prony-test-XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void compare(const struct pr_tensor_file *f, const struct pr_layer *l,
                    uint64_t i, const void *want)
{
    size_t count = BATCH * numbers_of(l);
    const struct pr_tensor_stored *t;
    char name[64];
    void *x = malloc(count * 4);

    assert_non_null(x);
    snprintf(name, sizeof name, "%s.%u", l->name, (unsigned)i);
    t = pr_tensor_file_find(f, name);
    if (!t)
        fail_msg("no %s", name);
    assert_string_equal(t->type_name, l->ids ? "I32" : "F32");
    assert_int_equal(t->dims, 1 + l->shape.dims);
    assert_int_equal(t->at[0], BATCH);
    for (unsigned k = 0; k < l->shape.dims; k++)
        assert_int_equal(t->at[1 + k], l->shape.at[k]);
    assert_int_equal(l->ids ? pr_tensor_file_ints(f, t, x, NULL)
                            : pr_tensor_file_floats(f, t, x, NULL),
                     PR_OK);
    assert_memory_equal(x, want, count * 4);
    free(x);
}

/* Of ids alone, of both, of pictures: every batch, each input. */
static void the_file_has_every_batch(void **state)
{
    static const char *const models[] = {"wlm", "recom", "ssd", "toy_lstm"};
    enum { STEPS = 4 };

    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct work w = work_of(models[i], true, 4);
        struct pr_task_batches b = open_batches(w.model, STEPS);
        struct pr_tensor_file f;

        assert_int_equal(pr_task_batches_save(&b, path, NULL), PR_OK);
        assert_int_equal(pr_tensor_file_open(path, w.arena, &f, NULL), PR_OK);
        assert_int_equal(f.count, STEPS * w.model->input_count);
        for (uint64_t s = 0; s < STEPS; s++) {
            struct batch want = made(&w, s, BATCH);

            for (unsigned k = 0; k < w.model->input_count; k++)
                compare(&f, &w.model->layers[k], s, want.in[k]);
            batch_done(&want);
        }
        pr_tensor_file_close(&f);
        pr_task_batches_close(&b);
        work_done(&w);
    }
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    struct work w = work_of("wlm", true, 4);
    struct pr_task_batches b = open_batches(w.model, 2);
    struct pr_err err = {0};

    (void)state;
    assert_int_not_equal(pr_task_batches_save(&b, "/not/there", &err), PR_OK);
    assert_non_null(strstr(err.where, "/not/there"));
    pr_task_batches_close(&b);
    work_done(&w);
}

static struct pr_model *tortured;

static int attempt(void)
{
    struct pr_task_batches b;
    int rc = pr_task_batches_open(&b, tortured, 4, BATCH, 4, NULL);

    if (rc)
        return rc;
    rc = pr_task_batches_save(&b, path, NULL);
    pr_task_batches_close(&b);
    return rc;
}

static void without_memory_it_says_so(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 20);

    (void)state;
    tortured = model_of(a, "ssd", true);
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_come_around),
        cmocka_unit_test(few_large_batches_are_kept),
        cmocka_unit_test(what_cannot_be_counted_is_refused),
        cmocka_unit_test(parts_of_ranks_make_a_whole),
        cmocka_unit_test(held_out_batches_are_others),
        cmocka_unit_test(the_file_has_every_batch),
        cmocka_unit_test(a_folder_that_is_not_there_is_named),
        cmocka_unit_test(without_memory_it_says_so),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
