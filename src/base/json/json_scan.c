/*
 * The words of JSON. Plain strings and whole numbers are the bulk of a plan,
 * so both have a short way: eight bytes of a string at a time, and digits
 * without a library call.
 */
#include "base/json/json_scan.h"

#include "base/decimal.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

int pr_json_scan_fail(struct pr_json_scan *s, const char *at, const char *what)
{
    return pr_fail_at(s->err, PR_E_FORMAT, s->name, s->line,
                      pr_json_scan_column(s, at), "not valid JSON: %s", what);
}

void pr_json_skip_lines(struct pr_json_scan *s)
{
    for (;; s->pos++) {
        s->pos = pr_json_skip_blanks(s->pos, s->end);
        if (s->pos == s->end)
            return;
        if (*s->pos == '\n') {
            s->line++;
            s->line_start = s->pos + 1;
        } else if (*s->pos != '\t' && *s->pos != '\r') {
            return;
        }
    }
}

static int json_read_hex4(struct pr_json_scan *s, const char *p,
                          unsigned *ret_code)
{
    unsigned code = 0;

    if (s->end - p < 4)
        return pr_json_scan_fail(s, p, "\\u wants four hexadecimal digits");
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (unsigned)((c | 32) - 'a' + 10);
        else
            return pr_json_scan_fail(s, p, "\\u wants four hexadecimal digits");
        code = code * 16 + digit;
    }
    *ret_code = code;
    return PR_OK;
}

/* At the 'u'. Half a surrogate pair becomes U+FFFD. */
static int read_unicode(struct pr_json_scan *s, const char **p, char **out)
{
    unsigned code, low;
    int rc = json_read_hex4(s, *p + 1, &code);

    if (rc)
        return rc;
    *p += 5;
    if (code >= 0xd800 && code < 0xdc00 && s->end - *p >= 6 &&
        (*p)[0] == '\\' && (*p)[1] == 'u') {
        rc = json_read_hex4(s, *p + 2, &low);
        if (rc)
            return rc;
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            *p += 6;
        }
    }
    if (code >= 0xd800 && code < 0xe000)
        code = 0xfffd;
    *out += pr_utf8_put(*out, code);
    return PR_OK;
}

/* At the letter after a backslash. */
static int read_escape(struct pr_json_scan *s, const char **p, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found;

    if (**p == 'u')
        return read_unicode(s, p, out);
    found = **p ? strchr(from, **p) : NULL;
    if (!found)
        return pr_json_scan_fail(s, *p - 1, "unknown escape in a string");
    *(*out)++ = to[found - from];
    (*p)++;
    return PR_OK;
}

static bool json_is_plain_in_text(char c)
{
    unsigned char u = (unsigned char)c;

    return u >= 0x20 && u < 0x80 && c != '"' && c != '\\';
}

/* Past the bytes that stand for themselves: printable ASCII without quote and
 * backslash. Eight at a time: a byte's high bit in stop is set when it is none
 * of those (or, after one that is none, perhaps wrongly: hence the loop). */
static const char *skip_plain(const char *p, const char *end)
{
    const uint64_t ones = 0x0101010101010101u, high = ones << 7;

    for (; end - p >= 8; p += 8) {
        uint64_t w, quote, slash, stop;

        memcpy(&w, p, 8);
        quote = w ^ ones * '"';
        slash = w ^ ones * '\\';
        stop = (w | (w - ones * 0x20) | (quote - ones) | (slash - ones)) & high;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        if (stop)
            return p + __builtin_ctzll(stop) / 8;
#else
        if (stop)
            break;
#endif
    }
    while (p < end && json_is_plain_in_text(*p))
        p++;
    return p;
}

/* The closing quote of a string with escapes, or end. */
static const char *find_quote(const char *p, const char *end)
{
    while (p < end && *p != '"')
        p += *p == '\\' && p + 1 < end ? 2 : 1;
    return p;
}

