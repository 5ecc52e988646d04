/*
 * The sizes of a model: its parameters under 'given', its input and classes.
 * Over what the definition says lies 'tiny', if that is wanted, and over both
 * what exp.model_opts says.
 */
#include "nn/model/model_impl.h"

#include <string.h>

#define OPTS "exp.model_opts"

static const struct pr_model_env model_given_no_env;

int pr_model_given_index(const struct pr_model_builder *b, const char *name)
{
    for (uint32_t i = 0; b->given && i < b->given->len; i++)
        if (strcmp(b->given->members[i].key, name) == 0)
            return (int)i;
    return -1;
}

/* ---- what can be changed */

struct sizes {
    const struct pr_value *tiny, *opts; /* maps, or null */
};

/* Name i of all sizes; NULL: no more. */
static const char *size_name(const struct pr_model_builder *b, size_t i)
{
    static const char *const keys[] = {"input", "classes"};

    for (size_t k = 0; k < 2; k++)
        if (pr_get(b->root, keys[k]) && i-- == 0)
            return keys[k];
    return b->given && i < b->given->len ? b->given->members[i].key : NULL;
}

static bool is_size(const struct pr_model_builder *b, const char *name,
                    struct pr_nearest *near)
{
    const char *is;

    pr_nearest_init(near, name);
    for (size_t i = 0; (is = size_name(b, i)); i++) {
        if (strcmp(is, name) == 0)
            return true;
        pr_nearest_offer(near, is);
    }
    return false;
}

static int check_tiny(struct pr_model_builder *b, const struct pr_value *tiny)
{
    struct pr_nearest near;

    if (!tiny)
        return PR_OK;
    if (tiny->kind != PR_MAP || !tiny->len)
        return pr_model_fail_wants(b, tiny, "tiny",
                                   "what a small size has: {classes: 10}");
    for (uint32_t i = 0; i < tiny->len; i++)
        if (!is_size(b, tiny->members[i].key, &near)) {
            PR_MODEL_FAIL(
                b, &tiny->members[i],
                "'tiny' sets '%.64s', which is not a parameter of the "
                "model",
                tiny->members[i].key);
            return pr_model_suggest(b, &near);
        }
    return PR_OK;
}

/* "input, classes and width": what can be set. */
static const char *size_names(struct pr_model_builder *b)
{
    const char *text = size_name(b, 0), *is;

    for (size_t i = 1; text && (is = size_name(b, i)); i++)
        text = pr_arena_printf(b->work, "%s%s%s", text,
                               size_name(b, i + 1) ? ", " : " and ", is);
    return text ? text : "";
}

static int check_opts(struct pr_model_builder *b, const struct pr_value *opts)
{
    struct pr_nearest near;

    if (opts->kind == PR_NULL)
        return PR_OK;
    if (opts->kind != PR_MAP)
        return pr_fail(b->err, PR_E_CONF, OPTS,
                       "the options of a model are a map such as {\"classes\": "
                       "10}, not %s",
                       pr_kind_name(opts->kind));
    for (uint32_t i = 0; i < opts->len; i++)
        if (!is_size(b, opts->members[i].key, &near)) {
            pr_fail(b->err, PR_E_CONF, OPTS,
                    "a model has no option '%.64s'%s%.256s",
                    opts->members[i].key, size_name(b, 0) ? ", only " : "",
                    size_names(b));
            return pr_model_suggest(b, &near);
        }
    return PR_OK;
}

/* ---- parameters */

static int read_model_given(struct pr_model_builder *b,
                            const struct pr_value *given)
{
    int rc = PR_OK;

    if (!given || given->kind == PR_NULL)
        return PR_OK;
    if (given->kind != PR_MAP)
        return pr_model_fail_wants(b, given, "given",
                                   "parameters and their values: {width: 768}");
    if (given->len > PR_MODEL_GIVEN)
        return PR_MODEL_FAIL(b, given, "a model has at most %d parameters",
                             PR_MODEL_GIVEN);
    for (uint32_t i = 0; i < given->len && !rc; i++) {
        rc = pr_model_check_param(b, &given->members[i]);
        if (!rc && strcmp(given->members[i].key, "input") == 0)
            rc = PR_MODEL_FAIL(b, &given->members[i],
                               "a parameter cannot be called 'input', which "
                               "has a meaning already");
    }
    b->given = given;
    return rc;
}

static bool fits_given_kind(const struct pr_value *is, const struct pr_value *v)
{
    if (is->kind == PR_FLOAT)
        return pr_value_is_number(v);
    if (is->kind == PR_NULL)
        return pr_value_is_number(v) || v->kind == PR_BOOL ||
               pr_model_is_name(v);
    if (v->kind == PR_LIST)
        for (uint32_t i = 0; i < v->len; i++)
            if (!pr_value_is_number(&v->items[i]) || i == PR_MODEL_LIST)
                return false;
    return v->kind == is->kind && (v->kind != PR_STR || pr_model_is_name(v));
}

static int set_given(struct pr_model_builder *b, const struct sizes *s,
                     uint32_t i)
{
    const struct pr_member *m = &b->given->members[i];
    const struct pr_value *tiny = pr_get(s->tiny, m->key);
    const struct pr_value *opt = pr_get(s->opts, m->key);
    struct pr_value is;
    int rc =
        pr_model_eval(b, &model_given_no_env, tiny ? tiny : &m->value, &is);

    if (rc)
        return rc;
    if (opt && !fits_given_kind(&is, opt))
        return pr_fail(b->err, PR_E_CONF, OPTS, "'%.64s' wants %s", m->key,
                       is.kind == PR_NULL ? "a value" : pr_kind_name(is.kind));
    if (opt) {
        b->is_changed = b->is_changed || !pr_value_equal(&is, opt);
        is = *opt;
    }
    if (is.kind == PR_NULL) {
        PR_MODEL_FAIL(b, m, "parameter '%.64s' has no value", m->key);
        return pr_hint(b->err, OPTS "={\"%.64s\": …} gives it one", m->key);
    }
    b->values[i] = is;
    return PR_OK;
}

