/*
 * The type Trial: an iterator that hands a loop its batches and times them.
 *
 * A step is what lies between two calls: fetching a batch and what the loop
 * does with it. In a cached trial the first batch comes untimed, and then again
 * and again. A source that ends is asked once more from its start, so that a
 * trial has all its batches; one that gives nothing ends the trial.
 *
 * A loop that is left early (break, an exception) drops the iterator: the trial
 * ends with the batches it has. Where timing ends before the loop does (another
 * loop began a trial, the measurement was finished, something failed), the loop
 * gets the rest of its batches all the same.
 *
 * Of what the loop sees, only what the source raises is an exception, and what
 * is no mistake anywhere (Ctrl-C).
 */
#include "ext.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct pr_py_trial {
    PyObject_HEAD struct pr_py_probe *probe;
    PyObject *source; /* callable: a new iterator */
    PyObject *it;     /* the one in use; or NULL */
    PyObject *sync;   /* callable: waits for the device; or NULL */
    PyObject
        *settle;    /* callable: the iterator of a cached trial goes; or NULL */
    PyObject *kept; /* the batch of a cached trial, once it came */
    struct pr_py_turn turn;
    enum pr_probe_phase phase;
    bool cached, begun, over;
    bool out;        /* the loop has a batch */
    uint64_t serial; /* of the probe's trial that this one is */
    uint64_t kept_samples;
    uint64_t step;             /* number of the batch */
    uint64_t fetch_ns, use_ns; /* when these began; for a trace */
    char label[24];
};

static PyObject *trial_type;

/* ---- ranges of profilers */

static void push(const struct pr_py_trial *t, const char *part)
{
    char name[128], number[32] = "";

    if (!t->probe->nvtx)
        return;
    if (*part)
        snprintf(number, sizeof number, "::%s_%" PRIu64, part, t->step);
    snprintf(name, sizeof name, "BENCHY::BenchmarkIterator::%s%s", t->label,
             number);
    pr_py_nvtx_push(name);
}

static void pop(const struct pr_py_trial *t)
{
    if (t->probe->nvtx)
        pr_py_nvtx_pop();
}

/* ---- the source */

/* Of the iterator in use. Another thread may come to its end meanwhile, so it
 * is held. */
static PyObject *next_of(struct pr_py_trial *t)
{
    PyObject *it = t->it, *batch;

    if (!it)
        return NULL;
    Py_INCREF(it);
    batch = PyIter_Next(it);
    if (!batch && !PyErr_Occurred() && t->it == it)
        Py_CLEAR(t->it);
    Py_DECREF(it);
    return batch;
}

/* The next batch; NULL without an exception: there is none at all. */
static PyObject *from_source(struct pr_py_trial *t)
{
    PyObject *batch = next_of(t), *it, *old;

    if (batch || PyErr_Occurred())
        return batch;
    it = PyObject_CallObject(t->source, NULL);
    if (!it)
        return NULL;
    if (!PyIter_Check(it)) {
        PyErr_Format(PyExc_TypeError,
                     "iter() returned non-iterator of type '%R'", Py_TYPE(it));
        Py_DECREF(it);
        return NULL;
    }
    old = t->it;
    t->it = it;
    Py_XDECREF(old);
    return next_of(t);
}

/* 0: as many as the loader's batch size says. */
static uint64_t samples_in(struct pr_py_probe *p, PyObject *batch)
{
    if (!p->ruled) {
        p->rule = pr_py_samples_rule(batch, p->first);
        p->ruled = true;
    }
    return p->rule == PR_PY_GIVEN ? 0 : pr_py_samples(batch, p->rule);
}

/* ---- beginning and end */

/* Whether the probe times this trial, not another one begun since. */
static bool measures(const struct pr_py_trial *t)
{
    return t->begun && t->probe && t->serial == t->probe->serial;
}

/* 0, or -1 with an exception. */
static int end_measuring(struct pr_py_trial *t, bool whole)
{
    int entered;

    if (!measures(t) || t->probe->pid != getpid())
        return 0;
    entered = pr_py_probe_enter(t->probe);
    if (entered <= 0)
        return entered;
    if (measures(t))
        pr_py_probe_end(t->probe, whole);
    return pr_py_probe_leave(t->probe);
}

/* The iterator stays: the next trial may go on with it. */
static int end_trial(struct pr_py_trial *t, bool whole)
{
    t->over = true;
    Py_CLEAR(t->kept);
    return end_measuring(t, whole);
}

