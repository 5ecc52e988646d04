/*
 * JSON, read and written. The reader keeps line and column of every value,
 * accepts bare NaN, Infinity and -Infinity as Python does, and is strict
 * otherwise; errors say where. The writer gives valid UTF-8 whatever it gets.
 */
#ifndef PR_BASE_JSON_H
#define PR_BASE_JSON_H

#include "base/err.h"
#include "base/value.h"

enum pr_json_flags {
    PR_JSON_UNIQUE_KEYS = 1 << 0, /* a key given twice is an error; else the
                                     last one wins, as in Python */
    PR_JSON_PREFIX = 1 << 1,      /* text may go on after the value */
};

struct pr_json_in {
    const char *text; /* need not be NUL-terminated */
    size_t len;
    const char *name; /* for errors: a file name or an option */
    unsigned flags;   /* enum pr_json_flags */
    unsigned line;    /* of the first byte; 0 means 1 */
};

/* Reads one value; everything it holds is in the arena. With PR_JSON_PREFIX
 * *ret_used (may be NULL) is the number of bytes the value took.
 * Fails with PR_E_FORMAT, PR_E_NOMEM. */
int pr_json_read(const struct pr_json_in *in, struct pr_arena *a,
                 struct pr_value *ret_value, size_t *ret_used,
                 struct pr_err *err) PR_MUST_CHECK;

/* Appends v on one line: {"a": 1, "b": [1, 2]}. */
void pr_json_write(struct pr_buf *out, const struct pr_value *v);

/* As Python's json.dumps(indent=…), the first line not indented. */
void pr_json_write_indented(struct pr_buf *out, const struct pr_value *v,
                            unsigned indent, unsigned depth);

/* Appends a quoted string. */
void pr_json_write_string(struct pr_buf *out, const char *s, size_t len);

/* Walks a large document value by value without keeping it: for a plan of a
 * hundred thousand experiments in constant memory. */
struct pr_json_walk {
    const char *pos, *end, *text, *name;
    unsigned line;
};

void pr_json_walk_init(struct pr_json_walk *w, const char *text, size_t len,
                       const char *name);

/* Steps into the object or array at the cursor. */
int pr_json_walk_enter(struct pr_json_walk *w, char bracket,
                       struct pr_err *err) PR_MUST_CHECK;

/* In an object: next key to *ret_key (in the arena), the cursor at its value.
 * In an array: the cursor at the next item. 1: there is one, 0: closed. */
int pr_json_walk_next(struct pr_json_walk *w, char close, struct pr_arena *a,
                      const char **ret_key, struct pr_err *err) PR_MUST_CHECK;

/* The same; a key of plain characters is not copied, it lies in the document
 * and has no NUL after it. */
int pr_json_walk_next_span(struct pr_json_walk *w, char close,
                           struct pr_arena *a, const char **ret_key,
                           size_t *ret_len, struct pr_err *err) PR_MUST_CHECK;

/* Steps over the value at the cursor, which is not read: *ret_text is where it
 * begins in the document. Only its end is found, its parts are not checked. */
int pr_json_walk_span(struct pr_json_walk *w, const char **ret_text,
                      size_t *ret_len, struct pr_err *err) PR_MUST_CHECK;

/* Reads the value at the cursor and steps over it. */
int pr_json_walk_read(struct pr_json_walk *w, struct pr_arena *a,
                      struct pr_value *ret_value,
                      struct pr_err *err) PR_MUST_CHECK;

#endif
