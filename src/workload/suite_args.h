/*
 * Arguments of a job of a suite: those of the profile with those of the command
 * line laid over, and what they come to.
 */
#ifndef PR_WORKLOAD_SUITE_ARGS_H
#define PR_WORKLOAD_SUITE_ARGS_H

#include "base/err.h"
#include "base/value.h"

/* The words of one list after those of the other. Where a later word is --no-x,
 * an earlier --x goes away with its value, and where it is --x an earlier
 * --no-x: argparse refuses to have both. A list of texts, in the arena. */
int pr_suite_merge_args(const struct pr_value *first,
                        const struct pr_value *later, struct pr_arena *a,
                        struct pr_value *ret, struct pr_err *err) PR_MUST_CHECK;

/* Options of such a list by name, as milarun's results have them:
 * {"batch_size": 16, "cuda": true}. Numbers by Python's rules, --no-x is x:
 * false, the last one of a name counts, what is no option is left out. */
int pr_suite_read_options(const struct pr_value *args, struct pr_arena *a,
                          struct pr_value *ret,
                          struct pr_err *err) PR_MUST_CHECK;

#endif
