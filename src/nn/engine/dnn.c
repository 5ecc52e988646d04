/* Loading oneDNN, once a process, and what a struct pr_onednn owns. */
#include "nn/engine/dnn.h"

#include "nn/engine/dnn_impl.h"
#include "prony_config.h"

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at; /* offset of the pointer */
} symbols[] = {
#define FUNC(name) {#name, offsetof(struct pr_onednn_api, name)},
#include "nn/engine/onednn_api.def"
#undef FUNC
};

/* Filled once, by load(), and never changed again. */
static struct {
    pthread_once_t once;
    struct pr_onednn_api api;
    bool is_there;
    char why[200];
} lib = {.once = PTHREAD_ONCE_INIT};

static void load_onednn(void)
{
    void *so = dlopen(PR_SONAME_ONEDNN, RTLD_NOW | RTLD_LOCAL);

    if (!so) {
        snprintf(lib.why, sizeof lib.why, "%s", dlerror());
        return;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(so, symbols[i].name);
        if (!p) {
            snprintf(lib.why, sizeof lib.why, "libdnnl has no %s",
                     symbols[i].name);
            return;
        }
        memcpy((char *)&lib.api + symbols[i].at, &p, sizeof p);
    }
    lib.is_there = true;
}

static int onednn_load(const struct pr_onednn_api **ret, struct pr_err *err)
{
    pthread_once(&lib.once, load_onednn);
    if (!lib.is_there) {
        pr_fail(err, PR_E_UNAVAIL, "oneDNN", "%s", lib.why);
        return pr_hint(err, "apt-get install libdnnl-dev, then make");
    }
    *ret = &lib.api;
    return PR_OK;
}

int pr_onednn_version(char out[static 32], struct pr_err *err)
{
    const struct pr_onednn_api *api;
    const dnnl_version_t *v;
    int rc = onednn_load(&api, err);

    if (rc)
        return rc;
    v = api->dnnl_version();
    snprintf(out, 32, "%d.%d.%d", v->major, v->minor, v->patch);
    return PR_OK;
}

int pr_onednn_new(struct pr_onednn **ret, struct pr_err *err)
{
    const struct pr_onednn_api *api;
    struct pr_arena *arena;
    struct pr_onednn *d;
    int rc = onednn_load(&api, err);

    if (rc)
        return rc;
    arena = pr_arena_new(256 << 10);
    d = arena ? PR_ARENA_NEW(arena, struct pr_onednn) : NULL;
    if (!d) {
        pr_arena_free(arena);
        return pr_fail_nomem(err);
    }
    d->api = api;
    d->arena = arena;
    if (api->dnnl_engine_create(&d->engine, dnnl_cpu, 0) != dnnl_success ||
        api->dnnl_stream_create(&d->stream, d->engine,
                                dnnl_stream_default_flags) != dnnl_success) {
        pr_onednn_free(d);
        return pr_fail(err, PR_E_UNAVAIL, "oneDNN", "it does not start");
    }
    *ret = d;
    return PR_OK;
}

bool pr_onednn_is_out_of_memory(const struct pr_onednn *d)
{
    return d->is_short;
}

static void free_primitive(const struct pr_onednn_api *api,
                           struct pr_primitive *p)
{
    for (int i = 0; i < p->arg_count; i++)
        api->dnnl_memory_destroy(p->args[i].memory);
    if (p->prim)
        api->dnnl_primitive_destroy(p->prim);
    api->dnnl_primitive_desc_destroy(p->desc);
}

void pr_primitive_drop(struct pr_primitive *p)
{
    assert(p->dnn->prims == p);
    p->dnn->prims = p->next;
    free_primitive(p->dnn->api, p);
}

void pr_onednn_free(struct pr_onednn *d)
{
    if (!d)
        return;
    for (struct pr_primitive *p = d->prims; p; p = p->next)
        free_primitive(d->api, p);
#if DNNL_VERSION_MAJOR >= 3
    for (struct pr_layout *l = d->lays; l; l = l->next)
        d->api->dnnl_memory_desc_destroy(l->md);
#endif
    if (d->stream)
        d->api->dnnl_stream_destroy(d->stream);
    if (d->engine)
        d->api->dnnl_engine_destroy(d->engine);
    pr_arena_free(d->arena);
}
