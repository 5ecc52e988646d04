/*
 * Decimal text to doubles, exact to the last bit and deaf to the locale. The
 * way back is pr_float_repr (base/value.h, by number.c), or so many digits
 * after the point.
 */
#ifndef PR_BASE_NUMBER_H
#define PR_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The text must be digits with at most one point and an optional exponent, as
 * its caller has checked: "12", "1.", ".5", "-1e+5". Underscores are skipped.
 * The nearest double, infinite when too large. */
double pr_decimal_read(const char *s, size_t len);

/* How many bytes from s on are a number as Python's float() takes one, but for
 * its words for what is not finite: a sign, digits with single underscores
 * between them, a point, an exponent. 0: none. */
size_t pr_decimal_length(const char *s, size_t len);

/* What printf writes for "%.*f" with up to three digits, several times faster
 * and with a point in any locale. Returns the bytes, without a NUL; 0: the
 * number is not below 1e15, or no number, and printf has to do it. */
enum { PR_DECIMAL_FIXED_MAX = 24 };
size_t pr_decimal_fixed(double f, unsigned digits,
                        char out[static PR_DECIMAL_FIXED_MAX]);

/* The digits at p, up to eight of them, and what they say. Eight bytes must be
 * there to look at. Pairs of digits are multiplied, then pairs of these, side
 * by side in one word. */
static inline unsigned pr_decimal_read_eight(const char *p, uint32_t *ret)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t w, other;
    unsigned n;

    memcpy(&w, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    w ^= 0x30 * ones;
    other = (w | (w + 0x76 * ones)) & 0x80 * ones; /* above 9 */
    n = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
    if (!n)
        return 0;
    w <<= 8 * (8 - n); /* zeros before the first */
    w = w * 2561 >> 8; /* 10 · 256 + 1 */
    w = (w & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
    *ret = (uint32_t)((w & 0x0000ffff0000ffffu) * 42949672960001u >> 32);
    return n;
}

#endif
