/* At the top of the page of a run that has not come to its end. */
#include "present/html/html_impl.h"
#include "present/report/unfinished_text.h"

void pr_html_unfinished(struct pr_html *h, const struct pr_run_unfinished *u)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

    if (!u->missing)
        return;
    pr_html_raw(h, "<p class=\"bad\">");
    pr_html_raw(h, u->running ? "The run still goes on: "
                              : "The run was interrupted: ");
    pr_unfinished_text(u, &text);
    pr_html_text(h, pr_buf_ok(&text) ? text.data : "something is missing");
    pr_html_raw(h, u->running ? ".</p>\n"
                              : ". <code>prony run --resume DIR</code> goes "
                                "on.</p>\n");
}
