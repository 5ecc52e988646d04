/*
 * Slots held by groups: by groups of our own, one tree for each hierarchy, in
 * it a group a slot with its CPUs and its share of the memory; or by groups
 * that were there before us.
 */
#include "launch/slots/slots.h"
#include "machine/kernel_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- why something cannot be held by a group, and what helps */

#define DELEGATE                                                  \
    "start it in a group of its own: systemd-run --user --scope " \
    "-p Delegate=yes prony …"

static const struct {
    int why;
    const char *words, *remedy;
} reasons[] = {
    {-ENODEV, "no such controller was given to our group",
     "systemd gives users no cpuset unless user@.service has "
     "'Delegate=cpu cpuset io memory pids'; or run as root"},
    {-ENODATA, "there is too little memory to share out", "use fewer slots"},
    {-EROFS, "the control groups are mounted read-only",
     "containers need a writable /sys/fs/cgroup: podman run --privileged, or "
     "--security-opt unmask=/sys/fs/cgroup"},
    {-EACCES, "we may not make groups there", DELEGATE "; or run as root"},
    {-EPERM, "we may not make groups there", DELEGATE "; or run as root"},
    {-EBUSY, "processes that are not ours are in our group", DELEGATE},
    {-ENOSPC, "no more groups are allowed there",
     "raise cgroup.max.descendants, or remove groups"},
};

/* Notes that something cannot be held by a group: what it is ("memory is not
 * limited"), why (a negative errno) and where. */
static void slots_warn_not_held(struct pr_slots *s, const char *what, int why,
                                const char *where)
{
    bool cpu = strcmp(what, "cpuset") == 0;
    const char *words = strerror(-why), *remedy = DELEGATE "; or run as root";
    char text[1024];

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].why == why) {
            words = reasons[i].words;
            remedy = reasons[i].remedy;
        }
    if (why == -ENODEV && !where) {
        words = "no control groups are mounted";
        remedy = "mount them at /sys/fs/cgroup";
    }
    snprintf(text, sizeof text, "%s: %s%s%.600s%s",
             cpu ? "CPUs are held by affinity alone, which a program can change"
                 : "memory is not limited",
             words, where ? " (" : "", where ? where : "", where ? ")" : "");
    pr_slots_add_warning(s, text, remedy);
}

/* ---- groups that were there before us, named by a pattern such as
 * "cpuset,memory:student{CUDA_VISIBLE_DEVICES}". They are entered and nothing
 * else: not changed, not removed. */

