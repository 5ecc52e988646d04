/* Values to JSON text. */
#include "base/json.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

static void escape(struct pr_buf *out, unsigned char c)
{
    static const char letters[] = "btn\vfr";

    if (c == '"' || c == '\\')
        pr_buf_printf(out, "\\%c", c);
    else if (c >= '\b' && c <= '\r' && c != '\v')
        pr_buf_printf(out, "\\%c", letters[c - '\b']);
    else
        pr_buf_printf(out, "\\u%04x", c);
}

void pr_json_string(struct pr_buf *out, const char *s, size_t len)
{
    size_t start = 0, i = 0;

    pr_buf_char(out, '"');
    while (i < len) {
        unsigned char c = (unsigned char)s[i];
        size_t n;

        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            i++;
            continue;
        }
        n = pr_utf8_len(s + i, len - i);
        if (n > 1) {
            i += n;
            continue;
        }
        pr_buf_add(out, s + start, i - start);
        if (n)
            escape(out, c);
        else
            pr_buf_str(out, "\xef\xbf\xbd"); /* U+FFFD, not a stray byte */
        start = ++i;
    }
    pr_buf_add(out, s + start, len - start);
    pr_buf_char(out, '"');
}

static void number(struct pr_buf *out, double f)
{
    if (isnan(f))
        pr_buf_str(out, "NaN");
    else if (isinf(f))
        pr_buf_str(out, f < 0 ? "-Infinity" : "Infinity");
    else
        pr_float_text(out, f);
}

static void integer(struct pr_buf *out, int64_t i)
{
    char digits[24];
    char *p = digits + sizeof digits;
    uint64_t n = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;

    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    if (i < 0)
        *--p = '-';
    pr_buf_add(out, p, (size_t)(digits + sizeof digits - p));
}

/* What stands between items: a blank, or a new line and the indent. */
static void gap(struct pr_buf *out, unsigned indent, unsigned depth)
{
    if (!indent)
        return;
    pr_buf_char(out, '\n');
    for (unsigned i = 0; i < indent * depth; i++)
        pr_buf_char(out, ' ');
}

static void write_value(struct pr_buf *out, const struct pr_value *v,
                        unsigned indent, unsigned depth)
{
    const char *open = v->kind == PR_LIST ? "[" : "{";
    const char *close = v->kind == PR_LIST ? "]" : "}";

    switch (v->kind) {
    case PR_NULL:
        pr_buf_str(out, "null");
        return;
    case PR_BOOL:
        pr_buf_str(out, v->b ? "true" : "false");
        return;
    case PR_INT:
        integer(out, v->i);
        return;
    case PR_FLOAT:
        number(out, v->f);
        return;
    case PR_STR:
        pr_json_string(out, v->s, v->len);
        return;
    case PR_LIST:
    case PR_MAP:
        break;
    }
    pr_buf_str(out, open);
    for (uint32_t i = 0; i < v->len; i++) {
        if (i)
            pr_buf_str(out, indent ? "," : ", ");
        gap(out, indent, depth + 1);
        if (v->kind == PR_MAP) {
            pr_json_string(out, v->members[i].key, v->members[i].key_len);
            pr_buf_str(out, ": ");
            write_value(out, &v->members[i].value, indent, depth + 1);
        } else {
            write_value(out, &v->items[i], indent, depth + 1);
        }
    }
    if (v->len)
        gap(out, indent, depth);
    pr_buf_str(out, close);
}

void pr_json_write(struct pr_buf *out, const struct pr_value *v)
{
    write_value(out, v, 0, 0);
}

void pr_json_write_indented(struct pr_buf *out, const struct pr_value *v,
                            unsigned indent, unsigned depth)
{
    write_value(out, v, indent, depth);
}
