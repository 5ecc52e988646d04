/*
 * Names, folders and contents in the process itself: what the engines memory
 * and null keep their objects in. Several storages, each of a thread of its
 * own, may share one tree: names are looked up under a lock, contents are
 * counted references and do not change once they are committed.
 */
#ifndef PR_STORAGE_TREE_H
#define PR_STORAGE_TREE_H

#include "storage/storage.h"

struct pr_blob {
    unsigned refs; /* under the tree's lock */
    bool whole;    /* … too: committed, does not change any more */
    uint64_t size;
    uint8_t *data; /* NULL: zeros, as far as anybody cares */
    size_t cap;
};

struct pr_tree;

struct pr_tree *pr_tree_new(void); /* NULL: no memory */
struct pr_tree *pr_tree_share(struct pr_tree *t);
void pr_tree_free(struct pr_tree *t); /* the last one who shares it frees */

/* Something that all who share the tree have in common; done is called for it
 * when the tree is freed. False: there is something already. */
bool pr_tree_attach(struct pr_tree *t, void *thing, void (*done)(void *thing));
void *pr_tree_attached(const struct pr_tree *t); /* or NULL */

/* No names at all, nor those being written. Asking takes no lock. */
bool pr_tree_is_empty(const struct pr_tree *t);

/* The contents of a name, with a reference of the caller's; NULL for a folder.
 * 1: it is there; 0: it is not, or is being written. */
int pr_tree_find(struct pr_tree *t, const char *name, struct pr_blob **ret,
                 struct pr_err *err) PR_MUST_CHECK;
void pr_tree_drop(struct pr_tree *t, struct pr_blob *b); /* NULL is fine */

/* New contents for name, kept under its part name until pr_tree_commit; the
 * caller has a reference and may fill them. The folder must be there. */
int pr_tree_create(struct pr_tree *t, const char *name, struct pr_blob **ret,
                   struct pr_err *err) PR_MUST_CHECK;
int pr_tree_commit(struct pr_tree *t, const char *name,
                   struct pr_err *err) PR_MUST_CHECK;
void pr_tree_discard(struct pr_tree *t, const char *name);

/* As in storage.h. */
int pr_tree_stat(struct pr_tree *t, const char *name,
                 struct pr_object_info *ret, struct pr_err *err) PR_MUST_CHECK;
int pr_tree_make_folder(struct pr_tree *t, const char *name,
                        struct pr_err *err) PR_MUST_CHECK;
int pr_tree_remove(struct pr_tree *t, const char *name,
                   struct pr_err *err) PR_MUST_CHECK;
int pr_tree_publish(struct pr_tree *t, const char *from, const char *to,
                    bool *ret_swapped, struct pr_err *err) PR_MUST_CHECK;
int pr_tree_list(struct pr_tree *t, const char *folder,
                 int (*each)(void *ctx, const char *name, bool is_folder),
                 void *ctx, struct pr_err *err) PR_MUST_CHECK;

#endif
