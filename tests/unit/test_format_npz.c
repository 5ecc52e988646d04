/* npz files: what numpy and DLIO write, what we write, both ways. */
#include "npz_tool.h"

static void writes_what_numpy_writes(void **state)
{
    const struct pr_file_spec spec = {
        .shape = {2, {2, 3}}, .samples = 1, .key = 5, .labels_inside = true};
    uint8_t want[NUMPY_LEN] = {0}, *got;
    struct place p;
    uint32_t crc;
    size_t len;

    (void)state;
    assert_int_equal(sizeof by_numpy, NUMPY_LEN);
    memcpy(want, by_numpy, NUMPY_LEN);
    pr_content_fill(&spec, 0, 0, want + X_DATA, 6);
    crc = slow_crc(want + X_DATA - 128, 128 + 6);
    put32(want + 14, crc);
    put32(want + DIR_AT + 16, crc);
    place_init(&p, "memory");
    write_file(&p, "npz", &spec, "f");
    got = get_file(&p, "f", &len);
    assert_int_equal(len, NUMPY_LEN);
    assert_memory_equal(got, want, len);
    free(got);
    place_done(&p);
}

static void reads_what_numpy_writes(void **state)
{
    struct pr_read_opts opts = {.samples = 1};
    struct place p;
    struct reading x;

    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        place_init(&p, engines[e]);
        put_file(&p, "f", by_numpy, NUMPY_LEN);
        assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_int_equal(reading_read(&x, 0), PR_OK);
        assert_int_equal(x.s.size, 6);
        assert_memory_equal(x.s.data, "\0\1\2\3\4\5", 6);
        assert_int_equal(x.s.shape.ndim, 2);
        assert_int_equal(x.s.shape.dim[0], 2);
        assert_int_equal(x.s.shape.dim[1], 3);
        assert_true(x.s.has_label);
        assert_int_equal(x.s.label, 0);
        reading_done(&x);
        place_done(&p);
    }
}

static void reads_what_numpy_deflates(void **state)
{
    static const int16_t want[2][6] = {{0, 6, 2, 8, 4, 10},
                                       {1, 7, 3, 9, 5, 11}};
    struct pr_read_opts opts = {.samples = 2};
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "pread");
    put_file(&p, "f", deflated_by_numpy, sizeof deflated_by_numpy - 1);
    assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
    if (reading_open(&x, "f"))
        fail_msg("%s", x.err.msg);
    for (uint64_t k = 0; k < 6; k++) { /* forward and back */
        uint64_t i = k * k % 2;

        assert_int_equal(reading_read(&x, i), PR_OK);
        assert_int_equal(x.s.dtype, PR_I16);
        assert_true(x.s.fortran);
        assert_int_equal(x.s.size, sizeof want[i]);
        assert_memory_equal(x.s.data, want[i], sizeof want[i]);
        assert_true(x.s.has_label);
        assert_int_equal(x.s.label, i ? -1 : 7);
    }
    reading_done(&x);
    place_done(&p);
}

/* ---- both ways */

static void read_all(struct place *p, const struct pr_file_spec *spec,
                     bool skip_checksum)
{
    struct pr_read_opts opts = {.samples = spec->samples,
                                .skip_checksum = skip_checksum};
    struct reading x;

    assert_int_equal(reading_init(&x, p, "npz", &opts), PR_OK);
    if (reading_open(&x, "f"))
        fail_msg("%s", x.err.msg);
    assert_int_equal(x.r->samples, spec->samples);
    for (uint64_t i = 0; i < spec->samples; i++)
        check_written(&x, spec, i);
    for (uint64_t i = spec->samples; i-- > 0;)
        check_written(&x, spec, i);
    for (uint64_t i = 0; i < spec->samples; i++)
        check_written(&x, spec, i * 3 % spec->samples);
    reading_done(&x);
}

static void what_is_written_is_read(void **state)
{
    struct place p;

    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        unsigned step = !is_brief() ? 1 : e ? 11 : 5;

        place_init(&p, engines[e]);
        for (unsigned k = (unsigned)e % step; k < 4 * SPECS; k += step) {
            struct pr_file_spec spec = specs[k / 4];

            spec.compression = k % 2 ? PR_ZIP : PR_PLAIN;
            spec.level = (int)k % 9 + 1;
            spec.labels_inside = k / 2 % 2;
            spec.classes = 1000;
            assert_int_equal(format_of("npz")->check(&spec, NULL), PR_OK);
            write_file(&p, "npz", &spec, "f");
            read_all(&p, &spec, k % 3);
        }
        place_done(&p);
    }
}

