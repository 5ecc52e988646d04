/*
 * The resource monitor: one thread that looks at the machine and at the
 * experiment's processes every so often, and starts no process. What it sees
 * goes to monitor.ndjson, one JSON object a look, and is summed up for the
 * result. docs/monitor.md has the format. Several experiments may be watched
 * at once: the machine is looked at once for all of them.
 */
#ifndef PR_MONITOR_H
#define PR_MONITOR_H

#include "base/buf.h"
#include "base/err.h"

struct pr_monitor;
struct pr_monitored; /* an experiment that is watched */

/* One for a whole run; the thread starts with the first experiment that is
 * watched and sleeps between them. root is put before /proc and /sys for
 * tests; NULL: "". */
int pr_monitor_new(const char *root, struct pr_monitor **ret,
                   struct pr_err *err) PR_MUST_CHECK;
void pr_monitor_free(struct pr_monitor *m);

struct pr_monitor_watch_opts {
    const char *path;       /* of monitor.ndjson; replaced if it is there */
    double interval_s;      /* > 0 */
    const char *timeseries; /* monitor.timeseries; "": none */
};

/* An experiment is about to start. Returns at once; the first look, from which
 * differences are taken, happens on the thread. A file that cannot be written
 * is told by pr_monitor_end. PR_E_CONF: timeseries is no such list. */
int pr_monitor_begin(struct pr_monitor *m,
                     const struct pr_monitor_watch_opts *w,
                     struct pr_monitored **ret,
                     struct pr_err *err) PR_MUST_CHECK;

/* Its first process, once it is there. */
void pr_monitor_set_pid(struct pr_monitor *m, struct pr_monitored *x, int pid);

/* It has ended; its first process and all that it waited for used so much
 * processor time (0: not known), of which the last part can no longer be seen.
 * One that ended before the first interval was over leaves no file and an empty
 * summary. x is gone then. */
struct pr_monitor_sum {
    struct pr_buf summary; /* a JSON object, or empty */
    struct pr_buf log;     /* lines __results.use.NAME__=[…], or empty */
    char trouble[256];     /* what "it" did, in words; "": none */
};
void pr_monitor_end(struct pr_monitor *m, struct pr_monitored *x, double used_s,
                    struct pr_monitor_sum *ret);
void pr_monitor_sum_free(struct pr_monitor_sum *s);

#endif
