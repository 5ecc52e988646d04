/* The experiments that one combination of variables gives. */
#ifndef PR_PLAN_COMBINE_H
#define PR_PLAN_COMBINE_H

#include "plan/spec.h"

struct pr_variants {
    struct pr_params **items;
    size_t count, cap;
};

/* wheel has the number of the value of each variable of the group. All is in
 * the arena. */
int pr_walk_combine(const struct pr_plan *p, const struct pr_plan_group *g,
                    const size_t *wheel, struct pr_arena *a,
                    struct pr_variants *ret, struct pr_err *err) PR_MUST_CHECK;

#endif
