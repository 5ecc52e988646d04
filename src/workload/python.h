/* Which Python interpreter to start. */
#ifndef PR_WORKLOAD_PYTHON_H
#define PR_WORKLOAD_PYTHON_H

#include "base/mem.h"

#include <stdbool.h>

/* Whether a package seems to be there for this interpreter: a look at the
 * folders that belong to it, nothing is started. */
bool pr_python_has_package(const char *python, const char *package);

/* The first of these that has the package: first, second (NULL or "": none),
 * and the one of "make python-deps". None has it: first, which will say so.
 * Borrowed or in the arena; NULL: out of memory. */
const char *pr_python_find_with(const char *package, const char *first,
                                const char *second, struct pr_arena *a);

#endif
