/* Series as charts: names, options, spreads, and what stands where. */
#include "base/json/json.h"
#include "present/chart/plot.h"
#include "torture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct pr_arena *arena;
static struct pr_buf image = PR_BUF_INIT(1 << 24);

static struct pr_value json(const char *text)
{
    struct pr_json_in in = {.text = text, .len = strlen(text), .name = "test"};
    struct pr_value v;

    assert_int_equal(pr_json_read(&in, arena, &v, NULL, NULL), PR_OK);
    return v;
}

static double values[] = {4, 6, 5, 30};
static const char *xs[] = {"1", "2", "16"};
static struct pr_plot_data_point points[2][3];

/* Two series over 1, 2 and 16; the second lacks 2. */
static struct pr_plot_data two(const char *first, const char *second)
{
    static struct pr_plot_data_series series[2];

    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) {
            int x = k && i ? 2 : i;

            points[k][i] = (struct pr_plot_data_point){.x = xs[x],
                                                       .x_number = atof(xs[x]),
                                                       .y = 5,
                                                       .low = 4,
                                                       .high = 6 + k,
                                                       .values = values,
                                                       .count = 4};
        }
    series[0] = (struct pr_plot_data_series){json(first), points[0], 3, NULL};
    series[1] = (struct pr_plot_data_series){json(second), points[1], 2, NULL};
    return (struct pr_plot_data){.x = "n",
                                 .y = "t",
                                 .series = series,
                                 .count = 2,
                                 .x_values = xs,
                                 .x_count = 3,
                                 .x_numbers = true};
}

