/*
 * The inside of $(...)$: entry point of the evaluator and its limits. The text
 * is parsed into a small tree, which is then evaluated: a branch that is not
 * taken is checked for its syntax and never run.
 */
#include "conf/expr/expr_eval.h"

#include "base/text.h"
#include "conf/expr/expr_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- functions and methods: finding, matching arguments, suggesting names */

bool pr_expr_is_name(const char *name, size_t len, const char *want)
{
    return pr_text_is(name, len, want);
}

const struct pr_expr_def *pr_expr_find_def(const struct pr_expr_table *t,
                                           const char *name, size_t len)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *want = t->defs[i].name;
        if (want[0] == name[0] && pr_expr_is_name(name, len, want))
            return &t->defs[i];
    }
    return NULL;
}

static void expr_hint_nearest(struct pr_expr *x, const char *typed,
                              const struct pr_expr_table *const *tables,
                              const char *const *more)
{
    struct pr_nearest n;

    pr_nearest_init(&n, typed);
    for (; *tables; tables++)
        for (size_t i = 0; i < (*tables)->n; i++)
            pr_nearest_offer(&n, (*tables)->defs[i].name);
    for (; more && *more; more++)
        pr_nearest_offer(&n, *more);
    if (n.best && x->err)
        pr_hint(x->err, "did you mean '%s'?", n.best);
}

static bool expr_fail_unknown(struct pr_expr *x, const char *what,
                              const char *name, size_t len,
                              const struct pr_expr_table *const *tables,
                              const char *const *more)
{
    char typed[61];

    snprintf(typed, sizeof typed, "%.*s", len < 60 ? (int)len : 60, name);
    if (what)
        pr_expr_record_error(x, "%s has no '%s'", what, typed);
    else
        pr_expr_record_error(x, "name '%s' is not defined", typed);
    expr_hint_nearest(x, typed, tables, more);
    return false;
}

/* Which parameter a keyword names, or -1. */
static int param_index(const char *params, const struct pr_expr_keyword *kw)
{
    int i = 0;

    while (params && *params) {
        size_t n = strcspn(params, ",");
        if (n == kw->len && memcmp(params, kw->name, n) == 0)
            return i;
        params += n + (params[n] == ',');
        i++;
    }
    return -1;
}

static bool place_keywords(struct pr_expr *x, const struct pr_expr_def *def,
                           const struct pr_expr_keyword *kw, uint32_t nkw,
                           struct pr_expr_value *slots)
{
    for (uint32_t i = 0; i < nkw; i++) {
        int at = param_index(def->params, &kw[i]);
        int shown = kw[i].len < 60 ? (int)kw[i].len : 60;

        if (at < 0)
            return pr_expr_fail(x, "'%s' has no argument named '%.*s'",
                                def->name, shown, kw[i].name);
        if (slots[at].kind != EV_MISSING)
            return pr_expr_fail(x, "'%s' is given '%.*s' twice", def->name,
                                shown, kw[i].name);
        slots[at] = kw[i].value;
    }
    return true;
}

static bool wrong_count(struct pr_expr *x, const struct pr_expr_def *def,
                        uint32_t given)
{
    if (def->max == PR_EXPR_MANY)
        return pr_expr_fail(x, "'%s' wants at least %u argument%s, got %u",
                            def->name, def->min, def->min == 1 ? "" : "s",
                            given);
    if (def->min == def->max)
        return pr_expr_fail(x, "'%s' wants %u argument%s, got %u", def->name,
                            def->min, def->min == 1 ? "" : "s", given);
    return pr_expr_fail(x, "'%s' wants %u to %u arguments, got %u", def->name,
                        def->min, def->max, given);
}

enum { SLOTS = 8 }; /* no function with a maximum has more parameters */

bool pr_expr_call_def(struct pr_expr *x, const struct pr_expr_def *def,
                      const struct pr_expr_value *self,
                      const struct pr_expr_vec *args,
                      const struct pr_expr_keyword *kw, uint32_t nkw,
                      struct pr_expr_value *ret)
{
    struct pr_expr_value slots[SLOTS];
    struct pr_expr_call c = {
        .def = def, .self = self, .a = args->items, .n = args->len};

