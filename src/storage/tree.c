/* Names, folders and contents in the process: a hash table under a lock. */
#include "storage/tree.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "storage/path.h"

#include <pthread.h>
#include <string.h>

struct entry {
    struct entry *next;
    struct pr_blob *blob; /* NULL: a folder */
    uint64_t hash;
    char name[]; /* clean */
};

struct pr_tree {
    pthread_mutex_t lock;
    unsigned refs;
    struct entry **table;
    size_t slots;   /* a power of two */
    size_t count;   /* atomic: changed under the lock, read without */
    void *attached; /* atomic */
    void (*attached_done)(void *thing);
};

/* ---- with the lock held */

static void blob_unref(struct pr_blob *b)
{
    if (!b || --b->refs)
        return;
    pr_free(b->data);
    pr_free(b);
}

/* Where the pointer to the entry is, or where it would be appended. */
static struct entry **slot_of(struct pr_tree *t, const char *name)
{
    uint64_t hash = pr_hash_bytes(name, strlen(name), 0);
    struct entry **e = &t->table[hash & (t->slots - 1)];

    while (*e && ((*e)->hash != hash || strcmp((*e)->name, name) != 0))
        e = &(*e)->next;
    return e;
}

/* The place itself is a folder that is always there. */
static bool is_top(const char *clean)
{
    return !*clean || strcmp(clean, "/") == 0;
}

static bool is_folder(struct pr_tree *t, const char *clean)
{
    const struct entry *e = *slot_of(t, clean);

    return is_top(clean) || (e && !e->blob);
}

