/*
 * Decimal text to doubles, exact to the last bit and deaf to the locale. The
 * way back is pr_float_repr (base/value.h).
 */
#ifndef PR_BASE_DECIMAL_H
#define PR_BASE_DECIMAL_H

#include <stddef.h>

/* The text must be digits with at most one point and an optional exponent, as
 * its caller has checked: "12", "1.", ".5", "-1e+5". Underscores are skipped.
 * The nearest double, infinite when too large. */
double pr_decimal_read(const char *s, size_t len);

#endif
