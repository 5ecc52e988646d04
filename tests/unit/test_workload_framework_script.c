/* What a launcher by DLBS's contract is given: arguments, environment, the
 * file it reports in. */
#include "scratch.h"
#include "torture.h"
#include "values.h"
#include "workload/framework_script.h"

#include <sys/stat.h>

struct rig {
    struct pr_arena *arena;
    struct pr_value params;
    struct pr_job job;
    struct pr_start start;
    struct pr_err err;
    int rc;
};

static int enter_scripts(void **state)
{
    if (enter(state))
        return -1;
    spit("run.sh", "#!/bin/sh\n");
    spit("plain.sh", "#!/bin/sh\n");
    (void)unsetenv("DLBS_ROOT");
    (void)unsetenv("BENCH_ROOT");
    (void)unsetenv("DLBS_NAME");
    return chmod("run.sh", 0755) || mkdir("share", 0755) ||
           mkdir("share/workloads", 0755) || mkdir("a b", 0755) ||
           mkdir("dir", 0755) || symlink("../run.sh", "a b/run.sh") ||
           setenv("PRONY_SHARE", "share", 1);
}

/* Members of a map in single quotes. */
static void start_with(struct rig *r, const char *dir, const char *members)
{
    char text[2048];
    size_t n = (size_t)snprintf(text, sizeof text, "{%s}", members);

    assert_true(n < sizeof text);
    for (size_t i = 0; i < n; i++)
        text[i] = text[i] == '\'' ? '"' : text[i];
    *r = (struct rig){.arena = pr_arena_new(4096)};
    assert_non_null(r->arena);
    r->params = json(r->arena, text);
    assert_int_equal(
        pr_job_init(&r->job, "id", dir, &r->params, r->arena, NULL), PR_OK);
    r->rc = pr_framework_script_start(&r->job, NULL, &r->start, &r->err);
}

static void done(struct rig *r)
{
    pr_arena_free(r->arena);
}

/* The words after the first, blanks between, the scratch folder as ~. */
static const char *words(const struct rig *r)
{
    static char out[4096];
    size_t n = 0, len = strlen(scratch_dir);

    if (r->rc)
        fail_msg("%s: %s", r->err.where, r->err.msg);
    out[0] = '\0';
    for (const char **w = r->start.argv; *w; w++) {
        bool here = strncmp(*w, scratch_dir, len) == 0;
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s%s", n ? " " : "",
                              here ? "~" : "", *w + (here ? len : 0));
        assert_true(n < sizeof out);
    }
    return out;
}

