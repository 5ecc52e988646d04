/* A typed table: its columns and cells, and every way to print it. */
#include "present/table/table.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "base/value.h"
#include "present/html/html_page.h"
#include "present/screen.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct pr_table {
    struct pr_arena *arena;
    struct pr_table_column *cols;
    size_t col_count;
    struct pr_value *cells; /* row by row; null: missing */
    size_t row_count, row_cap;
    bool failed; /* out of memory while filling */
};

static const struct pr_value *table_cell(const struct pr_table *t, size_t row,
                                         size_t col)
{
    return &t->cells[row * t->col_count + col];
}

static bool table_column_is_text(const struct pr_table_column *c)
{
    return c->kind == PR_COL_STR || c->kind == PR_COL_STATUS;
}

static bool table_column_is_right(const struct pr_table_column *c)
{
    return c->align == PR_ALIGN_RIGHT ||
           (c->align == PR_ALIGN_AUTO && !table_column_is_text(c));
}

/* How the numbers of a column are written: one unit and one number of
 * decimals for all of them, unless they are too far apart for that. */
struct table_look {
    bool each;        /* every cell for itself, with its unit */
    double scale;     /* divide by this */
    int decimals;     /* ignored for whole numbers */
    char header[160]; /* title and unit, clean */
};

/* ---- for programs: CSV and JSON, with raw numbers */

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

static void table_csv(const struct pr_table *t,
                      const struct pr_table_style *style, struct pr_buf *out)
{
    for (size_t c = 0; !style->no_header && c < t->col_count; c++) {
        table_csv_put_string(out, t->cols[c].key, strlen(t->cols[c].key));
        pr_buf_str(out, c + 1 < t->col_count ? "," : "\r\n");
    }
    for (size_t r = 0; r < t->row_count; r++)
        for (size_t c = 0; c < t->col_count; c++) {
            table_csv_put_value(out, table_cell(t, r, c));
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
            table_json_add_member(jb, t->cols[c].key, table_cell(t, r, c));
        pr_json_close(jb);
    }
    pr_json_close(jb);
}

/* ---- cells as text */

/*
 * The numbers of a column share their unit and decimals, so that the eye can
 * compare them; the unit stands in the header.
 */

#define HUGE_NUMBER 1e15 /* more digits than a double has */

/* Of the numbers in a column, zeros left out of the smallest. */
struct extent {
    double least, most;
    bool any, whole; /* whole: all are integers by type */
};

static struct extent extent_of(const struct pr_table *t, size_t col)
{
    struct extent x = {.whole = true};

    for (size_t r = 0; r < t->row_count; r++) {
        const struct pr_value *v = table_cell(t, r, col);
        double f;

        if (!pr_value_is_number(v) || !isfinite(pr_value_number(v)))
            continue;
        x.whole = x.whole && v->kind == PR_INT;
        f = fabs(pr_value_number(v));
        if (f == 0)
            continue;
        if (!x.any || f < x.least)
            x.least = f;
        if (!x.any || f > x.most)
            x.most = f;
        x.any = true;
    }
    return x;
}

/* Decimals that leave four digits that count to a number this large. */
static int decimals_for(double f)
{
    int before = f >= 1 ? (int)floor(log10(f) + 1e-12) + 1 : 0;

    if (f < 1 && f > 0)
        return (int)fmin(3 - floor(log10(f) + 1e-12), 12);
    return before >= 4 ? 0 : 4 - before;
}

struct unit {
    const char *name, *ascii;
    double scale;
};

static const struct unit byte_units[] = {
    {"B", NULL, 1},    {"kB", NULL, 1e3},  {"MB", NULL, 1e6},
    {"GB", NULL, 1e9}, {"TB", NULL, 1e12}, {"PB", NULL, 1e15},
};
static const struct unit time_units[] = {
    {"µs", "us", 1e-6},
    {"ms", NULL, 1e-3},
    {"s", NULL, 1},
};
static const struct unit no_unit = {"", NULL, 1};

static bool is_byte_rate(const struct pr_table_column *c)
{
    return c->kind == PR_COL_RATE && c->unit && strcmp(c->unit, "B/s") == 0;
}

/* The largest unit in which f is at least 1. */
static const struct unit *unit_for(const struct pr_table_column *c, double f)
{
    const struct unit *units = byte_units;
    size_t n = sizeof byte_units / sizeof *byte_units;

    if (c->kind == PR_COL_SECONDS) {
        units = time_units;
        n = sizeof time_units / sizeof *time_units;
    } else if (c->kind != PR_COL_BYTES && !is_byte_rate(c)) {
        return &no_unit;
    }
    while (n > 1 && f < units[n - 1].scale)
        n--;
    return &units[n - 1];
}

