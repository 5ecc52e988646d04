/* png: files of every kind, what is written, what is not a png file. */
#include "test_format_png.h"
#include "base/codec/checksum.h"
#include "files_tool.h"

#include <png.h>

static struct pr_file_spec spec_of(enum pr_dtype type, uint64_t height,
                                   uint64_t width, uint64_t channels)
{
    return (struct pr_file_spec){
        .shape = {.ndim = channels ? 3 : 2, .dim = {height, width, channels}},
        .dtype = type,
        .samples = 1,
        .key = 42,
        .level = 4,
        .dataset_count = 1,
    };
}

static int open_and_read(struct place *p, struct reading *x, const void *file,
                         size_t len, const struct pr_read_opts *opts)
{
    int rc;

    put_file(p, "f", file, len);
    assert_int_equal(reading_init(x, p, "png", opts), PR_OK);
    rc = reading_open(x, "f");
    return rc ? rc : reading_read(x, 0);
}

static const struct {
    const uint8_t *file;
    const void *pixels;
    size_t len, size;
    enum pr_dtype type;
    struct pr_shape shape;
} files[] = {
#define ROW(name, type, ...)                                          \
    {                                                                 \
        name, name##_pixels, sizeof name, sizeof name##_pixels, type, \
        {                                                             \
            __VA_ARGS__                                               \
        }                                                             \
    }
    ROW(gray1, PR_U8, 2, {2, 5}),
    ROW(gray2, PR_U8, 2, {2, 3}),
    ROW(gray4, PR_U8, 2, {2, 3}),
    ROW(gray16, PR_U16, 2, {2, 2}),
    ROW(gray_alpha, PR_U8, 3, {2, 2, 2}),
    ROW(rgb, PR_U8, 3, {3, 3, 3}),
    ROW(rgba16, PR_U16, 3, {1, 2, 4}),
    ROW(palette, PR_U8, 3, {2, 4, 3}),
    ROW(palette_alpha, PR_U8, 3, {2, 4, 4}),
#undef ROW
};
enum { FILES = sizeof files / sizeof *files };

static void pixels_are_those_of_pillow(void **state)
{
    (void)state;
    for (int e = 0; e < ENGINES; e++)
        for (size_t i = 0; i < FILES; i++) {
            struct place place;
            struct reading x;

            place_init(&place, engines[e]);
            if (open_and_read(&place, &x, files[i].file, files[i].len, NULL))
                fail_msg("file %zu: %s", i, x.err.msg);
            assert_int_equal(x.r->samples, 1);
            assert_int_equal(x.s.dtype, files[i].type);
            assert_int_equal(x.s.size, files[i].size);
            assert_memory_equal(&x.s.shape, &files[i].shape, sizeof x.s.shape);
            assert_memory_equal(x.s.data, files[i].pixels, files[i].size);
            reading_done(&x);
            place_done(&place);
        }
}

