/* Going through the results of a run's experiments. */
#ifndef PR_PRESENT_RESULTS_EACH_H
#define PR_PRESENT_RESULTS_EACH_H

#include "base/err.h"
#include "base/value.h"

/* results: the map of result.json; NULL when there is none. Not PR_OK: stop,
 * and that is returned. */
typedef int pr_results_call(void *ctx, const char *id,
                            const struct pr_value *results, struct pr_err *err);

int pr_run_each_result(const char *dir, pr_results_call *call, void *ctx,
                       struct pr_err *err) PR_MUST_CHECK;

/* results.verdict, in plain words; NULL: none. */
const char *pr_run_result_verdict(const struct pr_value *results);

#endif
