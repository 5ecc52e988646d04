/* Hooks of the engine memory that null has in common with it: st->data is a
 * struct pr_tree, o->data a struct pr_blob. */
#ifndef PR_STORAGE_MEMORY_H
#define PR_STORAGE_MEMORY_H

#include "storage/storage_impl.h"

int pr_memory_start(struct pr_storage *st, struct pr_err *err) PR_MUST_CHECK;
void pr_memory_stop(struct pr_storage *st);
void pr_memory_close(struct pr_storage *st, struct pr_object *o);
void pr_memory_discard(struct pr_storage *st, struct pr_object *o);
int pr_memory_stat(struct pr_storage *st, const char *name,
                   struct pr_object_info *ret,
                   struct pr_err *err) PR_MUST_CHECK;
int pr_memory_make_folder(struct pr_storage *st, const char *name,
                          struct pr_err *err) PR_MUST_CHECK;
int pr_memory_remove(struct pr_storage *st, const char *name,
                     struct pr_err *err) PR_MUST_CHECK;
int pr_memory_publish(struct pr_storage *st, const char *from, const char *to,
                      bool sync, bool *ret_swapped,
                      struct pr_err *err) PR_MUST_CHECK;
int pr_memory_list(struct pr_storage *st, const char *folder,
                   int (*each)(void *ctx, const char *name, bool is_folder),
                   void *ctx, struct pr_err *err) PR_MUST_CHECK;
int pr_memory_space(struct pr_storage *st, const char *name,
                    struct pr_storage_space *ret,
                    struct pr_err *err) PR_MUST_CHECK;

#endif
