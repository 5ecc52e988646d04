/* Sets with a folder for each class: what is one, names and labels. */
#include "format/dataset/dataset_classes.h"

#include "scratch.h"
#include "skip.h"
#include "torture.h"
#include "values.h"

#include <sys/stat.h>

static const struct pr_dataset_classes_opts plain = {0};

struct kit {
    struct pr_arena *arena;
    struct pr_value params;
    struct pr_dataset set;
    struct pr_storage *st;
};

static void kit_init(struct kit *k, const char *format)
{
    struct pr_storage_opts so = {.engine = "pread",
                                 .storage_type = "local_fs",
                                 .storage_root = ".",
                                 .block_size = 1 << 20,
                                 .queue_depth = 1,
                                 .fault = "",
                                 .trace = ""};
    const struct pr_format *found;

    if (pr_format_find(format, &found, NULL))
        skip_because("this build has no %s; install what `prony doctor` "
                     "names for it",
                     format);
    k->arena = pr_arena_new(4096);
    k->params = json(k->arena, pr_arena_printf(k->arena,
                                               "{\"dataset.format\": \"%s\", "
                                               "\"dataset.data_folder\": "
                                               "\"set/\"}",
                                               format));
    assert_int_equal(pr_dataset_init(&k->set, &k->params, k->arena, NULL), 0);
    assert_int_equal(pr_storage_open(&so, &k->st, NULL), PR_OK);
}

static void kit_done(struct kit *k)
{
    pr_storage_close(k->st);
    pr_arena_free(k->arena);
}

/* Makes files, "a/b.png c/": names, or folders, with a blank between. */
static void make(const char *names)
{
    char path[256];
    int n;

    for (; sscanf(names, " %255s%n", path, &n) == 1; names += n) {
        size_t len = strlen(path);

        for (size_t i = 1; i < len; i++)
            if (path[i] == '/') {
                path[i] = '\0';
                (void)mkdir(path, 0755);
                path[i] = '/';
            }
        if (path[len - 1] != '/')
            spit(path, "x");
    }
}

static void expect_file(const struct kit *k, uint64_t f, const char *name)
{
    char out[PR_NAME_BYTES];

    pr_dataset_name(&k->set, f, PR_NAME_DATA, out);
    assert_string_equal(out, name);
}

static void list(struct kit *k, enum pr_split split,
                 struct pr_dataset_classes **ret)
{
    struct pr_err err = {0};

    if (pr_dataset_classes_list(&k->set, split, k->st, &plain, ret, &err))
        fail_msg("%s: %s", err.where, err.msg);
}

static void folders_are_classes_in_order(void **state)
{
    static const char *const names[] = {
        "set/train/Ape/z.PNG", "set/train/cow/1.png", "set/train/cow/10.png",
        "set/train/cow/2.png", "set/train/emu/a.png", "set/train/fox/b.Png",
    };
    static const unsigned labels[] = {0, 2, 2, 2, 4, 5};
    struct pr_dataset_classes *c = NULL;
    struct kit k;

    (void)state;
    make("set/train/fox/b.Png set/train/cow/2.png set/train/cow/10.png "
         "set/train/cow/1.png set/train/Ape/z.PNG set/train/bat/ "
         "set/train/dog/ set/train/emu/a.png set/train/gnu/ "
         "set/train/.hidden/x.png set/train/cow/.x.png set/train/readme.txt "
         "set/train/cow/notes.txt set/train/cow/more/y.png "
         "set/train/cow/photo.jpg set/train/cow/png");
    kit_init(&k, "png");
    list(&k, PR_TRAIN, &c);
    assert_non_null(c);
    assert_int_equal(c->count, 7); /* Ape bat cow dog emu fox gnu */
    assert_int_equal(c->files, 6);
    assert_int_equal(c->others, 3);
    pr_dataset_use_classes(&k.set, PR_TRAIN, c);
    assert_int_equal(k.set.files[PR_TRAIN], 6);
    for (uint64_t i = 0; i < 6; i++) {
        expect_file(&k, i, names[i]);
        assert_int_equal(pr_dataset_classes_label(c, i), labels[i]);
    }
    pr_dataset_classes_free(c);
    kit_done(&k);
}

