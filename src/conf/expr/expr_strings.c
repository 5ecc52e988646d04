/* The methods of text, and int(), float() and round(), where text and numbers
 * meet. */
#include "base/number.h"
#include "base/text.h"
#include "conf/expr/expr_eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- methods that look for something in text, or pad it */

/* self[start:end] by the arguments from `first` on; *ret_start is the code
 * point it begins at, or -1 when start is beyond the end, where even '' is
 * not found. */
static bool slice_search_window(struct pr_expr *x, const struct pr_expr_call *c,
                                uint32_t first, struct pr_expr_value *ret,
                                int64_t *ret_start)
{
    struct pr_expr_value at[3] = {
        c->a[first], c->a[first + 1], {.kind = EV_MISSING}};
    int64_t start = 0, len;

    for (int i = 0; i < 2; i++)
        if (at[i].kind == EV_NONE)
            at[i].kind = EV_MISSING;
    if (at[0].kind == EV_MISSING && at[1].kind == EV_MISSING) {
        *ret = *c->self;
        *ret_start = 0;
        return true;
    }
    if (!pr_expr_slice(x, c->self, at, ret))
        return false;
    len = (int64_t)pr_expr_codepoint_count(c->self->s, c->self->len);
    if (at[0].kind != EV_MISSING)
        start = pr_expr_value_int(&at[0]);
    if (start < 0)
        start = start + len < 0 ? 0 : start + len;
    *ret_start = start;
    if (start > len)
        *ret_start = -1;
    else if (at[1].kind != EV_MISSING) {
        int64_t stop = pr_expr_value_int(&at[1]);
        if (stop < 0)
            stop = stop + len < 0 ? 0 : stop + len;
        if (stop < start)
            *ret_start = -1;
    }
    return true;
}

static const char *last_of(const char *s, size_t len,
                           const struct pr_expr_value *sub)
{
    const char *found = NULL, *p = s;

    if (!sub->len)
        return s + len;
    while ((p = memmem(p, len - (size_t)(p - s), sub->s, sub->len))) {
        found = p++;
    }
    return found;
}

/* find, rfind, index, rindex: 'r' looks from the end, 'index' must find. */
static bool str_find(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    bool right = c->def->name[0] == 'r';
    bool must = strstr(c->def->name, "index") != NULL;
    const char *at = NULL;
    struct pr_expr_value in;
    int64_t start;

    if (!pr_expr_want_str(x, c, 0) ||
        !slice_search_window(x, c, 1, &in, &start))
        return false;
    if (!pr_expr_charge_work(
            x, in.len + (right ? (size_t)in.len / 16 * c->a[0].len : 0)))
        return false;
    if (start >= 0)
        at = right          ? last_of(in.s, in.len, &c->a[0])
             : !c->a[0].len ? in.s
                            : memmem(in.s, in.len, c->a[0].s, c->a[0].len);
    if (!at && must)
        return pr_expr_fail(x, "'%s': the text looked for is not there",
                            c->def->name);
    *ret = pr_expr_new_int(
        at ? start + (int64_t)pr_expr_codepoint_count(in.s, (size_t)(at - in.s))
           : -1);
    return true;
}

static bool str_count(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    const struct pr_expr_value *sub = &c->a[0];
    const char *p, *end;
    struct pr_expr_value in;
    int64_t n = 0, start;

    if (!pr_expr_want_str(x, c, 0) ||
        !slice_search_window(x, c, 1, &in, &start) ||
        !pr_expr_charge_work(x, in.len))
        return false;
    p = in.s;
    end = p + in.len;
    if (start < 0)
        n = 0;
    else if (!sub->len)
        n = (int64_t)pr_expr_codepoint_count(in.s, in.len) + 1;
    else
        for (; (p = memmem(p, (size_t)(end - p), sub->s, sub->len)); n++)
            p += sub->len;
    *ret = pr_expr_new_int(n);
    return true;
}

static bool has_fix(const struct pr_expr_value *s,
                    const struct pr_expr_value *fix, bool end)
{
    return fix->len <= s->len &&
           memcmp(end ? s->s + s->len - fix->len : s->s, fix->s, fix->len) == 0;
}

