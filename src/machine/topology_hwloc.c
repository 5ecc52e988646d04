/*
 * Cores by hwloc, which is loaded when it is first asked: its order of cores
 * puts those beside each other that share caches.
 */
#include "machine/topology.h"

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

static void take_cpus(const struct library *l, hwloc_const_bitmap_t from,
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

static void take_cores(const struct library *l, hwloc_topology_t h,
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

        take_cpus(l, o->cpuset, &c.cpus);
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
        take_cores(&l, h, t);
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
