/* The keeper: starting programs and bodies, and what is said of their end. */
#include "test_launch_keeper.h"

#include <sys/prctl.h>

static void exit_status_is_reported(void **state)
{
    static const struct {
        const char *script;
        int exit_status, signo;
    } rows[] = {
        {"true", 0, 0},
        {"false", 1, 0},
        {"exit 42", 42, 0},
        {"exit 255", 255, 0},
        {"kill -TERM $$", 0, SIGTERM},
        {"kill -KILL $$", 0, SIGKILL},
        {"kill -HUP $$", 0, SIGHUP},
        {"kill -PIPE $$", 0, SIGPIPE},
    };
    struct scratch *t = *state;

    for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pr_child_event ev;

        spawn_sh(t, i, rows[i].script);
        ev = expect_end(t, i);
        if (rows[i].signo) {
            assert_true(WIFSIGNALED(ev.wait_status));
            assert_int_equal(WTERMSIG(ev.wait_status), rows[i].signo);
        } else {
            assert_true(WIFEXITED(ev.wait_status));
            assert_int_equal(WEXITSTATUS(ev.wait_status), rows[i].exit_status);
        }
        assert_false(ev.oom);
        assert_int_equal(ev.leftovers, 0);
    }
}

static void what_cannot_start_says_why(void **state)
{
    static const char *const missing[] = {"prony-no-such-program", NULL};
    static const char *const missing_path[] = {"/no/such/program", NULL};
    static const char *const folder[] = {"/tmp", NULL};
    static const char *const nothing[] = {"", NULL};
    static const char *const fine[] = {"true", NULL};
    static const struct {
        const char *const *argv;
        const char *cwd, *log, *what;
        int sys_errno;
    } rows[] = {
        {missing, NULL, NULL, "exec", ENOENT},
        {missing_path, NULL, NULL, "exec", ENOENT},
        {folder, NULL, NULL, "exec", EACCES},
        {nothing, NULL, NULL, "exec", ENOENT},
        {fine, "/no/such/folder", NULL, "chdir", ENOENT},
        {fine, "/dev/null", NULL, "chdir", ENOTDIR},
        {fine, NULL, "/no/such/folder/log", "open", ENOENT},
        {fine, NULL, "/tmp", "open", EISDIR},
    };
    struct scratch *t = *state;

    for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pr_spawn s = {.tag = i,
                             .argv = rows[i].argv,
                             .cwd = rows[i].cwd,
                             .log_path = rows[i].log,
                             .id = t->id};
        struct pr_child_event ev;

        assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
        ev = expect(t, i, PR_CHILD_FAILED);
        assert_string_equal(ev.what, rows[i].what);
        assert_int_equal(ev.sys_errno, rows[i].sys_errno);
    }
    spawn_sh(t, 0, "exit 9"); /* the keeper is none the worse, the tag free */
    assert_int_equal(WEXITSTATUS(expect_end(t, 0).wait_status), 9);
}

