/* Timing a loop with a clock of the test's own: lines, JSON and figures have
 * known answers. */
#include "prony/probe.h"

#include "scratch.h"
#include "torture.h"

/* A world in which fetching and using take exactly so long. */
static struct {
    uint64_t now;
    uint64_t fetch_ns, use_ns, line_ns;
    unsigned fetched, used, restarted;
    unsigned batches; /* until the data end; 0: never */
    unsigned left;
    char said[16384];
    int fail_use_at; /* which use fails; 0: none */
} w;

static uint64_t clock_ns(void *ctx)
{
    (void)ctx;
    return w.now;
}

static void take_line(void *ctx, const char *text, size_t len)
{
    size_t used = strlen(w.said);

    (void)ctx;
    assert_int_equal(strlen(text), len);
    snprintf(w.said + used, sizeof w.said - used, "%s\n", text);
    w.now += w.line_ns;
}

static int fetch(void *ctx, void **ret_batch, uint64_t *ret_samples,
                 struct pr_err *err)
{
    (void)ctx;
    (void)err;
    (void)ret_samples;
    if (w.batches && !w.left)
        return 0;
    w.left--;
    w.now += w.fetch_ns;
    *ret_batch = (void *)&w.fetched;
    w.fetched++;
    return 1;
}

static int use(void *ctx, void *batch, struct pr_err *err)
{
    (void)ctx;
    assert_ptr_equal(batch, &w.fetched);
    w.now += w.use_ns;
    w.used++;
    if (w.fail_use_at && (int)w.used == w.fail_use_at) {
        memset(err, 0, sizeof *err);
        return err->code = PR_E_JOB;
    }
    return PR_OK;
}

static int restart(void *ctx, struct pr_err *err)
{
    (void)ctx;
    (void)err;
    w.left = w.batches;
    w.restarted++;
    return PR_OK;
}

static const struct pr_probe_calls calls = {sizeof(struct pr_probe_calls),
                                            fetch, use, restart, NULL};

static struct pr_probe_config config;
static struct pr_probe_opts opts;
static struct pr_err err;

static void set_world(uint64_t fetch_ms, uint64_t use_ms)
{
    memset(&w, 0, sizeof w);
    w.now = 1000;
    w.fetch_ns = fetch_ms * 1000000;
    w.use_ns = use_ms * 1000000;
    config.size = sizeof config;
    pr_probe_config_init(&config);
    config.output[0] = '\0';
    config.report_freq = 0;
    for (int i = 0; i < PR_PROBE_PHASES; i++)
        config.phase[i] = (struct pr_probe_phase_config){
            .run = true, .batches = 2, .trials = 1, .warmup = 0};
    opts = (struct pr_probe_opts)PR_PROBE_OPTS_INIT;
    opts.config = &config;
    opts.batch_size = 4;
    opts.line = take_line;
    opts.clock = clock_ns;
}

static struct pr_probe *probe(void)
{
    struct pr_probe *p = NULL;

    assert_int_equal(pr_probe_new(&opts, &p, &err), PR_OK);
    return p;
}

static void assert_json(struct pr_probe *p, const char *want)
{
    const char *text;
    size_t len;

    assert_int_equal(pr_probe_json(p, &text, &len, &err), PR_OK);
    assert_string_equal(text, want);
    assert_int_equal(len, strlen(want));
}

/* ---- benchy's way */

