/* The story of one parameter. */
#include "plan/explain.h"

#include "base/json/json.h"
#include "base/text.h"
#include "conf/option/alias.h"
#include "plan/spec.h"

#include <stdio.h>
#include <string.h>

enum { MAX_VALUES = 20 };

static void put_origin(struct pr_buf *out, const struct pr_setting *set)
{
    char where[256];

    pr_buf_str(out, pr_origin_kind_text(set->origin.kind));
    if (set->origin.name && *set->origin.name)
        pr_buf_printf(out, " %s", pr_origin_text(&set->origin, where));
}

/* "set by … to …" and, below it, what that replaced. */
static void put_story(struct pr_buf *out, const struct pr_setting *set)
{
    const char *verb = "from";

    for (; set; set = set->under) {
        pr_buf_printf(out, "  %s ", verb);
        put_origin(out, set);
        pr_buf_str(out, ": ");
        pr_json_write(out, &set->value);
        pr_buf_char(out, '\n');
        verb = "over";
    }
}

static int explain_fail_unknown(struct pr_plan *p, const char *name,
                                struct pr_err *err)
{
    struct pr_nearest near;

    pr_fail(err, PR_E_USAGE, "--explain", "no experiment has a parameter '%s'",
            name);
    pr_nearest_init(&near, name);
    for (uint32_t i = 0; i < pr_names_count(p->scope.names); i++)
        pr_nearest_offer(&near, pr_names_text(p->scope.names, i));
    return near.best ? pr_hint(err, "did you mean '%s'?", near.best)
                     : pr_hint(err, "'prony plan --format json --full' shows "
                                    "all of them");
}

/* One experiment's value, unless it and its story are as before. */
static bool explain_write_value(struct pr_buf *out,
                                const struct pr_experiment *e, uint32_t id,
                                const char *name, uint64_t *seen,
                                uint64_t *last)
{
    const struct pr_setting *set = pr_params_get(e->params, id);
    const struct pr_value *v = set ? pr_expanded_value(e->values, id) : NULL;

    if (!v)
        return false;
    if (++*seen > MAX_VALUES)
        return true;
    pr_buf_printf(out, "%s: %s = ", e->id, name);
    pr_json_write(out, v);
    pr_buf_char(out, '\n');
    if (set->hash != *last)
        put_story(out, set);
    *last = set->hash; /* the setting itself may be gone by the next */
    return true;
}

int pr_plan_explain(struct pr_plan *p, const char *name, struct pr_buf *out,
                    struct pr_err *err)
{
    uint32_t id = pr_names_find(p->scope.names, name, strlen(name));
    struct pr_alias_found found;
    uint64_t last = 0;
    struct pr_walk *w;
    struct pr_experiment e;
    uint64_t seen = 0;
    int rc;

    /* An older name, or a key of a map. */
    if (pr_alias_find(name, strlen(name), &found) &&
        (found.row || found.below)) {
        id = pr_names_find(p->scope.names, found.name, strlen(found.name));
        name = found.name;
    }
    if (id == PR_NO_NAME)
        return explain_fail_unknown(p, name, err);
    w = pr_walk_new(p);
    if (!w)
        return pr_fail_nomem(err);
    while ((rc = pr_walk_next(w, &e, err)) == 1)
        explain_write_value(out, &e, id, name, &seen, &last);
    pr_walk_free(w);
    if (rc)
        return rc;
    if (!seen)
        return explain_fail_unknown(p, name, err);
    if (seen > MAX_VALUES)
        pr_buf_printf(out, "… and %llu more experiments\n",
                      (unsigned long long)(seen - MAX_VALUES));
    return pr_buf_ok(out) ? PR_OK : pr_fail_nomem(err);
}
