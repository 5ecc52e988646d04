/*
 * The list of rates of a rank. All that is exact is at its end: the slices
 * that count. Those before are passed over, or, for a curve, read roughly.
 */
#include "analyse/results/suite_rates.h"

#include "base/json/json_read.h"
#include "base/json/json_walk.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

/* ---- the part that only a curve needs */

enum { MOST_PLACES = 18 };

static const double tenth[] = {1e0,   1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,
                               1e-7,  1e-8,  1e-9,  1e-10, 1e-11, 1e-12, 1e-13,
                               1e-14, 1e-15, 1e-16, 1e-17, 1e-18};

/* Digits before and after the point. */
struct digits {
    uint64_t all;
    unsigned places; /* after it */
};

enum { PLAIN = 32 }; /* bytes that are looked at, at most */

/* Past "318.7812345678901": up to eight digits, a point, up to sixteen, and no
 * more than eighteen in all. NULL: another number. PLAIN bytes are there. */
static const char *read_plain(const char *p, struct digits *ret)
{
    static const uint64_t tens[] = {1,      10,      100,      1000,     10000,
                                    100000, 1000000, 10000000, 100000000};
    uint32_t whole = 0, part = 0, rest = 0;
    unsigned before = pr_decimal_read_eight(p, &whole), n, more = 0;

    if (!before || p[before] != '.')
        return NULL;
    p += before + 1;
    n = pr_decimal_read_eight(p, &part);
    p += n;
    if (n == 8) {
        more = pr_decimal_read_eight(p, &rest);
        p += more;
    }
    if (!n || before + n + more > MOST_PLACES || (*p >= '0' && *p <= '9') ||
        (*p | 32) == 'e')
        return NULL;
    ret->all = (whole * tens[n] + part) * tens[more] + rest;
    ret->places = n + more;
    return p;
}

/* From the first digit to what is none; NULL: too large to be rough about. */
static const char *rates_read_digits(const char *p, const char *end,
                                     struct digits *ret)
{
    struct digits d = {0};
    bool point = false;

    for (; p < end && ((*p >= '0' && *p <= '9') || *p == '.'); p++) {
        if (*p == '.')
            point = true;
        else if (d.all < UINT64_MAX / 100 && d.places < MOST_PLACES) {
            d.all = d.all * 10 + (uint64_t)(*p - '0');
            d.places += point;
        } else if (!point)
            return NULL;
    }
    *ret = d;
    return p;
}

/* What is after the letter. */
static int rates_read_exponent(const char *p, const char *end)
{
    bool less = p < end && *p == '-';
    int e = 0;

    for (; p < end && e < 400 && *p != ','; p++)
        if (*p >= '0' && *p <= '9')
            e = e * 10 + (*p - '0');
    return less ? -e : e;
}

/* Any number, to some fifteen digits; NaN: none. */
static double read_rough_number(const char *p, const char *end)
{
    struct digits d;
    bool minus = p < end && *p == '-';
    double v;

    p += minus;
    if (p == end || *p < '0' || *p > '9')
        return (double)NAN;
    p = rates_read_digits(p, end, &d);
    if (!p)
        return (double)NAN;
    v = p < end && (*p | 32) == 'e'
            ? (double)d.all *
                  pow(10, rates_read_exponent(p + 1, end) - (int)d.places)
            : (double)d.all * tenth[d.places];
    return minus ? -v : v;
}

static const char *rates_skip_space(const char *p, const char *end)
{
    do {
        while (p < end && (unsigned char)*p < ' ')
            p++;
        p = pr_json_skip_blanks(p, end);
    } while (p < end && (unsigned char)*p < ' ');
    return p;
}

