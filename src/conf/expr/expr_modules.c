/*
 * The modules re, json, os, os.path, sys and uuid, and the methods of what they
 * give.
 */
#include "base/buf.h"
#include "base/file.h"
#include "base/json/json.h"
#include "base/text.h"
#include "conf/expr/expr_eval.h"
#include "conf/expr/regex.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- methods of what re.match and re.search find */

static struct pr_expr_value expr_match_group(const struct pr_expr_match *m,
                                             unsigned i)
{
    if (m->spans[i].start == PR_REGEX_NO_SPAN)
        return (struct pr_expr_value){.kind = EV_NONE};
    return pr_expr_new_str(m->s + m->spans[i].start,
                           m->spans[i].end - m->spans[i].start);
}

/* The number of the group an argument names. */
static bool group_number(struct pr_expr *x, const struct pr_expr_match *m,
                         const struct pr_expr_value *which, unsigned *ret)
{
    int64_t n = -1;

    if (pr_expr_is_int(which))
        n = pr_expr_value_int(which);
    else if (which->kind == EV_STR)
        n = pr_regex_find_group(m->re, which->s, which->len);
    if (n < 0 || n > m->groups || (n == 0 && which->kind == EV_STR))
        return pr_expr_fail(x, "the match has no such group");
    *ret = (unsigned)n;
    return true;
}

static bool match_group(struct pr_expr *x, const struct pr_expr_call *c,
                        struct pr_expr_value *ret)
{
    const struct pr_expr_match *m = c->self->match;
    struct pr_expr_vec out = {.x = x};
    unsigned n = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        struct pr_expr_value v;
        if (!group_number(x, m, &c->a[i], &n))
            return false;
        v = expr_match_group(m, n);
        if (!pr_expr_push(&out, &v))
            return false;
    }
    *ret =
        c->n > 1 ? pr_expr_vec_value(&out, EV_TUPLE) : expr_match_group(m, n);
    return true;
}

static bool match_groups(struct pr_expr *x, const struct pr_expr_call *c,
                         struct pr_expr_value *ret)
{
    const struct pr_expr_match *m = c->self->match;
    struct pr_expr_vec out = {.x = x};

    for (unsigned i = 1; i <= m->groups; i++) {
        struct pr_expr_value v = expr_match_group(m, i);
        if (v.kind == EV_NONE && c->a[0].kind != EV_MISSING)
            v = c->a[0];
        if (!pr_expr_push(&out, &v))
            return false;
    }
    *ret = pr_expr_vec_value(&out, EV_TUPLE);
    return true;
}

/* start, end, span: in code points. */
static bool match_place(struct pr_expr *x, const struct pr_expr_call *c,
                        struct pr_expr_value *ret)
{
    const struct pr_expr_match *m = c->self->match;
    struct pr_expr_value *both = pr_expr_alloc(x, 2 * sizeof *both);
    unsigned n = 0;

    if (!both || !pr_expr_charge_work(x, m->len) ||
        (c->a[0].kind != EV_MISSING && !group_number(x, m, &c->a[0], &n)))
        return false;
    both[0] = both[1] = pr_expr_new_int(-1);
    if (m->spans[n].start != PR_REGEX_NO_SPAN) {
        both[0].i = (int64_t)pr_expr_codepoint_count(m->s, m->spans[n].start);
        both[1].i = (int64_t)pr_expr_codepoint_count(m->s, m->spans[n].end);
    }
    *ret = (struct pr_expr_value){.kind = EV_TUPLE, .len = 2, .items = both};
    if (strcmp(c->def->name, "span") != 0)
        *ret = both[c->def->name[0] == 'e'];
    return true;
}

static const struct pr_expr_def match_defs[] = {
    {"group", match_group, 0, PR_EXPR_MANY, NULL},
    {"groups", match_groups, 0, 1, "default"},
    {"start", match_place, 0, 1, NULL},
    {"end", match_place, 0, 1, NULL},
    {"span", match_place, 0, 1, NULL},
};
const struct pr_expr_table pr_expr_match_methods = PR_EXPR_TABLE(match_defs);

