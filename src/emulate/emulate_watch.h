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

/* Whether trace.json and iostat.json are asked for. */
bool pr_emulate_watch_has_trace(const struct pr_emulate *e);
bool pr_emulate_watch_has_iostat(const struct pr_emulate *e);

#endif
