/*
 * Suites: what each kind of result becomes, against figures computed by hand;
 * what is damaged or strange is left out and named.
 */
#include "analyse/suite/suite.h"

#include "base/json/json.h"

#include "scratch.h"
#include "torture.h"

#include <math.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-9 * (1 + fabs(b));
}
#define NEAR(a, b) assert_true(is_near(a, b))

static struct pr_suite *read_suite(const char *path, unsigned threads)
{
    struct pr_suite_read_opts o = {.threads = threads, .curve = 8};
    struct pr_suite *s = NULL;
    struct pr_err err = {0};
    int rc = pr_suite_read(path, &o, &s, &err);

    if (rc)
        print_message("%s: %s\n", err.where, err.msg);
    assert_int_equal(rc, PR_OK);
    return s;
}

static const struct pr_suite_test *test_of(const struct pr_suite *s,
                                           const char *name)
{
    const struct pr_suite_test *t = NULL;

    for (size_t i = 0; i < s->count && !t; i++)
        if (strcmp(s->tests[i].name, name) == 0)
            t = &s->tests[i];
    if (!t)
        print_message("no test '%s' of %zu\n", name, s->count);
    assert_non_null(t);
    return t;
}

/* A result with everything that counts; rates as JSON. */
static void put_result(const char *file, const char *name, const char *device,
                       const char *success, const char *metric,
                       const char *rates)
{
    char text[8192];

    snprintf(text, sizeof text,
             "{\"name\": \"%s\", \"job_id\": \"0.0\", \"job\": "
             "{\"partition_scheme\": {\"type\": \"per-gpu\"}}, \"success\": "
             "%s, \"error\": \"a\\nb\", \"device_count\": 1, \"environ\": "
             "{\"CUDA_VISIBLE_DEVICES\": \"%s\"}, \"metrics\": {\"loss\": %s}, "
             "\"timings\": {\"program\": {\"time\": 4}, \"train\": "
             "{\"rates\": %s}}, \"gpu_monitor\": {\"0\": {\"memory\": "
             "{\"max\": 7}}, \"1\": {\"memory\": {\"max\": 9.5}}}}",
             name, success, device, metric, rates);
    spit(file, text);
}

/* ---- one file */

static const struct {
    const char *rates;
    double rate;
    uint32_t steady, slices;
} windows[] = {
    {"[]", NAN, 0, 0},
    {"[5]", NAN, 0, 1},
    {"[5, 6]", NAN, 0, 2},
    {"[5, 6, 7]", 5, 1, 3},
    {"[1, 2, 3, 4, 5]", 2, 3, 5},
    /* Twenty: eighteen count. */
    {"[1,1,1,1,1,1,1,1,1,4,4,4,4,4,4,4,4,4,99,99]", 2.5, 18, 20},
    /* Of more, those before the last twenty do not. */
    {"[77,77,1,1,1,1,1,1,1,1,1,4,4,4,4,4,4,4,4,4,99,99]", 2.5, 18, 22},
    {"[1, NaN, 3, 4, 5]", NAN, 3, 5},
    {"[1, \"x\", 3, 4, 5]", NAN, 3, 5},
    {"[1, null, 3]", 1, 1, 3},
    {"{\"no\": \"list\"}", NAN, 0, 0},
};

static void steady_windows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        struct pr_suite *s;
        const struct pr_suite_rate *r;

        assert_int_equal(mkdir("d", 0700), 0);
        put_result("d/a.json", "s.a", "0", "true", "1", windows[i].rates);
        s = read_suite("d", 1);
        assert_int_equal(s->count, 1);
        assert_int_equal(s->tests[0].runs[0]->rate_count, 1);
        r = &s->tests[0].runs[0]->rates[0];
        if (isnan(windows[i].rate))
            assert_true(isnan(r->rate) && isnan(s->tests[0].train.mean));
        else
            NEAR(r->rate, windows[i].rate);
        assert_int_equal(r->steady, windows[i].steady);
        assert_int_equal(r->slices, windows[i].slices);
        assert_int_equal(s->tests[0].short_runs, isnan(windows[i].rate));
        pr_suite_free(s);
        assert_int_equal(unlink("d/a.json"), 0);
        assert_int_equal(rmdir("d"), 0);
    }
}

