/* What the files of the comparison share. Everything is in logarithms: a
 * difference of them is a ratio. */
#ifndef PR_ANALYSE_COMPARE_IMPL_H
#define PR_ANALYSE_COMPARE_IMPL_H

#include "analyse/compare/compare.h"

/* A mean, and how far it may be off. */
struct pr_log_estimate {
    double mean;    /* NaN: there is none */
    double error2;  /* of the mean, squared */
    double freedom; /* degrees of error2 */
};

/* One side of a test. */
struct pr_compare_side {
    uint64_t repeats, failed;
    double *logs;    /* one a repeat, in order; NULL: of a summary */
    double mean;     /* of them; NaN: none */
    double variance; /* between repeats; NaN: there is one, or none */
    double freedom;  /* of variance */
    double within2;  /* squared error within the only run; NaN */
    double within_freedom;
    const struct pr_compare_test *test;
};

/* Puts devices of a repeat together, and repeats in order. */
int pr_compare_fill_side(const struct pr_compare_test *t, unsigned skip_first,
                         struct pr_arena *a, struct pr_compare_side *ret,
                         struct pr_err *err) PR_MUST_CHECK;

/* ---- statistics */

/* Mean and variance (by n - 1; NaN for one) of numbers. */
void pr_compare_moments(const double *v, size_t n, double *ret_mean,
                        double *ret_var);

/* The squared error of the mean of numbers that follow one another, and may
 * hang together: means of batches, and what is left between these. False: too
 * few. */
bool pr_compare_batch_error(const double *v, size_t n, double *ret_error2,
                            double *ret_freedom);

/*
 * What is known of a variance from those of others like it: a value and how
 * many degrees of freedom it is worth (Smyth 2004, moderated t). 0: nothing.
 */
struct pr_variance_prior {
    double variance, freedom;
};
void pr_compare_fit_prior(const double *variances, const double *freedoms,
                          size_t n, struct pr_variance_prior *ret);

/* The error of the mean of a side. prior may be empty; other is the other
 * side, whose spread counts where this one has none. */
struct pr_log_estimate
pr_compare_estimate(const struct pr_compare_side *s,
                    const struct pr_compare_side *other,
                    const struct pr_variance_prior *prior, double between_runs);

/* Welch's difference of two. */
struct pr_log_estimate pr_compare_difference(const struct pr_log_estimate *a,
                                             const struct pr_log_estimate *b);

/* ---- notes */

/* What is odd about a row's sides, into its notes. */
int pr_compare_add_notes(struct pr_compare_row *row,
                         const struct pr_compare_side *a,
                         const struct pr_compare_side *b,
                         struct pr_arena *arena,
                         struct pr_err *err) PR_MUST_CHECK;

/* ---- sets */

/* The test of that name and figure, made if need be. NULL: out of memory. */
struct pr_compare_test *pr_compare_get_test(struct pr_compare_set *s,
                                            const char *name,
                                            const char *measure,
                                            struct pr_arena *a);

/* The tests of that name, one after another, the newest first; after NULL: the
 * first. NULL: there are no more. */
struct pr_compare_test *
pr_compare_next_test(const struct pr_compare_set *s, const char *name,
                     const struct pr_compare_test *after);

/* Whether figures are named, and whether this is one of them. */
bool pr_compare_has_measures(const struct pr_compare_read_opts *how);
bool pr_compare_is_measure_asked(const struct pr_compare_read_opts *how,
                                 const char *name);

/* A suite: results of milarun or milabench, or a summary. Adds to *s. */
int pr_compare_read_suite(const char *path,
                          const struct pr_compare_read_opts *how,
                          struct pr_arena *a, struct pr_compare_set *s,
                          struct pr_err *err) PR_MUST_CHECK;

/* Adds a run. */
bool pr_compare_add_run(struct pr_compare_test *t,
                        const struct pr_compare_run *r, struct pr_arena *a);

struct pr_results;

/* Whether the first of the sets shares a value of that name with another. */
bool pr_compare_has_common_value(struct pr_results *const *sets, size_t count,
                                 const char *name);

#endif
