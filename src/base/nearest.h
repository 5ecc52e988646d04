/*
 * "Did you mean …?": the candidate nearest to what was typed, if it is near
 * enough that a typing slip explains it.
 */
#ifndef PR_BASE_NEAREST_H
#define PR_BASE_NEAREST_H

#include <stddef.h>

struct pr_nearest {
    const char *typed;
    const char *best; /* NULL: none near enough so far. Borrowed */
    size_t distance;
};

void pr_nearest_init(struct pr_nearest *n, const char *typed);
void pr_nearest_offer(struct pr_nearest *n, const char *candidate);

#endif
