/*
 * A tree of groups: its name, which tells whose it is; making it; removing it.
 */
#include "launch/groups.h"

#include "base/clock.h"
#include "base/sysfile.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "prony-"

/* The dead leave a group a little after they were waited for. */
#define PATIENCE_NS (1000 * UINT64_C(1000000))

/* ---- whose it is */

/* When a process was started, in ticks since boot: field 22. */
static bool start_of(long pid, unsigned long long *ret)
{
    char text[1024], *rest;

    if (!pr_sysfile_read(text, sizeof text, "/proc/%ld/stat", pid))
        return false;
    rest = strrchr(text, ')');
    return rest && sscanf(rest,
                          ") %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                          "%*s %*s %*s %*s %*s %*s %*s %*s %llu",
                          ret) == 1;
}

/* Process ids mean something in one namespace alone. */
static unsigned long long pid_namespace(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 ? (unsigned long long)st.st_ino
                                               : 0;
}

bool pr_group_name(char out[static PR_GROUP_NAME], unsigned number)
{
    unsigned long long start;

    if (!start_of(getpid(), &start))
        return false;
    snprintf(out, PR_GROUP_NAME, PREFIX "%llu-%ld-%llu-%u", pid_namespace(),
             (long)getpid(), start, number);
    return true;
}

bool pr_group_is_stale(const char *name)
{
    unsigned long long space, start, now;
    unsigned number;
    char again[PR_GROUP_NAME];
    long pid;

    if (sscanf(name, PREFIX "%llu-%ld-%llu-%u", &space, &pid, &start,
               &number) != 4 ||
        pid <= 0 || space != pid_namespace())
        return false;
    snprintf(again, sizeof again, PREFIX "%llu-%ld-%llu-%u", space, pid, start,
             number);
    return strcmp(again, name) == 0 && (!start_of(pid, &now) || now != start);
}

/* ---- who is in it */

/* Calls f for each process of a group, once; whether all went well. */
static bool each_process(const char *dir,
                         bool (*f)(const char *pid, const char *to),
                         const char *to)
{
    char path[PATH_MAX], pid[32];
    bool good = true;
    FILE *list;

    (void)pr_sysfile_path(path, dir, "cgroup.procs");
    list = fopen(path, "re");
    if (!list)
        return errno == ENOENT;
    while (fscanf(list, "%31s", pid) == 1)
        good &= f(pid, to);
    fclose(list);
    return good;
}

static bool move_one(const char *pid, const char *to)
{
    int rc = pr_sysfile_write(to, "cgroup.procs", pid);

    return rc == 0 || rc == -ESRCH;
}

bool pr_group_move(const char *from, const char *to)
{
    /* A process that forks meanwhile leaves one behind. */
    for (int i = 0; i < 3; i++)
        if (!each_process(from, move_one, to))
            return false;
    return true;
}

static bool kill_one(const char *pid, const char *unused)
{
    long v = strtol(pid, NULL, 10);

    (void)unused;
    return v > 1 && kill((pid_t)v, SIGKILL) == 0;
}

/* ---- removing */

static bool remove_one(const char *dir)
{
    uint64_t end = pr_clock_ns() + PATIENCE_NS;

    while (rmdir(dir) < 0) {
        if (errno == ENOENT)
            return true;
        if (errno != EBUSY || pr_clock_ns() > end)
            return false;
        poll(NULL, 0, 2);
    }
    return true;
}

/* Calls f for each group right below this one whose name begins so. */
static bool each_group(const char *top, const char *start,
                       bool (*f)(const char *dir, void *ctx), void *ctx)
{
    char path[PATH_MAX];
    bool good = true;
    struct dirent *e;
    DIR *d = opendir(top);

    if (!d)
        return errno == ENOENT;
    while ((e = readdir(d)))
        if (strncmp(e->d_name, start, strlen(start)) == 0 &&
            pr_sysfile_path(path, top, e->d_name))
            good &= f(path, ctx);
    closedir(d);
    return good;
}

