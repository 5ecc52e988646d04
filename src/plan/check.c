/* What is refused or warned of before a plan is made: slips in names above
 * all. */
#include "plan/check.h"

#include "base/text.h"
#include "conf/option/alias.h"
#include "plan/framework_defaults.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

/* ---- parameters of a framework */

/*
 * Such names are the user's own, for launchers, so one that is not in the file
 * is only told of, and only when it is nearly one that is.
 */

/* More is another word. */
enum { MAX_SLIP = 2, MIN_LENGTH = 5 };

/* What every framework has: docs/frameworks.md. */
static const char *const common[] = {
    "launcher",    "launcher_args", "command",      "docker_image",
    "docker_args", "data_dir",      "data_backend", "env"};

/* What follows "WORD." in name; NULL: it begins otherwise. */
static const char *name_after_prefix(const char *name, const char *word)
{
    size_t n = strlen(word);

    return strncmp(name, word, n) == 0 && name[n] == '.' ? name + n + 1 : NULL;
}

static const char *own_part(const struct pr_framework *f, const char *name)
{
    const char *part = name_after_prefix(name, f->family);

    return part ? part : name_after_prefix(name, f->name);
}

/* The parameter that was meant; NULL: none, or it is one. */
static const char *find_meant_param(const struct pr_framework *f,
                                    const char *name, const char *part)
{
    struct pr_nearest near;

    pr_nearest_init(&near, part);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        pr_nearest_offer(&near, common[i]);
    for (size_t i = 0; i < f->param_count; i++) {
        if (strcmp(f->params[i].name, name) == 0)
            return NULL;
        pr_nearest_offer(&near, strchr(f->params[i].name, '.') + 1);
    }
    return near.best && near.distance && near.distance <= MAX_SLIP &&
                   strlen(part) >= MIN_LENGTH
               ? near.best
               : NULL;
}

static int check_framework_setting(struct pr_plan *p,
                                   const struct pr_framework *f,
                                   const struct pr_setting *s,
                                   struct pr_err *err)
{
    const char *name = pr_names_text(p->scope.names, s->name);
    const char *part = own_part(f, name);
    const char *best = part ? find_meant_param(f, name, part) : NULL;
    char where[256], remedy[192];

    if (!best || !pr_is_given(s))
        return PR_OK;
    snprintf(remedy, sizeof remedy, "did you mean '%.*s%.64s'?",
             (int)(part - name), name, best);
    if (!pr_warn(&p->scope.warnings, pr_origin_text(&s->origin, where), remedy,
                 "'%s' is not a parameter of %s; it is passed on as it is",
                 name, f->title))
        return pr_fail_nomem(err);
    return PR_OK;
}

/* One warning for a name, however many groups have it. */
static bool is_new(const struct pr_plan *p, size_t group, uint32_t name)
{
    for (size_t g = 0; g < group; g++)
        if (pr_params_get(&p->groups[g].params, name))
            return false;
    return true;
}

int pr_framework_defaults_check(struct pr_plan *p, const struct pr_framework *f,
                                struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t g = 0; g < p->group_count; g++) {
        const struct pr_plan_group *group = &p->groups[g];

        for (uint32_t i = 0; i < group->params.count && !rc; i++) {
            uint32_t name = group->params.order[i];

            if (is_new(p, g, name))
                rc = check_framework_setting(p, f, group->params.slot[name],
                                             err);
        }
        for (size_t i = 0; g == 0 && i < group->var_count && !rc; i++)
            if (group->vars[i].values.count)
                rc = check_framework_setting(
                    p, f, group->vars[i].values.items[0], err);
    }
    return rc;
}

/* ---- --name: the jobs that are wanted, and whether a profile has them */

bool pr_only_has(const char *list, const char *name, size_t len)
{
    for (const char *p = list;; p++) {
        size_t n = strcspn(p, ",");

        if (n == len && memcmp(p, name, n) == 0)
            return true;
        p += n;
        if (!*p)
            return false;
    }
}

static bool check_has_job(const struct pr_plan *p, const char *name, size_t len)
{
    for (size_t i = 0; i < p->target_count; i++)
        if (strlen(p->targets[i].name) == len &&
            memcmp(p->targets[i].name, name, len) == 0)
            return true;
    return false;
}

