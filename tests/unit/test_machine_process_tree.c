/* Reading /proc: lines of stat, descent, environments, sets of pids. */
#include "machine/process_tree.h"

#include "torture.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TAIL " 0 -1 4 1 2 3 4 5 6 7 8 20 0 "

static void stat_lines_are_understood(void **state)
{
    static const struct {
        const char *text;
        int ok, pid, ppid, pgrp, dead;
    } rows[] = {
        {"12 (sh) S 3 4 5" TAIL "1 0 99", 1, 12, 3, 4, 0},
        {"12 (a) b) (c) R 3 4 5" TAIL "1 0 99", 1, 12, 3, 4, 0},
        {"12 () Z 9 9) Z 3 4 5" TAIL "1 0 99", 1, 12, 3, 4, 1},
        {"12 (sh) Z 3 4 5" TAIL "1 0 99", 1, 12, 3, 4, 1},
        {"12 (sh) X 3 4 5" TAIL "0 0 99", 1, 12, 3, 4, 1},
        {"12 (sh) Z 3 4 5" TAIL "7 0 99", 1, 12, 3, 4, 0}, /* threads live */
        {"12 (sh) S 3", 0, 0, 0, 0, 0},
        {"12 sh S 3 4 5", 0, 0, 0, 0, 0},
        {"", 0, 0, 0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pr_proc p = {0};

        assert_int_equal(pr_proctree_parse(rows[i].text, &p), rows[i].ok);
        assert_int_equal(p.pid, rows[i].pid);
        assert_int_equal(p.ppid, rows[i].ppid);
        assert_int_equal(p.pgrp, rows[i].pgrp);
        assert_int_equal(p.dead, rows[i].dead);
    }
}

static void marks_spread_to_all_descendants(void **state)
{
    /* By rising pid, but with a parent younger than its child. */
    struct pr_proc procs[] = {
        {.pid = 1},
        {.pid = 3, .ppid = 8},
        {.pid = 5, .ppid = 1, .marks = 1},
        {.pid = 6, .ppid = 1, .marks = 2},
        {.pid = 7, .ppid = 3},
        {.pid = 8, .ppid = 5},
        {.pid = 9, .ppid = 6},
        {.pid = 10, .ppid = 4}, /* whose parent is not there */
    };
    static const unsigned want[] = {0, 1, 1, 2, 1, 1, 0, 0};
    struct pr_proctree t = {procs, sizeof(procs) / sizeof(procs[0]), 0};

    (void)state;
    pr_proctree_spread(&t, 1);
    for (size_t i = 0; i < t.n; i++)
        assert_int_equal(procs[i].marks, want[i]);
    pr_proctree_clear(&t, 1);
    for (size_t i = 0; i < t.n; i++)
        assert_int_equal(procs[i].marks, want[i] & 2);
    assert_ptr_equal(pr_proctree_find(&t, 8), &procs[5]);
    assert_null(pr_proctree_find(&t, 4));
}

static void we_and_our_child_are_seen(void **state)
{
    struct pr_proctree t = {0};
    const struct pr_proc *p;
    pid_t child = fork();

    (void)state;
    if (child == 0)
        for (;;)
            pause();
    assert_int_equal(pr_proctree_read(&t), 0);
    p = pr_proctree_find(&t, child);
    assert_non_null(p);
    assert_int_equal(p->ppid, getpid());
    assert_int_equal(p->pgrp, getpgrp());
    assert_false(p->dead);
    kill(child, SIGKILL);
    assert_int_equal(
        waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    assert_int_equal(pr_proctree_read(&t), 0);
    assert_true(pr_proctree_find(&t, child)->dead);
    waitpid(child, NULL, 0);
    assert_int_equal(pr_proctree_read(&t), 0);
    assert_null(pr_proctree_find(&t, child));
    pr_proctree_free(&t);
}

/* A program with this environment; returns once it runs. */
static pid_t start_with(char **env)
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        char sh[] = "sh", c[] = "-c", text[] = "echo; read x";
        char *argv[] = {sh, c, text, NULL};
        int hold[2];

        if (pipe(hold) < 0)
            _exit(1);
        dup2(hold[0], 0); /* never says anything */
        dup2(ready[1], 1);
        execve("/bin/sh", argv, env);
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void environment_entries_are_found_whole(void **state)
{
    static char filler[60000];
    char a[] = "NAME=value", b[] = "OTHER=NAME=v", last[] = "LAST=1";
    char *env[] = {a, filler, b, last, NULL}, *none[] = {NULL};
    static const struct {
        const char *entry;
        enum pr_proc_has want;
    } rows[] = {
        {"NAME=value", PR_PROC_HAS},      {"NAME=valu", PR_PROC_HAS_NOT},
        {"NAME=values", PR_PROC_HAS_NOT}, {"AME=value", PR_PROC_HAS_NOT},
        {"NAME=v", PR_PROC_HAS_NOT},      {"OTHER=NAME=v", PR_PROC_HAS},
        {"LAST=1", PR_PROC_HAS},
    };
    pid_t pid;

    (void)state;
    memset(filler, 'f', sizeof(filler) - 1);
    memcpy(filler, "F=", 2);
    pid = start_with(env);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(pr_proctree_has_env(pid, rows[i].entry), rows[i].want);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(pr_proctree_has_env(pid, "NAME=value"), PR_PROC_HAS_NOT);

    pid = start_with(none);
    assert_int_equal(pr_proctree_has_env(pid, "NAME=value"), PR_PROC_UNSURE);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void pids_are_a_set(void **state)
{
    struct pr_pids s = {0};

    (void)state;
    for (pid_t i = 1; i <= 100; i++)
        assert_true(pr_pids_add(&s, i));
    assert_false(pr_pids_add(&s, 50));
    assert_int_equal(s.n, 100);
    pr_pids_remove(&s, 50);
    pr_pids_remove(&s, 1000);
    assert_false(pr_pids_has(&s, 50));
    assert_true(pr_pids_has(&s, 100));
    assert_int_equal(s.n, 99);
    pr_pids_free(&s);
}

static int attempt(void)
{
    struct pr_proctree t = {0};
    int rc = pr_proctree_read(&t);

    if (rc < 0)
        assert_int_equal(t.n, 0);
    pr_proctree_free(&t);
    return rc == -ENOMEM ? PR_E_NOMEM : rc;
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_lines_are_understood),
        cmocka_unit_test(marks_spread_to_all_descendants),
        cmocka_unit_test(we_and_our_child_are_seen),
        cmocka_unit_test(environment_entries_are_found_whole),
        cmocka_unit_test(pids_are_a_set),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
