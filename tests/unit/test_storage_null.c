/* Engine null when it stands for a whole data set: every name is there, with
 * bytes that are not copied. */
#include "test_storage.h"

static const struct pr_storage_opts null_opts = {.engine = "null"};

static const struct pr_storage_served rows[] = {
    {".off.idx", "offsets", 7},
    {".idx", "index", 5},
    {"", "0123456789", 10},
};

enum { ROWS = sizeof rows / sizeof *rows };

static struct pr_storage *open_serving(const struct pr_storage_opts *opts)
{
    struct pr_storage *st = open_storage(opts);
    struct pr_err err = {0};

    if (pr_storage_serve(st, rows, ROWS, NULL, &err))
        fail_msg("%s: %s", err.where, err.msg);
    return st;
}

static void every_name_is_there(void **state)
{
    static const struct {
        const char *name;
        int row;
    } names[] = {
        {"a/b/c", 2},         {"/data/f.npz", 2}, {"f.bin.off.idx", 0},
        {"f.bin.sz.idx", 1},  {"idx", 2},         {".idx", 1},
        {"x/../.off.idx", 0}, {"off.idx", 1},
    };
    struct pr_storage *st = open_serving(&null_opts);

    (void)state;
    for (int written = 0; written < 2; written++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const struct pr_storage_served *want = &rows[names[i].row];
            struct pr_object_info info = {0};
            struct pr_object o = open_object(st, names[i].name);
            uint8_t buf[10 + PR_IO_SLACK];
            const uint8_t *got = NULL;

            assert_int_equal(o.size, want->bytes);
            assert_ptr_equal(o.map, want->data);
            assert_int_equal(
                pr_object_fetch(&o, 1, 4, buf, sizeof buf, &got, NULL), 0);
            assert_ptr_equal(got, (const uint8_t *)want->data + 1);
            assert_int_equal(pr_object_read(&o, 1, 4, buf, NULL), 0);
            assert_memory_equal(buf, (const uint8_t *)want->data + 1, 4);
            assert_int_equal(pr_object_read(&o, 0, 11, buf, NULL), PR_E_FORMAT);
            pr_object_close(&o);
            assert_int_equal(pr_storage_stat(st, names[i].name, &info, NULL),
                             1);
            assert_int_equal(info.size, want->bytes);
            assert_false(info.is_folder);
        }
        make(st, "somewhere/else", "x", 1); /* names are looked up now */
    }
    pr_storage_close(st);
}

static void what_was_written_is_what_it_was(void **state)
{
    struct pr_storage *st = open_serving(&null_opts);
    struct pr_object_info info;
    struct pr_object o;

    (void)state;
    assert_int_equal(pr_object_open(st, "", &o, NULL), PR_E_IO);
    make(st, "d/f", "abc", 3);
    assert_object(st, "d/f", "\0\0\0", 3);
    assert_int_equal(pr_object_open(st, "d", &o, NULL), PR_E_IO);
    assert_int_equal(pr_storage_stat(st, "d/f", &info, NULL), 1);
    assert_int_equal(info.size, 3);
    assert_int_equal(pr_storage_stat(st, "d", &info, NULL), 1);
    assert_true(info.is_folder);
    assert_object(st, "d/g", "0123456789", 10);
    assert_int_equal(count_in(st, "d"), 1);
    assert_int_equal(pr_storage_remove(st, "d/f", NULL), PR_OK);
    assert_object(st, "d/f", "0123456789", 10);
    o = create(st, "d/h", 0); /* not there until it is committed */
    assert_object(st, "d/h", "0123456789", 10);
    pr_object_discard(&o);
    pr_storage_close(st);
}

static void where_no_row_fits_it_is_empty(void **state)
{
    struct pr_storage *st = open_storage(&null_opts);
    struct pr_object_info info;
    struct pr_object o;

    (void)state;
    assert_int_equal(pr_storage_serve(st, rows, 2, NULL, NULL), PR_OK);
    assert_object(st, "f.idx", "index", 5);
    o = open_object(st, "f.npz");
    assert_int_equal(o.size, 0);
    assert_null(o.map);
    pr_object_close(&o);
    assert_int_equal(pr_storage_stat(st, "f.npz", &info, NULL), 0);
    pr_storage_close(st);
}

static void storages_beside_share_it(void **state)
{
    struct pr_storage *first = open_storage(&null_opts), *before = NULL,
                      *after = NULL;

    (void)state;
    assert_int_equal(pr_storage_open_beside(first, &before, NULL), PR_OK);
    assert_int_equal(pr_storage_serve(first, rows, ROWS, NULL, NULL), PR_OK);
    assert_int_equal(pr_storage_open_beside(first, &after, NULL), PR_OK);
    pr_storage_close(first);
    assert_object(before, "x", "0123456789", 10);
    assert_object(after, "x", "0123456789", 10);
    pr_storage_close(before);
    assert_object(after, "x.idx", "index", 5);
    pr_storage_close(after);
}

static void it_is_said_once(void **state)
{
    struct pr_storage *st = open_serving(&null_opts);
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(pr_storage_serve(st, rows, 1, NULL, &err), PR_E_CONF);
    assert_says(&err, "set already");
    assert_object(st, "x", "0123456789", 10);
    pr_storage_close(st);
}