static void three_phases_have_benchys_json(void **state)
{
    struct pr_probe *p;

    (void)state;
    set_world(100, 25);
    p = probe();
    assert_int_equal(pr_probe_next(p), PR_PROBE_IO);
    assert_int_equal(pr_probe_run(p, &calls, &err), PR_OK);
    assert_int_equal(pr_probe_next(p), PR_PROBE_PHASES);
    assert_json(
        p, "{\"nranks\": 1, "
           "\"IO\": {\"rates\": [[40.0, 40.0]], "
           "\"avg_iter_throughput\": [40.0], \"trial_throughput\": [40.0], "
           "\"trial_time\": [0.2]}, "
           "\"SYNTHETIC\": {\"rates\": [[160.0, 160.0]], "
           "\"avg_iter_throughput\": [160.0], \"trial_throughput\": [160.0], "
           "\"trial_time\": [0.05]}, "
           "\"FULL\": {\"rates\": [[32.0, 32.0]], "
           "\"avg_iter_throughput\": [32.0], \"trial_throughput\": [32.0], "
           "\"trial_time\": [0.25]}}");
    /* N in IO and FULL, and one for all of SYNTHETIC, which is used N + 1
     * times. */
    assert_int_equal(w.fetched, 2 + 1 + 2);
    assert_int_equal(w.used, 3 + 2);
    pr_probe_free(p);
}

static void lines_are_benchys(void **state)
{
    struct pr_probe *p;

    (void)state;
    set_world(100, 25);
    config.report_freq = 1;
    config.phase[PR_PROBE_IO].warmup = 1;
    config.phase[PR_PROBE_SYNTHETIC].trials = 2;
    w.line_ns = 7000000; /* costs nobody anything */
    p = probe();
    pr_probe_say(p, PR_PROBE_SAY_CONFIG);
    pr_probe_say(p, PR_PROBE_SAY_PROFILER);
    assert_int_equal(pr_probe_run(p, &calls, &err), PR_OK);
    assert_int_equal(pr_probe_finish(p, &err), PR_OK);
    pr_probe_say(p, PR_PROBE_SAY_EXIT);
    assert_string_equal(
        w.said,
        "BENCHY::INFO::Message: Using default benchy configuration.\n"
        "BENCHY::INFO::Message: Profiling mode single. Starting profiler on "
        "rank 0 only.\n"
        "BENCHY::IO_WARMUP_0::Iteration Throughput: 40.0\n"
        "BENCHY::IO_WARMUP_0::Iteration Throughput: 40.0\n"
        "BENCHY::IO_WARMUP_0::Average Iteration Throughput: 40.0\n"
        "BENCHY::IO_WARMUP_0::Trial Throughput: 40.0\n"
        "BENCHY::IO_0::Iteration Throughput: 40.0\n"
        "BENCHY::IO_0::Iteration Throughput: 40.0\n"
        "BENCHY::IO_0::Average Iteration Throughput: 40.0\n"
        "BENCHY::IO_0::Trial Throughput: 40.0\n"
        "BENCHY::SYNTHETIC_0::Iteration Throughput: 160.0\n"
        "BENCHY::SYNTHETIC_0::Iteration Throughput: 160.0\n"
        "BENCHY::SYNTHETIC_0::Average Iteration Throughput: 160.0\n"
        "BENCHY::SYNTHETIC_0::Trial Throughput: 160.0\n"
        "BENCHY::SYNTHETIC_1::Iteration Throughput: 160.0\n"
        "BENCHY::SYNTHETIC_1::Iteration Throughput: 160.0\n"
        "BENCHY::SYNTHETIC_1::Average Iteration Throughput: 160.0\n"
        "BENCHY::SYNTHETIC_1::Trial Throughput: 160.0\n"
        "BENCHY::FULL_0::Iteration Throughput: 32.0\n"
        "BENCHY::FULL_0::Iteration Throughput: 32.0\n"
        "BENCHY::FULL_0::Average Iteration Throughput: 32.0\n"
        "BENCHY::FULL_0::Trial Throughput: 32.0\n"
        "BENCHY::SUMMARY::IO average trial throughput: 40.000 +/- 0.000\n"
        "BENCHY::SUMMARY:: SYNTHETIC average trial throughput: 160.000 +/- "
        "0.000\n"
        "BENCHY::SUMMARY::FULL average trial throughput: 32.000 +/- 0.000\n"
        "BENCHY::INFO::Message: Tests completed.... exiting.\n");
    pr_probe_free(p);
}

/* With 50 batches and a line every 10 there are five, the last one just before
 * the averages; with 0 none; another rank says nothing. */
