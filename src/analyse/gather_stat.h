/* One task of one system, over its runs. */
#ifndef PR_ANALYSE_GATHER_STAT_H
#define PR_ANALYSE_GATHER_STAT_H

#include "analyse/gather.h"

enum pr_gpu_systems_flag {
    PR_GPU_SYSTEMS_CORRECTED = 1 << 0,   /* steps not done were counted */
    PR_GPU_SYSTEMS_IMPLAUSIBLE = 1 << 1, /* more than such a GPU can do */
    PR_GPU_SYSTEMS_SPREAD = 1 << 2,      /* runs differ by a tenth and more */
    PR_GPU_SYSTEMS_NO_DONE = 1 << 3, /* a log with a figure does not end well */
};

struct pr_gpu_systems_stat {
    size_t n, failed;
    double mean, min, max;
    double deviation;            /* of a sample; NaN: fewer than two */
    double printed;              /* the mean of what the logs say */
    unsigned flags;              /* enum pr_gpu_systems_flag */
    enum pr_gpu_task_end why;    /* of the first that failed */
    const char *words;           /* what its log says, or "" */
    double per_dollar, per_watt; /* NaN: price or watt is not known */
};

void pr_gpu_systems_compute_stat(const struct pr_gpu_systems_row *row,
                                 const struct pr_gpu_systems_cell *cell,
                                 struct pr_gpu_systems_stat *ret);

#endif