/* A writer and a reader go from file to file. */
static void one_writer_and_one_reader_do_all(void **state)
{
    struct pr_writer *w;
    struct reading x;
    struct place p;

    (void)state;
    place_init(&p, "pread");
    assert_int_equal(pr_writer_new(format_of("npz"), p.st, &w, NULL), PR_OK);
    assert_int_equal(reading_init(&x, &p, "npz", NULL), PR_OK);
    for (unsigned k = 0; k < (is_brief() ? 14 : 40); k++) {
        struct pr_file_spec spec = specs[k % SPECS];
        uint64_t bytes;

        spec.compression = k % 3 ? PR_ZIP : PR_PLAIN;
        spec.level = (int)k % 4 + 1;
        spec.labels_inside = k % 2;
        spec.key = k;
        assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, NULL), PR_OK);
        x.r->opts.samples = spec.samples;
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_int_equal(x.r->obj.size, bytes);
        check_written(&x, &spec, spec.samples - 1);
        check_written(&x, &spec, 0);
    }
    pr_writer_free(w);
    reading_done(&x);
    place_done(&p);
}

static void raw_samples_are_not_decoded(void **state)
{
    struct pr_file_spec spec = specs[4];
    struct pr_read_opts opts = {.samples = 20, .skip_decode = true};
    struct reading x;
    struct place p;
    uint8_t *file;
    size_t len, packed, seen = 0;

    (void)state;
    spec.compression = PR_ZIP;
    spec.level = 1;
    place_init(&p, "pread");
    write_file(&p, "npz", &spec, "f");
    file = get_file(&p, "f", &len);
    packed = get32(file + 18);
    assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    for (uint64_t i = 0; i < 20; i++) {
        assert_int_equal(reading_read(&x, i), PR_OK);
        assert_memory_equal(x.s.data, file + 55 + seen, x.s.size);
        seen += x.s.size;
    }
    assert_int_equal(seen, packed);
    reading_done(&x);
    free(file);
    place_done(&p);
}

/* ---- the rest */

static void what_cannot_be_written_is_refused(void **state)
{
    const struct pr_format *f = format_of("npz");
    struct pr_file_spec gzip = specs[0];
    struct pr_err err = {0};

    (void)state;
    gzip.compression = PR_GZIP;
    assert_int_equal(f->check(&gzip, &err), PR_E_CONF);
    assert_string_equal(err.where, "dataset.compression");
}

static void a_stopped_writer_leaves_nothing(void **state)
{
    struct pr_writer *w;
    struct place p;
    uint64_t bytes = 7;
    bool stop = true;

    (void)state;
    place_init(&p, "pread");
    assert_int_equal(pr_writer_new(format_of("npz"), p.st, &w, NULL), PR_OK);
    w->stop = &stop;
    assert_int_equal(pr_writer_write(w, &specs[6], "f", &bytes, NULL),
                     PR_E_INTR);
    assert_int_equal(bytes, 7);
    assert_int_equal(place_count(&p), 0);
    pr_writer_free(w);
    place_done(&p);
}

static void dlios_files_are_read(void **state)
{
    static const struct {
        const char *file;
        uint64_t samples;
        enum pr_dtype dtype;
        size_t bytes;
        unsigned ndim;
    } rows[] = {
        {"npz/train/img_0_of_3.npz", 1, PR_U8, 4096, 2},
        {"npz_multi/train/img_2_of_3.npz", 4, PR_U8, 1024, 2},
        {"npz_dims_f32/train/img_1_of_3.npz", 1, PR_F32, 768, 3},
        {"npz_zip/valid/img_0_of_1.npz", 1, PR_U8, 4096, 2},
    };
    char path[4096];
    struct place p;

    (void)state;
    find_dlio("npz", path);
    place_init(&p, "pread");
    for (size_t i = 0; i < 4; i++) {
        struct pr_read_opts opts = {.samples = rows[i].samples};
        char *real;
        size_t el = pr_dtype_bytes(rows[i].dtype), len;
        uint8_t *file;
        struct reading x;

        find_dlio(rows[i].file, path);
        real = realpath(path, NULL);
        assert_non_null(real);
        file = get_file(&p, real, &len);
        assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
        assert_int_equal(reading_open(&x, real), PR_OK);
        for (uint64_t s = 0; s < rows[i].samples; s++) {
            assert_int_equal(reading_read(&x, s), PR_OK);
            assert_int_equal(x.s.dtype, rows[i].dtype);
            assert_int_equal(x.s.size, rows[i].bytes);
            assert_int_equal(x.s.shape.ndim, rows[i].ndim);
            assert_true(x.s.has_label && x.s.label == 0);
            for (size_t e = 0; e < x.s.size / el; e++)
                assert_memory_equal(
                    (const uint8_t *)x.s.data + e * el,
                    file + X_DATA + (e * rows[i].samples + s) * el, el);
        }
        reading_done(&x);
        free(file);
        free(real);
    }
    place_done(&p);
}