/* Measuring ends here, for good; the exception says why. */
static int give_up(struct pr_py_trial *t, const char *what)
{
    struct pr_py_probe *p = t->probe;
    int entered = 0;

    if (PyErr_ExceptionMatches(PyExc_Exception)) {
        p->stopped = true;
        pr_py_probe_told(p, what);
        entered = pr_py_probe_enter(p);
        if (entered > 0) {
            pr_py_probe_end(p, false);
            return pr_py_probe_leave(p);
        }
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* One that cannot be begun (all trials were had meanwhile) goes untimed. */
static void begin_timing(struct pr_py_trial *t)
{
    struct pr_py_probe *p = t->probe;

    /* Nested loops over one loader: the inner one is measured. */
    pr_py_probe_end(p, false);
    if (p->stopped || p->finished || p->pid != getpid() ||
        pr_probe_begin(p->probe, t->phase, NULL) < 0)
        return;
    t->serial = p->serial = ++p->serials;
    snprintf(t->label, sizeof t->label, "%s", pr_probe_label(p->probe));
    p->nvtx = pr_py_nvtx();
    push(t, "");
    push(t, "STEP");
    if (p->spans)
        p->trial_ns = t->fetch_ns = pr_py_now();
}

static int begin_trial(struct pr_py_trial *t)
{
    int entered = pr_py_probe_enter(t->probe);

    if (entered < 0)
        return -1;
    t->begun = true;
    t->serial = UINT64_MAX;
    if (!entered) /* in a callback of the probe's */
        return 0;
    begin_timing(t);
    return pr_py_probe_leave(t->probe);
}

/* ---- one step */

static void span_of_step(struct pr_py_trial *t)
{
    uint64_t now = pr_py_now();

    pr_py_spans_add(t->probe->spans, t->label, "step", t->step - 1, t->use_ns,
                    now);
    t->fetch_ns = now;
}

/* The loop is done with a batch. */
static int step_done(struct pr_py_trial *t)
{
    int entered = pr_py_probe_enter(t->probe);

    t->out = false;
    if (entered <= 0)
        return entered;
    if (measures(t)) {
        (void)pr_probe_step_done(t->probe->probe);
        if (t->probe->spans)
            span_of_step(t);
        pop(t);
        push(t, "STEP");
    }
    return pr_py_probe_leave(t->probe);
}

static PyObject *fetched(struct pr_py_trial *t)
{
    PyObject *batch;
    bool named = measures(t);

    if (t->cached) {
        Py_INCREF(t->kept);
        return t->kept;
    }
    if (named)
        push(t, "DATA");
    batch = from_source(t);
    if (named)
        pop(t);
    return batch;
}

/* Nobody else can be at it: a trial is ended by a turn at the probe. */
static void time_batch(struct pr_py_trial *t, uint64_t samples)
{
    struct pr_py_probe *p = t->probe;

    pr_probe_batch_ready(p->probe, samples);
    if (!p->spans)
        return;
    t->use_ns = pr_py_now();
    pr_py_spans_add(p->spans, t->label, "fetch", t->step, t->fetch_ns,
                    t->use_ns);
}

static int batch_ready(struct pr_py_trial *t, PyObject *batch)
{
    uint64_t samples =
        t->cached ? t->kept_samples : samples_in(t->probe, batch);
    int entered = measures(t) ? pr_py_probe_enter(t->probe) : 0;

    t->out = true;
    if (entered > 0 && measures(t))
        time_batch(t, samples);
    t->step++;
    return entered > 0 ? pr_py_probe_leave(t->probe) : entered;
}

/* The first batch of a cached trial, to be used again and again. Its iterator
 * goes: workers that read ahead would take from what is measured. */
static PyObject *first_kept(struct pr_py_trial *t)
{
    PyObject *batch = from_source(t), *r;

    if (!batch) {
        t->over = !PyErr_Occurred();
        return NULL;
    }
    t->kept_samples = samples_in(t->probe, batch);
    if (t->settle && t->it) {
        r = PyObject_CallFunctionObjArgs(t->settle, t->it, NULL);
        Py_XDECREF(r);
        if (!r && give_up(t, "settle") < 0)
            Py_CLEAR(batch);
    }
    Py_CLEAR(t->it);
    Py_XINCREF(batch); /* None is a batch as well */
    t->kept = batch;
    return batch;
}

static int call_sync(struct pr_py_trial *t)
{
    PyObject *r;

    if (!t->sync || (t->begun && !measures(t)) || t->probe->stopped)
        return 0;
    r = PyObject_CallObject(t->sync, NULL);
    Py_XDECREF(r);
    return r ? 0 : give_up(t, "sync");
}

/* What comes before a batch is fetched. 1: it is to be; 0: that was the last;
 * -1: an exception. */
static int before_fetch(struct pr_py_trial *t)
{
    int r = call_sync(t);

    if (!r && !t->begun)
        r = begin_trial(t);
    else if (!r && t->out && measures(t))
        r = step_done(t);
    if (r < 0 || t->over)
        return r;
    if (t->step < t->probe->config.phase[t->phase].batches)
        return 1;
    return end_trial(t, true);
}

static PyObject *next_batch(struct pr_py_trial *t)
{
    PyObject *batch;

    if (t->over)
        return NULL;
    if (t->cached && !t->kept)
        return first_kept(t);
    if (before_fetch(t) <= 0)
        return NULL;
    batch = fetched(t);
    if (batch && batch_ready(t, batch) < 0)
        Py_CLEAR(batch);
    else if (!batch && !PyErr_Occurred())
        end_trial(t, false);
    return batch;
}

/* Threads take turns: whatever is called may let another one run. */
static PyObject *trial_next(PyObject *self)
{
    struct pr_py_trial *t = (struct pr_py_trial *)self;
    PyObject *batch;

    if (pr_py_turn_only(&t->turn) < 0)
        return NULL;
    Py_INCREF(self);
    batch = next_batch(t);
    pr_py_turn_give(&t->turn);
    Py_DECREF(self);
    return batch;
}

/* ---- methods */

/* A loop that does nothing with its batches, as long as it is timed. */
static PyObject *drain(PyObject *self, PyObject *none)
{
    struct pr_py_trial *t = (struct pr_py_trial *)self;
    PyObject *batch;

    (void)none;
    while ((!t->begun || measures(t)) && (batch = trial_next(self)) != NULL) {
        Py_DECREF(batch);
        if (PyErr_CheckSignals() < 0)
            return NULL;
    }
    if (PyErr_Occurred())
        return NULL;
    return pr_py_none();
}

/* The source's iterator, for the next trial to go on with; or None. */
static PyObject *take_iterator(PyObject *self, PyObject *none)
{
    struct pr_py_trial *t = (struct pr_py_trial *)self;
    PyObject *it = t->it;

    (void)none;
    t->it = NULL;
    if (it)
        return it;
    return pr_py_none();
}

static PyObject *close_trial(PyObject *self, PyObject *none)
{
    struct pr_py_trial *t = (struct pr_py_trial *)self;

    (void)none;
    t->over = true;
    return end_measuring(t, false) < 0 ? NULL : pr_py_none();
}

/* Batches that the loop got, of a cached trial also the first one. */
static PyObject *get_given(PyObject *self, void *ctx)
{
    const struct pr_py_trial *t = (const struct pr_py_trial *)self;

    (void)ctx;
    return PyLong_FromUnsignedLongLong(t->step + (t->kept != NULL));
}

/* ---- the object */

static int phase_named(const char *name, enum pr_probe_phase *ret)
{
    for (int i = 0; i < PR_PROBE_PHASES; i++) {
        *ret = (enum pr_probe_phase)i;
        if (strcmp(pr_probe_phase_name(*ret), name) == 0)
            return 0;
    }
    PyErr_Format(PyExc_ValueError, "no such phase: '%s'", name);
    return -1;
}

PyObject *pr_py_trial_new(struct pr_py_probe *p, PyObject *args,
                          PyObject *keywords)
{
    static char *names[] = {"phase", "source", "iterator",
                            "sync",  "settle", NULL};
    PyObject *source, *it = NULL, *sync = NULL, *settle = NULL;
    struct pr_py_trial *t;
    enum pr_probe_phase phase;
    const char *name;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sO|OOO:trial", names,
                                     &name, &source, &it, &sync, &settle) ||
        phase_named(name, &phase) < 0)
        return NULL;
    t = (struct pr_py_trial *)pr_py_alloc(trial_type);
    if (!t)
        return NULL;
    Py_INCREF(p);
    t->probe = p;
    t->phase = phase;
    t->cached = phase == PR_PROBE_SYNTHETIC;
    t->source = pr_py_given(source);
    t->it = pr_py_given(it);
    t->sync = pr_py_given(sync);
    t->settle = pr_py_given(settle);
    if (pr_py_turn_init(&t->turn) < 0)
        Py_CLEAR(t);
    return (PyObject *)t;
}