/* Sixteen slices in eight points: each the mean of two. */
static void curves_are_folded(void **state)
{
    struct pr_suite *s;
    const struct pr_suite_child *run;

    (void)state;
    mkdir("d", 0700);
    put_result("d/a.json", "s.a", "0", "true", "1",
               "[1,3,2,4,3,5,4,6,5,7,6,8,7,9,8,10]");
    s = read_suite("d", 1);
    run = s->tests[0].runs[0];
    assert_int_equal(run->curve_len, 8);
    for (uint32_t i = 0; i < 8; i++)
        assert_true(fabsf(run->curve[i] - (float)(i + 2)) < 1e-6f);
    pr_suite_free(s);
}

/* Before the last twenty a curve is read roughly: to fifteen digits. */
static void curves_of_all_numbers(void **state)
{
    static const double want[] = {1.5, -2,  0.001, 12345.678901234567,
                                  3e9, NAN, 25,    1e-7};
    static const char head[] =
        "[1.5, -2, 0.001,\n 12345.678901234567,3E+9, NaN, 2.5e1, 1e-07";
    struct pr_suite_read_opts o = {.threads = 1, .curve = 64};
    struct pr_suite *s = NULL;
    char rates[512];
    size_t n = (size_t)snprintf(rates, sizeof rates, "%s", head);

    (void)state;
    for (int i = 0; i < 20; i++)
        n += (size_t)snprintf(rates + n, sizeof rates - n, ", %d.25", i);
    snprintf(rates + n, sizeof rates - n, "]");
    mkdir("d", 0700);
    put_result("d/a.json", "s.a", "0", "true", "1", rates);
    assert_int_equal(pr_suite_read("d", &o, &s, NULL), PR_OK);
    assert_int_equal(s->tests[0].runs[0]->curve_len, 28);
    for (size_t i = 0; i < 8; i++) {
        double got = (double)s->tests[0].runs[0]->curve[i];
        if (isnan(want[i]))
            assert_true(isnan(got));
        else
            assert_true(fabs(got - want[i]) <= 1e-6 * fabs(want[i]));
    }
    NEAR(s->tests[0].train.mean, 8.75); /* of 0.25 to 17.25 */
    pr_suite_free(s);
}

/* What is read roughly is right, however many digits it has, and whatever
 * stands around it. */
static void curves_of_many_digits(void **state)
{
    static const char *const numbers[] = {
        "3.25",
        "12345678.5",
        "123456789.5",
        "318.78123456",
        "318.781234567",
        "318.7812345678901",
        "318.78123456789012",
        "3.1878123456789012345678",
        "31878123456789012345.5",
        "0.000001234567890123",
        "12.5e2",
        "12.12345678e-3",
        "318.7812345678901 ",
        "\n                318.7812345678901\n",
        "\t \r\n  7.125",
        "42",
        "-12.5",
        "12345678901234567",
    };
    enum { COUNT = sizeof numbers / sizeof *numbers };
    struct pr_suite_read_opts o = {.threads = 1, .curve = 64};
    PR_AUTO_BUF struct pr_buf rates = PR_BUF_INIT(1 << 16);
    struct pr_suite *s = NULL;

    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        pr_buf_printf(&rates, "%s%s", i ? "," : "[", numbers[i]);
    for (int i = 0; i < 20; i++)
        pr_buf_str(&rates, ",1");
    pr_buf_char(&rates, ']');
    mkdir("d", 0700);
    put_result("d/a.json", "s.a", "0", "true", "1", rates.data);
    assert_int_equal(pr_suite_read("d", &o, &s, NULL), PR_OK);
    assert_int_equal(s->tests[0].runs[0]->curve_len, COUNT + 20);
    for (size_t i = 0; i < COUNT; i++) {
        double want = strtod(numbers[i], NULL);
        double got = (double)s->tests[0].runs[0]->curve[i];

        if (want > 1e19) /* too large to be rough about */
            assert_true(isnan(got));
        else
            assert_true(fabs(got - want) <= 1e-7 * fabs(want));
    }
    pr_suite_free(s);
}

