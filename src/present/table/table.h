/*
 * A typed table: the one source of every table a person or a program gets.
 * Cells hold raw numbers and text; how they look is decided when printed, as
 * aligned text, Markdown, CSV (RFC 4180), JSON or HTML.
 *
 * Filling cannot fail halfway: out of memory is remembered, and pr_table_print
 * reports it. Not for several threads.
 */
#ifndef PR_PRESENT_TABLE_H
#define PR_PRESENT_TABLE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json/json_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pr_table_column_kind {
    PR_COL_STR,
    PR_COL_INT,
    PR_COL_FLOAT,
    PR_COL_BYTES,   /* bytes; shown as kB, MB, … */
    PR_COL_SECONDS, /* seconds; shown as µs, ms, s */
    PR_COL_RATE,    /* unit a second: "samples/s"; "B/s" is scaled like bytes */
    PR_COL_PERCENT, /* 31.2 means 31.2 % */
    PR_COL_STATUS,  /* "ok", "failed", …: text that may have a colour */
};

enum pr_table_column_align {
    PR_ALIGN_AUTO, /* text left, numbers right */
    PR_ALIGN_LEFT,
    PR_ALIGN_RIGHT,
};

struct pr_table_column {
    const char *title; /* for people */
    enum pr_table_column_kind kind;
    const char *unit; /* for RATE, INT and FLOAT, in the header; or NULL */
    enum pr_table_column_align align;
    const char *key; /* for JSON and CSV; NULL: the title in snake_case, with
                        the unit of the kind: step_s, read_bytes */
};

enum pr_table_format {
    PR_TABLE_TEXT,
    PR_TABLE_CSV,
    PR_TABLE_JSON,
    PR_TABLE_MARKDOWN,
    PR_TABLE_HTML, /* a <table>, for a page */
};

struct pr_table_style {
    unsigned width;    /* of the terminal, in columns; 0: as wide as need be */
    bool colour;       /* for STATUS cells, in text */
    bool ascii;        /* no ellipsis, no µ */
    bool no_header;    /* text and CSV without their first line */
    const char *empty; /* text to print for a table without rows; or NULL */
};

struct pr_table;

/* Copies the descriptions. NULL when out of memory. */
struct pr_table *pr_table_new(const struct pr_table_column *cols, size_t n);
void pr_table_free(struct pr_table *t); /* NULL is fine */

/* Begins a row; all its cells are missing. */
void pr_table_row(struct pr_table *t);

/* Set a cell of the last row. Text is copied; NULL text and NaN mean missing.
 * Any kind of value may go into any column. */
void pr_table_set_str(struct pr_table *t, size_t col, const char *s);
void pr_table_set_strn(struct pr_table *t, size_t col, const char *s,
                       size_t len);
void pr_table_set_int(struct pr_table *t, size_t col, int64_t i);
void pr_table_set_float(struct pr_table *t, size_t col, double f);
void pr_table_set_bool(struct pr_table *t, size_t col, bool b);

size_t pr_table_rows(const struct pr_table *t);

/* Appends the table. style may be NULL: no limit, no colour. PR_E_NOMEM. */
int pr_table_print(const struct pr_table *t, enum pr_table_format format,
                   const struct pr_table_style *style, struct pr_buf *out,
                   struct pr_err *err) PR_MUST_CHECK;

/* The rows as an array of objects inside a larger document; missing cells are
 * left out. */
void pr_table_json(const struct pr_table *t, struct pr_json_writer *jb,
                   const char *key);

/* Whether a spreadsheet would take a text for a formula and run it: it begins
 * as one, and is no number. Such a cell gets a ' in front. */
bool pr_table_is_formula(const char *s, size_t len);

#endif
