/*
 * Suites: the same tests many times on many devices, read back from what
 * milarun, milabench or Prony left of them, summed up, scored and compared.
 *
 *     result files, .data files ──┐
 *     a summary, a baseline ──────┼─▶ struct pr_suite ─▶ pr_suite_report
 *     a run directory ────────────┘      (tests)         (rows and scores)
 *
 * What is not known is NaN, or NULL. Everything lives as long as its suite.
 */
#ifndef PR_ANALYSE_SUITE_H
#define PR_ANALYSE_SUITE_H

#include "analyse/run/run_data.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pr_suite_kind {
    PR_SUITE_RESULTS,   /* a folder of milarun's result files */
    PR_SUITE_SUMMARY,   /* a summary: no runs, only tests */
    PR_SUITE_MILABENCH, /* milabench's .data files; tests have bench */
    PR_SUITE_RUN,       /* a run directory of ours */
    PR_SUITE_SYSTEMS,   /* results of a GPU system in Lambda's layout */
};

/* As milarun has them: the spread is that of the population. NaN in any value
 * makes all four NaN, and so does n = 0. */
struct pr_suite_stats {
    uint64_t n;
    double min, max, mean, std;
};

/* One timer of a run whose name begins with "train": a rank. */
struct pr_suite_rate {
    double rate;     /* a second; mean of the steady slices; NaN: too few */
    double std;      /* of these slices */
    uint32_t steady; /* slices that count */
    uint32_t slices; /* all of them */
};

/* One child: a result file, a .data file, an experiment. */
struct pr_suite_child {
    const char *path;    /* of its file */
    const char *job_id;  /* "REPEAT.DEVICE" */
    const char *device;  /* as CUDA_VISIBLE_DEVICES has it; NULL: none */
    const char *error;   /* the end of what went wrong; NULL: nothing */
    const char *started; /* as the file says it; NULL */
    bool good;           /* it succeeded and none of its metrics is NaN */
    bool unavailable;    /* it was never started: there is no such test here */
    double total;        /* seconds of the whole program */
    const struct pr_suite_rate *rates; /* also of a run that failed */
    uint32_t rate_count;
    /* The slices of its first rank over time, made fewer by taking means;
     * only when pr_suite_opts.curve asks for them. */
    const float *curve;
    uint32_t curve_len;
};

/* The runs on one device. */
struct pr_suite_device {
    const char *id; /* "0"; what is no number stays text */
    int64_t number; /* -1: none */
    struct pr_suite_stats stats;
};

/* What milabench tells beyond that; see docs/score.md. */
struct pr_milabench_test {
    const char *group;
    uint64_t gpus;
    double q1, median, q3, sem;
    double weight;
    bool enabled;
    double peak_memory; /* MiB; NaN */
    double watts;       /* median, mean over devices; NaN */
    double kilojoules;  /* of the first run, as its report has it */
    double per_watt;    /* NaN */
    bool has_load;      /* any sample of a device */
};

struct pr_suite_test {
    const char *name;
    uint64_t n, failures;
    struct pr_suite_stats total;           /* seconds, of the good runs */
    struct pr_suite_stats train;           /* rates, of the good runs' ranks */
    const struct pr_suite_device *devices; /* as they were first seen */
    size_t device_count;
    double peak_memory;   /* MiB; NaN: a summary without it */
    bool peak_is_whole;   /* written without ".0" */
    uint64_t short_runs;  /* good ones with too few slices to have a rate */
    uint64_t unavailable; /* of the failures: never started */
    uint64_t silent_runs; /* good ones without any rate */
    struct pr_suite_child **runs;          /* in the order of their files */
    size_t run_count;                      /* 0 for a summary */
    const struct pr_milabench_test *bench; /* NULL: not milabench's */
};

/* Trouble with one file, which the others do not care for. */
struct pr_suite_warning {
    const char *where, *text;
};

/* What the machine is, as the results say; NULL and 0: they do not. */
struct pr_suite_host {
    const char *name, *gpu, *cpu;
    uint64_t gpus, cpus;
    double gpu_memory; /* MiB; NaN */
};

struct pr_suite {
    const char *path; /* as it was given */
    enum pr_suite_kind kind;
    const struct pr_suite_test *tests; /* by name; a summary: as in the file */
    size_t count;
    uint64_t files;                       /* looked at */
    uint64_t skipped;                     /* JSON, but no result of a job */
    uint64_t bad;                         /* could not be read */
    const struct pr_suite_warning *notes; /* the first of these */
    size_t note_count;
    struct pr_suite_host host;
    struct pr_run_unfinished left; /* of a run of ours */
};

enum { PR_SUITE_NOTES = 32 };

struct pr_suite_read_opts {
    unsigned threads; /* 0: one for each processor */
    unsigned curve;   /* points of a run's curve at most; 0: none */
    /* Which of the GPU systems below path; NULL: the only one. Their folders
     * are paths of suites, too. */
    const char *system;
};

