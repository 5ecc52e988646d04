/*
 * What holds a training loop back: data or computing? The same loop is timed
 * three times, as benchy does it: IO (batches are fetched and dropped),
 * SYNTHETIC (one batch is used again and again) and FULL (as it is), each with
 * warm-ups and trials of so many batches.
 *
 * With two functions of yours:
 *
 *     struct pr_probe_calls calls = PR_PROBE_CALLS_INIT;
 *     calls.fetch = my_fetch;
 *     calls.use = my_step;
 *     pr_probe_run(probe, &calls, &err);
 *
 * or with a loop of yours, a call after each part of it:
 *
 *     while ((phase = pr_probe_next(probe)) != PR_PROBE_PHASES) {
 *         pr_probe_begin(probe, phase, &err);
 *         do {
 *             …fetch a batch…       pr_probe_batch_ready(probe, 0);
 *             …use it…
 *         } while (pr_probe_step_done(probe));
 *         pr_probe_end(probe, &err);
 *     }
 *
 * and in both cases pr_probe_finish, pr_probe_numbers and pr_probe_judge. A
 * step costs two looks at the clock; it allocates, locks and logs nothing but
 * the lines that were asked for, whose time counts for nobody. A probe belongs
 * to one thread at a time.
 */
#ifndef PRONY_PROBE_H
#define PRONY_PROBE_H

#include "prony/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In the order they are done. */
enum pr_probe_phase {
    PR_PROBE_IO,
    PR_PROBE_SYNTHETIC,
    PR_PROBE_FULL,
    PR_PROBE_PHASES, /* how many; also: none */
};

/* ---- settings, as benchy's file has them */

struct pr_probe_phase_config {
    bool run;         /* run_benchmark */
    uint64_t batches; /* nbatches: timed in a trial, 1 at least */
    uint64_t trials;  /* ntrials: recorded */
    uint64_t warmup;  /* nwarmup: trials before these, not recorded */
};

struct pr_probe_config {
    size_t size;                  /* of this struct, for later versions */
    uint64_t report_freq;         /* a line every so many batches; 0: none */
    bool exit_after_tests;        /* a matter of the caller, as are the */
    bool use_distributed_barrier; /* next two */
    char profiler_mode[16];       /* "single", "all", "none" */
    char file[4096];              /* that was read; "": none */
    char output[4096];            /* where the result goes; "": nowhere */
    struct pr_probe_phase_config phase[PR_PROBE_PHASES];
};

/* What there is to say about a config that can be used all the same: where
 * ("benchy.yaml:3:5"), what, and what to do. */
typedef void pr_probe_warn(void *ctx, const char *where, const char *text,
                           const char *remedy);

/* benchy's defaults: 50 batches, 3 trials, 1 warm-up, a line every 10 batches,
 * benchy_result.json in the current folder. Set config->size before. */
PR_API void pr_probe_config_init(struct pr_probe_config *config);

/* The same, with what a file of benchy's says laid over it, key by key. path
 * NULL: the one that BENCHY_CONFIG_FILE names; not set or empty: none.
 * BENCHY_OUTPUT_FILE, if set, takes the place of output_filename. Unknown keys
 * are a warning; warn may be NULL. PR_E_CONF and PR_E_FORMAT name file and
 * line. */
PR_API int pr_probe_config_read(const char *path,
                                struct pr_probe_config *config,
                                pr_probe_warn *warn, void *ctx,
                                struct pr_err *err) PR_MUST_CHECK;

/* ---- a probe */

struct pr_probe;

struct pr_probe_opts {
    size_t size;                          /* of this struct */
    const struct pr_probe_config *config; /* copied; NULL: benchy's defaults,
                                             without an output file */
    uint64_t batch_size;  /* samples in a batch of this rank; 0: not known, one
                             that pr_probe_batch_ready is not told counts as 1 */
    uint64_t rank, ranks; /* ranks: 0 means 1 */