static void what_was_written_comes_back(void **state)
{
    static const struct {
        enum pr_dtype type;
        uint64_t height, width, channels;
    } rows[] = {
        {PR_U8, 1, 1, 0},     {PR_U8, 64, 64, 0},  {PR_U8, 100, 37, 1},
        {PR_U8, 33, 65, 3},   {PR_U8, 9, 11, 4},   {PR_U16, 40, 50, 0},
        {PR_U16, 7, 3, 3},    {PR_U16, 7, 3, 4},   {PR_U8, 1, 100000, 0},
        {PR_U8, 20000, 1, 3}, {PR_U8, 900, 900, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_file_spec spec = spec_of(rows[i].type, rows[i].height,
                                           rows[i].width, rows[i].channels);
        size_t bytes = (size_t)pr_spec_sample_bytes(&spec);
        uint8_t *want = malloc(bytes);
        struct place place;
        struct reading x;

        place_init(&place, engines[i % ENGINES]);
        assert_int_equal(format_of("png")->check(&spec, NULL), PR_OK);
        write_file(&place, "png", &spec, "f");
        assert_int_equal(reading_init(&x, &place, "png", NULL), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_int_equal(x.r->need, bytes);
        assert_int_equal(reading_read(&x, 0), PR_OK);
        assert_int_equal(x.s.size, bytes);
        assert_int_equal(x.s.dtype, rows[i].type);
        assert_int_equal(x.s.shape.ndim, rows[i].channels > 1 ? 3 : 2);
        assert_int_equal(x.s.shape.dim[0], rows[i].height);
        assert_int_equal(x.s.shape.dim[1], rows[i].width);
        pr_content_fill(&spec, 0, 0, want, bytes);
        assert_memory_equal(x.s.data, want, bytes);
        free(want);
        reading_done(&x);
        place_done(&place);
    }
}

static void one_writer_makes_many_files(void **state)
{
    struct pr_writer *w;
    struct place place;
    uint8_t *a = NULL, *b;
    size_t len;

    (void)state;
    place_init(&place, "memory");
    assert_int_equal(pr_writer_new(format_of("png"), place.st, &w, NULL),
                     PR_OK);
    for (unsigned i = 0; i < 30; i++) {
        struct pr_file_spec spec =
            spec_of(PR_U8, i * 37 % 100 + 1, i + 1, i % 2 * 3);
        uint64_t bytes;

        spec.level = (int)i % 9 + 1;
        assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, NULL), PR_OK);
        free(a);
        a = get_file(&place, "f", &len);
        assert_int_equal(len, bytes);
        /* Nothing but the image: no time, no text. */
        assert_memory_equal(a + 8 + 25 + 4, "IDAT", 4);
        write_file(&place, "png", &spec, "f");
        b = get_file(&place, "f", &len);
        assert_int_equal(len, bytes);
        assert_memory_equal(a, b, len);
        free(b);
    }
    free(a);
    pr_writer_free(w);
    place_done(&place);
}

/* ---- bad files */

static void every_flipped_bit_is_noticed(void **state)
{
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t i = 0; i < FILES; i++)
        for (size_t at = 0; at < files[i].len; at++)
            for (int bit = 0; bit < 8; bit++) {
                uint8_t file[256];
                struct reading x;

                memcpy(file, files[i].file, files[i].len);
                file[at] ^= (uint8_t)(1 << bit);
                if (open_and_read(&place, &x, file, files[i].len, NULL) !=
                    PR_E_FORMAT)
                    fail_msg("file %zu, byte %zu, bit %d", i, at, bit);
                reading_done(&x);
            }
    place_done(&place);
}

static void every_cut_is_noticed(void **state)
{
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t i = 0; i < FILES; i++)
        for (size_t len = 0; len < files[i].len; len++) {
            struct reading x;

            assert_int_equal(
                open_and_read(&place, &x, files[i].file, len, NULL),
                PR_E_FORMAT);
            assert_non_null(strstr(x.err.msg, "at byte "));
            reading_done(&x);
        }
    place_done(&place);
}

/* Damage that checksums do not show: errors or pixels, never more. */
static void damage_does_no_harm(void **state)
{
    struct pr_read_opts opts = {.skip_checksum = true};
    struct place place;
    int read = 0;

    (void)state;
    place_init(&place, "memory");
    for (size_t i = 0; i < FILES; i++)
        for (size_t at = 0; at < files[i].len; at++)
            for (int bit = 0; bit < 8; bit++) {
                uint8_t file[256];
                struct reading x;

                memcpy(file, files[i].file, files[i].len);
                file[at] ^= (uint8_t)(1 << bit);
                int rc = open_and_read(&place, &x, file, files[i].len, &opts);
                assert_true(rc == PR_OK || rc == PR_E_FORMAT);
                read += rc == PR_OK;
                reading_done(&x);
            }
    assert_true(read > 500); /* flipped checksums alone are more */
    place_done(&place);
}

