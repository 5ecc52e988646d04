/* What verbs that take TARGETs share: from arguments to a built plan. */
#ifndef CLI_TARGETS_H
#define CLI_TARGETS_H

#include "cli/cli.h"
#include "plan/plan.h"
#include "run/estimate.h"

/* Reads all sources the command line names and builds the plan; warnings are
 * said. The caller frees it with pr_plan_free. */
int plan_from_args(struct cli *c, struct pr_plan **ret,
                   struct pr_err *err) PR_MUST_CHECK;

/* One or two lines in plain words. */
void plan_cost_text(const struct pr_plan_cost *cost, struct pr_buf *out);

/* Prints a plan: its JSON, or a table of at most max_rows experiments (id,
 * what varies, command) and the cost. */
int plan_show(struct cli *c, struct pr_plan *p, bool json, uint64_t max_rows,
              struct pr_err *err) PR_MUST_CHECK;

#endif
