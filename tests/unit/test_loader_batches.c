/* Batches to train with: the same ones whatever the threads, every sample once
 * an epoch, with its label. */
#include "batches_tool.h"

#include <time.h>

/* ---- order */

static void threads_change_nothing(void **state)
{
    static const struct {
        const char *more;
        unsigned threads;
        uint64_t ahead;
        bool memory;
    } rows[] = {
        {"", 1, 2, false}, {"", 3, 2, false}, {"", 2, 7, false},
        {"", 5, 0, false}, {"", 3, 2, true},
    };
    enum { BATCHES = 20, BATCH = 6, EACH = 3 * 12 * 12 };
    static float first[BATCHES * BATCH * EACH], input[BATCHES * BATCH * EACH];
    static int32_t first_labels[BATCHES * BATCH], labels[BATCHES * BATCH];

    (void)state;
    for (int window = 0; window < 2; window++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct pr_batches_opts o;
            struct pr_batches *b;
            struct kit k;

            set_up(&k, "'dataset.format': 'npz',"
                       "'dataset.num_samples_per_file': 2,"
                       "'dataset.record_length_bytes': 900,"
                       "'dataset.labels': 'none'");
            k.reader.prefetch_size = (int64_t)rows[i].ahead;
            k.reader.shuffle_size = window ? 9 : 0;
            if (rows[i].memory)
                k.reader.read_type = "memory";
            o = opts_of(&k, BATCH, 3, 3, 12, 12);
            o.threads = rows[i].threads;
            o.augment = true;
            b = begin(&o);
            take(b, BATCHES, BATCH, EACH, input, labels);
            pr_batches_free(b);
            kit_done(&k);
            if (i == 0) {
                memcpy(first, input, sizeof input);
                memcpy(first_labels, labels, sizeof labels);
            }
            assert_memory_equal(input, first, sizeof input);
            assert_memory_equal(labels, first_labels, sizeof labels);
        }
}

static void an_epoch_has_every_sample_once(void **state)
{
    enum { EACH = 4, SAMPLES = 60, BATCH = 8, USED = 56, EPOCHS = 4 };
    static float input[EPOCHS * USED * EACH];
    static int32_t labels[EPOCHS * USED];

    (void)state;
    for (int window = 0; window < 3; window++) {
        uint64_t dropped[EPOCHS] = {0};
        struct pr_batches_stats figures;
        struct pr_batches_opts o;
        struct pr_batches *b;
        struct kit k;

        set_up(&k, "'dataset.format': 'npy', 'dataset.record_dims': [2, 2],"
                   "'dataset.record_element_type': 'float32',"
                   "'dataset.num_samples_per_file': 3");
        k.reader.shuffle_size = (int64_t[]){0, 5, 1000}[window];
        o = opts_of(&k, BATCH, 1, EACH, 0, 0);
        b = begin(&o);
        take(b, EPOCHS * USED / BATCH, BATCH, EACH, input, labels);
        for (int e = 0; e < EPOCHS; e++) {
            bool seen[SAMPLES] = {false};

            for (int i = e * USED; i < (e + 1) * USED; i++) {
                uint64_t s = sample_of(labels[i], SAMPLES);
                struct pr_file_spec spec;
                _Alignas(8) float want[EACH];

                assert_false(seen[s]);
                seen[s] = true;
                pr_dataset_spec(&k.set, NULL, s / 3, &spec);
                pr_content_fill(&spec, s % 3, 0, want, sizeof want);
                for (int j = 0; j < EACH; j++) /* files are in its order */
                    assert_true(input[i * EACH + j % 2 * 2 + j / 2] == want[j]);
            }
            for (uint64_t s = 0; s < SAMPLES; s++)
                dropped[e] += seen[s] ? 0 : s;
        }
        /* Others are left out each time, and the order is another. */
        assert_true(dropped[0] != dropped[1] || dropped[1] != dropped[2]);
        assert_memory_not_equal(labels, labels + USED, USED * sizeof *labels);
        pr_batches_stats(b, &figures);
        assert_int_equal(figures.batches, EPOCHS * USED / BATCH);
        assert_int_equal(figures.samples, EPOCHS * USED);
        assert_int_equal(figures.epochs, EPOCHS);
        assert_int_equal(figures.epoch_batches, USED / BATCH);
        assert_int_equal(figures.threads, 2);
        assert_int_equal(figures.failed, 0);
        assert_true(figures.read_samples >= figures.samples);
        assert_int_equal(figures.read_bytes, figures.read_samples * 16);
        assert_true(figures.buffer_bytes >= 3 * BATCH * 16);
        assert_non_null(strstr(pr_batches_warning(b), "the files have none"));
        pr_batches_free(b);
        kit_done(&k);
    }
}

