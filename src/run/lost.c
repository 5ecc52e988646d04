/*
 * What was begun and lost its runner. The keeper outlives a runner that is
 * killed by the moment it takes to end the children; it then writes the results
 * that the runner cannot write any more. It holds the lock of the run directory
 * meanwhile, so that a resumed run finds everything in order.
 */
#include "base/clock.h"
#include "base/json/json.h"
#include "base/names.h"
#include "record/channel.h"
#include "record/result.h"
#include "run/metrics.h"
#include "run/runner.h"

#include <stdio.h>
#include <string.h>

/* What it said until then. */
static int lost_collect_results(const struct pr_runner *r,
                                const struct pr_plan_file_experiment *p,
                                struct pr_buf *results, struct pr_buf *tail)
{
    PR_AUTO_BUF struct pr_buf warnings = PR_BUF_INIT(1 << 20);
    const struct pr_attempt none = {0};
    char log[4096], channel[4096];
    struct pr_output_paths words = {log, channel, &p->params};
    int rc = pr_rundir_file(r->opts->dir, p->id, "log.txt", log, NULL);

    if (!rc)
        rc =
            pr_rundir_file(r->opts->dir, p->id, PR_CHANNEL_FILE, channel, NULL);
    if (!rc)
        rc = pr_collect_results(&none, &words, results, NULL, &warnings, NULL);
    return rc ? rc : pr_collect_log_tail(log, tail, NULL);
}

static int write_result(struct pr_runner *r,
                        const struct pr_plan_file_experiment *p,
                        const struct pr_recorded *told, const char *reason)
{
    PR_AUTO_BUF struct pr_buf params = PR_BUF_INIT(64 << 20);
    PR_AUTO_BUF struct pr_buf results = PR_BUF_INIT(32 << 20);
    PR_AUTO_BUF struct pr_buf tail = PR_BUF_INIT(1 << 16);
    struct pr_result result = {.id = p->id,
                               .status = PR_STATUS_INTERRUPTED,
                               .reason = reason,
                               .results = &results,
                               .started_ns = told->started_ns,
                               .ended_ns = pr_wall_clock_ns(),
                               .attempts = told->attempt};

    pr_json_write(&params, &p->params);
    if (!pr_buf_ok(&params))
        return PR_E_NOMEM;
    result.params_json = params.data;
    if (lost_collect_results(r, p, &results,
                             &tail)) /* the reason is what matters */
        pr_buf_clear(&results);
    result.log_tail = pr_buf_ok(&tail) ? tail.data : NULL;
    return pr_result_write(r->opts->dir, &result, NULL);
}

/* A result without its event, or neither. */
static int lost_write_one(struct pr_runner *r,
                          const struct pr_plan_file_experiment *p,
                          const struct pr_recorded *told, const char *reason,
                          struct pr_arena *a)
{
    const char *dir = r->opts->dir->path;
    struct pr_value result;
    int rc = pr_result_read(dir, p->id, a, &result, NULL);

    if (rc != 1) {
        rc = write_result(r, p, told, reason);
        rc = rc ? rc : pr_result_read(dir, p->id, a, &result, NULL);
    }
    if (rc == 1)
        rc = pr_suite_result_mend(dir, p->id, &p->params, &r->gpus, a, NULL);
    return rc ? rc : pr_runner_mend_event(r, p->id, &result, NULL);
}

static void lost_write_all(struct pr_runner *r, const char *reason)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_plan_file plan;
    struct pr_plan_file_experiment p;
    char path[4096];

    if (!a || pr_rundir_path(r->opts->dir, "plan.json", path, NULL) ||
        pr_plan_file_open_in(r->opts->dir->path, path, &plan, NULL))
        return;
    while (pr_plan_file_next(&plan, a, &p, NULL) == 1) {
        uint32_t id = pr_names_find(r->seen, p.id, strlen(p.id));

        if (id != PR_NO_NAME && !r->told_of[id].ended &&
            lost_write_one(r, &p, &r->told_of[id], reason, a) == PR_E_NOMEM)
            break;
        pr_arena_reset(a);
    }
    pr_plan_file_close(&plan);
}

void pr_runner_write_lost(struct pr_runner *r, const char *reason)
{
    struct pr_event e = {.kind = PR_EVENT_INTERRUPT, .reason = reason};

    pr_runner_release_space(r);
    if (pr_rundir_mend(r->opts->dir, NULL) || pr_runner_read_ended(r, NULL))
        return;
    r->done = r->last_done;
    r->failed = r->last_failed;
    if (r->seen && pr_runner_record(r, e, NULL) != PR_E_NOMEM)
        lost_write_all(r, reason);
}

void pr_runner_orphaned(void *ctx)
{
    struct pr_runner *r = ctx;
    const struct pr_run_opts *before = r->opts;
    struct pr_run_opts quiet = *before;

    quiet.watch = NULL; /* whoever watched is gone, too */
    r->opts = &quiet;
    pr_runner_write_lost(r, "the runner was killed or crashed");
    r->opts = before;
}
