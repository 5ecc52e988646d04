/* One exception class for each code, all below prony.Error. */
#include "ext.h"

#include <stdio.h>

/* X(code, class, a class of Python's that it also is) */
#define CLASSES(X)                                          \
    X(PR_E_USAGE, "UsageError", PyExc_ValueError)           \
    X(PR_E_CONF, "ConfigError", PyExc_ValueError)           \
    X(PR_E_UNAVAIL, "UnavailableError", PyExc_RuntimeError) \
    X(PR_E_IO, "InputOutputError", PyExc_OSError)           \
    X(PR_E_FORMAT, "FormatError", PyExc_ValueError)         \
    X(PR_E_TIMEOUT, "TimeoutError", PyExc_TimeoutError)     \
    X(PR_E_BUG, "InternalError", PyExc_RuntimeError)

static PyObject *base;
static struct {
    int code;
    PyObject *type;
} classes[8];

static int add_class(PyObject *module, size_t i, int code, const char *name,
                     PyObject *also)
{
    char full[64];
    PyObject *bases = PyTuple_Pack(2, base, also);

    snprintf(full, sizeof full, "prony.%s", name);
    classes[i].code = code;
    classes[i].type = bases ? PyErr_NewException(full, bases, NULL) : NULL;
    Py_XDECREF(bases);
    if (!classes[i].type)
        return -1;
    Py_INCREF(classes[i].type);
    return PyModule_AddObject(module, name, classes[i].type);
}

int pr_py_errors_add(PyObject *module)
{
    size_t i = 0;

    base = PyErr_NewExceptionWithDoc(
        "prony.Error",
        "What Prony reports: where it is (a file and line, or \"\"), and a "
        "hint at the remedy (or \"\").",
        NULL, NULL);
    if (!base)
        return -1;
    Py_INCREF(base);
    if (PyModule_AddObject(module, "Error", base) < 0)
        return -1;
#define X(code, name, also)                           \
    if (add_class(module, i++, code, name, also) < 0) \
        return -1;
    CLASSES(X)
#undef X
    return 0;
}

static PyObject *class_of(int code)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].type && classes[i].code == code)
            return classes[i].type;
    return base;
}

static void set_text(PyObject *exception, const char *name, const char *text)
{
    PyObject *s = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text),
                                       "backslashreplace");

    if (!s || PyObject_SetAttrString(exception, name, s) < 0)
        PyErr_Clear();
    Py_XDECREF(s);
}

static PyObject *words(const struct pr_err *err)
{
    char text[1024];
    int n = snprintf(text, sizeof text, "%s%s%s%s%s%s", err->where,
                     *err->where ? ": " : "", err->msg, *err->hint ? " (" : "",
                     err->hint, *err->hint ? ")" : "");

    if (n >= (int)sizeof text)
        n = sizeof text - 1;
    return PyUnicode_DecodeUTF8(text, n, "backslashreplace");
}

void *pr_py_raise(const struct pr_err *err)
{
    PyObject *type = class_of(err->code), *text, *exception;

    if (PyErr_Occurred())
        return NULL;
    if (err->code == PR_E_NOMEM)
        return PyErr_NoMemory();
    if (err->code == PR_E_INTR) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        return NULL;
    }
    text = words(err);
    if (!text)
        return NULL;
    exception = PyObject_CallFunctionObjArgs(type, text, NULL);
    Py_DECREF(text);
    if (!exception)
        return NULL;
    set_text(exception, "where", err->where);
    set_text(exception, "hint", err->hint);
    PyErr_SetObject(type, exception);
    Py_DECREF(exception);
    return NULL;
}
