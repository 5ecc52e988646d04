/* Hooks of a wrapper that leave everything to the storage inside. */
#include "storage/wrap.h"

int pr_wrap_open(struct pr_storage *st, struct pr_object *o, struct pr_err *err)
{
    int rc = st->inner->engine->open(st->inner, o, err);

    if (!rc)
        o->map = NULL;
    return rc;
}

void pr_wrap_close(struct pr_storage *st, struct pr_object *o)
{
    st->inner->engine->close(st->inner, o);
}

int pr_wrap_sync(struct pr_storage *st, struct pr_object *o, struct pr_err *err)
{
    const struct pr_engine *inner = st->inner->engine;

    return inner->sync ? inner->sync(st->inner, o, err) : PR_OK;
}

int pr_wrap_commit(struct pr_storage *st, struct pr_object *o,
                   struct pr_err *err)
{
    return st->inner->engine->commit(st->inner, o, err);
}

void pr_wrap_discard(struct pr_storage *st, struct pr_object *o)
{
    st->inner->engine->discard(st->inner, o);
}

int pr_wrap_stat(struct pr_storage *st, const char *name,
                 struct pr_object_info *ret, struct pr_err *err)
{
    return st->inner->engine->stat(st->inner, name, ret, err);
}

int pr_wrap_make_folder(struct pr_storage *st, const char *name,
                        struct pr_err *err)
{
    return st->inner->engine->make_folder(st->inner, name, err);
}

int pr_wrap_remove(struct pr_storage *st, const char *name, struct pr_err *err)
{
    return st->inner->engine->remove(st->inner, name, err);
}

int pr_wrap_publish(struct pr_storage *st, const char *from, const char *to,
                    bool sync, bool *ret_swapped, struct pr_err *err)
{
    return st->inner->engine->publish(st->inner, from, to, sync, ret_swapped,
                                      err);
}

int pr_wrap_list(struct pr_storage *st, const char *folder,
                 int (*each)(void *ctx, const char *name, bool is_folder),
                 void *ctx, struct pr_err *err)
{
    return st->inner->engine->list(st->inner, folder, each, ctx, err);
}

int pr_wrap_space(struct pr_storage *st, const char *name,
                  struct pr_storage_space *ret, struct pr_err *err)
{
    return st->inner->engine->space(st->inner, name, ret, err);
}
