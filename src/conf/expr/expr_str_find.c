/* Methods of text that look for something in it, or pad it. */
#include "conf/expr/expr_call.h"

#include <string.h>

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

static const struct pr_expr_def expr_str_find_defs[] = {
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

const struct pr_expr_table pr_expr_str_finders =
    PR_EXPR_TABLE(expr_str_find_defs);
