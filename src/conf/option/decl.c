/* Declared types, domains and patterns. */
#include "conf/option/decl.h"

#include "base/json/json.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* Python's int() and float() as rows, to share pr_opt_cast. */
static const struct pr_opt as_int = {.kind = PR_OPT_INT};
static const struct pr_opt as_float = {.kind = PR_OPT_FLOAT};
static const struct pr_opt as_bool = {.kind = PR_OPT_BOOL};

enum pr_decl_type pr_decl_find_type(const char *name)
{
    static const struct {
        const char *name;
        enum pr_decl_type type;
    } types[] = {{"str", PR_DECL_STR},
                 {"int", PR_DECL_INT},
                 {"float", PR_DECL_FLOAT},
                 {"bool", PR_DECL_BOOL}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].name) == 0)
            return types[i].type;
    return PR_DECL_NONE;
}

static int wrong_value(const struct pr_value *v, const char *rule,
                       const char *allowed, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf got = PR_BUF_INIT(1 << 20);

    pr_json_write(&got, v);
    return pr_fail(err, PR_E_CONF, "", "%.120s must %s %s",
                   got.data ? got.data : "?", rule, allowed);
}

static int check_domain(const struct pr_decl *d, const struct pr_value *v,
                        struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf all = PR_BUF_INIT(1 << 20);

    for (uint32_t i = 0; i < d->domain->len; i++)
        if (pr_value_equal(&d->domain->items[i], v))
            return PR_OK;
    pr_json_write(&all, d->domain);
    return wrong_value(v, "be one of", all.data ? all.data : "?", err);
}

static int check_regexp(const struct pr_decl *d, const struct pr_value *v,
                        struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);
    int matched;

    pr_value_write_text(&text, v);
    if (!pr_buf_ok(&text))
        return pr_fail_nomem(err);
    matched = pr_regex_match(d->regexp, text.data ? text.data : "", text.len,
                             NULL, err);
    if (matched < 0)
        return matched;
    if (!matched)
        return wrong_value(v, "match", d->regexp_text, err);
    return PR_OK;
}

static int cast_text(const struct pr_decl *d, const struct pr_value *in,
                     struct pr_arena *a, struct pr_value *ret,
                     struct pr_err *err)
{
    static const char *const wants[] = {
        [PR_DECL_INT] = "a whole number",
        [PR_DECL_FLOAT] = "a number",
        [PR_DECL_BOOL] = "true or false",
    };
    const struct pr_opt *as = d->type == PR_DECL_INT     ? &as_int
                              : d->type == PR_DECL_FLOAT ? &as_float
                                                         : &as_bool;

    *ret = *in;
    if (d->type == PR_DECL_NONE || d->type == PR_DECL_STR)
        return PR_OK;
    if (pr_opt_cast(as, in, a, ret, NULL))
        return pr_fail(err, PR_E_CONF, "", "wants %s, got '%s'", wants[d->type],
                       in->s);
    return PR_OK;
}

int pr_decl_apply(const struct pr_decl *d, const struct pr_value *in,
                  struct pr_arena *a, struct pr_value *ret, struct pr_err *err)
{
    struct pr_value v = *in;
    int rc = PR_OK;

    if (d && in->kind == PR_STR) {
        rc = cast_text(d, in, a, &v, err);
        if (!rc && d->domain)
            rc = check_domain(d, &v, err);
        if (!rc && d->regexp)
            rc = check_regexp(d, &v, err);
    }
    if (!rc && d && d->opt && !(d->opt->flags & PR_OPT_PREFIX))
        rc = pr_opt_cast(d->opt, &v, a, &v, err);
    if (rc)
        return rc;
    v.line = in->line;
    v.col = in->col;
    *ret = v;
    return PR_OK;
}
