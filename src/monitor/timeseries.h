/*
 * monitor.timeseries: what DLBS's monitor writes to an experiment's log. A list
 * NAME:TYPE:INDEX[:[COUNT]], …; INDEX counts in the words of a line "pid time
 * virt res shrd cpu mem power gpu0 gpu1 …". COUNT words make a list; with a
 * colon and no COUNT it goes to the end of the line.
 */
#ifndef PR_MONITOR_TIMESERIES_H
#define PR_MONITOR_TIMESERIES_H

#include "base/err.h"
#include "monitor/columns.h"

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

#endif
