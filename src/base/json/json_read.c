/*
 * JSON text to values. Items of a list or map are collected on one stack that
 * grows with the deepest nesting, then copied to the arena once their number
 * is known.
 */
#include "base/json/json_read.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* ---- words
 * Plain strings and whole numbers are the bulk of a plan,
 * so both have a short way: eight bytes of a string at a time, and digits
 * without a library call. */

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

/* NULL is fine */
static void json_cache_free(struct pr_json_cache *c)
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

enum { MAX_DEPTH = 200 };

struct reader {
    struct pr_json_scan scan;
    unsigned depth, flags;
    struct pr_member *stack; /* list items use .value alone */
    size_t used, cap;
};

/* One list or map under construction. */
struct group {
    size_t base;           /* of its items on the stack */
    struct pr_keyset keys; /* of a large map */
};

static int json_read_value(struct reader *r, struct pr_value *v);

/* A place on top of the stack, to be kept by counting it in r->used. Inner
 * values use the stack too: it is asked for only after they are read. */
static struct pr_member *stack_top(struct reader *r)
{
    if (r->used == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 64;
        void *p = pr_realloc(r->stack, cap * sizeof *r->stack);
        if (!p)
            return NULL;
        r->stack = p;
        r->cap = cap;
    }
    return &r->stack[r->used];
}

/* A key met before is replaced, or refused. */
static int push_member(struct reader *r, struct group *g,
                       const struct pr_member *m)
{
    struct pr_member *place = stack_top(r);
    size_t i;
    int found;

    if (!place)
        return pr_fail_nomem(r->scan.err);
    found = pr_keyset_member(&g->keys, r->stack + g->base, r->used - g->base, m,
                             &i);
    if (found < 0)
        return pr_fail_nomem(r->scan.err);
    if (!found) {
        r->used++;
    } else {
        place = &r->stack[g->base + i];
        if (r->flags & PR_JSON_UNIQUE_KEYS)
            return pr_fail_at(r->scan.err, PR_E_FORMAT, r->scan.name, m->line,
                              m->col,
                              "'%s' stands twice in the same map, first on "
                              "line %u",
                              m->key, place->line);
    }
    *place = *m;
    return PR_OK;
}

static int json_read_member(struct reader *r, struct group *g)
{
    struct pr_json_scan *s = &r->scan;
    struct pr_member m;
    int rc;

    if (*s->pos != '"')
        return pr_json_scan_fail(s, s->pos, "expected a key in double quotes");
    m.line = s->line;
    m.col = pr_json_scan_column(s, s->pos);
    rc = pr_json_scan_string(s, &m.key, &m.key_len);
    if (rc)
        return rc;
    pr_json_skip_space(s);
    if (s->pos == s->end || *s->pos != ':')
        return pr_json_scan_fail(s, s->pos, "expected ':' after a key");
    s->pos++;
    pr_json_skip_space(s);
    rc = json_read_value(r, &m.value);
    return rc ? rc : push_member(r, g, &m);
}

static int json_read_item(struct reader *r)
{
    struct pr_value v;
    struct pr_member *top;

    PR_TRY(json_read_value(r, &v));
    top = stack_top(r);
    if (!top)
        return pr_fail_nomem(r->scan.err);
    top->value = v;
    r->used++;
    return PR_OK;
}

static int json_store_items(struct reader *r, size_t base, struct pr_value *v)
{
    size_t n = r->used - base;
    size_t each =
        v->kind == PR_MAP ? sizeof(struct pr_member) : sizeof(struct pr_value);
    void *kept;

    if (n > UINT32_MAX)
        return pr_json_scan_fail(&r->scan, r->scan.pos,
                                 "more than 2^32 items in a list or map");
    kept = pr_arena_alloc(r->scan.arena, n * each);
    if (!kept)
        return pr_fail_nomem(r->scan.err);
    if (v->kind == PR_MAP) {
        if (n)
            memcpy(kept, r->stack + base, n * each);
        v->members = kept;
    } else {
        struct pr_value *items = kept;
        for (size_t i = 0; i < n; i++)
            items[i] = r->stack[base + i].value;
        v->items = items;
    }
    v->len = (uint32_t)n;
    r->used = base;
    return PR_OK;
}