static void unit_text(const struct pr_table_column *c, const struct unit *u,
                      bool ascii, char out[static 64])
{
    const char *name = ascii && u->ascii ? u->ascii : u->name;

    if (c->kind == PR_COL_PERCENT)
        name = "%";
    else if (u == &no_unit)
        name = c->unit ? c->unit : "";
    snprintf(out, 64, "%s%s", name, is_byte_rate(c) ? "/s" : "");
}

static void make_header(const struct pr_table_column *c, const char *unit,
                        char out[static 160])
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(4096);
    size_t n = 0, next;

    pr_screen_clean(&b, c->title, strlen(c->title));
    if (*unit) {
        pr_buf_str(&b, b.len ? " (" : "(");
        pr_screen_clean(&b, unit, strlen(unit));
        pr_buf_char(&b, ')');
    }
    while (n < b.len && (next = n + pr_utf8_len(b.data + n, b.len - n)) < 160)
        n = next;
    if (n)
        memcpy(out, b.data, n);
    out[n] = '\0';
}

static void table_look(const struct pr_table *t, size_t col, bool ascii,
                       struct table_look *ret)
{
    const struct pr_table_column *c = &t->cols[col];
    struct extent x = extent_of(t, col);
    const struct unit *u = unit_for(c, x.most);
    char unit[64] = "";

    *ret = (struct table_look){.scale = u->scale};
    ret->decimals = c->kind == PR_COL_PERCENT ? 1
                    : x.any                   ? decimals_for(x.most / u->scale)
                                              : 0;
    if (x.whole && u->scale == 1)
        ret->decimals = 0;
    /* Too far apart: the smallest would show less than two digits. Or too
     * large to be written out. */
    else if (x.any && c->kind != PR_COL_PERCENT)
        ret->each = x.least / u->scale * pow(10, ret->decimals) < 10 ||
                    x.most / u->scale >= HUGE_NUMBER;
    /* A unit in the header is wrong for cells that bring their own. */
    if (!table_column_is_text(c) && (!ret->each || u == &no_unit))
        unit_text(c, u, ascii, unit);
    make_header(c, unit, ret->header);
}

static void table_add_number(const struct pr_table_column *c,
                             const struct pr_value *v,
                             const struct table_look *look, bool ascii,
                             struct pr_buf *out)
{
    double f = pr_value_number(v);
    char unit[64];

    if (!isfinite(f)) {
        pr_buf_str(out, f > 0 ? "inf" : "-inf");
    } else if (v->kind == PR_INT && look->scale == 1 && !look->decimals) {
        pr_buf_printf(out, "%" PRId64, v->i);
    } else if (look->each && f != 0) {
        const struct unit *u = unit_for(c, fabs(f));
        double g = f / u->scale;
        if (v->kind == PR_INT && u->scale == 1)
            pr_buf_printf(out, "%" PRId64, v->i);
        else if (fabs(g) >= 1e7 || fabs(g) < 1e-4)
            pr_buf_printf(out, "%.3e", g);
        else
            pr_buf_printf(out, "%.*f", decimals_for(fabs(g)), g);
        unit_text(c, u, ascii, unit);
        if (u != &no_unit)
            pr_buf_printf(out, " %s", unit);
    } else {
        pr_buf_printf(out, "%.*f", look->each ? 0 : look->decimals,
                      f / look->scale);
    }
}

/* The text of a cell, clean, appended to out; nothing for a missing one. */
static void table_cell_text(const struct pr_table *t, size_t row, size_t col,
                            const struct table_look *look, bool ascii,
                            struct pr_buf *out)
{
    const struct pr_value *v = table_cell(t, row, col);

    if (v->kind == PR_STR)
        pr_screen_clean(out, v->s, v->len);
    else if (v->kind != PR_NULL)
        table_add_number(&t->cols[col], v, look, ascii, out);
}

/* ---- HTML: one element, class "sort", for a page that has a style */

#define NOTHING "–"

static const char *table_html_class(const struct pr_table_column *c,
                                    const char *text)
{
    if (c->kind != PR_COL_STATUS)
        return table_column_is_right(c) ? "" : " class=\"text\"";
    if (strcmp(text, NOTHING) == 0 || strcmp(text, "skipped") == 0)
        return " class=\"text\"";
    return strcmp(text, "ok") == 0 ? " class=\"text good\""
                                   : " class=\"text bad\"";
}

