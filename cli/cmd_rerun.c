/* `prony rerun`: the experiment of a result file once more, with changes. */
#include "cli/suite_call.h"
#include "cli/targets.h"

#include <stdlib.h>
#include <sys/stat.h>

/* What the result says of its surroundings, as milarun does it. */
static void set_environment(const struct suite_call *call)
{
    for (uint32_t i = 0; call->environ.kind == PR_MAP && i < call->environ.len;
         i++) {
        const struct pr_member *m = &call->environ.members[i];
        if (m->value.kind == PR_STR)
            setenv(m->key, m->value.s, 1);
    }
}

int cmd_rerun(struct cli *c, struct pr_err *err)
{
    struct suite_call call;
    struct pr_plan *p = NULL;
    const char *data = arg_get(c, A_RERUN_DATA), *dir;
    struct stat st;
    int rc;

    if (c->rest_count != 1) {
        pr_fail(err, PR_E_USAGE, "", "rerun wants one result file");
        return pr_hint(err,
                       "a result of a suite, or experiments/ID/result.json "
                       "of a run");
    }
    if (stat(c->rest[0], &st) == 0 && S_ISDIR(st.st_mode)) {
        pr_fail(err, PR_E_IO, c->rest[0], "is a folder, expected a file");
        return pr_hint(err,
                       "name one of its results, experiments/ID/result.json; "
                       "'prony run --resume DIR' does what a run has left");
    }
    rc = suite_call_read(c, c->rest[0], &call, err);
    if (rc)
        return rc;
    set_environment(&call);
    rc = set_data_root(c->arena, data ? data : call.dataroot, err);
    if (!rc)
        rc = suite_call_plan(c, &call, c->tail, c->tail_count, &p, err);
    if (rc)
        return rc;
    dir = arg_get(c, A_RERUN_DIR);
    if (!dir)
        dir = runs_dir(c, "-again", err);
    rc = dir ? run_plan_in_dir(c, p, dir, true, err) : err->code;
    pr_plan_free(p);
    return rc;
}
