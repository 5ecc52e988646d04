/*
 * Engine null: what the harness itself costs. Names and sizes of what was
 * written are kept, contents are not; reading gives zeros. Anything that was
 * not written can be opened, too, and is empty.
 */
#include "storage/memory.h"
#include "storage/path.h"
#include "storage/tree.h"

#include <string.h>

static int null_open(struct pr_storage *st, struct pr_object *o,
                     struct pr_err *err)
{
    struct pr_blob *b = NULL;
    int rc = pr_tree_find(st->data, o->name, &b, err);

    if (rc < 0)
        return rc;
    if (rc && !b)
        return pr_fail(err, PR_E_IO, o->name, "is a folder, expected a file");
    o->data = b;
    o->size = b ? b->size : 0;
    return PR_OK;
}

static int null_read(struct pr_storage *st, struct pr_object *o, uint64_t off,
                     size_t len, void *buf, struct pr_err *err)
{
    (void)st;
    (void)o;
    (void)off;
    (void)err;
    memset(buf, 0, len);
    return PR_OK;
}

static int null_fetch(struct pr_storage *st, struct pr_object *o, uint64_t off,
                      size_t len, void *buf, size_t cap, const uint8_t **ret,
                      struct pr_err *err)
{
    (void)cap;
    *ret = buf;
    return null_read(st, o, off, len, buf, err);
}

/* Nobody need make folders in a place that is nowhere. */
static int null_create(struct pr_storage *st, struct pr_object *o,
                       uint64_t size, struct pr_err *err)
{
    char folder[PR_PATH_BYTES];
    struct pr_blob *b = NULL;
    int rc = pr_path_clean(o->name, folder, err);

    (void)size;
    if (!rc && pr_path_up(folder))
        rc = pr_tree_make_folder(st->data, folder, err);
    if (!rc)
        rc = pr_tree_create(st->data, o->name, &b, err);
    if (!rc)
        o->data = b;
    return rc;
}

static int null_write(struct pr_storage *st, struct pr_object *o, uint64_t off,
                      const void *data, size_t len, struct pr_err *err)
{
    (void)st;
    (void)data;
    (void)err;
    if (off + len > o->size)
        o->size = off + len;
    return PR_OK;
}

static int null_commit(struct pr_storage *st, struct pr_object *o,
                       struct pr_err *err)
{
    struct pr_blob *b = o->data;
    int rc;

    b->size = o->size;
    rc = pr_tree_commit(st->data, o->name, err);
    pr_tree_drop(st->data, b);
    return rc;
}

const struct pr_engine pr_engine_null = {
    .name = "null",
    .desc = "nowhere: writes vanish, reads give zeros",
    .start = pr_memory_start,
    .stop = pr_memory_stop,
    .open = null_open,
    .fetch = null_fetch,
    .read = null_read,
    .close = pr_memory_close,
    .create = null_create,
    .write = null_write,
    .commit = null_commit,
    .discard = pr_memory_discard,
    .stat = pr_memory_stat,
    .make_folder = pr_memory_make_folder,
    .remove = pr_memory_remove,
    .list = pr_memory_list,
    .space = pr_memory_space,
};
