/* `prony report`: the results of a run, of an experiment, or of DLIO. */
#include "cli/report.h"

int cmd_report(struct cli *c, struct pr_err *err)
{
    const char *format = arg_get(c, A_REPORT_FORMAT);

    if (c->rest_count != 1) {
        pr_fail(err, PR_E_USAGE, "", "report wants one run directory");
        return pr_hint(err, "'prony run' says where it put its results");
    }
    return report_folder(c, c->rest[0], format ? format : "text", err);
}
