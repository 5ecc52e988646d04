/*
 * Nothing outlives us: trees of processes when the main child ends, when they
 * are signalled, and when runner or keeper are killed.
 */
#include "test_launch_keeper.h"

#include <sys/file.h>
#include <sys/prctl.h>

/* A child in the group, one in a session of its own, and one that was orphaned
 * on purpose; each says "up". With the main child: four processes. */
#define FAMILY                                   \
    "sleep 1000 & echo up; "                     \
    "setsid sh -c 'echo up; exec sleep 1000' & " \
    "(setsid sh -c 'echo up; exec sleep 1000' &); "
#define FAMILY_SIZE 4

#define UNTIL_GO "until [ -e $D/go ]; do sleep 0.02; done; "

static void leftovers_are_killed_and_counted(void **state)
{
    struct scratch *t = *state;
    struct pr_child_event ev;

    spawn_sh(t, 1, FAMILY UNTIL_GO "exit 3");
    expect(t, 1, PR_CHILD_STARTED);
    wait_word(t->log, "up", 3);
    touch(t, "go");
    ev = expect(t, 1, PR_CHILD_ENDED);
    assert_int_equal(alive(t->id), 0);
    assert_int_equal(WEXITSTATUS(ev.wait_status), 3);
    assert_int_equal(ev.leftovers, 3);
    assert_false(ev.oom);
}

/* Even of a daemon that took care to carry no marker. */
static void orphan_of_the_only_experiment_needs_no_marker(void **state)
{
    struct scratch *t = *state;
    int pid = 0;

    spawn_sh(
        t, 1,
        "(env -i setsid sh -c 'echo $$ up; exec sleep 1000' &); " UNTIL_GO);
    expect(t, 1, PR_CHILD_STARTED);
    wait_word(t->log, "up", 1);
    pid = atoi(slurp(t->log));
    assert_int_equal(kill(pid, 0), 0);
    touch(t, "go");
    assert_int_equal(expect(t, 1, PR_CHILD_ENDED).leftovers, 1);
    assert_int_equal(kill(pid, 0), -1);
}

/* Nor do several beside one another need one. */
static void orphan_without_a_marker_is_known_by_its_mark(void **state)
{
    struct scratch *t = *state;
    int pid = 0;

    spawn_sh_id(t, 2, "sleep 1000", "another");
    expect(t, 2, PR_CHILD_STARTED);
    spawn_sh(
        t, 1,
        "(env -i setsid sh -c 'echo $$ up; exec sleep 1000' &); " UNTIL_GO);
    expect(t, 1, PR_CHILD_STARTED);
    wait_word(t->log, "up", 1);
    pid = atoi(slurp(t->log));
    assert_int_equal(kill(pid, 0), 0);
    touch(t, "go");
    assert_int_equal(expect(t, 1, PR_CHILD_ENDED).leftovers, 1);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(pr_keeper_signal(t->k, 2, SIGKILL, &t->err), PR_OK);
    assert_int_equal(expect(t, 2, PR_CHILD_ENDED).leftovers, 0);
}

/* A trace may come from a file that anybody wrote. */
static void traces_of_others_end_nobody(void **state)
{
    struct scratch *t = *state;
    struct pr_keeper_trace own = pr_keeper_get_trace(t->k);
    const struct pr_keeper_trace odd[] = {
        {0, NULL},
        {0, "/sys/fs/cgroup"},
        {own.mark + 1, own.group}, /* in use */
        {INT32_MAX, "/sys/fs/cgroup/prony-run-none"},
        {1, "/tmp/prony-run-1/../.."},
        {2, "prony-run-2"},
        {3, "/"},
    };
    struct pr_pids killed = {0};

    spawn_sh(t, 1, FAMILY UNTIL_GO);
    expect(t, 1, PR_CHILD_STARTED);
    wait_word(t->log, "up", 3);
    pr_keeper_end_traces(odd, sizeof odd / sizeof *odd, &killed);
    assert_int_equal(killed.n, 0);
    assert_true(alive(t->id) >= FAMILY_SIZE); /* and a nap */
    touch(t, "go");
    expect(t, 1, PR_CHILD_ENDED);
    assert_true(own.mark > 0 && own.mark <= INT32_MAX);
}

