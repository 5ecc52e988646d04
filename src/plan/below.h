/* Settings of one key in the map that a parameter takes, as in
 * train.computation_time.type=uniform. */
#ifndef PR_PLAN_BELOW_H
#define PR_PLAN_BELOW_H

#include "conf/params.h"

/* A setting of the whole parameter: what it is at present (NULL: not set) with
 * the key of set->below in it, or without it when remove is true. A value that
 * is no map is replaced by one. NULL when out of memory. */
const struct pr_setting *pr_below_lay(struct pr_arena *a,
                                      struct pr_names *names,
                                      const struct pr_setting *present,
                                      const struct pr_setting *set,
                                      bool remove);

#endif
