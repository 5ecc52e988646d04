/* Replicas of a native training as processes of mpirun: whether that can be,
 * and the command. */
#ifndef PR_NATIVE_REPLICAS_MPI_H
#define PR_NATIVE_REPLICAS_MPI_H

#include "job/job.h"

/* Open MPI's mpirun. PR_E_UNAVAIL: it is not there, or not in this build; err
 * has the remedy. */
int pr_mpi_find_mpirun(struct pr_arena *a, const char **ret,
                       struct pr_err *err) PR_MUST_CHECK;

/* Whether nn.mpi_args say which processors a process has. */
bool pr_mpi_has_binding(const struct pr_nn_opts *nn);

/* mpirun -np RANKS … PRONY __rank EXPERIMENT */
int pr_mpi_fill_start(struct pr_job *job, const struct pr_nn_opts *nn,
                      uint64_t ranks, struct pr_start *ret,
                      struct pr_err *err) PR_MUST_CHECK;

#endif
