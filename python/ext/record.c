/*
 * What a probe found as a run directory, as if `prony run` had run the script:
 * so that report, parse, plot and compare read it.
 */
#include "ext.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "job/probe_job.h"
#include "present/chart/plot_probe.h"
#include "prony/plan.h"
#include "record/event.h"
#include "record/plan_file.h"
#include "record/result.h"
#include "run/session.h"

#include <string.h>

struct record {
    const struct pr_py_probe *probe;
    struct pr_rundir dir;
    struct pr_plan_file_experiment planned;
    struct pr_buf lines;   /* results, as a program's log has them */
    struct pr_buf results; /* the same as members of a map */
    uint64_t ended;        /* wall clock */
};

/* ---- the files of an experiment */

static int put_file(struct record *r, const char *name,
                    const struct pr_buf *text, struct pr_err *err)
{
    char path[4096];
    int rc = pr_buf_ok(text) ? PR_OK : pr_fail_nomem(err);

    if (!rc)
        rc = pr_rundir_file(&r->dir, r->planned.id, name, path, err);
    return rc ? rc : pr_file_write(path, text->data, text->len, err);
}

static int put_event(struct record *r, enum pr_event_kind kind,
                     struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf line = PR_BUF_INIT(1 << 16);
    bool of_run = kind == PR_EVENT_RUN_START || kind == PR_EVENT_RUN_END;
    bool begins =
        kind == PR_EVENT_RUN_START || kind == PR_EVENT_EXPERIMENT_START;
    struct pr_event e = {.kind = kind,
                         .time_ns = begins ? r->probe->started : r->ended,
                         .id = of_run ? NULL : r->planned.id,
                         .status = PR_STATUS_OK,
                         .attempt = 1,
                         .done = !begins,
                         .total = 1};

    if (kind == PR_EVENT_EXPERIMENT_END)
        e.elapsed_s = (double)(r->ended - r->probe->started) / 1e9;
    pr_event_write(&e, &line);
    return pr_buf_ok(&line) ? pr_rundir_append(&r->dir, &line, err)
                            : pr_fail_nomem(err);
}

static int put_result(struct record *r, const struct pr_buf *params,
                      struct pr_err *err)
{
    struct pr_result result = {.id = r->planned.id,
                               .status = PR_STATUS_OK,
                               .reason = "",
                               .params_json = params->data,
                               .results = &r->results,
                               .started_ns = r->probe->started,
                               .ended_ns = r->ended,
                               .attempts = 1};

    return pr_result_write(&r->dir, &result, err);
}

static int put_experiment(struct record *r, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf params = PR_BUF_INIT(1 << 20);
    unsigned attempts;
    bool begun;
    int rc = put_event(r, PR_EVENT_RUN_START, err);

    pr_json_write(&params, &r->planned.params);
    if (!rc)
        rc = pr_rundir_experiment(&r->dir, r->planned.id, &begun, &attempts,
                                  err);
    if (!rc)
        rc = put_event(r, PR_EVENT_EXPERIMENT_START, err);
    if (!rc)
        rc = put_file(r, "params.json", &params, err);
    if (!rc)
        rc = put_file(r, "log.txt", &r->lines, err);
    if (!rc)
        rc = put_result(r, &params, err);
    if (!rc)
        rc = put_event(r, PR_EVENT_EXPERIMENT_END, err);
    return rc ? rc : put_event(r, PR_EVENT_RUN_END, err);
}

/* ---- the run directory */

static int fill(struct record *r, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct pr_plan_file plan;
    char path[4096];
    int rc = a ? pr_rundir_path(&r->dir, "plan.json", path, err)
               : pr_fail_nomem(err);

    if (!rc)
        rc = pr_plan_file_open(path, &plan, err);
    if (rc)
        return rc;
    rc = pr_plan_file_next(&plan, a, &r->planned, err);
    if (rc == 1)
        rc = put_experiment(r, err);
    pr_plan_file_close(&plan);
    return rc;
}

