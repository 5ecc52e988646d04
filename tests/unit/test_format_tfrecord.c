/* TFRecord files: what TensorFlow writes and what we write is read. */
#include "format/tfrecord.h"

#include "tfrecord_tool.h"

static void must_read(struct reading *x, uint64_t i, const char *text)
{
    if (reading_read(x, i))
        fail_msg("%s", x->err.msg);
    assert_int_equal(x->s.size, strlen(text));
    assert_memory_equal(x->s.data, text, strlen(text));
    assert_int_equal(x->s.dtype, PR_U8);
    assert_int_equal(x->s.shape.ndim, 1);
    assert_int_equal(x->s.shape.dim[0], strlen(text));
}

static void reads_what_tensorflow_writes(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        struct place p;
        struct reading x;

        place_init(&p, engines[e]);
        put_file(&p, "f", by_tensorflow, sizeof by_tensorflow - 1);
        assert_int_equal(reading_init(&x, &p, "tfrecord", NULL), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_int_equal(x.r->samples, 3);
        must_read(&x, 0, "abcde");
        assert_false(x.s.has_label);
        must_read(&x, 2, "xyz");
        assert_true(x.s.has_label && x.s.label == -1);
        must_read(&x, 1, "");
        reading_done(&x);
        place_done(&p);
    }
}

static void reads_what_tensorflow_compresses(void **state)
{
    static const struct {
        const char *data;
        size_t len;
    } rows[] = {
        {by_tensorflow_gzip, sizeof by_tensorflow_gzip}, /* its last 0 too */
        {by_tensorflow_zlib, sizeof by_tensorflow_zlib - 1},
    };
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "memory");
    for (size_t i = 0; i < 2; i++)
        for (uint64_t told = 0; told < 3; told += 2) {
            struct pr_read_opts opts = {.samples = told};

            put_file(&p, "f", rows[i].data, rows[i].len);
            assert_int_equal(reading_init(&x, &p, "tfrecord", &opts), PR_OK);
            if (reading_open(&x, "f"))
                fail_msg("%s", x.err.msg);
            assert_int_equal(x.r->samples, 2);
            must_read(&x, 0, "abcde");
            must_read(&x, 1, "xyz");
            assert_true(x.s.has_label && x.s.label == -1);
            must_read(&x, 0, "abcde");
            reading_done(&x);
        }
    place_done(&p);
}

/* Sizes of files that TensorFlow wrote with DLIO's two features. */
static void files_have_the_size_of_dlio(void **state)
{
    static const struct {
        uint64_t bytes, size;
    } rows[] = {
        {1, 49},        {127, 179},       {128, 182},       {1024, 1078},
        {65536, 65596}, {114244, 114304}, {150528, 150588}, {2097152, 2097218},
    };
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_file_spec spec = {
            .shape = {.ndim = 1, .dim = {rows[i].bytes}},
            .samples = 1,
            .labels_inside = true,
        };
        size_t len;
        bool exact;
        uint64_t said = format_of("tfrecord")->bytes(&spec, &exact);

        write_file(&p, "tfrecord", &spec, "f");
        free(get_file(&p, "f", &len));
        assert_int_equal(len, rows[i].size);
        assert_int_equal(said, rows[i].size);
        assert_true(exact);
    }
    place_done(&p);
}

/* ---- files of ours */

