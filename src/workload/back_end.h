/* Programs of ours in a framework's language, one for each exp.framework. */
#ifndef PR_WORKLOAD_BACK_END_H
#define PR_WORKLOAD_BACK_END_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct pr_back_end {
    const char *framework;  /* exp.framework */
    const char *title;      /* for people */
    const char *program;    /* in the share folder */
    const char *module;     /* what it imports */
    const char *python_var; /* may name an interpreter that has it */
    bool trains;            /* or infers alone */
};

/* NULL when i is too large. */
const struct pr_back_end *pr_back_end_at(size_t i);
/* NULL: there is none. */
const struct pr_back_end *pr_back_end_find(const char *framework);

/* The interpreter to start it with; first is runtime.python. Whether it has
 * what is imported is another question: pr_python_has. NULL: out of memory. */
const char *pr_back_end_python(const struct pr_back_end *b, const char *first,
                               struct pr_arena *a);

#endif
