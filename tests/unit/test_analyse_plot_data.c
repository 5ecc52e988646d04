/* Series for charts: which results are where, what several of them become,
 * baselines, and what run directories tell over time. */
#include "analyse/series/plot_data.h"
#include "base/json/json.h"
#include "scratch.h"
#include "torture.h"

#include <math.h>
#include <sys/stat.h>

static struct pr_arena *arena;
static struct pr_results *bench; /* the last one: series borrow of it */

static const char results[] =
    "{\"data\": ["
    "{\"fw\": \"mxnet\", \"n\": 1, \"t\": 10, \"l\": [1, 2, 3]},"
    "{\"fw\": \"mxnet\", \"n\": 2, \"t\": 4},"
    "{\"fw\": \"mxnet\", \"n\": 2, \"t\": 6},"
    "{\"fw\": \"mxnet\", \"n\": 10, \"t\": 1.5},"
    "{\"fw\": \"caffe\", \"n\": 1, \"t\": 20, \"l\": [5, \"x\", 7]},"
    "{\"fw\": \"caffe\", \"n\": 2, \"t\": 10},"
    "{\"fw\": \"caffe2\", \"n\": 2, \"t\": null},"
    "{\"fw\": \"caffe2\", \"t\": 3}"
    "]}";

static struct pr_value json(const char *text)
{
    struct pr_json_in in = {.text = text, .len = strlen(text), .name = "test"};
    struct pr_value v;

    assert_int_equal(pr_json_read(&in, arena, &v, NULL, NULL), PR_OK);
    return v;
}

static struct pr_results *read_bench(const char *path)
{
    struct pr_results_opts o = {.threads = 1};
    struct pr_err err = {0};
    struct pr_results *set;

    if (pr_results_read(&path, 1, &o, &set, &err))
        fail_msg("%s: %s", err.where, err.msg);
    return set;
}

static int build(const struct pr_plot_data_opts *o, struct pr_plot_data *ret,
                 struct pr_err *err)
{
    spit("r.json", results);
    pr_results_free(bench);
    bench = read_bench("r.json");
    return pr_plot_data_build(bench, o, arena, ret, err);
}

static struct pr_plot_data_opts opts(const char *series)
{
    return (struct pr_plot_data_opts){
        .x = "n",
        .y = "t",
        .series = series ? json(series) : pr_null(),
        .baseline_series = PR_PLOTDATA_BASELINE_NONE};
}

/* "1:10 2:5 10:1.5" of series k. */
static void check(const struct pr_plot_data *d, size_t k, const char *want)
{
    char text[256] = "";

    assert_true(k < d->count);
    for (size_t i = 0; i < d->series[k].count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s:%g",
                 i ? " " : "", d->series[k].points[i].x,
                 d->series[k].points[i].y);
    assert_string_equal(text, want);
}

