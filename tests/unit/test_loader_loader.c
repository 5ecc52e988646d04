/* The loader that others call: what is in the files, batch by batch, in memory
 * that stays until it is given back. */
#include "prony/loader.h"

#include "feed_tool.h"
#include "scratch.h"

#include <math.h>
#include <pthread.h>
#include <sys/stat.h>

enum { BATCH = 4 };

static struct pr_err err;
static struct kit k;

/* Files of a set in the folder `set`, as `generate` makes them. */
static void make(const char *more)
{
    char json[512];

    snprintf(json, sizeof json,
             "{'storage.engine': 'pread', 'dataset.data_folder': 'set', %s}",
             more);
    kit_init(&k, json);
}

static struct pr_loader_opts opts_for(const char *path)
{
    struct pr_loader_opts o = PR_LOADER_OPTS_INIT;

    o.path = path;
    o.batch_size = BATCH;
    o.threads = 2;
    o.epochs = 0;
    return o;
}

static struct pr_loader *open_it(const struct pr_loader_opts *o)
{
    struct pr_loader *l = NULL;

    kit_check(pr_loader_new(o, &l, &err), &err);
    return l;
}

static struct pr_loader_batch *next(struct pr_loader *l)
{
    struct pr_loader_batch *b = NULL;
    int rc = pr_loader_next(l, -1, &b, &err);

    if (rc < 0)
        kit_check(rc, &err);
    assert_int_equal(rc, 1);
    return b;
}

/* The bytes of sample i as the format's reader gives them. */
static void *sample(uint64_t i, struct pr_sample *ret)
{
    struct pr_read_opts read = {.samples = k.set.spec.samples,
                                .dtype = k.set.spec.dtype};
    char name[PR_NAME_BYTES];
    struct pr_reader *r;
    void *copy, *buf = NULL;

    kit_check(pr_reader_new(k.set.format, k.st, &read, &r, &err), &err);
    pr_dataset_name(&k.set, i / k.set.spec.samples, PR_NAME_DATA, name);
    kit_check(pr_reader_open(r, name, &err), &err);
    assert_int_equal(posix_memalign(&buf, PR_IO_ALIGN, r->need), 0);
    kit_check(
        pr_reader_read(r, i % k.set.spec.samples, buf, r->need, ret, &err),
        &err);
    copy = malloc(ret->size);
    memcpy(copy, ret->data, ret->size);
    free(buf);
    pr_reader_free(r);
    return copy;
}

/* In order: sample number i is the i-th of all files. */
static void assert_holds(const struct pr_loader_batch *b, uint64_t first)
{
    for (uint64_t i = 0; i < b->shape[0]; i++) {
        struct pr_sample s;
        void *want = sample(first + i, &s);

        assert_int_equal(b->bytes, b->shape[0] * s.size);
        assert_string_equal(b->dtype, pr_dtype_name(s.dtype));
        assert_int_equal(b->ndim, s.shape.ndim + 1);
        assert_memory_equal((char *)b->data + i * s.size, want, s.size);
        free(want);
    }
}

static void samples_come_as_they_are(void **state)
{
    static const char *const sets[] = {
        "'dataset.format': 'npz', 'dataset.num_files_train': 13,"
        "'dataset.record_dims': [5, 7]",
        "'dataset.format': 'npy', 'dataset.num_files_train': 13,"
        "'dataset.record_dims': [5, 7, 3],"
        "'dataset.record_element_type': 'float64'",
        "'dataset.format': 'npz', 'dataset.num_files_train': 4,"
        "'dataset.num_samples_per_file': 3, 'dataset.record_dims': [6, 2],"
        "'dataset.num_classes': 9",
        "'dataset.format': 'tfrecord', 'dataset.num_files_train': 4,"
        "'dataset.num_samples_per_file': 3, 'dataset.record_dims': [9],"
        "'dataset.num_classes': 9",
        "'dataset.format': 'npz', 'dataset.num_files_train': 13,"
        "'dataset.num_subfolders_train': 3, 'dataset.record_dims': [5, 7]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct pr_loader_opts o = opts_for("set");
        const char *param = "dataset.num_samples_per_file=3";
        struct pr_loader_batch *b;
        struct pr_loader *l;

        make(sets[i]);
        if (strstr(sets[i], "samples_per_file")) {
            o.params = &param;
            o.param_count = 1;
        }
        l = open_it(&o);
        for (unsigned n = 0; n < 2 && i != 4; n++) {
            b = next(l);
            assert_holds(b, n * BATCH);
            assert_int_equal(b->number, n);
            pr_loader_release(b);
        }
        if (i == 4) /* folders of ours are no classes */
            assert_null(pr_loader_class(l, 0));
        pr_loader_free(l);
        kit_done(&k);
        assert_int_equal(system("rm -rf set"), 0);
    }
}

