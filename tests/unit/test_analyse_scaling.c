/*
 * Scaling reports: DLBS's formulas, and what it got wrong: processors, slow
 * results, rows without a base, repeats.
 */
#include "analyse/series/pivot.h"
#include "analyse/series/scaling.h"
#include "present/report/report_pivot.h"
#include "present/report/report_scaling.h"

#include "scratch.h"
#include "torture.h"

#include <math.h>

struct set {
    struct pr_results *bench;
    struct pr_arena *arena;
};

static void load(struct set *s, const char *json)
{
    static const struct pr_results_opts opts = {.threads = 1};
    const char *input = "in.json";

    spit(input, json);
    s->arena = pr_arena_new(4096);
    assert_non_null(s->arena);
    assert_int_equal(pr_results_read(&input, 1, &opts, &s->bench, NULL), PR_OK);
}

static void done(struct set *s)
{
    pr_results_free(s->bench);
    pr_arena_free(s->arena);
}

static struct pr_scaling build(const struct set *s, enum pr_scaling_type type)
{
    struct pr_scaling_opts o = {.type = type, .target = "results.time"};
    struct pr_scaling r;

    assert_int_equal(pr_scaling_build(s->bench, &o, s->arena, &r, NULL), PR_OK);
    return r;
}

#define ROW(net, gpus, batch, time)                            \
    "{\"exp.model_title\": \"" net "\", \"exp.gpus\": \"" gpus \
    "\", \"exp.effective_batch\": " #batch ", \"results.time\": " #time "}"

static void weak(void **state)
{
    struct pr_scaling r;
    struct set s;

    (void)state;
    load(&s,
         "[" ROW("A", "0", 16, 913.44) "," ROW("A", "0,1", 32, 1029.24) "," ROW(
             "A", "0,1", 64, 5) "," ROW("B", "0,1", 8,
                                        3) ","
                                           "{\"exp.model_title\": \"A\"}," ROW(
                                               "A", "0", 8, 0) "]");
    r = build(&s, PR_SCALING_WEAK);
    assert_int_equal(r.column_count, 2);
    assert_int_equal(r.row_count, 1); /* others have no single device */
    assert_int_equal(r.without, 1);
    assert_int_equal(r.unusable, 1);
    assert_false(r.repeats);
    assert_int_equal(r.rows[0].batch, 16);
    assert_true(r.rows[0].cells[1].speedup == 31.0 / 17.0);
    assert_true(r.rows[0].cells[1].efficiency == 88.74);
    done(&s);
}

static void strong(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_scaling r;
    struct set s;

    (void)state;
    load(&s, "[" ROW("A", "0", 64, 400) "," ROW("A", "0,1", 64, 220) "," ROW(
                 "A", "0,1", 32, 100) "," ROW("A", "0:1,2:3", 64, 130) "]");
    r = build(&s, PR_SCALING_STRONG);
    assert_int_equal(r.row_count, 2);
    assert_int_equal(r.columns[2].count, 4); /* ':' parts GPUs, too */
    assert_false(r.rows[0].cells[1].rated);  /* no base */
    assert_true(r.rows[1].cells[2].efficiency == 76.92);
    pr_scaling_text(&r, &out);
    assert_non_null(
        strstr(out.data,
               "Efficiency = 100% * t1 / (N * tN)\n"
               "Network              Batch      1          2          4      "
               "   \n"
               "A                    32         -          -          -      "
               "   \n"
               "A                    64         100.00     90.90      76.92  "
               "   \n\n\n\n"));
    done(&s);
}

/* DLBS counted a processor as one device, and divided by zero when fewer than
 * one sample a second came out. */
static void processors_and_slow_ones(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_scaling r;
    struct set s;

    (void)state;
    load(&s, "[{\"exp.model\": \"m\", \"exp.gpus\": \"\", "
             "\"exp.replica_batch\": 1, \"results.time\": 4000}, "
             "{\"exp.model\": \"m\", \"exp.gpus\": \"\", "
             "\"exp.num_local_replicas\": 2, \"exp.effective_batch\": 2, "
             "\"results.time\": \"5000\"}]");
    r = build(&s, PR_SCALING_WEAK);
    assert_int_equal(r.row_count, 1);
    assert_string_equal(r.columns[1].device, "cpu x2");
    assert_int_equal(r.columns[1].count, 2);
    assert_true(r.rows[0].cells[1].speedup == 0.4 / 0.25);
    assert_true(r.rows[0].cells[1].efficiency == 80);
    pr_scaling_text(&r, &out);
    assert_non_null(strstr(
        out.data, "m                    1          0.25       0.40      \n"));
    done(&s);
}