/* What was lent is not written to while it is used. */
static void borrowed_batches_stay_as_they_are(void **state)
{
    enum { EACH = 3 * 12 * 12, BATCH = 5, BATCHES = 12 };
    static float input[BATCHES * BATCH * EACH];
    static int32_t labels[BATCHES * BATCH];

    (void)state;
    for (unsigned threads = 1; threads < 4; threads++) {
        struct timespec nap = {0, 3000000};
        struct pr_batches_opts o;
        struct pr_batches *b;
        struct kit k;

        set_up(&k, "'dataset.format': 'npy',"
                   "'dataset.record_length_bytes': 900");
        k.reader.shuffle_size = threads == 3 ? 7 : 0;
        o = opts_of(&k, BATCH, 3, 3, 12, 12);
        o.augment = true;
        o.threads = threads;
        b = begin(&o);
        take(b, BATCHES, BATCH, EACH, input, labels);
        pr_batches_free(b);
        b = begin(&o);
        for (int i = 0; i < BATCHES; i++) {
            const int32_t *their_labels = NULL;
            const float *their_input = NULL;
            uint64_t wait = UINT64_MAX;
            struct pr_err err = {0};

            kit_check(
                pr_batches_borrow(b, &their_input, &their_labels, &wait, &err),
                &err);
            assert_true(wait < 60000000000u);
            nanosleep(&nap, NULL); /* the threads read all that they may */
            assert_memory_equal(their_input, input + i * BATCH * EACH,
                                BATCH * EACH * sizeof *input);
            assert_memory_equal(their_labels, labels + i * BATCH,
                                BATCH * sizeof *labels);
        }
        pr_batches_free(b);
        kit_done(&k);
    }
}

static void seeds_give_other_batches(void **state)
{
    enum { EACH = 12 * 12 };
    static float input[3][4 * EACH];
    int32_t labels[3][4];
    struct kit k;

    (void)state;
    set_up(&k, "'dataset.format': 'npy', 'dataset.record_length_bytes': 400");
    for (int i = 0; i < 3; i++) {
        struct pr_batches_opts o = opts_of(&k, 4, 3, 1, 12, 12);
        struct pr_batches *b;

        o.seed = i ? 12 : 11;
        o.augment = i < 2;
        b = begin(&o);
        take(b, 1, 4, EACH, input[i], labels[i]);
        pr_batches_free(b);
    }
    assert_memory_not_equal(labels[0], labels[1], sizeof labels[0]);
    /* The same samples, cropped at random and in the middle. */
    assert_memory_equal(labels[1], labels[2], sizeof labels[1]);
    assert_memory_not_equal(input[1], input[2], sizeof input[1]);
    kit_done(&k);
}

/* The same sample is cropped in another way in another epoch. */
static void epochs_are_augmented_anew(void **state)
{
    enum { EACH = 10 * 10, N = 20, EPOCHS = 3 };
    static float input[EPOCHS * N * EACH];
    static int32_t labels[EPOCHS * N];
    struct pr_batches_opts o;
    struct pr_batches *b;
    struct kit k;
    int same = 0;

    (void)state;
    set_up(&k, "'dataset.format': 'npy', 'dataset.record_length_bytes': 900");
    o = opts_of(&k, N, 3, 1, 10, 10);
    o.augment = true;
    b = begin(&o);
    take(b, EPOCHS, N, EACH, input, labels);
    for (int i = 0; i < N; i++)
        for (int j = N; j < EPOCHS * N; j++)
            same += labels[i] == labels[j] &&
                    memcmp(input + i * EACH, input + j * EACH,
                           EACH * sizeof *input) == 0;
    assert_int_equal(same, 0);
    pr_batches_free(b);
    kit_done(&k);
}

/* ---- labels */

