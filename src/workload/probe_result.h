/* What a probe found, as metric lines; docs/probe.md defines them. */
#ifndef PR_WORKLOAD_PROBE_RESULT_H
#define PR_WORKLOAD_PROBE_RESULT_H

#include "base/buf.h"
#include "prony/probe.h"

void pr_probe_results(const struct pr_probe *p, struct pr_buf *out);

#endif
