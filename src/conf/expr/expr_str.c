/* Methods of text that make new text or lists of it. */
#include "conf/expr/expr_call.h"

#include <string.h>

size_t pr_expr_space_len(const char *s, size_t avail)
{
    unsigned char c = (unsigned char)*s;
    unsigned cp;

    if (c < 0x80)
        return (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= ' ');
    cp = pr_expr_codepoint_at(s, avail);
    if (cp == 0x85 || cp == 0xa0 || cp == 0x1680 ||
        (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 ||
        cp == 0x202f || cp == 0x205f || cp == 0x3000)
        return pr_expr_codepoint_len(s, avail);
    return 0;
}

/* Bytes of the last code point of s. */
static size_t last_len(const char *s, size_t len)
{
    for (size_t n = 1; n <= 4 && n <= len; n++)
        if (pr_expr_codepoint_len(s + len - n, n) == n &&
            ((unsigned char)s[len - n] & 0xc0) != 0x80)
            return n;
    return 1;
}

static bool is_strippable(const char *s, size_t n,
                          const struct pr_expr_value *chars)
{
    if (!chars)
        return pr_expr_space_len(s, n) == n;
    for (uint32_t i = 0; i < chars->len;) {
        size_t k = pr_expr_codepoint_len(chars->s + i, chars->len - i);
        if (k == n && memcmp(chars->s + i, s, n) == 0)
            return true;
        i += (uint32_t)k;
    }
    return false;
}

static void strip_characters(const char **s, size_t *len,
                             const struct pr_expr_value *chars, bool left,
                             bool right)
{
    while (left && *len) {
        size_t n = pr_expr_codepoint_len(*s, *len);
        if (!is_strippable(*s, n, chars))
            break;
        *s += n;
        *len -= n;
    }
    while (right && *len) {
        size_t n = last_len(*s, *len);
        if (!is_strippable(*s + *len - n, n, chars))
            break;
        *len -= n;
    }
}

void pr_expr_trim(const char **s, size_t *len)
{
    strip_characters(s, len, NULL, true, true);
}

/* strip, lstrip, rstrip: told apart by their first letter. */
static bool str_strip(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    bool given = c->a[0].kind != EV_MISSING && c->a[0].kind != EV_NONE;
    char first = c->def->name[0];
    const char *s = c->self->s;
    size_t len = c->self->len;

    if (given && !pr_expr_want_str(x, c, 0))
        return false;
    if (given && c->a[0].len > 64 &&
        !pr_expr_charge_work(x, (size_t)c->a[0].len * (len / 16 + 1)))
        return false;
    strip_characters(&s, &len, given ? &c->a[0] : NULL, first != 'r',
                     first != 'l');
    *ret = pr_expr_new_str(s, len);
    return true;
}

/* replace('', y): y before every character and at the end. */
static bool replace_nothing(struct pr_expr *x, const struct pr_expr_call *c,
                            uint64_t left, struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};
    const struct pr_expr_value *s = c->self;

    for (uint32_t i = 0; i < s->len && !x->rc;) {
        size_t n = pr_expr_codepoint_len(s->s + i, s->len - i);
        if (left) {
            pr_expr_buf_add(&b, c->a[1].s, c->a[1].len);
            left--;
        }
        pr_expr_buf_add(&b, s->s + i, n);
        i += (uint32_t)n;
    }
    if (left)
        pr_expr_buf_add(&b, c->a[1].s, c->a[1].len);
    return pr_expr_buf_value(&b, ret);
}

static bool str_replace(struct pr_expr *x, const struct pr_expr_call *c,
                        struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};
    const char *p = c->self->s, *end = p + c->self->len;
    uint64_t left = UINT64_MAX;

    if (!pr_expr_want_str(x, c, 0) || !pr_expr_want_str(x, c, 1))
        return false;
    if (c->a[2].kind != EV_MISSING) {
        if (!pr_expr_want_int(x, c, 2))
            return false;
        left = (uint64_t)pr_expr_value_int(&c->a[2]); /* negative: all */
    }
    if (!c->a[0].len)
        return replace_nothing(x, c, left, ret);
    for (; left && !x->rc; left--) {
        const char *at = memmem(p, (size_t)(end - p), c->a[0].s, c->a[0].len);
        if (!at)
            break;
        pr_expr_buf_add(&b, p, (size_t)(at - p));
        pr_expr_buf_add(&b, c->a[1].s, c->a[1].len);
        p = at + c->a[0].len;
    }
    pr_expr_buf_add(&b, p, (size_t)(end - p));
    return pr_expr_buf_value(&b, ret);
}

