/* Tables of reports that others wrote first, letter by letter. */
#include "present/report/suite_frame.h"

#include "base/text.h"
#include "present/screen.h"

#include <math.h>
#include <string.h>

void pr_text_frame_init(struct pr_text_frame *f, struct pr_arena *a,
                        size_t rows, size_t cols)
{
    *f = (struct pr_text_frame){
        .arena = a,
        .rows = rows,
        .cols = cols,
        .head = PR_ARENA_ARRAY(a, const char *, cols),
        .names = PR_ARENA_ARRAY(a, const char *, rows),
        .cells = PR_ARENA_ARRAY(a, const char *, rows *cols),
    };
    f->failed = !f->head || !f->names || !f->cells;
}

static const char *text_frame_keep(struct pr_text_frame *f,
                                   const struct pr_buf *b)
{
    const char *s =
        pr_buf_ok(b) ? pr_arena_copy(f->arena, b->data ? b->data : "", b->len)
                     : NULL;

    f->failed |= !s;
    return s;
}

void pr_text_frame_name(struct pr_text_frame *f, size_t row, const char *name)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 24);

    if (f->failed)
        return;
    pr_screen_clean(&b, name, strlen(name));
    f->names[row] = text_frame_keep(f, &b);
}

void pr_text_frame_column(struct pr_text_frame *f, const char *head)
{
    if (!f->failed)
        f->head[f->filled++] = head;
}

void pr_text_frame_set_text(struct pr_text_frame *f, size_t row, const char *s)
{
    if (!f->failed)
        f->cells[(f->filled - 1) * f->rows + row] = s;
}

void pr_text_frame_number(struct pr_buf *out, double v,
                          const struct pr_text_frame_number *how)
{
    int width = how->width - how->percent;

    if (isnan(v) && how->none) {
        pr_buf_str(out, how->none);
        return;
    }
    if (how->percent)
        v *= 100;
    if (isnan(v)) /* never "-nan" */
        pr_buf_printf(out, "%*s", width, "nan");
    else
        pr_buf_printf(out, "%*.*f", width, how->digits, v);
    if (how->percent)
        pr_buf_char(out, '%');
}

void pr_text_frame_set(struct pr_text_frame *f, size_t row, double v,
                       const struct pr_text_frame_number *how)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(4096);

    if (f->failed)
        return;
    pr_text_frame_number(&b, v, how);
    pr_text_frame_set_text(f, row, text_frame_keep(f, &b));
}

/* Characters, as Python's len() counts them. */
static size_t text_frame_length(const char *s)
{
    return s ? pr_utf8_columns(s) : 0;
}

static void text_frame_put_blanks(struct pr_buf *out, size_t n)
{
    while (n--)
        pr_buf_char(out, ' ');
}

static void text_frame_put_left(struct pr_buf *out, const char *s, size_t width)
{
    size_t n = text_frame_length(s);

    pr_buf_str(out, s);
    text_frame_put_blanks(out, n < width ? width - n : 0);
}

static void text_frame_put_right(struct pr_buf *out, const char *s,
                                 size_t width)
{
    size_t n = text_frame_length(s);

    text_frame_put_blanks(out, n < width ? width - n : 0);
    pr_buf_str(out, s);
}

static size_t text_frame_column_width(const char *const *s, size_t n,
                                      const char *head)
{
    size_t width = text_frame_length(head);

    for (size_t i = 0; i < n; i++)
        if (text_frame_length(s[i]) > width)
            width = text_frame_length(s[i]);
    return width;
}

void pr_text_frame_print(const struct pr_text_frame *f, const char *head,
                         const char *sep, const char *ragged,
                         struct pr_buf *out)
{
    size_t names, *widths;

    widths = PR_ARENA_ARRAY(f->arena, size_t, f->filled);
    if (f->failed || !widths) {
        out->failed = true;
        return;
    }
    names = text_frame_column_width(f->names, f->rows, head);
    text_frame_put_left(out, head, names);
    for (size_t c = 0; c < f->filled; c++) {
        if (!ragged || strcmp(ragged, f->head[c]) != 0)
            widths[c] = text_frame_column_width(f->cells + c * f->rows, f->rows,
                                                f->head[c]);
        pr_buf_str(out, sep);
        text_frame_put_right(out, f->head[c], widths[c]);
    }
    pr_buf_char(out, '\n');
    for (size_t r = 0; r < f->rows; r++) {
        text_frame_put_left(out, f->names[r], names);
        for (size_t c = 0; c < f->filled; c++) {
            pr_buf_str(out, sep);
            text_frame_put_right(out, f->cells[c * f->rows + r], widths[c]);
        }
        pr_buf_char(out, '\n');
    }
}

void pr_text_frame_devices(const struct pr_suite_matrix *m,
                           const struct pr_text_frame_devices *look,
                           struct pr_arena *a, struct pr_buf *out)
{
    struct pr_text_frame f;

    pr_text_frame_init(&f, a, m->rows, m->devices);
    for (size_t i = 0; i < m->rows; i++)
        pr_text_frame_name(&f, i, m->names[i]);
    for (size_t d = 0; d < m->devices; d++) {
        const char *head = pr_arena_printf(a, "%-*zu", look->wide, d);

        f.failed |= !head;
        pr_text_frame_column(&f, head);
        for (size_t i = 0; i < m->rows; i++)
            pr_text_frame_set(&f, i, m->cells[i * m->devices + d], &look->how);
    }
    pr_text_frame_print(&f, look->head, look->sep, NULL, out);
}

static void text_frame_put_rule(struct pr_buf *out, char c, size_t n)
{
    while (n--)
        pr_buf_char(out, c);
    pr_buf_char(out, '\n');
}

void pr_text_frame_title(struct pr_buf *out, const char *title)
{
    PR_AUTO_BUF struct pr_buf b = PR_BUF_INIT(1 << 20);
    size_t n;

    pr_screen_clean(&b, title, strlen(title));
    n = text_frame_length(b.data);
    text_frame_put_rule(out, '=', n);
    pr_buf_add(out, b.data ? b.data : "", b.len);
    pr_buf_char(out, '\n');
    text_frame_put_rule(out, '=', n);
    out->failed |= b.failed;
}

void pr_text_frame_section(struct pr_buf *out, const char *title)
{
    pr_buf_printf(out, "\n%s\n", title);
    text_frame_put_rule(out, '-', text_frame_length(title));
}