static void only_the_own_tree_is_killed(void **state)
{
    struct scratch *t = *state;
    char other[80];
    struct pr_child_event ev;

    snprintf(other, sizeof(other), "%s-other", t->id);
    spawn_sh(t, 1, FAMILY UNTIL_GO);
    expect(t, 1, PR_CHILD_STARTED);
    spawn_sh_id(t, 2, FAMILY "wait", other);
    expect(t, 2, PR_CHILD_STARTED);
    wait_word(t->log, "up", 6);
    wait_alive(other, FAMILY_SIZE, DEADLINE_MS);
    touch(t, "go");
    ev = expect(t, 1, PR_CHILD_ENDED);
    assert_int_equal(ev.leftovers, 3);
    assert_int_equal(alive(t->id), 0);
    assert_int_equal(alive(other), FAMILY_SIZE);
    assert_int_equal(pr_keeper_signal(t->k, 2, SIGKILL, &t->err), PR_OK);
    ev = expect(t, 2, PR_CHILD_ENDED);
    assert_int_equal(WTERMSIG(ev.wait_status), SIGKILL);
    assert_int_equal(alive(other), 0);
}

static void signal_reaches_the_whole_tree(void **state)
{
    struct scratch *t = *state;
    struct pr_child_event ev;

    spawn_sh(t, 1, FAMILY "wait");
    expect(t, 1, PR_CHILD_STARTED);
    wait_word(t->log, "up", 3);
    assert_int_equal(pr_keeper_signal(t->k, 1, SIGTERM, &t->err), PR_OK);
    ev = expect(t, 1, PR_CHILD_ENDED);
    assert_int_equal(WTERMSIG(ev.wait_status), SIGTERM);
    /* They died of the signal: nothing had to be killed afterwards. */
    assert_int_equal(ev.leftovers, 0);
    assert_int_equal(alive(t->id), 0);
}

static void who_ignores_a_request_is_killed(void **state)
{
    struct scratch *t = *state;
    struct pr_child_event ev;

    spawn_sh(t, 1,
             "(setsid sh -c 'trap \"echo sub\" TERM; echo up; "
             "while :; do sleep 0.02; done' &); "
             "trap 'echo main' TERM; echo up; while :; do sleep 0.02; done");
    expect(t, 1, PR_CHILD_STARTED);
    wait_word(t->log, "up", 2);
    assert_int_equal(pr_keeper_signal(t->k, 1, SIGTERM, &t->err), PR_OK);
    wait_word(t->log, "main", 1);
    wait_word(t->log, "sub", 1);
    assert_int_equal(pr_keeper_next(t->k, &ev, &t->err), 0);
    assert_int_equal(pr_keeper_signal(t->k, 1, SIGKILL, &t->err), PR_OK);
    ev = expect(t, 1, PR_CHILD_ENDED);
    assert_int_equal(WTERMSIG(ev.wait_status), SIGKILL);
    assert_false(ev.oom);
    assert_int_equal(alive(t->id), 0);
}

static void free_ends_everything(void **state)
{
    struct scratch *t = *state;

    for (uint32_t i = 0; i < 3; i++)
        spawn_sh(t, i, FAMILY "wait");
    wait_word(t->log, "up", 9);
    pr_keeper_free(t->k);
    t->k = NULL;
    assert_int_equal(alive(t->id), 0);
}

static void free_does_not_wait_for_a_stuck_keeper(void **state)
{
    struct scratch *t = *state;
    struct pr_child_event ev;

    spawn_sh(t, 1, FAMILY "wait");
    ev = expect(t, 1, PR_CHILD_STARTED);
    wait_word(t->log, "up", 3);
    assert_int_equal(kill(parent_of(ev.pid), SIGSTOP), 0);
    pr_keeper_free(t->k);
    t->k = NULL;
    assert_int_equal(alive(t->id), 0);
}

