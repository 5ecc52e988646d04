/* `prony run`: plan, run, record, show; and rerun and probe, which run, too. */
#include "cli/cli.h"
#include "cli/plan_show.h"
#include "cli/report_folder.h"
#include "cli/results_args.h"
#include "cli/suite_call.h"
#include "cli/targets.h"
#include "present/screen.h"
#include "record/log.h"
#include "run/run.h"
#include "run/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_ROWS = 40 };

static bool run_needs_json(const struct cli *c)
{
    const char *format = arg_get(c, A_RUN_FORMAT);

    return format && strcmp(format, "json") == 0;
}

/* What is in a plan already cannot be changed any more. */
static int run_refuse_changes(const struct cli *c, const char *what,
                              struct pr_err *err)
{
    static const enum arg_id ids[] = {
        A_PARAM,       A_VARIABLE, A_EXTENSION, A_CONFIG,  A_SET_FILE,
        A_NO_DEFAULTS, A_NAME,     A_REPEAT,    A_TIMEOUT, A_MAX_COUNT,
        A_IMAGE,       A_DEVICES,  A_ISOLATION};

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (arg_get(c, ids[i]))
            return pr_fail(err, PR_E_USAGE, "", "%s and takes no --%s", what,
                           option_at(ids[i])->name);
    if (c->tail_count)
        return pr_fail(err, PR_E_USAGE, "", "%s and takes nothing after --",
                       what);
    return PR_OK;
}

/* Fills the directory that was asked for, or one of our own naming. */
static int run_create_dir(struct cli *c, struct pr_plan *p,
                          const char *plan_file, struct pr_rundir *d,
                          struct pr_err *err)
{
    const char *given = arg_get(c, A_DIR);
    const char *path = given ? given : runs_dir(c, "", err);
    int rc;

    if (!path)
        return err->code;
    rc = p ? pr_session_create(path, p, d, err)
           : pr_session_create_from(path, plan_file, d, err);
    if (rc && !given) {
        (void)rmdir(path);
        (void)rmdir("runs"); /* if nothing else is in it */
    }
    return rc;
}

/* What is missing is said before anything is made. */
static int run_validate_plan(struct cli *c, struct pr_plan *p,
                             const char *plan_file, struct pr_err *err)
{
    struct pr_validation v;
    int rc;

    if (arg_on(c, A_NO_VALIDATION))
        return PR_OK;
    rc = p ? pr_plan_validate(p, &v, err)
           : pr_plan_file_validate(plan_file, &v, err);
    if (rc)
        return rc;
    rc = validation_refuse(&v, run_needs_json(c), err);
    pr_validation_close(&v);
    return rc;
}

static int new_dir(struct cli *c, struct pr_rundir *d, struct pr_err *err)
{
    const char *plan_file = finished_plan(c);
    struct pr_plan *p;
    int rc;

    if (plan_file) {
        rc = run_refuse_changes(c, "a finished plan is run as it stands", err);
        if (!rc)
            rc = run_validate_plan(c, NULL, plan_file, err);
        return rc ? rc : run_create_dir(c, NULL, plan_file, d, err);
    }
    rc = plan_from_args(c, &p, err);
    if (rc)
        return rc;
    rc = run_validate_plan(c, p, NULL, err);
    if (!rc)
        rc = run_create_dir(c, p, NULL, d, err);
    pr_plan_free(p);
    return rc;
}

static int dry_run(struct cli *c, struct pr_err *err)
{
    struct pr_plan *p;
    int rc;

    if (arg_get(c, A_RESUME) || finished_plan(c))
        return pr_fail(err, PR_E_USAGE, "",
                       "--dry-run shows a plan made from targets, not a "
                       "finished one");
    rc = plan_from_args(c, &p, err);
    if (rc)
        return rc;
    rc = plan_show(c, p, run_needs_json(c), MAX_ROWS, err);
    pr_plan_free(p);
    return rc;
}

enum { MAX_RUNNING = 64 };

struct watcher {
    struct pr_live_line *live;
    const struct pr_rundir *dir;
    char id[MAX_RUNNING][64]; /* of what runs; those that fit */
    size_t running;
    uint64_t done, total, failed;
};

