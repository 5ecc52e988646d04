/*
 * Values of a definition: numbers, words, short lists, and expressions with
 * the $parameters of a block; and what is made of values alone: the sizes of a
 * model, its inputs, its optimiser. An expression holds numbers and operators
 * only, so that one costs next to nothing, however often a block is used.
 */
#include "conf/expr/expr_eval.h"
#include "conf/read/yaml.h"
#include "nn/model/model_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- values as what an option wants: a number, yes or no */

int pr_model_fail_wants(struct pr_model_builder *b, const struct pr_value *v,
                        const char *key, const char *want)
{
    PR_AUTO_BUF struct pr_buf got = PR_BUF_INIT(4096);

    if (v->kind == PR_NULL)
        return PR_MODEL_FAIL(b, v, "'%.64s' wants %s, got nothing", key, want);
    if (v->kind == PR_STR)
        return PR_MODEL_FAIL(b, v, "'%.64s' wants %s, got '%.64s'", key, want,
                             v->s);
    if (v->kind == PR_MAP || v->kind == PR_LIST)
        return PR_MODEL_FAIL(b, v, "'%.64s' wants %s, got %s", key, want,
                             pr_kind_name(v->kind));
    pr_value_write_text(&got, v);
    return PR_MODEL_FAIL(b, v, "'%.64s' wants %s, got %.64s", key, want,
                         pr_buf_ok(&got) ? got.data : "another");
}

int pr_model_eval_int(struct pr_model_builder *b,
                      const struct pr_model_env *env, const struct pr_value *v,
                      const char *key, int64_t min, int64_t max, int64_t *ret)
{
    struct pr_value is;
    char want[96];
    int rc = pr_model_eval(b, env, v, &is);

    if (rc)
        return rc;
    if (is.kind == PR_INT && is.i >= min && is.i <= max) {
        *ret = is.i;
        return PR_OK;
    }
    if (is.kind == PR_INT && is.i > max)
        snprintf(want, sizeof want, "a whole number of at most %" PRId64, max);
    else if (is.kind == PR_INT)
        snprintf(want, sizeof want, "a whole number of at least %" PRId64, min);
    else
        snprintf(want, sizeof want, "a whole number");
    return pr_model_fail_wants(b, &is, key, want);
}

int pr_model_eval_bool(struct pr_model_builder *b,
                       const struct pr_model_env *env, const struct pr_value *v,
                       const char *key, bool *ret)
{
    struct pr_value is;
    int rc = pr_model_eval(b, env, v, &is);

    if (rc)
        return rc;
    if (is.kind != PR_BOOL)
        return pr_model_fail_wants(b, &is, key, "true or false");
    *ret = is.b;
    return PR_OK;
}

static bool fits_field_limits(const struct pr_model_field *f, double x)
{
    return isfinite(x) && (f->open_min ? x > f->min : x >= f->min) &&
           (f->open_max ? x < f->max : x <= f->max);
}

int pr_model_eval_number(struct pr_model_builder *b,
                         const struct pr_model_env *env,
                         const struct pr_value *v,
                         const struct pr_model_field *f, double *ret)
{
    struct pr_value is;
    char want[96];
    int rc = pr_model_eval(b, env, v, &is);

    if (rc)
        return rc;
    if (!pr_value_is_number(&is))
        return pr_model_fail_wants(b, &is, f->name, "a number");
    if (!fits_field_limits(f, pr_value_number(&is))) {
        snprintf(want, sizeof want, "a number %s %g %s %g",
                 f->open_min ? "above" : "from", f->min,
                 f->open_max ? "to below" : "to", f->max);
        return pr_model_fail_wants(b, &is, f->name, want);
    }
    *ret = pr_value_number(&is);
    return PR_OK;
}

/* ---- sizes: the parameters under 'given', the input and classes. Over what
 * the definition says lies 'tiny', if that is wanted, and over both what
 * exp.model_opts says. */

#define OPTS "exp.model_opts"

static const struct pr_model_env no_env;

/* Index of a parameter of the model; -1: none. */
static int model_given_index(const struct pr_model_builder *b, const char *name)
{
    for (uint32_t i = 0; b->given && i < b->given->len; i++)
        if (strcmp(b->given->members[i].key, name) == 0)
            return (int)i;
    return -1;
}