/* Files with the same heads follow each other as a rule, and are recalled: of
 * those between, what is wrong is wrong, and the next is right again. */
static void nothing_wrong_hides_behind_the_file_before(void **state)
{
    static const struct {
        int at; /* byte to change in what numpy wrote; -1: none */
        int rc;
        bool has_label;
    } rows[] = {
        {-1, PR_OK, true},
        {X_DATA, PR_E_FORMAT, false},
        {-1, PR_OK, true},
        {DIR_AT - 1, PR_E_FORMAT, false},  /* the label */
        {X_DATA - 90, PR_E_FORMAT, false}, /* in the head of x */
        {-1, PR_OK, true},
        {Y_AT + 55 + 40, PR_OK, false}, /* y's head is none any more */
        {-1, PR_OK, true},
    };
    struct pr_read_opts opts = {.samples = 1};
    struct reading x;
    struct place p;

    (void)state;
    place_init(&p, "memory");
    assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t file[NUMPY_LEN];
        int rc;

        memcpy(file, by_numpy, NUMPY_LEN);
        if (rows[i].at >= 0)
            file[rows[i].at] ^= 0x40;
        put_file(&p, "f", file, NUMPY_LEN);
        rc = reading_open(&x, "f");
        if (!rc)
            rc = reading_read(&x, 0);
        if (rc != rows[i].rc)
            fail_msg("row %zu: %d, %s", i, rc, x.err.msg);
        if (rc)
            continue;
        assert_int_equal(x.s.size, 6);
        assert_memory_equal(x.s.data, "\0\1\2\3\4\5", 6);
        assert_int_equal(x.s.has_label, rows[i].has_label);
    }
    reading_done(&x);
    place_done(&p);
}

/* Samples of another shape, then the first one again. */
static void shapes_may_change_from_file_to_file(void **state)
{
    struct pr_file_spec a = {.shape = {2, {4, 6}}, .samples = 1, .key = 1},
                        b = {.shape = {2, {6, 4}}, .samples = 1, .key = 2};
    struct pr_read_opts opts = {.samples = 1};
    struct reading x;
    struct place p;

    (void)state;
    place_init(&p, "memory");
    write_file(&p, "npz", &a, "a");
    write_file(&p, "npz", &b, "b");
    assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
    for (int i = 0; i < 12; i++) {
        bool is_a = i * i % 3 == 0;

        assert_int_equal(reading_open(&x, is_a ? "a" : "b"), PR_OK);
        check_written(&x, is_a ? &a : &b, 0);
    }
    reading_done(&x);
    place_done(&p);
}

static struct place tortured;
static enum pr_compression tortured_how;

static int write_and_read(void)
{
    struct pr_file_spec spec = specs[4];
    struct pr_read_opts opts = {.samples = spec.samples};
    struct pr_err err;
    struct reading x;
    int rc;

    spec.compression = tortured_how;
    spec.level = 1;
    spec.labels_inside = true;
    rc = try_write(&tortured, "npz", &spec, "f", &err);
    if (!rc)
        rc = reading_init(&x, &tortured, "npz", &opts);
    if (rc)
        return rc;
    rc = reading_open(&x, "f");
    if (!rc)
        rc = reading_read(&x, 3);
    if (!rc)
        rc = reading_read(&x, 1);
    reading_done(&x);
    return rc;
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    place_init(&tortured, "pread");
    torture(write_and_read);
    tortured_how = PR_ZIP;
    torture(write_and_read);
    place_done(&tortured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_what_numpy_writes),
        cmocka_unit_test(reads_what_numpy_writes),
        cmocka_unit_test(reads_what_numpy_deflates),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(one_writer_and_one_reader_do_all),
        cmocka_unit_test(raw_samples_are_not_decoded),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(a_stopped_writer_leaves_nothing),
        cmocka_unit_test(dlios_files_are_read),
        cmocka_unit_test(no_memory_is_an_error),
        cmocka_unit_test(nothing_wrong_hides_behind_the_file_before),
        cmocka_unit_test(shapes_may_change_from_file_to_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
