/* The module _prony. */
#include "lent.h"

#include "prony/run.h"

static PyMethodDef functions[] = {
    {"read_config", pr_py_read_config, METH_VARARGS,
     "read_config(path=None): benchy's settings, a dict of dicts; without a "
     "path those of the file that BENCHY_CONFIG_FILE names, or the defaults."},
    {"profiler", pr_py_profiler, METH_O,
     "profiler(start): cudaProfilerStart or cudaProfilerStop, if this process "
     "has the CUDA runtime; whether it has."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_prony",
    .m_doc = "The C parts of the package prony.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__prony(void);

PyMODINIT_FUNC PyInit__prony(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (!module)
        return NULL;
    if (pr_py_errors_add(module) < 0 || pr_py_probe_add(module) < 0 ||
        pr_py_trial_add(module) < 0 || pr_py_loop_add(module) < 0 ||
        pr_py_array_add(module) < 0 || pr_py_loader_add(module) < 0 ||
        PyModule_AddStringConstant(module, "__version__", pr_version()) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
