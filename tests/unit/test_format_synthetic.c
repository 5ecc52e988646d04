/* Synthetic files: a number is written, nothing is read. */
#include "files_tool.h"

static void the_number_is_written(void **state)
{
    static const struct {
        uint64_t number;
        const char *want;
    } rows[] = {
        {0, "0"},
        {7, "7"},
        {1234567, "1234567"},
        {UINT64_MAX, "18446744073709551615"},
    };
    struct place p;

    (void)state;
    place_init(&p, "pread");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_file_spec spec = {.shape = {.ndim = 1, .dim = {65536}},
                                    .samples = 4,
                                    .number = rows[i].number};
        bool exact;
        size_t len;
        uint8_t *got;

        write_file(&p, "synthetic", &spec, "f");
        got = get_file(&p, "f", &len);
        assert_int_equal(len, strlen(rows[i].want));
        assert_memory_equal(got, rows[i].want, len);
        assert_int_equal(format_of("synthetic")->bytes(&spec, &exact), len);
        assert_true(exact);
        free(got);
    }
    place_done(&p);
}

static void same_as_dlio(void **state)
{
    struct pr_file_spec spec = {.number = 2, .samples = 1};
    char path[4096], whole[4096];
    struct place p;
    size_t len, want_len;
    uint8_t *got, *want;

    (void)state;
    find_dlio("synthetic/train/img_2_of_3.synthetic", path);
    assert_non_null(realpath(path, whole));
    place_init(&p, "pread");
    write_file(&p, "synthetic", &spec, "f");
    got = get_file(&p, "f", &len);
    want = get_file(&p, whole, &want_len);
    assert_int_equal(len, want_len);
    assert_memory_equal(got, want, len);
    free(got);
    free(want);
    place_done(&p);
}

static void nothing_is_opened(void **state)
{
    struct pr_read_opts opts = {.samples = 5};
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "pread");
    assert_int_equal(reading_init(&x, &p, "synthetic", &opts), PR_OK);
    assert_int_equal(reading_open(&x, "not there"), PR_OK);
    assert_int_equal(x.r->samples, 5);
    for (uint64_t i = 5; i-- > 0;) {
        x.s.size = 77;
        assert_int_equal(reading_read(&x, i), PR_OK);
        assert_int_equal(x.s.size, 0);
        assert_int_equal(pr_shape_count(&x.s.shape), 0);
        assert_false(x.s.has_label);
    }
    assert_int_equal(reading_read(&x, 5), PR_E_FORMAT);
    reading_done(&x);
    assert_int_equal(reading_init(&x, &p, "synthetic", NULL), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_int_equal(x.r->samples, 1);
    assert_true(format_of("synthetic")->flags & PR_FORMAT_EMPTY);
    reading_done(&x);
    place_done(&p);
}

static int attempt(void)
{
    struct pr_file_spec spec = {.number = 2, .samples = 1};
    struct pr_storage_opts opts = {
        .engine = "memory", .storage_type = "local_fs", .storage_root = "."};
    struct place p = {0};
    struct pr_err err = {0};
    int rc = pr_storage_open(&opts, &p.st, &err);

    if (rc)
        return rc;
    rc = try_write(&p, "synthetic", &spec, "f", &err);
    if (rc)
        assert_int_equal(place_count(&p), 0);
    pr_storage_close(p.st);
    return rc;
}

static void allocations_fail(void **state)
{
    (void)state;
    torture(attempt);
}

static void failures_leave_nothing(void **state)
{
    struct pr_file_spec spec = {.compression = PR_GZIP};
    struct pr_err err = {0};
    struct place p;

    (void)state;
    place_init(&p, "pread");
    assert_int_equal(try_write(&p, "synthetic", &spec, "f", &err), PR_E_CONF);
    assert_string_equal(err.where, "dataset.compression");
    spec.compression = PR_PLAIN;
    assert_int_equal(try_write(&p, "synthetic", &spec, "no/f", &err), PR_E_IO);
    assert_int_equal(place_count(&p), 0);
    place_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_is_written),
        cmocka_unit_test(same_as_dlio),
        cmocka_unit_test(nothing_is_opened),
        cmocka_unit_test(allocations_fail),
        cmocka_unit_test(failures_leave_nothing),
    };

    return cmocka_run_group_tests_name("synthetic", tests, NULL, NULL);
}
