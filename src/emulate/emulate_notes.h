/*
 * Warnings of an emulated training: a line of text each, gathered while it
 * runs, shown in its log and its result.
 */
#ifndef PR_EMULATE_NOTES_H
#define PR_EMULATE_NOTES_H

#include "emulate/emulate.h"

/* More or fewer ranks than model.parallelism.data says. */
void pr_warnings_add_copies(const struct pr_emulate *e, struct pr_buf *notes);

/* More accelerators than files are written of. */
void pr_warnings_add_ranks(const struct pr_emulate *e, struct pr_buf *notes);

/* A cap that asks for more steps than the data has. */
void pr_warnings_add_step_cap(const struct pr_emulate *e, uint64_t batches,
                              struct pr_buf *notes);

/* An evaluation without a batch; *ret_has: there is one. */
int pr_warnings_add_evaluation(const struct pr_emulate *e, struct pr_buf *notes,
                               bool *ret_has, struct pr_err *err) PR_MUST_CHECK;

/* Samples that were skipped, epochs too short for DLIO's formulas. */
void pr_warnings_add_steps(const struct pr_emulate *e,
                           const struct pr_emulate_stats *s,
                           struct pr_buf *notes);

/* As lines of DLIO's log, and as `__warning__= "…"`. */
void pr_warnings_put_dlio_log(const struct pr_buf *notes, struct pr_buf *log);
void pr_warnings_put_lines(const struct pr_buf *notes, struct pr_buf *out);

#endif
