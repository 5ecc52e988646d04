/*
 * The processes of an experiment: its first one, whatever descends from that,
 * and whatever carries its mark (PRONY_EXPERIMENT) in the environment, as what
 * runs in a container started by a daemon does. Only processes that have come
 * since are examined; which those are, the inode of /proc/PID tells.
 */
#ifndef PR_MONITOR_JOB_TREE_H
#define PR_MONITOR_JOB_TREE_H

#include "monitor/monitor_source.h"

/* Ticks of its own, those of children that it waited for, and bytes, which the
 * kernel does not tell apart like that. */
enum pr_job_tree_count {
    PR_JOB_OWN,
    PR_JOB_WAITED,
    PR_JOB_READ,
    PR_JOB_WRITTEN,
    PR_JOB_COUNTS,
};

struct pr_job_tree_process {
    int pid, ppid;
    uint64_t start; /* ticks since boot */
    bool alive;     /* the first one stays in the list without, until its end is
                       told */
    bool known;     /* it was read before */
    uint64_t count[PR_JOB_COUNTS];
    double gain[PR_JOB_COUNTS]; /* since the look before */
    double owed[PR_JOB_COUNTS]; /* of the next gain: it was counted already as
                                   that of a child which has ended */
    uint64_t threads, virt_bytes, rss_bytes, shared_bytes;
    bool zombie;
    struct pr_kernel_file stat, statm, io;
};

struct pr_job_tree_seen {
    int pid;
    uint64_t ino;
    uint64_t young_ns; /* until then it may still become ours: what runs in a
                          container gets its environment from a helper that
                          had another; 0: it is judged */
};

/* One of the two ways to look for processes: in all of /proc, or only among the
 * children of ours, which takes no longer on a machine with many others. */
struct pr_job_tree_turn {
    uint64_t last_pid; /* the newest there was */
    uint64_t at_ns;    /* not before */
    uint64_t took_ns;
};

struct pr_job_tree {
    int first; /* pid; 0: none */
    uint64_t first_start;
    char mark[160]; /* NAME=value; "": not known, or it has none */
    struct pr_job_tree_process *ours;
    size_t n, cap;
    struct pr_job_tree_seen *seen, *next; /* by rising pid */
    size_t n_seen, cap_seen, n_next, cap_next;
    struct pr_job_tree_process *fresh; /* come since, not judged yet */
    size_t n_fresh, cap_fresh;
    struct pr_kernel_file loadavg;
    struct pr_job_tree_turn all, near;
    uint64_t young_ns, again_ns; /* the last of theirs; when to look again */
};

/* Another experiment, or another first process. */
void pr_job_tree_start(struct pr_job_tree *t, int first);

/* Looks for processes that have come, if there are any. */
void pr_job_tree_scan(struct pr_job_tree *t, struct pr_monitor_sample *l);

void pr_job_tree_close(struct pr_job_tree *t);

/* The line of /proc/PID/stat; false when it is none. Fills pid, ppid, start,
 * zombie, threads, virt_bytes, rss_bytes and the ticks. */
bool pr_job_tree_parse_stat(const char *text, struct pr_job_tree_process *ret);

#endif
