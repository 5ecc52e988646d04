/*
 * Finding a data set that is there: fewer files than were made, wrong counts
 * and folders told apart, files missing, and what the real DLIO makes.
 */
#include "base/json/json.h"
#include "format/dataset/dataset.h"
#include "skip.h"
#include "test_storage.h"

static struct pr_arena *arena;
static struct pr_storage *st;

static int begin(void **state)
{
    static const struct pr_storage_opts opts = {.engine = "memory"};

    (void)state;
    arena = pr_arena_new(65536);
    st = open_storage(&opts);
    return !arena;
}

static int end(void **state)
{
    (void)state;
    pr_arena_free(arena);
    pr_storage_close(st);
    return 0;
}

/* From JSON without its braces. */
static void make_set(const char *inside, struct pr_dataset *ret)
{
    struct pr_json_in in = {.name = "test"};
    struct pr_err err = {0};
    struct pr_value params;
    char json[512];

    in.len = (size_t)snprintf(json, sizeof json,
                              "{\"dataset.data_folder\": \"d\", %s}", inside);
    in.text = json;
    assert_int_equal(pr_json_read(&in, arena, &params, NULL, &err), PR_OK);
    if (pr_dataset_init(ret, &params, arena, &err))
        fail_msg("%s: %s", err.where, err.msg);
}

/* Its files, all of size bytes. */
static void make_files(const char *inside, size_t size)
{
    static const uint8_t zeros[4096];
    char name[PR_NAME_BYTES];
    struct pr_dataset d;

    make_set(inside, &d);
    for (uint64_t i = 0; (pr_dataset_folder(&d, i, name), *name); i++)
        assert_int_equal(pr_storage_make_folder(st, name, NULL), PR_OK);
    for (uint64_t f = 0; f < pr_dataset_files(&d); f++) {
        pr_dataset_name(&d, f, PR_NAME_DATA, name);
        make(st, name, zeros, size);
    }
}

static int find(const char *inside, enum pr_check_files check,
                struct pr_dataset *d, struct pr_dataset_found *found,
                struct pr_err *err)
{
    struct pr_dataset_find_opts opts = {.wanted = {true, true}, .check = check};

    make_set(inside, d);
    return pr_dataset_find(d, st, &opts, found, err);
}

#define NPZ "\"dataset.format\": \"npz\", "
#define TRAIN(n) "\"dataset.num_files_train\": " #n
#define EVAL(n) "\"dataset.num_files_eval\": " #n
#define SUB(n) "\"dataset.num_subfolders_train\": " #n

/* ---- found */

static void fewer_files_than_were_made_are_found(void **state)
{
    static const struct {
        const char *made, *wanted;
        uint64_t f;
        const char *name;
        uint64_t named, looked_at;
    } rows[] = {
        {NPZ TRAIN(64), NPZ TRAIN(64), 7, "d/train/img_07_of_64.npz", 64, 64},
        {NPZ TRAIN(64), NPZ TRAIN(8), 7, "d/train/img_07_of_64.npz", 64, 8},
        {NPZ TRAIN(1000), NPZ TRAIN(1), 0, "d/train/img_0000_of_1000.npz", 1000,
         1},
        {NPZ TRAIN(64) ", " SUB(4), NPZ TRAIN(8) ", " SUB(4), 7,
         "d/train/3/img_07_of_64.npz", 64, 8},
        {NPZ TRAIN(3) ", " SUB(4), NPZ TRAIN(2) ", " SUB(4), 1,
         "d/train/1/img_1_of_3.npz", 3, 2},
        {NPZ TRAIN(64) ", " SUB(1), NPZ TRAIN(8), 7, "d/train/img_07_of_64.npz",
         64, 8},
        {NPZ TRAIN(64) ", \"dataset.file_prefix\": \"a_1_of_2\"",
         NPZ TRAIN(8) ", \"dataset.file_prefix\": \"a_1_of_2\"", 3,
         "d/train/a_1_of_2_03_of_64.npz", 64, 8},
        {NPZ TRAIN(1000), NPZ TRAIN(500), 499, "d/train/img_0499_of_1000.npz",
         1000, 66},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_dataset_found found;
        struct pr_err err = {0};
        char name[PR_NAME_BYTES];
        struct pr_dataset d;

        begin(state);
        make_files(rows[i].made, 100 + i);
        if (find(rows[i].wanted, PR_CHECK_SAMPLED, &d, &found, &err))
            fail_msg("row %zu: %s: %s", i, err.where, err.msg);
        assert_int_equal(d.named[PR_TRAIN], rows[i].named);
        pr_dataset_name(&d, rows[i].f, PR_NAME_DATA, name);
        assert_string_equal(name, rows[i].name);
        assert_int_equal(found.check, PR_CHECK_SAMPLED);
        assert_int_equal(found.looked_at, rows[i].looked_at);
        assert_true(found.split[PR_TRAIN].mean_bytes == 100.0 + (double)i);
        assert_true(found.bytes ==
                    (100.0 + (double)i) * (double)d.files[PR_TRAIN]);
        end(state);
    }
}