static void both_endings_of_jpeg_are_taken(void **state)
{
    static const char *const formats[] = {"jpeg", "jpg"};

    (void)state;
    make("set/train/a/1.jpg set/train/a/2.jpeg set/train/a/3.JPEG "
         "set/train/a/4.JPG set/train/a/5.png");
    for (size_t i = 0; i < 2; i++) {
        struct pr_dataset_classes *c = NULL;
        struct kit k;

        kit_init(&k, formats[i]);
        list(&k, PR_TRAIN, &c);
        assert_non_null(c);
        assert_int_equal(c->files, 4);
        pr_dataset_classes_free(c);
        kit_done(&k);
    }
}

static void other_layouts_are_left_alone(void **state)
{
    static const struct {
        const char *files, *format;
    } rows[] = {
        {"nothing", "png"},
        {"set/", "png"},
        {"set/train", "png"}, /* a file */
        {"set/train/", "png"},
        {"set/train/a.png set/train/b.png", "png"},
        {"set/train/a.png set/train/sub/b.png", "png"},
        {"set/train/img_0_of_2.png set/train/img_1_of_2.png", "png"},
        {"set/train/00/img_0_of_2.png set/train/01/img_1_of_2.png", "png"},
        {"set/train/ant/a.png", "npz"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_dataset_classes *c = (void *)&rows;
        struct kit k;

        assert_int_equal(system("rm -rf set"), 0);
        make(rows[i].files);
        kit_init(&k, rows[i].format);
        list(&k, PR_TRAIN, &c);
        if (c)
            fail_msg("'%s' is taken for classes", rows[i].files);
        kit_done(&k);
    }
}

static void folders_without_files_are_refused(void **state)
{
    struct pr_dataset_classes *c = NULL;
    struct pr_err err = {0};
    struct kit k;

    (void)state;
    make("set/train/ant/a.jpg set/train/bee/");
    kit_init(&k, "png");
    assert_int_equal(
        pr_dataset_classes_list(&k.set, PR_TRAIN, k.st, &plain, &c, &err),
        PR_E_CONF);
    assert_null(c);
    assert_non_null(strstr(err.msg, "2 classes"));
    assert_non_null(strstr(err.hint, "dataset.format"));
    kit_done(&k);
}

/* A class that is not held out does not shift the others. */
static void held_out_files_have_the_labels_of_the_others(void **state)
{
    static const char *const folders[] = {"valid", "val"};

    (void)state;
    make("set/train/ant/a.png set/train/bee/a.png set/train/cow/a.png "
         "set/train/cow/b.png");
    for (size_t i = 0; i < 2; i++) {
        struct pr_dataset_classes *train = NULL, *valid = NULL;
        char files[128], name[64];
        struct kit k;

        snprintf(files, sizeof files, "set/%s/cow/c.png set/%s/bee/d.png",
                 folders[i], folders[i]);
        make(files);
        kit_init(&k, "png");
        list(&k, PR_TRAIN, &train);
        pr_dataset_use_classes(&k.set, PR_TRAIN, train);
        list(&k, PR_VALID, &valid);
        assert_non_null(valid);
        pr_dataset_use_classes(&k.set, PR_VALID, valid);
        assert_int_equal(pr_dataset_classes_label(valid, 0), 1);
        assert_int_equal(pr_dataset_classes_label(valid, 1), 2);
        expect_file(&k, 3, "set/train/cow/b.png");
        snprintf(name, sizeof name, "set/%s/bee/d.png", folders[i]);
        expect_file(&k, 4, name);
        snprintf(name, sizeof name, "set/%s/cow/c.png", folders[i]);
        expect_file(&k, 5, name);
        pr_dataset_classes_free(train);
        pr_dataset_classes_free(valid);
        kit_done(&k);
        assert_int_equal(system("rm -rf set/valid"), 0);
    }
}

static void a_class_that_is_only_held_out_is_refused(void **state)
{
    static const char *const others[] = {"aaa", "bat", "zoo"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct pr_dataset_classes *train = NULL, *valid = NULL;
        struct pr_err err = {0};
        char files[64];
        struct kit k;

        make("set/train/ant/a.png set/train/cow/a.png set/valid/ant/b.png");
        snprintf(files, sizeof files, "set/valid/%s/c.png", others[i]);
        make(files);
        kit_init(&k, "png");
        list(&k, PR_TRAIN, &train);
        pr_dataset_use_classes(&k.set, PR_TRAIN, train);
        assert_int_equal(pr_dataset_classes_list(&k.set, PR_VALID, k.st, &plain,
                                                 &valid, &err),
                         PR_E_CONF);
        assert_null(valid);
        assert_non_null(strstr(err.msg, others[i]));
        pr_dataset_classes_free(train);
        kit_done(&k);
        assert_int_equal(system("rm -rf set"), 0);
    }
}

static void many_names_fit(void **state)
{
    enum { FILES = 6000 }; /* the text and the offsets grow several times */
    struct pr_dataset_classes *c = NULL;
    char name[PR_NAME_BYTES];
    struct kit k;

    (void)state;
    make("set/train/a/ set/train/b/");
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "set/train/%c/image-number-%06d.png",
                 i % 3 ? 'a' : 'b', i);
        make(name);
    }
    kit_init(&k, "png");
    list(&k, PR_TRAIN, &c);
    assert_int_equal(c->files, FILES);
    for (uint64_t i = 0, last = 0; i < FILES; i++) {
        int number = 0;

        pr_dataset_classes_file_name(c, i, name);
        assert_int_equal(sscanf(name, "set/train/%*c/image-number-%d", &number),
                         1);
        assert_int_equal(pr_dataset_classes_label(c, i), number % 3 == 0);
        if (i && i != c->first[1])
            assert_true((uint64_t)number > last);
        last = (uint64_t)number;
    }
    pr_dataset_classes_free(c);
    kit_done(&k);
}