#define OURS(more)                                                     \
    "{\"exp.model\": \"m\", \"exp.gpus\": \"\", \"exp.num_gpus\": 0, " \
    "\"exp.replica_batch\": 16, \"exp.effective_batch\": 32, "         \
    "\"exp.num_replicas\": 2, \"results.exit_status\": 0, "            \
    "\"results.time\": 100, " more "}"

/* A run of ours is shown as it was, not as it was asked for: two replicas of
 * 16 samples. */
static void what_ran(void **state)
{
    static const struct {
        const char *row;
        int64_t devices, batch;
        double rate; /* 0: none */
        const char *device;
    } rows[] = {
        {OURS("\"results.throughput\": 160, \"results.replicas\": 1"), 1, 16,
         160, "cpu"},
        {OURS("\"results.throughput\": 1000, \"results.batch\": 100"), 2, 100,
         1000, "cpu x2"},
        {OURS("\"results.samples_per_second\": 79.6, "
              "\"results.accelerators\": 4"),
         4, 8, 79.6, "acc x4"},
        {OURS("\"results.replicas\": 1"), 1, 32, 0, "cpu"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_scaling r;
        struct set s;

        load(&s, rows[i].row);
        r = build(&s, PR_SCALING_EXPLORATION);
        assert_int_equal(r.row_count, 1);
        assert_string_equal(r.rows[0].device, rows[i].device);
        assert_int_equal(r.columns[0].batch, rows[i].batch);
        assert_int_equal(r.unrated, !rows[i].rate);
        if (rows[i].rate)
            assert_true(r.rows[0].cells[0].rate == rows[i].rate);
        else
            assert_true(isnan(r.rows[0].cells[0].rate));
        done(&s);
    }
}

static void repeats_have_intervals(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(1 << 20);
    const struct pr_scaling_cell *c;
    struct pr_scaling r;
    struct set s;

    (void)state;
    load(&s, "[" ROW("A", "0", 8, 10) "," ROW("A", "0", 8, 12) "," ROW(
                 "A", "0", 8, 14) "," ROW("A", "0,1", 16, 15) "]");
    r = build(&s, PR_SCALING_WEAK);
    c = r.rows[0].cells;
    assert_true(r.repeats);
    assert_int_equal(c[0].n, 3);
    assert_true(c[0].time == 12);
    /* t(0.975, 2) = 4.302653, s = 2 */
    assert_true(fabs(c[0].time_ci - 4.302653 * 2 / sqrt(3)) < 1e-5);
    assert_true(c[1].efficiency == 80);
    assert_true(fabs(c[1].efficiency_ci - 80 * c[0].time_ci / 12) < 1e-9);
    pr_scaling_text(&r, &out);
    assert_non_null(strstr(out.data, "95% confidence"));
    assert_non_null(strstr(
        out.data, "A                    8          4.97       -         \n"));
    pr_scaling_json(&r, &json);
    assert_non_null(strstr(json.data, "\"repeats\": {"));
    assert_non_null(strstr(json.data, "\"ci95\": {"));
    done(&s);
}

static void exploration(void **state)
{
    struct pr_scaling r;
    struct set s;

    (void)state;
    load(&s, "[" ROW("B", "0", 8, 10) "," ROW("A", "0,1", 4, 12) "," ROW(
                 "A", "0", 16, 14) "," ROW("A", "0", 4, 15) "]");
    r = build(&s, PR_SCALING_EXPLORATION);
    assert_int_equal(r.column_count, 3);
    assert_int_equal(r.row_count, 3);
    assert_string_equal(r.rows[1].device, "0,1");
    assert_true(r.rows[0].cells[0].time == 15);
    assert_int_equal(r.rows[0].cells[1].n, 0);
    assert_true(r.rows[0].cells[2].time == 14);
    done(&s);
}

static void report_text(const struct set *s, const char *spec,
                        struct pr_buf *out)
{
    struct pr_pivot_spec want;
    struct pr_pivot p;

    assert_int_equal(pr_pivot_spec_read(spec, s->arena, &want, NULL), PR_OK);
    assert_int_equal(pr_pivot_build(s->bench, &want, s->arena, &p, NULL),
                     PR_OK);
    assert_int_equal(pr_pivot_text(&p, s->arena, out, NULL), PR_OK);
}

#define CPU(replicas, time)                                           \
    "{\"exp.model_title\": \"A\", \"exp.num_gpus\": 0, "              \
    "\"exp.num_replicas\": " #replicas ", \"exp.replica_batch\": 4, " \
    "\"results.time\": " #time ", \"results.throughput\": 100}"

/* DLBS left out whatever is 0 or "". */
static void processors_by_columns(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct set s;

    (void)state;
    load(&s, "[" CPU(1, 10) "," CPU(2, 12.5) "," CPU(2, 12.5) "]");
    report_text(&s, "weak-scaling", &out);
    assert_non_null(strstr(out.data,
                           "Batch time (milliseconds)\n"
                           "                          Num Devices\n"
                           "  Model  Replica Batch      1       2  \n"
                           "  A      4                 10   12.50  \n\n\n\n"));
    assert_non_null(
        strstr(out.data, "  A      4                100.00   80.00  "));
    assert_non_null(strstr(out.data, "confidence"));
    done(&s);
}

/* The same of tables: batch 4 of each of two accelerators. */
static void batches_that_were(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct set s;

    (void)state;
    load(&s, OURS("\"results.samples_per_second\": 80, "
                  "\"results.accelerators\": 2, \"results.batch\": 8"));
    report_text(&s, "weak-scaling", &out);
    assert_non_null(strstr(out.data, "\n  m      4  "));
    assert_non_null(strstr(out.data, "  80.00  \n"));
    done(&s);
}

static void specs_that_are_none(void **state)
{
    static const char *const bad[] = {
        "other",
        "{}",
        "[]",
        "{\"inputs\": [], \"output\": \"a\"}",
        "{\"inputs\": [1], \"output\": \"a\"}",
        "{\"inputs\": [\"a\"]}",
        "{\"inputs\": [\"a\"], \"output\": \"b\", \"report_efficiency\": true}",
        "{\"inputs\": [\"a\"], \"output\": \"b\", \"report_speedup\": 1}"};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_pivot_spec spec;
    struct pr_err err;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(pr_pivot_spec_read(bad[i], a, &spec, &err),
                         PR_E_USAGE);
        assert_true(*err.hint);
    }
}

