/*
 * A tree of groups in version 2, where only groups without processes of their
 * own may have controllers for the groups in them. Our own group has a process,
 * us. So, in this order:
 *
 *   - the hierarchy's root is exempt from that rule;
 *   - a group that only we, those who started us and those we started are in:
 *     all move to a group "harness" inside the tree until it is removed. This
 *     is what a delegated scope or a container looks like;
 *   - beside our group, where its parent may be written to: a user's systemd
 *     slice. Limits of our own group do not hold there, those above do.
 */
#include "launch/slots/groups.h"
#include "machine/kernel_file.h"
#include "machine/process_tree.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KIN = 1, WORDS_BYTES = 64 };

struct making {
    const char *controllers; /* "cpuset memory" */
    const char *top;
    const char **why;
};

/* Calls f for each controller; the first answer but 0, or 0. */
static int each_controller(const struct making *m,
                           int (*f)(const char *name, void *ctx), void *ctx)
{
    char list[WORDS_BYTES], *save = NULL;
    int rc = 0;

    snprintf(list, sizeof list, "%s", m->controllers);
    for (char *c = strtok_r(list, " ", &save); c && !rc;
         c = strtok_r(NULL, " ", &save))
        rc = f(c, ctx);
    return rc;
}

static int missing_in(const char *name, void *enabled)
{
    return !pr_sysfile_has_word(enabled, " \n", name);
}

static void read_enabled(const char *dir, char out[static 512])
{
    if (!pr_sysfile_read(out, 512, "%s/cgroup.subtree_control", dir))
        out[0] = '\0';
}

static bool all_enabled(const char *dir, const struct making *m)
{
    char enabled[512];

    read_enabled(dir, enabled);
    return each_controller(m, missing_in, enabled) == 0;
}

/* ---- who is in our group */

static bool is_kin(const struct pr_proctree *t, pid_t pid)
{
    const struct pr_proc *p = pr_proctree_find(t, pid);

    return p && (p->marks & KIN);
}

static void mark_kin(struct pr_proctree *t)
{
    struct pr_proc *p = pr_proctree_find(t, getpid());

    if (p)
        p->marks |= KIN;
    pr_proctree_spread(t, KIN);
    while (p && p->ppid > 0) {
        p = pr_proctree_find(t, p->ppid);
        if (p)
            p->marks |= KIN;
    }
}

static bool only_kin(const char *own)
{
    struct pr_proctree t = {0};
    char path[PATH_MAX];
    bool good = true;
    FILE *list;
    int pid;

    (void)pr_sysfile_path(path, own, "cgroup.procs");
    list = fopen(path, "re");
    if (!list)
        return false;
    good = pr_proctree_read(&t) == 0;
    mark_kin(&t);
    while (good && fscanf(list, "%d", &pid) == 1)
        good = is_kin(&t, pid); /* 0: one of another namespace */
    fclose(list);
    pr_proctree_free(&t);
    return good;
}

/* ---- the three places */

static int make_dir(const char *dir, const struct making *m)
{
    if (mkdir(dir, 0755) == 0)
        return 0;
    *m->why = m->top;
    return -errno;
}

static int add_plus(const char *name, void *text)
{
    size_t at = strlen(text);

    snprintf((char *)text + at, WORDS_BYTES - at, "%s+%s", at ? " " : "", name);
    return 0;
}

static int enable_controllers(const char *dir, const struct making *m)
{
    char text[WORDS_BYTES] = "";
    int rc;

    (void)each_controller(m, add_plus, text);
    rc = pr_sysfile_write(dir, "cgroup.subtree_control", text);
    if (rc)
        *m->why = dir;
    return rc;
}

struct marking {
    const struct making *m;
    char before[512]; /* what was enabled without us */
};

static int mark_one(const char *name, void *ctx)
{
    const struct marking *x = ctx;
    char dir[PATH_MAX], mark[64];

    if (pr_sysfile_has_word(x->before, " \n", name))
        return 0;
    snprintf(mark, sizeof mark, PR_CGROUP_UNDO "%.32s", name);
    return pr_sysfile_path(dir, x->m->top, mark) ? make_dir(dir, x->m)
                                                 : -ENAMETOOLONG;
}

/* Leaves a mark of what has to be undone, then enables it. */
static int enable_above(const char *above, const struct making *m)
{
    struct marking x = {.m = m};
    int rc;

    read_enabled(above, x.before);
    rc = each_controller(m, mark_one, &x);
    return rc ? rc : enable_controllers(above, m);
}

/* Where processes may be in the group above, or nothing need be enabled. */
static int make_plain(const char *above, const struct making *m)
{
    int rc = make_dir(m->top, m);

    if (!rc)
        rc = enable_above(above, m);
    return rc ? rc : enable_controllers(m->top, m);
}

