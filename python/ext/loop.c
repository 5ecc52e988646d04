/*
 * Turns, and the type Loop.
 *
 * A loop is iterators one after another, as itertools.chain has them. Several
 * threads may share it: one at a time gets a batch, and whatever it uses
 * meanwhile is held (chain lets another thread take the iterator away from
 * under it).
 */
#include "ext.h"

#include <pthread.h>

enum { PATIENCE_US = 100000 }; /* between two looks at signals */

/* ---- turns */

static unsigned forks; /* this process is the child of so many */

static void forked(void)
{
    forks++;
}

int pr_py_turn_init(struct pr_py_turn *t)
{
    t->owner = 0;
    t->forks = forks;
    t->lock = PyThread_allocate_lock();
    if (!t->lock)
        PyErr_NoMemory();
    return t->lock ? 0 : -1;
}

void pr_py_turn_done(struct pr_py_turn *t)
{
    if (t->lock)
        PyThread_free_lock(t->lock);
}

/* Others may run while this thread waits, and Ctrl-C ends it. */
static int wait_for(struct pr_py_turn *t)
{
    PyLockStatus got = PY_LOCK_FAILURE;

    while (got != PY_LOCK_ACQUIRED) {
        if (PyErr_CheckSignals() < 0)
            return -1;
        PyThreadState *state = PyEval_SaveThread();
        got = PyThread_acquire_lock_timed(t->lock, PATIENCE_US, 0);
        PyEval_RestoreThread(state);
    }
    return 0;
}

/* In a forked process: it may be that of a thread that is not there. */
static int renew(struct pr_py_turn *t, unsigned long me)
{
    if (t->owner && t->owner != me)
        return pr_py_turn_init(t);
    t->forks = forks;
    return 0;
}

int pr_py_turn_take(struct pr_py_turn *t)
{
    unsigned long me = PyThread_get_thread_ident();

    if (t->forks != forks && renew(t, me) < 0)
        return -1;
    if (!PyThread_acquire_lock(t->lock, NOWAIT_LOCK)) {
        if (t->owner == me)
            return 0;
        if (wait_for(t) < 0)
            return -1;
    }
    t->owner = me;
    return 1;
}

void pr_py_turn_give(struct pr_py_turn *t)
{
    t->owner = 0;
    PyThread_release_lock(t->lock);
}

int pr_py_turn_only(struct pr_py_turn *t)
{
    int taken = pr_py_turn_take(t);

    if (!taken)
        PyErr_SetString(PyExc_ValueError,
                        "a loop over batches was asked for one by what it "
                        "gets them from");
    return taken > 0 ? 0 : -1;
}

/* ---- the object */

struct loop {
    PyObject_HEAD PyObject *all; /* gives iterators; NULL: no more */
    PyObject *at;                /* the one in use; or NULL */
    struct pr_py_turn turn;
};

static PyObject *loop_type;

static PyObject *loop_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"iterators", NULL};
    PyObject *all;
    struct loop *l;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Loop", names, &all))
        return NULL;
    l = (struct loop *)pr_py_alloc((PyObject *)type);
    if (!l)
        return NULL;
    l->all = PyObject_GetIter(all);
    if (!l->all || pr_py_turn_init(&l->turn) < 0)
        Py_CLEAR(l);
    return (PyObject *)l;
}

/* The next iterator. false: there is none, or an exception. */
static bool go_on(struct loop *l)
{
    PyObject *next = l->all ? PyIter_Next(l->all) : NULL;

    if (!next)
        Py_CLEAR(l->all);
    else
        l->at = PyObject_GetIter(next);
    Py_XDECREF(next);
    return l->at != NULL;
}

static PyObject *batch_of(struct loop *l)
{
    PyObject *batch;

    while (l->at || go_on(l)) {
        batch = PyIter_Next(l->at);
        if (batch || PyErr_Occurred())
            return batch;
        Py_CLEAR(l->at);
    }
    return NULL;
}

static PyObject *loop_next(PyObject *self)
{
    struct loop *l = (struct loop *)self;
    PyObject *batch;

    if (pr_py_turn_only(&l->turn) < 0)
        return NULL;
    Py_INCREF(self);
    batch = batch_of(l);
    pr_py_turn_give(&l->turn);
    Py_DECREF(self);
    return batch;
}

static int loop_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct loop *l = (struct loop *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(l->all);
    Py_VISIT(l->at);
    return 0;
}

/* The iterator goes first: what made it sees the end of it. */
static int loop_clear(PyObject *self)
{
    struct loop *l = (struct loop *)self;

    Py_CLEAR(l->at);
    Py_CLEAR(l->all);
    return 0;
}

static void loop_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    loop_clear(self);
    pr_py_turn_done(&((struct loop *)self)->turn);
    pr_py_free(self);
}

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)loop_new},
    {Py_tp_dealloc, (void *)loop_dealloc},
    {Py_tp_traverse, (void *)loop_traverse},
    {Py_tp_clear, (void *)loop_clear},
    {Py_tp_iter, (void *)pr_py_itself},
    {Py_tp_iternext, (void *)loop_next},
    {Py_tp_doc, (void *)"Loop(iterators): what each of them gives, in turn; "
                        "threads may share it."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "_prony.Loop",
    .basicsize = sizeof(struct loop),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

int pr_py_loop_add(PyObject *module)
{
    (void)!pthread_atfork(NULL, NULL, forked);
    loop_type = pr_py_type_add(module, &spec, "Loop");
    return loop_type ? 0 : -1;
}
