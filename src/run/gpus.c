#include "run/gpus.h"

#include <stdio.h>

static void gpus_read_nvml(struct pr_gpus *g)
{
    struct pr_nvml *n = g->asked ? NULL : pr_nvml_open(NULL);
    struct pr_nvml_device d;

    g->asked = true;
    if (!n)
        return;
    g->count = pr_nvml_count(n);
    for (unsigned i = 0; i < g->count; i++)
        if (pr_nvml_device(n, i, &d)) {
            snprintf(g->gpu[i].name, sizeof g->gpu[i].name, "%s", d.name);
            snprintf(g->gpu[i].pci, sizeof g->gpu[i].pci, "%s", d.pci);
        }
    pr_nvml_close(n);
}

unsigned pr_gpus_count(struct pr_gpus *g)
{
    gpus_read_nvml(g);
    return g->count;
}

const struct pr_gpu *pr_gpus_get(struct pr_gpus *g, int64_t i)
{
    return i >= 0 && i < (int64_t)pr_gpus_count(g) ? &g->gpu[i] : NULL;
}
