/* What outlives a power cut. */
#ifndef PR_BASE_SYNC_H
#define PR_BASE_SYNC_H

#include "base/err.h"

#include <stdbool.h>

/* What fsync said is success, or that the file system has no such thing, which
 * is not ours to mend. */
bool pr_synced(int rc);

/* Have the regular files in a folder, not those below it, on stable storage,
 * those that `of` says yes to (NULL: all); and the names in it. */
int pr_sync_files(const char *folder, bool (*of)(void *ctx, const char *name),
                  void *ctx, struct pr_err *err) PR_MUST_CHECK;
int pr_sync_names(const char *folder, struct pr_err *err) PR_MUST_CHECK;

/* ---- several files by one call
 * pr_sync_is_one, then pr_sync_data, then a rename, then pr_sync_all. */

/* Whether the file system that fd is on had better be synced as a whole: it is
 * of a kind that does so, and there is little that would have to go along. */
bool pr_sync_is_one(int fd);

/* The bytes of all regular files in a folder have been written, if not yet for
 * good: no name given from now on is on the device without them. */
int pr_sync_data(const char *folder, struct pr_err *err) PR_MUST_CHECK;

/* All of the file system. False: sync each file, and see what went wrong. */
bool pr_sync_all(int fd);

#endif
