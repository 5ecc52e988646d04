/* Indexed binary files, under both of their names. */
#include "files_tool.h"

#include <fcntl.h>

static const char *const names[] = {"indexed_binary", "mmap_indexed_binary"};

static void put_u64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++, v >>= 8)
        p[i] = (uint8_t)v;
}

static void put_index(struct place *p, const char *name, const uint64_t *v,
                      size_t n)
{
    uint8_t data[8 * 64];

    assert_true(n <= 64);
    for (size_t i = 0; i < n; i++)
        put_u64(data + 8 * i, v[i]);
    put_file(p, name, data, 8 * n);
}

/* ---- what is written */

static void must_hold(struct place *p, const char *name, const void *want,
                      size_t len)
{
    size_t got_len;
    uint8_t *got = get_file(p, name, &got_len);

    assert_int_equal(got_len, len);
    assert_memory_equal(got, want, len);
    free(got);
}

static void bytes_of_the_files(void **state)
{
    struct pr_file_spec spec = {
        .shape = {.ndim = 2, .dim = {3, 1}},
        .dtype = PR_U16,
        .samples = 3,
        .key = 4,
    };
    uint8_t data[18], offsets[24] = {0}, sizes[24] = {0};

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        uint8_t one[8];

        pr_content_fill(&spec, i, 0, one, 6);
        memcpy(data + 6 * i, one, 6);
        put_u64(offsets + 8 * i, 6 * i);
        put_u64(sizes + 8 * i, 6);
    }
    for (int f = 0; f < 2; f++) {
        struct place p;

        place_init(&p, "memory");
        write_file(&p, names[f], &spec, "f");
        must_hold(&p, "f", data, 18);
        must_hold(&p, "f.off.idx", offsets, 24);
        must_hold(&p, "f.sz.idx", sizes, 24);
        assert_int_equal(place_count(&p), 3);
        place_done(&p);
    }
}

static void reads_what_it_writes(void **state)
{
    static const struct {
        uint64_t bytes, samples;
        enum pr_dtype dtype;
    } rows[] = {
        {1, 1, PR_U8},        {1, 20000, PR_U8}, /* windows of both indexes */
        {7, 40, PR_U8},       {16384, 20, PR_F32}, {16385, 20, PR_U8},
        {20001, 30, PR_I8},   {262144, 3, PR_F64}, {262145, 3, PR_U8},
        {1000000, 3, PR_U16}, {3000001, 2, PR_U8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int e = 0; e < ENGINES; e++) {
            size_t unit = pr_dtype_bytes(rows[i].dtype);
            struct pr_file_spec spec = {
                .shape = {.ndim = 1, .dim = {rows[i].bytes / unit}},
                .dtype = rows[i].dtype,
                .samples = rows[i].samples,
                .key = i,
            };
            struct place p;
            struct reading x;

            if (strcmp(engines[e], "direct") == 0 && rows[i].samples > 50)
                continue; /* each read waits for the disk */
            place_init(&p, engines[e]);
            write_file(&p, names[i % 2], &spec, "f");
            assert_int_equal(reading_init(&x, &p, names[i % 2], NULL), PR_OK);
            assert_int_equal(reading_open(&x, "f"), PR_OK);
            all_must_be(&x, &spec);
            assert_false(x.s.has_label);
            reading_done(&x);
            place_done(&p);
        }
}

static void reads_what_dlio_writes(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++) {
        char part[128], path[4096];
        struct place p;
        struct reading x;
        size_t len;
        uint8_t *all;

        snprintf(part, sizeof part, "%s/train/img_1_of_3.%s", names[f],
                 names[f]);
        find_dlio(part, path);
        if (path[0] != '/') {
            char whole[4096];
            assert_non_null(realpath(path, whole));
            strcpy(path, whole);
        }
        place_init(&p, "pread");
        all = get_file(&p, path, &len);
        assert_int_equal(len, 4096);
        assert_int_equal(reading_init(&x, &p, names[f], NULL), PR_OK);
        assert_int_equal(reading_open(&x, path), PR_OK);
        assert_int_equal(x.r->samples, 4);
        for (uint64_t i = 0; i < 4; i++) {
            assert_int_equal(reading_read(&x, i), PR_OK);
            assert_int_equal(x.s.size, 1024);
            assert_memory_equal(x.s.data, all + 1024 * i, 1024);
        }
        reading_done(&x);
        free(all);
        place_done(&p);
    }
}

