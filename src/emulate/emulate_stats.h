/*
 * What is measured while training is emulated. A phase is the training or the
 * evaluation of one epoch; in it each accelerator has figures of its own.
 * Times are nanoseconds of the clock of the job unless said otherwise.
 */
#ifndef PR_EMULATE_STATS_H
#define PR_EMULATE_STATS_H

#include "base/stats/histogram.h"
#include "checkpoint/checkpoint_ops.h"
#include "loader/feed.h"
#include "observe/client_limits.h"

/* One step of one accelerator. */
struct pr_emulate_step {
    uint64_t accelerator, step; /* both from 0 */
    uint64_t asked_ns;          /* it wanted its batch */
    uint64_t came_ns;           /* the batch was there, maybe long before */
    uint64_t ready_ns;          /* it had it; not before asked_ns */
    uint64_t end_ns;            /* computed; when it should have ended */
    uint64_t woke_ns;           /* when that was noticed; not before end_ns */
    uint64_t samples;           /* in the batch */
};

struct pr_emulate_accelerator_stats {
    uint64_t steps, samples;
    uint64_t wait_ns, compute_ns; /* sums: for batches; as planned */
    uint64_t late_ns, late_max_ns;
    uint64_t barrier_ns;        /* waiting for others after computing */
    uint64_t first_ns, last_ns; /* end of the first and the last step */
    /* For DLIO's formulas: the window leaves out the first and last steps. */
    uint64_t window_steps, window_compute_ns;
    uint64_t outside_ns;   /* wait + compute of the steps left out */
    double compute_square; /* in the window: sum of squares, in seconds */
    uint64_t window_ns;    /* when the window's first step asked */
    /* Of all windows: steps, and those whose batch came before theirs. */
    uint64_t counted_steps, ahead_steps;
    /* The window is that of the block that runs; of the ones before there are
     * DLIO's figures, each times its steps. */
    uint64_t blocks_steps;
    double blocks_au, blocks_rate;
};

/* Most steps of one accelerator in a phase, and most steps of all accelerators
 * in all phases together, that lists are kept of. */
enum { PR_LIST_STEPS = 100 * 1000, PR_LIST_ALL = 8 * 1000 * 1000 };

/* Phases that what the machine's memory held is kept of. */
enum { PR_MEMINFO_PHASES = 1000 };

/* Waits and computing times of single steps, in seconds, for DLIO's lists. */
struct pr_emulate_step_lists {
    float *wait, *compute; /* [accelerator * room + step] */
    uint64_t room;         /* steps of each that fit; 0: no lists are kept */
};

/* Steps between two checkpoints. */
struct pr_emulate_block {
    uint64_t number;       /* from 1 */
    uint64_t first, steps; /* of the first accelerator */
    uint64_t start_ns, end_ns, start_wall_ns, end_wall_ns;
    double au, rate;             /* DLIO's, of the first accelerator: percent,
                                    batches a second */
    double compute, compute_dev; /* of a step of it: seconds, deviation */
    float *rank_au, *rank_rate;  /* of every accelerator; NULL: too many */
    struct pr_emulate_block *next;
};

/* How long each step took, over all accelerators. They are some kB, and there
 * may be many epochs: of phases before the last one only sums are kept. */
struct pr_emulate_phase_times {
    struct pr_histogram wait, step;
};

struct pr_emulate_phase {
    unsigned epoch; /* from 1 */
    bool evaluation;
    uint64_t steps_planned;
    uint64_t start_ns, end_ns, start_wall_ns, end_wall_ns;
    uint64_t accelerators;
    struct pr_emulate_accelerator_stats *accel;
    struct pr_emulate_phase_times
        *live; /* of the last phase; NULL: see waits */
    struct pr_emulate_phase_waits {
        uint64_t count, p50_ns, p99_ns, max_ns;
    } waits; /* of one that others came after */
    struct pr_feed_stats feed;
    struct pr_emulate_step_lists lists;
    double cached; /* share of the data in the page cache before; -1: unknown */
    uint64_t device_bytes; /* really fetched from a device; UINT64_MAX: not
                              known */
    const char *meminfo;   /* /proc/meminfo as it began; NULL: not known, or
                              one of too many */
    struct pr_emulate_block *blocks,
        *last_block;                  /* that ended with a checkpoint */
    uint64_t block_ns, block_wall_ns; /* start of the one that runs; 0: as the
                                         phase */
    uint64_t pause_ns;                /* of its time: for checkpoints */
    uint64_t stall_ns, stall_max_ns;  /* the driver did not run when due */
    struct pr_emulate_phase *next;
};

struct pr_emulate; /* emulate/emulate.h */