static void check_built(const struct pr_plot_data_opts *o, const char *first,
                        const char *second)
{
    struct pr_plot_data d;
    struct pr_err err = {0};

    if (build(o, &d, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(d.count, second ? 2 : 1);
    check(&d, 0, first);
    if (second)
        check(&d, 1, second);
}

static void results_go_where_filters_say(void **state)
{
    struct pr_plot_data_opts o =
        opts("[{\"fw\": \"mxnet\"}, {\"fw\": \"caffe$\"}]");

    (void)state;
    check_built(&o, "1:10 2:5 10:1.5", "1:20 2:10");
    o.how = PR_PLOTDATA_MIN;
    check_built(&o, "1:10 2:4 10:1.5", "1:20 2:10");
    o.how = PR_PLOTDATA_MAX;
    check_built(&o, "1:10 2:6 10:1.5", "1:20 2:10");
    /* One that matches nothing is there all the same. */
    o = opts("[{\"wf\": \"mxnet\"}, {\"n\": [1, 10]}]");
    check_built(&o, "", "1:15 10:1.5");
    o = opts(NULL);
    check_built(&o, "1:15 2:6.66667 10:1.5", NULL);
    /* Text is a beginning in a filter, and the value itself in a name. */
    o = opts("[{\"fw\": \"caffe\"}]");
    o.x = "fw";
    check_built(&o, "caffe:15 caffe2:3", NULL);
}

static void values_of_a_name_are_series(void **state)
{
    struct pr_plot_data_opts o = opts("\"fw\"");
    struct pr_plot_data d;
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(build(&o, &d, &err), PR_OK);
    assert_int_equal(d.count, 3);
    check(&d, 0, "1:10 2:5 10:1.5");
    check(&d, 1, "1:20 2:10");
    check(&d, 2, "");
    assert_int_equal(d.unusable, 1);
    assert_int_equal(d.x_count, 3);
    assert_true(d.x_numbers);
    assert_string_equal(d.x_values[2], "10");
}

static void without_x_places_count(void **state)
{
    struct pr_plot_data_opts o =
        opts("[{\"fw\": \"mxnet\"}, {\"fw\": \"caf\"}]");

    (void)state;
    o.x = NULL;
    check_built(&o, "1:10 2:4 3:6 4:1.5", "1:20 2:10 3:3");
    o.y = "l";
    check_built(&o, "1:1 2:2 3:3", "1:5 3:7");
    o.x = "n"; /* all of a list count at its x */
    check_built(&o, "1:2", "1:6");
}

static void means_have_an_interval(void **state)
{
    struct pr_plot_data_opts o = opts("[{\"fw\": \"mxnet\"}]");
    const struct pr_plot_data_point *p;
    struct pr_plot_data d;
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(build(&o, &d, &err), PR_OK);
    p = &d.series[0].points[1];
    assert_int_equal(p->count, 2);
    assert_true(p->values[0] == 4 && p->values[1] == 6);
    /* 12.706 times the standard error, which is 1. */
    assert_true(fabs(p->high - 5 - 12.7062) < 1e-3);
    assert_true(p->low == 0); /* what was never negative is not here */
    p = &d.series[0].points[0];
    assert_true(p->low == p->y && p->high == p->y);
}

static void baselines_divide(void **state)
{
    struct pr_plot_data_opts o =
        opts("[{\"fw\": \"mxnet\"}, {\"fw\": \"caffe$\"}]");
    struct pr_plot_data d;
    struct pr_err err = {0};

    (void)state;
    o.baseline_x = "1";
    check_built(&o, "1:1 2:0.5 10:0.15", "1:1 2:0.5");
    o.baseline_x = NULL;
    o.baseline_series = 0;
    check_built(&o, "1:1 2:1 10:1", "1:2 2:2");
    /* Caffe has nothing at 10: nothing is divided, and that is said. */
    o.baseline_series = 1;
    assert_int_equal(build(&o, &d, &err), PR_OK);
    check(&d, 0, "1:10 2:5 10:1.5");
    assert_non_null(strstr(d.warning, "'10'"));
    o.baseline_series = PR_PLOTDATA_BASELINE_NONE;
    o.baseline_x = "10";
    assert_int_equal(build(&o, &d, &err), PR_OK);
    check(&d, 1, "1:20 2:10");
    assert_non_null(strstr(d.warning, "series 1 has no value at '10'"));
    o.baseline_x = NULL;
    o.baseline_series = 2;
    assert_int_equal(build(&o, &d, &err), PR_E_USAGE);
}

static void bad_filters_are_refused(void **state)
{
    static const char *const bad[] = {"5",   "true",    "{}",
                                      "[5]", "[\"x\"]", "[{\"a\": \"(\"}]"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pr_plot_data_opts o = opts(bad[i]);
        struct pr_plot_data d;
        struct pr_err err = {0};

        assert_int_not_equal(build(&o, &d, &err), PR_OK);
        assert_string_not_equal(err.msg, "");
    }
}

static void json_is_as_dlbs_writes_it(void **state)
{
    struct pr_plot_data_opts o = opts("[{\"fw\": \"mxnet\"}]");
    struct pr_buf text = PR_BUF_INIT(1 << 20);
    struct pr_plot_data d;

    (void)state;
    o.how = PR_PLOTDATA_MAX;
    assert_int_equal(build(&o, &d, NULL), PR_OK);
    assert_int_equal(pr_plot_data_write_json(&d, &text, NULL), PR_OK);
    /* Whole numbers stay whole where nothing is computed. */
    assert_string_equal(text.data,
                        "{\n    \"ylabel\": \"t\",\n"
                        "    \"xlabel\": \"n\",\n"
                        "    \"series\": [\n        {\n"
                        "            \"filters\": {\n"
                        "                \"fw\": \"mxnet\"\n"
                        "            },\n"
                        "            \"data\": {\n"
                        "                \"1\": 10,\n"
                        "                \"2\": 6,\n"
                        "                \"10\": 1.5\n"
                        "            }\n        }\n    ],\n"
                        "    \"xvals\": [\n        \"1\",\n"
                        "        \"2\",\n        \"10\"\n    ]\n}\n");
    pr_buf_free(&text);
}

/* ---- run directories */

static void make_run(const char *monitor, const char *channel)
{
    static const char *const ids[] = {"0001-aaaaaaaa", "0002-bbbbbbbb"};
    char path[128];

    assert_int_equal(mkdir("run", 0755), 0);
    assert_int_equal(mkdir("run/experiments", 0755), 0);
    spit("run/plan.json",
         "{\"schema\": \"prony.plan/1\", \"defaults\": {}, \"experiments\": [\n"
         "{\"id\": \"0001-aaaaaaaa\", \"params\": {\"n\": 1, \"same\": 5}},\n"
         "{\"id\": \"0002-bbbbbbbb\", \"params\": {\"n\": 2, \"same\": 5}}\n"
         "]}\n");
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "run/experiments/%s", ids[i]);
        assert_int_equal(mkdir(path, 0755), 0);
        snprintf(path, sizeof path, "run/experiments/%s/monitor.ndjson",
                 ids[i]);
        if (monitor)
            spit(path, monitor);
        snprintf(path, sizeof path, "run/experiments/%s/channel.ndjson",
                 ids[i]);
        if (channel)
            spit(path, channel);
    }
}

