/*
 * Control groups of our own, by their files: making a tree of groups where we
 * are (machine/cgroup.h), removing it, and removing the trees of runs that are
 * gone. Versions 1 and 2, also mixed.
 */
#ifndef PR_LAUNCH_CGROUP_TREE_H
#define PR_LAUNCH_CGROUP_TREE_H

#include "base/err.h"
#include "base/mem.h"
#include "machine/cgroup.h"
#include "machine/process_tree.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* A tree that we made: a folder with our name, in it one group a slot. In v2
 * there may be also "harness", for processes of the group above, and
 * "undo.cpuset" for a controller that we enabled in that group: so it can be
 * undone by whoever finds the tree. */
struct pr_cgroup_tree {
    const char *top; /* its folder; NULL: nothing was made */
};

/* Makes the folder where slots' groups can be, with these controllers
 * ("cpuset memory") enabled below it in v2. 0, or a negative errno and in why
 * what it was about. On failure everything is as before. */
int pr_cgroup_tree_make(const struct pr_cgroup *h, const char *controllers,
                        struct pr_arena *a, struct pr_cgroup_tree *ret,
                        const char **ret_why);

/* Whether pr_cgroup_tree_make would succeed, as far as it shows without
 * changing anything: files are read, and one empty group is made and removed at
 * once, since nothing else tells whether that is allowed. 0, or a negative
 * errno. */
int pr_cgroup_tree_check(const struct pr_cgroup *h, const char *controllers,
                         struct pr_arena *a, const char **ret_why);

#define PR_CGROUP_UNDO "undo."
#define PR_CGROUP_HARNESS "harness"

/* Removes it with all below; processes that were moved for its sake go back.
 * Waits a moment for the last ones to leave. False: something is left. */
bool pr_cgroup_tree_remove(const struct pr_cgroup_tree *t);

/* When a run and its keeper were killed at once, those who started it may
 * still be where it put them. True: they were, and are back where they came
 * from, so that h has to be found again. */
bool pr_cgroup_tree_leave_stale(const struct pr_cgroup *h);

/* The name of a tree of ours: namespace, process, its start, a number. */
enum { PR_CGROUP_NAME = 96 };
bool pr_cgroup_make_name(char out[static PR_CGROUP_NAME], unsigned number);

/* Whether name is that of a tree whose process is gone. */
bool pr_cgroup_is_stale(const char *name);

/* Moves the calling thread, which is to be its process's only one, into a
 * group. Makes system calls alone. False: errno tells why. */
bool pr_cgroup_join(const char *dir);

/* ---- the group of a run: its keeper is in it, and with it all that the keeper
 * starts, whatever they do to their session, parents or environment. No limits,
 * so that it measures nothing else. In version 2 where that can be, else in the
 * freezer of version 1. */

struct pr_run_cgroup {
    char dir[PATH_MAX]; /* "": none could be made */
    int fd;             /* of the folder, locked; -1: none. The group is left
                           over when nobody has this open any more. */
    bool v2;
};

/* Makes it where we are below root, named after this number; also removes
 * the trees there whose run is gone, and kills what it left in them. Fails for
 * want of memory alone. */
int pr_run_cgroup_make(const char *root, uint32_t number,
                       struct pr_run_cgroup *ret, struct pr_pids *killed,
                       struct pr_err *err) PR_MUST_CHECK;

/* fork(), with the child in the group; without one, or when it cannot be
 * entered, just that. */
pid_t pr_run_cgroup_fork(const struct pr_run_cgroup *g);

/* Removes it; nobody is in it any more. Closes fd. */
void pr_run_cgroup_remove(struct pr_run_cgroup *g);

/* Likewise, but we are in it: goes to the group above. */
void pr_run_cgroup_leave(struct pr_run_cgroup *g);

/* Kills all that are in it and below, and removes it. False: some are left. */
bool pr_run_cgroup_kill(const char *dir, struct pr_pids *killed);

/* Likewise, if dir is the group of a run that is gone. It may come from a file,
 * and so be anything. */
void pr_run_cgroup_kill_stale(const char *dir, struct pr_pids *killed);

#endif
