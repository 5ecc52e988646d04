/* The methods of what re.match and re.search find. */
#include "conf/expr/expr_call.h"
#include "conf/expr/regex.h"

#include <string.h>

struct pr_expr_value pr_expr_match_group(const struct pr_expr_match *m,
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
        v = pr_expr_match_group(m, n);
        if (!pr_expr_push(&out, &v))
            return false;
    }
    *ret = c->n > 1 ? pr_expr_vec_value(&out, EV_TUPLE)
                    : pr_expr_match_group(m, n);
    return true;
}

static bool match_groups(struct pr_expr *x, const struct pr_expr_call *c,
                         struct pr_expr_value *ret)
{
    const struct pr_expr_match *m = c->self->match;
    struct pr_expr_vec out = {.x = x};

    for (unsigned i = 1; i <= m->groups; i++) {
        struct pr_expr_value v = pr_expr_match_group(m, i);
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