static bool expr_push_text(struct pr_expr_vec *out, const char *s, size_t len)
{
    struct pr_expr_value v = pr_expr_new_str(s, len);

    return pr_expr_push(out, &v);
}

static bool split_blanks(struct pr_expr_vec *out, const char *s, size_t len,
                         uint64_t left)
{
    while (len) {
        const char *start;

        strip_characters(&s, &len, NULL, true, false);
        if (!len)
            break;
        if (!left--)
            return expr_push_text(out, s, len);
        start = s;
        while (len && !pr_expr_space_len(s, len)) {
            size_t n = pr_expr_codepoint_len(s, len);
            s += n;
            len -= n;
        }
        if (!expr_push_text(out, start, (size_t)(s - start)))
            return false;
    }
    return true;
}

static void turn_round(struct pr_expr_vec *v)
{
    for (uint32_t i = 0; i < v->len / 2; i++) {
        struct pr_expr_value t = v->items[i];
        v->items[i] = v->items[v->len - 1 - i];
        v->items[v->len - 1 - i] = t;
    }
}

static bool rsplit_blanks(struct pr_expr_vec *out, const char *s, size_t len,
                          uint64_t left)
{
    while (len) {
        size_t end;

        strip_characters(&s, &len, NULL, false, true);
        if (!len)
            break;
        if (!left--) {
            if (!expr_push_text(out, s, len))
                return false;
            break;
        }
        end = len;
        while (len) {
            size_t n = last_len(s, len);
            if (pr_expr_space_len(s + len - n, n))
                break;
            len -= n;
        }
        if (!expr_push_text(out, s + len, end - len))
            return false;
    }
    turn_round(out);
    return true;
}

static bool split_at(struct pr_expr_vec *out, const char *s, size_t len,
                     const struct pr_expr_value *sep, uint64_t left)
{
    for (; left; left--) {
        const char *at = memmem(s, len, sep->s, sep->len);
        size_t n;

        if (!at)
            break;
        n = (size_t)(at - s);
        if (!expr_push_text(out, s, n))
            return false;
        s += n + sep->len;
        len -= n + sep->len;
    }
    return expr_push_text(out, s, len);
}

/* The last place of sep in s, or NULL. */
static const char *find_last_text(const char *s, size_t len,
                                  const struct pr_expr_value *sep)
{
    while (len >= sep->len) {
        const char *at = memrchr(s, sep->s[0], len - sep->len + 1);
        if (!at)
            return NULL;
        if (memcmp(at, sep->s, sep->len) == 0)
            return at;
        len = (size_t)(at - s) + sep->len - 1;
    }
    return NULL;
}

static bool rsplit_at(struct pr_expr_vec *out, const char *s, size_t len,
                      const struct pr_expr_value *sep, uint64_t left)
{
    for (; left; left--) {
        const char *at = find_last_text(s, len, sep);

        if (!at)
            break;
        if (!expr_push_text(out, at + sep->len,
                            len - (size_t)(at - s) - sep->len))
            return false;
        len = (size_t)(at - s);
    }
    if (!expr_push_text(out, s, len))
        return false;
    turn_round(out);
    return true;
}

/* What looking for sep from the end may cost at worst. */
static bool charge_reverse_find(struct pr_expr *x,
                                const struct pr_expr_value *s,
                                const struct pr_expr_value *sep)
{
    return pr_expr_charge_work(x, s->len + (size_t)s->len / 16 * sep->len);
}

static bool str_split(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    bool right = c->def->name[0] == 'r', ok;
    bool blanks = c->a[0].kind == EV_MISSING || c->a[0].kind == EV_NONE;
    struct pr_expr_vec out = {.x = x};
    const struct pr_expr_value *s = c->self;
    uint64_t left = UINT64_MAX;

    if (!blanks && !pr_expr_want_str(x, c, 0))
        return false;
    if (c->a[1].kind != EV_MISSING) {
        if (!pr_expr_want_int(x, c, 1))
            return false;
        left = (uint64_t)pr_expr_value_int(&c->a[1]); /* negative: all */
    }
    if (!blanks && !c->a[0].len)
        return pr_expr_fail(x, "'%s' with an empty separator", c->def->name);
    if (!blanks && right && !charge_reverse_find(x, s, &c->a[0]))
        return false;
    if (blanks)
        ok = right ? rsplit_blanks(&out, s->s, s->len, left)
                   : split_blanks(&out, s->s, s->len, left);
    else
        ok = right ? rsplit_at(&out, s->s, s->len, &c->a[0], left)
                   : split_at(&out, s->s, s->len, &c->a[0], left);
    *ret = pr_expr_vec_value(&out, EV_LIST);
    return ok;
}

