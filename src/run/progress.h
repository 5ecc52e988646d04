/* How far an experiment is, in words for the live line. */
#ifndef PR_RUN_PROGRESS_H
#define PR_RUN_PROGRESS_H

#include <stdbool.h>

/* What the workload says (job/progress.h), else what its channel does:
 * "12 of 60, 431.2 items/s". False: nothing. dir is the experiment's folder. */
bool pr_run_progress(const char *dir, char out[static 320]);

#endif