/* ---- sizes: what can be changed */

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

/* ---- sizes: parameters */

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
    int rc = pr_model_eval(b, &no_env, tiny ? tiny : &m->value, &is);

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

/* ---- sizes: classes and input */

static int set_classes(struct pr_model_builder *b, const struct sizes *s)
{
    const struct pr_value *v = pr_get(b->root, "classes");
    const struct pr_value *tiny = pr_get(s->tiny, "classes");
    const struct pr_value *opt = pr_get(s->opts, "classes");
    int64_t *classes = &b->m->classes;
    int rc = PR_OK;

    if (v)
        rc = pr_model_eval_int(b, &no_env, v, "classes", 1, PR_MODEL_DIM,
                               classes);
    if (!rc && tiny)
        rc = pr_model_eval_int(b, &no_env, tiny, "classes", 1, PR_MODEL_DIM,
                               classes);
    if (rc || !opt)
        return rc;
    if (opt->kind != PR_INT || opt->i < 1 || opt->i > PR_MODEL_DIM)
        return pr_fail(b->err, PR_E_CONF, OPTS,
                       "'classes' wants a whole number of at least 1");
    b->is_changed = b->is_changed || opt->i != *classes;
    *classes = opt->i;
    return PR_OK;
}

/* [3, 224, 224], [35, 656] or [540]. */
static bool shape_read(const struct pr_value *v, struct pr_layer_shape *ret)
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
                            const struct pr_value *v, const char *key,
                            struct pr_layer_shape *ret)
{
    struct pr_value is;
    int rc = pr_model_eval(b, &no_env, v, &is);

