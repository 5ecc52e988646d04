/* What an experiment sees of this machine's files inside a container. */
#ifndef PR_RUN_CONTAINED_MOUNTS_H
#define PR_RUN_CONTAINED_MOUNTS_H

#include "conf/sections.h"
#include "workload/workload.h"

/* HOST:INSIDE[:ro] words, NULL-terminated, in the job's arena: container.mounts
 * and, under the paths they have here, the experiment's folder, the share
 * folder and the folders of data that are there. PR_E_CONF for what cannot be
 * mounted. */
int pr_contained_mounts(const struct pr_job *job, const struct pr_start *start,
                        const struct pr_container_params *params,
                        const char ***ret, struct pr_err *err) PR_MUST_CHECK;

/* Whether one of the mounts lies in this folder. */
bool pr_contained_in(const char *const *mounts, const char *folder);

#endif
