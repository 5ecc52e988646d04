/* Run directories: made, refused, locked, gone on with; and results in them. */
#include "record/rundir.h"

#include "record/result.h"

#include "plans.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

/* In place of the library's: a test does not sleep. After so many naps
 * something happens. */
static int naps, wake_at = -1, to_unlock = -1;

int nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)time;
    (void)left;
    if (++naps == wake_at)
        flock(to_unlock, LOCK_UN);
    return 0;
}

static bool is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static const char *content(struct pr_arena *a, const char *path)
{
    const char *text;
    size_t len;

    assert_int_equal(pr_file_read(path, 1 << 20, a, &text, &len, NULL), 0);
    return text;
}

static int append(struct pr_rundir *d, const char *line)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);

    pr_buf_str(&b, line);
    return pr_rundir_append(d, &b, NULL);
}

static void a_new_one_has_its_parts(void **state)
{
    static const char *const names[] = {"runs/a.b/c", "empty", "slash//"};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);

    (void)state;
    assert_int_equal(mkdir("empty", 0755), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pr_err err = {0};
        struct pr_rundir d;
        char path[4096];

        if (pr_rundir_create(names[i], &d, &err))
            fail_msg("%s: %s", err.where, err.msg);
        assert_int_equal(pr_rundir_path(&d, "experiments", path, NULL), 0);
        assert_true(is_dir(path));
        assert_null(strstr(path, "//"));
        assert_int_equal(append(&d, "one\n"), PR_OK);
        assert_int_equal(append(&d, "two\n"), PR_OK);
        assert_int_equal(pr_rundir_path(&d, "events.ndjson", path, NULL), 0);
        assert_string_equal(content(a, path), "one\ntwo\n");
        /* Children that we start must not hold the lock. */
        assert_true(fcntl(d.events_fd, F_GETFD) & FD_CLOEXEC);
        assert_true(fcntl(d.experiments_fd, F_GETFD) & FD_CLOEXEC);
        pr_rundir_close(&d);
        pr_rundir_close(&d);
    }
}

static void one_that_holds_anything_is_refused(void **state)
{
    static const char *const inside[] = {"plan.json", ".hidden", "x"};

    (void)state;
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        const char *dir = pr_arena_printf(a, "d%zu", i);
        struct pr_rundir d = {.events_fd = 77};
        struct pr_err err = {0};

        assert_int_equal(mkdir(dir, 0755), 0);
        put_file(pr_arena_printf(a, "%s/%s", dir, inside[i]), "");
        assert_int_equal(pr_rundir_create(dir, &d, &err), PR_E_USAGE);
        assert_string_equal(err.where, dir);
        /* Only a run can be gone on with. */
        assert_int_equal(strstr(err.hint, "--resume") != NULL, i == 0);
        assert_int_equal(d.events_fd, 77); /* untouched */
        assert_int_not_equal(
            access(pr_arena_printf(a, "%s/events.ndjson", dir), F_OK), 0);
    }
}

static void bad_names_are_refused(void **state)
{
    static char name[5000];
    struct pr_rundir d;
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(pr_rundir_create("", &d, &err), PR_E_USAGE);
    put_file("file", "");
    assert_int_equal(pr_rundir_create("file", &d, &err), PR_E_IO);
    assert_int_equal(pr_rundir_create("file/x", &d, &err), PR_E_IO);
    memset(name, 'x', sizeof name - 1);
    assert_int_equal(pr_rundir_create(name, &d, &err), PR_E_USAGE);
    for (size_t i = 100; i < sizeof name - 1; i += 100)
        name[i] = '/';
    assert_int_equal(pr_rundir_create(name, &d, &err), PR_E_USAGE);
    assert_int_equal(pr_rundir_resume(name, &d, &err), PR_E_USAGE);
    assert_int_equal(pr_rundir_resume("", &d, &err), PR_E_USAGE);
}

static void paths_in_it(void **state)
{
    static char rest[5000];
    struct pr_rundir d;
    char path[4096];

    (void)state;
    assert_int_equal(pr_rundir_create("r", &d, NULL), PR_OK);
    assert_int_equal(pr_rundir_path(&d, "plan.json", path, NULL), PR_OK);
    assert_string_equal(path, "r/plan.json");
    assert_int_equal(pr_rundir_file(&d, "0001-ab", "log.txt", path, NULL), 0);
    assert_string_equal(path, "r/experiments/0001-ab/log.txt");
    memset(rest, 'x', sizeof rest - 1);
    assert_int_equal(pr_rundir_path(&d, rest, path, NULL), PR_E_IO);
    assert_int_equal(pr_rundir_file(&d, "id", rest, path, NULL), PR_E_IO);
    pr_rundir_close(&d);
}

