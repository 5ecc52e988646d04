/*
 * The calls of storage.h about objects and the place they are in: they check
 * bounds and count, then they belong to the engine. What wrappers do is inside
 * the outermost engine's call, so that nothing is counted twice.
 */
#include "base/clock.h"
#include "storage/storage_impl.h"

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
