/* What the files of a native training share while it runs. */
#ifndef PR_NATIVE_RUN_H
#define PR_NATIVE_RUN_H

#include "job/series.h"
#include "native/native_results.h"
#include "native/native_source.h"
#include "native/rate_log.h"
#include "native/replica/replicas.h"

struct pr_native_session {
    struct pr_native n;
    const bool *stop;
    char version[32]; /* of oneDNN */
    struct pr_replicas *replicas;
    struct pr_net *net;
    struct pr_net_facts facts;
    struct pr_native_source source;
    struct pr_cartpole_agent cart;
    struct pr_progress progress;
    struct pr_buf notes; /* warnings, a line each */

    uint64_t steps;                    /* that were done, warm-up included */
    uint64_t items;                    /* that were measured */
    struct pr_series times;            /* ms of each batch that is measured */
    struct pr_series losses;           /* of each step */
    double each_loss[PR_LOSSES];       /* of the last step */
    struct pr_rate_log rates;          /* of all replicas together */
    struct pr_rate_log own_rates;      /* of this one, if there are several */
    bool may_stop;                     /* the rate is known, or time is over */
    bool stops;                        /* all replicas know that, and stop */
    struct pr_native_timings *timings; /* of each; of several, in the first */
    uint64_t wait_ns;                  /* of the measured time: for data */
    uint64_t compute_ns;   /* of the measured time: for nothing but steps */
    uint64_t cpu_ns;       /* that processors worked meanwhile */
    uint64_t first_ns;     /* when the first step began */
    uint64_t next_line_ns; /* when the log gets another line */

    double start_s;       /* from the start of the process to the first step */
    double apart_s;       /* spent meanwhile on what is no part of starting */
    double peak;          /* FLOP/s; 0: not measured */
    uint64_t memory_peak; /* bytes, when the steps were done */
    uint64_t evaluated;   /* held-out samples */
    uint64_t scored, right; /* classes that they have, and that were found */
    double held_out_loss;   /* of their batches, summed up */
};

/* ---- results */

/* Lines of the log that people read: what is going to be done. */
void pr_native_print_start(const struct pr_native_session *r,
                           struct pr_buf *out);

/* "6.32 images/s", as measured so far. Returns out. */
const char *pr_native_speed_text(const struct pr_native_session *r,
                                 char out[static 64]);

/* " of 100": of how many batches; "" where nobody knows. Returns out. */
const char *pr_native_batches_text(const struct pr_native *n,
                                   char out[static 32]);

/* One about a step. */
void pr_native_print_step(const struct pr_native_session *r,
                          struct pr_buf *out);

/* All results, as metric lines and as lines for people. */
int pr_native_write_results(const struct pr_native_session *r,
                            struct pr_buf *out,
                            struct pr_err *err) PR_MUST_CHECK;

/* Share of the threads' time in which they had a processor. 0: not known. */
double pr_native_cpu_share(const struct pr_native_session *r);

/* What there is to tell of one that ended early: its losses. */
void pr_native_write_part_results(const struct pr_native_session *r,
                                  struct pr_buf *out);

/* ---- rates of all replicas */

/* Ends measuring; all replicas together. The first one has all timings then. */
int pr_native_timings_gather(struct pr_native_session *r,
                             struct pr_err *err) PR_MUST_CHECK;
void pr_native_timings_free(struct pr_native_timings *t); /* NULL is fine */

/* The results timings.train, or timings.train_0 and so on, and steady_*. */
int pr_native_timings_put(const struct pr_native_session *r,
                          struct pr_result_lines *k,
                          struct pr_err *err) PR_MUST_CHECK;

/* ---- steps */

/* Warm-up and measured steps. */
int pr_native_run_steps(struct pr_native_session *r,
                        struct pr_err *err) PR_MUST_CHECK;

/* Held-out samples, with the weights as they are. */
int pr_native_evaluate(struct pr_native_session *r,
                       struct pr_err *err) PR_MUST_CHECK;

#endif
