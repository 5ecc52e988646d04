/* One call of an experiment, as a result of milarun's or of ours tells it: what
 * `prony rerun` and milarun's run and rerun do again. */
#ifndef PR_CLI_SUITE_CALL_H
#define PR_CLI_SUITE_CALL_H

#include "base/value.h"
#include "cli/cli.h"
#include "plan/plan.h"

struct suite_call {
    const char *function, *name; /* name: "standard.vae" */
    const char *job_id;          /* "0.1"; NULL: none */
    const char *dataroot;        /* NULL: none */
    struct pr_value argv;        /* a list of texts */
    struct pr_value environ;     /* a map, or null */
    struct pr_value job;         /* the job of the profile, or null */
    struct pr_value devices;     /* a list, or null */
    struct pr_value extra;       /* more keys, or null */
    struct pr_value params;      /* of a result of Prony's: then only this and
                                    argv, which is appended, count */
};

/* Reads a result file. PR_E_FORMAT: it is none. In c's arena. */
int suite_call_read(struct cli *c, const char *path, struct suite_call *ret,
                    struct pr_err *err) PR_MUST_CHECK;

/* A built plan of this one experiment, with words appended to its arguments.
 * Free with pr_plan_free. */
int suite_call_plan(struct cli *c, const struct suite_call *call,
                    const char *const *more, size_t more_count,
                    struct pr_plan **ret, struct pr_err *err) PR_MUST_CHECK;

#endif
