/*
 * The driver: emulated accelerators as state machines, all in one thread. Each
 * asks for a batch, has it, computes until a deadline, and waits for the
 * others at the barrier. Times are kept as they should be, not as they were
 * noticed, so that errors do not add up; how late it noticed is measured.
 */
#ifndef PR_EMULATE_PHASE_H
#define PR_EMULATE_PHASE_H

#include "emulate/emulate.h"
#include "loader/feed.h"
#include "observe/tensorboard.h"
#include "observe/trace.h"

/* Called about ten times a second with the steps that all have made. */
typedef void pr_emulate_phase_tick_fn(void *ctx,
                                      const struct pr_emulate_phase *p,
                                      uint64_t steps, uint64_t now_ns);

/* All accelerators have made this many steps and wait: write a checkpoint. */
typedef int pr_emulate_phase_save_fn(void *ctx, struct pr_emulate_phase *p,
                                     uint64_t step, struct pr_err *err);

struct pr_emulate_phase_opts {
    const struct pr_emulate *e;
    struct pr_feed *feed;
    const struct pr_order *order;
    struct pr_emulate_phase
        *phase;                   /* epoch, evaluation, steps_planned are set */
    struct pr_trace_lane *lane;   /* or NULL */
    struct pr_tensorboard *board; /* or NULL */
    uint64_t steps_before;        /* for the board: those of earlier epochs */
    pr_emulate_phase_tick_fn *tick;
    void *tick_ctx;
    uint64_t save_every; /* steps; 0: no checkpoints in the phase */
    pr_emulate_phase_save_fn *save;
    void *save_ctx;
};

/* Runs one epoch's training or evaluation, and fills the phase. A checkpoint
 * that is due with the last step is left to the caller. */
int pr_emulate_phase_run(const struct pr_emulate_phase_opts *d,
                         struct pr_err *err) PR_MUST_CHECK;

#endif
