/* The keys of a definition beside its blocks, layers and losses. */
#include "nn/model/model_impl.h"

#include <inttypes.h>
#include <string.h>

static const struct pr_model_env model_keys_no_env;

int pr_model_fail_unknown(struct pr_model_builder *b, const struct pr_member *m,
                          const char *what, const char *const *names,
                          size_t count)
{
    struct pr_nearest near;

    PR_MODEL_FAIL(b, m, "%s has no '%.64s'", what, m->key);
    pr_nearest_init(&near, m->key);
    for (size_t i = 0; i < count; i++)
        pr_nearest_offer(&near, names[i]);
    return pr_model_suggest(b, &near);
}

/* ---- one key each */

static int read_model_text(struct pr_model_builder *b, const struct pr_value *v,
                           const char *key, const char **ret)
{
    if (v->kind != PR_STR || !v->len || strlen(v->s) != v->len)
        return pr_model_fail_wants(b, v, key, "text");
    for (uint32_t i = 0; i < v->len; i++)
        if ((unsigned char)v->s[i] < ' ' || v->s[i] == 0x7f)
            return PR_MODEL_FAIL(b, v,
                                 "'%s' is a line of text, it has a control "
                                 "character (%d)",
                                 key, v->s[i]);
    *ret = pr_arena_copy(b->out, v->s, v->len);
    return *ret ? PR_OK : pr_fail_nomem(b->err);
}

static int read_model_name(struct pr_model_builder *b, const struct pr_value *v)
{
    if (!pr_model_is_name(v))
        return pr_model_fail_wants(
            b, v, "model", "a name of letters, digits, '_', '.' and '-'");
    return read_model_text(b, v, "model", &b->m->name);
}

static int read_model_title(struct pr_model_builder *b,
                            const struct pr_value *v)
{
    return read_model_text(b, v, "title", &b->m->title);
}

static int read_model_says(struct pr_model_builder *b, const struct pr_value *v)
{
    return read_model_text(b, v, "says", &b->m->says);
}

static int read_model_item_word(struct pr_model_builder *b,
                                const struct pr_value *v)
{
    return read_model_text(b, v, "item", &b->m->item);
}

static int read_model_data(struct pr_model_builder *b, const struct pr_value *v)
{
    if (!pr_model_is_name(v))
        return pr_model_fail_wants(b, v, "data", "a word");
    return read_model_text(b, v, "data", &b->m->data);
}

static int read_model_loss_word(struct pr_model_builder *b,
                                const struct pr_value *v)
{
    if (v->kind == PR_STR && strcmp(v->s, "cross_entropy") == 0)
        return PR_OK;
    PR_MODEL_FAIL(b, v, "'loss' is cross_entropy or left out");
    return pr_hint(b->err, "others stand under 'losses'");
}

static int read_model_reference(struct pr_model_builder *b,
                                const struct pr_value *v)
{
    static const char *const keys[] = {"params", "flops", "source"};
    const struct pr_value *source = pr_get(v, "source");
    int rc = PR_OK;

    if (v->kind != PR_MAP)
        return pr_model_fail_wants(b, v, "reference",
                                   "{params: N, flops: N, source: TEXT}");
    for (uint32_t i = 0; i < v->len && !rc; i++) {
        bool known = false;

        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            known = known || strcmp(keys[k], v->members[i].key) == 0;
        if (!known)
            rc = pr_model_fail_unknown(b, &v->members[i], "'reference'", keys,
                                       sizeof keys / sizeof *keys);
    }
    if (!rc && !source)
        rc = PR_MODEL_FAIL(b, v,
                           "'reference' wants a 'source': where the "
                           "figures are from");
    b->reference = *v;
    return rc ? rc
              : read_model_text(b, source, "source", &b->m->reference_source);
}

/* ---- all keys */

