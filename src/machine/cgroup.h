/*
 * The control groups that this process is in, versions 1 and 2, also mixed:
 * where each controller is mounted, our group in it, and what limits above us
 * leave.
 */
#ifndef PR_MACHINE_CGROUP_H
#define PR_MACHINE_CGROUP_H

#include "base/err.h"
#include "base/mem.h"

#include <stdint.h>

/* Where a controller is. */
struct pr_cgroup {
    int version;       /* 1 or 2; 0: nowhere */
    const char *mount; /* folder of its root, as far as we can see it */
    const char *own;   /* folder of the group we are in */
};

/* Looks in root's /proc/self. In v2, a controller that our own group was not
 * given is nowhere. PR_E_NOMEM, or PR_OK. */
int pr_cgroup_find(const char *root, const char *controller, struct pr_arena *a,
                   struct pr_cgroup *ret, struct pr_err *err) PR_MUST_CHECK;

/* The mount alone, whatever the controllers of our group are. */
int pr_cgroup_find_mount(const char *root, const char *controller,
                         struct pr_arena *a, struct pr_cgroup *ret,
                         struct pr_err *err) PR_MUST_CHECK;

/* The tightest memory limit on our group and those above; UINT64_MAX: none. */
uint64_t pr_cgroup_memory_limit(const struct pr_cgroup *h);

/* How many CPUs' time our group may use; INFINITY: any. */
double pr_cgroup_cpu_limit(const struct pr_cgroup *h);

/* Memory that this process may still use: what the machine has available, and
 * what the tightest of all groups above us leaves; page cache gives way. root
 * stands before /proc and /sys ("" but in tests). UINT64_MAX: nobody knows. */
uint64_t pr_memory_remaining(const char *root);

#endif
