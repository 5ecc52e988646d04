/* Times that experiments may take, in no time. */
#include "plans.h"
#include "run/run.h"
#include "virtual_clock.h"

static struct virtual_clock passing;

/* Seconds of the clock that a run of these arguments took, and its code. */
static double run_plan_in_dir(const char *const *args, int want)
{
    struct pr_plan_opts plan_opts = {0};
    struct pr_run_opts opts = {.retry = -1, .clock = &passing.clock};
    struct pr_run_summary sum;
    struct pr_rundir dir;
    struct pr_err err = {0};
    struct pr_plan *p;
    uint64_t begin;
    int rc;

    virtual_clock_init(&passing);
    begin = passing.now;
    assert_int_equal(make_plan(&plan_opts, args, &p, &err), PR_OK);
    assert_int_equal(system("rm -rf out"), 0);
    assert_int_equal(pr_rundir_create("out", &dir, &err), PR_OK);
    assert_int_equal(
        pr_plan_write_file(p, "out/plan.json", false, true, NULL, &err), PR_OK);
    pr_plan_free(p);
    opts.dir = &dir;
    rc = pr_run(&opts, &sum, &err);
    pr_rundir_close(&dir);
    if (rc != want)
        fail_msg("%d, not %d: %s: %s", rc, want, err.where, err.msg);
    assert_float_equal(sum.elapsed_s, (double)(passing.now - begin) / 1e9,
                       1e-6);
    return sum.elapsed_s;
}

static void a_minute_is_over_at_once(void **state)
{
    static const char *const args[] = {
        "-P exp.command=[\"sh\", \"-c\", \"echo up; exec sleep 30000\"]",
        "-P exp.timeout=60", "-P monitor.frequency=0", NULL};

    (void)state;
    assert_true(run_plan_in_dir(args, PR_E_TIMEOUT) >= 60);
}

/* One that does not listen is killed when its time to do so is over, too. */
static void so_is_the_time_to_listen(void **state)
{
    static const char *const args[] = {
        "-P exp.command=[\"sh\", \"-c\", \"trap '' TERM; "
        "while :; do sleep 0.1; done\"]",
        "-P exp.timeout=20", "-P exp.grace=40", "-P monitor.frequency=0", NULL};

    (void)state;
    assert_true(run_plan_in_dir(args, PR_E_TIMEOUT) >= 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_minute_is_over_at_once, enter_dir,
                                        leave_dir),
        cmocka_unit_test_setup_teardown(so_is_the_time_to_listen, enter_dir,
                                        leave_dir),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
