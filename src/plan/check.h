/* The experiments that --name asks for. */
#ifndef PR_PLAN_CHECK_H
#define PR_PLAN_CHECK_H

#include "plan/plan.h"

/* Whether "a,b" has that name. */
bool pr_only_has(const char *list, const char *name, size_t len);

#endif
