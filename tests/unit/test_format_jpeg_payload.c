/* Images whose files have a given size, and files that are no images. */
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
        .payload = PR_FILE,
    };
}

static const struct row {
    uint64_t height, width, channels, stored;
} rows[] = {
    {568, 568, 0, 322957}, /* as many bytes as pixels */
    {568, 568, 0, 322624},     {64, 64, 0, 4096},      {1, 1, 0, 1000},
    {37, 101, 0, 3000},        {224, 224, 3, 110000},  /* photographs are about
                                                          like this */
    {600, 800, 3, 150000},     {16, 16, 0, 200000},    /* hardly anything but
                                                          padding */
    {16, 16, 0, 65536 + 2000}, {1000, 1000, 0, 30000}, /* hardly anything but
                                                          one shade */
    {1, 3000, 3, 20000},       {3000, 1, 0, 20001},
};

static int read_back(struct place *place, struct reading *x, const char *format)
{
    int rc = reading_init(x, place, format, NULL);

    if (!rc)
        rc = reading_open(x, "f");
    return rc ? rc : reading_read(x, 0);
}

static void expect_image(struct place *place, const char *format,
                         const struct pr_file_spec *spec)
{
    struct reading x;
    size_t len;
    bool exact;

    free(get_file(place, "f", &len));
    assert_int_equal(len, spec->stored);
    assert_int_equal(format_of(format)->bytes(spec, &exact), len);
    assert_true(exact);
    if (read_back(place, &x, format))
        fail_msg("%s of %llu bytes: %s", format,
                 (unsigned long long)spec->stored, x.err.msg);
    assert_int_equal(x.s.size, pr_spec_sample_bytes(spec));
    assert_int_equal(x.s.shape.dim[0], spec->shape.dim[0]);
    assert_int_equal(x.s.shape.dim[1], spec->shape.dim[1]);
    reading_done(&x);
}

static void files_have_the_size_asked_for(void **state)
{
    static const char *const formats[] = {"jpeg", "png"};
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (int f = 0; f < 2; f++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct pr_file_spec spec =
                spec_of(rows[i].height, rows[i].width, rows[i].channels);

            spec.stored = rows[i].stored;
            write_file(&place, formats[f], &spec, "f");
            expect_image(&place, formats[f], &spec);
        }
    place_done(&place);
}

/* Every size from the smallest on, over the places where a part of padding is
 * too small to be one. */
static void every_size_can_be_had(void **state)
{
    struct pr_file_spec spec = spec_of(24, 24, 0);
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (spec.stored = 600; spec.stored < 1300; spec.stored++) {
        write_file(&place, "jpeg", &spec, "f");
        expect_image(&place, "jpeg", &spec);
    }
    for (spec.stored = 600; spec.stored < 1300; spec.stored++) {
        write_file(&place, "png", &spec, "f");
        expect_image(&place, "png", &spec);
    }
    place_done(&place);
}

/* By quality rather than by padding, where quality can do it. */
static void little_of_it_is_padding(void **state)
{
    struct pr_file_spec spec = spec_of(568, 568, 0);
    struct place place;
    size_t len, at = 20, padding = 0;
    uint8_t *file;

    (void)state;
    spec.stored = 322957;
    place_init(&place, "memory");
    write_file(&place, "jpeg", &spec, "f");
    file = get_file(&place, "f", &len);
    while (at + 4 <= len && file[at] == 0xff && file[at + 1] == 0xef) {
        size_t part = 2 + ((size_t)file[at + 2] << 8 | file[at + 3]);

        padding += part;
        at += part;
    }
    assert_true(padding && padding < len / 10);
    free(file);
    place_done(&place);
}

static int write_with(struct pr_writer *w, const struct pr_file_spec *spec,
                      const char *name)
{
    uint64_t bytes;

    return pr_writer_write(w, spec, name, &bytes, NULL);
}

