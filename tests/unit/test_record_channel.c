/*
 * The channel of a child: what each kind of line means, whatever else strangers
 * write there, and rates in bounded memory.
 */
#include "record/channel.h"

#include "base/json/json.h"

#include "scratch.h"
#include "torture.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

static struct pr_buf seen = PR_BUF_INIT(1 << 20);

static int remember(void *ctx, const char *key, size_t len,
                    const struct pr_value *value, struct pr_err *err)
{
    (void)ctx;
    (void)err;
    pr_buf_str(&seen, seen.len ? " " : "");
    pr_buf_add(&seen, key, len);
    pr_buf_char(&seen, '=');
    pr_json_write(&seen, value);
    return 0;
}

static struct pr_channel_sum scan(const char *text, size_t len, size_t piece)
{
    struct pr_channel_scanner *s = pr_channel_scanner_new("c", remember, NULL);
    struct pr_channel_sum sum;

    assert_non_null(s);
    pr_buf_clear(&seen);
    pr_buf_str(&seen, "");
    for (size_t i = 0; i < len; i += piece)
        assert_int_equal(
            pr_channel_scanner_feed(s, text + i,
                                    len - i < piece ? len - i : piece, NULL),
            PR_OK);
    assert_int_equal(pr_channel_scanner_finish(s, &sum, NULL), PR_OK);
    pr_channel_scanner_free(s);
    return sum;
}

#define RATE(x)                                                                \
    "{\"count\": 1, \"mean\": " x ", \"std\": 0.0, \"min\": " x ", \"q1\": " x \
    ", \"median\": " x ", \"q3\": " x ", \"max\": " x

