/* Parts of an emulated training's measures, each in a file of its own. */
#ifndef PR_EMULATE_RESULT_IMPL_H
#define PR_EMULATE_RESULT_IMPL_H

#include "emulate/emulate_result.h"
#include "job/result_lines.h"

static inline double pr_emulate_ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* ---- of checkpoints */

void pr_emulate_put_checkpoints(struct pr_result_lines *k,
                                const struct pr_emulate *e,
                                const struct pr_emulate_stats *s);

/* DLIO's, under its names. */
void pr_emulate_put_dlio_checkpoints(struct pr_result_lines *k,
                                     const struct pr_emulate_stats *s);

/* In words: as the whole verdict, or behind one about training. */
void pr_emulate_checkpoint_verdict(const struct pr_emulate *e,
                                   const struct pr_emulate_stats *s,
                                   struct pr_buf *out);

#endif
