/*
 * The type Trial: an iterator that hands a loop its batches and times them.
 *
 * A step is what lies between two calls: fetching a batch and what the loop
 * does with it. In a cached trial the first batch comes untimed, and then again
 * and again. A source that ends is asked once more from its start, so that a
 * trial has all its batches; one that gives nothing ends the trial.
 *
 * A loop that is left early (break, an exception) drops the iterator: the trial
 * ends with the batches it has.
 */
#include "ext.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct pr_py_trial {
    PyObject_HEAD struct pr_py_probe *probe; /* NULL: over */
    PyObject *source;                        /* callable: a new iterator */
    PyObject *it;                            /* the one in use; or NULL */
    PyObject *sync; /* callable: waits for the device; or NULL */
    PyObject
        *settle;    /* callable: the iterator of a cached trial goes; or NULL */
    PyObject *kept; /* the batch of a cached trial, once it came */
    enum pr_probe_phase phase;
    bool cached, begun, out; /* out: the loop has a batch */
    bool nvtx;
    uint64_t kept_samples;
    uint64_t step;                       /* number of the batch */
    uint64_t trial_ns, fetch_ns, use_ns; /* when these began; for a trace */
    char label[24];
};

static PyObject *trial_type;

/* ---- ranges of profilers */

static void push(const struct pr_py_trial *t, const char *part)
{
    char name[128], number[32] = "";

    if (!t->nvtx)
        return;
    if (*part)
        snprintf(number, sizeof number, "::%s_%" PRIu64, part, t->step);
    snprintf(name, sizeof name, "BENCHY::BenchmarkIterator::%s%s", t->label,
             number);
    pr_py_nvtx_push(name);
}

static void pop(const struct pr_py_trial *t)
{
    if (t->nvtx)
        pr_py_nvtx_pop();
}

/* ---- the source */

static int call_sync(PyObject *sync)
{
    PyObject *r = sync ? PyObject_CallObject(sync, NULL) : NULL;

    if (sync && !r)
        return -1;
    Py_XDECREF(r);
    return 0;
}

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
    return t->begun && t->probe && t->probe->current == t;
}

/* The iterator stays: the next trial may go on with it. */
static void forget(struct pr_py_trial *t)
{
    if (t->probe && t->probe->current == t)
        t->probe->current = NULL;
    Py_CLEAR(t->kept);
    Py_CLEAR(t->probe);
}

static void end_spans(struct pr_py_trial *t)
{
    if (t->probe->spans)
        pr_py_spans_add(t->probe->spans, t->label, NULL, 0, t->trial_ns,
                        pr_py_now());
}

/* 0, or -1 with an exception. */
static int end_trial(struct pr_py_trial *t, bool whole)
{
    struct pr_py_probe *p = t->probe;
    int r = 0;

    if (measures(t) && p->pid == getpid()) {
        end_spans(t);
        p->current = NULL; /* nobody else ends it */
        Py_INCREF(p);
        r = pr_py_probe_end(p, whole);
        Py_DECREF(p);
        pop(t); /* step */
        pop(t); /* trial */
    }
    forget(t);
    return r;
}

static int begin_trial(struct pr_py_trial *t)
{
    struct pr_err err = {0};
    struct pr_py_probe *p = t->probe;
    int r;

    /* Nested loops over one loader: the inner one is measured. */
    if (p->current && p->current != t && end_trial(p->current, false) < 0)
        return -1;
    if (pr_py_probe_busy(p))
        return -1;
    r = pr_probe_begin(p->probe, t->phase, &err);
    if (pr_py_probe_check(p, r, &err) < 0)
        return -1;
    p->current = t;
    t->begun = true;
    snprintf(t->label, sizeof t->label, "%s", pr_probe_label(p->probe));
    t->nvtx = pr_py_nvtx();
    push(t, "");
    push(t, "STEP");
    if (p->spans)
        t->trial_ns = t->fetch_ns = pr_py_now();
    return 0;
}

/* ---- one step */

static void span_of_step(struct pr_py_trial *t)
{
    uint64_t now = pr_py_now();

    pr_py_spans_add(t->probe->spans, t->label, "step", t->step - 1, t->use_ns,
                    now);
    t->fetch_ns = now;
}

/* The loop is done with a batch. 1: it gets another one; 0: that was the last;
 * -1: an exception. */
static int step_done(struct pr_py_trial *t)
{
    struct pr_err none = {0};
    bool more = pr_probe_step_done(t->probe->probe);

    t->out = false;
    if (t->probe && t->probe->spans)
        span_of_step(t);
    pop(t);
    push(t, "STEP");
    if (t->probe && pr_py_probe_check(t->probe, PR_OK, &none) < 0)
        return -1;
    return more;
}

