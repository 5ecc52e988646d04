/*
 * `prony probe` in an experiment: instead of training, data alone, computing
 * alone and both are timed (prony/probe.h), and what holds it back is said. A
 * workload brings the two functions.
 */
#ifndef PR_JOB_PROBE_JOB_H
#define PR_JOB_PROBE_JOB_H

#include "job/job.h"
#include "job/progress.h"
#include "job/result_lines.h"
#include "prony/probe.h"

/* Whether probe.run asks for it. */
bool pr_job_needs_probe(const struct pr_job *job);

/* benchy's settings as probe.* gives them. Warnings go to notes, a line each.
 */
int pr_probe_job_read_config(const struct pr_job *job,
                             struct pr_probe_config *ret, struct pr_buf *notes,
                             struct pr_err *err) PR_MUST_CHECK;

struct pr_probe_job {
    const struct pr_job *job;
    struct pr_probe_calls calls;
    uint64_t batch; /* samples */
    uint64_t rank, ranks;
    int (*sum)(void *ctx, double *values, size_t count, struct pr_err *err);
    void *sum_ctx;
    struct pr_progress *progress;
    const bool *stop;
    struct pr_buf *notes; /* warnings, a line each */
};

/* Does it and writes lines, results and benchy's file. What was measured before
 * an error is reported, too. */
int pr_probe_job_run(const struct pr_probe_job *j,
                     struct pr_err *err) PR_MUST_CHECK;

/* What a probe found, as metrics; docs/probe.md defines them. */
void pr_probe_job_put_results(const struct pr_probe *p,
                              struct pr_result_lines *k);

#endif