/* numpy can look at it: a sample's dimensions in the order they lie in. */
static void strides_tell_the_order_of_a_sample(void **state)
{
    struct pr_loader_opts o = opts_for("set");
    const char *param = "dataset.num_samples_per_file=4";
    struct pr_loader_batch *b;
    struct pr_loader *l;

    (void)state;
    make("'dataset.format': 'npy', 'dataset.num_files_train': 6,"
         "'dataset.num_samples_per_file': 4, 'dataset.record_dims': [5, 3],"
         "'dataset.record_element_type': 'int16'");
    o.params = &param;
    o.param_count = 1;
    l = open_it(&o);
    b = next(l);
    assert_int_equal(b->ndim, 3);
    assert_int_equal(b->shape[0], BATCH);
    assert_int_equal(b->shape[1], 5);
    assert_int_equal(b->shape[2], 3);
    assert_int_equal(b->strides[0], 30);
    assert_int_equal(b->strides[1], 2);
    assert_int_equal(b->strides[2], 10);
    pr_loader_release(b);
    pr_loader_free(l);
    kit_done(&k);
    assert_int_equal(system("rm -rf set"), 0);
    make("'dataset.format': 'npy', 'dataset.num_files_train': 6,"
         "'dataset.record_dims': [5, 3],"
         "'dataset.record_element_type': 'int16'");
    o.params = NULL;
    o.param_count = 0;
    l = open_it(&o);
    b = next(l);
    assert_int_equal(b->strides[0], 30);
    assert_int_equal(b->strides[b->ndim - 1], 2);
    pr_loader_release(b);
    pr_loader_free(l);
    kit_done(&k);
}

static void epochs_end_and_go_on(void **state)
{
    struct pr_loader_opts o = opts_for("set");
    struct pr_loader_facts f = {.size = sizeof f};
    struct pr_loader_batch *b;
    struct pr_loader *l;

    (void)state;
    make("'dataset.format': 'npz', 'dataset.num_files_train': 11,"
         "'dataset.record_dims': [3, 3]");
    o.epochs = 2;
    o.shuffle = o.drop_last = true;
    l = open_it(&o);
    pr_loader_facts(l, &f);
    assert_int_equal(f.samples, 11);
    assert_int_equal(f.batches, 2);
    assert_int_equal(f.threads, 2);
    assert_string_equal(f.format, "npz");
    for (unsigned e = 0; e < 2; e++) {
        for (unsigned n = 0; n < 2; n++) {
            b = next(l);
            assert_int_equal(b->epoch, e);
            assert_int_equal(b->number, n);
            pr_loader_release(b);
        }
        assert_int_equal(pr_loader_next(l, -1, &b, &err), 0);
        assert_int_equal(pr_loader_is_over(l), e == 1);
    }
    assert_int_equal(pr_loader_next(l, -1, &b, &err), 0);
    pr_loader_facts(l, &f);
    assert_true(f.read_samples >= 16);
    pr_loader_free(l);
    kit_done(&k);
}

/* Each sample comes once an epoch, in order, whatever is left for the last
 * batch, and however far threads read into the next epochs. */