static void watcher_add_running(struct watcher *w, const char *id)
{
    if (w->running < MAX_RUNNING && strlen(id) < sizeof w->id[0])
        memcpy(w->id[w->running++], id, strlen(id) + 1);
}

static void watcher_remove_running(struct watcher *w, const char *id)
{
    for (size_t i = 0; i < w->running; i++)
        if (strcmp(w->id[i], id) == 0) {
            w->running--;
            memmove(w->id[i], w->id[i + 1], (w->running - i) * sizeof w->id[0]);
            return;
        }
}

/* How far the experiment itself is, if it says so, and whether others run. */
static void show_progress(struct watcher *w)
{
    char folder[4096], text[320] = "", all[400];

    if (!w->running || pr_rundir_file(w->dir, w->id[0], ".", folder, NULL))
        return;
    (void)pr_run_progress(folder, text);
    if (w->running > 1)
        snprintf(all, sizeof all, "%zu at once%s%s", w->running,
                 *text ? ", this one " : "", text);
    else
        snprintf(all, sizeof all, "%s", text);
    if (*all)
        pr_live_update(w->live, w->done, w->total, w->failed, w->id[0], all);
}

/* The last thing it said, and where the rest is. */
static void add_log(const struct watcher *w, const char *id, struct pr_buf *out)
{
    PR_AUTO_BUF struct pr_buf tail = PR_BUF_INIT(4096);
    char path[4096];

    if (pr_rundir_file(w->dir, id, "log.txt", path, NULL))
        return;
    if (!pr_log_tail(path, 1, 512, &tail, NULL) && pr_buf_ok(&tail) &&
        tail.len > 1) {
        pr_buf_str(out, "; last line: ");
        pr_screen_clean(out, tail.data, tail.len - 1);
    }
    pr_buf_printf(out, "; its log: %s", path);
}

/* A line about one experiment above the live line, made harmless. */
static void watcher_print_failure(const struct watcher *w,
                                  const struct pr_event *e)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(8192);

    pr_buf_printf(&text, "%s: %s: ", e->id, pr_status_word(e->status));
    pr_screen_clean(&text, e->reason, strlen(e->reason));
    if (e->kind == PR_EVENT_EXPERIMENT_RETRY)
        pr_buf_str(&text, "; trying again");
    else
        add_log(w, e->id, &text);
    if (pr_buf_ok(&text))
        pr_live_message(w->live, text.data);
}

static void watcher_on_event(void *ctx, const struct pr_event *e)
{
    struct watcher *w = ctx;

    if (!e) {
        show_progress(w);
        pr_live_tick(w->live);
        return;
    }
    if (e->kind == PR_EVENT_EXPERIMENT_START)
        watcher_add_running(w, e->id);
    else if (e->id)
        watcher_remove_running(w, e->id);
    w->done = e->done;
    w->total = e->total;
    w->failed = e->failed;
    pr_live_update(w->live, e->done, e->total, e->failed,
                   w->running ? w->id[0] : NULL, NULL);
    if (e->kind == PR_EVENT_LEFTOVERS && message_level() >= SAY_WARNING)
        pr_live_message(w->live, e->reason);
    if (message_level() < SAY_INFO)
        return;
    if (e->kind == PR_EVENT_INTERRUPT)
        pr_live_message(w->live, "stopping; once more stops at once");
    else if (e->kind == PR_EVENT_EXPERIMENT_RETRY ||
             (e->kind == PR_EVENT_EXPERIMENT_END && e->status != PR_STATUS_OK &&
              e->status != PR_STATUS_SKIPPED))
        watcher_print_failure(w, e);
}

