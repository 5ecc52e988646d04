/* What earlier runs in the same directory finished, and what a run leaves to
 * later ones when it cannot go on. */
#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/names.h"
#include "record/channel.h"
#include "record/result.h"
#include "run/collect.h"
#include "run/runner.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- room for the last words */

/* Given free when a run cannot go on, so that what it had started gets its
 * results even where the disk is full. */
enum { RESERVE_BYTES = 256 << 10 };

/* With the name of what is half made, so that whoever clears up knows it. */
static int reserve_path(const struct pr_runner *r, char out[static 4096])
{
    return pr_rundir_path(r->opts->dir, PR_TEMP_PREFIX "reserve", out, NULL);
}

void pr_runner_reserve_space(const struct pr_runner *r)
{
    char path[4096];
    int fd = reserve_path(r, path)
                 ? -1
                 : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0)
        return;
    if (fallocate(fd, 0, 0, RESERVE_BYTES)) /* then it goes without */
        (void)unlink(path);
    close(fd);
}

void pr_runner_release_space(const struct pr_runner *r)
{
    char path[4096];

    if (!reserve_path(r, path))
        (void)unlink(path);
}

/* ---- what earlier runs finished */

/* The end of an experiment that an earlier run was killed before recording. */
static int runner_mend_event(struct pr_runner *r, const char *id,
                             const struct pr_value *result, struct pr_err *err)
{
    const struct pr_value *reason = pr_get(result, "reason");
    const struct pr_value *attempts = pr_get(result, "attempts");
    struct pr_event e = {.kind = PR_EVENT_EXPERIMENT_END,
                         .id = id,
                         .status = pr_result_status(result)};

    uint32_t known =
        r->seen ? pr_names_find(r->seen, id, strlen(id)) : PR_NO_NAME;

    if (!r->seen || (known != PR_NO_NAME && r->told_of[known].ended))
        return PR_OK;
    if (reason && reason->kind == PR_STR)
        e.reason = reason->s;
    if (attempts && attempts->kind == PR_INT)
        e.attempt = (unsigned)attempts->i;
    return pr_runner_record(r, e, err);
}

int pr_runner_finished_before(struct pr_runner *r,
                              const struct pr_plan_file_experiment *planned,
                              struct pr_err *err)
{
    struct pr_value result;
    enum pr_status status;
    struct pr_err inner = {0};
    int rc = pr_result_read(r->opts->dir->path, planned->id, r->arena, &result,
                            &inner);

    if (rc == PR_E_FORMAT)
        return 0; /* not ours, or edited: make it anew */
    if (rc < 0 && err)
        *err = inner;
    if (rc != 1)
        return rc;
    status = pr_result_status(&result);
    if (status == PR_STATUS_COUNT || status == PR_STATUS_INTERRUPTED ||
        (pr_status_is_failure(status) && r->opts->retry >= 0))
        return 0;
    pr_runner_count(r, status);
    r->sum->earlier++;
    rc = runner_mend_event(r, planned->id, &result, err);
    if (!rc) /* nor may it have come to this */
        rc = pr_suite_result_mend(r->opts->dir->path, planned->id,
                                  &planned->params, &r->gpus, r->arena, err);
    return rc ? rc : 1;
}

static int resume_add_event(struct pr_runner *r, const struct pr_event *e,
                            struct pr_err *err)
{
    uint32_t count = pr_names_count(r->seen);
    uint32_t id = pr_names_add(r->seen, e->id, strlen(e->id));
    struct pr_recorded *told = r->told_of;

    if (id == PR_NO_NAME)
        return pr_fail_nomem(err);
    if (id >= r->told_cap) {
        size_t cap = r->told_cap ? r->told_cap * 2 : 256;
        told = pr_realloc(r->told_of, cap * sizeof *told);
        if (!told)
            return pr_fail_nomem(err);
        r->told_of = told;
        r->told_cap = cap;
    }
    if (id == count)
        told[id] = (struct pr_recorded){0};
    told[id].ended = e->kind == PR_EVENT_EXPERIMENT_END;
    told[id].attempt = e->attempt;
    if (e->kind == PR_EVENT_EXPERIMENT_START)
        told[id].started_ns = e->time_ns;
    return PR_OK;
}

