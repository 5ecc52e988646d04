/*
 * The result files that DLIO writes, with its schema, so that programs that
 * read them read ours: summary.json, R_output.json, R_per_epoch_stats.json,
 * and its log lines.
 */
#ifndef PR_EMULATE_DLIO_H
#define PR_EMULATE_DLIO_H

#include "emulate/emulate.h"

/* Accelerators that have files of their own. */
enum { PR_DLIO_RANKS = 1000 };

/* Writes all of them into a folder that is there, each whole or not at all. */
int pr_dlio_write_files(const struct pr_emulate *e,
                        const struct pr_emulate_stats *s, const char *folder,
                        struct pr_err *err) PR_MUST_CHECK;

/* DLIO's log lines, as they fall due; each appends to out. The first one says
 * what is run. */
void pr_dlio_log_mode(const struct pr_emulate *e, struct pr_buf *out);
void pr_dlio_log_making(bool is_end, struct pr_buf *out);
void pr_dlio_log_start(const struct pr_emulate *e, uint64_t steps,
                       struct pr_buf *out);
void pr_dlio_log_epoch(const struct pr_emulate *e, unsigned epoch,
                       uint64_t steps, struct pr_buf *out);
void pr_dlio_log_phase(const struct pr_emulate *e,
                       const struct pr_emulate_phase *p, struct pr_buf *out);
/* A block of steps ended with a checkpoint; the next one begins. */
void pr_dlio_log_block(const struct pr_emulate *e,
                       const struct pr_emulate_phase *p,
                       const struct pr_emulate_block *b, struct pr_buf *out);
void pr_dlio_log_next_block(uint64_t block, struct pr_buf *out);
void pr_dlio_log_end(const struct pr_emulate *e,
                     const struct pr_emulate_stats *s, struct pr_buf *out);

/* ---- of checkpoints */

void pr_dlio_log_sizes(const struct pr_emulate *e, struct pr_buf *out);
void pr_dlio_log_checkpoints_only(bool is_read, bool is_end,
                                  struct pr_buf *out);
void pr_dlio_log_checkpoint_start(bool is_read,
                                  const struct pr_checkpoint_at *at,
                                  uint64_t steps, struct pr_buf *out);
void pr_dlio_log_checkpoint_end(const struct pr_checkpoint_op *op,
                                struct pr_buf *out);

#endif
