/*
 * The type Loader: threads that read and decode, a batch at a time.
 *
 * Storage may hang when a loader is opened or closed as well. Both are done by
 * a thread of their own, so that whoever waits can be interrupted, and leave.
 */
#include "lent.h"

#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct loader {
    PyObject_HEAD struct pr_loader *loader; /* NULL: closed */
    pid_t pid;
    bool waiting; /* a thread is in next() */
};

static PyObject *loader_type;

/* ---- calls that may hang */

enum { PATIENT = -1, SLICE_MS = 100, CLOSING_MS = 1000 };

struct work {
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool done, left; /* left: nobody waits any more */
    struct pr_loader_opts opts;
    struct pr_loader *loader;
    struct pr_err err;
    int rc;
};

static struct work *new_work(void)
{
    struct work *w = pr_alloc_zeroed(sizeof *w);
    pthread_condattr_t monotonic;

    if (!w) {
        PyErr_NoMemory();
        return NULL;
    }
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return w;
}

static int start_work(struct work *w, void *(*f)(void *))
{
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, f, w);

    if (!failed) {
        pthread_detach(thread);
        return 0;
    }
    pr_free(w);
    errno = failed;
    PyErr_SetFromErrno(PyExc_OSError);
    return -1;
}

/* Of the thread that works. true: w is its own now. */
static bool end_work(struct work *w)
{
    bool left;

    pthread_mutex_lock(&w->lock);
    w->done = true;
    left = w->left;
    pthread_cond_signal(&w->news);
    pthread_mutex_unlock(&w->lock);
    return left;
}

static bool wait_slice(struct work *w, int ms)
{
    struct timespec at;
    bool done;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += ms * 1000000L;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    pthread_mutex_lock(&w->lock);
    while (!w->done &&
           pthread_cond_timedwait(&w->news, &w->lock, &at) != ETIMEDOUT)
        ;
    done = w->done;
    pthread_mutex_unlock(&w->lock);
    return done;
}

/* true: it has ended after all. */
static bool leave_work(struct work *w)
{
    bool done;

    pthread_mutex_lock(&w->lock);
    w->left = !w->done;
    done = w->done;
    pthread_mutex_unlock(&w->lock);
    return done;
}

/* 1: done, w is the caller's; 0: it takes longer; -1: a signal's handler
 * raised. In the last two cases w belongs to the thread. */
static int wait_work(struct work *w, int patience_ms)
{
    bool done, raised = false;

    for (int waited = 0;; waited += SLICE_MS) {
        PyThreadState *state = PyEval_SaveThread();
        done = wait_slice(w, SLICE_MS);
        PyEval_RestoreThread(state);
        if (done)
            return 1;
        raised = patience_ms == PATIENT && PyErr_CheckSignals() < 0;
        if (raised || (patience_ms != PATIENT && waited >= patience_ms))
            break;
    }
    if (leave_work(w)) {
        if (!raised)
            return 1;
        pr_loader_free(w->loader);
        pr_free(w);
    }
    return raised ? -1 : 0;
}

/* ---- making one */

/* Texts of a sequence; they stay valid as long as the sequence. NULL: not
 * texts, with an exception. */
static const char **texts_of(PyObject *list, size_t *ret_count)
{
    Py_ssize_t n = PyTuple_Size(list);
    const char **texts =
        n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof *texts);

    if (!texts)
        return n < 0 ? NULL : (const char **)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *bytes = PyTuple_GetItem(list, i);

        texts[i] = bytes ? PyBytes_AsString(bytes) : NULL;
        if (!texts[i]) {
            PyMem_Free(texts);
            return NULL;
        }
    }
    *ret_count = (size_t)n;
    return texts;
}

static void *do_open(void *ctx)
{
    struct work *w = ctx;
    struct pr_loader *l = NULL;

    w->rc = pr_loader_new(&w->opts, &l, &w->err);
    w->loader = w->rc < 0 ? NULL : l;
    if (end_work(w)) {
        pr_loader_free(l);
        pr_free(w);
    }
    return NULL;
}

