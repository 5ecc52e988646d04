/* Slots: the machine is looked at, shared out, and each part described. */
#include "launch/slots/slots.h"

#include "base/mem.h"
#include "launch/slots/slots_impl.h"
#include "machine/kernel_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_BYTES = 1 << 16, LIST_BYTES = 5 * PR_CPUSET_MAX };

void pr_slots_add_warning(struct pr_slots *s, const char *what,
                          const char *remedy)
{
    const char *w = pr_arena_str(s->arena, what);
    const char *r = pr_arena_str(s->arena, remedy);

    if (w && r && s->n_notes < PR_SLOTS_NOTES)
        s->notes[s->n_notes++] = (struct pr_slots_warning){w, r};
}

static int make_list(struct pr_slots *s, const struct pr_cpuset *set,
                     const char **ret, struct pr_err *err)
{
    char text[LIST_BYTES];

    if (!pr_cpuset_print(set, text, sizeof text))
        return pr_fail(err, PR_E_BUG, "", "a list of CPUs is too long");
    *ret = pr_arena_str(s->arena, text);
    return *ret ? PR_OK : pr_fail_nomem(err);
}

/* ---- cores */

static void find_near_cpus(struct pr_slots *s)
{
    for (unsigned i = 0; s->opts->devices && i < s->n; i++) {
        const char *pci = s->opts->devices[i].pci;

        s->shares[i].has_near =
            pci && pr_topology_near_cpus(s->root, pci, &s->shares[i].near);
    }
}

static void warn_shared_cores(struct pr_slots *s)
{
    char text[160];

    snprintf(text, sizeof text,
             "%u slots share %u cores: copies disturb each other", s->n,
             s->topology.n_cores);
    pr_slots_add_warning(s, text, "ask for fewer slots");
}

static int share_cores(struct pr_slots *s, struct pr_err *err)
{
    int rc = pr_topology_read(s->root, s->arena, &s->topology, err);

    if (rc)
        return rc;
    s->shares = PR_ARENA_ARRAY(s->arena, struct pr_slot_share, s->n);
    if (!s->shares)
        return pr_fail_nomem(err);
    find_near_cpus(s);
    if (!pr_slots_share_cores(&s->topology, s->shares, s->n))
        warn_shared_cores(s);
    for (unsigned i = 0; i < s->n && !rc; i++) {
        const struct pr_slot_share *sh = &s->shares[i];
        struct pr_slot *slot = &s->slots[i];

        slot->n_cores = sh->n_cores;
        slot->n_cpus = pr_cpuset_count(&sh->cpus);
        rc = make_list(s, &sh->cpus, &slot->cpus, err);
    }
    s->cpu = PR_HOLD_AFFINITY;
    return rc;
}

/* ---- all of it */

static int slots_build(struct pr_slots *s, struct pr_err *err)
{
    int rc = PR_OK;

    s->slots = PR_ARENA_ARRAY(s->arena, struct pr_slot, s->n);
    if (!s->slots)
        return pr_fail_nomem(err);
    for (unsigned i = 0; i < s->n; i++) {
        s->slots[i].index = i;
        s->slots[i].groups =
            PR_ARENA_ARRAY(s->arena, const char *, PR_SLOTS_GROUPS + 1);
        if (!s->slots[i].groups)
            return pr_fail_nomem(err);
    }
    if (s->opts->isolate)
        rc = share_cores(s, err);
    if (!rc)
        rc = pr_slots_make_env(s, err);
    if (!rc && s->opts->isolate)
        rc = pr_slots_hold_cgroups(s, err);
    for (unsigned i = 0; i < s->n; i++)
        s->slots[i].cpus_grouped = s->cpu > PR_HOLD_AFFINITY;
    return rc;
}

int pr_slots_new(const struct pr_slots_opts *opts, struct pr_slots **ret,
                 struct pr_err *err)
{
    struct pr_arena *a = pr_arena_new(ARENA_BYTES);
    struct pr_slots *s = a ? PR_ARENA_NEW(a, struct pr_slots) : NULL;
    int rc;

    if (!s) {
        pr_arena_free(a);
        return pr_fail_nomem(err);
    }
    s->arena = a;
    s->owner = getpid();
    s->opts = opts;
    s->root = pr_arena_str(a, opts->root ? opts->root : "");
    s->n = opts->count ? opts->count : 1;
    rc = s->root ? slots_build(s, err) : pr_fail_nomem(err);
    s->opts = NULL;
    if (rc) {
        pr_slots_free(s);
        return rc;
    }
    *ret = s;
    return PR_OK;
}

void pr_slots_free(struct pr_slots *s)
{
    if (!s)
        return;
    for (unsigned i = 0; s->owner == getpid() && i < s->n_trees; i++)
        (void)pr_cgroup_tree_remove(&s->trees[i]);
    pr_arena_free(s->arena);
}

/* ---- what is asked of them */

unsigned pr_slots_count(const struct pr_slots *s)
{
    return s->n;
}

const struct pr_slot *pr_slots_get(const struct pr_slots *s, unsigned i)
{
    return &s->slots[i];
}

enum pr_slot_hold pr_slots_cpu_hold(const struct pr_slots *s)
{
    return s->cpu;
}

enum pr_slot_hold pr_slots_memory_hold(const struct pr_slots *s)
{
    return s->memory;
}

const char *pr_slots_hold_name(enum pr_slot_hold h)
{
    static const char *const names[] = {"nothing", "CPU affinity", "cgroup v1",
                                        "cgroup v2", "named groups"};

    return names[h];
}

uint64_t pr_slots_reserve(const struct pr_slots *s)
{
    return s->reserve;
}

const struct pr_slots_warning *pr_slots_get_warnings(const struct pr_slots *s,
                                                     size_t *ret_n)
{
    *ret_n = s->n_notes;
    return s->notes;
}