static bool remove_group(const char *dir, void *ctx)
{
    (void)ctx;
    return remove_one(dir);
}

static bool kill_group(const char *dir, void *ctx)
{
    (void)ctx;
    (void)each_process(dir, kill_one, NULL);
    return true;
}

/* In the tree and in the group above it, in this order. */
static bool undo_one(const char *dir, void *top)
{
    const char *name = strrchr(dir, '/') + 1 + strlen(PR_GROUP_UNDO);
    char home[PATH_MAX], text[64], *slash;

    snprintf(text, sizeof text, "-%.32s", name);
    snprintf(home, sizeof home, "%s", (const char *)top);
    slash = strrchr(home, '/');
    (void)pr_sysfile_write(top, "cgroup.subtree_control", text);
    *slash = '\0';
    (void)pr_sysfile_write(home, "cgroup.subtree_control", text);
    return remove_one(dir);
}

/* The processes that were in the group above come back to it, now that no
 * controller is enabled there. */
static bool send_home(const char *harness, void *unused)
{
    char home[PATH_MAX];

    (void)unused;
    snprintf(home, sizeof home, "%s", harness);
    *strrchr(home, '/') = '\0';
    *strrchr(home, '/') = '\0';
    return pr_group_move(harness, home) && remove_one(harness);
}

bool pr_group_tree_remove(const struct pr_group_tree *t)
{
    char top[PATH_MAX];
    bool good;

    if (!t->top || access(t->top, F_OK) != 0 ||
        snprintf(top, sizeof top, "%s", t->top) >= (int)sizeof top)
        return true;
    good = each_group(top, "slot", remove_group, NULL);
    if (good) {
        good = each_group(top, PR_GROUP_UNDO, undo_one, top);
        good &= each_group(top, PR_GROUP_HARNESS, send_home, NULL);
    }
    return remove_one(top) && good;
}

void pr_groups_clean(const char *folder)
{
    DIR *d = opendir(folder);
    char top[PATH_MAX];
    struct dirent *e;

    while (d && (e = readdir(d))) {
        struct pr_group_tree t = {top};

        if (!pr_group_is_stale(e->d_name) ||
            !pr_sysfile_path(top, folder, e->d_name))
            continue;
        (void)each_group(top, "slot", kill_group, NULL);
        (void)pr_group_tree_remove(&t);
    }
    if (d)
        closedir(d);
}

/* ---- making */

static unsigned next_number(void)
{
    static unsigned number;

    return number++;
}

int pr_group_try_make(const char *above)
{
    char name[PR_GROUP_NAME], dir[PATH_MAX];

    if (!pr_group_name(name, next_number()))
        return -ENOENT;
    if (!pr_sysfile_path(dir, above, name))
        return -ENAMETOOLONG;
    if (mkdir(dir, 0755) < 0)
        return -errno;
    return rmdir(dir) < 0 ? -errno : 0;
}

int pr_groups_look(const struct pr_hierarchy *h, const char *controllers,
                   struct pr_arena *a, const char **ret_why)
{
    *ret_why = h->own;
    return h->version == 2 ? pr_groups_look_v2(h, controllers, a, ret_why)
                           : pr_group_try_make(h->own);
}

int pr_groups_top(const struct pr_hierarchy *h, const char *controllers,
                  struct pr_arena *a, struct pr_group_tree *ret,
                  const char **ret_why)
{
    char name[PR_GROUP_NAME];
    const char *top;

    *ret_why = h->own;
    if (!pr_group_name(name, next_number()))
        return -ENOENT;
    if (h->version == 2)
        return pr_groups_top_v2(h, controllers, name, a, ret, ret_why);
    pr_groups_clean(h->own);
    top = pr_arena_printf(a, "%s/%s", h->own, name);
    if (!top)
        return -ENOMEM;
    if (mkdir(top, 0755) < 0)
        return -errno;
    *ret = (struct pr_group_tree){top};
    return 0;
}
