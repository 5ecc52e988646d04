/*
 * The text of csv files: elements as text, the writer that needs them so, and
 * text as elements, one field at a time or, of uint8, many.
 */
#include "base/mem.h"
#include "base/number.h"
#include "base/value.h"
#include "format/content.h"
#include "format/csv.h"

#include <endian.h>
#include <math.h>
#include <string.h>

/* ---- elements as text: whole numbers by tables, floating-point numbers as the
 * shortest text that reads back as the same number of their type */

void pr_csv_table_init(struct pr_csv_table *table)
{
    for (int i = 0; i < 256; i++) {
        char *p = table->text[i];

        if (i >= 100)
            *p++ = (char)('0' + i / 100);
        if (i >= 10)
            *p++ = (char)('0' + i / 10 % 10);
        *p++ = (char)('0' + i % 10);
        *p++ = ',';
        table->len[i] = (uint8_t)(p - table->text[i]);
    }
}

size_t pr_csv_widest(enum pr_dtype type)
{
    static const uint8_t widest[PR_DTYPE_COUNT] = {
        [PR_U8] = 4,   [PR_I8] = 5,   [PR_U16] = 6,  [PR_I16] = 7,
        [PR_U32] = 11, [PR_I32] = 12, [PR_U64] = 21, [PR_I64] = 21,
        [PR_F16] = 26, [PR_F32] = 26, [PR_F64] = 26, [PR_B8] = 6,
    };

    return widest[type];
}

/* ---- whole numbers */

/* Four bytes are always copied, only those of the number count. */
static char *put_u8(const struct pr_csv_table *table, uint8_t v, char *out)
{
    memcpy(out, table->text[v], 4);
    return out + table->len[v];
}

static char *put_i8(const struct pr_csv_table *table, int8_t v, char *out)
{
    *out = '-';
    return put_u8(table, (uint8_t)(v < 0 ? -v : v), out + (v < 0));
}

static char *put_u64(uint64_t v, char *out)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021"
                                "22232425262728293031323334353637383940414243"
                                "44454647484950515253545556575859606162636465"
                                "66676869707172737475767778798081828384858687"
                                "888990919293949596979899";
    char text[24], *end = text + sizeof text, *p = end;

    *--p = ',';
    for (; v >= 100; v /= 100) {
        p -= 2;
        memcpy(p, pairs + v % 100 * 2, 2);
    }
    if (v >= 10) {
        p -= 2;
        memcpy(p, pairs + v * 2, 2);
    } else {
        *--p = (char)('0' + v);
    }
    memcpy(out, p, (size_t)(end - p));
    return out + (end - p);
}

static char *put_i64(int64_t v, char *out)
{
    *out = '-';
    return put_u64(v < 0 ? -(uint64_t)v : (uint64_t)v, out + (v < 0));
}

static char *put_bool(bool v, char *out)
{
    memcpy(out, v ? "True, " : "False,", 6);
    return out + (v ? 5 : 6);
}

/* ---- elements as text: floating-point numbers */

double pr_csv_half_value(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double f = exponent == 31  ? (fraction ? NAN : INFINITY)
               : exponent == 0 ? ldexp(fraction, -24)
                               : ldexp(1024 + fraction, exponent - 25);

    return half >> 15 ? -f : f;
}

uint16_t pr_csv_half_of(double f)
{
    unsigned sign = signbit(f) ? 0x8000u : 0, bits;
    double a = fabs(f);
    int exponent;

    if (isnan(f)) {
        bits = 0x7e00;
    } else if (a >= 65520) { /* halfway beyond the largest */
        bits = 0x7c00;
    } else if (a < 0x1p-14) {
        bits = (unsigned)rint(a * 0x1p24);
    } else { /* what rounds up to the next power of two carries over */
        unsigned mantissa = (unsigned)rint(frexp(a, &exponent) * 2048);
        bits = ((unsigned)(exponent + 14) << 10) + mantissa - 1024;
    }
    return (uint16_t)(sign | bits);
}