    if (rc || shape_read(&is, ret))
        return rc;
    return pr_model_fail_wants(b, v, key,
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
    int rc = v ? read_input_shape(b, v, "input", &b->input) : PR_OK;

    if (!rc && tiny) {
        rc = read_input_shape(b, tiny, "input", &other);
        if (!rc)
            rc = change_input(b, &other, tiny);
    }
    if (rc || !opt)
        return rc;
    if (!shape_read(opt, &other))
        return pr_fail(b->err, PR_E_CONF, OPTS,
                       "'input' wants a list of whole numbers such as [3, 64, "
                       "64] or [540]");
    return change_input(b, &other, NULL);
}

/* ---- sizes: all of them */

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

static bool is_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Letters, digits and _ from here. */
static size_t word_len(const char *s)
{
    size_t n = 0;

    while (is_name_letter(s[n]) || is_ascii_digit(s[n]))
        n++;
    return n;
}

bool pr_model_is_name(const struct pr_value *v)
{
    if (v->kind != PR_STR || !v->len || strlen(v->s) != v->len)
        return false;
    for (uint32_t i = 0; i < v->len; i++)
        if (!is_name_letter(v->s[i]) && !is_ascii_digit(v->s[i]) &&
            v->s[i] != '.' && v->s[i] != '-')
            return false;
    return is_name_letter(v->s[0]) || is_ascii_digit(v->s[0]);
}

int pr_model_suggest(struct pr_model_builder *b, const struct pr_nearest *n)
{
    if (n->best)
        pr_hint(b->err, "did you mean '%.64s'?", n->best);
    return PR_E_CONF;
}

int pr_model_count_step(struct pr_model_builder *b, const struct pr_value *at)
{
    if (++b->steps > PR_MODEL_STEPS)
        return PR_MODEL_FAIL(b, at, "the definition takes more than %d steps",
                             PR_MODEL_STEPS);
    return PR_OK;
}

/* ---- evaluating: parameters */

static int unknown_param(struct pr_model_builder *b,
                         const struct pr_model_env *env,
                         const struct pr_value *at, const char *name)
{
    struct pr_nearest near;
    int rc = PR_MODEL_FAIL(b, at, "there is no parameter '$%.64s' here", name);

    if (strcmp(name, "in") == 0)
        return pr_hint(b->err, "write the number, or 'depthwise: true' for as "
                               "many groups as channels");
    pr_nearest_init(&near, name);
    if (b->m->classes)
        pr_nearest_offer(&near, "classes");
    for (uint32_t i = 0; b->given && i < b->given->len; i++)
        pr_nearest_offer(&near, b->given->members[i].key);
    for (uint32_t i = 0;
         env->block && env->block->given && i < env->block->given->len; i++)
        pr_nearest_offer(&near, env->block->given->members[i].key);
    if (near.best)
        return pr_hint(b->err, "did you mean '$%.64s'?", near.best);
    pr_hint(b->err, "parameters of a block or of the model stand under "
                    "'given'");
    return rc;
}

/* The value of $name, with the place where it is used. */
static int find_param_value(struct pr_model_builder *b,
                            const struct pr_model_env *env,
                            const struct pr_value *at, const char *name,
                            size_t len, struct pr_value *ret)
{
    char key[PR_MODEL_TEXT + 1];
    const struct pr_value *v = NULL;
    int i;

    memcpy(key, name, len);
    key[len] = '\0';
    i = env->block ? pr_model_block_param(env->block, key) : -1;
    if (i >= 0)
        v = &env->values[i];
    else if ((i = model_given_index(b, key)) >= 0)
        v = &b->values[i];
    if (v && v->kind == PR_NULL)
        return PR_MODEL_FAIL(b, at, "'$%.64s' is not known yet here", key);
    if (!v && (!b->m->classes || strcmp(key, "classes") != 0))
        return unknown_param(b, env, at, key);
    *ret = v ? *v : pr_int(b->m->classes);
    ret->line = at->line;
    ret->col = at->col;
    return PR_OK;
}

/* ---- evaluating: expressions */

/* Appends the value of a parameter so that it keeps together. */
static int expression_put_param(struct pr_model_builder *b,
                                const struct pr_model_env *env,
                                const struct pr_value *at, const char *name,
                                size_t len)
{
    struct pr_value v;
    int rc = find_param_value(b, env, at, name, len, &v);

    if (rc)
        return rc;
    if (v.kind != PR_BOOL && !pr_value_is_number(&v))
        return PR_MODEL_FAIL(b, at, "'$%.*s' is %s and cannot be computed with",
                             (int)len, name, pr_kind_name(v.kind));
    pr_buf_char(&b->text, '(');
    pr_value_write_text(&b->text, &v);
    pr_buf_char(&b->text, ')');
    return PR_OK;
}

/* Appends and, or, not, true and false. */
static int expression_put_word(struct pr_model_builder *b,
                               const struct pr_value *at, const char *word,
                               size_t len)
{
    static const char *const words[][2] = {
        {"and", "and"},    {"or", "or"},     {"not", "not"},
        {"true", "True"},  {"True", "True"}, {"false", "False"},
        {"False", "False"}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i][0]) == len && !memcmp(words[i][0], word, len)) {
            pr_buf_str(&b->text, words[i][1]);
            return PR_OK;
        }
    PR_MODEL_FAIL(b, at, "'%.*s' means nothing in an expression",
                  (int)(len < 64 ? len : 64), word);
    return pr_hint(b->err, "a parameter has a $ in front: $%.*s",
                   (int)(len < 64 ? len : 64), word);
}

/* The length of an operator or bracket; 0: none. */
static size_t operator_len(const char *s)
{
    static const char *const twice[] = {"//", "==", "!=", "<=", ">="};

    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++)
        if (strncmp(s, twice[i], 2) == 0)
            return 2;
    if (strncmp(s, "**", 2) == 0 || strncmp(s, "<<", 2) == 0 ||
        strncmp(s, ">>", 2) == 0)
        return 0;
    return strchr("+-*/%()<>", *s) ? 1 : 0;
}

/* Digits with a point, exponent or neither. */
static size_t number_len(const char *s)
{
    size_t n = 0;

    while (is_ascii_digit(s[n]) || s[n] == '.')
        n++;
    if (n && (s[n] == 'e' || s[n] == 'E')) {
        size_t e = n + 1;

        e += s[e] == '-' || s[e] == '+';
        if (is_ascii_digit(s[e]))
            for (n = e; is_ascii_digit(s[n]);)
                n++;
    }
    return n;
}

/* Copies one token to b->text, parameters replaced; returns its length in
 * *ret. */
