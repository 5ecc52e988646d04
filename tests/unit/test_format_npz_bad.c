/* npz files that are broken, cut, large, or of the ZIP64 kind. */
#include "base/codec/deflate.h"
#include "format/npy.h"
#include "format/zip.h"

#include "npz_tool.h"

enum anchor {
    AT_X = 0,
    AT_HEAD = 55,
    AT_DATA = X_DATA,
    AT_DIR = DIR_AT,
    AT_DIR_Y = DIR_AT + 51,
    AT_END = NUMPY_LEN - 22
};

static void broken_archives_are_refused(void **state)
{
    static const struct {
        int at, off, len; /* what is changed */
        const char *bytes, *msg;
    } rows[] = {
        {AT_END, 0, 1, "X", "this is not a ZIP archive"},
        {AT_END, 20, 1, "\1", "this is not a ZIP archive"}, /* comment */
        {AT_END, 4, 1, "\1", "on several disks"},
        {AT_END, 6, 1, "\1", "on several disks"},
        {AT_END, 8, 1, "\1", "on several disks"},
        {AT_END, 16, 4, "\xff\xff\xff\x7f", "the directory is not where"},
        {AT_END, 16, 4, "\xff\xff\xff\xff", "the directory is not where"},
        {AT_END, 12, 4, "\xff\xff\xff\xff", "the directory is not where"},
        {AT_END, 8, 4, "\3\0\3\0", "the directory is not where"},
        {AT_END, 8, 4, "\xff\xff\xff\xff", "the directory is not where"},
        {AT_END, 12, 1, "\x60", "the directory is broken"},
        {AT_END, 16, 1, "\x7b", "the directory is broken"},
        {AT_END, 8, 4, "\0\0\0\0", "there is no array in the archive"},
        {AT_DIR, 0, 1, "X", "the directory is broken"},
        {AT_DIR, 28, 2, "\xff\xff", "the directory is broken"},
        {AT_DIR, 30, 2, "\xff\xff", "the directory is broken"},
        {AT_DIR, 32, 2, "\xff\xff", "the directory is broken"},
        {AT_DIR, 8, 1, "\1", "encrypted members cannot be read"},
        {AT_DIR, 8, 1, "\x40", "encrypted members cannot be read"},
        {AT_DIR, 10, 1, "\x0c", "compression method 12 cannot be read"},
        {AT_DIR, 10, 1, "\x08", "a member's header and the directory differ"},
        {AT_DIR, 24, 1, "\x87", "135 bytes cannot be packed into 134"},
        {AT_DIR, 20, 1, "\x87", "134 bytes cannot be packed into 135"},
        {AT_DIR, 20, 2, "\x59\x01", "members overlap"},
        {AT_DIR, 20, 2, "\x5a\x01", "a member lies beyond the directory"},
        {AT_DIR, 20, 4, "\xff\xff\xff\xff", "beyond the directory"},
        {AT_DIR, 42, 4, "\x59\x01\0\0", "a member lies beyond the directory"},
        {AT_DIR, 42, 4, "\xff\xff\xff\xff", "beyond the directory"},
        {AT_DIR, 42, 1, "\1", "a member's header and the directory differ"},
        {AT_DIR, 34, 1, "\1", "on several disks"},
        {AT_DIR, 46, 1, "z", "a member's header and the directory differ"},
        {AT_DIR, 50, 1, "z", "there is no array in the archive"},
        {AT_DIR_Y, 46, 1, "x", "there are two members 'x.npy'"},
        {AT_X, 0, 1, "X", "a member's header and the directory differ"},
        {AT_X, 8, 1, "\x08", "a member's header and the directory differ"},
        {AT_X, 6, 1, "\x01", "a member's header and the directory differ"},
        {AT_X, 26, 1, "\x04", "a member's header and the directory differ"},
        {AT_X, 30, 1, "y", "a member's header and the directory differ"},
        {AT_X, 28, 2, "\xff\xff", "a member lies beyond the directory"},
        {AT_X, 28, 1, "\x13", "this is not a .npy array"},
        {AT_HEAD, 0, 1, "X", "at byte 55: this is not a .npy array"},
        {AT_HEAD, 8, 1, "\x7e", "a member is cut short"},
        {AT_HEAD, 61, 1, "3", "the array has 9 bytes, its member has 6"},
        {AT_HEAD, 67, 1, "2", "the array has 12 bytes, its member has 6"},
        {AT_DATA, 0, 1, "\1", "the checksum is wrong"},
        {AT_DATA, 5, 1, "\1", "the checksum is wrong"},
        {AT_HEAD, 90, 1, "\t", "the checksum is wrong"},
        {AT_DIR, 16, 1, "\x55",
         "at byte 55: the checksum is wrong, "
         "dd894754 instead of dd894755"},
        {AT_DIR_Y, 16, 1, "\x01", "the checksum is wrong"},
    };
    struct pr_read_opts opts = {.samples = 1};
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t file[NUMPY_LEN];
        struct pr_err err;

        memcpy(file, by_numpy, NUMPY_LEN);
        memcpy(file + rows[i].at + rows[i].off, rows[i].bytes,
               (size_t)rows[i].len);
        put_file(&p, "f", file, NUMPY_LEN);
        if (try_read(&p, &opts, &err) != PR_E_FORMAT)
            fail_msg("row %u was read", i);
        assert_string_equal(err.where, "f");
        if (!strstr(err.msg, rows[i].msg))
            fail_msg("row %u: '%s'", i, err.msg);
    }
    place_done(&p);
}

