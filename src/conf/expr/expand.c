/*
 * The expander: rewriting the texts of parameters, computing those of one
 * experiment after another, and remembering what still holds.
 */
#include "conf/expr/expand.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "conf/expr/expr_eval.h"
#include "conf/option/alias.h"
#include "conf/read/bundled.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_TEXT = 16 << 20, /* of one expanded parameter */
    MAX_CHAIN = 500,     /* parameters that refer to one another */
};

struct expand_dep {
    uint32_t name;
    uint64_t version;
};

struct expand_entry {
    uint64_t hash;    /* of the setting that value was computed from */
    uint64_t version; /* changes when the value does; 0: none yet */
    uint64_t round;   /* experiment it was last checked in */
    bool whole;       /* value, hash and deps belong together */
    bool busy;        /* being computed: meeting it again is a cycle */
    bool pure;        /* the same inputs give the same value */
    struct pr_value value;
    struct pr_buf text;        /* holds the text of a computed value */
    struct pr_buf work, spare; /* while it is computed */
    struct pr_arena *arena;    /* holds lists and cast results */
    struct pr_arena *next;     /* the same while computing */
    struct expand_dep *deps;
    size_t dep_count, dep_cap;
    struct pr_buf json;
    uint64_t json_version;
};

struct pr_expander {
    const struct pr_names *names;
    const struct pr_decl *const *decls;
    const struct pr_params *params;
    struct expand_entry *slots;
    uint32_t slot_count;
    uint64_t round, next_version;
    unsigned depth;
    struct pr_arena *scratch; /* of the expression evaluator */
};

/* ---- rewriting text
 * Names are replaced innermost first, then
 * $(…)$ parts are evaluated, again and again while names were nested. What a
 * parameter refers to is computed first, by recursion.
 *
 * DLBS evaluates $(…)$ even while it still holds an unresolved ${…}; its own
 * configs rely on that where the name stands inside quotes. Where such an
 * early evaluation fails we try again once the name is known (DLBS gave up). */

static int expand_resolve(struct pr_expander *x, uint32_t name,
                          struct pr_err *err);

