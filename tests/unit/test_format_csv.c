/* Files of csv: larger than the window, rows in any order, gzip, errors. */
#include "files_tool.h"
#include "format/csv.h"

static struct pr_file_spec spec_of(enum pr_dtype type, uint64_t samples,
                                   uint64_t elements)
{
    return (struct pr_file_spec){
        .shape = {.ndim = 1, .dim = {elements}},
        .dtype = type,
        .samples = samples,
        .key = 42,
        .compression = PR_PLAIN,
        .level = 4,
        .dataset_count = 1,
    };
}

static void open_text(struct place *p, struct reading *x, const char *text,
                      size_t len, enum pr_dtype type, uint64_t samples)
{
    struct pr_read_opts opts = {.dtype = type, .samples = samples};

    put_file(p, "f", text, len);
    assert_int_equal(reading_init(x, p, "csv", &opts), PR_OK);
    if (reading_open(x, "f"))
        fail_msg("%s", x->err.msg);
}

/* ---- files */

static void file_is_rows_of_numbers(void **state)
{
    struct pr_file_spec spec = spec_of(PR_U8, 3, 20000);
    uint8_t *elements = malloc(20000), *file;
    char *want = malloc(3 * 20000 * 4 + 1), *p = want;
    struct place place;
    size_t len;

    (void)state;
    place_init(&place, "memory");
    write_file(&place, "csv", &spec, "f");
    for (uint64_t i = 0; i < 3; i++) {
        pr_content_fill(&spec, i, 0, elements, 20000);
        for (int j = 0; j < 20000; j++)
            p += sprintf(p, "%u%c", elements[j], j < 19999 ? ',' : '\n');
    }
    file = get_file(&place, "f", &len);
    assert_int_equal(len, p - want);
    assert_memory_equal(file, want, len);
    free(file);
    free(want);
    free(elements);
    place_done(&place);
}

/* As must_be, of any type. */
static void sample_must_be(struct reading *x, const struct pr_file_spec *spec,
                           uint64_t i)
{
    size_t bytes = (size_t)pr_spec_sample_bytes(spec);
    uint8_t *want = pr_alloc_aligned(64, bytes);

    if (reading_read(x, i))
        fail_msg("%s", x->err.msg);
    pr_content_fill(spec, i, 0, want, bytes);
    assert_int_equal(x->s.size, bytes);
    assert_int_equal(x->s.dtype, spec->dtype);
    assert_int_equal(x->s.shape.ndim, 1);
    assert_int_equal(x->s.shape.dim[0], pr_shape_count(&spec->shape));
    assert_memory_equal(x->s.data, want, bytes);
    pr_free(want);
}

static void round_trip(struct place *p, const struct pr_file_spec *spec,
                       bool is_told)
{
    struct pr_read_opts opts = {.samples = is_told ? spec->samples : 0,
                                .dtype = spec->dtype};
    struct reading x;

    write_file(p, "csv", spec, "f");
    assert_int_equal(reading_init(&x, p, "csv", &opts), PR_OK);
    if (reading_open(&x, "f"))
        fail_msg("%s", x.err.msg);
    assert_int_equal(x.r->samples, spec->samples);
    for (uint64_t i = 0; i < spec->samples; i++)
        sample_must_be(&x, spec, i);
    for (uint64_t i = spec->samples; i-- > 0;)
        sample_must_be(&x, spec, i);
    reading_done(&x);
}

static void every_type_comes_back(void **state)
{
    static const uint64_t sizes[] = {1, 2, 17, 300, 4096, 20001};

    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        struct place place;

        place_init(&place, engines[e]);
        for (int t = 0; t < PR_DTYPE_COUNT; t++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                if (is_brief() && ((int)i + t) % ENGINES != e)
                    continue;
                struct pr_file_spec spec = spec_of(
                    (enum pr_dtype)t, sizes[i] > 1000 ? 3 : 7, sizes[i]);
                spec.compression = i % 2 ? PR_GZIP : PR_PLAIN;
                round_trip(&place, &spec, (i + (size_t)t) % 3 == 0);
            }
        place_done(&place);
    }
}

/* Rows are cut by the window wherever it happens to end. */
static void row_may_be_longer_than_the_window(void **state)
{
    struct place place;

    (void)state;
    place_init(&place, "pread");
    for (int way = is_brief(); way < (is_brief() ? 3 : 4); way++) {
        struct pr_file_spec spec =
            spec_of(PR_U8, is_brief() ? 2 : 3, is_brief() ? 400001 : 700001);
        spec.compression = way & 1 ? PR_GZIP : PR_PLAIN;
        round_trip(&place, &spec, way & 2);
        spec = spec_of(PR_I32, 1, is_brief() ? 120000 : 250000);
        spec.compression = way & 1 ? PR_GZIP : PR_PLAIN;
        round_trip(&place, &spec, way & 2);
    }
    place_done(&place);
}