static PyObject *fetched(struct pr_py_trial *t)
{
    PyObject *batch;

    if (t->cached) {
        Py_INCREF(t->kept);
        return t->kept;
    }
    push(t, "DATA");
    batch = from_source(t);
    pop(t);
    return batch;
}

static void batch_ready(struct pr_py_trial *t, PyObject *batch)
{
    struct pr_py_probe *p = t->probe;

    pr_probe_batch_ready(p->probe,
                         t->cached ? t->kept_samples : samples_in(p, batch));
    if (p->spans) {
        t->use_ns = pr_py_now();
        pr_py_spans_add(p->spans, t->label, "fetch", t->step, t->fetch_ns,
                        t->use_ns);
    }
    t->step++;
    t->out = true;
}

/* The first batch of a cached trial, to be used again and again. Its iterator
 * goes: workers that read ahead would take from what is measured. */
static PyObject *first_kept(struct pr_py_trial *t)
{
    PyObject *batch = from_source(t), *r;

    if (!batch && !PyErr_Occurred())
        forget(t);
    if (!batch || !t->probe)
        return batch;
    t->kept_samples = samples_in(t->probe, batch);
    if (t->settle && t->it) {
        r = PyObject_CallFunctionObjArgs(t->settle, t->it, NULL);
        if (!r) {
            Py_DECREF(batch);
            return NULL;
        }
        Py_DECREF(r);
    }
    Py_CLEAR(t->it);
    if (t->probe && !t->kept) {
        Py_INCREF(batch);
        t->kept = batch;
    }
    return batch;
}

/* What comes before a batch is fetched, with the same answers. */
static int before_fetch(struct pr_py_trial *t)
{
    if (call_sync(t->sync) < 0)
        return -1;
    if (!t->probe)
        return 0;
    if (!t->begun)
        return begin_trial(t) < 0 ? -1 : 1;
    return measures(t) && t->out ? step_done(t) : 1;
}

/* Whatever is called here may end the trial, in this thread or in another one
 * meanwhile: then t->probe is NULL. If another trial was begun meanwhile,
 * batches go on, untimed. */
static PyObject *trial_next(PyObject *self)
{
    struct pr_py_trial *t = (struct pr_py_trial *)self;
    PyObject *batch;
    int more;

    if (!t->probe)
        return NULL;
    if (t->cached && !t->kept)
        return first_kept(t);
    more = before_fetch(t);
    if (more == 0)
        end_trial(t, true);
    if (more <= 0 || !t->probe)
        return NULL;
    batch = fetched(t);
    if (batch && measures(t))
        batch_ready(t, batch);
    else if (!batch && !PyErr_Occurred())
        end_trial(t, false);
    return batch;
}

/* ---- methods */

/* A loop that does nothing with its batches. */
static PyObject *drain(PyObject *self, PyObject *none)
{
    PyObject *batch;

    (void)none;
    while ((batch = trial_next(self)) != NULL) {
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

int pr_py_trial_cut(struct pr_py_trial *t)
{
    return end_trial(t, false);
}

static PyObject *close_trial(PyObject *self, PyObject *none)
{
    (void)none;
    if (end_trial((struct pr_py_trial *)self, false) < 0)
        return NULL;
    return pr_py_none();
}

static PyObject *get_steps(PyObject *self, void *ctx)
{
    (void)ctx;
    return PyLong_FromUnsignedLongLong(((struct pr_py_trial *)self)->step);
}

/* ---- the object */

static PyObject *given(PyObject *o)
{
    if (!o || o == Py_None)
        return NULL;
    Py_INCREF(o);
    return o;
}

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
    t->source = given(source);
    t->it = given(it);
    t->sync = given(sync);
    t->settle = given(settle);
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
    if (end_trial(t, false) < 0)
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(type, value, trace);
    Py_CLEAR(t->it);
    Py_CLEAR(t->source);
    Py_CLEAR(t->sync);
    Py_CLEAR(t->settle);
    return 0;
}

static void trial_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    trial_clear(self);
    pr_py_free(self);
}

static PyObject *trial_iter(PyObject *self)
{
    Py_INCREF(self);
    return self;
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
    {"steps", get_steps, NULL, "Batches handed out and timed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)trial_dealloc},
    {Py_tp_traverse, (void *)trial_traverse},
    {Py_tp_clear, (void *)trial_clear},
    {Py_tp_iter, (void *)trial_iter},
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