/* Puts a chunk at the start of the others; returns the length of the file. */
static size_t with_chunk(uint8_t *out, const uint8_t *file, size_t len,
                         const char *type, const void *data, size_t size)
{
    uint8_t *p = out + 33;
    uint32_t sum;

    memcpy(out, file, 33);
    p[0] = p[1] = 0;
    p[2] = (uint8_t)(size >> 8);
    p[3] = (uint8_t)size;
    memcpy(p + 4, type, 4);
    memcpy(p + 8, data, size);
    sum = pr_crc32(0, p + 4, size + 4);
    for (int i = 0; i < 4; i++)
        p[8 + size + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
    memcpy(p + 12 + size, file + 33, len - 33);
    return len + 12 + size;
}

/* The file with another header. */
static size_t with_head(uint8_t *out, const uint8_t *file, size_t len,
                        const uint8_t head[static 13])
{
    uint32_t sum;

    memcpy(out, file, len);
    memcpy(out + 16, head, 13);
    sum = pr_crc32(0, out + 12, 17);
    for (int i = 0; i < 4; i++)
        out[29 + i] = (uint8_t)(sum >> (24 - 8 * i));
    return len;
}

static void headers_are_checked(void **state)
{
    static const struct {
        uint8_t head[13];
        const char *want;
    } rows[] = {
        {{0, 0, 0, 0, 0, 0, 0, 3, 8, 2}, "an image of 0 x 3 is not valid"},
        {{0, 0, 0, 3, 0, 0, 0, 0, 8, 2}, "an image of 3 x 0 is not valid"},
        {{0x80, 0, 0, 0, 0, 0, 0, 3, 8, 2}, "is not valid"},
        {{0x7f, 0, 0, 0, 0x7f, 0, 0, 0, 8, 2}, "is too large"},
        {{0, 0, 0x50, 0, 0, 0, 0x50, 0, 8, 2},
         "at byte 16: an image of 20480 x 20480 does not fit the file"},
        {{0, 0, 0, 3, 0, 0, 0, 3, 8, 1}, "the png header makes no sense"},
        {{0, 0, 0, 3, 0, 0, 0, 3, 8, 7}, "the png header makes no sense"},
        {{0, 0, 0, 3, 0, 0, 0, 3, 4, 2}, "the png header makes no sense"},
        {{0, 0, 0, 3, 0, 0, 0, 3, 12, 0}, "the png header makes no sense"},
        {{0, 0, 0, 3, 0, 0, 0, 3, 8, 2, 1}, "the png header makes no sense"},
        {{0, 0, 0, 3, 0, 0, 0, 3, 8, 2, 0, 1}, "the png header makes no sense"},
        {{0, 0, 0, 3, 0, 0, 0, 3, 8, 2, 0, 0, 2}, "makes no sense"},
        {{0, 0, 0, 3, 0, 0, 0, 9, 8, 2, 0, 0, 1}, "png: "}, /* too few rows */
        {{0, 0, 0, 2, 0, 0, 0, 3, 8, 2, 0, 0, 1}, "png: "}, /* too many bytes */
        {{0, 0, 0, 3, 0, 0, 0, 3, 8, 3, 0, 0, 1}, "png: "}, /* no palette */
    };
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t file[sizeof rgb];
        struct reading x;

        with_head(file, rgb, sizeof rgb, rows[i].head);
        assert_int_equal(open_and_read(&place, &x, file, sizeof file, NULL),
                         PR_E_FORMAT);
        if (!strstr(x.err.msg, rows[i].want))
            fail_msg("%zu: %s", i, x.err.msg);
        reading_done(&x);
    }
    place_done(&place);
}

