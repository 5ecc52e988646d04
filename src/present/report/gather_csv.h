/* Lambda's CSV tables, byte for byte as its scripts write them. */
#ifndef PR_PRESENT_GATHER_CSV_H
#define PR_PRESENT_GATHER_CSV_H

#include "analyse/gpu_systems.h"
#include "base/buf.h"

/* Throughputs: the mean of the logs that have a figure, cut to whole numbers;
 * 0 where there is none, -1.0 in a column the system has no rule for. */
void pr_gpu_systems_csv(const struct pr_gpu_systems *g,
                        const struct pr_gpu_systems_opts *o,
                        struct pr_buf *out);

/* Batch sizes, as benchmark.para has them. */
void pr_gpu_systems_csv_batches(const struct pr_gpu_systems *g,
                                const struct pr_gpu_systems_opts *o,
                                struct pr_buf *out);

#endif
