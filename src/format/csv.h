/*
 * The parts of the csv format: elements as text, text as elements, and a
 * window that moves over the text of a file, compressed or not.
 */
#ifndef PR_FORMAT_CSV_H
#define PR_FORMAT_CSV_H

#include "format/content.h"
#include "format/format.h"

/* ---- elements as text */

/* Every uint8 with its comma. */
struct pr_csv_table {
    char text[256][4];
    uint8_t len[256];
};

void pr_csv_table_init(struct pr_csv_table *table);

/* Bytes that an element takes at most, its comma included. */
size_t pr_csv_widest(enum pr_dtype type);

/* Writes n elements, a comma after each; returns the end of the text. out has
 * n * pr_csv_widest(type) bytes. */
char *pr_csv_text(const struct pr_csv_table *table, enum pr_dtype type,
                  const void *data, size_t n, char *out);

/* IEEE halves; to them rounds to the nearest, infinite when too large. */
double pr_csv_half_value(uint16_t half);
uint16_t pr_csv_half_of(double f);

/* ---- text as elements */

enum pr_csv_end {
    PR_CSV_ROW,  /* the row has ended, p is behind it */
    PR_CSV_MORE, /* all of the text is taken, the row goes on */
    PR_CSV_FULL, /* the row goes on but there is no room for it */
    PR_CSV_BAD,  /* the field at p; why says it */
};

enum pr_csv_why { PR_CSV_EMPTY, PR_CSV_NO_NUMBER, PR_CSV_RANGE };

struct pr_csv_scan {
    const uint8_t *p, *end; /* whole fields, each with what ends it */
    bool last; /* the text ends at end: so may a field, without anything */
    uint8_t *out, *out_end;
    enum pr_csv_why why;
};

/* Goes on at a field of a row, as far as the text or the room allows. */
enum pr_csv_end pr_csv_parse(enum pr_dtype type, struct pr_csv_scan *s);

/* The same, one field at a time; pr_csv_parse is faster for some types. */
enum pr_csv_end pr_csv_parse_plainly(enum pr_dtype type, struct pr_csv_scan *s);

/* Uint8 at many fields a step. True at the end of the row; false
 * at a field that is for pr_csv_parse_plainly. */
bool pr_csv_parse_u8(struct pr_csv_scan *s);

size_t pr_csv_count(const uint8_t *p, size_t len, uint8_t wanted);

/* Room that makes parsing faster when there is so much more than needed. */
enum { PR_CSV_PAD = 64 };

/* ---- the window, which csv.c moves */

enum { PR_CSV_WINDOW = 1 << 20 };

struct pr_csv_window {
    size_t cap; /* its size; 0: PR_CSV_WINDOW, from which tests may differ */
    const uint8_t *text; /* in the reader's scratch, or a map */
    size_t len, at;      /* at: the cursor */
    size_t whole;        /* fields up to here are whole */
    uint64_t base;       /* offset of text[0] in all of the text */
    bool last;           /* the text ends with the window */
    bool gzip;
    struct pr_inflate *z; /* this and buf are kept for the next file */
    uint8_t *buf;         /* of cap bytes, for text that was inflated */
    const uint8_t *in;    /* what was fetched but not yet inflated */
    size_t in_len;
    uint64_t in_at; /* offset of what to fetch next */
};

static inline uint64_t pr_csv_window_offset(const struct pr_csv_window *w)
{
    return w->base + w->at;
}

/* ---- the two sides */

struct pr_csv_writer {
    struct pr_out out;
    struct pr_csv_table table;
    struct pr_squeeze squeeze;
    char *text; /* gzip: what goes into z next */
    size_t used;
    uint64_t piece[PR_CONTENT_BLOCK / 8]; /* of a sample */
};

enum { PR_CSV_MARKS = 1024 };

struct pr_csv_reader {
    struct pr_csv_window w;
    uint64_t row;                 /* at the cursor; UINT64_MAX: not known */
    uint64_t seen_row, seen_off;  /* where the last row read starts */
    uint64_t marks[PR_CSV_MARKS]; /* offsets of rows 0, step, 2 * step, … */
    uint64_t step, mark_count;
    bool is_open; /* the object */
};

int pr_csv_write(struct pr_writer *w, const struct pr_file_spec *spec,
                 const char *name, uint64_t *ret_bytes,
                 struct pr_err *err) PR_MUST_CHECK;
void pr_csv_writer_done(struct pr_writer *w);

#endif
