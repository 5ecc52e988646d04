/* Batches that cannot be made: what goes wrong is said with the file's name,
 * and it ends when it is told to. */
#include "batches_tool.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what goes wrong */

static void labels_that_the_model_does_not_know_are_refused(void **state)
{
    struct pr_err err = {0};
    struct pr_batches_opts o;
    struct pr_batches *b;
    int32_t labels[20];
    float input[20 * 4];
    struct kit k;

    (void)state;
    set_up(&k, "'dataset.format': 'npz', 'dataset.record_dims': [4],"
               "'dataset.num_classes': 1000");
    o = opts_of(&k, 20, 1, 4, 0, 0);
    o.classes = 10;
    b = begin(&o);
    assert_int_equal(pr_batches_next(b, input, labels, NULL, &err), PR_E_CONF);
    assert_non_null(strstr(err.where, "img_"));
    assert_non_null(strstr(err.msg, "0 to 9"));
    pr_batches_free(b);
    kit_done(&k);
}

static void shapes_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        const char *more;
        unsigned dims;
        int64_t shape[3];
    } rows[] = {
        {"'dataset.record_dims': [10]", 1, {11, 0, 0}},
        {"'dataset.record_dims': [12]", 1, {6, 0, 0}},
        {"'dataset.record_dims': [4, 4],"
         "'dataset.record_element_type': 'float32'",
         3,
         {3, 8, 8}},
        {"'dataset.record_dims': [2, 3, 4, 5]", 3, {3, 8, 8}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static float input[4 * 3 * 8 * 8];
        struct pr_err err = {0};
        struct pr_batches_opts o;
        struct pr_batches *b;
        int32_t labels[4];
        char more[512];
        struct kit k;

        snprintf(more, sizeof more, "'dataset.format': 'npy', %s",
                 rows[i].more);
        set_up(&k, more);
        o = opts_of(&k, 4, rows[i].dims, rows[i].shape[0], rows[i].shape[1],
                    rows[i].shape[2]);
        b = begin(&o);
        assert_int_equal(pr_batches_next(b, input, labels, NULL, &err),
                         PR_E_CONF);
        assert_non_null(strstr(err.where, "train/img_"));
        assert_non_null(strstr(err.msg, "does not fit the model's input"));
        assert_non_null(strstr(err.hint, "dataset.record_dims"));
        pr_batches_free(b);
        kit_done(&k);
    }
}

static int try_new(struct kit *k, uint64_t batch, struct pr_err *err)
{
    struct pr_batches_opts o = opts_of(k, batch, 1, 4, 0, 0);
    struct pr_batches *b = NULL;
    int rc = pr_batches_new(&o, &b, err);

    pr_batches_free(b);
    return rc;
}

static void nothing_to_train_with_is_refused(void **state)
{
    struct pr_err err = {0};
    struct kit k;

    (void)state;
    set_up(&k, "'dataset.format': 'npy', 'dataset.record_dims': [4]");
    assert_int_equal(try_new(&k, 21, &err), PR_E_CONF);
    assert_non_null(strstr(err.msg, "20 samples do not fill a batch of 21"));
    assert_int_equal(try_new(&k, 20, &err), PR_OK);
    k.reader.prefetch_size = (int64_t)1 << 60;
    assert_int_equal(try_new(&k, 20, &err), PR_E_NOMEM);
    assert_non_null(strstr(err.hint, "reader.prefetch_size"));
    k.reader.prefetch_size = 2;
    k.reader.decode = false;
    assert_int_equal(try_new(&k, 4, &err), PR_E_CONF);
    assert_string_equal(err.where, "reader.decode");
    kit_done(&k);
    set_up(&k, "'dataset.format': 'synthetic'");
    assert_int_equal(try_new(&k, 4, &err), PR_E_CONF);
    assert_string_equal(err.where, "dataset.format");
    kit_done(&k);
}

/* Half of a file of the set. */
static void cut(struct kit *k, uint64_t file)
{
    static uint8_t data[1 << 16];
    char name[PR_NAME_BYTES];
    struct pr_err err = {0};
    struct pr_object o;
    size_t len;

    pr_dataset_name(&k->set, file, PR_NAME_DATA, name);
    kit_check(pr_object_open(k->st, name, &o, &err), &err);
    len = (size_t)o.size / 2;
    assert_true(len < sizeof data);
    kit_check(pr_object_read(&o, 0, len, data, &err), &err);
    pr_object_close(&o);
    kit_check(pr_object_create(k->st, name, len, &o, &err), &err);
    kit_check(pr_object_write(&o, 0, data, len, &err), &err);
    kit_check(pr_object_commit(&o, &err), &err);
}

