/* Line charts: where points and ticks are, what is left out, and that any text
 * and any numbers give an image that is well formed. */
#include "present/chart_impl.h"
#include "torture.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pr_buf image = PR_BUF_INIT(1 << 26);

/* ---- a look at XML */

static int count(const char *what)
{
    int n = 0;

    for (const char *p = image.data; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static bool is_entity(const char *p)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;"};

    for (size_t i = 0; i < 4; i++)
        if (strncmp(p, known[i], strlen(known[i])) == 0)
            return true;
    return false;
}

/* One tag from its '<'; what it does to the depth. */
static const char *read_tag(const char *p, int *depth)
{
    bool closes = p[1] == '/', quoted = false;

    for (p++; *p && (quoted || *p != '>'); p++) {
        quoted ^= *p == '"';
        assert_true(*p != '<');
    }
    assert_true(*p == '>' && !quoted);
    if (closes)
        --*depth;
    else if (p[-1] != '/')
        ++*depth;
    return p;
}

static void check_well_formed(void)
{
    int depth = 0;

    assert_true(pr_buf_ok(&image));
    assert_int_equal(strncmp(image.data, "<svg ", 5), 0);
    for (const char *p = image.data; *p; p++) {
        if (*p == '<')
            p = read_tag(p, &depth);
        else if (*p == '&')
            assert_true(is_entity(p));
        else
            assert_true((unsigned char)*p >= ' ' || *p == '\n');
        assert_true(depth >= 0);
    }
    assert_int_equal(depth, 0);
    /* Places are numbers. */
    assert_null(strstr(image.data, "nan"));
    assert_null(strstr(image.data, "\"inf"));
    assert_null(strstr(image.data, "script"));
}

static void draw(const struct pr_chart *c)
{
    struct pr_err err = {0};

    pr_buf_clear(&image);
    if (pr_chart_svg(c, &image, &err))
        fail_msg("%s", err.msg);
    check_well_formed();
}

/* Number i of the values of an attribute, of tags that begin so. */
static double value(const char *tag, int i, const char *name)
{
    const char *p = image.data;
    char text[32];

    for (; i >= 0; i--, p++) {
        p = strstr(p, tag);
        assert_non_null(p);
    }
    snprintf(text, sizeof text, " %s=\"", name);
    p = strstr(p, text);
    assert_non_null(p);
    return strtod(p + strlen(text), NULL);
}

static struct pr_chart of(const struct pr_chart_series *s, size_t n)
{
    return (struct pr_chart){.title = "t",
                             .x_label = "x",
                             .y_label = "y",
                             .series = s,
                             .series_count = n};
}

/* ---- axes */

static void powers_of_two_are_equally_far_apart(void **state)
{
    struct pr_axis a;

    (void)state;
    pr_axis_x(&a, 1, 64, true, 700);
    assert_true(a.is_log);
    assert_int_equal(a.tick_count, 7);
    for (int i = 0; i < 7; i++) {
        double want = (0.03 * 6 + i) / (6 * 1.06);

        assert_true(a.ticks[i] == exp2(i));
        assert_true(fabs(pr_axis_at(&a, exp2(i)) - want) < 1e-12);
    }
    assert_true(fabs(pr_axis_at(&a, 8) - 0.5) < 1e-12);
}

static void the_axis_is_logarithmic_above_16_times(void **state)
{
    static const struct {
        double min, max;
        bool want;
    } rows[] = {
        {1, 16, false}, {1, 17, true},   {3, 48, false},    {3, 49, true},
        {0, 99, false}, {-1, 99, false}, {0.01, 0.2, true}, {5, 5, false},
    };
    struct pr_axis a;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pr_axis_x(&a, rows[i].min, rows[i].max, false, 700);
        assert_int_equal(a.is_log, rows[i].want);
        assert_true(pr_axis_at(&a, rows[i].min) >= 0);
        assert_true(pr_axis_at(&a, rows[i].max) <= 1);
    }
}

