/*
 * Walking a plan: the product of the variables as an odometer, the last wheel
 * fastest. Under each combination what frameworks set is laid; then it goes
 * through the extensions, which may turn it into several experiments.
 */
#include "base/mem.h"
#include "base/names.h"
#include "catalog/gpu_tasks.h"
#include "conf/option/alias.h"
#include "plan/check.h"
#include "plan/framework_defaults.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

/* ---- one combination of the variables */

/* The experiments that it gives. */
struct variants {
    struct pr_params **items;
    size_t count, cap;
};

#define CAPTURE "${__condition."

struct maker {
    const struct pr_plan *plan;
    struct pr_arena *arena; /* of the combination */
};

/* Sets over what is there, and remembers that for --explain. The copy lives as
 * long as the combination. */
static int set_over(struct maker *m, struct pr_params *p,
                    const struct pr_setting *set, struct pr_err *err)
{
    struct pr_setting *copy;

    if (set->below) {
        int rc =
            pr_setting_merge_key(m->arena, m->plan->scope.names,
                                 p->slot[set->name], set, false, &set, err);
        if (rc)
            return rc;
    }
    if (p->slot[set->name]) {
        copy = PR_ARENA_NEW(m->arena, struct pr_setting);
        if (!copy)
            return pr_fail_nomem(err);
        *copy = *set;
        copy->under = p->slot[set->name];
        set = copy;
    }
    pr_params_set(p, set);
    return PR_OK;
}

static struct pr_params *copy_params(struct maker *m,
                                     const struct pr_params *from)
{
    struct pr_params *p = PR_ARENA_NEW(m->arena, struct pr_params);

    if (!p || !pr_params_reserve(p, m->arena, from->room))
        return NULL;
    pr_params_copy(p, from);
    return p;
}

struct lookup {
    const struct pr_names *names;
    const struct pr_params *params;
};

static const struct pr_value *combine_find_value(const void *ctx,
                                                 const char *name, size_t len)
{
    const struct lookup *l = ctx;
    uint32_t id = pr_alias_find_number(l->names, name, len);
    const struct pr_setting *set =
        id == PR_NO_NAME ? NULL : pr_params_get(l->params, id);

    return set ? &set->value : NULL;
}

/* A condition is looked at before anything is computed, so what it speaks of
 * must not have to be computed. */
static int check_constant(const struct pr_extension *e, const struct lookup *l,
                          struct pr_err *err)
{
    for (size_t i = 0;; i++) {
        const char *name = pr_query_name(e->when, i);
        const struct pr_value *v =
            name ? combine_find_value(l, name, strlen(name)) : NULL;
        char where[256];

        if (!name)
            return PR_OK;
        /* A list counts as plain, as in DLBS. */
        if (!v || v->kind != PR_STR || !pr_is_dynamic(v))
            continue;
        pr_fail(err, PR_E_CONF, pr_origin_text(&e->origin, where),
                "a condition must not use '%s', whose value is computed: %s",
                name, v->s);
        return pr_hint(err, "use a parameter that is set to a plain value");
    }
}

/* Replaces ${__condition.NAME_N} in text by what the condition captured. */
static int put_captures(const struct pr_extension *e, const struct lookup *l,
                        const char *text, size_t len, struct pr_buf *out,
                        struct pr_err *err)
{
    const char *p = text, *end = text + len;
    const size_t prefix = strlen(CAPTURE);

    while (p < end) {
        const char *open = memmem(p, (size_t)(end - p), CAPTURE, prefix);
        const char *close, *digits;
        unsigned group = 0;
        int rc;

        if (!open || !(close = memchr(open, '}', (size_t)(end - open))))
            break;
        for (digits = close;
             digits > open && digits[-1] >= '0' && digits[-1] <= '9';)
            digits--;
        for (const char *d = digits; d < close && group < 1000; d++)
            group = group * 10 + (unsigned)(*d - '0');
        pr_buf_add(out, p, (size_t)(open - p));
        rc = 0;
        if (digits < close && digits[-1] == '_')
            rc = pr_query_capture(e->when, combine_find_value, l, open + prefix,
                                  (size_t)(digits - 1 - open) - prefix, group,
                                  out, err);
        if (rc < 0)
            return rc;
        /* What was not captured stays: a later extension may replace it, and
         * expansion fails on it if none does. */
        if (!rc)
            pr_buf_add(out, open, (size_t)(close + 1 - open));
        p = close + 1;
    }
    pr_buf_add(out, p, (size_t)(end - p));
    return PR_OK;
}

