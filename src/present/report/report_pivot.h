/* Results by columns, in the layout of DLBS's `bench_data report`. */
#ifndef PR_PRESENT_REPORT_PIVOT_H
#define PR_PRESENT_REPORT_PIVOT_H

#include "analyse/series/pivot.h"
#include "base/buf.h"

/* Tables of times, throughputs, speedups and efficiencies; with repeats also
 * how far off the means may be. The arena is for widths. */
int pr_pivot_text(const struct pr_pivot *p, struct pr_arena *a,
                  struct pr_buf *out, struct pr_err *err) PR_MUST_CHECK;

#endif