/* An error after a list says the right line. */
static void lines_are_counted(void **state)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    struct pr_suite *s;

    (void)state;
    pr_buf_str(&text, "{\"name\": \"a\", \"job_id\": \"0\",\n\"timings\": "
                      "{\"train\": {\"rates\": [\n");
    for (int i = 0; i < 60; i++)
        pr_buf_printf(&text, "%d%s\n", i, i < 59 ? "," : "");
    pr_buf_str(&text, "]}},\n  oops}");
    mkdir("d", 0700);
    spit("d/a.json", text.data);
    s = read_suite("d", 1);
    assert_int_equal(s->note_count, 1);
    assert_string_equal(s->notes[0].where, "d/a.json:64:3");
    pr_suite_free(s);
}

static void one_test(void **state)
{
    const struct pr_suite_test *t;
    struct pr_suite *s;

    (void)state;
    mkdir("d", 0700);
    put_result("d/1.json", "s.a", "0", "true", "1", "[10, 20, 1, 1]");
    put_result("d/2.json", "s.a", "1", "true", "1", "[30, 0, 1]");
    put_result("d/3.json", "s.a", "1", "false", "1", "[1000, 0, 1]");
    put_result("d/4.json", "s.a", "1", "true", "NaN", "[1000, 0, 1]");
    s = read_suite("d", 1);
    t = test_of(s, "s.a");
    assert_int_equal(t->n, 4);
    assert_int_equal(t->failures, 2);
    assert_int_equal(t->train.n, 2);
    NEAR(t->train.mean, 22.5); /* of 15 and 30 */
    NEAR(t->train.std, 7.5);
    NEAR(t->train.min, 15);
    NEAR(t->train.max, 30);
    NEAR(t->total.mean, 4);
    NEAR(t->peak_memory, 9.5);
    assert_false(t->peak_is_whole);
    assert_int_equal(t->device_count, 2);
    for (size_t i = 0; i < 2; i++)
        NEAR(t->devices[i].stats.mean, t->devices[i].number ? 30 : 15);
    pr_suite_free(s);
}

/* ---- what milarun aborts on */

static void strange_files(void **state)
{
    const struct pr_suite_test *t;
    struct pr_suite *s;

    (void)state;
    mkdir("d", 0700);
    mkdir("d/sub", 0700);
    put_result("d/good.json", "s.a", "0", "true", "1", "[5, 6, 7]");
    spit("d/list.json", "[1, 2]");
    spit("d/empty.json", "");
    spit("d/cut.json", "{\"name\": \"s.a\", \"job_id\": \"0\", \"timings\": {");
    spit("d/after.json", "{\"job_id\": null} x");
    spit("d/summary.json", "{\"s.a\": {\"n\": 1}}");
    spit("d/null.json", "{\"name\": \"s.z\", \"job_id\": null}");
    spit("d/sub/part.json", "{\"name\": \"s.z\", \"job_id\": \"0\", "
                            "\"sub_job\": true}");
    spit("d/nameless.json", "{\"job_id\": \"0\"}");
    spit("d/.new-1.json", "half");
    spit("d/notes.txt", "not looked at");
    assert_int_equal(mkfifo("d/pipe.json", 0600), 0);
    assert_int_equal(symlink("..", "d/loop"), 0);
    /* The scheme "normal" leaves no job in the file, and no device. */
    spit("d/sub/normal.json",
         "{\"name\": \"s.n\", \"job_id\": \"0\", \"success\": true, "
         "\"metrics\": {\"loss\": 1, \"text\": \"x\", \"none\": null}, "
         "\"timings\": {\"train\": {\"rates\": [3, 4, 5]}}}");
    spit("d/fail.json", "{\"name\": \"s.f\", \"job_id\": \"0\", \"success\": "
                        "false, \"error\": \"why\", \"timings\": {}}");
    spit("d/silent.json", "{\"name\": \"s.s\", \"job_id\": \"0\", \"success\": "
                          "true, \"metrics\": {}, \"timings\": {}}");
    s = read_suite("d", 1);
    assert_int_equal(s->count, 4);
    assert_int_equal(s->bad, 5);
    assert_int_equal(s->note_count, 5);
    assert_int_equal(s->skipped, 3);
    NEAR(test_of(s, "s.a")->train.mean, 5);
    t = test_of(s, "s.n");
    NEAR(t->train.mean, 3);
    assert_int_equal(t->device_count, 0);
    assert_int_equal(t->total.n, 0);
    assert_true(t->peak_memory == 0 && t->peak_is_whole);
    t = test_of(s, "s.f");
    assert_int_equal(t->failures, 1);
    assert_true(isnan(t->train.mean));
    assert_string_equal(t->runs[0]->error, "why");
    assert_int_equal(test_of(s, "s.s")->silent_runs, 1);
    pr_suite_free(s);
}