/* Whatever byte is changed, and however: an error, or the same samples. */
static void wrong_data_is_never_given(void **state)
{
    static const struct {
        const void *data;
        size_t len;
        uint64_t samples;
    } files[] = {
        {by_numpy, NUMPY_LEN, 1},
        {deflated_by_numpy, sizeof deflated_by_numpy - 1, 2},
    };
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (size_t f = 0; f < 2; f++) {
        struct pr_read_opts opts = {.samples = files[f].samples};
        struct reading good, x;

        put_file(&p, "good", files[f].data, files[f].len);
        assert_int_equal(reading_init(&good, &p, "npz", &opts), PR_OK);
        assert_int_equal(reading_open(&good, "good"), PR_OK);
        assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
        for (size_t k = 0; k < 4 * files[f].len; k++) {
            uint8_t copy[1024];
            uint8_t *c = copy + k / 4;

            memcpy(copy, files[f].data, files[f].len);
            *c = (uint8_t)(k % 4 == 0   ? *c ^ 1
                           : k % 4 == 1 ? *c ^ 0x80
                           : k % 4 == 2 ? 0xff
                                        : 0);
            put_file(&p, "f", copy, files[f].len);
            if (reading_open(&x, "f"))
                continue;
            for (uint64_t i = 0; i < opts.samples; i++) {
                if (reading_read(&x, i))
                    break;
                assert_int_equal(reading_read(&good, i), PR_OK);
                assert_int_equal(x.s.size, good.s.size);
                /* The checksum of a deflated one comes with the last. */
                if (i + 1 == opts.samples || f == 0)
                    assert_memory_equal(x.s.data, good.s.data, x.s.size);
                if (x.s.has_label)
                    assert_int_equal(x.s.label, good.s.label);
            }
        }
        reading_done(&x);
        reading_done(&good);
    }
    place_done(&p);
}

static void cut_archives_are_refused(void **state)
{
    struct pr_read_opts opts = {.samples = 1, .skip_checksum = true};
    struct pr_err err;
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (size_t len = 0; len < NUMPY_LEN; len++) {
        put_file(&p, "f", by_numpy, len);
        assert_int_equal(try_read(&p, &opts, &err), PR_E_FORMAT);
    }
    place_done(&p);
}

/* Not asked for, a checksum does not matter. */
static void checksums_can_be_skipped(void **state)
{
    struct pr_read_opts opts = {.samples = 1, .skip_checksum = true};
    uint8_t file[NUMPY_LEN];
    struct pr_err err;
    struct place p;

    (void)state;
    place_init(&p, "memory");
    memcpy(file, by_numpy, NUMPY_LEN);
    file[AT_DATA] ^= 1;
    put_file(&p, "f", file, NUMPY_LEN);
    assert_int_equal(try_read(&p, &opts, &err), PR_OK);
    place_done(&p);
}