/* ---- re: patterns are compiled once for an evaluation, freed when it ends */

struct pr_expr_regex {
    struct pr_expr_regex *next;
    const char *pattern;
    uint32_t len;
    unsigned flags;
    struct pr_regex *re;
};

enum { CALL_WORK = 128 << 10 }; /* so that there are not too many calls */

void pr_expr_regexes_free(struct pr_expr *x)
{
    for (struct pr_expr_regex *r = x->regexes; r; r = r->next)
        pr_regex_free(r->re);
    x->regexes = NULL;
}

static bool re_set_failure(struct pr_expr *x, int rc)
{
    x->rc = rc;
    return false;
}

static const struct {
    const char *name;
    unsigned flag;
    int64_t number; /* in Python */
} flag_names[] = {
    {"IGNORECASE", PR_REGEX_IGNORE_CASE, 2}, {"I", PR_REGEX_IGNORE_CASE, 2},
    {"MULTILINE", PR_REGEX_MULTILINE, 8},    {"M", PR_REGEX_MULTILINE, 8},
    {"DOTALL", PR_REGEX_DOTALL, 16},         {"S", PR_REGEX_DOTALL, 16},
};

static bool re_attr(struct pr_expr *x, const char *name, size_t len,
                    struct pr_expr_value *ret, bool *ret_found)
{
    (void)x;
    for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++)
        if (pr_expr_is_name(name, len, flag_names[i].name)) {
            *ret = pr_expr_new_int(flag_names[i].number);
            *ret_found = true;
        }
    return true;
}

static bool re_read_flags(struct pr_expr *x, const struct pr_expr_call *c,
                          uint32_t at, unsigned *ret)
{
    int64_t left;

    *ret = 0;
    if (c->a[at].kind == EV_MISSING)
        return true;
    if (!pr_expr_want_int(x, c, at))
        return false;
    left = pr_expr_value_int(&c->a[at]);
    for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++)
        if (left & flag_names[i].number) {
            *ret |= flag_names[i].flag;
            left &= ~flag_names[i].number;
        }
    return !left || pr_expr_fail(x,
                                 "'%s': only re.IGNORECASE, re.MULTILINE and "
                                 "re.DOTALL are known",
                                 c->def->name);
}

/* The pattern is the first argument; flags the one at `flags_at`. */
static bool re_get_pattern(struct pr_expr *x, const struct pr_expr_call *c,
                           uint32_t flags_at, struct pr_regex **ret)
{
    const struct pr_expr_value *p = &c->a[0];
    struct pr_expr_regex *r;
    unsigned flags;
    int rc;

    if (!pr_expr_want_str(x, c, 0) || !re_read_flags(x, c, flags_at, &flags) ||
        !pr_expr_charge_work(x, CALL_WORK))
        return false;
    for (r = x->regexes; r; r = r->next)
        if (r->len == p->len && r->flags == flags &&
            memcmp(r->pattern, p->s, p->len) == 0) {
            *ret = r->re;
            return true;
        }
    r = pr_expr_alloc(x, sizeof *r);
    if (!r)
        return false;
    *r = (struct pr_expr_regex){x->regexes, p->s, p->len, flags, NULL};
    rc = pr_regex_new(p->s, p->len, flags, &r->re, x->err);
    if (rc != PR_OK)
        return re_set_failure(x, rc);
    x->regexes = r;
    *ret = r->re;
    return true;
}

static struct pr_expr_match *match_new(struct pr_expr *x,
                                       const struct pr_regex *re,
                                       const struct pr_expr_value *s)
{
    struct pr_expr_match *m = pr_expr_alloc(x, sizeof *m);

    if (!m)
        return NULL;
    *m = (struct pr_expr_match){re, s->s, s->len, pr_regex_group_count(re),
                                NULL};
    m->spans = pr_expr_alloc(x, (m->groups + 1) * sizeof *m->spans);
    return m->spans ? m : NULL;
}

