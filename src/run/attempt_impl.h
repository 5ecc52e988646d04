/* The parts of one attempt: waiting for its end, judging it. */
#ifndef PR_RUN_ATTEMPT_IMPL_H
#define PR_RUN_ATTEMPT_IMPL_H

#include "run/contained.h"

enum { PR_ATTEMPT_TAG = 1 };

struct pr_waiting {
    const struct pr_attempt_ctx *ctx;
    const struct pr_job *job;
    const struct pr_contained *box; /* of a container, or empty */
    uint64_t term_at, kill_at;      /* monotonic; 0: not planned */
    bool timed_out, interrupted;
    bool box_killed; /* the container program was told to end it */
    int stops_seen;
};

/* Waits for the event that ends the attempt, and ends it in time. */
int pr_attempt_wait(struct pr_waiting *w, struct pr_child_event *ret,
                    struct pr_err *err) PR_MUST_CHECK;

/* What the end means; program is what was started. */
void pr_attempt_judge(const struct pr_waiting *w, struct pr_attempt *a,
                      const char *program);

/* The reason in the words that the program left among the last lines of its
 * log, if it has failed and left some. */
void pr_attempt_take_words(const char *log_path, size_t lines,
                           struct pr_attempt *a);

#endif
