/*
 * How fast a workload goes, measured while it works: rates over slices of time
 * (base/stats/histogram.h), when to stop because the rate is known well enough
 * (nn.steady), and the results timings.NAME, as milarun has them, and steady_*.
 * Adding an iteration allocates nothing and takes no lock.
 */
#ifndef PR_NATIVE_RATE_LOG_H
#define PR_NATIVE_RATE_LOG_H

#include "base/stats/histogram.h"
#include "base/stats/statistics.h"
#include "conf/option/option.h"
#include "job/result_lines.h"

struct pr_rate_log {
    struct pr_rateslices slices;
    uint64_t start_wall_ns, end_wall_ns;
    uint64_t start_ns, end_ns;   /* of the first, and the last iteration */
    double steady, min_s, max_s; /* when to stop; 0: never, of steady, max_s */
    size_t next_look;            /* at so many slices */
    bool is_steady;
};

int pr_rate_log_init(struct pr_rate_log *l, const struct pr_nn_opts *nn,
                     struct pr_err *err) PR_MUST_CHECK;
void pr_rate_log_free(struct pr_rate_log *l); /* all zero is fine */

/* An iteration from start to end by pr_clock_ns(), of so many items. True: it
 * may stop. */
bool pr_rate_log_add(struct pr_rate_log *l, uint64_t start_ns, uint64_t end_ns,
                     uint64_t items);

/* After the last one: the partial slice is noted. */
void pr_rate_log_end(struct pr_rate_log *l);

/* Share of the time after which it stops at the latest; -1: it does not by
 * time. */
double pr_rate_log_time_share(const struct pr_rate_log *l);

/* What a timing says, also of another process. */
struct pr_rate_log_timing {
    uint64_t start_wall_ns, end_wall_ns;
    double wall_s, time_s;
    double slice_s;
    const double *rates;
    size_t count;
    const char *const *metrics; /* names, or NULL: none */
    const double *values;       /* of them; not finite: null */
    size_t metric_count;
};

struct pr_rate_log_timing pr_rate_log_get_timing(const struct pr_rate_log *l);

/* The result timings.NAME. */
void pr_rate_log_put_timing(const struct pr_rate_log_timing *t,
                            struct pr_result_lines *k, const char *name);

/* The results steady_rate, steady_std and so on (docs/measures.md). */
int pr_rate_log_put_steady(const struct pr_rate_log *l,
                           struct pr_result_lines *k,
                           struct pr_err *err) PR_MUST_CHECK;

#endif