static int check_fail_missing_jobs(const struct pr_plan *p,
                                   const struct pr_buf *names,
                                   struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf all = PR_BUF_INIT(200);

    if (!pr_buf_ok(names) && !names->over)
        return pr_fail_nomem(err);
    for (size_t i = 0; i < p->target_count; i++)
        pr_buf_printf(&all, "%s%s", i ? ", " : "", p->targets[i].name);
    pr_fail(err, PR_E_USAGE, p->targets[0].file, "could not find job(s): %s",
            names->data);
    return pr_hint(err, "it has: %.200s%s", all.data ? all.data : "",
                   all.over ? "…" : "");
}

int pr_plan_check_only(const struct pr_plan *p, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf names = PR_BUF_INIT(300);

    if (!p->opts.only || !p->target_count)
        return PR_OK;
    for (size_t i = 0; i < p->target_count; i++)
        if (!p->targets[i].suite)
            return PR_OK;
    for (const char *at = p->opts.only;; at++) {
        size_t n = strcspn(at, ",");

        if (!check_has_job(p, at, n))
            pr_buf_printf(&names, "%s%.*s", names.len ? ", " : "", (int)n, at);
        at += n;
        if (!*at)
            break;
    }
    return names.len ? check_fail_missing_jobs(p, &names, err) : PR_OK;
}

/* ---- unknown names */

/*
 * A section that has an option table owns its names; all other namespaces
 * belong to the user. What a peer's file sets counts as known: its users add
 * names freely.
 */

/* Whether a peer's file sets the name. */
static bool peer_sets(const struct pr_config_part *f, uint32_t name)
{
    if (!f->peer)
        return false;
    for (size_t i = 0; i < f->params.count; i++)
        if (f->params.items[i]->name == name)
            return true;
    for (size_t i = 0; i < f->var_count; i++)
        if (f->vars[i].name == name)
            return true;
    return false;
}

static bool known_to_peer(const struct pr_plan *p, uint32_t name)
{
    for (size_t i = 0; i < p->target_count; i++)
        if (peer_sets(&p->targets[i], name))
            return true;
    for (size_t i = 0; i < p->config_count; i++)
        if (peer_sets(&p->configs[i], name))
            return true;
    return false;
}

static int check_warn_unknown(struct pr_plan *p, const char *name,
                              const char *where,
                              const struct pr_opt_section *section,
                              const char *near, struct pr_err *err)
{
    const char *remedy =
        near ? pr_arena_printf(p->scope.arena, "did you mean '%s.%s'?",
                               section->name, near)
             : "";

    if (!remedy ||
        !pr_warn(&p->scope.warnings, where, remedy,
                 "'%s' is not a parameter of Prony's; it is passed on as it is",
                 name))
        return pr_fail_nomem(err);
    return PR_OK;
}

/* Whether what stands before the first dot is, but for a slip, the section,
 * which has the rest as a name; then that name is in out. */
static bool check_is_section_slip(const struct pr_opt_section *section,
                                  const char *name, char out[static 160])
{
    const char *dot = strchr(name, '.');
    struct pr_nearest near;
    char typed[64];

    if (!dot || (size_t)(dot - name) >= sizeof typed)
        return false;
    memcpy(typed, name, (size_t)(dot - name));
    typed[dot - name] = '\0';
    pr_nearest_init(&near, typed);
    pr_nearest_offer(&near, section->name);
    return near.best && near.distance <= 2 &&
           snprintf(out, 160, "%s%s", section->name, dot) < 160 &&
           pr_opt_find(out, NULL);
}

/* Other sections are the user's, so a slip in ours cannot be refused. */
static int check_foreign(struct pr_plan *p, const char *name,
                         const struct pr_origin *origin, struct pr_err *err)
{
    const struct pr_opt_section *const *s = pr_opt_sections();
    char meant[160], remedy[192], where[256];

    while (*s && !check_is_section_slip(*s, name, meant))
        s++;
    if (!*s)
        return PR_OK;
    snprintf(remedy, sizeof remedy, "did you mean '%s'?", meant);
    if (!pr_warn(&p->scope.warnings, pr_origin_text(origin, where), remedy,
                 "'%s' is not a parameter of Prony's; it is passed on as it is",
                 name))
        return pr_fail_nomem(err);
    return PR_OK;
}

static int check_param_name(struct pr_plan *p, const char *name,
                            const struct pr_origin *origin, bool peer,
                            struct pr_err *err)
{
    const struct pr_opt_section *section;
    const char *near;
    char where[256];