static struct pr_results *tortured;

static int attempt(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(256);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_scaling_opts o = {.target = "results.time"};
    struct pr_pivot_spec spec;
    struct pr_scaling s;
    struct pr_pivot p;
    int rc = a ? pr_scaling_build(tortured, &o, a, &s, NULL) : PR_E_NOMEM;

    if (!rc)
        rc = pr_pivot_spec_read("strong", a, &spec, NULL);
    if (!rc)
        rc = pr_pivot_build(tortured, &spec, a, &p, NULL);
    if (!rc)
        rc = pr_pivot_text(&p, a, &out, NULL);
    return rc;
}

static void out_of_memory(void **state)
{
    struct set s;

    (void)state;
    load(&s, "[" ROW("A", "0", 8, 10) "," ROW("A", "0", 8, 12) "," ROW(
                 "B", "0,1", 16, 15) "]");
    tortured = s.bench;
    torture(attempt);
    done(&s);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(weak),
        IN_SCRATCH(strong),
        IN_SCRATCH(processors_and_slow_ones),
        IN_SCRATCH(what_ran),
        IN_SCRATCH(repeats_have_intervals),
        IN_SCRATCH(exploration),
        IN_SCRATCH(processors_by_columns),
        IN_SCRATCH(batches_that_were),
        IN_SCRATCH(specs_that_are_none),
        IN_SCRATCH(out_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
