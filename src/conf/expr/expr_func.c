/* Python's built-in functions on single values; those on lists are in
 * expr_iter.c. */
#include "base/text.h"
#include "conf/expr/expr_call.h"
#include "conf/expr/expr_tree.h"

#include <math.h>
#include <string.h>

static bool fn_len(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = &c->a[0];

    switch (v->kind) {
    case EV_STR:
        *ret = pr_expr_new_int((int64_t)pr_expr_codepoint_count(v->s, v->len));
        return pr_expr_charge_work(x, c->a[0].len);
    case EV_LIST:
    case EV_TUPLE:
    case EV_SET:
    case EV_VIEW:
    case EV_DICT:
        *ret = pr_expr_new_int(v->len);
        return true;
    case EV_RANGE:
        *ret = pr_expr_new_int(v->range->len);
        return true;
    default:
        return pr_expr_fail(x, "%s has no length", pr_expr_value_name(v));
    }
}

static bool fn_str(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    if (c->a[0].kind == EV_MISSING) {
        *ret = pr_expr_new_str("", 0);
        return true;
    }
    return pr_expr_to_str(x, &c->a[0], ret);
}

static bool fn_repr(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};

    pr_expr_write_repr(&b, &c->a[0]);
    return pr_expr_buf_value(&b, ret);
}

static bool fn_bool(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret)
{
    (void)x;
    *ret = pr_expr_new_bool(c->a[0].kind != EV_MISSING &&
                            pr_expr_is_true(&c->a[0]));
    return true;
}

static bool fn_abs(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = &c->a[0];

    if (!pr_expr_want_number(x, c, 0))
        return false;
    if (v->kind == EV_FLOAT) {
        *ret = pr_expr_new_float(fabs(v->f));
        return true;
    }
    if (pr_expr_value_int(v) < 0)
        return pr_expr_eval_unary(x, ET_MINUS, v, ret);
    *ret = pr_expr_new_int(pr_expr_value_int(v));
    return true;
}

static bool fn_chr(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    int64_t code;
    char *s;

    if (!pr_expr_want_int(x, c, 0))
        return false;
    code = pr_expr_value_int(&c->a[0]);
    if (code < 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return pr_expr_fail(x, "chr() wants a code point, got %lld",
                            (long long)code);
    s = pr_expr_alloc(x, 4);
    if (!s)
        return false;
    *ret = pr_expr_new_str(s, pr_utf8_put(s, (unsigned)code));
    return true;
}

static bool fn_ord(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    const struct pr_expr_value *v = &c->a[0];

    if (!pr_expr_want_str(x, c, 0))
        return false;
    if (!v->len || pr_expr_codepoint_len(v->s, v->len) != v->len)
        return pr_expr_fail(x, "ord() wants one character");
    *ret = pr_expr_new_int(pr_expr_codepoint_at(v->s, v->len));
    return true;
}

static bool fn_divmod(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    struct pr_expr_value *pair;

    if (!pr_expr_want_number(x, c, 0) || !pr_expr_want_number(x, c, 1))
        return false;
    pair = pr_expr_alloc(x, 2 * sizeof *pair);
    if (!pair ||
        !pr_expr_eval_arith(x, ET_FLOOR, &c->a[0], &c->a[1], &pair[0]) ||
        !pr_expr_eval_arith(x, ET_PERCENT, &c->a[0], &c->a[1], &pair[1]))
        return false;
    *ret = (struct pr_expr_value){.kind = EV_TUPLE, .len = 2, .items = pair};
    return true;
}

/* a * b % m without 128 bits; a and b are below m, m below 2**63. */
static uint64_t times_modulo(uint64_t a, uint64_t b, uint64_t m)
{
    uint64_t r = 0;

    for (; b; b >>= 1) {
        if (b & 1)
            r = (r + a) % m;
        a = a * 2 % m;
    }
    return r;
}

static bool power_modulo(struct pr_expr *x, int64_t base, int64_t by,
                         int64_t mod, struct pr_expr_value *ret)
{
    uint64_t m, b, r;

    if (mod == 0)
        return pr_expr_fail(x, "pow() with a third argument of zero");
    if (by < 0)
        return pr_expr_fail(x, "pow() modulo a number wants no negative power");
    if (mod < -INT64_MAX)
        return pr_expr_fail_too_big(x);
    m = (uint64_t)(mod < 0 ? -mod : mod);
    b = base < 0 ? m - (0 - (uint64_t)base) % m : (uint64_t)base % m;
    b %= m;
    r = 1 % m;
    for (; by; by >>= 1) {
        if (by & 1)
            r = times_modulo(r, b, m);
        b = times_modulo(b, b, m);
    }
    *ret = pr_expr_new_int((int64_t)r + (mod < 0 && r ? mod : 0));
    return true;
}

static bool fn_pow(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    if (c->a[2].kind == EV_MISSING || c->a[2].kind == EV_NONE)
        return pr_expr_eval_power(x, &c->a[0], &c->a[1], ret);
    for (uint32_t i = 0; i < 3; i++)
        if (!pr_expr_want_int(x, c, i))
            return false;
    return power_modulo(x, pr_expr_value_int(&c->a[0]),
                        pr_expr_value_int(&c->a[1]),
                        pr_expr_value_int(&c->a[2]), ret);
}

/* hex(), oct(), bin(): told apart by their first letter. */
static bool fn_base(struct pr_expr *x, const struct pr_expr_call *c,
                    struct pr_expr_value *ret)
{
    char first = c->def->name[0];
    struct pr_expr_spec spec = {
        .alt = true,
        .precision = -1,
        .type = first == 'h'   ? 'x'
                : first == 'o' ? 'o'
                               : 'b',
    };
    struct pr_expr_buf b = {.x = x};
    struct pr_expr_value digits;

    return pr_expr_want_int(x, c, 0) &&
           pr_expr_int_digits(x, pr_expr_value_int(&c->a[0]), &spec, &digits) &&
           pr_expr_write_number(&b, &spec, pr_expr_value_int(&c->a[0]) < 0,
                                &digits) &&
           pr_expr_buf_value(&b, ret);
}

static bool fn_format(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};
    bool given = c->a[1].kind != EV_MISSING;

    if (given && !pr_expr_want_str(x, c, 1))
        return false;
    return pr_expr_format_value(&b, &c->a[0], given ? c->a[1].s : "",
                                given ? c->a[1].len : 0) &&
           pr_expr_buf_value(&b, ret);
}

