/* Reading run directories. */
#include "analyse/run/rundata.h"

#include "base/mem.h"
#include "record/plan_file.h"
#include "record/result.h"

#include <stdio.h>
#include <string.h>

struct pr_run_data {
    char dir[2048];
    struct pr_plan_file plan;
};

int pr_run_data_open(const char *dir, struct pr_run_data **ret,
                     struct pr_err *err)
{
    struct pr_run_data *d = pr_alloc_zeroed(sizeof *d);
    char path[4096];
    int rc;

    if (!d)
        return pr_fail_nomem(err);
    if ((size_t)snprintf(d->dir, sizeof d->dir, "%s", dir) >= sizeof d->dir) {
        pr_free(d);
        return pr_fail(err, PR_E_IO, "", "the path '%.100s…' is too long", dir);
    }
    snprintf(path, sizeof path, "%s/plan.json", d->dir);
    rc = pr_plan_file_open_brief(d->dir, path, &d->plan, err);
    if (rc) {
        pr_free(d);
        if (rc == PR_E_IO)
            pr_hint(err, "expected a run directory, as 'prony run' makes one");
        return rc;
    }
    *ret = d;
    return PR_OK;
}

void pr_run_data_close(struct pr_run_data *d)
{
    if (!d)
        return;
    pr_plan_file_close(&d->plan);
    pr_free(d);
}

bool pr_run_data_is_varied(const struct pr_run_data *d, const char *name)
{
    const struct pr_value *list = &d->plan.variables;

    for (uint32_t i = 0; i < list->len; i++)
        if (list->items[i].kind == PR_STR &&
            strcmp(list->items[i].s, name) == 0)
            return true;
    return list->len == 0;
}

int pr_run_data_next(struct pr_run_data *d, struct pr_arena *a,
                     struct pr_run_data_row *ret, struct pr_err *ret_bad,
                     struct pr_err *err)
{
    struct pr_value *values = PR_ARENA_ARRAY(a, struct pr_value, 2);
    struct pr_plan_file_experiment planned;
    int rc = pr_plan_file_next(&d->plan, a, &planned, err);

    if (rc != 1)
        return rc;
    if (!values)
        return pr_fail_nomem(err);
    values[0] = planned.params;
    *ret = (struct pr_run_data_row){planned.id, planned.repeat, &values[0],
                                    NULL, false};
    if (ret_bad)
        *ret_bad = (struct pr_err){0};
    rc = pr_result_read(d->dir, planned.id, a, &values[1], ret_bad);
    if (rc == 1)
        ret->result = &values[1];
    ret->unreadable = rc < 0;
    return rc == PR_E_NOMEM ? pr_fail_nomem(err) : 1;
}

/* Before there was target_met; 0.9 is the default of metric.au. */
static enum pr_run_target by_utilisation(const struct pr_value *result,
                                         const struct pr_value *results)
{
    const struct pr_value *params = pr_get(result, "params");
    const struct pr_value *asked = params ? pr_get(params, "metric.au") : NULL;
    const struct pr_value *is = pr_get(results, "utilisation");

    if (!is || !pr_value_is_number(is) || pr_value_number(is) <= 0 ||
        !pr_get(results, "dlio.train_au_meet_expectation"))
        return PR_TARGET_NONE;
    return pr_value_number(is) >= (asked && pr_value_is_number(asked)
                                       ? pr_value_number(asked)
                                       : 0.9)
               ? PR_TARGET_MET
               : PR_TARGET_MISSED;
}

enum pr_run_target pr_run_data_target(const struct pr_value *result)
{
    const struct pr_value *results =
        result && pr_result_status(result) == PR_STATUS_OK
            ? pr_get(result, "results")
            : NULL;
    const struct pr_value *met = results ? pr_get(results, "target_met") : NULL;

    if (met && met->kind == PR_BOOL)
        return met->b ? PR_TARGET_MET : PR_TARGET_MISSED;
    return results ? by_utilisation(result, results) : PR_TARGET_NONE;
}
