/* Warnings as data: what a plan has to say besides failing. */
#ifndef PR_PLAN_WARN_H
#define PR_PLAN_WARN_H

#include "base/mem.h"
#include "prony/plan.h"

#include <stdbool.h>

/* In the order they were given; text in the arena. */
struct pr_warnings {
    struct pr_arena *arena;
    const struct pr_warning *first;
    struct pr_warning *last;
};

/* False when out of memory. */
bool pr_warn(struct pr_warnings *w, const char *where, const char *remedy,
             const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
