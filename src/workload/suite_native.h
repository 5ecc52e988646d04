/* The equivalents of milarun's functions. */
#ifndef PR_WORKLOAD_SUITE_NATIVE_H
#define PR_WORKLOAD_SUITE_NATIVE_H

#include "base/err.h"
#include "base/value.h"

/* The parameters of an experiment that does what this function does with these
 * arguments (words). PR_E_UNAVAIL: there is none. In the arena. */
int pr_suite_native(const char *experiment, const struct pr_value *args,
                    struct pr_arena *a, struct pr_value *ret,
                    struct pr_err *err) PR_MUST_CHECK;

/* Whether a parameter has another value than its default. */
bool pr_suite_is_given(const struct pr_member *param);

#endif
