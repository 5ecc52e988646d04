/* Tables as HTML: one element, class "sort", for a page that has a style. */
#include "present/html/html_escape.h"
#include "present/table/table_impl.h"

#include <string.h>

#define NOTHING "–"

static const char *table_html_class(const struct pr_table_column *c,
                                    const char *text)
{
    if (c->kind != PR_COL_STATUS)
        return pr_table_column_is_right(c) ? "" : " class=\"text\"";
    if (strcmp(text, NOTHING) == 0 || strcmp(text, "skipped") == 0)
        return " class=\"text\"";
    return strcmp(text, "ok") == 0 ? " class=\"text good\""
                                   : " class=\"text bad\"";
}

static void table_html_put_cell(const struct pr_table *t, size_t row,
                                size_t col, const struct pr_table_look *look,
                                struct pr_buf *text, struct pr_buf *out)
{
    pr_buf_clear(text);
    pr_table_cell_text(t, row, col, look, false, text);
    out->failed |= !pr_buf_ok(text);
    if (!text->len)
        pr_buf_str(text, NOTHING);
    if (!text->data)
        return;
    if (col)
        pr_buf_printf(out, "<td%s>",
                      table_html_class(&t->cols[col], text->data));
    else
        pr_buf_str(out, "<th scope=\"row\">");
    pr_html_escape(out, text->data, text->len);
    pr_buf_str(out, col ? "</td>" : "</th>");
}

static void table_html_put_heads(const struct pr_table *t,
                                 const struct pr_table_look *looks,
                                 struct pr_buf *out)
{
    pr_buf_str(out, "<thead><tr>");
    for (size_t c = 0; c < t->col_count; c++) {
        pr_buf_str(out, pr_table_column_is_right(&t->cols[c])
                            ? "<th scope=\"col\">"
                            : "<th scope=\"col\" class=\"text\">");
        pr_html_escape(out, looks[c].header, strlen(looks[c].header));
        pr_buf_str(out, "</th>");
    }
    pr_buf_str(out, "</tr></thead>\n");
}

int pr_table_html(const struct pr_table *t, struct pr_buf *out,
                  struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);
    struct pr_table_look *looks =
        a ? PR_ARENA_ARRAY(a, struct pr_table_look, t->col_count) : NULL;

    if (!looks)
        return pr_fail_nomem(err);
    for (size_t c = 0; c < t->col_count; c++)
        pr_table_look(t, c, false, &looks[c]);
    pr_buf_str(out, "<table class=\"sort\">\n");
    table_html_put_heads(t, looks, out);
    pr_buf_str(out, "<tbody>\n");
    for (size_t r = 0; r < t->row_count; r++) {
        pr_buf_str(out, "<tr>");
        for (size_t c = 0; c < t->col_count; c++)
            table_html_put_cell(t, r, c, &looks[c], &text, out);
        pr_buf_str(out, "</tr>\n");
    }
    pr_buf_str(out, "</tbody></table>\n");
    return PR_OK;
}
