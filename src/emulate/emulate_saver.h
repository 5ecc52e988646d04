/*
 * Checkpoints of an emulated training: when they are due, and writing and
 * reading them with everything that is told of it. Without training the saver
 * is the whole experiment.
 */
#ifndef PR_EMULATE_SAVER_H
#define PR_EMULATE_SAVER_H

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

/* Over all epochs, of so many steps each. */
uint64_t pr_emulate_saver_count_training(const struct pr_emulate *e,
                                         uint64_t batches);

/* Number i of them, from 0: what it will be called. */
void pr_emulate_saver_get_position(const struct pr_emulate *e, uint64_t batches,
                                   uint64_t i, struct pr_checkpoint_at *ret);

/* Without training: how many are written, and read. */
uint64_t pr_emulate_saver_count_writes(const struct pr_emulate *e);
uint64_t pr_emulate_saver_count_reads(const struct pr_emulate *e);

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