struct pr_emulate_stats {
    struct pr_emulate_phase *first, *last; /* in the order they ran */
    struct pr_emulate_phase_times past[2]; /* of those before the last:
                                      trainings, evaluations */
    uint64_t phases;                       /* that were begun */
    uint64_t start_ns, end_ns, start_wall_ns, end_wall_ns;
    uint64_t generated_bytes;
    double generated_s;
    uint64_t data_bytes;            /* of the whole set; 0: not known */
    uint64_t listed;                /* steps that lists have room for, so far */
    const char *engine;             /* that really read; NULL: storage.engine */
    unsigned threads;               /* that read; 0: not known */
    struct pr_client_limits limits; /* of the client, while it trained */
    struct pr_checkpoint_ops checkpoints;
    const char *checkpoint_engine;
    unsigned checkpoint_threads;
};

/* Adds a phase with room for everything: cached and device_bytes say that they
 * are not known. Epoch, kind and times are the caller's. NULL: out of memory.
 */
struct pr_emulate_phase *pr_emulate_stats_add_phase(struct pr_emulate_stats *s,
                                                    struct pr_arena *a,
                                                    uint64_t accelerators,
                                                    uint64_t steps);

/* Forgets the last phase, which was not finished. */
void pr_emulate_stats_drop_last(struct pr_emulate_stats *s);

/* How long its steps waited for their batches. */
struct pr_emulate_phase_waits
pr_emulate_phase_get_waits(const struct pr_emulate_phase *p);

/* Counts a step. window: whether DLIO's measures count it. */
void pr_emulate_stats_add_step(struct pr_emulate_phase *p,
                               const struct pr_emulate_step *s, bool window);

/* A checkpoint is due: the block that runs ended at this time, its first
 * accelerator having made all its steps so far. False: out of memory. */
bool pr_emulate_stats_pause(struct pr_emulate_phase *p, struct pr_arena *a,
                            uint64_t at_ns);
/* And the next one begins. */
void pr_emulate_stats_resume(struct pr_emulate_phase *p, uint64_t at_ns);

/* Goes through the blocks of a phase that has ended: *b is zero before the
 * first call. False: that was the last one. */
bool pr_emulate_phase_next_block(const struct pr_emulate_phase *p,
                                 struct pr_emulate_block *b);

/* ---- figures of a phase: ours */

/* Share of the time that accelerators computed, 0 to 1, by our definition:
 * sum of computing over accelerators / (accelerators * duration). */
double pr_emulate_phase_utilisation(const struct pr_emulate_phase *p);
double pr_emulate_phase_samples_per_s(const struct pr_emulate_phase *p);
double pr_emulate_phase_seconds(
    const struct pr_emulate_phase *p); /* without checkpoints */

/* All phases of a kind together. */
struct pr_emulate_totals {
    uint64_t phases, accelerators; /* accelerators: of the largest phase */
    uint64_t steps, samples;
    uint64_t bytes, storage_bytes, failed; /* as in pr_feed_stats */
    uint64_t device_bytes;                 /* UINT64_MAX: not known */
    double seconds, accelerator_s;         /* accelerator_s: of all of them */
    double compute_s, wait_s, barrier_s, late_s, late_max_s;
    double stall_s, stall_max_s; /* nobody ran: stopped, or no processor */
    uint64_t counted_steps, ahead_steps; /* of DLIO's windows; see above */
    double cached, storage_share;        /* means by bytes; -1: not known */
    double sample_s;                     /* open to decoded, on average */
    const struct pr_err *first_error;    /* of samples skipped, or NULL */
    struct pr_histogram wait, step;
};
void pr_emulate_stats_sum(const struct pr_emulate_stats *s, bool evaluation,
                          struct pr_emulate_totals *ret);
double pr_emulate_totals_utilisation(const struct pr_emulate_totals *t);

/* ---- DLIO's, by its formulas (percent; samples a second of one rank) */
double pr_dlio_au(const struct pr_emulate_phase *p, uint64_t accelerator);
double pr_dlio_throughput(const struct pr_emulate_phase *p,
                          uint64_t accelerator, uint64_t batch);

/* Over the ranks of a phase: mean of the first, sum of the second. */
double pr_dlio_phase_au(const struct pr_emulate_phase *p);
double pr_dlio_phase_throughput(const struct pr_emulate_phase *p,
                                uint64_t batch);

/* Over the phases of a kind: means, deviations of the population. */
struct pr_dlio_measures {
    uint64_t epochs;
    double au, au_stdev, throughput, throughput_stdev;
    double mb, mb_stdev; /* 1024 ** 2 bytes a second, of those really read */
};
void pr_dlio_compute_measures(const struct pr_emulate_stats *s, bool evaluation,
                              uint64_t batch, struct pr_dlio_measures *ret);

#endif