static void run_print_end(const struct pr_rundir *d,
                          const struct pr_run_summary *sum)
{
    uint64_t finished = 0;

    if (!sum->total)
        return; /* it did not even begin */
    for (int i = 0; i < PR_STATUS_COUNT; i++)
        if (i != PR_STATUS_INTERRUPTED)
            finished += sum->by_status[i];
    if (sum->earlier == sum->total)
        message_print(SAY_INFO, "all of it was done before, nothing was run\n");
    if (sum->jobs)
        message_print(SAY_INFO, "Total time: %.2fs\n", sum->elapsed_s);
    message_print(SAY_INFO, "results: %s\n", d->path);
    if (finished < sum->total)
        message_print(
            SAY_INFO,
            "%llu of %llu experiments are left; go on with: prony run "
            "--resume %s\n",
            (unsigned long long)(sum->total - finished),
            (unsigned long long)sum->total, d->path);
}

static int run_and_report(struct cli *c, struct pr_rundir *d, long retry,
                          bool show, struct pr_err *err)
{
    struct watcher w = {.live = live_new(c, "experiments"), .dir = d};
    struct pr_run_opts opts = {.dir = d,
                               .fail_fast = arg_on(c, A_FAIL_FAST),
                               .retry = (int)retry,
                               .watch = watcher_on_event,
                               .watch_ctx = &w};
    struct pr_run_summary sum;
    struct pr_err shown = {0};
    int rc = pr_run(&opts, &sum, err), shown_rc = PR_OK;

    c->signo = sum.signo;
    pr_live_free(w.live);
    if (sum.total && c->verb->bit & ON_PROBE && probe_chart(d->path, &shown))
        message_print_warning(shown.where, shown.msg, "");
    if (show && sum.total)
        shown_rc = run_needs_json(c)
                       ? report_run_json(d->path, &shown)
                       : report_table(c, d->path, "text", MAX_ROWS, &shown);
    if (shown_rc && !rc) {
        *err = shown;
        rc = shown.code;
    }
    if (show)
        run_print_end(d, &sum);
    return rc || !arg_on(c, A_STRICT) ? rc : report_strict(c, d->path, err);
}

static int resume_dir(struct cli *c, const char *path, struct pr_rundir *d,
                      struct pr_err *err)
{
    int rc;

    if (c->rest_count || arg_get(c, A_DIR) || arg_get(c, A_PLAN_IN))
        return pr_fail(err, PR_E_USAGE, "",
                       "--resume goes on with the plan of its directory and "
                       "takes no target, --plan or -o");
    rc = run_refuse_changes(c, "--resume runs the plan as it stands", err);
    if (!rc)
        rc = pr_rundir_resume(path, d, err);
    if (rc || getenv("PRONY_DATA"))
        return rc;
    rc = set_data_root(c->arena, pr_session_data_root(d, c->arena), err);
    if (rc)
        pr_rundir_close(d);
    return rc;
}

int run_plan_in_dir(struct cli *c, struct pr_plan *p, const char *dir,
                    bool show, struct pr_err *err)
{
    struct pr_rundir d;
    int rc = pr_session_create(dir, p, &d, err);

    if (rc)
        return rc;
    rc = run_and_report(c, &d, -1, show, err);
    pr_rundir_close(&d);
    return rc;
}

int cmd_run(struct cli *c, struct pr_err *err)
{
    const char *resume = arg_get(c, A_RESUME);
    struct pr_rundir d;
    long retry;
    int rc = arg_number(c, A_RETRY, 0, -1, &retry, err);

    if (rc)
        return rc;
    rc = set_data_root(c->arena, arg_get(c, A_DATA), err);
    if (rc)
        return rc;
    if (arg_on(c, A_DRY_RUN))
        return dry_run(c, err);
    rc = resume ? resume_dir(c, resume, &d, err) : new_dir(c, &d, err);
    if (rc)
        return rc;
    rc = run_and_report(c, &d, retry, true, err);
    pr_rundir_close(&d);
    return rc;
}

/* ---- prony rerun: the experiment of a result file, with changes */

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

/* ---- prony probe: a run whose experiments are probed instead of done */

int cmd_probe(struct cli *c, struct pr_err *err)
{
    if (has_targets(c))
        return cmd_run(c, err);
    (void)pr_fail(err, PR_E_USAGE, "", "nothing says what is to be probed");
    return pr_hint(err, "name a workload: prony probe unet3d_h100 -d DIR; "
                        "'prony plan --list' shows the names");
}