static const struct key {
    const char *name;
    int (*read)(struct pr_model_builder *b, const struct pr_value *v);
    bool required;
} keys[] = {
    {"model", read_model_name, true},
    {"title", read_model_title, false},
    {"says", read_model_says, false},
    {"item", read_model_item_word, false},
    {"data", read_model_data, false},
    {"reference", read_model_reference, false},
    {"optimizer", NULL, false}, /* from here: read later */
    {"loss", read_model_loss_word, false},
    {"given", NULL, false},
    {"tiny", NULL, false},
    {"input", NULL, false},
    {"classes", NULL, false},
    {"items", NULL, false},
    {"inputs", NULL, false},
    {"blocks", NULL, false},
    {"layers", NULL, true},
    {"losses", NULL, false},
    {"turns", NULL, false},
    {"output", NULL, false},
};
enum { KEYS = sizeof keys / sizeof *keys };

static int fail_unknown_model_key(struct pr_model_builder *b,
                                  const struct pr_member *m)
{
    struct pr_nearest near;

    PR_MODEL_FAIL(b, m, "a model has no key '%.64s'", m->key);
    pr_nearest_init(&near, m->key);
    for (size_t i = 0; i < KEYS; i++)
        pr_nearest_offer(&near, keys[i].name);
    return pr_model_suggest(b, &near);
}

static int read_model_key(struct pr_model_builder *b, const struct pr_member *m)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(m->key, keys[i].name) == 0)
            return keys[i].read ? keys[i].read(b, &m->value) : PR_OK;
    return fail_unknown_model_key(b, m);
}

static void set_model_defaults(struct pr_model *m)
{
    m->says = m->reference_source = m->data = "";
    m->items = 1;
    m->optimizer = (struct pr_optimizer_opts){.kind = PR_SGD,
                                              .learning_rate = 0.01,
                                              .momentum = 0.9,
                                              .beta1 = 0.9,
                                              .beta2 = 0.999,
                                              .epsilon = 1e-8};
}

/* Which of the keys go together. */
static int check_model_keys(struct pr_model_builder *b)
{
    const struct pr_value *root = b->root, *inputs = pr_get(root, "inputs");
    const struct pr_value *loss = pr_get(root, "loss");
    bool has_losses = pr_get(root, "losses");

    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].required && !pr_get(root, keys[i].name))
            return PR_MODEL_FAIL(b, root, "the model has no '%s'",
                                 keys[i].name);
    if (inputs && pr_get(root, "input"))
        return PR_MODEL_FAIL(b, inputs,
                             "'input' and 'inputs' exclude each other");
    if (loss && has_losses)
        return PR_MODEL_FAIL(b, loss, "'loss' and 'losses' exclude each other");
    if (!inputs && !pr_get(root, "input"))
        return PR_MODEL_FAIL(b, root, "the model has no 'input'");
    if (inputs && !has_losses)
        return PR_MODEL_FAIL(b, root, "the model has no 'losses'");
    if (!has_losses && !pr_get(root, "classes"))
        return PR_MODEL_FAIL(b, root, "the model has no 'classes'");
    return PR_OK;
}

/* What is read when sizes are known. */
static int read_late_model_keys(struct pr_model_builder *b)
{
    const struct pr_value *optimizer = pr_get(b->root, "optimizer");
    const struct pr_value *items = pr_get(b->root, "items");
    int64_t count = 1;
    int rc = optimizer ? pr_model_read_optimizer(b, optimizer) : PR_OK;

    if (!rc && items)
        rc = pr_model_eval_int(b, &model_keys_no_env, items, "items", 1,
                               PR_MODEL_DIM, &count);
    b->m->items = (uint64_t)count;
    return rc;
}

int pr_model_read_keys(struct pr_model_builder *b,
                       const struct pr_model_variant *variant)
{
    const struct pr_value *root = b->root;
    struct pr_model *m = b->m;
    int rc = PR_OK;

    if (root->kind != PR_MAP)
        return PR_MODEL_FAIL(b, root,
                             "a model is a map with 'model', 'input', "
                             "'classes' and 'layers', not %s",
                             pr_kind_name(root->kind));
    set_model_defaults(m);
    for (uint32_t i = 0; i < root->len && !rc; i++)
        rc = read_model_key(b, &root->members[i]);
    if (!rc)
        rc = pr_model_read_sizes(b, variant);
    if (!rc)
        rc = read_late_model_keys(b);
    if (!rc)
        rc = check_model_keys(b);
    if (rc)
        return rc;
    m->title = m->title ? m->title : m->name;
    m->item = m->item ? m->item : b->input.dims == 3 ? "image" : "sample";
    return PR_OK;
}
