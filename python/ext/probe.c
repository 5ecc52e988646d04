/* The type Probe: a pr_probe whose lines and sums are Python's. */
#include "ext.h"

#include "base/clock.h"

#include <string.h>
#include <unistd.h>

static PyObject *probe_type;

/* ---- callbacks; they may be called without the GIL */

/* Keeps what was raised; the first counts. */
static void keep(struct pr_py_probe *p)
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

static bool is_a_mistake(void)
{
    return PyErr_ExceptionMatches(PyExc_Exception);
}

/* Whether warn() took it. */
static bool warned(struct pr_py_probe *p, const char *what, PyObject *value)
{
    PyObject *done = p->warn && value
                         ? PyObject_CallFunction(p->warn, "sO", what, value)
                         : NULL;

    Py_XDECREF(done);
    return done != NULL;
}

void pr_py_probe_told(struct pr_py_probe *p, const char *what)
{
    PyObject *type, *value, *trace;

    if (!is_a_mistake()) {
        keep(p);
        return;
    }
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (warned(p, what, value)) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return;
    }
    if (PyErr_Occurred() && !is_a_mistake())
        keep(p);
    PyErr_Restore(type, value, trace);
    PyErr_WriteUnraisable(p->warn);
}

/* Who does not take a line gets none any more. */
static void on_line(void *ctx, const char *text, size_t len)
{
    struct pr_py_probe *p = ctx;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *line = NULL, *done = NULL, *write = pr_py_given(p->write);

    if (write && !p->wrong[0]) {
        line = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "backslashreplace");
        done = line ? PyObject_CallFunctionObjArgs(write, line, NULL) : NULL;
        if (!done) {
            Py_CLEAR(p->write);
            pr_py_probe_told(p, "lines");
        }
    }
    Py_XDECREF(line);
    Py_XDECREF(done);
    Py_XDECREF(write);
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
 * for it, nor it for them. One that fails is not asked again. */
static int on_sum(void *ctx, double *values, size_t count, struct pr_err *err)
{
    struct pr_py_probe *p = ctx;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *sum = pr_py_given(p->sum), *list = NULL, *sums = NULL;
    bool good = false;

    (void)err;
    if (sum) {
        list = list_of(values, count);
        if (list)
            sums = PyObject_CallFunctionObjArgs(
                sum, list, p->alone ? Py_False : Py_True, NULL);
        good = sums && sums != Py_None && take_list(sums, values, count);
        if (PyErr_Occurred()) {
            Py_CLEAR(p->sum);
            pr_py_probe_told(p, "sum");
        }
    }
    if (!good)
        sum_alone(p, values, count);
    Py_XDECREF(list);
    Py_XDECREF(sums);
    Py_XDECREF(sum);
    PyGILState_Release(gil);
    return PR_OK;
}

/* ---- its turn */

int pr_py_probe_enter(struct pr_py_probe *p)
{
    return pr_py_turn_take(&p->turn);
}

int pr_py_probe_leave(struct pr_py_probe *p)
{
    pr_py_turn_give(&p->turn);
    if (!p->wrong[0])
        return 0;
    PyErr_Restore(p->wrong[0], p->wrong[1], p->wrong[2]);
    memset(p->wrong, 0, sizeof p->wrong);
    return -1;
}

/* A result that cannot be written is told once: what was measured is there
 * still, and the next trial tries again. */
static void check_saved(struct pr_py_probe *p, int r, const struct pr_err *err)
{
    if (r >= 0 || p->unsaved)
        return;
    p->unsaved = true;
    pr_py_raise(err);
    pr_py_probe_told(p, "result");
}

/* Calls it without the GIL. */
static void call(struct pr_py_probe *p,
                 int (*f)(struct pr_probe *, struct pr_err *))
{
    struct pr_err err = {0};
    PyThreadState *state = PyEval_SaveThread();
    int r = f(p->probe, &err);

    PyEval_RestoreThread(state);
    check_saved(p, r, &err);
}

void pr_py_probe_end(struct pr_py_probe *p, bool whole)
{
    if (!p->serial)
        return;
    p->serial = 0;
    if (p->spans)
        pr_py_spans_add(p->spans, pr_probe_label(p->probe), NULL, 0,
                        p->trial_ns, pr_py_now());
    p->alone = !whole;
    call(p, pr_probe_end);
    if (p->nvtx) {
        pr_py_nvtx_pop(); /* step */
        pr_py_nvtx_pop(); /* trial */
    }
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

static PyObject *probe_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"config", "batch_size", "first", "rank", "ranks",
                            "write",  "sum",        "warn",  NULL};
    struct pr_probe_opts opts = PR_PROBE_OPTS_INIT;
    unsigned long long batch_size = 0, first = 0, rank = 0, ranks = 1;
    PyObject *config, *write = NULL, *sum = NULL, *warn = NULL;
    struct pr_py_probe *p;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|KKKKOOO:Probe", names,
                                     &config, &batch_size, &first, &rank,
                                     &ranks, &write, &sum, &warn))
        return NULL;
    p = (struct pr_py_probe *)pr_py_alloc((PyObject *)type);
    if (!p)
        return NULL;
    p->write = pr_py_given(write);
    p->sum = pr_py_given(sum);
    p->warn = pr_py_given(warn);
    opts.batch_size = batch_size;
    p->first = first ? first : batch_size;
    opts.rank = rank;
    opts.ranks = ranks;
    if (pr_py_turn_init(&p->turn) < 0 || start(p, config, &opts) < 0) {
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
    Py_VISIT(p->warn);
    Py_VISIT(p->wrong[1]);
    Py_VISIT(p->wrong[2]);
    return 0;
}

