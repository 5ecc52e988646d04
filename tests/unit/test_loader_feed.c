/* The loader: every batch comes once, whole and in time, whatever the number
 * of threads, and what goes wrong is said. */
#include "base/clock.h"
#include "feed_tool.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECOND = 1000000000 };

/* Of the tests that are about time; NULL: the machine's. */
static struct virtual_clock virtual_time;
static struct pr_clock *used_clock;

static void use_clock(struct kit *k)
{
    virtual_clock_init(&virtual_time);
    k->clock = &virtual_time;
    used_clock = &virtual_time.clock;
}

/* Takes all batches, accelerators in turn or each as it can. */
static int take_all(struct pr_feed *f, const struct pr_order *o, uint64_t steps,
                    uint64_t *ret_batches, struct pr_err *err)
{
    uint64_t left[64] = {0}, live = 0, ready;

    *ret_batches = 0;
    for (uint64_t a = 0; a < o->o.accelerators; a++) {
        uint64_t b = pr_order_batches(o, a);

        left[a] = b < steps ? b : steps;
        live += left[a] > 0;
    }
    while (live) {
        int rc = 0;

        for (uint64_t a = 0; a < o->o.accelerators && rc >= 0; a++) {
            while (left[a] && (rc = pr_feed_take(f, a, &ready, err)) == 1) {
                assert_true(ready && ready <= pr_now(used_clock));
                ++*ret_batches;
                live -= --left[a] == 0;
            }
        }
        if (rc >= 0)
            rc = pr_feed_wait(f, live ? pr_now(used_clock) + SECOND / 10 : 0,
                              err);
        while (rc >= 0 && pr_feed_news(f) != UINT64_MAX)
            continue;
        if (rc < 0)
            return rc;
    }
    return PR_OK;
}

struct row {
    const char *json;
    uint64_t accelerators, batch, steps;
    unsigned threads;
    bool drop_last, shuffle, shared;
    uint64_t window;
};

