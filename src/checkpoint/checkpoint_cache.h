/* A checkpoint in the page cache. */
#ifndef PR_CHECKPOINT_CACHE_H
#define PR_CHECKPOINT_CACHE_H

#include "checkpoint/checkpoint_shape.h"
#include "storage/storage.h"

/* Drops the files of the ranks run here with drop, then finds out which share
 * of them is there; -1: not known. */
int pr_checkpoint_cached_share(const struct pr_checkpoint_shape *shape,
                               struct pr_storage *st, const char *folder,
                               bool drop, double *ret,
                               struct pr_err *err) PR_MUST_CHECK;

#endif
