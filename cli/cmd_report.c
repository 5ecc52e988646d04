/* `prony report`: the results of a run, an experiment, a suite, or DLIO. */
#include "cli/report.h"
#include "cli/suite_report.h"
#include "present/html/html.h"
#include "prony_config.h"

#include <unistd.h>

/* Options of suites want a suite, whatever the folder looks like. */
static int report_suite(struct cli *c, const char *path, struct pr_err *err)
{
    struct suite_ask ask;
    int rc = suite_ask_read(c, path, &ask, err);

    return rc ? rc : suite_report(c, &ask, err);
}

/* Where the records of ours are: of what dlio_benchmark made, beside DLIO's.
 * NULL: there are none, or out of memory. */
static const char *run_of(struct cli *c, const char *dir)
{
    static const char *const places[] = {"", "/prony"};

    for (size_t i = 0; i < 2; i++) {
        const char *at = pr_arena_printf(c->arena, "%s%s", dir, places[i]);
        const char *plan =
            at ? pr_arena_printf(c->arena, "%s/plan.json", at) : NULL;

        if (plan && access(plan, F_OK) == 0)
            return at;
    }
    return NULL;
}

static int write_run_html(struct cli *c, const char *dir, struct pr_err *err)
{
    struct pr_html_about about = {.version = PR_VERSION};

    about.dir = run_of(c, dir);
    if (!about.dir) {
        pr_fail(err, PR_E_USAGE, "--html", "'%s' is not a run directory", dir);
        return pr_hint(err, "pages are made of run directories, suites and "
                            "summaries");
    }
    return pr_html_run(about.dir, arg_get(c, A_TITLE), &about,
                       arg_get(c, A_HTML), err);
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
    if (has_suite_options(c) || is_suite_path(c->rest[0]))
        return report_suite(c, c->rest[0], err);
    rc = report_folder(c, c->rest[0], format ? format : "text", err);
    if (!rc && arg_get(c, A_HTML))
        rc = write_run_html(c, c->rest[0], err);
    return rc || !arg_on(c, A_STRICT) ? rc : report_strict(c, c->rest[0], err);
}