/* A child of the program that uses us, none of our business. */
static pid_t start_bystander(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        setenv("PRONY_EXPERIMENT", "bystander", 1);
        execlp("sleep", "sleep", "1000", (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void killed_keeper_takes_its_experiments_along(void **state)
{
    struct scratch *t = *state;
    pid_t bystander = start_bystander();
    struct pr_child_event ev;

    spawn_sh(t, 1, FAMILY "wait");
    ev = expect(t, 1, PR_CHILD_STARTED);
    wait_word(t->log, "up", 3);
    wait_alive(t->id, FAMILY_SIZE, DEADLINE_MS);
    assert_int_equal(kill(parent_of(ev.pid), SIGKILL), 0);
    assert_int_equal(next_event(t, &ev), PR_E_IO);
    assert_true(t->err.msg[0] != '\0');
    assert_int_equal(alive(t->id), 0);
    assert_int_equal(pr_keeper_next(t->k, &ev, &t->err), PR_E_IO);
    assert_int_equal(pr_keeper_signal(t->k, 1, SIGTERM, &t->err), PR_E_IO);
    /* No zombie is left to the caller, and its own child lives. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), 0);
    assert_int_equal(kill(bystander, SIGKILL), 0);
    assert_int_equal(waitpid(bystander, NULL, 0), bystander);
}

static void asking_a_dead_keeper_is_an_error(void **state)
{
    struct scratch *t = *state;
    static const char *const argv[] = {"true", NULL};
    struct pr_spawn s = {.tag = 2, .argv = argv, .id = t->id};
    struct pr_child_event ev;
    pid_t keeper;
    int rc;

    spawn_sh(t, 1, "sleep 1000");
    ev = expect(t, 1, PR_CHILD_STARTED);
    keeper = parent_of(ev.pid);
    assert_int_equal(kill(keeper, SIGKILL), 0);
    /* WNOWAIT: it is for the library to wait for it. */
    assert_int_equal(
        waitid(P_PID, (id_t)keeper, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    rc = pr_keeper_spawn(t->k, &s, &t->err);
    assert_int_equal(rc, PR_E_IO);
    assert_int_equal(alive(t->id), 0);
}

/* A runner of its own, to be killed. Says its pid; returns when the family is
 * there. how: what else it does. */
enum runner_kind { PLAIN, WITH_LOCK, WITH_FORK, WITH_GROUP, GOING };

/* Holds the runner's end of the socket open beyond the runner's death. */
static _Noreturn void hold_socket(const struct scratch *t, pid_t runner)
{
    uint64_t end = now_ms() + DEADLINE_MS;

    while ((getppid() == runner || alive(t->id) > 0) && now_ms() < end)
        poll(NULL, 0, 5);
    _exit(0);
}

/* Leaves a note of what was alive then. */
static void note_orphans(void *ctx)
{
    struct scratch *t = ctx;
    char path[128];
    FILE *f;

    snprintf(path, sizeof(path), "%s/orphans", t->dir);
    f = fopen(path, "w");
    if (f) {
        fprintf(f, "%d\n", alive(t->id));
        fclose(f);
    }
}

static _Noreturn void be_runner(struct scratch *t, enum runner_kind how)
{
    struct pr_keeper_calls calls = {.orphaned = note_orphans, .ctx = t};
    pid_t runner = getpid();
    char path[128];

    snprintf(path, sizeof(path), "%s/lock", t->dir);
    if (how == WITH_GROUP)
        setpgid(0, 0);
    if (how == WITH_LOCK)
        flock(open(path, O_RDWR | O_CREAT, 0644), LOCK_EX);
    if (pr_keeper_new(&calls, &t->k, &t->err) != PR_OK)
        _exit(1);
    spawn_sh(t, 1, FAMILY "wait");
    if (how == GOING) {
        wait_alive(t->id, FAMILY_SIZE, DEADLINE_MS);
        pr_keeper_free(t->k);
        _exit(0);
    }
    if (how == WITH_FORK && fork() == 0)
        hold_socket(t, runner);
    for (;;)
        pause();
}

static pid_t start_runner(struct scratch *t, enum runner_kind how)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        be_runner(t, how);
    wait_word(t->log, "up", 3);
    wait_alive(t->id, FAMILY_SIZE, DEADLINE_MS);
    return pid;
}

/* -1: there is none. */
static int orphans_noted(const struct scratch *t)
{
    char path[128];
    int n = -1;
    FILE *f;

    snprintf(path, sizeof(path), "%s/orphans", t->dir);
    f = fopen(path, "r");
    if (f && fscanf(f, "%d", &n) != 1)
        n = -1;
    if (f)
        fclose(f);
    return n;
}

static void killed_runner_takes_its_experiments_along(void **state)
{
    static const enum runner_kind kinds[] = {PLAIN, WITH_FORK, WITH_GROUP};

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct scratch t;
        pid_t runner;

        scratch_open(&t);
        runner = start_runner(&t, kinds[i]);
        kill(kinds[i] == WITH_GROUP ? -runner : runner, SIGKILL);
        assert_int_equal(waitpid(runner, NULL, 0), runner);
        wait_alive(t.id, 0, 2000);
        while (orphans_noted(&t) < 0) /* its last file there */
            poll(NULL, 0, 2);
        scratch_close(&t);
    }
}

static void keeper_of_a_killed_runner_is_called_when_all_are_dead(void **state)
{
    uint64_t end = now_ms() + DEADLINE_MS;
    struct scratch t;
    pid_t runner;

    (void)state;
    scratch_open(&t);
    runner = start_runner(&t, PLAIN);
    kill(runner, SIGKILL);
    assert_int_equal(waitpid(runner, NULL, 0), runner);
    while (orphans_noted(&t) < 0) {
        assert_true(now_ms() < end);
        poll(NULL, 0, 1);
    }
    assert_int_equal(orphans_noted(&t), 0);
    scratch_close(&t);
}

static void keeper_that_is_freed_is_not_called(void **state)
{
    struct scratch t;
    pid_t runner;

    (void)state;
    scratch_open(&t);
    runner = fork();
    assert_true(runner >= 0);
    if (runner == 0)
        be_runner(&t, GOING);
    assert_int_equal(waitpid(runner, NULL, 0), runner); /* waits for its own */
    wait_alive(t.id, 0, 2000);
    assert_int_equal(orphans_noted(&t), -1);
    scratch_close(&t);
}

static void lock_of_a_killed_runner_outlasts_its_experiments(void **state)
{
    uint64_t end = now_ms() + DEADLINE_MS;
    struct scratch t;
    char path[128];
    pid_t runner;
    int fd;

    (void)state;
    scratch_open(&t);
    runner = start_runner(&t, WITH_LOCK);
    snprintf(path, sizeof(path), "%s/lock", t.dir);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
    kill(runner, SIGKILL);
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        assert_true(now_ms() < end);
        poll(NULL, 0, 1);
    }
    assert_int_equal(alive(t.id), 0);
    assert_int_equal(waitpid(runner, NULL, 0), runner);
    close(fd);
    scratch_close(&t);
}

static void keeper_shrugs_off_what_a_terminal_sends(void **state)
{
    static const int signals[] = {SIGINT,  SIGHUP,  SIGTERM, SIGQUIT,
                                  SIGPIPE, SIGTSTP, SIGUSR1};
    struct scratch *t = *state;
    struct pr_child_event ev;
    pid_t keeper;

    spawn_sh(t, 1, UNTIL_GO "exit 6");
    ev = expect(t, 1, PR_CHILD_STARTED);
    keeper = parent_of(ev.pid);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        assert_int_equal(kill(keeper, signals[i]), 0);
    assert_int_equal(getpgid(ev.pid), ev.pid);
    assert_int_not_equal(getpgid(keeper), getpgid(0));
    touch(t, "go");
    assert_int_equal(WEXITSTATUS(expect(t, 1, PR_CHILD_ENDED).wait_status), 6);
}

static void fork_of_the_runner_does_not_end_the_keeper(void **state)
{
    struct scratch *t = *state;
    pid_t pid = fork();

    if (pid == 0) {
        pr_keeper_free(t->k);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    spawn_sh(t, 1, "exit 8");
    assert_int_equal(WEXITSTATUS(expect_end(t, 1).wait_status), 8);
}

#define KEEPER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(leftovers_are_killed_and_counted),
        KEEPER_TEST(orphan_of_the_only_experiment_needs_no_marker),
        KEEPER_TEST(orphan_without_a_marker_is_known_by_its_mark),
        KEEPER_TEST(traces_of_others_end_nobody),
        KEEPER_TEST(only_the_own_tree_is_killed),
        KEEPER_TEST(signal_reaches_the_whole_tree),
        KEEPER_TEST(who_ignores_a_request_is_killed),
        KEEPER_TEST(free_ends_everything),
        KEEPER_TEST(free_does_not_wait_for_a_stuck_keeper),
        KEEPER_TEST(killed_keeper_takes_its_experiments_along),
        KEEPER_TEST(asking_a_dead_keeper_is_an_error),
        KEEPER_TEST(keeper_shrugs_off_what_a_terminal_sends),
        KEEPER_TEST(fork_of_the_runner_does_not_end_the_keeper),
        cmocka_unit_test(killed_runner_takes_its_experiments_along),
        cmocka_unit_test(keeper_of_a_killed_runner_is_called_when_all_are_dead),
        cmocka_unit_test(keeper_that_is_freed_is_not_called),
        cmocka_unit_test(lock_of_a_killed_runner_outlasts_its_experiments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
