/* TFRecord files that are broken, or cannot be written. */
#include "format/tfrecord.h"

#include "tfrecord_tool.h"

/* ---- broken files */

static void every_bit_is_watched(void **state)
{
    size_t n = sizeof by_tensorflow - 1;
    uint8_t data[sizeof by_tensorflow];
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (size_t bit = 0; bit < n * 8; bit++) {
        struct reading x;

        memcpy(data, by_tensorflow, n);
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (read_all(&p, NULL, data, n, &x) != PR_E_FORMAT)
            fail_msg("bit %zu", bit);
        assert_true(x.err.msg[0]);
        reading_done(&x);
    }
    place_done(&p);
}

static void every_cut_is_seen(void **state)
{
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (size_t n = 0; n < sizeof by_tensorflow - 1; n++) {
        uint64_t whole = n == 0 ? 0 : n == 53 ? 1 : n == 101 ? 2 : 99;
        struct pr_read_opts three = {.samples = 3};
        struct reading x;
        int rc = read_all(&p, NULL, by_tensorflow, n, &x);

        if (rc != (whole == 99 ? PR_E_FORMAT : PR_OK) ||
            (!rc && x.r->samples != whole))
            fail_msg("%zu bytes: %d", n, rc);
        reading_done(&x);
        assert_int_equal(read_all(&p, &three, by_tensorflow, n, &x),
                         PR_E_FORMAT);
        reading_done(&x);
    }
    place_done(&p);
}

/* A damaged compressed file gives an error, or what was in it. */
static void compressed_files_are_watched(void **state)
{
    size_t n = sizeof by_tensorflow_gzip;
    uint8_t data[sizeof by_tensorflow_gzip];
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (size_t bit = 0; bit < n * 8; bit++) {
        struct reading x;

        memcpy(data, by_tensorflow_gzip, n);
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (read_all(&p, NULL, data, n, &x) == PR_OK) {
            assert_int_equal(x.r->samples, 2);
            assert_memory_equal(x.s.data, "xyz", 3);
        }
        reading_done(&x);
    }
    for (size_t cut = 1; cut < n; cut++) {
        struct reading x;

        assert_int_equal(read_all(&p, NULL, by_tensorflow_gzip, cut, &x),
                         PR_E_FORMAT);
        reading_done(&x);
    }
    place_done(&p);
}

static void broken_files(void **state)
{
    struct bytes *b = bytes_new();
    struct place p;
    static const struct {
        const char *what;
        uint64_t len; /* of the head */
        const char *payload;
        bool raw;
        const char *want; /* NULL: no error */
    } rows[] = {
        {"a record larger than the file", 17, "0123456789abcdef", false,
         "at byte 0: record 0 has 17 bytes, the file only 16 more"},
        {"half of all there is", (uint64_t)1 << 63, "0123456789abcdef", false,
         "at byte 0: record 0 has 9223372036854775808 bytes, the file only 16 "
         "more"},
        {"all there is", UINT64_MAX, "0123456789abcdef", false,
         "at byte 0: record 0 has 18446744073709551615 bytes, the file only 16 "
         "more"},
        {"no Example", 5, "hello", false,
         "at byte 14: the record is not a tf.train.Example"},
        {"an empty one", 0, "", false,
         "at byte 12: the tf.train.Example has no feature to read"},
        {"no Example, raw", 5, "hello", true, NULL},
    };

    (void)state;
    place_init(&p, "memory");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].payload);
        struct pr_read_opts opts = {.skip_decode = rows[i].raw};
        struct reading x;
        int rc;

        b->len = 0;
        add_head(b, rows[i].len);
        add(b, rows[i].payload, n);
        add_number(b, slow_crc((const uint8_t *)rows[i].payload, n), 4);
        rc = read_all(&p, &opts, b->data, b->len, &x);
        if (rc != (rows[i].want ? PR_E_FORMAT : PR_OK) ||
            (rc && strcmp(x.err.msg, rows[i].want) != 0))
            fail_msg("%s: %s", rows[i].what, x.err.msg);
        if (!rows[i].want) {
            assert_int_equal(x.s.size, n);
            assert_memory_equal(x.s.data, rows[i].payload, n);
        } else {
            assert_string_equal(x.err.where, "f");
        }
        reading_done(&x);
    }
    place_done(&p);
    free(b);
}