/* A member y that is something else is not an error. */
static void odd_labels_are_no_labels(void **state)
{
    static const struct {
        int off;
        const char *bytes;
    } rows[] = {
        {55, "X"},      /* no array */
        {55 + 22, "f"}, /* <f8 */
        {55 + 61, "2"}, /* (2,) */
    };
    struct pr_read_opts opts = {.samples = 1, .skip_checksum = true};
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (unsigned i = 0; i < 3; i++) {
        uint8_t file[NUMPY_LEN];
        struct reading x;

        memcpy(file, by_numpy, NUMPY_LEN);
        file[Y_AT + rows[i].off] = (uint8_t)rows[i].bytes[0];
        put_file(&p, "f", file, NUMPY_LEN);
        assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_int_equal(reading_read(&x, 0), PR_OK);
        assert_false(x.s.has_label);
        reading_done(&x);
    }
    place_done(&p);
}

/* ---- archives of our own making */

struct part {
    const char *name;
    const void *data;
    size_t len;
    bool deflated;
    size_t junk; /* bytes that follow, as if they belonged to it */
};

static size_t pack(const struct part *part, uint8_t *out)
{
    struct pr_deflate *z;
    const uint8_t *in = part->data;
    size_t left = part->len, n = left + 4096;

    if (!part->deflated) {
        memcpy(out, in, left);
        return left;
    }
    z = pr_deflate_new(6);
    assert_non_null(z);
    assert_true(pr_deflate_run(z, &in, &left, true, out, &n));
    pr_deflate_free(z);
    memset(out + n, 0, part->junk);
    return n + part->junk;
}

/* Members one after another, a gap, the directory. A part without data lies
 * within another, `at` says where. */
static size_t make_archive(const struct part *parts, unsigned count, size_t gap,
                           size_t at, uint8_t *out)
{
    struct pr_zip_member m[4];
    struct pr_zip zip = {.members = count};
    size_t n = 0;

    for (unsigned i = 0; i < count; i++) {
        m[i] = (struct pr_zip_member){
            .at = parts[i].data ? n : at,
            .method = parts[i].deflated ? PR_ZIP_DEFLATED : PR_ZIP_STORED,
            .packed = parts[i].len,
            .bytes = parts[i].len,
        };
        if (!parts[i].data)
            continue;
        n += pr_zip_build_local(&m[i], parts[i].name, out + n);
        m[i].packed = pack(&parts[i], out + n);
        m[i].crc = slow_crc(parts[i].data, parts[i].len);
        pr_zip_build_local(&m[i], parts[i].name, out + m[i].at);
        n += (size_t)m[i].packed;
    }
    memset(out + n, 0, gap);
    zip.dir_at = n += gap;
    for (unsigned i = 0; i < count; i++)
        n += pr_zip_build_entry(&m[i], parts[i].name, out + n);
    zip.dir_bytes = n - zip.dir_at;
    return n + pr_zip_build_end(&zip, out + n);
}

#define NPY(descr, shape, data)            \
    "\x93NUMPY\1\0\x48\0{'descr': '" descr \
    "', 'fortran_order': False, 'shape': (" shape "), }            \n" data

static const char three[] = NPY("|u1", "3,  ", "abc");
static const char four[] = NPY("|u1", "4,  ", "defg");
static const char labels[] = NPY("|i1", "3,  ", "\1\2\xff");

/* The first array that is no label counts, unless there is an x. */
static void the_right_member_is_taken(void **state)
{
    static const struct part parts[] = {
        {"readme.txt", "read me", 7, true, 0},
        {"labels.npy", labels, sizeof labels - 1, true, 0},
        {"data.npy", three, sizeof three - 1, false, 0},
        {"x.npy", four, sizeof four - 1, true, 0},
    };
    uint8_t file[2048];
    struct place p;

    (void)state;
    place_init(&p, "pread");
    for (unsigned count = 3; count <= 4; count++) {
        struct pr_read_opts opts = {.samples = count};
        size_t len = make_archive(parts, count, 0, 0, file);
        struct reading x;

        put_file(&p, "f", file, len);
        assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
        if (reading_open(&x, "f"))
            fail_msg("%s", x.err.msg);
        assert_int_equal(reading_read(&x, 2), PR_OK);
        assert_int_equal(x.s.size, 1);
        assert_memory_equal(x.s.data, count == 3 ? "c" : "f", 1);
        assert_int_equal(x.s.has_label, count == 3);
        assert_int_equal(x.s.label, count == 3 ? -1 : 0);
        reading_done(&x);
    }
    place_done(&p);
}

/* In a large file the members near the directory are seen at once with it; but
 * unpacking one takes the same memory. */