static void devices_of_all_kinds(void **state)
{
    static const char *const ids[] = {" 2 ", "02", "GPU-1a2b", "", "0,1", "2"};
    const struct pr_suite_test *t;
    struct pr_suite *s;
    char file[32];

    (void)state;
    mkdir("d", 0700);
    for (int i = 0; i < 6; i++) {
        snprintf(file, sizeof file, "d/%d.json", i);
        put_result(file, "s.a", ids[i], "true", "1", "[5, 6, 7]");
    }
    s = read_suite("d", 2);
    t = test_of(s, "s.a");
    assert_int_equal(t->train.n, 6);
    assert_int_equal(t->device_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct pr_suite_device *d = &t->devices[i];
        assert_string_equal(d->id, d->number == 2 ? "2" : "GPU-1a2b");
        assert_int_equal(d->stats.n, d->number == 2 ? 3 : 1);
    }
    pr_suite_free(s);
}

/* Whoever reads what: the same to the last bit. */
static void threads_do_not_matter(void **state)
{
    struct pr_suite *one, *four;
    char file[32], rates[64];

    (void)state;
    mkdir("d", 0700);
    for (int i = 0; i < 300; i++) {
        snprintf(file, sizeof file, "d/%d.json", i);
        snprintf(rates, sizeof rates, "[%d.1, 2.3, 1, 1]", i * 7919 % 1000);
        put_result(file, i % 3 ? "s.a" : "s.b", i % 2 ? "0" : "1",
                   i % 17 ? "true" : "false", "1", rates);
    }
    one = read_suite("d", 1);
    four = read_suite("d", 4);
    assert_int_equal(one->count, 2);
    assert_int_equal(four->count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct pr_suite_test *a = &one->tests[i], *b = &four->tests[i];
        assert_string_equal(a->name, b->name);
        assert_memory_equal(&a->train, &b->train, sizeof a->train);
        assert_int_equal(a->failures, b->failures);
        assert_string_equal(a->devices[0].id, b->devices[0].id);
    }
    pr_suite_free(one);
    pr_suite_free(four);
}

/* ---- scores */

static struct pr_suite *suite_of(const char *json)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_json_in in = {.text = json, .len = strlen(json), .name = "x"};
    struct pr_suite *s = NULL;
    struct pr_value v;

    assert_int_equal(pr_json_read(&in, a, &v, NULL, NULL), PR_OK);
    assert_int_equal(pr_suite_from_value(&v, "x", &s, NULL), PR_OK);
    return s;
}

#define TEST(name, n, fail, mean, std)                                   \
    "\"" name "\": {\"n\": " #n ", \"failures\": " #fail ", \"train\": " \
    "{\"mean\": " #mean ", \"std\": " #std "}}"

static struct pr_suite_weight weights[] = {
    {"a", 2}, {"b", 1}, {"gone", 1}, {"zero", 0}};
static const struct pr_suite_weights weighed = {weights, 4};

