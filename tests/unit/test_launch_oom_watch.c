/*
 * The out-of-memory killer: its counters below a made-up root, and really, in a
 * memory group of our own, as the keeper reports it.
 */
#include "launch/keeper/oom_watch.h"

#include "skip.h"
#include "test_launch_keeper.h"

#include <limits.h>

static void write_at(const char *root, const char *path, const char *text)
{
    char full[PATH_MAX], cmd[PATH_MAX + 64];
    FILE *f;

    snprintf(full, sizeof(full), "%s%s", root, path);
    snprintf(cmd, sizeof(cmd), "mkdir -p \"$(dirname %s)\"", full);
    assert_int_equal(system(cmd), 0);
    f = fopen(full, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void every_place_of_the_counter_is_known(void **state)
{
    static const char control[] = "oom_kill_disable 0\nunder_oom 0\noom_kill ";
    static const char events[] = "low 0\nhigh 9\nmax 9\noom 9\noom_kill ";
    static const struct {
        const char *cgroup, *path, *text;
    } rows[] = {
        {"", "/proc/vmstat", "nr_free_pages 1\nold_oom_kill 7\noom_kill "},
        {"", "/proc/vmstat", "oom_kill "},
        {"5:cpu:/x\n4:memory:/a/b\n",
         "/sys/fs/cgroup/memory/a/b/"
         "memory.oom_control",
         control},
        {"4:cpu,memory:/a\n", "/sys/fs/cgroup/memory/a/memory.oom_control",
         control},
        {"4:memory:/far/away\n", "/sys/fs/cgroup/memory/memory.oom_control",
         control},
        {"0::/a/b\n", "/sys/fs/cgroup/a/b/memory.events", events},
        {"1:name=systemd:/\n0::/\n", "/sys/fs/cgroup/memory.events", events},
        {"0::/a\n", "/sys/fs/cgroup/unified/a/memory.events", events},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct scratch t;
        struct pr_oom_watch w;
        char text[256];

        scratch_open(&t);
        write_at(t.dir, "/proc/self/cgroup", rows[i].cgroup);
        snprintf(text, sizeof(text), "%s%d\nmore 99\n", rows[i].text, 41);
        write_at(t.dir, rows[i].path, text);
        pr_oom_watch_init(&w, t.dir);
        assert_false(pr_oom_watch_has_risen(&w));
        snprintf(text, sizeof(text), "%s%d\nmore 99\n", rows[i].text, 42);
        write_at(t.dir, rows[i].path, text);
        assert_true(pr_oom_watch_has_risen(&w));
        assert_false(pr_oom_watch_has_risen(&w));
        pr_oom_watch_close(&w);
        scratch_close(&t);
    }
}

static void machine_without_counters_is_no_error(void **state)
{
    struct pr_oom_watch w;

    (void)state;
    pr_oom_watch_init(&w, "/no/such/root");
    assert_false(pr_oom_watch_has_risen(&w));
    pr_oom_watch_close(&w);
}

/* Where the group is, so that it goes away however the test ends. */
static char group[128];

/* A memory group below one of the usual places; false when none can be had. */
static int make_group(void)
{
    static const struct {
        const char *root, *limit;
    } rows[] = {
        {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
        {"/sys/fs/cgroup", "memory.max"},
        {"/sys/fs/cgroup/unified", "memory.max"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[256];
        FILE *f;
        int bad;

        snprintf(group, sizeof(group), "%s/prony-test-%d", rows[i].root,
                 (int)getpid());
        if (mkdir(group, 0755) < 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", group, rows[i].limit);
        f = fopen(path, "r+e");
        bad = !f || fputs("33554432\n", f) < 0;
        bad |= f && fclose(f) != 0;
        if (!bad)
            return 1;
        rmdir(group);
    }
    group[0] = '\0';
    return 0;
}

static int teardown_group(void **state)
{
    uint64_t end = now_ms() + DEADLINE_MS;

    teardown(state);
    /* The dead are taken off its list a little later. */
    while (group[0] && rmdir(group) < 0) {
        assert_true(now_ms() < end);
        poll(NULL, 0, 5);
    }
    return 0;
}

static struct pr_child_event run(struct scratch *t, const char *script)
{
    char text[1024];
    struct pr_child_event ev;

    snprintf(text, sizeof(text), "echo $$ > %s/cgroup.procs || exit 99; %s",
             group, script);
    spawn_sh(t, 1, text);
    ev = expect_end(t, 1);
    assert_int_not_equal(WEXITSTATUS(ev.wait_status), 99);
    return ev;
}

static void death_by_the_oom_killer_is_told_apart(void **state)
{
    /* tail keeps what it reads until a line ends, and there it never does. */
    static const char eat[] = "tail /dev/zero";
    struct scratch *t = *state;
    struct pr_child_event ev;
    char script[256];

    if (!make_group())
        skip_because("no control groups of our own here; run it as root where "
                     "/sys/fs/cgroup can be written");
    snprintf(script, sizeof(script), "exec %s", eat);
    ev = run(t, script);
    assert_true(WIFSIGNALED(ev.wait_status));
    assert_int_equal(WTERMSIG(ev.wait_status), SIGKILL);
    assert_true(ev.oom);

    ev = run(t, "kill -KILL $$"); /* and not for ever after */
    assert_int_equal(WTERMSIG(ev.wait_status), SIGKILL);
    assert_false(ev.oom);

    snprintf(script, sizeof(script), "%s; exit $?", eat);
    ev = run(t, script);
    assert_int_equal(WEXITSTATUS(ev.wait_status), 128 + SIGKILL);
    assert_true(ev.oom);

    snprintf(script, sizeof(script), "%s; exit 0", eat);
    assert_false(run(t, script).oom); /* it coped */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_of_the_counter_is_known),
        cmocka_unit_test(machine_without_counters_is_no_error),
        cmocka_unit_test_setup_teardown(death_by_the_oom_killer_is_told_apart,
                                        setup, teardown_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