static void check_labels(const struct pr_axis *a, const char *want)
{
    char text[PR_AXIS_LABEL], all[512] = "";

    for (size_t i = 0; i < a->tick_count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 i ? "|" : "", pr_axis_label(a, a->ticks[i], text));
    assert_string_equal(all, want);
}

static void ticks_are_round(void **state)
{
    static const struct {
        double min, max;
        bool whole;
        double room;
        const char *want;
    } x[] = {
        {1, 12, true, 700, "0|2|4|6|8|10|12"},
        {1, 3, true, 700, "0|1|2|3"},
        {20, 24, true, 700, "20|21|22|23|24"},
        {0, 1, false, 700, "0.0|0.2|0.4|0.6|0.8|1.0"},
        {0, 250000, true, 700, "0k|50k|100k|150k|200k|250k"},
        {1, 1024, true, 700, "1|2|4|8|16|32|64|128|256|512|1024"},
        {1, 1024, true, 200, "1|8|64|512"},
        {1, 1048576, true, 200, "1|64|4096|262k"},
        {7, 7, true, 700, "0|2|4|6|8|10|12|14"},
    };
    static const struct {
        double min, max;
        bool percent;
        const char *want;
    } y[] = {
        {0.1, 0.97, true, "0 %|20 %|40 %|60 %|80 %|100 %"},
        {0.73, 0.97, true, "70 %|75 %|80 %|85 %|90 %|95 %|100 %"},
        {0.5, 1.4, true, "40 %|60 %|80 %|100 %|120 %|140 %"},
        {0, 0, false, "0.0|0.1|0.2|0.3|0.4|0.5"},
        {3, 11, false, "0|2|4|6|8|10|12"},
        {-3, 11, false, "-5.0|-2.5|0.0|2.5|5.0|7.5|10.0|12.5"},
        {3e6, 9e6, false, "0M|2M|4M|6M|8M|10M"},
    };
    struct pr_axis a;

    (void)state;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        pr_axis_x(&a, x[i].min, x[i].max, x[i].whole, x[i].room);
        check_labels(&a, x[i].want);
    }
    for (size_t i = 0; i < sizeof y / sizeof *y; i++) {
        pr_axis_y(&a, y[i].min, y[i].max, y[i].percent);
        check_labels(&a, y[i].want);
        assert_true(pr_axis_at(&a, y[i].min) >= -1e-9);
        assert_true(pr_axis_at(&a, y[i].max) <= 1 + 1e-9);
    }
}

/* ---- images */

static void points_are_where_the_axes_say(void **state)
{
    /* Not in order: a line goes from the left to the right. */
    static const struct pr_chart_point points[] = {
        {16, 0, 0, 0}, {1, 10, 0, 0}, {4, 5, 0, 0}, {64, 10, 4, 12}};
    struct pr_chart_series s = {"a", points, 4, PR_CHART_LINE};
    struct pr_chart c = of(&s, 1);

    (void)state;
    draw(&c);
    assert_int_equal(count("<circle class=\"d0\""), 4);
    /* The plot is 76 to 776 wide and 56 to 408 high; y goes from 0 to 12. */
    for (int i = 0; i < 4; i++) {
        static const double ys[] = {10, 5, 0, 10};
        double x = 76 + 700 * (0.03 * 6 + 2 * i) / (6 * 1.06);
        double y = 408 - 352 * ys[i] / 12;

        assert_true(fabs(value("<circle ", i, "cx") - x) <= 0.051);
        assert_true(fabs(value("<circle ", i, "cy") - y) <= 0.051);
    }
    assert_int_equal(count("<path class=\"bar"), 1);
    assert_int_equal(count("<path class=\"line"), 1);
}

