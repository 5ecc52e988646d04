/* The type Probe: a pr_probe whose lines and sums are Python's. */
#include "ext.h"

#include "base/clock.h"

#include <string.h>
#include <unistd.h>

static PyObject *probe_type;

/* ---- callbacks; they may be called without the GIL */

/* Keeps what was raised; the first counts. */
static void keep_wrong(struct pr_py_probe *p)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    if (p->wrong[0]) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return;
    }
    p->wrong[0] = type;
    p->wrong[1] = value;
    p->wrong[2] = trace;
}

static void on_line(void *ctx, const char *text, size_t len)
{
    struct pr_py_probe *p = ctx;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *line = NULL, *done = NULL;

    if (p->write && !p->wrong[0]) {
        line = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "backslashreplace");
        done = line ? PyObject_CallFunctionObjArgs(p->write, line, NULL) : NULL;
        if (!done)
            keep_wrong(p);
    }
    Py_XDECREF(line);
    Py_XDECREF(done);
    PyGILState_Release(gil);
}

static PyObject *list_of(const double *values, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);

    for (size_t i = 0; list && i < count; i++) {
        PyObject *x = PyFloat_FromDouble(values[i]);

        if (!x || PyList_SetItem(list, (Py_ssize_t)i, x) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static bool take_list(PyObject *list, double *values, size_t count)
{
    if (PyObject_Size(list) != (Py_ssize_t)count) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "sum() gave another length");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *x = PySequence_GetItem(list, (Py_ssize_t)i);

        values[i] = x ? PyFloat_AsDouble(x) : -1;
        Py_XDECREF(x);
        if (PyErr_Occurred())
            return false;
    }
    return true;
}

/* Nothing is known of the others: they are taken to be like this one. */
static void sum_alone(const struct pr_py_probe *p, double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] *= (double)p->ranks;
}

/* sum() is told whether this trial was cut short: then the others need not wait
 * for it, nor it for them. */
static int on_sum(void *ctx, double *values, size_t count, struct pr_err *err)
{
    struct pr_py_probe *p = ctx;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *list = list_of(values, count), *sums = NULL;
    bool good;

    if (list)
        sums = PyObject_CallFunctionObjArgs(
            p->sum, list, p->alone ? Py_False : Py_True, NULL);
    good = sums && (sums == Py_None || take_list(sums, values, count));
    if (good && sums == Py_None)
        sum_alone(p, values, count);
    if (!good)
        keep_wrong(p);
    Py_XDECREF(list);
    Py_XDECREF(sums);
    PyGILState_Release(gil);
    if (good)
        return PR_OK;
    if (err)
        *err = (struct pr_err){.code = PR_E_JOB,
                               .msg = "the ranks could not be summed"};
    return PR_E_JOB;
}

int pr_py_probe_check(struct pr_py_probe *p, int r, const struct pr_err *err)
{
    if (p->wrong[0]) {
        PyErr_Restore(p->wrong[0], p->wrong[1], p->wrong[2]);
        memset(p->wrong, 0, sizeof p->wrong);
        return -1;
    }
    if (r >= 0)
        return 0;
    pr_py_raise(err);
    return -1;
}

bool pr_py_probe_busy(const struct pr_py_probe *p)
{
    if (p->busy)
        PyErr_SetString(PyExc_RuntimeError,
                        "a trial is just being ended, by this or another "
                        "thread");
    return p->busy;
}

int pr_py_probe_end(struct pr_py_probe *p, bool whole)
{
    struct pr_err err = {0};
    int r;

    if (pr_py_probe_busy(p))
        return -1;
    p->busy = true;
    p->alone = !whole;
    PyThreadState *state = PyEval_SaveThread();
    r = pr_probe_end(p->probe, &err);
    PyEval_RestoreThread(state);
    p->alone = p->busy = false;
    return pr_py_probe_check(p, r, &err);
}

/* ---- the object */

static int start(struct pr_py_probe *p, PyObject *config,
                 struct pr_probe_opts *opts)
{
    struct pr_err err = {0};
    const char *trace = getenv("PRONY_TRACE");

