/* Settings of one key in the map that a parameter takes, as in
 * train.computation_time.type=uniform. */
#ifndef PR_PLAN_BELOW_H
#define PR_PLAN_BELOW_H

#include "conf/option/parameters.h"

/* With each key the map is made anew; a map that is given whole may have any
 * number. */
enum { PR_SETTING_KEYS_MAX = 1000 };

/* A setting of the whole parameter: what it is at present (NULL: not set) with
 * the key of set->below in it, or without it when remove is true. A value that
 * is no map is replaced by one. PR_E_CONF: more than PR_SETTING_KEYS_MAX keys.
 */
int pr_setting_merge_key(struct pr_arena *a, struct pr_names *names,
                         const struct pr_setting *present,
                         const struct pr_setting *set, bool remove,
                         const struct pr_setting **ret,
                         struct pr_err *err) PR_MUST_CHECK;

#endif
