/* Scaling reports in DLBS's layout, and as the JSON of its --report_file. */
#ifndef PR_PRESENT_REPORT_SCALING_H
#define PR_PRESENT_REPORT_SCALING_H

#include "analyse/series/scaling.h"
#include "base/buf.h"

/* Tables of time, throughput, speedup and efficiency; with repeats also how
 * far off times and efficiencies may be. Failure is the buffer's. */
void pr_scaling_text(const struct pr_scaling *s, struct pr_buf *out);

/* {"data": [{"m": "ResNet50", …, "perf": {"data": {"1": 913.44}}}]} */
void pr_scaling_json(const struct pr_scaling *s, struct pr_buf *out);

#endif
