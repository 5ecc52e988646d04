/* A run as one JSON document: `prony run --format json`. */
#ifndef PR_PRESENT_RUN_JSON_H
#define PR_PRESENT_RUN_JSON_H

#include "base/err.h"

#include <stddef.h>

typedef int pr_json_sink(void *ctx, const char *data, size_t len,
                         struct pr_err *err);

/* {"schema": "prony.run/1", "dir": …, "experiments": [{"id", "status",
 * "params", "results"}…]}. An experiment without a result counts as
 * skipped. In constant memory. */
int pr_run_json(const char *dir, pr_json_sink *sink, void *ctx,
                struct pr_err *err) PR_MUST_CHECK;

#endif
