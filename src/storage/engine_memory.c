/* Engine memory: objects in the process. Reading one copies nothing. */
#include "base/mem.h"
#include "storage/memory.h"
#include "storage/tree.h"

#include <string.h>

/* The size that is expected is only a hint: no more memory for it than this
 * before there is something to put in. */
enum { HINT_MAX = 1 << 30 };

int pr_memory_start(struct pr_storage *st, struct pr_err *err)
{
    st->data = st->beside ? pr_tree_share(st->beside->data) : pr_tree_new();
    return st->data ? PR_OK : pr_fail_nomem(err);
}

void pr_memory_stop(struct pr_storage *st)
{
    pr_tree_free(st->data);
}

static int mem_open(struct pr_storage *st, struct pr_object *o,
                    struct pr_err *err)
{
    struct pr_blob *b = NULL;
    int rc = pr_tree_find(st->data, o->name, &b, err);

    if (rc < 0)
        return rc;
    if (!rc)
        return pr_fail(err, PR_E_IO, o->name, "cannot open: it is not there");
    if (!b)
        return pr_fail(err, PR_E_IO, o->name, "is a folder, expected a file");
    o->data = b;
    o->size = b->size;
    o->map = b->data;
    return PR_OK;
}

static int mem_fetch(struct pr_storage *st, struct pr_object *o, uint64_t off,
                     size_t len, void *buf, size_t cap, const uint8_t **ret,
                     struct pr_err *err)
{
    const struct pr_blob *b = o->data;

    (void)st;
    (void)len;
    (void)buf;
    (void)cap;
    (void)err;
    *ret = b->data + off;
    return PR_OK;
}

static int mem_read(struct pr_storage *st, struct pr_object *o, uint64_t off,
                    size_t len, void *buf, struct pr_err *err)
{
    const struct pr_blob *b = o->data;

    (void)st;
    (void)err;
    memcpy(buf, b->data + off, len);
    return PR_OK;
}

void pr_memory_close(struct pr_storage *st, struct pr_object *o)
{
    pr_tree_drop(st->data, o->data);
}

static bool blob_reserve(struct pr_blob *b, uint64_t bytes)
{
    uint8_t *data;

    if (bytes <= b->cap)
        return true;
    if (bytes > SIZE_MAX)
        return false;
    data = pr_realloc(b->data, (size_t)bytes);
    if (!data)
        return false;
    b->data = data;
    b->cap = (size_t)bytes;
    return true;
}

static int mem_create(struct pr_storage *st, struct pr_object *o, uint64_t size,
                      struct pr_err *err)
{
    struct pr_blob *b = NULL;
    int rc = pr_tree_create(st->data, o->name, &b, err);

    if (rc)
        return rc;
    o->data = b;
    if (blob_reserve(b, size < HINT_MAX ? size : HINT_MAX))
        return PR_OK;
    pr_tree_discard(st->data, o->name);
    pr_tree_drop(st->data, b);
    return pr_fail_nomem(err);
}

static int mem_write(struct pr_storage *st, struct pr_object *o, uint64_t off,
                     const void *data, size_t len, struct pr_err *err)
{
    struct pr_blob *b = o->data;
    uint64_t end = off + len;

    (void)st;
    if (end > b->cap && !blob_reserve(b, end + end / 2) &&
        !blob_reserve(b, end))
        return pr_fail_nomem(err);
    if (off > o->size)
        memset(b->data + o->size, 0, (size_t)(off - o->size));
    memcpy(b->data + off, data, len);
    if (end > o->size)
        o->size = end;
    return PR_OK;
}

/* Gives back what is too much. If that fails there is just more of it. */
static void blob_trim(struct pr_blob *b)
{
    uint8_t *data;

    if (b->cap == b->size)
        return;
    data = pr_realloc(b->data, (size_t)b->size);
    if (!data)
        return;
    b->data = data;
    b->cap = (size_t)b->size;
}

static int mem_commit(struct pr_storage *st, struct pr_object *o,
                      struct pr_err *err)
{
    struct pr_blob *b = o->data;
    int rc;

    b->size = o->size;
    blob_trim(b);
    rc = pr_tree_commit(st->data, o->name, err);
    pr_tree_drop(st->data, o->data);
    return rc;
}

void pr_memory_discard(struct pr_storage *st, struct pr_object *o)
{
    pr_tree_discard(st->data, o->name);
    pr_tree_drop(st->data, o->data);
}

int pr_memory_stat(struct pr_storage *st, const char *name,
                   struct pr_object_info *ret, struct pr_err *err)
{
    return pr_tree_stat(st->data, name, ret, err);
}

int pr_memory_make_folder(struct pr_storage *st, const char *name,
                          struct pr_err *err)
{
    return pr_tree_make_folder(st->data, name, err);
}

int pr_memory_remove(struct pr_storage *st, const char *name,
                     struct pr_err *err)
{
    return pr_tree_remove(st->data, name, err);
}

int pr_memory_publish(struct pr_storage *st, const char *from, const char *to,
                      bool sync, bool *ret_swapped, struct pr_err *err)
{
    (void)sync;
    return pr_tree_publish(st->data, from, to, ret_swapped, err);
}

int pr_memory_list(struct pr_storage *st, const char *folder,
                   int (*each)(void *ctx, const char *name, bool is_folder),
                   void *ctx, struct pr_err *err)
{
    return pr_tree_list(st->data, folder, each, ctx, err);
}

int pr_memory_space(struct pr_storage *st, const char *name,
                    struct pr_storage_space *ret, struct pr_err *err)
{
    (void)st;
    (void)name;
    (void)err;
    *ret = (struct pr_storage_space){UINT64_MAX, UINT64_MAX};
    return PR_OK;
}

const struct pr_engine pr_engine_memory = {
    .name = "memory",
    .desc = "objects in the process itself, gone when it ends",
    .start = pr_memory_start,
    .stop = pr_memory_stop,
    .open = mem_open,
    .fetch = mem_fetch,
    .read = mem_read,
    .close = pr_memory_close,
    .create = mem_create,
    .write = mem_write,
    .commit = mem_commit,
    .discard = pr_memory_discard,
    .stat = pr_memory_stat,
    .make_folder = pr_memory_make_folder,
    .remove = pr_memory_remove,
    .publish = pr_memory_publish,
    .list = pr_memory_list,
    .space = pr_memory_space,
};
