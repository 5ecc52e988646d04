/*
 * A run from its directory on: making it for a plan, with everything in it
 * that a later reader needs. prony/run.h has what everybody may use.
 */
#ifndef PR_RUN_SESSION_H
#define PR_RUN_SESSION_H

#include "machine/nvml.h"
#include "plan/plan.h"
#include "prony/run.h"
#include "record/rundir.h"

#include <stdbool.h>

/* Makes a run directory with plan.json and env.json. A failure leaves nothing
 * behind. PR_E_CONF for a plan without experiments. */
int pr_session_create(const char *path, struct pr_plan *plan,
                      struct pr_rundir *ret, struct pr_err *err) PR_MUST_CHECK;

/* The same for a plan that is a file already. */
int pr_session_create_from(const char *path, const char *plan_file,
                           struct pr_rundir *ret,
                           struct pr_err *err) PR_MUST_CHECK;

/* Where its data was, by its env.json; NULL: not said. In the arena. */
const char *pr_session_data_root(const struct pr_rundir *d, struct pr_arena *a);

/* env.json: this machine, this build, the file system of path. */
int pr_session_env(const char *path, struct pr_buf *out,
                   struct pr_err *err) PR_MUST_CHECK;

/* The GPUs of this machine, asked for once in a run: to wake them may take
 * seconds, which no job is to wait for twice. */
struct pr_gpu {
    char name[PR_NVML_NAME]; /* "": not told */
    char pci[32];            /* as in struct pr_nvml_device */
};

/* Zeroed: nobody has asked yet. */
struct pr_gpus {
    bool asked;
    unsigned count;
    struct pr_gpu gpu[PR_NVML_MAX];
};

unsigned pr_gpus_count(struct pr_gpus *g);

/* NULL: there is no such one. */
const struct pr_gpu *pr_gpus_get(struct pr_gpus *g, int64_t i);

/* What the workload says (job/progress.h), else what its channel does:
 * "12 of 60, 431.2 items/s". False: nothing. dir is the experiment's folder. */
bool pr_run_progress(const char *dir, char out[static 320]);

#endif
