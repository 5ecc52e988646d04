/* Loading libhdf5, once a process. */
#include "format/hdf5/hdf5_api.h"

#include "format/hdf5/hdf5_io.h"
#include "prony_config.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at; /* offset of the pointer */
} symbols[] = {
#define TEXT(name) #name
#define FUNC(name) {TEXT(name), offsetof(struct pr_hdf5_api, name)},
#define ID(name) FUNC(name)
#include "format/hdf5/hdf5_api.def"
#undef FUNC
#undef ID
};

/* Filled once, by load(), and never changed again. */
static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    struct pr_hdf5_api api;
    bool is_there;
    char why[200];
} lib = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void *hdf5_open_library(void)
{
    /* The number in the name goes with the layout of H5FD_class_t. */
    void *so = dlopen(PR_SONAME_HDF5, RTLD_NOW | RTLD_LOCAL);

    if (!so)
        snprintf(lib.why, sizeof lib.why, "%s", dlerror());
    return so;
}

static bool find_symbols(void *so)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(so, symbols[i].name);
        if (!p) {
            snprintf(lib.why, sizeof lib.why, "libhdf5 has no %s",
                     symbols[i].name);
            return false;
        }
        memcpy((char *)&lib.api + symbols[i].at, &p, sizeof p);
    }
    return true;
}

static bool start_library(void)
{
    const struct pr_hdf5_api *h5 = &lib.api;
    unsigned major, minor, release;

    /* At exit another thread may still be inside. Before all else; it fails
     * when someone in this process has used libhdf5 already. */
    h5->H5dont_atexit();
    if (h5->H5get_libversion(&major, &minor, &release) < 0)
        return false;
    if (major != H5_VERS_MAJOR || minor != H5_VERS_MINOR ||
        (minor == 10 && release < 5)) {
        snprintf(lib.why, sizeof lib.why,
                 "libhdf5 is %u.%u.%u, this was built for %d.%d%s", major,
                 minor, release, H5_VERS_MAJOR, H5_VERS_MINOR,
                 minor == 10 ? ".5 or later" : "");
        return false;
    }
    if (h5->H5open() < 0)
        return false;
    h5->H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    lib.api.driver = pr_hdf5_register_driver(h5);
    return lib.api.driver >= 0 && pr_hdf5_register_lzf(h5) >= 0;
}

static void hdf5_load_library(void)
{
    void *so;

    snprintf(lib.why, sizeof lib.why, "libhdf5 did not start");
    so = hdf5_open_library();
    lib.is_there = so && find_symbols(so) && start_library();
}

int pr_hdf5_library_load(const struct pr_hdf5_api **ret, struct pr_err *err)
{
    pthread_once(&lib.once, hdf5_load_library);
    if (!lib.is_there) {
        pr_fail(err, PR_E_UNAVAIL, "hdf5", "%s", lib.why);
        return pr_hint(err, "apt-get install libhdf5-dev, then make");
    }
    *ret = &lib.api;
    return PR_OK;
}

int pr_hdf5_library_version(char out[static 32], struct pr_err *err)
{
    const struct pr_hdf5_api *h5;
    unsigned major, minor, release;
    int rc = pr_hdf5_library_load(&h5, err);

    if (rc)
        return rc;
    h5->H5get_libversion(&major, &minor, &release);
    snprintf(out, 32, "%u.%u.%u", major, minor, release);
    return PR_OK;
}

void pr_hdf5_enter(const struct pr_hdf5_api *h5)
{
    pthread_mutex_lock(&lib.lock);
    /* Each thread has a stack of errors, and it prints until told not to. */
    h5->H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void pr_hdf5_leave(const struct pr_hdf5_api *h5)
{
    (void)h5;
    pthread_mutex_unlock(&lib.lock);
}

struct text {
    char *out;
    size_t cap;
};

/* Called for the innermost error first; one is enough. */
static herr_t hdf5_copy_error(unsigned n, const H5E_error2_t *e, void *ctx)
{
    struct text *t = ctx;

    (void)n;
    if (e->desc)
        snprintf(t->out, t->cap, "%s", e->desc);
    return e->desc && *e->desc ? 1 : 0;
}

void pr_hdf5_read_error(const struct pr_hdf5_api *h5, char *out, size_t cap)
{
    struct text t = {out, cap};

    snprintf(out, cap, "libhdf5 does not say why");
    h5->H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, hdf5_copy_error, &t);
    h5->H5Eclear2(H5E_DEFAULT);
}
