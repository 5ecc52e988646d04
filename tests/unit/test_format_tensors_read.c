/* Files of tensors with shapes: written, read back, and refused where they are
 * not what they say. */
#include "format/tensor_file_io.h"

#include "scratch.h"
#include "torture.h"

#include <endian.h>
#include <string.h>

/* A file of this header and so many bytes after it, each its number. */
static void put_file(const char *path, const char *head, size_t body)
{
    FILE *f = fopen(path, "w");
    uint64_t len = htole64(strlen(head));

    assert_non_null(f);
    assert_int_equal(fwrite(&len, 8, 1, f), 1);
    assert_true(fputs(head, f) >= 0);
    for (size_t i = 0; i < body; i++)
        assert_true(fputc((int)i, f) != EOF);
    assert_int_equal(fclose(f), 0);
}

static int open_file(const char *path, struct pr_arena **a,
                     struct pr_tensor_file *f, struct pr_err *err)
{
    *a = pr_arena_new(4096);
    assert_non_null(*a);
    return pr_tensor_file_open(path, *a, f, err);
}

static const float weights[6] = {0, 1, -2.5f, 3, 4e30f, -5};
static const float bias[2] = {7, 8};

static int write_two(const char *path, struct pr_err *err)
{
    struct pr_tensor_writer w = PR_TENSOR_WRITER_INIT;
    int64_t two_by_three[] = {2, 1, 3}, two[] = {2}, none[] = {0, 4};
    int rc;

    pr_tensor_writer_add(&w, "conv1.weight", 3, two_by_three);
    pr_tensor_writer_add(&w, "none", 2, none);
    pr_tensor_writer_add(&w, "conv1.bias", 1, two);
    rc = pr_tensor_writer_open(&w, path, err);
    if (!rc)
        rc = pr_tensor_writer_put(&w, weights, 6, err);
    if (!rc)
        rc = pr_tensor_writer_put(&w, NULL, 0, err);
    if (!rc)
        rc = pr_tensor_writer_put(&w, bias, 2, err);
    if (!rc)
        rc = pr_tensor_writer_commit(&w, err);
    pr_tensor_writer_done(&w);
    return rc;
}

static void what_is_written_is_read(void **state)
{
    struct pr_tensor_file f;
    struct pr_arena *a;
    const struct pr_tensor_stored *t;
    float out[6];
    char shape[192];

    (void)state;
    assert_int_equal(write_two("t", NULL), PR_OK);
    assert_int_equal(open_file("t", &a, &f, NULL), PR_OK);
    assert_int_equal(f.count, 3);
    assert_int_equal(f.body % 64, 0);
    t = pr_tensor_file_find(&f, "conv1.weight");
    assert_non_null(t);
    assert_string_equal(pr_tensor_stored_shape(t, shape), "[2, 1, 3]");
    assert_int_equal(t->elements, 6);
    assert_int_equal(pr_tensor_file_floats(&f, t, out, NULL), PR_OK);
    assert_memory_equal(out, weights, sizeof weights);
    t = pr_tensor_file_find(&f, "conv1.bias");
    assert_int_equal(pr_tensor_file_floats(&f, t, out, NULL), PR_OK);
    assert_memory_equal(out, bias, sizeof bias);
    assert_int_equal(pr_tensor_file_find(&f, "none")->elements, 0);
    assert_null(pr_tensor_file_find(&f, "__metadata__"));
    assert_null(pr_tensor_file_find(&f, "conv1"));
    pr_tensor_file_close(&f);
    pr_arena_free(a);
}

