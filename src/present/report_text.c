/* Titles and headings, as text or Markdown. */
#include "present/report_text.h"

#include "present/results_each.h"
#include "present/screen.h"

#include <string.h>

void pr_report_title(struct pr_buf *out, enum pr_table_format format,
                     const char *id, const struct pr_value *results)
{
    const char *verdict = pr_results_verdict(results);

    if (format == PR_TABLE_MARKDOWN)
        pr_buf_str(out, "## ");
    pr_screen_clean(out, id, strlen(id));
    if (verdict) {
        pr_buf_str(out, ": ");
        pr_screen_clean(out, verdict, strlen(verdict));
    }
    pr_buf_char(out, '\n');
}

void pr_report_heading(struct pr_buf *out, enum pr_table_format format,
                       const char *text)
{
    pr_buf_printf(out, format == PR_TABLE_MARKDOWN ? "\n**%s**\n\n" : "\n%s\n",
                  text);
}
