/* A typed table: its columns and cells. */
#include "present/table/table.h"

#include "base/mem.h"
#include "present/table/table_impl.h"

#include <assert.h>
#include <math.h>
#include <string.h>

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
        rc = pr_table_text(t, style, out, err);
        break;
    case PR_TABLE_CSV:
        pr_table_csv(t, style, out);
        break;
    case PR_TABLE_JSON:
        table_print_json(t, out);
        break;
    case PR_TABLE_MARKDOWN:
        rc = pr_table_markdown(t, style, out, err);
        break;
    case PR_TABLE_HTML:
        rc = pr_table_html(t, out, err);
        break;
    }
    if (!rc && !pr_buf_ok(out))
        rc = pr_fail_nomem(err);
    if (rc)
        out->len = old_len;
    return rc;
}
