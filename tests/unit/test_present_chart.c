/* Charts: where points and ticks are, what is left out, and that any text and
 * any numbers give an image that is well formed. */
#include "present/chart/canvas_svg.h"
#include "present/chart/chart.h"
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
    if (pr_chart_draw(c, &pr_canvas_svg, &image, &err))
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

static struct pr_chart_series
line_of(const char *name, const struct pr_chart_point *points, size_t n)
{
    return (struct pr_chart_series){
        .name = name, .points = points, .count = n, .style = PR_CHART_LINE};
}

/* ---- axes */

static struct pr_canvas svg = {.kind = &pr_canvas_svg};

static struct pr_axis_wish wish(double min, double max, bool whole,
                                const char *unit, double room)
{
    return (struct pr_axis_wish){.min = min,
                                 .max = max,
                                 .whole = whole,
                                 .unit = unit,
                                 .room = room,
                                 .v = &svg};
}

static void powers_of_two_are_equally_far_apart(void **state)
{
    struct pr_axis_wish w = wish(1, 64, true, NULL, 700);
    struct pr_axis a;

    (void)state;
    pr_axis_x_log(&a, &w);
    assert_int_equal(a.tick_count, 7);
    for (int i = 0; i < 7; i++) {
        double want = (0.03 * 6 + i) / (6 * 1.06);

        assert_true(a.ticks[i] == exp2(i));
        assert_true(fabs(pr_axis_at(&a, exp2(i)) - want) < 1e-12);
    }
    assert_true(fabs(pr_axis_at(&a, 8) - 0.5) < 1e-12);
}

static void check_labels(const struct pr_axis *a, const char *want)
{
    char text[PR_AXIS_LABEL], all[512] = "";

    for (size_t i = 0; i < a->tick_count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 i ? "|" : "", pr_axis_label(a, a->ticks[i], text));
    assert_string_equal(all, want);
}

static void ticks_of_x_are_round(void **state)
{
    static const struct {
        double min, max;
        bool whole, is_log;
        const char *unit;
        double room;
        const char *want;
    } rows[] = {
        {1, 12, true, false, NULL, 700, "0|2|4|6|8|10|12"},
        {1, 3, true, false, NULL, 700, "0|1|2|3"},
        {20, 24, true, false, NULL, 700, "20|21|22|23|24"},
        {0, 1, false, false, NULL, 700, "0|0.2|0.4|0.6|0.8|1.0"},
        {0, 250000, true, false, NULL, 700, "0|50k|100k|150k|200k|250k"},
        {7, 7, true, false, NULL, 700, "0|2|4|6|8|10|12|14"},
        {0, 52, false, false, "s", 700, "0 s|10 s|20 s|30 s|40 s|50 s"},
        {0, 110, false, false, "s", 700,
         "0 s|15 s|30 s|45 s|60 s|75 s|90 s|105 s"},
        {0, 2000, false, false, "s", 400,
         "0 min|5 min|10 min|15 min|20 min|25 min|30 min"},
        {0, 9000, false, false, "s", 400, "0 h|0.5 h|1.0 h|1.5 h|2.0 h|2.5 h"},
        {1, 1024, true, true, NULL, 700, "1|2|4|8|16|32|64|128|256|512|1024"},
        {1, 1024, true, true, NULL, 200, "1|8|64|512"},
        {1, 1048576, true, true, NULL, 200, "1|64|4096|262k"},
        {1, 1e12, true, true, NULL, 400, "1|1000|1M|1G|1T"},
        {0.5, 20, false, true, NULL, 700, "0.5|1|2|5|10|20"},
    };
    struct pr_axis a;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_axis_wish w = wish(rows[i].min, rows[i].max, rows[i].whole,
                                     rows[i].unit, rows[i].room);

        (rows[i].is_log ? pr_axis_x_log : pr_axis_x)(&a, &w);
        assert_int_equal(a.is_log, rows[i].is_log);
        check_labels(&a, rows[i].want);
        assert_true(pr_axis_at(&a, rows[i].min) >= 0);
        assert_true(pr_axis_at(&a, rows[i].max) <= 1);
    }
}

