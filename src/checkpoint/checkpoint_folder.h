/* Where checkpoints go, and whether there is room for them. */
#ifndef PR_CHECKPOINT_FOLDER_H
#define PR_CHECKPOINT_FOLDER_H

#include "checkpoint/checkpoint_ops.h"
#include "checkpoint/checkpoint_shape.h"
#include "storage/storage.h"

struct pr_checkpoint_folder {
    struct pr_storage_opts storage; /* rooted in the folder */
    char folder[4096];
};

/* The place must not move afterwards: its options point into it. */
int pr_checkpoint_folder_find(struct pr_checkpoint_folder *p,
                              const struct pr_checkpoint_shape *s,
                              const struct pr_storage_opts *storage,
                              struct pr_err *err) PR_MUST_CHECK;

int pr_checkpoint_folder_open(const struct pr_checkpoint_folder *p,
                              struct pr_storage **ret,
                              struct pr_err *err) PR_MUST_CHECK;

/* For a folder that is none, or cannot be written to. */
extern const char pr_checkpoint_folder_hint[];

/* The checkpoints that will be written, by their numbers from 0. */
struct pr_checkpoint_names {
    uint64_t count;
    void (*at)(const void *ctx, uint64_t i, struct pr_checkpoint_at *ret);
    const void *ctx;
};

/* What checkpoints of the ranks run here need at once, and what is free;
 * UINT64_MAX: no limit. Those that will be replaced make room. */
struct pr_checkpoint_room {
    uint64_t need, free, at_once;
};

/* PR_E_IO when there is not enough, with the remedy. */
int pr_checkpoint_folder_check_room(const struct pr_checkpoint_folder *p,
                                    struct pr_storage *st,
                                    const struct pr_checkpoint_shape *s,
                                    const struct pr_checkpoint_names *names,
                                    struct pr_err *err) PR_MUST_CHECK;

/* Takes away what killed runs had begun, and gives back a name that one was
 * about to replace; nobody else may be writing there. */
int pr_checkpoint_folder_clean(struct pr_storage *st,
                               struct pr_err *err) PR_MUST_CHECK;

#endif
