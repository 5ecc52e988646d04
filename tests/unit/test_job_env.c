/* The environment of an experiment: what it sets itself, and ours beneath. */
#include "job/job.h"

#include "values.h"

#include <stdlib.h>

static int times(const char *const *env, const char *word)
{
    int n = 0;

    for (; *env; env++)
        n += strcmp(*env, word) == 0;
    return n;
}

static int count(const char *const *env)
{
    int n = 0;

    while (env[n])
        n++;
    return n;
}

#define PARAMS                                            \
    "{\"runtime.env.A\": \"own\", \"runtime.env.N\": 3, " \
    "\"runtime.env.E\": \"\", \"runtime.envy\": 1, "      \
    "\"runtime.launcher\": \"A=launcher L=1 prog\"}"

static struct pr_job job_of(struct pr_arena *a, struct pr_value *params)
{
    struct pr_job job;

    *params = json(a, PARAMS);
    assert_int_equal(pr_job_init(&job, "x", "", params, a, NULL), PR_OK);
    return job;
}

static void its_own_is_kept_apart(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const char *const extra[] = {"N=4", "Z=5"};
    struct pr_start s = {0};
    struct pr_value params;
    struct pr_job job = job_of(a, &params);

    (void)state;
    assert_int_equal(setenv("A", "ours", 1), 0);
    assert_int_equal(setenv("B", "ours", 1), 0);
    assert_int_equal(pr_job_set_start_env(&job, extra, 2, &s, NULL), PR_OK);
    assert_int_equal(count(s.own_env), 4);
    for (const char *const *w = s.own_env; *w; w++)
        assert_int_equal(times(s.env, *w), 1);
    assert_int_equal(times(s.own_env, "A=own"), 1);
    assert_int_equal(times(s.own_env, "N=4"), 1);
    assert_int_equal(times(s.own_env, "E="), 1);
    assert_int_equal(times(s.own_env, "Z=5"), 1);
    assert_int_equal(times(s.env, "B=ours"), 1);
    assert_int_equal(times(s.env, "A=ours"), 0);
    assert_int_equal(times(s.env, "N=3"), 0);
}

static void words_of_the_launcher_are_its_own(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_start s = {0};
    struct pr_value params;
    struct pr_job job = job_of(a, &params);
    struct pr_argv argv;

    (void)state;
    assert_int_equal(pr_argv_init(&argv, &job, NULL), PR_OK);
    assert_int_equal(pr_argv_fill_start(&argv, &s, NULL), PR_OK);
    assert_string_equal(s.argv[0], "prog");
    assert_int_equal(times(s.own_env, "A=launcher"), 1);
    assert_int_equal(times(s.own_env, "L=1"), 1);
    assert_int_equal(times(s.env, "L=1"), 1);
}

static void words_are_laid_over_ours(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const char *const words[] = {"B=new", "FRESH=1", NULL};
    const char **env = NULL;

    (void)state;
    assert_int_equal(setenv("B", "ours", 1), 0);
    assert_int_equal(setenv("BB", "ours", 1), 0);
    assert_int_equal(pr_job_env_overlay(words, a, &env, NULL), PR_OK);
    assert_int_equal(times(env, "B=new"), 1);
    assert_int_equal(times(env, "B=ours"), 0);
    assert_int_equal(times(env, "BB=ours"), 1);
    assert_int_equal(times(env, "FRESH=1"), 1);
}

static int once(void)
{
    struct pr_start s = {0};
    struct pr_value params = {.kind = PR_MAP};
    struct pr_arena *a = pr_arena_new(1);
    struct pr_job job = {.id = "x", .params = &params, .arena = a};
    struct pr_err err = {0};
    int rc = a ? pr_job_set_start_env(&job, NULL, 0, &s, &err) : PR_E_NOMEM;

    pr_arena_free(a);
    return rc;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    torture(once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_own_is_kept_apart),
        cmocka_unit_test(words_of_the_launcher_are_its_own),
        cmocka_unit_test(words_are_laid_over_ours),
        cmocka_unit_test(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
