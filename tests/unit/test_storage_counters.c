/* What a storage says of itself: bytes, objects, time, the page cache. */
#include "base/clock.h"
#include "storage/page_cache.h"
#include "test_storage_setups.h"
#include "virtual_clock.h"

#include <sys/wait.h>

enum { SIZE = 300000 };

static uint8_t model[SIZE];

static void what_is_read_is_counted(void **state)
{
    uint8_t *buf = pr_storage_buffer(st, SIZE + PR_IO_SLACK);
    const uint8_t *got;
    struct pr_object o;

    (void)state;
    /* Valgrind does not see what the kernel writes for a ring. */
    memset(buf, 0xee, SIZE + PR_IO_SLACK);
    fill(model, 0, SIZE);
    make(st, "d/f", model, SIZE);
    assert_int_equal(pr_storage_written(st), SIZE);
    assert_int_equal(pr_storage_read_bytes(st), 0);
    assert_int_equal(pr_storage_opened(st), 0);
    o = open_object(st, "d/f");
    assert_int_equal(pr_storage_opened(st), 1);
    assert_int_equal(
        pr_object_fetch(&o, 5, 200000, buf, SIZE + PR_IO_SLACK, &got, NULL), 0);
    assert_memory_equal(got, model + 5, 200000);
    assert_int_equal(pr_storage_read_bytes(st), 200000);
    assert_int_equal(pr_object_read(&o, 7, 100, buf, NULL), 0);
    assert_int_equal(pr_storage_read_bytes(st), 200100);
    /* What fails or asks for nothing counts for nothing. */
    assert_int_equal(pr_object_read(&o, 7, 0, buf, NULL), 0);
    assert_int_equal(pr_object_read(&o, SIZE, 1, buf, NULL), PR_E_FORMAT);
    pr_object_close(&o);
    assert_int_equal(pr_object_open(st, "d/none", &o, NULL), PR_E_IO);
    assert_int_equal(pr_storage_read_bytes(st), 200100);
    assert_int_equal(pr_storage_opened(st), 1);
    assert_int_equal(pr_storage_written(st), SIZE);
}

static void time_is_taken_on_demand(void **state)
{
    struct pr_object_info info;
    struct pr_object o;
    uint64_t began, all, ns;
    uint8_t c;

    (void)state;
    make(st, "d/f", "x", 1);
    for (int i = 0; i < 50; i++)
        assert_int_equal(pr_storage_stat(st, "d/f", &info, NULL), 1);
    assert_int_equal(pr_storage_ns(st), 0);
    pr_storage_time(st, true);
    began = pr_clock_ns();
    for (int i = 0; i < 50; i++) {
        assert_int_equal(pr_storage_stat(st, "d/f", &info, NULL), 1);
        o = open_object(st, "d/f");
        assert_int_equal(pr_object_read(&o, 0, 1, &c, NULL), 0);
        pr_object_close(&o);
    }
    all = pr_clock_ns() - began;
    ns = pr_storage_ns(st);
    assert_true(ns > 0);
    assert_true(ns <= all); /* twice counted it would be more */
    pr_storage_time(st, false);
    assert_int_equal(pr_storage_stat(st, "d/f", &info, NULL), 1);
    assert_int_equal(pr_storage_ns(st), ns);
}

/* ---- waits */

/* Three calls of 20 ms each; with a second wrapper and the engine below. */
static void waits_are_counted_once(void **state)
{
    static const struct pr_storage_opts opts = {
        .engine = "memory", .latency = 0.02, .fault = UNTIL_NEVER};
    struct pr_storage *slow = open_storage(&opts);
    uint8_t buf[8 + PR_IO_SLACK];
    struct virtual_clock passing;
    const uint8_t *got;
    struct pr_object o;

    (void)state;
    virtual_clock_init(&passing);
    pr_storage_time_by(slow, &passing.clock);
    make(slow, "f", "12345678", 8);
    assert_int_equal(pr_storage_ns(slow), 0);
    pr_storage_time(slow, true);
    o = open_object(slow, "f");
    assert_int_equal(pr_object_fetch(&o, 0, 8, buf, sizeof buf, &got, NULL), 0);
    assert_int_equal(pr_object_read(&o, 0, 8, buf, NULL), 0);
    pr_object_close(&o);
    assert_int_equal(pr_storage_ns(slow), 60000000);
    pr_storage_close(slow);
}

/* ---- the page cache */

/* Whether this file system's pages come and go: not those of tmpfs, and not
 * every kernel tells. */
static bool can_drop(void)
{
    uint64_t cached = 1, bytes = 0;
    struct pr_storage_opts plain = {.engine = "pread",
                                    .storage_root = now->opts.storage_root};
    struct pr_storage *s = open_storage(&plain);
    int rc;

    make(s, "d/probe", "x", 1);
    assert_int_equal(pr_storage_drop_cache(s, "d/probe", NULL), PR_OK);
    rc = pr_storage_cached_bytes(s, "d/probe", &cached, &bytes, NULL);
    pr_storage_close(s);
    if (rc == 1 && !cached)
        return true;
    print_message("%s: pages cannot be dropped here, not tested\n", now->title);
    return false;
}