static int json_decode_string(struct pr_json_scan *s, const char *p,
                              const char *quote, char **out)
{
    while (p < quote) {
        const char *plain = skip_plain(p, quote);
        size_t n = (size_t)(plain - p);
        int rc;

        memcpy(*out, p, n);
        *out += n;
        p = plain;
        if (p == quote)
            break;
        if (*p == '\\') {
            p++;
            rc = read_escape(s, &p, out);
            if (rc)
                return rc;
            continue;
        }
        if ((unsigned char)*p < 0x20)
            return pr_json_scan_fail(s, p, "a control character in a string");
        n = pr_utf8_len(p, (size_t)(quote - p));
        if (!n)
            return pr_json_scan_fail(s, p, "a string that is not UTF-8");
        memcpy(*out, p, n);
        *out += n;
        p += n;
    }
    return PR_OK;
}

/* A plan says the same keys and words a hundred thousand times: text met
 * lately is shared, which spares memory more than time. */
struct pr_json_cache {
    struct {
        const char *text;
        size_t len;
    } slots[512];
};

enum { CACHE_AFTER = 256, CACHE_LONGEST = 64 };

void pr_json_cache_free(struct pr_json_cache *c)
{
    pr_free(c);
}

static size_t cache_slot(const char *p, size_t len)
{
    uint64_t first = 0, last = 0;

    memcpy(&first, p, len < 8 ? len : 8);
    if (len > 8)
        memcpy(&last, p + len - 8, 8);
    return ((first ^ last * 31 ^ len) * 0x9e3779b97f4a7c15u) >> 55;
}

/* NULL when out of memory. Without memory for the cache it does without. */
static const char *json_store_text(struct pr_json_scan *s, const char *p,
                                   size_t len)
{
    const char *text;
    size_t slot;

    if (!s->cache && ++s->strings == CACHE_AFTER)
        s->cache = pr_alloc_zeroed(sizeof *s->cache);
    if (!s->cache || len > CACHE_LONGEST)
        return pr_arena_copy(s->arena, p, len);
    slot = cache_slot(p, len);
    text = s->cache->slots[slot].text;
    if (text && s->cache->slots[slot].len == len && memcmp(text, p, len) == 0)
        return text;
    text = pr_arena_copy(s->arena, p, len);
    s->cache->slots[slot].text = text;
    s->cache->slots[slot].len = len;
    return text;
}

/* With escapes or beyond ASCII. The decoded text is never longer. */
static int scan_coded(struct pr_json_scan *s, const char *p, const char *quote,
                      const char **ret_s, uint32_t *ret_len)
{
    char *start = pr_arena_alloc(s->arena, (size_t)(quote - p) + 1);
    char *out = start;
    int rc;

    if (!start)
        return pr_fail_nomem(s->err);
    rc = json_decode_string(s, p, quote, &out);
    if (rc)
        return rc;
    *out = '\0';
    *ret_s = start;
    *ret_len = (uint32_t)(out - start);
    s->pos = quote + 1;
    return PR_OK;
}

bool pr_json_scan_plain(struct pr_json_scan *s, const char **ret_s,
                        size_t *ret_len)
{
    const char *p = s->pos + 1, *quote = skip_plain(p, s->end);

    if (quote == s->end || *quote != '"')
        return false;
    *ret_s = p;
    *ret_len = (size_t)(quote - p);
    s->pos = quote + 1;
    return true;
}

int pr_json_scan_string(struct pr_json_scan *s, const char **ret_s,
                        uint32_t *ret_len)
{
    const char *p = s->pos + 1, *quote = skip_plain(p, s->end);
    bool plain = quote < s->end && *quote == '"';
    const char *text;

    if (!plain)
        quote = find_quote(quote, s->end);
    if (quote >= s->end)
        return pr_json_scan_fail(s, s->pos,
                                 "a string without its closing quote");
    if (quote - p > UINT32_MAX / 2)
        return pr_json_scan_fail(s, s->pos, "a string of more than 2 GiB");
    if (!plain)
        return scan_coded(s, p, quote, ret_s, ret_len);
    text = json_store_text(s, p, (size_t)(quote - p));
    if (!text)
        return pr_fail_nomem(s->err);
    *ret_s = text;
    *ret_len = (uint32_t)(quote - p);
    s->pos = quote + 1;
    return PR_OK;
}

