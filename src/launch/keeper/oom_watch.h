/*
 * Whether the kernel's out-of-memory killer has struck since the last look, by
 * the counters of the machine and of our own memory group, or by that of a
 * group that is given.
 */
#ifndef PR_LAUNCH_OOM_WATCH_H
#define PR_LAUNCH_OOM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define PR_OOMWATCH_FILES 2

struct pr_oom_watch {
    int fds[PR_OOMWATCH_FILES]; /* -1: this machine does not have it */
    uint64_t kills[PR_OOMWATCH_FILES];
};

/* root goes before /proc and /sys: "" but in tests. Takes a first look. */
void pr_oom_watch_init(struct pr_oom_watch *w, const char *root);
void pr_oom_watch_close(struct pr_oom_watch *w);

/* Whether a counter rose since the last look. */
bool pr_oom_watch_has_risen(struct pr_oom_watch *w);

/* The counter of one memory group, whose folder is given. */
struct pr_oom_cgroup {
    int fd; /* -1: it has none */
    uint64_t kills;
};

/* dir NULL: none. Takes a first look. */
void pr_oom_cgroup_open(struct pr_oom_cgroup *g, const char *dir);
void pr_oom_cgroup_close(struct pr_oom_cgroup *g);
bool pr_oom_cgroup_has_risen(struct pr_oom_cgroup *g); /* whether it rose */

#endif
