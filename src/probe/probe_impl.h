/* What the files of prony/probe.h share. */
#ifndef PR_PROBE_IMPL_H
#define PR_PROBE_IMPL_H

#include "base/buf.h"
#include "base/stats/histogram.h"
#include "prony/probe.h"

/* A trial that is recorded. */
struct pr_probe_kept {
    struct pr_probe_trial t;
    double *memory; /* of its rates */
};

/* What is left of one phase. */
struct pr_probe_record {
    uint64_t done; /* trials that ended, warm-ups included */
    struct pr_probe_kept *trials;
    size_t count; /* of them, recorded */
    uint64_t short_trials, batches;
    struct pr_histogram fetch, step; /* of recorded trials */
};

struct pr_probe {
    struct pr_probe_opts o;
    struct pr_probe_config config;
    struct pr_probe_record phase[PR_PROBE_PHASES];

    /* the trial that goes on */
    bool is_open;
    enum pr_probe_phase at;
    bool counts; /* it is no warm-up */
    char label[64];
    uint64_t limit, count;       /* batches to time, and timed */
    uint64_t until_line;         /* batches until a line is due; 0: never */
    uint64_t each;               /* samples of a batch that says nothing */
    uint64_t samples;            /* of this batch */
    uint64_t all_samples;        /* of the trial */
    uint64_t start, from, ready; /* clock: of the trial, the step, its batch */
    double *rates;               /* limit + 2 of the longest trial */

    struct pr_buf json;
};

/* ---- probe_say.c: benchy's lines; nothing without somebody to take them */

void pr_probe_print_iteration(struct pr_probe *p, double rate);
void pr_probe_print_trial(struct pr_probe *p, const struct pr_probe_trial *t);
void pr_probe_print_summary(struct pr_probe *p);
void pr_probe_print_writing(struct pr_probe *p);

/* ---- probe_json.c */

/* Writes the result where the config says, if anywhere. */
int pr_probe_save(struct pr_probe *p, struct pr_err *err) PR_MUST_CHECK;

/* ---- probe_figures.c */

/* Mean and deviation of the population of all trials' throughput. */
void pr_probe_spread(const struct pr_probe_record *r, double *ret_mean,
                     double *ret_deviation);

#endif
