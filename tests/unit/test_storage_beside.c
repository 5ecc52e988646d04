/* Storages beside each other, each of a thread of its own, share what is meant
 * for the whole of a storage: its rate, and the counting of made-up errors. */
#include "test_storage.h"
#include "virtual_clock.h"

#include <errno.h>
#include <pthread.h>

enum { THREADS_MAX = 64 };

static struct virtual_clock passing;

static int new_time(void **state)
{
    (void)state;
    virtual_clock_init(&passing);
    return 0;
}

static struct pr_storage *beside(const struct pr_storage *first)
{
    struct pr_storage *st = NULL;
    struct pr_err err = {0};

    if (pr_storage_open_beside(first, &st, &err))
        fail_msg("%s: %s", err.where, err.msg);
    pr_storage_time_by(st, &passing.clock);
    return st;
}

/* What a thread does: reads and writes of one size. */
struct work {
    struct pr_storage *st;
    pthread_barrier_t *start; /* all at a time */
    int calls, failed;
    size_t bytes;
    bool writes;
};

static int one_call(const struct work *w, struct pr_object *o, uint8_t *buf)
{
    if (w->writes)
        return pr_object_write(o, 0, buf, w->bytes, NULL);
    return pr_object_read(o, 0, w->bytes, buf, NULL);
}

static void *run(void *arg)
{
    struct work *w = arg;
    uint8_t *buf = pr_storage_buffer(w->st, w->bytes);
    struct pr_object o;
    char name[32];

    snprintf(name, sizeof name, "w%p", arg);
    memset(buf, 1, w->bytes);
    if (w->writes ? pr_object_create(w->st, name, 0, &o, NULL)
                  : pr_object_open(w->st, "f", &o, NULL)) {
        w->failed = -1;
        w->calls = 0;
    }
    pthread_barrier_wait(w->start);
    for (int i = 0; i < w->calls; i++)
        w->failed += one_call(w, &o, buf) != PR_OK;
    if (w->failed >= 0 && w->writes)
        pr_object_discard(&o);
    else if (w->failed >= 0)
        pr_object_close(&o);
    pr_attend(&passing.clock, -1);
    return NULL;
}

/* The same by every thread at a time, every second one writing if mixed; how
 * many calls failed. */
