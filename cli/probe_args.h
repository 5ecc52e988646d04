/* What `prony probe` adds to a run: parameters, and a chart. */
#ifndef PR_CLI_PROBE_ARGS_H
#define PR_CLI_PROBE_ARGS_H

#include "cli/cli.h"
#include "plan/plan.h"

/* probe.run, and what the options of probe set. */
int probe_params(struct cli *c, struct pr_plan *p,
                 struct pr_err *err) PR_MUST_CHECK;

/* Writes DIR/probe.svg, if anything was measured. */
int probe_chart(const char *dir, struct pr_err *err) PR_MUST_CHECK;

#endif