/* Adds a group that the slot's child is to enter, once. */
static int slots_add_cgroup(struct pr_slots *s, struct pr_slot *slot,
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

/* Whether a process of ours can enter this group: one tries. 0, or a negative
 * errno. */
static int cgroup_try_enter(const char *dir)
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

static const char every_controller[] = "cpuset,memory";

static int fail_malformed_pattern(const char *pattern, const char *what,
                                  struct pr_err *err)
{
    (void)pr_fail(err, PR_E_CONF, "cgroup", "'%.200s' %s", pattern, what);
    return pr_hint(err, "groups are named like cpuset,memory:student{"
                        "CUDA_VISIBLE_DEVICES}");
}

/* The value of a variable of the slot; without devices their number is the
 * slot's. NULL: there is none of that name. */
static const char *slot_get_variable(const struct pr_slot *slot,
                                     const char *name, size_t len,
                                     char number[static 16])
{
    for (const char *const *e = slot->env; *e; e++)
        if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
            return *e + len + 1;
    snprintf(number, 16, "%u", slot->index);
    if ((len == 4 && memcmp(name, "slot", 4) == 0) ||
        (len > 16 && memcmp(name + len - 16, "_VISIBLE_DEVICES", 16) == 0))
        return number;
    return NULL;
}

/* Puts values in the place of {NAME}. */
static int expand_group_pattern(const char *pattern, const struct pr_slot *slot,
                                char out[static PATH_MAX], struct pr_err *err)
{
    size_t at = 0;

    for (const char *p = pattern; *p; p++) {
        char number[16];
        const char *end = *p == '{' ? strchr(p, '}') : NULL, *value;
        int n;

        if (*p == '{' && !end)
            return fail_malformed_pattern(pattern, "has a '{' without '}'",
                                          err);
        value =
            end ? slot_get_variable(slot, p + 1, (size_t)(end - p - 1), number)
                : NULL;
        if (end && !value)
            return fail_malformed_pattern(pattern,
                                          "names a variable no slot has", err);
        n = snprintf(out + at, PATH_MAX - at, "%.*s", value ? INT_MAX : 1,
                     value ? value : p);
        if (n < 0 || (size_t)n >= PATH_MAX - at)
            return fail_malformed_pattern(pattern, "is too long", err);
        at += (size_t)n;
        if (end)
            p = end;
    }
    out[at] = '\0';
    return PR_OK;
}

/* A name from a configuration may not lead out of the hierarchy. */
static bool is_safe(const char *path)
{
    for (const char *p = path; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("._-/@,+", *p))
            return false;
    return *path && !pr_sysfile_has_word(path, "/", "..");
}

/* Parts "cpuset,memory:path"; without controllers, those that matter. */
static int parse_group_name(const char *pattern, char *text, char **ret_path,
                            const char **ret_names, struct pr_err *err)
{
    char *colon = strchr(text, ':');

    *ret_names = every_controller;
    *ret_path = text;
    if (colon) {
        *colon = '\0';
        *ret_names = text;
        *ret_path = colon + 1;
        if (!*text ||
            strspn(text, "abcdefghijklmnopqrstuvwxyz_,") != strlen(text))
            return fail_malformed_pattern(pattern,
                                          "has no controllers before ':'", err);
    }
    if (!is_safe(*ret_path))
        return fail_malformed_pattern(pattern, "is not a name of a group", err);
    return PR_OK;
}

/* What is there, as far as it concerns us. */
struct look {
    const char *missing; /* the first group that cannot be used; or NULL */
    int why;
    bool cpu, memory;
};

/* 0: none. Version 1 says so by the largest number of whole pages. */
static uint64_t read_memory_limit(const char *dir)
{
    uint64_t bytes = 0;

    if (!pr_sysfile_number(&bytes, "%s/memory.max", dir))
        (void)pr_sysfile_number(&bytes, "%s/memory.limit_in_bytes", dir);
    return bytes < UINT64_C(1) << 62 ? bytes : 0;
}

static void read_named_limits(struct pr_slots *s, struct pr_slot *slot,
                              const char *controller, const char *dir,
                              struct look *l)
{
    static const char *const files[] = {"cpuset.cpus.effective",
                                        "cpuset.effective_cpus", "cpuset.cpus"};
    struct pr_cpuset cpus = {0};
    char text[5 * PR_CPUSET_MAX];

    if (strcmp(controller, "memory") == 0) {
        slot->memory_group = pr_arena_str(s->arena, dir);
        slot->memory_bytes = read_memory_limit(dir);
        l->memory = true;
    }
    if (strcmp(controller, "cpuset") != 0)
        return;
    for (size_t i = 0; i < 3 && pr_cpuset_first(&cpus) < 0; i++)
        (void)pr_cpuset_read(&cpus, "%s/%s", dir, files[i]);
    if (pr_cpuset_first(&cpus) < 0 ||
        !pr_cpuset_print(&cpus, text, sizeof text))
        return;
    slot->cpus = pr_arena_str(s->arena, text);
    slot->n_cpus = pr_cpuset_count(&cpus);
    slot->n_cores = 0;
    for (unsigned i = 0; i < s->topology.n_cores; i++)
        slot->n_cores += pr_cpuset_overlaps(&s->topology.cores[i].cpus, &cpus);
    l->cpu = true;
}

/* One controller of one slot's group. */
static int use_one(struct pr_slots *s, struct pr_slot *slot,
                   const char *controller, const char *path, struct look *l,
                   struct pr_err *err)
{
    struct pr_cgroup h;
    char dir[PATH_MAX];

    PR_TRY(pr_cgroup_find_mount(s->root, controller, s->arena, &h, err));
    snprintf(dir, sizeof dir, "%.2000s/%.2000s", h.version ? h.mount : "",
             path);
    if (!h.version)
        l->why = -ENODEV;
    else
        l->why = access(dir, F_OK) ? -errno : cgroup_try_enter(dir);
    if (l->why) {
        l->missing = pr_arena_printf(s->arena, "%s:%s", controller, path);
        return l->missing ? PR_OK : pr_fail_nomem(err);
    }
    read_named_limits(s, slot, controller, dir, l);
    return slots_add_cgroup(s, slot, dir, err);
}

static int use_slot(struct pr_slots *s, struct pr_slot *slot, struct look *l,
                    struct pr_err *err)
{
    char text[PATH_MAX], *path, *save = NULL, list[PATH_MAX];
    const char *names;
    int rc = expand_group_pattern(s->opts->group, slot, text, err);

    if (!rc)
        rc = parse_group_name(s->opts->group, text, &path, &names, err);
    if (rc)
        return rc;
    snprintf(list, sizeof list, "%s", names);
    for (char *c = strtok_r(list, ",", &save); c && !rc && !l->missing;
         c = strtok_r(NULL, ",", &save))
        rc = use_one(s, slot, c, path, l, err);
    return rc;
}

/* As if it had never been tried. */
static void undo_named_cgroups(struct pr_slots *s, const struct pr_slot *before)
{
    for (unsigned i = 0; i < s->n; i++) {
        const char **groups = (const char **)(uintptr_t)s->slots[i].groups;

        memset(groups, 0, PR_SLOTS_GROUPS * sizeof *groups);
        s->slots[i] = before[i];
    }
}

static void warn_missing_cgroup(struct pr_slots *s, const struct look *l)
{
    char text[512];

    snprintf(text, sizeof text,
             "the group '%.200s' that is asked for cannot be used (%s): others "
             "are made instead",
             l->missing, strerror(-l->why));
    pr_slots_add_warning(
        s, text, "make it beforehand and let us enter it, or name none");
}

static void set_named_holds(struct pr_slots *s, const struct look *l)
{
    s->cpu = l->cpu ? PR_HOLD_NAMED : PR_HOLD_AFFINITY;
    s->memory = l->memory ? PR_HOLD_NAMED : PR_HOLD_NONE;
    s->reserve = 0;
    if (!l->cpu)
        pr_slots_add_warning(
            s,
            "CPUs are held by affinity alone: the named groups "
            "are in no cpuset",
            "name the controller cpuset, too");
    if (!l->memory)
        pr_slots_add_warning(s,
                             "memory is not limited: the named groups do not",
                             "name the controller memory, too");
}

/* The groups that opts->group names, when all of them are there and can be
 * entered; else notes why, and ret_used is false. */
static int slots_use_named(struct pr_slots *s, bool *ret_used,
                           struct pr_err *err)
{
    struct pr_slot *before = PR_ARENA_ARRAY(s->arena, struct pr_slot, s->n);
    struct look l = {0};
    int rc = PR_OK;

    if (!before)
        return pr_fail_nomem(err);
    memcpy(before, s->slots, s->n * sizeof *before);
    for (unsigned i = 0; i < s->n && !rc && !l.missing; i++)
        rc = use_slot(s, &s->slots[i], &l, err);
    if (rc)
        return rc;
    if (l.missing) {
        undo_named_cgroups(s, before);
        warn_missing_cgroup(s, &l);
        return PR_OK;
    }
    set_named_holds(s, &l);
    *ret_used = true;
    /* What they are told goes by the cores of the groups. */
    return pr_slots_make_env(s, err);
}

#define MIB (UINT64_C(1) << 20)

/* What the harness keeps: a 32nd, within these. */
#define RESERVE_LEAST (64 * MIB)
#define RESERVE_MOST (2048 * MIB)

/* What to hold with one tree. */
struct holding {
    const struct pr_cgroup *h;
    bool cpu, memory;
};

/* ---- groups of our own: memory */

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

/* ---- groups of our own: one tree */

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
        rc = cgroup_try_enter(dir);
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
        rc = slots_add_cgroup(s, &s->slots[i], dir, err);
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
    int rc;

    PR_TRY(pr_cgroup_tree_make(x->h, names, s->arena, t, ret_where));
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
        slots_warn_not_held(s, "cpuset", rc, where);
    if (x->memory)
        slots_warn_not_held(s, "memory", rc, where);
    return PR_OK;
}

/* ---- groups of our own: all of them */

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
        slots_warn_not_held(s, "cpuset", -ENODEV, cpu->own);
    if (rc || one)
        return rc;
    if (memory->version && share)
        return hold_by(s, &second, err);
    slots_warn_not_held(s, "memory", share ? -ENODEV : -ENODATA, memory->own);
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
        rc = slots_use_named(s, &named, err);
    return rc || named ? rc : hold_all(s, &cpu, &memory, err);
}