    /* Most methods of text look at all of it. */
    if (self && self->kind == EV_STR && !pr_expr_charge_work(x, self->len))
        return false;
    if (def->max == PR_EXPR_MANY) {
        c.kw = kw;
        c.nkw = nkw;
        return c.n < def->min ? wrong_count(x, def, c.n) : def->fn(x, &c, ret);
    }
    if (c.n > def->max)
        return wrong_count(x, def, c.n);
    for (uint32_t i = 0; i < def->max; i++)
        if (i < c.n)
            slots[i] = args->items[i];
        else
            slots[i].kind = EV_MISSING;
    if (nkw && !place_keywords(x, def, kw, nkw, slots))
        return false;
    for (uint32_t i = 0; i < def->min; i++)
        if (slots[i].kind == EV_MISSING)
            return wrong_count(x, def, c.n);
    c.a = slots;
    return def->fn(x, &c, ret);
}

bool pr_expr_call_one(struct pr_expr *x, const struct pr_expr_value *func,
                      const struct pr_expr_value *arg,
                      struct pr_expr_value *ret)
{
    struct pr_expr_value copy = *arg;
    struct pr_expr_vec args = {.x = x, .items = &copy, .len = 1, .cap = 1};

    if (func->kind != EV_FUNC)
        return pr_expr_fail(x, "%s cannot be called", pr_expr_value_name(func));
    if (--x->steps < 0)
        return pr_expr_fail(x, "the expression takes more than %d steps",
                            PR_EXPR_STEPS);
    return pr_expr_call_def(x, func->func, NULL, &args, NULL, 0, ret);
}

static bool expr_fail_wants(struct pr_expr *x, const struct pr_expr_call *c,
                            uint32_t i, const char *what)
{
    return pr_expr_fail(x, "'%s' wants %s, got %s", c->def->name, what,
                        pr_expr_value_name(&c->a[i]));
}

bool pr_expr_want_str(struct pr_expr *x, const struct pr_expr_call *c,
                      uint32_t i)
{
    return c->a[i].kind == EV_STR || expr_fail_wants(x, c, i, "text");
}

bool pr_expr_want_int(struct pr_expr *x, const struct pr_expr_call *c,
                      uint32_t i)
{
    return pr_expr_is_int(&c->a[i]) ||
           expr_fail_wants(x, c, i, "a whole number");
}

bool pr_expr_want_number(struct pr_expr *x, const struct pr_expr_call *c,
                         uint32_t i)
{
    return pr_expr_is_number(&c->a[i]) || expr_fail_wants(x, c, i, "a number");
}

/* ---- indices and slices; texts are counted in code points */

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

