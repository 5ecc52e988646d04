/*
 * Replicas: whatever one of them suffers ends all of them, soon and with a
 * reason.
 */
#include "base/clock.h"
#include "test_native_replicas.h"
#include "virtual_clock.h"

#include <sys/time.h>

/* Before the time is over that ranks have to end when all is well, on the
 * busiest machine. */
#define SOON_NS 25000000000u

/* ---- accidents */

struct accident {
    unsigned rank, round;
    int (*happens)(struct pr_err *err);
    int code;
    const char *where, *says;
};

/* More rounds than anyone waits for. */
static int meet_accident(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    const struct accident *a = ctx;
    static float v[40000];
    int rc = PR_OK;

    for (unsigned round = 0; !rc && round < 1000000; round++) {
        if (pr_replicas_rank(r) == a->rank && round == a->round)
            return a->happens(err);
        rc = pr_replicas_mean(r, v, round % 3 ? 10 : 40000, err);
    }
    return rc;
}

static int is_killed(struct pr_err *err)
{
    (void)err;
    return raise(SIGKILL);
}

static int leaves(struct pr_err *err)
{
    (void)err;
    _exit(3);
}

static int leaves_in_peace(struct pr_err *err)
{
    (void)err;
    _exit(0);
}

static int ends(struct pr_err *err)
{
    (void)err;
    return PR_OK;
}

static int fails(struct pr_err *err)
{
    pr_fail(err, PR_E_FORMAT, "x.npz:7", "no such thing");
    return pr_hint(err, "try another");
}

static int interrupted(struct pr_err *err)
{
    return pr_fail(err, PR_E_INTR, "", "interrupted");
}