static void the_last_batch_has_what_is_left(void **state)
{
    enum { SAMPLES = 11, EPOCHS = 6, MOST = 14 };
    struct pr_loader_facts f = {.size = sizeof f};
    struct pr_loader_batch *b;

    (void)state;
    make("'dataset.format': 'npz', 'dataset.num_files_train': 11,"
         "'dataset.record_dims': [3, 3]");
    for (uint64_t size = 1; size <= MOST; size++) {
        struct pr_loader_opts o = opts_for("set");
        struct pr_loader *l;
        uint64_t at = 0;

        o.batch_size = size;
        o.threads = 1 + size % 3;
        o.prefetch = size % 5;
        o.epochs = EPOCHS;
        l = open_it(&o);
        pr_loader_facts(l, &f);
        assert_int_equal(f.batches, (SAMPLES + size - 1) / size);
        while (!pr_loader_is_over(l)) {
            uint64_t left = SAMPLES - at % SAMPLES;

            b = next(l);
            assert_int_equal(b->shape[0], left < size ? left : size);
            assert_int_equal(b->epoch, at / SAMPLES);
            assert_holds(b, at % SAMPLES);
            at += b->shape[0];
            pr_loader_release(b);
            if (at % SAMPLES == 0)
                assert_int_equal(pr_loader_next(l, -1, &b, &err), 0);
        }
        assert_int_equal(at, EPOCHS * SAMPLES);
        pr_loader_free(l);
    }
    kit_done(&k);
}

/* With a window, too: which slots are in use is another matter there. */
static void windows_and_last_batches(void **state)
{
    enum { SAMPLES = 11, EPOCHS = 8 };
    const char *windows[] = {"reader.shuffle_size=2", "reader.shuffle_size=5",
                             "reader.shuffle_size=10"};

    (void)state;
    make("'dataset.format': 'npy', 'dataset.num_files_train': 11,"
         "'dataset.record_dims': [1], 'dataset.num_classes': 1000");
    for (uint64_t i = 0; i < 3 * SAMPLES; i++) {
        struct pr_loader_opts o = opts_for("set");
        struct pr_loader_batch *b;
        struct pr_loader *l;
        unsigned char seen[256];

        o.batch_size = i % SAMPLES + 1;
        o.shuffle = true;
        o.epochs = EPOCHS;
        o.params = &windows[i / SAMPLES];
        o.param_count = 1;
        l = open_it(&o);
        for (uint64_t e = 0; e < EPOCHS; e++) {
            uint64_t count = 0;

            memset(seen, 0, sizeof seen);
            while (pr_loader_next(l, -1, &b, &err) == 1) {
                for (uint64_t n = 0; n < b->shape[0]; n++, count++)
                    seen[((unsigned char *)b->data)[n]]++;
                pr_loader_release(b);
            }
            assert_int_equal(count, SAMPLES);
            for (uint64_t n = 0; n < SAMPLES; n++) {
                struct pr_sample s;
                unsigned char *want = sample(n, &s);

                assert_int_equal(s.size, 1);
                assert_true(seen[*want]-- > 0);
                free(want);
            }
        }
        pr_loader_free(l);
    }
    kit_done(&k);
}

/* ---- memory */

static void what_is_kept_stays_as_it_is(void **state)
{
    enum { KEPT = 12 };
    struct pr_loader_opts o = opts_for("set");
    struct pr_loader_facts f = {.size = sizeof f};
    struct pr_loader_batch *kept[KEPT];
    struct pr_loader *l;
    uint64_t most;

    (void)state;
    make("'dataset.format': 'npz', 'dataset.num_files_train': 48,"
         "'dataset.record_dims': [64, 64]");
    l = open_it(&o);
    for (unsigned i = 0; i < KEPT; i++)
        kept[i] = next(l);
    assert_int_equal(pr_loader_next(l, -1, &kept[0], &err), 0);
    for (unsigned i = 0; i < KEPT; i++)
        assert_holds(kept[i], (uint64_t)i * BATCH);
    for (unsigned i = 0; i < KEPT; i++)
        memset(kept[i]->data, 0xee, kept[i]->bytes); /* it is the caller's */
    for (unsigned i = 0; i < KEPT - 1; i++)
        pr_loader_release(kept[i]);
    pr_loader_facts(l, &f);
    most = f.buffer_bytes;
    for (unsigned i = 0; i < KEPT; i++) {
        struct pr_loader_batch *b = next(l);

        assert_holds(b, (uint64_t)i * BATCH);
        pr_loader_release(b);
    }
    pr_loader_facts(l, &f);
    assert_int_equal(f.buffer_bytes, most); /* used again */
    pr_loader_free(l);
    assert_int_equal(*(unsigned char *)kept[KEPT - 1]->data, 0xee);
    pr_loader_release(kept[KEPT - 1]); /* outlived its loader */
    pr_loader_release(NULL);
    kit_done(&k);
}