static void splits_are_found_on_their_own(void **state)
{
    struct pr_dataset_find_opts opts = {.wanted = {true, false}};
    struct pr_dataset_found found;
    struct pr_dataset d;
    struct pr_err err;

    begin(state);
    make_files(NPZ TRAIN(20) ", " EVAL(10), 10);
    assert_int_equal(
        find(NPZ TRAIN(5) ", " EVAL(10), PR_CHECK_SAMPLED, &d, &found, &err),
        PR_OK);
    assert_int_equal(d.named[PR_TRAIN], 20);
    assert_int_equal(d.named[PR_VALID], 10);
    assert_int_equal(found.looked_at, 15);
    assert_int_equal(found.split[PR_VALID].looked_at, 10);
    /* What is not wanted is not looked for. */
    make_set(NPZ TRAIN(5) ", " EVAL(100), &d);
    assert_int_equal(pr_dataset_find(&d, st, &opts, &found, &err), PR_OK);
    assert_int_equal(found.split[PR_VALID].looked_at, 0);
    opts.wanted[PR_VALID] = true;
    assert_int_equal(pr_dataset_find(&d, st, &opts, &found, &err), PR_E_CONF);
    assert_says(&err, "expected 100 evaluation files, found 10");
    assert_non_null(strstr(err.hint, "dataset.num_files_eval=10"));
    end(state);
}

#define IN(k) ", \"dataset.data_folder\": \"" #k "\""

/* The largest of the sets in one folder, whichever is listed first: in some of
 * the folders it is not. */
static void smaller_sets_in_the_way_do_not_matter(void **state)
{
    static const char *const folders[] = {IN(a), IN(b), IN(c), IN(d),
                                          IN(e), IN(f), IN(g), IN(h)};
    static const char *const sets[] = {
        NPZ TRAIN(29), NPZ TRAIN(40),
        "\"dataset.format\": \"npy\", " TRAIN(90)};
    struct pr_dataset_found found;
    struct pr_dataset d;
    struct pr_err err;
    char inside[256];

    begin(state);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
            snprintf(inside, sizeof inside, "%s%s", sets[k], folders[i]);
            make_files(inside, 10);
        }
        snprintf(inside, sizeof inside, "%s%s", NPZ TRAIN(30), folders[i]);
        assert_int_equal(find(inside, PR_CHECK_ALL, &d, &found, &err), PR_OK);
        assert_int_equal(d.named[PR_TRAIN], 40);
    }
    end(state);
}

#if PR_HAVE_JPEG
static void jpg_is_jpeg(void **state)
{
    struct pr_dataset_found found;
    char name[PR_NAME_BYTES];
    struct pr_dataset d;
    struct pr_err err;

    begin(state);
    make_files("\"dataset.format\": \"jpg\", " TRAIN(4), 10);
    assert_int_equal(find("\"dataset.format\": \"jpeg\", " TRAIN(4),
                          PR_CHECK_ALL, &d, &found, &err),
                     PR_OK);
    pr_dataset_name(&d, 3, PR_NAME_DATA, name);
    assert_string_equal(name, "d/train/img_3_of_4.jpg");
    end(state);
}
#endif

