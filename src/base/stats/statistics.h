/*
 * What is made of many numbers: their order and sums, Student's t, and the
 * steady state of a run.
 */
#ifndef PR_BASE_STATISTICS_H
#define PR_BASE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* ---- order */

/* For qsort(): doubles in order, no NaN among them. */
int pr_double_compare(const void *a, const void *b);

/* One value of a sorted list, without sorting it: moves value k of the order (k
 * < n) to v[k]: none before it is larger, none after it smaller. No NaN among
 * them. */
void pr_select_nth(double *v, size_t n, size_t k);

/* ---- sums
 * As numpy makes them, bit for bit: eight sums side by side, halves of long
 * lists apart. More exact than one after another, and what reports of others
 * were computed with. */

double pr_pairwise_sum(const double *v, size_t count);  /* numpy.sum */
double pr_pairwise_mean(const double *v, size_t count); /* none: NAN */

/* numpy.std: of all values, not an estimate. none: NAN. */
double pr_pairwise_std(const double *v, size_t count);

/* ---- the steady state of a run
 * From its rates over slices of time (base/stats/histogram.h): how fast it goes
 * once it has warmed up, and how sure that is. docs/measures.md says how each
 * figure comes about. */

struct pr_slices {
    const double *rates; /* oldest first */
    size_t count;
    double slice_s; /* length of each; 0: half a second */
    double total_s; /* of all: tells how long the last one is. 0: as all */
};

struct pr_steady {
    double index_rate; /* milarun's: mean of rates[-20:-2]; NAN: too few */
    double time_rate;  /* the last 10 s without the last one; NAN: too short */

    bool settled;    /* false: it was still warming up, or is too short */
    size_t warmup;   /* slices before it settled */
    double warmup_s; /* their time */
    size_t count;    /* whole slices after that; what follows is of these */
    double mean, std;
    double correlation; /* slices that tell as much as one that stands alone */
    double sem;         /* standard error of the mean, with that */
    double low, high;   /* the mean lies there, with 95 % confidence */
    double min, p5, p50, p95, max; /* percentiles: NAN without room to sort */
};

/* room: for as many numbers as there are slices, or NULL. What cannot be told
 * is NAN. */
void pr_steady_compute(const struct pr_slices *s, double *room,
                       struct pr_steady *ret);

/* Half of the interval low to high, as a share of the mean; NAN: not known. */
double pr_steady_error(const struct pr_steady *s);

/* The parts alone. */
double pr_steady_by_index(const double *rates, size_t count);
double pr_steady_by_time(const struct pr_slices *s);

/* How many of the first values are warm-up (MSER); *ret_settled: whether that
 * is a third of all at most. */
size_t pr_steady_warmup(const double *v, size_t count, bool *ret_settled);

/* Of sorted numbers, between neighbours as numpy has it. */
double pr_steady_quantile(const double *sorted, size_t count, double p);

/* ---- Student's t: how far a mean of few values may be off */

/* The chance that t is above a number, one-sided. Degrees of freedom need not
 * be whole. */
double pr_student_above(double t, double freedom);

/* The t that is exceeded by this chance, below one half. */
double pr_student_t(double chance, double freedom);

#endif
