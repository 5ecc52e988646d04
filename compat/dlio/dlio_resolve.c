/* OmegaConf's references in text: ${a.b}, ${oc.env:NAME,default} and hydra's
 * ${now:FORMAT}. */
#include "compat/dlio/dlio.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_DEPTH = 16, MAX_TEXT = 1 << 20 };

struct resolver {
    struct pr_arena *arena;
    const struct pr_value *root;
    struct tm now;
    unsigned depth;
    struct pr_err *err;
};

static int hydra_resolve_value(struct resolver *r, const struct pr_value *v,
                               struct pr_value *ret);

static int hydra_copy_text(struct resolver *r, const char *s, size_t len,
                           struct pr_value *ret)
{
    const char *copy = pr_arena_copy(r->arena, s, len);

    if (!copy)
        return pr_fail_nomem(r->err);
    *ret = pr_strn(copy, len);
    return PR_OK;
}

/* NAME or NAME,default. */
static int hydra_resolve_env(struct resolver *r, const char *name,
                             struct pr_value *ret)
{
    const char *comma = strchr(name, ',');
    size_t n = comma ? (size_t)(comma - name) : strlen(name);
    const char *only = pr_arena_copy(r->arena, name, n), *value;

    if (!only)
        return pr_fail_nomem(r->err);
    value = getenv(only);
    if (!value && !comma)
        return pr_fail(r->err, PR_E_CONF, "",
                       "environment variable '%s' is not set", only);
    if (!value)
        value = comma + 1 + strspn(comma + 1, " ");
    return hydra_copy_text(r, value, strlen(value), ret);
}

/* What stands between ${ and }. *ret_found false: it is not for us. */
static int hydra_resolve_reference(struct resolver *r, const char *name,
                                   struct pr_value *ret, bool *ret_found)
{
    const struct pr_value *v;
    char text[256];

    *ret_found = true;
    if (strncmp(name, "oc.env:", 7) == 0)
        return hydra_resolve_env(r, name + 7, ret);
    if (strncmp(name, "now:", 4) == 0)
        return hydra_copy_text(
            r, text, strftime(text, sizeof text, name + 4, &r->now), ret);
    v = hydra_tree_get(r->root, name);
    *ret_found = v != NULL;
    return v ? hydra_resolve_value(r, v, ret) : PR_OK;
}

/* The '}' that belongs to the "${" at p; NULL: none. */
static const char *hydra_find_closing_brace(const char *p)
{
    unsigned depth = 0;

    for (p++; *p; p++) {
        depth += *p == '{';
        if (*p == '}' && !--depth)
            return p;
    }
    return NULL;
}

static int hydra_resolve_text(struct resolver *r, const char *s,
                              struct pr_value *ret)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(MAX_TEXT);
    const char *p = s, *at, *end;
    struct pr_value v;
    bool found = false;

    while ((at = strstr(p, "${")) && (end = hydra_find_closing_brace(at))) {
        const char *name =
            pr_arena_copy(r->arena, at + 2, (size_t)(end - at) - 2);
        int rc = name ? hydra_resolve_reference(r, name, &v, &found)
                      : pr_fail_nomem(r->err);

        if (rc)
            return rc;
        if (found && at == s && !end[1]) { /* all of it: the kind stays */
            *ret = v;
            return PR_OK;
        }
        pr_buf_add(&out, p, (size_t)(at - p));
        if (found)
            pr_value_write_text(&out, &v);
        else
            pr_buf_add(&out, at, (size_t)(end - at) + 1);
        p = end + 1;
    }
    pr_buf_str(&out, p);
    if (!pr_buf_ok(&out))
        return pr_fail(r->err, PR_E_CONF, "", "'%.60s' becomes too long", s);
    return hydra_copy_text(r, out.data ? out.data : "", out.len, ret);
}

static int hydra_resolve_map(struct resolver *r, const struct pr_value *v,
                             struct pr_value *ret)
{
    struct pr_member *members =
        PR_ARENA_ARRAY(r->arena, struct pr_member, v->len + 1);
    int rc = PR_OK;

    if (!members)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < v->len && !rc; i++) {
        members[i] = v->members[i];
        rc = hydra_resolve_value(r, &v->members[i].value, &members[i].value);
    }
    *ret = *v;
    ret->members = members;
    return rc;
}

static int hydra_resolve_list(struct resolver *r, const struct pr_value *v,
                              struct pr_value *ret)
{
    struct pr_value *items =
        PR_ARENA_ARRAY(r->arena, struct pr_value, v->len + 1);
    int rc = PR_OK;

    if (!items)
        return pr_fail_nomem(r->err);
    for (uint32_t i = 0; i < v->len && !rc; i++)
        rc = hydra_resolve_value(r, &v->items[i], &items[i]);
    *ret = *v;
    ret->items = items;
    return rc;
}

static int hydra_resolve_value(struct resolver *r, const struct pr_value *v,
                               struct pr_value *ret)
{
    int rc = PR_OK;

    if (++r->depth > MAX_DEPTH)
        return pr_fail(r->err, PR_E_CONF, "",
                       "references in the config go round in a circle, or "
                       "it is nested too deep");
    if (v->kind == PR_MAP)
        rc = hydra_resolve_map(r, v, ret);
    else if (v->kind == PR_LIST)
        rc = hydra_resolve_list(r, v, ret);
    else if (v->kind == PR_STR && strlen(v->s) == v->len && strstr(v->s, "${"))
        rc = hydra_resolve_text(r, v->s, ret);
    else
        *ret = *v;
    r->depth--;
    return rc;
}

int hydra_resolve(struct pr_arena *a, const struct pr_value *root,
                  const struct pr_value *v, struct pr_value *ret,
                  struct pr_err *err)
{
    struct resolver r = {.arena = a, .root = root, .err = err};
    time_t now = time(NULL);

    localtime_r(&now, &r.now);
    return hydra_resolve_value(&r, v, ret);
}
