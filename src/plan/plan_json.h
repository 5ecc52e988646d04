/*
 * plan.json, the file between planning and running. One experiment a line, so
 * that it can be read by line tools, and written and read in constant memory:
 *     {"schema": "prony.plan/1", "count": 2, "defaults": {…}, "experiments": [
 *     {"id": "0001-…", "params": {…}},
 *     {"id": "0002-…", "params": {…}}
 *     ]}
 */
#ifndef PR_PLAN_PLAN_JSON_H
#define PR_PLAN_PLAN_JSON_H

#include "plan/plan.h"

/* Takes bytes of the document as they come. */
typedef int pr_plan_sink(void *ctx, const char *data, size_t len,
                         struct pr_err *err);

/* full: defaults are merged into each experiment. *ret_count (may be NULL):
 * experiments written. */
int pr_plan_write(struct pr_plan *p, bool full, pr_plan_sink *sink, void *ctx,
                  uint64_t *ret_count, struct pr_err *err) PR_MUST_CHECK;

/* The parameters of an experiment that a plan stores: set, derived or read;
 * with full, all. Appends `{"a": 1, …}`. False when out of memory. */
bool pr_experiment_json(const struct pr_plan *p, const struct pr_experiment *e,
                        bool full, struct pr_buf *out);

#endif
