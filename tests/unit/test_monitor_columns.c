/* Columns of the monitor: numbers as text, lines, sums. */
#include "monitor_tool.h"

static struct pr_monitor_columns columns;
static struct pr_monitor_sample look = {.columns = &columns};

static int setup(void **state)
{
    (void)state;
    return pr_monitor_columns_init(&columns) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    pr_monitor_columns_close(&columns);
    return 0;
}

static int column(const char *name, enum pr_monitor_column_sum sum,
                  unsigned decimals, unsigned flags)
{
    struct pr_monitor_column c = {name, "W", sum, decimals, flags, NULL};

    return pr_monitor_sample_column(&look, &c);
}

static void numbers_are_short(void **state)
{
    static const struct {
        double value;
        unsigned decimals;
        const char *want;
    } rows[] = {
        {0, 0, "0"},
        {0, 4, "0"},
        {1, 4, "1"},
        {0.5, 4, "0.5"},
        {0.05, 4, "0.05"},
        {0.00004, 4, "0"},
        {0.00005, 4, "0.0001"},
        {0.9999, 4, "0.9999"},
        {12.345, 2, "12.35"},
        {100, 2, "100"},
        {-1.5, 1, "-1.5"},
        {-0.04, 1, "0"},
        {1e15, 0, "1000000000000000"},
        {10.1, 6, "10.1"},
        {1e30, 0, "9223372036854775807"},
        {-20, 0, "-20"},
    };
    char text[32];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n =
            pr_monitor_column_text(text, rows[i].value, rows[i].decimals);

        assert_string_equal(text, rows[i].want);
        assert_int_equal(n, strlen(text));
    }
}

static void names_are_kept_and_checked(void **state)
{
    int a = column("a", PR_SUM_NONE, 0, 0);

    (void)state;
    assert_int_equal(column("b", PR_SUM_NONE, 0, 0), a + 1);
    assert_int_equal(column("a", PR_SUM_NONE, 0, 0), a);
    assert_int_equal(column("say \"x\"", PR_SUM_NONE, 0, 0), -1);
    assert_int_equal(column("a\\b", PR_SUM_NONE, 0, 0), -1);
    assert_int_equal(column("\303\244", PR_SUM_NONE, 0, 0), -1);
    pr_monitor_sample_set(&look, -1, 1); /* does nothing */
    for (int i = 0; i < PR_MONITOR_COLUMNS_MAX; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%d", i);
        column(name, PR_SUM_NONE, 0, 0);
    }
    assert_int_equal(columns.n, PR_MONITOR_COLUMNS_MAX);
    assert_int_equal(column("one more", PR_SUM_NONE, 0, 0), -1);
}

static void assert_line(const char *want)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);

    pr_monitor_columns_write_line(&columns, &out);
    assert_string_equal(out.len ? out.data : "", want);
}

static size_t announced(const char *want)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    size_t n = pr_monitor_columns_announce(&columns, &out);

    assert_string_equal(out.len ? out.data : "", want);
    return n;
}

static void a_line_has_what_changed(void **state)
{
    int a = column("a", PR_SUM_NONE, 1, 0), b = column("b", PR_SUM_NONE, 0, 0);

    (void)state;
    assert_int_equal(announced(""), 0);
    pr_monitor_sample_set(&look, a, 1.23);
    assert_int_equal(announced("\"a\":\"W\""), 1);
    assert_line(",\"a\":1.2");
    pr_monitor_sample_set(&look, a,
                          1.24); /* the same, as far as it is written */
    pr_monitor_sample_set(&look, b, 7);
    assert_int_equal(announced("\"b\":\"W\""), 1);
    assert_line(",\"b\":7");
    pr_monitor_columns_begin_source(&columns,
                                    0); /* looked at, and nothing found */
    assert_line(",\"a\":null,\"b\":null");
    assert_line("");
    pr_monitor_sample_set(&look, a, 1.2);
    pr_monitor_sample_set(&look, b, NAN);
    assert_line(",\"a\":1.2");
    pr_monitor_columns_clear(&columns);
    assert_line("");
}