static bool is_same_f32(double a, double b)
{
    return (float)a == (float)b;
}

static bool is_same_f16(double a, double b)
{
    return pr_csv_half_of(a) == pr_csv_half_of(b);
}

/* Also for a reader that rounds the decimal itself and not its double, which
 * is off by half a bit at most. */
static bool csv_is_round_trip(double q, double f, bool (*same)(double, double))
{
    return same(q * (1 - 0x1p-52), f) && same(q * (1 + 0x1p-52), f);
}

/* The double nearest to the decimal with the fewest digits, from least to most,
 * that reads back as f; its own shortest text is that decimal. */
static double csv_shorten_float(double f, int least, int most,
                                bool (*same)(double, double))
{
    static const double powers[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    };
    int whole = 1; /* digits before the point; 0.01 has -1 */
    int binary;

    /* Outside, all of its digits are as good. */
    if (!(f >= 1e-11 && f < 1e15))
        return f;
    while (f >= powers[whole])
        whole++;
    for (; whole <= 1 && f * powers[1 - whole] < 1; whole--)
        ;
    for (int n = least; n <= most; n++) {
        double scale = powers[n > whole ? n - whole : whole - n];
        double digits = rint(n > whole ? f * scale : f / scale);

        /* The nearest, or the next: a power of two has its neighbour below at
         * half the distance of the one above. */
        for (int next = 0; next <= (frexp(f, &binary) == 0.5 ? 1 : 0); next++) {
            double d = digits + next, q = n > whole ? d / scale : d * scale;
            if (csv_is_round_trip(q, f, same))
                return q;
        }
    }
    return f;
}

static char *csv_put_float(double f, char *out)
{
    char text[32];
    size_t len = pr_float_repr(text, f);

    memcpy(out, text, len);
    out[len] = ',';
    return out + len + 1;
}

static char *put_f32(float f, char *out)
{
    double q = csv_shorten_float(fabs((double)f), 6, 9, is_same_f32);

    return csv_put_float(signbit(f) ? -q : q, out);
}

static char *put_f16(uint16_t half, char *out)
{
    double f = pr_csv_half_value(half);
    double q = csv_shorten_float(fabs(f), 3, 5, is_same_f16);

    return csv_put_float(signbit(f) ? -q : q, out);
}

/* ---- elements as text: all types */

#define EACH(ctype, put)                        \
    for (size_t i = 0; i < n; i++) {            \
        ctype v;                                \
        memcpy(&v, p + i * sizeof v, sizeof v); \
        out = put;                              \
    }                                           \
    return out

char *pr_csv_text(const struct pr_csv_table *table, enum pr_dtype type,
                  const void *data, size_t n, char *out)
{
    const uint8_t *p = data;

    switch (type) {
    case PR_U8:
        EACH(uint8_t, put_u8(table, v, out));
    case PR_I8:
        EACH(int8_t, put_i8(table, v, out));
    case PR_U16:
        EACH(uint16_t, put_u64(v, out));
    case PR_I16:
        EACH(int16_t, put_i64(v, out));
    case PR_U32:
        EACH(uint32_t, put_u64(v, out));
    case PR_I32:
        EACH(int32_t, put_i64(v, out));
    case PR_U64:
        EACH(uint64_t, put_u64(v, out));
    case PR_I64:
        EACH(int64_t, put_i64(v, out));
    case PR_F16:
        EACH(uint16_t, put_f16(v, out));
    case PR_F32:
        EACH(float, put_f32(v, out));
    case PR_F64:
        EACH(double, csv_put_float(v, out));
    case PR_B8:
        EACH(uint8_t, put_bool(v, out));
    default:
        return out;
    }
}

/* ---- writing: elements are made a piece at a time and become text straight in
 * the stream, or in a block that is then compressed */

enum { TEXT_BLOCK = 64 << 10 };

/* Moves the block of text into the stream, compressed. */
static int flush_text(struct pr_csv_writer *x, bool last, struct pr_err *err)
{
    size_t len = x->used;

    x->used = 0;
    return pr_squeeze_put(&x->squeeze, &x->out, x->text, len, last, err);
}

