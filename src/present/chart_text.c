/* Text in a chart: harmless to XML, and no wider than its place. Nobody knows
 * the reader's font, so widths are those of an average one. */
#include "present/chart_impl.h"
#include "present/screen.h"

#include <string.h>

#define COLUMN 0.6 /* of the size of the font */

double pr_chart_text_width(const char *s, double size)
{
    PR_AUTO_BUF struct pr_buf clean = PR_BUF_INIT(1 << 20);

    pr_screen_clean(&clean, s, strlen(s));
    if (!pr_buf_ok(&clean) || !clean.len)
        return 0;
    return (double)pr_screen_columns(clean.data, clean.len) * COLUMN * size;
}

/* U+FFFE and U+FFFF are UTF-8, but XML does not know them. */
static bool is_no_character(const char *s)
{
    return memcmp(s, "\xef\xbf", 2) == 0 &&
           ((unsigned char)s[2] == 0xbe || (unsigned char)s[2] == 0xbf);
}

static void escape_clean(struct pr_buf *out, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        switch (s[i]) {
        case '&':
            pr_buf_str(out, "&amp;");
            break;
        case '<':
            pr_buf_str(out, "&lt;");
            break;
        case '>':
            pr_buf_str(out, "&gt;");
            break;
        case '"':
            pr_buf_str(out, "&quot;");
            break;
        case '\xef':
            if (i + 2 < len && is_no_character(s + i)) {
                pr_buf_str(out, "\xef\xbf\xbd");
                i += 2;
                break;
            }
            /* fall through */
        default:
            pr_buf_char(out, s[i]);
        }
    }
}

void pr_chart_escape(struct pr_buf *out, const char *s)
{
    PR_AUTO_BUF struct pr_buf clean = PR_BUF_INIT(1 << 20);

    pr_screen_clean(&clean, s, strlen(s));
    if (pr_buf_ok(&clean))
        escape_clean(out, clean.data, clean.len);
    else
        out->failed = true;
}

void pr_chart_escape_cut(struct pr_buf *out, const char *s, double size,
                         double room)
{
    PR_AUTO_BUF struct pr_buf clean = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf cut = PR_BUF_INIT(1 << 20);
    double columns = room / (COLUMN * size);

    pr_screen_clean(&clean, s, strlen(s));
    if (pr_buf_ok(&clean) && clean.len)
        pr_screen_cut(&cut, clean.data, clean.len,
                      columns < 1 ? 1 : (size_t)columns, false);
    if (!pr_buf_ok(&clean) || !pr_buf_ok(&cut))
        out->failed = true;
    else if (cut.len)
        escape_clean(out, cut.data, cut.len);
}