    /* Takes benchy's console lines, without line ends; only rank 0 has any.
     * NULL: none are made. */
    void (*line)(void *ctx, const char *text, size_t len);
    /* Nanoseconds of a clock that never goes back; NULL: CLOCK_MONOTONIC. */
    uint64_t (*clock)(void *ctx);
    /* Makes each value the sum over all ranks; called by every rank when a
     * trial has ended. NULL: rates are this rank's times `ranks`, which is
     * what benchy says. */
    int (*sum)(void *ctx, double *values, size_t count, struct pr_err *err);
    void *ctx; /* of these three */
};
#define PR_PROBE_OPTS_INIT                                                  \
    {                                                                       \
        sizeof(struct pr_probe_opts), NULL, 1, 0, 1, NULL, NULL, NULL, NULL \
    }

/* The caller frees it with pr_probe_free. */
PR_API int pr_probe_new(const struct pr_probe_opts *opts, struct pr_probe **ret,
                        struct pr_err *err) PR_MUST_CHECK;
PR_API void pr_probe_free(struct pr_probe *p); /* NULL is fine */

/* ---- with functions of yours */

struct pr_probe_calls {
    size_t size; /* of this struct */
    /* Gets a batch, which stays valid until the next call. 1: there is one
     * (*ret_samples may be set when it has another size); 0: the data ended;
     * negative: an error code. */
    int (*fetch)(void *ctx, void **ret_batch, uint64_t *ret_samples,
                 struct pr_err *err);
    /* Computes with it, and waits until that is done. 0 or an error code. */
    int (*use)(void *ctx, void *batch, struct pr_err *err);
    /* Goes back to the first batch; called when the data ended, in the time of
     * a fetch. NULL: fetch does that by itself. */
    int (*restart)(void *ctx, struct pr_err *err);
    void *ctx;
};
#define PR_PROBE_CALLS_INIT                                   \
    {                                                         \
        sizeof(struct pr_probe_calls), NULL, NULL, NULL, NULL \
    }

/* All trials of all phases that are left. After an error the trials that were
 * done are still there. Data without a single batch is an error. */
PR_API int pr_probe_run(struct pr_probe *p, const struct pr_probe_calls *calls,
                        struct pr_err *err) PR_MUST_CHECK;

/* ---- with a loop of yours */

/* The phase whose turn it is; PR_PROBE_PHASES: all is done. */
PR_API enum pr_probe_phase pr_probe_next(const struct pr_probe *p);

/* Starts a trial of a phase, and its clock. One that goes on is ended first. In
 * SYNTHETIC the batch to use again and again is fetched before. */
PR_API int pr_probe_begin(struct pr_probe *p, enum pr_probe_phase phase,
                          struct pr_err *err) PR_MUST_CHECK;

/* The batch is there. samples: in it; 0: batch_size. */
PR_API void pr_probe_batch_ready(struct pr_probe *p, uint64_t samples);

/* The batch was used. false: that was the last one of the trial. */
PR_API bool pr_probe_step_done(struct pr_probe *p);

/* Ends the trial: its lines are said, and unless it was a warm-up it is
 * recorded, the result file written. One that has fewer batches than asked for
 * counts with those it has; without any it is forgotten. Without a trial
 * nothing happens. */
PR_API int pr_probe_end(struct pr_probe *p, struct pr_err *err) PR_MUST_CHECK;

/* "FULL_0", "IO_WARMUP_1": the trial that goes on; "" without one. Borrowed
 * until the next trial. */
PR_API const char *pr_probe_label(const struct pr_probe *p);

/* Batches timed so far in the trial that goes on. */
PR_API uint64_t pr_probe_count(const struct pr_probe *p);

/* ---- what came out */

/* Says the summary and writes the result, if there is an output; what was
 * measured so far when it is called early. */
PR_API int pr_probe_finish(struct pr_probe *p,
                           struct pr_err *err) PR_MUST_CHECK;