static bool has_capture(const struct pr_value *v)
{
    if (v->kind == PR_STR)
        return memmem(v->s, v->len, CAPTURE, strlen(CAPTURE)) != NULL;
    for (uint32_t i = 0; v->kind == PR_LIST && i < v->len; i++)
        if (has_capture(&v->items[i]))
            return true;
    return false;
}

static int combine_replace_captures(struct maker *m,
                                    const struct pr_extension *e,
                                    const struct lookup *l,
                                    const struct pr_value *v,
                                    struct pr_value *ret, struct pr_err *err)
{
    *ret = *v;
    if (v->kind == PR_STR) {
        PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);
        int rc = put_captures(e, l, v->s, v->len, &text, err);
        if (rc)
            return rc;
        ret->s = pr_arena_copy(m->arena, text.data, text.len);
        ret->len = (uint32_t)text.len;
        return pr_buf_ok(&text) && ret->s ? PR_OK : pr_fail_nomem(err);
    }
    if (v->kind == PR_LIST) {
        struct pr_value *items =
            PR_ARENA_ARRAY(m->arena, struct pr_value, v->len);
        if (!items)
            return pr_fail_nomem(err);
        ret->items = items;
        for (uint32_t i = 0; i < v->len; i++) {
            int rc =
                combine_replace_captures(m, e, l, &v->items[i], &items[i], err);
            if (rc)
                return rc;
        }
    }
    return PR_OK;
}

/* The setting with what the condition captured in it. */
static int combine_fill_setting(struct maker *m, const struct pr_extension *e,
                                const struct lookup *matched,
                                const struct pr_setting *set,
                                const struct pr_setting **ret,
                                struct pr_err *err)
{
    const char *name = pr_names_text(matched->names, set->name);
    struct pr_setting *filled;
    struct pr_value v;
    int rc;

    *ret = set;
    if (!set->dynamic || !has_capture(&set->value))
        return PR_OK;
    rc = combine_replace_captures(m, e, matched, &set->value, &v, err);
    if (rc)
        return rc;
    filled = pr_setting_new(m->arena, m->plan->scope.names, name, strlen(name),
                            &v, &set->origin);
    if (!filled)
        return pr_fail_nomem(err);
    filled->below = set->below;
    *ret = filled;
    return PR_OK;
}

/* Captures are taken from the experiment as it was when it matched: all of
 * them before anything is set, since it may be the same. */
static int set_lists(struct maker *m, const struct pr_extension *e,
                     const struct lookup *matched,
                     const struct pr_settings *lists[2], struct pr_params *to,
                     struct pr_err *err)
{
    size_t n = lists[0]->count, all = n + (lists[1] ? lists[1]->count : 0);
    const struct pr_setting **sets =
        PR_ARENA_ARRAY(m->arena, const struct pr_setting *, all + 1);
    int rc = sets ? PR_OK : pr_fail_nomem(err);

    for (size_t i = 0; i < all && !rc; i++)
        rc = combine_fill_setting(
            m, e, matched, i < n ? lists[0]->items[i] : lists[1]->items[i - n],
            &sets[i], err);
    for (size_t i = 0; i < all && !rc; i++)
        rc = set_over(m, to, sets[i], err);
    return rc;
}

static int combine_push_variant(struct maker *m, struct variants *v,
                                struct pr_params *p, struct pr_err *err)
{
    struct pr_params **item = p ? PR_PUSH(m->arena, v) : NULL;

    if (!item)
        return pr_fail_nomem(err);
    *item = p;
    return PR_OK;
}

/* One extension on one experiment; what becomes of it is pushed to out. The
 * last case takes the experiment itself: many extensions that match in turn
 * would be as many copies of all parameters. */
static int combine_apply_extension(struct maker *m,
                                   const struct pr_extension *e,
                                   struct pr_params *p, struct variants *out,
                                   struct pr_err *err)
{
    struct lookup l = {m->plan->scope.names, p};
    size_t cases = e->case_count ? e->case_count : 1;
    int rc = check_constant(e, &l, err);

