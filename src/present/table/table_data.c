/* Tables for programs: CSV and JSON, with raw numbers. */
#include "base/number.h"
#include "base/text.h"
#include "present/table/table_impl.h"

#include <inttypes.h>
#include <string.h>

/* Control characters other than tab and line end would reach the terminal of
 * whoever looks at the file: they become \x1b and the like. */
static bool table_csv_is_control(const char *p, size_t n)
{
    unsigned char a = (unsigned char)p[0];

    if (n == 1)
        return (a < 0x20 && a != '\t' && a != '\n') || a == 0x7f;
    return n == 2 && a == 0xc2 && (unsigned char)p[1] < 0xa0;
}

static void table_csv_put_field(struct pr_buf *out, const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = pr_utf8_len(s + i, len - i);

        if (!n)
            pr_buf_str(out, "\xef\xbf\xbd");
        else if (table_csv_is_control(s + i, n))
            pr_buf_printf(out, n == 1 ? "\\x%02x" : "\\u%04x",
                          (unsigned char)s[i + n - 1]);
        else if (s[i] == '"')
            pr_buf_str(out, "\"\"");
        else
            pr_buf_add(out, s + i, n);
        i += n ? n : 1;
    }
}

bool pr_table_is_formula(const char *s, size_t len)
{
    return len > 1 && memchr("=+-@\t\r", *s, 6) &&
           pr_decimal_length(s, len) != len;
}

static void table_csv_put_string(struct pr_buf *out, const char *s, size_t len)
{
    bool quote = len && (s[0] == ' ' || s[len - 1] == ' ');

    for (size_t i = 0; i < len && !quote; i++)
        quote = s[i] == ',' || s[i] == '"' || s[i] == '\n' || s[i] == '\r';
    if (quote)
        pr_buf_char(out, '"');
    if (pr_table_is_formula(s, len))
        pr_buf_char(out, '\'');
    table_csv_put_field(out, s, len);
    if (quote)
        pr_buf_char(out, '"');
}

static void table_csv_put_value(struct pr_buf *out, const struct pr_value *v)
{
    if (v->kind == PR_STR)
        table_csv_put_string(out, v->s, v->len);
    else if (v->kind == PR_INT)
        pr_buf_printf(out, "%" PRId64, v->i);
    else if (v->kind == PR_FLOAT)
        pr_float_write_repr(out, v->f);
    else if (v->kind == PR_BOOL)
        pr_buf_str(out, v->b ? "true" : "false");
}

void pr_table_csv(const struct pr_table *t, const struct pr_table_style *style,
                  struct pr_buf *out)
{
    for (size_t c = 0; !style->no_header && c < t->col_count; c++) {
        table_csv_put_string(out, t->cols[c].key, strlen(t->cols[c].key));
        pr_buf_str(out, c + 1 < t->col_count ? "," : "\r\n");
    }
    for (size_t r = 0; r < t->row_count; r++)
        for (size_t c = 0; c < t->col_count; c++) {
            table_csv_put_value(out, pr_table_cell(t, r, c));
            pr_buf_str(out, c + 1 < t->col_count ? "," : "\r\n");
        }
}

static void table_json_add_member(struct pr_json_writer *jb, const char *key,
                                  const struct pr_value *v)
{
    if (v->kind == PR_FLOAT)
        pr_json_put_float(jb, key, v->f); /* leaves infinity out */
    else if (v->kind != PR_NULL)
        pr_json_put_value(jb, key, v);
}

void pr_table_json(const struct pr_table *t, struct pr_json_writer *jb,
                   const char *key)
{
    pr_json_open_array(jb, key);
    for (size_t r = 0; r < t->row_count; r++) {
        pr_json_open_object(jb, NULL);
        for (size_t c = 0; c < t->col_count; c++)
            table_json_add_member(jb, t->cols[c].key, pr_table_cell(t, r, c));
        pr_json_close(jb);
    }
    pr_json_close(jb);
}