static bool grow(struct pr_tree *t)
{
    size_t slots = t->slots * 2;
    struct entry **table;

    if (t->count < t->slots)
        return true;
    table = pr_alloc_zeroed(slots * sizeof(struct entry *));
    if (!table)
        return false;
    for (size_t i = 0; i < t->slots; i++) {
        while (t->table[i]) {
            struct entry *e = t->table[i];
            struct entry **to = &table[e->hash & (slots - 1)];

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

/* Takes over a reference; what had the name before is dropped. */
static int put(struct pr_tree *t, const char *clean, struct pr_blob *blob,
               struct pr_err *err)
{
    struct entry **slot;
    struct entry *e;
    size_t bytes = strlen(clean) + 1;

    if (!grow(t))
        return pr_fail_nomem(err);
    slot = slot_of(t, clean);
    e = *slot;
    if (e) {
        blob_unref(e->blob);
    } else {
        e = pr_alloc(sizeof *e + bytes);
        if (!e)
            return pr_fail_nomem(err);
        memcpy(e->name, clean, bytes);
        e->hash = pr_hash_bytes(clean, bytes - 1, 0);
        e->next = NULL;
        *slot = e;
        set_count(t, t->count + 1);
    }
    e->blob = blob;
    return PR_OK;
}

static void cut(struct pr_tree *t, const char *clean)
{
    struct entry **slot = slot_of(t, clean);
    struct entry *e = *slot;

    if (!e)
        return;
    *slot = e->next;
    set_count(t, t->count - 1);
    blob_unref(e->blob);
    pr_free(e);
}

static int check_parent(struct pr_tree *t, const char *clean,
                        struct pr_err *err)
{
    char folder[PR_PATH_BYTES];

    memcpy(folder, clean, strlen(clean) + 1);
    if (!pr_path_up(folder) || is_folder(t, folder))
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
    t->table = pr_alloc_zeroed(t->slots * sizeof(struct entry *));
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
            struct entry *e = t->table[i];

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
    struct entry *e = *slot_of(t, clean);
    int found = is_top(clean) || (e && (!e->blob || e->blob->whole));

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
    rc = check_parent(t, clean, err);
    if (!rc && is_folder(t, clean))
        rc = pr_fail(err, PR_E_IO, name, "is a folder, expected a file");
    if (!rc)
        rc = put(t, part, b, err);
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
    struct entry *e = *slot_of(t, part);

    if (!e || !e->blob) {
        rc = pr_fail(err, PR_E_IO, name,
                     "what was written has been removed meanwhile");
    } else if (is_folder(t, clean)) {
        rc = pr_fail(err, PR_E_IO, name, "is a folder, expected a file");
    } else {
        rc = put(t, clean, e->blob, err);
        if (!rc) {
            e->blob->refs++;
            e->blob->whole = true;
        }
    }
    cut(t, part);
    pthread_mutex_unlock(&t->lock);
    return rc;
}

void pr_tree_discard(struct pr_tree *t, const char *name)
{
    char clean[PR_PATH_BYTES], part[PR_PATH_BYTES];

    if (two_names(name, clean, part, NULL))
        return;
    pthread_mutex_lock(&t->lock);
    cut(t, part);
    pthread_mutex_unlock(&t->lock);
}

int pr_tree_stat(struct pr_tree *t, const char *name,
                 struct pr_object_info *ret, struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    int rc = pr_path_clean(name, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    struct entry *e = *slot_of(t, clean);
    const struct pr_blob *b = e ? e->blob : NULL;
    bool found = e || is_top(clean);

    if (found)
        *ret = (struct pr_object_info){b && b->whole ? b->size : 0, !b};
    pthread_mutex_unlock(&t->lock);
    return found;
}

int pr_tree_make_folder(struct pr_tree *t, const char *name, struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    int rc = pr_path_clean(name, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    for (size_t i = 1; !rc && !is_top(clean); i++) {
        char c = clean[i];
        struct entry *e;

        if (c && c != '/')
            continue;
        clean[i] = '\0';
        e = *slot_of(t, clean);
        if (e && e->blob)
            rc = pr_fail(err, PR_E_IO, clean, "is a file, expected a folder");
        else if (!e)
            rc = put(t, clean, NULL, err);
        clean[i] = c;
        if (!c)
            break;
    }
    pthread_mutex_unlock(&t->lock);
    return rc;
}

/* The name of e below folder; NULL: it is not directly there. */
static const char *name_in(const struct entry *e, const char *folder)
{
    size_t n = strlen(folder);
    const char *base = e->name + pr_path_base(e->name);

    if (is_top(folder))
        return base == e->name + n ? base : NULL;
    if (strncmp(e->name, folder, n) != 0 || e->name[n] != '/')
        return NULL;
    return base == e->name + n + 1 ? base : NULL;
}

static bool has_any(struct pr_tree *t, const char *folder)
{
    for (size_t i = 0; i < t->slots; i++)
        for (struct entry *e = t->table[i]; e; e = e->next)
            if (name_in(e, folder))
                return true;
    return false;
}

int pr_tree_remove(struct pr_tree *t, const char *name, struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    int rc = pr_path_clean(name, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    if (is_folder(t, clean) && has_any(t, clean))
        rc = pr_fail(err, PR_E_IO, name, "cannot remove: it is not empty");
    else
        cut(t, clean);
    pthread_mutex_unlock(&t->lock);
    return rc;
}

static void add_name(struct pr_buf *names, const struct entry *e,
                     const char *folder)
{
    const char *name = name_in(e, folder);

    if (!name)
        return;
    pr_buf_char(names, e->blob ? 'o' : 'f');
    pr_buf_add(names, name, strlen(name) + 1);
}

/* Copies of the names first: each may well remove what it is given. */
int pr_tree_list(struct pr_tree *t, const char *folder,
                 int (*each)(void *ctx, const char *name, bool is_folder),
                 void *ctx, struct pr_err *err)
{
    char clean[PR_PATH_BYTES];
    PR_AUTO_BUF struct pr_buf names = PR_BUF_INIT(SIZE_MAX / 2);
    int rc = pr_path_clean(folder, clean, err);

    if (rc)
        return rc;
    pthread_mutex_lock(&t->lock);
    if (!is_folder(t, clean))
        rc = pr_fail(err, PR_E_IO, folder, "there is no such folder");
    for (size_t i = 0; !rc && i < t->slots; i++)
        for (struct entry *e = t->table[i]; e; e = e->next)
            add_name(&names, e, clean);
    pthread_mutex_unlock(&t->lock);
    if (!rc && !pr_buf_ok(&names))
        rc = pr_fail_nomem(err);
    for (size_t i = 0; !rc && i < names.len; i += strlen(names.data + i) + 1)
        rc = each(ctx, names.data + i + 1, names.data[i] == 'f');
    return rc;
}
