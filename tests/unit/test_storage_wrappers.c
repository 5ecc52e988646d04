/* What stands around an engine: made-up errors, slowness, traces. */
#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "test_storage.h"
#include "virtual_clock.h"

#include <errno.h>
#include <sys/resource.h>

static int enter(void **state)
{
    (void)state;
    return enter_dir("/tmp");
}

static int leave(void **state)
{
    (void)state;
    return leave_dir();
}

/* ---- fault */

static void a_bad_list_is_refused(void **state)
{
    static const struct {
        const char *list, *says;
    } rows[] = {
        {"eio", "expected three parts"},
        {"eio:read", "expected three parts"},
        {"eio:read:1,", NULL}, /* a comma at the end does no harm */
        {"eio:read:1,,", "expected three parts"},
        {"eoi:read:1", "'eoi:read:1': the kinds are"},
        {":read:1", "the kinds are"},
        {"eio:reed:1", "the operations are"},
        {"eio::1", "the operations are"},
        {"short:write:1", "cannot happen"},
        {"enospc:read:1", "cannot happen"},
        {"eacces:read:1", "cannot happen"},
        {"short:sync:1", "cannot happen"},
        {"eacces:commit:1", "cannot happen"},
        {"eio:sync:1,eio:commit:2,eio:publish:3", NULL},
        {"enospc:sync:0.1,enospc:commit:0.1,enospc:publish:0.1", NULL},
        {"eio:read:", "a probability between 0 and 1"},
        {"eio:read:0", "a probability between 0 and 1"},
        {"eio:read:-1", "a probability between 0 and 1"},
        {"eio:read:1.5", "a probability between 0 and 1"},
        {"eio:read:often", "a probability between 0 and 1"},
        {"eio:read:nan", "a probability between 0 and 1"},
        {"eio:read:1:2", "a probability between 0 and 1"},
        {"eio:read:1, enospc:write:0.5 ,eacces:open:7", NULL},
        {"eio:open:3,short:read:0.999999", NULL},
        {"eio:read:"
         "0000000000000000000000000000000000000000000000000000000000001",
         "too long"},
        {"eio:read:1,eio:read:2,eio:read:3,eio:read:4,eio:read:5,eio:read:6,"
         "eio:read:7,eio:read:8,eio:read:9,eio:read:10,eio:read:11,"
         "eio:read:12,eio:read:13,eio:read:14,eio:read:15,eio:read:16,"
         "eio:read:17",
         "too long"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_storage_opts opts = {.fault = rows[i].list};
        struct pr_storage *st = NULL;
        struct pr_err err = {0};
        int rc = pr_storage_open(&opts, &st, &err);

        if ((rc == PR_OK) != !rows[i].says)
            fail_msg("'%s' gave %d: %s", rows[i].list, rc, err.msg);
        if (rc) {
            assert_int_equal(rc, PR_E_CONF);
            assert_string_equal(err.where, "storage.fault");
            assert_says(&err, rows[i].says);
        }
        pr_storage_close(st);
    }
}

static struct pr_storage *with_fault(struct pr_storage_opts *opts,
                                     const char *list)
{
    *opts = (struct pr_storage_opts){.engine = "memory", .fault = list};
    return open_storage(opts);
}

static void the_numbered_call_fails(void **state)
{
    struct pr_storage_opts opts;
    struct pr_storage *st =
        with_fault(&opts, "eio:read:3,short:read:5,enospc:write:2");
    static const struct {
        int code, sys_errno;
        const char *says;
    } reads[] = {
        {0, 0, ""},
        {0, 0, ""},
        {PR_E_IO, EIO, "cannot read 10 bytes at byte 5: Input/output error"},
        {0, 0, ""},
        {PR_E_IO, 0, "ends at byte 10, but had 20 bytes"},
        {0, 0, ""},
    };
    struct pr_err err = {0};
    uint8_t buf[10 + PR_IO_SLACK];
    const uint8_t *got;

    (void)state;
    make(st, "f", "01234567890123456789", 20);
    struct pr_object o = open_object(st, "f");

    assert_null(o.map); /* there is no way around */
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        int rc = i % 2
                     ? pr_object_read(&o, 5, 10, buf, &err)
                     : pr_object_fetch(&o, 5, 10, buf, sizeof buf, &got, &err);
        assert_int_equal(rc, reads[i].code);
        if (!rc)
            continue;
        assert_says(&err, reads[i].says);
        assert_int_equal(err.sys_errno, reads[i].sys_errno);
        assert_non_null(strstr(err.hint, "storage.fault"));
        assert_string_equal(err.where, "f");
    }
    pr_object_close(&o);
    o = create(st, "g", 0);
    assert_int_equal(pr_object_write(&o, 7, "x", 1, &err), PR_E_IO);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_says(&err, "cannot write 1 bytes at byte 7");
    pr_object_discard(&o);
    assert_int_equal(count_in(st, ""), 1);
    pr_storage_close(st);
}

