/* Types of the limited API: made from specs, allocated by their slots. */
#include "ext.h"

PyObject *pr_py_type_add(PyObject *module, PyType_Spec *spec, const char *name)
{
    PyObject *type = PyType_FromSpec(spec);

    if (!type)
        return NULL;
    Py_INCREF(type);
    if (PyModule_AddObject(module, name, type) < 0) {
        Py_DECREF(type);
        Py_DECREF(type);
        return NULL;
    }
    return type; /* one reference is ours */
}

PyObject *pr_py_alloc(PyObject *type)
{
    return PyType_GenericAlloc((PyTypeObject *)type, 0);
}

/* Instances of such types own a reference to the type. */
void pr_py_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc f = (freefunc)PyType_GetSlot(type, Py_tp_free);

    f(self);
    Py_DECREF(type);
}

PyObject *pr_py_none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

PyObject *pr_py_given(PyObject *o)
{
    if (!o || o == Py_None)
        return NULL;
    Py_INCREF(o);
    return o;
}

PyObject *pr_py_itself(PyObject *self)
{
    Py_INCREF(self);
    return self;
}
