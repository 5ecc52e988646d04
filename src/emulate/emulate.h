/*
 * Emulated training: a data set is read as training would read it, while
 * emulated accelerators compute, that is, wait. All there is to know about one
 * such experiment, from its parameters.
 */
#ifndef PR_EMULATE_H
#define PR_EMULATE_H

#include "checkpoint/checkpoint_shape.h"
#include "conf/option/option.h"
#include "emulate/emulate_stats.h"
#include "format/dataset/dataset.h"
#include "job/job.h"
#include "loader/duration.h"
#include "loader/order.h"

struct pr_emulate {
    const struct pr_job *job;
    struct pr_dataset set;
    struct pr_storage_opts storage; /* reader.odirect, transfer_size applied */
    struct pr_reader_opts reader;
    struct pr_train_opts train;
    struct pr_evaluation_opts evaluation;
    struct pr_workflow_opts workflow;
    struct pr_output_opts output;
    struct pr_output_metric_opts window;
    struct pr_metric_opts metric;
    struct pr_profiling_opts profiling;
    struct pr_emulate_opts opts;
    struct pr_checkpoint_shape checkpoint; /* filled with workflow.checkpoint */
    struct pr_duration compute, eval, preprocess;
    uint64_t accelerators;
    double train_bytes; /* of the files that were found; 0: not looked */
    uint64_t random;    /* drawn once, for shuffles by chance */
    const char *model;  /* model.name, or "default" */
    const char *folder; /* second place for DLIO's files; "" is none */
};

/* Reads and checks everything. Text and lists are borrowed from the job. */
int pr_emulate_init(struct pr_emulate *e, struct pr_job *job,
                    struct pr_err *err) PR_MUST_CHECK;

/* Whether it can be run: PR_E_UNAVAIL where it asks for what is for a later
 * version, PR_E_CONF where there is no batch for every accelerator. */
int pr_emulate_check(const struct pr_emulate *e,
                     struct pr_err *err) PR_MUST_CHECK;

/* Checkpoints are all there is to do. */
bool pr_emulate_is_save_only(const struct pr_emulate *e);

/* The order of an epoch (from 1) of training or evaluation. */
void pr_emulate_fill_order_opts(const struct pr_emulate *e, bool evaluation,
                                unsigned epoch, struct pr_order_opts *ret);

/* Whether an epoch is followed by an evaluation. */
bool pr_emulate_has_evaluation(const struct pr_emulate *e, unsigned epoch);

/* Steps of an epoch's training: what the order has, or the cap. done: steps
 * of the epochs before. */
uint64_t pr_emulate_count_steps(const struct pr_emulate *e, uint64_t batches,
                                uint64_t done);

/* Over all epochs: steps of training, and how many evaluations. */
uint64_t pr_emulate_count_all_steps(const struct pr_emulate *e,
                                    uint64_t batches);
uint64_t pr_emulate_count_evaluations(const struct pr_emulate *e);

/* Whether samples come from storage at all, and whether that is a place that
 * outlives the process. */
bool pr_emulate_needs_storage(const struct pr_emulate *e);
bool pr_emulate_has_files(const struct pr_emulate *e);

#endif
