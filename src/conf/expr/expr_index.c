/* Indices and slices; texts are counted in code points. */
#include "base/text.h"
#include "conf/expr/expr_call.h"

size_t pr_expr_codepoint_len(const char *s, size_t avail)
{
    size_t n = pr_utf8_len(s, avail);

    return n ? n : 1;
}

unsigned pr_expr_codepoint_at(const char *s, size_t avail)
{
    size_t n = pr_utf8_len(s, avail);
    unsigned c = (unsigned char)s[0];

    if (!n)
        return 0xdc00 + c; /* as Python's surrogateescape has it */
    if (n == 1)
        return c;
    c &= 0x7fu >> n;
    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    return c;
}

size_t pr_expr_codepoint_count(const char *s, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; n++)
        i += (unsigned char)s[i] < 0x80 ? 1
                                        : pr_expr_codepoint_len(s + i, len - i);
    return n;
}

size_t pr_expr_codepoint_offset(const char *s, size_t len, size_t index)
{
    size_t i = 0;

    for (; index && i < len; index--)
        i += (unsigned char)s[i] < 0x80 ? 1
                                        : pr_expr_codepoint_len(s + i, len - i);
    return i;
}

static bool out_of_range(struct pr_expr *x, int64_t at, int64_t len)
{
    return pr_expr_fail(x, "index %lld is out of range: there are %lld items",
                        (long long)at, (long long)len);
}

static bool resolve_index(struct pr_expr *x, int64_t at, int64_t len,
                          int64_t *ret)
{
    int64_t i = at < 0 ? at + len : at;

    if (i < 0 || i >= len)
        return out_of_range(x, at, len);
    *ret = i;
    return true;
}

static bool index_codepoint(struct pr_expr *x, const struct pr_expr_value *v,
                            int64_t at, struct pr_expr_value *ret)
{
    size_t from;
    int64_t i;

    if (!pr_expr_charge_work(x, v->len) ||
        !resolve_index(x, at, (int64_t)pr_expr_codepoint_count(v->s, v->len),
                       &i))
        return false;
    from = pr_expr_codepoint_offset(v->s, v->len, (size_t)i);
    *ret = pr_expr_new_str(v->s + from,
                           pr_expr_codepoint_len(v->s + from, v->len - from));
    return true;
}

static bool index_key(struct pr_expr *x, const struct pr_expr_value *v,
                      const struct pr_expr_value *at, struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};
    const struct pr_expr_value *found = NULL;
    bool is_set = false;

    if (v->kind == EV_ENVIRON) {
        if (!pr_expr_getenv(x, at, ret, &is_set))
            return false;
        if (is_set)
            return true;
    } else {
        found = pr_expr_dict_get(x, v, at);
    }
    if (found) {
        *ret = *found;
        return true;
    }
    if (x->rc)
        return false;
    pr_expr_write_repr(&b, at);
    return x->rc ? false
                 : pr_expr_fail(x, "%s has no key %.*s", pr_expr_value_name(v),
                                b.len < 100 ? (int)b.len : 100, b.p);
}

static bool index_match(struct pr_expr *x, const struct pr_expr_value *v,
                        const struct pr_expr_value *at,
                        struct pr_expr_value *ret)
{
    const struct pr_expr_def *group =
        pr_expr_find_def(&pr_expr_match_methods, "group", 5);
    struct pr_expr_value arg = *at;
    struct pr_expr_vec args = {.x = x, .items = &arg, .len = 1, .cap = 1};

    return pr_expr_call_def(x, group, v, &args, NULL, 0, ret);
}

bool pr_expr_index(struct pr_expr *x, const struct pr_expr_value *v,
                   const struct pr_expr_value *at, struct pr_expr_value *ret)
{
    int64_t i;

    if (v->kind == EV_DICT || v->kind == EV_ENVIRON)
        return index_key(x, v, at, ret);
    if (v->kind == EV_MATCH)
        return index_match(x, v, at, ret);
    if (v->kind != EV_STR && v->kind != EV_LIST && v->kind != EV_TUPLE &&
        v->kind != EV_RANGE)
        return pr_expr_fail(x, "%s cannot be indexed with []",
                            pr_expr_value_name(v));
    if (!pr_expr_is_int(at))
        return pr_expr_fail(x, "an index must be a whole number, not %s",
                            pr_expr_value_name(at));
    if (v->kind == EV_STR)
        return index_codepoint(x, v, pr_expr_value_int(at), ret);
    if (!resolve_index(x, pr_expr_value_int(at),
                       v->kind == EV_RANGE ? v->range->len : (int64_t)v->len,
                       &i))
        return false;
    *ret = v->kind == EV_RANGE ? pr_expr_range_at(v->range, i) : v->items[i];
    return true;
}