static void what_is_no_number_is_left_out(void **state)
{
    static const struct pr_chart_point points[] = {
        {1, 5, 0, 0},        {NAN, 5, 0, 0},       {2, NAN, 0, 0},
        {INFINITY, 1, 0, 0}, {3, -INFINITY, 0, 0}, {4, 6, NAN, 9},
        {5, 6, 1, INFINITY}, {6, 6, 7, 5},
    };
    struct pr_chart_series s = {"a", points, 8, PR_CHART_LINE};
    struct pr_chart c = of(&s, 1);

    (void)state;
    c.threshold = NAN;
    c.threshold_label = "t";
    c.mark = INFINITY;
    c.mark_label = "m";
    draw(&c);
    assert_int_equal(count("<circle "), 4);
    assert_int_equal(count("class=\"bar"), 0);
    assert_int_equal(count("class=\"limit\""), 0);
    assert_int_equal(count("class=\"mark\""), 0);
}

static void few_points_are_enough(void **state)
{
    static const struct pr_chart_point one = {7, 0.93, 0.9, 0.95};
    struct pr_chart_series s = {"a", &one, 1, PR_CHART_LINE};
    struct pr_chart c = of(&s, 1);

    (void)state;
    c.y_percent = true;
    draw(&c);
    assert_int_equal(count("<circle "), 1);
    assert_int_equal(count("class=\"line l"), 0);
    assert_int_equal(count("no data"), 0);
    s.count = 0;
    draw(&c);
    assert_int_equal(count("<circle "), 0);
    assert_int_equal(count("no data"), 1);
    c = (struct pr_chart){0};
    draw(&c);
    assert_int_equal(count("no data"), 1);
}

static void text_is_made_harmless(void **state)
{
    static const struct pr_chart_point points[] = {{1, 1, 0, 0}, {2, 2, 0, 0}};
    static const char *const texts[] = {
        "a < b & c > \"d\"",    "</text><script>alert(1)</script>",
        "]]>&#0;&amp;",         "tab\tline\nbell\a\x1b[31m",
        "\xff\xfe broken \xc3", "\xef\xbf\xbf\xef\xbf\xbe",
        "größer ≥ 90 %%",       "",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *t = texts[i];
        struct pr_chart_series s[] = {{t, points, 2, PR_CHART_LINE},
                                      {t, points, 1, PR_CHART_POINTS}};
        struct pr_chart c = {t, t, t, t, false, s, 2, 1.5, t, 2, t};
        struct pr_err err = {0};

        pr_buf_clear(&image);
        assert_int_equal(pr_chart_svg(&c, &image, &err), PR_OK);
        assert_null(strstr(image.data, "<script"));
        assert_null(strstr(image.data, "\xef\xbf\xbf"));
        if (i != 1)
            check_well_formed();
    }
    pr_buf_clear(&image);
    pr_chart_escape(&image, "a<b>&\"c'");
    assert_string_equal(image.data, "a&lt;b&gt;&amp;&quot;c'");
}

static void text_is_cut_to_its_place(void **state)
{
    struct pr_chart c = {.title = "The quick brown fox jumps over the lazy "
                                  "dog, again and again and again, and over "
                                  "the next one as well"};

    (void)state;
    draw(&c);
    assert_int_equal(count("…</text>"), 1);
    /* Whole, for those who cannot see it. */
    assert_int_equal(count("next one as well</title>"), 1);
}

static void a_legend_names_several_series(void **state)
{
    static const struct pr_chart_point points[] = {{1, 1, 0, 0}, {2, 2, 0, 0}};
    struct pr_chart_series s[30] = {{0}};
    struct pr_chart c = of(s, 1);

    (void)state;
    for (int i = 0; i < 30; i++)
        s[i] = (struct pr_chart_series){"one of many that are all much alike",
                                        points, 2, PR_CHART_LINE};
    draw(&c);
    assert_int_equal(count("one of many"), 0);
    c.series_count = 2;
    draw(&c);
    assert_int_equal(count("one of many"), 2);
    c.series_count = 30;
    draw(&c);
    assert_true(count("one of many") >= 8 && count("one of many") < 30);
    /* There is still a chart under it. */
    assert_true(value("<line class=\"grid\"", 0, "y1") > 300);
}

