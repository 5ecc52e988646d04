/* The values of TOML: strings, numbers, arrays, inline tables. */
#include "base/text.h"
#include "conf/read/toml_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STRING = 16 << 20 };

/* ---- strings */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \uXXXX or \UXXXXXXXX; the cursor is after the letter. */
static int toml_read_code_point(struct pr_toml *t, int digits,
                                struct pr_buf *out)
{
    unsigned code = 0;
    char bytes[4];

    for (int i = 0; i < digits; i++, t->p++) {
        int d = t->p < t->end ? hex_digit(*t->p) : -1;
        if (d < 0)
            return pr_toml_fail(t, "expected %d hexadecimal digits", digits);
        code = code << 4 | (unsigned)d;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return pr_toml_fail(t, "no such character");
    pr_buf_add(out, bytes, pr_utf8_put(bytes, code));
    return PR_OK;
}

/* A backslash at the end of a line takes the blanks of the next ones away. */
static bool skip_line_end(struct pr_toml *t)
{
    const char *p = t->p + strspn(t->p, " \t\r");

    if (p >= t->end || *p != '\n')
        return false;
    for (; t->p < t->end && *t->p && strchr(" \t\r\n", *t->p); t->p++)
        if (*t->p == '\n') {
            t->line++;
            t->line_start = t->p + 1;
        }
    return true;
}

static int toml_read_escape(struct pr_toml *t, bool many, struct pr_buf *out)
{
    static const char from[] = "btnfre\"\\", to[] = "\b\t\n\f\r\033\"\\";
    const char *at;

    t->p++;
    if (t->p == t->end)
        return pr_toml_fail(t, "the text does not end");
    if (many && skip_line_end(t))
        return PR_OK;
    if (*t->p == 'u' || *t->p == 'U') {
        int digits = *t->p++ == 'u' ? 4 : 8;
        return toml_read_code_point(t, digits, out);
    }
    at = *t->p ? strchr(from, *t->p) : NULL;
    if (!at)
        return pr_toml_fail(t, "unknown escape '\\%c'",
                            *t->p > ' ' && *t->p < 127 ? *t->p : '?');
    pr_buf_char(out, to[at - from]);
    t->p++;
    return PR_OK;
}

/* Whether the text ends here; of more than three quotes the first ones belong
 * to it. */
static bool at_close(const struct pr_toml *t, char quote, bool many)
{
    if (*t->p != quote)
        return false;
    if (!many)
        return true;
    return t->end - t->p >= 3 && t->p[1] == quote && t->p[2] == quote &&
           (t->end - t->p == 3 || t->p[3] != quote);
}

static int put_plain(struct pr_toml *t, bool many, struct pr_buf *out)
{
    size_t n = pr_utf8_len(t->p, (size_t)(t->end - t->p));
    unsigned char c = (unsigned char)*t->p;

    if (c == '\n' && many) {
        t->line++;
        t->line_start = t->p + 1;
    } else if (c == '\n')
        return pr_toml_fail(t, "the text does not end on this line");
    else if ((c < ' ' && c != '\t' && c != '\r') || c == 127)
        return pr_toml_fail(t, "a control character in text");
    if (!n)
        return pr_toml_fail(t, "text that is not UTF-8");
    pr_buf_add(out, t->p, n);
    t->p += n;
    return PR_OK;
}

static int toml_read_text(struct pr_toml *t, char quote, bool many,
                          struct pr_buf *out)
{
    while (t->p < t->end) {
        int rc;

        if (at_close(t, quote, many)) {
            t->p += many ? 3 : 1;
            return PR_OK;
        }
        rc = quote == '"' && *t->p == '\\' ? toml_read_escape(t, many, out)
                                           : put_plain(t, many, out);
        if (rc)
            return rc;
    }
    return pr_toml_fail(t, "the text does not end");
}

static void skip_first_line_end(struct pr_toml *t)
{
    if (t->p < t->end && *t->p == '\r')
        t->p++;
    if (t->p < t->end && *t->p == '\n') {
        t->line_start = ++t->p;
        t->line++;
    }
}

int pr_toml_read_string(struct pr_toml *t, const char **ret, uint32_t *ret_len)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(MAX_STRING);
    char quote = *t->p;
    bool many = t->end - t->p >= 3 && t->p[1] == quote && t->p[2] == quote;
    int rc;

    t->p += many ? 3 : 1;
    if (many)
        skip_first_line_end(t);
    rc = toml_read_text(t, quote, many, &out);
    if (rc)
        return rc;
    if (!pr_buf_ok(&out))
        return out.over ? pr_toml_fail(t, "the text is too long")
                        : pr_fail_nomem(t->err);
    *ret = pr_arena_copy(t->arena, out.data ? out.data : "", out.len);
    *ret_len = (uint32_t)out.len;
    return *ret ? PR_OK : pr_fail_nomem(t->err);
}

/* ---- numbers, words, dates */

static bool has_date(const char *s)
{
    size_t n = strspn(s, "0123456789");

    return (n == 4 && s[4] == '-') || (n == 2 && s[2] == ':');
}

/* 1_000 has its digits on both sides of each '_'. */
static bool without_underscores(const char *from, char *to)
{
    for (const char *p = from; *p; p++) {
        if (*p != '_')
            *to++ = *p;
        else if (p == from || hex_digit(p[-1]) < 0 || hex_digit(p[1]) < 0)
            return false;
    }
    *to = '\0';
    return true;
}