static int make_with_harness(const char *own, const struct making *m)
{
    char harness[PATH_MAX];
    int rc = make_dir(m->top, m);

    if (!rc)
        rc = pr_sysfile_path(harness, m->top, PR_CGROUP_HARNESS)
                 ? make_dir(harness, m)
                 : -ENAMETOOLONG;
    if (!rc && !pr_cgroup_move_processes(own, harness)) {
        *m->why = own;
        rc = -EPERM;
    }
    if (!rc)
        rc = enable_above(own, m);
    return rc ? rc : enable_controllers(m->top, m);
}

static bool is_root(const char *dir)
{
    char path[PATH_MAX];

    return pr_sysfile_path(path, dir, "cgroup.type") && access(path, F_OK) != 0;
}

static int make_at(const char *above, const char *name, struct pr_arena *a,
                   struct making *m)
{
    pr_cgroup_tree_remove_stale(above, NULL);
    m->top = pr_arena_printf(a, "%s/%s", above, name);
    return m->top ? 0 : -ENOMEM;
}

/* The group above ours; NULL when we cannot see it. */
static const char *get_parent_cgroup(const struct pr_cgroup *h,
                                     struct pr_arena *a)
{
    const char *slash = strrchr(h->own, '/');

    if (!slash || strlen(h->own) <= strlen(h->mount))
        return NULL;
    return pr_arena_copy(a, h->own, (size_t)(slash - h->own));
}

/* Whatever came of it: on failure nothing stays. */
static int undo_if_failed(const struct making *m, int rc)
{
    const struct pr_cgroup_tree t = {m->top};

    if (rc)
        (void)pr_cgroup_tree_remove(&t);
    return rc;
}

static int make_tree_in_own(const struct pr_cgroup *h, const char *name,
                            struct pr_arena *a, struct making *m)
{
    int rc = make_at(h->own, name, a, m);

    if (rc)
        return rc;
    if (is_root(h->own) || all_enabled(h->own, m))
        return undo_if_failed(m, make_plain(h->own, m));
    return only_kin(h->own) ? undo_if_failed(m, make_with_harness(h->own, m))
                            : -EBUSY;
}

/* What is enabled for us is enabled there for everybody. */
static int make_tree_beside(const struct pr_cgroup *h, const char *name,
                            struct pr_arena *a, struct making *m)
{
    const char *above = get_parent_cgroup(h, a);
    int rc = above ? make_at(above, name, a, m) : -ENOENT;

    return rc ? rc : undo_if_failed(m, make_plain(above, m));
}

int pr_cgroup_tree_make_v2(const struct pr_cgroup *h, const char *controllers,
                           const char *name, struct pr_arena *a,
                           struct pr_cgroup_tree *ret, const char **ret_why)
{
    const char *no_matter;
    struct making m = {.controllers = controllers, .why = ret_why};
    int rc = make_tree_in_own(h, name, a, &m);

    if (rc && rc != -ENOMEM) {
        m.why = &no_matter; /* that of our own group is the one to mend */
        if (make_tree_beside(h, name, a, &m) == 0)
            rc = 0;
    }
    if (rc == 0)
        ret->top = m.top;
    return rc;
}

/* ---- what would come of it */

static int may_write(const char *dir, const char *file)
{
    char path[PATH_MAX];

    if (!pr_sysfile_path(path, dir, file))
        return -ENAMETOOLONG;
    return access(path, W_OK) == 0 ? 0 : -errno;
}

static int check_tree_in(const char *above, const struct making *m)
{
    char given[512];
    int rc;

    *m->why = above;
    if (!pr_sysfile_read(given, sizeof given, "%s/cgroup.controllers", above) ||
        each_controller(m, missing_in, given))
        return -ENODEV;
    rc = may_write(above, "cgroup.subtree_control");
    return rc ? rc : pr_cgroup_try_make(above);
}

static int check_tree_in_own(const char *own, const struct making *m)
{
    int rc;

    if (is_root(own) || all_enabled(own, m))
        return check_tree_in(own, m);
    if (!only_kin(own))
        return -EBUSY;
    rc = may_write(own, "cgroup.procs");
    return rc ? rc : check_tree_in(own, m);
}

/* Who moves a process needs the files of the group above both places. */
static int check_tree_beside(const char *above, const struct making *m)
{
    int rc = may_write(above, "cgroup.procs");

    return rc ? rc : check_tree_in(above, m);
}

int pr_cgroup_tree_check_v2(const struct pr_cgroup *h, const char *controllers,
                            struct pr_arena *a, const char **ret_why)
{
    const char *no_matter, *above = get_parent_cgroup(h, a);
    struct making m = {.controllers = controllers, .why = ret_why};
    int rc = check_tree_in_own(h->own, &m);

    m.why = &no_matter;
    return rc && above && check_tree_beside(above, &m) == 0 ? 0 : rc;
}