static void lines_come_every_so_many_batches(void **state)
{
    static const struct {
        unsigned every, rank, lines;
    } rows[] = {{10, 0, 5}, {0, 0, 0},  {49, 0, 1}, {50, 0, 1},
                {51, 0, 0}, {1, 0, 50}, {10, 1, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_probe *p;
        unsigned lines = 0;

        set_world(1, 1);
        config.report_freq = rows[i].every;
        config.phase[PR_PROBE_IO].batches = 50;
        config.phase[PR_PROBE_SYNTHETIC].run = false;
        config.phase[PR_PROBE_FULL].run = false;
        opts.rank = rows[i].rank;
        opts.ranks = 2;
        p = probe();
        assert_int_equal(pr_probe_run(p, &calls, &err), PR_OK);
        for (const char *s = w.said; (s = strstr(s, "::Iteration")); s++)
            lines++;
        assert_int_equal(lines, rows[i].lines);
        assert_int_equal(*w.said == '\0', rows[i].rank);
        pr_probe_free(p);
    }
}

static void a_disabled_phase_and_no_trials_are_absent(void **state)
{
    struct pr_probe *p;

    (void)state;
    set_world(100, 25);
    config.phase[PR_PROBE_IO].run = false;
    config.phase[PR_PROBE_SYNTHETIC].trials = 0;
    config.phase[PR_PROBE_SYNTHETIC].warmup = 1;
    p = probe();
    assert_int_equal(pr_probe_next(p), PR_PROBE_SYNTHETIC);
    assert_int_equal(pr_probe_run(p, &calls, &err), PR_OK);
    assert_json(p, "{\"nranks\": 1, \"FULL\": {\"rates\": [[32.0, 32.0]], "
                   "\"avg_iter_throughput\": [32.0], "
                   "\"trial_throughput\": [32.0], \"trial_time\": [0.25]}}");
    pr_probe_free(p);
}

static void data_that_end_start_again(void **state)
{
    struct pr_probe *p;

    (void)state;
    set_world(100, 25);
    w.batches = w.left = 3;
    config.phase[PR_PROBE_IO].batches = 10;
    p = probe();
    assert_int_equal(pr_probe_run(p, &calls, &err), PR_OK);
    assert_int_equal(w.fetched, 13);
    assert_int_equal(w.restarted, 4);
    pr_probe_free(p);
}

static int no_batch(void *ctx, void **ret_batch, uint64_t *ret_samples,
                    struct pr_err *e)
{
    (void)ctx;
    (void)ret_batch;
    (void)ret_samples;
    (void)e;
    return 0;
}

static void no_data_and_no_functions_are_errors(void **state)
{
    struct pr_probe_calls none = calls;
    struct pr_probe *p;

    (void)state;
    set_world(100, 25);
    p = probe();
    none.fetch = no_batch;
    assert_int_equal(pr_probe_run(p, &none, &err), PR_E_CONF);
    assert_non_null(strstr(err.msg, "no batch"));
    none.fetch = NULL;
    assert_int_equal(pr_probe_run(p, &none, &err), PR_E_USAGE);
    pr_probe_free(p);
}

static void no_batches_are_refused(void **state)
{
    struct pr_probe *p = NULL;

    (void)state;
    set_world(1, 1);
    config.phase[PR_PROBE_FULL].batches = 0;
    assert_int_equal(pr_probe_new(&opts, &p, &err), PR_E_CONF);
    assert_non_null(strstr(err.msg, "FULL"));
    assert_null(p);
}

/* What was measured before an error is there, the trial that broke off with
 * the batches it had. */
static void an_error_keeps_what_was_measured(void **state)
{
    struct pr_probe_numbers n = {.size = sizeof n};
    struct pr_probe *p;

    (void)state;
    set_world(100, 25);
    w.fail_use_at = 3 + 2; /* the second of FULL */
    p = probe();
    assert_int_equal(pr_probe_run(p, &calls, &err), PR_E_JOB);
    pr_probe_numbers(p, &n);
    assert_int_equal(n.phase[PR_PROBE_IO].trials, 1);
    assert_int_equal(n.phase[PR_PROBE_FULL].trials, 1);
    assert_int_equal(n.phase[PR_PROBE_FULL].short_trials, 1);
    assert_int_equal(n.phase[PR_PROBE_FULL].batches, 1);
    pr_probe_free(p);
}

/* ---- a loop of one's own */

static void a_loop_of_ones_own(void **state)
{
    struct pr_probe_numbers n = {.size = sizeof n};
    struct pr_probe_trial t;
    enum pr_probe_phase phase;
    struct pr_probe *p;
    unsigned trials = 0;

    (void)state;
    set_world(0, 0);
    config.phase[PR_PROBE_FULL] = (struct pr_probe_phase_config){
        .run = true, .batches = 3, .trials = 2, .warmup = 1};
    config.phase[PR_PROBE_IO].run = false;
    config.phase[PR_PROBE_SYNTHETIC].run = false;
    p = probe();
    assert_string_equal(pr_probe_label(p), "");
    while ((phase = pr_probe_next(p)) != PR_PROBE_PHASES) {
        unsigned steps = 0;

        assert_int_equal(pr_probe_begin(p, phase, &err), PR_OK);
        assert_string_equal(pr_probe_label(p), trials == 0   ? "FULL_WARMUP_0"
                                               : trials == 1 ? "FULL_0"
                                                             : "FULL_1");
        do {
            w.now += 1000000;
            pr_probe_batch_ready(p, steps == 1 ? 2 : 0);
            w.now += 3000000 * (trials + 1);
            steps++;
        } while (pr_probe_step_done(p));
        assert_int_equal(steps, 3);
        assert_int_equal(pr_probe_count(p), 3);
        assert_false(pr_probe_step_done(p)); /* there is no fourth */
        assert_int_equal(pr_probe_end(p, &err), PR_OK);
        assert_int_equal(pr_probe_end(p, &err), PR_OK);
        trials++;
    }
    assert_int_equal(trials, 3);
    assert_true(pr_probe_trial(p, PR_PROBE_FULL, 0, &t));
    assert_int_equal(t.count, 3);
    assert_float_equal(t.time_s, 3 * 0.007, 1e-12);
    assert_float_equal(t.rates[1], 2 / 0.007, 1e-6);
    assert_float_equal(t.rate, (4 + 2 + 4) / (3 * 0.007), 1e-6);
    assert_false(pr_probe_trial(p, PR_PROBE_FULL, 2, &t));
    assert_false(pr_probe_trial(p, PR_PROBE_IO, 0, &t));
    pr_probe_numbers(p, &n);
    assert_float_equal(n.phase[PR_PROBE_FULL].fetch_s, 6 * 0.001, 1e-9);
    assert_float_equal(n.phase[PR_PROBE_FULL].step_s, 3 * 0.006 + 3 * 0.009,
                       1e-9);
    assert_float_equal(n.phase[PR_PROBE_FULL].fetch.p99, 0.001, 2e-5);
    assert_float_equal(n.phase[PR_PROBE_FULL].step.max, 0.009, 1e-9);
    assert_float_equal(n.phase[PR_PROBE_FULL].step.min, 0.006, 1e-9);
    /* Too many trials, and phases that there are not. */
    assert_int_equal(pr_probe_begin(p, PR_PROBE_FULL, &err), PR_E_USAGE);
    assert_int_equal(pr_probe_begin(p, PR_PROBE_IO, &err), PR_E_USAGE);
    assert_int_equal(pr_probe_begin(p, PR_PROBE_PHASES, &err), PR_E_USAGE);
    pr_probe_free(p);
}

static void deviation_is_that_of_the_population(void **state)
{
    struct pr_probe_numbers n = {.size = sizeof n};
    struct pr_probe *p;

    (void)state;
    set_world(0, 0);
    opts.batch_size = 10;
    config.phase[PR_PROBE_IO] = (struct pr_probe_phase_config){
        .run = true, .batches = 1, .trials = 2, .warmup = 0};
    p = probe();
    for (unsigned i = 1; i <= 2; i++) {
        assert_int_equal(pr_probe_begin(p, PR_PROBE_IO, &err), PR_OK);
        w.now += i * 1000000000;
        pr_probe_batch_ready(p, 0);
        assert_false(pr_probe_step_done(p));
        assert_int_equal(pr_probe_end(p, &err), PR_OK);
    }
    pr_probe_numbers(p, &n);
    assert_float_equal(n.phase[PR_PROBE_IO].rate, 7.5, 1e-12);
    assert_float_equal(n.phase[PR_PROBE_IO].deviation, 2.5, 1e-12);
    pr_probe_free(p);
}

/* begin without end, and finish in the middle of a trial. */
static void a_trial_that_is_left_counts_with_what_it_has(void **state)
{
    struct pr_probe_numbers n = {.size = sizeof n};
    struct pr_probe *p;

    (void)state;
    set_world(0, 0);
    config.phase[PR_PROBE_IO].trials = 3;
    p = probe();
    assert_int_equal(pr_probe_begin(p, PR_PROBE_IO, &err), PR_OK);
    w.now += 500;
    assert_true(pr_probe_step_done(p));
    assert_int_equal(pr_probe_begin(p, PR_PROBE_IO, &err), PR_OK); /* empty */
    assert_int_equal(pr_probe_begin(p, PR_PROBE_IO, &err), PR_OK);
    w.now += 500;
    assert_true(pr_probe_step_done(p));
    assert_int_equal(pr_probe_finish(p, &err), PR_OK);
    pr_probe_numbers(p, &n);
    assert_int_equal(n.phase[PR_PROBE_IO].trials, 2);
    assert_int_equal(n.phase[PR_PROBE_IO].short_trials, 2);
    assert_int_equal(pr_probe_next(p), PR_PROBE_SYNTHETIC);
    assert_non_null(strstr(w.said, "SUMMARY::IO average"));
    assert_null(strstr(w.said, "SYNTHETIC"));
    pr_probe_free(p);
}

/* A clock that stands still divides nothing by zero. */
static void no_time_at_all_is_survived(void **state)
{
    struct pr_probe *p;
    struct pr_probe_trial t;

    (void)state;
    set_world(0, 0);
    p = probe();
    assert_int_equal(pr_probe_run(p, &calls, &err), PR_OK);
    assert_true(pr_probe_trial(p, PR_PROBE_FULL, 0, &t));
    assert_float_equal(t.rates[0], 4e9, 1);
    pr_probe_free(p);
}

/* ---- ranks */

/* Another rank that is twice as slow as this one. */
static int sum(void *ctx, double *values, size_t count, struct pr_err *e)
{
    (void)ctx;
    (void)e;
    assert_int_equal(count, 2 + 2);
    for (size_t i = 0; i < count - 1; i++)
        values[i] += values[i] / 2;
    values[count - 1] += 2 * values[count - 1];
    return PR_OK;
}

static void ranks_are_summed_and_the_own_view_kept(void **state)
{
    struct pr_probe *p;

    (void)state;
    set_world(100, 25);
    config.phase[PR_PROBE_SYNTHETIC].run = false;
    config.phase[PR_PROBE_FULL].run = false;
    opts.ranks = 2;
    opts.sum = sum;
    p = probe();
    assert_int_equal(pr_probe_run(p, &calls, &err), PR_OK);
    assert_json(
        p, "{\"nranks\": 2, \"IO\": {\"rates\": [[60.0, 60.0]], "
           "\"avg_iter_throughput\": [60.0], \"trial_throughput\": [60.0], "
           "\"trial_time\": [0.30000000000000004]}, "
           "\"rank0\": {\"IO\": {\"rates\": [[80.0, 80.0]], "
           "\"avg_iter_throughput\": [80.0], \"trial_throughput\": [80.0], "
           "\"trial_time\": [0.2]}}}");
    pr_probe_free(p);
}

static void without_a_sum_a_rank_speaks_for_all(void **state)
{
    struct pr_probe_trial t;
    struct pr_probe *p;

    (void)state;
    set_world(100, 25);
    opts.ranks = 8;
    p = probe();
    assert_int_equal(pr_probe_run(p, &calls, &err), PR_OK);
    assert_true(pr_probe_trial(p, PR_PROBE_IO, 0, &t));
    assert_float_equal(t.rate, 320, 1e-9);
    assert_float_equal(t.rates[1], 320, 1e-9);
    pr_probe_free(p);
}

/* ---- the file */

static void the_result_is_there_after_each_trial(void **state)
{
    struct pr_probe *p;
    const char *text;
    char *file;
    size_t len;

    (void)state;
    set_world(100, 25);
    snprintf(config.output, sizeof config.output, "a/b/result.json");
    p = probe();
    assert_int_equal(pr_probe_begin(p, PR_PROBE_IO, &err), PR_OK);
    (void)pr_probe_step_done(p);
    assert_int_equal(pr_probe_end(p, &err), PR_OK);
    free(slurp("a/b/result.json", &len));
    assert_int_equal(pr_probe_run(p, &calls, &err), PR_OK);
    assert_int_equal(pr_probe_finish(p, &err), PR_OK);
    assert_int_equal(pr_probe_json(p, &text, &len, &err), PR_OK);
    file = slurp("a/b/result.json", &len);
    assert_string_equal(file, text);
    assert_non_null(strstr(w.said,
                           "BENCHY::INFO::Message: Writing JSON output to "
                           "a/b/result.json.\n"));
    free(file);
    pr_probe_free(p);
}

static void a_place_that_cannot_be_written_is_an_error(void **state)
{
    struct pr_probe *p;

    (void)state;
    set_world(100, 25);
    snprintf(config.output, sizeof config.output, "/dev/null/no/result.json");
    p = probe();
    assert_int_equal(pr_probe_run(p, &calls, &err), PR_E_IO);
    pr_probe_free(p);
}

static int attempt(void)
{
    struct pr_probe *p = NULL;
    const char *text;
    int rc = pr_probe_new(&opts, &p, &err);

    if (!rc)
        rc = pr_probe_run(p, &calls, &err);
    if (!rc)
        rc = pr_probe_finish(p, &err);
    if (!rc)
        rc = pr_probe_json(p, &text, NULL, &err);
    pr_probe_free(p);
    return rc;
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    set_world(100, 25);
    opts.sum = sum;
    opts.ranks = 2;
    snprintf(config.output, sizeof config.output, "a/result.json");
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_phases_have_benchys_json),
        cmocka_unit_test(lines_are_benchys),
        cmocka_unit_test(lines_come_every_so_many_batches),
        cmocka_unit_test(a_disabled_phase_and_no_trials_are_absent),
        cmocka_unit_test(data_that_end_start_again),
        cmocka_unit_test(no_data_and_no_functions_are_errors),
        cmocka_unit_test(no_batches_are_refused),
        cmocka_unit_test(an_error_keeps_what_was_measured),
        cmocka_unit_test(a_loop_of_ones_own),
        cmocka_unit_test(deviation_is_that_of_the_population),
        cmocka_unit_test(a_trial_that_is_left_counts_with_what_it_has),
        cmocka_unit_test(no_time_at_all_is_survived),
        cmocka_unit_test(ranks_are_summed_and_the_own_view_kept),
        cmocka_unit_test(without_a_sum_a_rank_speaks_for_all),
        cmocka_unit_test_setup_teardown(the_result_is_there_after_each_trial,
                                        enter, leave),
        cmocka_unit_test(a_place_that_cannot_be_written_is_an_error),
        cmocka_unit_test_setup_teardown(no_memory_is_an_error, enter, leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