static void rows_are_found_in_any_order(void **state)
{
    struct place place;
    uint64_t wild = is_brief() ? 300 : 3000;
    uint64_t low = is_brief() ? 19000 : 15000;

    (void)state;
    place_init(&place, "pread");
    for (int told = 0; told < 2; told++) {
        /* More rows than marks, several windows. */
        struct pr_file_spec spec = spec_of(PR_U8, 20011, 50);
        struct pr_read_opts opts = {.samples = told ? spec.samples : 0};
        struct reading x;

        write_file(&place, "csv", &spec, "f");
        assert_int_equal(reading_init(&x, &place, "csv", &opts), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_int_equal(x.r->need, 50 + PR_CSV_PAD);
        must_be(&x, &spec, 20010);
        for (uint64_t i = 0; i < wild; i++)
            must_be(&x, &spec, i * 7919 % spec.samples);
        for (uint64_t i = 20011; i-- > low;)
            must_be(&x, &spec, i);
        reading_done(&x);
    }
    place_done(&place);
}

static void rows_of_gzip_are_found_in_any_order(void **state)
{
    struct pr_file_spec spec = spec_of(PR_U8, 4000, 300);
    struct pr_read_opts opts = {0};
    struct place place;
    struct reading x;

    (void)state;
    spec.compression = PR_GZIP;
    place_init(&place, "memory");
    write_file(&place, "csv", &spec, "f");
    assert_int_equal(reading_init(&x, &place, "csv", &opts), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    for (uint64_t i = 0; i < (is_brief() ? 6 : 20); i++)
        must_be(&x, &spec, i * 2011 % spec.samples);
    reading_done(&x);
    place_done(&place);
}

/* ---- sizes and numbers of rows */

static void buffer_grows_when_a_row_is_longer(void **state)
{
    char text[4096];
    size_t len = (size_t)sprintf(text, "1,2\n");
    struct pr_read_opts opts = {.samples = 3};
    struct place place;
    struct reading x;
    uint8_t buf[2 + PR_CSV_PAD];

    (void)state;
    for (int i = 0; i < 500; i++)
        len +=
            (size_t)sprintf(text + len, "%d%c", i % 10, i < 499 ? ',' : '\n');
    len += (size_t)sprintf(text + len, "9\n");
    place_init(&place, "memory");
    put_file(&place, "f", text, len);
    assert_int_equal(reading_init(&x, &place, "csv", &opts), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_int_equal(x.r->need, sizeof buf);
    assert_int_equal(pr_reader_read(x.r, 1, buf, sizeof buf, &x.s, &x.err),
                     PR_E_CONF);
    assert_int_equal(x.r->need, 500 + PR_CSV_PAD);
    assert_string_equal(x.err.msg,
                        "a buffer of 66 bytes is too small, 564 are needed");
    assert_int_equal(reading_read(&x, 1), PR_OK);
    assert_int_equal(x.s.size, 500);
    assert_int_equal(reading_read(&x, 2), PR_OK);
    assert_memory_equal(x.s.data, "\x9", 1);
    reading_done(&x);
    place_done(&place);
}

static void missing_rows_are_noticed(void **state)
{
    static const char *const texts[] = {"1\n2\n", "1\n2", "1\n2\r\n"};
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t i = 0; i < 3; i++) {
        struct reading x;

        open_text(&place, &x, texts[i], strlen(texts[i]), PR_U8, 4);
        assert_int_equal(x.r->samples, 4);
        assert_int_equal(reading_read(&x, 3), PR_E_FORMAT);
        assert_non_null(strstr(x.err.msg, "has 2 rows, 4 were expected"));
        assert_int_equal(reading_read(&x, 1), PR_OK);
        assert_int_equal(reading_read(&x, 2), PR_E_FORMAT);
        assert_non_null(strstr(x.err.msg, "has 2 rows, 4 were expected"));
        assert_int_equal(reading_read(&x, 3), PR_E_FORMAT);
        assert_non_null(strstr(x.err.msg, "has 2 rows, 4 were expected"));
        assert_int_equal(reading_read(&x, 0), PR_OK);
        reading_done(&x);
    }
    place_done(&place);
}

static void endless_field_is_refused(void **state)
{
    size_t len = 3 << 20;
    char *text = malloc(len);
    struct place place;
    struct reading x;

    (void)state;
    memset(text, '1', len);
    memcpy(text, "1\n2,", 4);
    place_init(&place, "memory");
    open_text(&place, &x, text, len, PR_U8, 0);
    assert_int_equal(x.r->samples, 2);
    assert_int_equal(reading_read(&x, 0), PR_OK);
    assert_int_equal(reading_read(&x, 1), PR_E_FORMAT);
    assert_non_null(strstr(x.err.msg, "at byte 4: row 2 has a field of more"));
    reading_done(&x);
    free(text);
    place_done(&place);
}

/* ---- gzip */

static int read_all(struct place *p, struct pr_err *err)
{
    struct pr_read_opts opts = {0};
    struct reading x;
    int rc = reading_init(&x, p, "csv", &opts);

    if (!rc)
        rc = reading_open(&x, "f");
    for (uint64_t i = 0; !rc && i < x.r->samples; i++)
        rc = reading_read(&x, i);
    *err = x.err;
    reading_done(&x);
    return rc;
}

static void damaged_gzip_is_noticed(void **state)
{
    struct pr_file_spec spec = spec_of(PR_U8, 3, 500);
    struct place place;
    struct pr_err err;
    uint8_t *file;
    size_t len;

    (void)state;
    spec.compression = PR_GZIP;
    place_init(&place, "memory");
    write_file(&place, "csv", &spec, "f");
    file = get_file(&place, "f", &len);
    for (size_t cut = 2; cut < len; cut += 97) {
        put_file(&place, "f", file, cut);
        assert_int_equal(read_all(&place, &err), PR_E_FORMAT);
        assert_non_null(strstr(err.msg, "the gzip data is cut short"));
    }
    for (size_t at = 10; at < len; at += 31) {
        file[at] ^= 0x10;
        put_file(&place, "f", file, len);
        assert_int_equal(read_all(&place, &err), PR_E_FORMAT);
        assert_non_null(strstr(err.msg, "at byte "));
        file[at] ^= 0x10;
    }
    file[len] = 'x'; /* more than there should be */
    put_file(&place, "f", file, len + 1);
    assert_int_equal(read_all(&place, &err), PR_E_FORMAT);
    put_file(&place, "f", file, len);
    assert_int_equal(read_all(&place, &err), PR_OK);
    free(file);
    place_done(&place);
}

static void members_of_gzip_are_one_text(void **state)
{
    struct pr_file_spec spec = spec_of(PR_U8, 3, 500);
    struct place place;
    struct reading x;
    uint8_t *file, *twice;
    size_t len;

    (void)state;
    spec.compression = PR_GZIP;
    place_init(&place, "memory");
    write_file(&place, "csv", &spec, "f");
    file = get_file(&place, "f", &len);
    twice = malloc(2 * len);
    memcpy(twice, file, len);
    memcpy(twice + len, file, len);
    put_file(&place, "f", twice, 2 * len);
    assert_int_equal(reading_init(&x, &place, "csv", NULL), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_int_equal(x.r->samples, 6);
    spec.samples = 3;
    for (uint64_t i = 0; i < 3; i++) {
        uint8_t want[500];

        pr_content_fill(&spec, i, 0, want, 500);
        assert_int_equal(reading_read(&x, i + 3), PR_OK);
        assert_memory_equal(x.s.data, want, 500);
    }
    reading_done(&x);
    free(twice);
    free(file);
    place_done(&place);
}

/* ---- the rest of the format */

static void stored_bytes_are_shared_out(void **state)
{
    struct place place;

    (void)state;
    place_init(&place, "pread");
    for (int way = 0; way < 4; way++) {
        struct pr_file_spec spec = spec_of(PR_U8, 7, 1001);
        struct pr_read_opts opts = {.skip_decode = true,
                                    .samples = way & 2 ? 7 : 0};
        struct reading x;
        uint8_t *file;
        size_t len, at = 0;

        spec.compression = way & 1 ? PR_GZIP : PR_PLAIN;
        write_file(&place, "csv", &spec, "f");
        file = get_file(&place, "f", &len);
        assert_int_equal(reading_init(&x, &place, "csv", &opts), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_int_equal(x.r->samples, 7);
        for (uint64_t i = 0; i < 7; i++) {
            assert_int_equal(reading_read(&x, i), PR_OK);
            assert_true(x.s.size >= len / 7 && x.s.size <= len / 7 + 1);
            assert_memory_equal(x.s.data, file + at, x.s.size);
            at += x.s.size;
        }
        assert_int_equal(at, len);
        reading_done(&x);
        free(file);
    }
    place_done(&place);
}

static void what_it_cannot_hold_is_refused(void **state)
{
    const struct pr_format *f = format_of("csv");
    struct pr_file_spec spec = spec_of(PR_U8, 1, 0);
    struct pr_err err;

    (void)state;
    assert_int_equal(f->check(&spec, &err), PR_E_CONF);
    assert_string_equal(err.where, "dataset.record_dims");
    spec = spec_of(PR_U8, 1, 5);
    assert_int_equal(f->check(&spec, &err), PR_OK);
    spec.compression = PR_LZF;
    assert_int_equal(f->check(&spec, &err), PR_E_CONF);
    assert_string_equal(err.where, "dataset.compression");
    spec = spec_of(PR_F64, (uint64_t)1 << 40, (uint64_t)1 << 30);
    assert_int_equal(f->check(&spec, &err), PR_E_CONF);
}

static void interrupted_writer_leaves_nothing(void **state)
{
    struct pr_file_spec spec = spec_of(PR_U8, 3, 500);
    const bool stop = true;
    struct pr_writer *w;
    struct place place;
    uint64_t bytes = 77;

    (void)state;
    place_init(&place, "memory");
    assert_int_equal(pr_writer_new(format_of("csv"), place.st, &w, NULL),
                     PR_OK);
    w->stop = &stop;
    assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, NULL), PR_E_INTR);
    assert_int_equal(bytes, 77);
    assert_int_equal(place_count(&place), 0);
    w->stop = NULL;
    assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, NULL), PR_OK);
    assert_int_equal(place_count(&place), 1);
    pr_writer_free(w);
    place_done(&place);
}

