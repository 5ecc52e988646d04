/* What is inside a tree, for the files that make it up. */
#ifndef PR_STORAGE_TREE_IMPL_H
#define PR_STORAGE_TREE_IMPL_H

#include "storage/tree.h"

#include <pthread.h>

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

/* Where the pointer to the entry is, or where it would be appended. */
struct pr_tree_entry **pr_tree_slot(struct pr_tree *t, const char *name);

/* The place itself is a folder that is always there. */
bool pr_tree_is_top(const char *clean);
bool pr_tree_is_folder(struct pr_tree *t, const char *clean);
int pr_tree_check_parent(struct pr_tree *t, const char *clean,
                         struct pr_err *err) PR_MUST_CHECK;

/* A new entry that is in no table yet. NULL: no memory. */
struct pr_tree_entry *pr_tree_entry_new(const char *clean,
                                        struct pr_blob *blob);

/* Takes over a reference; what had the name before is dropped. */
int pr_tree_put(struct pr_tree *t, const char *clean, struct pr_blob *blob,
                struct pr_err *err) PR_MUST_CHECK;
void pr_tree_cut(struct pr_tree *t, const char *clean);

#endif
