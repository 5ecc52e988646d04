/*
 * Data sets with another number of files than those there: renamed and added
 * to, stopped after every single rename, left alone when they have more.
 */
#include "generate/generate.h"
#include "scratch.h"
#include "values.h"

static struct pr_arena *arena;

static const struct pr_storage_opts storage = {.engine = "pread",
                                               .storage_type = "local_fs",
                                               .storage_root = ".",
                                               .block_size = 1 << 20,
                                               .queue_depth = 8,
                                               .fault = "",
                                               .trace = ""};

static int begin(void **state)
{
    arena = pr_arena_new(65536);
    return !arena || enter(state);
}

static int end(void **state)
{
    pr_arena_free(arena);
    return leave(state);
}

static void make_set(const char *folder, const char *inside, int train,
                     int valid, struct pr_dataset *ret)
{
    struct pr_err err = {0};
    struct pr_value params;
    char text[1024];

    snprintf(text, sizeof text,
             "{\"dataset.data_folder\": \"%s\", \"dataset.num_files_train\": "
             "%d, \"dataset.num_files_eval\": %d, "
             "\"dataset.record_length_bytes\": 90, %s}",
             folder, train, valid, inside);
    params = json(arena, text);
    if (pr_dataset_init(ret, &params, arena, &err))
        fail_msg("%s: %s", err.where, err.msg);
}

static struct pr_generate_result generate(const char *folder,
                                          const char *inside, int train,
                                          int valid, bool resume)
{
    struct pr_generate_opts opts = {
        .threads = 1, .resume = resume, .verify = true, .later = true};
    struct pr_generate_result r;
    struct pr_err err = {0};
    struct pr_dataset d;

    make_set(folder, inside, train, valid, &d);
    if (pr_generate(&d, &storage, &opts, NULL, NULL, &r, &err))
        fail_msg("%s: %s", err.where, err.msg);
    return r;
}

static void remove_set(const char *folder)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

/* Files, names and what the folder says are those of a set made at once. */
static void check_like_once(const char *inside, int train, int valid)
{
    generate("once", inside, train, valid, false);
    assert_int_equal(system("diff -r d once >&2"), 0);
    remove_set("once");
}

static const char *const layouts[] = {
    "\"dataset.format\": \"npy\"",
    "\"dataset.format\": \"tfrecord\", \"dataset.labels\": \"separate\", "
    "\"dataset.num_classes\": 5, \"dataset.num_subfolders_train\": 4",
    "\"dataset.format\": \"indexed_binary\", "
    "\"dataset.record_length_bytes_stdev\": 30",
    "\"dataset.format\": \"synthetic\"",
};

enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void a_set_grows(void **state)
{
    static const struct {
        int train, valid; /* asked for, one after another */
        int whole_train, whole_valid;
    } rows[] = {
        {8, 0, 8, 0},   {20, 0, 20, 0},  {12, 0, 20, 0}, {20, 3, 20, 3},
        {21, 1, 21, 3}, {5, 11, 21, 11}, {0, 0, 21, 11}, {100, 12, 100, 12},
    };

    (void)state;
    for (int k = 0; k < LAYOUTS; k++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct pr_generate_result r =
                generate("d", layouts[k], rows[i].train, rows[i].valid, i % 2);
            uint64_t whole =
                (uint64_t)(rows[i].whole_train + rows[i].whole_valid);

            assert_int_equal(r.files, whole);
            assert_int_equal(r.made + r.kept, whole);
            assert_int_equal(r.verified, whole);
            check_like_once(layouts[k], rows[i].whole_train,
                            rows[i].whole_valid);
        }
        remove_set("d");
    }
}

static void what_is_there_is_not_made_again(void **state)
{
    struct pr_generate_result r;

    (void)state;
    generate("d", layouts[0], 8, 2, false);
    r = generate("d", layouts[0], 20, 2, false);
    assert_int_equal(r.made, 12);
    assert_int_equal(r.kept, 10);
    assert_int_equal(r.renamed, 8);
    r = generate("d", layouts[0], 12, 1, true);
    assert_int_equal(r.made, 0);
    assert_int_equal(r.kept, 22);
    assert_int_equal(r.renamed, 0);
    /* Sizes are drawn over all files, so those to evaluate with change. */
    remove_set("d");
    generate("d", layouts[2], 8, 2, false);
    r = generate("d", layouts[2], 20, 2, false);
    assert_int_equal(r.made, 14);
    assert_int_equal(r.kept, 8);
}

/* Renames the first of the objects that would be renamed, as many as told.
 * False: there are not so many. */