/* ---- what is read */

static void samples_of_any_size_anywhere(void **state)
{
    static const uint64_t offsets[] = {4, 0, 10, 2, 0},
                          sizes[] = {3, 0, 0, 8, 10};
    static const char *const want[] = {"456", "", "", "23456789", "0123456789"};

    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        struct place p;
        struct reading x;

        place_init(&p, engines[e]);
        put_file(&p, "f", "0123456789", 10);
        put_index(&p, "f.off.idx", offsets, 5);
        put_index(&p, "f.sz.idx", sizes, 5);
        assert_int_equal(reading_init(&x, &p, names[e % 2], NULL), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_int_equal(x.r->samples, 5);
        for (uint64_t i = 0; i < 5; i++) {
            assert_int_equal(reading_read(&x, i), PR_OK);
            assert_int_equal(x.s.size, strlen(want[i]));
            assert_int_equal(x.s.shape.dim[0], strlen(want[i]));
            assert_memory_equal(x.s.data, want[i], strlen(want[i]));
        }
        reading_done(&x);
        place_done(&p);
    }
}

static void no_samples(void **state)
{
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "pread");
    put_file(&p, "f", "", 0);
    put_file(&p, "f.off.idx", "", 0);
    put_file(&p, "f.sz.idx", "", 0);
    assert_int_equal(reading_init(&x, &p, names[0], NULL), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_int_equal(x.r->samples, 0);
    reading_done(&x);
    place_done(&p);
}

static void broken_samples(void **state)
{
    static const struct {
        uint64_t off, size;
        const char *want;
    } rows[] = {
        {0, 11,
         "at byte 0: sample 1 has 11 bytes by its index, beyond the end of the "
         "file at 10"},
        {10, 1,
         "at byte 10: sample 1 has 1 bytes by its index, beyond the end of the "
         "file at 10"},
        {11, 0,
         "at byte 11: sample 1 has 0 bytes by its index, beyond the end of the "
         "file at 10"},
        {5, UINT64_MAX - 4,
         "at byte 5: sample 1 has 18446744073709551611 bytes by its index, "
         "beyond the end of the file at 10"},
        {UINT64_MAX, 1,
         "at byte 18446744073709551615: sample 1 has 1 bytes by its index, "
         "beyond the end of the file at 10"},
    };
    struct place p;

    (void)state;
    place_init(&p, "memory");
    put_file(&p, "f", "0123456789", 10);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t offsets[] = {0, rows[i].off},
                       sizes[] = {1, rows[i].size};
        struct reading x;

        put_index(&p, "f.off.idx", offsets, 2);
        put_index(&p, "f.sz.idx", sizes, 2);
        assert_int_equal(reading_init(&x, &p, names[0], NULL), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_true(x.r->need < 1 << 20);
        assert_int_equal(reading_read(&x, 1), PR_E_FORMAT);
        assert_string_equal(x.err.msg, rows[i].want);
        assert_string_equal(x.err.where, "f");
        assert_int_equal(reading_read(&x, 0), PR_OK);
        reading_done(&x);
    }
    place_done(&p);
}

