/* What verbs that take TARGETs share: from arguments to a built plan. */
#ifndef PR_CLI_TARGETS_H
#define PR_CLI_TARGETS_H

#include "cli/cli.h"
#include "plan/plan.h"
#include "run/plan_jobs.h"

/* Reads all sources the command line names and builds the plan; warnings are
 * said. The caller frees it with pr_plan_free. */
int plan_from_args(struct cli *c, struct pr_plan **ret,
                   struct pr_err *err) PR_MUST_CHECK;

/* Whether anything says what is to be done: defaults alone describe no
 * training. */
bool has_targets(const struct cli *c);

/* The file of a finished plan, by --plan or as the only target, which is taken
 * as it stands; NULL: none is named. */
const char *finished_plan(struct cli *c);

/* Makes "runs/NAME.TIME", NAME being the first target's and suffix, with a
 * number when there is one of this second. NULL: err. */
const char *runs_dir(struct cli *c, const char *suffix, struct pr_err *err);

/* Experiments see the root of data in their environment, whole, as they may run
 * in folders of their own: the folder of -d, or what is there already. NULL: no
 * -d. */
int set_data_root(struct pr_arena *a, const char *dir,
                  struct pr_err *err) PR_MUST_CHECK;

/* Runs a built plan in a new run directory; show: the results on stdout, as
 * `prony run` does. */
int run_plan_in_dir(struct cli *c, struct pr_plan *p, const char *dir,
                    bool show, struct pr_err *err) PR_MUST_CHECK;

/* One or two lines in plain words. */
void plan_cost_text(const struct pr_plan_cost *cost, struct pr_buf *out);

/* Appends a table of the checkpoints that experiments write; nothing when none
 * does. */
int plan_checkpoint_text(struct cli *c, struct pr_plan *p, struct pr_buf *out,
                         struct pr_err *err) PR_MUST_CHECK;

/* Appends an object for each such experiment, with commas between. */
int plan_checkpoint_json(struct pr_plan *p, struct pr_buf *out,
                         struct pr_err *err) PR_MUST_CHECK;

/* What MLPerf Storage asks of a plan's experiments, if it concerns them: lines
 * under the table, or `, "mlperf": […]` of a JSON document on stdout. */
int plan_mlperf_text(struct cli *c, struct pr_plan *p, struct pr_buf *out,
                     struct pr_err *err) PR_MUST_CHECK;
int plan_mlperf_json(struct cli *c, struct pr_plan *p,
                     struct pr_err *err) PR_MUST_CHECK;

/* Prints a plan: its JSON, or a table of at most max_rows experiments (id,
 * what varies, command) and the cost. */
int plan_show(struct cli *c, struct pr_plan *p, bool json, uint64_t max_rows,
              struct pr_err *err) PR_MUST_CHECK;

#endif
