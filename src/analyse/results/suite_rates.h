/* The list of rates of a rank, out of a result file. */
#ifndef PR_ANALYSE_SUITE_RATES_H
#define PR_ANALYSE_SUITE_RATES_H

#include "analyse/suite/suite_impl.h"
#include "base/json/json.h"

/* The list at the cursor, which is at its bracket or blanks before it. What is
 * no number among them counts as NaN. */
int pr_milarun_rates_read(struct pr_json_walk *w, struct pr_suite_slices *s,
                          struct pr_arena *scratch,
                          struct pr_err *err) PR_MUST_CHECK;

#endif