static void ticks_of_y_are_round(void **state)
{
    static const struct {
        double min, max;
        const char *unit, *want;
    } rows[] = {
        {0.1, 0.97, "share", "0 %|20 %|40 %|60 %|80 %|100 %"},
        {0.73, 0.97, "share", "70 %|75 %|80 %|85 %|90 %|95 %|100 %"},
        {0.5, 1.4, "share", "40 %|60 %|80 %|100 %|120 %|140 %"},
        {0, 0, NULL, "0|0.1|0.2|0.3|0.4|0.5"},
        {3, 11, NULL, "0|2|4|6|8|10|12"},
        {-3, 11, NULL, "-5.0|-2.5|0|2.5|5.0|7.5|10.0|12.5"},
        {3e6, 9e6, NULL, "0|2M|4M|6M|8M|10M"},
        {1e8, 1e9, NULL, "0|200M|400M|600M|800M|1000M"},
        {0, 3e9, NULL, "0|0.5G|1.0G|1.5G|2.0G|2.5G|3.0G"},
        {0, 3e9, "bytes", "0 GB|0.5 GB|1.0 GB|1.5 GB|2.0 GB|2.5 GB|3.0 GB"},
        {0, 900, "bytes/s", "0 B/s|200 B/s|400 B/s|600 B/s|800 B/s|1000 B/s"},
        {0, 0.004, "s", "0 ms|1 ms|2 ms|3 ms|4 ms"},
        {0, 250, "ms", "0 ms|50 ms|100 ms|150 ms|200 ms|250 ms"},
        {0, 6e-7, NULL, "0|1e-7|2e-7|3e-7|4e-7|5e-7|6e-7"},
        {0, 6e22, NULL, "0|1e22|2e22|3e22|4e22|5e22|6e22"},
        /* Zero is far away. */
        {97, 100, NULL, "97.0|97.5|98.0|98.5|99.0|99.5|100.0"},
        {1e9, 1e9 + 4, NULL,
         "1000000000|1000000001|1000000002|1000000003|1000000004"},
    };
    struct pr_axis a;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_axis_wish w =
            wish(rows[i].min, rows[i].max, false, rows[i].unit, 300);

        pr_axis_y(&a, &w);
        check_labels(&a, rows[i].want);
        assert_true(pr_axis_at(&a, rows[i].min) >= -1e-9);
        assert_true(pr_axis_at(&a, rows[i].max) <= 1 + 1e-9);
    }
}

static void ticks_stand_at_points_when_they_fit(void **state)
{
    static const double some[] = {1, 3, 7.5, 12}, close[] = {1, 1.01, 12};
    struct pr_axis_wish w = wish(1, 12, false, NULL, 700);
    struct pr_axis a;

    (void)state;
    pr_axis_x(&a, &w);
    pr_axis_ticks_at(&a, some, 4, &w);
    check_labels(&a, "1|3|7.5|12");
    pr_axis_x(&a, &w);
    pr_axis_ticks_at(&a, close, 3, &w);
    check_labels(&a, "0|2|4|6|8|10|12");
    pr_axis_ticks_at(&a, close, 0, &w);
    check_labels(&a, "0|2|4|6|8|10|12");
}

/* ---- images */

/* From the axis of x, which is as wide as the plot; its bottom is h. The top
 * is under the title. */
static struct pr_box plot_area(void)
{
    const char *p = strstr(image.data, "class=\"axis\"");
    double x1, y1, x2, y2;

    assert_non_null(p);
    assert_int_equal(sscanf(strstr(p, " d=\"M"), " d=\"M%lf %lfL%lf %lf", &x1,
                            &y1, &x2, &y2),
                     4);
    return (struct pr_box){x1, 56, x2 - x1, y1};
}

static bool is_log_chart(const struct pr_chart_point *points, size_t n)
{
    struct pr_chart_series s = line_of("a", points, n);
    struct pr_chart c = of(&s, 1);
    struct pr_box b;

    draw(&c);
    b = plot_area();
    /* The second point is at 5 of 1 to 100, or near it. */
    return value("<circle ", 1, "cx") - b.x > b.w / 4;
}

