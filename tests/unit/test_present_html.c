/* Pages: text made harmless, small pictures of odd numbers, suites of any
 * size, and no file when memory runs out. The look is for a browser to judge
 * (tests/robust/html_report.py). */
#include "base/file.h"
#include "present/html/html_impl.h"
#include "present/html/html_page.h"

#include "scratch.h"
#include "torture.h"

#include <math.h>
#include <string.h>

/* ---- text */

static void marks_are_escaped(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"},
        {"<script>", "&lt;script&gt;"},
        {"ä€😀", "ä€😀"},
        {"\xef\xbf\xbe", "\xef\xbf\xbd"},          /* U+FFFE */
        {"\xef\xb7\x90x", "\xef\xbf\xbdx"},        /* U+FDD0 */
        {"\xf0\x9f\xbf\xbf<", "\xef\xbf\xbd&lt;"}, /* U+1FFFF */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 16);

        pr_buf_str(&b, "");
        pr_html_escape(&b, rows[i].in, strlen(rows[i].in));
        assert_string_equal(b.data ? b.data : "", rows[i].out);
    }
}

static void begin(struct pr_html *h)
{
    *h = (struct pr_html){.out = PR_BUF_INIT(1 << 24)};
}

static void logs_keep_their_lines(void **state)
{
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } rows[] = {
        {"a\nb\tc", 5, "a\nb\tc"},         {"a\r\nb", 4, "a\nb"},
        {"\x1b[31m<", 6, "\\x1b[31m&lt;"}, {"a\0b", 3, "a\\x00b"},
        {"\xff", 1, "\xef\xbf\xbd"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_html h;

        begin(&h);
        pr_html_log(&h, rows[i].in, rows[i].len);
        assert_string_equal(h.out.data, rows[i].out);
        pr_buf_free(&h.out);
    }
}