struct bounds {
    int64_t from, step, n; /* n items are taken */
};

static int64_t clamp_slice_bound(int64_t i, int64_t len, bool down)
{
    if (i < 0) {
        i += len;
        return i < 0 ? (down ? -1 : 0) : i;
    }
    return i >= len ? (down ? len - 1 : len) : i;
}

/* from:to:step for a sequence of len items, as Python takes it. */
static bool resolve_slice(struct pr_expr *x, const struct pr_expr_value at[3],
                          int64_t len, struct bounds *ret)
{
    int64_t from, to, step = 1;

    for (int i = 0; i < 3; i++)
        if (at[i].kind != EV_MISSING && !pr_expr_is_int(&at[i]))
            return pr_expr_fail(x, "a slice must be of whole numbers, not %s",
                                pr_expr_value_name(&at[i]));
    if (at[2].kind != EV_MISSING)
        step = pr_expr_value_int(&at[2]);
    if (step == 0)
        return pr_expr_fail(x, "the step of a slice cannot be zero");
    if (step < -INT64_MAX)
        step = -INT64_MAX; /* its negative must exist */
    from = step < 0 ? len - 1 : 0;
    to = step < 0 ? -1 : len;
    if (at[0].kind != EV_MISSING)
        from = clamp_slice_bound(pr_expr_value_int(&at[0]), len, step < 0);
    if (at[1].kind != EV_MISSING)
        to = clamp_slice_bound(pr_expr_value_int(&at[1]), len, step < 0);
    ret->from = from;
    ret->step = step;
    if (step < 0)
        ret->n = to < from ? (from - to - 1) / -step + 1 : 0;
    else
        ret->n = from < to ? (to - from - 1) / step + 1 : 0;
    return true;
}

static bool slice_text(struct pr_expr *x, const struct pr_expr_value *v,
                       const struct pr_expr_value at[3],
                       struct pr_expr_value *ret)
{
    size_t len = pr_expr_codepoint_count(v->s, v->len);
    struct pr_expr_buf b = {.x = x};
    struct pr_expr_value list;
    struct bounds s;

    if (!pr_expr_charge_work(x, v->len) ||
        !resolve_slice(x, at, (int64_t)len, &s))
        return false;
    if (s.step == 1) {
        size_t from = pr_expr_codepoint_offset(v->s, v->len, (size_t)s.from);
        size_t n =
            pr_expr_codepoint_offset(v->s + from, v->len - from, (size_t)s.n);
        *ret = pr_expr_new_str(v->s + from, n);
        return true;
    }
    if (len == v->len) { /* a byte each */
        for (int64_t i = 0; i < s.n && !x->rc; i++)
            pr_expr_buf_add(&b, v->s + s.from + i * s.step, 1);
        return pr_expr_buf_value(&b, ret);
    }
    if (!pr_expr_list_items(x, v, &list))
        return false;
    for (int64_t i = 0; i < s.n && !x->rc; i++) {
        const struct pr_expr_value *c = &list.items[s.from + i * s.step];
        pr_expr_buf_add(&b, c->s, c->len);
    }
    return pr_expr_buf_value(&b, ret);
}

bool pr_expr_slice(struct pr_expr *x, const struct pr_expr_value *v,
                   const struct pr_expr_value from_to_step[3],
                   struct pr_expr_value *ret)
{
    struct pr_expr_value *items, list;
    struct bounds s;

    if (v->kind == EV_STR)
        return slice_text(x, v, from_to_step, ret);
    if (v->kind != EV_LIST && v->kind != EV_TUPLE)
        return pr_expr_fail(x, "%s cannot be sliced with [:]",
                            pr_expr_value_name(v));
    list = *v;
    if (!resolve_slice(x, from_to_step, list.len, &s))
        return false;
    items = pr_expr_alloc(x, (size_t)s.n * sizeof *items);
    if (!items)
        return false;
    for (int64_t i = 0; i < s.n; i++)
        items[i] = list.items[s.from + i * s.step];
    *ret = (struct pr_expr_value){
        .kind = list.kind, .len = (uint32_t)s.n, .items = items};
    return true;
}
