/*
 * Opening a storage, that is choosing its engine and stacking the wrappers
 * around it, and what belongs to it as a whole: notes, buffers.
 */
#include "storage/storage.h"

#include "base/mem.h"
#include "storage/storage_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define ENGINE(n) extern const struct pr_engine pr_engine_##n;
#include "storage/engine_list.def"
#undef ENGINE

static const struct pr_engine *const engines[] = {
#define ENGINE(n) &pr_engine_##n,
#include "storage/engine_list.def"
#undef ENGINE
};

#define HUGE_PAGE ((size_t)2 << 20)

struct pr_buffer {
    struct pr_buffer *next;
    void *data;
};

/* ---- opening */

static const struct pr_engine *find_engine(const char *name)
{
    if (!name || !*name)
        return engines[0];
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}

int pr_storage_read_opts(const struct pr_value *params, struct pr_arena *a,
                         struct pr_storage_opts *ret, struct pr_err *err)
{
    int rc = pr_opt_fill(&pr_storage_section, params, a, ret, err);

    if (rc || strcmp(ret->storage_type, "direct_fs") != 0)
        return rc;
    if (strcmp(ret->engine, "pread") == 0)
        ret->engine = "direct";
    if (strcmp(ret->engine, "direct") == 0)
        return PR_OK;
    pr_fail(err, PR_E_CONF, "storage.storage_type",
            "direct_fs reads by storage.engine=direct, but '%s' is asked for",
            ret->engine);
    return pr_hint(err, "leave out one of the two");
}

int pr_storage_check(const struct pr_storage_opts *opts, struct pr_err *err)
{
    const char *type = opts->storage_type;

    if (!type || !*type || strcmp(type, "local_fs") == 0 ||
        strcmp(type, "parallel_fs") == 0 || strcmp(type, "direct_fs") == 0)
        return PR_OK;
    if (strcmp(type, "s3") != 0 && strcmp(type, "aistore") != 0)
        return pr_fail(err, PR_E_CONF, "storage.storage_type",
                       "there is no kind of storage '%s'", type);
    pr_fail(err, PR_E_UNAVAIL, "storage.storage_type",
            "'%s': object storage is for a later version", type);
    return pr_hint(err, "use local_fs or parallel_fs, which are folders");
}

/* A started engine around inner (NULL: none). */
static int storage_start(const struct pr_engine *engine,
                         const struct pr_storage_opts *opts,
                         struct pr_storage *inner,
                         const struct pr_storage *beside,
                         struct pr_storage **ret, struct pr_err *err)
{
    struct pr_storage *st = pr_alloc_zeroed(sizeof *st);
    int rc;

    if (!st)
        return pr_fail_nomem(err);
    st->engine = engine;
    st->opts = opts;
    st->inner = inner;
    st->beside = beside;
    st->root = st->locked = -1;
    rc = engine->start(st, err);
    st->beside = NULL;
    if (rc)
        pr_free(st);
    else
        *ret = st;
    return rc;
}

static const struct pr_storage *storage_innermost(const struct pr_storage *st)
{
    while (st->inner)
        st = st->inner;
    return st;
}

static int start_engine(const struct pr_storage_opts *opts,
                        const struct pr_storage *beside,
                        struct pr_storage **ret, struct pr_err *err)
{
    const struct pr_engine *engine = find_engine(opts->engine);
    struct pr_err why = {0};
    int rc;

    if (!engine)
        return pr_fail(err, PR_E_CONF, "storage.engine",
                       "there is no storage engine '%s'", opts->engine);
    if (beside)
        engine = beside->engine;
    rc = storage_start(engine, opts, NULL, beside, ret, &why);
    if (rc == PR_E_UNAVAIL) {
        rc = storage_start(engines[0], opts, NULL, NULL, ret, err);
        if (!rc)
            pr_storage_set_warning(*ret, "%s", why.msg);
        return rc;
    }
    if (!rc && beside)
        pr_storage_set_warning(*ret, "%s", beside->note);
    if (rc && err)
        *err = why;
    return rc;
}

/* The same wrapper of a storage beside; NULL: there is none. */
static const struct pr_storage *layer_of(const struct pr_storage *st,
                                         const struct pr_engine *wrapper)
{
    while (st && st->engine != wrapper)
        st = st->inner;
    return st;
}

/* What is nearest to the engine sees what the engine is asked for; what is
 * outermost sees what the caller waits for, made-up errors included. */
