/*
 * The rules of MLPerf Storage v2.0, as its rules document (Submission
 * guidelines v2.0) numbers them: how much data an experiment needs, and which
 * rules it keeps. Parameters and results in, findings out; nothing is read.
 */
#ifndef PR_ANALYSE_MLPERF_H
#define PR_ANALYSE_MLPERF_H

#include "base/err.h"
#include "base/value.h"

enum pr_mlperf_status {
    PR_MLPERF_PASS,
    PR_MLPERF_FAIL,
    PR_MLPERF_WARN,
    PR_MLPERF_NOT_CHECKED,
    PR_MLPERF_STATUS_COUNT,
};

enum pr_mlperf_verdict {
    PR_MLPERF_CLOSED, /* nothing against it, and so nothing against OPEN */
    PR_MLPERF_OPEN,   /* parameters were changed that only OPEN lets change */
    PR_MLPERF_INVALID,
};

struct pr_mlperf_check {
    const char *rule; /* "6.6" */
    enum pr_mlperf_status status;
    const char *text; /* one sentence, with what to do about it */
    struct pr_mlperf_check *next;
};

struct pr_mlperf_checks {
    struct pr_mlperf_check *first, *last;
    uint64_t by_status[PR_MLPERF_STATUS_COUNT];
};

/* The data set that an experiment needs. */
struct pr_mlperf_size {
    uint64_t by_memory;  /* files, for five times the memory of all hosts */
    uint64_t by_steps;   /* files, for 500 steps in an epoch */
    uint64_t files;      /* the larger of both */
    uint64_t bytes;      /* of these, by the mean size of a sample */
    uint64_t subfolders; /* to spread them over; 0: need not be */
};

struct pr_mlperf_in {
    const struct pr_value *params;  /* what is missing has its default */
    const struct pr_value *results; /* of result.json; NULL: not run yet */
    uint64_t memory; /* of this machine, for mlperf.host_memory=0 */
};

struct pr_mlperf {
    const char *division; /* asked for: "none", "closed", "open" */
    const char *workload; /* "unet3d_h100", "llama3-8b"; NULL: none of theirs */
    bool is_checkpoint;   /* a model whose checkpoints are measured */
    uint64_t hosts, host_memory, accelerators;
    struct pr_mlperf_size size; /* of a training */
    uint64_t ranks;             /* that CLOSED wants of a checkpoint */
    enum pr_mlperf_verdict verdict;
    struct pr_mlperf_checks checks;
};

/* Whether an experiment trains one of MLPerf's models, or says that it is
 * meant for MLPerf (mlperf.division). */
bool pr_mlperf_is_concerned(const struct pr_value *params);

/* Whether mlperf.division asks for the rules. */
bool pr_mlperf_is_asked(const struct pr_value *params);

/* Judges one experiment; everything in *ret lives in the arena. */
int pr_mlperf_judge_experiment(const struct pr_mlperf_in *in,
                               struct pr_arena *a, struct pr_mlperf *ret,
                               struct pr_err *err) PR_MUST_CHECK;

const char *pr_mlperf_status_word(enum pr_mlperf_status s);
const char *pr_mlperf_verdict_word(enum pr_mlperf_verdict v);

/* What the size follows from. */
struct pr_mlperf_need {
    uint64_t memory; /* of all hosts together */
    uint64_t accelerators, batch, samples_per_file;
    double record_length;
};
void pr_mlperf_compute_size(const struct pr_mlperf_need *n,
                            struct pr_mlperf_size *ret);

#endif