/* match and search: told apart by their first letter. */
static bool re_match(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    struct pr_expr_match *m;
    struct pr_regex *re;
    int r;

    if (!re_get_pattern(x, c, 2, &re) || !pr_expr_want_str(x, c, 1))
        return false;
    m = match_new(x, re, &c->a[1]);
    if (!m)
        return false;
    if (c->def->name[0] == 's')
        r = pr_regex_search(re, m->s, m->len, 0, m->spans, x->err);
    else
        r = pr_regex_match(re, m->s, m->len, m->spans, x->err);
    if (r < 0)
        return re_set_failure(x, r);
    *ret = (struct pr_expr_value){.kind = r ? EV_MATCH : EV_NONE, .match = m};
    return true;
}

static bool re_sub(struct pr_expr *x, const struct pr_expr_call *c,
                   struct pr_expr_value *ret)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(PR_EXPR_BYTES);
    struct pr_regex_sub_in in;
    struct pr_expr_buf b = {.x = x};
    struct pr_regex *re;
    int r;

    if (!re_get_pattern(x, c, 4, &re) || !pr_expr_want_str(x, c, 1) ||
        !pr_expr_want_str(x, c, 2))
        return false;
    in = (struct pr_regex_sub_in){c->a[1].s, c->a[1].len, c->a[2].s,
                                  c->a[2].len, 0};
    if (c->a[3].kind != EV_MISSING) {
        if (!pr_expr_want_int(x, c, 3))
            return false;
        if (pr_expr_value_int(&c->a[3]) < 0) {
            *ret = c->a[2];
            return true;
        }
        in.count = (size_t)pr_expr_value_int(&c->a[3]);
    }
    r = pr_regex_sub(re, &in, &out, x->err);
    if (r != PR_OK)
        return re_set_failure(x, r);
    pr_expr_buf_add(&b, out.data, out.len);
    return pr_expr_buf_value(&b, ret);
}

/* What one match adds to the list of findall. */
static bool push_found(struct pr_expr_vec *out, const struct pr_expr_match *m)
{
    struct pr_expr_value *groups, v = expr_match_group(m, m->groups == 1);

    if (m->groups > 1) {
        groups = pr_expr_alloc(out->x, m->groups * sizeof *groups);
        if (!groups)
            return false;
        for (unsigned i = 0; i < m->groups; i++) {
            groups[i] = expr_match_group(m, i + 1);
            if (groups[i].kind == EV_NONE)
                groups[i] = pr_expr_new_str("", 0);
        }
        v = (struct pr_expr_value){
            .kind = EV_TUPLE, .len = m->groups, .items = groups};
    }
    if (v.kind == EV_NONE)
        v = pr_expr_new_str("", 0);
    return pr_expr_push(out, &v);
}

/* What one match adds to the list of split: what is before, and its groups. */
static bool push_split(struct pr_expr_vec *out, const struct pr_expr_match *m,
                       size_t from)
{
    struct pr_expr_value v =
        pr_expr_new_str(m->s + from, m->spans[0].start - from);

    if (!pr_expr_push(out, &v))
        return false;
    for (unsigned i = 1; i <= m->groups; i++) {
        v = expr_match_group(m, i);
        if (!pr_expr_push(out, &v))
            return false;
    }
    return true;
}

/* Walks over all matches; max 0 is no maximum. */
static bool re_walk_matches(struct pr_expr_vec *out, struct pr_expr_match *m,
                            bool split, size_t max)
{
    struct pr_expr *x = out->x;
    struct pr_regex_walk *w;
    size_t from = 0;
    int r = pr_regex_walk_new(m->re, m->s, m->len, &w, x->err);

    if (r < 0)
        return re_set_failure(x, r);
    for (size_t n = 0; !max || n < max; n++) {
        r = pr_regex_walk_next(w, m->spans, x->err);
        if (r <= 0)
            break;
        if (!(split ? push_split(out, m, from) : push_found(out, m)))
            break;
        from = m->spans[0].end;
    }
    pr_regex_walk_free(w);
    if (r < 0)
        return re_set_failure(x, r);
    if (split && !x->rc) {
        struct pr_expr_value rest = pr_expr_new_str(m->s + from, m->len - from);
        return pr_expr_push(out, &rest);
    }
    return !x->rc;
}

