/* What a probe found, as metrics; docs/probe.md defines them. */
#ifndef PR_JOB_PROBE_RESULT_H
#define PR_JOB_PROBE_RESULT_H

#include "job/sink.h"
#include "prony/probe.h"

void pr_probe_job_put_results(const struct pr_probe *p,
                              struct pr_result_lines *k);

#endif
