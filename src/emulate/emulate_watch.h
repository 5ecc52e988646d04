/*
 * What is watched while training is emulated, as the parameters ask for it:
 * a trace, TensorBoard's event files, block devices, Darshan.
 */
#ifndef PR_EMULATE_WATCH_H
#define PR_EMULATE_WATCH_H

#include "emulate/emulate.h"
#include "observe/iostat.h"
#include "observe/tensorboard.h"
#include "observe/trace.h"

struct pr_emulate_watch {
    const struct pr_emulate *e;
    struct pr_trace *trace;        /* or NULL */
    struct pr_trace_lane *lane;    /* of the driver */
    struct pr_trace_lane **reader; /* of each reading thread, when it first
                                      has something to say */
    struct pr_tensorboard *board;
    struct pr_iostat *iostat;
    uint64_t start_ns;
    unsigned epoch; /* that is read for; reading threads look at it */
};

/* Starts what is asked for. What cannot work is a note, not an error. */
int pr_emulate_watch_start(struct pr_emulate_watch *w,
                           const struct pr_emulate *e, struct pr_buf *notes,
                           struct pr_err *err) PR_MUST_CHECK;

void pr_emulate_watch_phase_start(struct pr_emulate_watch *w,
                                  const struct pr_emulate_phase *p);
void pr_emulate_watch_phase_end(struct pr_emulate_watch *w,
                                const struct pr_emulate_phase *p);

/* A pr_feed_saw; ctx is the watch. */
void pr_emulate_watch_on_sample(void *ctx, unsigned thread,
                                uint64_t accelerator, uint64_t sample,
                                uint64_t start_ns, uint64_t read_ns,
                                uint64_t end_ns);

/* Ends everything and writes what is to be written. rc is what happened so
 * far: it stays, unless it is good and this fails. */
int pr_emulate_watch_stop(struct pr_emulate_watch *w, int rc,
                          struct pr_err *err);

/* Whether trace.json and iostat.json are asked for. */
bool pr_emulate_watch_has_trace(const struct pr_emulate *e);
bool pr_emulate_watch_has_iostat(const struct pr_emulate *e);

/* Copies iostat.json and trace.json, where they were made, to a folder. */
int pr_emulate_watch_copy_files(const struct pr_emulate_watch *w,
                                const char *folder,
                                struct pr_err *err) PR_MUST_CHECK;

#endif
