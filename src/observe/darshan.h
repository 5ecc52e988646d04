/*
 * Darshan, which records the input and output of a program from inside it:
 * whether it is there, and what it can and cannot see of ours.
 */
#ifndef PR_OBSERVE_DARSHAN_H
#define PR_OBSERVE_DARSHAN_H

#include "base/buf.h"

#include <stdbool.h>

struct pr_darshan {
    bool loaded;    /* its library is in this process */
    bool named;     /* LD_PRELOAD asks for it */
    bool disabled;  /* DARSHAN_DISABLE is set */
    bool serial;    /* DARSHAN_ENABLE_NONMPI is set */
    char path[256]; /* its path when loaded, what was asked for when named;
                       else empty */
};

/* Looks for its library in PROC/self/maps, and at the environment. True when
 * it is loaded; where there are no maps, when LD_PRELOAD names it. */
bool pr_darshan_is_loaded(const char *proc, struct pr_darshan *ret);

/* What to tell the user, a line each without a full stop: whether it will
 * write a log, and what is in it when files are read by this engine ("pread",
 * "io_uring", …). */
void pr_darshan_describe(const struct pr_darshan *d, const char *engine,
                         struct pr_buf *out);

#endif
