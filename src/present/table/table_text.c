/* Tables for people: aligned text, and Markdown. */
#include "base/mem.h"
#include "present/screen.h"
#include "present/table/table_impl.h"

#include <string.h>

enum { GAP = 2, LEAST_WIDTH = 6 };

static const char missing[] = "-";

struct column_layout {
    struct pr_table_look look;
    size_t width;
};

static void table_text_format_cell(const struct pr_table *t, size_t row,
                                   size_t col, const struct pr_table_look *look,
                                   bool ascii, struct pr_buf *out)
{
    pr_buf_clear(out);
    pr_table_cell_text(t, row, col, look, ascii, out);
    if (!out->len)
        pr_buf_str(out, missing);
}

static void table_text_measure_columns(const struct pr_table *t,
                                       const struct pr_table_style *style,
                                       struct column_layout *l,
                                       struct pr_buf *scratch)
{
    for (size_t c = 0; c < t->col_count; c++) {
        const char *header;

        pr_table_look(t, c, style->ascii, &l[c].look);
        header = style->no_header ? "" : l[c].look.header;
        l[c].width = pr_screen_columns(header, strlen(header));
        for (size_t r = 0; r < t->row_count; r++) {
            size_t w;
            table_text_format_cell(t, r, c, &l[c].look, style->ascii, scratch);
            w = pr_screen_columns(scratch->data ? scratch->data : "",
                                  scratch->len);
            if (w > l[c].width)
                l[c].width = w;
        }
    }
}

/* Takes from the widest column of text, of several the last (names come
 * first), until the line fits or none has anything to give. Numbers are never
 * cut. */
static void table_text_shrink_columns(const struct pr_table *t,
                                      struct column_layout *l, size_t width)
{
    size_t total = GAP * (t->col_count - 1);

    for (size_t c = 0; c < t->col_count; c++)
        total += l[c].width;
    while (total > width) {
        size_t widest = t->col_count;
        for (size_t c = 0; c < t->col_count; c++)
            if (t->cols[c].kind == PR_COL_STR && l[c].width > LEAST_WIDTH &&
                (widest == t->col_count || l[c].width >= l[widest].width))
                widest = c;
        if (widest == t->col_count)
            return;
        l[widest].width--;
        total--;
    }
}

static void table_text_put_blanks(struct pr_buf *out, size_t n)
{
    while (n--)
        pr_buf_char(out, ' ');
}

/* Not the only carrier: the word stays. */
static const char *status_colour(const char *word)
{
    static const char *const colours[][2] = {
        {"ok", "\x1b[32m"},          {"success", "\x1b[32m"},
        {"faster", "\x1b[32m"},      {"failed", "\x1b[31m"},
        {"failure", "\x1b[31m"},     {"timeout", "\x1b[31m"},
        {"oom", "\x1b[31m"},         {"error", "\x1b[31m"},
        {"slower", "\x1b[31m"},      {"missing", "\x1b[31m"},
        {"interrupted", "\x1b[33m"}, {"skipped", "\x1b[33m"},
        {"warning", "\x1b[33m"},     {"running", "\x1b[36m"},
    };

    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (strcmp(word, colours[i][0]) == 0)
            return colours[i][1];
    return NULL;
}

struct line {
    const struct pr_table *t;
    const struct pr_table_style *style;
    const struct column_layout *layout;
    struct pr_buf *out;
};

static void table_text_put_cell(const struct line *p, size_t c,
                                const char *text, size_t len,
                                const char *colour)
{
    size_t width = p->layout[c].width;
    size_t need = pr_screen_columns(text, len);
    size_t blanks = need < width ? width - need : 0;
    bool right = pr_table_column_is_right(&p->t->cols[c]);

    if (c)
        table_text_put_blanks(p->out, GAP);
    if (right)
        table_text_put_blanks(p->out, blanks);
    if (colour)
        pr_buf_str(p->out, colour);
    need = pr_screen_cut(p->out, text, len, width, p->style->ascii);
    if (colour)
        pr_buf_str(p->out, "\x1b[0m");
    if (!right && c + 1 < p->t->col_count)
        table_text_put_blanks(p->out, width - need);
}