static void scores_by_hand(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_suite *s = suite_of("{" TEST("a", 4, 0, 100, 20) ", " TEST(
        "b", 4, 1, 16, 32) ", " TEST("extra", 1, 1, 5, 0) "}");
    struct pr_suite *base = suite_of("{" TEST("a", 4, 4, 50, 10) "}");
    struct pr_suite_report_opts o = {
        .weights = &weighed, .bases = &base, .base_count = 1, .price = 90};
    struct pr_suite_report r;

    (void)state;
    assert_int_equal(pr_suite_score_report(s, &o, a, &r, NULL), PR_OK);
    assert_int_equal(r.count, 5);
    assert_string_equal(r.rows[3].name, "gone");
    assert_true(r.rows[3].missing && isnan(r.rows[3].adj));
    assert_false(r.rows[4].missing); /* it weighs nothing */
    assert_int_equal(r.missing, 1);
    NEAR(r.rows[0].adj, 100);
    NEAR(r.rows[0].fair_adj, 80);
    NEAR(r.rows[1].adj, 12);     /* 16 · 3/4 */
    NEAR(r.rows[1].fair_adj, 0); /* a spread larger than the mean */
    NEAR(r.milarun, pow(100.0 * 100 * 12, 0.25));
    NEAR(r.score, r.milarun);
    NEAR(r.penalised, 0);
    NEAR(r.strict, pow(100.0 * 100 * 12, 1.0 / 3));
    NEAR(r.coverage, 0.75);
    NEAR(r.failure_rate, 2.0 / 9);
    assert_false(r.pass);
    /* Failures of a baseline do not count; what it lacks is 1. */
    NEAR(r.base_scores[0].score, pow(50.0 * 50, 0.25));
    NEAR(r.base_scores[0].ratio, r.score / sqrt(50));
    NEAR(r.rows[0].beside[0].ratio, 2);
    assert_true(isnan(r.rows[1].beside[0].ratio));
    NEAR(r.rpp, 90 / r.score);
    o.penalise = true;
    assert_int_equal(pr_suite_score_report(s, &o, a, &r, NULL), PR_OK);
    NEAR(r.rows[0].adj, 80);
    NEAR(r.rows[0].beside[0].adj, 40);
    NEAR(r.score, 0);
    pr_suite_free(s);
    pr_suite_free(base);
}

/* What failed everywhere is worth nothing; what did not run is unknown. */
static void failed_is_not_missing(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_suite *s =
        suite_of("{" TEST("a", 2, 2, NaN, NaN) ", " TEST("b", 2, 0, 9, 0) "}");
    struct pr_suite_report_opts o = {.weights = &weighed};
    struct pr_suite_report r;

    (void)state;
    assert_int_equal(pr_suite_score_report(s, &o, a, &r, NULL), PR_OK);
    assert_true(r.rows[0].adj == 0 && !r.rows[0].missing);
    assert_true(r.milarun == 0 && r.strict == 0);
    NEAR(r.coverage, 0.75);
    pr_suite_free(s);
}

/* A test that could not be started here is left out of the strict score. */
static void not_available(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_suite_report_opts o = {.weights = &weighed};
    struct pr_suite_report r;
    struct pr_suite *s;

    (void)state;
    mkdir("d", 0700);
    put_result("d/b.json", "b", "0", "true", "1", "[9, 1, 1]");
    spit("d/a.json", "{\"name\": \"a\", \"job_id\": \"0\", \"success\": "
                     "false, \"prony\": {\"attempts\": 0}}");
    s = read_suite("d", 1);
    assert_int_equal(test_of(s, "a")->unavailable, 1);
    assert_int_equal(test_of(s, "b")->unavailable, 0);
    assert_int_equal(pr_suite_score_report(s, &o, a, &r, NULL), PR_OK);
    assert_true(r.rows[0].missing && r.milarun == 0);
    NEAR(r.strict, 9);
    NEAR(r.coverage, 0.25);
    assert_int_equal(r.missing, 2);
    pr_suite_free(s);
}

static void devices_side_by_side(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_suite *s = suite_of(
        "{\"x\": {\"n\": 1, \"train\": {\"mean\": 1}, \"pergpu\": {\"1\": "
        "{\"mean\": 50, \"min\": 10, \"max\": 0}, \"0\": {\"mean\": 100, "
        "\"min\": 5, \"max\": 8}}}, \"y\": {\"n\": 1, \"train\": {\"mean\": "
        "1}, \"pergpu\": {\"0\": {\"mean\": 1}, \"3\": {\"mean\": 1}}}, "
        "\"z\": {\"n\": 1, \"train\": {\"mean\": 1}}}");
    struct pr_suite_report_opts o = {.compare_devices = true};
    struct pr_suite_report r;

    (void)state;
    assert_int_equal(pr_suite_score_report(s, &o, a, &r, NULL), PR_OK);
    assert_int_equal(r.matrix[0].rows, 1); /* of the others ids are missing */
    assert_string_equal(r.matrix[0].names[0], "x");
    NEAR(r.matrix[0].cells[0], 1);
    NEAR(r.matrix[0].cells[1], 0.5);
    NEAR(r.matrix[1].cells[0], 0.5);
    NEAR(r.matrix[2].cells[1], 0);
    pr_suite_free(s);
}

/* ---- summaries and weights that are none */

