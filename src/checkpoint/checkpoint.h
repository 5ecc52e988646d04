/*
 * Checkpoints of an emulated training: all ranks write or read theirs at the
 * same time, by a few threads. A checkpoint is a folder that appears under its
 * name when every file in it is whole; until then it is called .part-NAME.
 */
#ifndef PR_CHECKPOINT_H
#define PR_CHECKPOINT_H

#include "checkpoint/checkpoint_folder.h"
#include "checkpoint/checkpoint_ops.h"
#include "checkpoint/checkpoint_shape.h"
#include "storage/storage.h"

struct pr_checkpoint; /* folder, threads */

/* Told about ten times a second while one is written or read. */
typedef void pr_checkpoint_tick_fn(void *ctx, bool is_read, uint64_t done,
                                   uint64_t bytes);

struct pr_checkpoint_open_opts {
    const struct pr_checkpoint_shape *shape;
    const struct pr_storage_opts *storage;
    uint64_t nodes; /* machines that the ranks are on */
    bool cold;      /* drop pages from the page cache before reading */
    const bool *stop;
    struct pr_clock *clock;      /* NULL: the machine's */
    pr_checkpoint_tick_fn *tick; /* or NULL */
    void *tick_ctx;
    struct pr_checkpoint_ops *ops; /* that are added to */
    uint64_t listed_ranks;         /* of these each one's time is kept */
    struct pr_arena *arena;        /* of those listed */
};

/* Makes the folder, sees that there is room for what will be written at once,
 * and starts the threads. */
int pr_checkpoint_open(const struct pr_checkpoint_open_opts *opts,
                       const struct pr_checkpoint_names *names,
                       struct pr_checkpoint **ret,
                       struct pr_err *err) PR_MUST_CHECK;
void pr_checkpoint_close(struct pr_checkpoint *c); /* NULL is fine */

/* ret: what it took, which is also added to opts->ops. */
int pr_checkpoint_save(struct pr_checkpoint *c,
                       const struct pr_checkpoint_at *at,
                       struct pr_checkpoint_op *ret,
                       struct pr_err *err) PR_MUST_CHECK;
int pr_checkpoint_load(struct pr_checkpoint *c,
                       const struct pr_checkpoint_at *at,
                       struct pr_checkpoint_op *ret,
                       struct pr_err *err) PR_MUST_CHECK;

const char *
pr_checkpoint_warning(const struct pr_checkpoint *c); /* of the engine; "" */
const char *pr_checkpoint_engine(const struct pr_checkpoint *c);
unsigned pr_checkpoint_thread_count(const struct pr_checkpoint *c);

#endif