/* Up to a comma or the end. The last twenty are behind that. */
static const char *rates_add_one_early(struct pr_suite_slices *s, const char *p,
                                       const char *end)
{
    const char *start = rates_skip_space(p, end), *after, *comma;
    struct digits d;

    after = start < end ? read_plain(start, &d) : NULL;
    if (after && after <= end && (after == end || *after == ',')) {
        pr_suite_slices_add(s, (double)d.all * tenth[d.places]);
        return after;
    }
    comma = memchr(p, ',', (size_t)(end - p));
    comma = comma ? comma : end;
    pr_suite_slices_add(
        s, read_rough_number(start < comma ? start : comma, comma));
    return comma;
}

static void rates_add_early(struct pr_suite_slices *s, const char *p,
                            const char *end, size_t count)
{
    if (!s->points) {
        s->count += count;
        return;
    }
    for (; p < end; p++)
        p = rates_add_one_early(s, p, end);
}

/* Where the last twenty begin, and how many are before them. from: there are
 * no more than that. */
static const char *find_last_rates(const char *from, const char *end,
                                   size_t *ret_early)
{
    size_t commas = pr_count_byte(from, end, ',');

    if (commas < PR_SUITE_STEADY)
        return from;
    for (int i = 0; i < PR_SUITE_STEADY; i++)
        end = memrchr(from, ',', (size_t)(end - from));
    *ret_early = commas + 1 - PR_SUITE_STEADY;
    return end + 1;
}

/* After the bracket: past all but the last twenty. A list that holds more than
 * numbers is left alone. */
static void skip_early(struct pr_json_scan *scan, struct pr_suite_slices *s)
{
    const char *from = scan->pos, *last;
    const char *end = memchr(from, ']', (size_t)(scan->end - from));
    size_t n = 0;

    if (!end || memchr(from, '"', (size_t)(end - from)) ||
        memchr(from, '[', (size_t)(end - from)) ||
        memchr(from, '{', (size_t)(end - from)))
        return;
    last = find_last_rates(from, end, &n);
    if (last == from)
        return;
    rates_add_early(s, from, last - 1, n);
    scan->line += (unsigned)pr_count_byte(from, last, '\n');
    scan->pos = last;
    from = memrchr(scan->line_start, '\n', (size_t)(last - scan->line_start));
    scan->line_start = from ? from + 1 : scan->line_start;
}

/* ---- all */

static int rates_read_one(struct pr_json_scan *scan, struct pr_suite_slices *s)
{
    struct pr_value v = {0};
    int rc;

    pr_json_skip_space(scan);
    if (scan->pos == scan->end)
        return pr_json_scan_fail(scan, scan->pos,
                                 "the text ends inside a list");
    rc = strchr("\"[{", *scan->pos) ? pr_json_scan_skip(scan)
                                    : pr_json_scan_word(scan, &v);
    if (!rc)
        pr_suite_slices_add(s, pr_value_is_number(&v) ? pr_value_number(&v)
                                                      : (double)NAN);
    return rc;
}

int pr_milarun_rates_read(struct pr_json_walk *w, struct pr_suite_slices *s,
                          struct pr_arena *scratch, struct pr_err *err)
{
    struct pr_json_scan scan = {.pos = w->pos,
                                .end = w->end,
                                .line_start = w->text,
                                .name = w->name,
                                .line = w->line,
                                .arena = scratch,
                                .err = err};
    bool more;

    pr_json_skip_space(&scan);
    scan.pos++; /* the bracket */
    skip_early(&scan, s);
    pr_json_skip_space(&scan);
    more = scan.pos == scan.end || *scan.pos != ']';
    while (more) {
        int rc = rates_read_one(&scan, s);
        if (rc)
            return rc;
        pr_json_skip_space(&scan);
        more = scan.pos < scan.end && *scan.pos == ',';
        scan.pos += more;
    }
    if (scan.pos == scan.end || *scan.pos != ']')
        return pr_json_scan_fail(&scan, scan.pos, "expected ',' or ']'");
    w->pos = scan.pos + 1;
    w->text = scan.line_start;
    w->line = scan.line;
    return PR_OK;
}