static void wrong_documents(void **state)
{
    static const char *const summaries[] = {"[1]",
                                            "3",
                                            "{\"a\": 1}",
                                            "{\"a\": {\"n\": 1}}",
                                            "{\"a\": {\"train\": 5}}",
                                            "{\"a\": {\"train\": {}},",
                                            ""};
    static const char *const lists[] = {"[]", "{\"a\": \"x\"}",
                                        "{\"a\": {\"weight\": \"x\"}}",
                                        "{\"a\": -1}", "{\"a\": {\"w\": 1}}"};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_suite_weights w;
    struct pr_suite *s = NULL;
    struct pr_value v;

    (void)state;
    for (size_t i = 0; i < sizeof summaries / sizeof *summaries; i++) {
        struct pr_err err = {0};
        spit("s.json", summaries[i]);
        assert_int_equal(pr_suite_read("s.json", NULL, &s, &err), PR_E_FORMAT);
        assert_non_null(strstr(err.where, "s.json"));
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct pr_json_in in = {
            .text = lists[i], .len = strlen(lists[i]), .name = "w"};
        assert_int_equal(pr_json_read(&in, a, &v, NULL, NULL), PR_OK);
        assert_int_equal(pr_suite_weights_from_value(&v, "w", a, &w, NULL),
                         PR_E_FORMAT);
    }
    assert_int_equal(pr_suite_read("nowhere", NULL, &s, NULL), PR_E_IO);
}

/* ---- milabench */

#define CONFIG                                                        \
    "{\"event\": \"config\", \"data\": {\"name\": \"n\", \"group\": " \
    "\"g\", \"weight\": 3, \"enabled\": true, \"tag\": [\"n\"], "     \
    "\"device\": 0, \"plan\": {\"method\": \"per_gpu\"}}}\n"          \
    "{\"event\": \"start\", \"data\": {\"time\": 10}}\n"
#define RATE(r)                                                                \
    "{\"event\": \"data\", \"data\": {\"task\": \"train\", \"rate\": " #r "}}" \
    "\n"
#define LOAD(t, used, load, watts)                                           \
    "{\"event\": \"data\", \"data\": {\"task\": \"main\", \"time\": " #t     \
    ", \"gpudata\": {\"0\": {\"memory\": [" #used ", 100], \"load\": " #load \
    ", \"power\": " #watts "}, \"1\": {\"memory\": [99, 100], \"load\": 1, " \
    "\"power\": 1000}}}}\n"
#define END(code)                                                           \
    "{\"event\": \"end\", \"data\": {\"time\": 14, \"return_code\": " #code \
    "}}\n"

static void milabench_by_hand(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const struct pr_suite_test *t;
    struct pr_suite_report_opts o = {0};
    struct pr_suite_report r;
    struct pr_suite *s;

    (void)state;
    mkdir("d", 0700);
    mkdir("d/install.1", 0700);
    spit("d/n.D0.data",
         CONFIG RATE(1) RATE(4) RATE(6) RATE(8) RATE(99) LOAD(1, 50, 0.5, 100)
             LOAD(3, 70, 0, 200) LOAD(4, 60, 1, 300) "half a line\n" END(0));
    spit("d/m.data", "{\"event\": \"config\", \"data\": {\"name\": \"m\"}}\n");
    spit("d/none.data", "no event\n");
    spit("d/install.1/x.data", CONFIG RATE(1) END(0));
    s = read_suite("d", 1);
    assert_int_equal(s->kind, PR_SUITE_MILABENCH);
    assert_int_equal(s->count, 1);
    assert_int_equal(s->bad, 1); /* m has not ended */
    assert_int_equal(s->skipped, 1);
    t = test_of(s, "n");
    NEAR(t->train.mean, 6); /* of 4, 6, 8 */
    NEAR(t->bench->median, 6);
    NEAR(t->bench->q1, 5);
    NEAR(t->bench->sem, sqrt(8.0 / 3) / sqrt(3));
    NEAR(t->total.mean, 4);
    /* Idle samples, and those of other devices, do not count. */
    NEAR(t->bench->peak_memory, 60);
    NEAR(t->bench->watts, 200);
    NEAR(t->bench->kilojoules, (200 * 2 + 300 * 1) / 1000.0);
    NEAR(t->bench->per_watt, 6 / (0.7 / 3));
    assert_int_equal(pr_suite_score_report(s, &o, a, &r, NULL), PR_OK);
    NEAR(r.rows[0].score, 6);
    NEAR(r.score, 7); /* of one more than the score */
    pr_suite_free(s);
}

