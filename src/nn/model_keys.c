/* The keys of a definition beside its blocks and layers, and what
 * exp.model_opts changes of them. */
#include "nn/model_impl.h"

#include <inttypes.h>
#include <string.h>

static const struct pr_model_env no_env;

/* ---- one key each */

static int read_text(struct pr_model_builder *b, const struct pr_value *v,
                     const char *key, const char **ret)
{
    if (v->kind != PR_STR || !v->len || strlen(v->s) != v->len)
        return pr_model_wants(b, v, key, "text");
    for (uint32_t i = 0; i < v->len; i++)
        if ((unsigned char)v->s[i] < ' ' || v->s[i] == 0x7f)
            return PR_MODEL_FAIL(b, v,
                                 "'%s' is a line of text, it has a control "
                                 "character (%d)",
                                 key, v->s[i]);
    *ret = pr_arena_copy(b->out, v->s, v->len);
    return *ret ? PR_OK : pr_fail_nomem(b->err);
}

static int read_name(struct pr_model_builder *b, const struct pr_value *v)
{
    if (!pr_model_is_name(v))
        return pr_model_wants(b, v, "model",
                              "a name of letters, digits, '_', '.' and '-'");
    return read_text(b, v, "model", &b->m->name);
}

static int read_title(struct pr_model_builder *b, const struct pr_value *v)
{
    return read_text(b, v, "title", &b->m->title);
}

static int read_says(struct pr_model_builder *b, const struct pr_value *v)
{
    return read_text(b, v, "says", &b->m->says);
}

static int read_item(struct pr_model_builder *b, const struct pr_value *v)
{
    return read_text(b, v, "item", &b->m->item);
}

bool pr_shape_read(const struct pr_value *v, struct pr_layer_shape *ret)
{
    struct pr_layer_shape s = {.dims = v->len};
    int64_t elements;

    if (v->kind != PR_LIST || (v->len != 1 && v->len != 3))
        return false;
    for (uint32_t i = 0; i < v->len; i++) {
        if (v->items[i].kind != PR_INT || v->items[i].i < 1 ||
            v->items[i].i > PR_MODEL_DIM)
            return false;
        s.at[i] = v->items[i].i;
    }
    if (!pr_shape_elements(&s, &elements))
        return false;
    *ret = s;
    return true;
}

static int read_input(struct pr_model_builder *b, const struct pr_value *v)
{
    return pr_shape_read(v, &b->m->input)
               ? PR_OK
               : pr_model_wants(b, v, "input",
                                "[channels, rows, columns] or [features]");
}

static int read_classes(struct pr_model_builder *b, const struct pr_value *v)
{
    return pr_model_int(b, &no_env, v, "classes", 1, PR_MODEL_DIM,
                        &b->m->classes);
}

static int read_loss(struct pr_model_builder *b, const struct pr_value *v)
{
    if (v->kind == PR_STR && strcmp(v->s, "cross_entropy") == 0)
        return PR_OK;
    return pr_model_wants(b, v, "loss", "cross_entropy, which is all there is");
}

static int read_reference(struct pr_model_builder *b, const struct pr_value *v)
{
    static const char *const keys[] = {"params", "flops", "source"};
    const struct pr_value *source = pr_get(v, "source");
    int rc = PR_OK;

    if (v->kind != PR_MAP)
        return pr_model_wants(b, v, "reference",
                              "{params: N, flops: N, source: TEXT}");
    for (uint32_t i = 0; i < v->len && !rc; i++) {
        const struct pr_member *m = &v->members[i];
        struct pr_nearest near;
        bool known = false;

        pr_nearest_init(&near, m->key);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            known = known || strcmp(keys[k], m->key) == 0;
            pr_nearest_offer(&near, keys[k]);
        }
        if (!known) {
            PR_MODEL_FAIL(b, m, "'reference' has no '%.64s'", m->key);
            rc = pr_model_suggest(b, &near);
        }
    }
    if (!rc && !source)
        rc = PR_MODEL_FAIL(b, v,
                           "'reference' wants a 'source': where the "
                           "figures are from");
    b->reference = *v;
    return rc ? rc : read_text(b, source, "source", &b->m->reference_source);
}

/* ---- all keys */

static const struct key {
    const char *name;
    int (*read)(struct pr_model_builder *b, const struct pr_value *v);
    bool required;
} keys[] = {
    {"model", read_name, true},
    {"title", read_title, false},
    {"says", read_says, false},
    {"item", read_item, false},
    {"input", read_input, true},
    {"classes", read_classes, true},
    {"reference", read_reference, false},
    {"optimizer", pr_model_optimizer, false},
    {"loss", read_loss, false},
    {"blocks", NULL, false}, /* read later */
    {"layers", NULL, true},
};
enum { KEYS = sizeof keys / sizeof *keys };

