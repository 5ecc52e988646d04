/* Time distributions: every form that DLIO takes, draws against the moments
 * of their distributions, and texts as DLIO prints them. */
#include "loader/duration.h"

#include "brief.h"
#include "values.h"

#include <math.h>

enum { MANY = 200000 };

static struct pr_arena *arena;

static int start(void **state)
{
    (void)state;
    arena = pr_arena_new(4096);
    return arena ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    pr_arena_free(arena);
    return 0;
}

static struct pr_duration parsed(const char *text, double stdev)
{
    struct pr_value v = json(arena, text);
    struct pr_duration d;
    struct pr_err err = {0};

    if (pr_duration_parse("x", &v, stdev, &d, &err))
        fail_msg("%s: %s", text, err.msg);
    return d;
}

static void every_form_is_read_and_written(void **state)
{
    static const struct {
        const char *in;
        double stdev;
        enum pr_duration_kind kind;
        double a, b;
        const char *text;
    } rows[] = {
        {"0.323", 0, PR_DURATION_FIXED, 0.323, 0, "{'mean': 0.323}"},
        {"0", 0, PR_DURATION_FIXED, 0, 0, "{'mean': 0.0}"},
        {"\"0.5\"", 0, PR_DURATION_FIXED, 0.5, 0, "{'mean': 0.5}"},
        {"1", 0.1, PR_DURATION_NORMAL, 1, 0.1, "{'mean': 1.0, 'stdev': 0.1}"},
        {"{\"mean\": 2}", 0, PR_DURATION_FIXED, 2, 0, "{'mean': 2.0}"},
        {"{\"mean\": 2}", 0.5, PR_DURATION_NORMAL, 2, 0.5,
         "{'mean': 2.0, 'stdev': 0.5}"},
        {"{\"mean\": 1.0, \"stdev\": \"0.1\"}", 0, PR_DURATION_NORMAL, 1, 0.1,
         "{'mean': 1.0, 'stdev': 0.1}"},
        {"{\"mean\": 1.0, \"stdev\": 0.1}", 0.3, PR_DURATION_NORMAL, 1, 0.3,
         "{'mean': 1.0, 'stdev': 0.3}"},
        {"{\"type\": \"normal\", \"mean\": 1, \"stdev\": 0.25}", 0,
         PR_DURATION_NORMAL, 1, 0.25,
         "{'type': 'normal', 'mean': 1.0, 'stdev': 0.25}"},
        {"{\"type\": null, \"mean\": 1, \"stdev\": null}", 0, PR_DURATION_FIXED,
         1, 0, "{'mean': 1.0}"},
        {"{\"type\": \"uniform\", \"min\": 0.1, \"max\": 0.2}", 0.7,
         PR_DURATION_UNIFORM, 0.1, 0.2,
         "{'type': 'uniform', 'min': 0.1, 'max': 0.2}"},
        {"{\"scale\": 3, \"type\": \"gamma\", \"shape\": 2}", 0,
         PR_DURATION_GAMMA, 2, 3,
         "{'type': 'gamma', 'shape': 2.0, 'scale': 3.0}"},
        {"{\"type\": \"exponential\", \"scale\": 1e-3}", 0.7,
         PR_DURATION_EXPONENTIAL, 0.001, 0,
         "{'type': 'exponential', 'scale': 0.001}"},
        {"{\"type\": \"poisson\", \"lam\": 4}", 0, PR_DURATION_POISSON, 4, 0,
         "{'type': 'poisson', 'lam': 4.0}"},
        {"null", 0.1, PR_DURATION_NONE, 0, 0, "{}"},
        {"{}", 0, PR_DURATION_NONE, 0, 0, "{}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_duration d = parsed(rows[i].in, rows[i].stdev);
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1000);

        assert_int_equal(d.kind, rows[i].kind);
        assert_true(d.a == rows[i].a && d.b == rows[i].b);
        pr_buf_str(&out, ">");
        pr_duration_text(&d, &out);
        assert_string_equal(out.data + 1, rows[i].text);
    }
}

