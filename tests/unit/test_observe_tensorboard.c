/* Event files: records by the byte, flushed while open, whole when the disk is
 * full. */
#include "observe/tensorboard.h"

#include "base/clock.h"
#include "base/codec/checksum.h"
#include "format/tfrecord.h"
#include "scratch.h"
#include "torture.h"

#include <fnmatch.h>
#include <pthread.h>

static char path[512]; /* of the event file in folder "b" */

static void find_file(void)
{
    DIR *d = opendir("b");
    struct dirent *e;

    assert_non_null(d);
    path[0] = '\0';
    while ((e = readdir(d)))
        if (fnmatch("events.out.tfevents.[0-9]*.*.[0-9]*", e->d_name, 0) == 0)
            snprintf(path, sizeof path, "b/%s", e->d_name);
    closedir(d);
    assert_int_not_equal(path[0], '\0');
}

static struct pr_tensorboard *open_board(void)
{
    struct pr_err err = {0};
    struct pr_tensorboard *b = NULL;

    if (pr_tensorboard_open("b", &b, &err))
        fail_msg("%s: %s", err.where, err.msg);
    find_file();
    return b;
}

/* Payload of record i in the file's bytes; NULL: there are fewer. Everything
 * in front of it must be sound. */
static const uint8_t *record(const char *data, size_t len, size_t i,
                             uint64_t *ret_len)
{
    const uint8_t *p = (const uint8_t *)data, *end = p + len;

    for (;; i--) {
        if (p == end)
            return NULL;
        assert_true(end - p >= PR_TFRECORD_FRAME);
        assert_true(pr_tfrecord_read_length(p, ret_len));
        assert_true(*ret_len <= (size_t)(end - p) - PR_TFRECORD_FRAME);
        p += PR_TFRECORD_HEAD;
        assert_int_equal(pr_tfrecord_load32(p + *ret_len),
                         pr_tfrecord_mask(pr_crc32c(0, p, *ret_len)));
        if (!i)
            return p;
        p += *ret_len + PR_TFRECORD_FOOT;
    }
}

static size_t count_records(const char *data, size_t len)
{
    uint64_t ignored;
    size_t n = 0;

    while (record(data, len, n, &ignored))
        n++;
    return n;
}

/* Messages as protoc writes them: keys, lengths and numbers by hand. */
static void scalars_are_these_bytes(void **state)
{
    static const struct {
        const char *tag;
        int64_t step;
        double value;
        uint64_t wall_ns;
        size_t len;
        const char *bytes;
    } rows[] = {
        /* wall 1.5, step 1, "ab" 2.0 */
        {"ab", 1, 2, 1500000000, 24,
         "\x09\0\0\0\0\0\0\xf8\x3f"
         "\x10\x01"
         "\x2a\x0b\x0a\x09"
         "\x0a\x02"
         "ab"
         "\x15\0\0\0\x40"},
        /* wall 0, step 300, "x" -0.5 */
        {"x", 300, -0.5, 0, 24,
         "\x09\0\0\0\0\0\0\0\0"
         "\x10\xac\x02"
         "\x2a\x0a\x0a\x08"
         "\x0a\x01"
         "x"
         "\x15\0\0\0\xbf"},
        {"x", -1, 0, 0, 32,
         "\x09\0\0\0\0\0\0\0\0"
         "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
         "\x2a\x0a\x0a\x08"
         "\x0a\x01"
         "x"
         "\x15\0\0\0\0"},
    };
    struct pr_tensorboard *b = open_board();
    uint64_t n;
    size_t len;
    const uint8_t *p;
    char *data;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        pr_tensorboard_add_scalar(b, rows[i].tag, rows[i].step, rows[i].value,
                                  rows[i].wall_ns);
    assert_int_equal(pr_tensorboard_close(b, NULL), PR_OK);
    data = slurp(path, &len);
    p = record(data, len, 0, &n);
    assert_int_equal(n, 9 + 15);
    assert_memory_equal(p + 9,
                        "\x1a\x0d"
                        "brain.Event:2",
                        15);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        p = record(data, len, i + 1, &n);
        assert_int_equal(n, rows[i].len);
        assert_memory_equal(p, rows[i].bytes, n);
    }
    assert_null(record(data, len, 1 + sizeof rows / sizeof *rows, &n));
    free(data);
}

/* A tag whose lengths need two bytes each. */
static void long_tags(void **state)
{
    struct pr_tensorboard *b = open_board();
    char tag[201], *data;
    const uint8_t *p;
    uint64_t n;
    size_t len;

    (void)state;
    memset(tag, 't', 200);
    tag[200] = '\0';
    pr_tensorboard_add_scalar(b, tag, 0, 1, 0);
    assert_int_equal(pr_tensorboard_close(b, NULL), PR_OK);
    data = slurp(path, &len);
    p = record(data, len, 1, &n);
    /* value: 3 + 200 + 5 = 208; summary: 3 + 208 = 211 */
    assert_int_equal(n, 9 + 2 + 3 + 211);
    assert_memory_equal(p + 9, "\x10\0\x2a\xd3\x01\x0a\xd0\x01\x0a\xc8\x01",
                        11);
    free(data);
}

