/* What the files of an emulated training share while it runs. */
#ifndef PR_EMULATE_SESSION_IMPL_H
#define PR_EMULATE_SESSION_IMPL_H

#include "emulate/emulate_data.h"
#include "emulate/emulate_saver.h"

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

/* ---- emulate_epochs.c */

/* All epochs, with evaluations and checkpoints. */
int pr_emulate_session_run_epochs(struct pr_emulate_session *s,
                                  struct pr_err *err) PR_MUST_CHECK;

/* ---- emulate_probe.c */

/* probe.run: data alone, computing alone and both instead of epochs; writes the
 * results. */
int pr_emulate_session_run_probe(struct pr_emulate_session *s,
                                 struct pr_err *err) PR_MUST_CHECK;

/* ---- emulate_report.c */

/* Metric lines, DLIO's log and files. */
int pr_emulate_session_report(struct pr_emulate_session *s,
                              struct pr_err *err) PR_MUST_CHECK;

/* What was measured before an end that came early, for this reason. */
void pr_emulate_session_report_part(struct pr_emulate_session *s,
                                    const struct pr_err *why);

#endif