static void what_is_wrong_is_said_with_its_key(void **state)
{
    static const struct {
        const char *in, *msg, *hint;
    } rows[] = {
        {"{\"type\": \"nomral\", \"mean\": 1}",
         "'type' must be one of normal, uniform, gamma, exponential, poisson, "
         "got 'nomral'",
         "did you mean 'normal'?"},
        {"{\"type\": \"weibull\"}", "got 'weibull'", "a number alone"},
        {"{\"type\": \"\"}", "got ''", "a number alone"},
        {"{\"type\": 5}", "got 5", "a number alone"},
        {"{\"type\": \"normal\", \"mean\": 1}",
         "'stdev' is missing for type normal", ""},
        {"{\"type\": \"normal\", \"stdev\": 1}",
         "'mean' is missing for type normal", ""},
        {"{\"type\": \"uniform\", \"min\": 1}", "'max' is missing", ""},
        {"{\"type\": \"uniform\", \"max\": 1}", "'min' is missing", ""},
        {"{\"type\": \"gamma\", \"shape\": 1, \"scale\": null}",
         "'scale' is missing for type gamma", ""},
        {"{\"type\": \"exponential\"}", "'scale' is missing", ""},
        {"{\"type\": \"poisson\"}", "'lam' is missing", ""},
        {"{\"type\": \"uniform\", \"min\": 3, \"max\": 1}",
         "'max' is below 'min'", ""},
        {"{\"min\": 1, \"max\": 2}", "'mean' is missing", "name a 'type'"},
        {"{\"stdev\": 1}", "'mean' is missing", ""},
        {"{\"mean\": \"x\"}", "'mean' wants a number, got 'x'", ""},
        {"{\"mean\": [1]}", "'mean' wants a number, got [1]", ""},
        {"{\"mean\": 1, \"stddev\": 2}", "unknown key 'stddev'",
         "did you mean 'stdev'?"},
        {"{\"mean\": 1, \"colour\": 2}", "unknown key 'colour'", "keys are"},
        {"\"soon\"", "wants a number, got 'soon'", "or a map"},
        {"true", "wants a number, got True", "or a map"},
        {"[1, 2]", "wants a number, got [1, 2]", "or a map"},
        {"1e999", "wants a number", ""},
        {"{\"type\": \"gamma\", \"shape\": -1, \"scale\": 1}",
         "'shape' is below 0", ""},
        {"{\"type\": \"gamma\", \"shape\": 1, \"scale\": -1}",
         "'scale' is below 0", ""},
        {"{\"type\": \"exponential\", \"scale\": -1}", "'scale' is below 0",
         ""},
        {"{\"type\": \"poisson\", \"lam\": -1}", "'lam' is below 0", ""},
        {"{\"mean\": 1, \"stdev\": -1}", "'stdev' is below 0", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_value v = strcmp(rows[i].in, "1e999") != 0
                                ? json(arena, rows[i].in)
                                : pr_float(INFINITY);
        struct pr_duration d = {.a = 77};
        struct pr_err err = {0};

        assert_int_equal(pr_duration_parse("train.eval", &v, 0, &d, &err),
                         PR_E_CONF);
        assert_string_equal(err.where, "train.eval");
        if (!strstr(err.msg, rows[i].msg) || !strstr(err.hint, rows[i].hint))
            fail_msg("%s: %s; %s", rows[i].in, err.msg, err.hint);
        assert_true(d.a == 77);
        assert_int_equal(pr_duration_parse("x", &v, 0, &d, NULL), PR_E_CONF);
    }
}

/* Mean and deviation of a great many draws; those of DLIO are absolute. The
 * third is what the mean of draws must be said to be. */
static void draws_have_the_moments_of_their_distribution(void **state)
{
    static const struct {
        const char *in;
        double mean, deviation;
    } rows[] = {
        {"0.25", 0.25, 0},
        {"-0.25", 0.25, 0},
        {"null", 0, 0},
        {"{\"mean\": 1, \"stdev\": 0.1}", 1, 0.1},
        /* folded: sqrt(2/pi), sqrt(1 - 2/pi) */
        {"{\"mean\": 0, \"stdev\": 1}", 0.7978845608, 0.6028102750},
        {"{\"mean\": 1, \"stdev\": 0}", 1, 0},
        {"{\"type\": \"normal\", \"mean\": 5, \"stdev\": 0.5}", 5, 0.5},
        {"{\"type\": \"normal\", \"mean\": -5, \"stdev\": 0.5}", 5, 0.5},
        {"{\"type\": \"uniform\", \"min\": 1, \"max\": 3}", 2, 0.5773502692},
        {"{\"type\": \"uniform\", \"min\": -3, \"max\": -1}", 2, 0.5773502692},
        {"{\"type\": \"uniform\", \"min\": -1, \"max\": 1}", 0.5, 0.2886751346},
        {"{\"type\": \"uniform\", \"min\": -1, \"max\": 3}", 1.25,
         0.8779711460},
        {"{\"type\": \"uniform\", \"min\": 2, \"max\": 2}", 2, 0},
        {"{\"type\": \"gamma\", \"shape\": 2, \"scale\": 3}", 6, 4.242640687},
        {"{\"type\": \"gamma\", \"shape\": 1, \"scale\": 1}", 1, 1},
        {"{\"type\": \"gamma\", \"shape\": 0.3, \"scale\": 2}", 0.6,
         1.095445115},
        {"{\"type\": \"gamma\", \"shape\": 400, \"scale\": 0.01}", 4, 0.2},
        {"{\"type\": \"gamma\", \"shape\": 0, \"scale\": 1}", 0, 0},
        {"{\"type\": \"exponential\", \"scale\": 0.5}", 0.5, 0.5},
        {"{\"type\": \"exponential\", \"scale\": 0}", 0, 0},
        {"{\"type\": \"poisson\", \"lam\": 0}", 0, 0},
        {"{\"type\": \"poisson\", \"lam\": 0.5}", 0.5, 0.7071067812},
        {"{\"type\": \"poisson\", \"lam\": 9.9}", 9.9, 3.146426545},
        {"{\"type\": \"poisson\", \"lam\": 10}", 10, 3.162277660},
        {"{\"type\": \"poisson\", \"lam\": 200}", 200, 14.14213562},
        {"{\"type\": \"poisson\", \"lam\": 1e6}", 1e6, 1000},
    };
    size_t step = is_brief() ? 2 : 1;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i += step) {
        struct pr_duration d = parsed(rows[i].in, 0);
        double mean = rows[i].mean, dev = rows[i].deviation;
        double sum = 0, squares = 0;
        struct pr_rng rng;

        pr_rng_seed(&rng, 11, i);
        for (int k = 0; k < MANY; k++) {
            double x = (double)pr_duration_draw(&d, &rng) * 1e-9 - mean;
            sum += x / MANY;
            squares += x * x / MANY;
        }
        squares = sqrt(squares - sum * sum);
        if (fabs(sum) > 5 * dev / sqrt(MANY) + 1e-9 ||
            fabs(squares - dev) > 0.015 * dev + 1e-9 ||
            fabs(pr_duration_mean(&d) - mean) > 1e-8 * mean)
            fail_msg("%s: %.6g ± %.6g, said %.9g", rows[i].in, mean + sum,
                     squares, pr_duration_mean(&d));
    }
}

