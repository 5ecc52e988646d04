/* The keeper: the channel that a child can write lines to. */
#include "test_launch_keeper.h"

static void spawn_channel(struct scratch *t, uint32_t tag, const char *script,
                          const char *channel, const char *const *env)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    struct pr_spawn s = {.tag = tag,
                         .argv = argv,
                         .env = env,
                         .cwd = "/",
                         .log_path = t->log,
                         .channel_path = channel,
                         .id = t->id};

    assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
}

static void path_of(struct scratch *t, const char *name, char out[static 128])
{
    snprintf(out, 128, "%s/%s", t->dir, name);
}

static void a_child_and_its_children_write_to_it(void **state)
{
    struct scratch *t = *state;
    char path[128];
    struct stat st;

    umask(022);
    path_of(t, "channel", path);
    spawn_channel(t, 1,
                  "echo one >&$PRONY_FD; echo two >&$DATA_FD; echo three >&3; "
                  "sh -c 'echo four >&3'; echo five >>\"$PRONY_CHANNEL\"; "
                  "(sh -c 'echo six >&3' &) ; "
                  "until grep -q six \"$PRONY_CHANNEL\"; do sleep 0.01; done; "
                  "echo log",
                  path, NULL);
    assert_int_equal(expect_end(t, 1).wait_status, 0);
    assert_non_null(strstr(slurp(path), "one\ntwo\nthree\nfour\nfive\n"));
    assert_non_null(strstr(slurp(path), "six\n"));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    assert_string_equal(slurp(t->log), "log\n");
    spawn_channel(t, 1, "echo again >&3", path, NULL);
    assert_int_equal(expect_end(t, 1).wait_status, 0);
    assert_non_null(strstr(slurp(path), "one\n")); /* appended to */
    assert_non_null(strstr(slurp(path), "again\n"));
}

static void others_do_not_see_it(void **state)
{
    struct scratch *t = *state;
    char one[128], two[128], want[256];

    path_of(t, "one", one);
    path_of(t, "two", two);
    spawn_channel(t, 1, "echo in >&3; sleep 60", one, NULL);
    expect(t, 1, PR_CHILD_STARTED);
    wait_word(one, "in", 1);
    spawn_channel(t, 2, "ls -l /proc/$$/fd; env", NULL, NULL);
    assert_int_equal(expect_end(t, 2).wait_status, 0);
    assert_null(strstr(slurp(t->log), "/one"));
    assert_null(strstr(slurp(t->log), " 3 -> "));
    assert_null(strstr(slurp(t->log), "_FD="));
    assert_null(strstr(slurp(t->log), "PRONY_CHANNEL="));
    spawn_channel(t, 3, "ls -l /proc/$$/fd; env", two, NULL);
    assert_int_equal(expect_end(t, 3).wait_status, 0);
    assert_null(strstr(slurp(t->log), "/one"));
    snprintf(want, sizeof(want), " 3 -> %s\n", two);
    assert_non_null(strstr(slurp(t->log), want));
    assert_null(strstr(slurp(t->log), " 4 -> "));
    snprintf(want, sizeof(want), "PRONY_CHANNEL=%s\n", two);
    assert_non_null(strstr(slurp(t->log), want));
    assert_int_equal(pr_keeper_signal(t->k, 1, SIGKILL, &t->err), PR_OK);
    expect(t, 1, PR_CHILD_ENDED);
}

static void an_older_channel_is_forgotten(void **state)
{
    struct scratch *t = *state;
    static const char *const env[] = {
        "PATH=/usr/bin:/bin",       "PRONY_FD=77",   "DATA_FD=78",
        "PRONY_CHANNEL=/elsewhere", "DATA_FDX=kept", NULL};
    char path[128];

    path_of(t, "channel", path);
    spawn_channel(t, 1, "env", NULL, env);
    assert_int_equal(expect_end(t, 1).wait_status, 0);
    assert_null(strstr(slurp(t->log), "_FD="));
    assert_null(strstr(slurp(t->log), "/elsewhere"));
    assert_non_null(strstr(slurp(t->log), "DATA_FDX=kept"));
    spawn_channel(t, 1, "env", path, env);
    assert_int_equal(expect_end(t, 1).wait_status, 0);
    assert_non_null(strstr(slurp(t->log), "PRONY_FD=3\n"));
    assert_non_null(strstr(slurp(t->log), "DATA_FD=3\n"));
    assert_null(strstr(slurp(t->log), "/elsewhere"));
}

