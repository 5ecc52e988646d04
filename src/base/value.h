/*
 * The one value type that text becomes: what JSON, YAML and the command line
 * can say, with the line and column it stood at. Values are immutable; their
 * strings, lists and maps live in the arena they were made in.
 */
#ifndef PR_BASE_VALUE_H
#define PR_BASE_VALUE_H

#include "base/buf.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum pr_kind {
    PR_NULL,
    PR_BOOL,
    PR_INT,
    PR_FLOAT,
    PR_STR,
    PR_LIST,
    PR_MAP,
};

struct pr_member;

struct pr_value {
    enum pr_kind kind;
    uint32_t line, col; /* 1-based; 0 when it was not read from text */
    uint32_t len;       /* bytes of a string, items of a list or map */
    union {
        bool b;
        int64_t i;
        double f;
        const char *s;                   /* NUL-terminated, may hold NULs */
        const struct pr_value *items;    /* list */
        const struct pr_member *members; /* map, in the order of the text */
    };
};

struct pr_member {
    const char *key; /* NUL-terminated */
    uint32_t key_len;
    uint32_t line, col; /* of the key */
    struct pr_value value;
};

struct pr_value pr_null(void);
struct pr_value pr_bool(bool b);
struct pr_value pr_int(int64_t i);
struct pr_value pr_float(double f);
struct pr_value pr_str(const char *s); /* borrows s */
struct pr_value pr_strn(const char *s, size_t len);

/* "null", "true or false", "a whole number", "a number", "text", "a list",
 * "a map": for messages. */
const char *pr_kind_name(enum pr_kind kind);

static inline bool pr_value_is_number(const struct pr_value *v)
{
    return v->kind == PR_INT || v->kind == PR_FLOAT;
}

static inline double pr_value_number(const struct pr_value *v)
{
    return v->kind == PR_INT ? (double)v->i : v->f;
}

/* NULL when the map has no such key, or the value is no map. Borrowed. */
const struct pr_value *pr_get(const struct pr_value *map, const char *key);

/* A member that is text, or what is given instead (NULL is fine). The map may
 * be NULL. */
const char *pr_text_at(const struct pr_value *map, const char *key,
                       const char *instead);

/* The same of a number. */
double pr_number_at(const struct pr_value *map, const char *key,
                    double instead);
bool pr_bool_at(const struct pr_value *map, const char *key, bool instead);

/* Equal as Python's == has it: 1, 1.0 and true are equal. */
bool pr_value_equal(const struct pr_value *a, const struct pr_value *b);

/* Deep copy into the arena; false when out of memory. */
bool pr_value_copy(struct pr_arena *a, const struct pr_value *v,
                   struct pr_value *ret_copy);

/* Appends the value as Python's str() writes it: True, None, 0.1, [1, 'a'];
 * text as it is. A map is written as JSON (what DLBS does). */
void pr_value_write_text(struct pr_buf *out, const struct pr_value *v);

/* The items of a list as text with blanks between, as DLBS joins them; any
 * other value as pr_value_write_text. */
void pr_value_write_joined(struct pr_buf *out, const struct pr_value *v);

/* As Python's repr(): text in quotes, a map as {'a': 1}. What a list holds is
 * written like this by pr_value_write_text, too. */
void pr_value_write_repr(struct pr_buf *out, const struct pr_value *v);

/* Appends a double as Python's repr() does: shortest text that reads back,
 * "1.0", "1e+20", "nan", "inf". */
void pr_float_write_repr(struct pr_buf *out, double f);

/* The same without a buffer; returns the length. */
size_t pr_float_repr(char out[static 32], double f);

#endif
