/* One task of one system, over its runs. */
#ifndef PR_ANALYSE_GATHER_STAT_H
#define PR_ANALYSE_GATHER_STAT_H

#include "analyse/gather.h"

enum pr_gather_flag {
    PR_GATHER_CORRECTED = 1 << 0,   /* steps not done were counted */
    PR_GATHER_IMPLAUSIBLE = 1 << 1, /* more than such a GPU can do */
    PR_GATHER_SPREAD = 1 << 2,      /* runs differ by a tenth and more */
    PR_GATHER_NO_DONE = 1 << 3,     /* a log with a figure does not end well */
};

struct pr_gather_stat {
    size_t n, failed;
    double mean, min, max;
    double deviation;            /* of a sample; NaN: fewer than two */
    double printed;              /* the mean of what the logs say */
    unsigned flags;              /* enum pr_gather_flag */
    enum pr_gpu_task_end why;    /* of the first that failed */
    const char *words;           /* what its log says, or "" */
    double per_dollar, per_watt; /* NaN: price or watt is not known */
};

void pr_gather_stat(const struct pr_gather_row *row,
                    const struct pr_gather_cell *cell,
                    struct pr_gather_stat *ret);

#endif
