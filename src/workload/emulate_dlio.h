/*
 * The result files that DLIO writes, with its schema, so that programs that
 * read them read ours: summary.json, R_output.json, R_per_epoch_stats.json,
 * and its log lines.
 */
#ifndef PR_WORKLOAD_EMULATE_DLIO_H
#define PR_WORKLOAD_EMULATE_DLIO_H

#include "workload/emulate.h"

/* Accelerators that have files of their own. */
enum { PR_DLIO_RANKS = 1000 };

/* Writes all of them into a folder that is there, each whole or not at all. */
int pr_dlio_write(const struct pr_emulate *e, const struct pr_emulate_stats *s,
                  const char *folder, struct pr_err *err) PR_MUST_CHECK;

/* DLIO's log lines, as they fall due; each appends to out. The first one says
 * what is run. */
void pr_dlio_say_mode(const struct pr_emulate *e, struct pr_buf *out);
void pr_dlio_say_making(bool is_end, struct pr_buf *out);
void pr_dlio_say_start(const struct pr_emulate *e, uint64_t steps,
                       struct pr_buf *out);
void pr_dlio_say_epoch(const struct pr_emulate *e, unsigned epoch,
                       uint64_t steps, struct pr_buf *out);
void pr_dlio_say_phase(const struct pr_emulate *e, const struct pr_phase *p,
                       struct pr_buf *out);
/* A block of steps ended with a checkpoint; the next one begins. */
void pr_dlio_say_block(const struct pr_emulate *e, const struct pr_phase *p,
                       const struct pr_block *b, struct pr_buf *out);
void pr_dlio_say_next(uint64_t block, struct pr_buf *out);
void pr_dlio_say_end(const struct pr_emulate *e,
                     const struct pr_emulate_stats *s, struct pr_buf *out);

/* ---- of checkpoints */

void pr_dlio_say_sizes(const struct pr_emulate *e, struct pr_buf *out);
void pr_dlio_say_alone(bool is_read, bool is_end, struct pr_buf *out);
void pr_dlio_say_saving(bool is_read, const struct pr_ckpt_at *at,
                        uint64_t steps, struct pr_buf *out);
void pr_dlio_say_saved(const struct pr_ckpt_op *op, struct pr_buf *out);

#endif
