/*
 * The loops that see every byte of a log. Two underscores are rare in what
 * frameworks print, so that is what is looked for, 64 bytes at a time; where a
 * line begins matters only there.
 */
#include "record/logline_find.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

enum { WIDE = 16, STEP = 64 };

static __m128i log_load_simd(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Ones where both this byte and the next are c. */
static __m128i log_match_pair_simd(const char *p, __m128i c)
{
    return _mm_and_si128(_mm_cmpeq_epi8(log_load_simd(p), c),
                         _mm_cmpeq_epi8(log_load_simd(p + 1), c));
}

static const char *log_find_pair_simd(const char *p, const char *end)
{
    const __m128i c = _mm_set1_epi8('_');

    for (; end - p > STEP; p += STEP) {
        __m128i a = log_match_pair_simd(p, c),
                b = log_match_pair_simd(p + WIDE, c);
        __m128i d = log_match_pair_simd(p + 2 * WIDE, c),
                e = log_match_pair_simd(p + 3 * WIDE, c);
        __m128i any = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(d, e));

        if (_mm_movemask_epi8(any))
            break;
    }
    return p;
}

/* Ends in whole steps from *at on, which is moved behind them; the byte after
 * the last must be there. A \r before a \n is not counted. */
static uint64_t log_count_ends_simd(const char **at, const char *end)
{
    const __m128i nl = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r');
    const __m128i zero = _mm_setzero_si128();
    const char *p = *at;
    uint64_t sum[2] = {0, 0};
    __m128i total = zero;

    while (end - p > WIDE) {
        __m128i some = zero; /* bytes that count up to 255 */
        for (int i = 0; i < 255 && end - p > WIDE; i++, p += WIDE) {
            __m128i x = log_load_simd(p);
            __m128i alone =
                _mm_andnot_si128(_mm_cmpeq_epi8(log_load_simd(p + 1), nl),
                                 _mm_cmpeq_epi8(x, cr));
            some =
                _mm_sub_epi8(some, _mm_or_si128(_mm_cmpeq_epi8(x, nl), alone));
        }
        total = _mm_add_epi64(total, _mm_sad_epu8(some, zero));
    }
    _mm_storeu_si128((__m128i *)(void *)sum, total);
    *at = p;
    return sum[0] + sum[1];
}
#else
static const char *log_find_pair_simd(const char *p, const char *end)
{
    (void)end;
    return p;
}

static uint64_t log_count_ends_simd(const char **at, const char *end)
{
    (void)at, (void)end;
    return 0;
}
#endif

const char *pr_log_find_mark(const char *p, const char *end)
{
    for (p = log_find_pair_simd(p, end); end - p >= 2; p++) {
        p = memchr(p, '_', (size_t)(end - p) - 1);
        if (!p)
            return NULL;
        if (p[1] == '_')
            return p;
    }
    return NULL;
}

const char *pr_log_find_end(const char *p, const char *end)
{
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    const char *cr = memchr(p, '\r', (size_t)((nl ? nl : end) - p));

    return cr ? cr : nl;
}

const char *pr_log_last_line(const char *p, const char *end)
{
    const char *nl = memrchr(p, '\n', (size_t)(end - p));
    const char *cr;

    if (nl)
        p = nl + 1;
    cr = memrchr(p, '\r', (size_t)(end - p));
    return cr ? cr + 1 : p;
}

uint64_t pr_log_count_ends(const char *p, const char *end)
{
    uint64_t n = log_count_ends_simd(&p, end);

    for (; p < end; p++)
        n += *p == '\n' || (*p == '\r' && (p + 1 == end || p[1] != '\n'));
    return n;
}
