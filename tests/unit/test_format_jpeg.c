/* jpeg: files of other programs, what is written, what is not a jpeg file. */
#include "test_format_jpeg.h"
#include "files_tool.h"

static struct pr_file_spec spec_of(uint64_t height, uint64_t width,
                                   uint64_t channels)
{
    return (struct pr_file_spec){
        .shape = {.ndim = channels ? 3 : 2, .dim = {height, width, channels}},
        .dtype = PR_U8,
        .samples = 1,
        .key = 42,
        .level = 4,
        .dataset_count = 1,
    };
}

static int open_and_read(struct place *p, struct reading *x, const void *file,
                         size_t len)
{
    int rc;

    put_file(p, "f", file, len);
    assert_int_equal(reading_init(x, p, "jpeg", NULL), PR_OK);
    rc = reading_open(x, "f");
    return rc ? rc : reading_read(x, 0);
}

static void pixels_are_those_of_pillow(void **state)
{
    static const struct {
        const uint8_t *file, *pixels;
        size_t len, size;
        struct pr_shape shape;
    } rows[] = {
#define ROW(name, ...)                                          \
    {                                                           \
        name, name##_pixels, sizeof name, sizeof name##_pixels, \
        {                                                       \
            __VA_ARGS__                                         \
        }                                                       \
    }
        ROW(gray, 2, {3, 5}),
        ROW(colour, 3, {3, 5, 3}),
        ROW(progressive, 3, {3, 5, 3}),
        ROW(cmyk, 3, {2, 3, 4}),
#undef ROW
    };

    (void)state;
    for (int e = 0; e < ENGINES; e++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct place place;
            struct reading x;

            place_init(&place, engines[e]);
            if (open_and_read(&place, &x, rows[i].file, rows[i].len))
                fail_msg("file %zu: %s", i, x.err.msg);
            assert_int_equal(x.r->samples, 1);
            assert_int_equal(x.s.dtype, PR_U8);
            assert_int_equal(x.s.size, rows[i].size);
            assert_memory_equal(&x.s.shape, &rows[i].shape, sizeof x.s.shape);
            assert_memory_equal(x.s.data, rows[i].pixels, rows[i].size);
            reading_done(&x);
            place_done(&place);
        }
}

/* Noise loses much of its detail, but not its nature. */
static void what_was_written_can_be_recognised(void **state)
{
    static const struct {
        uint64_t height, width, channels;
        double most; /* mean difference; of other noise it is 85 */
    } rows[] = {{64, 64, 0, 15}, {1, 1, 0, 15},   {100, 37, 1, 15},
                {64, 64, 3, 60}, {3, 500, 0, 15}, {700, 700, 0, 15}};
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_file_spec spec =
            spec_of(rows[i].height, rows[i].width, rows[i].channels);
        size_t bytes = (size_t)pr_spec_sample_bytes(&spec);
        uint8_t *want = malloc(bytes);
        struct reading x;
        double sum = 0;

        write_file(&place, "jpeg", &spec, "f");
        assert_int_equal(reading_init(&x, &place, "jpeg", NULL), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_int_equal(reading_read(&x, 0), PR_OK);
        assert_int_equal(x.s.size, bytes);
        assert_int_equal(x.s.shape.ndim, rows[i].channels == 3 ? 3 : 2);
        assert_int_equal(x.s.shape.dim[0], rows[i].height);
        assert_int_equal(x.s.shape.dim[1], rows[i].width);
        pr_content_fill(&spec, 0, 0, want, bytes);
        for (size_t j = 0; j < bytes; j++)
            sum += abs(want[j] - ((const uint8_t *)x.s.data)[j]);
        assert_true(sum / (double)bytes < rows[i].most);
        free(want);
        reading_done(&x);
    }
    place_done(&place);
}

static void the_same_key_gives_the_same_bytes(void **state)
{
    struct pr_file_spec spec = spec_of(50, 60, 0);
    struct place place;
    uint8_t *a, *b, *c;
    size_t len, len_b, len_c;

    (void)state;
    place_init(&place, "memory");
    write_file(&place, "jpeg", &spec, "a");
    write_file(&place, "jpeg", &spec, "b");
    spec.key++;
    write_file(&place, "jpeg", &spec, "c");
    a = get_file(&place, "a", &len);
    b = get_file(&place, "b", &len_b);
    c = get_file(&place, "c", &len_c);
    assert_int_equal(len, len_b);
    assert_memory_equal(a, b, len);
    assert_true(len != len_c || memcmp(a, c, len) != 0);
    free(a);
    free(b);
    free(c);
    place_done(&place);
}

