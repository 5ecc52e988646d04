/*
 * A model from the text of its definition: the keys beside its blocks, layers
 * and losses, the checks at the end, and definitions by name.
 */
#include "nn/model/model.h"

#include "base/file.h"
#include "conf/read/bundled.h"
#include "conf/read/yaml.h"
#include "nn/model/model_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    static const struct pr_model_env no_env;
    const struct pr_value *optimizer = pr_get(b->root, "optimizer");
    const struct pr_value *items = pr_get(b->root, "items");
    int64_t count = 1;
    int rc = optimizer ? pr_model_read_optimizer(b, optimizer) : PR_OK;

    if (!rc && items)
        rc = pr_model_eval_int(b, &no_env, items, "items", 1, PR_MODEL_DIM,
                               &count);
    b->m->items = (uint64_t)count;
    return rc;
}

static int model_read_keys(struct pr_model_builder *b,
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

/* ---- the output, when all layers are there */

static int check_model_output(struct pr_model_builder *b,
                              const struct pr_value *at)
{
    const struct pr_layer *l = &b->m->layers[b->m->output];
    unsigned dims = l->shape.dims;
    char text[72];

    if (l->op == PR_LAYER_SOFTMAX && !pr_get(b->root, "losses")) {
        PR_MODEL_FAIL(b, at,
                      "the last layer is a softmax, which the loss "
                      "computes itself");
        return pr_hint(b->err, "leave it out");
    }
    if (!b->m->classes || (dims < 3 && l->shape.at[dims - 1] == b->m->classes &&
                           (dims == 1 || pr_get(b->root, "losses"))))
        return PR_OK;
    PR_MODEL_FAIL(b, at,
                  "the %s, '%s', gives %s, not one number for "
                  "each class: [%" PRId64 "]",
                  pr_get(b->root, "output") ? "output" : "last layer", l->name,
                  pr_shape_text(&l->shape, text), b->m->classes);
    return pr_hint(b->err, "end with {linear: $classes}");
}

static int model_read_output(struct pr_model_builder *b)
{
    static const struct pr_model_env no_env;
    static const struct pr_model_scope whole = {.prefix = "", .env = &no_env};
    const struct pr_value *v = pr_get(b->root, "output");
    struct pr_value at = pr_model_place(b, b->m->output);
    int rc = PR_OK;

    if (b->m->layer_count == b->m->input_count)
        return pr_fail(b->err, PR_E_CONF, b->name, "the model has no layers");
    if (v)
        rc = pr_model_find_name(b, v, "output", &whole, &b->m->output);
    if (rc)
        return rc;
    if (b->m->layers[b->m->output].op == PR_LAYER_INPUT)
        return PR_MODEL_FAIL(b, v ? v : &at, "the output is an input");
    return check_model_output(b, v ? v : &at);
}

/* ---- that every layer is of use */

static void mark_loss_layers(const struct pr_model *m, bool *used)
{
    for (unsigned i = 0; i < m->loss_count; i++) {
        const struct pr_loss *l = &m->losses[i];

        for (unsigned k = 0; k < l->of_count; k++)
            used[l->of[k]] = true;
        for (unsigned k = 0; k < l->target_count; k++)
            used[l->targets[k]] = true;
        if (l->weights >= 0)
            used[l->weights] = true;
        if (l->lengths >= 0)
            used[l->lengths] = true;
    }
}

static int check_layers_used(struct pr_model_builder *b)
{
    struct pr_model *m = b->m;
    bool *used = PR_ARENA_ARRAY(b->work, bool, m->layer_count);

    if (!used)
        return pr_fail_nomem(b->err);
    used[m->output] = true;
    mark_loss_layers(m, used);
    for (unsigned i = m->layer_count; i-- > 0;)
        for (unsigned k = 0; used[i] && k < m->layers[i].input_count; k++)
            used[m->layers[i].inputs[k]] = true;
    for (unsigned i = 0; i < m->layer_count; i++)
        if (!used[i]) {
            struct pr_value at = pr_model_place(b, i);

            return PR_MODEL_FAIL(b, &at, "nothing uses %s'%s'",
                                 i < m->input_count ? "the input "
                                                    : "the output of ",
                                 m->layers[i].name);
        }
    return PR_OK;
}

/* ---- sums, and that they are what was published */

static int sum_layer_costs(struct pr_model_builder *b)
{
    struct pr_model *m = b->m;

    for (unsigned i = 0; i < m->layer_count; i++) {
        m->params += m->layers[i].params;
        m->flops += m->layers[i].flops;
        if (m->params > INT64_MAX || m->flops > INT64_MAX)
            return pr_fail(b->err, PR_E_CONF, b->name,
                           "the model is too large to be counted");
    }
    return PR_OK;
}

static int check_reference_params(struct pr_model_builder *b,
                                  const struct pr_value *v)
{
    if (v->kind != PR_INT || v->i < 1)
        return pr_model_fail_wants(b, v, "params",
                                   "a whole number of at least 1");
    b->m->reference_params = (uint64_t)v->i;
    if (b->is_changed || (uint64_t)v->i == b->m->params)
        return PR_OK;
    return PR_MODEL_FAIL(b, v,
                         "the layers have %" PRIu64 " parameters, not %" PRId64,
                         b->m->params, v->i);
}

static int check_reference_flops(struct pr_model_builder *b,
                                 const struct pr_value *v)
{
    double is = (double)b->m->flops;

    if (!pr_value_is_number(v) || !(pr_value_number(v) > 0) ||
        !isfinite(pr_value_number(v)))
        return pr_model_fail_wants(b, v, "flops", "a number above 0");
    b->m->reference_flops = pr_value_number(v);
    if (b->is_changed ||
        fabs(is - pr_value_number(v)) <= 0.01 * pr_value_number(v))
        return PR_OK;
    PR_MODEL_FAIL(b, v, "the layers take %.6g operations, not %.6g", is,
                  pr_value_number(v));
    return pr_hint(b->err, "forward of one sample, two for each multiply-add "
                           "of conv and linear");
}

static int check_model_reference(struct pr_model_builder *b)
{
    const struct pr_value *params = pr_get(&b->reference, "params");
    const struct pr_value *flops = pr_get(&b->reference, "flops");
    int rc = params ? check_reference_params(b, params) : PR_OK;

    return !rc && flops ? check_reference_flops(b, flops) : rc;
}

/* Layers that nobody uses, sums, reference. */
static int model_check(struct pr_model_builder *b)
{
    int rc = check_layers_used(b);

    if (!rc)
        rc = sum_layer_costs(b);
    return rc ? rc : check_model_reference(b);
}

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
    int rc = model_read_keys(b, variant);

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
        rc = model_read_output(b);
    if (!rc)
        rc = pr_model_read_losses(b);
    if (!rc)
        rc = pr_model_assign_turns(b);
    return rc ? rc : model_check(b);
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

/* file: what the key 'model' must be; NULL: anything. */
static int model_build(const char *text, size_t len, const char *name,
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
    return model_build(text, len, name, NULL, variant, a, ret, err);
}

/* ---- definitions by name: those that come with Prony, and one's own files */

#define FOLDER "models"

static bool is_model_path(const char *name)
{
    const char *dot = strrchr(name, '.');

    return strchr(name, '/') ||
           (dot && (pr_text_equal(dot, ".yaml") || pr_text_equal(dot, ".yml") ||
                    pr_text_equal(dot, ".json")));
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
    return rc ? rc : model_build(text, len, path, file, variant, a, ret, err);
}
