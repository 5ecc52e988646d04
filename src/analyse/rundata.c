/* Reading run directories. */
#include "analyse/rundata.h"

#include "base/mem.h"
#include "record/plan_file.h"
#include "record/result.h"

#include <stdio.h>
#include <string.h>

struct pr_rundata {
    char dir[2048];
    struct pr_plan_file plan;
};

int pr_rundata_open(const char *dir, struct pr_rundata **ret,
                    struct pr_err *err)
{
    struct pr_rundata *d = pr_alloc_zeroed(sizeof *d);
    char path[4096];
    int rc;

    if (!d)
        return pr_fail_nomem(err);
    if ((size_t)snprintf(d->dir, sizeof d->dir, "%s", dir) >= sizeof d->dir) {
        pr_free(d);
        return pr_fail(err, PR_E_IO, "", "the path '%.100s…' is too long", dir);
    }
    snprintf(path, sizeof path, "%s/plan.json", d->dir);
    rc = pr_plan_file_open_in(d->dir, path, &d->plan, err);
    if (rc) {
        pr_free(d);
        if (rc == PR_E_IO)
            pr_hint(err, "expected a run directory, as 'prony run' makes one");
        return rc;
    }
    *ret = d;
    return PR_OK;
}

void pr_rundata_close(struct pr_rundata *d)
{
    if (!d)
        return;
    pr_plan_file_close(&d->plan);
    pr_free(d);
}

bool pr_rundata_varied(const struct pr_rundata *d, const char *name)
{
    const struct pr_value *list = &d->plan.variables;

    for (uint32_t i = 0; i < list->len; i++)
        if (list->items[i].kind == PR_STR &&
            strcmp(list->items[i].s, name) == 0)
            return true;
    return list->len == 0;
}

int pr_rundata_next(struct pr_rundata *d, struct pr_arena *a,
                    struct pr_rundata_row *ret, struct pr_err *ret_bad,
                    struct pr_err *err)
{
    struct pr_value *values = PR_ARENA_ARRAY(a, struct pr_value, 2);
    struct pr_planned planned;
    int rc = pr_plan_file_next(&d->plan, a, &planned, err);

    if (rc != 1)
        return rc;
    if (!values)
        return pr_fail_nomem(err);
    values[0] = planned.params;
    *ret = (struct pr_rundata_row){planned.id, planned.repeat, &values[0], NULL,
                                   false};
    if (ret_bad)
        *ret_bad = (struct pr_err){0};
    rc = pr_result_read(d->dir, planned.id, a, &values[1], ret_bad);
    if (rc == 1)
        ret->result = &values[1];
    ret->unreadable = rc < 0;
    return rc == PR_E_NOMEM ? pr_fail_nomem(err) : 1;
}
