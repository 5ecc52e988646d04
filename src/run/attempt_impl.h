/* The parts of one attempt: its surroundings, its time limits, judging it. */
#ifndef PR_RUN_ATTEMPT_IMPL_H
#define PR_RUN_ATTEMPT_IMPL_H

#include "run/contained.h"

/* An attempt that is under way, with what is around it. */
struct pr_attempt_running {
    const struct pr_attempt_ctx *ctx;
    struct pr_job *job;
    const char *log_path;
    struct pr_attempt *ret; /* the answer, in the end */
    uint32_t tag;           /* the keeper's name for it */
    const struct pr_slot *slot;
    const struct pr_workload *workload;
    struct pr_start start;
    struct pr_job_container box;  /* of a container, or empty */
    struct pr_monitored *watched; /* NULL: it is not */
    char channel[4096];
    uint64_t term_at, kill_at; /* monotonic; 0: not planned */
    bool timed_out, interrupted, given_up;
    bool box_killed; /* the container program was told to end it */
    int stops_seen;
};

/* What the end means; program is what was started. */
void pr_attempt_judge(const struct pr_attempt_running *w, struct pr_attempt *a,
                      const char *program);

/* The reason in the words that the program left among the last lines of its
 * log, if it has failed and left some. */
void pr_attempt_read_reason(const char *log_path, size_t lines,
                            struct pr_attempt *a);

#endif
