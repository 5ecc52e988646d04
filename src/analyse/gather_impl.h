/* Logs of cells: found first, then read by threads that take one at a time. */
#ifndef PR_ANALYSE_GATHER_IMPL_H
#define PR_ANALYSE_GATHER_IMPL_H

#include "analyse/gather.h"

#include <stdatomic.h>

struct pr_gpu_systems_item {
    const char *path;
    struct pr_gpu_systems_cell *cell;
    size_t log; /* which of the cell */
};

struct pr_gpu_systems_work {
    const char *dir;
    const struct pr_gpu_systems_opts *opts;
    struct pr_gpu_systems_item *items;
    size_t count, cap;
    atomic_size_t next;
    atomic_bool failed; /* out of memory */
    atomic_ullong bytes;
};

/* Looks into the folder of a cell: benchmark.para, and the logs there are. */
int pr_gpu_systems_find_logs(struct pr_gpu_systems_work *w,
                             const struct pr_gpu_systems_row *row,
                             struct pr_gpu_systems_cell *cell,
                             struct pr_arena *a,
                             struct pr_err *err) PR_MUST_CHECK;

/* What a thread does, with a struct pr_gpu_systems_work. */
void *pr_gpu_systems_read_logs(void *work);

#endif
