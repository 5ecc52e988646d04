/*
 * Whether a framework is on this machine, and with which interpreter. Nothing
 * is started to find out.
 */
#ifndef PR_WORKLOAD_FRAMEWORK_WORKLOAD_H
#define PR_WORKLOAD_FRAMEWORK_WORKLOAD_H

#include "base/mem.h"
#include "catalog/framework.h"

#include <stdbool.h>

enum pr_framework_state {
    PR_FRAMEWORK_ABSENT,
    PR_FRAMEWORK_HERE,
    PR_FRAMEWORK_UNKNOWN, /* its file says nothing of how to find it */
};

/* Looks for it on bare metal. first is the Python to try first, as
 * runtime.python, or "python3". *ret_detail is what was found or is missing:
 * a path, a version, or a few words; borrowed or in the arena. Negative: out
 * of memory. */
int pr_framework_find_installed(const struct pr_framework *f, const char *first,
                                struct pr_arena *a, const char **ret_detail,
                                struct pr_err *err) PR_MUST_CHECK;

/* The interpreter to start a program of ours with; first is runtime.python.
 * Whether it has what is imported is another question: pr_python_has_package.
 * NULL: out of memory. */
const char *pr_framework_find_python(const struct pr_framework *f,
                                     const char *first, struct pr_arena *a);

/* What would put it there, and who needs it: for `prony doctor`. In the arena;
 * NULL: out of memory. */
const char *pr_framework_remedy(const struct pr_framework *f,
                                struct pr_arena *a);

/* ---- which Python interpreter to start */

/* Whether a package seems to be there for this interpreter: a look at the
 * folders that belong to it, nothing is started. */
bool pr_python_has_package(const char *python, const char *package);

/* The first of these that has the package: first, second (NULL or "": none),
 * and the one of "make python-deps". None has it: first, which will say so.
 * Borrowed or in the arena; NULL: out of memory. */
const char *pr_python_find_with(const char *package, const char *first,
                                const char *second, struct pr_arena *a);

#endif
