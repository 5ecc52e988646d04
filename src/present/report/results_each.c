/* Going through the results of a run's experiments, in one pass. */
#include "present/report/results_each.h"

#include "analyse/run/run_data.h"

int pr_run_each_result(const char *dir, pr_results_call *call, void *ctx,
                       struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_run_data *d = NULL;
    struct pr_run_data_row row;
    int rc = a ? pr_run_data_open(dir, &d, err) : pr_fail_nomem(err);

    while (!rc && (rc = pr_run_data_next(d, a, &row, NULL, err)) == 1) {
        rc = call(ctx, row.id,
                  row.result ? pr_get(row.result, "results") : NULL, err);
        pr_arena_reset(a);
    }
    pr_run_data_close(d);
    return rc < 0 ? rc : PR_OK;
}

const char *pr_run_result_verdict(const struct pr_value *results)
{
    const struct pr_value *v = results ? pr_get(results, "verdict") : NULL;

    return v && v->kind == PR_STR ? v->s : NULL;
}
