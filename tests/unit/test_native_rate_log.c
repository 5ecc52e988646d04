/* When measuring stops, and what is written about it. */
#include "native/rate_log.h"

#include "base/json/json.h"
#include "torture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MS = 1000000 };

static struct pr_rate_log made(double steady, double min_s, double max_s)
{
    struct pr_nn_opts nn = {.sample_duration = 0.5,
                            .steady = steady,
                            .min_time = min_s,
                            .max_time = max_s};
    struct pr_rate_log l;

    assert_int_equal(pr_rate_log_init(&l, &nn, NULL), PR_OK);
    return l;
}

/* Iterations of 100 ms, 1 ms apart, of so many items each, or a few more.
 * Returns after how many it stops; 0: not within a thousand. */
static unsigned run(struct pr_rate_log *l, uint64_t items, uint64_t swing)
{
    uint64_t now = 1;

    for (unsigned i = 1; i <= 1000; i++) {
        uint64_t more = swing ? (i * 7919) % swing : 0;

        if (pr_rate_log_add(l, now, now + 100 * (uint64_t)MS, items + more))
            return i;
        now += 101 * (uint64_t)MS;
    }
    return 0;
}

static void a_steady_rate_ends_it(void **state)
{
    struct pr_rate_log l = made(0.02, 5, 0);

    (void)state;
    assert_in_range(run(&l, 100, 3), 50, 55); /* after five seconds */
    assert_true(l.is_steady);
    pr_rate_log_free(&l);
    l = made(0.02, 20, 0);
    assert_in_range(run(&l, 100, 3), 200, 210);
    pr_rate_log_free(&l);
}

static void what_swings_goes_on(void **state)
{
    struct pr_rate_log quick = made(0.02, 5, 90), slow = made(0.02, 5, 90);

    (void)state;
    (void)run(&quick, 100, 3);
    assert_true(run(&slow, 100, 100) > 55);
    pr_rate_log_free(&quick);
    pr_rate_log_free(&slow);
}

static void time_ends_it(void **state)
{
    struct pr_rate_log l = made(0, 5, 7);

    (void)state;
    assert_in_range(run(&l, 100, 0), 70, 71);
    assert_false(l.is_steady);
    assert_float_equal(pr_rate_log_time_share(&l), 1, 1e-9);
    pr_rate_log_free(&l);
    l = made(0.5, 1000, 0); /* never steady: a minute */
    assert_in_range(run(&l, 100, 0), 600, 601);
    pr_rate_log_free(&l);
    l = made(0, 5, 0);
    assert_int_equal(run(&l, 100, 0), 0);
    assert_float_equal(pr_rate_log_time_share(&l), -1, 0);
    pr_rate_log_free(&l);
}

/* Ten slices of one iteration are one value, ten times. */
static void few_iterations_are_not_steady(void **state)
{
    struct pr_rate_log l = made(0.1, 1, 100);

    (void)state;
    for (uint64_t i = 0; i < 9; i++)
        assert_false(pr_rate_log_add(&l, 1 + i * 5000 * MS,
                                     1 + (i + 1) * 5000 * MS, 10));
    assert_true(pr_rate_log_add(&l, 1 + 9u * 5000 * (uint64_t)MS,
                                1 + 10u * 5000 * (uint64_t)MS, 10));
    pr_rate_log_free(&l);
}

static struct pr_value read_line(const char *line, const char *name,
                                 struct pr_arena *a)
{
    char head[64];
    const char *at;
    struct pr_json_in in = {.name = "line"};
    struct pr_value v;

    snprintf(head, sizeof head, "__results.%s__= ", name);
    at = strstr(line, head);
    assert_non_null(at);
    in.text = at + strlen(head);
    in.len = strcspn(in.text, "\n");
    assert_int_equal(pr_json_read(&in, a, &v, NULL, NULL), PR_OK);
    return v;
}

static double number(const struct pr_value *map, const char *key)
{
    const struct pr_value *v = pr_get(map, key);

    assert_non_null(v);
    return pr_value_number(v);
}

static void a_timing_is_milaruns(void **state)
{
    static const char *const keys[] = {
        "type",     "start",           "end",   "wall_time", "time",
        "overhead", "sample_duration", "rates", "metrics"};
    static const char *const names[] = {"loss", "other"};
    static const double values[] = {0.25, NAN};
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_rate_log l = made(0, 5, 1.05);
    struct pr_result_lines k;
    struct pr_rate_log_timing t;
    struct pr_value v;

    (void)state;
    assert_int_equal(run(&l, 100, 0), 11);
    pr_rate_log_end(&l);
    t = pr_rate_log_get_timing(&l);
    t.metrics = names;
    t.values = values;
    t.metric_count = 2;
    pr_result_lines_init(&k, &out);
    pr_rate_log_put_timing(&t, &k, "train_1");
    assert_int_equal(pr_rate_log_put_steady(&l, &k, NULL), PR_OK);
    v = read_line(out.data, "timings.train_1", a);
    assert_int_equal(v.len, 9);
    for (uint32_t i = 0; i < 9; i++)
        assert_string_equal(v.members[i].key, keys[i]);
    assert_int_equal(strlen(pr_get(&v, "start")->s), 26);
    assert_float_equal(number(&v, "wall_time"), 1.11, 1e-9);
    assert_float_equal(number(&v, "time"), 1.1, 1e-9);
    assert_float_equal(number(&v, "overhead"), 0.01, 1e-9);
    assert_int_equal(pr_get(&v, "rates")->len, 3);
    assert_float_equal(pr_value_number(&pr_get(&v, "rates")->items[2]), 1000,
                       1e-6);
    assert_float_equal(number(pr_get(&v, "metrics"), "loss"), 0.25, 0);
    assert_int_equal(pr_get(pr_get(&v, "metrics"), "other")->kind, PR_NULL);
    v = read_line(out.data, "steady_rate", a);
    assert_float_equal(pr_value_number(&v), 1000, 1e-6);
    pr_rate_log_free(&l);
}

/* Nothing was measured: nothing is said. */
static void nothing_is_said_of_nothing(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(65536);
    struct pr_rate_log l = made(0.1, 1, 1);
    struct pr_result_lines k;

    (void)state;
    pr_rate_log_end(&l);
    pr_result_lines_init(&k, &out);
    assert_int_equal(pr_rate_log_put_steady(&l, &k, NULL), PR_OK);
    assert_int_equal(out.len, 0);
    pr_rate_log_free(&l);
}

static int attempt(void)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(65536);
    struct pr_nn_opts nn = {.sample_duration = 0.5};
    struct pr_rate_log l = {.steady = 0};
    struct pr_result_lines k;
    int rc = pr_rate_log_init(&l, &nn, NULL);

    if (!rc)
        (void)pr_rate_log_add(&l, 1, 2000u * (uint64_t)MS, 7);
    pr_result_lines_init(&k, &out);
    if (!rc)
        rc = pr_rate_log_put_steady(&l, &k, NULL);
    if (!rc && !pr_buf_ok(&out))
        rc = PR_E_NOMEM;
    pr_rate_log_free(&l);
    return rc;
}

static void memory_may_end(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_rate_ends_it),
        cmocka_unit_test(what_swings_goes_on),
        cmocka_unit_test(time_ends_it),
        cmocka_unit_test(few_iterations_are_not_steady),
        cmocka_unit_test(a_timing_is_milaruns),
        cmocka_unit_test(nothing_is_said_of_nothing),
        cmocka_unit_test(memory_may_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