static void stop_while_told(void *ctx, uint64_t files)
{
    assert_true(files >= 1);
    *(bool *)ctx = true;
}

static void listing_can_be_stopped(void **state)
{
    struct pr_dataset_classes *c = NULL;
    bool stop = false;
    struct pr_dataset_classes_opts opts = {&stop, stop_while_told, &stop};
    char name[64];
    struct kit k;

    (void)state;
    for (int i = 0; i < 4200; i++) {
        snprintf(name, sizeof name, "set/train/a/%d.png", i);
        make(name);
    }
    kit_init(&k, "png");
    assert_int_equal(
        pr_dataset_classes_list(&k.set, PR_TRAIN, k.st, &opts, &c, NULL),
        PR_E_INTR);
    assert_null(c);
    kit_done(&k);
}

static struct kit tortured;

static int list_once(void)
{
    struct pr_dataset_classes *c = NULL;
    int rc = pr_dataset_classes_list(&tortured.set, PR_TRAIN, tortured.st,
                                     &plain, &c, NULL);

    pr_dataset_classes_free(c);
    return rc;
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    make("set/train/ant/a.png set/train/bee/b.png");
    kit_init(&tortured, "png");
    torture(list_once);
    kit_done(&tortured);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(folders_are_classes_in_order),
        TEST(both_endings_of_jpeg_are_taken),
        TEST(other_layouts_are_left_alone),
        TEST(folders_without_files_are_refused),
        TEST(held_out_files_have_the_labels_of_the_others),
        TEST(a_class_that_is_only_held_out_is_refused),
        TEST(many_names_fit),
        TEST(listing_can_be_stopped),
        TEST(no_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
