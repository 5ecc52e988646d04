/* What live.c (when to write) and live_line.c (what to write) share. */
#ifndef PR_PRESENT_LIVE_IMPL_H
#define PR_PRESENT_LIVE_IMPL_H

#include "base/buf.h"
#include "present/live.h"

#include <stdbool.h>

enum pr_live_channel {
    PR_LIVE_OFF,
    PR_LIVE_LINE,
    PR_LIVE_LINES,
    PR_LIVE_OBJECTS,
};

struct pr_live_line {
    struct pr_live_opts opts;
    enum pr_live_channel channel;
    bool ascii;
    bool started;               /* the first update has come */
    bool painted;               /* the line is on the screen */
    bool finished;              /* pr_live_close was called, or fd is dead */
    uint64_t start_ns, last_ns; /* of the command, of the last paint */
    uint64_t done, total, failed;
    struct pr_buf label, extra; /* clean */
    struct pr_buf out;          /* of one write */

    /* The eta: seconds an item takes, smoothed over windows of at least one
     * second in which at least one was done. */
    uint64_t base_done, window_ns, window_done;
    unsigned windows;
    double item_s;
};

/* Append to l->out: the line without its line end, at most columns wide; the
 * plain line; the object. */
void pr_live_add_line(struct pr_live_line *l, uint64_t now_ns,
                      unsigned columns);
void pr_live_add_plain(struct pr_live_line *l, uint64_t now_ns);
void pr_live_add_object(struct pr_live_line *l, uint64_t now_ns,
                        const char *event);

#endif