static void broken_indexes(void **state)
{
    static const struct {
        int off_bytes, sz_bytes; /* -1: no such file */
        int code;
        const char *where, *want;
    } rows[] = {
        {-1, 8, PR_E_IO, "f.off.idx", NULL},
        {8, -1, PR_E_IO, "f.sz.idx", NULL},
        {7, 8, PR_E_FORMAT, "f.off.idx",
         "an index has 8 bytes a sample, this one 7 in all"},
        {16, 17, PR_E_FORMAT, "f.sz.idx",
         "an index has 8 bytes a sample, this one 17 in all"},
        {8, 16, PR_E_FORMAT, "f", "its indexes have 1 offsets and 2 sizes"},
        {8, 0, PR_E_FORMAT, "f", "its indexes have 1 offsets and 0 sizes"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const uint8_t zeros[64];
        struct place p;
        struct reading x;

        place_init(&p, "memory");
        put_file(&p, "f", "0123456789", 10);
        if (rows[i].off_bytes >= 0)
            put_file(&p, "f.off.idx", zeros, (size_t)rows[i].off_bytes);
        if (rows[i].sz_bytes >= 0)
            put_file(&p, "f.sz.idx", zeros, (size_t)rows[i].sz_bytes);
        assert_int_equal(reading_init(&x, &p, names[1], NULL), PR_OK);
        assert_int_equal(reading_open(&x, "f"), rows[i].code);
        assert_string_equal(x.err.where, rows[i].where);
        if (rows[i].want)
            assert_string_equal(x.err.msg, rows[i].want);
        reading_done(&x);
        place_done(&p);
    }
}

/* A hole in a file costs nothing: as many samples as Megatron has. */
static int make_hole(const struct place *p, const char *name, uint64_t bytes)
{
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    fd = open(path, O_CREAT | O_RDWR, 0600);
    assert_true(fd >= 0);
    if (ftruncate(fd, (off_t)bytes) == 0)
        return fd;
    close(fd);
    return -1;
}

static void many_samples_open_at_once(void **state)
{
    uint64_t n = 277203535, last = (n - 1) * 2048;
    struct place p;
    struct reading x;
    uint8_t entry[8];
    int data, offsets, sizes;

    (void)state;
    place_init(&p, "pread");
    data = make_hole(&p, "f", n * 2048);
    offsets = make_hole(&p, "f.off.idx", n * 8);
    sizes = make_hole(&p, "f.sz.idx", n * 8);
    if (data < 0 || offsets < 0 || sizes < 0) {
        place_done(&p);
        skip_because("no file of 8 TB, not even of holes, in /tmp; have ext4 "
                     "or xfs there");
    }
    put_u64(entry, last);
    assert_int_equal(pwrite(offsets, entry, 8, (off_t)(n - 1) * 8), 8);
    put_u64(entry, 2048);
    assert_int_equal(pwrite(sizes, entry, 8, (off_t)(n - 1) * 8), 8);
    assert_int_equal(pwrite(data, "end", 3, (off_t)last + 2045), 3);
    assert_int_equal(reading_init(&x, &p, names[0], NULL), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_int_equal(x.r->samples, n);
    assert_true(x.r->scratch_cap < 256 << 10);
    assert_int_equal(reading_read(&x, n - 1), PR_OK);
    assert_int_equal(x.s.size, 2048);
    assert_memory_equal((const uint8_t *)x.s.data + 2045, "end", 3);
    assert_int_equal(reading_read(&x, n / 2), PR_OK);
    assert_int_equal(x.s.size, 0);
    assert_true(x.r->scratch_cap < 256 << 10);
    reading_done(&x);
    close(data);
    close(offsets);
    close(sizes);
    place_done(&p);
}

/* Going on at random in one file must not read a page of index for each
 * sample for ever. */
static void random_reads_load_the_index_in_the_end(void **state)
{
    enum { SAMPLES = 20000, READS = 3000 };
    struct pr_file_spec spec = {.shape = {1, {16}},
                                .dtype = PR_U8,
                                .samples = SAMPLES,
                                .key = 7,
                                .dataset_count = 1};
    struct pr_writer *w;
    struct place p;
    struct reading x;
    uint64_t bytes, before;
    uint8_t want[16];

    (void)state;
    place_init(&p, "pread");
    assert_int_equal(pr_writer_new(format_of(names[0]), p.st, &w, NULL), PR_OK);
    assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, NULL), PR_OK);
    pr_writer_free(w);
    assert_int_equal(reading_init(&x, &p, names[0], NULL), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    before = pr_storage_read_bytes(p.st);
    for (uint64_t i = 0; i < READS; i++) {
        uint64_t at = i * 7919 % SAMPLES;

        assert_int_equal(reading_read(&x, at), PR_OK);
        pr_content_fill(&spec, at, 0, want, sizeof want);
        assert_memory_equal(x.s.data, want, sizeof want);
    }
    assert_true(pr_storage_read_bytes(p.st) - before <
                2 * 8 * SAMPLES + READS * 16 + 200 * 4096);
    reading_done(&x);
    place_done(&p);
}

static void small_buffers_are_refused(void **state)
{
    struct pr_file_spec spec = {.shape = {.ndim = 1, .dim = {2000000}},
                                .samples = 2};
    static uint8_t buf[4096];
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "pread");
    write_file(&p, names[0], &spec, "f");
    assert_int_equal(reading_init(&x, &p, names[0], NULL), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_int_equal(pr_reader_read(x.r, 1, buf, sizeof buf, &x.s, &x.err),
                     PR_E_CONF);
    assert_string_equal(x.err.msg, "sample 1 needs a buffer of 2008192 bytes, "
                                   "this one has 4096");
    must_be(&x, &spec, 1);
    reading_done(&x);
    place_done(&p);
}

/* Samples beyond the window of the index are larger than those in it. */
static void need_grows(void **state)
{
    enum { N = 9000, LARGE = 2000000 };
    uint8_t *index = calloc(N, 8), *data = calloc(1, LARGE);
    struct place p;
    struct reading x;

    (void)state;
    assert_true(index && data);
    place_init(&p, "pread");
    put_file(&p, "f", data, LARGE);
    put_file(&p, "f.off.idx", index, N * 8);
    put_u64(index + (N - 1) * 8, LARGE);
    put_file(&p, "f.sz.idx", index, N * 8);
    assert_int_equal(reading_init(&x, &p, names[0], NULL), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_true(x.r->need < LARGE);
    assert_int_equal(reading_read(&x, N - 1), PR_OK);
    assert_int_equal(x.s.size, LARGE);
    reading_done(&x);

    put_u64(index, UINT64_MAX); /* not to more than the file can hold */
    put_file(&p, "f.sz.idx", index, N * 8);
    assert_int_equal(reading_init(&x, &p, names[0], NULL), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_int_equal(x.r->need, LARGE + PR_IO_SLACK);
    assert_int_equal(reading_read(&x, 0), PR_E_FORMAT);
    reading_done(&x);
    place_done(&p);
    free(index);
    free(data);
}

/* ---- memory, failures */

static void reading_allocates_nothing(void **state)
{
    struct pr_file_spec spec = {.shape = {.ndim = 1, .dim = {3}},
                                .samples = 20000};
    struct place p;
    struct reading x;

    (void)state;
    place_init(&p, "pread");
    write_file(&p, names[0], &spec, "f");
    assert_int_equal(reading_init(&x, &p, names[0], NULL), PR_OK);
    for (int round = 0; round < 3; round++) {
        pr_mem_fail_after(round ? 0 : -1);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        for (uint64_t i = 0; i < 20000; i += 11)
            assert_int_equal(reading_read(&x, i), PR_OK);
    }
    assert_false(pr_mem_failed());
    pr_mem_fail_after(-1);
    reading_done(&x);
    place_done(&p);
}

static int attempt(void)
{
    struct pr_file_spec spec = {.shape = {.ndim = 1, .dim = {40000}},
                                .samples = 3};
    struct pr_storage_opts opts = {
        .engine = "memory", .storage_type = "local_fs", .storage_root = "."};
    struct place p = {0};
    struct reading x = {0};
    struct pr_err err = {0};
    int rc = pr_storage_open(&opts, &p.st, &err);

    if (rc)
        return rc;
    rc = try_write(&p, names[0], &spec, "f", &err);
    if (rc)
        assert_int_equal(place_count(&p), 0);
    if (!rc)
        rc = reading_init(&x, &p, names[0], NULL);
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
    torture(attempt);
}

static void failures_leave_nothing(void **state)
{
    struct pr_file_spec spec = {.shape = {.ndim = 1, .dim = {400000}},
                                .samples = 3};
    struct pr_err err = {0};
    struct pr_writer *w;
    struct place p;
    uint64_t bytes = 77;
    bool stop = true;
    char name[4096];

    (void)state;
    place_init(&p, "pread");
    assert_int_equal(pr_writer_new(format_of(names[0]), p.st, &w, NULL), PR_OK);
    w->stop = &stop;
    assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, &err), PR_E_INTR);
    assert_string_equal(err.msg, "interrupted");
    stop = false;
    assert_int_equal(pr_writer_write(w, &spec, "no/f", &bytes, &err), PR_E_IO);
    memset(name, 'n', sizeof name);
    name[sizeof name - 5] = '\0';
    assert_true(pr_writer_write(w, &spec, name, &bytes, &err) < 0);
    assert_int_equal(bytes, 77);
    assert_int_equal(place_count(&p), 0);
    pr_writer_free(w);
    place_done(&p);
}

/* The last of three does not get its name: the other two go again. */
static void a_commit_that_fails_leaves_nothing(void **state)
{
    struct pr_file_spec spec = {.shape = {.ndim = 1, .dim = {4}}, .samples = 3};
    struct pr_err err = {0};
    struct place p;

    (void)state;
    place_init(&p, "pread");
    assert_int_equal(pr_storage_make_folder(p.st, "f/in", NULL), PR_OK);
    assert_true(try_write(&p, names[0], &spec, "f", &err) < 0);
    assert_int_equal(place_count(&p), 1);
    assert_int_equal(pr_storage_remove(p.st, "f/in", NULL), PR_OK);
    assert_int_equal(pr_storage_remove(p.st, "f", NULL), PR_OK);
    place_done(&p);
}

static void what_it_cannot_hold(void **state)
{
    const struct pr_format *f = format_of(names[1]);
    struct pr_file_spec spec = {.shape = {.ndim = 1, .dim = {2048}},
                                .samples = 277203535};
    struct pr_err err = {0};
    bool exact;

    (void)state;
    assert_int_equal(f->check(&spec, &err), PR_OK);
    assert_true(f->bytes(&spec, &exact) == 277203535ull * (2048 + 16) && exact);
    spec.compression = PR_GZIP;
    assert_int_equal(f->check(&spec, &err), PR_E_CONF);
    assert_string_equal(err.where, "dataset.compression");
    spec.compression = PR_PLAIN;
    spec.samples = UINT64_MAX / 100;
    assert_int_equal(f->check(&spec, &err), PR_E_CONF);
    assert_string_equal(err.where, "dataset.num_samples_per_file");
    assert_string_equal(f->companions[0], ".off.idx");
    assert_string_equal(f->companions[1], ".sz.idx");
    assert_null(f->companions[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_the_files),
        cmocka_unit_test(reads_what_it_writes),
        cmocka_unit_test(reads_what_dlio_writes),
        cmocka_unit_test(samples_of_any_size_anywhere),
        cmocka_unit_test(no_samples),
        cmocka_unit_test(broken_samples),
        cmocka_unit_test(broken_indexes),
        cmocka_unit_test(many_samples_open_at_once),
        cmocka_unit_test(random_reads_load_the_index_in_the_end),
        cmocka_unit_test(small_buffers_are_refused),
        cmocka_unit_test(need_grows),
        cmocka_unit_test(reading_allocates_nothing),
        cmocka_unit_test(allocations_fail),
        cmocka_unit_test(failures_leave_nothing),
        cmocka_unit_test(a_commit_that_fails_leaves_nothing),
        cmocka_unit_test(what_it_cannot_hold),
    };

    return cmocka_run_group_tests_name("indexed_binary", tests, NULL, NULL);
}