static void small_members_of_large_files_are_read(void **state)
{
    enum { PAD = 1200 << 10 };
    uint8_t *pad = calloc(1, PAD), *file = malloc(2 * PAD);

    (void)state;
    for (int e = 0; e < ENGINES; e++)
        for (int k = 0; k < 4; k++) {
            const struct part parts[] = {
                {"pad", pad, PAD, false, 0},
                {"y.npy", labels, sizeof labels - 1, k & 1, 0},
                {"x.npy", three, sizeof three - 1, k & 2, 0},
            };
            struct pr_read_opts opts = {.samples = 3};
            size_t len = make_archive(parts, 3, 0, 0, file);
            struct reading x;
            struct place p;

            place_init(&p, engines[e]);
            put_file(&p, "f", file, len);
            assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
            if (reading_open(&x, "f"))
                fail_msg("%s", x.err.msg);
            for (uint64_t i = 0; i < 3; i++) {
                assert_int_equal(reading_read(&x, i), PR_OK);
                assert_memory_equal(x.s.data, &"abc"[i], 1);
                assert_true(x.s.has_label);
                assert_int_equal(x.s.label, i == 2 ? -1 : (int)i + 1);
            }
            reading_done(&x);
            place_done(&p);
        }
    free(pad);
    free(file);
}

/* Labels within the array. */
static void a_member_within_another_is_refused(void **state)
{
    static const char label[] = NPY("|i1", "1,  ", "\1");
    enum { HEAD = sizeof label - 2, INNER = 55 + HEAD + 1 };
    const struct part y = {"y.npy", label, HEAD + 1, false, 0};
    char outer[512] = NPY("|u1", "138,", "");
    const struct part parts[] = {
        {"x.npy", outer, HEAD + INNER, false, 0},
        {"y.npy", NULL, HEAD + 1, false, 0},
    };
    struct pr_read_opts opts = {.skip_checksum = true};
    uint8_t inner[512], file[2048];
    struct pr_err err;
    struct place p;

    (void)state;
    assert_int_equal(INNER, 138);
    make_archive(&y, 1, 0, 0, inner);
    memcpy(outer + HEAD, inner, INNER);
    place_init(&p, "memory");
    put_file(&p, "f", file, make_archive(parts, 2, 500, 55 + HEAD, file));
    assert_int_equal(try_read(&p, &opts, &err), PR_E_FORMAT);
    assert_non_null(strstr(err.msg, "members overlap"));
    place_done(&p);
}

/* What follows a deflated stream, or lacks, or is too far away. */
static void deflated_members_end_where_they_should(void **state)
{
    struct pr_read_opts opts = {.samples = 3, .skip_checksum = true};
    struct part part = {"x.npy", three, sizeof three - 1, true, 20};
    uint8_t file[2048];
    struct pr_err err;
    struct place p;
    size_t len;

    (void)state;
    place_init(&p, "memory");
    len = make_archive(&part, 1, 0, 0, file);
    put_file(&p, "f", file, len);
    assert_int_equal(try_read(&p, &opts, &err), PR_E_FORMAT);
    assert_non_null(strstr(err.msg, "something follows the deflated bytes"));
    part.junk = 0;
    len = make_archive(&part, 1, 0, 0, file);
    file[28]++; /* the extra field */
    put_file(&p, "f", file, len);
    assert_int_equal(try_read(&p, &opts, &err), PR_E_FORMAT);
    assert_non_null(strstr(err.msg, "a member lies beyond the directory"));
    file[28]--;
    file[len - 22 - 51 + 20]--; /* packed into a byte less */
    put_file(&p, "f", file, len);
    assert_int_equal(try_read(&p, &opts, &err), PR_E_FORMAT);
    assert_non_null(strstr(err.msg, "are cut short"));
    place_done(&p);
}

static void labels_of_the_other_byte_order_are_turned(void **state)
{
    static const char swapped[] = NPY(">i2", "3,  ", "\1\2\xff\xfe\0\7");
    static const struct part parts[] = {
        {"x.npy", three, sizeof three - 1, true, 0},
        {"label.npy", swapped, sizeof swapped - 1, false, 0},
    };
    static const int64_t want[] = {0x102, -2, 7};
    struct pr_read_opts opts = {.samples = 3};
    uint8_t file[2048];
    struct reading x;
    struct place p;

    (void)state;
    place_init(&p, "memory");
    put_file(&p, "f", file, make_archive(parts, 2, 0, 0, file));
    assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(reading_read(&x, i), PR_OK);
        assert_true(x.s.has_label);
        assert_int_equal(x.s.label, want[i]);
    }
    reading_done(&x);
    place_done(&p);
}

