/* The verdict, on loops whose answer is known. */
#include "prony/probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct pr_probe_numbers n;
static struct pr_probe_verdict v;

static void set(int phase, double rate, double deviation)
{
    n.phase[phase] = (struct pr_probe_figures){
        .trials = rate > 0 ? 3 : 0, .rate = rate, .deviation = deviation};
}

/* Three rates, and the seconds in which FULL waited and computed. */
static void judge(double io, double synthetic, double full, double wait,
                  double compute)
{
    memset(&n, 0, sizeof n);
    n.size = sizeof n;
    set(PR_PROBE_IO, io, 0);
    set(PR_PROBE_SYNTHETIC, synthetic, 0);
    set(PR_PROBE_FULL, full, 0);
    n.phase[PR_PROBE_FULL].fetch_s = wait;
    n.phase[PR_PROBE_FULL].step_s = compute;
    v.size = sizeof v;
    pr_probe_judge(&n, &v);
}

static void the_slower_side_is_the_limit(void **state)
{
    static const struct {
        double io, synthetic, full;
        enum pr_probe_bound bound;
        double other, gain;
    } rows[] = {
        {100, 500, 100, PR_PROBE_INPUT_BOUND, 500, 5},
        {500, 100, 100, PR_PROBE_COMPUTE_BOUND, 500, 5},
        {100, 105, 100, PR_PROBE_BALANCED, 105, 1.05},
        {105, 100, 100, PR_PROBE_BALANCED, 105, 1.05},
        {100, 112, 100, PR_PROBE_INPUT_BOUND, 112, 1.12},
        {84.468, 481.618, 83.212, PR_PROBE_INPUT_BOUND, 481.618, 5.7878},
        {100, 500, 0, PR_PROBE_INPUT_BOUND, 500, 0},
        {100, 0, 0, PR_PROBE_UNKNOWN, 0, 0},
        {0, 0, 0, PR_PROBE_UNKNOWN, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        judge(rows[i].io, rows[i].synthetic, rows[i].full, 0, 0);
        assert_int_equal(v.bound, rows[i].bound);
        assert_float_equal(v.other, rows[i].other, 1e-9);
        assert_float_equal(v.gain, rows[i].gain, 1e-3);
        assert_memory_equal(v.text, pr_probe_bound_name(v.bound),
                            strlen(pr_probe_bound_name(v.bound)));
    }
}

/* Rates that differ by less than they vary are equal. */
static void a_wide_spread_makes_sides_equal(void **state)
{
    (void)state;
    judge(100, 130, 100, 0, 0);
    assert_int_equal(v.bound, PR_PROBE_INPUT_BOUND);
    set(PR_PROBE_IO, 100, 12);
    set(PR_PROBE_SYNTHETIC, 130, 12);
    pr_probe_judge(&n, &v);
    assert_int_equal(v.bound, PR_PROBE_BALANCED);
    /* But a side that is much faster may vary as it likes. */
    set(PR_PROBE_IO, 27709, 14000);
    set(PR_PROBE_SYNTHETIC, 79, 1);
    pr_probe_judge(&n, &v);
    assert_int_equal(v.bound, PR_PROBE_COMPUTE_BOUND);
    /* And so may one that is much slower. */
    set(PR_PROBE_IO, 17135, 9000);
    set(PR_PROBE_SYNTHETIC, 5657061, 1428346);
    pr_probe_judge(&n, &v);
    assert_int_equal(v.bound, PR_PROBE_INPUT_BOUND);
}

static void overlap_lies_between_in_turn_and_side_by_side(void **state)
{
    (void)state;
    judge(100, 100, 50, 1, 1);
    assert_float_equal(v.serial, 50, 1e-9);
    assert_float_equal(v.expected, 100, 1e-9);
    assert_float_equal(v.overlap, 0, 1e-9);
    assert_float_equal(v.stall, 0.5, 1e-9);
    assert_false(v.disturbed);
    assert_non_null(strstr(v.text, "reading ahead could reach 100"));
    judge(100, 100, 100, 0, 1);
    assert_float_equal(v.overlap, 1, 1e-9);
    assert_null(strstr(v.text, "reading ahead"));
    judge(100, 100, 1 / 0.015, 0.5, 1);
    assert_float_equal(v.overlap, 0.5, 1e-9);
    judge(100, 100, 30, 0.5, 1);
    assert_true(v.disturbed);
    assert_float_equal(v.overlap, 0, 1e-9);
    assert_non_null(strstr(v.text, "compete"));
    judge(27000, 70, 56, 0, 1); /* nothing to hide */
    assert_float_equal(v.overlap, -1, 1e-9);
    assert_null(strstr(v.text, "reading ahead"));
    judge(100, 100, 200, 0, 1); /* no more than all of it */
    assert_float_equal(v.overlap, 1, 1e-9);
}

/* Of a loop that was only watched the waiting tells. */
static void a_loop_alone_is_judged_by_its_waiting(void **state)
{
    (void)state;
    judge(0, 0, 100, 3, 1);
    assert_int_equal(v.bound, PR_PROBE_INPUT_BOUND);
    assert_float_equal(v.stall, 0.75, 1e-9);
    assert_float_equal(v.other, 400, 1e-9);
    assert_float_equal(v.gain, 4, 1e-9);
    judge(0, 0, 100, 0.01, 1);
    assert_int_equal(v.bound, PR_PROBE_COMPUTE_BOUND);
    assert_float_equal(v.gain, 0, 1e-9);
    judge(0, 0, 100, 0, 0);
    assert_int_equal(v.bound, PR_PROBE_UNKNOWN);
    assert_float_equal(v.stall, -1, 1e-9);
}

static void words_say_all_of_it(void **state)
{
    (void)state;
    judge(845, 1190, 812, 0.31, 0.69);
    assert_string_equal(
        v.text,
        "input bound: data alone 845, compute alone 1190, both 812 samples/s; "
        "31 % of the time waits for data; if loading were no limit, the run "
        "could reach 1190 (1.47 times)");
    judge(1190, 8.45, 8.12, 0.02, 0.98);
    assert_string_equal(
        v.text,
        "compute bound: data alone 1190, compute alone 8.45, both 8.12 "
        "samples/s; 2 % of the time waits for data; if computing were no "
        "limit, the run could reach 1190 (146.55 times)");
    judge(0, 0, 0, 0, 0);
    assert_string_equal(v.text,
                        "unknown: nothing was measured that could tell");
    judge(20, 0, 0, 0, 0);
    assert_string_equal(v.text, "unknown: data alone 20 samples/s");
    judge(1e300, 2e300, 1e300, 1, 1); /* digits, and no more than fit */
    assert_true(strlen(v.text) < sizeof v.text);
}

static void names_are_words(void **state)
{
    (void)state;
    assert_string_equal(pr_probe_bound_name(PR_PROBE_BALANCED), "balanced");
    assert_string_equal(pr_probe_bound_name((enum pr_probe_bound)77),
                        "unknown");
    assert_string_equal(pr_probe_phase_name(PR_PROBE_SYNTHETIC), "SYNTHETIC");
    assert_string_equal(pr_probe_phase_name(PR_PROBE_PHASES), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slower_side_is_the_limit),
        cmocka_unit_test(a_wide_spread_makes_sides_equal),
        cmocka_unit_test(overlap_lies_between_in_turn_and_side_by_side),
        cmocka_unit_test(a_loop_alone_is_judged_by_its_waiting),
        cmocka_unit_test(words_say_all_of_it),
        cmocka_unit_test(names_are_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
