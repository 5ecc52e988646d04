/* HDF5 files that we write: what is in them, and when they cannot be. */
#include "files_tool.h"

/* Sample i, with its type, shape and label. */
static void must_match(struct reading *x, const struct pr_file_spec *spec,
                       uint64_t i)
{
    size_t bytes = (size_t)pr_spec_sample_bytes(spec);
    uint8_t *want = pr_alloc_aligned(64, bytes + 1);

    assert_non_null(want);
    if (reading_read(x, i))
        fail_msg("sample %llu: %s", (unsigned long long)i, x->err.msg);
    pr_content_fill(spec, i, 0, want, bytes);
    assert_int_equal(x->s.size, bytes);
    assert_int_equal(x->s.dtype, spec->dtype);
    assert_int_equal(pr_shape_count(&x->s.shape), pr_shape_count(&spec->shape));
    assert_memory_equal(x->s.data, want, bytes);
    assert_int_equal(x->s.has_label, spec->labels_inside);
    if (spec->labels_inside)
        assert_int_equal(x->s.label, pr_content_label(spec, i));
    pr_free(want);
}

static void all_must_match(struct place *p, const struct pr_file_spec *spec,
                           const char *name)
{
    struct reading x;

    assert_int_equal(reading_init(&x, p, "hdf5", NULL), PR_OK);
    for (int known = 0; known < 2; known++) {
        if (reading_open(&x, name))
            fail_msg("%s: %s", name, x.err.msg);
        assert_int_equal(x.r->samples, spec->samples);
        for (uint64_t i = 0; i < spec->samples; i++)
            must_match(&x, spec, i);
        must_match(&x, spec, spec->samples / 2);
        must_match(&x, spec, 0);
    }
    reading_done(&x);
}

static void every_type_comes_back(void **state)
{
    static const enum pr_compression kinds[] = {PR_PLAIN, PR_GZIP, PR_LZF};
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (int t = 0; t < PR_DTYPE_COUNT; t++)
        for (int k = 0; k < 3; k++) {
            struct pr_file_spec spec = {
                .shape = {2, {13, 101}},
                .dtype = (enum pr_dtype)t,
                .samples = 5,
                .key = 77,
                .labels_inside = t % 2,
                .classes = 1000,
                .compression = kinds[k],
                .level = 1 + t % 9,
                .dataset_count = 1,
            };

            write_file(&p, "hdf5", &spec, "f");
            all_must_match(&p, &spec, "f");
        }
    place_done(&p);
}

