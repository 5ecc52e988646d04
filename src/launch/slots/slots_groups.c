/*
 * Slots held by groups of our own: one tree for each hierarchy, in it a group
 * a slot, with its CPUs and its share of the memory.
 */
#include "launch/slots/slots_impl.h"
#include "machine/kernel_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

/* What the harness keeps: a 32nd, within these. */
#define RESERVE_LEAST (64 * MIB)
#define RESERVE_MOST (2048 * MIB)

/* What to hold with one tree. */
struct holding {
    const struct pr_cgroup *h;
    bool cpu, memory;
};

int pr_slots_add_cgroup(struct pr_slots *s, struct pr_slot *slot,
                        const char *dir, struct pr_err *err)
{
    /* It was made by us, as one that can be written to. */
    const char **list = (const char **)(uintptr_t)slot->groups;
    size_t n = 0;

    for (; list[n]; n++)
        if (strcmp(list[n], dir) == 0)
            return PR_OK;
    if (n == PR_SLOTS_GROUPS)
        return pr_fail(err, PR_E_CONF, s->opts->group,
                       "names more groups than a slot can be in");
    list[n] = pr_arena_str(s->arena, dir);
    return list[n] ? PR_OK : pr_fail_nomem(err);
}

int pr_cgroup_try_enter(const char *dir)
{
    int status = 0;
    pid_t pid = fork();

    if (pid < 0)
        return -errno;
    if (pid == 0) {
        int rc = pr_sysfile_write(dir, "cgroup.procs", "0");

        if (rc)
            rc = pr_sysfile_write(dir, "tasks", "0") ? rc : 0;
        _exit(-rc);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

/* ---- memory */

static uint64_t total_memory(const char *root)
{
    char text[8192], value[64];
    unsigned long long kib;

    if (!pr_sysfile_read(text, sizeof text, "%s/proc/meminfo", root) ||
        !pr_sysfile_field(text, "MemTotal:", value, sizeof value) ||
        sscanf(value, "%llu", &kib) != 1)
        return 0;
    return kib * 1024;
}

static void share_memory(struct pr_slots *s, const struct pr_cgroup *h)
{
    uint64_t all = total_memory(s->root);
    uint64_t limit = h->version ? pr_cgroup_memory_limit(h) : UINT64_MAX;
    uint64_t keep;

    if (limit < all)
        all = limit;
    if (s->opts->memory_bytes && s->opts->memory_bytes < all)
        all = s->opts->memory_bytes;
    keep = all / 32;
    if (keep < RESERVE_LEAST)
        keep = RESERVE_LEAST;
    if (keep > RESERVE_MOST)
        keep = RESERVE_MOST;
    if (all < 2 * keep)
        return; /* nothing to share out */
    s->share_bytes = (all - keep) / s->n / MIB * MIB;
    s->reserve = all - s->share_bytes * s->n;
}

/* Whether each node has the memory of the slots on it: only then are they
 * bound to it. */
static bool nodes_suffice(const struct pr_slots *s)
{
    for (unsigned i = 0; i < PR_CPUSET_MAX; i++) {
        uint64_t wanted = 0, has;

        for (unsigned k = 0; k < s->n; k++)
            if (pr_cpuset_has(&s->shares[k].nodes, i))
                wanted += s->share_bytes;
        if (wanted &&
            (!pr_cpuset_has(&s->topology.mems, i) ||
             !pr_topology_node_memory(s->root, i, &has) || has < wanted))
            return false;
    }
    return true;
}

static int choose_nodes(struct pr_slots *s, struct pr_err *err)
{
    bool own = nodes_suffice(s);
    char text[5 * PR_CPUSET_MAX];

    for (unsigned i = 0; i < s->n; i++) {
        if (!pr_cpuset_print(own ? &s->shares[i].nodes : &s->topology.mems,
                             text, sizeof text))
            return pr_fail(err, PR_E_BUG, "", "a list of nodes is too long");
        s->slots[i].mems = pr_arena_str(s->arena, text);
        if (!s->slots[i].mems)
            return pr_fail_nomem(err);
    }
    return PR_OK;
}

/* ---- one tree */

static int set_memory(const char *dir, int version, uint64_t bytes)
{
    char text[32];
    int rc;

    snprintf(text, sizeof text, "%llu", (unsigned long long)bytes);
    rc = pr_sysfile_write(
        dir, version == 1 ? "memory.limit_in_bytes" : "memory.max", text);
    /* Nor may it swap; a kernel without swap has no such file. */
    (void)pr_sysfile_write(
        dir, version == 1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max",
        version == 1 ? text : "0");
    return rc;
}

static int set_cpus(const char *dir, const char *cpus, const char *mems)
{
    int rc = pr_sysfile_write(dir, "cpuset.cpus", cpus);

    return rc ? rc : pr_sysfile_write(dir, "cpuset.mems", mems);
}

static int fill_slot(struct pr_slots *s, const struct holding *x,
                     const char *dir, unsigned i)
{
    const struct pr_slot *slot = &s->slots[i];
    int rc = mkdir(dir, 0755) < 0 ? -errno : 0;

    if (!rc && x->cpu)
        rc = set_cpus(dir, slot->cpus, slot->mems);
    if (!rc && x->memory)
        rc = set_memory(dir, x->h->version, s->share_bytes);
    if (!rc && i == 0)
        rc = pr_cgroup_try_enter(dir);
    return rc;
}

/* In v1 a group in a cpuset may have what its parent has, which at first is
 * nothing. */
static int open_top(struct pr_slots *s, const struct holding *x,
                    const char *top)
{
    char cpus[5 * PR_CPUSET_MAX], mems[5 * PR_CPUSET_MAX];

    if (!x->cpu || x->h->version != 1)
        return 0;
    if (!pr_cpuset_print(&s->topology.allowed, cpus, sizeof cpus) ||
        !pr_cpuset_print(&s->topology.mems, mems, sizeof mems))
        return -ENAMETOOLONG;
    return set_cpus(top, cpus, mems);
}

static int name_slot(char out[static PATH_MAX], const char *top, unsigned i)
{
    char name[24];

    snprintf(name, sizeof name, "slot%u", i);
    return pr_sysfile_path(out, top, name) ? 0 : -ENAMETOOLONG;
}

static int fill_tree(struct pr_slots *s, const struct holding *x,
                     const char *top)
{
    char dir[PATH_MAX];
    int rc = open_top(s, x, top);

    for (unsigned i = 0; i < s->n && !rc; i++) {
        rc = name_slot(dir, top, i);
        if (!rc)
            rc = fill_slot(s, x, dir, i);
    }
    return rc;
}

static int add_tree_to_slots(struct pr_slots *s, const struct holding *x,
                             const char *top, struct pr_err *err)
{
    char dir[PATH_MAX];
    int rc = PR_OK;

    for (unsigned i = 0; i < s->n && !rc; i++) {
        (void)name_slot(dir, top, i); /* as when it was made */
        rc = pr_slots_add_cgroup(s, &s->slots[i], dir, err);
        if (rc || !x->memory)
            continue;
        s->slots[i].memory_group = pr_arena_str(s->arena, dir);
        if (!s->slots[i].memory_group)
            rc = pr_fail_nomem(err);
    }
    return rc;
}

static void set_slots_hold(struct pr_slots *s, const struct holding *x)
{
    enum pr_slot_hold how =
        x->h->version == 1 ? PR_HOLD_CGROUP1 : PR_HOLD_CGROUP2;

    if (x->cpu)
        s->cpu = how;
    if (x->memory)
        s->memory = how;
    for (unsigned i = 0; x->memory && i < s->n; i++)
        s->slots[i].memory_bytes = s->share_bytes;
}

/* Makes one tree. 0, or a negative errno and where it was. */
static int make_tree(struct pr_slots *s, const struct holding *x,
                     const char *names, const char **ret_where)
{
    struct pr_cgroup_tree *t = &s->trees[s->n_trees];
    int rc = pr_cgroup_tree_make(x->h, names, s->arena, t, ret_where);

    if (rc)
        return rc;
    *ret_where = t->top;
    rc = fill_tree(s, x, t->top);
    if (rc)
        (void)pr_cgroup_tree_remove(t);
    else
        s->n_trees++; /* whatever happens now, it is removed */
    return rc;
}

/* Makes one tree, or sees whether it could; when that cannot be, says so. */
static int hold_by(struct pr_slots *s, const struct holding *x,
                   struct pr_err *err)
{
    const char *names = !x->memory ? "cpuset"
                        : x->cpu   ? "cpuset memory"
                                   : "memory";
    const char *where;
    int rc = s->opts->look ? pr_cgroup_tree_check(x->h, names, s->arena, &where)
                           : make_tree(s, x, names, &where);

    if (rc == 0) {
        set_slots_hold(s, x);
        return s->opts->look ? PR_OK : add_tree_to_slots(s, x, where, err);
    }
    if (rc == -ENOMEM)
        return pr_fail_nomem(err);
    if (x->cpu)
        pr_slots_warn_not_held(s, "cpuset", rc, where);
    if (x->memory)
        pr_slots_warn_not_held(s, "memory", rc, where);
    return PR_OK;
}

/* ---- all of it */

static int slots_find_hierarchy(struct pr_slots *s, const char *controller,
                                struct pr_cgroup *h, struct pr_err *err)
{
    int rc = pr_cgroup_find(s->root, controller, s->arena, h, err);

    if (rc || s->opts->look || !pr_cgroup_tree_leave_stale(h))
        return rc;
    return pr_cgroup_find(s->root, controller, s->arena, h, err);
}

static int hold_all(struct pr_slots *s, const struct pr_cgroup *cpu,
                    const struct pr_cgroup *memory, struct pr_err *err)
{
    bool share = s->share_bytes > 0;
    bool one = cpu->version == 2 && memory->version == 2 && share;
    struct holding first = {cpu, true, one}, second = {memory, false, true};
    int rc = PR_OK;

    if (cpu->version)
        rc = hold_by(s, &first, err);
    else
        pr_slots_warn_not_held(s, "cpuset", -ENODEV, cpu->own);
    if (rc || one)
        return rc;
    if (memory->version && share)
        return hold_by(s, &second, err);
    pr_slots_warn_not_held(s, "memory", share ? -ENODEV : -ENODATA,
                           memory->own);
    return PR_OK;
}

/* Cores are whole, time is not: a quota cannot be shared out by them. */
static int warn_cpu_quota(struct pr_slots *s, struct pr_err *err)
{
    struct pr_cgroup h;
    char text[160];
    double cpus;
    int rc = pr_cgroup_find_mount(s->root, "cpu", s->arena, &h, err);

    if (rc || !h.version)
        return rc;
    cpus = pr_cgroup_cpu_limit(&h);
    if (cpus >= pr_cpuset_count(&s->topology.allowed))
        return PR_OK;
    snprintf(text, sizeof text,
             "a quota allows the time of %.2f CPUs where slots have %u: they "
             "slow each other down",
             cpus, pr_cpuset_count(&s->topology.allowed));
    pr_slots_add_warning(
        s, text, "give the container CPUs (--cpuset-cpus), not time (--cpus)");
    return PR_OK;
}

int pr_slots_hold_cgroups(struct pr_slots *s, struct pr_err *err)
{
    struct pr_cgroup cpu, memory, limits;
    bool named = false;
    int rc = slots_find_hierarchy(s, "cpuset", &cpu, err);

    if (!rc)
        rc = slots_find_hierarchy(s, "memory", &memory, err);
    if (!rc)
        rc = pr_cgroup_find_mount(s->root, "memory", s->arena, &limits, err);
    if (rc)
        return rc;
    share_memory(s, &limits);
    rc = warn_cpu_quota(s, err);
    if (!rc)
        rc = choose_nodes(s, err);
    if (!rc && s->opts->group && *s->opts->group)
        rc = pr_slots_use_named(s, &named, err);
    return rc || named ? rc : hold_all(s, &cpu, &memory, err);
}
