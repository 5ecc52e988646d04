/*
 * How far a workload is, for whoever watches: a small file in the experiment's
 * folder, replaced about once a second, gone at the end.
 *     {"text": "epoch 2 of 5, step 34 of 120", "done": 0.31, "left_s": 12.5}
 */
#ifndef PR_JOB_PROGRESS_H
#define PR_JOB_PROGRESS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct pr_clock;

struct pr_progress {
    char path[4096];
    struct pr_clock *clock;
    uint64_t next_ns;
    uint64_t since_ns; /* start of what is being done */
    double done;       /* as it was said last */
};

void pr_progress_init(struct pr_progress *p, const char *dir,
                      struct pr_clock *clock);

/* Something else is done from now on: what is left is estimated anew. */
void pr_progress_start(struct pr_progress *p);

/* Whether it is time to say something. */
bool pr_progress_is_due(const struct pr_progress *p);

/* done is a share, 0 to 1. A failure to write is nobody's business. */
void pr_progress_write(struct pr_progress *p, double done, const char *fmt, ...)
    PR_PRINTF(3, 4);
void pr_progress_end(struct pr_progress *p);

/* What an experiment's folder says: "epoch 2 of 5, step 34 of 120, 12 s left".
 * False: nothing. */
bool pr_progress_read(const char *dir, char out[static 320]);

#endif
