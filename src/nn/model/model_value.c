/*
 * Values of a definition: numbers, words, short lists, and expressions with
 * the $parameters of a block. An expression holds numbers and operators only,
 * so that one costs next to nothing, however often a block is used.
 */
#include "conf/expr/expr_eval.h"
#include "conf/read/yaml.h"
#include "nn/model/model_impl.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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

/* ---- parameters */

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
    else if ((i = pr_model_given_index(b, key)) >= 0)
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

/* ---- expressions */

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

/* ---- any value */

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
