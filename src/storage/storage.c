/*
 * A storage: opening it, that is choosing its engine and stacking the wrappers
 * around it; what belongs to it as a whole, notes and buffers; and the calls
 * about objects and the place they are in. These check bounds and count, then
 * they belong to the engine. What wrappers do is inside the outermost engine's
 * call, so that nothing is counted twice.
 */
#include "storage/storage.h"

#include "base/clock.h"
#include "base/mem.h"
#include "storage/storage_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* ---- counting: by the thread that has the storage, so that adding takes no
 * locked instruction */

static void storage_add_count(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

void pr_storage_beat(struct pr_storage *st)
{
    storage_add_count(&st->pulse, 1);
}

static uint64_t storage_begin_call(struct pr_storage *st)
{
    pr_storage_beat(st);
    __atomic_store_n(&st->inside, true, __ATOMIC_RELAXED);
    return __atomic_load_n(&st->is_timed, __ATOMIC_RELAXED) ? pr_now(st->clock)
                                                            : 0;
}

static void storage_end_call(struct pr_storage *st, uint64_t began)
{
    __atomic_store_n(&st->inside, false, __ATOMIC_RELAXED);
    if (began)
        storage_add_count(&st->ns, pr_now(st->clock) - began);
}

bool pr_storage_is_inside(const struct pr_storage *st, uint64_t *ret_pulse)
{
    uint64_t pulse = 0;

    for (const struct pr_storage *s = st; s; s = s->inner)
        pulse += __atomic_load_n(&s->pulse, __ATOMIC_RELAXED);
    *ret_pulse = pulse;
    return __atomic_load_n(&st->inside, __ATOMIC_RELAXED);
}

/* ---- objects */

static int past_end(const struct pr_object *o, uint64_t off, size_t len,
                    struct pr_err *err)
{
    return pr_fail(err, PR_E_FORMAT, o->name,
                   "ends at byte %llu, %zu bytes at byte %llu were expected",
                   (unsigned long long)o->size, len, (unsigned long long)off);
}

int pr_object_open(struct pr_storage *st, const char *name,
                   struct pr_object *ret, struct pr_err *err)
{
    struct pr_object o = {.st = st, .name = name, .fd = -1};
    uint64_t began = storage_begin_call(st);
    int rc = st->engine->open(st, &o, err);

    storage_end_call(st, began);
    if (rc)
        return rc;
    storage_add_count(&st->opened, 1);
    *ret = o;
    return PR_OK;
}

int pr_object_fetch(struct pr_object *o, uint64_t off, size_t len, void *buf,
                    size_t cap, const uint8_t **ret, struct pr_err *err)
{
    struct pr_storage *st = o->st;
    uint64_t began;
    int rc;

    if (off > o->size || len > o->size - off)
        return past_end(o, off, len, err);
    if (!len) {
        *ret = buf;
        return PR_OK;
    }
    if (cap < len)
        return pr_fail(err, PR_E_CONF, o->name,
                       "a buffer of %zu bytes is too small for %zu", cap, len);
    began = storage_begin_call(st);
    rc = st->engine->fetch(st, o, off, len, buf, cap, ret, err);
    storage_end_call(st, began);
    if (!rc)
        storage_add_count(&st->read_bytes, len);
    return rc;
}

int pr_object_read(struct pr_object *o, uint64_t off, size_t len, void *buf,
                   struct pr_err *err)
{
    struct pr_storage *st = o->st;
    uint64_t began;
    int rc;

    if (off > o->size || len > o->size - off)
        return past_end(o, off, len, err);
    if (!len)
        return PR_OK;
    began = storage_begin_call(st);
    rc = st->engine->read(st, o, off, len, buf, err);
    storage_end_call(st, began);
    if (!rc)
        storage_add_count(&st->read_bytes, len);
    return rc;
}

/* Wrappers have none: what they slow down must not be fetched past them. */
void pr_object_ahead(struct pr_object *o, uint64_t off, uint64_t len)
{
    if (off >= o->size || !o->st->engine->ahead)
        return;
    if (len > o->size - off)
        len = o->size - off;
    o->st->engine->ahead(o, off, len);
}

void pr_object_close(struct pr_object *o)
{
    o->st->engine->close(o->st, o);
}

int pr_object_create(struct pr_storage *st, const char *name, uint64_t size,
                     struct pr_object *ret, struct pr_err *err)
{
    struct pr_object o = {.st = st, .name = name, .fd = -1};
    int rc = st->engine->create(st, &o, size, err);

    if (!rc)
        *ret = o;
    return rc;
}

int pr_object_write(struct pr_object *o, uint64_t off, const void *data,
                    size_t len, struct pr_err *err)
{
    uint64_t end;
    int rc;

    if (__builtin_add_overflow(off, len, &end) || end > INT64_MAX)
        return pr_fail(err, PR_E_FORMAT, o->name,
                       "%zu bytes at byte %llu are beyond any file", len,
                       (unsigned long long)off);
    if (!len)
        return PR_OK;
    rc = o->st->engine->write(o->st, o, off, data, len, err);
    if (!rc)
        storage_add_count(&o->st->written, len);
    return rc;
}

int pr_object_sync(struct pr_object *o, struct pr_err *err)
{
    return o->st->engine->sync ? o->st->engine->sync(o->st, o, err) : PR_OK;
}

int pr_object_commit(struct pr_object *o, struct pr_err *err)
{
    return o->st->engine->commit(o->st, o, err);
}

void pr_object_discard(struct pr_object *o)
{
    o->st->engine->discard(o->st, o);
}

/* ---- the place */

int pr_storage_stat(struct pr_storage *st, const char *name,
                    struct pr_object_info *ret, struct pr_err *err)
{
    uint64_t began = storage_begin_call(st);
    int rc = st->engine->stat(st, name, ret, err);

    storage_end_call(st, began);
    return rc;
}

int pr_storage_make_folder(struct pr_storage *st, const char *name,
                           struct pr_err *err)
{
    return st->engine->make_folder(st, name, err);
}

int pr_storage_remove(struct pr_storage *st, const char *name,
                      struct pr_err *err)
{
    return st->engine->remove(st, name, err);
}

int pr_storage_list(struct pr_storage *st, const char *folder,
                    int (*each)(void *ctx, const char *name, bool is_folder),
                    void *ctx, struct pr_err *err)
{
    return st->engine->list(st, folder, each, ctx, err);
}

int pr_storage_space(struct pr_storage *st, const char *name,
                     struct pr_storage_space *ret, struct pr_err *err)
{
    return st->engine->space(st, name, ret, err);
}

int pr_storage_lock(struct pr_storage *st, const char *folder,
                    struct pr_err *err)
{
    while (st->inner)
        st = st->inner;
    return st->engine->lock ? st->engine->lock(st, folder, err) : PR_OK;
}

int pr_storage_serve(struct pr_storage *st,
                     const struct pr_storage_served *rows, size_t count,
                     struct pr_storage *owner, struct pr_err *err)
{
    while (st->inner)
        st = st->inner;
    if (st->engine->serve)
        return st->engine->serve(st, rows, count, owner, err);
    return pr_fail(err, PR_E_CONF, "storage.engine",
                   "objects cannot be made up in storage of kind '%s'",
                   st->engine->name);
}

/* ---- what it did */

uint64_t pr_storage_written(const struct pr_storage *st)
{
    return __atomic_load_n(&st->written, __ATOMIC_RELAXED);
}

uint64_t pr_storage_read_bytes(const struct pr_storage *st)
{
    return __atomic_load_n(&st->read_bytes, __ATOMIC_RELAXED);
}

uint64_t pr_storage_opened(const struct pr_storage *st)
{
    return __atomic_load_n(&st->opened, __ATOMIC_RELAXED);
}

void pr_storage_time(struct pr_storage *st, bool on)
{
    __atomic_store_n(&st->is_timed, on, __ATOMIC_RELAXED);
}

uint64_t pr_storage_ns(const struct pr_storage *st)
{
    return __atomic_load_n(&st->ns, __ATOMIC_RELAXED);
}

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
