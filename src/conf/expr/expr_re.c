/* The module re: patterns are compiled once for an evaluation and freed when
 * it ends. */
#include "base/buf.h"
#include "conf/expr/expr_call.h"
#include "conf/expr/regex.h"

#include <string.h>

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
    r = pr_regex_sub_some(re, &in, &out, x->err);
    if (r != PR_OK)
        return re_set_failure(x, r);
    pr_expr_buf_add(&b, out.data, out.len);
    return pr_expr_buf_value(&b, ret);
}

/* What one match adds to the list of findall. */
static bool push_found(struct pr_expr_vec *out, const struct pr_expr_match *m)
{
    struct pr_expr_value *groups, v = pr_expr_match_group(m, m->groups == 1);

    if (m->groups > 1) {
        groups = pr_expr_alloc(out->x, m->groups * sizeof *groups);
        if (!groups)
            return false;
        for (unsigned i = 0; i < m->groups; i++) {
            groups[i] = pr_expr_match_group(m, i + 1);
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
        v = pr_expr_match_group(m, i);
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
static const char *const attrs[] = {"IGNORECASE", "MULTILINE", "DOTALL", NULL};
const struct pr_expr_module pr_expr_module_re = {
    .name = "re",
    .table = PR_EXPR_TABLE(re_defs),
    .attr = re_attr,
    .attrs = attrs,
};
