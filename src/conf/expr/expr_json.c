/* The module json: dumps and loads, by way of base/json/json.h. */
#include "base/json/json.h"
#include "conf/expr/expr_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool to_value(struct pr_expr *x, const struct pr_expr_value *v,
                     bool sort, struct pr_value *ret);

static bool list_to_value(struct pr_expr *x, const struct pr_expr_value *v,
                          bool sort, struct pr_value *ret)
{
    struct pr_value *items = pr_expr_alloc(x, v->len * sizeof *items);

    if (!items)
        return false;
    for (uint32_t i = 0; i < v->len; i++)
        if (!to_value(x, &v->items[i], sort, &items[i]))
            return false;
    *ret = (struct pr_value){.kind = PR_LIST, .len = v->len, .items = items};
    return true;
}

/* Keys become text as JSON writes them. */
static bool key_text(struct pr_expr *x, const struct pr_expr_value *key,
                     struct pr_expr_value *ret)
{
    if (key->kind == EV_NONE)
        *ret = pr_expr_new_str("null", 4);
    else if (key->kind == EV_BOOL)
        *ret = pr_expr_new_str(key->b ? "true" : "false", key->b ? 4 : 5);
    else if (key->kind == EV_STR || pr_expr_is_number(key))
        return pr_expr_to_str(x, key, ret);
    else
        return pr_expr_fail(x, "%s cannot be a key in JSON",
                            pr_expr_value_name(key));
    return true;
}

static int by_key(const void *a, const void *b)
{
    const struct pr_member *m = a, *n = b;
    size_t len = m->key_len < n->key_len ? m->key_len : n->key_len;
    int r = memcmp(m->key, n->key, len);

    return r ? r : (m->key_len > n->key_len) - (m->key_len < n->key_len);
}

static bool dict_to_value(struct pr_expr *x, const struct pr_expr_value *v,
                          bool sort, struct pr_value *ret)
{
    struct pr_member *members = pr_expr_alloc(x, v->len * sizeof *members);

    if (!members)
        return false;
    for (uint32_t i = 0; i < v->len; i++) {
        struct pr_member *m = &members[i];
        struct pr_expr_value key;

        *m = (struct pr_member){0};
        if (!key_text(x, &v->items[2 * i], &key) ||
            !to_value(x, &v->items[2 * i + 1], sort, &m->value))
            return false;
        m->key = key.s;
        m->key_len = key.len;
    }
    if (sort && v->len)
        qsort(members, v->len, sizeof *members, by_key);
    *ret = (struct pr_value){.kind = PR_MAP, .len = v->len, .members = members};
    return true;
}

static bool to_value(struct pr_expr *x, const struct pr_expr_value *v,
                     bool sort, struct pr_value *ret)
{
    switch (v->kind) {
    case EV_NONE:
        *ret = pr_null();
        return true;
    case EV_BOOL:
        *ret = pr_bool(v->b);
        return true;
    case EV_INT:
        *ret = pr_int(v->i);
        return true;
    case EV_FLOAT:
        *ret = pr_float(v->f);
        return true;
    case EV_STR:
        *ret = pr_strn(v->s, v->len);
        return true;
    case EV_LIST:
    case EV_TUPLE:
        return list_to_value(x, v, sort, ret);
    case EV_DICT:
        return dict_to_value(x, v, sort, ret);
    default:
        return pr_expr_fail(x, "%s cannot be written as JSON",
                            pr_expr_value_name(v));
    }
}

/* Characters beyond ASCII as \uXXXX, as json.dumps does. */
static bool ascii_only(struct pr_expr *x, const char *s, size_t len,
                       struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};

    for (size_t i = 0; i < len && !x->rc;) {
        size_t n = pr_expr_codepoint_len(s + i, len - i);
        unsigned c = pr_expr_codepoint_at(s + i, len - i);
        char text[16];

        if (c < 0x80) {
            pr_expr_buf_add(&b, s + i, 1);
        } else {
            if (c < 0x10000)
                snprintf(text, sizeof text, "\\u%04x", c);
            else
                snprintf(text, sizeof text, "\\u%04x\\u%04x",
                         0xd800 + ((c - 0x10000) >> 10),
                         0xdc00 + ((c - 0x10000) & 0x3ff));
            pr_expr_buf_str(&b, text);
        }
        i += n;
    }
    return pr_expr_buf_value(&b, ret);
}

