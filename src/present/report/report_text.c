/* Titles and headings, as text or Markdown. */
#include "present/report/report_text.h"

#include "base/units.h"
#include "present/report/results_each.h"
#include "present/screen.h"

#include <string.h>

void pr_report_title(struct pr_buf *out, enum pr_table_format format,
                     const char *id, const struct pr_value *results)
{
    const char *verdict = pr_run_result_verdict(results);

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

void pr_report_slowest(struct pr_buf *out, enum pr_table_format format,
                       const char *what, const struct pr_value *results,
                       const char *const names[4])
{
    enum { MEAN, P50, P99, MAX };
    char text[4][24];
    double s[4];

    for (int i = 0; i < 4; i++) {
        const struct pr_value *v = pr_get(results, names[i]);

        if (!v || !pr_value_is_number(v))
            return;
        s[i] = pr_value_number(v) / 1e3;
        pr_format_seconds(text[i], s[i]);
    }
    if (s[P99] < s[MEAN])
        pr_buf_printf(out, "%s%s: mean %s, above p99; median %s, slowest %s\n",
                      format == PR_TABLE_MARKDOWN ? "\n" : "", what, text[MEAN],
                      text[P50], text[MAX]);
}