/* ret_left: a signal's handler raised, whatever it was, and a thread may still
 * use what it was given. That is not given back. */
static int open_loader(struct loader *l, const struct pr_loader_opts *o,
                       bool *ret_left)
{
    struct work *w = new_work();
    int ended = -1;

    if (!w)
        return -1;
    w->opts = *o;
    if (start_work(w, do_open) < 0)
        return -1;
    ended = wait_work(w, PATIENT);
    *ret_left = ended <= 0;
    if (*ret_left)
        return -1;
    l->loader = w->loader;
    if (w->rc < 0)
        pr_py_raise(&w->err);
    ended = w->rc;
    pr_free(w);
    return ended < 0 ? -1 : 0;
}

static int take_shape(PyObject *shape, struct pr_loader_opts *o)
{
    Py_ssize_t n = PyTuple_Size(shape);

    if (n < 0)
        return -1;
    if (n != 0 && n != 1 && n != 3) {
        PyErr_SetString(
            PyExc_ValueError,
            "shape must be (channels, rows, columns) or (numbers,)");
        return -1;
    }
    o->dims = (unsigned)n;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *x = PyTuple_GetItem(shape, i);

        o->shape[i] = x ? PyLong_AsUnsignedLongLong(x) : 0;
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

static PyObject *loader_new(PyTypeObject *type, PyObject *args,
                            PyObject *keywords)
{
    static char *names[] = {"path",   "split",   "format",   "batch_size",
                            "shape",  "augment", "shuffle",  "seed",
                            "epochs", "threads", "prefetch", "drop_last",
                            "params", NULL};
    struct pr_loader_opts o = PR_LOADER_OPTS_INIT;
    unsigned long long size = 1, seed = 1, epochs = 0;
    PyObject *path = NULL, *shape, *params;
    int augment = 0, shuffle = 0, drop_last = 0;
    const char **texts;
    bool left = false;
    struct loader *l;

    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O&zzKO!ppKKIIpO!:Loader", names,
            PyUnicode_FSConverter, &path, &o.split, &o.format, &size,
            &PyTuple_Type, &shape, &augment, &shuffle, &seed, &epochs,
            &o.threads, &o.prefetch, &drop_last, &PyTuple_Type, &params))
        return NULL;
    o.path = PyBytes_AsString(path);
    o.batch_size = size;
    o.augment = augment;
    o.shuffle = shuffle;
    o.seed = seed;
    o.epochs = epochs;
    o.drop_last = drop_last;
    l = (struct loader *)pr_py_alloc((PyObject *)type);
    if (l)
        l->pid = getpid();
    texts = l ? texts_of(params, &o.param_count) : NULL;
    o.params = texts;
    if (l &&
        (!texts || take_shape(shape, &o) < 0 || open_loader(l, &o, &left) < 0))
        Py_CLEAR(l);
    if (!left) {
        PyMem_Free(texts);
        Py_DECREF(path);
    } else {
        Py_INCREF(args);
        Py_XINCREF(keywords);
    }
    return (PyObject *)l;
}

/* ---- and ending it */

static void *do_close(void *ctx)
{
    struct work *w = ctx;

    pr_loader_free(w->loader);
    w->loader = NULL;
    if (end_work(w))
        pr_free(w);
    return NULL;
}

/* The threads of a forked child's loader are the parent's. Threads that hang
 * are waited for a moment, and end by themselves when their storage answers. */
static void close_loader(struct loader *l)
{
    struct pr_loader *old = l->loader;
    PyObject *type, *value, *trace;
    struct work *w;

    l->loader = NULL;
    if (!old || l->pid != getpid())
        return;
    PyErr_Fetch(&type, &value, &trace);
    w = new_work();
    if (w) {
        w->loader = old;
        if (start_work(w, do_close) == 0 && wait_work(w, CLOSING_MS) > 0)
            pr_free(w);
    }
    PyErr_Restore(type, value, trace);
}