static void pages_are_counted_and_dropped(void **state)
{
    uint64_t cached = 9, bytes = 9;
    struct pr_err err = {0};
    uint8_t c;
    int fd;

    (void)state;
    if (!now->files) {
        make(st, "d/f", "x", 1);
        assert_int_equal(pr_storage_drop_cache(st, "d/f", &err), PR_OK);
        assert_int_equal(
            pr_storage_cached_bytes(st, "d/f", &cached, &bytes, &err),
            PR_E_UNAVAIL);
        return;
    }
    fill(model, 0, SIZE);
    fd = open(real_path("d/f"), O_CREAT | O_RDWR, 0644); /* cached, dirty */
    assert_true(fd >= 0);
    assert_int_equal(write(fd, model, SIZE), SIZE);
    assert_int_equal(pr_storage_cached_bytes(st, "d/f", &cached, &bytes, &err),
                     1);
    assert_int_equal(cached, SIZE);
    assert_int_equal(bytes, SIZE);
    assert_int_equal(pr_storage_drop_cache(st, "d/f", &err), PR_OK);
    if (can_drop()) {
        assert_int_equal(
            pr_storage_cached_bytes(st, "d/f", &cached, &bytes, &err), 1);
        assert_int_equal(cached, 0);
        assert_int_equal(bytes, SIZE);
        /* A page or a few, without reading ahead. */
        assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0);
        assert_int_equal(pread(fd, &c, 1, 8192), 1);
        assert_int_equal(
            pr_storage_cached_bytes(st, "d/f", &cached, &bytes, &err), 1);
        assert_in_range(cached, 1, SIZE - 1);
    }
    close(fd);
    assert_object(st, "d/f", model, SIZE);
}

static void both_ways_count_the_same(void **state)
{
    struct pr_page_cache_use by_map = {9, 9}, by_call = {9, 9};
    uint8_t c;
    int fd, rc;

    (void)state;
    if (!now->files)
        return;
    fd = open(real_path("d/f"), O_CREAT | O_RDWR, 0644);
    assert_true(fd >= 0);
    assert_int_equal(pr_page_cache_stat_by_map(fd, 0, &by_map), 1);
    assert_int_equal(by_map.bytes, 0);
    assert_int_equal(write(fd, model, SIZE), SIZE);
    assert_int_equal(pr_page_cache_stat_by_map(fd, SIZE, &by_map), 1);
    assert_int_equal(by_map.bytes, SIZE);
    /* A hole of more than one mapping, a page read behind it. */
    assert_int_equal(ftruncate(fd, 200 << 20), 0);
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0);
    assert_int_equal(pread(fd, &c, 1, 150 << 20), 1);
    assert_int_equal(pr_page_cache_stat_by_map(fd, 200 << 20, &by_map), 1);
    assert_true(by_map.bytes >= SIZE);
    rc = pr_page_cache_stat(fd, 200 << 20, &by_call);
    if (rc == 1)
        assert_int_equal(by_call.bytes, by_map.bytes);
    else
        print_message("%s: no cachestat here, not tested\n", now->title);
    close(fd);
}

/* In a child, for the whole cache must not really go. */
static void only_root_drops_everything(void **state)
{
    int status = -1;
    pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (!child) {
        struct pr_err err = {0};
        bool is_left = geteuid() != 0 || setuid(65534) == 0;

        _exit(is_left && pr_storage_drop_all_caches(&err) == PR_E_IO &&
                      strstr(err.hint, "root") && strstr(err.msg, "cannot drop")
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_missing_file_is_named(void **state)
{
    uint64_t cached, bytes;
    struct pr_err err = {0};

    (void)state;
    if (!now->files)
        return;
    assert_int_equal(pr_storage_drop_cache(st, "d/none", &err), PR_E_IO);
    assert_non_null(strstr(err.where, "d/none"));
    assert_int_equal(
        pr_storage_cached_bytes(st, "d/none", &cached, &bytes, &err), PR_E_IO);
    assert_int_equal(pr_storage_drop_cache(st, "d", &err), PR_E_IO);
    assert_says(&err, "is a folder");
}

int main(void)
{
    static const struct test tests[] = {
        TEST(what_is_read_is_counted),    TEST(time_is_taken_on_demand),
        TEST(waits_are_counted_once),     TEST(pages_are_counted_and_dropped),
        TEST(both_ways_count_the_same),   TEST(a_missing_file_is_named),
        TEST(only_root_drops_everything),
    };
    return run_for_all(tests, sizeof tests / sizeof *tests);
}