static int over_time(bool rates, const char *wanted, struct pr_plot_data *ret,
                     struct pr_err *err)
{
    const char *names[] = {wanted, NULL};

    pr_results_free(bench);
    bench = read_bench("run");
    assert_int_equal(pr_results_size(bench), 2);
    return (rates ? pr_plot_data_read_rates
                  : pr_plot_data_read_monitor)(bench, names, arena, ret, err);
}

static const char looks[] =
    "{\"schema\":\"prony.monitor/1\",\"columns\":{\"cpu\":\"share\","
    "\"cpu.0\":\"share\",\"mem\":\"bytes\"}}\n"
    "{\"t\":0.1,\"cpu\":0.5,\"cpu.0\":1,\"mem\":7}\n"
    "{\"t\":0.2,\"cpu\":0.75}\n"
    "{\"columns\":{\"cpu.1\":\"share\"}}\n"
    "not JSON\n"
    "{\"t\":0.3,\"cpu\":null,\"cpu.1\":0.25}\n"
    "{\"t\":\"soon\",\"cpu\":9}\n"
    "{\"t\":0.4,\"cpu\":1}\n"
    "{\"t\":0.5,\"cp";

static void the_monitor_is_read_as_written(void **state)
{
    struct pr_plot_data d;
    struct pr_err err = {0};

    (void)state;
    make_run(looks, NULL);
    assert_int_equal(over_time(false, "cpu", &d, &err), PR_OK);
    assert_int_equal(d.count, 2);
    /* What did not change is not written; null is not known. */
    check(&d, 0, "0.1:0.5 0.2:0.75 0.4:1");
    assert_string_equal(d.y_unit, "share");
    assert_string_equal(d.x_unit, "s");
    assert_string_equal(d.y, "cpu");
    assert_int_equal(over_time(false, "cpu*", &d, &err), PR_OK);
    assert_int_equal(d.count, 6);
    check(&d, 1, "0.1:1 0.2:1 0.3:1 0.4:1");
    check(&d, 2, "0.3:0.25 0.4:0.25");
    assert_int_equal(over_time(false, "none", &d, &err), PR_OK);
    assert_int_equal(d.count, 0);
    assert_int_equal(over_time(false, "*m*", &d, &err), PR_OK);
    assert_null(d.series[0].unit);
    assert_int_equal(over_time(false, "[cm]*", &d, &err), PR_OK);
    assert_null(d.y_unit);
    for (size_t i = 0; i < d.count; i++)
        assert_string_equal(d.series[i].unit,
                            pr_get(&d.series[i].filters, "column")->s[0] == 'm'
                                ? "bytes"
                                : "share");
}

