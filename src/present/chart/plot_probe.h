/* Three throughputs as bars, of every experiment that was probed. */
#ifndef PR_PRESENT_PLOT_PROBE_H
#define PR_PRESENT_PLOT_PROBE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/* Appends the chart of a run directory as SVG; *ret_any false: there is nothing
 * to show. */
int pr_probe_chart(const char *dir, struct pr_buf *out, bool *ret_any,
                   struct pr_err *err) PR_MUST_CHECK;

#endif
