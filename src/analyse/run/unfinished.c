/*
 * The plan says what there should be, the events what was begun and
 * interrupted, and a result is a file that is there.
 */
#include "analyse/run/unfinished.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"
#include "record/event.h"
#include "record/plan_file.h"
#include "record/rundir.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct events {
    struct pr_names *ids;
    bool *interrupted; /* by id: the last event is such an end */
    size_t cap;
    struct pr_arena *scratch;
};

static int unfinished_keep_event(struct events *v, const struct pr_event *e,
                                 struct pr_err *err)
{
    uint32_t id = pr_names_add(v->ids, e->id, strlen(e->id));

    if (id == PR_NO_NAME)
        return pr_fail_nomem(err);
    if (id >= v->cap) {
        size_t cap = v->cap ? v->cap * 2 : 256;
        bool *more = pr_realloc(v->interrupted, cap * sizeof *more);

        if (!more)
            return pr_fail_nomem(err);
        v->interrupted = more;
        v->cap = cap;
    }
    v->interrupted[id] = e->kind == PR_EVENT_EXPERIMENT_END &&
                         e->status == PR_STATUS_INTERRUPTED;
    return PR_OK;
}

static int unfinished_read_line(struct events *v, const char *line, size_t len,
                                struct pr_err *err)
{
    struct pr_event e;
    int rc = pr_event_read(line, len, v->scratch, &e, NULL);

    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    rc = rc == 1 && e.id ? unfinished_keep_event(v, &e, err)
                         : PR_OK; /* half a line is none */
    pr_arena_reset(v->scratch);
    return rc;
}

/* A folder without events was copied, or never run. */
static int read_events(struct events *v, const char *dir, struct pr_err *err)
{
    struct pr_view text = {0};
    char path[4096];
    int rc = PR_OK;

    snprintf(path, sizeof path, "%s/events.ndjson", dir);
    if (access(path, R_OK) || pr_file_map_in(dir, path, &text, NULL))
        return PR_OK;
    for (size_t at = 0; !rc && at < text.len;) {
        const char *line = text.data + at;
        const char *end = memchr(line, '\n', text.len - at);
        size_t len = end ? (size_t)(end - line) : text.len - at;

        rc = unfinished_read_line(v, line, len, err);
        at += len + 1;
    }
    pr_file_unmap(&text);
    return rc;
}

static int unfinished_add_name(struct pr_run_unfinished *u,
                               const struct pr_plan_file_experiment *p,
                               struct pr_arena *a, struct pr_err *err)
{
    const struct pr_value *v = pr_get(&p->params, "exp.name");
    const char *name;

    if (u->name_count == PR_UNFINISHED_NAMES)
        return PR_OK;
    name = v && v->kind == PR_STR && v->len
               ? pr_arena_printf(a, "%s (%s)", v->s, p->id)
               : pr_arena_str(a, p->id);
    if (!name)
        return pr_fail_nomem(err);
    u->names[u->name_count++] = name;
    return PR_OK;
}

static int unfinished_check_experiment(struct pr_run_unfinished *u,
                                       const struct events *v, const char *dir,
                                       const struct pr_plan_file_experiment *p,
                                       struct pr_arena *a, struct pr_err *err)
{
    uint32_t id = pr_names_find(v->ids, p->id, strlen(p->id));
    char path[4096 + 64];

    u->total++;
    snprintf(path, sizeof path, "%s/experiments/%s/result.json", dir, p->id);
    if (access(path, F_OK) == 0 && (id == PR_NO_NAME || !v->interrupted[id]))
        return PR_OK;
    u->missing++;
    if (id == PR_NO_NAME)
        return PR_OK;
    u->begun++;
    return unfinished_add_name(u, p, a, err);
}

static int walk_plan(struct pr_run_unfinished *u, struct events *v,
                     const char *dir, struct pr_arena *a, struct pr_err *err)
{
    struct pr_plan_file plan;
    struct pr_plan_file_experiment p;
    char path[4096];
    int rc;

    snprintf(path, sizeof path, "%s/plan.json", dir);
    rc = pr_plan_file_open_in(dir, path, &plan, err);
    if (rc)
        return rc;
    while ((rc = pr_plan_file_next(&plan, v->scratch, &p, err)) == 1) {
        rc = unfinished_check_experiment(u, v, dir, &p, a, err);
        if (rc)
            break;
        pr_arena_reset(v->scratch);
    }
    pr_plan_file_close(&plan);
    return rc;
}

int pr_run_unfinished_find(const char *dir, struct pr_arena *a,
                           struct pr_run_unfinished *ret, struct pr_err *err)
{
    struct events v = {.ids = pr_names_new(), .scratch = pr_arena_new(65536)};
    struct pr_run_unfinished u = {0};
    char path[4096];
    int rc = v.ids && v.scratch ? PR_OK : pr_fail_nomem(err);

    if (!rc && (size_t)snprintf(path, sizeof path, "%s/events.ndjson", dir) <
                   sizeof path) {
        snprintf(path, sizeof path, "%s/plan.json", dir);
        /* Before the rest: what ends meanwhile is there then. */
        u.running = pr_rundir_is_live(dir);
        rc = access(path, R_OK) ? PR_OK : read_events(&v, dir, err);
        if (!rc && access(path, R_OK) == 0)
            rc = walk_plan(&u, &v, dir, a, err);
    }
    if (!rc)
        *ret = u;
    pr_free(v.interrupted);
    pr_names_free(v.ids);
    pr_arena_free(v.scratch);
    return rc;
}
