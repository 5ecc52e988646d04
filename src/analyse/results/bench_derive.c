/*
 * Parameters that follow from others of the same result: "${exp.model}, batch
 * ${exp.effective_batch}". Only what is added is expanded: what a log says is
 * what it says.
 */
#include "analyse/results/bench_impl.h"
#include "base/mem.h"
#include "conf/expr/expand.h"

#include <string.h>

struct derive {
    struct pr_results *set;
    const struct pr_value *added;
    struct pr_names *names;
    const struct pr_decl **decls; /* none has one */
    struct pr_expander *expander;
    struct pr_params params;
    struct pr_arena *arena; /* of the names */
    struct pr_arena *work;  /* of a row */
    struct pr_results_counts *counts;
};

static int add_member_names(struct pr_names *names, const struct pr_value *map,
                            struct pr_err *err)
{
    for (uint32_t i = 0; i < map->len; i++)
        if (pr_names_add(names, map->members[i].key, map->members[i].key_len) ==
            PR_NO_NAME)
            return pr_fail_nomem(err);
    return PR_OK;
}

static int set_all(struct derive *d, const struct pr_value *map, bool expand,
                   struct pr_err *err)
{
    static const struct pr_origin log = {.kind = PR_FROM_TARGET, .name = ""};
    static const struct pr_origin given = {.kind = PR_FROM_COMMAND_LINE,
                                           .name = "-P"};

    for (uint32_t i = 0; i < map->len; i++) {
        const struct pr_member *m = &map->members[i];
        struct pr_setting *s =
            pr_setting_new(d->work, d->names, m->key, m->key_len, &m->value,
                           expand ? &given : &log);
        if (!s)
            return pr_fail_nomem(err);
        s->dynamic &= expand;
        pr_params_set(&d->params, s);
    }
    return PR_OK;
}

static void forget_all(struct pr_params *p)
{
    while (p->count)
        pr_params_unset(p, p->order[p->count - 1]);
}

/* The members of the row, then those that are new; what was there before
 * keeps its place. */
static int join_derived_row(struct derive *d, const struct pr_results_row *row,
                            struct pr_arena *a, struct pr_results_row *ret,
                            struct pr_err *err)
{
    const struct pr_value *old = &row->params, *new = d->added;
    struct pr_member *m =
        PR_ARENA_ARRAY(a, struct pr_member, old->len + new->len);
    uint32_t n = old->len;

    if (!m)
        return pr_fail_nomem(err);
    memcpy(m, old->members, n * sizeof *m);
    for (uint32_t i = 0; i < new->len; i++) {
        const struct pr_member *from = &new->members[i];
        uint32_t name = pr_names_find(d->names, from->key, from->key_len);
        uint32_t at = 0;

        while (at < n && (m[at].key_len != from->key_len ||
                          memcmp(m[at].key, from->key, from->key_len) != 0))
            at++;
        if (at == n)
            m[n++] = *from;
        if (!pr_value_copy(a, pr_expanded_value(d->expander, name),
                           &m[at].value))
            return pr_fail_nomem(err);
    }
    *ret = *row;
    ret->params = (struct pr_value){.kind = PR_MAP, .len = n, .members = m};
    return PR_OK;
}

/* Where something it refers to is missing, a result stays what it was. */
static int derive_row(struct derive *d, size_t i, struct pr_arena *a,
                      struct pr_err *err)
{
    const struct pr_results_row *row = pr_results_row_at(d->set, i);
    struct pr_results_row *made = PR_ARENA_NEW(a, struct pr_results_row);
    struct pr_err why = {0};
    int rc;

    if (!made)
        return pr_fail_nomem(err);
    forget_all(&d->params);
    pr_arena_reset(d->work);
    rc = set_all(d, &row->params, false, err);
    if (!rc)
        rc = set_all(d, d->added, true, err);
    if (rc)
        return rc;
    rc = pr_expand_params(d->expander, &d->params, &why);
    if (rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    if (rc) {
        if (!d->counts->underived++ &&
            d->counts->note_count < PR_RESULTS_NOTES) {
            pr_reword(&why, row->from, "%s", why.msg);
            why.hint[0] = '\0'; /* it is about plans */
            d->counts->notes[d->counts->note_count++] = why;
        }
        return PR_OK;
    }
    rc = join_derived_row(d, row, a, made, err);
    if (!rc)
        pr_results_replace_row(d->set, i, made);
    return rc;
}

static int prepare_derivation(struct derive *d, struct pr_err *err)
{
    int rc = d->names && d->arena && d->work ? PR_OK : pr_fail_nomem(err);

    for (size_t i = 0; !rc && i < pr_results_size(d->set); i++)
        rc = add_member_names(d->names, &pr_results_row_at(d->set, i)->params,
                              err);
    if (!rc)
        rc = add_member_names(d->names, d->added, err);
    if (rc)
        return rc;
    d->decls = PR_ARENA_ARRAY(d->arena, const struct pr_decl *,
                              pr_names_count(d->names) + 1);
    d->expander = d->decls ? pr_expander_new(d->names, d->decls) : NULL;
    return d->expander && pr_params_reserve(&d->params, d->arena,
                                            pr_names_count(d->names))
               ? PR_OK
               : pr_fail_nomem(err);
}

int pr_results_derive(struct pr_results *b, const struct pr_value *added,
                      struct pr_err *err)
{
    struct derive d = {
        .set = b,
        .added = added,
        .names = pr_names_new(),
        .arena = pr_arena_new(4096),
        .work = pr_arena_new(65536),
        .counts = pr_results_own_counts(b),
    };
    int rc = prepare_derivation(&d, err);

    for (size_t i = 0; !rc && i < pr_results_size(b); i++)
        rc = derive_row(&d, i, pr_results_arena(b), err);
    pr_expander_free(d.expander);
    pr_names_free(d.names);
    pr_arena_free(d.arena);
    pr_arena_free(d.work);
    return rc;
}
