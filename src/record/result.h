/* result.json: the one result of an experiment. */
#ifndef PR_RECORD_RESULT_H
#define PR_RECORD_RESULT_H

#include "base/value.h"
#include "record/event.h"
#include "record/rundir.h"

#include <stdint.h>

struct pr_result {
    const char *id;
    enum pr_status status;
    const char *reason;            /* "" when ok */
    const char *params_json;       /* as in params.json */
    const struct pr_buf *results;  /* members of the results map, as JSON text
                                      `"a": 1, "b": 2`; may be empty */
    uint64_t started_ns, ended_ns; /* wall clock; 0: never started */
    unsigned attempts;
    const char *log_tail;          /* last lines, when it failed; NULL: none */
    const struct pr_buf *warnings; /* `"text", "text"`; NULL or empty: none */
    const struct pr_buf *rates;    /* of the channel, a JSON object; same */
    const struct pr_buf *monitor;  /* what the machine did, a JSON object */
    bool later;                    /* a power cut may lose it */
};

/* Writes experiments/ID/result.json, whole or not at all. Unless later is set,
 * it outlives a power cut when this returns, and so do the files beside it and
 * the events before it. */
int pr_result_write(const struct pr_rundir *d, const struct pr_result *r,
                    struct pr_err *err) PR_MUST_CHECK;

/* Reads one back. 1: there; 0: no such file; PR_E_FORMAT: what is there is not
 * a result; in the arena. */
int pr_result_read(const char *dir, const char *id, struct pr_arena *a,
                   struct pr_value *ret, struct pr_err *err) PR_MUST_CHECK;

/* The status in it; PR_STATUS_COUNT when it has none. */
enum pr_status pr_result_status(const struct pr_value *result);

#endif