static void opening_fails_to_order(void **state)
{
    struct pr_storage_opts opts;
    struct pr_storage *st = with_fault(&opts, "eacces:open:2,eio:open:3");
    struct pr_object o = {.fd = 77};
    struct pr_err err = {0};

    (void)state;
    make(st, "f", "x", 1);
    assert_int_equal(pr_object_open(st, "f", &o, &err), PR_E_IO);
    assert_int_equal(err.sys_errno, EACCES);
    assert_says(&err, "cannot open");
    assert_int_equal(pr_object_create(st, "g", 0, &o, &err), PR_E_IO);
    assert_int_equal(err.sys_errno, EIO);
    assert_says(&err, "cannot create");
    assert_int_equal(o.fd, 77);
    assert_object(st, "f", "x", 1);
    pr_storage_close(st);
}

static void sync_and_commit_fail_to_order(void **state)
{
    struct pr_storage_opts opts;
    struct pr_storage *st = with_fault(
        &opts, "eio:sync:2,enospc:commit:2,enospc:publish:2,eio:publish:3");
    struct pr_object_info info;
    struct pr_err err = {0};
    bool swapped = true;

    (void)state;
    assert_int_equal(pr_storage_make_folder(st, "d", NULL), PR_OK);
    struct pr_object o = create(st, "d/f", 0);

    put(&o, 0, "old", 3);
    assert_int_equal(pr_object_sync(&o, &err), PR_OK);
    assert_int_equal(pr_object_sync(&o, &err), PR_E_IO);
    assert_int_equal(err.sys_errno, EIO);
    assert_says(&err, "cannot bring to the device");
    assert_non_null(strstr(err.hint, "storage.fault"));
    commit(&o);
    o = create(st, "d/f", 0);
    put(&o, 0, "new", 3);
    assert_int_equal(pr_object_commit(&o, &err), PR_E_IO);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_int_equal(count_in(st, "d"), 1); /* no part is left */
    assert_object(st, "d/f", "old", 3);
    assert_int_equal(pr_storage_publish(st, "d", "e", false, &swapped, NULL),
                     PR_OK);
    assert_false(swapped);
    assert_int_equal(pr_storage_publish(st, "e", "d", false, &swapped, &err),
                     PR_E_IO);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_int_equal(pr_storage_publish(st, "e", "d", false, &swapped, &err),
                     PR_E_IO);
    assert_int_equal(err.sys_errno, EIO);
    assert_int_equal(pr_storage_stat(st, "d", &info, NULL), 0);
    assert_object(st, "e/f", "old", 3);
    pr_storage_close(st);
}

enum { CALLS = 10000 };

static int failures(const char *list, uint8_t pattern[CALLS])
{
    struct pr_storage_opts opts;
    struct pr_storage *st = with_fault(&opts, list);
    int n = 0;

    make(st, "f", "x", 1);
    struct pr_object o = open_object(st, "f");

    for (int i = 0; i < CALLS; i++) {
        uint8_t b;

        pattern[i] = pr_object_read(&o, 0, 1, &b, NULL) != PR_OK;
        n += pattern[i];
    }
    pr_object_close(&o);
    pr_storage_close(st);
    return n;
}

static void probabilities_hold_and_repeat(void **state)
{
    static uint8_t a[CALLS], b[CALLS];
    int n = failures("eio:read:0.1", a);

    (void)state;
    assert_in_range(n, 900, 1100); /* mean 1000, deviation 30 */
    assert_int_equal(failures("eio:read:0.1", b), n);
    assert_memory_equal(a, b, CALLS);
    /* Two rules do not strike together. */
    n = failures("eio:read:0.1,short:read:0.1", b);
    assert_in_range(n, 1780, 2020); /* mean 1900, deviation 39 */
    assert_in_range(failures("eio:read:0.9", b), 8900, 9100);
}

/* ---- throttle */

static uint64_t time_reads(const struct pr_storage_opts *opts, int reads,
                           size_t len)
{
    struct pr_storage *st = open_storage(opts);
    uint8_t *buf = pr_storage_buffer(st, len + PR_IO_SLACK);
    struct virtual_clock passing;
    const uint8_t *got;
    uint64_t begin;

    virtual_clock_init(&passing);
    pr_storage_time_by(st, &passing.clock);
    assert_non_null(buf);
    memset(buf, 1, len);
    begin = passing.now;
    make(st, "f", buf, len);
    struct pr_object o = open_object(st, "f");

    for (int i = 0; i < reads; i++)
        assert_int_equal(
            pr_object_fetch(&o, 0, len, buf, len + PR_IO_SLACK, &got, NULL), 0);
    pr_object_close(&o);
    pr_storage_close(st);
    return passing.now - begin;
}