static void table_html_put_cell(const struct pr_table *t, size_t row,
                                size_t col, const struct table_look *look,
                                struct pr_buf *text, struct pr_buf *out)
{
    pr_buf_clear(text);
    table_cell_text(t, row, col, look, false, text);
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
                                 const struct table_look *looks,
                                 struct pr_buf *out)
{
    pr_buf_str(out, "<thead><tr>");
    for (size_t c = 0; c < t->col_count; c++) {
        pr_buf_str(out, table_column_is_right(&t->cols[c])
                            ? "<th scope=\"col\">"
                            : "<th scope=\"col\" class=\"text\">");
        pr_html_escape(out, looks[c].header, strlen(looks[c].header));
        pr_buf_str(out, "</th>");
    }
    pr_buf_str(out, "</tr></thead>\n");
}

static int table_html(const struct pr_table *t, struct pr_buf *out,
                      struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);
    struct table_look *looks =
        a ? PR_ARENA_ARRAY(a, struct table_look, t->col_count) : NULL;

    if (!looks)
        return pr_fail_nomem(err);
    for (size_t c = 0; c < t->col_count; c++)
        table_look(t, c, false, &looks[c]);
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

/* ---- for people: aligned text, and Markdown */

enum { GAP = 2, LEAST_WIDTH = 6 };

static const char missing[] = "-";

struct column_layout {
    struct table_look look;
    size_t width;
};

