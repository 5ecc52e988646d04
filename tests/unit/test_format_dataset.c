/*
 * Data sets from parameters: sizes as DLIO draws them (golden values), names,
 * folders, contradictions refused; contents that follow from the seed alone.
 */
#include "base/json/json.h"
#include "format/content.h"
#include "format/dataset/dataset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct pr_arena *arena;

static int make_arena(void **state)
{
    (void)state;
    arena = pr_arena_new(65536);
    return !arena;
}

static int free_arena(void **state)
{
    (void)state;
    pr_arena_free(arena);
    return 0;
}

/* A data set from JSON such as {"dataset.format": "npz"}. */
static int make(const char *json, struct pr_dataset *ret, struct pr_err *err)
{
    struct pr_json_in in = {.text = json, .len = strlen(json), .name = "test"};
    struct pr_value params;

    assert_int_equal(pr_json_read(&in, arena, &params, NULL, err), PR_OK);
    return pr_dataset_init(ret, &params, arena, err);
}

static void sizes_are_those_of_dlio(void **state)
{
    static const struct {
        const char *json;
        uint64_t sides[4][2];
    } rows[] = {
        {"{\"dataset.format\": \"npz\", \"dataset.num_files_train\": 168,"
         "\"dataset.record_length_bytes\": 146600628,"
         "\"dataset.record_length_bytes_stdev\": 68341808}",
         {{15865, 14125}, {7745, 12083}, {13860, 10074}, {12856, 12413}}},
        {"{\"dataset.format\": \"npz\", \"dataset.num_files_train\": 4,"
         "\"dataset.record_length_bytes\": 2828486,"
         "\"dataset.record_length_bytes_stdev\": 71311}",
         {{1709, 1696}, {1648, 1680}, {1694, 1665}, {1686, 1683}}},
        {"{\"dataset.format\": \"npz\", \"dataset.num_files_train\": 4,"
         "\"dataset.record_length_bytes\": 114660.07}",
         {{338, 338}, {338, 338}, {338, 338}, {338, 338}}},
    };
    struct pr_file_spec spec;
    struct pr_dataset_sides sides;
    struct pr_dataset d;
    struct pr_err err;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(make(rows[i].json, &d, &err), PR_OK);
        pr_dataset_sides_start(&sides);
        for (int k = 3; k >= 0; k--) { /* backward: it starts again */
            pr_dataset_spec(&d, &sides, (uint64_t)k, &spec);
            assert_int_equal(spec.shape.dim[0], rows[i].sides[k][0]);
            assert_int_equal(spec.shape.dim[1], rows[i].sides[k][1]);
        }
    }
}

static void the_sum_of_unet3d_is_that_of_dlio(void **state)
{
    struct pr_file_spec spec;
    struct pr_dataset_sides sides;
    struct pr_dataset d;
    struct pr_err err;
    uint64_t sum = 0, least = UINT64_MAX, most = 0;

    (void)state;
    assert_int_equal(
        make("{\"dataset.format\": \"npz\", \"dataset.num_files_train\": 160,"
             "\"dataset.num_files_eval\": 8,"
             "\"dataset.record_length_bytes\": 146600628,"
             "\"dataset.record_length_bytes_stdev\": 68341808}",
             &d, &err),
        PR_OK);
    pr_dataset_sides_start(&sides);
    for (uint64_t f = 0; f < 168; f++) {
        uint64_t bytes;
        pr_dataset_spec(&d, &sides, f, &spec);
        bytes = pr_spec_sample_bytes(&spec);
        sum += bytes;
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    assert_int_equal(sum, 25285981919u);
    assert_int_equal(least, 46888650);
    assert_int_equal(most, 301601979);
}

static void names_are_those_of_dlio(void **state)
{
    static const struct {
        const char *json;
        uint64_t f;
        enum pr_name_kind kind;
        const char *want;
    } rows[] = {
        {"{\"dataset.format\": \"npz\", \"dataset.num_files_train\": 64}", 0, 0,
         "./data/train/img_00_of_64.npz"},
        {"{\"dataset.format\": \"npz\", \"dataset.num_files_train\": 64}", 63,
         0, "./data/train/img_63_of_64.npz"},
        {"{\"dataset.format\": \"csv\", \"dataset.num_files_train\": 2,"
         "\"dataset.num_files_eval\": 10, \"dataset.data_folder\": \"/d//\"}",
         2, 0, "/d/valid/img_00_of_10.csv"},
#if PR_HAVE_JPEG
        {"{\"dataset.format\": \"jpg\", \"dataset.data_folder\": \"d\"}", 7, 0,
         "d/train/img_7_of_8.jpg"},
#endif
        {"{\"dataset.format\": \"npy\", \"dataset.num_files_train\": 30,"
         "\"dataset.num_subfolders_train\": 12,"
         "\"dataset.file_prefix\": \"case\", \"dataset.data_folder\": \"d\"}",
         25, 0, "d/train/01/case_25_of_30.npy"},
        {"{\"dataset.format\": \"npy\", \"dataset.num_files_train\": 3,"
         "\"dataset.num_subfolders_train\": 1,"
         "\"dataset.data_folder\": \"d\"}",
         1, 0, "d/train/img_1_of_3.npy"},
        {"{\"dataset.format\": \"tfrecord\", \"dataset.num_files_train\": 30,"
         "\"dataset.num_subfolders_train\": 2,"
         "\"dataset.data_folder\": \"d\"}",
         5, PR_NAME_INDEX, "d/index/train/img_05_of_30.tfrecord.idx"},
        {"{\"dataset.format\": \"npy\", \"dataset.num_files_train\": 3,"
         "\"dataset.num_subfolders_train\": 2,"
         "\"dataset.labels\": \"separate\", \"dataset.data_folder\": \"d\"}",
         1, PR_NAME_LABELS, "d/labels/train/1/img_1_of_3.npy.npy"},
    };
    char name[PR_NAME_BYTES];
    struct pr_dataset d;
    struct pr_err err;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(make(rows[i].json, &d, &err), PR_OK);
        pr_dataset_name(&d, rows[i].f, rows[i].kind, name);
        assert_string_equal(name, rows[i].want);
    }
}