static void take(double dt, bool extreme)
{
    struct pr_monitor_source_sampled looked = {true, dt, extreme};

    pr_monitor_columns_add(&columns, &looked);
}

static void assert_sum(const char *want)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &out, 0);
    pr_json_open_object(&jb, NULL);
    pr_monitor_columns_write_sums(&columns, &jb);
    pr_json_close(&jb);
    assert_string_equal(out.data, want);
}

static void means_are_over_time(void **state)
{
    int mean = column("m", PR_SUM_MEAN, 2, 0);
    int low = column("l", PR_SUM_LOW, 0, 0);

    (void)state;
    column("never", PR_SUM_MEAN, 2, 0);
    pr_monitor_sample_set(&look, column("none", PR_SUM_NONE, 0, 0), 3);
    pr_monitor_sample_set(&look, mean, 100);
    take(0, false); /* the first look: not part of any time */
    pr_monitor_sample_set(&look, mean, 1);
    pr_monitor_sample_set(&look, low, 5);
    take(3, true);
    pr_monitor_sample_set(&look, mean, 5);
    pr_monitor_sample_set(&look, low, 9);
    take(1, true);
    pr_monitor_columns_begin_source(&columns, 0);
    take(100, true); /* not known in this time */
    pr_monitor_sample_set(&look, mean, 900);
    pr_monitor_sample_set(&look, low, 1);
    take(0.01, false); /* too short for an extreme */
    assert_sum("{\"m\": {\"mean\": 4.24, \"max\": 5}, "
               "\"l\": {\"mean\": 6, \"min\": 5}}");
}

static void one_look_is_a_mean_too(void **state)
{
    (void)state;
    pr_monitor_sample_set(&look, column("m", PR_SUM_MEAN, 2, 0), 41.5);
    pr_monitor_sample_set(&look, column("r", PR_SUM_RATE, 2, 0), 1);
    take(0, false);
    assert_sum("{\"m\": {\"mean\": 41.5, \"max\": 41.5}}");
    pr_monitor_columns_clear(&columns);
    assert_sum("{}");
}

static void joules_are_added_up(void **state)
{
    int a = column("a_w", PR_SUM_RATE, 1, PR_MONITOR_COLUMN_ENERGY);
    int b = column("b_w", PR_SUM_RATE, 1, PR_MONITOR_COLUMN_ENERGY);
    int c = column("c_w", PR_SUM_RATE, 1, 0);

    (void)state;
    pr_monitor_sample_set(&look, a, 10);
    pr_monitor_sample_set_rate(&look, b, 20,
                               41.5); /* counted by the device itself */
    pr_monitor_sample_set(&look, c, 1000);
    take(2, true);
    assert_sum("{\"a_w\": {\"mean\": 10, \"max\": 10, \"total\": 20}, "
               "\"b_w\": {\"mean\": 20, \"max\": 20, \"total\": 41.5}, "
               "\"c_w\": {\"mean\": 1000, \"max\": 1000, \"total\": 2000}, "
               "\"energy_j\": 61.5}");
}

static void in_words(uint64_t bits, char out[static 160])
{
    snprintf(out, 160, "bits %llu", (unsigned long long)bits);
}

static void bits_are_gathered(void **state)
{
    struct pr_monitor_column c = {"t", "", PR_SUM_BITS, 0, 0, in_words};
    int t = pr_monitor_sample_column(&look, &c);

    (void)state;
    pr_monitor_sample_set(&look, t, 0);
    take(3, true);
    assert_sum("{\"t\": {\"share\": 0, \"bits\": 0}}");
    pr_monitor_sample_set(&look, t, 4);
    take(0.5, true);
    pr_monitor_sample_set(&look, t, 1);
    take(0.5, true);
    assert_sum("{\"t\": {\"share\": 0.25, \"bits\": 5, \"words\": "
               "\"bits 5\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test_setup_teardown(names_are_kept_and_checked, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_line_has_what_changed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(means_are_over_time, setup, teardown),
        cmocka_unit_test_setup_teardown(one_look_is_a_mean_too, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(joules_are_added_up, setup, teardown),
        cmocka_unit_test_setup_teardown(bits_are_gathered, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