static void checksums_can_be_skipped(void **state)
{
    uint8_t data[sizeof by_tensorflow - 1];
    struct pr_read_opts skip = {.skip_checksum = true};
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "memory");
    memcpy(data, by_tensorflow, sizeof data);
    data[50] ^= 1; /* the checksum of the first payload */
    assert_int_equal(read_all(&p, &skip, data, sizeof data, &x), PR_OK);
    reading_done(&x);
    assert_int_equal(read_all(&p, NULL, data, sizeof data, &x), PR_E_FORMAT);
    assert_string_equal(x.err.msg,
                        "at byte 12: the checksum of record 0 is wrong");
    reading_done(&x);
    data[54] ^= 1; /* the length of the second: that is always checked */
    assert_int_equal(read_all(&p, &skip, data, sizeof data, &x), PR_E_FORMAT);
    assert_string_equal(
        x.err.msg,
        "at byte 53: the checksum of the length of record 1 is wrong");
    reading_done(&x);
    place_done(&p);
}

/* Large records have their checksum computed in pieces, behind the reads. */
static void large_records_are_watched(void **state)
{
    struct pr_file_spec spec = {
        .shape = {.ndim = 1, .dim = {900000}}, .samples = 2, .key = 5};
    static const size_t places[] = {60, 4096, 262144, 524288, 899990, 900040};

    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        struct place p;
        struct reading x;
        size_t len;
        uint8_t *data;

        place_init(&p, engines[e]);
        write_file(&p, "tfrecord", &spec, "f");
        data = get_file(&p, "f", &len);
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            data[places[i]] ^= 1;
            assert_int_equal(read_all(&p, NULL, data, len, &x), PR_E_FORMAT);
            assert_string_equal(
                x.err.msg, "at byte 12: the checksum of record 0 is wrong");
            /* The next one is still there. */
            assert_int_equal(reading_read(&x, 1), PR_OK);
            assert_int_equal(reading_read(&x, 0), PR_E_FORMAT);
            reading_done(&x);
            data[places[i]] ^= 1;
        }
        free(data);
        place_done(&p);
    }
}

static void count_of_samples_is_trusted(void **state)
{
    struct place p;
    struct pr_read_opts opts = {.samples = 2};
    struct reading x;

    (void)state;
    place_init(&p, "memory");
    assert_int_equal(
        read_all(&p, &opts, by_tensorflow, sizeof by_tensorflow - 1, &x),
        PR_OK); /* there are more: not our samples */
    assert_int_equal(x.r->samples, 2);
    assert_int_equal(reading_read(&x, 2), PR_E_FORMAT);
    assert_string_equal(x.err.msg, "there is no sample 2, the file has 2");
    reading_done(&x);

    opts.samples = 4;
    assert_int_equal(
        read_all(&p, &opts, by_tensorflow, sizeof by_tensorflow - 1, &x),
        PR_E_FORMAT);
    assert_string_equal(x.err.msg,
                        "at byte 177: the file ends after 3 records, not 4");
    assert_int_equal(reading_read(&x, 1), PR_OK);
    reading_done(&x);

    opts.samples = 1000;
    assert_int_equal(
        read_all(&p, &opts, by_tensorflow, sizeof by_tensorflow - 1, &x),
        PR_E_FORMAT);
    assert_string_equal(x.err.msg,
                        "at byte 177: the file is too small for 1000 records");
    reading_done(&x);

    assert_int_equal(
        read_all(&p, &opts, by_tensorflow_gzip, sizeof by_tensorflow_gzip, &x),
        PR_E_FORMAT);
    assert_string_equal(x.err.msg,
                        "at byte 115: the file ends after 2 records, not 1000");
    reading_done(&x);
    place_done(&p);
}