static const struct pr_file_spec layouts[] = {
    {.shape = {0, {0}}, .samples = 1},
    {.shape = {0, {0}}, .samples = 9000, .labels_inside = true},
    {.shape = {1, {1}}, .samples = 3, .compression = PR_LZF},
    {.shape = {2, {338, 338}}, .samples = 3, .labels_inside = true},
    {.shape = {2, {700, 701}}, .samples = 3, .labels_inside = true},
    /* one larger than a chunk may be */
    {.shape = {2, {2100, 2100}}, .samples = 1, .compression = PR_GZIP},
    {.shape = {1, {5000001}}, .samples = 1, .compression = PR_LZF},
    {.shape = {3, {2, 2200, 1001}}, .samples = 1, .compression = PR_LZF},
    /* data sets beside one another */
    {.shape = {3, {4, 16, 16}}, .samples = 3, .dataset_count = 2},
    {.shape = {3, {4, 16, 16}}, .samples = 3, .dataset_count = 4},
    {.shape = {1, {4}}, .samples = 3, .dataset_count = 4},
    {.shape = {2, {300, 7}}, .samples = 2, .dataset_count = 100},
    {.shape = {3, {4, 99, 131}},
     .samples = 3,
     .dataset_count = 2,
     .compression = PR_GZIP,
     .labels_inside = true},
    /* chunks of all kinds */
    {.shape = {2, {20, 30}}, .samples = 7, .chunk = {3, {1, 20, 30}}},
    {.shape = {2, {20, 30}}, .samples = 7, .chunk = {3, {3, 20, 30}}},
    {.shape = {2, {20, 30}}, .samples = 7, .chunk = {3, {7, 3, 7}}},
    {.shape = {2, {20, 30}}, .samples = 7, .chunk = {3, {2, 20, 7}}},
    {.shape = {2, {200, 300}},
     .samples = 2,
     .chunk = {3, {1, 150, 300}},
     .compression = PR_GZIP},
    {.shape = {3, {6, 5, 4}},
     .samples = 4,
     .chunk = {4, {3, 4, 3, 4}},
     .compression = PR_LZF},
    {.shape = {1, {13}}, .samples = 500, .chunk = {2, {7, 13}}},
    /* room to grow */
    {.shape = {2, {20, 30}}, .samples = 3, .max = {2, {40, 30}}},
    {.shape = {2, {20, 30}},
     .samples = 3,
     .chunk = {3, {2, 30, 30}},
     .max = {2, {UINT64_MAX, 60}},
     .compression = PR_GZIP},
    {.shape = {2, {20, 30}},
     .samples = 3,
     .chunk = {3, {1, 8, 8}},
     .max = {2, {UINT64_MAX, UINT64_MAX}}},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* By one writer too, in which a second file follows from the first. */
static void every_layout_comes_back(void **state)
{
    struct place p;

    (void)state;
    place_init(&p, "pread");
    for (size_t i = 0; i < LAYOUTS; i++) {
        struct pr_file_spec spec = layouts[i];
        struct pr_writer *w;
        size_t len, again_len;
        uint8_t *alone, *again;

        spec.classes = 10;
        spec.level = 3;
        assert_int_equal(pr_writer_new(format_of("hdf5"), p.st, &w, NULL), 0);
        for (spec.key = 5; spec.key < 8; spec.key++) {
            uint64_t bytes = 0;
            struct pr_err err = {0};

            if (pr_writer_write(w, &spec, "f", &bytes, &err))
                fail_msg("layout %zu: %s: %s", i, err.where, err.msg);
            all_must_match(&p, &spec, "f");
            again = get_file(&p, "f", &again_len);
            write_file(&p, "hdf5", &spec, "g");
            alone = get_file(&p, "g", &len);
            assert_int_equal(len, again_len);
            assert_int_equal(len, bytes);
            assert_memory_equal(alone, again, len);
            free(alone);
            free(again);
        }
        pr_writer_free(w);
    }
    place_done(&p);
}

/* The names, and the shapes, of DLIO's data sets. */
static void a_leading_one_is_dropped(void **state)
{
    struct pr_file_spec spec = {
        .shape = {3, {3, 5, 7}},
        .samples = 2,
        .dataset_count = 3,
    };
    struct place p;
    struct reading x;
    size_t len;
    uint8_t *data;

    (void)state;
    place_init(&p, "memory");
    write_file(&p, "hdf5", &spec, "f");
    data = get_file(&p, "f", &len);
    assert_non_null(memmem(data, len, "records_0", 9));
    assert_non_null(memmem(data, len, "records_2", 9));
    assert_null(memmem(data, len, "records_3", 9));
    assert_null(memmem(data, len, "labels", 6));
    free(data);
    assert_int_equal(reading_init(&x, &p, "hdf5", NULL), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_int_equal(reading_read(&x, 1), PR_OK);
    assert_int_equal(x.s.shape.ndim, 2); /* (5, 7) three times */
    assert_int_equal(x.s.shape.dim[0], 15);
    reading_done(&x);
    place_done(&p);
}

static void says_what_it_cannot_hold(void **state)
{
    static const struct {
        struct pr_file_spec spec;
        const char *where, *text;
    } bad[] = {
        {{.shape = {2, {5, 4}}, .samples = 1, .dataset_count = 2},
         "dataset.hdf5.num_dset_per_record",
         "not a multiple of 2"},
        {{.samples = 1, .dataset_count = 2},
         "dataset.hdf5.num_dset_per_record",
         "not a multiple of 2"},
        {{.shape = {2, {5, 4}}, .samples = 1, .compression = PR_ZIP},
         "dataset.compression",
         "none, gzip and lzf"},
        {{.shape = {2, {5, 4}}, .samples = 1, .compression = PR_GZIP},
         "dataset.compression_level",
         "1 to 9"},
        {{.shape = {2, {5, 4}}, .samples = 1, .chunk = {2, {5, 4}}},
         "dataset.hdf5.chunk_dims",
         "2 dimensions but the data set has 3"},
        {{.shape = {2, {5, 4}}, .samples = 1, .chunk = {3, {1, 6, 4}}},
         "dataset.hdf5.chunk_dims",
         "dimension 1 is 6, not between 1 and 5"},
        {{.shape = {2, {5, 4}}, .samples = 1, .chunk = {3, {1, 0, 4}}},
         "dataset.hdf5.chunk_dims",
         "dimension 1 is 0"},
        {{.shape = {1, {1l << 33}}, .samples = 1, .chunk = {2, {1, 1l << 33}}},
         "dataset.hdf5.chunk_dims",
         "4 GiB"},
        {{.shape = {2, {5, 4}}, .samples = 1, .max = {2, {5, 3}}},
         "dataset.hdf5.max_shape",
         "dimension 2 is 3, less than a sample's 4"},
        {{.shape = {2, {5, 4}}, .samples = 1, .max = {1, {5}}},
         "dataset.hdf5.max_shape",
         "1 dimensions"},
        {{.shape = {2, {5, 0}}, .samples = 1},
         "dataset.record_dims",
         "cannot hold"},
        {{.shape = {2, {1l << 40, 1l << 40}}, .samples = 1},
         "dataset.record_dims",
         "cannot hold"},
    };
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pr_err err = {0};

        assert_int_equal(format_of("hdf5")->check(&bad[i].spec, &err),
                         PR_E_CONF);
        assert_string_equal(err.where, bad[i].where);
        if (!strstr(err.msg, bad[i].text))
            fail_msg("row %zu: %s", i, err.msg);
        assert_int_equal(try_write(&p, "hdf5", &bad[i].spec, "f", &err),
                         PR_E_CONF);
    }
    assert_int_equal(place_count(&p), 0);
    place_done(&p);
}

/* ---- when it goes wrong */

static void nothing_is_left_when_interrupted(void **state)
{
    const bool stop = true;
    struct place p;

    (void)state;
    place_init(&p, "pread");
    for (size_t i = 0; i < LAYOUTS; i++) {
        struct pr_file_spec spec = layouts[i];
        struct pr_err err = {0};
        struct pr_writer *w;
        uint64_t bytes = 0;

        spec.level = 1;
        assert_int_equal(pr_writer_new(format_of("hdf5"), p.st, &w, NULL), 0);
        w->stop = &stop;
        assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, &err),
                         PR_E_INTR);
        assert_string_equal(err.msg, "interrupted");
        assert_int_equal(place_count(&p), 0);
        w->stop = NULL; /* and it goes on */
        assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, &err), PR_OK);
        assert_int_equal(pr_storage_remove(p.st, "f", NULL), PR_OK);
        pr_writer_free(w);
    }
    place_done(&p);
}

