/* One value of a sorted list, without sorting it. */
#ifndef PR_BASE_NTH_H
#define PR_BASE_NTH_H

#include <stddef.h>

/* Moves value k of the order (k < n) to v[k]: none before it is larger, none
 * after it smaller. No NaN among them. */
void pr_select_nth(double *v, size_t n, size_t k);

#endif