static const struct {
    const char *line, *params, *rates, *as; /* as: bad, machine */
} rows[] = {
    {"{\"results.time\": 1.5}", "results.time=1.5", "", ""},
    {"{\"time\": 1.5, \"a\": [1, {\"b\": null}]}",
     "results.time=1.5 results.a=[1, {\"b\": null}]", "", ""},
    {"{\"exp.framework_title\": \"X\"}", "exp.framework_title=\"X\"", "", ""},
    {"  {\"a\": 1}  \r", "results.a=1", "", ""},
    {"{\"a\": 1, \"a\": 2}", "results.a=2", "", ""},
    {"{\"warning\": \"mind\"}", "warning=\"mind\"", "", ""},
    {"{\"warning\": 3}", "results.warning=3", "", ""},
    {"{}", "", "", ""},
    {"", "", "", ""},
    {" \t\r", "", "", ""},
    /* rates */
    {"{\"rate\": 2, \"units\": \"images/s\", \"task\": \"train\"}",
     "results.train_rate=2.0",
     "{\"train\": " RATE("2.0") ", \"units\": \"images/s\"}}", ""},
    {"{\"rate\": 2.5}", "results.main_rate=2.5", "{\"main\": " RATE("2.5") "}}",
     ""},
    {"{\"rate\": 2.5, \"loss\": 1, \"time\": 1744736449.5}",
     "results.loss=1 results.main_rate=2.5", "{\"main\": " RATE("2.5") "}}",
     ""},
    {"{\"rate\": NaN}", "", "", "bad"},
    {"{\"rate\": -Infinity, \"a\": 1}", "results.a=1", "", "bad"},
    {"{\"rate\": \"fast\"}", "results.rate=\"fast\"", "", ""},
    /* progress */
    {"{\"progress\": [1, 60]}", "", "", ""},
    {"{\"progress\": 0.5, \"text\": \"epoch 2\"}", "", "", ""},
    {"{\"progress\": \"good\"}", "results.progress=\"good\"", "", ""},
    {"{\"text\": \"abc\"}", "results.text=\"abc\"", "", ""},
    /* milabench */
    {"{\"task\": \"train\", \"loss\": 0.5}", "results.loss=0.5", "", ""},
    {"{\"task\": \"early_stop\", \"progress\": [3, 60]}", "", "", ""},
    {"{\"memory_peak\": 128.5, \"units\": \"MiB\"}",
     "results.memory_peak=128.5", "", ""},
    {"{\"task\": \"main\", \"time\": 17.5, \"gpudata\": {\"0\": {\"load\": "
     "1}}}",
     "", "", "machine"},
    {"{\"task\": \"main\", \"process\": {\"pid\": 1}}", "", "", "machine"},
    {"{\"task\": \"main\", \"iodata\": {}}", "", "", "machine"},
    {"{\"task\": \"main\", \"netdata\": {}}", "", "", "machine"},
    {"{\"task\": \"main\", \"cpudata\": {}}", "", "", "machine"},
    {"{\"process\": \"mine\"}", "results.process=\"mine\"", "", ""},
    {"{\"event\": \"data\", \"data\": {\"task\": \"t\", \"rate\": 4.0}, "
     "\"pipe\": \"data\"}",
     "results.t_rate=4.0", "{\"t\": " RATE("4.0") "}}", ""},
    {"{\"event\": \"phase\", \"data\": {\"name\": \"init\"}}", "", "", ""},
    {"{\"event\": \"line\", \"data\": \"hello\", \"pipe\": \"stdout\"}", "", "",
     ""},
    {"{\"event\": \"mine\"}", "results.event=\"mine\"", "", ""},
    {"{\"$event\": \"phase\", \"$data\": {\"name\": \"init\"}}", "", "", ""},
    {"{\"$event\": \"stop\"}", "", "", ""},
    {"{\"$event\": \"error\", \"$data\": {\"type\": \"E\", \"message\": "
     "\"no\"}}",
     "warning=\"E: no\"", "", ""},
    {"{\"$event\": \"error\", \"$data\": {\"message\": \"no\"}}",
     "warning=\"no\"", "", ""},
    {"{\"$event\": \"error\", \"$data\": 3}", "", "", ""},
    {"{\"$event\": \"data\", \"$data\": {\"a\": 1}}", "results.a=1", "", ""},
    /* what is none */
    {"[1]", "", "", "bad"},
    {"1", "", "", "bad"},
    {"null", "", "", "bad"},
    {"{\"a\": 1", "", "", "bad"},
    {"{\"a\": 1} x", "", "", "bad"},
    {"{\"a\": \"\xff\"}", "", "", "bad"},
    {"junk", "", "", "bad"},
    {"{\"\": 1, \"b\": 2}", "results.b=2", "", "bad"},
    {"{\"a\\u0000b\": 1}", "", "", "bad"},
    {"{\"a\\nb\": 1}", "", "", "bad"},
};

static void lines_mean_what_they_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t piece = 1; piece < 300; piece = piece * 3 + 1) {
            struct pr_channel_sum sum =
                scan(rows[i].line, strlen(rows[i].line), piece);
            const char *rates = sum.rates.data ? sum.rates.data : "";
            const char *as = sum.bad ? "bad" : sum.machine ? "machine" : "";

            if (strcmp(seen.data, rows[i].params) != 0 ||
                strcmp(rates, rows[i].rates) != 0 ||
                strcmp(as, rows[i].as) != 0)
                fail_msg("%s: %s; %s; %s", rows[i].line, seen.data, rates, as);
            pr_buf_free(&sum.rates);
        }
}

static void the_first_bad_line_is_told(void **state)
{
    static const char text[] = "{\"a\": 1}\n\n[]\n{\"b\": 2}\n7\n{\"c\": 3}";
    struct pr_channel_sum sum = scan(text, sizeof text - 1, 5);

    (void)state;
    assert_int_equal(sum.lines, 5);
    assert_int_equal(sum.params, 3);
    assert_int_equal(sum.bad, 2);
    assert_int_equal(sum.first_bad_line, 3);
    assert_string_equal(sum.first_bad.where, "c:3");
    assert_string_equal(sum.first_bad.msg, "not a JSON object");
    assert_string_equal(seen.data, "results.a=1 results.b=2 results.c=3");
    pr_buf_free(&sum.rates);
}

