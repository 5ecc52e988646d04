/*
 * Sums as numpy makes them, bit for bit: eight sums side by side, halves of
 * long lists apart. More exact than one after another, and what reports of
 * others were computed with.
 */
#ifndef PR_BASE_PAIRWISE_H
#define PR_BASE_PAIRWISE_H

#include <stddef.h>

double pr_pairwise_sum(const double *v, size_t count);  /* numpy.sum */
double pr_pairwise_mean(const double *v, size_t count); /* none: NAN */

/* numpy.std: of all values, not an estimate. none: NAN. */
double pr_pairwise_std(const double *v, size_t count);

#endif