/* As they are in use, for those who read the model. */
static int keep_given(struct pr_model_builder *b)
{
    uint32_t n = b->given ? b->given->len : 0;
    struct pr_member *members =
        PR_ARENA_ARRAY(b->work, struct pr_member, n + 1);
    struct pr_value map = {.kind = PR_MAP, .len = n, .members = members};

    if (!members)
        return pr_fail_nomem(b->err);
    for (uint32_t i = 0; i < n; i++) {
        members[i] = b->given->members[i];
        members[i].value = b->values[i];
    }
    return pr_value_copy(b->out, &map, &b->m->given) ? PR_OK
                                                     : pr_fail_nomem(b->err);
}

/* ---- classes and input */

static int set_classes(struct pr_model_builder *b, const struct sizes *s)
{
    const struct pr_value *v = pr_get(b->root, "classes");
    const struct pr_value *tiny = pr_get(s->tiny, "classes");
    const struct pr_value *opt = pr_get(s->opts, "classes");
    int64_t *classes = &b->m->classes;
    int rc = PR_OK;

    if (v)
        rc = pr_model_eval_int(b, &model_given_no_env, v, "classes", 1,
                               PR_MODEL_DIM, classes);
    if (!rc && tiny)
        rc = pr_model_eval_int(b, &model_given_no_env, tiny, "classes", 1,
                               PR_MODEL_DIM, classes);
    if (rc || !opt)
        return rc;
    if (opt->kind != PR_INT || opt->i < 1 || opt->i > PR_MODEL_DIM)
        return pr_fail(b->err, PR_E_CONF, OPTS,
                       "'classes' wants a whole number of at least 1");
    b->is_changed = b->is_changed || opt->i != *classes;
    *classes = opt->i;
    return PR_OK;
}

bool pr_shape_read(const struct pr_value *v, struct pr_layer_shape *ret)
{
    struct pr_layer_shape s = {.dims = v->len};
    int64_t elements;

    if (v->kind != PR_LIST || !v->len || v->len > PR_LAYER_DIMS)
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

static int read_input_shape(struct pr_model_builder *b,
                            const struct pr_value *v,
                            struct pr_layer_shape *ret)
{
    struct pr_value is;
    int rc = pr_model_eval(b, &model_given_no_env, v, &is);

    if (rc || pr_shape_read(&is, ret))
        return rc;
    return pr_model_fail_wants(b, v, "input",
                               "[channels, rows, columns], [rows, features] or "
                               "[features]");
}

/* Another input has as many numbers as that of the definition. */
static int change_input(struct pr_model_builder *b,
                        const struct pr_layer_shape *s,
                        const struct pr_value *tiny)
{
    const char *name = b->m->name ? b->m->name : b->name;
    struct pr_layer_shape *old = &b->input;

    if (s->dims != old->dims && tiny)
        return PR_MODEL_FAIL(b, tiny, "'input' has %u number%s, not %u",
                             old->dims, old->dims == 1 ? "" : "s", s->dims);
    if (s->dims != old->dims)
        return pr_fail(b->err, PR_E_CONF, OPTS,
                       "'input' of '%.64s' has %u number%s, not %u", name,
                       old->dims, old->dims == 1 ? "" : "s", s->dims);
    b->is_changed = b->is_changed || !pr_shape_equal(s, old);
    *old = *s;
    return PR_OK;
}

static int set_input(struct pr_model_builder *b, const struct sizes *s)
{
    const struct pr_value *v = pr_get(b->root, "input");
    const struct pr_value *tiny = pr_get(s->tiny, "input");
    const struct pr_value *opt = pr_get(s->opts, "input");
    struct pr_layer_shape other;
    int rc = v ? read_input_shape(b, v, &b->input) : PR_OK;

    if (!rc && tiny) {
        rc = read_input_shape(b, tiny, &other);
        if (!rc)
            rc = change_input(b, &other, tiny);
    }
    if (rc || !opt)
        return rc;
    if (!pr_shape_read(opt, &other))
        return pr_fail(b->err, PR_E_CONF, OPTS,
                       "'input' wants a list of whole numbers such as [3, 64, "
                       "64] or [540]");
    return change_input(b, &other, NULL);
}

/* ---- all of them */

int pr_model_read_sizes(struct pr_model_builder *b,
                        const struct pr_model_variant *variant)
{
    const struct pr_value *tiny = pr_get(b->root, "tiny");
    bool is_tiny = variant && variant->tiny;
    struct pr_value none = pr_null();
    struct sizes s = {.tiny = is_tiny && tiny ? tiny : &none,
                      .opts =
                          variant && variant->values ? variant->values : &none};
    int rc = read_model_given(b, pr_get(b->root, "given"));

    if (!rc)
        rc = check_tiny(b, tiny);
    if (!rc)
        rc = check_opts(b, s.opts);
    if (!rc && is_tiny && !tiny) {
        pr_fail(b->err, PR_E_CONF, b->name, "the model has no tiny size");
        rc = pr_hint(b->err, "'tiny: {…}' in it says what is smaller");
    }
    b->is_changed = is_tiny;
    for (uint32_t i = 0; !rc && b->given && i < b->given->len; i++)
        rc = set_given(b, &s, i);
    if (!rc)
        rc = keep_given(b);
    if (!rc)
        rc = set_classes(b, &s);
    return rc ? rc : set_input(b, &s);
}