static bool re_findall(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};
    struct pr_expr_match *m;
    struct pr_regex *re;

    if (!re_get_pattern(x, c, 2, &re) || !pr_expr_want_str(x, c, 1))
        return false;
    m = match_new(x, re, &c->a[1]);
    if (!m || !re_walk_matches(&out, m, false, 0))
        return false;
    *ret = pr_expr_vec_value(&out, EV_LIST);
    return true;
}

static bool re_split(struct pr_expr *x, const struct pr_expr_call *c,
                     struct pr_expr_value *ret)
{
    struct pr_expr_vec out = {.x = x};
    struct pr_expr_match *m;
    struct pr_regex *re;
    int64_t max = 0;

    if (!re_get_pattern(x, c, 3, &re) || !pr_expr_want_str(x, c, 1))
        return false;
    if (c->a[2].kind != EV_MISSING) {
        if (!pr_expr_want_int(x, c, 2))
            return false;
        max = pr_expr_value_int(&c->a[2]);
    }
    if (max < 0) {
        *ret = (struct pr_expr_value){.kind = EV_LIST};
        if (!pr_expr_push(&out, &c->a[1]))
            return false;
    } else {
        m = match_new(x, re, &c->a[1]);
        if (!m || !re_walk_matches(&out, m, true, (size_t)max))
            return false;
    }
    *ret = pr_expr_vec_value(&out, EV_LIST);
    return true;
}

static bool re_escape(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    static const char special[] = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f";
    struct pr_expr_buf b = {.x = x};

    if (!pr_expr_want_str(x, c, 0))
        return false;
    for (uint32_t i = 0; i < c->a[0].len && !x->rc; i++) {
        if (c->a[0].s[i] && strchr(special, c->a[0].s[i]))
            pr_expr_buf_add(&b, "\\", 1);
        pr_expr_buf_add(&b, c->a[0].s + i, 1);
    }
    return pr_expr_buf_value(&b, ret);
}

static const struct pr_expr_def re_defs[] = {
    {"sub", re_sub, 3, 5, "pattern,repl,string,count,flags"},
    {"match", re_match, 2, 3, "pattern,string,flags"},
    {"search", re_match, 2, 3, "pattern,string,flags"},
    {"findall", re_findall, 2, 3, "pattern,string,flags"},
    {"split", re_split, 2, 4, "pattern,string,maxsplit,flags"},
    {"escape", re_escape, 1, 1, "pattern"},
};
static const char *const re_attrs[] = {"IGNORECASE", "MULTILINE", "DOTALL",
                                       NULL};
const struct pr_expr_module pr_expr_module_re = {
    .name = "re",
    .table = PR_EXPR_TABLE(re_defs),
    .attr = re_attr,
    .attrs = re_attrs,
};

/* ---- json: dumps and loads, by way of base/json/json.h */

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

static const struct pr_expr_def json_defs[] = {
    {"dumps", json_dumps, 1, 4, "obj,indent,sort_keys,ensure_ascii"},
    {"loads", json_loads, 1, 1, "s"},
};
static const char *const json_refused[] = {"load", "dump", NULL};
const struct pr_expr_module pr_expr_module_json = {
    .name = "json",
    .table = PR_EXPR_TABLE(json_defs),
    .refused = json_refused,
    .refusal = "an expression touches no file",
};

/* ---- os.path, as far as it is about text */

/* Where the last part of the path begins. */
static size_t tail_start(const struct pr_expr_value *p)
{
    const char *slash = p->len ? memrchr(p->s, '/', p->len) : NULL;

    return slash ? (size_t)(slash - p->s) + 1 : 0;
}

static struct pr_expr_value path_head(const struct pr_expr_value *p)
{
    size_t n = tail_start(p), all = n;

    while (n && p->s[n - 1] == '/')
        n--;
    return pr_expr_new_str(p->s, n ? n : all); /* '//' stays */
}

static struct pr_expr_value path_tail(const struct pr_expr_value *p)
{
    size_t n = tail_start(p);

    return pr_expr_new_str(p->s + n, p->len - n);
}

static bool path_dirname(struct pr_expr *x, const struct pr_expr_call *c,
                         struct pr_expr_value *ret)
{
    if (!pr_expr_want_str(x, c, 0))
        return false;
    *ret = path_head(&c->a[0]);
    return true;
}

