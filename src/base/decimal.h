/*
 * Decimal text to doubles, exact to the last bit and deaf to the locale. The
 * way back is pr_float_repr (base/value.h), or so many digits after the point.
 */
#ifndef PR_BASE_DECIMAL_H
#define PR_BASE_DECIMAL_H

#include <stddef.h>

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

#endif