/* Whatever the thread made before. */
static void the_same_file_from_any_writer(void **state)
{
    static const char *const formats[] = {"jpeg", "png"};
    struct pr_file_spec spec = spec_of(300, 200, 0);
    struct pr_file_spec other = spec_of(100, 700, 3);
    struct place place;

    (void)state;
    spec.stored = 60000;
    other.stored = 150000;
    place_init(&place, "memory");
    for (int f = 0; f < 2; f++) {
        struct pr_writer *w;
        size_t len, len_b;
        uint8_t *a, *b;

        assert_int_equal(
            pr_writer_new(format_of(formats[f]), place.st, &w, NULL), PR_OK);
        write_file(&place, formats[f], &spec, "a");
        assert_int_equal(write_with(w, &other, "x"), PR_OK);
        assert_int_equal(write_with(w, &spec, "b"), PR_OK);
        a = get_file(&place, "a", &len);
        b = get_file(&place, "b", &len_b);
        assert_int_equal(len, len_b);
        assert_memory_equal(a, b, len);
        free(a);
        free(b);
        pr_writer_free(w);
    }
    place_done(&place);
}

/* The smallest that is said to be possible is, and one byte less is not. */
static void what_is_too_small_is_refused(void **state)
{
    static const char *const formats[] = {"jpeg", "png"};
    struct place place;

    (void)state;
    place_init(&place, "memory");
    for (int f = 0; f < 2; f++)
        for (unsigned c = 0; c <= 3; c += 3) {
            struct pr_file_spec spec = spec_of(123, 457, c);
            struct pr_err err = {0};
            unsigned long long least;
            const char *at;

            spec.stored = 10;
            assert_int_equal(format_of(formats[f])->check(&spec, &err),
                             PR_E_CONF);
            assert_string_equal(err.where, "dataset.record_length_bytes");
            assert_non_null(strstr(err.hint, "dataset.payload=file"));
            at = strstr(err.msg, "at least ");
            assert_non_null(at);
            assert_int_equal(sscanf(at, "at least %llu", &least), 1);
            spec.stored = least - 1;
            assert_int_equal(format_of(formats[f])->check(&spec, NULL),
                             PR_E_CONF);
            spec.stored = least;
            assert_int_equal(format_of(formats[f])->check(&spec, NULL), PR_OK);
            write_file(&place, formats[f], &spec, "f");
            expect_image(&place, formats[f], &spec);
        }
    place_done(&place);
}

/* As MLPerf's engine of v3 has them: the content and nothing else. */
static void raw_files_are_not_decoded(void **state)
{
    static const char *const formats[] = {"jpeg", "png"};
    struct pr_read_opts opts = {.skip_decode = true};
    struct pr_file_spec spec = spec_of(568, 568, 0);
    uint8_t *want = malloc(568 * 568);
    struct place place;

    (void)state;
    spec.payload = PR_RAW;
    pr_content_fill(&spec, 0, 0, want, 568 * 568);
    place_init(&place, "memory");
    for (int f = 0; f < 2; f++) {
        struct reading x;

        write_file(&place, formats[f], &spec, "f");
        assert_int_equal(reading_init(&x, &place, formats[f], &opts), PR_OK);
        assert_int_equal(reading_open(&x, "f"), PR_OK);
        assert_int_equal(reading_read(&x, 0), PR_OK);
        assert_int_equal(x.s.size, 568 * 568);
        assert_memory_equal(x.s.data, want, x.s.size);
        reading_done(&x);
        assert_int_equal(read_back(&place, &x, formats[f]), PR_E_FORMAT);
        assert_non_null(strstr(x.err.hint, "dataset.payload=raw"));
        reading_done(&x);
    }
    free(want);
    place_done(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_the_size_asked_for),
        cmocka_unit_test(every_size_can_be_had),
        cmocka_unit_test(little_of_it_is_padding),
        cmocka_unit_test(the_same_file_from_any_writer),
        cmocka_unit_test(what_is_too_small_is_refused),
        cmocka_unit_test(raw_files_are_not_decoded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
