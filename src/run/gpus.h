/* The GPUs of this machine, asked for once in a run: to wake them may take
 * seconds, which no job is to wait for twice. */
#ifndef PR_RUN_GPUS_H
#define PR_RUN_GPUS_H

#include "machine/nvml.h"

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

#endif
