/*
 * Engines memory and null, whose objects are in the process itself: names,
 * folders and contents in a tree. Several storages, each of a thread of its
 * own, may share one tree: names are looked up under a lock, contents are
 * counted references and do not change once they are committed.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "base/names.h"
#include "storage/path.h"
#include "storage/storage.h"
#include "storage/storage_impl.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

struct pr_blob {
    unsigned refs; /* under the tree's lock */
    bool whole;    /* … too: committed, does not change any more */
    uint64_t size;
    uint8_t *data; /* NULL: zeros, as far as anybody cares */
    size_t cap;
};

struct pr_tree_entry {
    struct pr_tree_entry *next;
    struct pr_blob *blob; /* NULL: a folder */
    uint64_t hash;
    char name[]; /* clean */
};

struct pr_tree {
    pthread_mutex_t lock;
    unsigned refs;
    struct pr_tree_entry **table;
    size_t slots;   /* a power of two */
    size_t count;   /* atomic: changed under the lock, read without */
    void *attached; /* atomic */
    void (*attached_done)(void *thing);
};

/* ---- with the lock held; names are clean */

static void blob_unref(struct pr_blob *b)
{
    if (!b || --b->refs)
        return;
    pr_free(b->data);
    pr_free(b);
}

/* Where the pointer to the entry is, or where it would be appended. */
static struct pr_tree_entry **tree_slot(struct pr_tree *t, const char *name)
{
    uint64_t hash = pr_hash_bytes(name, strlen(name), 0);
    struct pr_tree_entry **e = &t->table[hash & (t->slots - 1)];

    while (*e && ((*e)->hash != hash || strcmp((*e)->name, name) != 0))
        e = &(*e)->next;
    return e;
}

static bool tree_is_top(const char *clean)
{
    return !*clean || strcmp(clean, "/") == 0;
}

static bool tree_is_folder(struct pr_tree *t, const char *clean)
{
    const struct pr_tree_entry *e = *tree_slot(t, clean);

    return tree_is_top(clean) || (e && !e->blob);
}

static bool tree_grow(struct pr_tree *t)
{
    size_t slots = t->slots * 2;
    struct pr_tree_entry **table;

    if (t->count < t->slots)
        return true;
    table = pr_alloc_zeroed(slots * sizeof(struct pr_tree_entry *));
    if (!table)
        return false;
    for (size_t i = 0; i < t->slots; i++) {
        while (t->table[i]) {
            struct pr_tree_entry *e = t->table[i];
            struct pr_tree_entry **to = &table[e->hash & (slots - 1)];

            t->table[i] = e->next;
            e->next = *to;
            *to = e;
        }
    }
    pr_free(t->table);
    t->table = table;
    t->slots = slots;
    return true;
}

static void set_count(struct pr_tree *t, size_t count)
{
    __atomic_store_n(&t->count, count, __ATOMIC_RELAXED);
}

/* A new entry that is in no table yet. NULL: no memory. */
static struct pr_tree_entry *tree_entry_new(const char *clean,
                                            struct pr_blob *blob)
{
    size_t bytes = strlen(clean) + 1;
    struct pr_tree_entry *e = pr_alloc(sizeof *e + bytes);

    if (!e)
        return NULL;
    memcpy(e->name, clean, bytes);
    e->hash = pr_hash_bytes(clean, bytes - 1, 0);
    e->next = NULL;
    e->blob = blob;
    return e;
}

static int tree_put(struct pr_tree *t, const char *clean, struct pr_blob *blob,
                    struct pr_err *err)
{
    struct pr_tree_entry **slot;
    struct pr_tree_entry *e;

    if (!tree_grow(t))
        return pr_fail_nomem(err);
    slot = tree_slot(t, clean);
    e = *slot;
    if (e) {
        blob_unref(e->blob);
    } else {
        e = tree_entry_new(clean, NULL);
        if (!e)
            return pr_fail_nomem(err);
        *slot = e;
        set_count(t, t->count + 1);
    }
    e->blob = blob;
    return PR_OK;
}

