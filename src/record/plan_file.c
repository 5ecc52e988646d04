/* plan.json read back, experiment by experiment. */
#include "record/plan_file.h"

#include <string.h>

/* Defaults are most of a small plan: they are read for those who want them. */
static int read_plan_member(struct pr_plan_file *f, const char *key, bool brief,
                            struct pr_value *ret, struct pr_err *err)
{
    const char *text;
    size_t len;

    *ret = (struct pr_value){.kind = PR_NULL};
    return brief && strcmp(key, "defaults") == 0
               ? pr_json_walk_span(&f->walk, &text, &len, err)
               : pr_json_walk_read(&f->walk, f->arena, ret, err);
}

static int read_header(struct pr_plan_file *f, bool brief, struct pr_err *err)
{
    const char *key;
    struct pr_value v;
    bool known = false;
    int rc = pr_json_walk_enter(&f->walk, '{', err);

    while (!rc &&
           (rc = pr_json_walk_next(&f->walk, '}', f->arena, &key, err)) == 1) {
        if (strcmp(key, "experiments") == 0) {
            if (!known)
                break;
            return pr_json_walk_enter(&f->walk, '[', err);
        }
        rc = read_plan_member(f, key, brief, &v, err);
        if (rc)
            return rc;
        if (strcmp(key, "schema") == 0)
            known = v.kind == PR_STR && strcmp(v.s, "prony.plan/1") == 0;
        else if (strcmp(key, "count") == 0 && v.kind == PR_INT && v.i > 0)
            f->count = (uint64_t)v.i;
        else if (strcmp(key, "defaults") == 0 && v.kind == PR_MAP)
            f->defaults = v;
        else if (strcmp(key, "variables") == 0 && v.kind == PR_LIST)
            f->variables = v;
    }
    if (rc < 0)
        return rc;
    return pr_fail(err, PR_E_FORMAT, f->walk.name,
                   "is not a plan: expected \"schema\": \"prony.plan/1\" and "
                   "then \"experiments\"");
}

static int plan_file_open_as(const char *dir, const char *path, bool brief,
                             struct pr_plan_file *ret, struct pr_err *err)
{
    const char *name;
    int rc;

    *ret = (struct pr_plan_file){.defaults = {.kind = PR_MAP},
                                 .variables = {.kind = PR_LIST}};
    rc = pr_file_map_in(dir, path, &ret->view, err);
    if (rc)
        return rc;
    ret->arena = pr_arena_new(16384);
    if (!ret->arena) {
        pr_file_unmap(&ret->view);
        return pr_fail_nomem(err);
    }
    name = pr_arena_str(ret->arena, path);
    pr_json_walk_init(&ret->walk, ret->view.data, ret->view.len, name);
    rc = name ? read_header(ret, brief, err) : pr_fail_nomem(err);
    if (rc)
        pr_plan_file_close(ret);
    return rc;
}

int pr_plan_file_open_in(const char *dir, const char *path,
                         struct pr_plan_file *ret, struct pr_err *err)
{
    return plan_file_open_as(dir, path, false, ret, err);
}

int pr_plan_file_open_brief(const char *dir, const char *path,
                            struct pr_plan_file *ret, struct pr_err *err)
{
    return plan_file_open_as(dir, path, true, ret, err);
}

int pr_plan_file_open(const char *path, struct pr_plan_file *ret,
                      struct pr_err *err)
{
    return pr_plan_file_open_in(NULL, path, ret, err);
}

void pr_plan_file_close(struct pr_plan_file *f)
{
    pr_file_unmap(&f->view);
    pr_arena_free(f->arena);
    f->arena = NULL;
}

/* An id names a folder: nothing but what we write ourselves. */
static bool good_id(const struct pr_value *v)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

    return v && v->kind == PR_STR && v->len && v->len < 100 && v->s[0] != '.' &&
           strspn(v->s, allowed) == v->len;
}

int pr_plan_file_next(struct pr_plan_file *f, struct pr_arena *a,
                      struct pr_plan_file_experiment *ret, struct pr_err *err)
{
    const struct pr_value *id, *params, *repeat;
    struct pr_value v;
    unsigned line;
    int rc = pr_json_walk_next(&f->walk, ']', a, NULL, err);

    if (rc != 1)
        return rc;
    line = f->walk.line;
    rc = pr_json_walk_read(&f->walk, a, &v, err);
    if (rc)
        return rc;
    id = pr_get(&v, "id");
    params = pr_get(&v, "params");
    repeat = pr_get(&v, "repeat");
    if (!good_id(id) || !params || params->kind != PR_MAP)
        return pr_fail_at(err, PR_E_FORMAT, f->walk.name, line, 1,
                          "an experiment needs an \"id\" that can name a "
                          "folder, and \"params\"");
    *ret = (struct pr_plan_file_experiment){
        id->s, repeat && repeat->kind == PR_INT ? repeat->i : 1, *params};
    return 1;
}

struct pr_member *pr_plan_file_params(const struct pr_plan_file *f,
                                      const struct pr_plan_file_experiment *e,
                                      struct pr_arena *a, struct pr_value *ret)
{
    const struct pr_value *own = &e->params, *def = &f->defaults;
    struct pr_member *m =
        PR_ARENA_ARRAY(a, struct pr_member, own->len + def->len);
    uint32_t n = own->len;

    if (!m)
        return NULL;
    if (n)
        memcpy(m, own->members, n * sizeof *m);
    for (uint32_t i = 0; i < def->len; i++)
        if (!pr_get(own, def->members[i].key))
            m[n++] = def->members[i];
    *ret = (struct pr_value){.kind = PR_MAP, .len = n, .members = m};
    return m;
}