/* Sizes in the local header may be missing, with flag 8. */
static void data_descriptors_do_not_matter(void **state)
{
    struct pr_read_opts opts = {.samples = 1};
    uint8_t file[NUMPY_LEN];
    struct pr_err err;
    struct place p;

    (void)state;
    memcpy(file, by_numpy, NUMPY_LEN);
    file[6] = file[DIR_AT + 8] = 8;
    memset(file + 14, 0, 12);
    place_init(&p, "memory");
    put_file(&p, "f", file, NUMPY_LEN);
    if (try_read(&p, &opts, &err))
        fail_msg("%s", err.msg);
    place_done(&p);
}

/* ---- checksums of large files */

static void flip(struct place *p, uint64_t from_end)
{
    size_t len;
    uint8_t *file = get_file(p, "f", &len);

    file[len - from_end] ^= 1;
    put_file(p, "f", file, len);
    free(file);
}

static void large_files_are_checked_on_the_way(void **state)
{
    struct place p;

    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        struct pr_file_spec spec = specs[4];
        struct pr_read_opts opts = {.samples = 20};
        struct reading x;
        struct pr_err err;

        place_init(&p, engines[e]);
        spec.compression = PR_PLAIN;
        write_file(&p, "npz", &spec, "f");
        flip(&p, 1000000); /* in the middle */
        assert_int_equal(try_read(&p, &opts, &err), PR_E_FORMAT);
        assert_non_null(strstr(err.msg, "the checksum is wrong"));
        assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        check_written(&x, &spec, 1); /* out of order: cannot be checked */
        check_written(&x, &spec, 19);
        for (uint64_t i = 0; i < 19; i++)
            assert_int_equal(reading_read(&x, i), PR_OK);
        assert_int_equal(reading_read(&x, 19), PR_E_FORMAT); /* now it can */
        reading_done(&x);
        opts.skip_checksum = true;
        assert_int_equal(try_read(&p, &opts, &err), PR_OK);
        place_done(&p);
    }
}

static void a_large_sample_is_checked(void **state)
{
    struct pr_read_opts opts = {.samples = 1};
    struct pr_err err;
    struct place p;

    (void)state;
    for (int e = 0; e < ENGINES; e++)
        for (int zip = 0; zip < 2; zip++) {
            struct pr_file_spec spec = specs[7];

            place_init(&p, engines[e]);
            spec.compression = zip ? PR_ZIP : PR_PLAIN;
            spec.level = 1;
            write_file(&p, "npz", &spec, "f");
            flip(&p, 500000);
            assert_int_equal(try_read(&p, &opts, &err), PR_E_FORMAT);
            place_done(&p);
        }
}

/* Samples that alternate, as DLIO writes them, in a file of more than 1 MiB:
 * any change is noticed, also behind the last element of the sample. */
static void alternating_samples_are_checked(void **state)
{
    enum { N = 3, COUNT = 700000, BYTES = 128 + N * COUNT };
    const struct pr_npy npy = {.dtype = PR_U8, .shape = {2, {COUNT, N}}};
    uint8_t *x = malloc(BYTES), *file = malloc(2 * BYTES);
    struct place p;

    (void)state;
    assert_int_equal(pr_npy_build(&npy, x), 128);
    for (size_t i = 128; i < BYTES; i++)
        x[i] = (uint8_t)((i - 128) % N * 80 + (i - 128) / N % 79);
    for (int k = 0; k < 2 * ENGINES; k++) {
        const struct part part = {"x.npy", x, BYTES, k % 2, 0};
        struct pr_read_opts opts = {.samples = N};
        size_t len = make_archive(&part, 1, 0, 0, file);
        struct reading r;
        struct pr_err err;

        place_init(&p, engines[k / 2]);
        put_file(&p, "f", file, len);
        assert_int_equal(reading_init(&r, &p, "npz", &opts), PR_OK);
        assert_int_equal(reading_open(&r, "f"), PR_OK);
        for (uint64_t i = 0; i < N; i++) {
            assert_int_equal(reading_read(&r, i), PR_OK);
            assert_int_equal(r.s.size, COUNT);
            for (size_t e = 0; e < COUNT; e += 7)
                assert_int_equal(((const uint8_t *)r.s.data)[e],
                                 i * 80 + e % 79);
        }
        reading_done(&r);
        if (k % 2 == 0) { /* the last element, of the last sample */
            file[55 + BYTES - 1] ^= 1;
            put_file(&p, "f", file, len);
            opts.samples = N;
            assert_int_equal(try_read(&p, &opts, &err), PR_E_FORMAT);
            assert_non_null(strstr(err.msg, "the checksum is wrong"));
            assert_int_equal(reading_init(&r, &p, "npz", &opts), PR_OK);
            assert_int_equal(reading_open(&r, "f"), PR_OK);
            assert_int_equal(reading_read(&r, 0), PR_E_FORMAT);
            reading_done(&r);
        }
        place_done(&p);
    }
    free(x);
    free(file);
}

