/*
 * Sharing out cores: equal numbers of whole cores to each slot, near the slot's
 * device, and under one cache or of one NUMA node where that can be. What does
 * not divide is nobody's, and so the harness's.
 */
#ifndef PR_LAUNCH_SHARE_H
#define PR_LAUNCH_SHARE_H

#include "machine/topology.h"

struct pr_slot_share {
    bool has_near;
    struct pr_cpuset near;        /* its device's CPUs */
    struct pr_cpuset cpus, nodes; /* what it got */
    unsigned n_cores;
};

/* False: there are fewer cores than slots, and some share one. */
bool pr_slots_share_cores(const struct pr_topology *t,
                          struct pr_slot_share *shares, unsigned n);

#endif