static void a_line_that_is_too_long_is_counted(void **state)
{
    size_t len = PR_LOG_MAX_LINE + 100;
    char *text = malloc(len);

    (void)state;
    assert_non_null(text);
    for (size_t piece = 1000000; piece <= len; piece += len - 1000000) {
        struct pr_channel_sum sum;

        memset(text, ' ', len);
        memcpy(text + len - 19, "{}\n{\"after\": true}\n", 19);
        sum = scan(text, len, piece);
        assert_int_equal(sum.bad, 1);
        assert_int_equal(sum.lines, 2);
        assert_string_equal(seen.data, "results.after=true");
        text[90] = '\n'; /* the rest is short enough */
        sum = scan(text, len, piece);
        assert_int_equal(sum.bad, 0);
        assert_int_equal(sum.lines, 2);
    }
    free(text);
}

static void add(struct pr_buf *b, const char *task, const char *units, double x)
{
    pr_buf_printf(b, "{\"task\": \"%s\", \"units\": \"%s\", \"rate\": %.17g}\n",
                  task, units, x);
}

static double figure(const struct pr_channel_sum *sum, const char *task,
                     const char *name)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_json_in in = {
        .text = sum->rates.data, .len = sum->rates.len, .name = ""};
    const struct pr_value *t, *v;
    struct pr_value all;

    assert_int_equal(pr_json_read(&in, a, &all, NULL, NULL), PR_OK);
    t = pr_get(&all, task);
    v = t ? pr_get(t, name) : NULL;
    return v && pr_value_is_number(v) ? pr_value_number(v) : -1;
}

static void rates_are_summed_up_by_task_and_units(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);
    struct pr_channel_sum sum;

    (void)state;
    for (int i = 0; i < 10; i++) {
        add(&b, "train", "items/s", (i * 7) % 10);
        add(&b, "test", "items/s", 5);
        add(&b, "train", "Tok/s", 1000);
    }
    sum = scan(b.data, b.len, b.len);
    assert_true(figure(&sum, "train", "count") == 10);
    assert_true(figure(&sum, "train", "mean") == 4.5);
    assert_true(fabs(figure(&sum, "train", "std") - sqrt(8.25)) < 1e-12);
    assert_true(figure(&sum, "train", "min") == 0);
    assert_true(figure(&sum, "train", "q1") == 2.25);
    assert_true(figure(&sum, "train", "median") == 4.5);
    assert_true(figure(&sum, "train", "q3") == 6.75);
    assert_true(figure(&sum, "train", "max") == 9);
    assert_true(figure(&sum, "train", "quartiles_from") == -1);
    assert_true(figure(&sum, "test", "std") == 0);
    assert_true(figure(&sum, "train (Tok/s)", "mean") == 1000);
    assert_string_equal(seen.data,
                        "results.train_rate=4.5 results.test_rate=5.0 "
                        "results.train (Tok/s)_rate=1000.0");
    pr_buf_free(&sum.rates);
}

/* More than are kept: all but the quartiles stay exact, and those are near. */
static void many_rates_take_bounded_memory(void **state)
{
    enum { MANY = 5 * PR_CHANNEL_RATES_EXACT };
    struct pr_channel_rates r = {0};
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(1 << 20);
    struct pr_channel_sum sum = {.lines = 0};

    (void)state;
    for (uint64_t i = 0; i < MANY; i++)
        assert_int_equal(
            pr_channel_rates_add(&r, "t", 1, "", 0, (double)(i * 16381 % MANY)),
            1);
    assert_int_equal(r.series[0].cap, PR_CHANNEL_RATES_EXACT);
    pr_channel_rates_write(&r, &json);
    pr_channel_rates_close(&r);
    sum.rates = json;
    assert_true(figure(&sum, "t", "count") == MANY);
    assert_true(fabs(figure(&sum, "t", "mean") - (MANY - 1) / 2.) < 1e-3);
    assert_true(figure(&sum, "t", "min") == 0);
    assert_true(figure(&sum, "t", "max") == MANY - 1);
    assert_true(figure(&sum, "t", "quartiles_from") == PR_CHANNEL_RATES_EXACT);
    assert_true(fabs(figure(&sum, "t", "q1") - MANY * .25) < MANY * .02);
    assert_true(fabs(figure(&sum, "t", "median") - MANY * .5) < MANY * .02);
    assert_true(fabs(figure(&sum, "t", "q3") - MANY * .75) < MANY * .02);
}

