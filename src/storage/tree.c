/* Names, folders and contents in the process: a hash table under a lock. */
#include "storage/tree.h"

#include "base/mem.h"
#include "base/names.h"
#include "storage/path.h"
#include "storage/tree_impl.h"

#include <string.h>

/* ---- with the lock held */

static void blob_unref(struct pr_blob *b)
{
    if (!b || --b->refs)
        return;
    pr_free(b->data);
    pr_free(b);
}

struct pr_tree_entry **pr_tree_slot(struct pr_tree *t, const char *name)
{
    uint64_t hash = pr_hash_bytes(name, strlen(name), 0);
    struct pr_tree_entry **e = &t->table[hash & (t->slots - 1)];

    while (*e && ((*e)->hash != hash || strcmp((*e)->name, name) != 0))
        e = &(*e)->next;
    return e;
}

bool pr_tree_is_top(const char *clean)
{
    return !*clean || strcmp(clean, "/") == 0;
}

bool pr_tree_is_folder(struct pr_tree *t, const char *clean)
{
    const struct pr_tree_entry *e = *pr_tree_slot(t, clean);

    return pr_tree_is_top(clean) || (e && !e->blob);
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

struct pr_tree_entry *pr_tree_entry_new(const char *clean, struct pr_blob *blob)
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

int pr_tree_put(struct pr_tree *t, const char *clean, struct pr_blob *blob,
                struct pr_err *err)
{
    struct pr_tree_entry **slot;
    struct pr_tree_entry *e;

    if (!tree_grow(t))
        return pr_fail_nomem(err);
    slot = pr_tree_slot(t, clean);
    e = *slot;
    if (e) {
        blob_unref(e->blob);
    } else {
        e = pr_tree_entry_new(clean, NULL);
        if (!e)
            return pr_fail_nomem(err);
        *slot = e;
        set_count(t, t->count + 1);
    }
    e->blob = blob;
    return PR_OK;
}

void pr_tree_cut(struct pr_tree *t, const char *clean)
{
    struct pr_tree_entry **slot = pr_tree_slot(t, clean);
    struct pr_tree_entry *e = *slot;

    if (!e)
        return;
    *slot = e->next;
    set_count(t, t->count - 1);
    blob_unref(e->blob);
    pr_free(e);
}

int pr_tree_check_parent(struct pr_tree *t, const char *clean,
                         struct pr_err *err)
{
    char folder[PR_PATH_BYTES];

    memcpy(folder, clean, strlen(clean) + 1);
    if (!pr_path_up(folder) || pr_tree_is_folder(t, folder))
        return PR_OK;
    return pr_fail(err, PR_E_IO, clean, "the folder '%.200s' is not there",
                   folder);
}

/* ---- the tree */

struct pr_tree *pr_tree_new(void)
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

struct pr_tree *pr_tree_share(struct pr_tree *t)
{
    pthread_mutex_lock(&t->lock);
    t->refs++;
    pthread_mutex_unlock(&t->lock);
    return t;
}

void pr_tree_free(struct pr_tree *t)
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

bool pr_tree_attach(struct pr_tree *t, void *thing, void (*done)(void *thing))
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

void *pr_tree_attached(const struct pr_tree *t)
{
    return __atomic_load_n(&t->attached, __ATOMIC_ACQUIRE);
}

bool pr_tree_is_empty(const struct pr_tree *t)
{
    return !__atomic_load_n(&t->count, __ATOMIC_RELAXED);
}

int pr_tree_find(struct pr_tree *t, const char *name, struct pr_blob **ret,
                 struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    int rc = pr_path_clean(name, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    struct pr_tree_entry *e = *pr_tree_slot(t, clean);
    int found = pr_tree_is_top(clean) || (e && (!e->blob || e->blob->whole));

    if (found)
        *ret = e ? e->blob : NULL;
    if (found && *ret)
        (*ret)->refs++;
    pthread_mutex_unlock(&t->lock);
    return found;
}

void pr_tree_drop(struct pr_tree *t, struct pr_blob *b)
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

int pr_tree_create(struct pr_tree *t, const char *name, struct pr_blob **ret,
                   struct pr_err *err)
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
    rc = pr_tree_check_parent(t, clean, err);
    if (!rc && pr_tree_is_folder(t, clean))
        rc = pr_fail(err, PR_E_IO, name, "is a folder, expected a file");
    if (!rc)
        rc = pr_tree_put(t, part, b, err);
    pthread_mutex_unlock(&t->lock);
    if (rc)
        pr_free(b);
    else
        *ret = b;
    return rc;
}

int pr_tree_commit(struct pr_tree *t, const char *name, struct pr_err *err)
{
    char clean[PR_PATH_BYTES], part[PR_PATH_BYTES];
    int rc = two_names(name, clean, part, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    struct pr_tree_entry *e = *pr_tree_slot(t, part);

    if (!e || !e->blob) {
        rc = pr_fail(err, PR_E_IO, name,
                     "what was written has been removed meanwhile");
    } else if (pr_tree_is_folder(t, clean)) {
        rc = pr_fail(err, PR_E_IO, name, "is a folder, expected a file");
    } else {
        rc = pr_tree_put(t, clean, e->blob, err);
        if (!rc) {
            e->blob->refs++;
            e->blob->whole = true;
        }
    }
    pr_tree_cut(t, part);
    pthread_mutex_unlock(&t->lock);
    return rc;
}

void pr_tree_discard(struct pr_tree *t, const char *name)
{
    char clean[PR_PATH_BYTES], part[PR_PATH_BYTES];

    if (two_names(name, clean, part, NULL))
        return;
    pthread_mutex_lock(&t->lock);
    pr_tree_cut(t, part);
    pthread_mutex_unlock(&t->lock);
}
