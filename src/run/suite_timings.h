/* The figures of a suite's result: timings, metrics, and what GPUs did. */
#ifndef PR_RUN_SUITE_TIMINGS_H
#define PR_RUN_SUITE_TIMINGS_H

#include "run/suite_compose.h"
#include "workload/suite_workload.h"

/* "program", our own, then every result that is called timings.NAME; and what
 * was logged last, over all of them. A metric that is null was no number: NaN,
 * as milarun writes it. */
int pr_suite_result_timings(const struct pr_suite_result_source *s,
                            struct pr_arena *a, struct pr_value *ret_timings,
                            struct pr_value *ret_metrics,
                            struct pr_err *err) PR_MUST_CHECK;

/* load (0 to 1), memory (MiB) and temperature of each GPU, from the monitor. */
int pr_suite_result_gpus(const struct pr_suite_result_source *s,
                         struct pr_arena *a, struct pr_value *ret,
                         struct pr_err *err) PR_MUST_CHECK;

#endif
