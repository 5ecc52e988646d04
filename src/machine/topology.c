/*
 * Cores, by hwloc where it is, which knows more kinds of machines, else by the
 * files of /sys.
 */
#include "machine/topology.h"

#include "machine/kernel_file.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- by hwloc
 * It is loaded when it is first asked: its order of cores puts those beside
 * each other that share caches. */

#if PR_HAVE_HWLOC
#include <dlfcn.h>
#include <hwloc.h>
#include <string.h>

/* Every function that is called, as the library declares it. */
#define FUNCTIONS(X)                 \
    X(hwloc_get_api_version)         \
    X(hwloc_topology_init)           \
    X(hwloc_topology_set_components) \
    X(hwloc_topology_load)           \
    X(hwloc_topology_destroy)        \
    X(hwloc_topology_is_thissystem)  \
    X(hwloc_get_type_depth)          \
    X(hwloc_get_nbobjs_by_depth)     \
    X(hwloc_get_obj_by_depth)        \
    X(hwloc_bitmap_first)            \
    X(hwloc_bitmap_next)

struct library {
#define X(name) __typeof__(name) *name;
    FUNCTIONS(X)
#undef X
};

static bool hwloc_find_symbol(void *so, const char *name, void *at)
{
    void *p = dlsym(so, name);

    memcpy(at, &p, sizeof p);
    return p != NULL;
}

/* The version in the name is that of the layout of its structs. It stays
 * loaded. */
static bool hwloc_load_library(struct library *l)
{
    void *so = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);

    if (!so)
        return false;
#define X(name)                                  \
    if (!hwloc_find_symbol(so, #name, &l->name)) \
        return false;
    FUNCTIONS(X)
#undef X
    return l->hwloc_get_api_version() >> 16 == HWLOC_API_VERSION >> 16;
}

static void hwloc_read_cpus(const struct library *l, hwloc_const_bitmap_t from,
                            struct pr_cpuset *ret)
{
    for (int i = l->hwloc_bitmap_first(from); i >= 0 && i < PR_CPUSET_MAX;
         i = l->hwloc_bitmap_next(from, i))
        pr_cpuset_add(ret, (unsigned)i);
}

/* The first CPU of the largest cache above a core. */
static unsigned cache_above(const struct library *l, hwloc_obj_t o)
{
    int first = 0;

    for (; o; o = o->parent)
        if (o->type >= HWLOC_OBJ_L1CACHE && o->type <= HWLOC_OBJ_L5CACHE)
            first = l->hwloc_bitmap_first(o->cpuset);
    return first > 0 ? (unsigned)first : 0;
}

static void hwloc_read_cores(const struct library *l, hwloc_topology_t h,
                             struct pr_topology *t)
{
    int depth = l->hwloc_get_type_depth(h, HWLOC_OBJ_CORE);
    unsigned n;

    if (depth < 0) /* it does not know of cores: threads, then */
        depth = l->hwloc_get_type_depth(h, HWLOC_OBJ_PU);
    n = depth < 0 ? 0 : l->hwloc_get_nbobjs_by_depth(h, depth);
    for (unsigned i = 0; i < n; i++) {
        hwloc_obj_t o = l->hwloc_get_obj_by_depth(h, depth, i);
        struct pr_core c = {.cache = cache_above(l, o)};
        int node = o->nodeset ? l->hwloc_bitmap_first(o->nodeset) : 0;

        hwloc_read_cpus(l, o->cpuset, &c.cpus);
        pr_cpuset_intersect(&c.cpus, &t->allowed);
        c.node = node > 0 ? (unsigned)node : 0;
        if (pr_cpuset_first(&c.cpus) >= 0)
            t->cores[t->n_cores++] = c;
    }
}

/* Whether its cores are all the CPUs we may use. */
static bool hwloc_is_complete(const struct pr_topology *t)
{
    struct pr_cpuset left = t->allowed;

    for (unsigned i = 0; i < t->n_cores; i++)
        pr_cpuset_subtract(&left, &t->cores[i].cpus);
    return t->n_cores > 0 && pr_cpuset_first(&left) < 0;
}

bool pr_topology_read_hwloc(struct pr_topology *t)
{
    struct library l;
    hwloc_topology_t h;
    bool ok;

    if (!hwloc_load_library(&l) || l.hwloc_topology_init(&h) < 0)
        return false;
    /* The kernel knows the cores; asking them one by one takes longer, and
     * says things on stderr where it cannot. */
    (void)!l.hwloc_topology_set_components(
        h, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    /* What a file or variable describes may be another machine. */
    ok = l.hwloc_topology_load(h) == 0 && l.hwloc_topology_is_thissystem(h);
    if (ok)
        hwloc_read_cores(&l, h, t);
    l.hwloc_topology_destroy(h);
    ok = ok && hwloc_is_complete(t);
    if (ok)
        t->source = "hwloc";
    else
        t->n_cores = 0;
    return ok;
}
#else
bool pr_topology_read_hwloc(struct pr_topology *t)
{
    (void)t;
    return false;
}
#endif

/* ---- by the files of /sys: threads of a core, its NUMA node, shared cache */

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

    PR_TRY(read_allowed(root, &t, err));
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
