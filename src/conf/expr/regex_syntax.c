/*
 * From Python's pattern to PCRE2's. They agree on nearly everything; what
 * differs is rewritten (\Z, \v, \uXXXX, {,n}, [ in a class), and what only
 * PCRE2 knows is refused as Python refuses it: (*VERB), (?R), \K, \Q and so
 * on, some of which would get around our limits.
 */
#include "base/text.h"
#include "conf/expr/regex_internal.h"

#include <string.h>

struct scan {
    const char *text, *p, *end;
    struct pr_buf *out;
    struct pr_err *err;
};

static int regex_fail_syntax(struct scan *s, const char *what)
{
    return pr_fail(s->err, PR_E_CONF, "",
                   "bad regular expression near character %zu: %s",
                   (size_t)(s->p - s->text) + 1, what);
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* \xhh, \uhhhh, \Uhhhhhhhh: exactly so many digits. */
static int regex_translate_code(struct scan *s, int digits)
{
    for (int i = 0; i < digits; i++)
        if (s->end - s->p < 3 + i || !is_hex(s->p[2 + i]))
            return regex_fail_syntax(s, "incomplete \\x, \\u or \\U");
    pr_buf_printf(s->out, "\\x{%.*s}", digits, s->p + 2);
    s->p += 2 + digits;
    return PR_OK;
}

static int regex_translate_escape(struct scan *s, bool in_class)
{
    char c;

    if (s->end - s->p < 2)
        return regex_fail_syntax(s, "a backslash at the end");
    c = s->p[1];
    if (c == 'x' || c == 'u' || c == 'U')
        return regex_translate_code(s, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    if (((c | 32) >= 'a' && (c | 32) <= 'z') &&
        !strchr(in_class ? "bdDsSwWafnrtv" : "AbBdDsSwWZafnrtv", c))
        return regex_fail_syntax(s, "unknown escape");
    if (c == 'Z')
        pr_buf_str(s->out, "\\z");
    else if (c == 'v')
        pr_buf_str(s->out, "\\x0b");
    else
        pr_buf_add(s->out, s->p, 2);
    s->p += 2;
    return PR_OK;
}

static int regex_translate_class(struct scan *s)
{
    pr_buf_char(s->out, *s->p++);
    if (s->p < s->end && *s->p == '^')
        pr_buf_char(s->out, *s->p++);
    if (s->p < s->end && *s->p == ']') {
        pr_buf_str(s->out, "\\]");
        s->p++;
    }
    while (s->p < s->end && *s->p != ']') {
        /* [: and the like are nothing special in Python. */
        if (*s->p == '[' || *s->p == ':' || *s->p == '.' || *s->p == '=') {
            pr_buf_printf(s->out, "\\%c", *s->p++);
        } else if (*s->p == '\\') {
            int r = regex_translate_escape(s, true);
            if (r != PR_OK)
                return r;
        } else {
            pr_buf_char(s->out, *s->p++);
        }
    }
    if (s->p == s->end)
        return regex_fail_syntax(s, "unterminated character set");
    pr_buf_char(s->out, *s->p++);
    return PR_OK;
}

/* (?#...): left out. */
static int regex_skip_comment(struct scan *s)
{
    const char *close = memchr(s->p, ')', (size_t)(s->end - s->p));

    if (!close)
        return regex_fail_syntax(s, "missing ), unterminated comment");
    s->p = close + 1;
    return PR_OK;
}

/* (?i), (?i:...), (?-i:...): 'u' is how we match anyway. */
static int regex_translate_flags(struct scan *s)
{
    const char *p = s->p + 2;

    pr_buf_str(s->out, "(?");
    for (; p < s->end && *p != ')' && *p != ':'; p++) {
        if (!strchr("imsxu-", *p) || !*p)
            return regex_fail_syntax(s, "unknown extension after (?");
        if (*p != 'u')
            pr_buf_char(s->out, *p);
    }
    if (p == s->end)
        return regex_fail_syntax(s, "missing )");
    pr_buf_char(s->out, *p);
    s->p = p + 1;
    return PR_OK;
}

static int regex_translate_group(struct scan *s)
{
    size_t left = (size_t)(s->end - s->p);

    if (left > 1 && s->p[1] == '*')
        return regex_fail_syntax(s, "nothing to repeat");
    if (left < 2 || s->p[1] != '?') {
        pr_buf_char(s->out, *s->p++);
        return PR_OK;
    }
    if (left < 3)
        return regex_fail_syntax(s, "unexpected end of pattern");
    if (s->p[2] == '#')
        return regex_skip_comment(s);
    if (strchr("imsxu-", s->p[2]))
        return regex_translate_flags(s);
    if ((s->p[2] == 'P' && (left < 4 || !strchr("<=", s->p[3]))) ||
        (s->p[2] == '<' && (left < 4 || !strchr("=!", s->p[3]))))
        return regex_fail_syntax(s, "unknown extension after (?");
    if (s->p[2] == '(' && left > 3 && (s->p[3] == 'R' || s->p[3] == '?'))
        return regex_fail_syntax(s, "bad group after (?(");
    if (!strchr(":=!<>P(", s->p[2]))
        return regex_fail_syntax(s, "unknown extension after (?");
    /* '(?(' whole, or the condition would be taken for a group. */
    pr_buf_add(s->out, s->p, 3);
    s->p += 3;
    return PR_OK;
}

/* {,n} is {0,n} in Python. */
static void regex_translate_brace(struct scan *s)
{
    const char *p = s->p + 1;

    pr_buf_char(s->out, '{');
    if (p < s->end && *p == ',') {
        const char *q = p + 1;
        while (q < s->end && *q >= '0' && *q <= '9')
            q++;
        if (q < s->end && *q == '}')
            pr_buf_char(s->out, '0');
    }
    s->p++;
}

static int regex_translate_item(struct scan *s)
{
    switch (*s->p) {
    case '\\':
        return regex_translate_escape(s, false);
    case '[':
        return regex_translate_class(s);
    case '(':
        return regex_translate_group(s);
    case '{':
        regex_translate_brace(s);
        return PR_OK;
    default:
        pr_buf_char(s->out, *s->p++);
        return PR_OK;
    }
}

static bool valid_utf8(const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = pr_utf8_len(s + i, len - i);
        if (!n)
            return false;
        i += n;
    }
    return true;
}

int pr_regex_translate(const char *pattern, size_t len, struct pr_buf *out,
                       bool *ret_utf8, struct pr_err *err)
{
    struct scan s = {pattern, pattern, pattern + len, out, err};

    if (len > out->max / 8)
        return pr_fail(err, PR_E_CONF, "",
                       "the regular expression is too long");
    *ret_utf8 = valid_utf8(pattern, len);
    while (s.p < s.end) {
        int r = regex_translate_item(&s);
        if (r != PR_OK)
            return r;
    }
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}
