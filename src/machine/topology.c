/*
 * Cores by the files of /sys: the threads of a core, its NUMA node, the cache
 * it shares. hwloc is asked first where it is; it knows more kinds of
 * machines.
 */
#include "machine/topology.h"

#include "machine/sysfile.h"

#include <stdio.h>
#include <stdlib.h>

#define CPU "%s/sys/devices/system/cpu/cpu%u"
#define NODES "%s/sys/devices/system/node"

enum { STATUS_BYTES = 65536, MOST_CACHES = 8 };

/* A list in /proc/self/status; nothing there: everything is allowed. */
static bool allowed_list(const char *status, const char *key,
                         struct pr_cpuset *ret)
{
    char list[STATUS_BYTES / 2];

    return pr_sysfile_field(status, key, list, sizeof list) &&
           pr_cpuset_parse(list, ret) && pr_cpuset_first(ret) >= 0;
}

static int read_allowed(const char *root, struct pr_topology *t,
                        struct pr_err *err)
{
    char status[STATUS_BYTES];

    if (!pr_sysfile_read(status, sizeof status, "%s/proc/self/status", root))
        return pr_fail_errno(err, PR_E_IO, "/proc/self/status",
                             "cannot read which CPUs may be used");
    if (!allowed_list(status, "Cpus_allowed_list:", &t->allowed) &&
        !pr_cpuset_read(&t->allowed, "%s/sys/devices/system/cpu/online", root))
        return pr_fail(err, PR_E_IO, "/proc/self/status",
                       "does not say which CPUs may be used");
    if (!allowed_list(status, "Mems_allowed_list:", &t->mems))
        pr_cpuset_add(&t->mems, 0);
    return PR_OK;
}

/* The first CPU that shares the cache of the highest level. */
static unsigned cache_of(const char *root, unsigned cpu)
{
    uint64_t best = 0, level;
    unsigned first = 0;

    for (unsigned i = 0; i < MOST_CACHES; i++) {
        struct pr_cpuset shared;

        if (!pr_sysfile_number(&level, CPU "/cache/index%u/level", root, cpu,
                               i))
            break;
        if (level < best ||
            !pr_cpuset_read(&shared, CPU "/cache/index%u/shared_cpu_list", root,
                            cpu, i))
            continue;
        best = level;
        first = (unsigned)pr_cpuset_first(&shared);
    }
    return first;
}

static unsigned node_of(const char *root, const struct pr_cpuset *nodes,
                        unsigned cpu)
{
    for (unsigned i = 0; i < PR_CPUSET_MAX; i++) {
        struct pr_cpuset of;

        if (pr_cpuset_has(nodes, i) &&
            pr_cpuset_read(&of, NODES "/node%u/cpulist", root, i) &&
            pr_cpuset_has(&of, cpu))
            return i;
    }
    return 0;
}

static void read_core(const char *root, const struct pr_topology *t,
                      const struct pr_cpuset *nodes, unsigned cpu,
                      struct pr_core *c)
{
    if (!pr_cpuset_read(&c->cpus, CPU "/topology/thread_siblings_list", root,
                        cpu))
        pr_cpuset_add(&c->cpus, cpu);
    pr_cpuset_add(&c->cpus, cpu);
    pr_cpuset_intersect(&c->cpus, &t->allowed);
    c->node = node_of(root, nodes, cpu);
    c->cache = cache_of(root, cpu);
}

static int topology_compare_cores(const void *a, const void *b)
{
    const struct pr_core *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->cache != y->cache)
        return x->cache < y->cache ? -1 : 1;
    return pr_cpuset_first(&x->cpus) < pr_cpuset_first(&y->cpus) ? -1 : 1;
}

static void read_files(const char *root, struct pr_topology *t)
{
    struct pr_cpuset left = t->allowed, nodes = {0};
    int cpu;

    (void)pr_cpuset_read(&nodes, NODES "/online", root);
    while ((cpu = pr_cpuset_first(&left)) >= 0) {
        struct pr_core *c = &t->cores[t->n_cores++];

        *c = (struct pr_core){0};
        read_core(root, t, &nodes, (unsigned)cpu, c);
        pr_cpuset_subtract(&left, &c->cpus);
    }
    qsort(t->cores, t->n_cores, sizeof *t->cores, topology_compare_cores);
    t->source = "sysfs";
}

int pr_topology_read(const char *root, struct pr_arena *a,
                     struct pr_topology *ret, struct pr_err *err)
{
    struct pr_topology t = {0};
    int rc = read_allowed(root, &t, err);

    if (rc)
        return rc;
    t.cores = PR_ARENA_ARRAY(a, struct pr_core, pr_cpuset_count(&t.allowed));
    if (!t.cores)
        return pr_fail_nomem(err);
    if (*root || !pr_topology_read_hwloc(&t))
        read_files(root, &t);
    *ret = t;
    return PR_OK;
}

bool pr_topology_node_memory(const char *root, unsigned node, uint64_t *ret)
{
    char text[STATUS_BYTES], key[48], value[64];
    unsigned long long kib;

    snprintf(key, sizeof key, "Node %u MemTotal:", node);
    if (!pr_sysfile_read(text, sizeof text, NODES "/node%u/meminfo", root,
                         node) ||
        !pr_sysfile_field(text, key, value, sizeof value) ||
        sscanf(value, "%llu", &kib) != 1)
        return false;
    *ret = kib * 1024;
    return true;
}

bool pr_topology_near_cpus(const char *root, const char *pci,
                           struct pr_cpuset *ret)
{
    return pr_cpuset_read(ret, "%s/sys/bus/pci/devices/%s/local_cpulist", root,
                          pci) &&
           pr_cpuset_first(ret) >= 0;
}
