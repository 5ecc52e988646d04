/*
 * Checkpoints of an emulated training: all ranks write or read theirs at the
 * same time, by a few threads. A checkpoint is a folder that appears under its
 * name when every file in it is whole; until then it is called .part-NAME.
 */
#ifndef PR_WORKLOAD_CHECKPOINT_H
#define PR_WORKLOAD_CHECKPOINT_H

#include "storage/storage.h"
#include "workload/checkpoint_ops.h"
#include "workload/checkpoint_place.h"
#include "workload/checkpoint_shape.h"

struct pr_ckpt; /* folder, threads */

/* Told about ten times a second while one is written or read. */
typedef void pr_ckpt_tick(void *ctx, bool is_read, uint64_t done,
                          uint64_t bytes);

struct pr_ckpt_opts {
    const struct pr_ckpt_shape *shape;
    const struct pr_storage_opts *storage;
    uint64_t nodes; /* machines that the ranks are on */
    bool cold;      /* drop pages from the page cache before reading */
    const bool *stop;
    struct pr_clock *clock; /* NULL: the machine's */
    pr_ckpt_tick *tick;     /* or NULL */
    void *tick_ctx;
    struct pr_ckpt_ops *ops; /* that are added to */
    uint64_t listed_ranks;   /* of these each one's time is kept */
    struct pr_arena *arena;  /* of those listed */
};

/* Makes the folder, sees that there is room for what will be written at once,
 * and starts the threads. */
int pr_ckpt_open(const struct pr_ckpt_opts *opts,
                 const struct pr_ckpt_names *names, struct pr_ckpt **ret,
                 struct pr_err *err) PR_MUST_CHECK;
void pr_ckpt_close(struct pr_ckpt *c); /* NULL is fine */

/* ret: what it took, which is also added to opts->ops. */
int pr_ckpt_save(struct pr_ckpt *c, const struct pr_ckpt_at *at,
                 struct pr_ckpt_op *ret, struct pr_err *err) PR_MUST_CHECK;
int pr_ckpt_load(struct pr_ckpt *c, const struct pr_ckpt_at *at,
                 struct pr_ckpt_op *ret, struct pr_err *err) PR_MUST_CHECK;

const char *pr_ckpt_note(const struct pr_ckpt *c); /* of the engine; "" */
const char *pr_ckpt_engine(const struct pr_ckpt *c);
unsigned pr_ckpt_threads(const struct pr_ckpt *c);

#endif