static void loader_dealloc(PyObject *self)
{
    close_loader((struct loader *)self);
    pr_py_free(self);
}

static PyObject *loader_close(PyObject *self, PyObject *none)
{
    struct loader *l = (struct loader *)self;

    (void)none;
    if (l->waiting) {
        PyErr_SetString(PyExc_RuntimeError, "another thread waits for a batch");
        return NULL;
    }
    close_loader(l);
    return pr_py_none();
}

/* ---- batches */

static bool usable(struct loader *l)
{
    const char *why = NULL;

    if (!l->loader)
        why = "the loader is closed";
    else if (l->pid != getpid())
        why = "a loader does not survive a fork: make one in the child";
    else if (l->waiting)
        why = "another thread waits for a batch";
    if (why)
        PyErr_SetString(PyExc_RuntimeError, why);
    return !why;
}

/* Waits in short pieces, so that Ctrl-C is noticed. */
static int wait_next(struct loader *l, struct pr_loader_batch **ret,
                     struct pr_err *err)
{
    int r;

    l->waiting = true;
    do {
        PyThreadState *state = PyEval_SaveThread();
        r = pr_loader_next(l->loader, .1, ret, err);
        PyEval_RestoreThread(state);
    } while (r == PR_E_TIMEOUT && PyErr_CheckSignals() == 0);
    l->waiting = false;
    return r;
}

static PyObject *loader_next(PyObject *self, PyObject *none)
{
    struct loader *l = (struct loader *)self;
    struct pr_loader_batch *batch = NULL;
    struct pr_err err = {0};
    int r;

    (void)none;
    if (!usable(l))
        return NULL;
    r = wait_next(l, &batch, &err);
    if (r < 0)
        return pr_py_raise(&err); /* or what a signal raised */
    if (r == 0)
        return pr_py_none();
    return pr_py_lent(batch);
}

static PyObject *loader_facts(PyObject *self, PyObject *none)
{
    struct loader *l = (struct loader *)self;
    struct pr_loader_facts f = {.size = sizeof f};

    (void)none;
    if (!usable(l))
        return NULL;
    pr_loader_facts(l->loader, &f);
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:I,s:s,s:K,s:K,s:K,s:K}", "samples",
        (unsigned long long)f.samples, "batches", (unsigned long long)f.batches,
        "files", (unsigned long long)f.files, "classes",
        (unsigned long long)f.classes, "threads", f.threads, "format", f.format,
        "read_samples", (unsigned long long)f.read_samples, "read_bytes",
        (unsigned long long)f.read_bytes, "failed",
        (unsigned long long)f.failed, "buffer_bytes",
        (unsigned long long)f.buffer_bytes);
}

static PyObject *loader_classes(PyObject *self, PyObject *none)
{
    struct loader *l = (struct loader *)self;
    PyObject *list = PyList_New(0), *name;
    const char *text;

    (void)none;
    if (list && !usable(l))
        Py_CLEAR(list);
    for (uint64_t i = 0; list && (text = pr_loader_class(l->loader, i)); i++) {
        name = PyUnicode_DecodeFSDefault(text);
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyMethodDef methods[] = {
    {"next", loader_next, METH_NOARGS,
     "The next batch, (data, labels or None); None: the epoch has ended."},
    {"facts", loader_facts, METH_NOARGS, "What is known of the data."},
    {"classes", loader_classes, METH_NOARGS, "Names of the classes."},
    {"close", loader_close, METH_NOARGS, "Ends the threads."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)loader_new},
    {Py_tp_dealloc, (void *)loader_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, (void *)"The native loader; see prony.Loader."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "_prony.Loader",
    .basicsize = sizeof(struct loader),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int pr_py_loader_add(PyObject *module)
{
    loader_type = pr_py_type_add(module, &spec, "Loader");
    return loader_type ? 0 : -1;
}
