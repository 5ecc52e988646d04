/* Questions to other programs: answers, bounds, time limits. */
#include "launch/capture.h"

#include "base/clock.h"
#include "torture.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int ask(const char *script, double timeout_s, struct pr_buf *out,
               int *ws, struct pr_err *err)
{
    const char *const argv[] = {"sh", "-c", script, NULL};

    return pr_capture(argv, timeout_s, out, ws, err);
}

static void answers_and_statuses_come_back(void **state)
{
    static const struct {
        const char *script, *says;
        int exit_status, signo;
    } rows[] = {
        {"echo a; echo b >&2", "a\nb\n", 0, 0},
        {"exit 3", "", 3, 0},
        {"cat; echo end", "end\n", 0, 0}, /* stdin is empty */
        {"kill -9 $$", "", 0, SIGKILL},
        {"echo far >&2; exit 125", "far\n", 125, 0},
        /* signals that we block or ignore are not so for it */
        {"kill -TERM $$; echo alive", "", 0, SIGTERM},
        {"kill -PIPE $$; echo alive", "", 0, SIGPIPE},
    };
    sigset_t set, old;

    (void)state;
    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, &old);
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1000);
        struct pr_err err = {0};
        int ws = -1;

        assert_int_equal(ask(rows[i].script, 10, &out, &ws, &err), PR_OK);
        assert_string_equal(out.data ? out.data : "", rows[i].says);
        if (rows[i].signo)
            assert_true(WIFSIGNALED(ws) && WTERMSIG(ws) == rows[i].signo);
        else
            assert_true(WIFEXITED(ws) &&
                        WEXITSTATUS(ws) == rows[i].exit_status);
    }
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void an_answer_may_be_unwanted_or_too_long(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(10);
    struct pr_err err = {0};
    int ws = -1;

    (void)state;
    assert_int_equal(ask("echo hello; exit 2", 10, NULL, &ws, &err), PR_OK);
    assert_int_equal(WEXITSTATUS(ws), 2);
    /* More than a pipe holds: it must not wait for us. */
    assert_int_equal(ask("head -c 300000 /dev/zero | tr '\\0' x; exit 4", 10,
                         &out, &ws, &err),
                     PR_OK);
    assert_int_equal(WEXITSTATUS(ws), 4);
    assert_true(out.over);
    assert_string_equal(out.data, "xxxxxxxxxx");
}

static void what_cannot_start_says_so(void **state)
{
    const char *const missing[] = {"prony-no-such-program", "x", NULL};
    const char *const folder[] = {"/", NULL};
    struct pr_err err = {0};
    int ws = -7;

    (void)state;
    assert_int_equal(pr_capture(missing, 5, NULL, &ws, &err), PR_E_UNAVAIL);
    assert_string_equal(err.where, "prony-no-such-program");
    assert_int_equal(err.sys_errno, ENOENT);
    assert_int_equal(pr_capture(folder, 5, NULL, &ws, &err), PR_E_UNAVAIL);
    assert_int_equal(ws, -7);
}

/* An orphan is ours to wait for, by prctl() in main. */
static bool gone(pid_t pid)
{
    for (int i = 0; i < 6000; i++) {
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return true;
        usleep(10000);
    }
    return false;
}

static void time_ends_the_whole_group(void **state)
{
    static const char *const scripts[] = {
        "trap '' TERM; sleep 60 & echo $!; wait; wait",
        "sleep 60 >/dev/null 2>&1 & echo $!; exec >&- 2>&-; wait",
    };

    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(100);
        struct pr_err err = {0};
        uint64_t since = pr_clock_ns();
        int ws = -7;

        assert_int_equal(ask(scripts[i], 0.2, &out, &ws, &err), PR_E_TIMEOUT);
        assert_string_equal(err.msg, "gave no answer within 0.2 s");
        assert_int_equal(ws, -7);
        assert_true(pr_clock_ns() - since < 50000000000ull);
        assert_true(atoi(out.data) > 1);
        assert_true(gone(atoi(out.data)));
    }
}

static void endless_talk_ends_in_time(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(100);
    const char *const argv[] = {"yes", NULL};
    struct pr_err err = {0};
    int ws;

    (void)state;
    assert_int_equal(pr_capture(argv, 0.1, &out, &ws, &err), PR_E_TIMEOUT);
    assert_int_equal(out.len, 100);
}

static void what_it_leaves_behind_is_not_waited_for(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(100);
    struct pr_err err = {0};
    uint64_t since = pr_clock_ns();
    int ws = -1;

    (void)state;
    assert_int_equal(ask("sleep 100 & echo $!", 90, &out, &ws, &err), PR_OK);
    assert_true(pr_clock_ns() - since < 80000000000ull);
    assert_true(atoi(out.data) > 1);
    kill(atoi(out.data), SIGKILL);
    assert_true(gone(atoi(out.data)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_and_statuses_come_back),
        cmocka_unit_test(an_answer_may_be_unwanted_or_too_long),
        cmocka_unit_test(what_cannot_start_says_so),
        cmocka_unit_test(time_ends_the_whole_group),
        cmocka_unit_test(endless_talk_ends_in_time),
        cmocka_unit_test(what_it_leaves_behind_is_not_waited_for),
    };

    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