static void table_text_format_cell(const struct pr_table *t, size_t row,
                                   size_t col, const struct table_look *look,
                                   bool ascii, struct pr_buf *out)
{
    pr_buf_clear(out);
    table_cell_text(t, row, col, look, ascii, out);
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

        table_look(t, c, style->ascii, &l[c].look);
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
    bool right = table_column_is_right(&p->t->cols[c]);

    if (c)
        pr_screen_blanks(p->out, GAP);
    if (right)
        pr_screen_blanks(p->out, blanks);
    if (colour)
        pr_buf_str(p->out, colour);
    need = pr_screen_cut(p->out, text, len, width, p->style->ascii);
    if (colour)
        pr_buf_str(p->out, "\x1b[0m");
    if (!right && c + 1 < p->t->col_count)
        pr_screen_blanks(p->out, width - need);
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

static int table_text(const struct pr_table *t,
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
        pr_buf_str(out,
                   table_column_is_right(&t->cols[c]) ? "| ---: " : "| --- ");
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

static int table_markdown(const struct pr_table *t,
                          const struct pr_table_style *style,
                          struct pr_buf *out, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf scratch = PR_BUF_INIT((size_t)64 << 20);
    struct column_layout *layout;

    if (put_empty(t, style, out))
        return PR_OK;
    layout = pr_alloc(t->col_count * sizeof *layout);
    if (!layout)
        return pr_fail_nomem(err);
    for (size_t c = 0; c < t->col_count; c++) {
        table_look(t, c, style->ascii, &layout[c].look);
        table_markdown_put_cell(out, layout[c].look.header,
                                strlen(layout[c].look.header));
    }
    pr_buf_str(out, "|\n");
    put_rule(t, out);
    put_items(&(struct line){t, style, layout, out}, &scratch);
    pr_free(layout);
    return pr_buf_ok(&scratch) ? PR_OK : pr_fail_nomem(err);
}

/* A key says its unit. */
static const char *suffix_of(const struct pr_table_column *c)
{
    switch (c->kind) {
    case PR_COL_BYTES:
        return "_bytes";
    case PR_COL_SECONDS:
        return "_s";
    case PR_COL_PERCENT:
        return "_pct";
    case PR_COL_RATE:
        return c->unit && strcmp(c->unit, "B/s") == 0 ? "_bytes_per_s"
                                                      : "_per_s";
    default:
        return "";
    }
}

/* "Stall on data" in percent becomes stall_on_data_pct. */
static char *make_key(struct pr_arena *a, const struct pr_table_column *col)
{
    char *key = pr_arena_printf(a, "%s%s", col->title, suffix_of(col));
    size_t n = 0;

    if (!key)
        return NULL;
    for (const char *p = key; *p; p++) {
        char c = *p >= 'A' && *p <= 'Z' ? (char)(*p + 'a' - 'A') : *p;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            key[n++] = c;
        else if (n && key[n - 1] != '_')
            key[n++] = '_';
    }
    while (n && key[n - 1] == '_')
        n--;
    key[n] = '\0';
    return key;
}

static bool copy_columns(struct pr_table *t, const struct pr_table_column *cols)
{
    for (size_t i = 0; i < t->col_count; i++) {
        struct pr_table_column *c = &t->cols[i];
        *c = cols[i];
        c->title = pr_arena_str(t->arena, cols[i].title);
        c->key = cols[i].key ? pr_arena_str(t->arena, cols[i].key)
                             : make_key(t->arena, &cols[i]);
        if (cols[i].unit)
            c->unit = pr_arena_str(t->arena, cols[i].unit);
        if (!c->title || !c->key || (cols[i].unit && !c->unit))
            return false;
    }
    return true;
}

struct pr_table *pr_table_new(const struct pr_table_column *cols, size_t n)
{
    struct pr_table *t = pr_alloc_zeroed(sizeof *t);

    assert(n > 0);
    if (!t)
        return NULL;
    t->col_count = n;
    t->arena = pr_arena_new(4096);
    if (t->arena)
        t->cols = PR_ARENA_ARRAY(t->arena, struct pr_table_column, n);
    if (!t->cols || !copy_columns(t, cols)) {
        pr_table_free(t);
        return NULL;
    }
    return t;
}

void pr_table_free(struct pr_table *t)
{
    if (!t)
        return;
    pr_arena_free(t->arena);
    pr_free(t->cells);
    pr_free(t);
}

void pr_table_row(struct pr_table *t)
{
    if (t->failed)
        return;
    if (t->row_count == t->row_cap) {
        size_t cap = t->row_cap ? t->row_cap * 2 : 16;
        void *p = pr_realloc(t->cells, cap * t->col_count * sizeof *t->cells);
        if (!p) {
            t->failed = true;
            return;
        }
        t->cells = p;
        t->row_cap = cap;
    }
    for (size_t i = 0; i < t->col_count; i++)
        t->cells[t->row_count * t->col_count + i] = pr_null();
    t->row_count++;
}

static void table_set_cell(struct pr_table *t, size_t col, struct pr_value v)
{
    if (t->failed)
        return;
    assert(t->row_count > 0 && col < t->col_count);
    t->cells[(t->row_count - 1) * t->col_count + col] = v;
}

void pr_table_set_strn(struct pr_table *t, size_t col, const char *s,
                       size_t len)
{
    const char *copy;

    if (t->failed)
        return;
    copy = pr_arena_copy(t->arena, s, len);
    if (copy)
        table_set_cell(t, col, pr_strn(copy, len));
    else
        t->failed = true;
}

void pr_table_set_str(struct pr_table *t, size_t col, const char *s)
{
    if (s)
        pr_table_set_strn(t, col, s, strlen(s));
    else
        table_set_cell(t, col, pr_null());
}

void pr_table_set_int(struct pr_table *t, size_t col, int64_t i)
{
    table_set_cell(t, col, pr_int(i));
}

void pr_table_set_float(struct pr_table *t, size_t col, double f)
{
    table_set_cell(t, col, isnan(f) ? pr_null() : pr_float(f));
}

void pr_table_set_bool(struct pr_table *t, size_t col, bool b)
{
    table_set_cell(t, col, pr_bool(b));
}

size_t pr_table_rows(const struct pr_table *t)
{
    return t->row_count;
}

static void table_print_json(const struct pr_table *t, struct pr_buf *out)
{
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 2);
    pr_table_json(t, &jb, NULL);
    pr_buf_char(out, '\n');
}

int pr_table_print(const struct pr_table *t, enum pr_table_format format,
                   const struct pr_table_style *style, struct pr_buf *out,
                   struct pr_err *err)
{
    static const struct pr_table_style plain;
    size_t old_len = out->len;
    int rc = PR_OK;

    if (!style)
        style = &plain;
    if (t->failed)
        return pr_fail_nomem(err);
    switch (format) {
    case PR_TABLE_TEXT:
        rc = table_text(t, style, out, err);
        break;
    case PR_TABLE_CSV:
        table_csv(t, style, out);
        break;
    case PR_TABLE_JSON:
        table_print_json(t, out);
        break;
    case PR_TABLE_MARKDOWN:
        rc = table_markdown(t, style, out, err);
        break;
    case PR_TABLE_HTML:
        rc = table_html(t, out, err);
        break;
    }
    if (!rc && !pr_buf_ok(out))
        rc = pr_fail_nomem(err);
    if (rc)
        out->len = old_len;
    return rc;
}
