/*
 * Whether the kernel's out-of-memory killer has struck since the last look, by
 * the counters of the machine and of our own memory group.
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

#endif
