/*
 * Rows of uint8 at the speed of memory: 64 characters are told apart at once,
 * and the commas found make numbers of the digits between them without a
 * branch that depends on the data. What is out of the ordinary (blanks, signs,
 * leading zeros, errors) is left to csv_parse.c.
 */
#include "format/csv.h"

#include <endian.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

/* A bit for each of 64 characters. */
struct kinds {
    uint64_t separators; /* commas and newlines */
    uint64_t newlines;
    uint64_t odd; /* neither these nor digits */
};

static inline uint64_t csv_mask_bits(__m128i mask)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(mask);
}

static inline struct kinds tell_16(const uint8_t *p, int shift)
{
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i is_newline = _mm_cmpeq_epi8(x, _mm_set1_epi8('\n'));
    __m128i is_separator =
        _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(',')), is_newline);
    __m128i above_nine =
        _mm_subs_epu8(_mm_xor_si128(x, _mm_set1_epi8('0')), _mm_set1_epi8(9));
    __m128i is_digit = _mm_cmpeq_epi8(above_nine, _mm_setzero_si128());
    uint64_t known = csv_mask_bits(_mm_or_si128(is_separator, is_digit));

    return (struct kinds){
        .separators = csv_mask_bits(is_separator) << shift,
        .newlines = csv_mask_bits(is_newline) << shift,
        .odd = (known ^ 0xffff) << shift,
    };
}

static inline struct kinds tell_64(const uint8_t *p)
{
    struct kinds a = tell_16(p, 0), b = tell_16(p + 16, 16);
    struct kinds c = tell_16(p + 32, 32), d = tell_16(p + 48, 48);

    return (struct kinds){
        .separators = a.separators | b.separators | c.separators | d.separators,
        .newlines = a.newlines | b.newlines | c.newlines | d.newlines,
        .odd = a.odd | b.odd | c.odd | d.odd,
    };
}

/* Whether the fields before the separators have one to three characters: none
 * has a separator or the start right before it, none has four others. */
static inline bool are_short(uint64_t separators, uint64_t these)
{
    uint64_t two = ~separators & ~separators << 1;
    uint64_t four = two & two << 2;

    return !(these & (separators << 1 | 1 | four << 1));
}

/* Takes the fields that end at the separators, all short and digits. False,
 * with nothing taken, when one is above 255. */
static inline bool csv_convert_fields(struct pr_csv_scan *s,
                                      uint64_t separators)
{
    const uint8_t *p = s->p;
    uint8_t *out = s->out;
    unsigned start = 0;
    int32_t wrong = 0; /* negative when one was */

    do {
        unsigned stop = (unsigned)__builtin_ctzll(separators);
        uint32_t word;

        memcpy(&word, p + start, 4);
        /* The digits at the top, the last one topmost, zeros below. */
        word = (le32toh(word) ^ 0x30303030u) << ((start - stop) * 8 & 31);
        wrong |= (int32_t)(0x00020505u - __builtin_bswap32(word));
        /* Times 1, 10 and 100, summed in the top byte. */
        *out++ = (uint8_t)(word * 0x00640a01u >> 24);
        start = stop + 1;
        separators &= separators - 1;
    } while (separators);
    if (wrong < 0)
        return false;
    s->p = p + start;
    s->out = out;
    return true;
}

/* The last separator may be followed by nothing, so a word that starts behind
 * any of the others is still in the text. */
enum { STEP = 64, ROOM = 64, AHEAD = STEP + 4 };

_Static_assert((int)ROOM <= (int)PR_CSV_PAD, "reads are never slowed down");

bool pr_csv_parse_u8(struct pr_csv_scan *s)
{
    while (s->end - s->p >= AHEAD && s->out_end - s->out >= ROOM) {
        struct kinds k = tell_64(s->p);
        uint64_t these = k.separators, newline;

        if (k.odd)
            these &= (k.odd & -k.odd) - 1;
        newline = k.newlines & these;
        if (newline)
            these &= newline ^ (newline - 1);
        if (!these || !are_short(k.separators, these) ||
            !csv_convert_fields(s, these))
            return false;
        if (newline)
            return true;
    }
    return false;
}

size_t pr_csv_count(const uint8_t *p, size_t len, uint8_t wanted)
{
    const __m128i byte = _mm_set1_epi8((char)wanted);
    size_t n = 0;

    while (len >= 16) { /* bytes count up to 255 */
        size_t steps = len / 16 < 255 ? len / 16 : 255;
        __m128i sum = _mm_setzero_si128();

        for (size_t i = 0; i < steps; i++, p += 16) {
            __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
            sum = _mm_sub_epi8(sum, _mm_cmpeq_epi8(x, byte));
        }
        sum = _mm_sad_epu8(sum, _mm_setzero_si128());
        n += (size_t)_mm_cvtsi128_si32(sum) +
             (size_t)_mm_cvtsi128_si32(_mm_srli_si128(sum, 8));
        len -= steps * 16;
    }
    for (; len; p++, len--)
        n += *p == wanted;
    return n;
}

#else

bool pr_csv_parse_u8(struct pr_csv_scan *s)
{
    (void)s;
    return false;
}

size_t pr_csv_count(const uint8_t *p, size_t len, uint8_t wanted)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += p[i] == wanted;
    return n;
}

#endif