static void others_cannot(void **state)
{
    static const char *const engines[] = {"pread", "direct", "mmap", "io_uring",
                                          "memory"};

    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct pr_storage_opts opts = {.engine = engines[i],
                                       .storage_root = "/tmp"};
        struct pr_storage *st = open_storage(&opts);
        struct pr_err err = {0};

        assert_int_equal(pr_storage_serve(st, rows, ROWS, NULL, &err),
                         PR_E_CONF);
        assert_string_equal(err.where, "storage.engine");
        assert_says(&err, pr_storage_engine(st));
        pr_storage_close(st);
    }
}

static void long_endings_are_refused(void **state)
{
    static const struct pr_storage_served longest = {
        "123456789 123456789 123456789 123456789 123456789 123456789 1234", "x",
        1};
    const struct pr_storage_served fits = {longest.ending + 1, "y", 1};
    struct pr_storage *st = open_storage(&null_opts);

    (void)state;
    assert_int_equal(pr_storage_serve(st, &longest, 1, NULL, NULL), PR_E_CONF);
    assert_int_equal(pr_storage_serve(st, &fits, 1, NULL, NULL), PR_OK);
    assert_object(st, longest.ending, "y", 1);
    pr_storage_close(st);
}

/* A wrapper hides the map, so that all bytes pass through it. */
static void wrappers_see_the_bytes(void **state)
{
    struct pr_storage_opts opts = {
        .engine = "null", .throttle = 1ull << 40, .fault = "eio:read:3"};
    struct pr_storage *st = open_serving(&opts);
    struct pr_object o = open_object(st, "x");
    uint8_t buf[10 + PR_IO_SLACK];
    const uint8_t *got;

    (void)state;
    assert_null(o.map);
    assert_int_equal(pr_object_fetch(&o, 0, 10, buf, sizeof buf, &got, NULL),
                     0);
    assert_memory_equal(got, "0123456789", 10);
    assert_int_equal(pr_object_read(&o, 9, 1, buf, NULL), 0);
    assert_int_equal(buf[0], '9');
    assert_int_equal(pr_object_read(&o, 9, 1, buf, NULL), PR_E_IO);
    pr_object_close(&o);
    pr_storage_close(st);
}

/* Nobody has to make folders, but names and sizes are kept. */
static void folders_are_published_from_nowhere(void **state)
{
    struct pr_storage *st = open_storage(&null_opts);
    struct pr_object_info info = {0};
    bool swapped = true;

    (void)state;
    make(st, "x/.part-a/f", "123", 3);
    assert_int_equal(
        pr_storage_publish(st, "x/.part-a", "y/z/a", true, &swapped, NULL), 0);
    assert_false(swapped);
    make(st, "x/.part-a/f", "4567", 4);
    assert_int_equal(
        pr_storage_publish(st, "x/.part-a", "y/z/a", true, &swapped, NULL), 0);
    assert_true(swapped);
    assert_int_equal(pr_storage_stat(st, "y/z/a/f", &info, NULL), 1);
    assert_int_equal(info.size, 4);
    assert_int_equal(pr_storage_stat(st, "x/.part-a/f", &info, NULL), 1);
    assert_int_equal(info.size, 3);
    assert_int_equal(pr_storage_remove_all(st, "x", NULL), PR_OK);
    assert_int_equal(pr_storage_stat(st, "x", &info, NULL), 0);
    pr_storage_close(st);
}

/* The sanitizer build watches that the owner is closed, and once. */
static int serve_from_memory(void)
{
    static const struct pr_storage_opts memory = {.engine = "memory"};
    struct pr_storage *st = NULL, *owner = NULL;
    struct pr_storage_served row = {"", "", 0};
    struct pr_object o;
    int rc = pr_storage_open(&null_opts, &st, NULL);

    if (!rc)
        rc = pr_storage_open(&memory, &owner, NULL);
    if (!rc)
        rc = pr_object_create(owner, "f", 0, &o, NULL);
    if (!rc && pr_object_write(&o, 0, "abc", 3, NULL)) {
        pr_object_discard(&o);
        rc = PR_E_NOMEM;
    } else if (!rc) {
        rc = pr_object_commit(&o, NULL);
    }
    if (!rc)
        rc = pr_object_open(owner, "f", &o, NULL);
    if (!rc) {
        row = (struct pr_storage_served){"", o.map, o.size};
        pr_object_close(&o);
        rc = pr_storage_serve(st, &row, 1, owner, NULL);
    }
    if (rc)
        pr_storage_close(owner);
    else
        assert_object(st, "any", "abc", 3);
    pr_storage_close(st);
    return rc;
}

static void an_owner_is_closed_at_the_end(void **state)
{
    (void)state;
    torture(serve_from_memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_is_there),
        cmocka_unit_test(what_was_written_is_what_it_was),
        cmocka_unit_test(where_no_row_fits_it_is_empty),
        cmocka_unit_test(storages_beside_share_it),
        cmocka_unit_test(it_is_said_once),
        cmocka_unit_test(others_cannot),
        cmocka_unit_test(long_endings_are_refused),
        cmocka_unit_test(wrappers_see_the_bytes),
        cmocka_unit_test(folders_are_published_from_nowhere),
        cmocka_unit_test(an_owner_is_closed_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
