/* Sets of CPUs, or of NUMA nodes, as the kernel writes them: "0-3,8". */
#ifndef PR_MACHINE_CPUSET_H
#define PR_MACHINE_CPUSET_H

#include "base/err.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As many as the largest kernels are built for. */
enum { PR_CPUSET_MAX = 8192, PR_CPUSET_WORD = 64 };

struct pr_cpuset {
    uint64_t word[PR_CPUSET_MAX / PR_CPUSET_WORD]; /* as sched_setaffinity's */
};

/* False when it is no list; "" and blanks around it are fine. */
bool pr_cpuset_parse(const char *text, struct pr_cpuset *ret);

/* That of a file, whose path is fmt and what follows. */
bool pr_cpuset_read(struct pr_cpuset *ret, const char *fmt, ...)
    PR_PRINTF(2, 3);

/* Shortened with no harm to the rest: false when it does not fit. */
bool pr_cpuset_print(const struct pr_cpuset *s, char *out, size_t bytes);

unsigned pr_cpuset_count(const struct pr_cpuset *s);
int pr_cpuset_first(const struct pr_cpuset *s); /* -1: empty */
void pr_cpuset_add(struct pr_cpuset *s, unsigned cpu);
bool pr_cpuset_has(const struct pr_cpuset *s, unsigned cpu);
void pr_cpuset_join(struct pr_cpuset *s, const struct pr_cpuset *more);
void pr_cpuset_intersect(struct pr_cpuset *s, const struct pr_cpuset *only);
void pr_cpuset_subtract(struct pr_cpuset *s, const struct pr_cpuset *out);
bool pr_cpuset_overlaps(const struct pr_cpuset *a, const struct pr_cpuset *b);

/* ---- the processors of this process, cut into slices for processes of its */

struct pr_cpu_slices {
    unsigned count; /* 0: not known, more than fit into a mask */
    cpu_set_t mask; /* all of them */
    unsigned short list[8 * sizeof(cpu_set_t)]; /* threads of a core side by
                                         side, cores of a package, too */
};

/* sys: NULL, or another place than /sys. */
void pr_cpu_slices_init(struct pr_cpu_slices *c, const char *sys);

/* Slice i of n: as even as possible, no processor in two of them; with fewer
 * processors than slices one each, which others have, too. Returns how many
 * there are in it; 0: not known. */
unsigned pr_cpu_slices_get(const struct pr_cpu_slices *c, unsigned i,
                           unsigned n, cpu_set_t *ret);

#endif