/* Of a set that is larger than what is used of it. */
static void names_have_the_number_of_all_files(void **state)
{
    static const struct {
        uint64_t named, f;
        const char *want;
    } rows[] = {
        {8, 7, "d/train/img_7_of_8.npz"},
        {9, 3, "d/train/img_3_of_9.npz"},
        {10, 3, "d/train/img_03_of_10.npz"},
        {99, 7, "d/train/img_07_of_99.npz"},
        {100, 7, "d/train/img_007_of_100.npz"},
        {9999, 7, "d/train/img_0007_of_9999.npz"},
        {10000, 0, "d/train/img_00000_of_10000.npz"},
        {50000000, 7, "d/train/img_00000007_of_50000000.npz"},
        {123456789, 7, "d/train/img_000000007_of_123456789.npz"},
        {1000000000000000, 6,
         "d/train/img_0000000000000006_of_1000000000000000.npz"},
    };
    char name[PR_NAME_BYTES];
    struct pr_dataset d;
    struct pr_err err;

    (void)state;
    assert_int_equal(make("{\"dataset.format\": \"npz\","
                          "\"dataset.data_folder\": \"d\"}",
                          &d, &err),
                     PR_OK);
    assert_int_equal(d.named[PR_TRAIN], 8);
    assert_int_equal(d.named[PR_VALID], 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        d.named[PR_TRAIN] = rows[i].named;
        pr_dataset_name(&d, rows[i].f, PR_NAME_DATA, name);
        assert_string_equal(name, rows[i].want);
    }
    d.files[PR_TRAIN] = d.named[PR_TRAIN];
    pr_dataset_name(&d, 912345678901234, PR_NAME_DATA, name);
    assert_string_equal(name, "d/train/"
                              "img_0912345678901234_of_1000000000000000.npz");
    pr_dataset_split_folder(&d, PR_TRAIN, name);
    assert_string_equal(name, "d/train");
    pr_dataset_split_folder(&d, PR_VALID, name);
    assert_string_equal(name, "d/valid");
}

static void folders_are_all_there(void **state)
{
    static const char *const want[] = {
        "d/train",          "d/train/0",      "d/train/1",
        "d/valid",          "d/labels/train", "d/labels/train/0",
        "d/labels/train/1", "d/labels/valid", "",
    };
    char name[PR_NAME_BYTES];
    struct pr_dataset d;
    struct pr_err err;

    (void)state;
    assert_int_equal(
        make("{\"dataset.format\": \"npy\", \"dataset.data_folder\": \"d\","
             "\"dataset.num_subfolders_train\": 2,"
             "\"dataset.labels\": \"separate\"}",
             &d, &err),
        PR_OK);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        pr_dataset_folder(&d, i, name);
        assert_string_equal(name, want[i]);
    }
}

