/* The slots that experiments of a run are put into. */
#ifndef PR_RUN_SLOT_SETS_H
#define PR_RUN_SLOT_SETS_H

#include "base/buf.h"
#include "conf/option/option.h"
#include "launch/keeper/keeper.h"
#include "run/session.h"

/* Those made so far: one set for each way the machine is split. */
struct pr_slot_sets {
    struct pr_slot_set *first;
    struct pr_gpus *gpus;
};

/* The slot that suite.* asks for; NULL in *ret: none. *ret_set is the set it is
 * of. Sets are kept until pr_slot_sets_close, which must come after the
 * keeper's end. PR_E_CONF: there is no such slot, or no such group can be. */
int pr_slot_sets_get(struct pr_slot_sets *s, struct pr_keeper *keeper,
                     const struct pr_suite_opts *suite,
                     const struct pr_slot **ret,
                     const struct pr_slots **ret_set,
                     struct pr_err *err) PR_MUST_CHECK;

/* A slot as a member of a results map: its processors and memory, and what
 * holds an experiment there. */
void pr_slot_sets_write_slot(const struct pr_slot *slot,
                             const struct pr_slots *set,
                             struct pr_buf *results);
void pr_slot_sets_close(struct pr_slot_sets *s);

#endif
