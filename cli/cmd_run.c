/* `prony run`: plan, run, record, show. */
#include "base/clock.h"
#include "cli/report.h"
#include "cli/targets.h"
#include "plan/source.h"
#include "present/screen.h"
#include "run/run.h"
#include "run/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ROWS = 40 };

/* "runs/NAME.TIME", NAME from the first target. */
static const char *default_dir(struct cli *c)
{
    char time[32];
    const char *name = "run";
    const char *slash, *dot;

    for (size_t i = 0; i < c->rest_count; i++) {
        if (strchr(c->rest[i], '='))
            continue;
        slash = strrchr(c->rest[i], '/');
        name = slash ? slash + 1 : c->rest[i];
        break;
    }
    dot = strchr(name, '.');
    return pr_arena_printf(
        c->arena, "runs/%.*s.%s",
        (int)(dot && dot > name ? dot - name : (long)strlen(name)), name,
        pr_time_name(time, pr_wall_clock_ns()));
}

/* A finished plan given as the only target is run as it stands. */
static const char *plan_target(struct cli *c)
{
    struct pr_source src;

    if (c->rest_count != 1 || strchr(c->rest[0], '='))
        return NULL;
    if (access(c->rest[0], R_OK) < 0 ||
        pr_source_read(c->rest[0], c->arena, &src, NULL) ||
        src.kind != PR_SOURCE_PLAN)
        return NULL;
    return c->rest[0];
}

static int new_dir(struct cli *c, struct pr_rundir *d, struct pr_err *err)
{
    const char *path = arg_get(c, A_DIR), *plan_file = plan_target(c);
    struct pr_plan *p = NULL;
    int rc = PR_OK;

    if (!path)
        path = default_dir(c);
    if (!path)
        return pr_fail_nomem(err);
    if (plan_file)
        return pr_session_create_from(path, plan_file, d, err);
    rc = plan_from_args(c, &p, err);
    if (rc)
        return rc;
    rc = plan_check(p, err);
    if (!rc)
        rc = pr_session_create(path, p, d, err);
    pr_plan_free(p);
    return rc;
}

static int dry_run(struct cli *c, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(64 << 20);
    struct plan_cost cost;
    struct pr_plan *p;
    int rc = plan_from_args(c, &p, err);

    if (rc)
        return rc;
    rc = plan_table(c, p, MAX_ROWS, &text, err);
    if (!rc)
        rc = plan_cost(p, &cost, err);
    if (!rc) {
        if (text.len)
            pr_buf_char(&text, '\n');
        plan_cost_text(&cost, &text);
        rc = answer_buf(&text, err);
    }
    pr_plan_free(p);
    return rc;
}

/* A line about one experiment above the live line, made harmless. */
static void tell(struct pr_live *live, const struct pr_event *e,
                 const char *more)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);

    if (say_level() < SAY_INFO)
        return;
    pr_buf_printf(&text, "%s: %s: ", e->id, pr_status_word(e->status));
    pr_screen_clean(&text, e->reason, strlen(e->reason));
    pr_buf_str(&text, more);
    if (pr_buf_ok(&text))
        pr_live_message(live, text.data);
}

static void watch(void *ctx, const struct pr_event *e)
{
    struct pr_live *live = ctx;

    if (!e) {
        pr_live_tick(live);
        return;
    }
    pr_live_update(live, e->done, e->total, e->failed, e->id, NULL);
    if (e->kind == PR_EVENT_EXPERIMENT_RETRY)
        tell(live, e, "; trying again");
    else if (e->kind == PR_EVENT_EXPERIMENT_END && e->status != PR_STATUS_OK &&
             e->status != PR_STATUS_SKIPPED)
        tell(live, e, "");
}

static int print_results(struct cli *c, const struct pr_rundir *d,
                         struct pr_err *err)
{
    const char *format = arg_get(c, A_RUN_FORMAT);

    if (format && strcmp(format, "json") == 0)
        return report_run_json(d->path, err);
    return report_table(c, d->path, "text", MAX_ROWS, err);
}

static void say_end(const struct pr_rundir *d, const struct pr_run_summary *sum,
                    int rc)
{
    uint64_t left = sum->total;

    for (int i = 0; i < PR_STATUS_COUNT; i++)
        if (i != PR_STATUS_INTERRUPTED)
            left -= sum->by_status[i] < left ? sum->by_status[i] : left;
    say(SAY_INFO, "results: %s\n", d->path);
    if (left && (rc == PR_E_INTR || rc == PR_E_IO || rc == PR_OK ||
                 rc == PR_E_JOB || rc == PR_E_PARTIAL))
        say(SAY_INFO,
            "%llu of %llu experiments are left; go on with: prony "
            "run --resume %s\n",
            (unsigned long long)left, (unsigned long long)sum->total, d->path);
}

static int go(struct cli *c, struct pr_rundir *d, struct pr_err *err)
{
    struct pr_run_opts opts = {
        .dir = d, .fail_fast = arg_on(c, A_FAIL_FAST), .watch = watch};
    struct pr_run_summary sum;
    struct pr_err shown = {0};
    long retry;
    int rc = arg_number(c, A_RETRY, 0, -1, &retry, err);

    if (rc)
        return rc;
    opts.retry = (int)retry;
    opts.watch_ctx = live_new(c);
    rc = pr_run(&opts, &sum, err);
    c->signo = sum.signo;
    pr_live_free(opts.watch_ctx);
    if (sum.total && print_results(c, d, &shown) && !rc) {
        *err = shown;
        rc = shown.code;
    }
    say_end(d, &sum, rc);
    return rc;
}

/* Experiments see the data root in their environment. */
static void set_data_root(const struct cli *c)
{
    const char *dir = arg_get(c, A_DATA);

    if (!dir)
        dir = getenv("PRONY_DATA");
    if (!dir)
        dir = getenv("MILARUN_DATAROOT");
    if (dir)
        setenv("PRONY_DATA", dir, 1);
}

int cmd_run(struct cli *c, struct pr_err *err)
{
    const char *resume = arg_get(c, A_RESUME);
    struct pr_rundir d;
    int rc;

    if (resume && (c->rest_count || arg_get(c, A_DIR)))
        return pr_fail(err, PR_E_USAGE, "",
                       "--resume goes on with the plan of its directory and "
                       "takes no target and no -o");
    if (arg_on(c, A_DRY_RUN))
        return dry_run(c, err);
    set_data_root(c);
    rc = resume ? pr_rundir_resume(resume, &d, err) : new_dir(c, &d, err);
    if (rc)
        return rc;
    rc = go(c, &d, err);
    pr_rundir_close(&d);
    return rc;
}
