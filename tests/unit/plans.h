/* Plans from arguments as a user writes them, in a folder of the test's own. */
#ifndef TESTS_UNIT_PLANS_H
#define TESTS_UNIT_PLANS_H

#include "base/file.h"
#include "plan/plan.h"

#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char test_dir[64];

static inline int enter_dir(void **state)
{
    (void)state;
    strcpy(test_dir, "/tmp/prony-test-XXXXXX");
    return mkdtemp(test_dir) && chdir(test_dir) == 0 ? 0 : -1;
}

static inline int leave_dir(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", test_dir);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static inline void put_file(const char *name, const char *text)
{
    assert_int_equal(pr_file_write(name, text, strlen(text), NULL), PR_OK);
}

/* "-P a=1", "-V a=[1]", "-E {…}", "--config FILE", "--set-file a=FILE",
 * "@FILE" for a target; anything else is an override. */
static inline int add_arg(struct pr_plan *p, const char *arg,
                          struct pr_err *err)
{
    if (strncmp(arg, "-P ", 3) == 0)
        return pr_plan_param(p, arg + 3, err);
    if (strncmp(arg, "-V ", 3) == 0)
        return pr_plan_variable(p, arg + 3, err);
    if (strncmp(arg, "-E ", 3) == 0)
        return pr_plan_extension(p, arg + 3, err);
    if (strncmp(arg, "--config ", 9) == 0)
        return pr_plan_config(p, arg + 9, err);
    if (strncmp(arg, "--set-file ", 11) == 0)
        return pr_plan_param_file(p, arg + 11, err);
    if (arg[0] == '@')
        return pr_plan_target(p, arg + 1, err);
    return pr_plan_override(p, arg, err);
}

/* args ends with NULL. *ret is NULL on failure. */
static inline int make_plan(const struct pr_plan_opts *opts,
                            const char *const *args, struct pr_plan **ret,
                            struct pr_err *err)
{
    struct pr_plan *p = pr_plan_new(opts);
    int rc = p ? PR_OK : pr_fail_nomem(err);

    for (; !rc && *args; args++)
        rc = add_arg(p, *args, err);
    if (!rc)
        rc = pr_plan_build(p, err);
    if (rc) {
        pr_plan_free(p);
        p = NULL;
    }
    *ret = p;
    return rc;
}

static inline int to_buf(void *ctx, const char *data, size_t len,
                         struct pr_err *err)
{
    pr_buf_add(ctx, data, len);
    return pr_buf_ok(ctx) ? PR_OK : pr_fail_nomem(err);
}

/* Parameters of all experiments, one `{…}` after another and a new line
 * between; "!where message" when the plan is refused. */
static inline const char *experiments(struct pr_arena *a,
                                      const struct pr_plan_opts *opts,
                                      const char *const *args)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 26);
    struct pr_err err = {0};
    struct pr_experiment e;
    struct pr_walk *w;
    struct pr_plan *p;
    uint64_t count, walked = 0;
    int rc = make_plan(opts, args, &p, &err);

    if (rc) {
        assert_int_equal(rc, err.code);
        return pr_arena_printf(a, "!%s %s", err.where, err.msg);
    }
    w = pr_walk_new(p);
    assert_non_null(w);
    while ((rc = pr_walk_next(w, &e, &err)) == 1) {
        assert_true(pr_experiment_json(p, &e, true, &out));
        pr_buf_char(&out, '\n');
        walked++;
    }
    pr_walk_free(w);
    if (!rc) {
        assert_int_equal(pr_plan_count(p, &count, NULL), PR_OK);
        assert_int_equal(count, walked);
    }
    pr_plan_free(p);
    if (rc)
        return pr_arena_printf(a, "!%s %s", err.where, err.msg);
    return out.len ? pr_arena_copy(a, out.data, out.len) : "";
}

#endif