static void an_accident_ends_all(void **state)
{
    static const struct accident all[] = {
        {1, 0, is_killed, PR_E_JOB, "",
         "replica 1: its process died of signal "
         "9 (Killed)"},
        {2, 7, is_killed, PR_E_JOB, "",
         "replica 2: its process died of signal "
         "9 (Killed)"},
        {1, 3, leaves, PR_E_JOB, "",
         "replica 1: its process ended early, with "
         "status 3"},
        {1, 3, ends, PR_E_BUG, "", "replica 1 has ended already"},
        {0, 3, ends, PR_E_BUG, "", "replica 0 has ended already"},
        {2, 5, fails, PR_E_FORMAT, "x.npz:7", "replica 2: no such thing"},
        {1, 0, fails, PR_E_FORMAT, "x.npz:7", "replica 1: no such thing"},
        {0, 5, fails, PR_E_FORMAT, "x.npz:7", "no such thing"},
        {2, 5, interrupted, PR_E_INTR, "", "interrupted"},
        {0, 5, interrupted, PR_E_INTR, "", "interrupted"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (unsigned n = all[i].rank + 1 > 2 ? all[i].rank + 1 : 2; n <= 4;
             n++) {
            struct accident a = all[i];
            struct pr_err err = {0};
            uint64_t start = pr_clock_ns();

            assert_int_equal(run_ranks(n, meet_accident, &a, &err), a.code);
            assert_true(pr_clock_ns() - start < SOON_NS);
            assert_string_equal(err.where, a.where);
            if (a.happens == ends) /* whoever says so first */
                assert_non_null(strstr(err.msg, a.says));
            else
                assert_string_equal(err.msg, a.says);
            if (a.happens == fails)
                assert_string_equal(err.hint, "try another");
        }
}

static void one_that_leaves_without_a_word_is_missed(void **state)
{
    struct accident a = {.rank = 1, .round = 2, .happens = leaves_in_peace};
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(run_ranks(3, meet_accident, &a, &err), PR_E_JOB);
    assert_string_equal(err.msg,
                        "replica 1: its process ended early, with status 0");
}

/* The others' last words count, even if this one is done. */
static int fail_late(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    (void)ctx;
    if (!pr_replicas_rank(r))
        return PR_OK;
    usleep(50000);
    return fails(err);
}

static void a_late_failure_is_one(void **state)
{
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(run_ranks(2, fail_late, NULL, &err), PR_E_FORMAT);
    assert_string_equal(err.msg, "replica 1: no such thing");
    assert_int_equal(run_ranks(2, fail_late, NULL, NULL), PR_E_FORMAT);
}

/* One that computes does not look: it is ended. */
static int compute_on(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    (void)ctx;
    if (pr_replicas_rank(r) == 0)
        return fails(err);
    for (;;)
        pause();
}

static void one_that_does_not_listen_is_killed(void **state)
{
    struct virtual_clock time;
    struct pr_replicas_opts opts = {
        .ranks = 3, .threads = 1, .clock = &time.clock};

    (void)state;
    virtual_clock_init(&time);
    assert_int_equal(pr_replicas_run(&opts, compute_on, NULL, NULL),
                     PR_E_FORMAT);
    assert_int_equal(time.now, 1500000000); /* half a second to listen */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static int disagree(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    float v[4] = {0};

    (void)ctx;
    return pr_replicas_mean(r, v, 2 + (pr_replicas_rank(r) == 1), err);
}

static int disagree_in_kind(struct pr_replicas *r, void *ctx,
                            struct pr_err *err)
{
    double v = 0;

    (void)ctx;
    return pr_replicas_rank(r) ? pr_replicas_sum(r, &v, 1, err)
                               : pr_replicas_max(r, &v, 1, err);
}

static void ranks_that_do_different_things_are_told(void **state)
{
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(run_ranks(3, disagree, NULL, &err), PR_E_BUG);
    assert_non_null(strstr(err.msg, "not at the same"));
    assert_int_equal(run_ranks(2, disagree_in_kind, NULL, &err), PR_E_BUG);
}

static bool stop;

static void on_signal(int signo)
{
    (void)signo;
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
}

/* Rank 0 waits for one that does not come: only the signal ends it. */
static int wait_for_ever(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    struct itimerval soon = {.it_value = {.tv_usec = 100000}};

    if (pr_replicas_rank(r) == *(unsigned *)ctx)
        setitimer(ITIMER_REAL, &soon, NULL);
    else if (pr_replicas_rank(r) == 2)
        for (;;)
            pause();
    return pr_replicas_meet(r, err);
}

static void a_signal_to_one_interrupts_all(void **state)
{
    struct sigaction sa = {.sa_handler = on_signal}, old;

    (void)state;
    sigaction(SIGALRM, &sa, &old);
    for (unsigned who = 0; who < 2; who++) {
        struct pr_replicas_opts opts = {.ranks = 3, .stop = &stop};
        struct pr_err err = {0};
        uint64_t start = pr_clock_ns();

        stop = false;
        assert_int_equal(pr_replicas_run(&opts, wait_for_ever, &who, &err),
                         PR_E_INTR);
        assert_string_equal(err.msg, "interrupted");
        assert_true(pr_clock_ns() - start < SOON_NS);
    }
    sigaction(SIGALRM, &old, NULL);
}

/* ---- rank 0 dies */

static int hold_pipe(struct pr_replicas *r, void *ctx, struct pr_err *err)
{
    int rc = pr_replicas_meet(r, err);

    if (!rc && pr_replicas_rank(r) == 0)
        (void)!write(*(int *)ctx, "x", 1);
    if (!rc && pr_replicas_rank(r) == 1)
        for (;;) /* computes */
            pause();
    return rc ? rc : pr_replicas_meet(r, err); /* waits */
}

static void nobody_outlives_rank_0(void **state)
{
    uint64_t start;
    int ends_of[2];
    pid_t pid;
    char c;

    (void)state;
    assert_int_equal(pipe(ends_of), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends_of[0]);
        run_ranks(3, hold_pipe, &ends_of[1], NULL);
        _exit(0);
    }
    close(ends_of[1]);
    assert_int_equal(read(ends_of[0], &c, 1), 1);
    kill(pid, SIGKILL);
    start = pr_clock_ns();
    assert_int_equal(read(ends_of[0], &c, 1), 0); /* all have closed it */
    assert_true(pr_clock_ns() - start < SOON_NS);
    close(ends_of[0]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_accident_ends_all),
        cmocka_unit_test(one_that_leaves_without_a_word_is_missed),
        cmocka_unit_test(a_late_failure_is_one),
        cmocka_unit_test(one_that_does_not_listen_is_killed),
        cmocka_unit_test(ranks_that_do_different_things_are_told),
        cmocka_unit_test(a_signal_to_one_interrupts_all),
        cmocka_unit_test(nobody_outlives_rank_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