static size_t size_now(void)
{
    size_t len;

    free(slurp(path, &len));
    return len;
}

static void it_can_be_watched(void **state)
{
    struct pr_tensorboard *b = open_board();
    uint64_t start = pr_clock_ns();
    size_t head = size_now(); /* the version is there at once */

    (void)state;
    assert_int_equal(head, 16 + 24);
    pr_tensorboard_add_scalar(b, "a", 1, 1, 1);
    pr_tensorboard_add_scalar(b, "a", 2, 1, 1);
    while (size_now() == head && pr_clock_ns() - start < 60000000000u)
        usleep(20000);
    assert_true(size_now() > head + 40);
    assert_int_equal(pr_tensorboard_close(b, NULL), PR_OK);
}

enum { THREADS = 4, SCALARS = 20000 };

static void *work(void *arg)
{
    for (int i = 0; i < SCALARS; i++)
        pr_tensorboard_add_scalar(arg, "train/throughput", i, i, 1);
    return NULL;
}

static void threads_may_share_a_board(void **state)
{
    struct pr_tensorboard *b = open_board();
    pthread_t id[THREADS];
    const uint8_t *p;
    size_t len;
    char *data;
    uint64_t n = 0;
    size_t records = 1;

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&id[i], NULL, work, b), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
    assert_int_equal(pr_tensorboard_close(b, NULL), PR_OK);
    data = slurp(path, &len);
    p = record(data, len, 0, &n);
    while ((char *)p + n + PR_TFRECORD_FOOT < data + len) {
        const char *next = (const char *)p + n + PR_TFRECORD_FOOT;

        p = record(next, (size_t)(data + len - next), 0, &n);
        records++;
    }
    assert_int_equal(records, 1 + THREADS * SCALARS);
    free(data);
}

static void boards_in_one_second_have_names_of_their_own(void **state)
{
    struct pr_tensorboard *a = open_board(), *b = open_board(),
                          *c = open_board();

    (void)state;
    assert_int_equal(files_in("b"), 3);
    assert_int_equal(pr_tensorboard_close(a, NULL), PR_OK);
    assert_int_equal(pr_tensorboard_close(b, NULL), PR_OK);
    assert_int_equal(pr_tensorboard_close(c, NULL), PR_OK);
}

static void a_full_disk_comes_up_at_the_end(void **state)
{
    struct pr_err err = {0};
    struct pr_tensorboard *b = open_board();
    char *data;
    size_t len;

    (void)state;
    limit_files(1000);
    for (int i = 0; i < 100000; i++)
        pr_tensorboard_add_scalar(b, "a", i, i, 1);
    assert_int_equal(pr_tensorboard_close(b, &err), PR_E_IO);
    limit_files(RLIM_INFINITY);
    assert_string_equal(err.where, path);
    assert_int_not_equal(err.sys_errno, 0);
    data = slurp(path, &len);
    assert_true(count_records(data, len) >= 1);
    free(data);
}

static void a_full_disk_at_the_start(void **state)
{
    struct pr_err err = {0};
    struct pr_tensorboard *b = NULL;

    (void)state;
    limit_files(10);
    assert_int_equal(pr_tensorboard_open("b", &b, &err), PR_E_IO);
    limit_files(RLIM_INFINITY);
    assert_null(b);
    assert_int_equal(files_in("b"), 0);
}

static void a_file_in_the_way(void **state)
{
    struct pr_err err = {0};
    struct pr_tensorboard *b = NULL;

    (void)state;
    spit("b", "");
    assert_int_equal(pr_tensorboard_open("b/c", &b, &err), PR_E_IO);
    assert_null(b);
}

static void nothing_is_fine(void **state)
{
    (void)state;
    pr_tensorboard_add_scalar(NULL, "a", 1, 1, 1);
    assert_int_equal(pr_tensorboard_close(NULL, NULL), PR_OK);
}

static int attempt(void)
{
    struct pr_tensorboard *b;
    int rc = pr_tensorboard_open("b", &b, NULL);

    if (rc)
        return rc;
    for (int i = 0; i < 100; i++)
        pr_tensorboard_add_scalar(b, "a", i, i, 1);
    return pr_tensorboard_close(b, NULL);
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(scalars_are_these_bytes),
        TEST(long_tags),
        TEST(it_can_be_watched),
        TEST(threads_may_share_a_board),
        TEST(boards_in_one_second_have_names_of_their_own),
        TEST(a_full_disk_comes_up_at_the_end),
        TEST(a_full_disk_at_the_start),
        TEST(a_file_in_the_way),
        TEST(nothing_is_fine),
        TEST(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
