/* `prony report`: the results of a run, an experiment, a suite, or DLIO. */
#include "cli/report.h"
#include "cli/suite_report.h"

/* Options of suites want a suite, whatever the folder looks like. */
static int report_suite(struct cli *c, const char *path, struct pr_err *err)
{
    struct suite_ask ask;
    int rc = suite_ask_read(c, path, &ask, err);

    return rc ? rc : suite_report(c, &ask, err);
}

int cmd_report(struct cli *c, struct pr_err *err)
{
    const char *format = arg_get(c, A_REPORT_FORMAT);

    if (c->rest_count != 1) {
        pr_fail(err, PR_E_USAGE, "",
                "report wants one run directory, folder of results or summary");
        return pr_hint(err, "'prony run' says where it put its results");
    }
    if (suite_asked(c) || is_suite(c->rest[0]))
        return report_suite(c, c->rest[0], err);
    return report_folder(c, c->rest[0], format ? format : "text", err);
}