/* The nth write fails, for every n that there is. */
static void nothing_is_left_when_the_disk_is_full(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i += 4)
        for (int n = 1;; n++) {
            struct pr_file_spec spec = layouts[i];
            struct pr_storage *plain;
            struct place p;
            struct pr_err err = {0};
            char fault[32];
            int rc;

            spec.level = 1;
            place_init(&p, "pread");
            plain = p.st;
            snprintf(fault, sizeof fault, "enospc:write:%d", n);
            p.opts.fault = fault;
            assert_int_equal(pr_storage_open(&p.opts, &p.st, NULL), PR_OK);
            rc = try_write(&p, "hdf5", &spec, "f", &err);
            pr_storage_close(p.st);
            p.opts.fault = "";
            p.st = plain;
            if (rc) {
                assert_int_equal(rc, PR_E_IO);
                assert_int_equal(place_count(&p), 0);
            } else {
                all_must_match(&p, &spec, "f");
            }
            place_done(&p);
            if (!rc)
                break;
        }
}

static struct place tortured;

static int write_all(void)
{
    static const size_t which[] = {3, 8, 12, 18};
    struct pr_writer *w;
    uint64_t bytes;
    int rc = pr_writer_new(format_of("hdf5"), tortured.st, &w, NULL);

    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < sizeof which / sizeof *which; i++) {
        struct pr_file_spec spec = layouts[which[i]];

        spec.level = 1;
        rc = pr_writer_write(w, &spec, "f", &bytes, NULL);
        if (!rc)
            rc = pr_writer_write(w, &spec, "f", &bytes, NULL);
    }
    pr_writer_free(w);
    return rc;
}

static void survives_without_memory(void **state)
{
    (void)state;
    place_init(&tortured, "pread");
    assert_int_equal(write_all(), PR_OK);
    torture(write_all);
    place_done(&tortured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_comes_back),
        cmocka_unit_test(every_layout_comes_back),
        cmocka_unit_test(a_leading_one_is_dropped),
        cmocka_unit_test(says_what_it_cannot_hold),
        cmocka_unit_test(nothing_is_left_when_interrupted),
        cmocka_unit_test(nothing_is_left_when_the_disk_is_full),
        cmocka_unit_test(survives_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