/* partition and rpartition: (before, sep, after). */
static bool str_partition(struct pr_expr *x, const struct pr_expr_call *c,
                          struct pr_expr_value *ret)
{
    bool right = c->def->name[0] == 'r';
    const struct pr_expr_value *s = c->self, *sep = &c->a[0];
    struct pr_expr_value *parts = pr_expr_alloc(x, 3 * sizeof *parts);
    const char *at;
    size_t before;

    if (!parts || !pr_expr_want_str(x, c, 0))
        return false;
    if (!sep->len)
        return pr_expr_fail(x, "'%s' with an empty separator", c->def->name);
    if (right && !charge_reverse_find(x, s, sep))
        return false;
    at = right ? find_last_text(s->s, s->len, sep)
               : memmem(s->s, s->len, sep->s, sep->len);
    parts[0] = parts[1] = parts[2] = pr_expr_new_str("", 0);
    before = at ? (size_t)(at - s->s) : 0;
    if (at) {
        parts[0] = pr_expr_new_str(s->s, before);
        parts[1] = *sep;
        parts[2] = pr_expr_new_str(at + sep->len, s->len - before - sep->len);
    } else {
        parts[right ? 2 : 0] = *s;
    }
    *ret = (struct pr_expr_value){.kind = EV_TUPLE, .len = 3, .items = parts};
    return true;
}

static bool str_join(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};
    struct pr_expr_value items;

    if (!pr_expr_list_items(x, &c->a[0], &items))
        return false;
    for (uint32_t i = 0; i < items.len && !x->rc; i++) {
        const struct pr_expr_value *v = &items.items[i];

        if (v->kind != EV_STR)
            return pr_expr_fail(x, "'join' wants text, but item %u is %s", i,
                                pr_expr_value_name(v));
        if (i)
            pr_expr_buf_add(&b, c->self->s, c->self->len);
        pr_expr_buf_add(&b, v->s, v->len);
    }
    return pr_expr_buf_value(&b, ret);
}

/* Bytes of the line end at s, 0 when there is none. */
static size_t line_end(const char *s, size_t avail)
{
    unsigned char c = (unsigned char)*s;
    unsigned cp;

    if (c == '\r')
        return avail > 1 && s[1] == '\n' ? 2 : 1;
    if (c < 0x80)
        return (c >= '\n' && c <= '\f') || (c >= 0x1c && c <= 0x1e);
    cp = pr_expr_codepoint_at(s, avail);
    return cp == 0x85 || cp == 0x2028 || cp == 0x2029
               ? pr_expr_codepoint_len(s, avail)
               : 0;
}

static bool str_splitlines(struct pr_expr *x, const struct pr_expr_call *c,
                           struct pr_expr_value *ret)
{
    bool keep = c->a[0].kind != EV_MISSING && pr_expr_is_true(&c->a[0]);
    struct pr_expr_vec out = {.x = x};
    const char *s = c->self->s, *end = s + c->self->len;

    while (s < end) {
        const char *p = s;
        size_t n = 0;

        while (p < end && !(n = line_end(p, (size_t)(end - p))))
            p += pr_expr_codepoint_len(p, (size_t)(end - p));
        if (!expr_push_text(&out, s, (size_t)(p - s) + (keep ? n : 0)))
            return false;
        s = p + n;
    }
    *ret = pr_expr_vec_value(&out, EV_LIST);
    return true;
}

static const struct pr_expr_def defs[] = {
    {"replace", str_replace, 2, 3, NULL},
    {"split", str_split, 0, 2, "sep,maxsplit"},
    {"strip", str_strip, 0, 1, NULL},
    {"lstrip", str_strip, 0, 1, NULL},
    {"rstrip", str_strip, 0, 1, NULL},
    {"format", pr_expr_format_method, 0, PR_EXPR_MANY, NULL},
    {"join", str_join, 1, 1, NULL},
    {"rsplit", str_split, 0, 2, "sep,maxsplit"},
    {"partition", str_partition, 1, 1, NULL},
    {"rpartition", str_partition, 1, 1, NULL},
    {"splitlines", str_splitlines, 0, 1, "keepends"},
};

const struct pr_expr_table pr_expr_str_methods = PR_EXPR_TABLE(defs);
