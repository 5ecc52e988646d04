/*
 * Events: what happened, one JSON object a line in events.ndjson. The same
 * struct is handed to whoever watches a run.
 */
#ifndef PR_RECORD_EVENT_H
#define PR_RECORD_EVENT_H

#include "base/err.h"
#include "base/value.h"

#include <stdbool.h>
#include <stdint.h>

/* How an experiment can end: X(name, word in files). */
#define PR_STATUSES(X)            \
    X(OK, "ok")                   \
    X(FAILED, "failed")           \
    X(TIMEOUT, "timeout")         \
    X(OOM, "oom")                 \
    X(INTERRUPTED, "interrupted") \
    X(SKIPPED, "skipped")

enum pr_status {
#define X(name, word) PR_STATUS_##name,
    PR_STATUSES(X)
#undef X
        PR_STATUS_COUNT,
};

const char *pr_status_word(enum pr_status s); /* COUNT: "unknown" */

/* PR_STATUS_COUNT for a word that is none. */
enum pr_status pr_status_from_word(const char *word);

/* It ran and ended badly; not so what was stopped, or was not to be run. */
bool pr_status_is_failure(enum pr_status s);

/* X(name, word in the file) */
#define PR_EVENTS(X)                        \
    X(RUN_START, "run_start")               \
    X(EXPERIMENT_START, "experiment_start") \
    X(EXPERIMENT_RETRY, "experiment_retry") \
    X(EXPERIMENT_END, "experiment_end")     \
    X(INTERRUPT, "interrupt")               \
    X(LEFTOVERS, "leftovers")               \
    X(RUN_END, "run_end")

enum pr_event_kind {
#define X(name, word) PR_EVENT_##name,
    PR_EVENTS(X)
#undef X
        PR_EVENT_COUNT,
};

struct pr_event {
    enum pr_event_kind kind;
    uint64_t time_ns;      /* wall clock */
    const char *id;        /* of the experiment; NULL for the run's own */
    const char *reason;    /* NULL: none */
    enum pr_status status; /* of EXPERIMENT_END and RETRY */
    double elapsed_s;      /* likewise; of the attempt */
    unsigned attempt;      /* 1, 2, … */
    uint64_t done, total, failed; /* of the run so far */
    uint32_t mark;                /* of RUN_START: what the run's processes */
    const char *group;            /* carry, and their control group, or NULL */
};

/* Appends the line, new line included. */
void pr_event_write(const struct pr_event *e, struct pr_buf *out);

/* Reads a line back. 1: an event; 0: one of a kind we do not know;
 * PR_E_FORMAT: not an event at all, for example half a line. */
int pr_event_read(const char *line, size_t len, struct pr_arena *a,
                  struct pr_event *ret, struct pr_err *err) PR_MUST_CHECK;

#endif