static int expression_put_token(struct pr_model_builder *b,
                                const struct pr_model_env *env,
                                const struct pr_value *at, const char *s,
                                size_t *ret)
{
    size_t n;

    if (*s == '$' && (n = word_len(s + 1)) && is_name_letter(s[1])) {
        *ret = n + 1;
        return expression_put_param(b, env, at, s + 1, n);
    }
    if (is_name_letter(*s)) {
        *ret = word_len(s);
        return expression_put_word(b, at, s, *ret);
    }
    n = *s == ' ' ? 1 : number_len(s);
    if (!n)
        n = operator_len(s);
    if (!n)
        return PR_MODEL_FAIL(b, at,
                             "'%.64s' is not an expression: cannot read "
                             "'%.16s'",
                             at->s, s);
    pr_buf_add(&b->text, s, n);
    *ret = n;
    return PR_OK;
}

static int compute_expression(struct pr_model_builder *b,
                              const struct pr_value *at, struct pr_value *ret)
{
    int rc;

    pr_arena_reset(b->scratch);
    pr_buf_clear(&b->answer);
    rc = pr_expr_eval(b->text.data, b->text.len, b->scratch, &b->answer, NULL,
                      b->err);
    if (rc == PR_E_CONF) {
        char why[sizeof b->err->msg];

        memcpy(why, b->err->msg, sizeof why);
        return PR_MODEL_FAIL(b, at, "cannot compute '%.64s': %s", at->s, why);
    }
    if (rc)
        return rc;
    *ret = pr_yaml_read_scalar(b->answer.data, b->answer.len);
    if (!pr_value_is_number(ret) && ret->kind != PR_BOOL)
        return PR_MODEL_FAIL(b, at, "'%.64s' is %.64s, which is not a number",
                             at->s, b->answer.data);
    ret->line = at->line;
    ret->col = at->col;
    return PR_OK;
}

static int evaluate_expression(struct pr_model_builder *b,
                               const struct pr_model_env *env,
                               const struct pr_value *v, struct pr_value *ret)
{
    size_t n = 0;
    int rc;

    if (v->len > PR_MODEL_TEXT || strlen(v->s) != v->len)
        return PR_MODEL_FAIL(b, v, "an expression has at most %d characters",
                             PR_MODEL_TEXT);
    if (v->s[0] == '$' && v->len > 1 && word_len(v->s + 1) == v->len - 1)
        return find_param_value(b, env, v, v->s + 1, v->len - 1, ret);
    pr_buf_clear(&b->text);
    for (const char *s = v->s; *s; s += n) {
        rc = expression_put_token(b, env, v, s, &n);
        if (rc)
            return rc;
    }
    if (!pr_buf_ok(&b->text))
        return pr_fail_nomem(b->err);
    return compute_expression(b, v, ret);
}

/* ---- evaluating: any value */

static bool is_number_list(const struct pr_value *list)
{
    for (uint32_t i = 0; i < list->len; i++)
        if (!pr_value_is_number(&list->items[i]))
            return false;
    return true;
}

static int eval_list(struct pr_model_builder *b, const struct pr_model_env *env,
                     const struct pr_value *v, struct pr_value *ret)
{
    struct pr_value *items;
    int rc;

    if (v->len > PR_MODEL_LIST)
        return PR_MODEL_FAIL(b, v, "a list of at most %d values is wanted here",
                             PR_MODEL_LIST);
    *ret = *v;
    if (is_number_list(v))
        return PR_OK;
    rc = pr_model_count_step(b, v);
    if (rc)
        return rc;
    items = PR_ARENA_ARRAY(b->work, struct pr_value, PR_MODEL_LIST);
    if (!items)
        return pr_fail_nomem(b->err);
    for (uint32_t i = 0; i < v->len && !rc; i++)
        rc = v->items[i].kind == PR_LIST
                 ? PR_MODEL_FAIL(b, &v->items[i], "a list in a list")
                 : pr_model_eval(b, env, &v->items[i], &items[i]);
    ret->items = items;
    return rc;
}

int pr_model_eval(struct pr_model_builder *b, const struct pr_model_env *env,
                  const struct pr_value *v, struct pr_value *ret)
{
    if (v->kind == PR_MAP)
        return PR_MODEL_FAIL(b, v, "a map is not a value");
    if (v->kind == PR_LIST)
        return eval_list(b, env, v, ret);
    if (v->kind == PR_STR && v->len &&
        (!pr_model_is_name(v) || is_ascii_digit(v->s[0])))
        return evaluate_expression(b, env, v, ret);
    *ret = *v;
    return PR_OK;
}