static bool isinstance_one(struct pr_expr *x, const struct pr_expr_value *v,
                           const struct pr_expr_value *type, bool *ret)
{
    static const struct {
        const char *name;
        uint8_t kind;
    } types[] = {{"str", EV_STR},   {"int", EV_INT},   {"float", EV_FLOAT},
                 {"bool", EV_BOOL}, {"list", EV_LIST}, {"tuple", EV_TUPLE},
                 {"dict", EV_DICT}, {"set", EV_SET}};

    for (size_t i = 0; type->kind == EV_FUNC && i < 8; i++)
        if (strcmp(type->func->name, types[i].name) == 0) {
            *ret = v->kind == types[i].kind ||
                   (types[i].kind == EV_INT && v->kind == EV_BOOL);
            return true;
        }
    return pr_expr_fail(x, "isinstance() wants a type such as str or int");
}

static bool fn_isinstance(struct pr_expr *x, const struct pr_expr_call *c,
                          struct pr_expr_value *ret)
{
    const struct pr_expr_value *types = &c->a[1];
    bool is = false;
    uint32_t n = types->kind == EV_TUPLE ? types->len : 1;

    for (uint32_t i = 0; !is && i < n; i++)
        if (!isinstance_one(x, &c->a[0],
                            types->kind == EV_TUPLE ? &types->items[i] : types,
                            &is))
            return false;
    *ret = pr_expr_new_bool(is);
    return true;
}

static const struct pr_expr_def expr_func_defs[] = {
    {"len", fn_len, 1, 1, NULL},
    {"str", fn_str, 0, 1, "object"},
    {"int", pr_expr_to_int, 0, 2, "(x),base"},
    {"float", pr_expr_to_float, 0, 1, NULL},
    {"bool", fn_bool, 0, 1, NULL},
    {"abs", fn_abs, 1, 1, NULL},
    {"round", pr_expr_round, 1, 2, "number,ndigits"},
    {"repr", fn_repr, 1, 1, NULL},
    {"chr", fn_chr, 1, 1, NULL},
    {"ord", fn_ord, 1, 1, NULL},
    {"divmod", fn_divmod, 2, 2, NULL},
    {"pow", fn_pow, 2, 3, "base,exp,mod"},
    {"hex", fn_base, 1, 1, NULL},
    {"oct", fn_base, 1, 1, NULL},
    {"bin", fn_base, 1, 1, NULL},
    {"format", fn_format, 1, 2, NULL},
    {"isinstance", fn_isinstance, 2, 2, NULL},
};

const struct pr_expr_table pr_expr_builtins = PR_EXPR_TABLE(expr_func_defs);
