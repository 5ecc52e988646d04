/*
 * A tree of groups: making it, where that can be; its name, which tells whose
 * it is; removing it; and the group of a run.
 */
#include "launch/slots/cgroup_tree.h"

#include "base/clock.h"
#include "base/text.h"
#include "machine/kernel_file.h"
#include "machine/process_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- a tree in version 2, where only groups without processes of their own
 * may have controllers for the groups in them. Our own group has a process, us.
 * So, in this order:
 *
 *   - the hierarchy's root is exempt from that rule;
 *   - a group that only we, those who started us and those we started are in:
 *     all move to a group "harness" inside the tree until it is removed. This
 *     is what a delegated scope or a container looks like;
 *   - beside our group, where its parent may be written to: a user's systemd
 *     slice. Limits of our own group do not hold there, those above do. */

static void cgroup_tree_remove_stale(const char *folder,
                                     struct pr_pids *killed);
static int cgroup_try_make(const char *above);

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

/* ---- who is in a group */

/* Calls f for each process of a group, once; whether all went well. */
static bool each_process(const char *dir, bool (*f)(const char *pid, void *ctx),
                         void *ctx)
{
    char path[PATH_MAX], pid[32];
    bool good = true;
    FILE *list;

    (void)pr_sysfile_path(path, dir, "cgroup.procs");
    list = fopen(path, "re");
    if (!list)
        return errno == ENOENT;
    while (fscanf(list, "%31s", pid) == 1)
        good &= f(pid, ctx);
    fclose(list);
    return good;
}

static bool move_one(const char *pid, void *to)
{
    int rc = pr_sysfile_write(to, "cgroup.procs", pid);

    return rc == 0 || rc == -ESRCH;
}

