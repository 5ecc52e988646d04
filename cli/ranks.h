/*
 * Whether a launcher (mpirun, srun, …) started this program several times, as
 * the ranks of one job. Programs that know nothing of it would each do all of
 * the work, side by side, into the same files.
 */
#ifndef PR_CLI_RANKS_H
#define PR_CLI_RANKS_H

#include "base/err.h"

#include <stdbool.h>

struct ranks {
    const char *launcher; /* NULL: none, or of one process alone */
    const char *variable; /* that tells it */
    long size, rank;      /* 0, -1: not told */
    bool on_one_machine;
};

/* What the environment says. */
void ranks_read(struct ranks *ret);

/* PR_E_UNAVAIL, with what to do, where there are several. */
int ranks_refuse(const struct ranks *r, struct pr_err *err) PR_MUST_CHECK;

#endif
