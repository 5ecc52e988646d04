/* A batch of the native loader as Python sees it. */
#ifndef PRONY_PYTHON_LENT_H
#define PRONY_PYTHON_LENT_H

#include "ext.h"

#include "prony/loader.h"

enum { PR_PY_DIMS = PR_LOADER_DIMS };

/* An array in memory that belongs to a batch, which is given back when the
 * last array of it is gone. */
struct pr_py_array {
    PyObject_HEAD PyObject *lent; /* the batch */
    void *data;
    char letter; /* 'f', 'u', 'i' or 'b' */
    unsigned itemsize, ndim;
    int64_t shape[PR_PY_DIMS];
    int64_t strides[PR_PY_DIMS]; /* bytes */
};

/* ---- lent.c */

int pr_py_array_add(PyObject *module);

/* The batch as (data, labels), labels None where there are none. The batch
 * belongs to the arrays, also when this fails. */
PyObject *pr_py_lent(struct pr_loader_batch *b);

/* ---- dlpack.c */

PyObject *pr_py_dlpack(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *pr_py_dlpack_device(PyObject *self, PyObject *none);

/* ---- loader.c */

int pr_py_loader_add(PyObject *module);

#endif