static void too_many_tasks_are_counted(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);
    struct pr_channel_sum sum;
    char task[100];

    (void)state;
    for (int i = 0; i < PR_CHANNEL_RATES_TASKS + 5; i++) {
        snprintf(task, sizeof task, "task %d", i);
        add(&b, task, "", i);
    }
    add(&b, "task 3", "", 5); /* known: still taken */
    sum = scan(b.data, b.len, b.len);
    assert_int_equal(sum.dropped, 5);
    assert_true(figure(&sum, "task 3", "count") == 2);
    pr_buf_free(&sum.rates);
}

/* Somebody's task may be called as the second unit of another is. */
static void no_two_rates_have_one_name(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);
    struct pr_channel_sum sum;

    (void)state;
    add(&b, "a (b)", "", 1);
    add(&b, "a", "", 2);
    add(&b, "a", "b", 3);
    add(&b, "", "", 4);
    add(&b, "main", "", 5);
    sum = scan(b.data, b.len, b.len);
    assert_string_equal(seen.data,
                        "results.a (b)_rate=1.0 results.a_rate=2.0 "
                        "results.a (b) 2_rate=3.0 results.main_rate=4.5");
    assert_true(figure(&sum, "a (b)", "mean") == 1);
    assert_true(figure(&sum, "a (b) 2", "mean") == 3);
    assert_true(figure(&sum, "main", "count") == 2);
    pr_buf_free(&sum.rates);
}

/* Names are cut between characters, and what is cut alike is one. */
static void long_names_are_cut(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf want = PR_BUF_INIT(1 << 10);
    char task[201];
    struct pr_channel_sum sum;

    (void)state;
    for (size_t i = 0; i < 200; i += 2)
        memcpy(task + i, "\xc3\xa9", 3);
    add(&b, task, task, 1);
    sum = scan(b.data, b.len, b.len);
    for (size_t i = 0; i + 2 < PR_CHANNEL_RATES_NAME; i += 2)
        pr_buf_str(&want, "\xc3\xa9");
    assert_true(figure(&sum, want.data, "count") == 1);
    pr_buf_free(&sum.rates);
}

/* What a child may have made of it is bad, and never waited for. */
static void what_is_no_file_is_empty(void **state)
{
    static const char *const odd[] = {"pipe", "/", "loop"};
    struct pr_channel_sum sum = {.lines = 7};

    (void)state;
    assert_int_equal(pr_channel_collect("none", NULL, NULL, &sum, NULL), PR_OK);
    assert_int_equal(sum.lines, 0);
    assert_int_equal(sum.rates.len, 0);
    spit("empty", "");
    assert_int_equal(pr_channel_collect("empty", NULL, NULL, &sum, NULL),
                     PR_OK);
    assert_int_equal(sum.bad, 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pr_channel_collect(odd[i], NULL, NULL, &sum, NULL),
                         PR_OK);
        assert_int_equal(sum.bad, 1);
        assert_int_equal(sum.first_bad_line, 0);
        assert_non_null(strstr(sum.first_bad.msg,
                               i < 2 ? "not a file any more" : "cannot open"));
    }
}

static int refuse(void *ctx, const char *key, size_t len,
                  const struct pr_value *value, struct pr_err *err)
{
    (void)ctx;
    (void)key;
    (void)len;
    (void)value;
    return pr_fail(err, PR_E_CONF, "", "enough");
}

/* Rates with their times are a timing: what was said 0.4 s apart, in slices of
 * half a second. */
