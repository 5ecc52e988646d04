/* A run that was stopped, or still goes on: its report says so. */
#include "cli/suite_report.h"
#include "present/report/report_suite_json.h"
#include "present/screen.h"

void print_unfinished(const char *path, const struct pr_run_unfinished *u)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    PR_AUTO_BUF struct pr_buf safe = PR_BUF_INIT(1 << 17);

    if (!u->missing)
        return;
    pr_buf_str(&text, u->running ? "the run still goes on: "
                                 : "the run was interrupted: ");
    pr_unfinished_text(u, &text);
    if (!pr_buf_ok(&text))
        return;
    pr_screen_clean(&safe, text.data, text.len);
    if (pr_buf_ok(&safe))
        message_print_warning(path, safe.data,
                              u->running ? ""
                                         : "'prony run --resume DIR' goes on");
}
