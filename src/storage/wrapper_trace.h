/* Hooks of a wrapper that leave everything to the storage inside. */
#ifndef PR_STORAGE_WRAPPER_TRACE_H
#define PR_STORAGE_WRAPPER_TRACE_H

#include "storage/storage_impl.h"

void pr_wrap_close(struct pr_storage *st, struct pr_object *o);
int pr_wrap_sync(struct pr_storage *st, struct pr_object *o,
                 struct pr_err *err) PR_MUST_CHECK;
int pr_wrap_commit(struct pr_storage *st, struct pr_object *o,
                   struct pr_err *err) PR_MUST_CHECK;
void pr_wrap_discard(struct pr_storage *st, struct pr_object *o);
int pr_wrap_stat(struct pr_storage *st, const char *name,
                 struct pr_object_info *ret, struct pr_err *err) PR_MUST_CHECK;
int pr_wrap_make_folder(struct pr_storage *st, const char *name,
                        struct pr_err *err) PR_MUST_CHECK;
int pr_wrap_remove(struct pr_storage *st, const char *name,
                   struct pr_err *err) PR_MUST_CHECK;
int pr_wrap_publish(struct pr_storage *st, const char *from, const char *to,
                    bool sync, bool *ret_swapped,
                    struct pr_err *err) PR_MUST_CHECK;
int pr_wrap_list(struct pr_storage *st, const char *folder,
                 int (*each)(void *ctx, const char *name, bool is_folder),
                 void *ctx, struct pr_err *err) PR_MUST_CHECK;
int pr_wrap_space(struct pr_storage *st, const char *name,
                  struct pr_storage_space *ret,
                  struct pr_err *err) PR_MUST_CHECK;

/* Opens inside, and hides a map: it would be a way past the wrapper. */
int pr_wrap_open(struct pr_storage *st, struct pr_object *o,
                 struct pr_err *err) PR_MUST_CHECK;

#endif