static void rates_with_times_are_timings(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf head = PR_BUF_INIT(4096);
    static const char two[] =
        "{\"time\": 5, \"rate\": 1}\n{\"time\": 6, \"rate\": 2}";
    struct pr_channel_sum sum;
    const char *at, *end;

    (void)state;
    for (int i = 0; i < 6; i++)
        pr_buf_printf(&b,
                      "{\"task\": \"train\", \"time\": %.1f, \"rate\": %d}\n"
                      "{\"time\": %.1f, \"rate\": 7}\n"
                      "{\"task\": \"train_2\", \"time\": %d, \"rate\": 1}\n"
                      "{\"task\": \"train_3\", \"rate\": 1}\n",
                      1e9 + 0.4 * i, i < 3 ? 10 : 20, 1e9 + i, -i);
    sum = scan(b.data, b.len, 7);
    at = strstr(seen.data, "results.timings.train={");
    assert_non_null(at);
    end = strchr(at, '}');
    pr_buf_add(&head, at, (size_t)(end - at));
    assert_non_null(strstr(head.data, "\"start\": \"2001-09-09 "));
    assert_non_null(strstr(head.data, "\"wall_time\": 2.0, \"time\": 2.0, "
                                      "\"overhead\": 0.0, "
                                      "\"sample_duration\": 0.5, \"rates\": "
                                      "[10.0, "));
    /* That of no task is not in the way, nor are times that go back. */
    assert_null(strstr(end, "timings."));
    pr_buf_free(&sum.rates);
    sum = scan(two, strlen(two), 9);
    assert_non_null(strstr(seen.data, "results.timings.train={"));
    assert_non_null(strstr(seen.data, "\"rates\": [2.0, 2.0]"));
    pr_buf_free(&sum.rates);
}

static void a_callback_can_stop_it(void **state)
{
    struct pr_channel_sum sum;
    struct pr_err err;

    (void)state;
    spit("c", "{\"a\": 1}\n");
    assert_int_equal(pr_channel_collect("c", refuse, NULL, &sum, &err),
                     PR_E_CONF);
    spit("c", "{\"rate\": 1}\n"); /* at the end, with its median */
    assert_int_equal(pr_channel_collect("c", refuse, NULL, &sum, &err),
                     PR_E_CONF);
}

static int attempt(void)
{
    struct pr_channel_sum sum = {.lines = 0};
    int rc = pr_channel_collect("c", NULL, NULL, &sum, NULL);

    pr_buf_free(&sum.rates);
    return rc;
}

static void running_out_of_memory_is_an_error(void **state)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);

    (void)state;
    for (int i = 0; i < 200; i++)
        add(&b, i % 7 ? "a" : "b", i % 11 ? "x" : "y", i);
    pr_buf_str(&b, "{\"time\": 5, \"rate\": 1}\n{\"time\": 6, \"rate\": 2}\n");
    pr_buf_str(&b, "{\"a\": [1, 2, 3]}\n{\"event\": \"error\", \"data\": "
                   "{\"message\": \"no\"}}\n{\"end\": 1}");
    spit("c", b.data);
    torture(attempt);
}

#define IN_SCRATCH(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_mean_what_they_say),
        cmocka_unit_test(the_first_bad_line_is_told),
        cmocka_unit_test(a_line_that_is_too_long_is_counted),
        cmocka_unit_test(rates_are_summed_up_by_task_and_units),
        cmocka_unit_test(rates_with_times_are_timings),
        cmocka_unit_test(many_rates_take_bounded_memory),
        cmocka_unit_test(too_many_tasks_are_counted),
        cmocka_unit_test(no_two_rates_have_one_name),
        cmocka_unit_test(long_names_are_cut),
        IN_SCRATCH(what_is_no_file_is_empty),
        IN_SCRATCH(a_callback_can_stop_it),
        IN_SCRATCH(running_out_of_memory_is_an_error),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);

    pr_buf_free(&seen);
    return rc;
}
