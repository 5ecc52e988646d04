/*
 * The types Lent and Array. numpy takes an Array as it is (it has
 * __array_interface__) and keeps it as long as the memory is looked at;
 * frameworks take it by __dlpack__. Nothing is copied.
 */
#include "lent.h"

#include <stdio.h>
#include <unistd.h>

struct lent {
    PyObject_HEAD struct pr_loader_batch *batch;
    pid_t pid;
};

static PyObject *lent_type, *array_type;

/* ---- the batch */

/* In a forked child the loader's threads are not there, and its locks may be
 * held for ever. */
static void lent_dealloc(PyObject *self)
{
    struct lent *l = (struct lent *)self;

    if (l->pid == getpid())
        pr_loader_release(l->batch);
    pr_py_free(self);
}

static PyType_Slot lent_slots[] = {
    {Py_tp_dealloc, (void *)lent_dealloc},
    {Py_tp_doc, (void *)"A batch; it is given back when this goes."},
    {0, NULL},
};

static PyType_Spec lent_spec = {
    .name = "_prony.Lent",
    .basicsize = sizeof(struct lent),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = lent_slots,
};

/* ---- arrays */

static void array_dealloc(PyObject *self)
{
    Py_XDECREF(((struct pr_py_array *)self)->lent);
    pr_py_free(self);
}

static PyObject *tuple_of(const int64_t *x, unsigned n)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)n);

    for (unsigned i = 0; tuple && i < n; i++) {
        PyObject *number = PyLong_FromLongLong(x[i]);

        if (!number || PyTuple_SetItem(tuple, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_interface(PyObject *self, void *ctx)
{
    const struct pr_py_array *a = (const struct pr_py_array *)self;
    char type[16];

    (void)ctx;
    snprintf(type, sizeof type, "%c%c%u", a->itemsize == 1 ? '|' : '<',
             a->letter, a->itemsize);
    return Py_BuildValue("{s:i,s:s,s:(NO),s:N,s:N}", "version", 3, "typestr",
                         type, "data", PyLong_FromVoidPtr(a->data), Py_False,
                         "shape", tuple_of(a->shape, a->ndim), "strides",
                         tuple_of(a->strides, a->ndim));
}

static PyObject *get_shape(PyObject *self, void *ctx)
{
    const struct pr_py_array *a = (const struct pr_py_array *)self;

    (void)ctx;
    return tuple_of(a->shape, a->ndim);
}

static Py_ssize_t array_length(PyObject *self)
{
    return (Py_ssize_t)((struct pr_py_array *)self)->shape[0];
}

static PyMethodDef array_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))pr_py_dlpack,
     METH_VARARGS | METH_KEYWORDS, "For from_dlpack() of any framework."},
    {"__dlpack_device__", pr_py_dlpack_device, METH_NOARGS,
     "The processor's memory."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef array_getters[] = {
    {"__array_interface__", get_interface, NULL, "For numpy.asarray().", NULL},
    {"shape", get_shape, NULL, "The first dimension counts samples.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot array_slots[] = {
    {Py_tp_dealloc, (void *)array_dealloc},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, array_getters},
    {Py_sq_length, (void *)array_length},
    {Py_tp_doc, (void *)"An array of a batch of the native loader."},
    {0, NULL},
};

static PyType_Spec array_spec = {
    .name = "_prony.Array",
    .basicsize = sizeof(struct pr_py_array),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = array_slots,
};

static struct pr_py_array *new_array(PyObject *lent, void *data)
{
    struct pr_py_array *a = (struct pr_py_array *)pr_py_alloc(array_type);

    if (!a)
        return NULL;
    Py_INCREF(lent);
    a->lent = lent;
    a->data = data;
    return a;
}

static PyObject *data_of(PyObject *lent, const struct pr_loader_batch *b)
{
    struct pr_py_array *a = new_array(lent, b->data);

    if (!a)
        return NULL;
    a->letter = b->letter;
    a->itemsize = (unsigned)b->itemsize;
    a->ndim = b->ndim;
    for (unsigned i = 0; i < b->ndim; i++) {
        a->shape[i] = (int64_t)b->shape[i];
        a->strides[i] = b->strides[i];
    }
    return (PyObject *)a;
}

static PyObject *labels_of(PyObject *lent, const struct pr_loader_batch *b)
{
    struct pr_py_array *a;

    if (!b->labels) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    a = new_array(lent, b->labels);
    if (!a)
        return NULL;
    a->letter = 'i';
    a->itemsize = sizeof *b->labels;
    a->ndim = 1;
    a->shape[0] = (int64_t)b->shape[0];
    a->strides[0] = sizeof *b->labels;
    return (PyObject *)a;
}

PyObject *pr_py_lent(struct pr_loader_batch *b)
{
    struct lent *l = (struct lent *)pr_py_alloc(lent_type);
    PyObject *data, *labels, *both = NULL;

    if (!l) {
        pr_loader_release(b);
        return NULL;
    }
    l->batch = b;
    l->pid = getpid();
    data = data_of((PyObject *)l, b);
    labels = labels_of((PyObject *)l, b);
    if (data && labels)
        both = PyTuple_Pack(2, data, labels);
    Py_XDECREF(data);
    Py_XDECREF(labels);
    Py_DECREF(l);
    return both;
}

int pr_py_array_add(PyObject *module)
{
    lent_type = pr_py_type_add(module, &lent_spec, "Lent");
    array_type = pr_py_type_add(module, &array_spec, "Array");
    return lent_type && array_type ? 0 : -1;
}
