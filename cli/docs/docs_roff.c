/* man(7) from plain text. */
#include "cli/docs/docs_roff.h"

#include "base/text.h"
#include "prony_config.h"

#include <ctype.h>
#include <string.h>

/* The code point of a valid sequence of n bytes. */
static unsigned roff_decode_utf8(const char *s, size_t n)
{
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code = (unsigned char)s[0] & first[n];

    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)s[i] & 0x3f);
    return code;
}

/* What groff would turn into a typographic sign, or take for its own. */
static const char *roff_find_escape(char c)
{
    switch (c) {
    case '\\':
        return "\\e";
    case '-':
        return "\\-";
    case '\'':
        return "\\(aq";
    case '"':
        return "\\(dq";
    case '`':
        return "\\(ga";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    default:
        return NULL;
    }
}

static void roff_textn(struct pr_buf *out, const char *s, size_t len)
{
    while (len) {
        size_t n = pr_utf8_len(s, len);
        const char *escape = roff_find_escape(*s);

        if (escape)
            pr_buf_str(out, escape);
        else if (n > 1)
            pr_buf_printf(out, "\\[u%04X]", roff_decode_utf8(s, n));
        else if (n)
            pr_buf_char(out, *s);
        n = n ? n : 1;
        s += n;
        len -= n;
    }
}

void roff_text(struct pr_buf *out, const char *s)
{
    roff_textn(out, s, strlen(s));
}

void roff_bold(struct pr_buf *out, const char *s)
{
    pr_buf_str(out, "\\fB");
    roff_text(out, s);
    pr_buf_str(out, "\\fR");
}

void roff_italic(struct pr_buf *out, const char *s)
{
    pr_buf_str(out, "\\fI");
    roff_text(out, s);
    pr_buf_str(out, "\\fR");
}

void roff_section(struct pr_buf *out, const char *title)
{
    pr_buf_str(out, ".SH ");
    for (; *title; title++)
        pr_buf_char(out, (char)toupper((unsigned char)*title));
    pr_buf_char(out, '\n');
}

void roff_head(struct pr_buf *out, const char *name, const char *section,
               const char *summary)
{
    pr_buf_str(out, ".\\\" Written by \"prony __man\"; do not edit.\n.TH ");
    for (const char *p = name; *p; p++)
        pr_buf_char(out, (char)toupper((unsigned char)*p));
    pr_buf_printf(out,
                  " %s \"\" \"Prony %s\" \"Prony manual\"\n"
                  ".nh\n.ad l\n",
                  section, PR_VERSION);
    roff_section(out, "name");
    roff_text(out, name);
    pr_buf_str(out, " \\- ");
    roff_text(out, summary);
    pr_buf_char(out, '\n');
}

/* A line must not begin with a control character. */
static void roff_guard_line(struct pr_buf *out, char first)
{
    if (first == '.' || first == '\'')
        pr_buf_str(out, "\\&");
}

/* One sentence, `word` in bold. */
static void roff_write_sentence(struct pr_buf *out, const char *s, size_t len)
{
    bool bold = false;

    if (len)
        roff_guard_line(out, s[0] == '`' && len > 1 ? s[1] : s[0]);
    while (len) {
        const char *tick = memchr(s, '`', len);
        size_t n = tick ? (size_t)(tick - s) : len;

        roff_textn(out, s, n);
        if (tick) {
            bold = !bold;
            pr_buf_str(out, bold ? "\\fB" : "\\fR");
            n++;
        }
        s += n;
        len -= n;
    }
    pr_buf_char(out, '\n');
}

void roff_lines(struct pr_buf *out, const char *s, size_t len)
{
    while (len) {
        size_t n = 1;

        while (n < len && !(s[n - 1] == '.' && s[n] == ' '))
            n++;
        roff_write_sentence(out, s, n);
        n += n < len;
        s += n;
        len -= n;
    }
}

void roff_verbatim(struct pr_buf *out, const char *s, size_t len)
{
    pr_buf_str(out, ".PP\n.RS 4\n.nf\n");
    while (len) {
        const char *end = memchr(s, '\n', len);
        size_t n = end ? (size_t)(end - s) : len;
        size_t blanks = strspn(s, " ");

        /* Prose is indented by four, examples by two. */
        blanks = blanks > 4 ? 4 : blanks;
        blanks = blanks < n ? blanks : n;
        if (n > blanks)
            roff_guard_line(out, s[blanks]);
        roff_textn(out, s + blanks, n - blanks);
        pr_buf_char(out, '\n');
        n += end != NULL;
        s += n;
        len -= n;
    }
    pr_buf_str(out, ".fi\n.RE\n");
}

/* Lines from s on that are indented by four. */
static size_t roff_count_indented(const char *s)
{
    const char *p = s;

    while (strncmp(p, "    ", 4) == 0) {
        p += strcspn(p, "\n");
        p += *p == '\n';
    }
    return (size_t)(p - s);
}

void roff_prose(struct pr_buf *out, const char *s)
{
    bool tagged = false;

    while (*s) {
        size_t n = roff_count_indented(s);

        if (n) {
            roff_verbatim(out, s, n);
            s += n;
            continue;
        }
        n = strcspn(s, "\n");
        if (s[0] == '#') {
            pr_buf_str(out, ".SH ");
            roff_textn(out, s + 2, n - 2);
            pr_buf_char(out, '\n');
        } else if (s[0] == '=') {
            pr_buf_str(out, ".TP\n");
            roff_write_sentence(out, s + 2, n - 2);
            tagged = true;
        } else if (n) {
            pr_buf_str(out, tagged ? "" : ".PP\n");
            roff_lines(out, s, n);
            tagged = false;
        }
        s += n;
        s += *s == '\n';
    }
}
