/* milarun's profiles as plans: defaults, arguments, devices, names. */
#include "plan/from/from_milarun.h"
#include "plan/plan.h"

#include "plans.h"
#include "torture.h"

static const struct pr_plan_opts bare = {.no_defaults = true, .repeat = 1};

#define ALL                                                            \
    "{\"*\": {\"prepare\": [\"sync\"], \"partition_scheme\": "         \
    "{\"type\": \"per-gpu\", \"cgroup\": \"cpuset:s{X}\"}},\n"         \
    " \"b\": {\"experiment\": \"m:f\", \"arguments\": {\"--n\": 8, "   \
    "\"--t\": true, \"--f\": false, \"--z\": null, \"--r\": 21.80, "   \
    "\"--s\": \"x y\"}},\n"                                            \
    " \"a\": {\"experiment\": \"m:g\", \"prepare\": [], \"arguments\"" \
    ": {}, \"partition_scheme\": {\"type\": \"gpu-progression\"}},\n"  \
    " \"n\": {\"experiment\": \"command\", \"command\": \"true\", "    \
    "\"partition_scheme\": null}}"

/* The plan with those devices; NULL: refused. */
static struct pr_plan *plan_of(const char *devices, const char *only,
                               unsigned repeat, struct pr_err *err)
{
    struct pr_plan_opts opts = {.size = sizeof opts,
                                .no_defaults = true,
                                .repeat = repeat,
                                .only = only};
    struct pr_plan *p = pr_plan_new(&opts);
    int rc;

    assert_non_null(p);
    put_file("suite.json", ALL);
    rc = pr_plan_devices(p, devices, err);
    if (!rc)
        rc = pr_plan_target(p, "suite.json", err);
    if (!rc)
        rc = pr_plan_build(p, err);
    if (!rc)
        return p;
    pr_plan_free(p);
    return NULL;
}

static const char *text(const struct pr_plan *p, const struct pr_experiment *e,
                        const char *name, struct pr_buf *out)
{
    uint32_t id = pr_names_find(pr_plan_names(p), name, strlen(name));
    const struct pr_value *v =
        id == PR_NO_NAME ? NULL : pr_expanded_value(e->values, id);

    pr_buf_clear(out);
    if (v)
        pr_value_write_repr(out, v);
    return v && out->data ? out->data : "-";
}

static void check(const char *devices, const char *only, unsigned repeat,
                  const char *const *want)
{
    static const char *const names[] = {"exp.name",     "suite.devices",
                                        "suite.device", "suite.slot",
                                        "suite.slots",  "suite.group"};
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    struct pr_err err = {0};
    struct pr_plan *p = plan_of(devices, only, repeat, &err);
    struct pr_walk *w;
    struct pr_experiment e;

    if (!p)
        fail_msg("%s: %s", err.where, err.msg);
    w = pr_walk_new(p);
    for (; *want; want++) {
        char line[512] = "";

        assert_int_equal(pr_walk_next(w, &e, NULL), 1);
        snprintf(line, sizeof line, "%u", e.repeat);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            snprintf(line + strlen(line), sizeof line - strlen(line), " %s",
                     text(p, &e, names[i], &out));
        assert_string_equal(line, *want);
        assert_string_equal(text(p, &e, "suite.name", &out), "'suite'");
    }
    assert_int_equal(pr_walk_next(w, &e, NULL), 0);
    pr_walk_free(w);
    pr_plan_free(p);
}

static void copies_stand_together(void **state)
{
    static const char *const one[] = {"1 'b' [0] 0 0 [0] 'b'",
                                      "1 'a' [0] -1 0 [] -", "1 'n' - - - - -",
                                      NULL};
    static const char *const two[] = {"1 'b' [3] 3 0 [3, 5] 'b'",
                                      "1 'b' [5] 5 1 [3, 5] 'b'",
                                      "1 'a' [3] -1 0 [] -",
                                      "1 'a' [3, 5] -1 0 [] -",
                                      "1 'n' - - - - -",
                                      "2 'b' [3] 3 0 [3, 5] 'b'",
                                      "2 'b' [5] 5 1 [3, 5] 'b'",
                                      "2 'a' [3] -1 0 [] -",
                                      "2 'a' [3, 5] -1 0 [] -",
                                      "2 'n' - - - - -",
                                      NULL};
    static const char *const some[] = {"1 'a' [0] -1 0 [] -", "1 'n' - - - - -",
                                       NULL};

    (void)state;
    check("1", NULL, 1, one);
    check("3,5", NULL, 2, two);
    check("1", "n,a", 1, some); /* in the order of the file */
}

