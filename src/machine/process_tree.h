/*
 * Who descends from whom, by one look at /proc. The list of children that newer
 * kernels offer per task is not used: it may skip entries while siblings exit,
 * and not every kernel has it.
 */
#ifndef PR_MACHINE_PROCESS_TREE_H
#define PR_MACHINE_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pr_proc {
    pid_t pid, ppid, pgrp;
    bool dead;      /* a zombie with no thread left */
    unsigned marks; /* bits of the caller's */
};

struct pr_proctree {
    struct pr_proc *procs; /* by rising pid */
    size_t n, cap;
};

/* Reads all processes, with no marks. 0, or a negative errno and an empty
 * list. Memory is kept for the next time. */
int pr_proctree_read(struct pr_proctree *t);
void pr_proctree_free(struct pr_proctree *t);

/* NULL when there is no such process. Borrowed until the next read. */
struct pr_proc *pr_proctree_find(const struct pr_proctree *t, pid_t pid);

void pr_proctree_clear(struct pr_proctree *t, unsigned mark);

/* Gives the mark to all descendants of those that have it. */
void pr_proctree_spread(struct pr_proctree *t, unsigned mark);

/* One line of /proc/<pid>/stat; false when it is none. */
bool pr_proctree_parse(const char *text, struct pr_proc *ret);

enum pr_proc_has {
    PR_PROC_HAS_NOT,
    PR_PROC_HAS,
    PR_PROC_UNSURE, /* no environment to be seen: bare, or within execve() */
};

/* Whether the process was given this NAME=value. */
enum pr_proc_has pr_proctree_has_env(pid_t pid, const char *entry);

/* A number that a process gives to all that descend from it, whatever they do
 * to their environment: the limit of file locks, which no kernel since 2.4
 * heeds. 0: none, or it cannot be told. */
uint64_t pr_proctree_get_mark(pid_t pid);
void pr_proctree_set_mark(uint64_t mark); /* makes system calls alone */

/* A set of process ids. */
struct pr_pids {
    pid_t *pids;
    size_t n, cap;
};

/* Whether it was new. When out of memory it stays out, and counts as new. */
bool pr_pids_add(struct pr_pids *s, pid_t pid);
void pr_pids_remove(struct pr_pids *s, pid_t pid);
bool pr_pids_has(const struct pr_pids *s, pid_t pid);
void pr_pids_free(struct pr_pids *s);

#endif