static void bytes_of_a_file(void **state)
{
    struct pr_file_spec spec = {
        .shape = {.ndim = 2, .dim = {2, 3}},
        .dtype = PR_U16,
        .samples = 3,
        .key = 99,
        .labels_inside = true,
        .classes = 1000,
        .index_name = "f.idx",
    };
    struct bytes *want = bytes_new(), *e = bytes_new();
    struct place p;
    size_t len;
    uint8_t *got, content[12];

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        int64_t label = pr_content_label(&spec, i);

        e->len = 0;
        pr_content_fill(&spec, i, 0, content, 12);
        add(e, "\x0a\x3b\x0a\x19\x0a\x05image\x12\x10\x0a\x0e\x0a\x0c", 17);
        add(e, content, 12);
        add(e, "\x0a\x0d\x0a\x04size\x12\x05\x1a\x03\x0a\x01\x0c", 15);
        add(e, "\x0a\x0f\x0a\x05label\x12\x06\x1a\x04\x0a\x02", 15);
        add_number(
            e, 0x80u | ((unsigned)label & 0x7fu) | (unsigned)label >> 7 << 8,
            2);
        add_record(want, e->data, e->len);
    }
    place_init(&p, "memory");
    write_file(&p, "tfrecord", &spec, "f");
    got = get_file(&p, "f", &len);
    assert_int_equal(len, want->len);
    assert_memory_equal(got, want->data, len);
    free(got);
    got = get_file(&p, "f.idx", &len);
    assert_int_equal(len, strlen("0 77\n77 77\n154 77\n"));
    assert_memory_equal(got, "0 77\n77 77\n154 77\n", len);
    free(got);
    assert_int_equal(place_count(&p), 2);
    place_done(&p);
    free(want);
    free(e);
}

/* The index of an older file does not stay. */
static void index_is_written_again(void **state)
{
    struct pr_file_spec spec = {
        .shape = {.ndim = 1, .dim = {1}}, .samples = 1, .index_name = "f.idx"};
    struct place p;
    size_t len;
    uint8_t *got;

    (void)state;
    place_init(&p, "pread");
    put_file(&p, "f.idx", "0 7\n7 7\n", 8);
    write_file(&p, "tfrecord", &spec, "f");
    got = get_file(&p, "f.idx", &len);
    assert_int_equal(len, 5);
    assert_memory_equal(got, "0 49\n", 5);
    free(got);
    place_done(&p);
}

static void index_has_the_size_we_said(void **state)
{
    static const uint64_t counts[] = {1, 2, 10, 11, 25, 1000, 23456};
    static const uint64_t sizes[] = {1, 100, 952, 953, 9999, 10};
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            struct pr_file_spec spec = {
                .shape = {.ndim = 1, .dim = {sizes[k]}},
                .samples = counts[i],
                .index_name = "i",
            };
            if (counts[i] * sizes[k] < 10 << 20)
                write_file(&p, "tfrecord", &spec, "f"); /* compares */
        }
    place_done(&p);
}

static void round_trip(const char *engine, const struct pr_file_spec *spec,
                       uint64_t told)
{
    struct pr_read_opts opts = {.samples = told};
    struct place p;
    struct reading x;

    place_init(&p, engine);
    write_file(&p, "tfrecord", spec, "f");
    assert_int_equal(place_count(&p), 1);
    assert_int_equal(reading_init(&x, &p, "tfrecord", &opts), PR_OK);
    if (reading_open(&x, "f"))
        fail_msg("%s", x.err.msg);
    all_must_be(&x, spec);
    for (uint64_t i = 0; i < spec->samples; i++) {
        must_be(&x, spec, i);
        assert_int_equal(x.s.has_label,
                         spec->labels_inside && spec->classes > 1);
        if (x.s.has_label)
            assert_int_equal(x.s.label, pr_content_label(spec, i));
    }
    reading_done(&x);
    place_done(&p);
}

