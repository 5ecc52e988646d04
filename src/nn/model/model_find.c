/* Definitions by name: those that come with Prony, and files of one's own. */
#include "base/file.h"
#include "conf/read/bundled.h"
#include "nn/model/model_impl.h"

#include <string.h>

#define FOLDER "models"

static bool is_model_path(const char *name)
{
    const char *dot = strrchr(name, '.');

    return strchr(name, '/') ||
           (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 ||
                    strcmp(dot, ".json") == 0));
}

/* "a/resnet50.yaml" -> "resnet50"; in the arena. */
static const char *model_file_stem(struct pr_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');

    return pr_arena_copy(
        a, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

struct choice {
    struct pr_nearest near;
    struct pr_arena *arena;
};

static int offer_model_name(void *ctx, const char *name, const char *path)
{
    struct choice *c = ctx;
    const char *copy = pr_arena_str(c->arena, name);

    (void)path;
    if (copy)
        pr_nearest_offer(&c->near, copy);
    return PR_OK;
}

static int fail_unknown_model(const char *name, struct pr_arena *a,
                              struct pr_err *err)
{
    struct choice c = {.arena = a};
    int rc;

    pr_nearest_init(&c.near, name);
    rc = pr_bundled_each(FOLDER, offer_model_name, &c, NULL);
    pr_fail(err, PR_E_CONF, "", "there is no model '%.128s'", name);
    if (rc)
        return pr_hint(err, "no models are installed; PRONY_SHARE says where "
                            "else to look");
    return c.near.best
               ? pr_hint(err, "did you mean '%s'?", c.near.best)
               : pr_hint(err, "'prony model' lists them; your own is named by "
                              "its file, NAME.yaml");
}

int pr_model_load(const char *name, const struct pr_model_variant *variant,
                  struct pr_arena *a, struct pr_model **ret, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *work = pr_arena_new(1 << 14);
    const char *path, *file, *text;
    size_t len;
    int rc;

    if (!work)
        return pr_fail_nomem(err);
    path = is_model_path(name) ? name : pr_bundled_find(work, FOLDER, name);
    if (!path)
        return fail_unknown_model(name, work, err);
    file = model_file_stem(work, path);
    if (!file)
        return pr_fail_nomem(err);
    rc = pr_file_read(path, PR_MODEL_BYTES, work, &text, &len, err);
    return rc ? rc
              : pr_model_build(text, len, path, file, variant, a, ret, err);
}
