/*
 * What profilers of NVIDIA's listen to, without NVIDIA's headers or libraries
 * at build time.
 *
 * NVTX is a protocol: a tool names its library in NVTX_INJECTION64_PATH, and
 * whoever has ranges to tell loads it, shows it a table of functions and calls
 * what the tool puts there. Without such a tool nothing is loaded. Programs of
 * an older CUDA have libnvToolsExt instead, which does the same.
 *
 * cudaProfilerStart is called only if the CUDA runtime is already in this
 * process: a program that has not loaded it has nothing to profile.
 */
#include "ext.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The protocol's numbers. */
enum {
    TABLE_CALLBACKS = 1,
    TABLE_VERSION = 3,
    MODULE_CORE = 1,
    MODULES = 7,
    RANGE_PUSH = 9,
    RANGE_POP = 11,
    FUNCTIONS = 16,
};

typedef void function(void);

static function *core[FUNCTIONS], *others[FUNCTIONS];
static function **core_table[FUNCTIONS + 1], **others_table[FUNCTIONS + 1];
static int (*push)(const char *name);
static int (*pop)(void);

static int module_table(int module, function ****ret_table, unsigned *ret_size)
{
    if (module < MODULE_CORE || module >= MODULES)
        return 0;
    for (size_t i = 1; i < FUNCTIONS; i++) {
        core_table[i] = &core[i];
        others_table[i] = &others[i]; /* never called */
    }
    if (ret_table)
        *ret_table = module == MODULE_CORE ? core_table : others_table;
    if (ret_size)
        *ret_size = FUNCTIONS;
    return 1;
}

static void injected_version(uint32_t version)
{
    (void)version;
}

static const struct {
    size_t size;
    int (*table)(int module, function ****ret_table, unsigned *ret_size);
} callbacks = {sizeof callbacks, module_table};

static const struct {
    size_t size;
    uint32_t version, reserved;
    void (*tell)(uint32_t version);
} version_info = {sizeof version_info, 3, 0, injected_version};

static const void *export_table(uint32_t id)
{
    if (id == TABLE_CALLBACKS)
        return &callbacks;
    return id == TABLE_VERSION ? &version_info : NULL;
}

/* A pointer to data as one to a function, which C has no cast for. */
static void function_at(void *from, void *to)
{
    memcpy(to, &from, sizeof from);
}

static void inject(const char *path)
{
    int (*attach)(const void *(*)(uint32_t)) = NULL;
    void *so = dlopen(path, RTLD_LAZY | RTLD_LOCAL);

    if (so)
        function_at(dlsym(so, "InitializeInjectionNvtx2"), &attach);
    if (!attach || attach(export_table) != 1)
        return;
    memcpy(&push, &core[RANGE_PUSH], sizeof push);
    memcpy(&pop, &core[RANGE_POP], sizeof pop);
}

static void older_library(void)
{
    void *so = dlopen("libnvToolsExt.so.1", RTLD_LAZY | RTLD_LOCAL);

    if (!so)
        return;
    function_at(dlsym(so, "nvtxRangePushA"), &push);
    function_at(dlsym(so, "nvtxRangePop"), &pop);
}

bool pr_py_nvtx(void)
{
    static bool looked;

    if (!looked) {
        const char *path = getenv("NVTX_INJECTION64_PATH");

        looked = true;
        if (path && *path)
            inject(path);
        else
            older_library();
        if (!push || !pop)
            push = NULL;
    }
    return push != NULL;
}

void pr_py_nvtx_push(const char *name)
{
    if (push)
        push(name);
}

void pr_py_nvtx_pop(void)
{
    if (push)
        pop();
}

/* The CUDA runtime of this process; NULL: it has none. */
static void *cuda_runtime(void)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12",
                                        "libcudart.so.11.0", "libcudart.so"};
    void *so = NULL;

    for (size_t i = 0; !so && i < sizeof names / sizeof *names; i++)
        so = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
    return so;
}

PyObject *pr_py_profiler(PyObject *module, PyObject *start)
{
    void *so = cuda_runtime();
    int (*call)(void) = NULL;
    int on = PyObject_IsTrue(start);

    (void)module;
    if (on < 0)
        return NULL;
    if (so)
        function_at(dlsym(so, on ? "cudaProfilerStart" : "cudaProfilerStop"),
                    &call);
    if (call) {
        PyThreadState *state = PyEval_SaveThread();
        call();
        PyEval_RestoreThread(state);
    }
    if (so)
        dlclose(so);
    return PyBool_FromLong(call != NULL);
}