static void dlio_files_are_read(void **state)
{
    static const char *const files[] = {"csv/train/img_0_of_3.csv",
                                        "csv_gzip/train/img_0_of_3.csv"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        char name[4096];
        uint8_t first[1024];
        struct place place;
        struct reading x;
        unsigned sum = 0;

        find_dlio(files[i], name);
        place_init(&place, "pread");
        assert_int_equal(reading_init(&x, &place, "csv", NULL), PR_OK);
        if (reading_open(&x, name))
            fail_msg("%s", x.err.msg);
        assert_int_equal(x.r->samples, 2);
        assert_int_equal(reading_read(&x, 0), PR_OK);
        assert_int_equal(x.s.size, 1024);
        memcpy(first, x.s.data, 1024);
        assert_int_equal(reading_read(&x, 1), PR_OK);
        assert_memory_equal(x.s.data, first, 1024); /* DLIO repeats itself */
        for (int j = 0; j < 1024; j++)
            sum += first[j];
        assert_true(sum > 1024 * 100 && sum < 1024 * 155);
        reading_done(&x);
        place_done(&place);
    }
}

static int attempt(void)
{
    struct pr_file_spec spec = spec_of(PR_U8, 3, 500);
    struct pr_storage_opts opts = {.engine = "memory",
                                   .storage_type = "local_fs",
                                   .storage_root = ".",
                                   .fault = "",
                                   .trace = ""};
    struct place place = {.opts = opts};
    struct pr_err err;
    int rc = pr_storage_open(&place.opts, &place.st, &err);

    spec.compression = PR_GZIP;
    if (!rc)
        rc = try_write(&place, "csv", &spec, "f", &err);
    if (!rc)
        rc = read_all(&place, &err);
    pr_storage_close(place.st);
    return rc;
}

static void running_out_of_memory_is_survived(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_is_rows_of_numbers),
        cmocka_unit_test(every_type_comes_back),
        cmocka_unit_test(row_may_be_longer_than_the_window),
        cmocka_unit_test(rows_are_found_in_any_order),
        cmocka_unit_test(rows_of_gzip_are_found_in_any_order),
        cmocka_unit_test(buffer_grows_when_a_row_is_longer),
        cmocka_unit_test(missing_rows_are_noticed),
        cmocka_unit_test(endless_field_is_refused),
        cmocka_unit_test(damaged_gzip_is_noticed),
        cmocka_unit_test(members_of_gzip_are_one_text),
        cmocka_unit_test(stored_bytes_are_shared_out),
        cmocka_unit_test(what_it_cannot_hold_is_refused),
        cmocka_unit_test(interrupted_writer_leaves_nothing),
        cmocka_unit_test(dlio_files_are_read),
        cmocka_unit_test(running_out_of_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