static const struct {
    const char *text;
    bool good;
} endings[] = {
    {CONFIG RATE(1) END(0), true},
    {CONFIG RATE(1) END(1), false},
    {CONFIG END(0), false},
    {CONFIG "{\"event\": \"stop\", \"data\": {}}\n" END(-15), true},
    {CONFIG RATE(1) "{\"event\": \"data\", \"data\": {\"loss\": NaN}}\n" END(0),
     false},
};

static void milabench_endings(void **state)
{
    (void)state;
    mkdir("d", 0700);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        struct pr_suite *s;

        spit("d/n.data", endings[i].text);
        s = read_suite("d", 1);
        assert_int_equal(s->count, 1);
        assert_int_equal(s->tests[0].failures, !endings[i].good);
        pr_suite_free(s);
    }
}

/* Two runs, deflated and stored; made by Python. */
static const char zip[] =
    "PK\003\004\024\000\000\000\010\000\000\000!\134l \332[o\000\000"
    "\000\373\000\000\000\010\000\000\000r/a.data}\315\301\016@0\014"
    "\006\340\273\247\220\236\035p\221x\031i\254dA'S.\213w\267\272"
    "\310B\034\373\377\375\332\000t\020\013\2649\364\216\007;B\221"
    "\203A\301\230\004`\134H+\2043\306\253]u\342}\236\317,<p\023\364"
    "\2228\261\267\253\376\324\275\234 \334&-\304\243em<\212\312\346"
    "\357\012\261\371\372\134+'\331=w\2753\232\224\257+\027PK\003\004"
    "\024\000\000\000\000\000\000\000!\134\273\014I8\373\000\000\000"
    "\373\000\000\000\010\000\000\000r/b.data{\042event\042: \042c"
    "onfig\042, \042data\042: {\042name\042: \042b\042}, \042pipe\042"
    ": null}\012{\042event\042: \042start\042, \042data\042: {\042"
    "time\042: 1}, \042pipe\042: null}\012{\042event\042: \042data"
    "\042, \042data\042: {\042task\042: \042train\042, \042rate\042"
    ": 7}, \042pipe\042: null}\012{\042event\042: \042end\042, \042"
    "data\042: {\042time\042: 2, \042return_code\042: 0}, \042pipe"
    "\042: null}\012PK\001\002\024\003\024\000\000\000\010\000\000"
    "\000!\134l \332[o\000\000\000\373\000\000\000\010\000\000\000"
    "\000\000\000\000\000\000\000\000\200\001\000\000\000\000r/a.d"
    "ataPK\001\002\024\003\024\000\000\000\000\000\000\000!\134\273"
    "\014I8\373\000\000\000\373\000\000\000\010\000\000\000\000\000"
    "\000\000\000\000\000\000\200\001\225\000\000\000r/b.dataPK\005"
    "\006\000\000\000\000\002\000\002\000l\000\000\000\266\001\000"
    "\000\000\000";

static void put_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void zips(void **state)
{
    struct pr_suite *s;

    (void)state;
    put_bytes("r.zip", zip, sizeof zip - 1);
    s = read_suite("r.zip", 1);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->bad, 0);
    NEAR(test_of(s, "a")->train.mean, 7);
    assert_string_equal(test_of(s, "b")->runs[0]->path, "r.zip/r/b.data");
    pr_suite_free(s);
}

/* Each byte wrong in turn: an error, a note, or what is not looked at. A
 * member that changed is never taken for what it was. */
static void damaged_zips(void **state)
{
    size_t notes = 0, errors = 0;

    (void)state;
    for (size_t i = 0; i < sizeof zip - 1; i++) {
        char copy[sizeof zip];
        struct pr_suite *s = NULL;
        int rc;

        memcpy(copy, zip, sizeof zip);
        copy[i] = (char)(copy[i] ^ 0x55);
        put_bytes("r.zip", copy, sizeof zip - 1);
        rc = pr_suite_read("r.zip", NULL, &s, NULL);
        assert_true(rc == PR_OK || rc == PR_E_FORMAT);
        errors += rc != PR_OK;
        if (rc)
            continue;
        notes += s->bad;
        for (size_t k = 0; k < s->count; k++)
            NEAR(s->tests[k].train.mean, 7);
        pr_suite_free(s);
    }
    assert_true(notes > 100 && errors > 20);
}