static void whole_numbers_are_read(void **state)
{
    static const int64_t wide[] = {1, -2, 2147483647};
    static const int32_t narrow[] = {-5, 6};
    const char *head = "{\"a\":{\"dtype\":\"I64\",\"shape\":[3],"
                       "\"data_offsets\":[0,24]},\"b\":{\"dtype\":\"I32\","
                       "\"shape\":[2],\"data_offsets\":[24,32]}}";
    struct pr_tensor_file f;
    struct pr_arena *a;
    int32_t out[3];
    FILE *file;

    (void)state;
    put_file("t", head, 32);
    file = fopen("t", "r+");
    assert_int_equal(fseek(file, (long)strlen(head) + 8, SEEK_SET), 0);
    assert_int_equal(fwrite(wide, 8, 3, file), 3);
    assert_int_equal(fwrite(narrow, 4, 2, file), 2);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(open_file("t", &a, &f, NULL), PR_OK);
    assert_int_equal(pr_tensor_file_ints(&f, &f.tensors[0], out, NULL), PR_OK);
    assert_true(out[0] == 1 && out[1] == -2 && out[2] == 2147483647);
    assert_int_equal(pr_tensor_file_ints(&f, &f.tensors[1], out, NULL), PR_OK);
    assert_true(out[0] == -5 && out[1] == 6);
    pr_tensor_file_close(&f);
    pr_arena_free(a);
}

#define ONE(dtype, shape, offsets)                     \
    "{\"w\":{\"dtype\":" dtype ",\"shape\":" shape "," \
    "\"data_offsets\":" offsets "}}"