/* Takes over a reference; what had the name before is dropped. */
static void tree_cut(struct pr_tree *t, const char *clean)
{
    struct pr_tree_entry **slot = tree_slot(t, clean);
    struct pr_tree_entry *e = *slot;

    if (!e)
        return;
    *slot = e->next;
    set_count(t, t->count - 1);
    blob_unref(e->blob);
    pr_free(e);
}

/* The place itself is a folder that is always there. */
static int tree_check_parent(struct pr_tree *t, const char *clean,
                             struct pr_err *err)
{
    char folder[PR_PATH_BYTES];

    memcpy(folder, clean, strlen(clean) + 1);
    if (!pr_path_up(folder) || tree_is_folder(t, folder))
        return PR_OK;
    return pr_fail(err, PR_E_IO, clean, "the folder '%.200s' is not there",
                   folder);
}

/* ---- the tree */

static struct pr_tree *tree_new(void)
{
    struct pr_tree *t = pr_alloc_zeroed(sizeof *t);

    if (!t)
        return NULL;
    t->refs = 1;
    t->slots = 16;
    t->table = pr_alloc_zeroed(t->slots * sizeof(struct pr_tree_entry *));
    if (!t->table || pthread_mutex_init(&t->lock, NULL) != 0) {
        pr_free(t->table);
        pr_free(t);
        return NULL;
    }
    return t;
}

static struct pr_tree *tree_share(struct pr_tree *t)
{
    pthread_mutex_lock(&t->lock);
    t->refs++;
    pthread_mutex_unlock(&t->lock);
    return t;
}

/* the last one who shares it frees */
static void tree_free(struct pr_tree *t)
{
    unsigned left;

    pthread_mutex_lock(&t->lock);
    left = --t->refs;
    pthread_mutex_unlock(&t->lock);
    if (left)
        return;
    for (size_t i = 0; i < t->slots; i++)
        while (t->table[i]) {
            struct pr_tree_entry *e = t->table[i];

            t->table[i] = e->next;
            blob_unref(e->blob);
            pr_free(e);
        }
    if (t->attached)
        t->attached_done(t->attached);
    pthread_mutex_destroy(&t->lock);
    pr_free(t->table);
    pr_free(t);
}