static int run_all(struct pr_storage *first, int threads, int calls,
                   size_t bytes, bool mixed)
{
    static struct work work[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    pthread_barrier_t start;
    int failed = 0;

    pr_attend(&passing.clock, threads);
    assert_int_equal(pthread_barrier_init(&start, NULL, (unsigned)threads), 0);
    for (int i = 0; i < threads; i++) {
        work[i] = (struct work){.st = beside(first),
                                .start = &start,
                                .calls = calls,
                                .bytes = bytes,
                                .writes = mixed && i % 2};
        assert_int_equal(pthread_create(&ids[i], NULL, run, &work[i]), 0);
    }
    pr_attend(&passing.clock, -1);
    for (int i = 0; i < threads; i++)
        assert_int_equal(pthread_join(ids[i], NULL), 0);
    pr_attend(&passing.clock, 1);
    for (int i = 0; i < threads; i++) {
        assert_true(work[i].failed >= 0);
        failed += work[i].failed;
        pr_storage_close(work[i].st);
    }
    pthread_barrier_destroy(&start);
    return failed;
}

/* A storage with an object "f" of so many bytes. */
static struct pr_storage *with_file(const struct pr_storage_opts *opts,
                                    size_t bytes)
{
    struct pr_storage *st = open_storage(opts);
    uint8_t *data = calloc(bytes, 1);

    assert_non_null(data);
    pr_storage_time_by(st, &passing.clock);
    make(st, "f", data, bytes);
    free(data);
    return st;
}

/* ---- fault */

static void calls_are_counted_together(void **state)
{
    struct pr_storage_opts opts = {.engine = "memory",
                                   .fault = "eio:write:7,enospc:sync:3"};
    struct pr_storage *st[2] = {open_storage(&opts), NULL};
    struct pr_object o[2];
    struct pr_err err = {0};

    (void)state;
    st[1] = beside(st[0]);
    o[0] = create(st[0], "a", 0);
    o[1] = create(st[1], "b", 0);
    for (int i = 1; i <= 20; i++)
        assert_int_equal(pr_object_write(&o[i % 2], 0, "x", 1, &err),
                         i == 7 ? PR_E_IO : PR_OK);
    assert_int_equal(err.sys_errno, EIO);
    /* The first one may go before the others. */
    pr_object_discard(&o[0]);
    assert_int_equal(pr_object_sync(&o[1], NULL), PR_OK);
    pr_storage_close(st[0]);
    st[0] = beside(st[1]);
    o[0] = create(st[0], "c", 0);
    assert_int_equal(pr_object_sync(&o[0], NULL), PR_OK);
    assert_int_equal(pr_object_sync(&o[1], NULL), PR_E_IO);
    assert_int_equal(pr_object_sync(&o[0], NULL), PR_OK);
    for (int i = 0; i < 2; i++) {
        pr_object_discard(&o[i]);
        pr_storage_close(st[i]);
    }
}

static void another_storage_counts_for_itself(void **state)
{
    struct pr_storage_opts opts = {.engine = "memory", .fault = "eio:write:2"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct pr_storage *st = open_storage(&opts);
        struct pr_object o = create(st, "a", 0);

        assert_int_equal(pr_object_write(&o, 0, "x", 1, NULL), PR_OK);
        assert_int_equal(pr_object_write(&o, 0, "x", 1, NULL), PR_E_IO);
        pr_object_discard(&o);
        pr_storage_close(st);
    }
}

/* However the threads get in each other's way. */
static void no_call_is_missed_or_counted_twice(void **state)
{
    struct pr_storage_opts opts = {
        .engine = "memory",
        .fault = "eio:read:1,eio:read:399999,eio:read:400000,eio:read:400001"};
    struct pr_storage_opts by_chance = {.engine = "memory",
                                        .fault = "eio:read:0.1"};
    struct pr_storage *st = with_file(&opts, 1);
    int failed;

    (void)state;
    assert_int_equal(run_all(st, 8, 50000, 1, false), 3);
    assert_int_equal(run_all(st, 1, 1, 1, false), 1);
    pr_storage_close(st);
    st = with_file(&by_chance, 1);
    failed = run_all(st, 8, 500, 1, false);
    assert_in_range(failed, 300, 500); /* mean 400, deviation 19 */
    pr_storage_close(st);
    st = with_file(&by_chance, 1);
    assert_int_equal(run_all(st, 3, 1000, 1, false) +
                         run_all(st, 1, 1000, 1, false),
                     failed);
    pr_storage_close(st);
}

/* ---- throttle */

/* Exactly as fast as asked for: nothing else takes time. */
static void threads_share_the_rate(void **state)
{
    static const struct {
        int threads, calls;
        size_t bytes;
        bool mixed;
    } rows[] = {
        {1, 400, 64 << 10, false}, {4, 100, 64 << 10, false},
        {4, 100, 64 << 10, true},  {32, 12, 64 << 10, true},
        {64, 6, 64 << 10, true},   {8, 5, 640 << 10, true},
        {8, 6400, 512, false},
    };
    struct pr_storage_opts opts = {.engine = "memory", .throttle = 100 << 20};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t bytes =
            (uint64_t)rows[i].threads * (uint64_t)rows[i].calls * rows[i].bytes;
        uint64_t want = bytes * 1000000000 / opts.throttle;
        struct pr_storage *st = with_file(&opts, rows[i].bytes);
        uint64_t begin = passing.now;

        assert_int_equal(run_all(st, rows[i].threads, rows[i].calls,
                                 rows[i].bytes, rows[i].mixed),
                         0);
        pr_storage_close(st);
        /* Each call is rounded up. */
        assert_in_range(passing.now - begin, want,
                        want + (uint64_t)(rows[i].threads * rows[i].calls));
    }
}