/* startswith, endswith: text, or a tuple of which any will do. */
static bool str_with(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    bool end = c->def->name[0] == 'e', yes = false;
    const struct pr_expr_value *any = &c->a[0];
    uint32_t n = any->kind == EV_TUPLE ? any->len : 1;
    struct pr_expr_value in;
    int64_t start;

    if (any->kind != EV_TUPLE && !pr_expr_want_str(x, c, 0))
        return false;
    if (!slice_search_window(x, c, 1, &in, &start))
        return false;
    for (uint32_t i = 0; !yes && i < n; i++) {
        const struct pr_expr_value *fix =
            any->kind == EV_TUPLE ? &any->items[i] : any;
        if (fix->kind != EV_STR)
            return pr_expr_fail(x, "'%s' wants text or a tuple of text",
                                c->def->name);
        yes = start >= 0 && has_fix(&in, fix, end);
    }
    *ret = pr_expr_new_bool(yes);
    return true;
}

static bool str_removefix(struct pr_expr *x, const struct pr_expr_call *c,
                          struct pr_expr_value *ret)
{
    bool end = strcmp(c->def->name, "removesuffix") == 0;

    if (!pr_expr_want_str(x, c, 0))
        return false;
    *ret = *c->self;
    if (has_fix(c->self, &c->a[0], end)) {
        ret->len -= c->a[0].len;
        ret->s += end ? 0 : c->a[0].len;
    }
    return true;
}

/* ljust, rjust, center. */
static bool str_just(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    char how = c->def->name[0];
    struct pr_expr_buf b = {.x = x};
    struct pr_expr_value fill = pr_expr_new_str(" ", 1);
    int64_t len = (int64_t)pr_expr_codepoint_count(c->self->s, c->self->len),
            room;
    size_t left;

    if (!pr_expr_want_int(x, c, 0))
        return false;
    if (c->a[1].kind != EV_MISSING) {
        if (!pr_expr_want_str(x, c, 1))
            return false;
        fill = c->a[1];
    }
    if (!fill.len || pr_expr_codepoint_len(fill.s, fill.len) != fill.len)
        return pr_expr_fail(x, "'%s' wants one character to fill with",
                            c->def->name);
    room = pr_expr_value_int(&c->a[0]) > len ? pr_expr_value_int(&c->a[0]) - len
                                             : 0;
    if (room > PR_EXPR_BYTES)
        return pr_expr_fail_too_long(x);
    /* An odd one goes where Python puts it. */
    left = how == 'l' ? 0
           : how == 'r'
               ? (size_t)room
               : (size_t)(room / 2 + (room & pr_expr_value_int(&c->a[0]) & 1));
    pr_expr_buf_fill(&b, fill.s, fill.len, left);
    pr_expr_buf_add(&b, c->self->s, c->self->len);
    pr_expr_buf_fill(&b, fill.s, fill.len, (size_t)room - left);
    return pr_expr_buf_value(&b, ret);
}

static bool str_zfill(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    const struct pr_expr_value *s = c->self;
    int64_t len = (int64_t)pr_expr_codepoint_count(s->s, s->len), room;
    size_t sign = s->len && (*s->s == '-' || *s->s == '+');
    struct pr_expr_buf b = {.x = x};

    if (!pr_expr_want_int(x, c, 0))
        return false;
    room = pr_expr_value_int(&c->a[0]) > len ? pr_expr_value_int(&c->a[0]) - len
                                             : 0;
    if (room > PR_EXPR_BYTES)
        return pr_expr_fail_too_long(x);
    pr_expr_buf_add(&b, s->s, sign);
    pr_expr_buf_fill(&b, "0", 1, (size_t)room);
    pr_expr_buf_add(&b, s->s + sign, s->len - sign);
    return pr_expr_buf_value(&b, ret);
}

