/* The experiments that --name asks for. */
#ifndef PR_PLAN_ONLY_H
#define PR_PLAN_ONLY_H

#include "plan/spec.h"

/* Whether "a,b" has that name. */
bool pr_only_has(const char *list, const char *name, size_t len);

#endif