    if (pr_py_config_of(config, &p->config) < 0)
        return -1;
    opts->size = sizeof *opts;
    opts->config = &p->config;
    opts->line = p->write ? on_line : NULL;
    opts->sum = p->sum ? on_sum : NULL;
    opts->ctx = p;
    p->ranks = opts->ranks;
    p->pid = getpid();
    p->started = pr_wall_clock_ns();
    if (trace && *trace && !(p->spans = pr_py_spans_new(opts->rank))) {
        PyErr_NoMemory();
        return -1;
    }
    if (pr_probe_new(opts, &p->probe, &err) < 0) {
        pr_py_raise(&err);
        return -1;
    }
    return 0;
}

static PyObject *callable_or_null(PyObject *o)
{
    if (!o || o == Py_None)
        return NULL;
    Py_INCREF(o);
    return o;
}

static PyObject *probe_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"config", "batch_size", "first", "rank",
                            "ranks",  "write",      "sum",   NULL};
    struct pr_probe_opts opts = PR_PROBE_OPTS_INIT;
    unsigned long long batch_size = 0, first = 0, rank = 0, ranks = 1;
    PyObject *config, *write = NULL, *sum = NULL;
    struct pr_py_probe *p;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|KKKKOO:Probe", names,
                                     &config, &batch_size, &first, &rank,
                                     &ranks, &write, &sum))
        return NULL;
    p = (struct pr_py_probe *)pr_py_alloc((PyObject *)type);
    if (!p)
        return NULL;
    p->write = callable_or_null(write);
    p->sum = callable_or_null(sum);
    opts.batch_size = batch_size;
    p->first = first ? first : batch_size;
    opts.rank = rank;
    opts.ranks = ranks;
    if (start(p, config, &opts) < 0) {
        Py_DECREF(p);
        return NULL;
    }
    return (PyObject *)p;
}

static int probe_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(p->write);
    Py_VISIT(p->sum);
    Py_VISIT(p->wrong[1]);
    Py_VISIT(p->wrong[2]);
    return 0;
}

static int probe_clear(PyObject *self)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;

    Py_CLEAR(p->write);
    Py_CLEAR(p->sum);
    Py_CLEAR(p->wrong[0]);
    Py_CLEAR(p->wrong[1]);
    Py_CLEAR(p->wrong[2]);
    return 0;
}

static void probe_dealloc(PyObject *self)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;

    PyObject_GC_UnTrack(self);
    probe_clear(self);
    pr_probe_free(p->probe);
    pr_py_spans_free(p->spans);
    pr_py_free(self);
}

/* ---- methods */

static PyObject *next_phase(PyObject *self, PyObject *none)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;
    enum pr_probe_phase phase = pr_probe_next(p->probe);

    (void)none;
    if (phase == PR_PROBE_PHASES)
        return pr_py_none();
    return PyUnicode_FromString(pr_probe_phase_name(phase));
}

static PyObject *new_trial(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return pr_py_trial_new((struct pr_py_probe *)self, args, kwargs);
}

static int write_spans(struct pr_py_probe *p)
{
    const char *path = getenv("PRONY_TRACE");
    struct pr_err err = {0};

    if (!p->spans || !path || !*path ||
        pr_py_spans_write(p->spans, path, &err) == PR_OK)
        return 0;
    pr_py_raise(&err);
    return -1;
}

static PyObject *finish(PyObject *self, PyObject *none)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;
    struct pr_err err = {0};
    int r;

    (void)none;
    /* An iterator that somebody still holds. */
    if (p->current && pr_py_trial_cut(p->current) < 0)
        return NULL;
    if (pr_py_probe_busy(p))
        return NULL;
    p->busy = true;
    PyThreadState *state = PyEval_SaveThread();
    r = pr_probe_finish(p->probe, &err);
    PyEval_RestoreThread(state);
    p->busy = false;
    if (pr_py_probe_check(p, r, &err) < 0 || write_spans(p) < 0)
        return NULL;
    return pr_py_none();
}

static PyObject *say(PyObject *self, PyObject *what)
{
    static const char *const names[] = {"config", "profiler", "exit"};
    struct pr_py_probe *p = (struct pr_py_probe *)self;
    struct pr_err none = {0};

    for (int i = 0; i < 3; i++) {
        if (PyUnicode_CompareWithASCIIString(what, names[i]) != 0)
            continue;
        pr_probe_say(p->probe, (enum pr_probe_message)i);
        if (pr_py_probe_check(p, PR_OK, &none) < 0)
            return NULL;
        return pr_py_none();
    }
    PyErr_Format(PyExc_ValueError, "no such message: %R", what);
    return NULL;
}

