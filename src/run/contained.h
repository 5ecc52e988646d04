/*
 * An experiment in a container: its arguments become those of the container
 * program, and once that has ended, the container's own end is looked up and
 * nothing of it is left behind. docs/containers.md.
 */
#ifndef PR_RUN_CONTAINED_H
#define PR_RUN_CONTAINED_H

#include "conf/option/option.h"
#include "launch/container.h"
#include "workload/workload.h"

struct pr_attempt;
struct pr_child_event;
struct pr_slot;

struct pr_job_container {
    struct pr_container box; /* argv is NULL: it is not in a container */
    const char *launcher;    /* exp.docker_launcher */
    const char *name;        /* of the container */
    const char *record;      /* file that has the name while it is there */
};

/* Whether this start is to be wrapped. */
bool pr_job_needs_container(const struct pr_job *job,
                            const struct pr_start *start);

/* What exp.docker* and container.* say, without what an experiment's folder
 * and arguments add: enough to ask for the program and the image. */
int pr_job_container_opts(const struct pr_job *job,
                          struct pr_container_opts *ret,
                          struct pr_err *err) PR_MUST_CHECK;

/* Makes start->argv, env and own_env those of the container program. A start
 * without arguments runs `prony __rank DIR` inside: the image has Prony. The
 * program itself is to be started where we are, not in exp.cwd. The container
 * gets the slot's part of the machine, unless slot is NULL. */
int pr_job_container_wrap(const struct pr_job *job, struct pr_start *start,
                          const struct pr_slot *slot,
                          struct pr_job_container *ret,
                          struct pr_err *err) PR_MUST_CHECK;

/* To be called before the container program is started: writes the name down,
 * and ends the container of an earlier run that was killed before it could do
 * so, which docker's daemon may still hold. */
void pr_job_container_begin(const struct pr_job_container *c);

/* Has the container program end it with everything inside, and clear up after
 * it, which it cannot once it is killed itself. False: that is not its way, or
 * it did not. */
bool pr_job_container_kill(const struct pr_job_container *c);

/* To be called when the container program has ended, however that was, before
 * the end is judged; or when nobody knows (a->end is zero): ends what is still
 * running inside, corrects a->end by what the container program knows, and
 * removes the container. Never fails for the container's sake; what could not
 * be removed is told in left. */
void pr_job_container_end(const struct pr_job_container *c,
                          struct pr_attempt *a, char left[static 128]);

/* The reason of a failure in words, where an exit status alone says little. */
void pr_job_container_explain(const struct pr_job_container *c,
                              const char *log_path, struct pr_attempt *a);

/* ---- files of this machine's inside the container */

/* In the job's arena: container.mounts and, under the paths they have here, the
 * experiment's folder, the share folder and what parameters name, if it is
 * there. PR_E_CONF for what cannot be mounted. */
int pr_job_container_mounts(const struct pr_job *job,
                            const struct pr_start *start,
                            const struct pr_container_params *params,
                            struct pr_container_opts *ret,
                            struct pr_err *err) PR_MUST_CHECK;

/* Whether container.mounts has this folder, or one that it is in, inside: what
 * is there here says nothing then. */
bool pr_job_container_has_own_mount(const struct pr_job *job, const char *path);

#endif
