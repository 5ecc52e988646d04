/* Series of numbers: what is exact, and what is thinned. */
#include "job/series.h"

#include "torture.h"

#include <math.h>

static struct pr_series series(void)
{
    struct pr_series s;

    assert_int_equal(pr_series_init(&s, NULL), PR_OK);
    return s;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(b) + 1);
}

static double quantile(const struct pr_series *s, double p)
{
    double q = -1;

    assert_int_equal(pr_series_quantiles(s, &p, 1, &q, NULL), PR_OK);
    return q;
}

static void figures_are_those_of_numpy(void **state)
{
    static const double values[] = {4, 1, 3, 10};
    struct pr_series s = series();

    (void)state;
    for (size_t i = 0; i < 4; i++)
        pr_series_add(&s, values[i]);
    assert_int_equal(s.count, 4);
    assert_true(near(s.mean, 4.5));
    assert_true(near(pr_series_std(&s), 3.3541019662496847));
    assert_true(near(s.min, 1) && near(s.max, 10) && near(s.last, 10));
    assert_true(near(quantile(&s, 0), 1));
    assert_true(near(quantile(&s, 0.5), 3.5));
    assert_true(near(quantile(&s, 0.9), 8.2));
    assert_true(near(quantile(&s, 1), 10));
    pr_series_free(&s);
}

static void an_empty_one_is_all_zero(void **state)
{
    struct pr_series s = series();

    (void)state;
    assert_true(near(quantile(&s, 0.5), 0));
    assert_true(near(pr_series_std(&s), 0));
    pr_series_free(&s);
}

static void a_single_value_is_every_figure(void **state)
{
    struct pr_series s = series();

    (void)state;
    pr_series_add(&s, -7);
    assert_true(near(s.min, -7) && near(s.max, -7));
    assert_true(near(quantile(&s, 0.99), -7));
    assert_true(near(pr_series_std(&s), 0));
    pr_series_free(&s);
}

/* What is kept is evenly spread, from the first value on. */
static void a_long_one_is_thinned_evenly(void **state)
{
    static const uint64_t counts[] = {
        1,     PR_SERIES_KEPT - 1,     PR_SERIES_KEPT,     PR_SERIES_KEPT + 1,
        20000, 2 * PR_SERIES_KEPT + 1, 4 * PR_SERIES_KEPT, 123456};

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        struct pr_series s = series();

        for (uint64_t i = 0; i < counts[c]; i++)
            pr_series_add(&s, (double)i);
        assert_true(s.kept_count <= PR_SERIES_KEPT);
        assert_int_equal(s.kept_count, (counts[c] + s.stride - 1) / s.stride);
        for (size_t i = 0; i < s.kept_count; i++)
            assert_true(near(s.kept[i], (double)(i * s.stride)));
        assert_true(s.stride == 1 || s.kept_count > PR_SERIES_KEPT / 2 - 1);
        assert_true(near(s.mean, (double)(counts[c] - 1) / 2));
        assert_true(near(s.max, (double)(counts[c] - 1)));
        pr_series_free(&s);
    }
}

static void a_list_is_json(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    struct pr_series s = series();
    struct pr_result_lines k;

    (void)state;
    pr_series_add(&s, 1.5);
    pr_series_add(&s, 2);
    pr_result_lines_init(&k, &out);
    pr_series_put(&s, &k, "them");
    assert_string_equal(out.data, "__results.them__= [1.5, 2.0]\n");
    pr_series_free(&s);
}

static int attempt(void)
{
    static const double p[] = {0.5};
    struct pr_series s;
    double q;
    int rc = pr_series_init(&s, NULL);

    if (!rc)
        rc = pr_series_quantiles(&s, p, 1, &q, NULL);
    pr_series_free(&s);
    return rc;
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(attempt);
}

/* One slow batch makes a mean that is above nearly all of them. */
static void an_outlier_is_named(void **state)
{
    const struct pr_series_summary usual = {10, 9, 20, 30};
    const struct pr_series_summary odd = {12, 2, 3, 5000};
    char text[PR_SERIES_TEXT];

    (void)state;
    assert_string_equal(pr_series_text(&usual, text), "10 ms, p99 20 ms");
    assert_string_equal(pr_series_text(&odd, text),
                        "12 ms, median 2.0 ms, the slowest 5.0 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_outlier_is_named),
        cmocka_unit_test(figures_are_those_of_numpy),
        cmocka_unit_test(an_empty_one_is_all_zero),
        cmocka_unit_test(a_single_value_is_every_figure),
        cmocka_unit_test(a_long_one_is_thinned_evenly),
        cmocka_unit_test(a_list_is_json),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
