/* Batches of a set with a folder for each class: labels, those held out. */
#include "batches_tool.h"
#include "format/dataset/dataset_classes.h"
#include "skip.h"

enum { SIDE = 12, EACH = 3 * SIDE * SIDE, TRAIN = 12, VALID = 6 };

static struct pr_dataset_classes *listed[PR_SPLITS];

/* FOLDER/SPLIT/CLASS/n.png, `each` of three classes. */
static void write_split(struct kit *k, enum pr_split split, unsigned each,
                        uint64_t *number)
{
    static const char *const classes[] = {"ant", "bee", "cow"};
    char folder[PR_NAME_BYTES], name[PR_NAME_BYTES + 64];
    struct pr_file_spec spec;
    struct pr_dataset_sides sides;
    struct pr_writer *w;
    uint64_t bytes;

    assert_int_equal(pr_writer_new(k->set.format, k->st, &w, NULL), PR_OK);
    pr_dataset_sides_start(&sides);
    pr_dataset_split_folder(&k->set, split, folder);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, classes[i]);
        assert_int_equal(pr_storage_make_folder(k->st, name, NULL), PR_OK);
        for (unsigned f = 0; f < each; f++) {
            snprintf(name, sizeof name, "%s/%s/%u.png", folder, classes[i], f);
            pr_dataset_spec(&k->set, &sides, (*number)++, &spec);
            assert_int_equal(pr_writer_write(w, &spec, name, &bytes, NULL), 0);
        }
    }
    pr_writer_free(w);
}

static void make(struct kit *k)
{
    static const struct pr_dataset_classes_opts plain = {0};
    const struct pr_format *png;
    uint64_t number = 0;

    if (pr_format_find("png", &png, NULL))
        skip_because("this build has no png; install libpng-dev");
    set_up(k, "'dataset.format': 'png', 'dataset.record_dims': [12, 12, 3], "
              "'dataset.data_folder': 'real', 'dataset.num_files_train': 0");
    write_split(k, PR_TRAIN, TRAIN / 3, &number);
    write_split(k, PR_VALID, VALID / 3, &number);
    for (int s = 0; s < PR_SPLITS; s++) {
        assert_int_equal(pr_dataset_classes_list(&k->set, (enum pr_split)s,
                                                 k->st, &plain, &listed[s],
                                                 NULL),
                         PR_OK);
        assert_non_null(listed[s]);
        pr_dataset_use_classes(&k->set, (enum pr_split)s, listed[s]);
    }
}

static void done(struct kit *k)
{
    pr_dataset_classes_free(listed[PR_TRAIN]);
    pr_dataset_classes_free(listed[PR_VALID]);
    kit_done(k);
}

/* The first samples of a split. */
static void take_some(struct kit *k, enum pr_split split, bool in_order,
                      uint64_t samples, float *input, int32_t *labels)
{
    struct pr_batches_opts o = opts_of(k, 3, 3, 3, SIDE, SIDE);
    struct pr_batches *b;

    o.split = split;
    o.in_order = in_order;
    o.classes = 3;
    b = begin(&o);
    take(b, samples / 3, 3, EACH, input, labels);
    assert_string_equal(pr_batches_warning(b),
                        "labels are the folders of the files");
    pr_batches_free(b);
}

static void what_is_held_out_comes_in_order(void **state)
{
    static const int32_t want[] = {0, 0, 1, 1, 2, 2};
    static float input[2 * VALID * EACH], train[TRAIN * EACH];
    int32_t labels[2 * VALID], others[TRAIN];
    struct kit k;

    (void)state;
    make(&k);
    take_some(&k, PR_VALID, true, 2 * VALID, input, labels);
    for (int i = 0; i < 2 * VALID; i++)
        assert_int_equal(labels[i], want[i % VALID]);
    /* Each time the same, each another one, and none of those to train with. */
    assert_memory_equal(input, input + VALID * EACH, VALID * EACH * 4);
    take_some(&k, PR_TRAIN, true, TRAIN, train, others);
    for (int i = 0; i < VALID; i++) {
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(input + i * EACH, input + j * EACH,
                                    EACH * 4);
        for (int j = 0; j < TRAIN; j++)
            assert_memory_not_equal(input + i * EACH, train + j * EACH,
                                    EACH * 4);
    }
    done(&k);
}

/* Shuffled, a sample keeps the label that it has in order. */
static void labels_go_with_their_images(void **state)
{
    static float plain[TRAIN * EACH], mixed[TRAIN * EACH];
    int32_t plain_labels[TRAIN], labels[TRAIN];
    bool moved = false;
    struct kit k;

    (void)state;
    make(&k);
    take_some(&k, PR_TRAIN, true, TRAIN, plain, plain_labels);
    take_some(&k, PR_TRAIN, false, TRAIN, mixed, labels);
    for (int i = 0; i < TRAIN; i++) {
        int at = 0;

        assert_int_equal(plain_labels[i], i / (TRAIN / 3));
        while (at < TRAIN &&
               memcmp(mixed + i * EACH, plain + at * EACH, EACH * 4) != 0)
            at++;
        assert_true(at < TRAIN);
        assert_int_equal(labels[i], plain_labels[at]);
        moved |= at != i;
    }
    assert_true(moved);
    done(&k);
}

static void a_class_too_many_is_an_error(void **state)
{
    struct pr_batches *b;
    struct pr_err err = {0};
    float input[3 * EACH];
    int32_t labels[3];
    int rc = PR_OK;
    struct kit k;

    (void)state;
    make(&k);
    struct pr_batches_opts o = opts_of(&k, 3, 3, 3, SIDE, SIDE);
    o.classes = 2;
    o.split = PR_VALID;
    o.in_order = true;
    b = begin(&o);
    for (int i = 0; i < 2 && !rc; i++)
        rc = pr_batches_next(b, input, labels, NULL, &err);
    assert_int_equal(rc, PR_E_CONF);
    assert_non_null(strstr(err.where, "/valid/cow/"));
    assert_non_null(strstr(err.hint, "exp.model_opts"));
    pr_batches_free(b);
    done(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_out_comes_in_order),
        cmocka_unit_test(labels_go_with_their_images),
        cmocka_unit_test(a_class_too_many_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