/* ---- refused */

static void what_does_not_fit_is_told(void **state)
{
    static const struct {
        const char *made, *wanted, *where, *says, *hint;
    } rows[] = {
        {NPZ TRAIN(64), NPZ TRAIN(168), "d/train",
         "expected 168 training files, found 64",
         "workflow.generate_data=true, or set dataset.num_files_train=64"},
        {NPZ TRAIN(0), NPZ TRAIN(8), "d/train",
         "expected 8 training files, found none", "generate_data=true"},
        {NPZ TRAIN(8), NPZ TRAIN(8) ", \"dataset.data_folder\": \"e\"",
         "e/train", "there is no such folder", "dataset.data_folder"},
        {"\"dataset.format\": \"npy\", " TRAIN(8), NPZ TRAIN(8), "d/train",
         "found none called img_…_of_….npz, but 'img_", "generate_data"},
        {NPZ TRAIN(8), NPZ TRAIN(8) ", " SUB(2), "d/train",
         "in 2 subfolders, found them in the folder itself",
         "dataset.num_subfolders_train=0"},
        {NPZ TRAIN(8) ", " SUB(3), NPZ TRAIN(8), "d/train",
         "in the folder itself, found 3 subfolders",
         "dataset.num_subfolders_train=3"},
        {NPZ TRAIN(8) ", " SUB(3), NPZ TRAIN(8) ", " SUB(2), "d/train",
         "in 2 subfolders, found 3", "dataset.num_subfolders_train=3"},
        {NPZ TRAIN(80) ", " SUB(3), NPZ TRAIN(8) ", " SUB(12), "d/train",
         "in 12 subfolders, found 3", "dataset.num_subfolders_train=3"},
        {NPZ TRAIN(4) ", " SUB(2), NPZ TRAIN(8) ", " SUB(2), "d/train",
         "expected 8 training files, found 4", "num_files_train=4"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_dataset_found found;
        struct pr_err err = {0};
        struct pr_dataset d;

        begin(state);
        make_files(rows[i].made, 10);
        if (find(rows[i].wanted, PR_CHECK_SAMPLED, &d, &found, &err) !=
            PR_E_CONF)
            fail_msg("row %zu: '%s'", i, err.msg);
        assert_string_equal(err.where, rows[i].where);
        assert_says(&err, rows[i].says);
        if (!strstr(err.hint, rows[i].hint))
            fail_msg("row %zu: '%s' not in '%s'", i, rows[i].hint, err.hint);
        assert_int_equal(d.named[PR_TRAIN], d.files[PR_TRAIN]);
        end(state);
    }
}

static void names_of_others_are_not_taken(void **state)
{
    static const char *const names[] = {
        "img_0_of_x.npz",
        "img_0_of_8",
        "img_0_of_8.npz.tmp",
        ".part-img_0_of_8.npz",
        "img_9_of_8.npz",
        "img_0_of_80.npz",
        "img_00_of_8.npz",
        "img__of_8.npz",
        "img_0_8.npz",
        "image_0_of_8.npz",
        "img_0_of_99999999999999999999999999.npz",
        "img",
        "img_",
        "img_0_of_",
    };
    struct pr_dataset_found found;
    struct pr_dataset d;
    struct pr_err err;

    begin(state);
    assert_int_equal(pr_storage_make_folder(st, "d/train/x1", NULL), PR_OK);
    assert_int_equal(pr_storage_make_folder(st, "d/train/img_0_of_9.npz", NULL),
                     PR_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[128];

        snprintf(name, sizeof name, "d/train/%s", names[i]);
        make(st, name, "x", 1);
        assert_int_equal(find(NPZ TRAIN(2), PR_CHECK_NONE, &d, &found, &err),
                         PR_E_CONF);
        assert_says(&err, "found none");
    }
    end(state);
}

/* ---- looking at files */

static void missing_files_are_named(void **state)
{
    struct pr_dataset_found found;
    struct pr_dataset d;
    struct pr_err err;

    begin(state);
    make_files(NPZ TRAIN(1000) ", " EVAL(3), 10);
    assert_int_equal(
        pr_storage_remove(st, "d/train/img_0016_of_1000.npz", NULL), PR_OK);
    /* Every fifteenth is looked at. */
    assert_int_equal(find(NPZ TRAIN(1000), PR_CHECK_SAMPLED, &d, &found, &err),
                     PR_OK);
    assert_int_equal(find(NPZ TRAIN(1000), PR_CHECK_ALL, &d, &found, &err),
                     PR_E_IO);
    assert_string_equal(err.where, "d/train/img_0016_of_1000.npz");
    assert_says(&err, "training file 17 of 1000 is missing");
    assert_int_equal(
        pr_storage_remove(st, "d/train/img_0015_of_1000.npz", NULL), PR_OK);
    assert_int_equal(find(NPZ TRAIN(1000), PR_CHECK_SAMPLED, &d, &found, &err),
                     PR_E_IO);
    assert_string_equal(err.where, "d/train/img_0015_of_1000.npz");
    assert_int_equal(find(NPZ TRAIN(1000), PR_CHECK_NONE, &d, &found, &err),
                     PR_OK);
    assert_int_equal(found.looked_at, 1);
    assert_int_equal(found.check, PR_CHECK_NONE);
    /* The last, and the first. */
    assert_int_equal(pr_storage_remove(st, "d/valid/img_2_of_3.npz", NULL),
                     PR_OK);
    assert_int_equal(
        find(NPZ TRAIN(0) ", " EVAL(3), PR_CHECK_SAMPLED, &d, &found, &err),
        PR_E_IO);
    assert_says(&err, "evaluation file 3 of 3 is missing");
    assert_int_equal(pr_storage_remove(st, "d/valid/img_0_of_3.npz", NULL),
                     PR_OK);
    assert_int_equal(
        find(NPZ TRAIN(0) ", " EVAL(3), PR_CHECK_NONE, &d, &found, &err),
        PR_E_IO);
    assert_says(&err, "evaluation file 1 of 3 is missing");
    end(state);
}

static void a_folder_is_no_file(void **state)
{
    struct pr_dataset_found found;
    struct pr_dataset d;
    struct pr_err err;

    begin(state);
    assert_int_equal(pr_storage_make_folder(st, "d/train/img_0_of_2.npz", NULL),
                     PR_OK);
    assert_int_equal(find(NPZ TRAIN(2), PR_CHECK_NONE, &d, &found, &err),
                     PR_E_IO);
    assert_says(&err, "a folder is in the place of a file");
    end(state);
}

struct watch {
    uint64_t calls, last, of;
    bool stop;
};

static void saw(void *ctx, uint64_t done, uint64_t of)
{
    struct watch *w = ctx;

    assert_true(done > w->last);
    w->calls++;
    w->last = done;
    w->of = of;
    w->stop = done == 2048;
}

static void looking_at_all_can_be_watched_and_stopped(void **state)
{
    struct watch w = {0};
    struct pr_dataset_find_opts opts = {.wanted = {true, true},
                                        .check = PR_CHECK_ALL,
                                        .progress = saw,
                                        .ctx = &w};
    struct pr_dataset_found found = {.looked_at = 77};
    struct pr_dataset d;
    struct pr_err err;

    begin(state);
    make_files(NPZ TRAIN(3000), 10);
    make_set(NPZ TRAIN(3000), &d);
    assert_int_equal(pr_dataset_find(&d, st, &opts, &found, &err), PR_OK);
    assert_int_equal(found.looked_at, 3000);
    assert_int_equal(w.last, 3000);
    assert_int_equal(w.of, 3000);
    assert_int_equal(w.calls, 3);
    w = (struct watch){0};
    opts.stop = &w.stop;
    found.looked_at = 77;
    assert_int_equal(pr_dataset_find(&d, st, &opts, &found, &err), PR_E_INTR);
    assert_int_equal(w.last, 2048);
    assert_int_equal(found.looked_at, 77);
    end(state);
}

static void what_is_not_read_is_not_looked_for(void **state)
{
    struct pr_dataset_found found;
    struct pr_dataset d;
    struct pr_err err;

    begin(state);
    assert_int_equal(find("\"dataset.format\": \"synthetic\", " TRAIN(9),
                          PR_CHECK_ALL, &d, &found, &err),
                     PR_OK);
    assert_int_equal(found.check, PR_CHECK_NONE);
    assert_int_equal(found.looked_at, 0);
    assert_int_equal(find(NPZ TRAIN(0), PR_CHECK_ALL, &d, &found, &err), PR_OK);
    end(state);
}

static void a_set_that_nobody_made_is_there(void **state)
{
    static const struct pr_storage_opts null = {.engine = "null"};
    struct pr_dataset_find_opts opts = {.wanted = {true, true}};
    struct pr_storage *nowhere = open_storage(&null);
    struct pr_dataset_found found;
    struct pr_dataset d;
    struct pr_err err = {0};

    begin(state);
    make_set(NPZ TRAIN(50000000) ", \"dataset.record_length_bytes\": 1024", &d);
    assert_int_equal(pr_dataset_find(&d, nowhere, &opts, &found, &err),
                     PR_E_CONF);
    assert_int_equal(pr_dataset_serve(&d, nowhere, &err), PR_OK);
    assert_int_equal(pr_dataset_find(&d, nowhere, &opts, &found, &err), PR_OK);
    assert_int_equal(found.looked_at, 66);
    assert_true(found.split[PR_TRAIN].mean_bytes > 1024);
    pr_storage_close(nowhere);
    end(state);
}

/* ---- files of DLIO's */

static void dlios_sets_are_found(void **state)
{
    static const struct {
        const char *folder, *inside;
        uint64_t looked_at, named;
    } rows[] = {
        {"npz_subfolders",
         NPZ TRAIN(6) ", " EVAL(4) ", " SUB(3) ", "
                                               "\"dataset.num_subfolders_eval\""
                                               ": 2",
         10, 6},
        {"npz_subfolders", NPZ TRAIN(2) ", " SUB(3), 2, 6},
        {"npz", NPZ TRAIN(3) ", " EVAL(1), 4, 3},
        {"npz", NPZ TRAIN(1), 1, 3},
        {"npz_subfolders", NPZ TRAIN(6), 0, 0}, /* layout: refused */
    };
    struct pr_storage_opts opts = {.engine = "pread"};
    char root[4096];

    find_peers("dlio/samples", root);
    opts.storage_root = root;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_dataset_found found;
        struct pr_err err = {0};
        struct pr_dataset d;
        int rc;

        begin(state);
        pr_storage_close(st);
        st = open_storage(&opts);
        make_set(rows[i].inside, &d);
        snprintf(d.folder, sizeof d.folder, "%s", rows[i].folder);
        rc = pr_dataset_find(
            &d, st, &(struct pr_dataset_find_opts){.wanted = {true, true}},
            &found, &err);
        if (rc != (rows[i].looked_at ? PR_OK : PR_E_CONF))
            fail_msg("row %zu: %s: %s", i, err.where, err.msg);
        if (!rc) {
            assert_int_equal(found.looked_at, rows[i].looked_at);
            assert_int_equal(d.named[PR_TRAIN], rows[i].named);
        }
        end(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_files_than_were_made_are_found),
        cmocka_unit_test(splits_are_found_on_their_own),
        cmocka_unit_test(smaller_sets_in_the_way_do_not_matter),
#if PR_HAVE_JPEG
        cmocka_unit_test(jpg_is_jpeg),
#endif
        cmocka_unit_test(what_does_not_fit_is_told),
        cmocka_unit_test(names_of_others_are_not_taken),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(a_folder_is_no_file),
        cmocka_unit_test(looking_at_all_can_be_watched_and_stopped),
        cmocka_unit_test(what_is_not_read_is_not_looked_for),
        cmocka_unit_test(a_set_that_nobody_made_is_there),
        cmocka_unit_test(dlios_sets_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