/* ---- out of memory */

static int read_and_report(void)
{
    struct pr_suite_read_opts o = {.threads = 2, .curve = 4};
    struct pr_suite_report_opts ro = {.weights = &weighed,
                                      .compare_devices = true};
    struct pr_arena *a = pr_arena_new(4096);
    struct pr_suite *s = NULL, *b = NULL, *z = NULL;
    struct pr_suite_report r;
    int rc = a ? pr_suite_read("d", &o, &s, NULL) : PR_E_NOMEM;

    if (!rc)
        rc = pr_suite_read("e", &o, &b, NULL);
    ro.bases = &b;
    ro.base_count = 1;
    if (!rc)
        rc = pr_suite_score_report(s, &ro, a, &r, NULL);
    if (!rc)
        rc = pr_suite_read("r.zip", &o, &z, NULL);
    pr_suite_free(s);
    pr_suite_free(b);
    pr_suite_free(z);
    pr_arena_free(a);
    return rc;
}

static void without_memory(void **state)
{
    (void)state;
    mkdir("d", 0700);
    mkdir("e", 0700);
    put_result("d/1.json", "a", "0", "true", "1", "[5, 6, 7]");
    put_result("d/2.json", "a", "1", "true", "1", "[5, 6, 7]");
    spit("d/bad.json", "[");
    spit("e/n.D0.data", CONFIG RATE(1) LOAD(1, 50, 1, 9) END(0));
    spit("e/m.data", CONFIG RATE(1));
    put_bytes("r.zip", zip, sizeof zip - 1);
    torture(read_and_report);
}

static void put_empty(const char *path)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
}

/* One file decides: folders that come after it are not even opened. */
static void one_file_tells_a_tree(void **state)
{
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    char event[4096];

    (void)state;
    assert_true(watch >= 0);
    assert_int_equal(mkdir("t", 0755), 0);
    assert_int_equal(mkdir("t/deep", 0755), 0);
    put_empty("t/deep/a.txt");
    assert_false(pr_suite_is_tree("t"));
    put_empty("t/deep/a.data");
    assert_true(inotify_add_watch(watch, "t/deep", IN_OPEN) >= 0);
    assert_true(pr_suite_is_tree("t"));
    assert_true(read(watch, event, sizeof event) > 0);
    put_empty("t/a.json");
    assert_true(pr_suite_is_tree("t"));
    assert_true(read(watch, event, sizeof event) < 0);
    close(watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(steady_windows, enter, leave),
        cmocka_unit_test_setup_teardown(curves_are_folded, enter, leave),
        cmocka_unit_test_setup_teardown(curves_of_all_numbers, enter, leave),
        cmocka_unit_test_setup_teardown(curves_of_many_digits, enter, leave),
        cmocka_unit_test_setup_teardown(lines_are_counted, enter, leave),
        cmocka_unit_test_setup_teardown(one_file_tells_a_tree, enter, leave),
        cmocka_unit_test_setup_teardown(one_test, enter, leave),
        cmocka_unit_test_setup_teardown(strange_files, enter, leave),
        cmocka_unit_test_setup_teardown(devices_of_all_kinds, enter, leave),
        cmocka_unit_test_setup_teardown(threads_do_not_matter, enter, leave),
        cmocka_unit_test(scores_by_hand),
        cmocka_unit_test(failed_is_not_missing),
        cmocka_unit_test_setup_teardown(not_available, enter, leave),
        cmocka_unit_test(devices_side_by_side),
        cmocka_unit_test_setup_teardown(wrong_documents, enter, leave),
        cmocka_unit_test_setup_teardown(milabench_by_hand, enter, leave),
        cmocka_unit_test_setup_teardown(milabench_endings, enter, leave),
        cmocka_unit_test_setup_teardown(zips, enter, leave),
        cmocka_unit_test_setup_teardown(damaged_zips, enter, leave),
        cmocka_unit_test_setup_teardown(without_memory, enter, leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
