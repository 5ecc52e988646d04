/*
 * Unknown names. A section that has an option table owns its names; all other
 * namespaces belong to the user. What a peer's file sets counts as known: its
 * users add names freely.
 */
#include "plan/spec.h"

#include <string.h>

/* Whether a peer's file sets the name. */
static bool peer_sets(const struct pr_fragment *f, uint32_t name)
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

static int warn_of(struct pr_plan *p, const char *name, const char *where,
                   const struct pr_opt_section *section, const char *near,
                   struct pr_err *err)
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

static int check_name(struct pr_plan *p, const char *name,
                      const struct pr_origin *origin, bool peer,
                      struct pr_err *err)
{
    const struct pr_opt_section *section;
    const char *near;
    char where[256];

    if (pr_opt_find(name, &section) || !section)
        return PR_OK;
    pr_origin_text(origin, where);
    near = pr_opt_nearest(section, name);
    if (peer)
        return warn_of(p, name, where, section, near, err);
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

static int check(struct pr_plan *p, const struct pr_setting *set, bool peer,
                 struct pr_err *err)
{
    return check_name(p, pr_names_text(p->scope.names, set->name), &set->origin,
                      peer, err);
}

/* A name that no experiment has matches, so a slip in a condition would apply
 * the extension to all of them. */
static int check_condition(struct pr_plan *p, const struct pr_extension *e,
                           struct pr_err *err)
{
    const char *name;
    int rc = PR_OK;

    for (size_t i = 0; !rc && (name = pr_query_name(e->when, i)); i++)
        rc = check_name(p, name, &e->origin, false, err);
    return rc;
}

static int check_list(struct pr_plan *p, const struct pr_settings *list,
                      bool peer, struct pr_err *err)
{
    int rc = PR_OK;

    for (size_t i = 0; i < list->count && !rc; i++)
        rc = check(p, list->items[i], peer, err);
    return rc;
}

static int check_fragment(struct pr_plan *p, const struct pr_fragment *f,
                          struct pr_err *err)
{
    int rc = check_list(p, &f->params, f->peer, err);

    for (size_t i = 0; i < f->var_count && !rc; i++)
        if (f->vars[i].values.count)
            rc = check(p, f->vars[i].values.items[0], f->peer, err);
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