static void chunks_are_where_they_should_be(void **state)
{
    static const struct {
        const char *type;
        size_t size;
        const char *want; /* NULL: fine */
    } rows[] = {
        {"tEXt", 30, NULL},
        {"prIv", 9, NULL},
        {"tIME", 7, NULL},
        {"iCCP", 200, NULL}, /* nonsense in it is not looked at */
        {"IHDR", 13, "at byte 33: the png header is out of place"},
        {"IDAT", 5, "png: "},
        {"PLTE", 7, "png: "},
        {"IEND", 0, "does not fit the file"},
        {"MuST", 3, "png: "}, /* critical and unknown */
        {"a1cd", 3, "at byte 33: there is no chunk here"},
    };
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t file[sizeof rgb + 256], data[256];
        struct reading x;
        size_t len;
        int rc;

        memset(data, 'x', sizeof data);
        len =
            with_chunk(file, rgb, sizeof rgb, rows[i].type, data, rows[i].size);
        rc = open_and_read(&place, &x, file, len, NULL);
        if (rows[i].want && !strstr(x.err.msg, rows[i].want))
            fail_msg("%s: %s", rows[i].type, x.err.msg);
        assert_int_equal(rc, rows[i].want ? PR_E_FORMAT : PR_OK);
        if (!rc)
            assert_memory_equal(x.s.data, rgb_pixels, sizeof rgb_pixels);
        reading_done(&x);
    }
    place_done(&place);
}

static void checksums_are_skipped_on_demand(void **state)
{
    struct pr_read_opts opts = {.skip_checksum = true};
    uint8_t file[sizeof rgb];
    struct place place;
    struct reading x;

    (void)state;
    memcpy(file, rgb, sizeof file);
    file[sizeof file - 13] ^= 1; /* of the image; the end has 12 bytes */
#ifdef PNG_IGNORE_ADLER32        /* not every libpng can leave that out */
    file[sizeof file - 17] ^= 1; /* of what was compressed */
#endif
    file[29] ^= 1;
    place_init(&place, "memory");
    assert_int_equal(open_and_read(&place, &x, file, sizeof file, NULL),
                     PR_E_FORMAT);
    assert_non_null(strstr(x.err.msg, "the checksum of chunk IHDR is wrong"));
    reading_done(&x);
    assert_int_equal(open_and_read(&place, &x, file, sizeof file, &opts),
                     PR_OK);
    assert_memory_equal(x.s.data, rgb_pixels, sizeof rgb_pixels);
    reading_done(&x);
    place_done(&place);
}

/* ---- the rest */

static void stored_bytes_are_the_file(void **state)
{
    struct pr_read_opts opts = {.skip_decode = true};
    struct place place;
    struct reading x;

    (void)state;
    place_init(&place, "pread");
    assert_int_equal(open_and_read(&place, &x, rgb, sizeof rgb, &opts), PR_OK);
    assert_int_equal(x.s.size, sizeof rgb);
    assert_memory_equal(x.s.data, rgb, sizeof rgb);
    reading_done(&x);
    place_done(&place);
}

static void small_buffer_is_refused(void **state)
{
    struct place place;
    struct reading x;
    uint8_t buf[26];

    (void)state;
    place_init(&place, "memory");
    assert_int_equal(open_and_read(&place, &x, rgb, sizeof rgb, NULL), PR_OK);
    assert_int_equal(pr_reader_read(x.r, 0, buf, 26, &x.s, &x.err), PR_E_CONF);
    assert_string_equal(x.err.msg,
                        "a buffer of 26 bytes is too small, 27 are needed");
    reading_done(&x);
    place_done(&place);
}

