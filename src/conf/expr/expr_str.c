/* Methods of text that make new text or lists of it. */
#include "conf/expr/expr_call.h"

#include <string.h>

size_t pr_ex_space_len(const char *s, size_t avail)
{
    unsigned char c = (unsigned char)*s;
    unsigned cp;

    if (c < 0x80)
        return (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= ' ');
    cp = pr_ex_cp(s, avail);
    if (cp == 0x85 || cp == 0xa0 || cp == 0x1680 ||
        (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 ||
        cp == 0x202f || cp == 0x205f || cp == 0x3000)
        return pr_ex_cp_len(s, avail);
    return 0;
}

/* Bytes of the last code point of s. */
static size_t last_len(const char *s, size_t len)
{
    for (size_t n = 1; n <= 4 && n <= len; n++)
        if (pr_ex_cp_len(s + len - n, n) == n &&
            ((unsigned char)s[len - n] & 0xc0) != 0x80)
            return n;
    return 1;
}

static bool strippable(const char *s, size_t n, const struct pr_ev *chars)
{
    if (!chars)
        return pr_ex_space_len(s, n) == n;
    for (uint32_t i = 0; i < chars->len;) {
        size_t k = pr_ex_cp_len(chars->s + i, chars->len - i);
        if (k == n && memcmp(chars->s + i, s, n) == 0)
            return true;
        i += (uint32_t)k;
    }
    return false;
}

static void strip(const char **s, size_t *len, const struct pr_ev *chars,
                  bool left, bool right)
{
    while (left && *len) {
        size_t n = pr_ex_cp_len(*s, *len);
        if (!strippable(*s, n, chars))
            break;
        *s += n;
        *len -= n;
    }
    while (right && *len) {
        size_t n = last_len(*s, *len);
        if (!strippable(*s + *len - n, n, chars))
            break;
        *len -= n;
    }
}

void pr_ex_trim(const char **s, size_t *len)
{
    strip(s, len, NULL, true, true);
}

/* strip, lstrip, rstrip: told apart by their first letter. */
static bool str_strip(struct pr_ex *x, const struct pr_ex_call *c,
                      struct pr_ev *ret)
{
    bool given = c->a[0].kind != EV_MISSING && c->a[0].kind != EV_NONE;
    char first = c->def->name[0];
    const char *s = c->self->s;
    size_t len = c->self->len;

    if (given && !pr_ex_want_str(x, c, 0))
        return false;
    if (given && c->a[0].len > 64 &&
        !pr_ex_work(x, (size_t)c->a[0].len * (len / 16 + 1)))
        return false;
    strip(&s, &len, given ? &c->a[0] : NULL, first != 'r', first != 'l');
    *ret = pr_ev_of_str(s, len);
    return true;
}

/* replace('', y): y before every character and at the end. */
static bool replace_nothing(struct pr_ex *x, const struct pr_ex_call *c,
                            uint64_t left, struct pr_ev *ret)
{
    struct pr_ex_sb b = {.x = x};
    const struct pr_ev *s = c->self;

    for (uint32_t i = 0; i < s->len && !x->rc;) {
        size_t n = pr_ex_cp_len(s->s + i, s->len - i);
        if (left) {
            pr_ex_add(&b, c->a[1].s, c->a[1].len);
            left--;
        }
        pr_ex_add(&b, s->s + i, n);
        i += (uint32_t)n;
    }
    if (left)
        pr_ex_add(&b, c->a[1].s, c->a[1].len);
    return pr_ex_sb_value(&b, ret);
}

static bool str_replace(struct pr_ex *x, const struct pr_ex_call *c,
                        struct pr_ev *ret)
{
    struct pr_ex_sb b = {.x = x};
    const char *p = c->self->s, *end = p + c->self->len;
    uint64_t left = UINT64_MAX;

    if (!pr_ex_want_str(x, c, 0) || !pr_ex_want_str(x, c, 1))
        return false;
    if (c->a[2].kind != EV_MISSING) {
        if (!pr_ex_want_int(x, c, 2))
            return false;
        left = (uint64_t)pr_ev_int(&c->a[2]); /* negative: all */
    }
    if (!c->a[0].len)
        return replace_nothing(x, c, left, ret);
    for (; left && !x->rc; left--) {
        const char *at = memmem(p, (size_t)(end - p), c->a[0].s, c->a[0].len);
        if (!at)
            break;
        pr_ex_add(&b, p, (size_t)(at - p));
        pr_ex_add(&b, c->a[1].s, c->a[1].len);
        p = at + c->a[0].len;
    }
    pr_ex_add(&b, p, (size_t)(end - p));
    return pr_ex_sb_value(&b, ret);
}

static bool push_text(struct pr_ex_vec *out, const char *s, size_t len)
{
    struct pr_ev v = pr_ev_of_str(s, len);

    return pr_ex_push(out, &v);
}

static bool split_blanks(struct pr_ex_vec *out, const char *s, size_t len,
                         uint64_t left)
{
    while (len) {
        const char *start;

        strip(&s, &len, NULL, true, false);
        if (!len)
            break;
        if (!left--)
            return push_text(out, s, len);
        start = s;
        while (len && !pr_ex_space_len(s, len)) {
            size_t n = pr_ex_cp_len(s, len);
            s += n;
            len -= n;
        }
        if (!push_text(out, start, (size_t)(s - start)))
            return false;
    }
    return true;
}

static void turn_round(struct pr_ex_vec *v)
{
    for (uint32_t i = 0; i < v->len / 2; i++) {
        struct pr_ev t = v->items[i];
        v->items[i] = v->items[v->len - 1 - i];
        v->items[v->len - 1 - i] = t;
    }
}

static bool rsplit_blanks(struct pr_ex_vec *out, const char *s, size_t len,
                          uint64_t left)
{
    while (len) {
        size_t end;

        strip(&s, &len, NULL, false, true);
        if (!len)
            break;
        if (!left--) {
            if (!push_text(out, s, len))
                return false;
            break;
        }
        end = len;
        while (len) {
            size_t n = last_len(s, len);
            if (pr_ex_space_len(s + len - n, n))
                break;
            len -= n;
        }
        if (!push_text(out, s + len, end - len))
            return false;
    }
    turn_round(out);
    return true;
}

static bool split_at(struct pr_ex_vec *out, const char *s, size_t len,
                     const struct pr_ev *sep, uint64_t left)
{
    for (; left; left--) {
        const char *at = memmem(s, len, sep->s, sep->len);
        size_t n;

        if (!at)
            break;
        n = (size_t)(at - s);
        if (!push_text(out, s, n))
            return false;
        s += n + sep->len;
        len -= n + sep->len;
    }
    return push_text(out, s, len);
}

/* The last place of sep in s, or NULL. */
static const char *find_last(const char *s, size_t len, const struct pr_ev *sep)
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

static bool rsplit_at(struct pr_ex_vec *out, const char *s, size_t len,
                      const struct pr_ev *sep, uint64_t left)
{
    for (; left; left--) {
        const char *at = find_last(s, len, sep);

        if (!at)
            break;
        if (!push_text(out, at + sep->len, len - (size_t)(at - s) - sep->len))
            return false;
        len = (size_t)(at - s);
    }
    if (!push_text(out, s, len))
        return false;
    turn_round(out);
    return true;
}

/* What looking for sep from the end may cost at worst. */
static bool charge(struct pr_ex *x, const struct pr_ev *s,
                   const struct pr_ev *sep)
{
    return pr_ex_work(x, s->len + (size_t)s->len / 16 * sep->len);
}

static bool str_split(struct pr_ex *x, const struct pr_ex_call *c,
                      struct pr_ev *ret)
{
    bool right = c->def->name[0] == 'r', ok;
    bool blanks = c->a[0].kind == EV_MISSING || c->a[0].kind == EV_NONE;
    struct pr_ex_vec out = {.x = x};
    const struct pr_ev *s = c->self;
    uint64_t left = UINT64_MAX;

    if (!blanks && !pr_ex_want_str(x, c, 0))
        return false;
    if (c->a[1].kind != EV_MISSING) {
        if (!pr_ex_want_int(x, c, 1))
            return false;
        left = (uint64_t)pr_ev_int(&c->a[1]); /* negative: all */
    }
    if (!blanks && !c->a[0].len)
        return pr_ex_fail(x, "'%s' with an empty separator", c->def->name);
    if (!blanks && right && !charge(x, s, &c->a[0]))
        return false;
    if (blanks)
        ok = right ? rsplit_blanks(&out, s->s, s->len, left)
                   : split_blanks(&out, s->s, s->len, left);
    else
        ok = right ? rsplit_at(&out, s->s, s->len, &c->a[0], left)
                   : split_at(&out, s->s, s->len, &c->a[0], left);
    *ret = pr_ex_vec_value(&out, EV_LIST);
    return ok;
}

/* partition and rpartition: (before, sep, after). */
static bool str_partition(struct pr_ex *x, const struct pr_ex_call *c,
                          struct pr_ev *ret)
{
    bool right = c->def->name[0] == 'r';
    const struct pr_ev *s = c->self, *sep = &c->a[0];
    struct pr_ev *parts = pr_ex_alloc(x, 3 * sizeof *parts);
    const char *at;
    size_t before;

    if (!parts || !pr_ex_want_str(x, c, 0))
        return false;
    if (!sep->len)
        return pr_ex_fail(x, "'%s' with an empty separator", c->def->name);
    if (right && !charge(x, s, sep))
        return false;
    at = right ? find_last(s->s, s->len, sep)
               : memmem(s->s, s->len, sep->s, sep->len);
    parts[0] = parts[1] = parts[2] = pr_ev_of_str("", 0);
    before = at ? (size_t)(at - s->s) : 0;
    if (at) {
        parts[0] = pr_ev_of_str(s->s, before);
        parts[1] = *sep;
        parts[2] = pr_ev_of_str(at + sep->len, s->len - before - sep->len);
    } else {
        parts[right ? 2 : 0] = *s;
    }
    *ret = (struct pr_ev){.kind = EV_TUPLE, .len = 3, .items = parts};
    return true;
}

static bool str_join(struct pr_ex *x, const struct pr_ex_call *c,
                     struct pr_ev *ret)
{
    struct pr_ex_sb b = {.x = x};
    struct pr_ev items;

    if (!pr_ex_items(x, &c->a[0], &items))
        return false;
    for (uint32_t i = 0; i < items.len && !x->rc; i++) {
        const struct pr_ev *v = &items.items[i];

        if (v->kind != EV_STR)
            return pr_ex_fail(x, "'join' wants text, but item %u is %s", i,
                              pr_ev_name(v));
        if (i)
            pr_ex_add(&b, c->self->s, c->self->len);
        pr_ex_add(&b, v->s, v->len);
    }
    return pr_ex_sb_value(&b, ret);
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
    cp = pr_ex_cp(s, avail);
    return cp == 0x85 || cp == 0x2028 || cp == 0x2029 ? pr_ex_cp_len(s, avail)
                                                      : 0;
}

static bool str_splitlines(struct pr_ex *x, const struct pr_ex_call *c,
                           struct pr_ev *ret)
{
    bool keep = c->a[0].kind != EV_MISSING && pr_ev_true(&c->a[0]);
    struct pr_ex_vec out = {.x = x};
    const char *s = c->self->s, *end = s + c->self->len;

    while (s < end) {
        const char *p = s;
        size_t n = 0;

        while (p < end && !(n = line_end(p, (size_t)(end - p))))
            p += pr_ex_cp_len(p, (size_t)(end - p));
        if (!push_text(&out, s, (size_t)(p - s) + (keep ? n : 0)))
            return false;
        s = p + n;
    }
    *ret = pr_ex_vec_value(&out, EV_LIST);
    return true;
}

static const struct pr_ex_def defs[] = {
    {"replace", str_replace, 2, 3, NULL},
    {"split", str_split, 0, 2, "sep,maxsplit"},
    {"strip", str_strip, 0, 1, NULL},
    {"lstrip", str_strip, 0, 1, NULL},
    {"rstrip", str_strip, 0, 1, NULL},
    {"format", pr_ex_format_method, 0, PR_EX_MANY, NULL},
    {"join", str_join, 1, 1, NULL},
    {"rsplit", str_split, 0, 2, "sep,maxsplit"},
    {"partition", str_partition, 1, 1, NULL},
    {"rpartition", str_partition, 1, 1, NULL},
    {"splitlines", str_splitlines, 0, 1, "keepends"},
};

const struct pr_ex_table pr_ex_str_methods = PR_EX_TABLE(defs);