/* What failed once does not spoil the next attempt. */
static void a_failed_read_can_be_repeated(void **state)
{
    static const char *const faults[] = {"eio:read:4", "eio:read:5",
                                         "eio:read:6", "eio:read:9"};
    struct pr_file_spec spec = specs[4];
    struct pr_read_opts opts = {.samples = 20};
    struct place p;

    (void)state;
    spec.level = 1;
    for (int k = 0; k < 8; k++) {
        struct reading x;
        int failures = 0;

        place_init(&p, "pread");
        spec.compression = k % 2 ? PR_ZIP : PR_PLAIN;
        write_file(&p, "npz", &spec, "f");
        pr_storage_close(p.st);
        p.opts.fault = faults[k / 2];
        assert_int_equal(pr_storage_open(&p.opts, &p.st, NULL), PR_OK);
        assert_int_equal(reading_init(&x, &p, "npz", &opts), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        for (uint64_t i = 0; i < 20; i++) {
            while (reading_read(&x, i))
                failures++;
            must_match(&x, &spec, i);
        }
        assert_int_equal(failures, 1);
        reading_done(&x);
        place_done(&p);
    }
}

/* ---- ZIP64 */

/* What Python writes above 2 GiB: lengths, and the numbers come back. */
static void numbers_above_two_gib_become_zip64(void **state)
{
    const struct pr_zip_member small = {.at = 5, .packed = 6, .bytes = 6};
    const struct pr_zip_member far = {
        .at = 0x80000000, .packed = 6, .bytes = 6};
    const struct pr_zip_member large = {
        .at = 0x123456789a, .packed = 0x80000000, .bytes = 0x80000000};
    const struct pr_zip_member unpacked = {.packed = 6, .bytes = 0x80000000};
    const struct pr_zip end = {0x180000000, 102, 2}, near = {99, 102, 2};
    uint8_t b[PR_ZIP_ENTRY_MAX];

    (void)state;
    assert_int_equal(pr_zip_build_local(&small, "x.npy", b), 55);
    assert_int_equal(b[4], 20);
    assert_int_equal(get32(b + 18), 6);
    assert_int_equal(pr_zip_build_local(&large, "x.npy", b), 55);
    assert_int_equal(b[4], 45);
    assert_int_equal(get32(b + 18), 0xffffffff);
    assert_int_equal(get32(b + 22), 0xffffffff);
    assert_int_equal(get32(b + 39), 0x80000000);
    assert_int_equal(pr_zip_build_entry(&small, "x.npy", b), 51);
    assert_int_equal(pr_zip_build_entry(&unpacked, "x.npy", b), 51 + 20);
    assert_int_equal(pr_zip_build_entry(&far, "x.npy", b), 51 + 12);
    assert_int_equal(b[4], 45);
    assert_int_equal(get32(b + 20), 6);
    assert_int_equal(get32(b + 42), 0xffffffff);
    assert_memory_equal(b + 51, "\1\0\x08\0\0\0\0\x80\0\0\0\0", 12);
    assert_int_equal(pr_zip_build_entry(&large, "x.npy", b), 51 + 28);
    assert_memory_equal(b + 51 + 20, "\x9a\x78\x56\x34\x12\0\0\0", 8);
    assert_int_equal(pr_zip_build_end(&near, b), 22);
    assert_int_equal(pr_zip_build_end(&end, b), 56 + 20 + 22);
    assert_memory_equal(b + 48, "\0\0\0\x80\1\0\0\0", 8);
    assert_memory_equal(b + 56 + 8, "\x66\0\0\x80\1\0\0\0", 8);
    assert_memory_equal(b + 76 + 16, "\xff\xff\xff\xff", 4);
}

/* by_numpy with its end and first entry as ZIP64, as other programs do it. */
static size_t make_zip64(uint8_t *out)
{
    static const char end[] =
        "PK\6\6\x2c\0\0\0\0\0\0\0\x2d\0\x2d\0\0\0\0\0\0\0\0\0"
        "\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
        "\x86\0\0\0\0\0\0\0\x7c\1\0\0\0\0\0\0"
        "PK\6\7\0\0\0\0\x02\2\0\0\0\0\0\0\1\0\0\0"
        "PK\5\6\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"
        "\xff\xff\xff\xff\3\0abc";             /* a comment */
    static const char extra[] = "\x99\x99\0\0" /* another field before it */
                                "\1\0\x18\0\x86\0\0\0\0\0\0\0"
                                "\x86\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    size_t n = DIR_AT + 51, dir = DIR_AT;

    memcpy(out, by_numpy, n);
    memset(out + dir + 20, 0xff, 8);
    memset(out + dir + 42, 0xff, 4);
    out[dir + 30] = sizeof extra - 1;
    memcpy(out + n, extra, sizeof extra - 1);
    n += sizeof extra - 1;
    memcpy(out + n, by_numpy + dir + 51, 51);
    n += 51;
    assert_int_equal(n, 0x202);
    memcpy(out + n, end, sizeof end - 1);
    return n + sizeof end - 1;
}

static void zip64_is_read(void **state)
{
    static const struct {
        int off;
        uint8_t byte;
        const char *msg; /* NULL: it is read */
    } rows[] = {
        {0, 'P', NULL},
        {0x202 + 0, 'X', "the end record is broken"},
        {0x202 + 16, 1, "the end record is broken"},
        {0x202 + 56 + 4, 1, "on several disks"},
        {0x202 + 56 + 16, 2, "on several disks"},
        {0x202 + 56 + 9, 3, "the end record is not where it should be"},
        {0x202 + 56 + 15, 0xff, "the end record is not where it should be"},
        {0x202 + 55, 0xff, "the directory is not where it should be"},
        {0x202 + 39, 1, "the directory is not where it should be"},
        {DIR_AT + 51 + 6, 23, "a directory entry is broken"},
        {DIR_AT + 51 + 6, 40, "a directory entry is broken"},
        {DIR_AT + 51 + 4, 2, "a member lies beyond the directory"},
        {DIR_AT + 51 + 31, 0xff, "a member lies beyond the directory"},
    };
    struct pr_read_opts opts = {.samples = 1};
    struct place p;

    (void)state;
    place_init(&p, "memory");
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t file[1024];
        size_t len = make_zip64(file);
        struct pr_err err = {0};
        int rc;

        file[rows[i].off] = rows[i].byte;
        put_file(&p, "f", file, len);
        rc = try_read(&p, &opts, &err);
        assert_int_equal(rc, rows[i].msg ? PR_E_FORMAT : PR_OK);
        if (rows[i].msg && !strstr(err.msg, rows[i].msg))
            fail_msg("row %u: '%s'", i, err.msg);
    }
    place_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_archives_are_refused),
        cmocka_unit_test(wrong_data_is_never_given),
        cmocka_unit_test(cut_archives_are_refused),
        cmocka_unit_test(checksums_can_be_skipped),
        cmocka_unit_test(odd_labels_are_no_labels),
        cmocka_unit_test(the_right_member_is_taken),
        cmocka_unit_test(small_members_of_large_files_are_read),
        cmocka_unit_test(a_member_within_another_is_refused),
        cmocka_unit_test(deflated_members_end_where_they_should),
        cmocka_unit_test(labels_of_the_other_byte_order_are_turned),
        cmocka_unit_test(data_descriptors_do_not_matter),
        cmocka_unit_test(alternating_samples_are_checked),
        cmocka_unit_test(a_failed_read_can_be_repeated),
        cmocka_unit_test(large_files_are_checked_on_the_way),
        cmocka_unit_test(a_large_sample_is_checked),
        cmocka_unit_test(numbers_above_two_gib_become_zip64),
        cmocka_unit_test(zip64_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