static bool rename_some(const struct pr_dataset *from,
                        const struct pr_dataset *to, int many)
{
    char old[PR_NAME_BYTES], new[PR_NAME_BYTES];
    const char *endings[8] = {""};
    size_t n = 1;

    for (const char *const *e = from->format->companions; e && *e; e++)
        endings[n++] = *e;
    for (uint64_t f = 0; f < from->files[PR_TRAIN] && many; f++)
        for (int kind = PR_NAME_DATA; kind <= PR_NAME_LABELS && many; kind++)
            for (size_t e = 0; e < n && many; e++) {
                pr_dataset_name(from, f, (enum pr_name_kind)kind, old);
                pr_dataset_name(to, f, (enum pr_name_kind)kind, new);
                strncat(old, endings[e], sizeof old - strlen(old) - 1);
                strncat(new, endings[e], sizeof new - strlen(new) - 1);
                many -= rename(old, new) == 0;
            }
    return many == 0;
}

/* As a program does that is killed then. */
static void write_manifest(const struct pr_dataset *d,
                           const struct pr_dataset *from)
{
    struct pr_generate_opts opts = {0};
    struct pr_generate_job j = {.so = &storage, .opts = &opts};
    struct pr_err err = {0};

    assert_int_equal(pr_storage_open(&storage, &j.st, &err), PR_OK);
    assert_int_equal(pr_manifest_write(&j, d, false, from, &err), PR_OK);
    pr_storage_close(j.st);
}

/* The folder as a program leaves it that is killed while it renames. */
static bool leave_half_grown(const char *inside, int many)
{
    struct pr_dataset small, large;

    remove_set("d");
    generate("d", inside, 4, 2, false);
    make_set("d", inside, 4, 2, &small);
    make_set("d", inside, 11, 2, &large);
    write_manifest(&large, &small);
    return rename_some(&small, &large, many);
}

static void growth_is_finished_from_every_rename(void **state)
{
    static const int asked[] = {11, 13, 4, 1};

    (void)state;
    for (int k = 0; k < LAYOUTS; k++)
        for (int many = 0; leave_half_grown(layouts[k], many); many++) {
            int train = asked[many % 4];

            generate("d", layouts[k], train, 2, many % 2);
            check_like_once(layouts[k], train > 11 ? train : 11, 2);
        }
}

static void force_leaves_nothing_of_half_a_growth(void **state)
{
    static const int asked[] = {11, 3};
    struct pr_generate_opts opts = {.threads = 1, .force = true};
    struct pr_generate_result r;
    struct pr_err err = {0};
    struct pr_dataset d;

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_true(leave_half_grown(layouts[0], 2));
        make_set("d", layouts[0], asked[i], 2, &d);
        assert_int_equal(pr_generate(&d, &storage, &opts, NULL, NULL, &r, &err),
                         PR_OK);
        assert_int_equal(r.made, asked[i] + 2);
        check_like_once(layouts[0], asked[i], 2);
    }
}

static void a_larger_set_goes_as_a_whole(void **state)
{
    struct pr_err err = {0};
    struct pr_dataset d;

    (void)state;
    generate("d", layouts[1], 12, 3, false);
    make_set("d", layouts[1], 5, 0, &d);
    assert_int_equal(pr_generate_remove(&d, &storage, &err), PR_OK);
    assert_int_equal(access("d", F_OK), -1);
}

static void unfinished_sets_still_need_a_word(void **state)
{
    struct pr_generate_opts opts = {.threads = 1};
    struct pr_generate_result r;
    struct pr_err err = {0};
    struct pr_dataset d;

    (void)state;
    generate("d", layouts[0], 8, 0, false);
    make_set("d", layouts[0], 8, 0, &d);
    write_manifest(&d, NULL);
    make_set("d", layouts[0], 12, 0, &d);
    assert_int_equal(pr_generate(&d, &storage, &opts, NULL, NULL, &r, &err),
                     PR_E_CONF);
    assert_int_equal(access("d/train/img_7_of_8.npy", F_OK), 0);
    opts.resume = true;
    assert_int_equal(pr_generate(&d, &storage, &opts, NULL, NULL, &r, &err),
                     PR_OK);
    check_like_once(layouts[0], 12, 0);
}

static struct pr_dataset tortured;

static int grow(void)
{
    struct pr_generate_opts opts = {.threads = 1, .resume = true};
    struct pr_generate_result r;
    struct pr_err err = {0};

    return pr_generate(&tortured, &storage, &opts, NULL, NULL, &r, &err);
}

static void out_of_memory_loses_nothing(void **state)
{
    (void)state;
    generate("d", layouts[1], 4, 2, false);
    make_set("d", layouts[1], 9, 2, &tortured);
    torture(grow);
    check_like_once(layouts[1], 9, 2);
}

int main(void)
{
#define ROW(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        ROW(a_set_grows),
        ROW(what_is_there_is_not_made_again),
        ROW(growth_is_finished_from_every_rename),
        ROW(force_leaves_nothing_of_half_a_growth),
        ROW(a_larger_set_goes_as_a_whole),
        ROW(unfinished_sets_still_need_a_word),
        ROW(out_of_memory_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
