/*
 * JSON text to values. Items of a list or map are collected on one stack that
 * grows with the deepest nesting, then copied to the arena once their number
 * is known.
 */
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 200 };

struct reader {
    const char *pos, *end, *line_start;
    const char *name;
    unsigned line, depth, flags;
    struct pr_arena *arena;
    struct pr_member *stack; /* list items use .value alone */
    size_t used, cap;
    struct pr_err *err;
};

static unsigned column(const struct reader *r, const char *at)
{
    return (unsigned)(at - r->line_start) + 1;
}

static int wrong(struct reader *r, const char *at, const char *what)
{
    return pr_fail_at(r->err, PR_E_FORMAT, r->name, r->line, column(r, at),
                      "not valid JSON: %s", what);
}

static void skip_space(struct reader *r)
{
    for (; r->pos < r->end; r->pos++) {
        if (*r->pos == '\n') {
            r->line++;
            r->line_start = r->pos + 1;
        } else if (*r->pos != ' ' && *r->pos != '\t' && *r->pos != '\r') {
            return;
        }
    }
}

static int push(struct reader *r, const struct pr_member *m)
{
    if (r->used == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 32;
        void *p = pr_realloc(r->stack, cap * sizeof *r->stack);
        if (!p)
            return pr_fail_nomem(r->err);
        r->stack = p;
        r->cap = cap;
    }
    r->stack[r->used++] = *m;
    return PR_OK;
}

static int hex4(struct reader *r, const char *p, unsigned *ret_code)
{
    unsigned code = 0;

    if (r->end - p < 4)
        return wrong(r, p, "\\u wants four hexadecimal digits");
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (unsigned)((c | 32) - 'a' + 10);
        else
            return wrong(r, p, "\\u wants four hexadecimal digits");
        code = code * 16 + digit;
    }
    *ret_code = code;
    return PR_OK;
}