static void reads_what_it_writes(void **state)
{
    static const struct {
        uint64_t bytes, samples, classes;
        enum pr_dtype dtype;
    } rows[] = {
        {1, 1, 0, PR_U8},
        {1, 300, 5, PR_U8},
        {127, 50, 0, PR_U8},
        {1000, 700, 129, PR_U8},      /* several windows */
        {4090, 200, 3, PR_U8},        /* records of about a page */
        {16300, 40, 0, PR_U8},        /* just read ahead */
        {16384, 40, 0, PR_U8},        /* just not */
        {16385, 40, 1000000, PR_F32}, /* a block and a byte */
        {110000, 9, 0, PR_U8},
        {262100, 3, 2, PR_U8},  /* about a window */
        {524300, 3, 2, PR_I16}, /* in pieces */
        {1048576 + 3, 4, 2, PR_U8},
        {3000001, 2, 0, PR_U8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int e = 0; e < ENGINES; e++) {
            size_t unit = pr_dtype_bytes(rows[i].dtype);
            struct pr_file_spec spec = {
                .shape = {.ndim = 1, .dim = {rows[i].bytes / unit}},
                .dtype = rows[i].dtype,
                .samples = rows[i].samples,
                .key = i + 1,
                .labels_inside = rows[i].classes != 3,
                .classes = rows[i].classes,
                .level = 1,
            };
            if (strcmp(engines[e], "direct") == 0 && rows[i].samples > 50)
                continue; /* each read waits for the disk */
            if (is_brief() && (int)i % ENGINES != e)
                continue;
            round_trip(engines[e], &spec, 0);
            round_trip(engines[e], &spec, rows[i].samples);
            if (e || rows[i].samples > 100)
                continue;
            if (is_brief() && rows[i].bytes > 1000000)
                continue;
            spec.compression = PR_GZIP;
            round_trip(engines[e], &spec, 0);
            spec.compression = PR_ZLIB;
            round_trip(engines[e], &spec, rows[i].samples);
        }
}

/* Records of very different sizes in one file, in any order. */
static void records_of_many_sizes(void **state)
{
    static const size_t sizes[] = {0,  1,  300000, 5, 20000,  16000, 3, 700000,
                                   12, 90, 0,      8, 262144, 1,     2, 1};
    enum { N = sizeof sizes / sizeof *sizes };
    struct bytes *b = bytes_new(), *one = bytes_new();

    (void)state;
    for (size_t i = 0; i < N; i++) {
        memset(one->data, (int)i + 1, sizes[i]);
        add_feature(b, 1, one->data, sizes[i]);
    }
    for (int e = 0; e < ENGINES; e++)
        for (uint64_t told = 0; told <= N; told += N) {
            struct pr_read_opts opts = {.samples = told};
            struct place p;
            struct reading x;

            place_init(&p, engines[e]);
            put_file(&p, "f", b->data, b->len);
            assert_int_equal(reading_init(&x, &p, "tfrecord", &opts), PR_OK);
            assert_int_equal(reading_open(&x, "f"), PR_OK);
            assert_int_equal(x.r->samples, N);
            for (uint64_t k = 0; k < 6 * N; k++) {
                uint64_t i = k < N ? k : k * 5 % N;
                memset(one->data, (int)i + 1, sizes[i]);
                assert_int_equal(reading_read(&x, i), PR_OK);
                assert_int_equal(x.s.size, sizes[i]);
                assert_memory_equal(x.s.data, one->data, sizes[i]);
            }
            reading_done(&x);
            place_done(&p);
        }
    free(b);
    free(one);
}

/* ---- lists of numbers */

static void lists_of_numbers(void **state)
{
    struct bytes *b = bytes_new(), *ints = bytes_new();
    float floats[5000];
    enum { INTS = 100000 };

    (void)state;
    for (int i = 0; i < 5000; i++)
        floats[i] = (float)i;
    for (uint64_t i = 0; i < INTS; i++)
        add_varint(ints, i % 100);
    add_feature(b, 2, floats, sizeof floats);
    add_feature(b, 3, ints->data, ints->len);
    add_feature(b, 1, "abc", 3);
    add_feature(b, 3, ints->data, 100);
    for (int e = 0; e < ENGINES; e++) {
        struct place p;
        struct reading x;

        place_init(&p, engines[e]);
        put_file(&p, "f", b->data, b->len);
        /* Beyond what is read whole, so that the caller's buffer is used. */
        assert_int_equal(reading_init(&x, &p, "tfrecord", NULL), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_int_equal(x.r->samples, 4);
        for (int k = 0; k < 8; k++) {
            uint64_t i = (uint64_t)(k < 4 ? k : 7 - k);
            size_t n = i == 3 ? 100 : INTS;

            assert_int_equal(reading_read(&x, i), PR_OK);
            assert_int_equal(x.s.shape.ndim, 1);
            if (i != 2)
                assert_int_equal((uintptr_t)x.s.data % 4, 0);
            if (i == 0) {
                assert_int_equal(x.s.dtype, PR_F32);
                assert_int_equal(x.s.shape.dim[0], 5000);
                assert_int_equal(x.s.size, sizeof floats);
                assert_memory_equal(x.s.data, floats, sizeof floats);
            } else if (i != 2) {
                const int64_t *got = x.s.data;

                assert_int_equal(x.s.dtype, PR_I64);
                assert_int_equal(x.s.shape.dim[0], n);
                assert_int_equal(x.s.size, n * 8);
                for (size_t v = 0; v < n; v++)
                    assert_int_equal(got[v], v % 100);
            } else {
                assert_memory_equal(x.s.data, "abc", 3);
            }
        }
        reading_done(&x);
        place_done(&p);
    }
    free(b);
    free(ints);
}

/* The same in a file too large for the window, with records read into the
 * caller's buffer: the numbers go behind the record, the next head stays. */
static void large_lists_of_numbers(void **state)
{
    struct bytes *b = bytes_new(), *ints = bytes_new();
    enum { INTS = 300000 };
    struct place p;
    struct reading x;

    (void)state;
    for (uint64_t i = 0; i < INTS; i++)
        add_varint(ints, i % 100);
    for (int i = 0; i < 3; i++)
        add_feature(b, 3, ints->data, ints->len);
    place_init(&p, "pread");
    put_file(&p, "f", b->data, b->len);
    for (int told = 0; told < 2; told++) {
        struct pr_read_opts opts = {.samples = told ? 3 : 0};

        assert_int_equal(reading_init(&x, &p, "tfrecord", &opts), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        for (uint64_t i = 0; i < 3; i++) {
            const int64_t *got;

            assert_int_equal(reading_read(&x, i), PR_OK);
            assert_int_equal(x.s.size, INTS * 8);
            got = x.s.data;
            for (size_t v = 0; v < INTS; v++)
                assert_int_equal(got[v], v % 100);
        }
        reading_done(&x);
    }
    place_done(&p);
    free(b);
    free(ints);
}

/* ---- memory */

static void offsets_stay_small(void **state)
{
    struct pr_tfrecord_offsets o = {0};
    uint64_t off, near, many = is_brief() ? 500000 : 5000000;

    (void)state;
    pr_tfrecord_offsets_clear(&o);
    for (uint64_t i = 0; i < many; i++)
        assert_int_equal(pr_tfrecord_offsets_add(&o, i, i * 100, NULL), PR_OK);
    assert_true(o.cap * sizeof *o.at <= 1 << 20);
    assert_true(o.stride <= 64);
    for (uint64_t i = 0; i < many; i += 777) {
        near = pr_tfrecord_offsets_near(&o, i, &off);
        assert_true(near <= i && i - near < o.stride);
        assert_int_equal(off, near * 100);
    }
    pr_tfrecord_offsets_done(&o);
}

/* Once it has read a file it allocates nothing for others like it. */
static void reading_allocates_nothing(void **state)
{
    struct pr_file_spec spec = {.shape = {.ndim = 1, .dim = {3000}},
                                .samples = 500,
                                .key = 5,
                                .level = 1};
    enum pr_compression kinds[] = {PR_PLAIN, PR_GZIP};
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "pread");
    for (int k = 0; k < 2; k++) {
        spec.compression = kinds[k];
        write_file(&p, "tfrecord", &spec, "f");
        assert_int_equal(reading_init(&x, &p, "tfrecord", NULL), PR_OK);
        for (int round = 0; round < 3; round++) {
            pr_mem_fail_after(round ? 0 : -1);
            assert_int_equal(reading_open(&x, "f"), PR_OK);
            for (uint64_t i = 0; i < 500; i++)
                assert_int_equal(reading_read(&x, i), PR_OK);
            assert_int_equal(reading_read(&x, 20), PR_OK);
        }
        assert_false(pr_mem_failed());
        pr_mem_fail_after(-1);
        reading_done(&x);
    }
    place_done(&p);
}

/* One reader, one file after another, of all kinds. */
static void files_one_after_another(void **state)
{
    struct pr_file_spec spec = {
        .shape = {.ndim = 1, .dim = {70000}}, .samples = 5, .level = 1};
    static const char *const names[] = {"a", "b", "c"};
    enum pr_compression kinds[] = {PR_PLAIN, PR_GZIP, PR_ZLIB};
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "pread");
    for (int k = 0; k < 3; k++) {
        spec.compression = kinds[k];
        spec.key = (uint64_t)k;
        write_file(&p, "tfrecord", &spec, names[k]);
    }
    assert_int_equal(reading_init(&x, &p, "tfrecord", NULL), PR_OK);
    for (int k = 0; k < 9; k++) {
        spec.key = (uint64_t)(k * 2 % 3);
        assert_int_equal(reading_open(&x, "none"), PR_E_IO);
        assert_int_equal(reading_open(&x, names[k * 2 % 3]), PR_OK);
        must_be(&x, &spec, 3);
        must_be(&x, &spec, 1);
        must_be(&x, &spec, 4);
    }
    reading_done(&x);
    place_done(&p);
}

static enum pr_compression torture_kind;

static int attempt(void)
{
    struct pr_file_spec spec = {.shape = {.ndim = 1, .dim = {40000}},
                                .samples = 3,
                                .compression = torture_kind,
                                .level = 1,
                                .index_name = "i"};
    static struct place p;
    struct reading x = {0};
    struct pr_err err = {0};
    struct pr_storage_opts opts = {
        .engine = "memory", .storage_type = "local_fs", .storage_root = "."};
    int rc = pr_storage_open(&opts, &p.st, &err);

    if (rc)
        return rc;
    rc = try_write(&p, "tfrecord", &spec, "f", &err);
    if (rc)
        assert_int_equal(place_count(&p), 0);
    if (!rc)
        rc = reading_init(&x, &p, "tfrecord", NULL);
    if (!rc)
        rc = reading_open(&x, "f");
    for (uint64_t i = 0; !rc && i < 3; i++)
        rc = reading_read(&x, i);
    if (x.r)
        reading_done(&x);
    pr_storage_close(p.st);
    return rc;
}

static void allocations_fail(void **state)
{
    (void)state;
    torture_kind = PR_PLAIN;
    torture(attempt);
    torture_kind = PR_GZIP;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_tensorflow_writes),
        cmocka_unit_test(reads_what_tensorflow_compresses),
        cmocka_unit_test(files_have_the_size_of_dlio),
        cmocka_unit_test(bytes_of_a_file),
        cmocka_unit_test(index_is_written_again),
        cmocka_unit_test(index_has_the_size_we_said),
        cmocka_unit_test(reads_what_it_writes),
        cmocka_unit_test(records_of_many_sizes),
        cmocka_unit_test(lists_of_numbers),
        cmocka_unit_test(large_lists_of_numbers),
        cmocka_unit_test(offsets_stay_small),
        cmocka_unit_test(reading_allocates_nothing),
        cmocka_unit_test(files_one_after_another),
        cmocka_unit_test(allocations_fail),
    };

    return cmocka_run_group_tests_name("tfrecord", tests, NULL, NULL);
}