static const char *env_of(const struct rig *r, const char *name)
{
    size_t n = strlen(name);

    for (const char **e = r->start.env; *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

#define MX "'exp.framework': 'mx', 'mx.launcher': './run.sh', "
#define OPTS "--exp_framework mx --mx_launcher ./run.sh "
#define LOG "'exp.log_file': '/tmp/x.log'"
#define LOGGED "--exp_log_file /tmp/x.log"

static void parameters_are_arguments(void **state)
{
    static const struct {
        const char *params, *want;
    } rows[] = {
        {MX LOG, "~/run.sh " OPTS LOGGED},
        {MX "'exp.docker': true, 'x.b': false, " LOG,
         "~/run.sh " OPTS "--exp_docker true --x_b false " LOGGED},
        {MX "'a.b.c-d': 1, 'x': 0.5, 'y': 2.0, 'z': null, " LOG,
         "~/run.sh " OPTS "--a_b_c-d 1 --x 0.5 --y 2.0 --z None " LOGGED},
        {MX "'exp.timeout': 60.0, 'monitor.frequency': 0.0, " LOG,
         "~/run.sh " OPTS "--exp_timeout 60 --monitor_frequency 0 " LOGGED},
        {MX "'m': {'k': [1, 'a']}, 'l': ['a b', 2], " LOG,
         "~/run.sh " OPTS "--m {\"k\": [1, \"a\"]} --l [\"a b\", 2] " LOGGED},
        /* runtime.launcher goes before what the script starts, not before
         * the script. */
        {MX "'runtime.launcher': 'numactl -N 0', 'runtime.env.A': 1, " LOG,
         "~/run.sh " OPTS "--runtime_launcher numactl -N 0 " LOGGED},
        /* Of tables that are nobody's business, what was changed. */
        {MX "'dataset.format': 'tfrecord', 'dataset.seed': 7, "
            "'reader.batch_size': 1, 'dataset.unheard': 3, " LOG,
         "~/run.sh " OPTS "--dataset_seed 7 --dataset_unheard 3 " LOGGED},
        {MX "'exp.args': ['--more', 'x y'], " LOG,
         "~/run.sh " OPTS "--exp_args [\"--more\", \"x y\"] " LOGGED
         " --more x y"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig r;

        start_with(&r, "dir", rows[i].params);
        assert_string_equal(words(&r), rows[i].want);
        assert_string_equal(r.start.log_file, "/tmp/x.log");
        assert_true(r.start.contains_itself);
        done(&r);
    }
}

/* Scripts write their pid into that folder unless the frequency is 0. */
static void the_monitor_is_off_unless_it_has_a_folder_for_pids(void **state)
{
    struct rig r;

    (void)state;
    start_with(&r, "dir", MX "'monitor.frequency': 0.1, " LOG);
    assert_non_null(strstr(words(&r), "--monitor_frequency 0 "));
    done(&r);
    start_with(&r, "dir",
               MX "'monitor.frequency': 0.1, "
                  "'monitor.backend_pid_folder': '/p', " LOG);
    assert_non_null(strstr(words(&r), "--monitor_frequency 0.1 "));
    done(&r);
}

static void the_list_of_a_launcher_is_all_it_gets(void **state)
{
    static const struct {
        const char *list, *want;
        bool told;
    } rows[] = {
        {"'exp.log_file exp.model'",
         "--exp_model resnet50 --exp_log_file ~/logs/a.log", true},
        {"['exp.model', 'no.such']", "--exp_model resnet50", false},
        {"'dataset.seed'", "--dataset_seed 123", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char params[512], want[256];
        struct rig r;

        snprintf(params, sizeof params,
                 MX "'mx.launcher_args': %s, 'exp.model': 'resnet50', "
                    "'exp.log_file': './logs/a.log', 'dataset.seed': 123",
                 rows[i].list);
        snprintf(want, sizeof want, "~/run.sh %s", rows[i].want);
        start_with(&r, "dir", params);
        for (const char **w = r.start.argv; *w; w++)
            if (strstr(*w, "/logs/"))
                assert_string_equal(*w, r.start.log_file);
        assert_string_equal(words(&r), want);
        assert_non_null(strstr(r.start.log_file,
                               rows[i].told ? "/logs/a.log" : "/dir/log.txt"));
        done(&r);
    }
}

static void without_a_log_file_it_is_that_of_the_experiment(void **state)
{
    char want[128];
    struct rig r;

    (void)state;
    snprintf(want, sizeof want, "%s/dir/log.txt", scratch_dir);
    start_with(&r, "dir", MX "'exp.log_file': ''");
    assert_string_equal(words(&r),
                        "~/run.sh " OPTS "--exp_log_file ~/dir/log.txt");
    assert_string_equal(r.start.log_file, want);
    done(&r);
    start_with(&r, "dir", MX "'x': 1"); /* a plan without defaults */
    assert_string_equal(words(&r),
                        "~/run.sh " OPTS "--x 1 --exp_log_file ~/dir/log.txt");
    done(&r);
    start_with(&r, "", MX "'x': 1"); /* a plan that is being checked */
    assert_int_equal(r.rc, PR_OK);
    done(&r);
}

/* ---- the program */

static void a_launcher_is_a_file_or_words(void **state)
{
    static const struct {
        const char *params, *want;
    } rows[] = {
        {"'exp.framework': 'mx', 'mx.launcher': 'a b/run.sh'", "~/a b/run.sh"},
        {"'exp.framework': 'mx', 'mx.launcher': 'sh ./run.sh -x'",
         "sh ./run.sh -x"},
        {"'exp.framework': 'mx', 'mx.launcher': ['sh', 'a b']", "sh a b"},
        /* A family's, and before it the framework's own. */
        {"'exp.framework': 'mx', 'exp.framework_family': 'f', "
         "'f.launcher': './run.sh'",
         "~/run.sh"},
        {"'exp.framework': 'mx', 'exp.framework_family': 'f', "
         "'f.launcher': './none', 'mx.launcher': './run.sh'",
         "~/run.sh"},
        {"'exp.framework': 'mx', 'mx.launcher': '', 'mx.command': 'sh -c x'",
         "sh -c x"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig r;

        start_with(&r, "dir", rows[i].params);
        if (strncmp(words(&r), rows[i].want, strlen(rows[i].want)) != 0)
            fail_msg("%s: %s", rows[i].params, words(&r));
        done(&r);
    }
}

/* Its image has the program, and of our files it sees the experiment's. */
static void a_command_runs_in_our_container(void **state)
{
    struct rig r;

    (void)state;
    start_with(&r, "dir",
               "'exp.framework': 'mx', 'exp.docker': true, "
               "'mx.command': ['/no/such', 'x'], "
               "'exp.log_file': '/elsewhere/a.log'");
    assert_string_equal(words(&r),
                        "/no/such x --exp_framework mx --exp_docker true "
                        "--mx_command [\"/no/such\", \"x\"] "
                        "--exp_log_file ~/dir/log.txt");
    assert_false(r.start.contains_itself);
    done(&r);
}

static void what_cannot_be_started_is_told(void **state)
{
    static const struct {
        const char *params, *want;
        int rc;
    } rows[] = {
        {"'exp.framework': 'mx'", "exp.framework=mx needs a launcher",
         PR_E_CONF},
        {"'exp.framework': 'mx', 'mx.launcher': []", "needs a launcher",
         PR_E_CONF},
        {"'exp.framework': 'mx', 'mx.launcher': './none.sh'", "is not there",
         PR_E_UNAVAIL},
        {"'exp.framework': 'mx', 'mx.launcher': './plain.sh'",
         "is not executable", PR_E_UNAVAIL},
        {"'exp.framework': 'mx', 'mx.launcher': './dir'", "is not a file",
         PR_E_UNAVAIL},
        {"'exp.framework': 'mx', 'mx.launcher': 'no-such-program-here'",
         "is not on PATH", PR_E_UNAVAIL},
        {"'exp.framework': 'mx', 'mx.launcher': 'sh \\'x'", "not closed",
         PR_E_CONF},
        {MX "'x': 'a\\u0000b'", "x holds a NUL", PR_E_CONF},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig r;
        char params[256];

        snprintf(params, sizeof params, "%s", rows[i].params);
        for (char *p = params; (p = strstr(p, "\\'")); p++)
            memcpy(p, "\\\"", 2); /* one quote inside a text */
        start_with(&r, "dir", params);
        if (r.rc != rows[i].rc || !strstr(r.err.msg, rows[i].want))
            fail_msg("%s: %d %s", params, r.rc, r.err.msg);
        assert_null(r.start.argv);
        done(&r);
    }
}

/* ---- environment */

static void the_environment_says_where_things_are(void **state)
{
    char want[128];
    struct rig r;

    (void)state;
    snprintf(want, sizeof want, "%s/share", scratch_dir);
    start_with(&r, "dir", MX "'runtime.env.A': 5, 'runtime.env.B': true");
    assert_int_equal(r.rc, PR_OK);
    assert_string_equal(env_of(&r, "DLBS_ROOT"), want);
    assert_string_equal(env_of(&r, "BENCH_ROOT"), scratch_dir);
    assert_string_equal(env_of(&r, "DLBS_NAME"),
                        "Deep Learning Benchmarking Suite");
    assert_string_equal(env_of(&r, "A"), "5");
    assert_non_null(env_of(&r, "B"));
    assert_non_null(env_of(&r, "PATH"));
    done(&r);
}

static void what_is_set_there_already_stays(void **state)
{
    struct rig r;

    (void)state;
    assert_int_equal(setenv("DLBS_ROOT", "/dlbs", 1), 0);
    start_with(&r, "dir", MX "'runtime.env.BENCH_ROOT': '/bench'");
    assert_int_equal(r.rc, PR_OK);
    assert_string_equal(env_of(&r, "DLBS_ROOT"), "/dlbs");
    assert_string_equal(env_of(&r, "BENCH_ROOT"), "/bench");
    done(&r);
}

static int once(void)
{
    static const char text[] =
        "{\"exp.framework\": \"mx\", \"mx.launcher\": \"./run.sh\", "
        "\"mx.launcher_args\": \"exp.log_file l\", \"l\": [1, 2], "
        "\"exp.log_file\": \"a.log\", \"runtime.env.A\": 1}";
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_json_in in = {.text = text, .len = sizeof text - 1};
    struct pr_start start = {0};
    struct pr_value params;
    struct pr_job job;
    int rc;

    if (!a)
        return PR_E_NOMEM;
    rc = pr_json_read(&in, a, &params, NULL, NULL);
    if (!rc)
        rc = pr_job_init(&job, "id", "dir", &params, a, NULL);
    return rc ? rc : pr_framework_script_start(&job, NULL, &start, NULL);
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(once);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, enter_scripts, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(parameters_are_arguments),
        IN_FOLDER(the_monitor_is_off_unless_it_has_a_folder_for_pids),
        IN_FOLDER(the_list_of_a_launcher_is_all_it_gets),
        IN_FOLDER(without_a_log_file_it_is_that_of_the_experiment),
        IN_FOLDER(a_launcher_is_a_file_or_words),
        IN_FOLDER(a_command_runs_in_our_container),
        IN_FOLDER(what_cannot_be_started_is_told),
        IN_FOLDER(the_environment_says_where_things_are),
        IN_FOLDER(what_is_set_there_already_stays),
        IN_FOLDER(lack_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