    if (pr_opt_find(name, &section))
        return PR_OK;
    if (!section)
        return check_foreign(p, name, origin, err);
    pr_origin_text(origin, where);
    near = pr_opt_nearest(section, name);
    if (peer)
        return check_warn_unknown(p, name, where, section, near, err);
    if (known_to_peer(p, pr_names_find(p->scope.names, name, strlen(name))))
        return PR_OK;
    pr_fail(err, PR_E_CONF, where, "unknown key '%s' in section '%s'",
            name + strlen(section->name) + 1, section->name);
    if (near)
        return pr_hint(err, "did you mean '%s.%s'?", section->name, near);
    return pr_hint(err,
                   "'prony help --params ^%s' lists the names; those of "
                   "your own belong in a section of your own",
                   section->name);
}

static int check_setting(struct pr_plan *p, const struct pr_setting *set,
                         bool peer, struct pr_err *err)
{
    return check_param_name(p, pr_names_text(p->scope.names, set->name),
                            &set->origin, peer, err);
}

/* A name that no experiment has matches, so a slip in a condition would apply
 * the extension to all of them. */
static int check_condition(struct pr_plan *p, const struct pr_extension *e,
                           struct pr_err *err)
{
    const char *name;
    int rc = PR_OK;

    for (size_t i = 0; !rc && (name = pr_query_name(e->when, i)); i++) {
        struct pr_alias_found found;
        bool ours = pr_alias_find(name, strlen(name), &found);

        rc = check_param_name(p, ours ? found.name : name, &e->origin, false,
                              err);
    }
    return rc;
}

static int check_list(struct pr_plan *p, const struct pr_settings *list,
                      bool peer, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < list->count && !rc; i++)
        rc = check_setting(p, list->items[i], peer, err);
    return rc;
}

static int check_fragment(struct pr_plan *p, const struct pr_config_part *f,
                          struct pr_err *err)
{
    int rc = check_list(p, &f->params, f->peer, err);

    for (size_t i = 0; i < f->var_count && !rc; i++)
        if (f->vars[i].values.count)
            rc = check_setting(p, f->vars[i].values.items[0], f->peer, err);
    for (size_t i = 0; i < f->ext_count && !rc; i++) {
        if (!f->peer)
            rc = check_condition(p, &f->exts[i], err);
        if (!rc)
            rc = check_list(p, &f->exts[i].params, f->peer, err);
        for (size_t c = 0; c < f->exts[i].case_count && !rc; c++)
            rc = check_list(p, &f->exts[i].cases[c], f->peer, err);
    }
    return rc;
}

int pr_plan_check_names(struct pr_plan *p, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < p->target_count && !rc; i++)
        rc = check_fragment(p, &p->targets[i], err);
    for (size_t i = 0; i < p->config_count && !rc; i++)
        rc = check_fragment(p, &p->configs[i], err);
    if (!rc)
        rc = check_fragment(p, &p->cli, err);
    if (!rc)
        rc = check_fragment(p, &p->cli_vars, err);
    return rc;
}

/* What each of them names, and what serves instead. */
static const struct {
    const char *name, *value; /* value NULL: any but empty */
    const char *hint;
} plugins[] = {
    {"reader.data_loader", "custom",
     "reader.data_loader=pytorch or tensorflow behaves like those loaders"},
    {"reader.data_loader_classname", NULL,
     "reader.data_loader=pytorch or tensorflow behaves like those loaders"},
    {"reader.reader_classname", NULL,
     "readers are native; dataset.format says which one is used"},
    {"checkpoint.checkpoint_mechanism_classname", NULL,
     "leave it out: checkpoints are written natively"},
};

static bool has_python_class(const struct pr_setting *set, const char *value)
{
    const struct pr_value *v = &set->value;

    if (set->origin.kind == PR_FROM_DEFAULT || v->kind != PR_STR ||
        set->dynamic || strcmp(v->s, "None") == 0)
        return false;
    return value ? strcmp(v->s, value) == 0 : v->len > 0;
}

int pr_plan_check_plugins(const struct pr_plan *p,
                          const struct pr_plan_group *g, struct pr_err *err)
{
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
        const char *name = plugins[i].name;
        uint32_t id = pr_names_find(p->scope.names, name, strlen(name));
        const struct pr_setting *set =
            id == PR_NO_NAME ? NULL : pr_params_get(&g->params, id);
        char where[256];

        if (!set || !has_python_class(set, plugins[i].value))
            continue;
        pr_fail(err, PR_E_CONF, pr_origin_text(&set->origin, where),
                "'%s' asks for Python code ('%s'), which Prony does not run",
                name, set->value.s);
        return pr_hint(err, "%s", plugins[i].hint);
    }
    return PR_OK;
}