static void a_file_cut_short_is_named(const char *format)
{
    enum { EACH = 3 * 16 * 16 };
    static float input[20 * EACH];
    struct pr_err err = {0};
    struct pr_batches_opts o;
    struct pr_batches *b;
    int32_t labels[20];
    char more[512];
    struct kit k;

    snprintf(more, sizeof more,
             "'dataset.format': '%s', 'dataset.record_dims': [40, 30, 3]",
             format);
    set_up(&k, more);
    cut(&k, 13);
    o = opts_of(&k, 20, 3, 3, 16, 16);
    b = begin(&o);
    assert_int_equal(pr_batches_next(b, input, labels, NULL, &err),
                     PR_E_FORMAT);
    assert_non_null(strstr(err.where, "img_13_of_20"));
    pr_batches_free(b);
    kit_done(&k);
}

static void cut_pictures_are_named(void **state)
{
    (void)state;
#if PR_HAVE_JPEG
    a_file_cut_short_is_named("jpeg");
#endif
#if PR_HAVE_PNG
    a_file_cut_short_is_named("png");
#endif
    a_file_cut_short_is_named("npy");
}

/* Two of twenty: what is before them in the batch comes twice. */
static void skipped_samples_are_made_up_for(void **state)
{
    enum { EACH = 4 };
    float input[20 * EACH];
    struct pr_batches_stats figures;
    struct pr_batches_opts o;
    struct pr_batches *b;
    struct pr_err err = {0};
    int32_t labels[20];
    struct kit k;
    int twice = 0;

    (void)state;
    set_up(&k, "'dataset.format': 'npy', 'dataset.record_dims': [4],"
               "'reader.on_error': 'skip'");
    cut(&k, 13);
    cut(&k, 2);
    o = opts_of(&k, 20, 1, EACH, 0, 0);
    b = begin(&o);
    take(b, 1, 20, EACH, input, labels);
    pr_batches_stats(b, &figures);
    assert_int_equal(figures.failed, 2);
    assert_int_equal(figures.first_error.code, PR_E_FORMAT);
    for (int i = 0; i < 20; i++) {
        uint64_t s = sample_of(labels[i], 20);
        int before = (i + 19) % 20;

        assert_true(s != 13 && s != 2);
        assert_int_equal(recognise(&k, input + i * EACH, EACH), s);
        twice += labels[i] == labels[before];
    }
    assert_int_equal(twice, 2);
    for (int i = 0; i < 9; i++)
        take(b, 1, 20, EACH, input, labels);
    pr_batches_stats(b, &figures);
    assert_int_equal(figures.failed, 20); /* no others, though memory is old */
    pr_batches_free(b);

    for (uint64_t f = 0; f < 20; f++)
        if (f != 13 && f != 2)
            cut(&k, f);
    b = begin(&o);
    assert_int_equal(pr_batches_next(b, input, labels, NULL, &err),
                     PR_E_FORMAT);
    assert_non_null(strstr(err.where, "img_"));
    pr_batches_free(b);
    kit_done(&k);
}

/* ---- stopping */

static void stopping_ends_it(void **state)
{
    struct pr_err err = {0};
    struct pr_batches_opts o;
    struct pr_batches *b;
    int32_t labels[4];
    float input[16];
    struct kit k;

    (void)state;
    set_up(&k, "'dataset.format': 'npy', 'dataset.record_dims': [4]");
    o = opts_of(&k, 4, 1, 4, 0, 0);
    b = begin(&o);
    take(b, 1, 4, 4, input, labels);
    __atomic_store_n(&k.stop, true, __ATOMIC_RELAXED);
    assert_int_equal(pr_batches_next(b, input, labels, NULL, &err), PR_E_INTR);
    pr_batches_free(b);
    assert_int_equal(pr_batches_new(&o, &b, &err), PR_E_INTR);
    o.stop = NULL; /* nobody stops it */
    b = begin(&o);
    take(b, 1, 4, 4, input, labels);
    take(b, 1, 4, 4, input, labels);
    pr_batches_free(b);
    kit_done(&k);
}

static void *stop_soon(void *kit)
{
    struct kit *k = kit;

    pr_sleep_until(&k->clock->clock, 1030000000, NULL);
    __atomic_store_n(&k->stop, true, __ATOMIC_RELAXED);
    pr_attend(&k->clock->clock, -1);
    return NULL;
}