static void arguments_and_defaults(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    struct pr_plan *p = plan_of("1", NULL, 1, NULL);
    struct pr_walk *w = pr_walk_new(p);
    struct pr_experiment e;

    (void)state;
    assert_int_equal(pr_walk_next(w, &e, NULL), 1);
    assert_string_equal(text(p, &e, "suite.arguments", &out),
                        "['--n', '8', '--t', '--r', '21.8', '--s', 'x y']");
    assert_string_equal(text(p, &e, "suite.prepare", &out), "['sync']");
    assert_string_equal(text(p, &e, "suite.cgroup", &out), "'cpuset:s{X}'");
    assert_string_equal(text(p, &e, "suite.scheme", &out), "'per-gpu'");
    assert_string_equal(text(p, &e, "suite.experiment", &out), "'m:f'");
    assert_string_equal(text(p, &e, "exp.workload", &out), "'suite'");
    /* the job as it is written into results: defaults first */
    assert_true(strncmp(text(p, &e, "suite.entry", &out),
                        "{'prepare': ['sync'], 'partition_scheme': ", 42) == 0);
    assert_int_equal(pr_walk_next(w, &e, NULL), 1);
    assert_string_equal(text(p, &e, "suite.prepare", &out), "[]");
    assert_string_equal(text(p, &e, "suite.cgroup", &out), "-");
    assert_int_equal(pr_walk_next(w, &e, NULL), 1);
    assert_string_equal(text(p, &e, "exp.command", &out), "'true'");
    assert_string_equal(text(p, &e, "suite.scheme", &out), "-");
    pr_walk_free(w);
    pr_plan_free(p);
}

static void devices_that_are_none(void **state)
{
    static const char *const rows[] = {"",    "0",    "x",     "-1",
                                       "1-",  "3-1",  "0,0",   "1,,2",
                                       "0,x", "1025", "0-2000"};
    struct pr_plan_scope s = {.arena = pr_arena_new(4096)};
    struct pr_err err;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (pr_devices_set(&s, rows[i], &err) != PR_E_USAGE)
            fail_msg("'%s' is taken for %zu devices", rows[i], s.device_count);
    assert_int_equal(pr_devices_set(&s, "0-2,7", &err), PR_OK);
    assert_int_equal(s.device_count, 4);
    assert_int_equal(s.devices[3], 7);
    assert_int_equal(pr_devices_set(&s, "5,", &err), PR_OK);
    assert_int_equal(s.device_count, 1);
    assert_int_equal(s.devices[0], 5);
    setenv("PRONY_NVML", "", 1); /* no GPU: one part */
    assert_int_equal(pr_devices_set(&s, "auto", &err), PR_OK);
    assert_int_equal(s.device_count, 1);
    pr_arena_free(s.arena);
}

static void jobs_that_are_missing(void **state)
{
    struct pr_err err = {0};

    (void)state;
    assert_null(plan_of("1", "b,zz,a,yy", 1, &err));
    assert_int_equal(err.code, PR_E_USAGE);
    assert_string_equal(err.msg, "could not find job(s): zz, yy");
    assert_string_equal(err.hint, "it has: b, a, n");
}

static int attempt(void)
{
    static const char *const args[] = {"@suite.json", NULL};
    struct pr_plan *p;
    int rc;

    rc = make_plan(&bare, args, &p, NULL);
    pr_plan_free(p);
    return rc;
}

static void out_of_memory(void **state)
{
    (void)state;
    setenv("PRONY_NVML", "", 1);
    put_file("suite.json", ALL);
    torture(attempt);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter_dir, leave_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(copies_stand_together), TEST(arguments_and_defaults),
        TEST(devices_that_are_none), TEST(jobs_that_are_missing),
        TEST(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