    if (!rc)
        rc = pr_query_match(e->when, combine_find_value, &l, PR_QUERY_RELAXED,
                            err);
    if (rc < 0)
        return rc;
    if (!rc)
        return combine_push_variant(m, out, p, err);
    rc = PR_OK;
    for (size_t c = 0; c < cases && !rc; c++) {
        struct pr_params *new = c + 1 < cases ? copy_params(m, p) : p;
        const struct pr_settings *lists[2] = {
            &e->params, e->case_count ? &e->cases[c] : NULL};

        rc = new ? set_lists(m, e, &l, lists, new, err) : pr_fail_nomem(err);
        if (!rc)
            rc = combine_push_variant(m, out, new, err);
    }
    return rc;
}

/* Without those that nothing is set in: there is nothing to run. */
static void drop_empty(struct variants *v)
{
    size_t kept = 0;

    for (size_t i = 0; i < v->count; i++)
        if (v->items[i]->count)
            v->items[kept++] = v->items[i];
    v->count = kept;
}

static int run_extensions(struct maker *m, const struct pr_plan_group *g,
                          struct variants *now, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < g->ext_count && !rc; i++) {
        struct variants next = {0};

        for (size_t v = 0; v < now->count && !rc; v++)
            rc = combine_apply_extension(m, &g->exts[i], now->items[v], &next,
                                         err);
        *now = next;
    }
    /* The framework may be another now. */
    for (size_t v = 0; g->ext_count && v < now->count && !rc; v++)
        if (!pr_framework_defaults_apply(m->plan, m->arena, now->items[v]))
            rc = pr_fail_nomem(err);
    return rc;
}

/* wheel has the number of the value of each variable of the group. All is in
 * the arena. */
static int walk_combine(const struct pr_plan *p, const struct pr_plan_group *g,
                        const size_t *wheel, struct pr_arena *a,
                        struct variants *ret, struct pr_err *err)
{
    struct maker m = {p, a};
    struct variants now = {0};
    struct pr_params *base = copy_params(&m, &g->params);
    int rc;

    if (!base)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < g->var_count; i++) {
        rc = set_over(&m, base, g->vars[i].values.items[wheel[i]], err);
        if (rc)
            return rc;
    }
    if (!pr_framework_defaults_apply(p, a, base)) /* conditions look at it */
        return pr_fail_nomem(err);
    rc = combine_push_variant(&m, &now, base, err);
    if (!rc)
        rc = run_extensions(&m, g, &now, err);
    if (rc)
        return rc;
    drop_empty(&now);
    *ret = now;
    return PR_OK;
}

/* ---- the walk */

/* A year has 31 million seconds: more is a slip. */
enum { MAX_EXPERIMENTS = 1000000000 };

struct pr_walk {
    struct pr_plan *plan;
    bool expand; /* false: only count */
    uint32_t only_name;
    const char *only_text; /* or NULL: all */
    unsigned repeat;
    size_t group;
    size_t *wheel;          /* the value each variable of the group has */
    bool started;           /* the wheels stand on a combination */
    struct pr_arena *arena; /* of one combination */
    struct variants variants;
    size_t next_variant;
    uint64_t index;
    struct pr_expander *expander;
};

struct pr_walk *pr_walk_new(struct pr_plan *p)
{
    struct pr_walk *w = pr_alloc_zeroed(sizeof *w);
    size_t wheels = 1;

    if (!w)
        return NULL;
    w->plan = p;
    w->expand = true;
    w->repeat = 1;
    for (size_t i = 0; i < p->group_count; i++)
        if (p->groups[i].var_count > wheels)
            wheels = p->groups[i].var_count;
    w->wheel = pr_alloc_zeroed(wheels * sizeof *w->wheel);
    w->arena = pr_arena_new(65536);
    w->expander = pr_expander_new(
        p->scope.names, (const struct pr_decl *const *)p->scope.decls);
    if (!w->wheel || !w->arena || !w->expander) {
        pr_walk_free(w);
        return NULL;
    }
    return w;
}