static void log_gets_both_streams_and_is_appended_to(void **state)
{
    struct scratch *t = *state;
    struct stat st;

    umask(022);
    spawn_sh(t, 1, "echo out; echo err >&2; cat");
    expect_end(t, 1); /* cat ends: its input is empty */
    spawn_sh(t, 2, "echo again");
    expect_end(t, 2);
    assert_string_equal(slurp(t->log), "out\nerr\nagain\n");
    assert_int_equal(stat(t->log, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
}

static void environment_and_folder_are_what_was_asked(void **state)
{
    struct scratch *t = *state;
    static const char *const argv[] = {
        "/bin/sh", "-c", "cat /proc/self/environ | tr '\\0' ';'; /bin/pwd",
        NULL};
    static const char *const env[] = {"A=1", "PRONY_EXPERIMENT=other", "B=x y",
                                      NULL};
    struct pr_spawn s = {.tag = 1,
                         .argv = argv,
                         .env = env,
                         .cwd = t->dir,
                         .log_path = t->log,
                         .id = t->id};
    const char *text;

    assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
    assert_int_equal(expect_end(t, 1).wait_status, 0);
    text = slurp(t->log);
    assert_non_null(strstr(text, t->id));
    assert_non_null(strstr(text, "A=1;"));
    assert_non_null(strstr(text, "B=x y;"));
    assert_null(strstr(text, "other"));
    assert_null(strstr(text, "HOME="));
    assert_non_null(strstr(text, t->dir));
}

static void write_script(struct scratch *t, const char *name, const char *text,
                         mode_t mode)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", t->dir, name);
    f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
}

static void program_is_found_by_the_path_it_will_have(void **state)
{
    struct scratch *t = *state;
    static const char *const hello[] = {"prony-hello", NULL};
    static const char *const secret[] = {"prony-secret", NULL};
    static const char *const odd[] = {"prony-odd", NULL};
    char path[128];
    const char *const absolute[] = {path, NULL};
    static const char *const relative[] = {"PATH=/nowhere:.", NULL};
    static const char *const without[] = {"X=1", NULL};
    const struct {
        const char *const *argv, *const *env;
        int sys_errno;
    } rows[] = {
        {hello, absolute, 0},     {hello, relative, 0},
        {hello, without, ENOENT}, {secret, absolute, EACCES},
        {odd, absolute, ENOEXEC},
    };

    snprintf(path, sizeof(path), "PATH=/nowhere:%s", t->dir);
    write_script(t, "prony-hello", "#!/bin/sh\nexit 5\n", 0755);
    write_script(t, "prony-secret", "#!/bin/sh\nexit 5\n", 0644);
    write_script(t, "prony-odd", "no program\n", 0755);
    for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pr_spawn s = {.tag = i,
                             .argv = rows[i].argv,
                             .env = rows[i].env,
                             .cwd = t->dir,
                             .id = t->id};

        assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
        if (rows[i].sys_errno)
            assert_int_equal(expect(t, i, PR_CHILD_FAILED).sys_errno,
                             rows[i].sys_errno);
        else
            assert_int_equal(WEXITSTATUS(expect_end(t, i).wait_status), 5);
    }
}

static void program_starts_clean(void **state)
{
    struct scratch *t = *state;
    char path[128];
    const char *ignored;
    sigset_t mask, before;
    int fd;

    /* A keeper from a process with odd signals and a descriptor to leak. */
    pr_keeper_free(t->k);
    t->k = NULL;
    snprintf(path, sizeof(path), "%s/leak", t->dir);
    fd = open(path, O_RDWR | O_CREAT, 0644); /* not close-on-exec */
    assert_true(fd >= 0);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGWINCH, SIG_IGN);
    sigfillset(&mask);
    sigprocmask(SIG_SETMASK, &mask, &before);
    assert_int_equal(pr_keeper_new(NULL, &t->k, &t->err), PR_OK);
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGUSR2, SIG_DFL);
    signal(SIGWINCH, SIG_DFL);
    close(fd);
    spawn_sh(t, 1, "ls -l /proc/$$/fd; exec grep Sig[BI] /proc/self/status");
    assert_int_equal(expect_end(t, 1).wait_status, 0);
    assert_non_null(strstr(slurp(t->log), "0 -> /dev/null"));
    assert_null(strstr(slurp(t->log), "/leak"));
    assert_null(strstr(slurp(t->log), "socket:"));
    assert_null(strstr(slurp(t->log), "pipe:"));
    assert_null(strstr(slurp(t->log), "signalfd"));
    assert_non_null(strstr(slurp(t->log), "SigBlk:\t0000000000000000"));
    /* 32 and 33 are the C library's own: nobody else can set them. */
    ignored = strstr(slurp(t->log), "SigIgn:");
    assert_non_null(ignored);
    if (strtoull(ignored + 7, NULL, 16) & ~(3ull << 31))
        fail_msg("signals are ignored: %s", slurp(t->log));
}

