/* `prony summary`: milarun's summary of a folder of results. */
#include "cli/suite_report.h"

int cmd_summary(struct cli *c, struct pr_err *err)
{
    if (c->rest_count != 1) {
        pr_fail(err, PR_E_USAGE, "", "summary wants one folder of results");
        return pr_hint(err, "'prony run PROFILE.json -o DIR' makes one");
    }
    return suite_summary(c->rest[0], arg_get(c, A_SUMMARY_OUT), err);
}
