/*
 * The list of rates of a rank. All that is exact is at its end: the slices
 * that count. Those before are passed over, or, for a curve, read roughly.
 */
#include "analyse/suite_rates.h"

#include "base/json_scan.h"

#include <math.h>
#include <string.h>

/* ---- the part that only a curve needs */

/* Ten to the power of -n, or n. */
static double scaled(uint64_t digits, int exponent)
{
    return (double)digits * pow(10, exponent);
}

/* A number up to a comma, to some fifteen digits; NaN: none. */
static double rough(const char *p, const char *end)
{
    static const double tenth[] = {
        1e0,   1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,  1e-8, 1e-9,
        1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18};
    uint64_t digits = 0;
    unsigned places = 0;
    bool minus, point = false;

    while (p < end && (unsigned char)*p <= ' ')
        p++;
    minus = p < end && *p == '-';
    p += minus;
    if (p == end || *p < '0' || *p > '9')
        return (double)NAN;
    for (; p < end && ((*p >= '0' && *p <= '9') || *p == '.'); p++) {
        if (*p == '.')
            point = true;
        else if (digits < UINT64_MAX / 100 && places < 18) {
            digits = digits * 10 + (uint64_t)(*p - '0');
            places += point;
        } else if (!point)
            return (double)NAN;
    }
    if (p < end && (*p | 32) == 'e') {
        int e = 0;
        bool less = p + 1 < end && p[1] == '-';
        for (p++; p < end && e < 400 && *p != ','; p++)
            if (*p >= '0' && *p <= '9')
                e = e * 10 + (*p - '0');
        return scaled(digits, (less ? -e : e) - (int)places) * (minus ? -1 : 1);
    }
    return (double)digits * tenth[places] * (minus ? -1 : 1);
}

static void take_early(struct pr_suite_slices *s, const char *p,
                       const char *end, size_t count)
{
    if (!s->points) {
        s->count += count;
        return;
    }
    while (p < end) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        pr_suite_slices_add(s, rough(p, comma ? comma : end));
        p = (comma ? comma : end) + 1;
    }
}

/* Lines are a few numbers each: memchr beats a look at every byte. */
static size_t count_lines(const char *p, const char *end)
{
    size_t n = 0;

    while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
        n++;
        p++;
    }
    return n;
}

/* Where the last twenty begin, and how many are before them. from: there are
 * no more than that. */
static const char *find_last(const char *from, const char *end,
                             size_t *ret_early)
{
    const char *after[PR_SUITE_STEADY]; /* the last commas */
    size_t commas = 0;

    for (const char *p = from; (p = memchr(p, ',', (size_t)(end - p)));
         commas++)
        after[commas % PR_SUITE_STEADY] = ++p;
    if (commas < PR_SUITE_STEADY)
        return from;
    *ret_early = commas + 1 - PR_SUITE_STEADY;
    return after[commas % PR_SUITE_STEADY];
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
    last = find_last(from, end, &n);
    if (last == from)
        return;
    take_early(s, from, last - 1, n);
    scan->line += (unsigned)count_lines(from, last);
    scan->pos = last;
    from = memrchr(scan->line_start, '\n', (size_t)(last - scan->line_start));
    scan->line_start = from ? from + 1 : scan->line_start;
}

/* ---- all */

static int take_one(struct pr_json_scan *scan, struct pr_suite_slices *s)
{
    struct pr_value v = {0};
    int rc;

    pr_json_skip_space(scan);
    if (scan->pos == scan->end)
        return pr_json_wrong(scan, scan->pos, "the text ends inside a list");
    rc = strchr("\"[{", *scan->pos) ? pr_json_scan_skip(scan)
                                    : pr_json_scan_word(scan, &v);
    if (!rc)
        pr_suite_slices_add(s, pr_is_number(&v) ? pr_number(&v) : (double)NAN);
    return rc;
}

int pr_suite_rates_take(struct pr_json_walk *w, struct pr_suite_slices *s,
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
        int rc = take_one(&scan, s);
        if (rc)
            return rc;
        pr_json_skip_space(&scan);
        more = scan.pos < scan.end && *scan.pos == ',';
        scan.pos += more;
    }
    if (scan.pos == scan.end || *scan.pos != ']')
        return pr_json_wrong(&scan, scan.pos, "expected ',' or ']'");
    w->pos = scan.pos + 1;
    w->text = scan.line_start;
    w->line = scan.line;
    return PR_OK;
}
