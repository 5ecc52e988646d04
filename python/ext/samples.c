/*
 * How many samples a batch has. Batches are whatever a user's loader gives:
 * arrays, tensors, tuples, lists and dicts of them, nested. With a known batch
 * size the first batch tells which rule holds for this loader; a last, shorter
 * batch is then counted as what it is.
 */
#include "ext.h"

enum { DEEPEST = 8 };

static uint64_t positive(Py_ssize_t n)
{
    if (n < 0)
        PyErr_Clear();
    return n > 0 ? (uint64_t)n : 0;
}

/* shape[0] of what has a shape; a scalar has none. */
static uint64_t first_dim(PyObject *o)
{
    static PyObject *name;
    PyObject *shape, *item;
    uint64_t n = 0;

    if (!name)
        name = PyUnicode_InternFromString("shape");
    shape = name ? PyObject_GetAttr(o, name) : NULL;
    item = shape ? PySequence_GetItem(shape, 0) : NULL;
    if (item && PyLong_Check(item))
        n = positive(PyLong_AsSsize_t(item));
    Py_XDECREF(item);
    Py_XDECREF(shape);
    PyErr_Clear();
    return n;
}

static bool is_list(PyObject *o)
{
    return PyTuple_Check(o) || PyList_Check(o);
}

/* Member i of a tuple, list or dict; borrowed; NULL: there is none. */
static PyObject *member(PyObject *o, Py_ssize_t i, Py_ssize_t *pos)
{
    PyObject *value = NULL;

    if (PyTuple_Check(o))
        return i < PyTuple_Size(o) ? PyTuple_GetItem(o, i) : NULL;
    if (PyList_Check(o))
        return i < PyList_Size(o) ? PyList_GetItem(o, i) : NULL;
    if (PyDict_Check(o))
        PyDict_Next(o, pos, NULL, &value);
    return value;
}

static uint64_t first_array(PyObject *o, int depth)
{
    PyObject *m;
    Py_ssize_t pos = 0;
    uint64_t n = 0;

    if (!is_list(o) && !PyDict_Check(o))
        return first_dim(o);
    for (Py_ssize_t i = 0; depth < DEEPEST && !n; i++) {
        m = member(o, i, &pos);
        if (!m)
            break;
        Py_INCREF(m); /* its `shape` may be a user's code */
        n = first_array(m, depth + 1);
        Py_DECREF(m);
    }
    return n;
}

static uint64_t length(PyObject *o)
{
    if (PyUnicode_Check(o) || PyBytes_Check(o))
        return 0;
    return positive(PyObject_Size(o));
}

uint64_t pr_py_samples(PyObject *batch, enum pr_py_rule rule)
{
    Py_ssize_t pos = 0;
    PyObject *first;

    switch (rule) {
    case PR_PY_FIRST_DIM:
        return first_array(batch, 0);
    case PR_PY_LEN_FIRST:
        first = member(batch, 0, &pos);
        return first ? length(first) : 0;
    case PR_PY_LEN:
        return length(batch);
    case PR_PY_GIVEN:
        break;
    }
    return 0;
}

enum pr_py_rule pr_py_samples_rule(PyObject *batch, uint64_t want)
{
    static const enum pr_py_rule in_order[] = {PR_PY_FIRST_DIM, PR_PY_LEN_FIRST,
                                               PR_PY_LEN};
    Py_ssize_t pos = 0;
    PyObject *first = is_list(batch) ? member(batch, 0, &pos) : NULL;

    for (size_t i = 0; i < 3; i++)
        if (want && pr_py_samples(batch, in_order[i]) == want)
            return in_order[i];
    if (want)
        return PR_PY_GIVEN;
    /* Pictures of several sizes stay a list of arrays within a batch. */
    if (first && is_list(first) && length(first))
        return PR_PY_LEN_FIRST;
    for (size_t i = 0; i < 3; i++)
        if (pr_py_samples(batch, in_order[i]))
            return in_order[i];
    return PR_PY_GIVEN;
}