void pr_walk_free(struct pr_walk *w)
{
    if (!w)
        return;
    pr_free(w->wheel);
    pr_arena_free(w->arena);
    pr_expander_free(w->expander);
    pr_free(w);
}

void pr_walk_only(struct pr_walk *w, const char *name, const char *text)
{
    w->only_name = pr_names_find(w->plan->scope.names, name, strlen(name));
    w->only_text = text;
    if (w->only_name == PR_NO_NAME) /* none has it: at the end */
        w->repeat = w->plan->opts.repeat + 1;
}

static bool any_empty(const struct pr_plan_group *g)
{
    for (size_t i = 0; i < g->var_count; i++)
        if (!g->vars[i].values.count)
            return true;
    return false;
}

/* Turns the wheels to the next combination; false: the group is through. */
static bool plan_walk_turn_wheels(struct pr_walk *w,
                                  const struct pr_plan_group *g)
{
    if (!w->started) {
        memset(w->wheel, 0, g->var_count * sizeof *w->wheel);
        w->started = true;
        return !any_empty(g);
    }
    if (any_empty(g))
        return false;
    for (size_t i = g->var_count; i-- > 0;) {
        if (++w->wheel[i] < g->vars[i].values.count)
            return true;
        w->wheel[i] = 0;
    }
    return false;
}

/* Moves to the next combination of any group and repeat. 1, 0 at the end. */
static int plan_walk_advance(struct pr_walk *w, struct pr_err *err)
{
    const struct pr_plan *p = w->plan;

    while (w->repeat <= p->opts.repeat) {
        const struct pr_plan_group *g = &p->groups[w->group];
        if (plan_walk_turn_wheels(w, g)) {
            int rc;

            pr_arena_reset(w->arena);
            w->variants.count = w->next_variant = 0;
            rc = walk_combine(p, g, w->wheel, w->arena, &w->variants, err);
            return rc ? rc : 1;
        }
        w->started = false;
        if (++w->group == p->group_count) {
            w->group = 0;
            w->repeat++;
        }
    }
    return 0;
}

/* A short hash of everything that was set, whatever the order; not of
 * defaults, ours or a framework's, so that a new version gives the same id. */
static void make_id(const struct pr_walk *w, const struct pr_params *p,
                    char out[static 40])
{
    uint64_t sum = pr_hash_mix(w->repeat);

    for (uint32_t i = 0; i < p->count; i++) {
        const struct pr_setting *set = p->slot[p->order[i]];
        if (pr_is_given(set) && set->name != w->plan->id_name)
            sum += set->hash;
    }
    snprintf(out, 40, "%04llu-%08x", (unsigned long long)w->index,
             (unsigned)(pr_hash_mix(sum) >> 32));
}

/* exp.id is the plan's own unless the user sets one. */
static int set_id(struct pr_walk *w, struct pr_params *p, const char *id,
                  struct pr_err *err)
{
    const struct pr_setting *old = pr_params_get(p, w->plan->id_name);
    struct pr_origin at = {PR_FROM_DEFAULT, "", 0, 0};
    const char *copy;
    struct pr_setting *set;
    struct pr_value v;

    if (w->plan->opts.no_defaults ||
        (old && old->origin.kind != PR_FROM_DEFAULT))
        return PR_OK;
    copy = pr_arena_str(w->arena, id);
    if (!copy)
        return pr_fail_nomem(err);
    v = pr_str(copy);
    set = pr_setting_new(w->arena, w->plan->scope.names, "exp.id", 6, &v, &at);
    if (!set)
        return pr_fail_nomem(err);
    pr_params_set(p, set);
    return PR_OK;
}

/* Tasks are named by parts of their names, as people say them. */
static bool task_named(const char *list, const char *name)
{
    for (const char *p = list;; p++) {
        size_t len = strcspn(p, ",");
        if (pr_gpu_task_is_selected(name, p, len))
            return true;
        p += len;
        if (!*p)
            return false;
    }
}

static bool plan_walk_is_wanted(const struct pr_walk *w)
{
    const struct pr_value *v, *task;

    if (!w->plan->opts.only)
        return true;
    v = pr_expanded_value(w->expander, w->plan->name_name);
    task = pr_expanded_value(w->expander, w->plan->task_name);
    if (!v || v->kind != PR_STR)
        return false;
    return task && task->kind == PR_STR && task->len
               ? task_named(w->plan->opts.only, v->s)
               : pr_only_has(w->plan->opts.only, v->s, v->len);
}