static void table_text_put_lines(const struct line *p, struct pr_buf *scratch)
{
    const struct pr_table *t = p->t;

    for (size_t c = 0; !p->style->no_header && c < t->col_count; c++) {
        const char *header = p->layout[c].look.header;
        table_text_put_cell(p, c, header, strlen(header), NULL);
        if (c + 1 == t->col_count)
            pr_buf_char(p->out, '\n');
    }
    for (size_t r = 0; r < t->row_count; r++) {
        for (size_t c = 0; c < t->col_count; c++) {
            const char *colour = NULL;
            table_text_format_cell(t, r, c, &p->layout[c].look, p->style->ascii,
                                   scratch);
            if (!pr_buf_ok(scratch))
                return;
            if (p->style->colour && t->cols[c].kind == PR_COL_STATUS)
                colour = status_colour(scratch->data);
            table_text_put_cell(p, c, scratch->data, scratch->len, colour);
        }
        pr_buf_char(p->out, '\n');
    }
}

/* Says that there is nothing, if the caller has words for it. */
static bool put_empty(const struct pr_table *t,
                      const struct pr_table_style *style, struct pr_buf *out)
{
    if (t->row_count || !style->empty)
        return false;
    pr_buf_str(out, style->empty);
    pr_buf_char(out, '\n');
    return true;
}

int pr_table_text(const struct pr_table *t, const struct pr_table_style *style,
                  struct pr_buf *out, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf scratch = PR_BUF_INIT((size_t)64 << 20);
    struct column_layout *layout;

    if (put_empty(t, style, out))
        return PR_OK;
    layout = pr_alloc(t->col_count * sizeof *layout);
    if (!layout)
        return pr_fail_nomem(err);
    table_text_measure_columns(t, style, layout, &scratch);
    if (style->width)
        table_text_shrink_columns(t, layout, style->width);
    table_text_put_lines(&(struct line){t, style, layout, out}, &scratch);
    pr_free(layout);
    return pr_buf_ok(&scratch) ? PR_OK : pr_fail_nomem(err);
}

static bool is_markdown_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

/* What Markdown or HTML would take for its own gets a backslash; not an
 * underscore inside a word, which means nothing to it. */
static void put_escaped(struct pr_buf *out, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool inside = i && i + 1 < len && is_markdown_word_char(s[i - 1]) &&
                      is_markdown_word_char(s[i + 1]);
        if (strchr("\\|`*<&[]", s[i]) || (s[i] == '_' && !inside))
            pr_buf_char(out, '\\');
        pr_buf_char(out, s[i]);
    }
}

static void put_rule(const struct pr_table *t, struct pr_buf *out)
{
    for (size_t c = 0; c < t->col_count; c++)
        pr_buf_str(out, pr_table_column_is_right(&t->cols[c]) ? "| ---: "
                                                              : "| --- ");
    pr_buf_str(out, "|\n");
}

static void table_markdown_put_cell(struct pr_buf *out, const char *s,
                                    size_t len)
{
    pr_buf_str(out, "| ");
    put_escaped(out, s, len);
    pr_buf_char(out, ' ');
}

static void put_items(const struct line *p, struct pr_buf *scratch)
{
    for (size_t r = 0; r < p->t->row_count; r++) {
        for (size_t c = 0; c < p->t->col_count; c++) {
            table_text_format_cell(p->t, r, c, &p->layout[c].look,
                                   p->style->ascii, scratch);
            if (!pr_buf_ok(scratch))
                return;
            table_markdown_put_cell(p->out, scratch->data, scratch->len);
        }
        pr_buf_str(p->out, "|\n");
    }
}

int pr_table_markdown(const struct pr_table *t,
                      const struct pr_table_style *style, struct pr_buf *out,
                      struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf scratch = PR_BUF_INIT((size_t)64 << 20);
    struct column_layout *layout;

    if (put_empty(t, style, out))
        return PR_OK;
    layout = pr_alloc(t->col_count * sizeof *layout);
    if (!layout)
        return pr_fail_nomem(err);
    for (size_t c = 0; c < t->col_count; c++) {
        pr_table_look(t, c, style->ascii, &layout[c].look);
        table_markdown_put_cell(out, layout[c].look.header,
                                strlen(layout[c].look.header));
    }
    pr_buf_str(out, "|\n");
    put_rule(t, out);
    put_items(&(struct line){t, style, layout, out}, &scratch);
    pr_free(layout);
    return pr_buf_ok(&scratch) ? PR_OK : pr_fail_nomem(err);
}