/* Each count of a Poisson number against its probability, on both sides of
 * where the method changes. */
static void poisson_counts_are_right_one_by_one(void **state)
{
    static const double means[] = {0.7, 9.5, 10, 12.5, 30};

    (void)state;
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        struct pr_duration d = {PR_DURATION_POISSON, true, means[i], 0};
        unsigned count[128] = {0};
        double chi = 0, df = -1;
        struct pr_rng rng;

        pr_rng_seed(&rng, 12, i);
        for (int k = 0; k < MANY; k++) {
            uint64_t ns = pr_duration_draw(&d, &rng);
            assert_int_equal(ns % 1000000000, 0); /* whole seconds */
            count[ns / 1000000000 % 128]++;
        }
        for (int k = 0; k < 128; k++) {
            double want =
                MANY * exp(k * log(means[i]) - means[i] - lgamma(k + 1.0));
            if (want < 10)
                continue;
            chi += (count[k] - want) * (count[k] - want) / want;
            df++;
        }
        if (fabs(chi - df) > 4.5 * sqrt(2 * df) + 2)
            fail_msg("lam %g: %g of %g", means[i], chi, df);
    }
}

/* Shares of draws below some times, of the distribution function. */
static void shapes_are_right_not_only_moments(void **state)
{
    static const struct {
        const char *in;
        double at, share;
    } rows[] = {
        {"{\"type\": \"exponential\", \"scale\": 1}", 0.1, 0.0951625820},
        {"{\"type\": \"exponential\", \"scale\": 1}", 3, 0.9502129316},
        /* 1 - (1 + x) e^-x */
        {"{\"type\": \"gamma\", \"shape\": 2, \"scale\": 1}", 0.5,
         0.0902040105},
        {"{\"type\": \"gamma\", \"shape\": 2, \"scale\": 1}", 4, 0.9084218056},
        /* half of chi square with one degree: erf(sqrt(x)) */
        {"{\"type\": \"gamma\", \"shape\": 0.5, \"scale\": 1}", 0.01,
         0.1124629160},
        {"{\"type\": \"gamma\", \"shape\": 0.5, \"scale\": 1}", 1,
         0.8427007929},
        {"{\"type\": \"uniform\", \"min\": 1, \"max\": 2}", 1.25, 0.25},
        {"{\"type\": \"uniform\", \"min\": 1, \"max\": 2}", 1, 0},
        {"{\"type\": \"normal\", \"mean\": 9, \"stdev\": 1}", 8, 0.1586552539},
        {"{\"type\": \"normal\", \"mean\": 9, \"stdev\": 1}", 11, 0.9772498681},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_duration d = parsed(rows[i].in, 0);
        double p = rows[i].share;
        unsigned below = 0;
        struct pr_rng rng;

        pr_rng_seed(&rng, 13, i);
        for (int k = 0; k < MANY; k++)
            below += (double)pr_duration_draw(&d, &rng) < rows[i].at * 1e9;
        if (fabs(below / (double)MANY - p) > 5 * sqrt(p * (1 - p) / MANY))
            fail_msg("%s: %u below %g", rows[i].in, below, rows[i].at);
    }
}