static void x_is_logarithmic_where_points_call_for_it(void **state)
{
    static const struct pr_chart_point powers[] = {
        {1, 1, 0, 0}, {5, 1, 0, 0}, {20, 1, 0, 0}, {100, 1, 0, 0}};
    static const struct pr_chart_point even[] = {{1, 1, 0, 0},  {5, 1, 0, 0},
                                                 {40, 1, 0, 0}, {60, 1, 0, 0},
                                                 {80, 1, 0, 0}, {100, 1, 0, 0}};
    static const struct pr_chart_point near[] = {
        {7, 1, 0, 0}, {9, 1, 0, 0}, {100, 1, 0, 0}};
    static const struct pr_chart_point zero[] = {
        {0, 1, 0, 0}, {5, 1, 0, 0}, {20, 1, 0, 0}, {100, 1, 0, 0}};

    (void)state;
    assert_true(is_log_chart(powers, 4));
    assert_false(is_log_chart(even, 6));
    assert_false(is_log_chart(near, 3));
    assert_false(is_log_chart(zero, 4));
}

static void points_are_where_the_axes_say(void **state)
{
    /* Not in order: a line goes from the left to the right. */
    static const struct pr_chart_point points[] = {
        {16, 0, 0, 0}, {1, 10, 0, 0}, {4, 5, 0, 0}, {64, 10, 4, 12}};
    struct pr_chart_series s = line_of("a", points, 4);
    struct pr_chart c = of(&s, 1);
    struct pr_box b;

    (void)state;
    draw(&c);
    b = plot_area();
    assert_int_equal(count("<circle class=\"dot d0\""), 4);
    /* y goes from 0 to 12. */
    for (int i = 0; i < 4; i++) {
        static const double ys[] = {10, 5, 0, 10};
        double x = b.x + b.w * (0.03 * 6 + 2 * i) / (6 * 1.06);
        double y = b.h - (b.h - b.y) * ys[i] / 12;

        assert_true(fabs(value("<circle ", i, "cx") - x) <= 0.11);
        assert_true(fabs(value("<circle ", i, "cy") - y) <= 0.11);
    }
    assert_int_equal(count("<path class=\"error"), 1);
    assert_int_equal(count("<path class=\"line"), 1);
}

static void what_is_no_number_is_left_out(void **state)
{
    static const struct pr_chart_point points[] = {
        {1, 5, 0, 0},        {NAN, 5, 0, 0},       {2, NAN, 0, 0},
        {INFINITY, 1, 0, 0}, {3, -INFINITY, 0, 0}, {4, 6, NAN, 9},
        {5, 6, 1, INFINITY}, {6, 6, 7, 5},
    };
    struct pr_chart_series s = line_of("a", points, 8);
    struct pr_chart c = of(&s, 1);

    (void)state;
    c.threshold = NAN;
    c.threshold_label = "t";
    c.mark = INFINITY;
    c.mark_label = "m";
    draw(&c);
    assert_int_equal(count("<circle "), 4);
    assert_int_equal(count("class=\"error"), 0);
    assert_int_equal(count("class=\"limit\""), 0);
    assert_int_equal(count("class=\"mark\""), 0);
}

