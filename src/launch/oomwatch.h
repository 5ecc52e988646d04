/*
 * Whether the kernel's out-of-memory killer has struck since the last look, by
 * the counters of the machine and of our own memory group, or by that of a
 * group that is given.
 */
#ifndef PR_LAUNCH_OOMWATCH_H
#define PR_LAUNCH_OOMWATCH_H

#include <stdbool.h>
#include <stdint.h>

#define PR_OOMWATCH_FILES 2

struct pr_oomwatch {
    int fds[PR_OOMWATCH_FILES]; /* -1: this machine does not have it */
    uint64_t kills[PR_OOMWATCH_FILES];
};

/* root goes before /proc and /sys: "" but in tests. Takes a first look. */
void pr_oomwatch_init(struct pr_oomwatch *w, const char *root);
void pr_oomwatch_done(struct pr_oomwatch *w);

/* Whether a counter rose since the last look. */
bool pr_oomwatch_look(struct pr_oomwatch *w);

/* The counter of one memory group, whose folder is given. */
struct pr_oomgroup {
    int fd; /* -1: it has none */
    uint64_t kills;
};

/* dir NULL: none. Takes a first look. */
void pr_oomgroup_open(struct pr_oomgroup *g, const char *dir);
void pr_oomgroup_close(struct pr_oomgroup *g);
bool pr_oomgroup_look(struct pr_oomgroup *g); /* whether it rose */

#endif