static PyObject *counting(PyObject *self, PyObject *none)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;

    (void)none;
    return PyBool_FromLong(p->ruled && p->rule != PR_PY_GIVEN);
}

static PyObject *json(PyObject *self, PyObject *none)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;
    struct pr_err err = {0};
    const char *text;
    size_t len;

    (void)none;
    if (pr_probe_json(p->probe, &text, &len, &err) < 0)
        return pr_py_raise(&err);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "backslashreplace");
}

static PyObject *times_dict(const struct pr_probe_times *t)
{
    return Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d}", "mean", t->mean, "min",
                         t->min, "p50", t->p50, "p90", t->p90, "p99", t->p99,
                         "max", t->max);
}

static PyObject *figures_dict(const struct pr_probe_figures *f)
{
    return Py_BuildValue("{s:K,s:K,s:K,s:d,s:d,s:N,s:N,s:d,s:d}", "trials",
                         (unsigned long long)f->trials, "short_trials",
                         (unsigned long long)f->short_trials, "batches",
                         (unsigned long long)f->batches, "rate", f->rate,
                         "deviation", f->deviation, "fetch",
                         times_dict(&f->fetch), "step", times_dict(&f->step),
                         "fetch_s", f->fetch_s, "step_s", f->step_s);
}

static PyObject *numbers(PyObject *self, PyObject *none)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;
    struct pr_probe_numbers n = {.size = sizeof n};
    PyObject *dict = PyDict_New();

    (void)none;
    pr_probe_numbers(p->probe, &n);
    for (size_t i = 0; dict && i < PR_PROBE_PHASES; i++) {
        PyObject *f;

        if (!n.phase[i].trials)
            continue;
        f = figures_dict(&n.phase[i]);
        if (!f || PyDict_SetItemString(
                      dict, pr_probe_phase_name((enum pr_probe_phase)i), f) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(f);
    }
    return dict;
}

static PyObject *verdict(PyObject *self, PyObject *none)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;
    struct pr_probe_numbers n = {.size = sizeof n};
    struct pr_probe_verdict v = {.size = sizeof v};

    (void)none;
    pr_probe_numbers(p->probe, &n);
    pr_probe_judge(&n, &v);
    return Py_BuildValue(
        "{s:s,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:O,s:s}", "bound",
        pr_probe_bound_name(v.bound), "io", v.io, "synthetic", v.synthetic,
        "full", v.full, "other", v.other, "gain", v.gain, "serial", v.serial,
        "expected", v.expected, "overlap", v.overlap, "stall", v.stall,
        "disturbed", v.disturbed ? Py_True : Py_False, "text", v.text);
}

static PyMethodDef methods[] = {
    {"next_phase", next_phase, METH_NOARGS,
     "The phase whose turn it is, or None."},
    {"trial", (PyCFunction)(void (*)(void))new_trial,
     METH_VARARGS | METH_KEYWORDS,
     "trial(phase, source, ...): an iterator that is one trial."},
    {"finish", finish, METH_NOARGS,
     "Says the summary and writes the result: all, or what there is."},
    {"say", say, METH_O, "Says 'config', 'profiler' or 'exit'."},
    {"counting", counting, METH_NOARGS,
     "Whether samples are counted in each batch."},
    {"json", json, METH_NOARGS, "benchy's result, one line of JSON."},
    {"metrics", pr_py_metrics, METH_NOARGS,
     "What `prony probe` reports, as a JSON object."},
    {"record", pr_py_record, METH_VARARGS,
     "record(folder, command): the result as a run directory; command is "
     "JSON."},
    {"numbers", numbers, METH_NOARGS, "Figures of each phase, a dict."},
    {"verdict", verdict, METH_NOARGS, "What holds the loop back, a dict."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)probe_new},
    {Py_tp_dealloc, (void *)probe_dealloc},
    {Py_tp_traverse, (void *)probe_traverse},
    {Py_tp_clear, (void *)probe_clear},
    {Py_tp_methods, methods},
    {Py_tp_doc, (void *)"Times IO, SYNTHETIC and FULL passes of a loop."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "_prony.Probe",
    .basicsize = sizeof(struct pr_py_probe),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

int pr_py_probe_add(PyObject *module)
{
    probe_type = pr_py_type_add(module, &spec, "Probe");
    return probe_type ? 0 : -1;
}