static void few_points_are_enough(void **state)
{
    static const struct pr_chart_point one = {7, 0.93, 0.9, 0.95};
    struct pr_chart_series s = line_of("a", &one, 1);
    struct pr_chart c = of(&s, 1);

    (void)state;
    c.y_unit = "share";
    draw(&c);
    assert_int_equal(count("<circle "), 1);
    assert_int_equal(count("class=\"line"), 0);
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
        struct pr_chart_series s[] = {line_of(t, points, 2),
                                      line_of(t, points, 1)};
        struct pr_chart c = {.title = t,
                             .subtitle = t,
                             .x_label = t,
                             .y_label = t,
                             .y_unit = t,
                             .series = s,
                             .series_count = 2,
                             .threshold = 1.5,
                             .threshold_label = t,
                             .mark = 2,
                             .mark_label = t};
        struct pr_err err = {0};

        pr_buf_clear(&image);
        assert_int_equal(pr_chart_draw(&c, &pr_canvas_svg, &image, &err),
                         PR_OK);
        assert_null(strstr(image.data, "<script"));
        assert_null(strstr(image.data, "\xef\xbf\xbf"));
        if (i != 1)
            check_well_formed();
    }
    pr_buf_clear(&image);
    pr_svg_escape(&image, "a<b>&\"c'");
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
        s[i] = line_of("one of many that are all much alike", points, 2);
    draw(&c);
    assert_int_equal(count("alike</text>"), 0);
    c.series_count = 2;
    draw(&c);
    assert_int_equal(count("alike</text>"), 2);
    c.series_count = 30;
    draw(&c);
    assert_int_equal(count("alike</text>"), 8);
    assert_int_equal(count(">and 22 more</text>"), 1);
    /* There is still a chart under it. */
    assert_true(plot_area().h > 400);
}

