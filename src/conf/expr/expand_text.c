/*
 * Expansion by rewriting text: names are replaced innermost first, then
 * $(…)$ parts are evaluated, again and again while names were nested. What a
 * parameter refers to is computed first, by recursion.
 *
 * DLBS evaluates $(…)$ even while it still holds an unresolved ${…}; its own
 * configs rely on that where the name stands inside quotes. Where such an
 * early evaluation fails we try again once the name is known (DLBS gave up).
 */
#include "base/mem.h"
#include "base/text.h"
#include "conf/expr/expand_impl.h"
#include "conf/expr/expr.h"
#include "conf/option/alias.h"
#include "conf/read/share.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool add_dep(struct pr_expand_entry *s, uint32_t name, uint64_t version)
{
    if (s->dep_count == s->dep_cap) {
        size_t cap = s->dep_cap ? s->dep_cap * 2 : 4;
        struct pr_expand_dep *deps = pr_realloc(s->deps, cap * sizeof *deps);
        if (!deps)
            return false;
        s->deps = deps;
        s->dep_cap = cap;
    }
    s->deps[s->dep_count++] = (struct pr_expand_dep){name, version};
    return true;
}

/* The environment, and what is promised to exist even when it lacks it: by
 * DLBS, and our share folder, which is DLBS's root to its configs. Its
 * BENCH_ROOT is where one works: the folder we were started in. */
static const char *expand_getenv(const char *name, struct pr_arena *a)
{
    static const char *const empty[] = {"http_proxy", "https_proxy",
                                        "CUDA_CACHE_PATH"};
    const char *value = getenv(name);
    char here[PATH_MAX];

    for (size_t i = 0; !value && i < sizeof empty / sizeof *empty; i++)
        if (strcmp(name, empty[i]) == 0)
            value = "";
    if (!value &&
        (strcmp(name, "PRONY_SHARE") == 0 || strcmp(name, "DLBS_ROOT") == 0))
        value = pr_bundled_dir(a);
    if (!value && strcmp(name, "BENCH_ROOT") == 0 && getcwd(here, sizeof here))
        value = pr_arena_str(a, here);
    return value;
}

static int expand_fail_undefined(const struct pr_expander *x, const char *name,
                                 struct pr_err *err)
{
    struct pr_nearest near;

    if (strncmp(name, "__condition.", 12) == 0)
        return pr_fail(err, PR_E_CONF, "",
                       "'${%s}' names nothing that the condition captured",
                       name);
    pr_fail(err, PR_E_CONF, "",
            "'${%s}' is neither a parameter nor in the environment", name);
    pr_nearest_init(&near, name);
    for (uint32_t i = 0; i < x->params->count; i++)
        pr_nearest_offer(&near, pr_names_text(x->names, x->params->order[i]));
    if (near.best)
        pr_hint(err, "did you mean '${%s}'?", near.best);
    else
        pr_hint(err, "set it with -P %s=VALUE, or in the environment", name);
    return PR_E_CONF;
}

/* Appends the text that ${name} stands for. */
static int expand_write_name(struct pr_expander *x, struct pr_expand_entry *s,
                             const char *text, size_t len, struct pr_buf *out,
                             struct pr_err *err)
{
    uint32_t name = pr_alias_find_number(x->names, text, len);
    const char *env, *key;
    int rc;

    if (name != PR_NO_NAME && pr_params_get(x->params, name)) {
        rc = pr_expand_resolve(x, name, err);
        if (rc)
            return rc;
        pr_value_write_text(out, &x->slots[name].value);
        if (!x->slots[name].pure)
            s->pure = false;
        if (!add_dep(s, name, x->slots[name].version))
            return pr_fail_nomem(err);
        return PR_OK;
    }
    /* A later experiment may have it as a parameter: remember its absence. */
    if (name != PR_NO_NAME && !add_dep(s, name, 0))
        return pr_fail_nomem(err);
    key = pr_arena_copy(x->scratch, text, len);
    if (!key)
        return pr_fail_nomem(err);
    env = expand_getenv(key, x->scratch);
    if (!env)
        return expand_fail_undefined(x, key, err);
    pr_buf_str(out, env);
    return PR_OK;
}

/* Replaces every ${name} that has no ${ inside. *ret_nested: some had. */
static int expand_write_names(struct pr_expander *x, struct pr_expand_entry *s,
                              const char *p, const char *end,
                              struct pr_buf *out, bool *ret_nested,
                              struct pr_err *err)
{
    bool found = false;

