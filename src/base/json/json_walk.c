/*
 * Stepping through a JSON document value by value, as strictly as reading it
 * whole. The cursor always rests right after a token, so the byte before it
 * tells whether a bracket was just opened.
 */
#include "base/json/json_walk.h"

#include "base/json/json_read.h"

#include <stdint.h>
#include <string.h>

/* ---- counting bytes
 * Sixteen at a time, in sixteen counters of a byte each. */

#if defined(__SSE2__)
#include <emmintrin.h>

enum { STEP = 64 };

static __m128i count_load_block(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Of whole steps from *at on, which is moved behind them. */
static size_t count_byte_simd(const char **at, const char *end, char c)
{
    const __m128i wanted = _mm_set1_epi8(c), zero = _mm_setzero_si128();
    const char *p = *at;
    __m128i total = zero, some = zero; /* some: bytes that count up to 255 */
    uint64_t sum[2];

    while (end - p >= STEP) {
        for (int i = 0; i < 255 / 4 && end - p >= STEP; i++, p += STEP)
#pragma GCC unroll 4
            for (int k = 0; k < STEP; k += 16)
                some = _mm_sub_epi8(
                    some, _mm_cmpeq_epi8(count_load_block(p + k), wanted));
        total = _mm_add_epi64(total, _mm_sad_epu8(some, zero));
        some = zero;
    }
    for (; end - p >= 16; p += 16)
        some = _mm_sub_epi8(some, _mm_cmpeq_epi8(count_load_block(p), wanted));
    total = _mm_add_epi64(total, _mm_sad_epu8(some, zero));
    _mm_storeu_si128((__m128i *)(void *)sum, total);
    *at = p;
    return (size_t)(sum[0] + sum[1]);
}
#else
static size_t count_byte_simd(const char **at, const char *end, char c)
{
    (void)at, (void)end, (void)c;
    return 0;
}
#endif

size_t pr_count_byte(const char *p, const char *end, char c)
{
    size_t n = count_byte_simd(&p, end, c);

    for (; p < end; p++)
        n += *p == c;
    return n;
}

/* ---- stepping over a value
 * It is looked at only as far as it takes to find its end: brackets are
 * counted, strings are passed, and the rest of a list or map is searched for
 * these, sixteen bytes at a time. */

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

void pr_json_walk_init(struct pr_json_walk *w, const char *text, size_t len,
                       const char *name)
{
    *w = (struct pr_json_walk){text, text + len, text, name, 1};
}

/* w->text is where the cursor's line starts: columns are counted from it. */
static struct pr_json_scan json_walk_begin_scan(const struct pr_json_walk *w,
                                                struct pr_arena *a,
                                                struct pr_err *err)
{
    return (struct pr_json_scan){
        .pos = w->pos,
        .end = w->end,
        .line_start = w->text,
        .name = w->name,
        .line = w->line,
        .arena = a,
        .err = err,
    };
}

static void json_walk_commit_scan(struct pr_json_walk *w,
                                  const struct pr_json_scan *s)
{
    w->pos = s->pos;
    w->text = s->line_start;
    w->line = s->line;
}

int pr_json_walk_enter(struct pr_json_walk *w, char bracket, struct pr_err *err)
{
    struct pr_json_scan s = json_walk_begin_scan(w, NULL, err);

    pr_json_skip_space(&s);
    if (s.pos == s.end || *s.pos != bracket)
        return pr_json_scan_fail(
            &s, s.pos, bracket == '{' ? "expected a map" : "expected a list");
    s.pos++;
    json_walk_commit_scan(w, &s);
    return PR_OK;
}

int pr_json_walk_read(struct pr_json_walk *w, struct pr_arena *a,
                      struct pr_value *ret_value, struct pr_err *err)
{
    struct pr_json_scan s = json_walk_begin_scan(w, a, err);

    PR_TRY(pr_json_scan_value(&s, 0, ret_value));
    json_walk_commit_scan(w, &s);
    return PR_OK;
}

int pr_json_walk_span(struct pr_json_walk *w, const char **ret_text,
                      size_t *ret_len, struct pr_err *err)
{
    struct pr_json_scan s = json_walk_begin_scan(w, NULL, err);
    const char *start;
    int rc;

    pr_json_skip_space(&s);
    start = s.pos;
    rc = pr_json_scan_skip(&s);
    if (rc)
        return rc;
    json_walk_commit_scan(w, &s);
    *ret_text = start;
    *ret_len = (size_t)(s.pos - start);
    return PR_OK;
}

static int scan_key(struct pr_json_scan *s, const char **ret_key,
                    size_t *ret_len)
{
    uint32_t len;
    int rc;

    if (pr_json_scan_plain(s, ret_key, ret_len))
        return PR_OK;
    rc = pr_json_scan_string(s, ret_key, &len);
    if (!rc)
        *ret_len = len;
    return rc;
}

static int next_key(struct pr_json_scan *s, const char **ret_key,
                    size_t *ret_len)
{
    const char *key;
    size_t len;
    int rc;

    if (*s->pos != '"')
        return pr_json_scan_fail(s, s->pos, "expected a key in double quotes");
    rc = scan_key(s, &key, &len);
    if (rc)
        return rc;
    pr_json_skip_space(s);
    if (s->pos == s->end || *s->pos != ':')
        return pr_json_scan_fail(s, s->pos, "expected ':' after a key");
    s->pos++;
    *ret_key = key;
    *ret_len = len;
    return PR_OK;
}

int pr_json_walk_next(struct pr_json_walk *w, char close, struct pr_arena *a,
                      const char **ret_key, struct pr_err *err)
{
    const char *key = NULL;
    size_t len = 0;
    int rc = pr_json_walk_next_span(w, close, a, &key, &len, err);

    if (rc == 1 && close == '}') {
        *ret_key = pr_arena_copy(a, key, len);
        if (!*ret_key)
            return pr_fail_nomem(err);
    }
    return rc;
}

int pr_json_walk_next_span(struct pr_json_walk *w, char close,
                           struct pr_arena *a, const char **ret_key,
                           size_t *ret_len, struct pr_err *err)
{
    struct pr_json_scan s = json_walk_begin_scan(w, a, err);
    bool first = s.pos > s.line_start && (s.pos[-1] == '[' || s.pos[-1] == '{');
    int rc = PR_OK;

    pr_json_skip_space(&s);
    if (s.pos < s.end && *s.pos == close) {
        s.pos++;
        json_walk_commit_scan(w, &s);
        return 0;
    }
    if (!first && s.pos < s.end) {
        if (*s.pos != ',')
            return pr_json_scan_fail(&s, s.pos,
                                     close == '}' ? "expected ',' or '}'"
                                                  : "expected ',' or ']'");
        s.pos++;
        pr_json_skip_space(&s);
    }
    if (s.pos == s.end)
        return pr_json_scan_fail(&s, s.pos,
                                 "the text ends inside a list or map");
    if (*s.pos == close)
        return pr_json_scan_fail(&s, s.pos,
                                 close == '}'
                                     ? "expected a key in double quotes"
                                     : "expected a value");
    if (close == '}')
        rc = next_key(&s, ret_key, ret_len);
    if (rc)
        return rc;
    json_walk_commit_scan(w, &s);
    return 1;
}