static void *give_back(void *ctx)
{
    struct pr_loader_batch **b = ctx;

    for (unsigned i = 0; i < 8; i++)
        pr_loader_release(b[i]);
    return NULL;
}

static void another_thread_may_give_back(void **state)
{
    struct pr_loader_opts o = opts_for("set");
    struct pr_loader_batch *kept[8];
    struct pr_loader *l;
    pthread_t thread;

    (void)state;
    make("'dataset.format': 'npz', 'dataset.num_files_train': 4,"
         "'dataset.record_dims': [8, 8]");
    l = open_it(&o);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < 8; i++) {
            kept[i] = next(l);
            assert_int_equal(pr_loader_next(l, -1, &kept[0], &err), 0);
        }
        assert_int_equal(pthread_create(&thread, NULL, give_back, kept), 0);
        for (unsigned i = 0; i < 8; i++) {
            pr_loader_release(next(l));
            assert_int_equal(pr_loader_next(l, -1, &kept[0], &err), 0);
        }
        pthread_join(thread, NULL);
    }
    pr_loader_free(l);
    kit_done(&k);
}

/* ---- pictures, one folder a class */

static void copy_file(const char *from, const char *to)
{
    char command[256];

    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

#if PR_HAVE_JPEG
static void folders_are_classes(void **state)
{
    static const char *const roots[] = {"own", "own/train"};

    (void)state;
    make("'dataset.format': 'jpeg', 'dataset.num_files_train': 1,"
         "'dataset.record_length_bytes': 4096");
    for (size_t i = 0; i < 2; i++) {
        struct pr_loader_opts o = opts_for("own");
        struct pr_loader_facts f = {.size = sizeof f};
        struct pr_loader_batch *b;
        struct pr_loader *l;
        char folder[64], name[128];

        assert_int_equal(system("rm -rf own; mkdir own"), 0);
        (void)mkdir(roots[i], 0777);
        for (unsigned c = 0; c < 2; c++) {
            snprintf(folder, sizeof folder, "%s/class%u", roots[i], c);
            assert_int_equal(mkdir(folder, 0777), 0);
            for (unsigned n = 0; n < 2; n++) {
                snprintf(name, sizeof name, "%s/a%u.jpg", folder, n);
                copy_file("set/train/img_0_of_1.jpeg", name);
            }
        }
        o.dims = 3;
        o.shape[0] = 3;
        o.shape[1] = 20;
        o.shape[2] = 24;
        l = open_it(&o);
        b = next(l);
        assert_string_equal(b->dtype, "float32");
        assert_int_equal(b->letter, 'f');
        assert_int_equal(b->ndim, 4);
        assert_int_equal(b->shape[3], 24);
        assert_int_equal(b->strides[3], 4);
        assert_int_equal(b->strides[2], 4 * 24);
        assert_int_equal(b->strides[0], 4 * 24 * 20 * 3);
        assert_int_equal((uintptr_t)b->data % 64, 0);
        assert_non_null(b->labels);
        for (unsigned n = 0; n < BATCH; n++)
            assert_int_equal(b->labels[n], n / 2);
        assert_string_equal(pr_loader_class(l, 1), "class1");
        assert_null(pr_loader_class(l, 2));
        pr_loader_facts(l, &f);
        assert_int_equal(f.classes, 2);
        assert_string_equal(f.format, "jpeg");
        pr_loader_release(b);
        pr_loader_free(l);
    }
    kit_done(&k);
}
#endif

/* ---- what is wrong */

static void refused(const struct pr_loader_opts *o, int code, const char *what)
{
    struct pr_loader *l = NULL;

    assert_int_equal(pr_loader_new(o, &l, &err), code);
    if (!strstr(err.msg, what))
        fail_msg("'%s' does not say '%s'", err.msg, what);
    assert_null(l);
}

static void what_is_wrong_is_said(void **state)
{
    const char *param = "reader.on_eror=skip", *other = "exp.model=x",
               *no_value = "reader.on_error";
    struct pr_loader_opts o = opts_for("set"), bad;

    (void)state;
    make("'dataset.format': 'npy', 'dataset.num_files_train': 4,"
         "'dataset.record_dims': [3, 3]");
    bad = opts_for("nowhere");
    refused(&bad, PR_E_IO, "no such folder");
    bad = o;
    bad.path = NULL;
    refused(&bad, PR_E_CONF, "folder is wanted");
    bad = o;
    bad.split = "test";
    refused(&bad, PR_E_IO, "no folder 'test'");
    bad = o;
    bad.batch_size = 0;
    refused(&bad, PR_E_CONF, "a sample at least");
    bad.batch_size = 5;
    bad.drop_last = true;
    refused(&bad, PR_E_CONF, "do not fill a batch");
    bad = o;
    bad.dims = 2;
    refused(&bad, PR_E_CONF, "[channels, rows, columns]");
    bad.dims = 3;
    refused(&bad, PR_E_CONF, "dimension 1");
    bad = o;
    bad.format = "npz";
    refused(&bad, PR_E_CONF, "no npz file");
    bad = o;
    bad.params = &param;
    bad.param_count = 1;
    refused(&bad, PR_E_CONF, "no such parameter");
    assert_string_equal(err.hint, "did you mean 'reader.on_error'?");
    bad.params = &other;
    refused(&bad, PR_E_CONF, "no such parameter");
    bad.params = &no_value;
    refused(&bad, PR_E_CONF, "name=value");
    assert_int_equal(system("mkdir empty; touch empty/x.txt"), 0);
    bad = opts_for("empty");
    refused(&bad, PR_E_CONF, "name of a format");
    kit_done(&k);
}

static void samples_that_differ_are_named(void **state)
{
    struct pr_loader_opts o = opts_for("set");
    struct pr_loader_batch *b = NULL;
    struct pr_loader *l;

    (void)state;
    make("'dataset.format': 'npy', 'dataset.num_files_train': 4,"
         "'dataset.record_dims': [3, 3]");
    copy_file("set/train/img_3_of_4.npy", "keep.npy");
    kit_done(&k);
    make("'dataset.format': 'npy', 'dataset.num_files_train': 4,"
         "'dataset.record_dims': [3, 4]");
    copy_file("keep.npy", "set/train/img_3_of_4.npy");
    l = open_it(&o);
    assert_int_equal(pr_loader_next(l, -1, &b, &err), PR_E_CONF);
    assert_non_null(strstr(err.where, "img_3_of_4.npy"));
    assert_non_null(strstr(err.msg, "not like the first"));
    pr_loader_free(l);
    kit_done(&k);
}

/* A batch of which nothing can be read is an error, and counts. */
static void a_lost_batch_is_one_of_its_epoch(void **state)
{
    static const char *const bad[] = {"set/train/img_2_of_6.npy",
                                      "set/train/img_3_of_6.npy"};
    struct pr_loader_opts o = opts_for("set");
    const char *skip = "reader.on_error=skip";
    struct pr_loader_batch *b = NULL;
    struct pr_loader *l;

    (void)state;
    make("'dataset.format': 'npy', 'dataset.num_files_train': 6,"
         "'dataset.record_dims': [3, 3]");
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(truncate(bad[i], 10), 0);
    o.params = &skip;
    o.param_count = 1;
    o.batch_size = 2;
    o.epochs = 2;
    l = open_it(&o);
    for (unsigned epoch = 0; epoch < 2; epoch++) {
        for (unsigned i = 0; i < 3; i++) {
            if (i == 1) {
                assert_int_equal(pr_loader_next(l, -1, &b, &err), PR_E_FORMAT);
                continue;
            }
            b = next(l);
            assert_int_equal(b->epoch, epoch);
            assert_int_equal(b->number, i);
            assert_holds(b, 2 * i);
            pr_loader_release(b);
        }
        assert_int_equal(pr_loader_next(l, -1, &b, &err), 0);
    }
    assert_true(pr_loader_is_over(l));
    pr_loader_free(l);
    kit_done(&k);
}

/* More than anybody waits for, and no fewer. */
static void many_epochs_are_not_none(void **state)
{
    struct pr_loader_opts o = opts_for("set");
    struct pr_loader *l;

    (void)state;
    make("'dataset.format': 'npy', 'dataset.num_files_train': 8,"
         "'dataset.record_dims': [3, 3]");
    o.epochs = (uint64_t)1 << 63; /* of two batches */
    l = open_it(&o);
    assert_false(pr_loader_is_over(l));
    pr_loader_release(next(l));
    pr_loader_free(l);
    kit_done(&k);
}

/* The start of this row promises far fewer elements than there are. */
static void rows_may_be_longer_than_they_look(void **state)
{
    enum { LONG = 120000, SHORT = 2000000 };
    struct pr_loader_opts o = opts_for("rows");
    struct pr_loader_batch *b;
    struct pr_loader *l;
    FILE *f;

    (void)state;
    assert_int_equal(mkdir("rows", 0755), 0);
    f = fopen("rows/a.csv", "we");
    assert_non_null(f);
    for (unsigned i = 0; i < LONG; i++)
        fputs("0000000001,", f);
    for (unsigned i = 0; i < SHORT; i++)
        fputs(i + 1 < SHORT ? "1," : "1\n", f);
    assert_int_equal(fclose(f), 0);
    o.batch_size = 1;
    l = open_it(&o);
    b = next(l);
    assert_int_equal(b->shape[1], LONG + SHORT);
    pr_loader_release(b);
    pr_loader_free(l);
}

static void waiting_has_a_limit(void **state)
{
    struct pr_loader_opts o = opts_for("set");
    const char *slow = "storage.latency=0.2";
    struct pr_loader_batch *b = NULL;
    struct pr_loader *l;
    unsigned tries = 0;
    int rc;

    (void)state;
    make("'dataset.format': 'npy', 'dataset.num_files_train': 4,"
         "'dataset.record_dims': [3, 3]");
    o.params = &slow;
    o.param_count = 1;
    l = open_it(&o);
    assert_int_equal(pr_loader_next(l, (double)NAN, &b, &err), PR_E_CONF);
    assert_string_equal(err.where, "timeout");
    while ((rc = pr_loader_next(l, 0.01, &b, &err)) == PR_E_TIMEOUT)
        tries++;
    assert_int_equal(rc, 1);
    assert_true(tries > 1);
    assert_holds(b, 0);
    pr_loader_release(b);
    pr_loader_free(l);
    kit_done(&k);
}

static int attempt(void)
{
    struct pr_loader_opts o = opts_for("set");
    const char *param = "reader.on_error=stop";
    struct pr_loader_batch *b = NULL;
    struct pr_loader *l = NULL;
    int rc;

    o.params = &param;
    o.param_count = 1;
    rc = pr_loader_new(&o, &l, &err);
    if (!rc)
        rc = pr_loader_next(l, -1, &b, &err);
    pr_loader_release(b);
    pr_loader_free(l);
    return rc == 1 ? PR_OK : rc;
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    make("'dataset.format': 'npz', 'dataset.num_files_train': 4,"
         "'dataset.record_dims': [3, 3]");
    torture(attempt);
    kit_done(&k);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(samples_come_as_they_are),
        TEST(strides_tell_the_order_of_a_sample),
        TEST(epochs_end_and_go_on),
        TEST(the_last_batch_has_what_is_left),
        TEST(windows_and_last_batches),
        TEST(what_is_kept_stays_as_it_is),
        TEST(another_thread_may_give_back),
#if PR_HAVE_JPEG
        TEST(folders_are_classes),
#endif
        TEST(what_is_wrong_is_said),
        TEST(samples_that_differ_are_named),
        TEST(a_lost_batch_is_one_of_its_epoch),
        TEST(many_epochs_are_not_none),
        TEST(rows_may_be_longer_than_they_look),
        TEST(waiting_has_a_limit),
        TEST(no_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
