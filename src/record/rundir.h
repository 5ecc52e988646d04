/*
 * The run directory: where a run leaves everything it knows.
 *     plan.json env.json events.ndjson experiments/<id>/{params,result}.json
 * events.ndjson only grows; every other file appears whole or not at all. A
 * run holds a lock on it, so that two runners never share a directory.
 */
#ifndef PR_RECORD_RUNDIR_H
#define PR_RECORD_RUNDIR_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

struct pr_rundir {
    char path[2048];
    int events_fd; /* -1: not open for writing */
    int experiments_fd;
    bool made; /* the folder itself is new */
};

/* Makes a new run directory; refuses one that holds a run already, or files
 * that are not ours. */
int pr_rundir_create(const char *path, struct pr_rundir *ret,
                     struct pr_err *err) PR_MUST_CHECK;

/* Opens one that exists, to go on with its run. Waits a little for a runner
 * that is just ending, and refuses one that is alive. */
int pr_rundir_resume(const char *path, struct pr_rundir *ret,
                     struct pr_err *err) PR_MUST_CHECK;

void pr_rundir_close(struct pr_rundir *d);

/* Ends the last line of events.ndjson, of which a run that was killed or had no
 * room may have written half. pr_rundir_resume does it. */
int pr_rundir_mend(struct pr_rundir *d, struct pr_err *err) PR_MUST_CHECK;

/* Whether somebody runs there now: a runner, or its keeper that clears up. */
bool pr_rundir_is_live(const char *path);

/* "DIR/rest" and "DIR/experiments/ID/rest". PR_E_IO when too long. */
int pr_rundir_path(const struct pr_rundir *d, const char *rest,
                   char out[static 4096], struct pr_err *err) PR_MUST_CHECK;
int pr_rundir_file(const struct pr_rundir *d, const char *id, const char *rest,
                   char out[static 4096], struct pr_err *err) PR_MUST_CHECK;

/* Makes DIR/experiments/ID. One that is there was begun by an earlier run: its
 * result and what was left half made are removed; *ret_begun tells which, and
 * *ret_attempts how many logs of attempts it holds. */
int pr_rundir_experiment(const struct pr_rundir *d, const char *id,
                         bool *ret_begun, unsigned *ret_attempts,
                         struct pr_err *err) PR_MUST_CHECK;

/* Has on stable storage what events.ndjson says so far. */
int pr_rundir_sync(const struct pr_rundir *d, struct pr_err *err) PR_MUST_CHECK;

/* Appends one line to events.ndjson, in one write. */
int pr_rundir_append(struct pr_rundir *d, const struct pr_buf *line,
                     struct pr_err *err) PR_MUST_CHECK;

#endif