static void the_same_seed_draws_the_same_times(void **state)
{
    static const struct pr_duration rows[] = {
        {PR_DURATION_NORMAL, true, 1, 0.5},
        {PR_DURATION_UNIFORM, true, 1, 2},
        {PR_DURATION_GAMMA, true, 0.5, 2},
        {PR_DURATION_GAMMA, true, 5, 2},
        {PR_DURATION_EXPONENTIAL, true, 1, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_rng a, b, c;
        unsigned same = 0;

        pr_rng_seed(&a, 1, 5);
        pr_rng_seed(&b, 1, 5);
        pr_rng_seed(&c, 1, 6);
        for (int k = 0; k < 1000; k++) {
            uint64_t ns = pr_duration_draw(&rows[i], &a);
            assert_int_equal(ns, pr_duration_draw(&rows[i], &b));
            same += ns == pr_duration_draw(&rows[i], &c);
        }
        assert_in_range(same, 0, 5);
    }
}

static void fixed_times_are_exact_and_endless_ones_fit(void **state)
{
    static const struct {
        double s;
        uint64_t ns;
    } rows[] = {{0.323, 323000000}, {1e-9, 1},           {0.00936, 9360000},
                {1.36, 1360000000}, {1e300, 1ull << 62}, {-1e12, 1ull << 62}};
    struct pr_rng rng;

    (void)state;
    pr_rng_seed(&rng, 0, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_duration d = {.kind = PR_DURATION_FIXED, .a = rows[i].s};
        assert_int_equal(pr_duration_draw(&d, &rng), rows[i].ns);
    }
}

static void a_text_without_room_is_no_harm(void **state)
{
    struct pr_duration d = {PR_DURATION_UNIFORM, true, 1, 2};

    (void)state;
    for (size_t max = 0; max < 50; max++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(max);
        pr_duration_text(&d, &out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_read_and_written),
        cmocka_unit_test(what_is_wrong_is_said_with_its_key),
        cmocka_unit_test(draws_have_the_moments_of_their_distribution),
        cmocka_unit_test(poisson_counts_are_right_one_by_one),
        cmocka_unit_test(shapes_are_right_not_only_moments),
        cmocka_unit_test(the_same_seed_draws_the_same_times),
        cmocka_unit_test(fixed_times_are_exact_and_endless_ones_fit),
        cmocka_unit_test(a_text_without_room_is_no_harm),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