static void numbers_are_short(void **state)
{
    static const struct {
        double v;
        const char *text;
    } rows[] = {
        {0, "0"},
        {3.14159, "3.142"},
        {-12.5, "-12.5"},
        {999.94, "999.9"},
        {1234.4, "1\xe2\x80\xaf"
                 "234"},
        {-1234567, "-1\xe2\x80\xaf"
                   "234\xe2\x80\xaf"
                   "567"},
        {1e300, "1e+300"},
        {NAN, "–"},
        {INFINITY, "–"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_html h;

        begin(&h);
        pr_html_number(&h, rows[i].v);
        assert_string_equal(h.out.data, rows[i].text);
        pr_buf_free(&h.out);
    }
}

/* ---- pictures */

/* No number may leave its box, and no "nan" may get into one. */
static void check_points(const char *svg, int wide, int high)
{
    const char *p = svg;

    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf"));
    while ((p = strstr(p, "points=\""))) {
        int x, y, n;

        for (p += 8; sscanf(p, "%d,%d %n", &x, &y, &n) == 2; p += n) {
            assert_in_range(x, 0, wide);
            assert_in_range(y, 0, high);
        }
    }
}

static void curves_of_odd_numbers(void **state)
{
    static const float values[][4] = {
        {1, 2, 3, 4},     {0, 0, 0, 0},        {5, 5, 5, 5},
        {-1, 1, -1, 1},   {NAN, 1, NAN, 2},    {1e30f, -1e30f, 0, 1},
        {INFINITY, 1, 2}, {1e-30f, 2e-30f, 0},
    };
    struct pr_html_curve c[20];

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (size_t count = 1; count <= 20; count += 19) {
            struct pr_html h;

            begin(&h);
            for (size_t k = 0; k < count; k++)
                c[k] = (struct pr_html_curve){
                    .points = values[i], .count = 4, .slices = 4 + k};
            pr_html_curves(&h, c, count, "<label>");
            assert_true(pr_buf_ok(&h.out));
            check_points(h.out.data, 1000, 200);
            assert_non_null(strstr(h.out.data, "&lt;label&gt;"));
            pr_buf_free(&h.out);
        }
}

static void nothing_is_no_curve(void **state)
{
    const float none[] = {NAN, NAN};
    struct pr_html_curve c[2] = {{.points = none, .count = 2}, {0}};
    struct pr_html h;

    (void)state;
    begin(&h);
    pr_html_curves(&h, c, 2, "x");
    pr_html_curves(&h, c, 0, "x");
    pr_html_strip(&h, NULL, 0, "x");
    assert_int_equal(h.out.len, 0);
    pr_buf_free(&h.out);
}

/* Up to eight are lines, more are a band with one line. */
static void many_curves_are_a_band(void **state)
{
    const float v[] = {1, 2, 3};
    struct pr_html_curve c[9];
    struct pr_html h;

    (void)state;
    for (size_t n = 8; n <= 9; n++) {
        size_t lines = 0;

        begin(&h);
        for (size_t k = 0; k < n; k++)
            c[k] = (struct pr_html_curve){.points = v, .count = 3};
        pr_html_curves(&h, c, n, "x");
        for (const char *p = h.out.data; (p = strstr(p, "<polyline")); p++)
            lines++;
        assert_int_equal(lines, n == 8 ? 8 : 1);
        assert_true(!strstr(h.out.data, "class=\"band\"") == (n == 8));
        pr_buf_free(&h.out);
    }
}

static void strips_of_odd_numbers(void **state)
{
    static const double values[][4] = {
        {1, 2, 3, 4}, {7, 7, 7, 7}, {0, 0, 0, 0}, {-5, 1e300, 2, 3}};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (size_t n = 1; n <= 4; n++) {
            double copy[4];
            struct pr_html h;

            begin(&h);
            memcpy(copy, values[i], sizeof copy);
            pr_html_strip(&h, copy, n, "x");
            check_points(h.out.data, 1000, 60);
            assert_non_null(strstr(h.out.data, "<path class=\"dots\""));
            pr_buf_free(&h.out);
        }
}

/* ---- pages */

enum { RUNS = 3 };

struct made {
    struct pr_suite suite;
    struct pr_suite_report report;
};

/* Tests with RUNS runs on as many devices, the last of which failed. */
static void make(struct made *m, size_t tests, struct pr_arena *a)
{
    static const float curve[] = {1, 2, 3, 2.5f};
    struct pr_suite_test *t = PR_ARENA_ARRAY(a, struct pr_suite_test, tests);
    struct pr_suite_row *rows = PR_ARENA_ARRAY(a, struct pr_suite_row, tests);

    for (size_t i = 0; i < tests; i++) {
        struct pr_suite_device *d =
            PR_ARENA_ARRAY(a, struct pr_suite_device, RUNS);

        t[i].name = pr_arena_printf(a, "test <%zu>", i);
        t[i].n = RUNS;
        t[i].failures = 1;
        t[i].runs = PR_ARENA_ARRAY(a, struct pr_suite_child *, RUNS);
        t[i].run_count = RUNS;
        t[i].devices = d;
        t[i].device_count = RUNS;
        for (size_t k = 0; k < RUNS; k++) {
            struct pr_suite_child *r = PR_ARENA_NEW(a, struct pr_suite_child);
            struct pr_suite_rate *rate = PR_ARENA_NEW(a, struct pr_suite_rate);

            *rate = (struct pr_suite_rate){100 + (double)k, 1, 4, 4};
            *r = (struct pr_suite_child){.path = "p",
                                         .job_id = "0.0",
                                         .good = k + 1 < RUNS,
                                         .error = "x\n<y>",
                                         .rates = rate,
                                         .rate_count = 1,
                                         .curve = curve,
                                         .curve_len = 4};
            d[k].id = pr_arena_printf(a, "%zu", k);
            d[k].stats.mean = 100 + (double)k;
            t[i].runs[k] = r;
        }
        rows[i] = (struct pr_suite_row){.name = t[i].name,
                                        .test = &t[i],
                                        .n = RUNS,
                                        .fail = 1,
                                        .perf = 100,
                                        .weight = NAN};
    }
    m->suite = (struct pr_suite){
        .path = "x", .kind = PR_SUITE_RESULTS, .tests = t, .count = tests};
    m->report = (struct pr_suite_report){.suite = &m->suite,
                                         .title = "<t>",
                                         .rows = rows,
                                         .count = tests,
                                         .price = NAN};
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;

    while ((text = strstr(text, what))) {
        n++;
        text++;
    }
    return n;
}

/* However many tests there are: all in the table, some drawn, and it says
 * which. */
static void large_suites_are_cut(void **state)
{
    const struct pr_html_about about = {.version = "1"};
    struct pr_arena *a = pr_arena_new(1 << 16);
    struct made m;
    const char *text;
    size_t len;

    (void)state;
    make(&m, 1000, a);
    assert_int_equal(pr_html_suite(&m.report, &about, "x.html", NULL), PR_OK);
    assert_int_equal(pr_file_read("x.html", 1 << 26, a, &text, &len, NULL),
                     PR_OK);
    assert_int_equal(count_of(text, "<article"), PR_HTML_CARDS);
    assert_non_null(strstr(text, "800 more are in the table above"));
    assert_int_equal(count_of(text, "<details open"), PR_HTML_FAILURES);
    assert_non_null(strstr(text, "100 of 1000 failures are shown"));
    assert_true(count_of(text, "test &lt;999&gt;") >= 1);
    assert_int_equal(count_of(text, "<y>"), 0);
    pr_arena_free(a);
}

static int attempt(void)
{
    static const struct pr_html_about about = {.version = "1"};
    static struct made m;
    static struct pr_arena *a;
    int rc;

    if (!a) {
        long nothing = -1;

        /* What is shown is made once, outside of what may fail. */
        pr_mem_fail_after(nothing);
        a = pr_arena_new(1 << 16);
        make(&m, 2, a);
        pr_mem_fail_after(0);
    }
    (void)remove("y.html");
    rc = pr_html_suite(&m.report, &about, "y.html", NULL);
    assert_int_equal(access("y.html", F_OK) == 0, rc == PR_OK);
    if (rc == PR_OK) {
        pr_arena_free(a);
        a = NULL;
    }
    return rc;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    torture(attempt);
    assert_int_equal(files_in("."), 1); /* and nothing half-made */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_escaped),
        cmocka_unit_test(logs_keep_their_lines),
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(curves_of_odd_numbers),
        cmocka_unit_test(nothing_is_no_curve),
        cmocka_unit_test(many_curves_are_a_band),
        cmocka_unit_test(strips_of_odd_numbers),
        cmocka_unit_test_setup_teardown(large_suites_are_cut, enter, leave),
        cmocka_unit_test_setup_teardown(memory_may_run_out, enter, leave),
    };

    return cmocka_run_group_tests_name("present/html", tests, NULL, NULL);
}
