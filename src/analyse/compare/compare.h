/*
 * Is B faster than A? Results of the same tests, from two or more sources, and
 * what can be said of their difference: a ratio, an interval that holds the
 * true one, and a word. Chance is kept out of the words: when nothing changed,
 * all of them are "same" 95 times of 100, however many tests there are.
 *
 * What is counted is the repeat: one value for each time the whole thing was
 * run. What lies within a run counts only where there is one run each.
 */
#ifndef PR_ANALYSE_COMPARE_H
#define PR_ANALYSE_COMPARE_H

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- which way is better */

enum pr_better {
    PR_BETTER_UNKNOWN, /* neither: "higher", "lower" */
    PR_BETTER_FASTER,  /* a rate: more is "faster" */
    PR_BETTER_SHORTER, /* a time: less is "faster" */
    PR_BETTER_MORE,    /* of something good: "better" */
    PR_BETTER_LESS,    /* of something bad */
};

/* ---- what was measured */

/* One run of a test: a value above zero, and what it is the mean of. */
struct pr_compare_run {
    double value;         /* NaN: it failed, or told nothing */
    int64_t repeat;       /* runs of one repeat, on several devices, belong
                             together */
    const char *device;   /* "" where there is one */
    const double *slices; /* in the order of time; NULL: not known */
    size_t slice_count;
};

/* One test and one figure of it, from one source. */
struct pr_compare_test {
    const char *name;    /* tells tests apart */
    const char *measure; /* "throughput" */
    enum pr_better better;
    struct pr_compare_run *runs; /* in the order of time */
    size_t count, cap;
    /* Of a summary, where runs are not known: how many repeats, their mean and
     * deviation. repeats 0: they are. */
    uint64_t repeats, failures;
    double mean, deviation;
    size_t chained; /* the set's own */
};

struct pr_compare_set {
    const char *label;  /* for people */
    const char *window; /* of a suite's rates; or NULL */
    struct pr_compare_test *tests;
    size_t count, cap;
    size_t *chains, chain_count; /* tests by name */
    uint64_t results;            /* read */
    uint64_t unreadable;         /* files that were not */
    struct pr_err note;          /* the first of them */
    bool cut;                    /* it is an archive that is not whole */
};

/* ---- what can be said */

/* X(id, word) */
#define PR_VERDICTS(X)                                     \
    X(SAME, "same")       /* as far as is asked for */     \
    X(UNCLEAR, "unclear") /* these runs cannot tell */     \
    X(FASTER, "faster")                                    \
    X(SLOWER, "slower")                                    \
    X(IMPROVED, "better")                                  \
    X(WORSENED, "worse")                                   \
    X(HIGHER, "higher")                                    \
    X(LOWER, "lower")                                      \
    X(FAILED, "failed")   /* it has no run that is good */ \
    X(MISSING, "missing") /* the base has it */            \
    X(ADDED, "new")       /* the base does not */

enum pr_compare_verdict {
#define X(id, word) PR_VERDICT_##id,
    PR_VERDICTS(X)
#undef X
};

const char *pr_compare_verdict_word(enum pr_compare_verdict v);

/* What is odd about the runs of a test. */
enum pr_compare_odd {
    PR_ODD_FIRST,   /* the first repeat is slower than the others */
    PR_ODD_OUTLIER, /* one repeat is far off */
    PR_ODD_DRIFT,   /* from repeat to repeat, */
    PR_ODD_WITHIN,  /* or within the only run */
    PR_ODD_SINGLE,  /* one run each */
    PR_ODD_WIDE,    /* too few to see much */
};

struct pr_compare_note {
    enum pr_compare_odd odd;
    char side;        /* 'A', 'B', or 0: both */
    const char *text; /* with the remedy */
};

enum { PR_COMPARE_NOTES = 6 };

struct pr_compare_opts {
    double confidence;   /* of everything together; 0: 0.95 */
    double least;        /* changes up to this are none; 0.01 is 1 % */
    double margin;       /* an interval within this is "same"; 0: 0.05 */
    double between_runs; /* how much runs of the same thing differ (deviation,
                            a share), where each was run once; 0: 0.025 */
    unsigned skip_first; /* repeats that do not count */
};

/* One row. Ratios are of the figures, whichever way is better: B by A. */
struct pr_compare_row {
    const char *name, *measure;
    enum pr_better better;
    double a, b;             /* geometric means; NaN: not known */
    uint64_t runs_a, runs_b; /* repeats that count */
    uint64_t failed_a, failed_b;
    double ratio, low, high; /* NaN: not known */
    double p;                /* of this test alone */
    enum pr_compare_verdict verdict;
    struct pr_compare_note notes[PR_COMPARE_NOTES];
    size_t note_count;
};

struct pr_compare_pair {
    const char *label_a, *label_b;
    const char *window_a, *window_b; /* of rates; or NULL */
    struct pr_compare_row *rows;     /* by name */
    size_t count;
    /* The geometric mean of what has a speed; ratios above 1 are faster. */
    bool has_all;
    struct pr_compare_row all;
};

struct pr_compare {
    struct pr_compare_pair *pairs; /* the first set with each other */
    size_t count;
    size_t looks; /* comparisons in all: what chance had to try */
    double confidence, least, margin;
};

/* In the arena; names are borrowed. */
int pr_compare_sets(const struct pr_compare_set *sets, size_t count,
                    const struct pr_compare_opts *o, struct pr_arena *a,
                    struct pr_compare *ret, struct pr_err *err) PR_MUST_CHECK;

/* ---- reading */

struct pr_compare_read_opts {
    const char *const *measures; /* patterns with * and ?, NULL at the end;
                                    none: those that matter */
    bool all_measures;
};

/* Anything that `prony parse` reads, and summaries of milarun: one set for
 * each input. In the arena. */
int pr_compare_read_sets(const char *const *inputs, size_t count,
                         const struct pr_compare_read_opts *how,
                         struct pr_arena *a, struct pr_compare_set *ret,
                         struct pr_err *err) PR_MUST_CHECK;

/* ---- what must not be */

struct pr_compare_rule {
    enum pr_compare_verdict
        verdict; /* SLOWER counts WORSENED too, FASTER IMPROVED */
    double over; /* only a change of more than this; 0: any */
};

/* "slower:5%,failed". PR_E_USAGE. */
int pr_compare_parse_rules(const char *text, struct pr_arena *a,
                           struct pr_compare_rule **ret, size_t *ret_count,
                           struct pr_err *err) PR_MUST_CHECK;

/* Whether a row breaks a rule. */
bool pr_compare_is_rule_broken(const struct pr_compare_row *r,
                               const struct pr_compare_rule *rules,
                               size_t count);

/* ---- between the files of the comparison */

/* Everything is in logarithms: a difference of them is a ratio. */

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

/* Adds a run. */
bool pr_compare_add_run(struct pr_compare_test *t,
                        const struct pr_compare_run *r, struct pr_arena *a);

struct pr_results;

#endif
