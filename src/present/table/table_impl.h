/* What the files of the table share: table.c keeps the cells, table_cell.c
 * makes text of them, table_text.c and table_data.c print. */
#ifndef PR_PRESENT_TABLE_IMPL_H
#define PR_PRESENT_TABLE_IMPL_H

#include "base/value.h"
#include "present/table/table.h"

struct pr_table {
    struct pr_arena *arena;
    struct pr_table_column *cols;
    size_t col_count;
    struct pr_value *cells; /* row by row; null: missing */
    size_t row_count, row_cap;
    bool failed; /* out of memory while filling */
};

static inline const struct pr_value *pr_table_cell(const struct pr_table *t,
                                                   size_t row, size_t col)
{
    return &t->cells[row * t->col_count + col];
}

static inline bool pr_table_column_is_text(const struct pr_table_column *c)
{
    return c->kind == PR_COL_STR || c->kind == PR_COL_STATUS;
}

static inline bool pr_table_column_is_right(const struct pr_table_column *c)
{
    return c->align == PR_ALIGN_RIGHT ||
           (c->align == PR_ALIGN_AUTO && !pr_table_column_is_text(c));
}

/* How the numbers of a column are written: one unit and one number of
 * decimals for all of them, unless they are too far apart for that. */
struct pr_table_look {
    bool each;        /* every cell for itself, with its unit */
    double scale;     /* divide by this */
    int decimals;     /* ignored for whole numbers */
    char header[160]; /* title and unit, clean */
};

void pr_table_look(const struct pr_table *t, size_t col, bool ascii,
                   struct pr_table_look *ret);

/* The text of a cell, clean, appended to out; nothing for a missing one. */
void pr_table_cell_text(const struct pr_table *t, size_t row, size_t col,
                        const struct pr_table_look *look, bool ascii,
                        struct pr_buf *out);

int pr_table_text(const struct pr_table *t, const struct pr_table_style *style,
                  struct pr_buf *out, struct pr_err *err);
void pr_table_csv(const struct pr_table *t, const struct pr_table_style *style,
                  struct pr_buf *out);
int pr_table_html(const struct pr_table *t, struct pr_buf *out,
                  struct pr_err *err);
int pr_table_markdown(const struct pr_table *t,
                      const struct pr_table_style *style, struct pr_buf *out,
                      struct pr_err *err);

#endif