static void contradictions_are_refused(void **state)
{
    static const struct {
        const char *json, *where;
    } rows[] = {
        {"{\"dataset.format\": \"npz\", \"dataset.record_dims\": [2, 2],"
         "\"dataset.record_length_bytes_stdev\": 5}",
         "dataset.record_dims"},
        {"{\"dataset.format\": \"npz\", \"dataset.record_dims\": [2, 0]}",
         "dataset.record_dims"},
        {"{\"dataset.format\": \"npz\", \"dataset.record_dims\": [2.5]}",
         "dataset.record_dims"},
        {"{\"dataset.format\": \"npz\", \"dataset.record_element_type\":"
         "\"uint7\"}",
         "dataset.record_element_type"},
        {"{\"dataset.format\": \"npz\", \"dataset.compression\": \"lzf\"}",
         "dataset.compression"},
#if PR_HAVE_JPEG
        {"{\"dataset.format\": \"jpeg\", \"dataset.num_samples_per_file\": 2}",
         "dataset.num_samples_per_file"},
#endif
        {"{\"dataset.format\": \"npy\", \"dataset.file_prefix\": \"../x\"}",
         "dataset.file_prefix"},
        {"{\"dataset.format\": \"npy\", \"dataset.record_dims\":"
         "[1000000000000, 1000000000000]}",
         "dataset.record_dims"},
#if PR_HAVE_HDF5
        {"{\"dataset.format\": \"hdf5\", \"dataset.record_dims\": [4, 4],"
         "\"dataset.hdf5.num_dset_per_record\": 3}",
         "dataset.hdf5.num_dset_per_record"},
#endif
    };
    struct pr_dataset d;
    struct pr_err err;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(make(rows[i].json, &d, &err), PR_E_CONF);
        assert_string_equal(err.where, rows[i].where);
    }
}

/* ---- contents */

static void content_is_the_same_in_any_order(void **state)
{
    static uint64_t whole[3 * PR_CONTENT_BLOCK / 8],
        piece[PR_CONTENT_BLOCK / 8];

    (void)state;
    for (int t = 0; t < PR_DTYPE_COUNT; t++) {
        struct pr_file_spec spec = {.dtype = (enum pr_dtype)t, .key = 5};
        pr_content_fill(&spec, 7, 0, whole, sizeof whole);
        for (int b = 2; b >= 0; b--) {
            uint64_t at = (uint64_t)b * PR_CONTENT_BLOCK;
            pr_content_fill(&spec, 7, at, piece, sizeof piece);
            assert_memory_equal(piece, (uint8_t *)whole + at, sizeof piece);
        }
        pr_content_fill(&spec, 8, 0, piece, sizeof piece);
        assert_memory_not_equal(piece, whole, sizeof piece);
    }
}

static void floats_lie_between_0_and_1(void **state)
{
    static double f64[4096];
    static float f32[4096];
    static uint16_t f16[4096];
    struct pr_file_spec spec = {.key = 5};
    double sum = 0, sum32 = 0;

    (void)state;
    spec.dtype = PR_F64;
    pr_content_fill(&spec, 0, 0, f64, sizeof f64);
    spec.dtype = PR_F32;
    pr_content_fill(&spec, 0, 0, f32, sizeof f32);
    spec.dtype = PR_F16;
    pr_content_fill(&spec, 0, 0, f16, sizeof f16);
    for (int i = 0; i < 4096; i++) {
        assert_true(f64[i] >= 0 && f64[i] < 1);
        assert_true(f32[i] >= 0 && f32[i] < 1);
        assert_true(f16[i] < 0x3c00); /* 1.0; above it are inf and nan */
        sum += f64[i];
        sum32 += (double)f32[i];
    }
    assert_true(sum > 1950 && sum < 2150); /* 2048 ± 18 */
    assert_true(sum32 > 1950 && sum32 < 2150);
}

static void labels_are_below_the_number_of_classes(void **state)
{
    struct pr_file_spec spec = {.key = 9, .classes = 10};
    unsigned seen[10] = {0};

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        int64_t l = pr_content_label(&spec, i);
        assert_in_range(l, 0, 9);
        seen[l]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(seen[i], 60, 140);
    spec.classes = 0;
    assert_int_equal(pr_content_label(&spec, 3), 0);
}

static void files_have_keys_of_their_own(void **state)
{
    (void)state;
    assert_true(pr_content_key(1, 0, 0) != pr_content_key(1, 1, 0));
    assert_true(pr_content_key(1, 0, 0) != pr_content_key(1, 0, 1));
    assert_true(pr_content_key(1, 0, 0) != pr_content_key(2, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_dlio),
        cmocka_unit_test(the_sum_of_unet3d_is_that_of_dlio),
        cmocka_unit_test(names_are_those_of_dlio),
        cmocka_unit_test(names_have_the_number_of_all_files),
        cmocka_unit_test(folders_are_all_there),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(content_is_the_same_in_any_order),
        cmocka_unit_test(floats_lie_between_0_and_1),
        cmocka_unit_test(labels_are_below_the_number_of_classes),
        cmocka_unit_test(files_have_keys_of_their_own),
    };

    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