static void labels_keep_clear_of_each_other(void **state)
{
    static const struct pr_chart_point points[] = {
        {1, 0.95, 0, 0}, {5, 0.93, 0, 0}, {9, 0.6, 0, 0}};
    struct pr_chart_series s = line_of("a", points, 3);
    struct pr_chart c = of(&s, 1);

    (void)state;
    c.y_unit = "share";
    c.threshold = 0.9;
    c.threshold_label = "threshold 90 %";
    c.mark_label = "largest";
    for (int i = 1; i <= 9; i++) {
        double x, y, x2, y2;
        struct pr_box b;

        c.mark = i;
        draw(&c);
        b = plot_area();
        assert_int_equal(count("class=\"ring\""), i == 1 || i == 5 || i == 9);
        x = value("<text class=\"text bold halo\"", 0, "x");
        y = value("<text class=\"text bold halo\"", 0, "y");
        x2 = value("<text class=\"limit-text halo\"", 0, "x");
        y2 = value("<text class=\"limit-text halo\"", 0, "y");
        assert_true(fabs(y - y2) >= 16 || fabs(x - x2) >= 50);
        assert_true(x >= b.x && x <= b.x + b.w);
        assert_true(x2 >= b.x && x2 <= b.x + b.w);
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
            struct pr_chart_series s = line_of("a", points, 2);
            struct pr_chart c = of(&s, 1);

            c.y_unit = (i + j) % 2 ? "share" : NULL;
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
    struct pr_chart_series s = line_of("a", points, 1000);
    struct pr_chart c = of(&s, 1);

    (void)state;
    for (int i = 0; i < 1000; i++)
        points[i] = (struct pr_chart_point){i + 1, sin(i / 100.0), 0, 0};
    draw(&c);
    /* A few tell it from others. */
    assert_true(count("<circle ") > 4 && count("<circle ") < 12);
    assert_true(image.len < 40000);
    s.style = PR_CHART_CURVE;
    draw(&c);
    assert_int_equal(count("<circle "), 0);
    s.style = PR_CHART_POINTS;
    draw(&c);
    assert_int_equal(count("<circle "), 1000);
}

/* Spots of the first line. */
static size_t read_line(struct pr_spot *out, size_t room)
{
    const char *p = strstr(image.data, "<path class=\"line");
    size_t n = 0;

    assert_non_null(p);
    for (p = strstr(p, " d=\"") + 4; *p != '"' && n < room; n++) {
        char *end;

        out[n].x = strtod(p + 1, &end);
        out[n].y = strtod(end, &end);
        p = end;
    }
    return n;
}

static void many_points_keep_their_extremes(void **state)
{
    enum { MANY = 100000 };
    static struct pr_chart_point points[MANY];
    static struct pr_spot spots[MANY];
    struct pr_chart_series s = line_of("a", points, MANY);
    struct pr_chart c = of(&s, 1);
    double most = INFINITY, least = -INFINITY;
    struct pr_box b;
    size_t n;

    (void)state;
    for (int i = 0; i < MANY; i++)
        points[i] = (struct pr_chart_point){i, (i * 7919) % 100, 0, 0};
    points[31415].y = 1000; /* one of each that is alone */
    points[70001].y = -1000;
    draw(&c);
    b = plot_area();
    n = read_line(spots, MANY);
    assert_true(n > b.w && n < 5 * b.w);
    for (size_t i = 0; i < n; i++) {
        assert_true(!i || spots[i].x >= spots[i - 1].x);
        most = fmin(most, spots[i].y);
        least = fmax(least, spots[i].y);
    }
    /* -1000 to 1000 is all of the axis. */
    assert_true(fabs(most - b.y) < 0.2 && fabs(least - b.h) < 0.2);
    assert_true(fabs(spots[0].x - b.x) < 0.2);
}

/* ---- bars and boxes */

static const char *const three[] = {"one", "two", "three"};

static void bars_stand_side_by_side(void **state)
{
    static const struct pr_chart_point up[] = {
        {0, 4, 3, 5}, {1, -2, 0, 0}, {2, 8, 0, 0}};
    struct pr_chart_series s[2] = {line_of("a", up, 3), line_of("b", up, 3)};
    struct pr_chart c = of(s, 2);
    struct pr_box b;
    double zero;

    (void)state;
    s[0].style = s[1].style = PR_CHART_BARS;
    c.x_names = three;
    c.x_name_count = 3;
    draw(&c);
    b = plot_area();
    b.y = 82; /* there is a legend */
    assert_int_equal(count("<rect class=\"bar d0\""), 4);
    assert_int_equal(count("<rect class=\"bar d1\""), 4);
    assert_int_equal(count("class=\"whisker\""), 2);
    /* Only the second has hatches: in three bars and in the legend. */
    assert_int_equal(count("class=\"hatch\""), 4);
    for (int i = 0; i < 3; i++) {
        double x = value("<rect class=\"bar d0\"", i + 1, "x");
        double w = value("<rect class=\"bar d0\"", i + 1, "width");
        double middle = b.x + b.w * (i + 0.5) / 3;

        assert_true(x > b.x + b.w * i / 3 && x + w <= middle + 0.1);
        x = value("<rect class=\"bar d1\"", i + 1, "x");
        assert_true(x >= middle - 0.1 && x + w < b.x + b.w * (i + 1) / 3);
    }
    /* y goes from -2 to 8. */
    zero = b.y + (b.h - b.y) * 0.8;
    assert_true(fabs(value("<rect class=\"bar d0\"", 2, "y") - zero) < 0.2);
    assert_true(fabs(value("<rect class=\"bar d0\"", 3, "y") - b.y) < 0.2);
    assert_true(fabs(value("<rect class=\"bar d0\"", 3, "height") -
                     (zero - b.y)) < 0.2);
}

static void boxes_show_quartiles(void **state)
{
    static const double far[] = {19, NAN};
    static const struct pr_chart_spread spreads[] = {
        {0, 2, 5, 8, 10, 15, 8.5, far, 2}, {2, 0, 0, 0, 0, 0, 0, NULL, 0}};
    struct pr_chart_series s = {
        .name = "a", .count = 2, .style = PR_CHART_BOXES, .spreads = spreads};
    struct pr_chart c = of(&s, 1);
    struct pr_box b;
    double at;

    (void)state;
    c.x_names = three;
    c.x_name_count = 3;
    draw(&c);
    b = plot_area();
    assert_int_equal(count("<rect class=\"bar l0 hollow\""), 2);
    /* Two whiskers a box, each with its cap; one value is far away. */
    assert_int_equal(count("class=\"error l0\""), 8);
    assert_int_equal(count("<circle class=\"dot l0 hollow\""), 1);
    /* y goes from 0 to 20. */
    at = b.h - (b.h - b.y) / 2;
    assert_true(fabs(value("<rect class=\"bar l0", 0, "y") - at) < 0.2);
    at = (b.h - b.y) / 4;
    assert_true(fabs(value("<rect class=\"bar l0", 0, "height") - at) < 0.2);
    at = b.h - (b.h - b.y) * 19 / 20;
    assert_true(fabs(value("<circle class=\"dot l0 hollow\"", 0, "cy") - at) <
                0.2);
}

static void long_names_are_turned_and_cut(void **state)
{
    static const char *names[200];
    static struct pr_chart_point points[200];
    struct pr_chart_series s = line_of("a", points, 200);
    struct pr_chart c = of(&s, 1);

    (void)state;
    for (int i = 0; i < 200; i++) {
        names[i] = "a name that is much longer than there is room for it";
        points[i] = (struct pr_chart_point){i, 1, 0, 0};
    }
    s.style = PR_CHART_BARS;
    c.x_names = names;
    c.x_name_count = s.count = 3;
    draw(&c);
    assert_int_equal(count("rotate(-35 "), 3);
    assert_int_equal(count("a name that is"), 3);
    assert_int_equal(count("there is room for it<"), 0);
    /* Of many, as many as there is room for. */
    c.x_name_count = s.count = 200;
    draw(&c);
    assert_true(count("rotate(-35 ") >= 10 && count("rotate(-35 ") <= 40);
    c.x_names = three;
    c.x_name_count = s.count = 3;
    draw(&c);
    assert_int_equal(count("rotate(-35 "), 0);
    assert_int_equal(count(">three</text>"), 1);
}

static void a_logarithmic_y_has_no_zero(void **state)
{
    static const struct pr_chart_point points[] = {
        {1, 0.1, -5, 0.2}, {2, 0, 0, 0}, {3, -4, 0, 0}, {4, 1000, 0, 0}};
    struct pr_chart_series s = line_of("a", points, 4);
    struct pr_chart c = of(&s, 1);
    double low, high;

    (void)state;
    c.y_scale = PR_SCALE_LOG;
    c.threshold = 0;
    c.threshold_label = "never";
    draw(&c);
    assert_int_equal(count("<circle "), 2);
    assert_int_equal(count("never"), 0);
    low = value("<circle ", 0, "cy");
    high = value("<circle ", 1, "cy");
    /* Four decades apart, and ticks at them. */
    assert_true(low - high > 300);
    assert_int_equal(count(">0.1</text>") + count(">1000</text>"), 2);
    s.count = 0;
    draw(&c);
    assert_int_equal(count("no data"), 1);
}

static int draw_tortured(void)
{
    static const struct pr_chart_point points[] = {{1, 1, 0, 2}, {2, 2, 0, 0}};
    struct pr_chart_series s[] = {line_of("one", points, 2),
                                  line_of("two", points, 2)};
    struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_chart c = of(s, 2);
    struct pr_err err = {0};
    int rc;

    c.mark_label = c.threshold_label = "label";
    rc = pr_chart_draw(&c, &pr_canvas_svg, &out, &err);
    pr_buf_free(&out);
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
    pr_buf_free(&image);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_two_are_equally_far_apart),
        cmocka_unit_test(ticks_of_x_are_round),
        cmocka_unit_test(ticks_of_y_are_round),
        cmocka_unit_test(ticks_stand_at_points_when_they_fit),
        cmocka_unit_test(x_is_logarithmic_where_points_call_for_it),
        cmocka_unit_test(points_are_where_the_axes_say),
        cmocka_unit_test(what_is_no_number_is_left_out),
        cmocka_unit_test(few_points_are_enough),
        cmocka_unit_test(text_is_made_harmless),
        cmocka_unit_test(text_is_cut_to_its_place),
        cmocka_unit_test(a_legend_names_several_series),
        cmocka_unit_test(labels_keep_clear_of_each_other),
        cmocka_unit_test(any_numbers_will_do),
        cmocka_unit_test(a_thousand_points_are_a_line),
        cmocka_unit_test(many_points_keep_their_extremes),
        cmocka_unit_test(bars_stand_side_by_side),
        cmocka_unit_test(boxes_show_quartiles),
        cmocka_unit_test(long_names_are_turned_and_cut),
        cmocka_unit_test(a_logarithmic_y_has_no_zero),
        cmocka_unit_test(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, forget_image);
}