/* Puts a compressed file of these bytes. */
static size_t compress(const struct bytes *in, enum pr_wrap wrap, uint8_t *out,
                       size_t cap)
{
    struct pr_deflate *z = pr_deflate_new(4);
    const uint8_t *p = in->data;
    size_t left = in->len, n = cap;

    assert_non_null(z);
    pr_deflate_start(z, wrap);
    assert_true(pr_deflate_run(z, &p, &left, true, out, &n));
    pr_deflate_free(z);
    return n;
}

static void broken_compressed_files(void **state)
{
    static uint8_t out[1 << 20];
    struct bytes *b = bytes_new();
    struct place p;
    struct reading x;
    size_t n, m;

    (void)state;
    place_init(&p, "memory");

    add_head(b, (uint64_t)1 << 62); /* more than any such file can hold */
    n = compress(b, PR_WRAP_ZLIB, out, sizeof out);
    assert_int_equal(read_all(&p, NULL, out, n, &x), PR_E_FORMAT);
    assert_non_null(strstr(x.err.msg, "more than the file can hold"));
    reading_done(&x);

    b->len = 0;
    add_head(b, 1000); /* fewer bytes than the head says */
    n = compress(b, PR_WRAP_GZIP, out, sizeof out);
    assert_int_equal(read_all(&p, NULL, out, n, &x), PR_E_FORMAT);
    assert_non_null(strstr(x.err.msg, "record 0 is cut short"));
    reading_done(&x);

    b->len = 0;
    add_number(b, 5, 11); /* half a head */
    n = compress(b, PR_WRAP_GZIP, out, sizeof out);
    assert_int_equal(read_all(&p, NULL, out, n, &x), PR_E_FORMAT);
    assert_non_null(strstr(x.err.msg, "the head of record 0 is wrong"));
    reading_done(&x);

    b->len = 0;
    add_feature(b, 1, "abc", 3);
    b->data[b->len - 1] ^= 1;
    n = compress(b, PR_WRAP_GZIP, out, sizeof out);
    assert_int_equal(read_all(&p, NULL, out, n, &x), PR_E_FORMAT);
    assert_non_null(strstr(x.err.msg, "the checksum of record 0 is wrong"));
    reading_done(&x);

    b->data[b->len - 1] ^= 1; /* two members are one stream */
    n = compress(b, PR_WRAP_GZIP, out, sizeof out);
    m = compress(b, PR_WRAP_GZIP, out + n, sizeof out - n);
    assert_int_equal(read_all(&p, NULL, out, n + m, &x), PR_OK);
    assert_int_equal(x.r->samples, 2);
    reading_done(&x);

    /* Also when the first ends where a piece of input does. */
    memset(out + n, 0, PR_TFRECORD_PIECE - n);
    m = compress(b, PR_WRAP_GZIP, out + PR_TFRECORD_PIECE,
                 sizeof out - PR_TFRECORD_PIECE);
    assert_int_equal(read_all(&p, NULL, out, PR_TFRECORD_PIECE + m, &x), PR_OK);
    assert_int_equal(x.r->samples, 2);
    reading_done(&x);
    place_done(&p);
    free(b);
}

static void not_a_tfrecord(void **state)
{
    static const struct {
        const char *data, *want;
    } rows[] = {
        {"x", "at byte 0: record 0 is cut short"},
        {"some text that is no file of records",
         "at byte 0: the checksum of the length of record 0 is wrong"},
        {"\x1f\x8b", "at byte 2: the compressed data is cut short"},
        {"\x1f\x8bthis is no gzip",
         "at byte 15: the compressed data is damaged"},
    };
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reading x;

        assert_int_equal(
            read_all(&p, NULL, rows[i].data, strlen(rows[i].data), &x),
            PR_E_FORMAT);
        if (i < 3)
            assert_string_equal(x.err.msg, rows[i].want);
        else
            assert_non_null(strstr(x.err.msg, "the compressed data is"));
        reading_done(&x);
    }
    place_done(&p);
}