/* The keeper's folder is the one it was made in. */
static void a_relative_path_becomes_whole(void **state)
{
    struct scratch *t = *state;
    char want[256], before[4096];

    pr_keeper_free(t->k);
    t->k = NULL;
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(t->dir), 0);
    assert_int_equal(pr_keeper_new(NULL, &t->k, &t->err), PR_OK);
    assert_int_equal(chdir(before), 0);
    spawn_channel(t, 1, "echo \"$PRONY_CHANNEL\" >&3", "near", NULL);
    assert_int_equal(expect_end(t, 1).wait_status, 0);
    path_of(t, "near", want);
    assert_string_equal(strtok(slurp(want), "\n"), want);
}

static void one_that_cannot_be_opened_says_so(void **state)
{
    static const struct {
        const char *path;
        int sys_errno;
    } rows[] = {{"/no/such/folder/channel", ENOENT}, {"/tmp", EISDIR}};
    struct scratch *t = *state;

    for (uint32_t i = 0; i < 2; i++) {
        struct pr_child_event ev;

        spawn_channel(t, i, "true", rows[i].path, NULL);
        ev = expect(t, i, PR_CHILD_FAILED);
        assert_string_equal(ev.what, "open");
        assert_int_equal(ev.sys_errno, rows[i].sys_errno);
    }
}

/* Whatever the keeper itself has in that place. */
static void a_program_that_is_missing_is_told_of(void **state)
{
    static const char *const missing[] = {"/no/such/program", NULL};
    struct scratch *t = *state;
    char path[128];
    struct pr_spawn s = {.tag = 1, .argv = missing, .id = t->id};
    int held[6];

    path_of(t, "channel", path);
    s.channel_path = path;
    for (int n = 0; n <= 6; n++) {
        pr_keeper_free(t->k);
        for (int i = 0; i < n; i++)
            held[i] = dup(0);
        assert_int_equal(pr_keeper_new(NULL, &t->k, &t->err), PR_OK);
        for (int i = 0; i < n; i++)
            close(held[i]);
        assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
        assert_string_equal(expect(t, 1, PR_CHILD_FAILED).what, "exec");
    }
}

static int body(void *ctx, const char *arg)
{
    const char *number = getenv("PRONY_FD"), *same = getenv("DATA_FD");
    int other = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)ctx;
    (void)arg;
    if (!number || !same || strcmp(number, same) != 0 || other < 0)
        return 1;
    dprintf(atoi(number), "body\n");
    return system("echo grandchild >>\"$PRONY_CHANNEL\"") != 0;
}

static void a_body_has_one_too(void **state)
{
    struct scratch *t = *state;
    struct pr_spawn s = {
        .tag = 1, .body_arg = "", .log_path = t->log, .id = t->id};
    char path[128];

    path_of(t, "channel", path);
    s.channel_path = path;
    pr_keeper_free(t->k);
    assert_int_equal(
        pr_keeper_new(&(struct pr_keeper_calls){.body = body}, &t->k, &t->err),
        PR_OK);
    assert_int_equal(pr_keeper_spawn(t->k, &s, &t->err), PR_OK);
    assert_int_equal(expect_end(t, 1).wait_status, 0);
    assert_string_equal(slurp(path), "body\ngrandchild\n");
}

#define KEEPER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        KEEPER_TEST(a_child_and_its_children_write_to_it),
        KEEPER_TEST(others_do_not_see_it),
        KEEPER_TEST(an_older_channel_is_forgotten),
        KEEPER_TEST(a_relative_path_becomes_whole),
        KEEPER_TEST(one_that_cannot_be_opened_says_so),
        KEEPER_TEST(a_program_that_is_missing_is_told_of),
        KEEPER_TEST(a_body_has_one_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
