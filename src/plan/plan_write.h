/* Who set a parameter: the whole story, for `prony plan --explain`. */
#ifndef PR_PLAN_WRITE_H
#define PR_PLAN_WRITE_H

#include "plan/plan.h"

/* Appends text: the value in the first experiments, who set it, what was
 * overridden, what it is computed from. PR_E_USAGE for an unknown name. */
int pr_plan_explain(struct pr_plan *p, const char *name, struct pr_buf *out,
                    struct pr_err *err) PR_MUST_CHECK;

#endif