static int storage_add_wrappers(struct pr_storage **st,
                                const struct pr_storage *beside,
                                struct pr_err *err)
{
    const struct pr_storage_opts *o = (*st)->opts;
    const struct {
        bool on;
        const struct pr_engine *wrapper;
    } layers[] = {
        {o->fault && *o->fault, &pr_wrapper_fault},
        {o->throttle || o->latency > 0, &pr_wrapper_throttle},
        {o->trace && *o->trace, &pr_wrapper_trace},
    };

    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const struct pr_engine *wrapper = layers[i].wrapper;
        int rc = layers[i].on
                     ? storage_start(wrapper, o, *st, layer_of(beside, wrapper),
                                     st, err)
                     : PR_OK;
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int open_stack(const struct pr_storage_opts *opts,
                      const struct pr_storage *beside, struct pr_storage **ret,
                      struct pr_err *err)
{
    struct pr_storage *st = NULL;
    int rc = pr_storage_check(opts, err);

    if (!rc)
        rc = start_engine(opts, beside ? storage_innermost(beside) : NULL, &st,
                          err);
    if (!rc)
        rc = storage_add_wrappers(&st, beside, err);
    if (rc)
        pr_storage_close(st);
    else
        *ret = st;
    return rc;
}

int pr_storage_open(const struct pr_storage_opts *opts, struct pr_storage **ret,
                    struct pr_err *err)
{
    return open_stack(opts, NULL, ret, err);
}

int pr_storage_open_beside(const struct pr_storage *first,
                           struct pr_storage **ret, struct pr_err *err)
{
    return open_stack(first->opts, first, ret, err);
}

void pr_storage_close(struct pr_storage *st)
{
    while (st) {
        struct pr_storage *inner = st->inner;

        st->engine->stop(st);
        while (st->buffers) {
            struct pr_buffer *b = st->buffers;

            st->buffers = b->next;
            pr_free(b->data);
            pr_free(b);
        }
        pr_free(st);
        st = inner;
    }
}

const char *pr_storage_engine(const struct pr_storage *st)
{
    return storage_innermost(st)->engine->name;
}

unsigned pr_storage_depth(const struct pr_storage *st)
{
    const struct pr_storage *in = storage_innermost(st);

    return in->engine->is_queued && in->opts->queue_depth > 1
               ? (unsigned)in->opts->queue_depth
               : 1;
}

void pr_storage_stop_by(struct pr_storage *st, const bool *stop)
{
    for (; st; st = st->inner)
        st->stop = stop;
}

void pr_storage_time_by(struct pr_storage *st, struct pr_clock *clock)
{
    for (; st; st = st->inner)
        st->clock = clock;
}

bool pr_storage_is_stopped(const struct pr_storage *st)
{
    return st->stop && __atomic_load_n(st->stop, __ATOMIC_RELAXED);
}

bool pr_storage_needs_aligned(const struct pr_storage *st)
{
    return storage_innermost(st)->engine->wants_aligned;
}

const char *pr_storage_warning(const struct pr_storage *st)
{
    while (!*st->note && st->inner)
        st = st->inner;
    return st->note;
}

void pr_storage_set_warning(struct pr_storage *st, const char *fmt, ...)
{
    va_list ap;

    if (*st->note)
        return;
    va_start(ap, fmt);
    vsnprintf(st->note, sizeof st->note, fmt, ap);
    va_end(ap);
}

/* Huge pages make O_DIRECT 1.5 times as fast: fewer pages to pin. */
static void *alloc_buffer(size_t bytes)
{
    bool huge = bytes >= 2 * HUGE_PAGE;
    void *data = pr_alloc_aligned(huge ? HUGE_PAGE : PR_IO_ALIGN, bytes);

    if (data && huge)
        (void)madvise(data, bytes, MADV_HUGEPAGE);
    return data;
}

void *pr_storage_buffer(struct pr_storage *st, size_t bytes)
{
    struct pr_buffer *b;

    while (st->inner)
        st = st->inner;
    b = pr_alloc(sizeof *b);
    if (!b)
        return NULL;
    b->data = alloc_buffer(bytes);
    if (!b->data) {
        pr_free(b);
        return NULL;
    }
    b->next = st->buffers;
    st->buffers = b;
    if (st->engine->buffer)
        st->engine->buffer(st, b->data, bytes);
    return b->data;
}
