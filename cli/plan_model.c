/* The networks that the experiments of a plan would compute: a line for each
 * model and batch. */
#include "cli/targets.h"
#include "job/job.h"
#include "run/plan_jobs.h"

#include <string.h>

enum { MAX_LINES = 8 };

struct models {
    struct pr_buf lines;
    unsigned count;
};

/* "393 GFLOP" */
static const char *flop_text(struct pr_arena *a, double x)
{
    static const char letters[] = " kMGTPE";
    size_t i = 0;

    for (; x >= 999.5 && i + 2 < sizeof letters; i++)
        x /= 1000;
    return pr_arena_printf(a, "%.3g %.*sFLOP", x, i > 0, letters + i);
}

static void add_model_line(struct models *all, const struct pr_job *job,
                           const struct pr_model *m)
{
    bool trains = strcmp(job->exp.phase, "training") == 0;
    const char *flop = flop_text(
        job->arena, (double)m->flops * (double)job->exp.replica_batch);
    const char *line =
        pr_arena_printf(job->arena,
                        "%s, batch %lld: %llu parameters; a step has %s "
                        "forward%s\n",
                        m->name, (long long)job->exp.replica_batch,
                        (unsigned long long)m->params, flop ? flop : "?",
                        trains ? ", about three times that with backward" : "");

    if (!line || (all->lines.len && strstr(all->lines.data, line)))
        return;
    pr_buf_str(&all->lines, line);
    all->count++;
}

/* A model that cannot be read is a matter of the cost, which says why. */
static int plan_model_add_job(void *ctx, struct pr_job *job, struct pr_err *err)
{
    struct models *all = ctx;
    const struct pr_workload *w;
    struct pr_model *m;
    int rc;

    if (all->count == MAX_LINES || pr_job_is_off(job) ||
        pr_workload_find_for_job(job, &w, NULL) ||
        strcmp(w->name, "native") != 0)
        return PR_OK;
    rc = pr_job_read_model(job, &m, NULL);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (!rc)
        add_model_line(all, job, m);
    return PR_OK;
}

int plan_model_text(struct pr_plan *p, struct pr_buf *out, struct pr_err *err)
{
    struct models all = {.lines = PR_BUF_INIT(65536)};
    int rc = pr_plan_each_job(p, NULL, plan_model_add_job, &all, err);

    if (!rc && all.lines.len)
        pr_buf_str(out, all.lines.data);
    pr_buf_free(&all.lines);
    return rc;
}