/* After the opening bracket and blanks, up to and with the closing one. */
static int json_read_items(struct reader *r, struct group *g, char close)
{
    struct pr_json_scan *s = &r->scan;

    if (s->pos < s->end && *s->pos == close) {
        s->pos++;
        return PR_OK;
    }
    for (;;) {
        int rc;

        if (s->pos == s->end)
            return pr_json_scan_fail(s, s->pos,
                                     "the text ends inside a list or map");
        rc = close == '}' ? json_read_member(r, g) : json_read_item(r);
        if (rc)
            return rc;
        pr_json_skip_space(s);
        if (s->pos < s->end && *s->pos == close) {
            s->pos++;
            return PR_OK;
        }
        if (s->pos == s->end || *s->pos != ',')
            return pr_json_scan_fail(s, s->pos,
                                     close == '}' ? "expected ',' or '}'"
                                                  : "expected ',' or ']'");
        s->pos++;
        pr_json_skip_space(s);
    }
}

/* At the opening bracket. */
static int json_read_group(struct reader *r, struct pr_value *v)
{
    char close = *r->scan.pos == '{' ? '}' : ']';
    struct group g = {.base = r->used};
    int rc;

    v->kind = close == '}' ? PR_MAP : PR_LIST;
    if (++r->depth > MAX_DEPTH)
        return pr_json_scan_fail(&r->scan, r->scan.pos,
                                 "nested more than 200 deep");
    r->scan.pos++;
    pr_json_skip_space(&r->scan);
    rc = json_read_items(r, &g, close);
    pr_keyset_free(&g.keys);
    r->depth--;
    return rc ? rc : json_store_items(r, g.base, v);
}

static int json_read_value(struct reader *r, struct pr_value *v)
{
    struct pr_json_scan *s = &r->scan;

    v->line = s->line;
    v->col = pr_json_scan_column(s, s->pos);
    v->len = 0;
    if (s->pos == s->end)
        return pr_json_scan_fail(s, s->pos,
                                 "the text ends where a value is expected");
    if (*s->pos == '"') {
        v->kind = PR_STR;
        return pr_json_scan_string(s, &v->s, &v->len);
    }
    if (*s->pos == '{' || *s->pos == '[')
        return json_read_group(r, v);
    return pr_json_scan_word(s, v);
}

int pr_json_scan_value(struct pr_json_scan *s, unsigned flags,
                       struct pr_value *ret_value)
{
    struct reader r = {.scan = *s, .flags = flags};
    struct pr_value v;
    int rc;

    pr_json_skip_space(&r.scan);
    rc = json_read_value(&r, &v);
    pr_free(r.stack);
    json_cache_free(r.scan.cache);
    r.scan.cache = NULL;
    r.scan.strings = 0;
    if (rc)
        return rc;
    *s = r.scan;
    *ret_value = v;
    return PR_OK;
}

int pr_json_read(const struct pr_json_in *in, struct pr_arena *a,
                 struct pr_value *ret_value, size_t *ret_used,
                 struct pr_err *err)
{
    struct pr_json_scan s = {
        .pos = in->text,
        .end = in->text + in->len,
        .line_start = in->text,
        .name = in->name,
        .line = in->line ? in->line : 1,
        .arena = a,
        .err = err,
    };
    struct pr_value v;

    PR_TRY(pr_json_scan_value(&s, in->flags, &v));
    if (!(in->flags & PR_JSON_PREFIX)) {
        pr_json_skip_space(&s);
        if (s.pos != s.end)
            return pr_json_scan_fail(&s, s.pos, "text after the value");
    }
    *ret_value = v;
    if (ret_used)
        *ret_used = (size_t)(s.pos - in->text);
    return PR_OK;
}
