/* The processors of this process, cut into slices for processes of its. */
#ifndef PR_MACHINE_REPLICAS_CPUS_H
#define PR_MACHINE_REPLICAS_CPUS_H

#include <sched.h>

struct pr_cpu_slices {
    unsigned count; /* 0: not known, more than fit into a mask */
    cpu_set_t mask; /* all of them */
    unsigned short list[8 * sizeof(cpu_set_t)]; /* threads of a core side by
                                         side, cores of a package, too */
};

/* sys: NULL, or another place than /sys. */
void pr_cpu_slices_init(struct pr_cpu_slices *c, const char *sys);

/* Slice i of n: as even as possible, no processor in two of them; with fewer
 * processors than slices one each, which others have, too. Returns how many
 * there are in it; 0: not known. */
unsigned pr_cpu_slices_get(const struct pr_cpu_slices *c, unsigned i,
                           unsigned n, cpu_set_t *ret);

#endif
