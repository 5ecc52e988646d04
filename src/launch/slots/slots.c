/* Slots: the machine is looked at, shared out, and each part described. */
#include "launch/slots/slots.h"

#include "base/mem.h"
#include "machine/kernel_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- what the environment of a child says about its slot */

enum { MOST_VARIABLES = 8 };

/* A list of NAME=value that fills up; it keeps its NULL at the end. */
static bool slot_env_add(const char **list, const char *entry)
{
    size_t n = 0;

    while (list[n])
        n++;
    if (!entry)
        return false;
    list[n] = entry;
    return true;
}

static bool slot_env_add_devices(struct pr_slots *s, struct pr_slot *slot,
                                 const char **list)
{
    static const char *const names[] = {"CUDA_VISIBLE_DEVICES",
                                        "ROCR_VISIBLE_DEVICES"};

    for (size_t i = 0; s->opts->devices && i < 2; i++)
        if (!slot_env_add(list,
                          pr_arena_printf(s->arena, "%s=%s", names[i],
                                          s->opts->devices[slot->index].id)))
            return false;
    return true;
}

static bool slot_env_add_cores(struct pr_slots *s, struct pr_slot *slot,
                               const char **list)
{
    return !s->shares ||
           slot_env_add(list, pr_arena_printf(s->arena, "PRONY_CORES=%u",
                                              slot->n_cores));
}

/* Libraries that count the machine's cores and not those they may use. */
static bool slot_env_add_threads(struct pr_slots *s, struct pr_slot *slot,
                                 const char **list)
{
    static const char *const names[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                        "OPENBLAS_NUM_THREADS"};

    for (size_t i = 0; s->shares && i < sizeof names / sizeof *names; i++)
        if (!slot_env_add(list, pr_arena_printf(s->arena, "%s=%u", names[i],
                                                slot->n_cores)))
            return false;
    /* CUDA counts devices from the fastest on, everybody else by place. */
    return !s->opts->devices ||
           slot_env_add(list, "CUDA_DEVICE_ORDER=PCI_BUS_ID");
}

int pr_slots_make_env(struct pr_slots *s, struct pr_err *err)
{
    for (unsigned i = 0; i < s->n; i++) {
        struct pr_slot *slot = &s->slots[i];
        const char **env =
            PR_ARENA_ARRAY(s->arena, const char *, MOST_VARIABLES);
        const char **def =
            PR_ARENA_ARRAY(s->arena, const char *, MOST_VARIABLES);

        if (!env || !def ||
            !slot_env_add(env, pr_arena_printf(s->arena, "PRONY_SLOT=%u", i)) ||
            !slot_env_add_cores(s, slot, env) ||
            !slot_env_add_devices(s, slot, env) ||
            !slot_env_add_threads(s, slot, def))
            return pr_fail_nomem(err);
        slot->env = env;
        slot->env_default = def;
    }
    return PR_OK;
}

/* ---- sharing out cores: those with wishes choose first, the rest spread
 * evenly */

/* How close together cores are to be. */
enum closeness { ONE_CACHE, ONE_NODE, ANYWHERE };

struct sharing {
    const struct pr_topology *t;
    struct pr_cpuset left; /* of cores that are nobody's yet */
    unsigned per;          /* cores a slot */
};

static bool is_close_together(const struct pr_core *a, const struct pr_core *b,
                              enum closeness how)
{
    if (how == ANYWHERE)
        return true;
    return a->node == b->node && (how == ONE_NODE || a->cache == b->cache);
}

static bool free_for(const struct sharing *x, const struct pr_core *c,
                     const struct pr_cpuset *near)
{
    return pr_cpuset_overlaps(&c->cpus, &x->left) &&
           (!near || pr_cpuset_overlaps(&c->cpus, near));
}

static unsigned count_free(const struct sharing *x, const struct pr_core *with,
                           enum closeness how, const struct pr_cpuset *near)
{
    unsigned n = 0;

    for (unsigned i = 0; i < x->t->n_cores; i++) {
        const struct pr_core *c = &x->t->cores[i];

        n += is_close_together(c, with, how) && free_for(x, c, near);
    }
    return n;
}

static void give_core(struct sharing *x, const struct pr_core *c,
                      struct pr_slot_share *s)
{
    pr_cpuset_join(&s->cpus, &c->cpus);
    pr_cpuset_add(&s->nodes, c->node);
    pr_cpuset_subtract(&x->left, &c->cpus);
    s->n_cores++;
}

/* From the place with the most free cores, so that slots spread over caches
 * and memory channels. False when none has enough. */
static bool choose_free_cores(struct sharing *x, enum closeness how,
                              const struct pr_cpuset *near,
                              struct pr_slot_share *s)
{
    const struct pr_core *best = NULL;
    unsigned most = x->per - 1;

    for (unsigned i = 0; i < x->t->n_cores; i++) {
        const struct pr_core *c = &x->t->cores[i];
        unsigned n;

        if (i && is_close_together(c, c - 1, how))
            continue; /* the same place as before */
        n = count_free(x, c, how, near);
        if (n > most) {
            most = n;
            best = c;
        }
    }
    for (unsigned i = 0; best && s->n_cores < x->per; i++) {
        const struct pr_core *c = &x->t->cores[i];

        if (is_close_together(c, best, how) && free_for(x, c, near))
            give_core(x, c, s);
    }
    return best != NULL;
}

static void choose_slot_cores(struct sharing *x, struct pr_slot_share *s)
{
    const struct pr_cpuset *near = s->has_near ? &s->near : NULL;

    for (int any = !near; any < 2; any++)
        for (int how = ONE_CACHE; how <= ANYWHERE; how++)
            if (choose_free_cores(x, (enum closeness)how, any ? NULL : near, s))
                return;
}

bool pr_slots_share_cores(const struct pr_topology *t,
                          struct pr_slot_share *shares, unsigned n)
{
    struct sharing x = {.t = t, .left = t->allowed, .per = t->n_cores / n};

    for (unsigned i = 0; i < n; i++) {
        shares[i].cpus = shares[i].nodes = (struct pr_cpuset){0};
        shares[i].n_cores = 0;
    }
    if (!x.per) {
        for (unsigned i = 0; i < n; i++)
            give_core(&x, &t->cores[i % t->n_cores], &shares[i]);
        return false;
    }
    for (int wishes = 1; wishes >= 0; wishes--)
        for (unsigned i = 0; i < n; i++)
            if (shares[i].has_near == (wishes == 1))
                choose_slot_cores(&x, &shares[i]);
    return true;
}

/* ---- warnings */

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

/* ---- the cores of a slot */

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

/* ---- all slots */

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
