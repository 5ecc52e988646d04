/*
 * Parameters that somebody set and that whoever computes does not look at. One
 * that changes what is measured stops a run: its result would be told of
 * something else. Any other is warned of, unless some experiment heeds it.
 */
#include "run/validate/validate_impl.h"
#include "workload/framework_script.h"
#include "workload/suite_workload.h"

#include <string.h>

enum class {
    UNKNOWN,
    GENERAL,  /* the harness heeds it, or it is the user's own */
    WORK,     /* a back-end may */
    MEASURED, /* … and then something else is measured */
    FOREIGN,  /* of a framework */
};

/* Of one parameter, over all experiments. */
struct pr_effect {
    uint8_t class; /* enum class */
    bool had, lacked;
    bool program; /* a program of the user's may read it all the same */
    const char *where, *whose;
};

struct backend {
    const char *title;
    const struct pr_honour *list;
    const struct pr_framework *framework;
    bool all;                    /* it gets every parameter */
    bool program;                /* workload.h */
    const struct pr_value *laid; /* the parameters it really gets, where these
                                    are others; NULL: the experiment's */
};

struct check {
    struct pr_validator *v;
    const struct pr_job *job;
    struct backend b;
    uint8_t *reached; /* by name: what it honours follows from it; NULL: not
                         looked for yet */
};

/* ---- who computes */

static void of_framework(const struct pr_job *job, const struct pr_framework *f,
                         struct backend *ret)
{
    ret->all = !f || !f->honours || pr_framework_is_user_program(job, f);
    ret->framework = f;
    if (f) {
        ret->list = f->honours;
        ret->title = f->title;
    }
}

static int find_backend(struct pr_job *job, const struct pr_workload *w,
                        struct backend *ret, struct pr_err *err)
{
    const struct pr_framework *f = NULL;

    /* Of a task of GPU systems batch and type are what its config line says:
     * they were made from its command, not for it. */
    *ret = (struct backend){.list = w->honours,
                            .program = w->program,
                            .all = w->program &&
                                   *pr_job_param_text(job, "task.name")};
    ret->title = pr_arena_printf(job->arena, "the workload '%s'", w->name);
    if (!ret->title)
        return pr_fail_nomem(err);
    if (!w->honours) {
        int rc = pr_job_find_framework(job, &f, err);

        of_framework(job, rc == 1 ? f : NULL, ret);
        return rc < 0 ? rc : PR_OK;
    }
    return PR_OK;
}

/* A job of a suite is what is run for it. What is not available was told. */
static int find_suite_backend(struct pr_job *job, const struct pr_workload *w,
                              struct backend *ret, struct pr_err *err)
{
    struct pr_suite_call r = {.notes = NULL};
    struct pr_err why = {0};
    int rc = pr_suite_resolve(job, &r, &why);

    if (!rc && r.engine == PR_SUITE_NATIVE)
        rc = pr_workload_find_for_job(&r.native, &w, &why);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (!rc && r.engine == PR_SUITE_COMMAND)
        w = pr_workload_find("command");
    rc = rc ? PR_OK
            : find_backend(r.engine == PR_SUITE_NATIVE ? &r.native : job, w,
                           ret, err);
    if (!ret->title)
        ret->all = true;
    if (!ret->all && r.engine == PR_SUITE_NATIVE)
        ret->laid = r.native.params;
    return rc;
}

/* ---- what a name is */