static void labels_are_those_of_the_samples(void **state)
{
    static const struct {
        const char *format, *labels, *note;
        bool carried;
    } rows[] = {
        {"npz", "inside", "those of the files", true},
        {"tfrecord", "inside", "those of the files", true},
        {"hdf5", "inside", "those of the files", true},
        {"npz", "none", "have none", false},
        {"npy", "separate", "beside", true},
        {"npz", "separate", "beside", true},
        {"csv", "none", "have none", false},
        {"indexed_binary", "inside", "have none", false},
    };
    enum { EACH = 24, BATCH = 6, BATCHES = 10 };
    static float input[BATCHES * BATCH * EACH];
    static int32_t labels[BATCHES * BATCH];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pr_format *format;
        struct pr_batches_opts o;
        struct pr_batches *b;
        char more[512];
        struct kit k;
        int kinds = 0;

        if (pr_format_find(rows[i].format, &format, NULL))
            continue; /* this build has it not */
        snprintf(more, sizeof more,
                 "'dataset.format': '%s', 'dataset.labels': '%s',"
                 "'dataset.record_dims': [24], 'dataset.num_classes': 10,"
                 "'dataset.num_samples_per_file': 3",
                 rows[i].format, rows[i].labels);
        set_up(&k, more);
        if (k.set.has_labels_apart)
            write_labels(&k);
        o = opts_of(&k, BATCH, 1, EACH, 0, 0);
        o.classes = 10;
        b = begin(&o);
        take(b, BATCHES, BATCH, EACH, input, labels);
        if (!strstr(pr_batches_warning(b), rows[i].note))
            fail_msg("%s: %s", rows[i].format, pr_batches_warning(b));
        pr_batches_free(b);
        for (int j = 0; j < BATCHES * BATCH; j++) {
            uint64_t s = recognise(&k, input + j * EACH, EACH);
            struct pr_file_spec spec;
            int64_t want;

            pr_dataset_spec(&k.set, NULL, s / 3, &spec);
            want = rows[i].carried ? pr_content_label(&spec, s % 3)
                                   : (int64_t)(pr_mix64(s) % 10);
            assert_int_equal(labels[j], want);
            kinds |= 1 << labels[j];
        }
        assert_true(kinds & (kinds - 1)); /* not all the same */
        kit_done(&k);
    }
}

/* ---- pictures */

#if PR_HAVE_PNG
/* A png of the right size, without augmentation: pixel by pixel. */
static void a_picture_that_fits_is_not_touched(void **state)
{
    static const double mean[] = {0.485, 0.456, 0.406},
                        deviation[] = {0.229, 0.224, 0.225};
    enum { H = 9, W = 11, EACH = 3 * H * W };
    static float input[20 * EACH];
    int32_t labels[20];
    struct pr_batches_opts o;
    struct pr_batches *b;
    struct kit k;

    (void)state;
    set_up(&k, "'dataset.format': 'png', 'dataset.record_dims': [9, 11, 3]");
    o = opts_of(&k, 20, 3, 3, H, W);
    b = begin(&o);
    take(b, 1, 20, EACH, input, labels);
    for (int i = 0; i < 20; i++) {
        _Alignas(8) uint8_t pixels[EACH];
        struct pr_file_spec spec;

        pr_dataset_spec(&k.set, NULL, sample_of(labels[i], 20), &spec);
        pr_content_fill(&spec, 0, 0, pixels, sizeof pixels);
        for (int c = 0; c < 3; c++)
            for (int p = 0; p < H * W; p++) {
                double want =
                    (pixels[3 * p + c] / 255. - mean[c]) / deviation[c];
                double have = input[i * EACH + c * H * W + p];

                assert_true(have - want < 1e-5 && want - have < 1e-5);
            }
    }
    pr_batches_free(b);
    kit_done(&k);
}
#endif

#if PR_HAVE_JPEG

/* What stays in memory was decoded whole, all else in part. */
static void parts_of_pictures_change_nothing(void **state)
{
    enum { BATCHES = 12, BATCH = 5, EACH = 3 * 24 * 24 };
    static float whole[BATCHES * BATCH * EACH], input[BATCHES * BATCH * EACH];
    static int32_t labels[BATCHES * BATCH];

    (void)state;
    for (int augment = 0; augment < 2; augment++) {
        struct pr_batches_stats figures;
        uint64_t bytes[2];
        struct kit k;

        set_up(&k, "'dataset.format': 'jpeg',"
                   "'dataset.record_dims': [97, 130, 3]");
        for (int parts = 0; parts < 2; parts++) {
            struct pr_batches_opts o;
            struct pr_batches *b;

            k.reader.read_type = parts ? "on_demand" : "memory";
            o = opts_of(&k, BATCH, 3, 3, 24, 24);
            o.augment = augment;
            b = begin(&o);
            take(b, BATCHES, BATCH, EACH, parts ? input : whole, labels);
            pr_batches_stats(b, &figures);
            bytes[parts] = figures.read_bytes / figures.read_samples;
            pr_batches_free(b);
        }
        assert_memory_equal(input, whole, sizeof input);
        assert_int_equal(bytes[0], 97 * 130 * 3);
#if PR_HAVE_LIBJPEG
        assert_true(bytes[1] < bytes[0] * 9 / 10);
#endif
        kit_done(&k);
    }
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if PR_HAVE_JPEG
        cmocka_unit_test(parts_of_pictures_change_nothing),
#endif
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(an_epoch_has_every_sample_once),
        cmocka_unit_test(borrowed_batches_stay_as_they_are),
        cmocka_unit_test(seeds_give_other_batches),
        cmocka_unit_test(epochs_are_augmented_anew),
        cmocka_unit_test(labels_are_those_of_the_samples),
#if PR_HAVE_PNG
        cmocka_unit_test(a_picture_that_fits_is_not_touched),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
