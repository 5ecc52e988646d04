/* Declared parameters, settings, and sets of these. */
#include "conf/option/parameters.h"

#include "base/json/json.h"
#include "base/names.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- declared types, domains and patterns */

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

/* ---- settings, and sets of them */

bool pr_is_dynamic(const struct pr_value *v)
{
    if (v->kind == PR_STR) {
        const char *end = v->s + v->len, *p = v->s;
        while (p < end && (p = memchr(p, '$', (size_t)(end - p)))) {
            if (p[1] == '{' || p[1] == '(')
                return true;
            p++;
        }
        return false;
    }
    if (v->kind == PR_LIST)
        for (uint32_t i = 0; i < v->len; i++)
            if (pr_is_dynamic(&v->items[i]))
                return true;
    return false;
}

static bool setting_hash(struct pr_setting *s, const char *name, size_t len)
{
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(SIZE_MAX / 2);

    pr_json_write(&json, &s->value);
    if (!pr_buf_ok(&json))
        return false;
    s->hash = pr_hash_bytes(json.data, json.len, pr_hash_bytes(name, len, 1));
    return true;
}

struct pr_setting *pr_setting_new(struct pr_arena *a, struct pr_names *names,
                                  const char *name, size_t len,
                                  const struct pr_value *value,
                                  const struct pr_origin *origin)
{
    struct pr_setting *s = PR_ARENA_NEW(a, struct pr_setting);

    if (!s)
        return NULL;
    s->name = pr_names_add(names, name, len);
    s->value = *value;
    s->origin = *origin;
    s->dynamic = pr_is_dynamic(value);
    if (s->name == PR_NO_NAME || !setting_hash(s, name, len))
        return NULL;
    return s;
}

bool pr_params_reserve(struct pr_params *p, struct pr_arena *a, uint32_t n)
{
    const struct pr_setting **slot;
    uint32_t *order;
    uint32_t room = p->room ? p->room : 64;

    if (n <= p->room)
        return true;
    while (room < n)
        room *= 2;
    slot = PR_ARENA_ARRAY(a, const struct pr_setting *, room);
    order = PR_ARENA_ARRAY(a, uint32_t, room);
    if (!slot || !order)
        return false;
    if (p->room)
        memcpy(slot, p->slot, p->room * sizeof *slot);
    if (p->count)
        memcpy(order, p->order, p->count * sizeof *order);
    p->slot = slot;
    p->order = order;
    p->room = room;
    return true;
}

void pr_params_set(struct pr_params *p, const struct pr_setting *s)
{
    if (!p->slot[s->name])
        p->order[p->count++] = s->name;
    p->slot[s->name] = s;
}

void pr_params_unset(struct pr_params *p, uint32_t name)
{
    uint32_t kept = 0;

    if (name >= p->room || !p->slot[name])
        return;
    p->slot[name] = NULL;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->order[i] != name)
            p->order[kept++] = p->order[i];
    p->count = kept;
}

void pr_params_copy(struct pr_params *to, const struct pr_params *from)
{
    if (from->room)
        memcpy(to->slot, from->slot, from->room * sizeof *to->slot);
    for (uint32_t i = from->room; i < to->room; i++)
        to->slot[i] = NULL;
    if (from->count)
        memcpy(to->order, from->order, from->count * sizeof *to->order);
    to->count = from->count;
}

const char *pr_origin_kind_text(enum pr_origin_kind kind)
{
    static const char *const texts[] = {
        [PR_FROM_DEFAULT] = "built-in default",
        [PR_FROM_FRAMEWORK] = "framework",
        [PR_FROM_TARGET] = "target",
        [PR_FROM_CONFIG] = "--config",
        [PR_FROM_ENVIRONMENT] = "environment",
        [PR_FROM_COMMAND_LINE] = "command line",
        [PR_FROM_VARIABLE] = "variable",
        [PR_FROM_EXTENSION] = "extension",
    };
    return texts[kind];
}

const char *pr_origin_text(const struct pr_origin *o, char out[static 256])
{
    const char *name =
        o->name && *o->name ? o->name : pr_origin_kind_text(o->kind);

    if (o->line)
        snprintf(out, 256, "%s:%u:%u", name, o->line, o->col);
    else
        snprintf(out, 256, "%s", name);
    return out;
}
