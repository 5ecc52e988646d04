/* What verbs that take TARGETs share: from arguments to a built plan. */
#ifndef CLI_TARGETS_H
#define CLI_TARGETS_H

#include "cli/cli.h"
#include "plan/plan.h"

/* Reads all sources the command line names and builds the plan; warnings are
 * said. The caller frees it with pr_plan_free. */
int plan_from_args(struct cli *c, struct pr_plan **ret,
                   struct pr_err *err) PR_MUST_CHECK;

/* Whether every experiment can be run at all: refused before anything starts
 * rather than failed one by one. */
int plan_check(struct pr_plan *p, struct pr_err *err) PR_MUST_CHECK;

/* What a plan will cost, added up over its experiments. */
struct plan_cost {
    uint64_t experiments, skipped, unknown;
    uint64_t write_bytes, read_bytes;
    double seconds, at_most_s;
    bool limited; /* every experiment has a timeout */
};

int plan_cost(struct pr_plan *p, struct plan_cost *ret,
              struct pr_err *err) PR_MUST_CHECK;

/* One or two lines in plain words. */
void plan_cost_text(const struct plan_cost *cost, struct pr_buf *out);

/* A table of the experiments: id, what varies, workload. At most max_rows. */
int plan_table(struct cli *c, struct pr_plan *p, uint64_t max_rows,
               struct pr_buf *out, struct pr_err *err) PR_MUST_CHECK;

#endif