/* The three rates as bars, as `prony probe` leaves them. */
static int draw(const struct record *r, const char *dir, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf svg = PR_BUF_INIT(16 << 20);
    char path[4096];
    bool any = false;
    int rc = pr_probe_chart(dir, &svg, &any, err);

    if (rc || !any)
        return rc;
    rc = pr_buf_ok(&svg) ? pr_rundir_path(&r->dir, "probe.svg", path, err)
                         : pr_fail_nomem(err);
    return rc ? rc : pr_file_write(path, svg.data, svg.len, err);
}

/* Defaults are left out: the script ran, whatever they are. */
static int planned(const char *command, struct pr_plan **ret,
                   struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
    struct pr_plan_opts opts = PR_PLAN_OPTS_INIT;
    int rc = PR_OK;

    opts.no_defaults = true;
    *ret = pr_plan_new(&opts);
    pr_buf_printf(&text, "exp.command=%s", command);
    if (!*ret || !pr_buf_ok(&text))
        rc = pr_fail_nomem(err);
    if (!rc)
        rc = pr_plan_param(*ret, text.data, err);
    return rc ? rc : pr_plan_build(*ret, err);
}

static int record(struct record *r, const char *dir, const char *command,
                  struct pr_err *err)
{
    struct pr_plan *plan = NULL;
    int rc = planned(command, &plan, err);

    if (!rc)
        rc = pr_session_create(dir, plan, &r->dir, err);
    if (!rc) {
        rc = fill(r, err);
        if (!rc)
            rc = draw(r, dir, err);
        pr_rundir_close(&r->dir);
    }
    pr_plan_free(plan);
    return rc;
}

/* ---- methods of Probe */

static void put_object(const struct pr_probe *p, struct pr_buf *out)
{
    struct pr_result_lines k;
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 0);
    pr_json_open_object(&jb, NULL);
    pr_result_lines_init_object(&k, &jb);
    pr_probe_job_put_results(p, &k);
    pr_json_close(&jb);
}

PyObject *pr_py_metrics(const struct pr_py_probe *p)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(16 << 20);

    put_object(p->probe, &text);
    if (!pr_buf_ok(&text))
        return PyErr_NoMemory();
    return PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.len,
                                "backslashreplace");
}

static bool put_results(struct record *r)
{
    PR_AUTO_BUF struct pr_buf object = PR_BUF_INIT(16 << 20);
    struct pr_result_lines k;

    pr_result_lines_init(&k, &r->lines);
    pr_probe_job_put_results(r->probe->probe, &k);
    put_object(r->probe->probe, &object);
    if (!pr_buf_ok(&object))
        return false;
    /* Its members, without the braces. */
    pr_buf_add(&r->results, object.data + 1, object.len - 2);
    return pr_buf_ok(&r->results) && pr_buf_ok(&r->lines);
}

PyObject *pr_py_record(PyObject *self, PyObject *args)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;
    struct record r = {.probe = p,
                       .lines = PR_BUF_INIT(16 << 20),
                       .results = PR_BUF_INIT(16 << 20),
                       .ended = pr_wall_clock_ns()};
    const char *command;
    struct pr_err err = {0};
    PyThreadState *state;
    PyObject *path;
    int rc, entered;

    if (!PyArg_ParseTuple(args, "O&s:record", PyUnicode_FSConverter, &path,
                          &command))
        return NULL;
    entered = pr_py_probe_enter(p);
    if (entered >= 0) {
        state = PyEval_SaveThread();
        rc = put_results(&r) ? record(&r, PyBytes_AsString(path), command, &err)
                             : pr_fail_nomem(&err);
        PyEval_RestoreThread(state);
        if (rc < 0)
            pr_py_raise(&err);
    }
    if (entered > 0)
        pr_py_turn_give(&p->turn);
    pr_buf_free(&r.lines);
    pr_buf_free(&r.results);
    Py_DECREF(path);
    return PyErr_Occurred() ? NULL : pr_py_none();
}
