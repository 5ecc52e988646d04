/*
 * Which cores we may use, and where they are: by hwloc where it is, else by
 * the files of /sys. Only the CPUs that this process is allowed count.
 */
#ifndef PR_MACHINE_TOPOLOGY_H
#define PR_MACHINE_TOPOLOGY_H

#include "base/err.h"
#include "base/mem.h"
#include "machine/cpuset.h"

struct pr_core {
    struct pr_cpuset cpus; /* its threads that we may use */
    unsigned node;         /* of NUMA */
    unsigned cache;        /* which last-level cache, by its first CPU */
};

struct pr_topology {
    struct pr_core *cores; /* neighbours beside each other */
    unsigned n_cores;
    struct pr_cpuset allowed; /* CPUs */
    struct pr_cpuset mems;    /* allowed NUMA nodes */
    const char *source;       /* "hwloc", "sysfs" or "affinity" */
};

/* What root has; in the arena. Without any files about cores, each CPU is
 * one. */
int pr_topology_read(const char *root, struct pr_arena *a,
                     struct pr_topology *ret, struct pr_err *err) PR_MUST_CHECK;

/* Bytes of memory of a node; false when it is not told. */
bool pr_topology_node_memory(const char *root, unsigned node, uint64_t *ret);

/* The CPUs near a device on the PCI bus; false when they are not told. */
bool pr_topology_near_cpus(const char *root, const char *pci,
                           struct pr_cpuset *ret);

/* Fills in where each core is and puts neighbours together; cores holds one
 * CPU each at first. False when the library is not there, or knows less. */
bool pr_topology_read_hwloc(struct pr_topology *t);

#endif
