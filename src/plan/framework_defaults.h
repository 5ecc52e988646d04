/*
 * What frameworks/NAME.yaml sets in the experiments of that framework: weaker
 * than anything a user says, stronger than the built-in defaults, and not part
 * of an experiment's id.
 */
#ifndef PR_PLAN_FRAMEWORK_DEFAULTS_H
#define PR_PLAN_FRAMEWORK_DEFAULTS_H

#include "catalog/framework.h"
#include "plan/plan.h"

/* Reads the files of all frameworks that the groups name, and gives their
 * parameters numbers: no name may be added once experiments are made. */
int pr_framework_defaults_load(struct pr_plan *p,
                               struct pr_err *err) PR_MUST_CHECK;

/* Warns of names that are nearly those of its parameters. */
int pr_framework_defaults_check(struct pr_plan *p, const struct pr_framework *f,
                                struct pr_err *err) PR_MUST_CHECK;

/* Makes the set one of the framework it names: what another framework's file
 * set is taken out. Settings that remember what they replaced are made in the
 * arena. False: out of memory. */
bool pr_framework_defaults_apply(const struct pr_plan *p, struct pr_arena *a,
                                 struct pr_params *params);

#endif
