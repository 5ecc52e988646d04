/* What an experiment sees of this machine's files inside a container. */
#ifndef PR_RUN_CONTAINED_MOUNTS_H
#define PR_RUN_CONTAINED_MOUNTS_H

#include "conf/option/option.h"
#include "launch/container.h"
#include "workload/workload.h"

/* In the job's arena: container.mounts and, under the paths they have here, the
 * experiment's folder, the share folder and what parameters name, if it is
 * there. PR_E_CONF for what cannot be mounted. */
int pr_job_container_mounts(const struct pr_job *job,
                            const struct pr_start *start,
                            const struct pr_container_params *params,
                            struct pr_container_opts *ret,
                            struct pr_err *err) PR_MUST_CHECK;

/* Makes the folders that the experiment would make inside, where they would be
 * lost with the container. */
int pr_job_container_make_folders(const struct pr_job *job,
                                  struct pr_err *err) PR_MUST_CHECK;

/* Whether something is mounted in this folder. */
bool pr_job_container_has_mount_in(const struct pr_container_opts *o,
                                   const char *folder);

/* Whether container.mounts has this folder, or one that it is in, inside: what
 * is there here says nothing then. */
bool pr_job_container_has_own_mount(const struct pr_job *job, const char *path);

#endif
