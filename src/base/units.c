/* Numbers with units, both ways. */
#include "base/units.h"

#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies s without underscores that stand between digits. False when it has
 * one elsewhere, or is too long to be a number. */
static bool plain_number(const char *s, char out[static 64])
{
    size_t n = 0;

    for (const char *p = s; *p; p++) {
        bool digit_before = p > s && p[-1] >= '0' && p[-1] <= '9';
        if (*p == '_') {
            if (!digit_before || p[1] < '0' || p[1] > '9')
                return false;
            continue;
        }
        if (n == 63)
            return false;
        out[n++] = *p;
    }
    out[n] = '\0';
    return n > 0;
}

bool pr_parse_int(const char *s, int64_t *ret)
{
    char text[64];
    char *end;
    long long i;

    if (!plain_number(s, text) || strspn(text, "+-0123456789") != strlen(text))
        return false;
    errno = 0;
    i = strtoll(text, &end, 10);
    if (*end || end == text || errno)
        return false;
    *ret = i;
    return true;
}

/* A sign, digits with at most one point, an exponent; nothing else. */
static bool units_is_decimal(const char *s, size_t n, size_t *ret_digits)
{
    const char *end = s + n;
    size_t digits = 0, points = 0;

    s += s < end && (*s == '+' || *s == '-');
    for (; s < end && ((*s >= '0' && *s <= '9') || *s == '.'); s++) {
        points += *s == '.';
        digits += *s != '.';
    }
    *ret_digits = digits;
    if (s == end || points > 1)
        return points <= 1;
    if (*s++ != 'e' && s[-1] != 'E')
        return false;
    s += s < end && (*s == '+' || *s == '-');
    if (s == end)
        return false;
    while (s < end && *s >= '0' && *s <= '9')
        s++;
    return s == end;
}

/* Leading number of text; the rest, blanks skipped, to *ret_rest. */
static bool leading_float(const char *text, double *ret, const char **ret_rest)
{
    size_t n = strspn(text, "+-0123456789.eE");
    size_t digits;

    /* "1e" of "1exa" would be taken for an exponent: back off to digits. */
    while (n && (text[n - 1] == 'e' || text[n - 1] == 'E'))
        n--;
    if (!units_is_decimal(text, n, &digits) || !digits)
        return false;
    *ret = pr_decimal_read(text, n);
    /* Too small is 0, as in Python; too large is refused. */
    if (!isfinite(*ret))
        return false;
    for (text += n; *text == ' '; text++)
        ;
    *ret_rest = text;
    return true;
}

bool pr_parse_float(const char *s, double *ret)
{
    char text[64];
    const char *rest;
    double f;

    if (!plain_number(s, text) || !leading_float(text, &f, &rest) || *rest)
        return false;
    *ret = f;
    return true;
}

bool pr_parse_size(const char *s, uint64_t *ret_bytes)
{
    static const char letters[] = "kMGTP";
    char text[64];
    const char *rest, *letter;
    double f, scale = 1;
    int64_t whole;

    /* A double would round what is above 2^53. */
    if (pr_parse_int(s, &whole) && whole >= 0) {
        *ret_bytes = (uint64_t)whole;
        return true;
    }
    if (!plain_number(s, text) || !leading_float(text, &f, &rest) || f < 0)
        return false;
    letter = *rest ? strchr(letters, *rest == 'K' ? 'k' : *rest) : NULL;
    if (letter) {
        bool binary = rest[1] == 'i';
        scale = pow(binary ? 1024 : 1000, (double)(letter - letters + 1));
        rest += binary ? 2 : 1;
    }
    rest += *rest == 'B';
    if (*rest || f * scale >= 18446744073709551615.0)
        return false;
    *ret_bytes = (uint64_t)(f * scale + 0.5);
    return true;
}

bool pr_parse_seconds(const char *s, double *ret_s)
{
    static const struct {
        const char *unit;
        double scale;
    } units[] = {{"", 1},   {"s", 1},    {"ms", 1e-3}, {"us", 1e-6},
                 {"m", 60}, {"min", 60}, {"h", 3600},  {"d", 86400}};
    char text[64];
    const char *rest;
    double f;

    if (!plain_number(s, text) || !leading_float(text, &f, &rest) || f < 0)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(rest, units[i].unit) == 0) {
            *ret_s = f * units[i].scale;
            return true;
        }
    }
    return false;
}

const char *pr_format_bytes(char out[static 16], uint64_t bytes)
{
    static const char *const units[] = {"B",  "kB", "MB", "GB",
                                        "TB", "PB", "EB"};
    double f = (double)bytes;
    size_t u = 0;

    while (f >= 999.5 && u + 1 < sizeof units / sizeof *units) {
        f /= 1000;
        u++;
    }
    snprintf(out, 16, u && f < 99.95 ? "%.1f %s" : "%.0f %s", f, units[u]);
    return out;
}

const char *pr_format_seconds(char out[static 24], double s)
{
    if (s < 0.0009995)
        snprintf(out, 24, "%.0f µs", s * 1e6);
    else if (s < 0.00995)
        snprintf(out, 24, "%.1f ms", s * 1e3);
    else if (s < 0.9995)
        snprintf(out, 24, "%.0f ms", s * 1e3);
    else if (s < 59.95)
        snprintf(out, 24, "%.1f s", s);
    else if (s < 3599.5)
        snprintf(out, 24, "%d min %02d s", (int)(s + 0.5) / 60,
                 (int)(s + 0.5) % 60);
    else if (s < 1e12)
        snprintf(out, 24, "%.0f h %02d min", floor((s + 30) / 3600),
                 (int)fmod((s + 30) / 60, 60));
    else /* nobody waits for it; no number, maybe, and then no minutes either */
        snprintf(out, 24, "%.3g h", s / 3600);
    return out;
}
