/* Showing runs: tables, the JSON document, the live line. */
#include "cli/report.h"

#include "present/report/report_experiment.h"
#include "present/report/report_mlperf.h"
#include "present/report/report_run.h"

#include <string.h>
#include <unistd.h>

enum { MAX_VERDICTS = 20, MAX_JUDGED = 3 };

enum pr_table_format report_format(const char *name)
{
    static const char *const names[] = {
        [PR_TABLE_TEXT] = "text",
        [PR_TABLE_CSV] = "csv",
        [PR_TABLE_JSON] = "json",
        [PR_TABLE_MARKDOWN] = "md",
    };

    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum pr_table_format)i;
    return PR_TABLE_TEXT;
}

int report_table(struct cli *c, const char *dir, const char *format,
                 uint64_t max_rows, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1u << 30);
    enum pr_table_format f = report_format(format);
    struct pr_table_style style = {.width = stdout_width(),
                                   .colour = stdout_colour(c)};
    struct pr_run_columns found;
    int rc = pr_run_table(dir, f, &style, max_rows, &text, &found, err);

    if (rc)
        return rc;
    if (f == PR_TABLE_TEXT) {
        pr_buf_char(&text, '\n');
        pr_run_counts(&found, &text);
        rc = pr_emulate_verdicts(dir, MAX_VERDICTS, &text, err);
        if (!rc)
            rc = pr_run_warnings(dir, MAX_VERDICTS, &text, err);
        if (!rc)
            rc = pr_mlperf_run_text(dir, MAX_JUDGED, f, &style, &text, err);
    }
    return rc ? rc : answer_print_buf(&text, err);
}

static int report_to_stdout(void *ctx, const char *data, size_t len,
                            struct pr_err *err)
{
    (void)ctx;
    return answer_print(data, len, err);
}

int report_run_json(const char *dir, struct pr_err *err)
{
    return pr_run_json(dir, report_to_stdout, NULL, err);
}

struct pr_live_line *live_new(const struct cli *c, const char *unit)
{
    static const char *const names[] = {
        [PR_LIVE_AUTO] = "auto",   [PR_LIVE_ALWAYS] = "always",
        [PR_LIVE_NEVER] = "never", [PR_LIVE_JSON] = "json",
        [PR_LIVE_PLAIN] = "plain",
    };
    const char *how = arg_get(c, A_PROGRESS);
    struct pr_live_opts opts = {.fd = STDERR_FILENO, .unit = unit};

    for (int i = 0; how && i < 5; i++)
        if (strcmp(how, names[i]) == 0)
            opts.mode = (enum pr_live_mode)i;
    if (!how && message_level() < SAY_INFO)
        opts.mode = PR_LIVE_NEVER;
    return pr_live_new(&opts);
}
