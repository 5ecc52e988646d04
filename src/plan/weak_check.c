/*
 * Slips in the names of a framework's parameters. Such names are the user's
 * own, for launchers, so one that is not in the file is only told of, and only
 * when it is nearly one that is.
 */
#include "base/text.h"
#include "plan/weak.h"

#include <stdio.h>
#include <string.h>

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