static bool path_basename(struct pr_expr *x, const struct pr_expr_call *c,
                          struct pr_expr_value *ret)
{
    if (!pr_expr_want_str(x, c, 0))
        return false;
    *ret = path_tail(&c->a[0]);
    return true;
}

static bool path_make_pair(struct pr_expr *x, struct pr_expr_value a,
                           struct pr_expr_value b, struct pr_expr_value *ret)
{
    struct pr_expr_value *items = pr_expr_alloc(x, 2 * sizeof *items);

    if (!items)
        return false;
    items[0] = a;
    items[1] = b;
    *ret = (struct pr_expr_value){.kind = EV_TUPLE, .len = 2, .items = items};
    return true;
}

static bool path_split(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    return pr_expr_want_str(x, c, 0) &&
           path_make_pair(x, path_head(&c->a[0]), path_tail(&c->a[0]), ret);
}

/* A dot that only dots stand before begins no extension. */
static bool path_splitext(struct pr_expr *x, const struct pr_expr_call *c,
                          struct pr_expr_value *ret)
{
    const struct pr_expr_value *p = &c->a[0];
    size_t dot, from;

    if (!pr_expr_want_str(x, c, 0))
        return false;
    from = tail_start(p);
    while (from < p->len && p->s[from] == '.')
        from++;
    for (dot = p->len; dot > from && p->s[dot - 1] != '.'; dot--)
        ;
    dot = dot > from ? dot - 1 : p->len;
    return path_make_pair(x, pr_expr_new_str(p->s, dot),
                          pr_expr_new_str(p->s + dot, p->len - dot), ret);
}

static bool path_join(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};

    for (uint32_t i = 0; i < c->n; i++) {
        const struct pr_expr_value *part = &c->a[i];

        if (!pr_expr_want_str(x, c, i))
            return false;
        if (part->len && part->s[0] == '/')
            b.len = 0;
        else if (i && b.len && b.p[b.len - 1] != '/')
            pr_expr_buf_add(&b, "/", 1);
        pr_expr_buf_add(&b, part->s, part->len);
        if (x->rc)
            return false;
    }
    return pr_expr_buf_value(&b, ret);
}

/* Takes the last part off, unless there is none or it is '..'. */
static bool step_up(struct pr_expr_buf *b, size_t root)
{
    size_t n = b->len;

    while (n > root && b->p[n - 1] != '/')
        n--;
    if (b->len == root || pr_text_is(b->p + n, b->len - n, ".."))
        return false;
    b->len = n > root ? n - 1 : root;
    return true;
}

static bool path_normalise(struct pr_expr *x, const struct pr_expr_value *p,
                           struct pr_expr_value *ret)
{
    struct pr_expr_buf b = {.x = x};
    const char *s = p->s, *end = s + p->len;
    size_t root = 0;

    while (s < end && *s == '/') {
        s++;
        root++;
    }
    if (root)
        root = root == 2 ? 2 : 1; /* POSIX lets two slashes differ */
    pr_expr_buf_add(&b, "//", root);
    while (s < end && !x->rc) {
        const char *slash = memchr(s, '/', (size_t)(end - s));
        size_t n = (size_t)((slash ? slash : end) - s);
        bool up = pr_text_is(s, n, "..");

        if (n && !(n == 1 && *s == '.') &&
            !(up && (step_up(&b, root) || root))) {
            if (b.len > root)
                pr_expr_buf_add(&b, "/", 1);
            pr_expr_buf_add(&b, s, n);
        }
        s += n + (slash != NULL);
    }
    if (!b.len)
        pr_expr_buf_add(&b, ".", 1);
    return pr_expr_buf_value(&b, ret);
}

static bool path_normpath(struct pr_expr *x, const struct pr_expr_call *c,
                          struct pr_expr_value *ret)
{
    return pr_expr_want_str(x, c, 0) && path_normalise(x, &c->a[0], ret);
}