/* Messages of benchy's that go with what the caller does. */
enum pr_probe_message {
    PR_PROBE_SAY_CONFIG, /* "Using benchy configuration file …" or "default" */
    PR_PROBE_SAY_PROFILER, /* "Profiling mode …", unless it is none */
    PR_PROBE_SAY_EXIT,     /* "Tests completed.... exiting." */
};
PR_API void pr_probe_say(struct pr_probe *p, enum pr_probe_message what);

/* benchy's result as one line of JSON. Borrowed until the next call. */
PR_API int pr_probe_json(struct pr_probe *p, const char **ret_text,
                         size_t *ret_len, struct pr_err *err) PR_MUST_CHECK;

/* One recorded trial. Rates are samples a second over all ranks. */
struct pr_probe_trial {
    const double *rates;     /* of each batch; borrowed */
    size_t count;            /* of them */
    double mean_rate;        /* avg_iter_throughput */
    double rate;             /* trial_throughput: samples / time */
    double time_s;           /* trial_time */
    const double *own_rates; /* with `sum`: this rank's times ranks */
    double own_mean_rate, own_rate, own_time_s;
};

/* false: there is no such trial. */
PR_API bool pr_probe_trial(const struct pr_probe *p, enum pr_probe_phase phase,
                           size_t trial, struct pr_probe_trial *ret);

/* Seconds of one part of a step, over all recorded trials of this rank. */
struct pr_probe_times {
    double mean, min, p50, p90, p99, max;
};

struct pr_probe_figures {
    uint64_t trials;        /* recorded; 0: nothing is known */
    uint64_t short_trials;  /* of these, with fewer batches than asked for */
    uint64_t batches;       /* timed in them */
    double rate, deviation; /* of the trials: samples a second, mean and
                               deviation of the population */
    struct pr_probe_times fetch, step; /* getting a batch; using it */
    double fetch_s, step_s;            /* all of it; fetch in FULL is stall */
};

struct pr_probe_numbers {
    size_t size;         /* of this struct, set by the caller */
    uint64_t batch_size; /* 0: not known */
    uint64_t ranks;
    struct pr_probe_figures phase[PR_PROBE_PHASES];
};

PR_API void pr_probe_numbers(const struct pr_probe *p,
                             struct pr_probe_numbers *ret);

/* ---- the verdict */

enum pr_probe_bound {
    PR_PROBE_UNKNOWN, /* too little was measured */
    PR_PROBE_INPUT_BOUND,
    PR_PROBE_COMPUTE_BOUND,
    PR_PROBE_BALANCED,
};

struct pr_probe_verdict {
    size_t size; /* of this struct, set by the caller */
    enum pr_probe_bound bound;
    double io, synthetic, full; /* samples a second; 0: not known */
    double other;    /* what the faster side could reach alone; 0: not known */
    double gain;     /* other / full: most that fixing the slower side gives; 0:
                        not known */
    double serial;   /* rate of fetching and computing in turn; 0: not known */
    double expected; /* the slower side alone: what FULL reaches when both
                        overlap; 0: not known */
    double overlap;  /* how much of that it has, 0: in turn, to 1; -1: not
                        known */
    double stall;    /* share of FULL that waits for data; -1: not known */
    bool disturbed;  /* FULL is slower than both in turn: they get in each
                        other's way */
    char text[768];  /* all of this in plain words, in a line or two */
};

/* A pure function of the numbers. */
PR_API void pr_probe_judge(const struct pr_probe_numbers *numbers,
                           struct pr_probe_verdict *ret);

/* "input bound", "compute bound", "balanced", "unknown". */
PR_API const char *pr_probe_bound_name(enum pr_probe_bound bound);

/* "IO", "SYNTHETIC", "FULL". */
PR_API const char *pr_probe_phase_name(enum pr_probe_phase phase);

#ifdef __cplusplus
}
#endif
#endif