/* A time in which nobody reads is lost. */
static void idle_time_is_not_saved_up(void **state)
{
    struct pr_storage_opts opts = {.engine = "memory", .throttle = 10 << 20};
    struct pr_storage *st = with_file(&opts, 1 << 20);
    uint64_t begin;

    (void)state;
    pr_sleep_until(&passing.clock, passing.now + 300000000, NULL);
    begin = passing.now;
    assert_int_equal(run_all(st, 2, 1, 1 << 20, false), 0);
    assert_int_equal(passing.now - begin, 200000000);
    pr_storage_close(st);
}

/* The rate is shared, the distance is everybody's own. */
static void latency_is_waited_for_at_a_time(void **state)
{
    struct pr_storage_opts opts = {.engine = "memory", .latency = 0.1};
    struct pr_storage *st = with_file(&opts, 1);
    uint64_t begin = passing.now;

    (void)state;
    assert_int_equal(run_all(st, 32, 1, 1, false), 0);
    assert_int_equal(passing.now - begin, 200000000); /* an open and a read */
    pr_storage_close(st);
}

struct sleeper {
    struct pr_storage *st;
    int done; /* atomic */
};

static void *sleep_for_years(void *arg)
{
    struct sleeper *s = arg;
    struct pr_object o = create(s->st, "f", 0);

    if (pr_object_write(&o, 0, "", (size_t)1 << 50, NULL) == PR_OK)
        __atomic_store_n(&s->done, 1, __ATOMIC_RELAXED);
    pr_object_discard(&o);
    pr_attend(&passing.clock, -1);
    return NULL;
}

/* What would take longer than a clock can tell is waited for, but ends. */
static void waiting_ends_when_stopped(void **state)
{
    enum { COUNT = 40 };
    static struct sleeper s[COUNT];
    static bool stop;
    struct pr_storage_opts opts = {.engine = "null", .throttle = 1};
    struct pr_storage *first = open_storage(&opts);
    pthread_t ids[COUNT];
    uint64_t begin = passing.now;

    (void)state;
    pr_attend(&passing.clock, COUNT);
    for (int i = 0; i < COUNT; i++) {
        s[i].st = beside(first);
        pr_storage_stop_by(s[i].st, &stop);
        assert_int_equal(pthread_create(&ids[i], NULL, sleep_for_years, &s[i]),
                         0);
    }
    pr_sleep_until(&passing.clock, begin + 200000000, NULL);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(__atomic_load_n(&s[i].done, __ATOMIC_RELAXED), 0);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pr_attend(&passing.clock, -1);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(pthread_join(ids[i], NULL), 0);
        assert_int_equal(s[i].done, 1);
        pr_storage_close(s[i].st);
    }
    pr_attend(&passing.clock, 1);
    assert_true(passing.now - begin <= 300000000);
    pr_storage_close(first);
}

/* ---- memory */

static int open_two(void)
{
    struct pr_storage_opts opts = {.engine = "memory",
                                   .fault = "eio:read:1",
                                   .throttle = 1 << 30,
                                   .trace = "/dev/null"};
    struct pr_storage *one = NULL, *two = NULL;
    int rc = pr_storage_open(&opts, &one, NULL);

    if (!rc)
        rc = pr_storage_open_beside(one, &two, NULL);
    pr_storage_close(one);
    pr_storage_close(two);
    return rc;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(open_two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(calls_are_counted_together, new_time),
        cmocka_unit_test_setup(another_storage_counts_for_itself, new_time),
        cmocka_unit_test_setup(no_call_is_missed_or_counted_twice, new_time),
        cmocka_unit_test_setup(threads_share_the_rate, new_time),
        cmocka_unit_test_setup(idle_time_is_not_saved_up, new_time),
        cmocka_unit_test_setup(latency_is_waited_for_at_a_time, new_time),
        cmocka_unit_test_setup(waiting_ends_when_stopped, new_time),
        cmocka_unit_test_setup(out_of_memory_is_an_error, new_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
