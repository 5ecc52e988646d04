/* Whether a DLIO file, or what is laid over it, is written in the names of
 * DLIO's first documentation. */
#include "conf/option/alias.h"
#include "plan/spec.h"

#include <string.h>

static bool is_first(const struct pr_setting *set)
{
    struct pr_alias_found found;

    return set->spelt &&
           pr_alias_find(set->spelt, strlen(set->spelt), &found) && found.row &&
           found.row->first;
}

static const struct pr_setting *first_in(const struct pr_settings *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_first(list->items[i]))
            return list->items[i];
    return NULL;
}

const struct pr_setting *pr_plan_old_style(const struct pr_plan *p,
                                           const struct pr_config_part *target)
{
    const struct pr_setting *found;

    if (!target->dlio)
        return NULL;
    found = first_in(&target->params);
    for (size_t i = 0; i < p->config_count && !found; i++)
        found = first_in(&p->configs[i].params);
    if (!found)
        found = first_in(&p->cli.params);
    for (size_t i = 0; i < p->cli_vars.var_count && !found; i++)
        found = first_in(&p->cli_vars.vars[i].values);
    return found;
}