/* Exactly as fast as asked for, the write of the file included. */
static void reads_keep_to_the_rate(void **state)
{
    struct pr_storage_opts large = {.throttle = 100000000};
    struct pr_storage_opts small = {.engine = "memory", .throttle = 10000000};
    uint64_t took = time_reads(&large, 10, 200000);

    (void)state;
    assert_int_equal(took, 22000000);
    took = time_reads(&small, 300, 1000); /* 100 µs each */
    assert_int_equal(took, 30100000);
    took = time_reads(&small, 100000, 1); /* 100 ns each */
    assert_int_equal(took, 10000100);
}

static void latency_is_added_to_every_call(void **state)
{
    struct pr_storage_opts opts = {.latency = 0.002};
    struct pr_storage_opts both = {.latency = 0.001, .throttle = 1000000};
    uint64_t took = time_reads(&opts, 7, 100); /* and create, write, open */

    (void)state;
    assert_int_equal(took, 20000000);
    took = time_reads(&both, 5, 2000);
    assert_int_equal(took, 20000000);
}

/* ---- trace */

/* The trace's lines as values. */
static size_t read_trace(const char *path, struct pr_arena *a,
                         struct pr_value *lines, size_t max)
{
    const char *text;
    size_t len, n = 0;

    assert_int_equal(pr_file_read(path, 64 << 20, a, &text, &len, NULL), 0);
    for (const char *p = text; *p; p = strchr(p, '\n') + 1) {
        struct pr_json_in in = {
            .text = p, .len = (size_t)(strchr(p, '\n') - p), .name = path};

        assert_true(n < max);
        assert_int_equal(pr_json_read(&in, a, &lines[n++], NULL, NULL), PR_OK);
    }
    return n;
}

static int64_t number(const struct pr_value *line, const char *key)
{
    const struct pr_value *v = pr_get(line, key);

    return v ? v->i : -1;
}

static const char *text(const struct pr_value *line, const char *key)
{
    const struct pr_value *v = pr_get(line, key);

    return v ? v->s : "";
}

static void every_operation_is_a_line(void **state)
{
    static const struct {
        const char *op, *name;
        int64_t offset, bytes;
        const char *error;
    } want[] = {
        {"make_folder", "d", -1, -1, ""},
        {"create", "d/\"\\\n", -1, -1, ""},
        {"write", "d/\"\\\n", 3, 5, ""},
        {"sync", "d/\"\\\n", -1, -1, ""},
        {"commit", "d/\"\\\n", -1, -1, ""},
        {"create", "d/g", -1, -1, ""},
        {"discard", "d/g", -1, -1, ""},
        {"stat", "d/g", -1, -1, ""},
        {"open", "d/\"\\\n", -1, -1, ""},
        {"read", "d/\"\\\n", 4, 3, ""},
        {"read", "d/\"\\\n", 1, 2, "input or output failed"},
        {"close", "d/\"\\\n", -1, -1, ""},
        {"open", "d/g", -1, -1, "input or output failed"},
        {"list", "d", -1, -1, ""},
        {"remove", "d/g", -1, -1, ""},
        {"publish", "e", -1, -1, ""},
        {"publish", "f", -1, -1, "input or output failed"},
    };
    enum { WANT = sizeof want / sizeof *want };
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_storage_opts opts = {.engine = "memory",
                                   .trace = "t-%t-%t.json",
                                   .fault = "eio:read:2,eio:publish:2",
                                   .latency = 1e-4};
    struct pr_storage *st = open_storage(&opts);
    struct pr_value lines[WANT + 1];
    struct pr_object_info info;
    uint8_t buf[8 + PR_IO_SLACK];
    const uint8_t *got;
    char path[64];
    bool swapped;
    uint64_t wall = pr_wall_clock_ns();
    int64_t all = 0;

    (void)state;
    assert_int_equal(pr_storage_make_folder(st, "d", NULL), PR_OK);
    struct pr_object o = create(st, "d/\"\\\n", 0);
    put(&o, 3, "12345", 5);
    assert_int_equal(pr_object_sync(&o, NULL), PR_OK);
    commit(&o);
    o = create(st, "d/g", 0);
    pr_object_discard(&o);
    assert_int_equal(pr_storage_stat(st, "d/g", &info, NULL), 0);
    o = open_object(st, "d/\"\\\n");
    assert_int_equal(pr_object_read(&o, 4, 3, buf, NULL), PR_OK);
    assert_int_equal(pr_object_fetch(&o, 1, 2, buf, sizeof buf, &got, NULL),
                     PR_E_IO);
    pr_object_close(&o);
    assert_int_equal(pr_object_open(st, "d/g", &o, NULL), PR_E_IO);
    assert_int_equal(count_in(st, "d"), 1);
    assert_int_equal(pr_storage_remove(st, "d/g", NULL), PR_OK);
    assert_int_equal(pr_storage_publish(st, "d", "e", true, &swapped, NULL),
                     PR_OK);
    assert_int_equal(pr_storage_publish(st, "e", "f", true, &swapped, NULL),
                     PR_E_IO);
    pr_storage_close(st);

    snprintf(path, sizeof path, "t-%d-%d.json", (int)gettid(), (int)gettid());
    assert_int_equal(read_trace(path, a, lines, WANT + 1), WANT);
    for (size_t i = 0; i < WANT; i++) {
        int64_t start = number(&lines[i], "start_ns");
        int64_t took = number(&lines[i], "duration_ns");

        assert_string_equal(text(&lines[i], "op"), want[i].op);
        assert_string_equal(text(&lines[i], "name"), want[i].name);
        assert_int_equal(number(&lines[i], "offset"), want[i].offset);
        assert_int_equal(number(&lines[i], "bytes"), want[i].bytes);
        assert_string_equal(text(&lines[i], "error"), want[i].error);
        assert_true(start >= (int64_t)wall - 1000000000);
        assert_true(start < (int64_t)wall + 60000000000);
        assert_true(took >= 0 && took < 60000000000);
        all += took;
    }
    /* The outermost sees what the throttle costs: seven times the latency. */
    assert_true(all >= 690000);
}

