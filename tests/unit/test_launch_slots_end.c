/*
 * The end of slots: however the runner and its keeper die, their groups are
 * removed, at the latest by the next run; and nobody else's are.
 */
#include "test_launch_slots.h"

#include "launch/slots/cgroup_tree.h"

#include <sys/mman.h>

/* What the runner, another process, tells us before it dies. */
struct told {
    char groups[8][512];
    int n_groups;
    volatile pid_t keeper, survivor;
};

static struct told *told;

/* A grandchild that no process group, parent or session ties to anything. */
static const char runaway[] =
    "setsid sh -c 'echo $$ > survivor; exec sleep 300' & "
    "while ! test -s survivor; do sleep 0.01; done; echo ready; exec sleep 300";

static void wait_survivor(struct scratch *t)
{
    char path[128];

    snprintf(path, sizeof path, "%s/log0", t->dir);
    wait_word(path, "ready", 1);
    snprintf(path, sizeof path, "%s/survivor", t->dir);
    told->survivor = atoi(slurp(path));
    assert_true(told->survivor > 1);
}

/* Starts a child in a slot, and then is killed, with or without the keeper. */
static _Noreturn void be_runner(struct scratch *t, int keeper_too)
{
    struct pr_child_event ev;

    make_two();
    memcpy(told->groups, groups, sizeof groups);
    told->n_groups = n_groups;
    if (pr_keeper_new(NULL, &t->k, &t->err) != PR_OK)
        _exit(1);
    hold(t->k);
    spawn_in(t, 0, 0, runaway, NULL);
    ev = expect(t, 0, PR_CHILD_STARTED);
    wait_survivor(t);
    told->keeper = parent_of(ev.pid);
    if (keeper_too) /* we are gone before we could do anything about it */
        kill(told->keeper, SIGKILL);
    kill(getpid(), SIGKILL);
    _exit(2);
}

static int runs(pid_t pid)
{
    char path[64], *rest;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    rest = strrchr(slurp(path), ')');
    return rest && strncmp(rest, ") Z", 3) != 0;
}

static void run_runner(struct scratch *t, int keeper_too)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0)
        be_runner(t, keeper_too);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    memcpy(groups, told->groups, sizeof groups);
    n_groups = told->n_groups;
    while (keeper_too && runs(told->keeper))
        poll(NULL, 0, 1);
}

static int begin(void **state)
{
    static struct scratch t;

    scratch_open(&t);
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    *state = &t;
    return 0;
}

static int end(void **state)
{
    munmap(told, sizeof *told);
    return teardown(state);
}

static void killed_runner_leaves_no_group(void **state)
{
    struct scratch *t = *state;

    run_runner(t, 0);
    wait_no_group();
    wait_alive(t->id, 0, DEADLINE_MS);
}

static void what_both_left_is_removed_by_the_next_run(void **state)
{
    struct scratch *t = *state;

    run_runner(t, 1);
    need(n_groups > 0, "control groups of our own");
    assert_true(any_group() > 0);
    assert_int_equal(kill(told->survivor, 0), 0);
    make_two(); /* keeps other groups' names */
    memcpy(groups, told->groups, sizeof groups);
    n_groups = told->n_groups;
    wait_no_group();
    wait_alive(t->id, 0, DEADLINE_MS);
    drop_slots();
}

static void others_are_left_alone(void **state)
{
    char name[PR_CGROUP_NAME];
    static const char *const strange[] = {
        "prony",         "prony-1-2-3",        "prony-x-2-3-4",
        "prony-0-1-1-0", "prony-1-999999-3-4", "prony-1-1-1-0",
        "user.slice",    "prony-test-12"};

    (void)state;
    assert_true(pr_cgroup_make_name(name, 7));
    assert_false(pr_cgroup_is_stale(name)); /* ours */
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
        assert_false(pr_cgroup_is_stale(strange[i]));
}

/* The same number may be another process by now: its start tells. */
static void start_time_is_part_of_the_name(void **state)
{
    char name[PR_CGROUP_NAME], *start, *number;

    (void)state;
    assert_true(pr_cgroup_make_name(name, 7));
    number = strrchr(name, '-');
    *number = '\0';
    start = strrchr(name, '-');
    snprintf(start, 24, "-%d-7", 12345);
    assert_true(pr_cgroup_is_stale(name));
}

static void a_fork_does_not_remove_them(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    make_two();
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        pr_slots_free(slots);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(any_group(), 2 * n_groups);
    drop_slots();
    assert_int_equal(any_group(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(killed_runner_leaves_no_group),
        TEST(what_both_left_is_removed_by_the_next_run),
        TEST(others_are_left_alone),
        TEST(start_time_is_part_of_the_name),
        TEST(a_fork_does_not_remove_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