/* Moves every process of one group to another; false: some stayed. */
static bool cgroup_move_processes(const char *from, const char *to)
{
    /* A process that forks meanwhile leaves one behind. */
    for (int i = 0; i < 3; i++)
        if (!each_process(from, move_one, (void *)(uintptr_t)to))
            return false;
    return true;
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
    if (!rc && !cgroup_move_processes(own, harness)) {
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
    cgroup_tree_remove_stale(above, NULL);
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
    PR_TRY(make_at(h->own, name, a, m));
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

static int cgroup_tree_make_v2(const struct pr_cgroup *h,
                               const char *controllers, const char *name,
                               struct pr_arena *a, struct pr_cgroup_tree *ret,
                               const char **ret_why)
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
    return rc ? rc : cgroup_try_make(above);
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

static int cgroup_tree_check_v2(const struct pr_cgroup *h,
                                const char *controllers, struct pr_arena *a,
                                const char **ret_why)
{
    const char *no_matter, *above = get_parent_cgroup(h, a);
    struct making m = {.controllers = controllers, .why = ret_why};
    int rc = check_tree_in_own(h->own, &m);

    m.why = &no_matter;
    return rc && above && check_tree_beside(above, &m) == 0 ? 0 : rc;
}

#define PREFIX "prony-"
#define RUN_PREFIX PREFIX "run-"

/* The dead leave a group a little after they were waited for. */
#define PATIENCE_NS (1000 * UINT64_C(1000000))

/* ---- whose it is */

/* When a process was started, in ticks since boot: field 22. False: it is
 * dead, even if nobody has waited for it. */
static bool read_start_ticks(long pid, unsigned long long *ret)
{
    char text[1024], *rest;
    struct pr_proc p;

    if (!pr_sysfile_read(text, sizeof text, "/proc/%ld/stat", pid) ||
        !pr_proctree_parse(text, &p) || p.dead)
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

bool pr_cgroup_make_name(char out[static PR_CGROUP_NAME], unsigned number)
{
    unsigned long long start;

    if (!read_start_ticks(getpid(), &start))
        return false;
    snprintf(out, PR_CGROUP_NAME, PREFIX "%llu-%ld-%llu-%u", pid_namespace(),
             (long)getpid(), start, number);
    return true;
}

bool pr_cgroup_is_stale(const char *name)
{
    unsigned long long space, start, now;
    unsigned number;
    char again[PR_CGROUP_NAME];
    long pid;

    if (sscanf(name, PREFIX "%llu-%ld-%llu-%u", &space, &pid, &start,
               &number) != 4 ||
        pid <= 0 || space != pid_namespace())
        return false;
    snprintf(again, sizeof again, PREFIX "%llu-%ld-%llu-%u", space, pid, start,
             number);
    return strcmp(again, name) == 0 &&
           (!read_start_ticks(pid, &now) || now != start);
}

/* ---- removing */

static bool cgroup_remove_folder(const char *dir)
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
        if (e->d_name[0] != '.' && pr_text_starts_with(e->d_name, start) &&
            pr_sysfile_path(path, top, e->d_name))
            good &= f(path, ctx);
    closedir(d);
    return good;
}

static bool is_group(const char *dir)
{
    struct stat st;

    return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What was made below a group of ours by those in it goes with it. */
static bool remove_group(const char *dir, void *ctx)
{
    return !is_group(dir) || rmdir(dir) == 0 ||
           (each_group(dir, "", remove_group, ctx) &&
            cgroup_remove_folder(dir));
}

/* ---- ending those who are in it */

struct killing {
    struct pr_pids *pids; /* NULL: no matter */
    unsigned met;         /* in this round */
};

static bool kill_one(const char *pid, void *ctx)
{
    struct killing *k = ctx;
    long v = strtol(pid, NULL, 10);

    if (v <= 1 || v == getpid())
        return false;
    k->met++;
    if (k->pids)
        (void)pr_pids_add(k->pids, (pid_t)v);
    return kill((pid_t)v, SIGKILL) == 0;
}

static bool kill_in(const char *dir, void *ctx)
{
    if (!is_group(dir))
        return true;
    (void)each_process(dir, kill_one, ctx);
    return each_group(dir, "", kill_in, ctx);
}

/* Tells the kernel by a file of the group; whether there is that file. */
static bool cgroup_write_file(const char *dir, const char *file,
                              const char *text)
{
    char path[PATH_MAX];

    return pr_sysfile_path(path, dir, file) && access(path, W_OK) == 0 &&
           pr_sysfile_write(dir, file, text) == 0;
}

/* Nobody can fork between being seen and being killed: either the kernel kills
 * them all once we have noted who they are, or they stand still meanwhile. */
static unsigned kill_round(const char *dir, struct pr_pids *pids)
{
    struct killing k = {.pids = pids};
    bool frozen = cgroup_write_file(dir, "freezer.state", "FROZEN");

    (void)kill_in(dir, &k);
    if (k.met)
        (void)cgroup_write_file(dir, "cgroup.kill", "1");
    if (frozen)
        (void)cgroup_write_file(dir, "freezer.state", "THAWED");
    return k.met;
}

static bool kill_group(const char *dir, void *pids)
{
    uint64_t end = pr_clock_ns() + PATIENCE_NS;
    const char *name = strrchr(dir, '/');

    /* Those who started the run: they go home. */
    if (name && strcmp(name + 1, PR_CGROUP_HARNESS) == 0)
        return true;
    while (kill_round(dir, pids)) {
        if (pr_clock_ns() > end)
            return false;
        poll(NULL, 0, 1);
    }
    return true;
}

/* In the tree and in the group above it, in this order. */
static bool undo_controller(const char *dir, void *top)
{
    const char *name = strrchr(dir, '/') + 1 + strlen(PR_CGROUP_UNDO);
    char home[PATH_MAX], text[64], *slash;

    snprintf(text, sizeof text, "-%.32s", name);
    snprintf(home, sizeof home, "%s", (const char *)top);
    slash = strrchr(home, '/');
    (void)pr_sysfile_write(top, "cgroup.subtree_control", text);
    *slash = '\0';
    (void)pr_sysfile_write(home, "cgroup.subtree_control", text);
    return cgroup_remove_folder(dir);
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
    return cgroup_move_processes(harness, home) &&
           cgroup_remove_folder(harness);
}

static bool remove_plain(const char *dir, void *ctx)
{
    const char *name = strrchr(dir, '/') + 1;

    return strcmp(name, PR_CGROUP_HARNESS) == 0 ||
           pr_text_starts_with(name, PR_CGROUP_UNDO) || remove_group(dir, ctx);
}

bool pr_cgroup_tree_remove(const struct pr_cgroup_tree *t)
{
    char top[PATH_MAX];
    bool good;

    if (!t->top || access(t->top, F_OK) != 0 ||
        snprintf(top, sizeof top, "%s", t->top) >= (int)sizeof top)
        return true;
    good = each_group(top, "", remove_plain, NULL);
    if (good) {
        good = each_group(top, PR_CGROUP_UNDO, undo_controller, top);
        good &= each_group(top, PR_CGROUP_HARNESS, send_home, NULL);
    }
    return cgroup_remove_folder(top) && good;
}

/* Of a tree in version 2: some in it are not ours to end. */
static bool has_harness(const char *top)
{
    char path[PATH_MAX];

    return pr_sysfile_path(path, top, PR_CGROUP_HARNESS) && is_group(path);
}

/* ---- ending what is left of others */

/* Whether a folder that was opened is the one of that name still. */
static bool is_folder_still_there(int fd, const char *dir)
{
    struct stat open, named;

    return fstat(fd, &open) == 0 && stat(dir, &named) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/* Between opening and locking another run may have removed it, and its maker
 * made it anew. */
static bool lock_group(const char *dir, int *ret_fd)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        is_folder_still_there(fd, dir)) {
        *ret_fd = fd;
        return true;
    }
    if (fd >= 0)
        close(fd);
    return false;
}

/* Not a folder that looks like one: its processes would be anybody's. */
static bool is_control_group(const char *dir)
{
    struct statfs fs;

    return statfs(dir, &fs) == 0 && (fs.f_type == CGROUP_SUPER_MAGIC ||
                                     fs.f_type == CGROUP2_SUPER_MAGIC);
}

/* The lock of a group whose run is gone; -1: it is not that. Whoever has just
 * made the group and not locked it yet finds it taken, and makes it again. */
static int claim_stale_cgroup(const char *dir)
{
    const char *name = strrchr(dir, '/');
    int fd;

    return name && *dir == '/' && !pr_sysfile_has_word(dir, "/", "..") &&
                   pr_text_starts_with(name + 1, RUN_PREFIX) &&
                   is_control_group(dir) && lock_group(dir, &fd)
               ? fd
               : -1;
}

/* Removes trees in this folder whose run is gone, and kills what it left in
 * them; adds whom it killed (NULL: no matter). */
static void cgroup_tree_remove_stale(const char *folder, struct pr_pids *killed)
{
    DIR *d = opendir(folder);
    char top[PATH_MAX];
    struct dirent *e;

    while (d && (e = readdir(d))) {
        struct pr_cgroup_tree t = {top};
        int fd;

        if (!pr_text_starts_with(e->d_name, PREFIX) ||
            !pr_sysfile_path(top, folder, e->d_name))
            continue;
        fd = claim_stale_cgroup(top);
        if (fd < 0 && !pr_cgroup_is_stale(e->d_name))
            continue;
        if (has_harness(top))
            (void)each_group(top, "slot", kill_group, killed);
        else
            (void)kill_group(top, killed);
        (void)pr_cgroup_tree_remove(&t);
        if (fd >= 0)
            close(fd);
    }
    if (d)
        closedir(d);
}

bool pr_cgroup_tree_leave_stale(const struct pr_cgroup *h)
{
    char folder[PATH_MAX], *slash;

    snprintf(folder, sizeof folder, "%s", h->own ? h->own : "");
    slash = strrchr(folder, '/');
    if (h->version != 2 || !slash || strcmp(slash, "/" PR_CGROUP_HARNESS) != 0)
        return false;
    *slash = '\0';
    slash = strrchr(folder, '/');
    if (!slash || !pr_cgroup_is_stale(slash + 1))
        return false;
    *slash = '\0';
    cgroup_tree_remove_stale(folder, NULL);
    return true;
}

/* ---- making */

static unsigned next_number(void)
{
    static unsigned number;

    return number++;
}

static int cgroup_try_make(const char *above)
{
    char name[PR_CGROUP_NAME], dir[PATH_MAX];

    if (!pr_cgroup_make_name(name, next_number()))
        return -ENOENT;
    if (!pr_sysfile_path(dir, above, name))
        return -ENAMETOOLONG;
    if (mkdir(dir, 0755) < 0)
        return -errno;
    return rmdir(dir) < 0 ? -errno : 0;
}

int pr_cgroup_tree_check(const struct pr_cgroup *h, const char *controllers,
                         struct pr_arena *a, const char **ret_why)
{
    *ret_why = h->own;
    return h->version == 2 ? cgroup_tree_check_v2(h, controllers, a, ret_why)
                           : cgroup_try_make(h->own);
}

int pr_cgroup_tree_make(const struct pr_cgroup *h, const char *controllers,
                        struct pr_arena *a, struct pr_cgroup_tree *ret,
                        const char **ret_why)
{
    char name[PR_CGROUP_NAME];
    const char *top;

    *ret_why = h->own;
    if (!pr_cgroup_make_name(name, next_number()))
        return -ENOENT;
    if (h->version == 2)
        return cgroup_tree_make_v2(h, controllers, name, a, ret, ret_why);
    cgroup_tree_remove_stale(h->own, NULL);
    top = pr_arena_printf(a, "%s/%s", h->own, name);
    if (!top)
        return -ENOMEM;
    if (mkdir(top, 0755) < 0)
        return -errno;
    *ret = (struct pr_cgroup_tree){top};
    return 0;
}

/* ---- the group of a run */

/* As linux/sched.h has it; older C libraries do not. */
struct clone3_args {
    alignas(8) uint64_t flags;
    uint64_t pidfd, child_tid, parent_tid, exit_signal;
    uint64_t stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};
#define INTO_CGROUP UINT64_C(0x200000000)

bool pr_cgroup_join(const char *dir)
{
    /* By tasks, which version 1 has, a thread moves alone, and the kernel need
     * not hold up every fork for a grace period. Who may start processes in a
     * group may not always use both. */
    static const char *const files[] = {"tasks", "cgroup.procs"};
    int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int why = errno;
    bool in = false;

    for (int i = 0; at >= 0 && !in && i < 2; i++) {
        int fd = openat(at, files[i], O_WRONLY | O_CLOEXEC);

        in = fd >= 0 && write(fd, "0", 1) == 1;
        why = errno;
        if (fd >= 0)
            close(fd);
    }
    if (at >= 0)
        close(at);
    errno = why;
    return in;
}

/* The harness of a tree goes with the tree, of which our group is no part. */
static void leave_harness(char *dir)
{
    char *harness = strrchr(dir, '/'), *top;

    if (!harness || strcmp(harness + 1, PR_CGROUP_HARNESS) != 0)
        return;
    *harness = '\0';
    top = strrchr(dir, '/');
    if (top && pr_text_starts_with(top + 1, PREFIX))
        *top = '\0';
    else
        *harness = '/';
}

/* Another run that cleans up may take it before it is locked, for a moment. */
static bool make_locked(const char *dir, int *ret_fd)
{
    enum { TRIES = 100 };

    for (int i = 0; i < TRIES; i++) {
        if (mkdir(dir, 0755) < 0)
            return false;
        if (!is_control_group(dir) && access(dir, F_OK) == 0)
            break;
        if (lock_group(dir, ret_fd))
            return true;
        poll(NULL, 0, 1);
        if (rmdir(dir) < 0 && errno != ENOENT)
            return false;
    }
    (void)rmdir(dir);
    return false;
}

static bool make_in(const char *own, uint32_t number, struct pr_run_cgroup *ret,
                    struct pr_pids *killed)
{
    char name[32], folder[PATH_MAX];

    snprintf(folder, sizeof folder, "%s", own);
    leave_harness(folder);
    if (access(folder, W_OK) != 0)
        return false;
    cgroup_tree_remove_stale(folder, killed);
    snprintf(name, sizeof name, RUN_PREFIX "%08x", (unsigned)number);
    return pr_sysfile_path(ret->dir, folder, name) &&
           make_locked(ret->dir, &ret->fd);
}

int pr_run_cgroup_make(const char *root, uint32_t number,
                       struct pr_run_cgroup *ret, struct pr_pids *killed,
                       struct pr_err *err)
{
    /* No controller of version 1 has the first name. */
    static const char *const names[] = {"", "freezer"};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    int rc = a ? PR_OK : pr_fail_nomem(err);

    for (int i = 0; i < 2 && !rc; i++) {
        struct pr_cgroup h;

        rc = pr_cgroup_find_mount(root, names[i], a, &h, err);
        if (!rc && pr_cgroup_tree_leave_stale(&h))
            rc = pr_cgroup_find_mount(root, names[i], a, &h, err);
        ret->v2 = i == 0;
        if (!rc && h.version == 2 - i && make_in(h.own, number, ret, killed))
            return PR_OK;
    }
    ret->dir[0] = '\0';
    ret->fd = -1;
    return rc;
}

/* A sanitizer must know of a fork. */
static pid_t fork_into(int fd)
{
#ifdef __SANITIZE_THREAD__
    (void)fd;
    return -1;
#else
    struct clone3_args args = {
        .flags = INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)fd};

    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
#endif
}

pid_t pr_run_cgroup_fork(const struct pr_run_cgroup *g)
{
    /* Moving a process is slow, starting one there is not. */
    pid_t pid = g->v2 && g->fd >= 0 ? fork_into(g->fd) : -1;

    if (pid >= 0)
        return pid;
    pid = fork();
    if (pid == 0 && g->fd >= 0)
        (void)pr_cgroup_join(g->dir); /* else the mark has to do */
    return pid;
}

void pr_run_cgroup_remove(struct pr_run_cgroup *g)
{
    if (*g->dir)
        (void)remove_group(g->dir, NULL);
    if (g->fd >= 0)
        close(g->fd);
    g->dir[0] = '\0';
    g->fd = -1;
}

void pr_run_cgroup_leave(struct pr_run_cgroup *g)
{
    char home[PATH_MAX];

    snprintf(home, sizeof home, "%s", g->dir);
    if (*home)
        *strrchr(home, '/') = '\0';
    if (*home && pr_cgroup_join(home))
        pr_run_cgroup_remove(g);
}

bool pr_run_cgroup_kill(const char *dir, struct pr_pids *killed)
{
    return kill_group(dir, killed) && remove_group(dir, NULL);
}

void pr_run_cgroup_kill_stale(const char *dir, struct pr_pids *killed)
{
    int fd = claim_stale_cgroup(dir);

    if (fd < 0)
        return;
    (void)pr_run_cgroup_kill(dir, killed);
    close(fd);
}
