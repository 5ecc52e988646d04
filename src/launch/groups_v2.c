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
#include "launch/groups.h"
#include "launch/proctree.h"
#include "launch/sysfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KIN = 1, UNDO_BYTES = 64 };

struct making {
    const char *top;
    char plus[UNDO_BYTES], minus[UNDO_BYTES]; /* "+cpuset +memory" */
    const char **why;
};

static void spell(struct making *m, const char *controllers)
{
    size_t at = 0;

    for (const char *c = controllers; *c;) {
        size_t len = strcspn(c, " ");
        const char *gap = at ? " " : "";

        snprintf(m->plus + at, sizeof m->plus - at, "%s+%.*s", gap, (int)len,
                 c);
        at += (size_t)snprintf(m->minus + at, sizeof m->minus - at, "%s-%.*s",
                               gap, (int)len, c);
        c += len;
        c += strspn(c, " ");
    }
}

static bool all_enabled(const char *dir, const char *controllers)
{
    char text[512], word[32];

    if (!pr_sysfile_read(text, sizeof text, "%s/cgroup.subtree_control", dir))
        return false;
    for (const char *c = controllers; sscanf(c, "%31s", word) == 1;
         c += strcspn(c, " "), c += strspn(c, " "))
        if (!pr_sysfile_word(text, " ", word))
            return false;
    return true;
}

/* ---- who is in our group */

static bool kin(const struct pr_proctree *t, pid_t pid)
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
        good = kin(&t, pid); /* 0: one of another namespace */
    fclose(list);
    pr_proctree_done(&t);
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

static int enable(const char *dir, const struct making *m)
{
    int rc = pr_sysfile_write(dir, "cgroup.subtree_control", m->plus);

    if (rc)
        *m->why = dir;
    return rc;
}

/* The folder above has what is needed for its children already, or takes it
 * while processes are in it. */
static int make_plain(const char *above, bool enabled, const struct making *m)
{
    int rc = enabled ? 0 : enable(above, m);

    if (!rc)
        rc = make_dir(m->top, m);
    if (rc)
        return rc;
    rc = enable(m->top, m);
    if (rc)
        (void)rmdir(m->top);
    return rc;
}

static int move_away(const char *own, const char *harness,
                     const struct making *m)
{
    int rc;

    if (!pr_group_move(own, harness)) {
        *m->why = own;
        return -EPERM;
    }
    rc = enable(own, m);
    if (!rc)
        rc = enable(m->top, m);
    if (rc) {
        (void)pr_sysfile_write(own, "cgroup.subtree_control", m->minus);
        (void)pr_group_move(harness, own);
    }
    return rc;
}

static int make_with_harness(const char *own, const struct making *m)
{
    char harness[PATH_MAX];
    int rc = make_dir(m->top, m);

    if (rc)
        return rc;
    rc = pr_sysfile_path(harness, m->top, "harness") ? make_dir(harness, m)
                                                     : -ENAMETOOLONG;
    if (rc == 0) {
        rc = move_away(own, harness, m);
        if (rc)
            (void)rmdir(harness);
    }
    if (rc)
        (void)rmdir(m->top);
    return rc;
}

static bool is_root(const char *dir)
{
    char path[PATH_MAX];

    return pr_sysfile_path(path, dir, "cgroup.type") && access(path, F_OK) != 0;
}

static int make_at(const char *above, const char *name, struct pr_arena *a,
                   struct making *m)
{
    pr_groups_clean(above);
    m->top = pr_arena_printf(a, "%s/%s", above, name);
    return m->top ? 0 : -ENOMEM;
}

/* The group above ours; NULL when we cannot see it. */
static const char *parent_of(const struct pr_hierarchy *h, struct pr_arena *a)
{
    const char *slash = strrchr(h->own, '/');

    if (!slash || strlen(h->own) <= strlen(h->mount))
        return NULL;
    return pr_arena_copy(a, h->own, (size_t)(slash - h->own));
}

static int in_own(const struct pr_hierarchy *h, const char *controllers,
                  const char *name, struct pr_arena *a, struct making *m)
{
    bool enabled = all_enabled(h->own, controllers);
    int rc = make_at(h->own, name, a, m);

    if (rc)
        return rc;
    if (enabled)
        m->minus[0] = '\0';
    if (enabled || is_root(h->own))
        return make_plain(h->own, enabled, m);
    return only_kin(h->own) ? make_with_harness(h->own, m) : -EBUSY;
}

/* What is enabled for us is enabled there for everybody. */
static int beside_own(const struct pr_hierarchy *h, const char *name,
                      struct pr_arena *a, struct making *m)
{
    const char *above = parent_of(h, a);
    int rc = above ? make_at(above, name, a, m) : -ENOENT;

    m->minus[0] = '\0';
    return rc ? rc : make_plain(above, true, m);
}

int pr_groups_top_v2(const struct pr_hierarchy *h, const char *controllers,
                     const char *name, struct pr_arena *a,
                     struct pr_group_tree *ret, const char **ret_why)
{
    char *undo = PR_ARENA_ARRAY(a, char, UNDO_BYTES);
    const char *no_matter;
    struct making m = {.why = ret_why};
    int rc;

    if (!undo)
        return -ENOMEM;
    spell(&m, controllers);
    rc = in_own(h, controllers, name, a, &m);
    if (rc && rc != -ENOMEM) {
        m.why = &no_matter; /* that of our own group is the one to mend */
        if (beside_own(h, name, a, &m) == 0)
            rc = 0;
    }
    if (rc)
        return rc;
    memcpy(undo, m.minus, UNDO_BYTES);
    *ret = (struct pr_group_tree){m.top, undo};
    return 0;
}
