/* Launchers, by what they leave in the environment of the processes. */
#include "cli/ranks.h"

#include <stdlib.h>
#include <string.h>

enum { LOCALS = 3 };

/* In this order: Open MPI's daemons are started by Slurm's srun, and have its
 * variables beside their own; an MPI of Slurm's has no number of local ranks
 * but Slurm's own. Of SLURM_NTASKS, which batch scripts have as well, nothing
 * follows. */
static const struct {
    const char *launcher, *size, *rank;
    const char *local[LOCALS]; /* ranks on this machine */
    const char *nodes;
} launchers[] = {
    {"Open MPI",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_RANK",
     {"OMPI_COMM_WORLD_LOCAL_SIZE"},
     NULL},
    {"MVAPICH",
     "MV2_COMM_WORLD_SIZE",
     "MV2_COMM_WORLD_RANK",
     {"MV2_COMM_WORLD_LOCAL_SIZE"},
     NULL},
    {"PMI (mpiexec, PALS)",
     "PMI_SIZE",
     "PMI_RANK",
     {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "PALS_LOCAL_SIZE"},
     "SLURM_STEP_NUM_NODES"},
    {"jsrun",
     "JSM_NAMESPACE_SIZE",
     "JSM_NAMESPACE_RANK",
     {"JSM_NAMESPACE_LOCAL_SIZE"},
     NULL},
    {"Flux", "FLUX_JOB_SIZE", "FLUX_TASK_RANK", {NULL}, "FLUX_JOB_NNODES"},
    {"Slurm",
     "SLURM_STEP_NUM_TASKS",
     "SLURM_PROCID",
     {NULL},
     "SLURM_STEP_NUM_NODES"},
    /* These tell which one it is, not how many there are: the first may be the
     * only one, and any other one ends the job. */
    {"PALS", NULL, "PALS_RANKID", {"PALS_LOCAL_SIZE"}, NULL},
    {"PMIx", NULL, "PMIX_RANK", {NULL}, NULL},
    {"ALPS", NULL, "ALPS_APP_PE", {NULL}, NULL},
};

static long ranks_read_number(const char *name)
{
    const char *text = name ? getenv(name) : NULL;

    return text && *text ? strtol(text, NULL, 10) : -1;
}

/* Whether launcher i started this, perhaps with others. */
static bool ranks_read_launcher(size_t i, struct ranks *ret)
{
    long size = ranks_read_number(launchers[i].size), here = -1;
    bool is_one;

    *ret = (struct ranks){.rank = ranks_read_number(launchers[i].rank)};
    if (size < 0 && (launchers[i].size || ret->rank < 0))
        return false;
    for (int k = 0; k < LOCALS && here < 0; k++)
        here = ranks_read_number(launchers[i].local[k]);
    is_one = launchers[i].size ? size == 1 : ret->rank == 0 && here < 2;
    if (is_one)
        return true;
    ret->launcher = launchers[i].launcher;
    ret->variable = launchers[i].size ? launchers[i].size : launchers[i].rank;
    ret->size = size > 0 ? size : 0;
    ret->on_one_machine =
        size > 1 &&
        (here < 0 ? ranks_read_number(launchers[i].nodes) == 1 : here == size);
    return true;
}

void ranks_read(struct ranks *ret)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (ranks_read_launcher(
                i, ret)) /* whatever others say of processes around it */
            return;
    *ret = (struct ranks){.rank = -1};
}

int ranks_refuse(const struct ranks *r, struct pr_err *err)
{
    if (!r->launcher)
        return PR_OK;
    if (r->size)
        pr_fail(err, PR_E_UNAVAIL, r->variable,
                "%s started this as %ld processes, each of which would do all "
                "of the work",
                r->launcher, r->size);
    else
        pr_fail(err, PR_E_UNAVAIL, r->variable,
                "%s started this as rank %ld of an unknown number of "
                "processes, each of which would do all of the work",
                r->launcher, r->rank);
    return pr_hint(err,
                   "start it once, as one process (-n 1), which runs "
                   "exp.accelerators or exp.num_local_replicas itself; several "
                   "machines come in a later version. Processes that have "
                   "nothing to do with each other: env -u %s",
                   r->variable);
}
