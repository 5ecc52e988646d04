/* What the harness itself costs: the workload that does nothing, run for
 * real. */
#ifndef PR_STUDY_HARNESS_H
#define PR_STUDY_HARNESS_H

#include "base/err.h"

/* Seconds that one experiment takes beyond its own work, over a run of n of
 * them in a folder of its own below temp_dir, which is removed again. */
int pr_harness_measure_cost(const char *temp_dir, unsigned n, double *ret_s,
                            struct pr_err *err) PR_MUST_CHECK;

#endif
