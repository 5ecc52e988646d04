/*
 * Walking a plan: the product of the variables as an odometer, the last wheel
 * fastest; each combination gives experiments (combine.c).
 */
#include "base/mem.h"
#include "base/names.h"
#include "catalog/gpu_tasks.h"
#include "plan/combine.h"
#include "plan/only.h"

#include <stdio.h>
#include <string.h>

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
    struct pr_variants variants;
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
            rc = pr_walk_combine(p, g, w->wheel, w->arena, &w->variants, err);
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
