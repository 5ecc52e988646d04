/* Sets of CPUs, or of NUMA nodes, as the kernel writes them: "0-3,8". */
#ifndef PR_LAUNCH_CPULIST_H
#define PR_LAUNCH_CPULIST_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As many as the largest kernels are built for. */
enum { PR_CPUS_MAX = 8192, PR_CPUS_WORD = 64 };

struct pr_cpus {
    uint64_t word[PR_CPUS_MAX / PR_CPUS_WORD]; /* as sched_setaffinity's */
};

/* False when it is no list; "" and blanks around it are fine. */
bool pr_cpus_parse(const char *text, struct pr_cpus *ret);

/* That of a file, whose path is fmt and what follows. */
bool pr_cpus_read(struct pr_cpus *ret, const char *fmt, ...) PR_PRINTF(2, 3);

/* Shortened with no harm to the rest: false when it does not fit. */
bool pr_cpus_print(const struct pr_cpus *s, char *out, size_t bytes);

unsigned pr_cpus_count(const struct pr_cpus *s);
int pr_cpus_first(const struct pr_cpus *s); /* -1: empty */
void pr_cpus_set(struct pr_cpus *s, unsigned cpu);
bool pr_cpus_has(const struct pr_cpus *s, unsigned cpu);
void pr_cpus_join(struct pr_cpus *s, const struct pr_cpus *more);
void pr_cpus_keep(struct pr_cpus *s, const struct pr_cpus *only);
void pr_cpus_drop(struct pr_cpus *s, const struct pr_cpus *out);
bool pr_cpus_meet(const struct pr_cpus *a, const struct pr_cpus *b);

#endif
