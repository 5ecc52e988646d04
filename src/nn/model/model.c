/* A model from the text of its definition. */
#include "nn/model/model.h"

#include "conf/read/yaml.h"
#include "nn/model/model_impl.h"

#include <string.h>

/* The key 'model' is the name of its file. */
static int check_model_file_name(struct pr_model_builder *b,
                                 const struct pr_value *root, const char *file)
{
    if (!file || strcmp(b->m->name, file) == 0)
        return PR_OK;
    return PR_MODEL_FAIL(b, pr_get(root, "model"),
                         "'model' is '%.64s', but the file is called '%.64s'",
                         b->m->name, file);
}

static int build_model_parts(struct pr_model_builder *b, const char *file,
                             const struct pr_model_variant *variant)
{
    const struct pr_value *root = b->root;
    int rc = pr_model_read_keys(b, variant);

    if (!rc)
        rc = check_model_file_name(b, root, file);
    if (!rc)
        rc = pr_model_read_blocks(b, pr_get(root, "blocks"));
    if (!rc)
        rc = pr_model_read_items(b, pr_get(root, "layers"), "'layers'",
                                 &b->body);
    if (!rc)
        rc = pr_model_expand(b);
    if (!rc)
        rc = pr_model_read_turns(b);
    if (!rc)
        rc = pr_model_read_output(b);
    if (!rc)
        rc = pr_model_read_losses(b);
    if (!rc)
        rc = pr_model_assign_turns(b);
    return rc ? rc : pr_model_check(b);
}

/* With all memory there. */
static int build_model_in(struct pr_model_builder *b, const char *text,
                          size_t len, const char *file,
                          const struct pr_model_variant *variant)
{
    struct pr_value *root = PR_ARENA_NEW(b->work, struct pr_value);
    int rc;

    b->m = PR_ARENA_NEW(b->out, struct pr_model);
    if (!root || !b->m || !(b->m->path = pr_arena_str(b->out, b->name)))
        return pr_fail_nomem(b->err);
    rc = pr_yaml_read(text, len, b->name, b->work, root, b->err);
    b->root = root;
    return rc ? rc : build_model_parts(b, file, variant);
}

int pr_model_build(const char *text, size_t len, const char *name,
                   const char *file, const struct pr_model_variant *variant,
                   struct pr_arena *a, struct pr_model **ret,
                   struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *work = pr_arena_new(1 << 16);
    PR_AUTO_ARENA struct pr_arena *scratch = pr_arena_new(4096);
    struct pr_model_builder *b =
        work ? PR_ARENA_NEW(work, struct pr_model_builder) : NULL;
    struct pr_err unheard = {0};
    int rc;

    if (!b || !scratch)
        return pr_fail_nomem(err);
    *b = (struct pr_model_builder){.name = name,
                                   .err = err ? err : &unheard,
                                   .out = a,
                                   .work = work,
                                   .scratch = scratch,
                                   .text = PR_BUF_INIT(1 << 16),
                                   .answer = PR_BUF_INIT(1 << 16)};
    rc = len > PR_MODEL_BYTES
             ? pr_fail(b->err, PR_E_CONF, name,
                       "a definition has at most %d bytes", PR_MODEL_BYTES)
             : build_model_in(b, text, len, file, variant);
    pr_keyset_free(&b->names);
    pr_buf_free(&b->text);
    pr_buf_free(&b->answer);
    if (!rc)
        *ret = b->m;
    return rc;
}

int pr_model_parse(const char *text, size_t len, const char *name,
                   const struct pr_model_variant *variant, struct pr_arena *a,
                   struct pr_model **ret, struct pr_err *err)
{
    return pr_model_build(text, len, name, NULL, variant, a, ret, err);
}