static void experiments_go_by_what_they_differ_in(void **state)
{
    const struct pr_value *f;
    struct pr_plot_data d;
    struct pr_err err = {0};

    (void)state;
    make_run(looks, NULL);
    assert_int_equal(over_time(false, "cpu", &d, &err), PR_OK);
    f = &d.series[1].filters;
    assert_int_equal(f->len, 3);
    assert_string_equal(f->members[0].key, "exp.id");
    assert_string_equal(f->members[1].key, "n");
    assert_int_equal(f->members[1].value.i, 2);
    assert_string_equal(f->members[2].value.s, "cpu");
}

static void rates_have_a_time_or_a_number(void **state)
{
    struct pr_plot_data d;
    struct pr_err err = {0};

    (void)state;
    make_run(NULL,
             "{\"task\": \"train\", \"rate\": 5, \"units\": \"i/s\", "
             "\"time\": 100.5}\n"
             "{\"loss\": 3, \"task\": \"train\"}\n"
             "{\"task\": \"train\", \"rate\": 7, \"units\": \"i/s\", "
             "\"time\": 102}\n"
             "{\"task\": \"eval\", \"rate\": 1, \"units\": \"i/s\", \"time\": "
             "103}\n"
             "{\"rate\": 9}\n{\"rate\": NaN}\n");
    assert_int_equal(over_time(true, "train", &d, &err), PR_OK);
    assert_int_equal(d.count, 2);
    check(&d, 0, "0.0:5 1.5:7");
    assert_string_equal(d.y_unit, "i/s");
    assert_int_equal(over_time(true, "[te]*", &d, &err), PR_OK);
    assert_int_equal(d.count, 4);
    check(&d, 3, "0.0:1");
    assert_int_equal(over_time(true, "main", &d, &err), PR_OK);
    check(&d, 1, "1.0:9");
    assert_null(d.x_unit);
    assert_int_equal(over_time(true, "*", &d, &err), PR_OK);
    assert_null(d.y_unit);
    assert_string_equal(d.series[0].unit, "i/s");
}

/* ---- memory */

static struct pr_plot_data_opts tortured;

static int build_tortured(void)
{
    struct pr_arena *a = pr_arena_new(4096);
    const char *columns[] = {"cpu", NULL};
    struct pr_buf text = PR_BUF_INIT(1 << 20);
    struct pr_plot_data d;
    int rc = a ? pr_plot_data_build(bench, &tortured, a, &d, NULL) : PR_E_NOMEM;

    if (!rc)
        rc = pr_plot_data_read_monitor(bench, columns, a, &d, NULL);
    if (!rc)
        rc = pr_plot_data_write_json(&d, &text, NULL);
    pr_buf_free(&text);
    pr_arena_free(a);
    return rc;
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    make_run(looks, NULL);
    tortured = opts("\"n\"");
    tortured.x = NULL;
    tortured.y = "same";
    bench = read_bench("run");
    torture(build_tortured);
}

static int start(void **state)
{
    arena = pr_arena_new(65536);
    return arena ? enter(state) : -1;
}

static int stop(void **state)
{
    pr_arena_free(arena);
    pr_results_free(bench);
    bench = NULL;
    return leave(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(results_go_where_filters_say),
        TEST(values_of_a_name_are_series),
        TEST(without_x_places_count),
        TEST(means_have_an_interval),
        TEST(baselines_divide),
        TEST(bad_filters_are_refused),
        TEST(json_is_as_dlbs_writes_it),
        TEST(the_monitor_is_read_as_written),
        TEST(experiments_go_by_what_they_differ_in),
        TEST(rates_have_a_time_or_a_number),
        TEST(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
