/* What earlier runs in the same directory finished. */
#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"
#include "record/result.h"
#include "run/runner.h"

#include <stdio.h>
#include <string.h>

int pr_runner_mend_event(struct pr_runner *r, const char *id,
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
    rc = pr_runner_mend_event(r, planned->id, &result, err);
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
