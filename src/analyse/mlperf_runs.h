/*
 * MLPerf's rules that take several runs to judge: how many there were, that
 * they had different seeds, and how far apart they are. Experiments that
 * differ in nothing but the seed are runs of one benchmark.
 */
#ifndef PR_ANALYSE_MLPERF_RUNS_H
#define PR_ANALYSE_MLPERF_RUNS_H

#include "analyse/mlperf.h"

enum { PR_MLPERF_RUNS = 5 }; /* that count */

struct pr_mlperf_group {
    const char *workload;
    bool is_checkpoint;
    uint64_t accelerators;
    uint64_t runs;    /* with results */
    uint64_t invalid; /* of these */
    uint64_t hash;
    int64_t seed; /* of the first */
    bool seeds_differ;
    double rate[PR_MLPERF_RUNS]; /* of the last ones, in turn */
    struct pr_mlperf_checks checks;
    struct pr_mlperf_group *next;
};

struct pr_mlperf_groups {
    struct pr_mlperf_group *first, *last;
};

/* Adds an experiment that was judged and has results; in the arena. */
int pr_mlperf_groups_add(struct pr_mlperf_groups *g, const struct pr_mlperf *m,
                         const struct pr_mlperf_in *in, struct pr_arena *a,
                         struct pr_err *err) PR_MUST_CHECK;

/* Judges each group, once all are there. */
int pr_mlperf_groups_judge(struct pr_mlperf_groups *g, struct pr_arena *a,
                           struct pr_err *err) PR_MUST_CHECK;

/* Memory of the machine a run directory is of, by its env.json; 0: it does
 * not say. */
uint64_t pr_mlperf_read_run_memory(const char *dir);

#endif
