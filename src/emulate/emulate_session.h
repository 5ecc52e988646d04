/* Running an emulated training: data, epochs, report. */
#ifndef PR_EMULATE_SESSION_H
#define PR_EMULATE_SESSION_H

#include "emulate/emulate.h"
#include "emulate/emulate_data.h"
#include "emulate/emulate_workload.h"
#include "job/job.h"

/* Writes to stdout and into the job's folder. Gives up when *stop becomes
 * true. */
int pr_emulate_session_run(struct pr_job *job, const bool *stop,
                           struct pr_err *err) PR_MUST_CHECK;

/* ---- warnings: a line of text each, gathered while it runs, shown in its log
 * and its result */

/* More or fewer ranks than model.parallelism.data says. */
void pr_warnings_add_copies(const struct pr_emulate *e, struct pr_buf *notes);

/* Samples that were skipped, epochs too short for DLIO's formulas. */
void pr_warnings_add_steps(const struct pr_emulate *e,
                           const struct pr_emulate_stats *s,
                           struct pr_buf *notes);

/* ---- what the files of an emulated training share while it runs */

struct pr_emulate_session {
    struct pr_emulate e;
    struct pr_emulate_stats stats;
    struct pr_data_session data;
    struct pr_emulate_watch watch;
    struct pr_progress progress;
    struct pr_emulate_saver saver;
    struct pr_buf notes; /* warnings, a line each */
    struct pr_job_log log;
    struct pr_feed *feed;
    struct pr_order order; /* of the phase that runs */
    const bool *stop;
    bool evaluates; /* there is a batch to do it with */
    bool in_phase;  /* one that is not finished */
    bool hangs;     /* a thread will not come back: nothing is freed */
    uint64_t steps_done;
};

/* probe.run: data alone, computing alone and both instead of epochs; writes the
 * results. */
int pr_emulate_session_run_probe(struct pr_emulate_session *s,
                                 struct pr_err *err) PR_MUST_CHECK;

#endif
