/* `prony report`: a table of the results of a run. */
#include "cli/report.h"

int cmd_report(struct cli *c, struct pr_err *err)
{
    const char *format = arg_get(c, A_REPORT_FORMAT);
    int rc = PR_OK;

    if (!c->rest_count) {
        pr_fail(err, PR_E_USAGE, "", "report wants a run directory");
        return pr_hint(err, "'prony run' says where it put its results");
    }
    for (size_t i = 0; i < c->rest_count && !rc; i++) {
        if (c->rest_count > 1)
            say(SAY_INFO, "%s\n", c->rest[i]);
        rc = report_table(c, c->rest[i], format ? format : "text", 0, err);
    }
    return rc;
}