static void every_sample_comes_where_it_should(void **state)
{
    static const struct row rows[] = {
        {"'reader.read_threads': 1", 1, 4, 1000, 0, true, false, false, 0},
        {"'reader.read_threads': 4", 3, 4, 1000, 0, true, true, false, 0},
        {"'reader.read_threads': 0", 3, 4, 1000, 0, false, true, true, 0},
        {"'reader.read_threads': 2", 7, 1, 1000, 2, false, true, false, 0},
        {"'reader.read_threads': 2, 'reader.prefetch_size': 0", 2, 5, 3, 0,
         true, true, false, 0},
        {"'reader.data_loader': 'tensorflow', 'reader.read_threads': 3", 2, 8,
         1000, 0, true, true, false, 16},
        {"'reader.data_loader': 'tensorflow', 'reader.read_threads': 4,"
         "'reader.prefetch_size': 0",
         1, 10, 1000, 0, false, true, false, 7},
        {"'reader.hold': true, 'reader.read_threads': 3", 4, 3, 1000, 0, true,
         true, false, 0},
        {"'reader.read_threads': 1", 40, 1, 1000, 8, true, true, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct pr_order_opts oo = {.files = 90,
                                   .samples_per_file = 3,
                                   .accelerators = r->accelerators,
                                   .batch = r->batch,
                                   .drop_last = r->drop_last,
                                   .shared = r->shared,
                                   .shuffle_samples = r->shuffle,
                                   .window = r->window};
        struct pr_feed_stats stats;
        struct pr_err err = {0};
        struct pr_order o;
        struct pr_feed *f;
        uint64_t batches, want;
        struct kit k;
        char json[1024];

        snprintf(json, sizeof json,
                 "{'dataset.format': 'npz', 'dataset.num_files_train': 90,"
                 "'dataset.num_samples_per_file': 3,"
                 "'dataset.record_length_bytes': 400,"
                 "'storage.engine': 'null',"
                 "'reader.data_loader': 'pytorch', %s}",
                 r->json);
        kit_init(&k, json);
        f = kit_feed(&k, r->accelerators, r->threads);
        for (unsigned epoch = 1; epoch <= 3; epoch++) {
            oo.seed = epoch;
            kit_check(pr_order_init(&o, &oo, &err), &err);
            kit_check(pr_feed_begin(f, PR_TRAIN, &o, r->steps, &err), &err);
            kit_check(take_all(f, &o, r->steps, &batches, &err), &err);
            kit_check(pr_feed_end(f, &err), &err);
            pr_feed_stats(f, &stats);
            want = 0;
            for (uint64_t a = 0; a < r->accelerators; a++)
                want += pr_order_batches(&o, a) < r->steps
                            ? pr_order_batches(&o, a)
                            : r->steps;
            assert_int_equal(batches, want);
            if (r->steps > o.batches || !r->window) {
                assert_int_equal(stats.order, order_sum(&o, r->steps));
                assert_int_equal(stats.bytes, stats.samples * 400);
            }
            if (r->steps > o.batches)
                assert_int_equal(stats.samples, o.used);
            assert_true(stats.opened > 0 && stats.storage_bytes > stats.bytes);
        }
        pr_feed_free(f);
        kit_done(&k);
    }
}

static void small_set(struct kit *k, const char *more)
{
    char json[1024];

    snprintf(json, sizeof json,
             "{'dataset.format': 'npy', 'dataset.num_files_train': 20,"
             "'dataset.record_length_bytes': 900,"
             "'reader.data_loader': 'pytorch', 'reader.read_threads': 2, %s}",
             more);
    kit_init(k, json);
}

static int read_epoch(struct pr_feed *f, struct pr_feed_stats *stats,
                      struct pr_err *err)
{
    struct pr_order_opts oo = {.files = 20,
                               .samples_per_file = 1,
                               .accelerators = 2,
                               .batch = 2,
                               .drop_last = true};
    struct pr_err ended;
    struct pr_order o;
    uint64_t batches;
    int rc = pr_order_init(&o, &oo, err);

    if (!rc)
        rc = pr_feed_begin(f, PR_TRAIN, &o, 1000, err);
    if (!rc)
        rc = take_all(f, &o, 1000, &batches, err);
    (void)!pr_feed_end(f, &ended);
    pr_feed_stats(f, stats);
    return rc;
}

static void what_is_in_memory_is_not_read_again(void **state)
{
    struct pr_feed_stats stats;
    struct pr_err err = {0};
    struct pr_feed *f;
    struct kit k;

    (void)state;
    small_set(&k, "'storage.engine': 'memory', 'reader.read_type': 'memory'");
    f = kit_feed(&k, 2, 0);
    kit_check(read_epoch(f, &stats, &err), &err);
    assert_int_equal(stats.opened, 20);
    kit_check(read_epoch(f, &stats, &err), &err);
    assert_int_equal(stats.opened, 0);
    assert_int_equal(stats.storage_bytes, 0);
    assert_int_equal(stats.samples, 20);
    assert_int_equal(stats.bytes, 20 * 900);
    pr_feed_free(f);
    kit_done(&k);
}

/* A file of the set is not what it should be. */
static void spoil(struct kit *k, uint64_t file)
{
    struct pr_object o;
    char name[PR_NAME_BYTES];
    struct pr_err err = {0};

    pr_dataset_name(&k->set, file, PR_NAME_DATA, name);
    kit_check(pr_object_create(k->st, name, 4, &o, &err), &err);
    kit_check(pr_object_write(&o, 0, "junk", 4, &err), &err);
    kit_check(pr_object_commit(&o, &err), &err);
}

static void a_bad_file_stops_or_is_counted(void **state)
{
    struct pr_feed_stats stats;
    struct pr_err err = {0};
    struct pr_feed *f;
    struct kit k;

    (void)state;
    small_set(&k, "'storage.engine': 'memory'");
    spoil(&k, 13);
    f = kit_feed(&k, 2, 0);
    assert_int_equal(read_epoch(f, &stats, &err), PR_E_FORMAT);
    assert_non_null(strstr(err.where, "img_13_of_20.npy"));
    pr_feed_free(f);
    kit_done(&k);

    small_set(&k, "'storage.engine': 'memory', 'reader.on_error': 'skip'");
    spoil(&k, 13);
    spoil(&k, 2);
    f = kit_feed(&k, 2, 0);
    kit_check(read_epoch(f, &stats, &err), &err);
    assert_int_equal(stats.failed, 2);
    assert_int_equal(stats.samples, 18);
    assert_int_equal(stats.first_error.code, PR_E_FORMAT);
    pr_feed_free(f);
    kit_done(&k);
}

static void fewer_samples_than_promised_are_an_error(void **state)
{
    struct pr_feed_stats stats;
    struct pr_err err = {0};
    struct pr_feed *f;
    struct kit k;

    (void)state;
    small_set(&k, "'storage.engine': 'memory',"
                  "'dataset.num_samples_per_file': 2");
    k.set.spec.samples = 1; /* as if the parameters had said so */
    spoil(&k, 0);
    f = kit_feed(&k, 2, 0);
    assert_int_equal(read_epoch(f, &stats, &err), PR_E_FORMAT);
    pr_feed_free(f);
    kit_done(&k);
}

/* A thread that hangs is left behind, so this is done in a process of its
 * own. It answers which of the checks failed. */
static int hang(void)
{
    static struct kit k;
    struct pr_feed_stats stats;
    struct pr_err err = {0};
    struct pr_feed *f;

    small_set(&k, "'storage.engine': 'null', 'storage.latency': 30,"
                  "'reader.io_timeout': 0.3");
    use_clock(&k);
    f = kit_feed(&k, 2, 1);
    if (read_epoch(f, &stats, &err) != PR_E_TIMEOUT)
        return 1;
    pr_feed_free(f);
    if (!strstr(err.where, "img_") || !strstr(err.hint, "reader.io_timeout"))
        return 2;
    /* It is looked for ten times a second. */
    return virtual_time.now <= SECOND + SECOND / 2 ? 0 : 3;
}

static void a_hung_call_is_told_of(void **state)
{
    char answer = 9;
    int ends[2], status;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        answer = (char)hang();
        (void)!write(ends[1], &answer, 1);
        raise(SIGKILL); /* what is left behind is nobody's leak */
    }
    assert_true(pid > 0);
    assert_int_equal(read(ends[0], &answer, 1), 1);
    assert_int_equal(answer, 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(ends[0]);
    close(ends[1]);
}

static void stopping_ends_it(void **state)
{
    struct pr_feed_stats stats;
    struct pr_err err = {0};
    struct pr_feed *f;
    struct kit k;

    (void)state;
    small_set(&k, "'storage.engine': 'null'");
    __atomic_store_n(&k.stop, true, __ATOMIC_RELAXED);
    f = kit_feed(&k, 2, 0);
    assert_int_equal(read_epoch(f, &stats, &err), PR_E_INTR);
    pr_feed_free(f);
    kit_done(&k);
}

static void preparing_takes_its_time(void **state)
{
    static const char *const loaders[] = {"pytorch", "tensorflow"};
    struct pr_feed_stats stats;
    struct pr_err err = {0};
    struct pr_feed *f;
    struct kit k;

    (void)state;
    for (int i = 0; i < 2; i++) {
        char more[256];
        uint64_t start;

        snprintf(more, sizeof more,
                 "'storage.engine': 'null', 'reader.data_loader': '%s',"
                 "'reader.preprocess_time': 0.01,"
                 "'reader.computation_threads': 1",
                 loaders[i]);
        small_set(&k, more);
        use_clock(&k);
        f = kit_feed(&k, 2, 0);
        start = pr_now(used_clock);
        kit_check(read_epoch(f, &stats, &err), &err);
        /* 5 batches of 2 for each accelerator, by 2 threads or by 1. */
        assert_int_equal(pr_now(used_clock) - start,
                         (i ? 100ull : 60ull) * SECOND / 1000);
        pr_feed_free(f);
        used_clock = NULL;
        kit_done(&k);
    }
}

static void a_synthetic_loader_reads_nothing(void **state)
{
    struct pr_feed_stats stats;
    struct pr_err err = {0};
    struct pr_feed *f;
    struct kit k;

    (void)state;
    small_set(&k, "'storage.engine': 'null',"
                  "'reader.data_loader': 'synthetic'");
    f = kit_feed(&k, 2, 0);
    kit_check(read_epoch(f, &stats, &err), &err);
    assert_int_equal(stats.samples, 20);
    assert_int_equal(stats.opened, 0);
    assert_int_equal(stats.storage_bytes, 0);
    pr_feed_free(f);
    kit_done(&k);
}

static void threads_follow_the_readers(void **state)
{
    struct pr_feed *f;
    struct kit k;

    (void)state;
    small_set(&k, "'storage.engine': 'null', 'reader.read_threads': 3");
    f = kit_feed(&k, 2, 0);
    assert_int_equal(pr_feed_threads(f), 6);
    pr_feed_free(f);
    f = kit_feed(&k, 1000, 0);
    assert_int_equal(pr_feed_threads(f), 128);
    pr_feed_free(f);
    kit_done(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_comes_where_it_should),
        cmocka_unit_test(what_is_in_memory_is_not_read_again),
        cmocka_unit_test(a_bad_file_stops_or_is_counted),
        cmocka_unit_test(fewer_samples_than_promised_are_an_error),
        cmocka_unit_test(a_hung_call_is_told_of),
        cmocka_unit_test(stopping_ends_it),
        cmocka_unit_test(preparing_takes_its_time),
        cmocka_unit_test(a_synthetic_loader_reads_nothing),
        cmocka_unit_test(threads_follow_the_readers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