static void labels_keep_clear_of_each_other(void **state)
{
    static const struct pr_chart_point points[] = {
        {1, 0.95, 0, 0}, {5, 0.93, 0, 0}, {9, 0.6, 0, 0}};
    struct pr_chart_series s = {"a", points, 3, PR_CHART_LINE};
    struct pr_chart c = of(&s, 1);

    (void)state;
    c.y_percent = true;
    c.threshold = 0.9;
    c.threshold_label = "threshold 90 %";
    c.mark_label = "largest";
    for (int i = 1; i <= 9; i++) {
        double x, y, x2, y2;

        c.mark = i;
        draw(&c);
        assert_int_equal(count("class=\"ring\""), i == 1 || i == 5 || i == 9);
        x = value("<text class=\"bold halo\"", 0, "x");
        y = value("<text class=\"bold halo\"", 0, "y");
        x2 = value("<text class=\"limit-text halo\"", 0, "x");
        y2 = value("<text class=\"limit-text halo\"", 0, "y");
        assert_true(fabs(y - y2) >= 16 || fabs(x - x2) >= 50);
        assert_true(x >= 76 && x <= 776 && x2 >= 76 && x2 <= 776);
    }
}

static void any_numbers_will_do(void **state)
{
    static const double hard[] = {
        0,    1,    -1,  1e-300,    1e300, -1e300,   DBL_MAX, DBL_MIN,
        1e17, 3e-5, 1e9, 1.0000001, -0.0,  4.9e-324, -DBL_MAX};
    enum { HARD = sizeof hard / sizeof *hard };

    (void)state;
    for (int i = 0; i < HARD; i++)
        for (int j = 0; j < HARD; j++) {
            struct pr_chart_point points[] = {
                {hard[i], hard[j], 0, 0}, {hard[j], hard[i], hard[i], hard[j]}};
            struct pr_chart_series s = {"a", points, 2, PR_CHART_LINE};
            struct pr_chart c = of(&s, 1);

            c.y_percent = (i + j) % 2;
            c.mark = hard[j];
            c.mark_label = "m";
            c.threshold = hard[i];
            c.threshold_label = "t";
            draw(&c);
        }
}

static void a_thousand_points_are_a_line(void **state)
{
    static struct pr_chart_point points[1000];
    struct pr_chart_series s = {"a", points, 1000, PR_CHART_LINE};
    struct pr_chart c = of(&s, 1);

    (void)state;
    for (int i = 0; i < 1000; i++)
        points[i] = (struct pr_chart_point){i + 1, sin(i / 100.0), 0, 0};
    draw(&c);
    assert_int_equal(count("<circle "), 0);
    assert_true(image.len < 40000);
    s.style = PR_CHART_POINTS;
    draw(&c);
    assert_int_equal(count("<circle "), 1000);
}

static int draw_tortured(void)
{
    static const struct pr_chart_point points[] = {{1, 1, 0, 2}, {2, 2, 0, 0}};
    static const struct pr_chart_series s[] = {
        {"one", points, 2, PR_CHART_LINE}, {"two", points, 2, PR_CHART_LINE}};
    struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_chart c = of(s, 2);
    struct pr_err err = {0};
    int rc;

    c.mark_label = c.threshold_label = "label";
    rc = pr_chart_svg(&c, &out, &err);
    pr_buf_done(&out);
    return rc;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(draw_tortured);
}

static int forget_image(void **state)
{
    (void)state;
    pr_buf_done(&image);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_two_are_equally_far_apart),
        cmocka_unit_test(the_axis_is_logarithmic_above_16_times),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(points_are_where_the_axes_say),
        cmocka_unit_test(what_is_no_number_is_left_out),
        cmocka_unit_test(few_points_are_enough),
        cmocka_unit_test(text_is_made_harmless),
        cmocka_unit_test(text_is_cut_to_its_place),
        cmocka_unit_test(a_legend_names_several_series),
        cmocka_unit_test(labels_keep_clear_of_each_other),
        cmocka_unit_test(any_numbers_will_do),
        cmocka_unit_test(a_thousand_points_are_a_line),
        cmocka_unit_test(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, forget_image);
}
