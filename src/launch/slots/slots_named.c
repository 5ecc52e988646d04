/*
 * Slots held by groups that were there before us, named by a pattern such as
 * "cpuset,memory:student{CUDA_VISIBLE_DEVICES}". They are entered and nothing
 * else: not changed, not removed.
 */
#include "launch/slots/slots_impl.h"
#include "machine/kernel_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    int rc = pr_cgroup_find_mount(s->root, controller, s->arena, &h, err);

    if (rc)
        return rc;
    snprintf(dir, sizeof dir, "%.2000s/%.2000s", h.version ? h.mount : "",
             path);
    if (!h.version)
        l->why = -ENODEV;
    else
        l->why = access(dir, F_OK) ? -errno : pr_cgroup_try_enter(dir);
    if (l->why) {
        l->missing = pr_arena_printf(s->arena, "%s:%s", controller, path);
        return l->missing ? PR_OK : pr_fail_nomem(err);
    }
    read_named_limits(s, slot, controller, dir, l);
    return pr_slots_add_cgroup(s, slot, dir, err);
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

int pr_slots_use_named(struct pr_slots *s, bool *ret_used, struct pr_err *err)
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
