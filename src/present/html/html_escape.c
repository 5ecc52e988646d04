/* Text for HTML. */
#include "present/html/html_escape.h"

#include "base/text.h"

#include <stdbool.h>

static void html_escape_marks(struct pr_buf *out, const char *s, size_t len)
{
    size_t start = 0;

    for (size_t i = 0; i < len; i++) {
        const char *with = s[i] == '&'    ? "&amp;"
                           : s[i] == '<'  ? "&lt;"
                           : s[i] == '>'  ? "&gt;"
                           : s[i] == '"'  ? "&quot;"
                           : s[i] == '\'' ? "&#39;"
                                          : NULL;
        if (!with)
            continue;
        pr_buf_add(out, s + start, i - start);
        pr_buf_str(out, with);
        start = i + 1;
    }
    pr_buf_add(out, s + start, len - start);
}

/* What HTML does not allow even as text: U+FFFE, U+FFFF and their like. */
static bool is_noncharacter(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;

    if (n == 3 && p[0] == 0xef)
        return (p[1] == 0xbf && p[2] >= 0xbe) ||
               (p[1] == 0xb7 && p[2] >= 0x90 && p[2] <= 0xaf);
    return n == 4 && (p[1] & 0x0f) == 0x0f && p[2] == 0xbf && p[3] >= 0xbe;
}

void pr_html_escape(struct pr_buf *out, const char *s, size_t len)
{
    size_t start = 0;

    for (size_t i = 0; i < len;) {
        size_t n = pr_utf8_len(s + i, len - i);

        n = n ? n : 1;
        if (n > 2 && is_noncharacter(s + i, n)) {
            html_escape_marks(out, s + start, i - start);
            pr_buf_str(out, "\xef\xbf\xbd");
            start = i + n;
        }
        i += n;
    }
    html_escape_marks(out, s + start, len - start);
}
