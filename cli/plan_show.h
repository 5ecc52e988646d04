/* Showing what a plan needs and this machine lacks. */
#ifndef PR_CLI_PLAN_SHOW_H
#define PR_CLI_PLAN_SHOW_H

#include "cli/cli.h"
#include "run/validate/validate.h"

/* `plan --validate`: all of it on stdout. Anything missing is the error. */
int validation_show(const struct pr_validation *v, bool json,
                    struct pr_err *err) PR_MUST_CHECK;

/* Before a run: the list on stderr (and with json as a document on stdout)
 * when the run is refused. What it is not refused for is warned of. */
int validation_refuse(const struct pr_validation *v, bool json,
                      struct pr_err *err) PR_MUST_CHECK;

#endif
