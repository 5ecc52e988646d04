/*
 * DLPack, by which frameworks hand arrays to each other: a struct that says
 * where an array is and how to let go of it, in a capsule.
 */
#include "lent.h"

#include <stdlib.h>

enum { CPU = 1, INT = 0, UINT = 1, FLOAT = 2, BOOL = 6 };

struct dl_device {
    int32_t type, id;
};

struct dl_tensor {
    void *data;
    struct dl_device device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides: elements */
    uint64_t byte_offset;
};

struct dl_managed {
    struct dl_tensor tensor;
    void *owner;
    void (*deleter)(struct dl_managed *self);
};

/* One allocation: the struct that consumers know comes first. */
struct handed {
    struct dl_managed managed;
    int64_t strides[PR_PY_DIMS];
};

/* Called by whoever took it, with or without the GIL, perhaps when Python is
 * gone. */
static void let_go(struct dl_managed *m)
{
    PyGILState_STATE gil;

    if (!Py_IsInitialized())
        return;
    gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)m->owner);
    PyMem_Free(m);
    PyGILState_Release(gil);
}

/* Nobody took it: whoever does gives the capsule another name. */
static void capsule_gone(PyObject *capsule)
{
    struct dl_managed *m;

    if (!PyCapsule_IsValid(capsule, "dltensor"))
        return;
    m = PyCapsule_GetPointer(capsule, "dltensor");
    m->deleter(m);
}

static uint8_t code_of(char letter)
{
    switch (letter) {
    case 'f':
        return FLOAT;
    case 'u':
        return UINT;
    case 'b':
        return BOOL;
    }
    return INT;
}

static void describe(struct handed *h, struct pr_py_array *a)
{
    struct dl_tensor *t = &h->managed.tensor;

    for (unsigned i = 0; i < a->ndim; i++)
        h->strides[i] = a->strides[i] / (int64_t)a->itemsize;
    *t = (struct dl_tensor){
        .data = a->data,
        .device = {CPU, 0},
        .ndim = (int32_t)a->ndim,
        .dtype = {code_of(a->letter), (uint8_t)(8 * a->itemsize), 1},
        .shape = a->shape, /* lives as long as the owner */
        .strides = h->strides,
    };
    h->managed.owner = a;
    h->managed.deleter = let_go;
}

/* There is one way this memory can be handed over: where it is, as it is.
 * Whoever must have a copy, or another device, has to know that it is not. */
static bool refuses(PyObject *keywords)
{
    PyObject *copy = keywords ? PyDict_GetItemString(keywords, "copy") : NULL;
    PyObject *device =
        keywords ? PyDict_GetItemString(keywords, "dl_device") : NULL;
    int type = CPU, id = 0;

    if (copy == Py_True) {
        PyErr_SetString(PyExc_BufferError,
                        "a batch is handed over as it is: copy it afterwards");
        return true;
    }
    if (!device || device == Py_None)
        return false;
    if (!PyTuple_Check(device) || !PyArg_ParseTuple(device, "ii", &type, &id)) {
        PyErr_SetString(PyExc_TypeError, "dl_device is (type, id)");
        return true;
    }
    if (type != CPU)
        PyErr_SetString(PyExc_BufferError,
                        "a batch is in the processor's memory");
    return type != CPU;
}

/* Any version that is asked for may be answered with the oldest. */
PyObject *pr_py_dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct handed *h;
    PyObject *capsule;

    (void)args;
    if (refuses(keywords))
        return NULL;
    h = PyMem_Malloc(sizeof *h);
    if (!h)
        return PyErr_NoMemory();
    describe(h, (struct pr_py_array *)self);
    capsule = PyCapsule_New(&h->managed, "dltensor", capsule_gone);
    if (capsule)
        Py_INCREF(self);
    else
        PyMem_Free(h);
    return capsule;
}

PyObject *pr_py_dlpack_device(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    return Py_BuildValue("(ii)", CPU, 0);
}
