/* `prony report`: the results of a run, an experiment, a suite, or DLIO. */
#include "cli/report.h"
#include "cli/suite_report.h"
#include "present/html.h"
#include "prony_config.h"

/* Options of suites want a suite, whatever the folder looks like. */
static int report_suite(struct cli *c, const char *path, struct pr_err *err)
{
    struct suite_ask ask;
    int rc = suite_ask_read(c, path, &ask, err);

    return rc ? rc : suite_report(c, &ask, err);
}

/* The page of a run directory; of other folders there is none. */
static int write_html(struct cli *c, const char *dir, struct pr_err *err)
{
    struct pr_html_about about = {.version = PR_VERSION, .dir = dir};

    return pr_html_run(dir, arg_get(c, A_TITLE), &about, arg_get(c, A_HTML),
                       err);
}

int cmd_report(struct cli *c, struct pr_err *err)
{
    const char *format = arg_get(c, A_REPORT_FORMAT);
    int rc;

    if (c->rest_count != 1) {
        pr_fail(err, PR_E_USAGE, "",
                "report wants one run directory, folder of results or summary");
        return pr_hint(err, "'prony run' says where it put its results");
    }
    if (suite_asked(c) || is_suite(c->rest[0]))
        return report_suite(c, c->rest[0], err);
    rc = report_folder(c, c->rest[0], format ? format : "text", err);
    return rc || !arg_get(c, A_HTML) ? rc : write_html(c, c->rest[0], err);
}