    *ret_nested = false;
    while (p < end) {
        const char *open = memmem(p, (size_t)(end - p), "${", 2);
        const char *close;
        int rc;

        if (!open)
            break;
        pr_buf_add(out, p, (size_t)(open - p));
        for (close = open + 2; close < end && *close != '{' && *close != '}';)
            close++;
        if (close == end || *close == '{' || close == open + 2) {
            *ret_nested = true;
            pr_buf_add(out, open, 2);
            p = open + 2;
            continue;
        }
        rc = expand_write_name(x, s, open + 2, (size_t)(close - open) - 2, out,
                               err);
        if (rc)
            return rc;
        found = true;
        p = close + 1;
    }
    pr_buf_add(out, p, (size_t)(end - p));
    if (*ret_nested && !found)
        return pr_fail(err, PR_E_CONF, "",
                       "'${' without a name and a closing '}'");
    return PR_OK;
}

/* Evaluates every $(…)$ of s->work to s->spare. With nested set, one that
 * fails and holds a name yet to come is left for the next round: *ret_left. */
static int put_exprs(struct pr_expander *x, struct pr_expand_entry *s,
                     bool nested, bool *ret_left, struct pr_err *err)
{
    const char *p = s->work.data, *end = p + s->work.len;
    struct pr_buf *out = &s->spare;

    *ret_left = false;
    pr_buf_clear(out);
    while (p < end) {
        const char *open = memmem(p, (size_t)(end - p), "$(", 2);
        const char *close;
        size_t len;
        bool pure = true;
        int rc;

        if (!open)
            break;
        close = memmem(open + 2, (size_t)(end - open) - 2, ")$", 2);
        if (!close) {
            pr_fail(err, PR_E_CONF, "", "'$(' without its ')$'");
            return pr_hint(err, "'$(' begins an expression; shell code that "
                                "needs it belongs in a script");
        }
        pr_buf_add(out, p, (size_t)(open - p));
        len = (size_t)(close - open) - 2;
        rc = pr_expr_eval(open + 2, len, x->scratch, out, &pure, err);
        if (rc == PR_E_CONF && nested && memmem(open + 2, len, "${", 2)) {
            pr_buf_add(out, open, len + 4);
            *ret_left = true;
        } else if (rc) {
            return rc;
        }
        if (!pure)
            s->pure = false;
        p = close + 2;
    }
    pr_buf_add(out, p, (size_t)(end - p));
    return PR_OK;
}

static int expand_check_text(const struct pr_expand_entry *s,
                             struct pr_err *err)
{
    if (s->work.over || s->spare.over)
        return pr_fail(err, PR_E_CONF, "",
                       "the expanded text is longer than 16 MiB");
    if (!pr_buf_ok(&s->work) || !pr_buf_ok(&s->spare))
        return pr_fail_nomem(err);
    return PR_OK;
}

/* What an expression gives may be an expression again. */
static int put_all_exprs(struct pr_expander *x, struct pr_expand_entry *s,
                         bool nested, struct pr_err *err)
{
    for (int round = 0; round < PR_EXPAND_MAX_CHAIN; round++) {
        struct pr_buf text;
        bool left;
        int rc = put_exprs(x, s, nested, &left, err);

        if (!rc)
            rc = expand_check_text(s, err);
        if (rc || left || !memmem(s->spare.data, s->spare.len, "$(", 2))
            return rc;
        text = s->work;
        s->work = s->spare;
        s->spare = text;
    }
    return pr_fail(err, PR_E_CONF, "",
                   "expressions that give expressions "
                   "without end");
}

int pr_expand_text(struct pr_expander *x, struct pr_expand_entry *s,
                   const char *text, size_t len, struct pr_err *err)
{
    bool nested = true;
    int rc;

    pr_buf_clear(&s->work);
    pr_buf_clear(&s->spare);
    pr_buf_add(&s->spare, text, len);
    rc = expand_check_text(s, err);
    for (int round = 0; nested && !rc; round++) {
        if (round == PR_EXPAND_MAX_CHAIN)
            return pr_fail(err, PR_E_CONF, "", "names nested without end");
        pr_buf_clear(&s->work);
        rc = expand_write_names(x, s, s->spare.data,
                                s->spare.data + s->spare.len, &s->work, &nested,
                                err);
        if (!rc)
            rc = expand_check_text(s, err);
        if (!rc)
            rc = put_all_exprs(x, s, nested, err);
    }
    return rc;
}