/* 1: an experiment of pr_walk_only, 0: another, negative: failed. */
static int plan_walk_is_chosen(struct pr_walk *w, const struct pr_params *p,
                               struct pr_err *err)
{
    const struct pr_value *v;
    int rc;

    if (!w->only_text)
        return 1;
    if (!pr_params_get(p, w->only_name))
        return 0;
    rc = pr_expand_name(w->expander, p, w->only_name, err);
    if (rc)
        return rc;
    v = pr_expanded_value(w->expander, w->only_name);
    return v->kind == PR_STR && strcmp(v->s, w->only_text) == 0;
}

/* Computes what an experiment has. 1: it is to be looked at, 0: it is not,
 * negative: failed. */
static int plan_walk_make_experiment(struct pr_walk *w, struct pr_params *p,
                                     struct pr_experiment *e,
                                     struct pr_err *err)
{
    int rc;

    if (!w->expand)
        return plan_walk_is_wanted(w);
    make_id(w, p, e->id);
    rc = set_id(w, p, e->id, err);
    if (!rc)
        rc = plan_walk_is_chosen(w, p, err);
    if (rc != 1)
        return rc;
    rc = pr_expand_params(w->expander, p, err);
    return rc ? rc : plan_walk_is_wanted(w);
}

int pr_walk_next(struct pr_walk *w, struct pr_experiment *ret,
                 struct pr_err *err)
{
    for (;;) {
        struct pr_params *p;
        struct pr_experiment e;
        int rc;

        while (w->next_variant == w->variants.count) {
            rc = plan_walk_advance(w, err);
            if (rc != 1)
                return rc;
        }
        p = w->variants.items[w->next_variant++];
        e = (struct pr_experiment){++w->index, "", w->repeat, p, w->expander};
        rc = plan_walk_make_experiment(w, p, &e, err);
        if (rc == 1)
            *ret = e;
        if (rc)
            return rc;
    }
}

static bool plan_walk_is_simple(const struct pr_plan *p)
{
    for (size_t i = 0; i < p->group_count; i++)
        if (p->groups[i].ext_count ||
            p->groups[i].params.count + p->groups[i].var_count == 0)
            return false;
    return !p->opts.only;
}

/* Without extensions the number is a product. False: it is beyond counting. */
static bool plan_walk_count_product(const struct pr_plan *p, uint64_t *ret)
{
    uint64_t all = 0;
    bool over = false;

    for (size_t i = 0; i < p->group_count; i++) {
        uint64_t n = 1;
        for (size_t v = 0; v < p->groups[i].var_count; v++)
            over |= __builtin_mul_overflow(n, p->groups[i].vars[v].values.count,
                                           &n);
        over |= __builtin_add_overflow(all, n, &all);
    }
    over |= __builtin_mul_overflow(all, p->opts.repeat, ret);
    return !over;
}

int pr_plan_check_size(const struct pr_plan *p, struct pr_err *err)
{
    uint64_t n;

    if (plan_walk_count_product(p, &n) && n <= MAX_EXPERIMENTS)
        return PR_OK;
    pr_fail(err, PR_E_CONF, "",
            "the plan has more than a thousand million experiments");
    return pr_hint(err, "the product of all variables is run; give some of "
                        "them fewer values");
}

/* With opts.only set the names must be known, and so everything computed. */
int pr_plan_count(struct pr_plan *p, uint64_t *ret, struct pr_err *err)
{
    struct pr_experiment e;
    struct pr_walk *w;
    uint64_t n = 0;
    int rc;

    if (plan_walk_is_simple(p)) {
        (void)plan_walk_count_product(p, ret); /* not too large: it was built */
        return PR_OK;
    }
    w = pr_walk_new(p);
    if (!w)
        return pr_fail_nomem(err);
    w->expand = p->opts.only != NULL;
    while ((rc = pr_walk_next(w, &e, err)) == 1)
        n++;
    pr_walk_free(w);
    if (rc == PR_OK)
        *ret = n;
    return rc;
}