static bool tree_attach(struct pr_tree *t, void *thing,
                        void (*done)(void *thing))
{
    bool is_first;

    pthread_mutex_lock(&t->lock);
    is_first = !t->attached;
    if (is_first) {
        t->attached_done = done;
        __atomic_store_n(&t->attached, thing, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&t->lock);
    return is_first;
}

/* Something that all who share the tree have in common; done is called for it
 * when the tree is freed. False: there is something already. */
static void *tree_attached(const struct pr_tree *t)
{
    return __atomic_load_n(&t->attached, __ATOMIC_ACQUIRE);
}

/* No names at all, nor those being written. Asking takes no lock. */
static bool tree_is_empty(const struct pr_tree *t)
{
    return !__atomic_load_n(&t->count, __ATOMIC_RELAXED);
}

static int tree_find(struct pr_tree *t, const char *name, struct pr_blob **ret,
                     struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    int rc = pr_path_clean(name, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    struct pr_tree_entry *e = *tree_slot(t, clean);
    int found = tree_is_top(clean) || (e && (!e->blob || e->blob->whole));

    if (found)
        *ret = e ? e->blob : NULL;
    if (found && *ret)
        (*ret)->refs++;
    pthread_mutex_unlock(&t->lock);
    return found;
}

/* The contents of a name, with a reference of the caller's; NULL for a folder.
 * 1: it is there; 0: it is not, or is being written. */
static void tree_drop(struct pr_tree *t, struct pr_blob *b)
{
    pthread_mutex_lock(&t->lock);
    blob_unref(b);
    pthread_mutex_unlock(&t->lock);
}

/* The clean name and the name of its part. */
static int two_names(const char *name, char clean[static PR_PATH_BYTES],
                     char part[static PR_PATH_BYTES], struct pr_err *err)
{
    int rc = pr_path_clean(name, clean, err);

    return rc ? rc : pr_path_part(clean, part, err);
}

static int tree_create(struct pr_tree *t, const char *name,
                       struct pr_blob **ret, struct pr_err *err)
{
    char clean[PR_PATH_BYTES], part[PR_PATH_BYTES];
    int rc = two_names(name, clean, part, err);
    struct pr_blob *b;

    if (rc)
        return rc;
    b = pr_alloc_zeroed(sizeof *b);
    if (!b)
        return pr_fail_nomem(err);
    b->refs = 2; /* the tree's and the caller's */
    pthread_mutex_lock(&t->lock);
    rc = tree_check_parent(t, clean, err);
    if (!rc && tree_is_folder(t, clean))
        rc = pr_fail(err, PR_E_IO, name, "is a folder, expected a file");
    if (!rc)
        rc = tree_put(t, part, b, err);
    pthread_mutex_unlock(&t->lock);
    if (rc)
        pr_free(b);
    else
        *ret = b;
    return rc;
}

static int tree_commit(struct pr_tree *t, const char *name, struct pr_err *err)
{
    char clean[PR_PATH_BYTES], part[PR_PATH_BYTES];
    int rc = two_names(name, clean, part, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    struct pr_tree_entry *e = *tree_slot(t, part);

    if (!e || !e->blob) {
        rc = pr_fail(err, PR_E_IO, name,
                     "what was written has been removed meanwhile");
    } else if (tree_is_folder(t, clean)) {
        rc = pr_fail(err, PR_E_IO, name, "is a folder, expected a file");
    } else {
        rc = tree_put(t, clean, e->blob, err);
        if (!rc) {
            e->blob->refs++;
            e->blob->whole = true;
        }
    }
    tree_cut(t, part);
    pthread_mutex_unlock(&t->lock);
    return rc;
}

/* New contents for name, kept under its part name until tree_commit; the
 * caller has a reference and may fill them. The folder must be there. */
static void tree_discard(struct pr_tree *t, const char *name)
{
    char clean[PR_PATH_BYTES], part[PR_PATH_BYTES];

    if (two_names(name, clean, part, NULL))
        return;
    pthread_mutex_lock(&t->lock);
    tree_cut(t, part);
    pthread_mutex_unlock(&t->lock);
}

/* ---- folders */

static int tree_stat(struct pr_tree *t, const char *name,
                     struct pr_object_info *ret, struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    int rc = pr_path_clean(name, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    struct pr_tree_entry *e = *tree_slot(t, clean);
    const struct pr_blob *b = e ? e->blob : NULL;
    bool found = e || tree_is_top(clean);

    if (found)
        *ret = (struct pr_object_info){b && b->whole ? b->size : 0, !b};
    pthread_mutex_unlock(&t->lock);
    return found;
}

static int tree_make_folder(struct pr_tree *t, const char *name,
                            struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    int rc = pr_path_clean(name, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    for (size_t i = 1; !rc && !tree_is_top(clean); i++) {
        char c = clean[i];
        struct pr_tree_entry *e;

        if (c && c != '/')
            continue;
        clean[i] = '\0';
        e = *tree_slot(t, clean);
        if (e && e->blob)
            rc = pr_fail(err, PR_E_IO, clean, "is a file, expected a folder");
        else if (!e)
            rc = tree_put(t, clean, NULL, err);
        clean[i] = c;
        if (!c)
            break;
    }
    pthread_mutex_unlock(&t->lock);
    return rc;
}

/* The name of e below folder; NULL: it is not directly there. */
static const char *name_in(const struct pr_tree_entry *e, const char *folder)
{
    size_t n = strlen(folder);
    const char *base = e->name + pr_path_base(e->name);

    if (tree_is_top(folder))
        return base == e->name + n ? base : NULL;
    if (strncmp(e->name, folder, n) != 0 || e->name[n] != '/')
        return NULL;
    return base == e->name + n + 1 ? base : NULL;
}

static bool has_any(struct pr_tree *t, const char *folder)
{
    for (size_t i = 0; i < t->slots; i++)
        for (struct pr_tree_entry *e = t->table[i]; e; e = e->next)
            if (name_in(e, folder))
                return true;
    return false;
}

static int tree_remove(struct pr_tree *t, const char *name, struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    int rc = pr_path_clean(name, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    if (tree_is_folder(t, clean) && has_any(t, clean)) {
        errno = ENOTEMPTY;
        rc = pr_fail_errno(err, PR_E_IO, name, "cannot remove");
    }
    if (!rc)
        tree_cut(t, clean);
    pthread_mutex_unlock(&t->lock);
    return rc;
}

static void tree_add_name(struct pr_buf *names, const struct pr_tree_entry *e,
                          const char *folder)
{
    const char *name = name_in(e, folder);

    if (!name)
        return;
    pr_buf_char(names, e->blob ? 'o' : 'f');
    pr_buf_add(names, name, strlen(name) + 1);
}

/* Copies of the names first: each may well remove what it is given. */
static int tree_list(struct pr_tree *t, const char *folder,
                     int (*each)(void *ctx, const char *name, bool is_folder),
                     void *ctx, struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    PR_AUTO_BUF struct pr_buf names = PR_BUF_INIT(SIZE_MAX / 2);
    int rc = pr_path_clean(folder, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    if (!tree_is_folder(t, clean))
        rc = pr_fail(err, PR_E_IO, folder, "there is no such folder");
    for (size_t i = 0; !rc && i < t->slots; i++)
        for (struct pr_tree_entry *e = t->table[i]; e; e = e->next)
            tree_add_name(&names, e, clean);
    pthread_mutex_unlock(&t->lock);
    if (!rc && !pr_buf_ok(&names))
        rc = pr_fail_nomem(err);
    for (size_t i = 0; !rc && i < names.len; i += strlen(names.data + i) + 1)
        rc = each(ctx, names.data + i + 1, names.data[i] == 'f');
    return rc;
}

/* ---- another name for a folder */

/* A copy of e under the name that its folder gets; *list grows by it. */
static int add_renamed(const struct pr_tree_entry *e, const char *from,
                       const char *to, struct pr_tree_entry **list,
                       struct pr_err *err)
{
    const char *rest = e->name + strlen(from);
    char name[PR_PATH_BYTES];
    struct pr_tree_entry *made;

    if (strlen(to) + strlen(rest) >= sizeof name)
        return pr_path_too_long(e->name, err);
    memcpy(name, to, strlen(to));
    memcpy(name + strlen(to), rest, strlen(rest) + 1);
    made = tree_entry_new(name, e->blob);
    if (!made)
        return pr_fail_nomem(err);
    made->next = *list;
    *list = made;
    return PR_OK;
}

/* Everything in both folders, under its new name. */
static int rename_all(const struct pr_tree *t, const char *from, const char *to,
                      struct pr_tree_entry **list, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; !rc && i < t->slots; i++)
        for (struct pr_tree_entry *e = t->table[i]; !rc && e; e = e->next) {
            if (pr_path_is_within(e->name, from))
                rc = add_renamed(e, from, to, list, err);
            else if (pr_path_is_within(e->name, to))
                rc = add_renamed(e, to, from, list, err);
        }
    return rc;
}

static void free_list(struct pr_tree_entry *list)
{
    while (list) {
        struct pr_tree_entry *e = list;

        list = e->next;
        pr_free(e);
    }
}

/* The old entries go, the new ones take their contents over. */
static void tree_replace_entries(struct pr_tree *t, const char *from,
                                 const char *to, struct pr_tree_entry *list)
{
    for (size_t i = 0; i < t->slots; i++) {
        struct pr_tree_entry **at = &t->table[i];

        while (*at) {
            struct pr_tree_entry *e = *at;

            if (!pr_path_is_within(e->name, from) &&
                !pr_path_is_within(e->name, to)) {
                at = &e->next;
                continue;
            }
            *at = e->next;
            pr_free(e);
        }
    }
    while (list) {
        struct pr_tree_entry *e = list;
        struct pr_tree_entry **slot = tree_slot(t, e->name);

        list = e->next;
        e->next = *slot;
        *slot = e;
    }
}

static int check_names(struct pr_tree *t, const char *from, const char *to,
                       struct pr_err *err)
{
    const struct pr_tree_entry *taken = *tree_slot(t, to);

    if (tree_is_top(from) || tree_is_top(to) || pr_path_is_within(from, to) ||
        pr_path_is_within(to, from))
        return pr_fail(err, PR_E_IO, to,
                       "a folder and what is in it cannot change places");
    if (!tree_is_folder(t, from))
        return pr_fail(err, PR_E_IO, from, "there is no such folder");
    if (taken && taken->blob)
        return pr_fail(err, PR_E_IO, to, "is not a folder");
    return tree_check_parent(t, to, err);
}

static int tree_publish(struct pr_tree *t, const char *from, const char *to,
                        bool *ret_swapped, struct pr_err *err)
{
    char old_name[PR_PATH_BYTES], new_name[PR_PATH_BYTES];
    struct pr_tree_entry *list = NULL;
    bool taken = false;
    int rc = pr_path_clean(from, old_name, err);

    if (!rc)
        rc = pr_path_clean(to, new_name, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    rc = check_names(t, old_name, new_name, err);
    if (!rc) {
        taken = *tree_slot(t, new_name);
        rc = rename_all(t, old_name, new_name, &list, err);
    }
    if (rc)
        free_list(list);
    else
        tree_replace_entries(t, old_name, new_name, list);
    pthread_mutex_unlock(&t->lock);
    if (!rc)
        *ret_swapped = taken;
    return rc;
}

/* ---- engine memory: reading an object copies nothing */

/* The size that is expected is only a hint: no more memory for it than this
 * before there is something to put in. */
enum { HINT_MAX = 1 << 30 };

static int memory_start(struct pr_storage *st, struct pr_err *err)
{
    st->data = st->beside ? tree_share(st->beside->data) : tree_new();
    return st->data ? PR_OK : pr_fail_nomem(err);
}

static void memory_stop(struct pr_storage *st)
{
    tree_free(st->data);
}

static int mem_open(struct pr_storage *st, struct pr_object *o,
                    struct pr_err *err)
{
    struct pr_blob *b = NULL;
    int rc = tree_find(st->data, o->name, &b, err);

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

static void pr_memory_close(struct pr_storage *st, struct pr_object *o)
{
    tree_drop(st->data, o->data);
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
    int rc = tree_create(st->data, o->name, &b, err);

    if (rc)
        return rc;
    o->data = b;
    if (blob_reserve(b, size < HINT_MAX ? size : HINT_MAX))
        return PR_OK;
    tree_discard(st->data, o->name);
    tree_drop(st->data, b);
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
    rc = tree_commit(st->data, o->name, err);
    tree_drop(st->data, o->data);
    return rc;
}

static void memory_discard(struct pr_storage *st, struct pr_object *o)
{
    tree_discard(st->data, o->name);
    tree_drop(st->data, o->data);
}

static int memory_stat(struct pr_storage *st, const char *name,
                       struct pr_object_info *ret, struct pr_err *err)
{
    return tree_stat(st->data, name, ret, err);
}

static int memory_make_folder(struct pr_storage *st, const char *name,
                              struct pr_err *err)
{
    return tree_make_folder(st->data, name, err);
}

static int memory_remove(struct pr_storage *st, const char *name,
                         struct pr_err *err)
{
    return tree_remove(st->data, name, err);
}

static int memory_publish(struct pr_storage *st, const char *from,
                          const char *to, bool sync, bool *ret_swapped,
                          struct pr_err *err)
{
    (void)sync;
    return tree_publish(st->data, from, to, ret_swapped, err);
}

static int memory_list(struct pr_storage *st, const char *folder,
                       int (*each)(void *ctx, const char *name, bool is_folder),
                       void *ctx, struct pr_err *err)
{
    return tree_list(st->data, folder, each, ctx, err);
}

static int memory_space(struct pr_storage *st, const char *name,
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
    .start = memory_start,
    .stop = memory_stop,
    .open = mem_open,
    .fetch = mem_fetch,
    .read = mem_read,
    .close = pr_memory_close,
    .create = mem_create,
    .write = mem_write,
    .commit = mem_commit,
    .discard = memory_discard,
    .stat = memory_stat,
    .make_folder = memory_make_folder,
    .remove = memory_remove,
    .publish = memory_publish,
    .list = memory_list,
    .space = memory_space,
};

/* ---- engine null */

/* What the harness itself costs. Names and sizes of what was written are kept,
 * contents are not; reading gives zeros. Anything that was not written can be
 * opened, too: it is empty, or what pr_storage_serve says, the same bytes for
 * all. */

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

/* ---- null: names that were not written */

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
    if (!tree_attach(st->data, s, stop_serving)) {
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
    const struct serving *s = tree_attached(st->data);
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
    int rc = memory_stat(st, name, ret, err);
    const struct row *row = rc ? NULL : null_find_row(st, name);

    if (!row)
        return rc;
    *ret = (struct pr_object_info){.size = row->bytes};
    return 1;
}

/* ---- null: reading */

static int null_open(struct pr_storage *st, struct pr_object *o,
                     struct pr_err *err)
{
    const struct row *row = null_find_row(st, o->name);
    struct pr_blob *b = NULL;
    int rc;

    /* The path of a sample: nothing is locked, no name is looked up. */
    if (row && *o->name && tree_is_empty(st->data))
        return open_served(o, row);
    rc = tree_find(st->data, o->name, &b, err);
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

/* ---- null: writing */

/* Nobody need make folders in a place that is nowhere. */
static int make_parent(struct pr_storage *st, const char *name,
                       struct pr_err *err)
{
    char folder[PR_PATH_BYTES];
    int rc = pr_path_clean(name, folder, err);

    if (!rc && pr_path_up(folder))
        rc = tree_make_folder(st->data, folder, err);
    return rc;
}

static int null_create(struct pr_storage *st, struct pr_object *o,
                       uint64_t size, struct pr_err *err)
{
    struct pr_blob *b = NULL;
    int rc = make_parent(st, o->name, err);

    (void)size;
    if (!rc)
        rc = tree_create(st->data, o->name, &b, err);
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
    rc = tree_commit(st->data, o->name, err);
    tree_drop(st->data, b);
    return rc;
}

static int null_publish(struct pr_storage *st, const char *from, const char *to,
                        bool sync, bool *ret_swapped, struct pr_err *err)
{
    int rc = make_parent(st, to, err);

    return rc ? rc : memory_publish(st, from, to, sync, ret_swapped, err);
}

const struct pr_engine pr_engine_null = {
    .name = "null",
    .desc = "nowhere: writes vanish, reads give zeros",
    .start = memory_start,
    .stop = memory_stop,
    .open = null_open,
    .fetch = null_fetch,
    .read = null_read,
    .close = null_close,
    .create = null_create,
    .write = null_write,
    .commit = null_commit,
    .discard = memory_discard,
    .stat = null_stat,
    .make_folder = memory_make_folder,
    .remove = memory_remove,
    .publish = null_publish,
    .list = memory_list,
    .space = memory_space,
    .serve = null_serve,
};