static void only_a_run_is_gone_on_with(void **state)
{
    struct pr_rundir d;
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(pr_rundir_resume("gone", &d, &err), PR_E_IO);
    assert_string_equal(err.where, "gone/plan.json");
    assert_non_null(strstr(err.hint, "--resume"));
    assert_int_equal(mkdir("other", 0755), 0);
    assert_int_equal(pr_rundir_resume("other", &d, &err), PR_E_IO);
    assert_int_equal(rmdir("other"), 0); /* nothing was made in it */
}

static void begin_run(struct pr_rundir *d)
{
    assert_int_equal(pr_rundir_create("r", d, NULL), PR_OK);
    put_file("r/plan.json", "{}");
}

/* A runner that was killed leaves half a line; the next begins a new one. */
static void half_a_line_is_closed(void **state)
{
    static const struct {
        const char *before, *after;
    } rows[] = {
        {"", "next\n"},
        {"one\n", "one\nnext\n"},
        {"one\n{\"ti", "one\n{\"ti\nnext\n"},
        {"x", "x\nnext\n"},
        {"\n", "\nnext\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_rundir d;

        begin_run(&d);
        assert_int_equal(append(&d, rows[i].before), PR_OK);
        pr_rundir_close(&d);
        assert_int_equal(pr_rundir_resume("r/", &d, NULL), PR_OK);
        assert_int_equal(append(&d, "next\n"), PR_OK);
        pr_rundir_close(&d);
        assert_string_equal(content(a, "r/events.ndjson"), rows[i].after);
        assert_int_equal(system("rm -rf r"), 0);
    }
}

static void what_was_half_written_goes(void **state)
{
    struct pr_rundir d;

    (void)state;
    begin_run(&d);
    pr_rundir_close(&d);
    put_file("r/.new-env.json.12.1", "{");
    put_file("r/mine", "kept");
    assert_int_equal(pr_rundir_resume("r", &d, NULL), PR_OK);
    pr_rundir_close(&d);
    assert_int_equal(access("r/.new-env.json.12.1", F_OK), -1);
    assert_int_equal(access("r/mine", F_OK), 0);
    assert_int_equal(system("rm -rf r"), 0);
}

static void two_runners_never_share_one(void **state)
{
    struct pr_rundir d, other = {.events_fd = 77};
    struct pr_err err = {0};
    int fd;

    (void)state;
    begin_run(&d);
    naps = 0;
    wake_at = -1;
    assert_int_equal(pr_rundir_resume("r", &other, &err), PR_E_IO);
    assert_non_null(strstr(err.msg, "another run"));
    assert_true(naps > 10); /* it waited a while */
    assert_int_equal(other.events_fd, 77);
    /* Not even while the first is being made: the directory is no longer
     * free. */
    assert_int_equal(pr_rundir_create("r", &other, &err), PR_E_USAGE);
    pr_rundir_close(&d);
    fd = open("r/events.ndjson", O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0); /* it was let go */
    /* One that lets go while we wait. */
    naps = 0;
    wake_at = 5;
    to_unlock = fd;
    assert_int_equal(pr_rundir_resume("r", &other, &err), PR_OK);
    assert_int_equal(naps, 5);
    assert_int_not_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    pr_rundir_close(&other);
    close(fd);
}

static void folders_of_experiments(void **state)
{
    struct pr_rundir d;
    bool begun;
    unsigned tries;
    struct pr_err err = {0};

    (void)state;
    begin_run(&d);
    assert_int_equal(pr_rundir_experiment(&d, "0001-a", &begun, &tries, NULL),
                     PR_OK);
    assert_false(begun);
    assert_true(is_dir("r/experiments/0001-a"));
    /* Again: its result and what was half made go, the rest stays. */
    put_file("r/experiments/0001-a/result.json", "{}");
    put_file("r/experiments/0001-a/log.txt", "x");
    put_file("r/experiments/0001-a/" PR_TEMP_PREFIX "result.json", "half");
    assert_int_equal(pr_rundir_experiment(&d, "0001-a", &begun, &tries, NULL),
                     PR_OK);
    assert_true(begun);
    assert_int_equal(tries, 1); /* one log */
    assert_int_not_equal(access("r/experiments/0001-a/result.json", F_OK), 0);
    assert_int_equal(access("r/experiments/0001-a/log.txt", F_OK), 0);
    assert_int_not_equal(
        access("r/experiments/0001-a/" PR_TEMP_PREFIX "result.json", F_OK), 0);
    assert_int_equal(pr_rundir_experiment(&d, "no/such", &begun, &tries, &err),
                     PR_E_IO);
    pr_rundir_close(&d);
}

static void a_full_disk_is_reported(void **state)
{
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(1 << 20);
    struct rlimit was, low;
    struct pr_err err = {0};
    struct pr_rundir d;
    int rc;

    (void)state;
    begin_run(&d);
    for (int i = 0; i < 10000; i++)
        pr_buf_char(&line, 'x');
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    low = was;
    low.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    rc = pr_rundir_append(&d, &line, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(rc, PR_E_IO);
    assert_int_equal(err.sys_errno, EFBIG);
    line.failed = true;
    assert_int_equal(pr_rundir_append(&d, &line, &err), PR_E_NOMEM);
    pr_rundir_close(&d);
}

static void results_are_read_back(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf results = PR_BUF_INIT(100);
    PR_AUTO_BUF struct pr_buf warnings = PR_BUF_INIT(100);
    struct pr_result r = {.id = "0001-a",
                          .status = PR_STATUS_FAILED,
                          .reason = "exit \"3\"\n",
                          .params_json = "{\"a\": 1}",
                          .results = &results,
                          .started_ns = 1794780222123456789u,
                          .ended_ns = 1794780223000000000u,
                          .attempts = 2,
                          .log_tail = "last\nlines",
                          .warnings = &warnings};
    struct pr_rundir d;
    bool begun;
    unsigned tries;
    struct pr_value v;

    (void)state;
    begin_run(&d);
    assert_int_equal(pr_result_read("r", "0001-a", a, &v, NULL), 0);
    assert_int_equal(pr_rundir_experiment(&d, "0001-a", &begun, &tries, NULL),
                     PR_OK);
    assert_int_equal(pr_result_read("r", "0001-a", a, &v, NULL), 0);
    pr_buf_str(&results, "\"results.time\": 1.5, \"x\": [1]");
    pr_buf_str(&warnings, "\"one\", \"two\"");
    assert_int_equal(pr_result_write(&d, &r, NULL), PR_OK);
    assert_int_equal(pr_result_read("r", "0001-a", a, &v, NULL), 1);
    assert_int_equal(pr_result_status(&v), PR_STATUS_FAILED);
    assert_string_equal(
        json_text(a, &v),
        "{\"schema\": \"prony.result/1\", \"id\": \"0001-a\", \"status\": "
        "\"failed\", \"reason\": \"exit \\\"3\\\"\\n\", \"started\": "
        "\"2026-11-15T22:03:42.123456Z\", \"ended\": "
        "\"2026-11-15T22:03:43.000000Z\", \"attempts\": 2, \"log_tail\": "
        "\"last\\nlines\", \"warnings\": [\"one\", \"two\"], \"results\": "
        "{\"results.time\": 1.5, \"x\": [1]}, \"params\": {\"a\": 1}}");
    r = (struct pr_result){.id = "0001-a", .params_json = "{}"};
    assert_int_equal(pr_result_write(&d, &r, NULL), PR_OK);
    assert_int_equal(pr_result_read("r", "0001-a", a, &v, NULL), 1);
    assert_int_equal(pr_result_status(&v), PR_STATUS_OK);
    assert_null(pr_get(&v, "started"));
    put_file("r/experiments/0001-a/result.json", "{\"status\": ");
    struct pr_err err = {0};
    assert_int_equal(pr_result_read("r", "0001-a", a, &v, &err), PR_E_FORMAT);
    assert_non_null(strstr(err.where, "result.json"));
    pr_rundir_close(&d);
}

static void every_status_has_a_word(void **state)
{
    (void)state;
    for (int s = 0; s < PR_STATUS_COUNT; s++)
        assert_int_equal(pr_status_from_word(pr_status_word((enum pr_status)s)),
                         s);
    assert_int_equal(pr_status_from_word("bogus"), PR_STATUS_COUNT);
    assert_int_equal(pr_status_from_word(""), PR_STATUS_COUNT);
    assert_non_null(pr_status_word(PR_STATUS_COUNT));
    struct pr_value none = {.kind = PR_MAP};
    assert_int_equal(pr_result_status(&none), PR_STATUS_COUNT);
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, enter_dir, leave_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HERE(a_new_one_has_its_parts),
        HERE(one_that_holds_anything_is_refused),
        HERE(bad_names_are_refused),
        HERE(paths_in_it),
        HERE(only_a_run_is_gone_on_with),
        HERE(half_a_line_is_closed),
        HERE(what_was_half_written_goes),
        HERE(two_runners_never_share_one),
        HERE(folders_of_experiments),
        HERE(a_full_disk_is_reported),
        HERE(results_are_read_back),
        cmocka_unit_test(every_status_has_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