/* Which part of a run its rate is of, for people; NULL: whoever made the
 * numbers knows. */
const char *pr_suite_window_text(enum pr_suite_kind kind);

/* Reads whatever path is: a folder of results (walked in the directory's own
 * order, as milarun does), a summary or baseline, milabench's folder or zip,
 * a run directory, results of a GPU system. What is missing in a result is
 * unknown, a file that cannot be read becomes a note; an empty folder is a
 * suite without tests. PR_E_IO, PR_E_FORMAT: the summary or archive itself is
 * damaged. PR_E_USAGE: a system that is not there, or several to choose from.
 */
int pr_suite_read(const char *path, const struct pr_suite_read_opts *opts,
                  struct pr_suite **ret, struct pr_err *err) PR_MUST_CHECK;
void pr_suite_free(struct pr_suite *s); /* NULL is fine */

/* Whether a folder holds results of a suite: .json files that look like
 * milarun's, or .data files, as far as its first few hundred names tell. */
bool pr_suite_is_folder(const char *path);

/* Whether there is any .json or .data file below a folder. */
bool pr_suite_is_tree(const char *path);

/* A summary that was read already; name is for errors. The value may go. */
int pr_suite_from_value(const struct pr_value *v, const char *name,
                        struct pr_suite **ret,
                        struct pr_err *err) PR_MUST_CHECK;

/* ---- weights */

struct pr_suite_weight {
    const char *name;
    double weight; /* NaN: the entry has none */
};

struct pr_suite_weights {
    struct pr_suite_weight *list; /* as in the file */
    size_t count;
};

/* {"standard.vae": {"weight": 8}, …}; a bare number is a weight, too. */
int pr_suite_weights_from_value(const struct pr_value *v, const char *name,
                                struct pr_arena *a,
                                struct pr_suite_weights *ret,
                                struct pr_err *err) PR_MUST_CHECK;

/* ---- a report */

/* A row beside one baseline. */
struct pr_suite_beside {
    double perf, ratio, adj, ratio_adj;
    double machine; /* milabench's score of the test */
};

struct pr_suite_row {
    const char *name;
    const struct pr_suite_test *test; /* NULL: the suite has none */
    double weight, n, fail;
    double perf;
    double std_share; /* std / mean; 0.05 is 5 % */
    double adj;       /* as the options ask: the milarun column perf_adj */
    double plain_adj; /* perf · (1 − fail/n) */
    double fair_adj; /* perf · (1 − std/mean) · (1 − fail/n), never < 0 */
    bool missing;    /* it has a weight and no figure */
    double score;    /* milabench's, of the whole machine; else NaN */
    const struct pr_suite_beside *beside; /* one for each baseline */
};

/* The share of each device in the best one's rate. */
struct pr_suite_matrix {
    const char *measure; /* "mean", "min", "max" */
    size_t devices;
    const char **names;  /* rows */
    const double *cells; /* rows × devices; NaN: unknown */
    size_t rows;
};

struct pr_suite_base_score {
    double score, ratio; /* ratio: ours / its */
    bool empty;          /* it has no tests: there is nothing to say */
};

struct pr_suite_report {
    const struct pr_suite *suite;
    const char *title;
    bool has_weights; /* the option was given: there is a column */
    bool scored;      /* … and names tests */
    size_t bases;     /* baselines */
    const char *const *base_names;
    const struct pr_suite_row *rows; /* by name */
    size_t count;
    double failure_rate; /* 0.01 is 1 %; NaN: nothing ran */
    bool pass;
    double score;     /* as the options ask */
    double milarun;   /* the score as milarun, or milabench, has it */
    double penalised; /* with the variance penalty */
    double strict;    /* over the tests that have a figure */
    double coverage;  /* their share of all weights; NaN: no weights */
    size_t missing;   /* tests with a weight and without a figure */
    const struct pr_suite_base_score *base_scores; /* NULL: not scored */
    double price, rpp;                             /* NaN: none */
    struct pr_suite_matrix matrix[3]; /* mean, min, max, if asked for */
    bool has_matrix;
};

struct pr_suite_report_opts {
    const struct pr_suite_weights *weights; /* NULL: not given */
    struct pr_suite *const *bases;
    const char *const *base_names; /* for people */
    size_t base_count;
    double price; /* NaN or 0: none */
    bool penalise, compare_devices;
    const char *title; /* NULL or "": "Benchmark results" */
};

/* In the arena; suites and weights must outlive it. */
int pr_suite_score_report(const struct pr_suite *s,
                          const struct pr_suite_report_opts *opts,
                          struct pr_arena *a, struct pr_suite_report *ret,
                          struct pr_err *err) PR_MUST_CHECK;

/* ---- figures */

/* As numpy computes them, to the last bit. */
void pr_suite_compute_stats(const double *v, size_t n,
                            struct pr_suite_stats *ret);

#endif