static void traces_are_appended_to(void **state)
{
    enum { EACH = 2000 };
    static struct pr_value lines[2 * (EACH + 5)];
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_storage_opts opts = {.engine = "memory", .trace = "t%"};

    (void)state;
    for (int round = 0; round < 2; round++) {
        struct pr_storage *st = open_storage(&opts);
        uint8_t b;

        make(st, "f", "x", 1);
        struct pr_object o = open_object(st, "f");

        for (int i = 0; i < EACH; i++)
            assert_int_equal(pr_object_read(&o, 0, 1, &b, NULL), PR_OK);
        pr_object_close(&o);
        pr_storage_close(st);
    }
    /* create, write, commit, open, close */
    assert_int_equal(read_trace("t%", a, lines, 2 * (EACH + 5)),
                     2 * (EACH + 5));
}

static void a_trace_that_cannot_be_is_an_error(void **state)
{
    struct pr_storage_opts opts = {.engine = "memory", .trace = "no/trace"};
    struct pr_storage *st = NULL;
    struct pr_err err = {0};
    char name[5000];

    (void)state;
    assert_int_equal(pr_storage_open(&opts, &st, &err), PR_E_IO);
    assert_string_equal(err.where, "no/trace");
    memset(name, 't', sizeof name);
    name[sizeof name - 1] = '\0';
    opts.trace = name;
    assert_int_equal(pr_storage_open(&opts, &st, &err), PR_E_IO);
    assert_null(st);
}

static void a_full_disk_ends_the_trace_not_the_work(void **state)
{
    struct pr_storage_opts opts = {.engine = "memory", .trace = "/dev/full"};
    struct pr_storage *st = open_storage(&opts);
    uint8_t b;

    (void)state;
    make(st, "f", "x", 1);
    struct pr_object o = open_object(st, "f");

    assert_string_equal(pr_storage_warning(st), "");
    for (int i = 0; i < 2000; i++)
        assert_int_equal(pr_object_read(&o, 0, 1, &b, NULL), PR_OK);
    pr_object_close(&o);
    assert_non_null(strstr(pr_storage_warning(st), "trace"));
    pr_storage_close(st);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(a_bad_list_is_refused),
        TEST(the_numbered_call_fails),
        TEST(opening_fails_to_order),
        TEST(sync_and_commit_fail_to_order),
        TEST(probabilities_hold_and_repeat),
        TEST(reads_keep_to_the_rate),
        TEST(latency_is_added_to_every_call),
        TEST(every_operation_is_a_line),
        TEST(traces_are_appended_to),
        TEST(a_trace_that_cannot_be_is_an_error),
        TEST(a_full_disk_ends_the_trace_not_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