/* Room for text, at least as much as an element needs unless it is at the end
 * of the stream's block. */
static int text_room(struct pr_csv_writer *x, bool gzip, char **ret,
                     size_t *ret_len, struct pr_err *err)
{
    uint8_t *room;
    int rc;

    if (gzip) {
        rc = TEXT_BLOCK - x->used < 32 ? flush_text(x, false, err) : PR_OK;
        *ret = x->text + x->used;
        *ret_len = TEXT_BLOCK - x->used;
        return rc;
    }
    rc = pr_out_room(&x->out, PR_OUT_BLOCK, &room, ret_len, err);
    if (!rc)
        *ret = (char *)room;
    return rc;
}

static void text_advance(struct pr_csv_writer *x, bool gzip, size_t len)
{
    if (gzip)
        x->used += len;
    else
        pr_out_advance(&x->out, len);
}

/* Elements of the piece; with the last of a row the row ends. */
static int put_elements(struct pr_csv_writer *x,
                        const struct pr_file_spec *spec, size_t n, bool ends,
                        struct pr_err *err)
{
    const uint8_t *data = (const uint8_t *)x->piece;
    size_t widest = pr_csv_widest(spec->dtype), done = 0;
    bool gzip = spec->compression == PR_GZIP;

    while (done < n) {
        char *room, *end, one[32];
        size_t len, fit;
        int rc = text_room(x, gzip, &room, &len, err);

        if (rc)
            return rc;
        fit = len / widest < n - done ? len / widest : n - done;
        end = pr_csv_text(&x->table, spec->dtype,
                          data + done * pr_dtype_bytes(spec->dtype),
                          fit ? fit : 1, fit ? room : one);
        done += fit ? fit : 1;
        if (ends && done == n)
            end[-1] = '\n';
        if (fit)
            text_advance(x, gzip, (size_t)(end - room));
        else
            rc = pr_out_put(&x->out, one, (size_t)(end - one), err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

static int csv_write_row(struct pr_writer *w, const struct pr_file_spec *spec,
                         uint64_t sample, struct pr_err *err)
{
    struct pr_csv_writer *x = w->data;
    uint64_t bytes = pr_spec_sample_bytes(spec);
    size_t size = pr_dtype_bytes(spec->dtype);

    for (uint64_t off = 0; off < bytes; off += sizeof x->piece) {
        uint64_t left = bytes - off;
        bool ends = left <= sizeof x->piece;
        size_t len = ends ? (size_t)left : sizeof x->piece;
        int rc;

        if (pr_writer_is_stopped(w))
            return pr_fail(err, PR_E_INTR, "", "interrupted");
        pr_content_fill(spec, sample, off, x->piece, len);
        rc = put_elements(x, spec, len / size, ends, err);
        if (rc)
            return rc;
    }
    return PR_OK;
}

/* What lasts for all files of the writer. */
static int csv_writer_prepare(struct pr_writer *w,
                              const struct pr_file_spec *spec,
                              struct pr_err *err)
{
    struct pr_csv_writer *x = w->data;

    if (!x->out.block) {
        int rc = pr_out_init(&x->out, w->st, err);
        if (rc)
            return rc;
        pr_csv_table_init(&x->table);
    }
    if (spec->compression != PR_GZIP)
        return PR_OK;
    if (!x->text)
        x->text = pr_alloc(TEXT_BLOCK);
    if (!x->text)
        return pr_fail_nomem(err);
    x->used = 0;
    return pr_squeeze_start(&x->squeeze, spec->level, PR_WRAP_GZIP, err);
}

int pr_csv_write(struct pr_writer *w, const struct pr_file_spec *spec,
                 const char *name, uint64_t *ret_bytes, struct pr_err *err)
{
    struct pr_csv_writer *x = w->data;
    uint64_t bytes;
    int rc = csv_writer_prepare(w, spec, err);

    /* The size is not known before, so none is asked for. */
    if (!rc)
        rc = pr_out_create(&x->out, name, 0, err);
    for (uint64_t i = 0; !rc && i < spec->samples; i++)
        rc = csv_write_row(w, spec, i, err);
    if (!rc && spec->compression == PR_GZIP)
        rc = flush_text(x, true, err);
    bytes = pr_out_offset(&x->out);
    if (!rc)
        rc = pr_out_commit(&x->out, err);
    if (rc)
        pr_out_discard(&x->out);
    else
        *ret_bytes = bytes;
    return rc;
}

void pr_csv_writer_done(struct pr_writer *w)
{
    struct pr_csv_writer *x = w->data;

    pr_squeeze_done(&x->squeeze);
    pr_free(x->text);
}

/* ---- text as elements: rows of uint8 at the speed of memory */

/* 64 characters are told apart at once, and the commas found make numbers of
 * the digits between them without a branch that depends on the data. What is
 * out of the ordinary (blanks, signs, leading zeros, errors) is left to the
 * parser of one field at a time. */

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

/* ---- text as elements, one field at a time. A field is a number with blanks
 * around it; a comma, the end of the line or the end of the text ends it. */

static bool csv_is_digit(uint8_t c)
{
    return (unsigned)c - '0' < 10;
}

static const uint8_t *csv_skip_blanks(const uint8_t *p, const uint8_t *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

/* ---- whole numbers */

/* The value of the digits that a word of eight characters starts with. A byte
 * that is none shows above its lower half, at once or after adding six; what
 * that carries goes only to bytes behind it. */
static inline uint64_t read_eight(uint64_t word, unsigned *ret_len)
{
    uint64_t x = word ^ 0x3030303030303030u;
    uint64_t other = (x | (x + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u;
    unsigned len = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;

    *ret_len = len;
    if (!len)
        return 0;
    x <<= 64 - 8 * len; /* zeros in front; the last digit is the top byte */
    x = (x * 10 + (x >> 8)) & 0x00ff00ff00ff00ffu;
    x = (x * 100 + (x >> 16)) & 0x0000ffff0000ffffu;
    return (x * 10000 + (x >> 32)) & 0xffffffffu;
}

static inline uint64_t load_eight(const uint8_t *p, const uint8_t *end)
{
    uint64_t word = 0;

    if (end - p >= 8)
        memcpy(&word, p, 8);
    else
        memcpy(&word, p, (size_t)(end - p));
    return le64toh(word);
}

/* The digits at p; false when there is none. *ret_over: more than 64 bits. */
static inline bool take_digits(const uint8_t **pp, const uint8_t *end,
                               uint64_t *ret, bool *ret_over)
{
    static const uint32_t powers[] = {
        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    unsigned len;
    uint64_t v = read_eight(load_eight(*pp, end), &len);

    *ret_over = false;
    if (!len)
        return false;
    *pp += len;
    while (len == 8) {
        uint64_t part = read_eight(load_eight(*pp, end), &len);
        *ret_over |= __builtin_mul_overflow(v, powers[len], &v) ||
                     __builtin_add_overflow(v, part, &v);
        *pp += len;
    }
    *ret = v;
    return true;
}

struct range {
    uint64_t above, below; /* the largest, and the smallest without its sign */
};

static inline bool csv_parse_integer(const uint8_t **pp, const uint8_t *end,
                                     struct range range, uint64_t *ret,
                                     enum pr_csv_why *why)
{
    bool negative = **pp == '-', over;
    uint64_t v;

    *pp += negative | (**pp == '+');
    if (!take_digits(pp, end, &v, &over)) {
        *why = PR_CSV_NO_NUMBER;
        return false;
    }
    *why = PR_CSV_RANGE;
    *ret = negative ? -v : v;
    return !over && v <= (negative ? range.below : range.above);
}

/* Elements of all byte orders: through a value of their own type. */
#define WHOLE(name, ctype, most, least)                                        \
    static inline bool name(const uint8_t **pp, const uint8_t *end,            \
                            uint8_t *out, enum pr_csv_why *why)                \
    {                                                                          \
        uint64_t v;                                                            \
        ctype e;                                                               \
        if (!csv_parse_integer(pp, end, (struct range){most, least}, &v, why)) \
            return false;                                                      \
        e = (ctype)v;                                                          \
        memcpy(out, &e, sizeof e);                                             \
        return true;                                                           \
    }

WHOLE(take_u8, uint8_t, UINT8_MAX, 0)
WHOLE(take_i8, int8_t, INT8_MAX, (uint64_t)INT8_MAX + 1)
WHOLE(take_u16, uint16_t, UINT16_MAX, 0)
WHOLE(take_i16, int16_t, INT16_MAX, (uint64_t)INT16_MAX + 1)
WHOLE(take_u32, uint32_t, UINT32_MAX, 0)
WHOLE(take_i32, int32_t, INT32_MAX, (uint64_t)INT32_MAX + 1)
WHOLE(take_u64, uint64_t, UINT64_MAX, 0)
WHOLE(take_i64, int64_t, INT64_MAX, (uint64_t)INT64_MAX + 1)

/* ---- text as elements: other types */

static bool csv_parse_word(const uint8_t **pp, const uint8_t *end,
                           const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(end - *pp) < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (((*pp)[i] | 32) != word[i])
            return false;
    *pp += n;
    return true;
}

/* True, true, 1 and so on. */
static bool take_b8(const uint8_t **pp, const uint8_t *end, uint8_t *out,
                    enum pr_csv_why *why)
{
    const uint8_t *p = *pp;

    *why = PR_CSV_NO_NUMBER;
    if (*p == '0' || *p == '1') {
        *out = *p == '1';
        *pp = p + 1;
        return true;
    }
    *out = csv_parse_word(pp, end, "true");
    return *out || csv_parse_word(pp, end, "false");
}

static const uint8_t *csv_skip_digits(const uint8_t *p, const uint8_t *end)
{
    while (p < end && csv_is_digit(*p))
        p++;
    return p;
}

/* The end of the number at p, its sign left out; NULL: it is none. */
static const uint8_t *number_end(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *start = p, *e;
    ptrdiff_t digits;

    p = csv_skip_digits(p, end);
    digits = p - start;
    if (p < end && *p == '.') {
        start = p + 1;
        p = csv_skip_digits(start, end);
        digits += p - start;
    }
    if (!digits)
        return NULL;
    if (p == end || (*p | 32) != 'e')
        return p;
    e = p + 1;
    e += e < end && (*e == '-' || *e == '+');
    p = csv_skip_digits(e, end);
    return p > e ? p : NULL;
}

static bool take_double(const uint8_t **pp, const uint8_t *end, double *ret,
                        enum pr_csv_why *why)
{
    const uint8_t *p = *pp, *number_stop;
    bool negative = *p == '-';

    p += negative | (*p == '+');
    *why = PR_CSV_NO_NUMBER;
    number_stop = number_end(p, end);
    if (number_stop) {
        double f = pr_decimal_read((const char *)p, (size_t)(number_stop - p));
        *ret = negative ? -f : f;
        *pp = number_stop;
        *why = PR_CSV_RANGE;
        return !isinf(f);
    }
    *pp = p;
    if (csv_parse_word(pp, end, "infinity") || csv_parse_word(pp, end, "inf"))
        *ret = negative ? -INFINITY : INFINITY;
    else if (csv_parse_word(pp, end, "nan"))
        *ret = NAN;
    else
        return false;
    return true;
}

static bool take_f64(const uint8_t **pp, const uint8_t *end, uint8_t *out,
                     enum pr_csv_why *why)
{
    double f;

    if (!take_double(pp, end, &f, why))
        return false;
    memcpy(out, &f, sizeof f);
    return true;
}

static bool take_f32(const uint8_t **pp, const uint8_t *end, uint8_t *out,
                     enum pr_csv_why *why)
{
    double f;
    float e;

    if (!take_double(pp, end, &f, why))
        return false;
    e = (float)f;
    memcpy(out, &e, sizeof e);
    *why = PR_CSV_RANGE;
    return isinf(f) || !isinf(e);
}

static bool take_f16(const uint8_t **pp, const uint8_t *end, uint8_t *out,
                     enum pr_csv_why *why)
{
    double f;
    uint16_t e;

    if (!take_double(pp, end, &f, why))
        return false;
    e = pr_csv_half_of(f);
    memcpy(out, &e, sizeof e);
    *why = PR_CSV_RANGE;
    return isinf(f) || (e & 0x7fff) != 0x7c00;
}

/* ---- text as elements: rows */

static bool csv_is_field_end(const uint8_t *p, const uint8_t *end)
{
    return p == end || *p == ',' || *p == '\n' || *p == '\r';
}

/* Past what ends a field: a comma, or the end of the row. False: neither. */
static bool take_end(const uint8_t **pp, const uint8_t *end, bool *ret_row)
{
    const uint8_t *p = *pp;

    *ret_row = true;
    if (p == end)
        return true;
    if (*p == '\r' && (p + 1 == end || p[1] == '\n'))
        p += p + 1 < end;
    else if (*p == ',')
        *ret_row = false;
    else if (*p != '\n')
        return false;
    *pp = p + 1;
    return true;
}

static enum pr_csv_end csv_fail_field(struct pr_csv_scan *s,
                                      enum pr_csv_why why)
{
    s->why = why;
    return PR_CSV_BAD;
}

/* Made anew for each type, so that take is no call. */
static inline __attribute__((always_inline)) enum pr_csv_end
csv_parse_row(struct pr_csv_scan *s, size_t bytes,
              bool (*take)(const uint8_t **, const uint8_t *, uint8_t *,
                           enum pr_csv_why *))
{
    for (;;) {
        const uint8_t *p;
        bool row;

        if (s->p == s->end && !s->last)
            return PR_CSV_MORE;
        p = csv_skip_blanks(s->p, s->end);
        if (csv_is_field_end(p, s->end))
            return csv_fail_field(s, PR_CSV_EMPTY);
        if ((size_t)(s->out_end - s->out) < bytes)
            return PR_CSV_FULL;
        if (!take(&p, s->end, s->out, &s->why))
            return PR_CSV_BAD;
        p = csv_skip_blanks(p, s->end);
        if (!take_end(&p, s->end, &row))
            return csv_fail_field(s, PR_CSV_NO_NUMBER);
        s->p = p;
        s->out += bytes;
        if (row)
            return PR_CSV_ROW;
    }
}

enum pr_csv_end pr_csv_parse_plainly(enum pr_dtype type, struct pr_csv_scan *s)
{
    switch (type) {
    case PR_U8:
        return csv_parse_row(s, 1, take_u8);
    case PR_I8:
        return csv_parse_row(s, 1, take_i8);
    case PR_U16:
        return csv_parse_row(s, 2, take_u16);
    case PR_I16:
        return csv_parse_row(s, 2, take_i16);
    case PR_U32:
        return csv_parse_row(s, 4, take_u32);
    case PR_I32:
        return csv_parse_row(s, 4, take_i32);
    case PR_U64:
        return csv_parse_row(s, 8, take_u64);
    case PR_I64:
        return csv_parse_row(s, 8, take_i64);
    case PR_F16:
        return csv_parse_row(s, 2, take_f16);
    case PR_F32:
        return csv_parse_row(s, 4, take_f32);
    case PR_F64:
        return csv_parse_row(s, 8, take_f64);
    case PR_B8:
        return csv_parse_row(s, 1, take_b8);
    default:
        return csv_fail_field(s, PR_CSV_NO_NUMBER);
    }
}

enum pr_csv_end pr_csv_parse(enum pr_dtype type, struct pr_csv_scan *s)
{
    if (type == PR_U8 && pr_csv_parse_u8(s))
        return PR_CSV_ROW;
    return pr_csv_parse_plainly(type, s);
}
