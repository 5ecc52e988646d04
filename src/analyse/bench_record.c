/*
 * A record of a list, the quick way: in a list of results each has the same
 * names in the same order, so a name is compared with the one that stood there
 * before, and what is not wanted is passed. Whatever is out of the ordinary,
 * escapes or what is no JSON, is left to the reader that knows it all.
 */
#include "analyse/bench_impl.h"
#include "base/json_scan.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

/* Past blanks; sixteen bytes hold what an indented list has between two
 * members. */
static const char *skip_space(const char *p, const char *end)
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
#else
static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    return p;
}
#endif

/* The name at the cursor, that of the member i. False: not a plain one, or no
 * memory. */
static bool take_name(struct pr_bench_reader *r, struct pr_json_scan *s,
                      size_t i, struct pr_bench_guess *ret)
{
    struct pr_bench_guess *g = i < PR_BENCH_GUESSES ? &r->guesses[i] : NULL;
    const char *text;
    size_t len;

    if (g && g->text && (size_t)(s->end - s->pos) > g->len + 2u &&
        memcmp(s->pos + 1, g->text, g->len) == 0 && s->pos[g->len + 1] == '"') {
        s->pos += g->len + 2;
        *ret = *g;
        return true;
    }
    if (!pr_json_scan_plain(s, &text, &len) ||
        pr_bench_name(r, text, len, ret, NULL) < 0)
        return false;
    if (g)
        *g = *ret;
    return true;
}

/* Past a value that is not wanted. */
static bool pass_value(struct pr_json_scan *s)
{
    const char *p = s->pos;

    if (*p == '"' || *p == '[' || *p == '{')
        return pr_json_scan_skip(s) == PR_OK;
    while (p < s->end && *p != ',' && *p != '}' && (unsigned char)*p > ' ')
        p++;
    s->pos = p;
    return true;
}

static bool take_value(struct pr_bench_reader *r, struct pr_json_scan *s,
                       const struct pr_bench_guess *name, struct pr_err *err)
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
    return pr_bench_put_named(r, name, &v, err) == PR_OK;
}

const char *pr_bench_quick(struct pr_bench_reader *r, const char *p,
                           const char *end, struct pr_err *err)
{
    struct pr_json_scan s = {
        .pos = p, .end = end, .line_start = p, .name = "", .line = 1};

    pr_bench_begin(r);
    s.pos++;
    for (size_t i = 0;; i++) {
        struct pr_bench_guess name;

        s.pos = skip_space(s.pos, end);
        if (s.pos == end || *s.pos != '"' || !take_name(r, &s, i, &name))
            return NULL;
        s.pos = skip_space(s.pos, end);
        if (s.pos == end || *s.pos != ':')
            return NULL;
        s.pos = skip_space(s.pos + 1, end);
        if (s.pos == end ||
            !(name.wanted ? take_value(r, &s, &name, err) : pass_value(&s)))
            return NULL;
        s.pos = skip_space(s.pos, end);
        if (s.pos == end)
            return NULL;
        if (*s.pos == '}')
            return s.pos + 1;
        if (*s.pos++ != ',')
            return NULL;
    }
}