static bool path_abspath(struct pr_expr *x, const struct pr_expr_call *c,
                         struct pr_expr_value *ret)
{
    const struct pr_expr_def *getcwd_def =
        pr_expr_find_def(&pr_expr_module_os.table, "getcwd", 6);
    struct pr_expr_buf b = {.x = x};
    struct pr_expr_value full;

    if (!pr_expr_want_str(x, c, 0))
        return false;
    if (c->a[0].len && c->a[0].s[0] == '/')
        return path_normalise(x, &c->a[0], ret);
    if (!getcwd_def->fn(x, c, &full))
        return false;
    pr_expr_buf_add(&b, full.s, full.len);
    pr_expr_buf_add(&b, "/", 1);
    pr_expr_buf_add(&b, c->a[0].s, c->a[0].len);
    return pr_expr_buf_value(&b, &full) && path_normalise(x, &full, ret);
}

static bool path_isabs(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    if (!pr_expr_want_str(x, c, 0))
        return false;
    *ret = pr_expr_new_bool(c->a[0].len && c->a[0].s[0] == '/');
    return true;
}

static bool path_attr(struct pr_expr *x, const char *name, size_t len,
                      struct pr_expr_value *ret, bool *ret_found)
{
    (void)x;
    *ret_found = pr_expr_is_name(name, len, "sep");
    if (*ret_found)
        *ret = pr_expr_new_str("/", 1);
    return true;
}

static const struct pr_expr_def path_defs[] = {
    {"dirname", path_dirname, 1, 1, "p"},
    {"basename", path_basename, 1, 1, "p"},
    {"abspath", path_abspath, 1, 1, "path"},
    {"splitext", path_splitext, 1, 1, "p"},
    {"join", path_join, 1, PR_EXPR_MANY, NULL},
    {"normpath", path_normpath, 1, 1, "path"},
    {"split", path_split, 1, 1, "p"},
    {"isabs", path_isabs, 1, 1, "s"},
};
static const char *const path_refused[] = {
    "exists",   "isfile",   "isdir",    "islink",     "getsize", "lexists",
    "getmtime", "realpath", "samefile", "expanduser", "ismount", NULL};
const struct pr_expr_module pr_expr_module_os_path = {
    .name = "os.path",
    .table = PR_EXPR_TABLE(path_defs),
    .attr = path_attr,
    .refused = path_refused,
    .refusal = "an expression touches no file",
};

/* ---- os, sys and uuid */

bool pr_expr_getenv(struct pr_expr *x, const struct pr_expr_value *name,
                    struct pr_expr_value *ret, bool *ret_found)
{
    const char *value;
    char *copy;
    size_t len;

    *ret_found = false;
    if (name->kind != EV_STR)
        return pr_expr_fail(x,
                            "the name of an environment variable is text, "
                            "not %s",
                            pr_expr_value_name(name));
    copy = pr_expr_alloc(x, (size_t)name->len + 1);
    if (!copy)
        return false;
    memcpy(copy, name->s, name->len);
    copy[name->len] = '\0';
    value = memchr(name->s, '\0', name->len) ? NULL : getenv(copy);
    if (!value)
        return true;
    len = strlen(value);
    if (len > PR_EXPR_BYTES)
        return pr_expr_fail_too_long(x);
    copy = pr_expr_alloc(x, len + 1);
    if (!copy)
        return false;
    memcpy(copy, value, len + 1);
    *ret = pr_expr_new_str(copy, len);
    *ret_found = true;
    return true;
}

/* os.getenv and os.environ.get: a default instead of an error. */
static bool os_getenv(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    bool found;

    if (!pr_expr_getenv(x, &c->a[0], ret, &found))
        return false;
    if (!found && c->a[1].kind != EV_MISSING)
        *ret = c->a[1];
    else if (!found)
        *ret = (struct pr_expr_value){.kind = EV_NONE};
    return true;
}

static const struct pr_expr_def environ_defs[] = {
    {"get", os_getenv, 1, 2, "key,default"},
};
const struct pr_expr_table pr_expr_environ_methods =
    PR_EXPR_TABLE(environ_defs);

static bool os_getcwd(struct pr_expr *x, const struct pr_expr_call *c,
                      struct pr_expr_value *ret)
{
    char *cwd = pr_expr_alloc(x, PATH_MAX);