static int trial_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct pr_py_trial *t = (struct pr_py_trial *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(t->probe);
    Py_VISIT(t->source);
    Py_VISIT(t->it);
    Py_VISIT(t->sync);
    Py_VISIT(t->settle);
    Py_VISIT(t->kept);
    return 0;
}

/* Ends what goes on; nobody is left to whom an exception could go. */
static int trial_clear(PyObject *self)
{
    struct pr_py_trial *t = (struct pr_py_trial *)self;
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    if (t->probe && end_trial(t, false) < 0)
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(type, value, trace);
    Py_CLEAR(t->kept);
    Py_CLEAR(t->it);
    Py_CLEAR(t->source);
    Py_CLEAR(t->sync);
    Py_CLEAR(t->settle);
    Py_CLEAR(t->probe);
    return 0;
}

static void trial_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    trial_clear(self);
    pr_py_turn_done(&((struct pr_py_trial *)self)->turn);
    pr_py_free(self);
}

static PyMethodDef methods[] = {
    {"drain", drain, METH_NOARGS, "Runs the trial with an empty loop."},
    {"take_iterator", take_iterator, METH_NOARGS,
     "Gives away the iterator of the source, or None."},
    {"close", close_trial, METH_NOARGS,
     "Ends the trial with the batches it has."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"given", get_given, NULL, "Batches handed out.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)trial_dealloc},
    {Py_tp_traverse, (void *)trial_traverse},
    {Py_tp_clear, (void *)trial_clear},
    {Py_tp_iter, (void *)pr_py_itself},
    {Py_tp_iternext, (void *)trial_next},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_tp_doc, (void *)"One trial: an iterator over batches that times them."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "_prony.Trial",
    .basicsize = sizeof(struct pr_py_trial),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

int pr_py_trial_add(PyObject *module)
{
    trial_type = pr_py_type_add(module, &spec, "Trial");
    return trial_type ? 0 : -1;
}