static void what_it_cannot_hold_is_refused(void **state)
{
    static const struct {
        struct pr_shape shape;
        enum pr_dtype type;
        const char *want;
    } rows[] = {
        {{3, {4, 5, 6}},
         PR_U8,
         "png format does not support more than 2 dimensions, but got 3 "
         "dimensions"},
        {{3, {4, 5, 2}}, PR_U8, "but got 3 dimensions"},
        {{5, {4, 5, 3, 1, 1}}, PR_U8, "but got 5 dimensions"},
        {{0, {0}}, PR_U8, "png format needs 2 dimensions, but got 0"},
        {{2, {1 << 20, 1 << 20}}, PR_U8, "at most 2 GiB"},
        {{2, {4, 5}}, PR_I16, "png holds uint8 or uint16, not int16"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_file_spec spec = {
            .shape = rows[i].shape, .dtype = rows[i].type, .samples = 1};
        struct pr_err err = {0};

        assert_int_equal(format_of("png")->check(&spec, &err), PR_E_CONF);
        if (!strstr(err.msg, rows[i].want))
            fail_msg("%zu: %s", i, err.msg);
    }
}

static void interrupted_writer_leaves_nothing(void **state)
{
    struct pr_file_spec spec = spec_of(PR_U8, 100, 100, 0);
    const bool stop = true;
    struct pr_writer *w;
    struct place place;
    uint64_t bytes;

    (void)state;
    place_init(&place, "memory");
    assert_int_equal(pr_writer_new(format_of("png"), place.st, &w, NULL),
                     PR_OK);
    w->stop = &stop;
    assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, NULL), PR_E_INTR);
    assert_int_equal(place_count(&place), 0);
    pr_writer_free(w);
    place_done(&place);
}

/* Ends in the middle of the file, behind the library's back. */
static void failed_write_is_told(void **state)
{
    struct pr_file_spec spec = spec_of(PR_U8, 1000, 1000, 0);
    struct pr_storage_opts opts = {.engine = "memory",
                                   .storage_type = "local_fs",
                                   .storage_root = ".",
                                   .fault = "enospc:write:2",
                                   .trace = ""};
    struct place place = {.opts = opts};
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(pr_storage_open(&place.opts, &place.st, &err), PR_OK);
    assert_int_equal(try_write(&place, "png", &spec, "f", &err), PR_E_IO);
    assert_int_equal(place_count(&place), 0);
    pr_storage_close(place.st);
}

static void dlio_files_are_read(void **state)
{
    char name[4096];
    struct place place;
    struct reading x;

    (void)state;
    find_dlio("png/train/img_0_of_3.png", name);
    place_init(&place, "pread");
    assert_int_equal(reading_init(&x, &place, "png", NULL), PR_OK);
    assert_int_equal(reading_open(&x, name), PR_OK);
    assert_int_equal(reading_read(&x, 0), PR_OK);
    assert_int_equal(x.s.shape.ndim, 2);
    assert_int_equal(x.s.shape.dim[0], x.s.shape.dim[1]);
    reading_done(&x);
    place_done(&place);
}

static int attempt(void)
{
    struct pr_file_spec spec = spec_of(PR_U8, 20, 30, 0);
    struct place place = {.opts = {.engine = "memory",
                                   .storage_type = "local_fs",
                                   .storage_root = ".",
                                   .fault = "",
                                   .trace = ""}};
    struct reading x = {0};
    int rc = pr_storage_open(&place.opts, &place.st, &x.err);

    if (!rc)
        rc = try_write(&place, "png", &spec, "f", &x.err);
    if (!rc)
        rc = reading_init(&x, &place, "png", NULL);
    if (!rc)
        rc = reading_open(&x, "f");
    if (!rc)
        rc = reading_read(&x, 0);
    reading_done(&x);
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
        cmocka_unit_test(pixels_are_those_of_pillow),
        cmocka_unit_test(what_was_written_comes_back),
        cmocka_unit_test(one_writer_makes_many_files),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(damage_does_no_harm),
        cmocka_unit_test(headers_are_checked),
        cmocka_unit_test(chunks_are_where_they_should_be),
        cmocka_unit_test(checksums_are_skipped_on_demand),
        cmocka_unit_test(stored_bytes_are_the_file),
        cmocka_unit_test(small_buffer_is_refused),
        cmocka_unit_test(what_it_cannot_hold_is_refused),
        cmocka_unit_test(interrupted_writer_leaves_nothing),
        cmocka_unit_test(failed_write_is_told),
        cmocka_unit_test(dlio_files_are_read),
        cmocka_unit_test(running_out_of_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