static int unknown_key(struct pr_model_builder *b, const struct pr_member *m)
{
    struct pr_nearest near;

    PR_MODEL_FAIL(b, m, "a model has no key '%.64s'", m->key);
    pr_nearest_init(&near, m->key);
    for (size_t i = 0; i < KEYS; i++)
        pr_nearest_offer(&near, keys[i].name);
    return pr_model_suggest(b, &near);
}

static int read_key(struct pr_model_builder *b, const struct pr_member *m)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(m->key, keys[i].name) == 0)
            return keys[i].read ? keys[i].read(b, &m->value) : PR_OK;
    return unknown_key(b, m);
}

static void set_defaults(struct pr_model *m)
{
    m->says = m->reference_source = "";
    m->optimizer = (struct pr_optimizer_opts){.kind = PR_SGD,
                                              .learning_rate = 0.01,
                                              .momentum = 0.9,
                                              .beta1 = 0.9,
                                              .beta2 = 0.999,
                                              .epsilon = 1e-8};
}

int pr_model_keys(struct pr_model_builder *b, const struct pr_value *root,
                  const struct pr_value *opts)
{
    struct pr_model *m = b->m;
    int rc = PR_OK;

    if (root->kind != PR_MAP)
        return PR_MODEL_FAIL(b, root,
                             "a model is a map with 'model', 'input', "
                             "'classes' and 'layers', not %s",
                             pr_kind_name(root->kind));
    set_defaults(m);
    for (uint32_t i = 0; i < root->len && !rc; i++)
        rc = read_key(b, &root->members[i]);
    for (size_t i = 0; i < KEYS && !rc; i++)
        if (keys[i].required && !pr_get(root, keys[i].name))
            rc = PR_MODEL_FAIL(b, root, "the model has no '%s'", keys[i].name);
    if (rc)
        return rc;
    m->title = m->title ? m->title : m->name;
    m->item = m->item ? m->item : m->input.dims == 3 ? "image" : "sample";
    return opts ? pr_model_opts(b, opts) : PR_OK;
}

/* ---- exp.model_opts */

#define OPTS "exp.model_opts"

static int change_input(struct pr_model_builder *b, const struct pr_value *v)
{
    struct pr_layer_shape s, *old = &b->m->input;

    if (!pr_shape_read(v, &s))
        return pr_fail(b->err, PR_E_CONF, OPTS,
                       "'input' wants a list of whole numbers such as [3, 64, "
                       "64] or [540]");
    if (s.dims != old->dims)
        return pr_fail(b->err, PR_E_CONF, OPTS,
                       "'input' of '%.64s' has %u number%s, not %u", b->m->name,
                       old->dims, old->dims == 1 ? "" : "s", s.dims);
    b->is_changed = b->is_changed || memcmp(&s.at, &old->at, sizeof s.at) != 0;
    *old = s;
    return PR_OK;
}

static int change_classes(struct pr_model_builder *b, const struct pr_value *v)
{
    if (v->kind != PR_INT || v->i < 1 || v->i > PR_MODEL_DIM)
        return pr_fail(b->err, PR_E_CONF, OPTS,
                       "'classes' wants a whole number of at least 1");
    b->is_changed = b->is_changed || v->i != b->m->classes;
    b->m->classes = v->i;
    return PR_OK;
}

int pr_model_opts(struct pr_model_builder *b, const struct pr_value *opts)
{
    int rc = PR_OK;

    if (opts->kind == PR_NULL)
        return PR_OK;
    if (opts->kind != PR_MAP)
        return pr_fail(b->err, PR_E_CONF, OPTS,
                       "the options of a model are a map such as {\"classes\": "
                       "10}, not %s",
                       pr_kind_name(opts->kind));
    for (uint32_t i = 0; i < opts->len && !rc; i++) {
        const struct pr_member *m = &opts->members[i];
        struct pr_nearest near;

        pr_nearest_init(&near, m->key);
        pr_nearest_offer(&near, "input");
        pr_nearest_offer(&near, "classes");
        if (strcmp(m->key, "input") == 0) {
            rc = change_input(b, &m->value);
        } else if (strcmp(m->key, "classes") == 0) {
            rc = change_classes(b, &m->value);
        } else {
            pr_fail(b->err, PR_E_CONF, OPTS,
                    "a model has no option '%.64s', only input and classes",
                    m->key);
            rc = pr_model_suggest(b, &near);
        }
    }
    return rc;
}