static void one_writer_makes_many_files(void **state)
{
    struct pr_writer *w;
    struct place place;

    (void)state;
    place_init(&place, "memory");
    assert_int_equal(pr_writer_new(format_of("jpg"), place.st, &w, NULL),
                     PR_OK);
    for (unsigned i = 1; i < 40; i++) {
        struct pr_file_spec spec = spec_of(i * 37 % 100 + 1, i, i % 2 * 3);
        uint64_t bytes, size;
        uint8_t *file;
        size_t len;
        bool exact;

        assert_int_equal(w->format->check(&spec, NULL), PR_OK);
        assert_int_equal(pr_writer_write(w, &spec, "f", &bytes, NULL), PR_OK);
        size = w->format->bytes(&spec, &exact);
        assert_true(bytes <= size && !exact);
        file = get_file(&place, "f", &len);
        assert_int_equal(len, bytes);
        assert_memory_equal(file, "\xff\xd8", 2);
        assert_memory_equal(file + len - 2, "\xff\xd9", 2);
        free(file);
    }
    pr_writer_free(w);
    place_done(&place);
}

/* ---- bad files */

static void every_cut_is_noticed(void **state)
{
    static const struct {
        const uint8_t *file;
        size_t len;
    } files[] = {{gray, sizeof gray},
                 {colour, sizeof colour},
                 {progressive, sizeof progressive},
                 {cmyk, sizeof cmyk}};
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t len = 0; len < files[i].len; len++) {
            struct reading x;

            if (open_and_read(&place, &x, files[i].file, len) != PR_E_FORMAT)
                fail_msg("file %zu cut at %zu", i, len);
            assert_true(*x.err.msg);
            reading_done(&x);
        }
    place_done(&place);
}

/* Where the frame of the gray image starts. */
static size_t frame_of(const uint8_t *file, size_t len)
{
    for (size_t i = 0; i + 1 < len; i++)
        if (file[i] == 0xff && (file[i + 1] == 0xc0 || file[i + 1] == 0xc2))
            return i;
    fail();
    return 0;
}

static void what_is_no_jpeg_is_told(void **state)
{
    static const struct {
        size_t at; /* behind the marker of the frame */
        uint8_t bytes[5];
        size_t len;
        const char *want;
    } rows[] = {
        {5, {0xff, 0xdc, 0xff, 0xdc}, 4, "65500 x 65500 does not fit the file"},
        {5, {0, 0}, 2, "the image has no pixels"},
        {7, {0, 0}, 2, "the image has no pixels"},
        {9, {2}, 1, "an image of 2 components is not supported"},
        {2, {0, 7}, 2, "this is not a jpeg file"},
        {2, {0xff, 0xff}, 2, "this is not a jpeg file"},
        {4, {12}, 1, ""},
        {0, {0xff, 0xda}, 2, "this is not a jpeg file"},
        {0, {0x00, 0xc0}, 2, "this is not a jpeg file"},
    };
    size_t frame = frame_of(gray, sizeof gray);
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t file[sizeof gray];
        struct reading x;

        memcpy(file, gray, sizeof gray);
        memcpy(file + frame + rows[i].at, rows[i].bytes, rows[i].len);
        assert_int_equal(open_and_read(&place, &x, file, sizeof file),
                         PR_E_FORMAT);
        if (!strstr(x.err.msg, rows[i].want))
            fail_msg("%zu: %s", i, x.err.msg);
        assert_string_equal(x.err.where, "f");
        reading_done(&x);
    }
    place_done(&place);
}

/* Damage to the compressed data gives an error or pixels, never more. */
static void damage_does_no_harm(void **state)
{
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (size_t at = 0; at < sizeof progressive; at++)
        for (int bit = 0; bit < 8; bit++) {
            uint8_t file[sizeof progressive];
            struct reading x;

            memcpy(file, progressive, sizeof file);
            file[at] ^= (uint8_t)(1 << bit);
            int rc = open_and_read(&place, &x, file, sizeof file);
            assert_true(rc == PR_OK || rc == PR_E_FORMAT);
            reading_done(&x);
        }
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
    put_file(&place, "f", colour, sizeof colour);
    assert_int_equal(reading_init(&x, &place, "jpeg", &opts), PR_OK);
    assert_int_equal(reading_open(&x, "f"), PR_OK);
    assert_int_equal(reading_read(&x, 0), PR_OK);
    assert_int_equal(x.s.size, sizeof colour);
    assert_int_equal(x.s.shape.dim[0], sizeof colour);
    assert_memory_equal(x.s.data, colour, sizeof colour);
    reading_done(&x);
    place_done(&place);
}

