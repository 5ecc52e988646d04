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
#include "monitor/columns.h"

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

/*
 * ---- monitor.timeseries
 *
 * What DLBS's monitor writes to an experiment's log. A list
 * NAME:TYPE:INDEX[:[COUNT]], …; INDEX counts in the words of a line "pid time
 * virt res shrd cpu mem power gpu0 gpu1 …". COUNT words make a list; with a
 * colon and no COUNT it goes to the end of the line.
 */
struct pr_timeseries;

/* PR_E_CONF: it is no such list, or has a name twice. Free with
 * pr_timeseries_free. */
int pr_timeseries_new(const char *text, struct pr_timeseries **ret,
                      struct pr_err *err) PR_MUST_CHECK;
void pr_timeseries_free(struct pr_timeseries *t); /* NULL is fine */

/* Another line, unless the experiment has no process. */
void pr_timeseries_add_line(struct pr_timeseries *t,
                            const struct pr_monitor_columns *c, int pid,
                            uint64_t wall_ns);

/* Lines __results.use.NAME__=[…]; nothing when there were none. */
void pr_timeseries_write_log(struct pr_timeseries *t, struct pr_buf *out);

/*
 * ---- watching one experiment
 *
 * When to look, the file, and what it all comes to. No thread is involved: the
 * monitor calls this from its own.
 *
 * The first look is the one that differences are taken from. Then look n is due
 * at n intervals after the beginning, however long the looks before it took.
 */
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
