/*
 * The words of JSON (blanks, strings, numbers, names), for the two readers:
 * json_read.c builds values, json_walk.c steps through a document.
 */
#ifndef PR_BASE_JSON_READ_H
#define PR_BASE_JSON_READ_H

#include "base/json/json.h"

#include <string.h>

struct pr_json_cache;

struct pr_json_scan {
    const char *pos, *end;
    const char *line_start; /* of the line pos is on */
    const char *name;       /* for errors */
    unsigned line;
    struct pr_arena *arena;
    struct pr_err *err;
    struct pr_json_cache *cache; /* of strings; pr_json_cache_free */
    unsigned strings;            /* read before there was a cache */
};

static inline uint32_t pr_json_scan_column(const struct pr_json_scan *s,
                                           const char *at)
{
    return (uint32_t)(at - s->line_start) + 1;
}

/* Fails with PR_E_FORMAT, saying what is wrong at a byte of this line. */
int pr_json_scan_fail(struct pr_json_scan *s, const char *at, const char *what);

/* Past blanks; indented text has four, eight, twelve … at a time. */
static inline const char *pr_json_skip_blanks(const char *p, const char *end)
{
    const uint64_t eight = 0x2020202020202020u;

    for (; end - p >= 8 && memcmp(p, &eight, 8) == 0; p += 8)
        ;
    if (end - p >= 4 && memcmp(p, &eight, 4) == 0)
        p += 4;
    while (p < end && *p == ' ')
        p++;
    return p;
}

void pr_json_skip_lines(struct pr_json_scan *s);

static inline void pr_json_skip_space(struct pr_json_scan *s)
{
    if (s->pos < s->end && *s->pos == ' ')
        s->pos++;
    if (s->pos < s->end && (unsigned char)*s->pos <= ' ')
        pr_json_skip_lines(s);
}

/* At the opening quote. The text is in the arena. */
int pr_json_scan_string(struct pr_json_scan *s, const char **ret_s,
                        uint32_t *ret_len);

/* A number, true, false, null, NaN, Infinity; kind and content are set. */
int pr_json_scan_word(struct pr_json_scan *s, struct pr_value *v);

/* Steps over a value and the blanks before it, without reading it: its parts
 * are not checked. */
int pr_json_scan_skip(struct pr_json_scan *s);

/* Steps over a string that stands for itself, printable ASCII without escapes,
 * and gives what is between its quotes; false: it is another. */
bool pr_json_scan_plain(struct pr_json_scan *s, const char **ret_s,
                        size_t *ret_len);

/* The value at the cursor, whatever it is; blanks before it are skipped. */
int pr_json_scan_value(struct pr_json_scan *s, unsigned flags,
                       struct pr_value *ret_value);

#endif