static bool json_dump_value(struct pr_expr *x, const struct pr_value *v,
                            int64_t indent, bool ascii,
                            struct pr_expr_value *ret)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(PR_EXPR_BYTES);
    struct pr_expr_buf b = {.x = x};

    if (indent > 0)
        pr_json_write_indented(&out, v, (unsigned)indent, 0);
    else
        pr_json_write(&out, v);
    if (!pr_buf_ok(&out))
        return out.len > PR_EXPR_BYTES / 2 ? pr_expr_fail_too_long(x)
                                           : pr_expr_fail_nomem(x);
    if (ascii)
        return ascii_only(x, out.data, out.len, ret);
    pr_expr_buf_add(&b, out.data, out.len);
    return pr_expr_buf_value(&b, ret);
}

static const struct pr_expr_value *
json_given_argument(const struct pr_expr_call *c, uint32_t i)
{
    return c->a[i].kind == EV_MISSING || c->a[i].kind == EV_NONE ? NULL
                                                                 : &c->a[i];
}

static bool json_dumps(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    bool sort = json_given_argument(c, 2) && pr_expr_is_true(&c->a[2]);
    bool ascii = !json_given_argument(c, 3) || pr_expr_is_true(&c->a[3]);
    int64_t indent = 0;
    struct pr_value v;

    if (json_given_argument(c, 1)) {
        if (!pr_expr_want_int(x, c, 1))
            return false;
        indent = pr_expr_value_int(&c->a[1]);
        if (indent < 1 || indent > 64)
            return pr_expr_fail(x, "'dumps' wants an indent of 1 to 64");
    }
    return to_value(x, &c->a[0], sort, &v) &&
           json_dump_value(x, &v, indent, ascii, ret);
}

static bool from_value(struct pr_expr *x, const struct pr_value *v,
                       struct pr_expr_value *ret);

static bool list_from_value(struct pr_expr *x, const struct pr_value *v,
                            struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};
    struct pr_expr_value item;

    for (uint32_t i = 0; i < v->len; i++)
        if (!from_value(x, &v->items[i], &item) || !pr_expr_push(&out, &item))
            return false;
    *ret = pr_expr_vec_value(&out, EV_LIST);
    return true;
}

static bool dict_from_value(struct pr_expr *x, const struct pr_value *v,
                            struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};
    struct pr_expr_value item;

    for (uint32_t i = 0; i < v->len; i++) {
        const struct pr_member *m = &v->members[i];
        struct pr_expr_value key = pr_expr_new_str(m->key, m->key_len);
        if (!from_value(x, &m->value, &item) || !pr_expr_push(&out, &key) ||
            !pr_expr_push(&out, &item))
            return false;
    }
    *ret = pr_expr_vec_value(&out, EV_DICT);
    ret->len /= 2;
    return true;
}

static bool from_value(struct pr_expr *x, const struct pr_value *v,
                       struct pr_expr_value *ret)
{
    switch (v->kind) {
    case PR_NULL:
        *ret = (struct pr_expr_value){.kind = EV_NONE};
        return true;
    case PR_BOOL:
        *ret = pr_expr_new_bool(v->b);
        return true;
    case PR_INT:
        *ret = pr_expr_new_int(v->i);
        return true;
    case PR_FLOAT:
        *ret = pr_expr_new_float(v->f);
        return true;
    case PR_STR:
        *ret = pr_expr_new_str(v->s, v->len);
        return true;
    case PR_LIST:
        return list_from_value(x, v, ret);
    default:
        return dict_from_value(x, v, ret);
    }
}

static bool json_loads(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    struct pr_json_in in = {.name = ""};
    struct pr_err why = {0};
    struct pr_value v;
    int r;

    /* The reader's own values take some fifty bytes for each of the text. */
    if (!pr_expr_want_str(x, c, 0) ||
        !pr_expr_charge_work(x, 48 * (size_t)c->a[0].len))
        return false;
    in.text = c->a[0].s;
    in.len = c->a[0].len;
    r = pr_json_read(&in, x->arena, &v, NULL, &why);
    if (r == PR_E_NOMEM)
        return pr_expr_fail_nomem(x);
    if (r != PR_OK)
        return pr_expr_fail(x, "json.loads: %s", why.msg);
    return from_value(x, &v, ret);
}

static const struct pr_expr_def defs[] = {
    {"dumps", json_dumps, 1, 4, "obj,indent,sort_keys,ensure_ascii"},
    {"loads", json_loads, 1, 1, "s"},
};
static const char *const refused[] = {"load", "dump", NULL};
const struct pr_expr_module pr_expr_module_json = {
    .name = "json",
    .table = PR_EXPR_TABLE(defs),
    .refused = refused,
    .refusal = "an expression touches no file",
};