static bool add_dep(struct expand_entry *s, uint32_t name, uint64_t version)
{
    if (s->dep_count == s->dep_cap) {
        size_t cap = s->dep_cap ? s->dep_cap * 2 : 4;
        struct expand_dep *deps = pr_realloc(s->deps, cap * sizeof *deps);
        if (!deps)
            return false;
        s->deps = deps;
        s->dep_cap = cap;
    }
    s->deps[s->dep_count++] = (struct expand_dep){name, version};
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

    if (pr_text_starts_with(name, "__condition."))
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
static int expand_write_name(struct pr_expander *x, struct expand_entry *s,
                             const char *text, size_t len, struct pr_buf *out,
                             struct pr_err *err)
{
    uint32_t name = pr_alias_find_number(x->names, text, len);
    const char *env, *key;
    int rc;

    if (name != PR_NO_NAME && pr_params_get(x->params, name)) {
        rc = expand_resolve(x, name, err);
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
static int expand_write_names(struct pr_expander *x, struct expand_entry *s,
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
static int put_exprs(struct pr_expander *x, struct expand_entry *s, bool nested,
                     bool *ret_left, struct pr_err *err)
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

static int expand_check_text(const struct expand_entry *s, struct pr_err *err)
{
    if (s->work.over || s->spare.over)
        return pr_fail(err, PR_E_CONF, "",
                       "the expanded text is longer than 16 MiB");
    if (!pr_buf_ok(&s->work) || !pr_buf_ok(&s->spare))
        return pr_fail_nomem(err);
    return PR_OK;
}

/* What an expression gives may be an expression again. */
static int put_all_exprs(struct pr_expander *x, struct expand_entry *s,
                         bool nested, struct pr_err *err)
{
    for (int round = 0; round < MAX_CHAIN; round++) {
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

/* Expands text to s->spare, and notes in s what it depends on. */
static int expand_text(struct pr_expander *x, struct expand_entry *s,
                       const char *text, size_t len, struct pr_err *err)
{
    bool nested = true;
    int rc;

    pr_buf_clear(&s->work);
    pr_buf_clear(&s->spare);
    pr_buf_add(&s->spare, text, len);
    rc = expand_check_text(s, err);
    for (int round = 0; nested && !rc; round++) {
        if (round == MAX_CHAIN)
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

static void init_buffers(struct expand_entry *s)
{
    s->text.max = s->work.max = s->spare.max = MAX_TEXT;
    s->json.max = (size_t)MAX_TEXT * 8; /* escapes make text longer */
}

struct pr_expander *pr_expander_new(const struct pr_names *names,
                                    const struct pr_decl *const *decls)
{
    struct pr_expander *x = pr_alloc_zeroed(sizeof *x);

    if (!x)
        return NULL;
    x->names = names;
    x->decls = decls;
    x->slot_count = pr_names_count(names);
    x->slots = pr_alloc_zeroed(x->slot_count * sizeof *x->slots);
    x->scratch = pr_arena_new(16384);
    if (!x->slots || !x->scratch) {
        pr_expander_free(x);
        return NULL;
    }
    for (uint32_t i = 0; i < x->slot_count; i++)
        init_buffers(&x->slots[i]);
    return x;
}

void pr_expander_free(struct pr_expander *x)
{
    if (!x)
        return;
    for (uint32_t i = 0; x->slots && i < x->slot_count; i++) {
        pr_buf_free(&x->slots[i].text);
        pr_buf_free(&x->slots[i].work);
        pr_buf_free(&x->slots[i].spare);
        pr_buf_free(&x->slots[i].json);
        pr_arena_free(x->slots[i].arena);
        pr_arena_free(x->slots[i].next);
        pr_free(x->slots[i].deps);
    }
    pr_free(x->slots);
    pr_arena_free(x->scratch);
    pr_free(x);
}

/* Says where: the place of the setting and the name of the parameter. Errors
 * that already have a place come from a parameter further down. */
static int expand_add_place(const struct pr_expander *x,
                            const struct pr_setting *set, int rc,
                            struct pr_err *err)
{
    char where[256];

    if (!err || err->where[0] || rc == PR_E_NOMEM)
        return rc;
    return pr_reword(err, pr_origin_text(&set->origin, where),
                     "parameter '%s': %s", pr_names_text(x->names, set->name),
                     err->msg);
}

/* A list that is not kept as one: its items as text, blanks between. */
static int expand_join_list(struct pr_arena *a, const struct pr_value *list,
                            struct pr_value *ret, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(MAX_TEXT);
    const char *s;

    pr_value_write_joined(&text, list);
    if (!pr_buf_ok(&text) || !(s = pr_arena_copy(a, text.data, text.len)))
        return pr_fail_nomem(err);
    *ret = pr_strn(s, text.len);
    return PR_OK;
}

/* A list that stays one: each text in it is expanded by itself. */
static int expand_items(struct pr_expander *x, struct expand_entry *s,
                        const struct pr_value *list, struct pr_value *ret,
                        struct pr_err *err)
{
    struct pr_value *items =
        PR_ARENA_ARRAY(s->next, struct pr_value, list->len);

    if (!items)
        return pr_fail_nomem(err);
    for (uint32_t i = 0; i < list->len; i++) {
        const char *copy;
        int rc;

        if (!pr_value_copy(s->next, &list->items[i], &items[i]))
            return pr_fail_nomem(err);
        if (items[i].kind != PR_STR)
            continue;
        rc = expand_text(x, s, items[i].s, items[i].len, err);
        if (rc)
            return rc;
        copy = pr_arena_copy(s->next, s->spare.data, s->spare.len);
        if (!copy)
            return pr_fail_nomem(err);
        items[i].s = copy;
        items[i].len = (uint32_t)s->spare.len;
    }
    *ret = *list;
    ret->items = items;
    return PR_OK;
}

/* Equal to the last bit, so that all text made of them is: unlike
 * pr_value_equal, which finds 1, 1.0 and true equal. */
static bool same_value(const struct pr_value *a, const struct pr_value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case PR_NULL:
        return true;
    case PR_BOOL:
        return a->b == b->b;
    case PR_INT:
        return a->i == b->i;
    case PR_FLOAT:
        /* 0.0 and -0.0 are written differently, nan is what it is. */
        return isnan(a->f) ? isnan(b->f)
                           : a->f == b->f && signbit(a->f) == signbit(b->f);
    case PR_STR:
        return a->len == b->len && memcmp(a->s, b->s, a->len) == 0;
    case PR_LIST:
        for (uint32_t i = 0; a->len == b->len && i < a->len; i++)
            if (!same_value(&a->items[i], &b->items[i]))
                return false;
        return a->len == b->len;
    case PR_MAP:
        for (uint32_t i = 0; a->len == b->len && i < a->len; i++)
            if (a->members[i].key_len != b->members[i].key_len ||
                memcmp(a->members[i].key, b->members[i].key,
                       a->members[i].key_len) != 0 ||
                !same_value(&a->members[i].value, &b->members[i].value))
                return false;
        return a->len == b->len;
    }
    return false;
}

/* The value before its declared type is applied. Text is in s->spare. */
static int raw_value(struct pr_expander *x, struct expand_entry *s,
                     const struct pr_setting *set, struct pr_value *ret,
                     struct pr_err *err)
{
    const struct pr_decl *decl = x->decls[set->name];
    struct pr_value v = set->value;
    int rc;

    if (v.kind == PR_LIST && pr_decl_keeps_lists(decl)) {
        *ret = v;
        return set->dynamic ? expand_items(x, s, &v, ret, err) : PR_OK;
    }
    if (v.kind == PR_LIST) {
        rc = expand_join_list(s->next, &set->value, &v, err);
        if (rc)
            return rc;
    }
    if (set->dynamic && v.kind == PR_STR) {
        rc = expand_text(x, s, v.s, v.len, err);
        if (rc)
            return rc;
        v = pr_strn(s->spare.data, s->spare.len);
    }
    *ret = v;
    return PR_OK;
}

/* Memory for the next value; that of the present one stays to compare. */
static bool ready_next(struct expand_entry *s)
{
    if (s->next)
        pr_arena_reset(s->next);
    else
        s->next = pr_arena_new(1024);
    return s->next != NULL;
}

/* Moves a value into memory of the slot's own: where it comes from may be gone
 * by the next experiment. */
static bool expand_own_value(struct expand_entry *s, struct pr_value *v)
{
    if (v->kind == PR_LIST || v->kind == PR_MAP)
        return pr_value_copy(s->next, v, v);
    if (v->kind != PR_STR || v->s == s->spare.data)
        return true;
    pr_buf_clear(&s->spare);
    pr_buf_add(&s->spare, v->s, v->len);
    v->s = s->spare.data;
    return pr_buf_ok(&s->spare);
}

static void expand_store_value(struct expand_entry *s,
                               const struct pr_setting *set,
                               const struct pr_value *v)
{
    struct pr_arena *arena = s->arena;
    struct pr_buf text = s->text;

    s->arena = s->next;
    s->next = arena;
    s->text = s->spare;
    s->spare = text;
    s->value = *v;
    s->hash = set->hash;
    s->whole = true;
}

static int expand_compute_value(struct pr_expander *x, struct expand_entry *s,
                                const struct pr_setting *set,
                                struct pr_err *err)
{
    const struct pr_decl *decl = x->decls[set->name];
    struct pr_value v;
    int rc;

    s->dep_count = 0;
    s->pure = true;
    s->whole = false;
    if (!ready_next(s))
        return pr_fail_nomem(err);
    rc = raw_value(x, s, set, &v, err);
    if (!rc)
        rc = pr_decl_apply(decl, &v, s->next, &v, err);
    if (rc)
        return expand_add_place(x, set, rc, err);
    if (!expand_own_value(s, &v))
        return pr_fail_nomem(err);
    if (!s->version || !same_value(&v, &s->value))
        s->version = ++x->next_version;
    expand_store_value(s, set, &v);
    return PR_OK;
}

/* Whether the value of an earlier experiment still holds. What it depends on
 * is checked in the order it was met, so that a name that is no longer reached
 * is not touched. */
static int expand_check_unchanged(struct pr_expander *x,
                                  const struct expand_entry *s,
                                  const struct pr_setting *set, bool *ret,
                                  struct pr_err *err)
{
    *ret = false;
    if (!s->whole || s->hash != set->hash || !s->pure)
        return PR_OK;
    for (size_t i = 0; i < s->dep_count; i++) {
        uint32_t name = s->deps[i].name;
        int rc;

        if (!pr_params_get(x->params, name)) {
            if (s->deps[i].version)
                return PR_OK;
            continue;
        }
        rc = expand_resolve(x, name, err);
        if (rc)
            return rc;
        if (x->slots[name].version != s->deps[i].version)
            return PR_OK;
    }
    *ret = true;
    return PR_OK;
}

/* Computes a parameter of the present set, unless it is known already. */
static int expand_resolve(struct pr_expander *x, uint32_t name,
                          struct pr_err *err)
{
    struct expand_entry *s = &x->slots[name];
    const struct pr_setting *set = pr_params_get(x->params, name);
    bool same;
    int rc;

    if (s->round == x->round)
        return PR_OK;
    if (s->busy || x->depth == MAX_CHAIN) {
        pr_fail(err, PR_E_CONF, "",
                s->busy ? "'${%s}' refers to itself"
                        : "'${%s}' is at the end of a chain of 500 names",
                pr_names_text(x->names, name));
        pr_hint(err, s->busy ? "one of the parameters it names, names it again"
                             : "no parameter may follow from another through "
                               "more names than that");
        return expand_add_place(x, set, PR_E_CONF, err);
    }
    s->busy = true;
    x->depth++;
    rc = expand_check_unchanged(x, s, set, &same, err);
    if (!rc && !same)
        rc = expand_compute_value(x, s, set, err);
    x->depth--;
    s->busy = false;
    if (!rc)
        s->round = x->round;
    return rc;
}

int pr_expand_params(struct pr_expander *x, const struct pr_params *params,
                     struct pr_err *err)
{
    x->params = params;
    x->round++;
    if (err)
        err->where[0] = '\0';
    for (uint32_t i = 0; i < params->count; i++) {
        PR_TRY(expand_resolve(x, params->order[i], err));
        pr_arena_reset(x->scratch);
    }
    return PR_OK;
}

const struct pr_value *pr_expanded_value(const struct pr_expander *x,
                                         uint32_t name)
{
    if (name >= x->slot_count || x->slots[name].round != x->round)
        return NULL;
    return &x->slots[name].value;
}

uint32_t pr_expanded_from(const struct pr_expander *x, uint32_t name, size_t i)
{
    const struct expand_entry *s = &x->slots[name];

    return i < s->dep_count ? s->deps[i].name : PR_NO_NAME;
}

struct pr_expander *pr_expander_like(const struct pr_expander *x)
{
    return pr_expander_new(x->names, x->decls);
}

int pr_expand_name(struct pr_expander *x, const struct pr_params *params,
                   uint32_t name, struct pr_err *err)
{
    int rc;

    x->params = params;
    x->round++;
    if (err)
        err->where[0] = '\0';
    rc = expand_resolve(x, name, err);
    pr_arena_reset(x->scratch);
    return rc;
}

const char *pr_expanded_json(struct pr_expander *x, uint32_t name,
                             size_t *ret_len)
{
    struct expand_entry *s = &x->slots[name];

    if (s->json_version != s->version) {
        const char *text = pr_names_text(x->names, name);
        pr_buf_clear(&s->json);
        pr_json_write_string(&s->json, text, strlen(text));
        pr_buf_str(&s->json, ": ");
        pr_json_write(&s->json, &s->value);
        if (!pr_buf_ok(&s->json))
            return NULL;
        s->json_version = s->version;
    }
    *ret_len = s->json.len;
    return s->json.data;
}
