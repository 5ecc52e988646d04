/*
 * A record of a list, the quick way: in a list of results each has the same
 * names in the same order, so a name is compared with the one that stood there
 * before, and what is not wanted is passed. Whatever is out of the ordinary,
 * escapes or what is no JSON, is left to the reader that knows it all.
 */
#include "analyse/results/bench_impl.h"
#include "base/json/json_read.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

/* Past blanks; sixteen bytes hold what an indented list has between two
 * members. */
static const char *record_skip_space(const char *p, const char *end)
{
    while (end - p >= 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i least = _mm_set1_epi8(' ' + 1);
        int ink = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(x, least), x));

        if (ink)
            return p + __builtin_ctz((unsigned)ink);
        p += 16;
    }
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    return p;
}

/* The first quote or backslash, or end. */
static const char *find_quote_or_backslash(const char *p, const char *end)
{
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');

    for (; end - p >= 16; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        int hit = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, slash)));
        if (hit)
            return p + __builtin_ctz((unsigned)hit);
    }
    while (p < end && *p != '"' && *p != '\\')
        p++;
    return p;
}

static inline bool same_16(const char *p, const char *q)
{
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i y = _mm_loadu_si128((const __m128i *)(const void *)q);

    return _mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) == 0xffff;
}
#else
static const char *record_skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    return p;
}

static const char *find_quote_or_backslash(const char *p, const char *end)
{
    while (p < end && *p != '"' && *p != '\\')
        p++;
    return p;
}

static inline bool same_16(const char *p, const char *q)
{
    return memcmp(p, q, 16) == 0;
}
#endif

/* Names are short: a call takes longer than comparing them. */
static inline bool is_same_text(const char *p, const char *q, size_t n)
{
    if (n < 16)
        return memcmp(p, q, n) == 0;
    for (size_t i = 0; i + 16 < n; i += 16)
        if (!same_16(p + i, q + i))
            return false;
    return same_16(p + n - 16, q + n - 16);
}

/* A member whose name is not the one that stood there before. */
static bool learn_name(struct pr_results_reader *r, struct pr_json_scan *s,
                       struct pr_results_guess *g)
{
    const char *start = s->pos, *text;
    size_t len;

    g->before_len = 0;
    s->pos = record_skip_space(s->pos, s->end);
    if (s->pos == s->end || *s->pos != '"' ||
        !pr_json_scan_plain(s, &text, &len) ||
        pr_results_row_find_name(r, text, len, g, NULL) < 0)
        return false;
    s->pos = record_skip_space(s->pos, s->end);
    if (s->pos == s->end || *s->pos != ':')
        return false;
    s->pos = record_skip_space(s->pos + 1, s->end);
    if (s->pos == s->end)
        return false;
    g->before = start;
    g->before_len = (size_t)(s->pos - start);
    return true;
}

/* What stands before the value of a member: blanks, its name, a colon. False:
 * not a plain one, or no memory. */
static inline bool record_read_name(struct pr_results_reader *r,
                                    struct pr_json_scan *s,
                                    struct pr_results_guess *g)
{
    if (!g->before_len || (size_t)(s->end - s->pos) <= g->before_len ||
        !is_same_text(s->pos, g->before, g->before_len))
        return learn_name(r, s, g);
    s->pos += g->before_len;
    return true;
}

/* Past a value that is not wanted. */
static bool record_skip_value(struct pr_json_scan *s)
{
    const char *p = s->pos;

    if (*p == '[' || *p == '{')
        return pr_json_scan_skip(s) == PR_OK;
    if (*p == '"') {
        p = find_quote_or_backslash(p + 1, s->end);
        if (p == s->end || *p != '"')
            return pr_json_scan_skip(s) == PR_OK;
        s->pos = p + 1;
        return true;
    }
    while (p < s->end && *p != ',' && *p != '}' && (unsigned char)*p > ' ')
        p++;
    s->pos = p;
    return true;
}

static bool record_read_value(struct pr_results_reader *r,
                              struct pr_json_scan *s,
                              const struct pr_results_guess *name,
                              struct pr_err *err)
{
    struct pr_value v = {0};
    size_t len;

    if (*s->pos == '[' || *s->pos == '{')
        return false;
    if (*s->pos == '"') {
        if (!pr_json_scan_plain(s, &v.s, &len) || len > UINT32_MAX / 2)
            return false;
        v.kind = PR_STR;
        v.len = (uint32_t)len;
    } else if (pr_json_scan_word(s, &v)) {
        return false;
    }
    return pr_results_row_put_named(r, name, &v, err) == PR_OK;
}

const char *pr_results_row_read_quick(struct pr_results_reader *r,
                                      const char *p, const char *end,
                                      struct pr_err *err)
{
    struct pr_json_scan s = {
        .pos = p, .end = end, .line_start = p, .name = "", .line = 1};

    pr_results_row_begin(r);
    s.pos++;
    for (struct pr_results_guess *g = r->guesses;;
         g += g < r->guesses + PR_RESULTS_GUESSES - 1) {
        if (!record_read_name(r, &s, g))
            return NULL;
        if (!(g->wanted ? record_read_value(r, &s, g, err)
                        : record_skip_value(&s)))
            return NULL;
        if (s.pos < end && *s.pos != ',')
            s.pos = record_skip_space(s.pos, end);
        if (s.pos == end)
            return NULL;
        if (*s.pos == '}')
            return s.pos + 1;
        if (*s.pos++ != ',')
            return NULL;
    }
}
