/*
 * Stepping over JSON without keeping it. A value is looked at only as far as
 * it takes to find its end: brackets are counted, strings are passed.
 */
#include "base/json_scan.h"

#include <string.h>

enum { MAX_DEPTH = 200 };

/* From after the opening quote to after the closing one; NULL: there is
 * none. */
static const char *skip_string(const char *p, const char *end)
{
    for (;;) {
        const char *quote = memchr(p, '"', (size_t)(end - p));
        const char *slash;

        if (!quote)
            return NULL;
        for (slash = quote; slash > p && slash[-1] == '\\'; slash--)
            ;
        if (((quote - slash) & 1) == 0)
            return quote + 1;
        p = quote + 1;
    }
}

static bool ends_word(char c)
{
    return c == ',' || c == ']' || c == '}' || c == ':' || c == '"' ||
           (unsigned char)c <= ' ';
}

int pr_json_scan_skip(struct pr_json_scan *s)
{
    unsigned depth = 0;

    do {
        char c;

        pr_json_skip_space(s);
        if (s->pos == s->end)
            return pr_json_wrong(s, s->pos,
                                 depth ? "the text ends inside a list or map"
                                       : "the text ends where a value is "
                                         "expected");
        c = *s->pos;
        if (c == '"') {
            const char *after = skip_string(s->pos + 1, s->end);
            if (!after)
                return pr_json_wrong(s, s->pos,
                                     "a string without its closing quote");
            s->pos = after;
        } else if (c == '{' || c == '[') {
            if (++depth > MAX_DEPTH)
                return pr_json_wrong(s, s->pos, "nested more than 200 deep");
            s->pos++;
        } else if (depth && (c == '}' || c == ']')) {
            depth--;
            s->pos++;
        } else if (depth && (c == ',' || c == ':')) {
            s->pos++;
        } else {
            const char *start = s->pos;
            while (s->pos < s->end && !ends_word(*s->pos))
                s->pos++;
            if (s->pos == start)
                return pr_json_wrong(s, s->pos, "expected a value");
        }
    } while (depth);
    return PR_OK;
}
