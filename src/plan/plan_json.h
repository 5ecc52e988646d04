/*
 * plan.json, the file between planning and running. One experiment a line, so
 * that it can be read by line tools, and written and read in constant memory:
 *     {"schema": "prony.plan/1", "count": 2, "defaults": {…}, "experiments": [
 *     {"id": "0001-…", "params": {…}},
 *     {"id": "0002-…", "params": {…}}
 *     ]}
 */
#ifndef PR_PLAN_JSON_H
#define PR_PLAN_JSON_H

#include "plan/plan.h"

/* The same to a file, whole or not at all; later: as struct pr_new_file. */
int pr_plan_write_file(struct pr_plan *p, const char *path, bool full,
                       bool later, uint64_t *ret_count,
                       struct pr_err *err) PR_MUST_CHECK;

/* The parameters of an experiment that a plan stores: set, derived or read;
 * with full, all. Appends `{"a": 1, …}`. False when out of memory. */
bool pr_experiment_json(const struct pr_plan *p, const struct pr_experiment *e,
                        bool full, struct pr_buf *out);

#endif