static int count(const char *what)
{
    int n = 0;

    for (const char *p = image.data; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static int draw(const struct pr_plot_data *d, enum pr_plot_kind kind,
                const char *opts, struct pr_err *err)
{
    struct pr_plot_opts o = {.kind = kind,
                             .chart = opts ? json(opts) : pr_null()};

    pr_buf_clear(&image);
    return pr_plot_draw(d, &o, pr_canvas_kind("svg"), &image, err);
}

static void names_tell_series_apart(void **state)
{
    static const char *const rows[][4] = {
        {"{\"exp.fw\": \"a\"}", "{\"exp.fw\": \"b\"}", "a", "b"},
        {"{\"exp.fw\": \"a\", \"x.n\": 1}", "{\"exp.fw\": \"a\", \"x.n\": 2}",
         "n=1", "n=2"},
        {"{\"fw\": \"a\", \"n\": 1}", "{\"fw\": \"b\"}", "a, n=1", "b"},
        {"{\"exp.id\": \"01\", \"t\": 1, \"column\": \"cpu\"}",
         "{\"exp.id\": \"02\", \"t\": 2, \"column\": \"cpu\"}", "t=1", "t=2"},
        {"{\"exp.id\": \"01\", \"column\": \"cpu\"}",
         "{\"exp.id\": \"02\", \"column\": \"mem\"}", "cpu, 01", "mem, 02"},
        {"{\"exp.id\": \"01\", \"column\": \"cpu\"}",
         "{\"exp.id\": \"01\", \"column\": \"mem\"}", "cpu", "mem"},
        {"{}", "{}", "{}", "{}"},
        {"[\"a\"]", "[\"b\", \"c\"]", "[\"a\"]", "[\"b\", \"c\"]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_plot_data d = two(rows[i][0], rows[i][1]);
        const char **names = pr_plot_names(&d, NULL, arena);

        assert_non_null(names);
        assert_string_equal(names[0], rows[i][2]);
        assert_string_equal(names[1], rows[i][3]);
    }
}

static void a_legend_may_be_told(void **state)
{
    struct pr_plot_data d = two("{\"a\": 1}", "{\"a\": 2}");
    struct pr_value legend = json("[\"first\"]");
    const char **names = pr_plot_names(&d, &legend, arena);

    (void)state;
    assert_string_equal(names[0], "first");
    assert_string_equal(names[1], "a=2");
}

static void options_are_checked(void **state)
{
    static const char *const rows[][2] = {
        {"[]", "wants a map"},
        {"{\"titel\": \"x\"}", "unknown option 'titel'"},
        {"{\"title\": 5}", "'title' wants text"},
        {"{\"legend\": \"x\"}", "'legend' wants a list"},
        {"{\"errors\": 1}", "'errors' wants true or false"},
        {"{\"xscale\": \"cubic\"}", "'xscale' is none"},
        {"{\"width\": \"x\"}", "'width' wants a number"},
        {"{\"width\": 1e9}", "'width' is from 200 to 8192"},
        {"{\"height\": NaN}", "'height' is from"},
        {"{\"scale\": 0}", "'scale' is from"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_plot_opts o = {.chart = json(rows[i][0])};
        struct pr_err err = {0};

        assert_int_equal(pr_plot_check(&o, &err), PR_E_USAGE);
        if (!strstr(err.msg, rows[i][1]))
            fail_msg("'%s' lacks '%s'", err.msg, rows[i][1]);
    }
}

static void options_are_heeded(void **state)
{
    struct pr_plot_data d = two("{\"a\": 1}", "{\"a\": 2}");
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(
        draw(&d, PR_PLOT_LINE,
             "{\"title\": \"T\", \"subtitle\": \"S\", \"xlabel\": \"X\", "
             "\"ylabel\": \"Y\", \"legend\": [\"L\", \"M\"], \"yscale\": "
             "\"log\", \"yunit\": \"s\", \"width\": 640, \"height\": 400, "
             "\"errors\": false}",
             &err),
        PR_OK);
    assert_int_equal(count(">T</text>") + count(">S</text>"), 2);
    assert_int_equal(count(">X</text>") + count(">Y</text>"), 2);
    assert_int_equal(count(">L</text>") + count(">M</text>"), 2);
    assert_int_equal(count("width=\"640\" height=\"400\""), 1);
    assert_int_equal(count("<path class=\"error"), 0);
    assert_int_equal(count(">5 s</text>"), 1);
    assert_int_equal(count(">0 s</text>"), 0);
}

static void what_is_not_told_is_found(void **state)
{
    struct pr_plot_data d = two("{\"a\": 1}", "{\"a\": 2}");
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(draw(&d, PR_PLOT_LINE, NULL, &err), PR_OK);
    assert_int_equal(count(">t by n</text>"), 1);
    assert_int_equal(count("95 % confidence"), 1);
    assert_int_equal(count(">n</text>") + count(">t</text>"), 2);
    assert_int_equal(count(">a=1</text>") + count(">a=2</text>"), 2);
    assert_int_equal(count("<path class=\"error"), 2);
    /* Ticks where points are. */
    assert_int_equal(count(">16</text>"), 1);
    assert_int_equal(count("<circle class=\"dot d0\""), 4);
    assert_int_equal(draw(&d, PR_PLOT_POINTS, NULL, &err), PR_OK);
    assert_int_equal(count("<path class=\"line"), 0);
}

static void bars_stand_at_all_x(void **state)
{
    struct pr_plot_data d = two("{\"a\": 1}", "{\"a\": 2}");
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(draw(&d, PR_PLOT_BAR, NULL, &err), PR_OK);
    /* With the legend's. */
    assert_int_equal(count("<rect class=\"bar d0\""), 4);
    assert_int_equal(count("<rect class=\"bar d1\""), 3);
    assert_int_equal(count(">1</text>") + count(">2</text>"), 3);
    /* Text along x makes an axis of names of any chart. */
    d.x_numbers = false;
    assert_int_equal(draw(&d, PR_PLOT_LINE, NULL, &err), PR_OK);
    assert_int_equal(count("<circle class=\"dot d0\""), 4);
}

/* A panel for each unit, as wide in time, with one title and one label of x. */
static void units_have_panels(void **state)
{
    struct pr_plot_data d =
        two("{\"column\": \"cpu\"}", "{\"column\": \"mem.used\"}");
    struct pr_err err = {0};

    (void)state;
    d.series[0].unit = "share";
    d.series[1].unit = "bytes";
    assert_int_equal(draw(&d, PR_PLOT_LINE, NULL, &err), PR_OK);
    assert_int_equal(count("width=\"800\" height=\"500\""), 1);
    assert_int_equal(count(">t by n</text>"), 1);
    assert_int_equal(count(">n</text>"), 1);
    assert_int_equal(count(">cpu</text>") + count(">mem.used</text>"), 2);
    assert_int_equal(count("<g class=\"x-axis\""), 2);
    assert_int_equal(count("<g class=\"y-axis\""), 2);
    assert_int_equal(count(" B</text>") > 1, 1);
    assert_int_equal(count(" %</text>") > 1, 1);
    assert_int_equal(draw(&d, PR_PLOT_SPREAD, "{\"height\": 300}", &err),
                     PR_OK);
    assert_int_equal(count("width=\"800\" height=\"300\""), 1);
}

static void units_are_not_too_many(void **state)
{
    static const char *const units[] = {"a", "b", "c", "d", "e",
                                        "f", "g", "h", "i"};
    struct pr_plot_data d = two("{\"a\": 1}", "{\"a\": 2}");
    struct pr_plot_data_series many[9];
    struct pr_err err = {0};

    (void)state;
    for (size_t i = 0; i < 9; i++) {
        many[i] = d.series[0];
        many[i].unit = units[i];
    }
    d.series = many;
    d.count = 8;
    assert_int_equal(draw(&d, PR_PLOT_LINE, NULL, &err), PR_OK);
    d.count = 9;
    assert_int_equal(draw(&d, PR_PLOT_LINE, NULL, &err), PR_E_CONF);
    assert_true(*err.hint);
}

static void boxes_are_of_an_x_or_of_a_series(void **state)
{
    struct pr_plot_data d = two("{\"a\": 1}", "{\"a\": 2}");
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(draw(&d, PR_PLOT_BOX, NULL, &err), PR_OK);
    assert_int_equal(count("<rect class=\"bar l0 hollow\""), 4);
    assert_int_equal(count("<rect class=\"bar l1 hollow\""), 3);
    assert_int_equal(draw(&d, PR_PLOT_SPREAD, NULL, &err), PR_OK);
    assert_int_equal(count("<rect class=\"bar l0 hollow\""), 2);
    assert_int_equal(count(">a=1</text>") + count(">a=2</text>"), 2);
}

static void a_baseline_is_a_line(void **state)
{
    struct pr_plot_data d = two("{\"a\": 1}", "{\"a\": 2}");
    struct pr_plot_opts o = {.relative = true};
    struct pr_err err = {0};

    (void)state;
    pr_buf_clear(&image);
    assert_int_equal(pr_plot_draw(&d, &o, pr_canvas_kind("svg"), &image, &err),
                     PR_OK);
    assert_int_equal(count("class=\"limit\""), 1);
    d.warning = "not divided";
    pr_buf_clear(&image);
    assert_int_equal(pr_plot_draw(&d, &o, pr_canvas_kind("svg"), &image, &err),
                     PR_OK);
    assert_int_equal(count("class=\"limit\""), 0);
}

static void spreads_are_quartiles(void **state)
{
    double one[] = {7}, some[] = {9, 1, 2, 3, 4, 5, 6, 100, -90};
    struct pr_chart_spread s = pr_plot_spread(one, 1);

    (void)state;
    assert_true(s.low == 7 && s.q1 == 7 && s.median == 7 && s.q3 == 7 &&
                s.high == 7 && s.mean == 7 && s.far_count == 0);
    /* By numpy.percentile. */
    s = pr_plot_spread(some, 9);
    assert_true(s.q1 == 2 && s.median == 4 && s.q3 == 6);
    assert_true(s.low == 1 && s.high == 9);
    assert_true(fabs(s.mean - 40 / 9.0) < 1e-12);
    assert_int_equal(s.far_count, 2);
    assert_true(s.far[0] == -90 && s.far[1] == 100);
}

static struct pr_plot_data tortured;

static int draw_tortured(void)
{
    struct pr_plot_opts o = {.kind = PR_PLOT_BOX};
    struct pr_buf out = PR_BUF_INIT(1 << 20);
    int rc = pr_plot_draw(&tortured, &o, pr_canvas_kind("svg"), &out, NULL);

    if (!rc) {
        o.kind = PR_PLOT_LINE;
        rc = pr_plot_draw(&tortured, &o, pr_canvas_kind("svg"), &out, NULL);
    }
    pr_buf_free(&out);
    return rc;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    tortured = two("{\"a\": 1}", "{\"a\": 2}");
    torture(draw_tortured);
}

static int start(void **state)
{
    (void)state;
    arena = pr_arena_new(65536);
    return arena ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    pr_arena_free(arena);
    pr_buf_free(&image);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_tell_series_apart),
        cmocka_unit_test(a_legend_may_be_told),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(options_are_heeded),
        cmocka_unit_test(what_is_not_told_is_found),
        cmocka_unit_test(bars_stand_at_all_x),
        cmocka_unit_test(units_have_panels),
        cmocka_unit_test(units_are_not_too_many),
        cmocka_unit_test(boxes_are_of_an_x_or_of_a_series),
        cmocka_unit_test(a_baseline_is_a_line),
        cmocka_unit_test(spreads_are_quartiles),
        cmocka_unit_test(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