static int probe_clear(PyObject *self)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;

    Py_CLEAR(p->write);
    Py_CLEAR(p->sum);
    Py_CLEAR(p->warn);
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
    pr_py_turn_done(&p->turn);
    pr_py_free(self);
}

/* ---- methods */

static PyObject *next_phase(PyObject *self, PyObject *none)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;
    enum pr_probe_phase phase = pr_probe_next(p->probe);

    (void)none;
    if (phase == PR_PROBE_PHASES || p->stopped || p->finished)
        return pr_py_none();
    return PyUnicode_FromString(pr_probe_phase_name(phase));
}

static PyObject *new_trial(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return pr_py_trial_new((struct pr_py_probe *)self, args, kwargs);
}

static void write_spans(struct pr_py_probe *p)
{
    const char *path = getenv("PRONY_TRACE");
    struct pr_err err = {0};

    if (!p->spans || !path || !*path ||
        pr_py_spans_write(p->spans, path, &err) == PR_OK)
        return;
    pr_py_raise(&err);
    pr_py_probe_told(p, "trace");
}

/* Its turn; false: an exception, also where a callback would change what it is
 * called from. */
static bool enter_only(struct pr_py_probe *p)
{
    int entered = pr_py_probe_enter(p);

    if (!entered)
        PyErr_SetString(PyExc_RuntimeError,
                        "a measurement cannot be ended by who takes its lines "
                        "or sums");
    return entered > 0;
}

/* A trial that somebody still loops over is ended. */
static PyObject *finish(PyObject *self, PyObject *none)
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;

    (void)none;
    if (!enter_only(p))
        return NULL;
    if (!p->finished) {
        p->finished = true;
        pr_py_probe_end(p, false);
        call(p, pr_probe_finish);
        write_spans(p);
    }
    return pr_py_probe_leave(p) < 0 ? NULL : pr_py_none();
}

static PyObject *message_print(PyObject *self, PyObject *what)
{
    static const char *const names[] = {"config", "profiler", "exit"};
    struct pr_py_probe *p = (struct pr_py_probe *)self;

    for (int i = 0; i < 3; i++) {
        if (PyUnicode_CompareWithASCIIString(what, names[i]) != 0)
            continue;
        if (!enter_only(p))
            return NULL;
        pr_probe_say(p->probe, (enum pr_probe_message)i);
        return pr_py_probe_leave(p) < 0 ? NULL : pr_py_none();
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

/* ---- what was measured; callbacks may ask, too */

/* What f says while nobody else uses the probe. */
static PyObject *reading(PyObject *self,
                         PyObject *(*f)(const struct pr_py_probe *p))
{
    struct pr_py_probe *p = (struct pr_py_probe *)self;
    int entered = pr_py_probe_enter(p);
    PyObject *answer = entered < 0 ? NULL : f(p);

    if (entered > 0)
        pr_py_turn_give(&p->turn);
    return answer;
}

static PyObject *read_json(const struct pr_py_probe *p)
{
    struct pr_err err = {0};
    const char *text;
    size_t len;

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

static PyObject *read_numbers(const struct pr_py_probe *p)
{
    struct pr_probe_numbers n = {.size = sizeof n};
    PyObject *dict = PyDict_New();

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

static PyObject *read_verdict(const struct pr_py_probe *p)
{
    struct pr_probe_numbers n = {.size = sizeof n};
    struct pr_probe_verdict v = {.size = sizeof v};

    pr_probe_numbers(p->probe, &n);
    pr_probe_judge(&n, &v);
    return Py_BuildValue(
        "{s:s,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:O,s:s}", "bound",
        pr_probe_bound_name(v.bound), "io", v.io, "synthetic", v.synthetic,
        "full", v.full, "other", v.other, "gain", v.gain, "serial", v.serial,
        "expected", v.expected, "overlap", v.overlap, "stall", v.stall,
        "disturbed", v.disturbed ? Py_True : Py_False, "text", v.text);
}

static PyObject *json(PyObject *self, PyObject *none)
{
    (void)none;
    return reading(self, read_json);
}

static PyObject *numbers(PyObject *self, PyObject *none)
{
    (void)none;
    return reading(self, read_numbers);
}

static PyObject *verdict(PyObject *self, PyObject *none)
{
    (void)none;
    return reading(self, read_verdict);
}

static PyObject *metrics(PyObject *self, PyObject *none)
{
    (void)none;
    return reading(self, pr_py_metrics);
}

static PyObject *get_stopped(PyObject *self, void *ctx)
{
    (void)ctx;
    return PyBool_FromLong(((struct pr_py_probe *)self)->stopped);
}

static PyGetSetDef getters[] = {
    {"stopped", get_stopped, NULL,
     "Whether measuring was given up before its end.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"next_phase", next_phase, METH_NOARGS,
     "The phase whose turn it is, or None."},
    {"trial", (PyCFunction)(void (*)(void))new_trial,
     METH_VARARGS | METH_KEYWORDS,
     "trial(phase, source, ...): an iterator that is one trial."},
    {"finish", finish, METH_NOARGS,
     "Says the summary and writes the result: all, or what there is."},
    {"say", message_print, METH_O, "Says 'config', 'profiler' or 'exit'."},
    {"counting", counting, METH_NOARGS,
     "Whether samples are counted in each batch."},
    {"json", json, METH_NOARGS, "benchy's result, one line of JSON."},
    {"metrics", metrics, METH_NOARGS,
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
    {Py_tp_getset, getters},
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