static void small_buffers_are_refused(void **state)
{
    struct pr_file_spec spec = {
        .shape = {.ndim = 1, .dim = {2000000}}, .samples = 2, .key = 5};
    enum pr_compression kinds[] = {PR_PLAIN, PR_ZLIB};

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct place p;
        struct reading x;
        uint8_t *buf = pr_alloc_aligned(PR_IO_ALIGN, 4096);

        spec.compression = kinds[k];
        spec.level = 1;
        place_init(&p, "pread");
        write_file(&p, "tfrecord", &spec, "f");
        assert_int_equal(reading_init(&x, &p, "tfrecord", NULL), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_int_equal(pr_reader_read(x.r, 0, buf, 4096, &x.s, &x.err),
                         PR_E_CONF);
        assert_non_null(strstr(x.err.msg, "this one has 4096"));
        assert_non_null(strstr(x.err.msg, "needs a buffer of 20"));
        must_be(&x, &spec, 0);
        must_be(&x, &spec, 1);
        reading_done(&x);
        place_done(&p);
        pr_free(buf);
    }
}

/* ---- writing that does not work */

static void failures_leave_nothing(void **state)
{
    struct pr_file_spec spec = {
        .shape = {.ndim = 1, .dim = {400000}}, .samples = 3, .index_name = "i"};
    struct pr_err err = {0};
    struct pr_writer *w;
    struct place p;
    uint64_t bytes = 77;
    bool stop = true;

    (void)state;
    place_init(&p, "pread");
    assert_int_equal(pr_writer_new(format_of("tfrecord"), p.st, &w, NULL),
                     PR_OK);
    w->stop = &stop;
    assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, &err), PR_E_INTR);
    assert_string_equal(err.msg, "interrupted");
    assert_int_equal(place_count(&p), 0);
    spec.index_name = NULL;
    assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, &err), PR_E_INTR);
    stop = false;
    spec.index_name = "no/i";
    assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, &err), PR_E_IO);
    spec.index_name = "i";
    assert_int_equal(pr_writer_write(w, &spec, "no/f", &bytes, &err), PR_E_IO);
    assert_int_equal(place_count(&p), 0);
    assert_int_equal(bytes, 77);
    assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, &err), PR_OK);
    assert_int_equal(place_count(&p), 2);
    pr_writer_free(w);
    place_done(&p);
}

static void what_it_cannot_hold(void **state)
{
    const struct pr_format *f = format_of("tfrecord");
    struct pr_file_spec spec = {.shape = {.ndim = 1, .dim = {1}}, .samples = 1};
    struct pr_err err = {0};
    bool exact;

    (void)state;
    assert_int_equal(f->check(&spec, &err), PR_OK);
    spec.compression = PR_LZF;
    assert_int_equal(f->check(&spec, &err), PR_E_CONF);
    assert_string_equal(err.where, "dataset.compression");
    spec.compression = PR_PLAIN;
    spec.shape.dim[0] = (uint64_t)1 << 31;
    assert_int_equal(f->check(&spec, &err), PR_E_CONF);
    assert_string_equal(err.where, "dataset.record_length_bytes");
    assert_true(f->bytes(&spec, &exact) == UINT64_MAX);
    spec.shape.dim[0] = 2000000000;
    assert_int_equal(f->check(&spec, &err), PR_OK);
    assert_true(f->bytes(&spec, &exact) == 2000000000u + 72 && exact);
    spec.samples = UINT64_MAX / 4;
    assert_int_equal(f->check(&spec, &err), PR_E_CONF);
    assert_string_equal(err.where, "dataset.num_samples_per_file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_is_watched),
        cmocka_unit_test(every_cut_is_seen),
        cmocka_unit_test(compressed_files_are_watched),
        cmocka_unit_test(broken_files),
        cmocka_unit_test(checksums_can_be_skipped),
        cmocka_unit_test(large_records_are_watched),
        cmocka_unit_test(count_of_samples_is_trusted),
        cmocka_unit_test(broken_compressed_files),
        cmocka_unit_test(not_a_tfrecord),
        cmocka_unit_test(small_buffers_are_refused),
        cmocka_unit_test(failures_leave_nothing),
        cmocka_unit_test(what_it_cannot_hold),
    };

    return cmocka_run_group_tests_name("tfrecord_bad", tests, NULL, NULL);
}