static void figures_are_plausible(void **state)
{
    struct scratch *t = *state;
    uint64_t before = (uint64_t)time(NULL) * 1000000000u;
    struct pr_child_event ev;

    spawn_sh(t, 1, "sleep 0.2");
    ev = expect_end(t, 1);
    assert_true(ev.elapsed_ns >= 200000000u);
    assert_true(ev.elapsed_ns < 20000000000u);
    assert_true(ev.started_ns >= before);
    assert_true(ev.ended_ns - ev.started_ns >= 190000000u);
    assert_true(ev.max_rss_bytes > 100000);
    spawn_sh(t, 2, "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done");
    ev = expect_end(t, 2);
    assert_true(ev.cpu_user_ns > 10000000u);
    assert_true(ev.cpu_user_ns + ev.cpu_system_ns <= ev.elapsed_ns + 50000000u);
}

static int body(void *ctx, const char *arg)
{
    if (!strcmp(arg, "abort"))
        abort();
    /* Not flushed here: the keeper's child does. */
    printf("%s %s %s", (const char *)ctx, arg, getenv("PRONY_EXPERIMENT"));
    return getenv("HOME") ? 99 : 0x107;
}

static void body_runs_in_a_process_of_its_own(void **state)
{
    struct scratch *t = *state;
    static const char *const env[] = {"A=1", NULL};
    struct pr_spawn s = {.tag = 1,
                         .body_arg = "arg",
                         .env = env,
                         .log_path = t->log,
                         .id = t->id};
    char path[128], want[128];
    struct pr_child_event ev;
    char ctx[] = "ctx";
    FILE *pending;

    pr_keeper_free(t->k);
    snprintf(path, sizeof(path), "%s/pending", t->dir);
    pending = fopen(path, "we");
    fputs("once", pending);
    assert_int_equal(
        pr_keeper_new(&(struct pr_keeper_calls){.body = body, .ctx = ctx},
                      &t->k, &t->err),
        PR_OK);
    assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
    ev = expect_end(t, 1);
    assert_int_equal(WEXITSTATUS(ev.wait_status), 7);
    assert_int_not_equal(ev.pid, getpid());
    snprintf(want, sizeof(want), "ctx arg %s", t->id);
    assert_string_equal(slurp(t->log), want);
    fclose(pending);
    assert_string_equal(slurp(path), "once");

    s.body_arg = "abort";
    assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
    assert_int_equal(WTERMSIG(expect_end(t, 1).wait_status), SIGABRT);
    s.cwd = "/no/such/folder";
    assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
    assert_string_equal(expect(t, 1, PR_CHILD_FAILED).what, "chdir");
}

static void nothing_waits_means_zero(void **state)
{
    struct scratch *t = *state;
    struct pr_child_event ev;

    assert_int_equal(pr_keeper_next(t->k, &ev, &t->err), 0);
    assert_int_equal(pr_keeper_signal(t->k, 77, SIGTERM, &t->err), PR_OK);
    pr_keeper_free(NULL);
}

static void subreaper_is_as_before(void **state)
{
    struct scratch *t = *state;
    int is = -1;

    prctl(PR_GET_CHILD_SUBREAPER, &is);
    assert_int_equal(is, 1);
    pr_keeper_free(t->k);
    t->k = NULL;
    prctl(PR_GET_CHILD_SUBREAPER, &is);
    assert_int_equal(is, 0);
}

#define KEEPER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(exit_status_is_reported),
        KEEPER_TEST(what_cannot_start_says_why),
        KEEPER_TEST(log_gets_both_streams_and_is_appended_to),
        KEEPER_TEST(environment_and_folder_are_what_was_asked),
        KEEPER_TEST(program_is_found_by_the_path_it_will_have),
        KEEPER_TEST(program_starts_clean),
        KEEPER_TEST(figures_are_plausible),
        KEEPER_TEST(body_runs_in_a_process_of_its_own),
        KEEPER_TEST(nothing_waits_means_zero),
        KEEPER_TEST(subreaper_is_as_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
