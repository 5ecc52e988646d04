/* What charts are drawn on: kinds by their names, and that PNG and PDF are what
 * they say. Skipped where cairo is not. */
#include "base/codec/deflate.h"
#include "present/chart/canvas_svg.h"
#include "present/chart/chart.h"
#include "skip.h"
#include "torture.h"

#include <string.h>

/* fontconfig loses a few hundred bytes when it reads its own files. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig";
}

static void need_cairo(void)
{
    struct pr_err err = {0};
    char version[64];

    if (!pr_canvas_libraries(version, &err))
        return;
    assert_int_equal(err.code, PR_E_UNAVAIL);
    assert_non_null(strstr(err.hint, "apt-get install"));
    skip_for(&err);
}

static void kinds_go_by_their_names(void **state)
{
    (void)state;
    assert_ptr_equal(pr_canvas_kind("svg"), &pr_canvas_svg);
    assert_ptr_equal(pr_canvas_kind("PNG"), &pr_canvas_png);
    assert_ptr_equal(pr_canvas_kind("pdf"), &pr_canvas_pdf);
    assert_null(pr_canvas_kind("gif"));
    assert_null(pr_canvas_kind(""));
    assert_null(pr_canvas_kind_at(3));
}

/* Ten series can be told apart without colours. */
static void series_differ_in_more_than_colour(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PR_COLOURS; i++)
        for (unsigned k = 0; k < i; k++) {
            assert_string_not_equal(pr_canvas_colour(i, false),
                                    pr_canvas_colour(k, false));
            assert_string_not_equal(pr_canvas_colour(i, true),
                                    pr_canvas_colour(k, true));
        }
    for (unsigned i = 0; i < PR_DASHES; i++)
        for (unsigned k = 0; k < i; k++)
            assert_int_not_equal(memcmp(pr_canvas_dash(i), pr_canvas_dash(k),
                                        PR_CANVAS_DASH * sizeof(double)),
                                 0);
}

static int draw(const struct pr_canvas_kind *kind, double scale,
                struct pr_buf *out)
{
    static const struct pr_chart_point points[] = {
        {1, 1, 0, 2}, {2, 2, 0, 0}, {3, -4, 0, 0}};
    static const char *const names[] = {"a", "\xe6\x97\xa5", "\xd8\xb9"};
    const struct pr_chart_series s[] = {
        {.name = "one", .points = points, .count = 3},
        {.name = "two", .points = points, .count = 3, .style = PR_CHART_BARS},
    };
    struct pr_chart c = {.title = "t",
                         .x_label = "x",
                         .series = s,
                         .series_count = 2,
                         .x_names = names,
                         .x_name_count = 3,
                         .threshold = 1,
                         .threshold_label = "one",
                         .scale = scale};
    struct pr_err err = {0};

    return pr_chart_draw(&c, kind, out, &err);
}

static unsigned number_at(const struct pr_buf *b, size_t at)
{
    const unsigned char *p = (const unsigned char *)b->data + at;

    return (unsigned)p[0] << 24 | (unsigned)p[1] << 16 | (unsigned)p[2] << 8 |
           p[3];
}

static void png_is_as_large_as_told(void **state)
{
    struct pr_buf out = PR_BUF_INIT(1 << 24);

    (void)state;
    need_cairo();
    for (unsigned scale = 1; scale <= 2; scale++) {
        pr_buf_clear(&out);
        assert_int_equal(draw(&pr_canvas_png, scale, &out), PR_OK);
        assert_true(out.len > 2000);
        assert_memory_equal(out.data, "\x89PNG\r\n\x1a\n", 8);
        assert_int_equal(number_at(&out, 16), PR_CHART_WIDTH * scale);
        assert_int_equal(number_at(&out, 20), PR_CHART_HEIGHT * scale);
        assert_memory_equal(out.data + out.len - 8, "IEND", 4);
    }
    pr_buf_free(&out);
}

/* Since 1.18 cairo compresses objects too: they are added in plain. */
static void unpack(struct pr_buf *pdf)
{
    static const char mark[] = ">>\nstream\n";
    struct pr_inflate *z = pr_inflate_new();
    size_t len = pdf->len;

    assert_non_null(z);
    for (size_t at = 0; at + sizeof mark < len; at++) {
        static uint8_t plain[1 << 20];
        const uint8_t *in = (const uint8_t *)pdf->data + at + sizeof mark - 1;
        size_t in_len = len - at - (sizeof mark - 1), n = sizeof plain;

        if (memcmp(pdf->data + at, mark, sizeof mark - 1) != 0)
            continue;
        pr_inflate_start(z, PR_WRAP_ZLIB);
        if (pr_inflate_run(z, &in, &in_len, plain, &n) != PR_INFLATE_BAD)
            pr_buf_add(pdf, plain, n);
    }
    pr_inflate_free(z);
}

static void pdf_is_one_page(void **state)
{
    struct pr_buf out = PR_BUF_INIT(1 << 24);

    (void)state;
    need_cairo();
    assert_int_equal(draw(&pr_canvas_pdf, 1, &out), PR_OK);
    assert_memory_equal(out.data, "%PDF-", 5);
    assert_memory_equal(out.data + out.len - 6, "%%EOF\n", 6);
    unpack(&out);
    assert_non_null(memmem(out.data, out.len, "/Count 1", 8));
    assert_non_null(memmem(out.data, out.len, "[ 0 0 600 375 ]", 15));
    pr_buf_free(&out);
}

static void no_room_is_an_error(void **state)
{
    struct pr_buf out = PR_BUF_INIT(100);

    (void)state;
    assert_int_equal(draw(&pr_canvas_svg, 1, &out), PR_E_NOMEM);
    pr_buf_free(&out);
    need_cairo();
    assert_int_equal(draw(&pr_canvas_png, 1, &out), PR_E_NOMEM);
    pr_buf_free(&out);
}

static int draw_tortured(void)
{
    struct pr_buf out = PR_BUF_INIT(1 << 24);
    int rc = draw(&pr_canvas_png, 1, &out);

    pr_buf_free(&out);
    return rc;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    need_cairo();
    torture(draw_tortured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_go_by_their_names),
        cmocka_unit_test(series_differ_in_more_than_colour),
        cmocka_unit_test(png_is_as_large_as_told),
        cmocka_unit_test(pdf_is_one_page),
        cmocka_unit_test(no_room_is_an_error),
        cmocka_unit_test(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
