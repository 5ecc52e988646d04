/* Files that come with Prony: found beside an installed or a built program. */
#ifndef PR_CONF_BUNDLED_H
#define PR_CONF_BUNDLED_H

#include "base/err.h"
#include "base/mem.h"

/* The share folder: $PRONY_SHARE, else PREFIX/share/prony of where the program
 * lies, else the source tree it was built in, else where it was configured to
 * be installed. In the arena; NULL when none is there. */
const char *pr_bundled_dir(struct pr_arena *a);

/* The file of something bundled, for example ("workloads", "null"): NAME.yaml
 * or NAME.json in that folder. NULL when there is none. In the arena. */
const char *pr_bundled_find(struct pr_arena *a, const char *folder,
                            const char *name);

/* Calls back for every name in a folder, sorted. */
int pr_bundled_each(const char *folder,
                    int (*each)(void *ctx, const char *name, const char *path),
                    void *ctx, struct pr_err *err) PR_MUST_CHECK;

#endif
