/* How an experiment can end. */
#ifndef PR_RECORD_STATUS_H
#define PR_RECORD_STATUS_H

#include <stdbool.h>

/* X(name, word in files) */
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

#endif