static bool is_of_harness(const struct pr_opt_section *s)
{
    static const struct pr_opt_section *const all[] = {
        &pr_exp_section,       &pr_runtime_section, &pr_monitor_section,
        &pr_container_section, &pr_task_section,    &pr_suite_section,
        &pr_mlperf_section,    &pr_probe_section,   &pr_plan_builder_section,
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (s == all[i])
            return true;
    return false;
}

static bool is_of_framework(struct pr_validator *v, const char *name)
{
    const struct pr_framework *f;
    size_t n = strcspn(name, ".");
    char word[64];

    if (!name[n] || n >= sizeof word)
        return false;
    memcpy(word, name, n);
    word[n] = '\0';
    return pr_frameworks_get(v->frameworks, word, &f, NULL) == 1;
}

static enum class class_of(struct pr_validator *v, const char *name) {
    const struct pr_opt_section *section = NULL;
    const struct pr_opt *row = pr_opt_find(name, &section);

    if (!row) return !section && is_of_framework(v, name) ? FOREIGN : GENERAL;
    if (row->flags & PR_OPT_MEASURED) return MEASURED;
    return row->flags & PR_OPT_WORK || !is_of_harness(section) ? WORK : GENERAL;
}

static struct pr_effect *effect_of(struct check *c, uint32_t name)
{
    struct pr_validator *v = c->v;
    struct pr_effect *e;

    if (!v->effects) {
        v->effect_count = pr_names_count(c->job->names);
        v->effects =
            PR_ARENA_ARRAY(v->ret->arena, struct pr_effect, v->effect_count);
        v->effect_names = c->job->names;
        if (!v->effects)
            return NULL;
    }
    e = &v->effects[name];
    if (!e->class)
        e->class = (uint8_t)class_of(v, pr_names_text(c->job->names, name));
    return e;
}

/* ---- what it heeds */

static const struct pr_honour *honour_of(const struct check *c,
                                         const char *name)
{
    const struct pr_value *gets = c->b.laid ? pr_get(c->b.laid, name) : NULL;

    return gets && !pr_value_equal(gets, pr_get(c->job->params, name))
               ? NULL
               : pr_honour_find(c->b.list, name);
}

/* A parameter of the framework itself; some only scripts of users look at. */
static bool is_own_param(const struct check *c, const char *name)
{
    const struct pr_framework *f = c->b.framework;

    for (size_t i = 0; f && i < f->param_count; i++)
        if (strcmp(f->params[i].name, name) == 0)
            return !f->params[i].contract;
    return f && strncmp(name, f->name, strlen(f->name)) == 0 &&
           name[strlen(f->name)] == '.' && !pr_opt_find(name, NULL);
}

/* Marks all that a name was computed from, by way of todo, which has room for
 * every name. With find it ends at the first that somebody set. */
static const struct pr_setting *honours_mark_sources(const struct check *c,
                                                     uint8_t *marks,
                                                     uint32_t *todo,
                                                     uint32_t name, bool find)
{
    size_t n = 0;

    if (marks[name])
        return NULL;
    marks[name] = 1;
    todo[n++] = name;
    while (n) {
        uint32_t from, at = todo[--n];
        const struct pr_setting *set = pr_params_get(c->job->settings, at);

        if (find && set && pr_is_given(set))
            return set;
        for (size_t i = 0;
             (from = pr_expanded_from(c->job->values, at, i)) != PR_NO_NAME;
             i++)
            if (!marks[from]) {
                marks[from] = 1;
                todo[n++] = from;
            }
    }
    return NULL;
}

static int is_reached(struct check *c, uint32_t name, bool *ret,
                      struct pr_err *err)
{
    const struct pr_params *p = c->job->settings;
    uint32_t count = pr_names_count(c->job->names), *todo;

    if (!c->reached) {
        c->reached = PR_ARENA_ARRAY(c->job->arena, uint8_t, count);
        todo = PR_ARENA_ARRAY(c->job->arena, uint32_t, count);
        if (!c->reached || !todo)
            return pr_fail_nomem(err);
        for (uint32_t i = 0; i < p->count; i++)
            if (honour_of(c, pr_names_text(c->job->names, p->order[i])))
                (void)honours_mark_sources(c, c->reached, todo, p->order[i],
                                           false);
    }
    *ret = c->reached[name];
    return PR_OK;
}

/* What it would be had nobody set it, where that can be told. */
static int is_default(struct check *c, const struct pr_setting *set, bool *ret,
                      struct pr_err *err)
{
    const char *name = pr_names_text(c->job->names, set->name);
    const struct pr_opt *row = pr_opt_find(name, NULL);
    const struct pr_setting *first = set;
    struct pr_params params = {0};
    struct pr_value v;

    while (first->under)
        first = first->under;
    *ret = false;
    if (pr_is_given(first))
        return PR_OK;
    if (!first->dynamic) {
        v = first->value;
        if (row && pr_opt_cast(row, &first->value, c->job->arena, &v, NULL))
            return PR_OK;
        *ret = pr_value_equal(&v, pr_expanded_value(c->job->values, set->name));
        return PR_OK;
    }
    if (!c->v->defaults)
        c->v->defaults = pr_expander_like(c->job->values);
    if (!c->v->defaults ||
        !pr_params_reserve(&params, c->job->arena, c->job->settings->room))
        return pr_fail_nomem(err);
    pr_params_copy(&params, c->job->settings);
    params.slot[set->name] = first;
    if (pr_expand_name(c->v->defaults, &params, set->name, NULL) == PR_OK)
        *ret = pr_value_equal(pr_expanded_value(c->v->defaults, set->name),
                              pr_expanded_value(c->job->values, set->name));
    return PR_OK;
}

/* ---- what is said */

static int honours_add_refusal(struct check *c, const char *what,
                               const char *remedy, struct pr_err *err)
{
    struct pr_requirement lack = {.kind = PR_REQUIREMENT_CONFIG,
                                  .code = PR_E_CONF,
                                  .what = what,
                                  .remedy = remedy,
                                  .stops = true};

    return what ? pr_requirement_add(c->v, c->job, &lack, NULL, err)
                : pr_fail_nomem(err);
}

/* "a|b" as "a or b". */
static void honours_write_values(const char *values, struct pr_buf *out)
{
    for (; *values; values++)
        if (*values == '|')
            pr_buf_str(out, " or ");
        else
            pr_buf_char(out, *values);
}

static int refuse_value(struct check *c, const struct pr_setting *set,
                        uint32_t name, const struct pr_honour *h,
                        struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf value = PR_BUF_INIT(4096);
    PR_AUTO_BUF struct pr_buf known = PR_BUF_INIT(4096);
    char where[256];

    pr_value_write_text(&value, pr_expanded_value(c->job->values, name));
    honours_write_values(h->values, &known);
    return honours_add_refusal(
        c,
        pr_arena_printf(c->job->arena, "%s: '%s' is %s; %s takes %s",
                        pr_origin_text(&set->origin, where),
                        pr_names_text(c->job->names, name),
                        value.len ? value.data : "\"\"", c->b.title,
                        known.len ? known.data : "none"),
        "another back-end may, or leave it out", err);
}

static int refuse_name(struct check *c, const struct pr_setting *set,
                       struct pr_err *err)
{
    char where[256];

    return honours_add_refusal(
        c,
        pr_arena_printf(c->job->arena, "%s: '%s' has no effect on %s",
                        pr_origin_text(&set->origin, where),
                        pr_names_text(c->job->names, set->name), c->b.title),
        "leave it out", err);
}

static int honours_add_ineffective(struct check *c, struct pr_effect *e,
                                   const struct pr_setting *set,
                                   struct pr_err *err)
{
    char where[256];

    if (e->lacked)
        return PR_OK;
    e->lacked = true;
    e->program = c->b.program;
    e->where =
        pr_arena_str(c->v->ret->arena, pr_origin_text(&set->origin, where));
    e->whose = pr_arena_str(c->v->ret->arena, c->b.title);
    return e->where && e->whose ? PR_OK : pr_fail_nomem(err);
}

/* ---- one parameter */

static int check_given(struct check *c, const struct pr_setting *set,
                       struct pr_err *err)
{
    const char *name = pr_names_text(c->job->names, set->name);
    struct pr_effect *e = effect_of(c, set->name);
    const struct pr_honour *h;
    bool heeded;
    int rc;

    if (!e)
        return pr_fail_nomem(err);
    if (e->class == GENERAL)
        return PR_OK;
    if (c->b.all) {
        e->had = true;
        return PR_OK;
    }
    h = honour_of(c, name);
    if (h && !pr_honour_has(h, pr_expanded_value(c->job->values, set->name)))
        return refuse_value(c, set, set->name, h, err);
    heeded = h || (e->class == FOREIGN && is_own_param(c, name));
    rc = heeded ? PR_OK : is_reached(c, set->name, &heeded, err);
    e->had |= heeded;
    if (rc || heeded)
        return rc;
    rc = is_default(c, set, &heeded, err);
    if (rc || heeded)
        return rc;
    return e->class == MEASURED && !c->b.program
               ? refuse_name(c, set, err)
               : honours_add_ineffective(c, e, set, err);
}

/* What follows from what was set: two GPUs from exp.gpus=0,1. */
static int check_computed(struct check *c, const struct pr_honour *h,
                          struct pr_err *err)
{
    uint32_t count = pr_names_count(c->job->names), *todo;
    uint32_t name = pr_names_find(c->job->names, h->name, strlen(h->name));
    const struct pr_value *v = h->values && name != PR_NO_NAME
                                   ? pr_expanded_value(c->job->values, name)
                                   : NULL;
    const struct pr_setting *set;
    uint8_t *marks;

    if (!v || pr_honour_has(h, v))
        return PR_OK;
    marks = PR_ARENA_ARRAY(c->job->arena, uint8_t, count);
    todo = PR_ARENA_ARRAY(c->job->arena, uint32_t, count);
    if (!marks || !todo)
        return pr_fail_nomem(err);
    set = honours_mark_sources(c, marks, todo, name, true);
    return set ? refuse_value(c, set, name, h, err) : PR_OK;
}

int pr_validate_honours(struct pr_validator *v, struct pr_job *job,
                        const struct pr_workload *w, struct pr_err *err)
{
    struct check c = {.v = v, .job = job};
    size_t before = v->ret->stops;
    int rc = PR_OK;

    if (!job->settings) /* a finished plan, which was looked at when made */
        return PR_OK;
    rc = w == pr_workload_find("suite") ? find_suite_backend(job, w, &c.b, err)
                                        : find_backend(job, w, &c.b, err);
    for (uint32_t i = 0; i < job->settings->count && !rc; i++) {
        const struct pr_setting *set =
            job->settings->slot[job->settings->order[i]];

        if (pr_is_given(set))
            rc = check_given(&c, set, err);
    }
    for (const struct pr_honour *h = c.b.list;
         h && h->name && !rc && !c.b.all && v->ret->stops == before; h++)
        rc = check_computed(&c, h, err);
    return rc;
}

int pr_validate_honours_end(struct pr_validator *v, struct pr_err *err)
{
    for (uint32_t i = 0; i < v->effect_count; i++) {
        const struct pr_effect *e = &v->effects[i];
        const char *name = pr_names_text(v->effect_names, i);
        const char *remedy =
            e->program ? pr_arena_printf(v->ret->arena,
                                         "refer to it by ${%s}, unless the "
                                         "program reads params.json",
                                         name)
                       : "leave it out";

        if (!e->lacked || e->had)
            continue;
        if (!remedy || !pr_warn(&v->ret->warnings, e->where, remedy,
                                "'%s' has no effect on %s", name, e->whose))
            return pr_fail_nomem(err);
    }
    return PR_OK;
}
