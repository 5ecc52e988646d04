/* benchy's settings as Python sees them: a dict of dicts, as in its file. */
#include "ext.h"

#include <stdio.h>
#include <string.h>

static const char *const sections[PR_PROBE_PHASES] = {"IO", "synthetic",
                                                      "full"};

/* Warnings of the reader become Python's. */
static void warn(void *ctx, const char *where, const char *text,
                 const char *remedy)
{
    (void)ctx;
    if (!PyErr_Occurred())
        PyErr_WarnFormat(PyExc_UserWarning, 2, "%s: %s%s%s", where, text,
                         *remedy ? "; " : "", remedy);
}

static PyObject *phase_dict(const struct pr_probe_phase_config *c)
{
    return Py_BuildValue("{s:O,s:K,s:K,s:K}", "run_benchmark",
                         c->run ? Py_True : Py_False, "nbatches",
                         (unsigned long long)c->batches, "ntrials",
                         (unsigned long long)c->trials, "nwarmup",
                         (unsigned long long)c->warmup);
}

static PyObject *global_dict(const struct pr_probe_config *c)
{
    return Py_BuildValue("{s:K,s:O,s:s,s:O,s:N,s:N}", "report_freq",
                         (unsigned long long)c->report_freq, "exit_after_tests",
                         c->exit_after_tests ? Py_True : Py_False,
                         "profiler_mode", c->profiler_mode,
                         "use_distributed_barrier",
                         c->use_distributed_barrier ? Py_True : Py_False,
                         "output", PyUnicode_DecodeFSDefault(c->output), "file",
                         PyUnicode_DecodeFSDefault(c->file));
}

PyObject *pr_py_read_config(PyObject *module, PyObject *args)
{
    struct pr_probe_config c = {.size = sizeof c};
    struct pr_err err = {0};
    PyObject *path = NULL;
    int r;

    (void)module;
    if (!PyArg_ParseTuple(args, "|O&:read_config", PyUnicode_FSConverter,
                          &path))
        return NULL;
    r = pr_probe_config_read(path ? PyBytes_AsString(path) : NULL, &c, warn,
                             NULL, &err);
    Py_XDECREF(path);
    if (r < 0)
        return pr_py_raise(&err);
    if (PyErr_Occurred())
        return NULL;
    return Py_BuildValue("{s:N,s:N,s:N,s:N}", "global", global_dict(&c),
                         sections[0], phase_dict(&c.phase[0]), sections[1],
                         phase_dict(&c.phase[1]), sections[2],
                         phase_dict(&c.phase[2]));
}

/* ---- and back */

/* Borrowed; a value that is not there is an exception. */
static PyObject *item(PyObject *dict, const char *section, const char *key)
{
    PyObject *value = PyDict_GetItemString(dict, key);

    if (!value)
        PyErr_Format(PyExc_KeyError, "%s.%s", section, key);
    return value;
}

static int number(PyObject *dict, const char *section, const char *key,
                  uint64_t least, uint64_t *ret)
{
    PyObject *value = item(dict, section, key);
    long long n = value ? PyLong_AsLongLong(value) : -1;

    if (PyErr_Occurred())
        return -1;
    if (n < (long long)least) {
        PyErr_Format(PyExc_ValueError, "%s.%s must be at least %d, not %lld",
                     section, key, (int)least, n);
        return -1;
    }
    *ret = (uint64_t)n;
    return 0;
}

static int truth(PyObject *dict, const char *section, const char *key,
                 bool *ret)
{
    PyObject *value = item(dict, section, key);
    int yes = value ? PyObject_IsTrue(value) : -1;

    *ret = yes > 0;
    return yes < 0 ? -1 : 0;
}

static int text(PyObject *dict, const char *key, char *out, size_t room)
{
    PyObject *value = item(dict, "global", key), *bytes = NULL;

    if (!value || !PyUnicode_FSConverter(value, &bytes))
        return -1;
    if (strlen(PyBytes_AsString(bytes)) >= room) {
        PyErr_Format(PyExc_ValueError, "global.%s is too long", key);
        Py_DECREF(bytes);
        return -1;
    }
    snprintf(out, room, "%s", PyBytes_AsString(bytes));
    Py_DECREF(bytes);
    return 0;
}

static PyObject *section_of(PyObject *dict, const char *name)
{
    PyObject *section = PyDict_GetItemString(dict, name);

    if (section && PyDict_Check(section))
        return section;
    PyErr_Format(PyExc_KeyError, "%s", name);
    return NULL;
}

static int phase_of(PyObject *dict, const char *name,
                    struct pr_probe_phase_config *ret)
{
    PyObject *s = section_of(dict, name);

    if (!s || truth(s, name, "run_benchmark", &ret->run) < 0 ||
        number(s, name, "nbatches", 1, &ret->batches) < 0 ||
        number(s, name, "ntrials", 0, &ret->trials) < 0 ||
        number(s, name, "nwarmup", 0, &ret->warmup) < 0)
        return -1;
    return 0;
}

int pr_py_config_of(PyObject *dict, struct pr_probe_config *ret)
{
    static const char name[] = "global";
    PyObject *s = section_of(dict, name);

    ret->size = sizeof *ret;
    pr_probe_config_init(ret);
    if (!s || number(s, name, "report_freq", 0, &ret->report_freq) < 0 ||
        truth(s, name, "exit_after_tests", &ret->exit_after_tests) < 0 ||
        truth(s, name, "use_distributed_barrier",
              &ret->use_distributed_barrier) < 0 ||
        text(s, "profiler_mode", ret->profiler_mode,
             sizeof ret->profiler_mode) < 0 ||
        text(s, "file", ret->file, sizeof ret->file) < 0 ||
        text(s, "output", ret->output, sizeof ret->output) < 0)
        return -1;
    for (size_t i = 0; i < PR_PROBE_PHASES; i++)
        if (phase_of(dict, sections[i], &ret->phase[i]) < 0)
            return -1;
    return 0;
}
