/*
 * Checkpoints of an emulated training: when they are due, and writing and
 * reading them with everything that is told of it. Without training the saver
 * is the whole experiment.
 */
#ifndef PR_EMULATE_WORKLOAD_H
#define PR_EMULATE_WORKLOAD_H

#include "checkpoint/checkpoint.h"
#include "emulate/emulate.h"
#include "emulate/emulate_watch.h"
#include "job/progress.h"
#include "job/result_lines.h"

/* ---- when */

/* Steps from one checkpoint to the next in an epoch; 0: none in it. */
uint64_t pr_emulate_saver_steps_between(const struct pr_emulate *e);

/* Whether an epoch is followed by one. */
bool pr_emulate_saver_has_save_after(const struct pr_emulate *e,
                                     unsigned epoch);

/* ---- doing it */

struct pr_emulate_saver {
    const struct pr_emulate *e;
    struct pr_emulate_stats *stats;
    struct pr_emulate_watch *watch;
    struct pr_job_log *log;
    struct pr_progress *progress;
    struct pr_buf *notes;
    const bool *stop;
    struct pr_checkpoint *ckpt;
    uint64_t batches;
    uint64_t done[2], planned[2]; /* operations: written, read */
};

/* batches: steps that an epoch's data has; 0 without training. */
int pr_emulate_saver_open(struct pr_emulate_saver *s, uint64_t batches,
                          struct pr_err *err) PR_MUST_CHECK;
void pr_emulate_saver_close(struct pr_emulate_saver *s);

/* After so many steps of an epoch, the end of a block. */
int pr_emulate_saver_save(struct pr_emulate_saver *s,
                          const struct pr_checkpoint_at *at, uint64_t steps,
                          struct pr_err *err) PR_MUST_CHECK;

/* All there is to write and then to read without training. */
int pr_emulate_saver_run(struct pr_emulate_saver *s,
                         struct pr_err *err) PR_MUST_CHECK;

#endif
