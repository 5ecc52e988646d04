/*
 * Watching one experiment: when to look, the file, and what it all comes to.
 * Knows no threads; monitor.c calls it from one.
 *
 * The first look is the one that differences are taken from. Then look n is due
 * at n intervals after the beginning, however long the looks before it took.
 */
#ifndef PR_MONITOR_WATCH_H
#define PR_MONITOR_WATCH_H

#include "base/err.h"
#include "monitor/looks.h"
#include "monitor/monitor.h"
#include "monitor/timeseries.h"

struct pr_watch {
    struct pr_monitor_sources *looks;
    char path[4096];
    double interval_s;
    uint64_t interval_ns;         /* the same */
    struct pr_timeseries *series; /* NULL: none */
    uint64_t begin_ns, wall_ns;   /* monotonic, and of the wall */
    uint64_t first_ns, last_ns;   /* of looks */
    uint64_t due;                 /* number of the next look, from 1 on */
    uint64_t samples, lost;
    uint64_t flush_ns;   /* when the lines are to be written */
    int fd;              /* -1: not open yet, or it cannot be */
    int error;           /* why it cannot: errno; 0 */
    struct pr_buf lines; /* not written yet */
};

/* Takes what w says; the caller has set looks. */
int pr_watch_init(struct pr_watch *x, const struct pr_monitor_watch_opts *w,
                  struct pr_err *err) PR_MUST_CHECK;
void pr_watch_close(struct pr_watch *x);

/* Removes a file of an attempt before; a device is nobody's to remove. */
void pr_watch_remove_file(const char *path);

/* The first look. */
void pr_watch_first_sample(struct pr_watch *x, int pid);

/* When the next one is due; monotonic. */
uint64_t pr_watch_next_ns(const struct pr_watch *x);

/* The next one. Those whose time has passed are lost. */
void pr_watch_next_sample(struct pr_watch *x, int pid);

/* The last one, and everything summed up into ret, which is zeroed. Nothing at
 * all when the first interval was not over. used_s as in pr_monitor_end. */
void pr_watch_end(struct pr_watch *x, int pid, double used_s,
                  struct pr_monitor_sum *ret);

#endif