static const struct pr_expr_def finder_defs[] = {
    {"startswith", str_with, 1, 3, NULL},
    {"endswith", str_with, 1, 3, NULL},
    {"find", str_find, 1, 3, NULL},
    {"rfind", str_find, 1, 3, NULL},
    {"index", str_find, 1, 3, NULL},
    {"rindex", str_find, 1, 3, NULL},
    {"count", str_count, 1, 3, NULL},
    {"removeprefix", str_removefix, 1, 1, NULL},
    {"removesuffix", str_removefix, 1, 1, NULL},
    {"zfill", str_zfill, 1, 1, NULL},
    {"ljust", str_just, 1, 2, NULL},
    {"rjust", str_just, 1, 2, NULL},
    {"center", str_just, 1, 2, NULL},
};

const struct pr_expr_table pr_expr_str_finders = PR_EXPR_TABLE(finder_defs);

/* 0: no white space */
static size_t expr_space_len(const char *s, size_t avail)
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
        return expr_space_len(s, n) == n;
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

/* white space */
static void expr_trim(const char **s, size_t *len)
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
        while (len && !expr_space_len(s, len)) {
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
            if (expr_space_len(s + len - n, n))
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

static const struct pr_expr_def str_defs[] = {
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

const struct pr_expr_table pr_expr_str_methods = PR_EXPR_TABLE(str_defs);

/* ---- methods that know letters: upper, lower, isdigit and so on
 * Beyond ASCII they know Latin, Greek and Cyrillic letters that have one
 * partner. */

static unsigned to_lower(unsigned c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    if ((c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) ||
        (c >= 0x410 && c <= 0x42f))
        return c + 32;
    if (c >= 0x400 && c <= 0x40f)
        return c + 80;
    if ((c >= 0x100 && c < 0x130) || (c >= 0x14a && c < 0x178))
        return c | 1;
    if ((c >= 0x139 && c < 0x149) || (c >= 0x179 && c < 0x17f))
        return c + (c & 1);
    return c;
}

static unsigned to_upper(unsigned c)
{
    if (c < 0x80)
        return c >= 'a' && c <= 'z' ? c - 32 : c;
    if ((c >= 0xe0 && c <= 0xfe && c != 0xf7) ||
        (c >= 0x3b1 && c <= 0x3c9 && c != 0x3c2) || (c >= 0x430 && c <= 0x44f))
        return c - 32;
    if (c >= 0x450 && c <= 0x45f)
        return c - 80;
    if ((c >= 0x100 && c < 0x130) || (c >= 0x14a && c < 0x178))
        return c & ~1u;
    if ((c >= 0x139 && c < 0x149) || (c >= 0x179 && c < 0x17f))
        return c - !(c & 1);
    return c;
}

static bool is_alpha(unsigned c)
{
    if (c < 0x80)
        return (c | 32) >= 'a' && (c | 32) <= 'z';
    return c == 0xaa || c == 0xb5 || c == 0xba ||
           (c >= 0xc0 && c < 0x2000 && c != 0xd7 && c != 0xf7) ||
           (c >= 0x3041 && c < 0xa000) || (c >= 0xac00 && c < 0xd7a4);
}

static bool is_unicode_digit(unsigned c)
{
    return c >= '0' && c <= '9';
}

enum change { UPPER, LOWER, SWAP, TITLE, CAPITAL };

static unsigned change_letter_case(unsigned c, enum change how, bool in_word)
{
    switch (how) {
    case UPPER:
        return to_upper(c);
    case LOWER:
        return to_lower(c);
    case SWAP:
        return to_lower(c) != c ? to_lower(c) : to_upper(c);
    default:
        return in_word ? to_lower(c) : to_upper(c);
    }
}

static bool change_text_case(struct pr_expr *x, const struct pr_expr_value *s,
                             enum change how, struct pr_expr_value *ret)
{
    /* Every pair above has the same number of bytes in UTF-8. */
    char *out = pr_expr_alloc(x, s->len);
    bool in_word = false;

    if (!out)
        return false;
    for (uint32_t i = 0; i < s->len;) {
        size_t n = pr_expr_codepoint_len(s->s + i, s->len - i);
        unsigned c = pr_expr_codepoint_at(s->s + i, s->len - i);
        unsigned to = change_letter_case(c, how, in_word);

        memcpy(out + i, s->s + i, n);
        if (to != c) {
            char utf8[4];
            if (pr_utf8_put(utf8, to) == n)
                memcpy(out + i, utf8, n);
        }
        in_word = how == CAPITAL || is_alpha(c);
        i += (uint32_t)n;
    }
    *ret = pr_expr_new_str(out, s->len);
    return true;
}

static bool str_change(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    switch (c->def->name[0]) {
    case 'u':
        return change_text_case(x, c->self, UPPER, ret);
    case 'l':
        return change_text_case(x, c->self, LOWER, ret);
    case 's':
        return change_text_case(x, c->self, SWAP, ret);
    case 't':
        return change_text_case(x, c->self, TITLE, ret);
    default:
        return change_text_case(x, c->self, CAPITAL, ret);
    }
}

static bool test_all_letters(struct pr_expr *x, const struct pr_expr_call *c,
                             bool (*is)(unsigned), struct pr_expr_value *ret)
{
    const struct pr_expr_value *s = c->self;
    bool yes = s->len != 0;

    for (uint32_t i = 0; yes && i < s->len;) {
        yes = is(pr_expr_codepoint_at(s->s + i, s->len - i));
        i += (uint32_t)pr_expr_codepoint_len(s->s + i, s->len - i);
    }
    *ret = pr_expr_new_bool(yes);
    return pr_expr_charge_work(x, s->len);
}

static bool is_alnum(unsigned c)
{
    return is_alpha(c) || is_unicode_digit(c);
}

static bool is_unicode_space(unsigned c)
{
    char utf8[4];

    return expr_space_len(utf8, pr_utf8_put(utf8, c)) != 0;
}

static bool str_isdigit(struct pr_expr *x, const struct pr_expr_call *c,
                        struct pr_expr_value *ret)
{
    return test_all_letters(x, c, is_unicode_digit, ret);
}

static bool str_isalpha(struct pr_expr *x, const struct pr_expr_call *c,
                        struct pr_expr_value *ret)
{
    return test_all_letters(x, c, is_alpha, ret);
}

static bool str_isalnum(struct pr_expr *x, const struct pr_expr_call *c,
                        struct pr_expr_value *ret)
{
    return test_all_letters(x, c, is_alnum, ret);
}

static bool str_isspace(struct pr_expr *x, const struct pr_expr_call *c,
                        struct pr_expr_value *ret)
{
    return test_all_letters(x, c, is_unicode_space, ret);
}

/* isupper, islower: some letter of this case and none of the other. */
static bool str_iscase(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    bool upper = c->def->name[2] == 'u', some = false, other = false;
    const struct pr_expr_value *s = c->self;

    for (uint32_t i = 0; i < s->len && !other;) {
        unsigned cp = pr_expr_codepoint_at(s->s + i, s->len - i);
        bool is_upper = to_lower(cp) != cp, is_lower = to_upper(cp) != cp;

        some |= upper ? is_upper : is_lower;
        other = upper ? is_lower : is_upper;
        i += (uint32_t)pr_expr_codepoint_len(s->s + i, s->len - i);
    }
    *ret = pr_expr_new_bool(some && !other);
    return pr_expr_charge_work(x, s->len);
}

static const struct pr_expr_def case_defs[] = {
    {"lower", str_change, 0, 0, NULL},
    {"upper", str_change, 0, 0, NULL},
    {"title", str_change, 0, 0, NULL},
    {"capitalize", str_change, 0, 0, NULL},
    {"swapcase", str_change, 0, 0, NULL},
    {"isdigit", str_isdigit, 0, 0, NULL},
    {"isdecimal", str_isdigit, 0, 0, NULL},
    {"isnumeric", str_isdigit, 0, 0, NULL},
    {"isalpha", str_isalpha, 0, 0, NULL},
    {"isalnum", str_isalnum, 0, 0, NULL},
    {"isspace", str_isspace, 0, 0, NULL},
    {"isupper", str_iscase, 0, 0, NULL},
    {"islower", str_iscase, 0, 0, NULL},
};

const struct pr_expr_table pr_expr_str_cases = PR_EXPR_TABLE(case_defs);

/* ---- int(), float() and round() */

bool pr_expr_float_to_int(struct pr_expr *x, double f,
                          struct pr_expr_value *ret)
{
    if (isnan(f) || isinf(f))
        return pr_expr_fail(x, "%s has no whole number",
                            isnan(f) ? "nan" : "infinity");
    if (f >= 9223372036854775808.0 || f < -9223372036854775808.0)
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int((int64_t)f);
    return true;
}

static bool bad_text(struct pr_expr *x, const char *what,
                     const struct pr_expr_value *v)
{
    struct pr_expr_buf b = {.x = x};

    pr_expr_write_repr(&b, v);
    return x->rc ? false
                 : pr_expr_fail(x, "%s cannot be read from %.*s", what,
                                b.len < 60 ? (int)b.len : 60, b.p);
}

static int convert_digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

/* 0x, 0o, 0b before the digits; may set a base that was left open. */
static bool convert_read_base(const char **p, const char *end, int *base)
{
    int named = 0;

    if (end - *p > 1 && **p == '0') {
        char c = (char)((*p)[1] | 0x20);
        named = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
    }
    if (named && (*base == 0 || *base == named)) {
        *p += 2;
        *base = named;
        if (*p < end && **p == '_')
            ++*p;
        return true;
    }
    if (*base == 0) {
        *base = 10;
        for (const char *q = *p; q < end && **p == '0'; q++)
            if (*q != '0' && *q != '_')
                return false; /* '010' without a base */
    }
    return true;
}

/* The digits; false: misplaced, or *ret_big for over 64 bits. */
static bool convert_read_digits(const char *p, const char *end, int base,
                                uint64_t *ret, bool *ret_big)
{
    bool after_digit = false;
    uint64_t n = 0;

    for (; p < end; p++) {
        uint64_t d;

        if (*p == '_' && after_digit) {
            after_digit = false;
            continue;
        }
        if (convert_digit_value(*p) >= base)
            return false;
        d = (uint64_t)convert_digit_value(*p);
        after_digit = true;
        *ret_big |= n > (((uint64_t)1 << 63) - d) / (uint64_t)base;
        if (!*ret_big)
            n = n * (uint64_t)base + d;
    }
    *ret = n;
    return after_digit;
}

static bool int_from_text(struct pr_expr *x, const struct pr_expr_value *v,
                          int base, struct pr_expr_value *ret)
{
    const char *p = v->s, *end;
    size_t len = v->len;
    bool negative, big = false;
    uint64_t n;

    expr_trim(&p, &len);
    end = p + len;
    negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (!convert_read_base(&p, end, &base) ||
        !convert_read_digits(p, end, base, &n, &big))
        return bad_text(x, "a whole number", v);
    if (big || n > (uint64_t)INT64_MAX + negative)
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int(negative ? (int64_t)(0 - n) : (int64_t)n);
    return true;
}

bool pr_expr_to_int(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = &c->a[0];
    int64_t base = 10;

    if (c->a[1].kind != EV_MISSING) {
        if (!pr_expr_want_int(x, c, 1))
            return false;
        base = pr_expr_value_int(&c->a[1]);
        if (base < 0 || base == 1 || base > 36)
            return pr_expr_fail(x, "the base of int() must be 0 or 2 to 36");
        if (v->kind != EV_STR)
            return pr_expr_fail(x, "int() with a base wants text");
    }
    if (v->kind == EV_MISSING) {
        *ret = pr_expr_new_int(0);
        return true;
    }
    if (v->kind == EV_STR)
        return int_from_text(x, v, (int)base, ret);
    if (v->kind == EV_FLOAT)
        return pr_expr_float_to_int(x, v->f, ret);
    if (!pr_expr_want_number(x, c, 0))
        return false;
    *ret = pr_expr_new_int(pr_expr_value_int(v));
    return true;
}

static bool float_from_text(struct pr_expr *x, const struct pr_expr_value *v,
                            struct pr_expr_value *ret)
{
    static const struct {
        const char *name;
        double f;
    } words[] = {{"inf", INFINITY}, {"infinity", INFINITY}, {"nan", NAN}};
    const char *p = v->s;
    size_t len = v->len, sign;

    expr_trim(&p, &len);
    sign = len && (*p == '-' || *p == '+');
    for (size_t i = 0; i < 3; i++)
        if (strlen(words[i].name) == len - sign &&
            strncasecmp(p + sign, words[i].name, len - sign) == 0) {
            *ret = pr_expr_new_float(*p == '-' ? -words[i].f : words[i].f);
            return true;
        }
    if (!len || pr_decimal_length(p, len) != len)
        return bad_text(x, "a number", v);
    *ret = pr_expr_new_float(pr_decimal_read(p, len));
    return true;
}

bool pr_expr_to_float(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = &c->a[0];

    if (v->kind == EV_STR)
        return float_from_text(x, v, ret);
    if (v->kind != EV_MISSING && !pr_expr_want_number(x, c, 0))
        return false;
    *ret =
        pr_expr_new_float(v->kind == EV_MISSING ? 0 : pr_expr_value_float(v));
    return true;
}

/* To a multiple of ten, half to even. */
static bool round_int(struct pr_expr *x, int64_t i, int64_t digits,
                      struct pr_expr_value *ret)
{
    int64_t unit = 1, rest, half, down;

    if (digits >= 0) {
        *ret = pr_expr_new_int(i);
        return true;
    }
    if (digits < -18) { /* half of 10**19 is more than any of ours but a few */
        *ret = pr_expr_new_int(0);
        return digits < -19 ||
               (i < 5000000000000000001 && i > -5000000000000000001) ||
               pr_expr_fail_too_big(x);
    }
    for (; digits; digits++)
        unit *= 10;
    rest = i % unit;
    down = i - rest;
    half = unit / 2;
    if (rest < 0)
        rest = -rest;
    if (rest < half || (rest == half && down / unit % 2 == 0)) {
        *ret = pr_expr_new_int(down);
        return true;
    }
    if (__builtin_add_overflow(down, i < 0 ? -unit : unit, &down))
        return pr_expr_fail_too_big(x);
    *ret = pr_expr_new_int(down);
    return true;
}

/* Left of the point: by way of the digits, which printf rounds exactly. */
static double round_left(double f, int digits)
{
    char text[48];
    double shown;
    int exponent;

    snprintf(text, sizeof text, "%.0e", f);
    exponent = atoi(strchr(text, 'e') + 1);
    /* %.0e may have rounded up to the next power. */
    snprintf(text, sizeof text, "1e%d", exponent);
    if (fabs(f) < strtod(text, NULL))
        exponent--;
    if (exponent + digits >= 0) {
        snprintf(text, sizeof text, "%.*e", exponent + digits, f);
        return strtod(text, NULL);
    }
    snprintf(text, sizeof text, "5e%d", -digits - 1);
    shown = strtod(text, NULL);
    if (fabs(f) <= shown)
        return copysign(0, f);
    snprintf(text, sizeof text, "1e%d", -digits);
    return copysign(strtod(text, NULL), f);
}

static bool round_float(struct pr_expr *x, double f, int64_t digits,
                        struct pr_expr_value *ret)
{
    char text[700];

    if (!isfinite(f) || f == 0 || digits > 323) {
        *ret = pr_expr_new_float(f);
        return true;
    }
    if (digits < -308) {
        *ret = pr_expr_new_float(copysign(0, f));
        return true;
    }
    if (digits < 0) {
        *ret = pr_expr_new_float(round_left(f, (int)digits));
        return isfinite(ret->f) ||
               pr_expr_fail(x, "the rounded number is too large");
    }
    snprintf(text, sizeof text, "%.*f", (int)digits, f);
    *ret = pr_expr_new_float(strtod(text, NULL));
    return true;
}

bool pr_expr_round(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    bool given = c->a[1].kind != EV_MISSING && c->a[1].kind != EV_NONE;
    const struct pr_expr_value *v = &c->a[0];

    if (!pr_expr_want_number(x, c, 0) || (given && !pr_expr_want_int(x, c, 1)))
        return false;
    if (v->kind != EV_FLOAT)
        return round_int(x, pr_expr_value_int(v),
                         given ? pr_expr_value_int(&c->a[1]) : 0, ret);
    if (given)
        return round_float(x, v->f, pr_expr_value_int(&c->a[1]), ret);
    return pr_expr_float_to_int(x, rint(v->f), ret); /* half to even */
}