static void bad_headers_are_refused(void **state)
{
    static const struct {
        const char *head, *says;
        size_t body;
    } rows[] = {
        {"[]", "its header is not a map", 0},
        {"{\"w\":5}", "'w': its entry is not a map", 0},
        {"{\"w\":{}}", "dtype", 0},
        {ONE("7", "[1]", "[0,4]"), "dtype", 4},
        {ONE("\"F31\"", "[1]", "[0,4]"), "'F31' is not known", 4},
        {ONE("\"F32\"", "1", "[0,4]"), "shape", 4},
        {ONE("\"F32\"", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), "too many", 4},
        {ONE("\"F32\"", "[-1]", "[0,4]"), "shape", 4},
        {ONE("\"F32\"", "[1.5]", "[0,4]"), "shape", 4},
        {ONE("\"F32\"", "[4294967296,4294967296]", "[0,0]"), "too large", 4},
        {ONE("\"F32\"", "[4611686018427387905]", "[0,4]"), "do not agree", 4},
        {ONE("\"F32\"", "[1]", "4"), "data_offsets", 4},
        {ONE("\"F32\"", "[1]", "[0]"), "data_offsets", 4},
        {ONE("\"F32\"", "[1]", "[4,0]"), "data_offsets", 4},
        {ONE("\"F32\"", "[1]", "[-4,0]"), "data_offsets", 4},
        {ONE("\"F32\"", "[1]", "[0,8]"), "end of the file", 4},
        {ONE("\"F32\"", "[2]", "[0,4]"), "do not agree", 4},
        {ONE("\"F32\"", "[]", "[0,8]"), "do not agree", 8},
        {"{\"a\":1,\"a\":1}", "twice", 0},
        {"{", "", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_tensor_file f = {.fd = 77};
        struct pr_err err = {0};
        struct pr_arena *a;

        put_file("t", rows[i].head, rows[i].body);
        assert_int_equal(open_file("t", &a, &f, &err), PR_E_FORMAT);
        if (!strstr(err.msg, rows[i].says))
            fail_msg("%s: %s", rows[i].head, err.msg);
        assert_int_equal(f.fd, 77);
        pr_arena_free(a);
    }
}

static void other_files_are_refused(void **state)
{
    struct pr_tensor_file f;
    struct pr_err err = {0};
    struct pr_arena *a;

    (void)state;
    spit("short", "1234567");
    assert_int_equal(open_file("short", &a, &f, &err), PR_E_FORMAT);
    assert_non_null(strstr(err.msg, "safetensors"));
    pr_arena_free(a);
    spit("text", "a text that is long enough");
    assert_int_equal(open_file("text", &a, &f, &err), PR_E_FORMAT);
    pr_arena_free(a);
    assert_int_equal(open_file(".", &a, &f, &err), PR_E_IO);
    pr_arena_free(a);
    assert_int_equal(open_file("nowhere", &a, &f, &err), PR_E_IO);
    pr_arena_free(a);
}

static void types_are_not_mixed_up(void **state)
{
    struct pr_tensor_file f;
    struct pr_err err = {0};
    struct pr_arena *a;
    int64_t large = 1ll << 40;
    int32_t number;
    float out;
    FILE *file;

    (void)state;
    put_file("t", ONE("\"I64\"", "[1]", "[0,8]"), 8);
    file = fopen("t", "r+");
    assert_int_equal(fseek(file, -8, SEEK_END), 0);
    assert_int_equal(fwrite(&large, 8, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(open_file("t", &a, &f, &err), PR_OK);
    assert_int_equal(pr_tensor_file_floats(&f, &f.tensors[0], &out, &err),
                     PR_E_FORMAT);
    assert_non_null(strstr(err.msg, "'w' is I64, F32 is wanted"));
    assert_int_equal(pr_tensor_file_ints(&f, &f.tensors[0], &number, &err),
                     PR_E_FORMAT);
    assert_non_null(strstr(err.msg, "does not fit"));
    pr_tensor_file_close(&f);
    pr_arena_free(a);
    put_file("t", ONE("\"F16\"", "[1]", "[0,2]"), 2);
    assert_int_equal(open_file("t", &a, &f, &err), PR_OK);
    assert_int_equal(pr_tensor_file_floats(&f, &f.tensors[0], &out, &err),
                     PR_E_FORMAT);
    pr_tensor_file_close(&f);
    pr_arena_free(a);
}

/* One that is cut while it is open. */
static void a_file_that_shrinks_is_an_error(void **state)
{
    struct pr_tensor_file f;
    struct pr_err err = {0};
    struct pr_arena *a;
    float out[6];

    (void)state;
    assert_int_equal(write_two("t", NULL), PR_OK);
    assert_int_equal(open_file("t", &a, &f, &err), PR_OK);
    assert_int_equal(truncate("t", (off_t)f.body + 5), 0);
    assert_int_equal(pr_tensor_file_floats(&f, &f.tensors[0], out, &err),
                     PR_E_FORMAT);
    assert_non_null(strstr(err.msg, "shorter"));
    pr_tensor_file_close(&f);
    pr_arena_free(a);
}

static void a_full_disk_leaves_nothing(void **state)
{
    struct pr_err err = {0};
    int rc;

    (void)state;
    limit_files(40);
    rc = write_two("t", &err);
    limit_files(RLIM_INFINITY);
    assert_int_equal(rc, PR_E_IO);
    assert_int_equal(files_in("."), 0);
}

static void one_that_is_not_finished_leaves_the_old(void **state)
{
    struct pr_tensor_writer w = PR_TENSOR_WRITER_INIT;
    int64_t two[] = {2};
    char *text;

    (void)state;
    spit("t", "old");
    pr_tensor_writer_add(&w, "a", 1, two);
    assert_int_equal(pr_tensor_writer_open(&w, "t", NULL), PR_OK);
    assert_int_equal(pr_tensor_writer_put(&w, bias, 2, NULL), PR_OK);
    pr_tensor_writer_done(&w);
    text = slurp("t", NULL);
    assert_string_equal(text, "old");
    free(text);
    assert_int_equal(files_in("."), 1);
}

static int attempt(void)
{
    struct pr_tensor_file f;
    struct pr_arena *a;
    int rc = write_two("t", NULL);

    if (rc)
        return rc;
    a = pr_arena_new(64);
    rc = a ? pr_tensor_file_open("t", a, &f, NULL) : PR_E_NOMEM;
    if (!rc)
        pr_tensor_file_close(&f);
    pr_arena_free(a);
    return rc;
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(attempt);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_is_read),
        TEST(whole_numbers_are_read),
        TEST(bad_headers_are_refused),
        TEST(other_files_are_refused),
        TEST(types_are_not_mixed_up),
        TEST(a_file_that_shrinks_is_an_error),
        TEST(a_full_disk_leaves_nothing),
        TEST(one_that_is_not_finished_leaves_the_old),
        TEST(lack_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