static void small_buffer_is_refused(void **state)
{
    struct place place;
    struct reading x;
    uint8_t buf[44];

    (void)state;
    place_init(&place, "memory");
    assert_int_equal(open_and_read(&place, &x, colour, sizeof colour), PR_OK);
    assert_int_equal(x.r->need, 45);
    assert_int_equal(pr_reader_read(x.r, 0, buf, 44, &x.s, &x.err), PR_E_CONF);
    assert_string_equal(x.err.msg,
                        "a buffer of 44 bytes is too small, 45 are needed");
    reading_done(&x);
    place_done(&place);
}

static void what_it_cannot_hold_is_refused(void **state)
{
    static const struct {
        struct pr_shape shape;
        enum pr_dtype type;
        uint64_t samples;
        const char *where, *want;
    } rows[] = {
        {{3, {4, 5, 6}},
         PR_U8,
         1,
         "dataset.record_dims",
         "jpeg format does not support more than 2 dimensions, but got 3 "
         "dimensions"},
        {{4, {4, 5, 3, 3}},
         PR_U8,
         1,
         "dataset.record_dims",
         "jpeg format does not support more than 2 dimensions, but got 4 "
         "dimensions"},
        {{3, {4, 5, 4}}, PR_U8, 1, "dataset.record_dims", "but got 3"},
        {{1, {4}}, PR_U8, 1, "dataset.record_dims", "needs 2 dimensions"},
        {{2, {4, 65501}}, PR_U8, 1, "dataset.record_dims", "1 to 65500"},
        {{2, {0, 5}}, PR_U8, 1, "dataset.record_dims", "1 to 65500, got 0"},
        {{2, {4, 5}},
         PR_F32,
         1,
         "dataset.record_element_type",
         "jpeg holds uint8, not float32"},
        {{2, {4, 5}}, PR_U8, 2, "dataset.num_samples_per_file", "1 sample"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_file_spec spec = {.shape = rows[i].shape,
                                    .dtype = rows[i].type,
                                    .samples = rows[i].samples};
        struct pr_err err = {0};

        assert_int_equal(format_of("jpeg")->check(&spec, &err), PR_E_CONF);
        assert_string_equal(err.where, rows[i].where);
        assert_non_null(strstr(err.msg, rows[i].want));
        if (rows[i].shape.ndim > 2)
            assert_non_null(strstr(err.hint, "(height, width, 3)"));
    }
}

static void dlio_files_are_read(void **state)
{
    char name[4096];
    struct place place;
    struct reading x;

    (void)state;
    find_dlio("jpeg/train/img_0_of_3.jpeg", name);
    place_init(&place, "pread");
    assert_int_equal(reading_init(&x, &place, "jpeg", NULL), PR_OK);
    assert_int_equal(reading_open(&x, name), PR_OK);
    assert_int_equal(reading_read(&x, 0), PR_OK);
    assert_int_equal(x.s.shape.ndim, 2);
    assert_int_equal(x.s.shape.dim[0], x.s.shape.dim[1]);
    reading_done(&x);
    place_done(&place);
}

static int attempt(void)
{
    struct pr_file_spec spec = spec_of(20, 30, 0);
    struct place place = {.opts = {.engine = "memory",
                                   .storage_type = "local_fs",
                                   .storage_root = ".",
                                   .fault = "",
                                   .trace = ""}};
    struct reading x = {0};
    int rc = pr_storage_open(&place.opts, &place.st, &x.err);

    if (!rc)
        rc = try_write(&place, "jpeg", &spec, "f", &x.err);
    if (!rc)
        rc = reading_init(&x, &place, "jpeg", NULL);
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
        cmocka_unit_test(what_was_written_can_be_recognised),
        cmocka_unit_test(the_same_key_gives_the_same_bytes),
        cmocka_unit_test(one_writer_makes_many_files),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(what_is_no_jpeg_is_told),
        cmocka_unit_test(damage_does_no_harm),
        cmocka_unit_test(stored_bytes_are_the_file),
        cmocka_unit_test(small_buffer_is_refused),
        cmocka_unit_test(what_it_cannot_hold_is_refused),
        cmocka_unit_test(dlio_files_are_read),
        cmocka_unit_test(running_out_of_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