static bool resolve_index(struct pr_expr *x, int64_t at, int64_t len,
                          int64_t *ret)
{
    int64_t i = at < 0 ? at + len : at;

    if (i < 0 || i >= len)
        return pr_expr_fail(x,
                            "index %lld is out of range: there are %lld items",
                            (long long)at, (long long)len);
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

static bool expr_eval_node(struct pr_expr *x, const struct pr_expr_node *n,
                           struct pr_expr_value *ret);

/* ---- failing, limits, and the way in */

void pr_expr_record_error(struct pr_expr *x, const char *fmt, ...)
{
    char msg[sizeof x->err->msg];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    x->rc = pr_fail(x->err, PR_E_CONF, "", "%s", msg);
}

void pr_expr_record_nomem(struct pr_expr *x)
{
    x->rc = pr_fail_nomem(x->err);
}

void pr_expr_record_too_long(struct pr_expr *x)
{
    pr_expr_record_error(x,
                         "the result is too large: at most %d bytes of text "
                         "or %d items are allowed",
                         PR_EXPR_BYTES, PR_EXPR_ITEMS);
}

void pr_expr_record_too_big(struct pr_expr *x)
{
    pr_expr_record_error(x, "whole number does not fit in 64 bits");
}

bool pr_expr_charge_work(struct pr_expr *x, size_t bytes)
{
    if ((uint64_t)x->work < bytes)
        return pr_expr_fail(x, "the expression is too much work");
    x->work -= (int64_t)bytes;
    return true;
}

void *pr_expr_alloc(struct pr_expr *x, size_t bytes)
{
    void *p;

    if (!pr_expr_charge_work(x, bytes))
        return NULL;
    p = pr_arena_alloc(x->arena, bytes);
    if (!p)
        pr_expr_record_nomem(x);
    return p;
}

static int expr_append_result(struct pr_buf *out,
                              const struct pr_expr_value *text,
                              struct pr_err *err)
{
    size_t len = out->len;

    if (out->failed || text->len > out->max - out->len)
        return pr_fail(err, PR_E_CONF, "", "the text is too long");
    pr_buf_add(out, text->s, text->len);
    if (pr_buf_ok(out))
        return PR_OK;
    out->len = len;
    out->failed = false;
    return pr_fail_nomem(err);
}

int pr_expr_eval(const char *text, size_t len, struct pr_arena *scratch,
                 struct pr_buf *out, bool *ret_pure, struct pr_err *err)
{
    struct pr_expr x = {
        .arena = scratch,
        .err = err,
        .pure = true,
        .steps = PR_EXPR_STEPS,
        .work = PR_EXPR_WORK,
    };
    struct pr_expr_node *tree = NULL;
    struct pr_expr_value result, str;

    if (len > PR_EXPR_BYTES)
        return pr_fail(err, PR_E_CONF, "", "the expression is too long");
    if (pr_expr_parse(&x, text, len, &tree) &&
        expr_eval_node(&x, tree, &result) && pr_expr_to_str(&x, &result, &str))
        x.rc = expr_append_result(out, &str, err);
    pr_expr_regexes_free(&x);
    if (x.rc == PR_OK && ret_pure)
        *ret_pure = x.pure;
    return x.rc;
}

/* ---- comprehensions: [x for x in L if c], and the same in other brackets */

static bool eval_clauses(struct pr_expr *x, const struct pr_expr_node *c,
                         const struct pr_expr_node *item,
                         struct pr_expr_vec *out);

/* Binds the names to the parts of value, one scope each, and goes on. */
static bool eval_bind_names(struct pr_expr *x, const struct pr_expr_node *names,
                            const struct pr_expr_value *parts,
                            const struct pr_expr_node *next,
                            const struct pr_expr_node *item,
                            struct pr_expr_vec *out)
{
    const struct pr_expr_scope *outer = x->scope;
    struct pr_expr_scope scopes[8];
    unsigned n = 0;
    bool ok;

    for (; names; names = names->next, n++) {
        scopes[n].name = names->name;
        scopes[n].len = names->len;
        scopes[n].value = parts[n];
        scopes[n].up = x->scope;
        x->scope = &scopes[n];
    }
    ok = eval_clauses(x, next, item, out);
    x->scope = outer;
    return ok;
}

static uint32_t count_comp_names(const struct pr_expr_node *names)
{
    uint32_t n = 0;

    for (; names; names = names->next)
        n++;
    return n;
}

static bool eval_for_clause(struct pr_expr *x, const struct pr_expr_node *c,
                            const struct pr_expr_node *item,
                            struct pr_expr_vec *out)
{
    uint32_t names = count_comp_names(c->a);
    struct pr_expr_value over, items;

    if (names > 8)
        return pr_expr_fail(x, "more than 8 names after 'for'");
    if (!expr_eval_node(x, c->b, &over) ||
        !pr_expr_list_items(x, &over, &items))
        return false;
    for (uint32_t i = 0; i < items.len; i++) {
        struct pr_expr_value parts = items.items[i];

        if (--x->steps < 0)
            return pr_expr_fail(x, "the expression takes more than %d steps",
                                PR_EXPR_STEPS);
        if (c->sub && !pr_expr_list_items(x, &items.items[i], &parts))
            return false;
        if (c->sub && parts.len != names)
            return pr_expr_fail(x, "cannot unpack %u values into %u names",
                                parts.len, names);
        if (!eval_bind_names(x, c->a, c->sub ? parts.items : &parts, c->next,
                             item, out))
            return false;
    }
    return true;
}

static bool eval_clauses(struct pr_expr *x, const struct pr_expr_node *c,
                         const struct pr_expr_node *item,
                         struct pr_expr_vec *out)
{
    struct pr_expr_value v;

    for (; c && c->kind == EN_FILTER; c = c->next) {
        if (!expr_eval_node(x, c->a, &v))
            return false;
        if (!pr_expr_is_true(&v))
            return true;
    }
    if (c)
        return eval_for_clause(x, c, item, out);
    return expr_eval_node(x, item, &v) && pr_expr_push(out, &v);
}

static bool expr_eval_comp(struct pr_expr *x, const struct pr_expr_node *n,
                           struct pr_expr_value *ret)
{
    struct pr_expr_vec v = {.x = x}, set = {.x = x};

    if (!eval_clauses(x, n->b, n->a, &v))
        return false;
    if (n->sub == EV_SET) {
        for (uint32_t i = 0; i < v.len; i++)
            if (!pr_expr_set_add(&set, &v.items[i]))
                return false;
        v = set;
    }
    *ret = pr_expr_vec_value(&v, n->sub);
    return true;
}

/* ---- the tree */

static bool expr_eval_postfix(struct pr_expr *x, const struct pr_expr_node *n,
                              struct pr_expr_value *ret);

static const struct pr_expr_module *const modules[] = {
    &pr_expr_module_os,   &pr_expr_module_sys,  &pr_expr_module_re,
    &pr_expr_module_uuid, &pr_expr_module_json, &pr_expr_module_math,
};

static bool find_name(struct pr_expr *x, const char *name, size_t len,
                      struct pr_expr_value *ret)
{
    const struct pr_expr_def *def;

    for (const struct pr_expr_scope *s = x->scope; s; s = s->up)
        if (s->len == len && memcmp(s->name, name, len) == 0) {
            *ret = s->value;
            return true;
        }
    def = pr_expr_find_def(&pr_expr_builtins, name, len);
    if (!def)
        def = pr_expr_find_def(&pr_expr_builtins_more, name, len);
    if (def) {
        *ret = (struct pr_expr_value){.kind = EV_FUNC, .func = def};
        return true;
    }
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (pr_expr_is_name(name, len, modules[i]->name)) {
            *ret =
                (struct pr_expr_value){.kind = EV_MODULE, .module = modules[i]};
            return true;
        }
    return false;
}

static bool eval_name(struct pr_expr *x, const struct pr_expr_node *n,
                      struct pr_expr_value *ret)
{
    static const char *const more[] = {"os",   "sys",  "re",    "uuid", "json",
                                       "math", "True", "False", "None", NULL};
    static const char *const refused[] = {
        "open",    "eval",   "exec",    "__import__", "compile", "input",
        "globals", "locals", "vars",    "getattr",    "setattr", "print",
        "type",    "dir",    "logging", "exit",       "quit"};

    static const struct pr_expr_table *const tables[] = {
        &pr_expr_builtins, &pr_expr_builtins_more, NULL};

    if (find_name(x, n->name, n->len, ret))
        return true;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (pr_expr_is_name(n->name, n->len, refused[i]))
            return pr_expr_fail(x, "'%s' is not supported in an expression",
                                refused[i]);
    return expr_fail_unknown(x, NULL, n->name, n->len, tables, more);
}

static bool eval_chain(struct pr_expr *x, const struct pr_expr_node *n,
                       struct pr_expr_value *ret)
{
    struct pr_expr_value right;

    n = n->a;
    if (!expr_eval_node(x, n, ret))
        return false;
    for (n = n->next; n; n = n->next)
        if (!expr_eval_node(x, n, &right) ||
            !pr_expr_eval_binary(x, n->op, ret, &right, ret))
            return false;
    return true;
}

static bool eval_compare(struct pr_expr *x, const struct pr_expr_node *n,
                         struct pr_expr_value *ret)
{
    struct pr_expr_value left, right;
    bool holds = true;

    n = n->a;
    if (!expr_eval_node(x, n, &left))
        return false;
    for (n = n->next; n && holds; n = n->next) {
        if (!expr_eval_node(x, n, &right) ||
            !pr_expr_compare(x, n->op, &left, &right, &holds))
            return false;
        left = right;
    }
    *ret = pr_expr_new_bool(holds);
    return true;
}

/* The value of the operand that decides. */
static bool eval_and_or(struct pr_expr *x, const struct pr_expr_node *n,
                        struct pr_expr_value *ret)
{
    bool stop_at = n->kind == EN_OR;

    for (n = n->a; n; n = n->next) {
        if (!expr_eval_node(x, n, ret))
            return false;
        if (pr_expr_is_true(ret) == stop_at)
            break;
    }
    return true;
}

static bool eval_items(struct pr_expr *x, const struct pr_expr_node *n,
                       struct pr_expr_value *ret)
{
    struct pr_expr_vec v = {.x = x};
    struct pr_expr_value item;
    int kind = n->kind == EN_LIST    ? EV_LIST
               : n->kind == EN_TUPLE ? EV_TUPLE
                                     : EV_SET;

    for (const struct pr_expr_node *i = n->a; i; i = i->next) {
        bool star = i->kind == EN_STAR;

        if (!expr_eval_node(x, star ? i->a : i, &item))
            return false;
        if (star ? !pr_expr_push_all(&v, &item) : !pr_expr_push(&v, &item))
            return false;
    }
    if (kind == EV_SET) {
        struct pr_expr_vec set = {.x = x};
        for (uint32_t i = 0; i < v.len; i++)
            if (!pr_expr_set_add(&set, &v.items[i]))
                return false;
        v = set;
    }
    *ret = pr_expr_vec_value(&v, kind);
    return true;
}

static bool eval_dict(struct pr_expr *x, const struct pr_expr_node *n,
                      struct pr_expr_value *ret)
{
    struct pr_expr_vec v = {.x = x};

    for (const struct pr_expr_node *k = n->a; k; k = k->next->next) {
        struct pr_expr_value key, value;

        if (!expr_eval_node(x, k, &key) ||
            !expr_eval_node(x, k->next, &value) ||
            !pr_expr_dict_set(&v, &key, &value))
            return false;
    }
    *ret = pr_expr_vec_value(&v, EV_DICT);
    ret->len /= 2;
    return true;
}

static bool eval_other(struct pr_expr *x, const struct pr_expr_node *n,
                       struct pr_expr_value *ret)
{
    struct pr_expr_value a, b;

    switch (n->kind) {
    case EN_NOT:
        if (!expr_eval_node(x, n->a, &a))
            return false;
        *ret = pr_expr_new_bool(!pr_expr_is_true(&a));
        return true;
    case EN_UNARY:
        return expr_eval_node(x, n->a, &a) &&
               pr_expr_eval_unary(x, n->sub, &a, ret);
    case EN_POWER:
        return expr_eval_node(x, n->a, &a) && expr_eval_node(x, n->b, &b) &&
               pr_expr_eval_power(x, &a, &b, ret);
    case EN_LIST:
    case EN_TUPLE:
    case EN_SET:
        return eval_items(x, n, ret);
    case EN_DICT:
        return eval_dict(x, n, ret);
    case EN_COMP:
        return expr_eval_comp(x, n, ret);
    default:
        return pr_expr_fail(x, "invalid syntax: '*' is out of place");
    }
}

static bool expr_eval_node(struct pr_expr *x, const struct pr_expr_node *n,
                           struct pr_expr_value *ret)
{
    struct pr_expr_value condition;

    if (--x->steps < 0)
        return pr_expr_fail(x, "the expression takes more than %d steps",
                            PR_EXPR_STEPS);
    while (n->kind == EN_IF) {
        if (!expr_eval_node(x, n->a, &condition))
            return false;
        n = pr_expr_is_true(&condition) ? n->b : n->c;
    }
    switch (n->kind) {
    case EN_CONST:
        *ret = n->value;
        return true;
    case EN_NAME:
        return eval_name(x, n, ret);
    case EN_CHAIN:
        return eval_chain(x, n, ret);
    case EN_COMPARE:
        return eval_compare(x, n, ret);
    case EN_AND:
    case EN_OR:
        return eval_and_or(x, n, ret);
    case EN_POSTFIX:
        return expr_eval_postfix(x, n, ret);
    default:
        return eval_other(x, n, ret);
    }
}

/* ---- attributes, calls and indices, and who has which method */

struct methods {
    uint8_t kind;
    const struct pr_expr_table *table;
};

static const struct methods methods[] = {
    {EV_STR, &pr_expr_str_methods},         {EV_STR, &pr_expr_str_finders},
    {EV_STR, &pr_expr_str_cases},           {EV_LIST, &pr_expr_list_methods},
    {EV_TUPLE, &pr_expr_list_methods},      {EV_DICT, &pr_expr_dict_methods},
    {EV_MATCH, &pr_expr_match_methods},     {EV_UUID, &pr_expr_uuid_methods},
    {EV_ENVIRON, &pr_expr_environ_methods},
};

static const struct pr_expr_def *find_method(const struct pr_expr_value *v,
                                             const struct pr_expr_node *attr)
{
    const struct pr_expr_def *def = NULL;

    if (v->kind == EV_MODULE)
        return pr_expr_find_def(&v->module->table, attr->name, attr->len);
    for (size_t i = 0; !def && i < sizeof methods / sizeof *methods; i++)
        if (methods[i].kind == v->kind)
            def = pr_expr_find_def(methods[i].table, attr->name, attr->len);
    return def;
}

/* x.__str__() and x.__len__(), of anything. */
static const char *find_dunder_function(const struct pr_expr_node *attr)
{
    if (pr_expr_is_name(attr->name, attr->len, "__str__"))
        return "str";
    if (pr_expr_is_name(attr->name, attr->len, "__len__"))
        return "len";
    return NULL;
}

static bool module_refuses(struct pr_expr *x, const struct pr_expr_value *v,
                           const struct pr_expr_node *attr)
{
    for (const char *const *r = v->module->refused; r && *r; r++)
        if (pr_expr_is_name(attr->name, attr->len, *r)) {
            pr_expr_record_error(x, "'%s.%s' is not supported: %s",
                                 v->module->name, *r, v->module->refusal);
            return true;
        }
    return false;
}

static bool no_attr(struct pr_expr *x, const struct pr_expr_value *v,
                    const struct pr_expr_node *attr)
{
    const struct pr_expr_table *tables[4];
    size_t n = 0;

    if (attr->len > 1 && attr->name[0] == '_')
        return pr_expr_fail(x, "attribute '%.*s' is not allowed",
                            attr->len < 60 ? (int)attr->len : 60, attr->name);
    if (v->kind == EV_MODULE) {
        if (module_refuses(x, v, attr))
            return false;
        tables[n++] = &v->module->table;
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods && n < 3; i++)
        if (methods[i].kind == v->kind)
            tables[n++] = methods[i].table;
    tables[n] = NULL;
    return expr_fail_unknown(
        x, v->kind == EV_MODULE ? v->module->name : pr_expr_value_name(v),
        attr->name, attr->len, tables,
        v->kind == EV_MODULE ? v->module->attrs : NULL);
}

static bool uuid_hex(struct pr_expr *x, const struct pr_expr_value *v,
                     struct pr_expr_value *ret)
{
    struct pr_expr_value text;
    char *hex = pr_expr_alloc(x, 32);
    uint32_t n = 0;

    if (!hex || !pr_expr_to_str(x, v, &text))
        return false;
    for (uint32_t i = 0; i < text.len; i++)
        if (text.s[i] != '-')
            hex[n++] = text.s[i];
    *ret = pr_expr_new_str(hex, n);
    return true;
}

/* An attribute that is not called. */
static bool eval_attribute(struct pr_expr *x, const struct pr_expr_value *v,
                           const struct pr_expr_node *attr,
                           struct pr_expr_value *ret)
{
    const struct pr_expr_def *def;
    bool found = false;

    if (v->kind == EV_MODULE && v->module->attr) {
        if (!v->module->attr(x, attr->name, attr->len, ret, &found))
            return false;
        if (found)
            return true;
    }
    if (v->kind == EV_UUID && pr_expr_is_name(attr->name, attr->len, "hex"))
        return uuid_hex(x, v, ret);
    def = find_method(v, attr);
    if (def && v->kind == EV_MODULE) {
        *ret = (struct pr_expr_value){.kind = EV_FUNC, .func = def};
        return true;
    }
    if (def || find_dunder_function(attr))
        return pr_expr_fail(x, "'%.*s' is a method: call it with ()",
                            (int)attr->len, attr->name);
    return no_attr(x, v, attr);
}

static bool eval_arguments(struct pr_expr *x, const struct pr_expr_node *call,
                           struct pr_expr_vec *args, struct pr_expr_keyword *kw)
{
    for (const struct pr_expr_node *n = call->a; n; n = n->next) {
        struct pr_expr_value v;

        if (n->kind == EN_KWARG) {
            kw->name = n->name;
            kw->len = n->len;
            if (!expr_eval_node(x, n->b, &kw->value))
                return false;
            kw++;
        } else if (n->kind == EN_STAR) {
            if (!expr_eval_node(x, n->a, &v) || !pr_expr_push_all(args, &v))
                return false;
        } else if (!expr_eval_node(x, n, &v) || !pr_expr_push(args, &v)) {
            return false;
        }
    }
    return true;
}

static bool eval_call(struct pr_expr *x, const struct pr_expr_def *def,
                      const struct pr_expr_value *self,
                      const struct pr_expr_node *n, struct pr_expr_value *ret)
{
    struct pr_expr_value few[4];
    struct pr_expr_vec args = {.x = x, .items = few, .cap = 4};
    struct pr_expr_keyword *kw = NULL;
    uint32_t nkw = 0;

    for (const struct pr_expr_node *i = n->a; i; i = i->next)
        nkw += i->kind == EN_KWARG;
    if (nkw && !(kw = pr_expr_alloc(x, nkw * sizeof *kw)))
        return false;
    return eval_arguments(x, n, &args, kw) &&
           pr_expr_call_def(x, def, self, &args, kw, nkw, ret);
}

static bool call_method(struct pr_expr *x, const struct pr_expr_value *v,
                        const struct pr_expr_node *attr,
                        struct pr_expr_value *ret)
{
    const struct pr_expr_def *def = find_method(v, attr);
    const char *builtin = find_dunder_function(attr);
    struct pr_expr_value self = *v, callee;

    if (def)
        return eval_call(x, def, &self, attr->next, ret);
    if (builtin && v->kind != EV_MODULE) {
        struct pr_expr_vec args = {.x = x, .items = &self, .len = 1, .cap = 1};
        if (attr->next->a)
            return pr_expr_fail(x, "'%.*s' wants no argument", (int)attr->len,
                                attr->name);
        return pr_expr_call_def(
            x, pr_expr_find_def(&pr_expr_builtins, builtin, strlen(builtin)),
            NULL, &args, NULL, 0, ret);
    }
    if (!eval_attribute(x, v, attr, &callee))
        return false;
    return pr_expr_fail(x, "%s cannot be called", pr_expr_value_name(&callee));
}

static bool eval_slice(struct pr_expr *x, const struct pr_expr_value *v,
                       const struct pr_expr_node *n, struct pr_expr_value *ret)
{
    const struct pr_expr_node *parts[3] = {n->a, n->b, n->c};
    struct pr_expr_value at[3];

    for (int i = 0; i < 3; i++) {
        at[i].kind = EV_MISSING;
        if (parts[i] && !expr_eval_node(x, parts[i], &at[i]))
            return false;
        if (at[i].kind == EV_NONE)
            at[i].kind = EV_MISSING;
    }
    return pr_expr_slice(x, v, at, ret);
}

static bool eval_trailer(struct pr_expr *x, const struct pr_expr_node *n,
                         const struct pr_expr_value *v,
                         struct pr_expr_value *ret)
{
    struct pr_expr_value at;

    if (n->kind == EN_ATTR)
        return eval_attribute(x, v, n, ret);
    if (n->kind == EN_INDEX)
        return expr_eval_node(x, n->a, &at) && pr_expr_index(x, v, &at, ret);
    if (n->kind == EN_SLICE)
        return eval_slice(x, v, n, ret);
    if (v->kind != EV_FUNC)
        return pr_expr_fail(x, "%s cannot be called", pr_expr_value_name(v));
    return eval_call(x, v->func, NULL, n, ret);
}

static bool expr_eval_postfix(struct pr_expr *x, const struct pr_expr_node *n,
                              struct pr_expr_value *ret)
{
    struct pr_expr_value v;

    n = n->a;
    if (!expr_eval_node(x, n, &v))
        return false;
    for (n = n->next; n; n = n->next) {
        struct pr_expr_value next;
        bool method = n->kind == EN_ATTR && n->next && n->next->kind == EN_CALL;

        if (--x->steps < 0)
            return pr_expr_fail(x, "the expression takes more than %d steps",
                                PR_EXPR_STEPS);
        if (!(method ? call_method(x, &v, n, &next)
                     : eval_trailer(x, n, &v, &next)))
            return false;
        if (method)
            n = n->next;
        v = next;
    }
    *ret = v;
    return true;
}