/* ---- inputs: the first layers. 'input' and 'classes' are short for two of
 * them, an image or vector and its class. */

static int add_input_layer(struct pr_model_builder *b, const char *name,
                           const struct pr_layer_shape *shape, int64_t ids,
                           const struct pr_member *at)
{
    struct pr_model_item item = {
        .key = "input", .line = at ? at->line : 0, .col = at ? at->col : 0};
    unsigned i = b->m->layer_count;
    struct pr_model_draft d = {.l = {.name = name,
                                     .op = PR_LAYER_INPUT,
                                     .line = item.line,
                                     .shape = *shape,
                                     .like = i,
                                     .ids = ids,
                                     .kernel = {1, 1},
                                     .stride = {1, 1},
                                     .dilation = {1, 1},
                                     .groups = 1},
                               .line = item.line,
                               .col = item.col};
    int rc = pr_model_append(b, &d);

    if (!rc)
        rc = pr_model_put_name(b, &item, name, i);
    b->m->input_count = b->m->layer_count;
    return rc;
}

/* ---- inputs: one of 'inputs' */

static int read_shape_of_input(struct pr_model_builder *b,
                               const struct pr_member *m,
                               const struct pr_value *v,
                               struct pr_layer_shape *ret)
{
    if (!v)
        return PR_MODEL_FAIL(b, m, "input '%.64s' has no 'shape'", m->key);
    return read_input_shape(b, v, "shape", ret);
}

static int check_input(struct pr_model_builder *b, const struct pr_member *m)
{
    static const char *const keys[] = {"shape", "ids"};
    struct pr_value name = pr_strn(m->key, m->key_len);

    if (!pr_model_is_name(&name) || strchr(m->key, '.') ||
        m->key_len > PR_MODEL_NAME)
        return PR_MODEL_FAIL(b, m,
                             "'%.64s' cannot be an input: letters, "
                             "digits, '_' and '-' make a name",
                             m->key);
    if (b->m->layer_count && strcmp(m->key, "input") == 0)
        return PR_MODEL_FAIL(b, m,
                             "only the first input can be called "
                             "'input', which is what comes in");
    if (m->value.kind != PR_MAP)
        return pr_model_fail_wants(
            b, &m->value, m->key,
            "{shape: [3, 64, 64]} or {shape: [1], ids: 10}");
    for (uint32_t i = 0; i < m->value.len; i++)
        if (strcmp(m->value.members[i].key, "shape") != 0 &&
            strcmp(m->value.members[i].key, "ids") != 0)
            return pr_model_fail_unknown(b, &m->value.members[i], "an input",
                                         keys, 2);
    return PR_OK;
}

static int add_named_input(struct pr_model_builder *b,
                           const struct pr_member *m)
{
    const struct pr_value *ids = pr_get(&m->value, "ids");
    const struct pr_value *shape = pr_get(&m->value, "shape");
    struct pr_layer_shape s = {0};
    int64_t count = 0;
    const char *name;
    int rc = check_input(b, m);

    if (!rc)
        rc = read_shape_of_input(b, m, shape, &s);
    if (!rc && ids)
        rc = pr_model_eval_int(b, &no_env, ids, "ids", 1, PR_MODEL_DIM, &count);
    if (!rc && count && s.dims != 1)
        rc = PR_MODEL_FAIL(b, shape, "'shape' of ids is [count]");
    if (rc)
        return rc;
    name = pr_arena_str(b->out, m->key);
    return name ? add_input_layer(b, name, &s, count, m)
                : pr_fail_nomem(b->err);
}

/* ---- inputs: all of them */

int pr_model_input(const struct pr_model *m, const char *name)
{
    for (unsigned i = 0; i < m->input_count; i++)
        if (strcmp(m->layers[i].name, name) == 0)
            return (int)i;
    return -1;
}

