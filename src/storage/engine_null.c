/*
 * Engine null: what the harness itself costs. Names and sizes of what was
 * written are kept, contents are not; reading gives zeros. Anything that was
 * not written can be opened, too: it is empty, or what pr_storage_serve says,
 * the same bytes for all.
 */
#include "base/mem.h"
#include "storage/memory.h"
#include "storage/path.h"
#include "storage/tree.h"

#include <string.h>

enum { MAX_ENDING = 63, SERVED = 1 /* in o->flags: o->data are its bytes */ };

struct row {
    uint8_t *data; /* not written to */
    uint64_t bytes;
    size_t ending_len;
    char ending[MAX_ENDING + 1];
};

/* Attached to the tree; does not change. */
struct serving {
    struct pr_storage *owner;
    size_t count;
    struct row rows[];
};

/* ---- names that were not written */

static void stop_serving(void *thing)
{
    struct serving *s = thing;

    pr_storage_close(s->owner);
    pr_free(s);
}

static void null_fill_row(struct row *row, const struct pr_storage_served *from)
{
    row->data = (uint8_t *)from->data;
    row->bytes = from->bytes;
    row->ending_len = strlen(from->ending);
    memcpy(row->ending, from->ending, row->ending_len + 1);
}

static int null_serve(struct pr_storage *st,
                      const struct pr_storage_served *rows, size_t count,
                      struct pr_storage *owner, struct pr_err *err)
{
    struct serving *s;

    for (size_t i = 0; i < count; i++)
        if (strlen(rows[i].ending) > MAX_ENDING)
            return pr_fail(err, PR_E_CONF, rows[i].ending,
                           "the ending has more than %d characters",
                           MAX_ENDING);
    s = pr_alloc_zeroed(sizeof *s + count * sizeof *s->rows);
    if (!s)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        null_fill_row(&s->rows[i], &rows[i]);
    s->count = count;
    if (!pr_tree_attach(st->data, s, stop_serving)) {
        pr_free(s);
        return pr_fail(err, PR_E_CONF, "storage.engine",
                       "what is read from nowhere has been set already");
    }
    s->owner = owner; /* only now: a failure leaves it to the caller */
    return PR_OK;
}

/* What stands for a name that was not written; NULL: nothing does. */
static const struct row *null_find_row(const struct pr_storage *st,
                                       const char *name)
{
    const struct serving *s = pr_tree_attached(st->data);
    size_t len = 0;

    for (size_t i = 0; s && i < s->count; i++) {
        const struct row *row = &s->rows[i];

        if (!row->ending_len)
            return row;
        if (!len)
            len = strlen(name);
        if (len >= row->ending_len && memcmp(name + len - row->ending_len,
                                             row->ending, row->ending_len) == 0)
            return row;
    }
    return NULL;
}

static int open_served(struct pr_object *o, const struct row *row)
{
    o->flags = SERVED;
    o->data = row->data;
    o->map = row->data;
    o->size = row->bytes;
    return PR_OK;
}

static int null_stat(struct pr_storage *st, const char *name,
                     struct pr_object_info *ret, struct pr_err *err)
{
    int rc = pr_memory_stat(st, name, ret, err);
    const struct row *row = rc ? NULL : null_find_row(st, name);

    if (!row)
        return rc;
    *ret = (struct pr_object_info){.size = row->bytes};
    return 1;
}

/* ---- reading */

static int null_open(struct pr_storage *st, struct pr_object *o,
                     struct pr_err *err)
{
    const struct row *row = null_find_row(st, o->name);
    struct pr_blob *b = NULL;
    int rc;

    /* The path of a sample: nothing is locked, no name is looked up. */
    if (row && *o->name && pr_tree_is_empty(st->data))
        return open_served(o, row);
    rc = pr_tree_find(st->data, o->name, &b, err);
    if (rc < 0)
        return rc;
    if (rc && !b)
        return pr_fail(err, PR_E_IO, o->name, "is a folder, expected a file");
    if (!rc && row)
        return open_served(o, row);
    o->data = b;
    o->size = b ? b->size : 0;
    return PR_OK;
}

static int null_read(struct pr_storage *st, struct pr_object *o, uint64_t off,
                     size_t len, void *buf, struct pr_err *err)
{
    (void)st;
    (void)err;
    if (o->flags & SERVED)
        memcpy(buf, (const uint8_t *)o->data + off, len);
    else
        memset(buf, 0, len);
    return PR_OK;
}

static int null_fetch(struct pr_storage *st, struct pr_object *o, uint64_t off,
                      size_t len, void *buf, size_t cap, const uint8_t **ret,
                      struct pr_err *err)
{
    (void)cap;
    if (o->flags & SERVED) {
        *ret = (const uint8_t *)o->data + off;
        return PR_OK;
    }
    *ret = buf;
    return null_read(st, o, off, len, buf, err);
}

static void null_close(struct pr_storage *st, struct pr_object *o)
{
    if (o->data && !(o->flags & SERVED))
        pr_memory_close(st, o);
}

/* ---- writing */

/* Nobody need make folders in a place that is nowhere. */
static int make_parent(struct pr_storage *st, const char *name,
                       struct pr_err *err)
{
    char folder[PR_PATH_BYTES];
    int rc = pr_path_clean(name, folder, err);

    if (!rc && pr_path_up(folder))
        rc = pr_tree_make_folder(st->data, folder, err);
    return rc;
}

static int null_create(struct pr_storage *st, struct pr_object *o,
                       uint64_t size, struct pr_err *err)
{
    struct pr_blob *b = NULL;
    int rc = make_parent(st, o->name, err);

    (void)size;
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

static int null_publish(struct pr_storage *st, const char *from, const char *to,
                        bool sync, bool *ret_swapped, struct pr_err *err)
{
    int rc = make_parent(st, to, err);

    return rc ? rc : pr_memory_publish(st, from, to, sync, ret_swapped, err);
}

const struct pr_engine pr_engine_null = {
    .name = "null",
    .desc = "nowhere: writes vanish, reads give zeros",
    .start = pr_memory_start,
    .stop = pr_memory_stop,
    .open = null_open,
    .fetch = null_fetch,
    .read = null_read,
    .close = null_close,
    .create = null_create,
    .write = null_write,
    .commit = null_commit,
    .discard = pr_memory_discard,
    .stat = null_stat,
    .make_folder = pr_memory_make_folder,
    .remove = pr_memory_remove,
    .publish = null_publish,
    .list = pr_memory_list,
    .space = pr_memory_space,
    .serve = null_serve,
};