/* At the letter after a backslash. Half a surrogate pair becomes U+FFFD. */
static int read_escape(struct reader *r, const char **p, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found;
    unsigned code, low;
    int rc;

    if (*p == r->end)
        return wrong(r, *p, "the text ends inside a string");
    if (**p != 'u') {
        found = **p ? strchr(from, **p) : NULL;
        if (!found)
            return wrong(r, *p - 1, "unknown escape in a string");
        *(*out)++ = to[found - from];
        (*p)++;
        return PR_OK;
    }
    rc = hex4(r, *p + 1, &code);
    if (rc)
        return rc;
    *p += 5;
    if (code >= 0xd800 && code < 0xdc00 && r->end - *p >= 6 &&
        (*p)[0] == '\\' && (*p)[1] == 'u') {
        rc = hex4(r, *p + 2, &low);
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

/* At the opening quote. The decoded text is never longer than the coded. */
static int read_string(struct reader *r, const char **ret_s, uint32_t *ret_len)
{
    const char *p = r->pos + 1, *scan = p;
    char *start, *out;

    while (scan < r->end && *scan != '"')
        scan += *scan == '\\' && scan + 1 < r->end ? 2 : 1;
    if (scan >= r->end)
        return wrong(r, r->pos, "a string without its closing quote");
    if (scan - p > UINT32_MAX / 2)
        return wrong(r, r->pos, "a string of more than 2 GiB");
    start = out = pr_arena_alloc(r->arena, (size_t)(scan - p) + 1);
    if (!start)
        return pr_fail_nomem(r->err);
    while (p < scan) {
        size_t n;
        if (*p == '\\') {
            int rc;
            p++;
            rc = read_escape(r, &p, &out);
            if (rc)
                return rc;
            continue;
        }
        if ((unsigned char)*p < 0x20)
            return wrong(r, p, "a control character in a string");
        n = pr_utf8_len(p, (size_t)(scan - p));
        if (!n)
            return wrong(r, p, "a string that is not UTF-8");
        memcpy(out, p, n);
        out += n;
        p += n;
    }
    *out = '\0';
    *ret_s = start;
    *ret_len = (uint32_t)(out - start);
    r->pos = scan + 1;
    return PR_OK;
}

static bool digit_at(const struct reader *r, const char *p)
{
    return p < r->end && *p >= '0' && *p <= '9';
}

static const char *skip_digits(const struct reader *r, const char *p)
{
    while (digit_at(r, p))
        p++;
    return p;
}

/* The text is checked by JSON's grammar first; strtod alone takes more. */
static int read_number(struct reader *r, struct pr_value *v)
{
    const char *start = r->pos, *p = start;
    bool whole = true;
    char text[64], *long_text = text;
    size_t len;

    p += *p == '-';
    if (!digit_at(r, p))
        return wrong(r, start, "expected a value");
    p = *p == '0' ? p + 1 : skip_digits(r, p);
    if (digit_at(r, p))
        return wrong(r, start, "a number with a leading zero");
    if (p < r->end && *p == '.') {
        whole = false;
        if (!digit_at(r, ++p))
            return wrong(r, start, "a number without digits after its point");
        p = skip_digits(r, p);
    }
    if (p < r->end && (*p | 32) == 'e') {
        whole = false;
        p++;
        p += p < r->end && (*p == '+' || *p == '-');
        if (!digit_at(r, p))
            return wrong(r, start, "a number without digits in its exponent");
        p = skip_digits(r, p);
    }
    len = (size_t)(p - start);
    if (len >= sizeof text) {
        long_text = pr_arena_alloc(r->arena, len + 1);
        if (!long_text)
            return pr_fail_nomem(r->err);
    }
    memcpy(long_text, start, len);
    long_text[len] = '\0';
    errno = 0;
    if (whole) {
        v->kind = PR_INT;
        v->i = strtoll(long_text, NULL, 10);
    }
    if (!whole || errno == ERANGE) {
        v->kind = PR_FLOAT;
        v->f = strtod(long_text, NULL);
    }
    r->pos = p;
    return PR_OK;
}

static bool word(struct reader *r, const char *w)
{
    size_t n = strlen(w);

    if ((size_t)(r->end - r->pos) < n || memcmp(r->pos, w, n) != 0)
        return false;
    r->pos += n;
    return true;
}

static int read_word(struct reader *r, struct pr_value *v)
{
    if (word(r, "true") || word(r, "false")) {
        v->kind = PR_BOOL;
        v->b = r->pos[-2] == 'u';
    } else if (word(r, "null")) {
        v->kind = PR_NULL;
    } else if (word(r, "NaN")) {
        *v = pr_float(NAN);
    } else if (word(r, "Infinity")) {
        *v = pr_float(INFINITY);
    } else if (word(r, "-Infinity")) {
        *v = pr_float(-INFINITY);
    } else {
        return read_number(r, v);
    }
    return PR_OK;
}

static int read_value(struct reader *r, struct pr_value *v);

/* A key met before is replaced, or refused. Small maps are scanned; the cost
 * for large ones is bounded by looking at the key's first bytes and length. */
static int push_unique(struct reader *r, size_t base, const struct pr_member *m)
{
    for (size_t i = base; i < r->used; i++) {
        struct pr_member *old = &r->stack[i];
        if (old->key_len != m->key_len ||
            memcmp(old->key, m->key, m->key_len) != 0)
            continue;
        if (r->flags & PR_JSON_UNIQUE_KEYS)
            return pr_fail_at(r->err, PR_E_FORMAT, r->name, m->line, m->col,
                              "'%s' stands twice in the same map, first on "
                              "line %u",
                              m->key, old->line);
        *old = *m;
        return PR_OK;
    }
    return push(r, m);
}

static int read_member(struct reader *r, size_t base)
{
    struct pr_member m = {0};
    int rc;

    if (*r->pos != '"')
        return wrong(r, r->pos, "expected a key in double quotes");
    m.line = r->line;
    m.col = column(r, r->pos);
    rc = read_string(r, &m.key, &m.key_len);
    if (rc)
        return rc;
    skip_space(r);
    if (r->pos == r->end || *r->pos != ':')
        return wrong(r, r->pos, "expected ':' after a key");
    r->pos++;
    skip_space(r);
    rc = read_value(r, &m.value);
    return rc ? rc : push_unique(r, base, &m);
}

static int read_item(struct reader *r)
{
    struct pr_member m = {0};
    int rc = read_value(r, &m.value);

    return rc ? rc : push(r, &m);
}

static int keep_items(struct reader *r, size_t base, struct pr_value *v)
{
    size_t n = r->used - base;

    if (v->kind == PR_MAP) {
        struct pr_member *members =
            pr_arena_alloc(r->arena, n * sizeof *members);
        if (!members)
            return pr_fail_nomem(r->err);
        if (n)
            memcpy(members, r->stack + base, n * sizeof *members);
        v->members = members;
    } else {
        struct pr_value *items = pr_arena_alloc(r->arena, n * sizeof *items);
        if (!items)
            return pr_fail_nomem(r->err);
        for (size_t i = 0; i < n; i++)
            items[i] = r->stack[base + i].value;
        v->items = items;
    }
    v->len = (uint32_t)n;
    r->used = base;
    return PR_OK;
}

/* At the opening bracket. */
static int read_group(struct reader *r, struct pr_value *v)
{
    char close = *r->pos == '{' ? '}' : ']';
    size_t base = r->used;
    int rc = PR_OK;

    v->kind = close == '}' ? PR_MAP : PR_LIST;
    if (++r->depth > MAX_DEPTH)
        return wrong(r, r->pos, "nested more than 200 deep");
    r->pos++;
    skip_space(r);
    if (r->pos < r->end && *r->pos == close)
        goto closed;
    for (;;) {
        if (r->pos == r->end)
            return wrong(r, r->pos, "the text ends inside a list or map");
        rc = close == '}' ? read_member(r, base) : read_item(r);
        if (rc)
            return rc;
        skip_space(r);
        if (r->pos < r->end && *r->pos == close)
            break;
        if (r->pos == r->end || *r->pos != ',')
            return wrong(r, r->pos,
                         close == '}' ? "expected ',' or '}'"
                                      : "expected ',' or ']'");
        r->pos++;
        skip_space(r);
    }
closed:
    r->pos++;
    r->depth--;
    return keep_items(r, base, v);
}

static int read_value(struct reader *r, struct pr_value *v)
{
    *v = (struct pr_value){.line = r->line, .col = column(r, r->pos)};
    if (r->pos == r->end)
        return wrong(r, r->pos, "the text ends where a value is expected");
    if (*r->pos == '{' || *r->pos == '[')
        return read_group(r, v);
    if (*r->pos == '"') {
        v->kind = PR_STR;
        return read_string(r, &v->s, &v->len);
    }
    uint32_t line = v->line, col = v->col;
    int rc = read_word(r, v);
    v->line = line;
    v->col = col;
    return rc;
}

static int read_one(struct reader *r, struct pr_value *ret_value)
{
    struct pr_value v;
    int rc;

    skip_space(r);
    rc = read_value(r, &v);
    if (rc)
        return rc;
    if (!(r->flags & PR_JSON_PREFIX)) {
        skip_space(r);
        if (r->pos != r->end)
            return wrong(r, r->pos, "text after the value");
    }
    *ret_value = v;
    return PR_OK;
}

int pr_json_read(const struct pr_json_in *in, struct pr_arena *a,
                 struct pr_value *ret_value, size_t *ret_used,
                 struct pr_err *err)
{
    struct reader r = {
        .pos = in->text,
        .end = in->text + in->len,
        .line_start = in->text,
        .name = in->name,
        .line = in->line ? in->line : 1,
        .flags = in->flags,
        .arena = a,
        .err = err,
    };
    int rc = read_one(&r, ret_value);

    pr_free(r.stack);
    if (rc == PR_OK && ret_used)
        *ret_used = (size_t)(r.pos - in->text);
    return rc;
}

void pr_json_walk_init(struct pr_json_walk *w, const char *text, size_t len,
                       const char *name)
{
    *w = (struct pr_json_walk){text, text + len, text, name, 1};
}

static void walk_space(struct pr_json_walk *w)
{
    for (; w->pos < w->end && strchr(" \t\r\n", *w->pos) && *w->pos; w->pos++)
        w->line += *w->pos == '\n';
}

static int walk_wrong(struct pr_json_walk *w, const char *what,
                      struct pr_err *err)
{
    return pr_fail_at(err, PR_E_FORMAT, w->name, w->line, 1,
                      "not valid JSON: %s", what);
}

int pr_json_enter(struct pr_json_walk *w, char bracket, struct pr_err *err)
{
    walk_space(w);
    if (w->pos == w->end || *w->pos != bracket)
        return walk_wrong(w, bracket == '{' ? "expected a map"
                                            : "expected a list",
                          err);
    w->pos++;
    return PR_OK;
}

int pr_json_take(struct pr_json_walk *w, struct pr_arena *a,
                 struct pr_value *ret_value, struct pr_err *err)
{
    struct pr_json_in in = {w->pos, (size_t)(w->end - w->pos), w->name,
                            PR_JSON_PREFIX, w->line};
    size_t used;
    int rc = pr_json_read(&in, a, ret_value, &used, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < used; i++)
        w->line += w->pos[i] == '\n';
    w->pos += used;
    return PR_OK;
}

int pr_json_next(struct pr_json_walk *w, char close, struct pr_arena *a,
                 const char **ret_key, struct pr_err *err)
{
    struct pr_value key;
    int rc;

    walk_space(w);
    if (w->pos < w->end && *w->pos == ',') {
        w->pos++;
        walk_space(w);
    }
    if (w->pos == w->end)
        return walk_wrong(w, "the text ends inside a list or map", err);
    if (*w->pos == close) {
        w->pos++;
        return 0;
    }
    if (close == ']')
        return 1;
    rc = pr_json_take(w, a, &key, err);
    if (rc)
        return rc;
    if (key.kind != PR_STR)
        return walk_wrong(w, "expected a key in double quotes", err);
    walk_space(w);
    if (w->pos == w->end || *w->pos != ':')
        return walk_wrong(w, "expected ':' after a key", err);
    w->pos++;
    *ret_key = key.s;
    return 1;
}