int pr_model_add_inputs(struct pr_model_builder *b)
{
    static const struct pr_layer_shape one = {1, {1}};
    const struct pr_value *map = pr_get(b->root, "inputs");
    int rc = PR_OK;

    if (!map) {
        rc = add_input_layer(b, "input", &b->input, 0, NULL);
        return rc || !b->m->classes
                   ? rc
                   : add_input_layer(b, "labels", &one, b->m->classes, NULL);
    }
    if (map->kind != PR_MAP || !map->len)
        return pr_model_fail_wants(
            b, map, "inputs", "a map such as {image: {shape: [3, 64, 64]}}");
    if (map->len > PR_MODEL_INPUTS)
        return PR_MODEL_FAIL(b, map, "more than %d inputs", PR_MODEL_INPUTS);
    for (uint32_t i = 0; i < map->len && !rc; i++)
        rc = add_named_input(b, &map->members[i]);
    return rc;
}

/* ---- the optimiser that a definition proposes */

#define AT(member) offsetof(struct pr_optimizer_opts, member)
#define NUMBER(name, member, min, max, no_min, no_max)              \
    {                                                               \
        name, PR_FIELD_NUMBER, AT(member), min, max, no_min, no_max \
    }

enum { EACH = 6 };

/* Each ends with its last option, or where no name is. */
static const struct pr_model_field sgd[EACH] = {
    NUMBER("learning_rate", learning_rate, 0, 1e9, true, false),
    NUMBER("weight_decay", weight_decay, 0, 1e9, false, false),
    NUMBER("clip", clip, 0, 1e9, false, false),
    NUMBER("momentum", momentum, 0, 1, false, true),
};
static const struct pr_model_field adam[EACH] = {
    NUMBER("learning_rate", learning_rate, 0, 1e9, true, false),
    NUMBER("weight_decay", weight_decay, 0, 1e9, false, false),
    NUMBER("clip", clip, 0, 1e9, false, false),
    NUMBER("beta1", beta1, 0, 1, false, true),
    NUMBER("beta2", beta2, 0, 1, false, true),
    NUMBER("epsilon", epsilon, 0, 1, true, false),
};

static int read_optimizer_kind(struct pr_model_builder *b,
                               const struct pr_value *map,
                               enum pr_optimizer *ret)
{
    const struct pr_value *name = pr_get(map, "name");

    if (!name)
        return PR_MODEL_FAIL(b, map, "'optimizer' has no 'name'");
    if (name->kind == PR_STR && strcmp(name->s, "sgd") == 0)
        *ret = PR_SGD;
    else if (name->kind == PR_STR && strcmp(name->s, "adam") == 0)
        *ret = PR_ADAM;
    else
        return pr_model_fail_wants(b, name, "name", "sgd or adam");
    return PR_OK;
}

static int read_optimizer_option(struct pr_model_builder *b,
                                 const struct pr_member *m,
                                 const struct pr_model_field *fields)
{
    struct pr_optimizer_opts *o = &b->m->optimizer;
    struct pr_model_env env = {.block = NULL};
    struct pr_nearest near;

    if (strcmp(m->key, "name") == 0)
        return PR_OK;
    pr_nearest_init(&near, m->key);
    for (size_t i = 0; i < EACH && fields[i].name; i++) {
        void *at = (char *)o + fields[i].offset;

        if (strcmp(m->key, fields[i].name) == 0)
            return pr_model_eval_number(b, &env, &m->value, &fields[i], at);
        pr_nearest_offer(&near, fields[i].name);
    }
    PR_MODEL_FAIL(b, m, "'%s' has no option '%.64s'",
                  o->kind == PR_ADAM ? "adam" : "sgd", m->key);
    return pr_model_suggest(b, &near);
}

int pr_model_read_optimizer(struct pr_model_builder *b,
                            const struct pr_value *map)
{
    struct pr_optimizer_opts *o = &b->m->optimizer;
    int rc;

    if (map->kind != PR_MAP)
        return pr_model_fail_wants(b, map, "optimizer",
                                   "{name: sgd, learning_rate: 0.1}");
    rc = read_optimizer_kind(b, map, &o->kind);
    if (o->kind == PR_ADAM) {
        o->learning_rate = 1e-3;
        o->momentum = 0;
    }
    for (uint32_t i = 0; i < map->len && !rc; i++)
        rc = read_optimizer_option(b, &map->members[i],
                                   o->kind == PR_ADAM ? adam : sgd);
    return rc;
}
