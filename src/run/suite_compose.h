/* What is in a suite's result file: milarun's keys in milarun's order. */
#ifndef PR_RUN_SUITE_COMPOSE_H
#define PR_RUN_SUITE_COMPOSE_H

#include "base/err.h"
#include "conf/option/option.h"
#include "run/gpus.h"

/* What it is made from. */
struct pr_suite_result_source {
    const char *dir, *id;
    struct pr_value result, params; /* result.json and params.json */
    struct pr_suite_opts suite;
    bool ok;
    const char *time; /* of the end */
    struct pr_gpus *gpus;
};

/* "0.1": repeat and device. Returns out; NULL: it has none. */
const char *pr_suite_result_job_id(const struct pr_suite_result_source *s,
                                   char out[static 64]);

/* The whole, in the arena. */
int pr_suite_result_compose(const struct pr_suite_result_source *s,
                            struct pr_arena *a, struct pr_value *ret,
                            struct pr_err *err) PR_MUST_CHECK;

#endif