static bool toml_has_only(const char *s, const char *chars)
{
    return *s && s[strspn(s, chars)] == '\0';
}

static bool toml_read_int(const char *s, struct pr_value *ret)
{
    const char *digits = s + (*s == '+' || *s == '-');
    int base = 10;
    char *end;

    if (*s == '0' && s[1] && strchr("xob", s[1])) {
        base = s[1] == 'x' ? 16 : s[1] == 'o' ? 8 : 2;
        digits = s += 2;
    } else if (*digits == '0' && digits[1])
        return false; /* 007 */
    if (!toml_has_only(digits, base == 16  ? "0123456789abcdefABCDEF"
                               : base == 8 ? "01234567"
                               : base == 2 ? "01"
                                           : "0123456789"))
        return false;
    errno = 0;
    *ret = pr_int(strtoll(s, &end, base));
    return !errno && !*end;
}

static bool toml_read_float(const char *s, struct pr_value *ret)
{
    const char *p = s + (*s == '+' || *s == '-');
    char *end;

    if (strcmp(p, "inf") == 0 || strcmp(p, "nan") == 0) {
        double v = *p == 'i' ? HUGE_VAL : NAN;
        *ret = pr_float(*s == '-' ? -v : v);
        return true;
    }
    if (!toml_has_only(p, "0123456789.eE+-") || !strpbrk(p, ".eE") ||
        *p < '0' || *p > '9' || (*p == '0' && p[1] >= '0' && p[1] <= '9'))
        return false;
    *ret = pr_float(strtod(s, &end));
    return !*end && end[-1] != '.' && !strstr(s, ".e") && !strstr(s, ".E");
}

static int read_word(struct pr_toml *t, struct pr_value *ret)
{
    size_t n = strcspn(t->p, ",]}# \t\r\n");
    char word[128], plain[128];

    if (n > (size_t)(t->end - t->p))
        n = (size_t)(t->end - t->p);
    /* A blank between date and time belongs to both. */
    if (n == 10 && has_date(t->p) && t->p[10] == ' ' && has_date(t->p + 11))
        n += 1 + strcspn(t->p + 11, ",]}# \t\r\n");
    if (!n || n >= sizeof word)
        return pr_toml_fail(t, "expected a value");
    memcpy(word, t->p, n);
    word[n] = '\0';
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
        *ret = pr_bool(*word == 't');
    } else if (has_date(word)) {
        const char *copy = pr_arena_copy(t->arena, word, n);
        if (!copy)
            return pr_fail_nomem(t->err);
        *ret = pr_strn(copy, n);
    } else if (!without_underscores(word, plain) ||
               (!toml_read_int(plain, ret) && !toml_read_float(plain, ret))) {
        (void)pr_toml_fail(t, "expected a value");
        return pr_hint(t->err, "text needs quotes");
    }
    t->p += n;
    return PR_OK;
}

/* ---- arrays and inline tables */

static int toml_read_array(struct pr_toml *t, struct pr_value *ret)
{
    struct pr_value *items = NULL;
    size_t n = 0, cap = 0;

    for (t->p++;; t->p++) {
        int rc;

        pr_toml_skip_blanks(t, true);
        if (t->p < t->end && *t->p == ']')
            break;
        items = pr_arena_grow(t->arena, items, n, &cap, sizeof *items);
        if (!items)
            return pr_fail_nomem(t->err);
        rc = pr_toml_read_value(t, &items[n]);
        if (rc)
            return rc;
        n++;
        pr_toml_skip_blanks(t, true);
        if (t->p < t->end && *t->p == ']')
            break;
        if (t->p == t->end || *t->p != ',')
            return pr_toml_fail(t, "expected ',' or ']'");
    }
    t->p++;
    *ret =
        (struct pr_value){.kind = PR_LIST, .len = (uint32_t)n, .items = items};
    return PR_OK;
}

static int read_inline(struct pr_toml *t, struct pr_value *ret)
{
    struct pr_toml_table table = {.closed = true};
    int rc = PR_OK;

    for (t->p++; !rc; t->p++) {
        pr_toml_skip_blanks(t, false);
        if (t->p < t->end && *t->p == '}')
            break;
        rc = pr_toml_read_assignment(t, &table);
        pr_toml_skip_blanks(t, false);
        if (rc || (t->p < t->end && *t->p == '}'))
            break;
        if (t->p == t->end || *t->p != ',')
            return pr_toml_fail(t, "expected ',' or '}'");
    }
    if (rc)
        return rc;
    t->p++;
    return pr_toml_make_map(t, &table, 0, ret);
}

int pr_toml_read_value(struct pr_toml *t, struct pr_value *ret)
{
    uint32_t line = t->line, col = pr_toml_column(t, t->p);
    int rc;

    if (t->p == t->end)
        return pr_toml_fail(t, "expected a value");
    if (++t->depth > PR_TOML_DEPTH)
        return pr_toml_fail(t, "values are nested too deeply");
    if (*t->p == '"' || *t->p == '\'') {
        ret->kind = PR_STR;
        rc = pr_toml_read_string(t, &ret->s, &ret->len);
    } else
        rc = *t->p == '['   ? toml_read_array(t, ret)
             : *t->p == '{' ? read_inline(t, ret)
                            : read_word(t, ret);
    t->depth--;
    ret->line = line;
    ret->col = col;
    return rc;
}