static bool digit_at(const struct pr_json_scan *s, const char *p)
{
    return p < s->end && *p >= '0' && *p <= '9';
}

static const char *json_skip_digits(const struct pr_json_scan *s, const char *p)
{
    while (digit_at(s, p))
        p++;
    return p;
}

/* At a point or an exponent, or at neither: past them. */
static int skip_fraction(struct pr_json_scan *s, const char **p)
{
    if (*p < s->end && **p == '.') {
        if (!digit_at(s, ++*p))
            return pr_json_scan_fail(s, s->pos,
                                     "a number without digits after its point");
        *p = json_skip_digits(s, *p);
    }
    if (*p < s->end && (**p | 32) == 'e') {
        ++*p;
        *p += *p < s->end && (**p == '+' || **p == '-');
        if (!digit_at(s, *p))
            return pr_json_scan_fail(s, s->pos,
                                     "a number without digits in its exponent");
        *p = json_skip_digits(s, *p);
    }
    return PR_OK;
}

/* Whole numbers that fit; the digits are known to be digits. */
static bool to_int64(const char *p, const char *end, int64_t *ret)
{
    bool negative = *p == '-';
    uint64_t n = 0;

    p += negative;
    if (end - p > 19)
        return false;
    for (; p < end; p++)
        n = n * 10 + (uint64_t)(*p - '0');
    if (n > (uint64_t)INT64_MAX + negative)
        return false;
    *ret = negative ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

static int json_read_number(struct pr_json_scan *s, struct pr_value *v)
{
    const char *start = s->pos, *p = start, *whole;
    int rc;

    p += *p == '-';
    if (!digit_at(s, p))
        return pr_json_scan_fail(s, start, "expected a value");
    p = *p == '0' ? p + 1 : json_skip_digits(s, p);
    if (digit_at(s, p))
        return pr_json_scan_fail(s, start, "a number with a leading zero");
    whole = p;
    rc = skip_fraction(s, &p);
    if (rc)
        return rc;
    if (p == whole && to_int64(start, p, &v->i)) {
        v->kind = PR_INT;
    } else {
        v->kind = PR_FLOAT;
        v->f = pr_decimal_read(start, (size_t)(p - start));
    }
    s->pos = p;
    return PR_OK;
}

static bool json_skip_word(struct pr_json_scan *s, const char *w, size_t n)
{
    if ((size_t)(s->end - s->pos) < n || memcmp(s->pos, w, n) != 0)
        return false;
    s->pos += n;
    return true;
}

static int set_float(struct pr_value *v, double f)
{
    v->kind = PR_FLOAT;
    v->f = f;
    return PR_OK;
}

int pr_json_scan_word(struct pr_json_scan *s, struct pr_value *v)
{
    bool yes;

    if (digit_at(s, s->pos))
        return json_read_number(s, v);
    yes = json_skip_word(s, "true", 4);
    if (yes || json_skip_word(s, "false", 5)) {
        v->kind = PR_BOOL;
        v->b = yes;
        return PR_OK;
    }
    if (json_skip_word(s, "null", 4)) {
        v->kind = PR_NULL;
        return PR_OK;
    }
    if (json_skip_word(s, "NaN", 3))
        return set_float(v, (double)NAN);
    if (json_skip_word(s, "Infinity", 8))
        return set_float(v, (double)INFINITY);
    if (json_skip_word(s, "-Infinity", 9))
        return set_float(v, -(double)INFINITY);
    return json_read_number(s, v);
}
