/*
 * Stepping over JSON without keeping it. A value is looked at only as far as
 * it takes to find its end: brackets are counted, strings are passed, and the
 * rest of a list or map is searched for these, sixteen bytes at a time.
 */
#include "base/json/count.h"
#include "base/json/json_scan.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

/* A quote, a bracket, or a control character that is no end of a line. */
static bool is_mark(char c)
{
    unsigned char u = (unsigned char)c;

    return u == '"' || (u | 32) == '{' || (u | 32) == '}' ||
           (u < ' ' && u != '\n');
}

#if defined(__SSE2__)
/* A bit for each of sixteen bytes that is a mark. */
static int marks_16(const char *p)
{
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i small = _mm_or_si128(x, _mm_set1_epi8(32));
    __m128i bracket = _mm_or_si128(_mm_cmpeq_epi8(small, _mm_set1_epi8('{')),
                                   _mm_cmpeq_epi8(small, _mm_set1_epi8('}')));
    __m128i control =
        _mm_andnot_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('\n')),
                         _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(31)), x));
    __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));

    return _mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(bracket, quote), control));
}

static const char *json_find_mark(const char *p, const char *end)
{
    for (; end - p >= 16; p += 16) {
        int marks = marks_16(p);
        if (marks)
            return p + __builtin_ctz((unsigned)marks);
    }
    while (p < end && !is_mark(*p))
        p++;
    return p;
}
#else
static const char *json_find_mark(const char *p, const char *end)
{
    while (p < end && !is_mark(*p))
        p++;
    return p;
}
#endif

/* Up to here all was passed: where is that? */
static void catch_up(struct pr_json_scan *s, const char *p)
{
    size_t lines = pr_count_byte(s->pos, p, '\n');
    const char *last =
        lines ? memrchr(s->pos, '\n', (size_t)(p - s->pos)) : NULL;

    s->line += (unsigned)lines;
    if (last)
        s->line_start = last + 1;
    s->pos = p;
}

static int wrong_at(struct pr_json_scan *s, const char *p, const char *what)
{
    catch_up(s, p);
    return pr_json_scan_fail(s, p, what);
}

/* At a bracket. */
static int skip_nested(struct pr_json_scan *s)
{
    const char *p = s->pos, *after;
    unsigned depth = 0;

    for (;;) {
        if (p == s->end)
            return wrong_at(s, p, "the text ends inside a list or map");
        switch (*p) {
        case '"':
            after = skip_string(p + 1, s->end);
            if (!after)
                return wrong_at(s, p, "a string without its closing quote");
            p = after;
            break;
        case '{':
        case '[':
            if (++depth > MAX_DEPTH)
                return wrong_at(s, p, "nested more than 200 deep");
            p++;
            break;
        case '}':
        case ']':
            p++;
            if (!--depth) {
                catch_up(s, p);
                return PR_OK;
            }
            break;
        case '\t':
        case '\r':
            p++;
            break;
        default:
            return wrong_at(s, p, "expected a value");
        }
        p = json_find_mark(p, s->end);
    }
}

static bool json_ends_word(char c)
{
    return c == ',' || c == ']' || c == '}' || c == ':' || c == '"' ||
           (unsigned char)c <= ' ';
}

int pr_json_scan_skip(struct pr_json_scan *s)
{
    const char *p;

    pr_json_skip_space(s);
    if (s->pos == s->end)
        return pr_json_scan_fail(s, s->pos,
                                 "the text ends where a value is expected");
    if (*s->pos == '{' || *s->pos == '[')
        return skip_nested(s);
    if (*s->pos == '"') {
        p = skip_string(s->pos + 1, s->end);
        if (!p)
            return pr_json_scan_fail(s, s->pos,
                                     "a string without its closing quote");
    } else {
        for (p = s->pos; p < s->end && !json_ends_word(*p); p++)
            ;
        if (p == s->pos)
            return pr_json_scan_fail(s, p, "expected a value");
    }
    s->pos = p;
    return PR_OK;
}