    (void)c;
    if (!cwd)
        return false;
    if (!getcwd(cwd, PATH_MAX))
        return pr_expr_fail(x, "the working directory cannot be found: %s",
                            strerror(errno));
    *ret = pr_expr_new_str(cwd, strlen(cwd));
    return true;
}

static bool os_attr(struct pr_expr *x, const char *name, size_t len,
                    struct pr_expr_value *ret, bool *ret_found)
{
    (void)x;
    *ret_found = true;
    if (pr_expr_is_name(name, len, "path"))
        *ret = (struct pr_expr_value){.kind = EV_MODULE,
                                      .module = &pr_expr_module_os_path};
    else if (pr_expr_is_name(name, len, "environ"))
        *ret = (struct pr_expr_value){.kind = EV_ENVIRON};
    else if (pr_expr_is_name(name, len, "sep"))
        *ret = pr_expr_new_str("/", 1);
    else if (pr_expr_is_name(name, len, "linesep"))
        *ret = pr_expr_new_str("\n", 1);
    else if (pr_expr_is_name(name, len, "pathsep"))
        *ret = pr_expr_new_str(":", 1);
    else
        *ret_found = false;
    return true;
}

static const struct pr_expr_def os_defs[] = {
    {"getenv", os_getenv, 1, 2, "key,default"},
    {"getcwd", os_getcwd, 0, 0, NULL},
};
static const char *const os_attrs[] = {"path", "environ", "sep", "pathsep",
                                       NULL};
static const char *const os_refused[] = {
    "system", "popen",  "listdir", "remove", "mkdir", "makedirs", "stat",
    "walk",   "rename", "kill",    "unlink", "open",  "chdir",    NULL};
const struct pr_expr_module pr_expr_module_os = {
    .name = "os",
    .table = PR_EXPR_TABLE(os_defs),
    .attr = os_attr,
    .attrs = os_attrs,
    .refused = os_refused,
    .refusal = "an expression touches no file and starts no program",
};

static bool sys_attr(struct pr_expr *x, const char *name, size_t len,
                     struct pr_expr_value *ret, bool *ret_found)
{
    char *path;

    if (pr_expr_is_name(name, len, "platform")) {
        *ret = pr_expr_new_str("linux", 5);
        *ret_found = true;
        return true;
    }
    if (!pr_expr_is_name(name, len, "executable"))
        return true;
    path = pr_expr_alloc(x, PATH_MAX);
    if (!path)
        return false;
    if (!pr_which("python3", path) && !pr_which("python", path))
        memcpy(path, "python3", sizeof "python3");
    *ret = pr_expr_new_str(path, strlen(path));
    *ret_found = true;
    return true;
}

static const char *const sys_attrs[] = {"executable", "platform", NULL};
const struct pr_expr_module pr_expr_module_sys = {
    .name = "sys",
    .attr = sys_attr,
    .attrs = sys_attrs,
};

static bool random_bytes(unsigned char *p, size_t len)
{
    while (len) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool uuid_uuid4(struct pr_expr *x, const struct pr_expr_call *c,
                       struct pr_expr_value *ret)
{
    unsigned char *id = pr_expr_alloc(x, 16);

    (void)c;
    x->pure = false;
    if (!id)
        return false;
    if (!random_bytes(id, 16))
        return pr_expr_fail(x, "no random numbers: %s", strerror(errno));
    id[6] = (unsigned char)((id[6] & 0x0f) | 0x40); /* version 4 */
    id[8] = (unsigned char)((id[8] & 0x3f) | 0x80); /* RFC 4122 */
    *ret = (struct pr_expr_value){.kind = EV_UUID, .uuid = id};
    return true;
}

static const struct pr_expr_def uuid_defs[] = {
    {"uuid4", uuid_uuid4, 0, 0, NULL},
};
const struct pr_expr_module pr_expr_module_uuid = {
    .name = "uuid",
    .table = PR_EXPR_TABLE(uuid_defs),
};

const struct pr_expr_table pr_expr_uuid_methods = {NULL, 0};