/* Within the tenth of a second that threads may take to look. */
static void stopping_ends_waiting(void **state)
{
    struct virtual_clock time;
    struct pr_err err = {0};
    struct pr_batches_opts o;
    struct pr_batches *b;
    pthread_t thread;
    int32_t labels[4];
    float input[16];
    struct kit k;

    (void)state;
    kit_init(&k, "{'storage.engine': 'null', 'storage.latency': 20,"
                 "'dataset.num_files_train': 20, 'dataset.format': 'npy',"
                 "'dataset.record_dims': [4]}");
    virtual_clock_init(&time);
    k.clock = &time;
    o = opts_of(&k, 4, 1, 4, 0, 0);
    pr_attend(&time.clock, 1);
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, &k), 0);
    b = begin(&o);
    assert_int_equal(pr_batches_next(b, input, labels, NULL, &err), PR_E_INTR);
    pr_batches_free(b);
    assert_in_range(time.now, 1030000000, 1200000000);
    pthread_join(thread, NULL);
    kit_done(&k);
}

/* A thread that hangs is left behind: in a process of its own, and what it
 * still uses outlives this function. */
static int hang(void)
{
    static struct kit k;
    static struct virtual_clock time;
    static float input[16];
    static int32_t labels[4];
    struct pr_batches_opts o;
    struct pr_batches *b;
    struct pr_err err = {0};

    kit_init(&k, "{'storage.engine': 'null', 'storage.latency': 30,"
                 "'dataset.num_files_train': 20, 'dataset.format': 'npy',"
                 "'reader.io_timeout': 0.3, 'dataset.record_dims': [4]}");
    virtual_clock_init(&time);
    k.clock = &time;
    o = opts_of(&k, 4, 1, 4, 0, 0);
    b = begin(&o);
    if (pr_batches_next(b, input, labels, NULL, &err) != PR_E_TIMEOUT)
        return 1;
    pr_batches_end(b);
    if (!pr_batches_is_hung(b) || !strstr(err.where, "img_"))
        return 2;
    pr_batches_free(b);
    b = begin(&o); /* this time nobody waits for a batch */
    pr_sleep_until(&time.clock, time.now + 200000000, NULL);
    pr_batches_end(b);
    return pr_batches_is_hung(b) ? 0 : 3;
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
    close(ends[1]);
    assert_int_equal(read(ends[0], &answer, 1), 1);
    assert_int_equal(answer, 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(ends[0]);
}

/* Much is under way when it ends. */
static void it_can_end_at_any_time(void **state)
{
    struct kit k;

    (void)state;
    set_up(&k, "'dataset.format': 'npy', 'dataset.record_length_bytes': 9000");
    for (uint64_t n = 0; n < 6; n++) {
        struct pr_batches_opts o = opts_of(&k, 4, 3, 3, 32, 32);
        static float input[4 * 3 * 32 * 32];
        struct pr_batches *b;
        int32_t labels[4];

        o.threads = 3;
        o.augment = true;
        b = begin(&o);
        assert_false(pr_batches_is_hung(b));
        for (uint64_t i = 0; i < n; i++)
            take(b, 1, 4, 0, input, labels);
        if (n % 2) {
            struct pr_batches_stats figures;

            pr_batches_end(b);
            pr_batches_stats(b, &figures);
            assert_int_equal(figures.batches, n);
        }
        assert_false(pr_batches_is_hung(b));
        pr_batches_free(b);
    }
    pr_batches_free(NULL);
    kit_done(&k);
}

/* ---- memory */

static struct kit tortured;

static int attempt(void)
{
    static float input[4 * 3 * 8 * 8];
    struct pr_batches_opts o = opts_of(&tortured, 4, 3, 3, 8, 8);
    struct pr_batches *b = NULL;
    struct pr_err err = {0};
    int32_t labels[4];
    int rc;

    o.classes = 10;
    rc = pr_batches_new(&o, &b, &err);
    for (int i = 0; !rc && i < 6; i++)
        rc = pr_batches_next(b, input, labels, NULL, &err);
    pr_batches_free(b);
    return rc;
}

static void no_memory_is_survived(void **state)
{
    (void)state;
    set_up(&tortured, "'dataset.format': 'npy', 'dataset.labels': 'separate',"
                      "'dataset.num_classes': 10,"
                      "'dataset.record_length_bytes': 900");
    write_labels(&tortured);
    torture(attempt);
    kit_done(&tortured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_that_the_model_does_not_know_are_refused),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
        cmocka_unit_test(nothing_to_train_with_is_refused),
        cmocka_unit_test(cut_pictures_are_named),
        cmocka_unit_test(skipped_samples_are_made_up_for),
        cmocka_unit_test(stopping_ends_it),
        cmocka_unit_test(stopping_ends_waiting),
        cmocka_unit_test(a_hung_call_is_told_of),
        cmocka_unit_test(it_can_end_at_any_time),
        cmocka_unit_test(no_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