/* What a run whose end is not recorded may have left. */
static int resume_add_run(struct pr_runner *r, const struct pr_event *e,
                          struct pr_err *err)
{
    struct pr_keeper_trace t = {e->mark, NULL};

    if (e->kind == PR_EVENT_RUN_END)
        r->n_traces = 0;
    if (e->kind != PR_EVENT_RUN_START || !e->mark)
        return PR_OK;
    if (r->n_traces == r->cap_traces) {
        size_t cap = r->cap_traces ? 2 * r->cap_traces : 8;
        struct pr_keeper_trace *more =
            pr_realloc(r->traces, cap * sizeof *more);

        if (!more)
            return pr_fail_nomem(err);
        r->traces = more;
        r->cap_traces = cap;
    }
    t.group = e->group ? pr_arena_str(r->spare, e->group) : "";
    if (!t.group)
        return pr_fail_nomem(err);
    r->traces[r->n_traces++] = t;
    return PR_OK;
}

void pr_runner_end_leftovers(struct pr_runner *r)
{
    pr_keeper_end_traces(r->traces, r->n_traces, &r->left);
}

int pr_runner_record_leftovers(struct pr_runner *r, struct pr_err *err)
{
    enum { NAMED = 8 };
    const struct pr_pids *found = pr_keeper_get_killed(r->keeper);
    size_t n = r->left.n + found->n;
    char text[320];
    struct pr_event e = {.kind = PR_EVENT_LEFTOVERS, .reason = text};
    int at;

    if (!n)
        return PR_OK;
    at =
        snprintf(text, sizeof text,
                 "ended %zu process%s that a run which was killed had left:", n,
                 n == 1 ? "" : "es");
    for (size_t i = 0; i < n && i < NAMED; i++)
        at +=
            snprintf(text + at, sizeof text - (size_t)at, "%s %d", i ? "," : "",
                     (int)(i < r->left.n ? r->left.pids[i]
                                         : found->pids[i - r->left.n]));
    if (n > NAMED)
        snprintf(text + at, sizeof text - (size_t)at, ", ...");
    return pr_runner_record(r, e, err);
}

static int resume_add_line(struct pr_runner *r, const char *line, size_t len,
                           struct pr_err *err)
{
    struct pr_event e;
    int rc = pr_event_read(line, len, r->arena, &e, NULL);

    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    /* Half a line of a run that was killed is no event. */
    if (rc == 1) {
        r->last_done = e.done;
        r->last_failed = e.failed;
    }
    if (rc == 1)
        rc = e.id ? resume_add_event(r, &e, err) : resume_add_run(r, &e, err);
    else
        rc = PR_OK;
    pr_arena_reset(r->arena);
    return rc;
}

int pr_runner_read_ended(struct pr_runner *r, struct pr_err *err)
{
    struct pr_view events = {0};
    char path[4096];
    int rc = pr_rundir_path(r->opts->dir, "events.ndjson", path, err);

    if (!rc)
        rc = pr_file_map_in(r->opts->dir->path, path, &events, err);
    if (rc || !events.len)
        return rc;
    pr_names_free(r->seen);
    r->seen = pr_names_new();
    if (!r->seen)
        rc = pr_fail_nomem(err);
    for (size_t at = 0; !rc && at < events.len;) {
        const char *line = events.data + at;
        const char *end = memchr(line, '\n', events.len - at);
        size_t len = end ? (size_t)(end - line) : events.len - at;
        rc = resume_add_line(r, line, len, err);
        at += len + 1;
    }
    pr_file_unmap(&events);
    return rc;
}

/* ---- what was begun and lost its runner */

/*
 * The keeper outlives a runner that is killed by the moment it takes to end the
 * children; it then writes the results that the runner cannot write any more.
 * It holds the lock of the run directory meanwhile, so that a resumed run finds
 * everything in order.
 */

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
    return rc ? rc : runner_mend_event(r, p->id, &result, NULL);
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
