/*
 * Expansion: tables of parameters before and after, errors, and the memory of
 * an expander that goes through many experiments.
 */
#include "conf/expr/expand.h"

#include "conf/option/option.h"

#include "values.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_NAMES = 1100 };

/* Parameters and declarations from JSON, as a plan would hold them. */
struct bench {
    struct pr_arena *arena;
    struct pr_names *names;
    struct pr_params params;
    struct pr_decl *decls[MAX_NAMES];
    struct pr_regex *regex; /* one at most */
};

static void declare(struct bench *b, const struct pr_member *m)
{
    const struct pr_value *type = pr_get(&m->value, "type");
    const struct pr_value *opt = pr_get(&m->value, "opt");
    const struct pr_value *re = pr_get(&m->value, "re");
    struct pr_decl *d = PR_ARENA_NEW(b->arena, struct pr_decl);

    if (type)
        d->type = pr_decl_find_type(type->s);
    if (opt)
        d->opt = pr_opt_find(opt->s, NULL);
    d->domain = pr_get(&m->value, "domain");
    if (re) {
        assert_null(b->regex);
        assert_int_equal(pr_regex_new(re->s, re->len, 0, &b->regex, NULL), 0);
        d->regexp = b->regex;
        d->regexp_text = re->s;
    }
    b->decls[pr_names_add(b->names, m->key, m->key_len)] = d;
}

/* False when out of memory. */
static bool set_value(struct bench *b, struct pr_arena *a, const char *name,
                      const struct pr_value *v)
{
    struct pr_origin at = {PR_FROM_CONFIG, "file.json", 3, 7};
    struct pr_setting *set =
        pr_setting_new(a, b->names, name, strlen(name), v, &at);

    if (!set || !pr_params_reserve(&b->params, b->arena, MAX_NAMES))
        return false;
    pr_params_set(&b->params, set);
    return true;
}

static void open_bench(struct bench *b, const char *params, const char *decls)
{
    struct pr_value map;

    memset(b, 0, sizeof *b);
    b->arena = pr_arena_new(4096);
    b->names = pr_names_new();
    map = json(b->arena, decls);
    for (uint32_t i = 0; i < map.len; i++)
        declare(b, &map.members[i]);
    map = json(b->arena, params);
    for (uint32_t i = 0; i < map.len; i++)
        assert_true(
            set_value(b, b->arena, map.members[i].key, &map.members[i].value));
}

static void close_bench(struct bench *b)
{
    pr_regex_free(b->regex);
    pr_names_free(b->names);
    pr_arena_free(b->arena);
}

/* All parameters as one line of JSON, or the error as "!message". */
static const char *expand_with(struct pr_expander *x, struct bench *b,
                               struct pr_arena *a)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 26);
    struct pr_err err = {0};
    int rc = pr_expand_params(x, &b->params, &err);

    if (rc) {
        assert_int_equal(rc, err.code);
        return pr_arena_printf(a, "!%s %s", err.where, err.msg);
    }
    pr_buf_char(&out, '{');
    for (uint32_t i = 0; i < b->params.count; i++) {
        size_t len;
        const char *text = pr_expanded_json(x, b->params.order[i], &len);
        const struct pr_value *v = pr_expanded_value(x, b->params.order[i]);
        const char *again = json_text(a, v);

        /* The text that is kept says what the value says. */
        assert_int_equal(strlen(text), len);
        assert_string_equal(strstr(text, ": ") + 2, again);
        pr_buf_printf(&out, "%s%s", i ? ", " : "", text);
    }
    pr_buf_char(&out, '}');
    return pr_arena_copy(a, out.data, out.len);
}

static struct pr_expander *expander(const struct bench *b)
{
    struct pr_expander *x =
        pr_expander_new(b->names, (const struct pr_decl *const *)b->decls);

    assert_non_null(x);
    return x;
}

static const char *expand(struct pr_arena *a, const char *params,
                          const char *decls)
{
    struct bench b;
    struct pr_expander *x;
    const char *got;

    open_bench(&b, params, decls);
    x = expander(&b);
    got = expand_with(x, &b, a);
    pr_expander_free(x);
    close_bench(&b);
    return got;
}

/* What is advised where it fails. */
static const char *expand_hint(struct pr_arena *a, const char *params)
{
    struct pr_err err = {0};
    struct pr_expander *x;
    struct bench b;

    open_bench(&b, params, "{}");
    x = expander(&b);
    assert_int_equal(pr_expand_params(x, &b.params, &err), PR_E_CONF);
    pr_expander_free(x);
    close_bench(&b);
    return pr_arena_str(a, err.hint);
}

struct row {
    const char *params, *want; /* want of "!…": part of the message */
};

static void check_rows(const struct row *rows, size_t count, const char *decls)
{
    for (size_t i = 0; i < count; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        const char *got = expand(a, rows[i].params, decls);
        bool same = rows[i].want[0] == '!'
                        ? got[0] == '!' && strstr(got, rows[i].want + 1)
                        : strcmp(got, rows[i].want) == 0;
        if (!same)
            fail_msg("%s\n gives %s\n want  %s", rows[i].params, got,
                     rows[i].want);
    }
}

#define CHECK(rows, decls) check_rows(rows, sizeof rows / sizeof *rows, decls)

static void names_stand_for_values(void **state)
{
    static const struct row rows[] = {
        {"{}", "{}"},
        {"{\"a\": \"x\", \"b\": \"${a}y\"}", "{\"a\": \"x\", \"b\": \"xy\"}"},
        {"{\"b\": \"${a}y\", \"a\": \"x\"}", "{\"b\": \"xy\", \"a\": \"x\"}"},
        {"{\"a\": 1, \"b\": \"${a}${a}\"}", "{\"a\": 1, \"b\": \"11\"}"},
        {"{\"a\": true, \"b\": \"${a}\"}", "{\"a\": true, \"b\": \"True\"}"},
        {"{\"a\": null, \"b\": \"${a}\"}", "{\"a\": null, \"b\": \"None\"}"},
        {"{\"a\": 1e20, \"b\": \"${a}\"}", "{\"a\": 1e+20, \"b\": \"1e+20\"}"},
        {"{\"a\": {\"x\": [1]}, \"b\": \"${a}\"}",
         "{\"a\": {\"x\": [1]}, \"b\": \"{\\\"x\\\": [1]}\"}"},
        {"{\"a\": \"\", \"b\": \"<${a}>\"}", "{\"a\": \"\", \"b\": \"<>\"}"},
        {"{\"a\": \"\", \"b\": \"${a}\"}", "{\"a\": \"\", \"b\": \"\"}"},
        {"{\"c\": \"${b}!\", \"b\": \"${a}${a}\", \"a\": \"z\"}",
         "{\"c\": \"zz!\", \"b\": \"zz\", \"a\": \"z\"}"},
        {"{\"gr\\u00fc\\u00df\": \"\\u4e16\", \"b\": \"${gr\\u00fc\\u00df}\"}",
         "{\"gr\303\274\303\237\": \"\344\270\226\", "
         "\"b\": \"\344\270\226\"}"},
        /* names are taken as they stand */
        {"{\" a \": 1, \"b\": \"${ a }\"}", "{\" a \": 1, \"b\": \"1\"}"},
        {"{\"a.b-c/d$e\": 1, \"b\": \"${a.b-c/d$e}\"}",
         "{\"a.b-c/d$e\": 1, \"b\": \"1\"}"},
        {"{\"a\": 1, \"b\": \"${ a}\"}", "!'${ a}' is neither"},
        /* no escapes */
        {"{\"a\": \"x\", \"b\": \"\\\\${a} $${a} $a {a} $\"}",
         "{\"a\": \"x\", \"b\": \"\\\\x $x $a {a} $\"}"},
        {"{\"b\": \"a } b\"}", "{\"b\": \"a } b\"}"},
        /* what a value holds is not expanded again */
        {"{\"a\": \"$('$'+'{c}')$\", \"b\": \"<${a}>\", \"c\": 1}",
         "{\"a\": \"${c}\", \"b\": \"<${c}>\", \"c\": 1}"},
    };

    (void)state;
    CHECK(rows, "{}");
}

static void names_nest(void **state)
{
    static const struct row rows[] = {
        {"{\"k\": \"x\", \"x.v\": \"V\", \"b\": \"${${k}.v}\"}",
         "{\"k\": \"x\", \"x.v\": \"V\", \"b\": \"V\"}"},
        {"{\"k\": \"x\", \"x.v\": \"y\", \"y.w\": \"z\", \"z.u\": \"DEEP\", "
         "\"b\": \"${${${${k}.v}.w}.u}\"}",
         "{\"k\": \"x\", \"x.v\": \"y\", \"y.w\": \"z\", \"z.u\": \"DEEP\", "
         "\"b\": \"DEEP\"}"},
        {"{\"k\": \"x\", \"l\": \"y\", \"x-y\": 5, \"b\": \"${${k}-${l}}!\"}",
         "{\"k\": \"x\", \"l\": \"y\", \"x-y\": 5, \"b\": \"5!\"}"},
        {"{\"k\": \"x\", \"x.v\": \"a\", \"b\": \"${k} ${${k}.v} ${k}\"}",
         "{\"k\": \"x\", \"x.v\": \"a\", \"b\": \"x a x\"}"},
        /* the value found may be computed itself */
        {"{\"k\": \"x\", \"b\": \"${${k}.v}\", \"x.v\": \"$(1+1)$${k}\"}",
         "{\"k\": \"x\", \"b\": \"2x\", \"x.v\": \"2x\"}"},
        {"{\"k\": \"nope\", \"b\": \"${${k}.v}\"}", "!'${nope.v}' is neither"},
        {"{\"k\": \"\", \"b\": \"${${k}.v}\"}", "!'${.v}' is neither"},
        /* a name that is empty once known */
        {"{\"k\": \"\", \"b\": \"${${k}}\"}", "!without a name"},
    };

    (void)state;
    CHECK(rows, "{}");
}

static void expressions_are_evaluated(void **state)
{
    static const struct row rows[] = {
        {"{\"b\": \"$(1+1)$$(2+2)$\"}", "{\"b\": \"24\"}"},
        {"{\"b\": \"$(1)$ costs $5\"}", "{\"b\": \"1 costs $5\"}"},
        {"{\"a\": 5, \"b\": \"$(${a} // 2)$\"}", "{\"a\": 5, \"b\": \"2\"}"},
        {"{\"a\": false, \"b\": \"$('A' if ${a} is False else 'B')$\"}",
         "{\"a\": false, \"b\": \"A\"}"},
        /* the first )$ ends it */
        {"{\"b\": \"$('a)'+'$')$\"}", "{\"b\": \"a)$\"}"},
        {"{\"b\": \"$('x)$y')$\"}", "!"},
        /* what it gives may be an expression again */
        {"{\"b\": \"$('$('+'1+1)'+'$')$\"}", "{\"b\": \"2\"}"},
        {"{\"b\": \"$('a$')$(3)$\"}", "{\"b\": \"a3\"}"},
        {"{\"b\": \"$('$'+'(')$\"}", "!'$(' without its ')$'"},
        /* evaluated before the inner name is known: strip sees ${x.v}:t */
        {"{\"k\": \"x\", \"x.v\": \"\", "
         "\"b\": \"$('${${k}.v}:t'.strip(':'))$\"}",
         "{\"k\": \"x\", \"x.v\": \"\", \"b\": \":t\"}"},
        /* but not when that would fail, as DLBS did */
        {"{\"k\": \"x\", \"x.v\": \"3\", \"b\": \"$(${${k}.v}*2)$\"}",
         "{\"k\": \"x\", \"x.v\": \"3\", \"b\": \"6\"}"},
        {"{\"k\": \"x\", \"x.v\": \"3\", \"b\": \"$(1)$ $(${${k}.v}*2)$\"}",
         "{\"k\": \"x\", \"x.v\": \"3\", \"b\": \"1 6\"}"},
        {"{\"k\": \"x\", \"x.v\": \"foo\", \"b\": \"$(${${k}.v}*2)$\"}",
         "!parameter 'b'"},
        {"{\"b\": \"$(1+1\"}", "!'$(' without its ')$'"},
        {"{\"b\": \"$(1/0)$\"}", "!parameter 'b'"},
        {"{\"b\": \"$(nobody)$\"}", "!parameter 'b'"},
        {"{\"b\": \"$()$\"}", "!parameter 'b'"},
        {"{\"a\": \"it's\", \"b\": \"$(len('${a}'))$\"}", "!parameter 'b'"},
    };

    (void)state;
    CHECK(rows, "{}");
}

static void lists_are_joined_unless_declared(void **state)
{
    static const struct row rows[] = {
        {"{\"a\": [\"x\", \"y\", 3], \"b\": \"<${a}>\"}",
         "{\"a\": \"x y 3\", \"b\": \"<x y 3>\"}"},
        {"{\"a\": [\"${b}\", \"$(1+1)$\"], \"b\": \"q\"}",
         "{\"a\": \"q 2\", \"b\": \"q\"}"},
        {"{\"a\": []}", "{\"a\": \"\"}"},
        {"{\"a\": [\"\"]}", "{\"a\": \"\"}"},
        {"{\"a\": [\"\", \"\"]}", "{\"a\": \" \"}"},
        {"{\"a\": [true, null, 1.5, [1, \"x\"]]}",
         "{\"a\": \"True None 1.5 [1, 'x']\"}"},
        {"{\"a\": [{\"x\": [true], \"y\": {}}, [{\"z\": \"q\"}]]}",
         "{\"a\": \"{'x': [True], 'y': {}} [{'z': 'q'}]\"}"},
        /* an expression may span items */
        {"{\"a\": [\"$(1\", \"+ 1)$\"]}", "{\"a\": \"2\"}"},
        /* the option table says that it is a list */
        {"{\"l\": [\"x\", 3, null], \"b\": \"<${l}>\"}",
         "{\"l\": [\"x\", 3, null], \"b\": \"<['x', 3, None]>\"}"},
        {"{\"l\": [\"${b}\", \"\", \"$(1+1)$\", 7, [\"${b}\"]], \"b\": \"q\"}",
         "{\"l\": [\"q\", \"\", \"2\", 7, [\"${b}\"]], \"b\": \"q\"}"},
        {"{\"l\": [], \"b\": \"${l}\"}", "{\"l\": [], \"b\": \"[]\"}"},
        {"{\"l\": \"x\"}", "!a list"},
        {"{\"l\": [\"${l}\"]}", "!'${l}' refers to itself"},
        {"{\"any\": [\"${b}\"], \"b\": 1}", "{\"any\": [\"1\"], \"b\": 1}"},
        {"{\"any\": \"${b}\", \"b\": 1}", "{\"any\": \"1\", \"b\": 1}"},
    };

    (void)state;
    CHECK(rows, "{\"l\": {\"opt\": \"exp.args\"}, "
                "\"any\": {\"opt\": \"exp.model_opts\"}}");
}

static void declared_types_and_domains(void **state)
{
    static const struct row rows[] = {
        {"{\"i\": \"$(1+1)$\", \"b\": \"${i}\"}", "{\"i\": 2, \"b\": \"2\"}"},
        {"{\"i\": \" 7 \"}", "{\"i\": 7}"},
        {"{\"i\": \"2.0\"}", "!wants a whole number"},
        {"{\"i\": \"\"}", "!wants a whole number"},
        {"{\"i\": 2.5}", "{\"i\": 2.5}"}, /* only text is cast */
        {"{\"i\": true}", "{\"i\": true}"},
        {"{\"f\": \"1\", \"b\": \"${f}\"}", "{\"f\": 1.0, \"b\": \"1.0\"}"},
        {"{\"f\": \"x\"}", "!wants a number"},
        {"{\"t\": \"$(1>0)$\"}", "{\"t\": true}"},
        {"{\"t\": \"OFF\"}", "{\"t\": false}"},
        {"{\"t\": \"maybe\"}", "!wants true or false"},
        {"{\"t\": 5}", "{\"t\": 5}"},
        {"{\"s\": 5}", "{\"s\": 5}"},
        {"{\"s\": [\"a\", 5]}", "{\"s\": \"a 5\"}"},
        {"{\"d\": \"a\"}", "{\"d\": \"a\"}"},
        {"{\"d\": \"c\"}", "!must be one of [\"a\", \"b\", 1]"},
        {"{\"d\": 7}", "{\"d\": 7}"},
        {"{\"d\": \"1\"}", "!must be one of"}, /* text is not the number */
        {"{\"id\": \"1\"}", "{\"id\": 1}"},    /* the domain sees 1 */
        {"{\"id\": \"2\"}", "!must be one of [1]"},
        {"{\"r\": \"abcz\"}", "{\"r\": \"abcz\"}"}, /* from the start only */
        {"{\"r\": \"zabc\"}", "!must match [a-c]+"},
        {"{\"r\": 5}", "{\"r\": 5}"},
        /* our own tables look at every value */
        {"{\"n\": 7}", "{\"n\": 7}"},
        {"{\"n\": \"7\"}", "{\"n\": 7}"},
        {"{\"n\": -7}", "!wants a whole number from 0"},
        {"{\"p\": \"training\"}", "{\"p\": \"training\"}"},
        {"{\"p\": \"$('train' + 'ing')$\"}", "{\"p\": \"training\"}"},
        {"{\"p\": \"x\"}", "!wants one of training, inference"},
        {"{\"e\": 5}", "{\"e\": 5}"}, /* runtime.env.X takes anything */
    };

    (void)state;
    CHECK(rows, "{\"i\": {\"type\": \"int\"}, \"f\": {\"type\": \"float\"}, "
                "\"t\": {\"type\": \"bool\"}, \"s\": {\"type\": \"str\"}, "
                "\"d\": {\"domain\": [\"a\", \"b\", 1]}, "
                "\"id\": {\"type\": \"int\", \"domain\": [1]}, "
                "\"r\": {\"re\": \"[a-c]+\"}, \"n\": {\"opt\": \"exp.retry\"}, "
                "\"p\": {\"opt\": \"exp.phase\"}, "
                "\"e\": {\"opt\": \"runtime.env.X\"}}");
}

static void mistakes_are_named_with_their_place(void **state)
{
    static const struct row rows[] = {
        {"{\"a\": \"${b}\", \"b\": \"${a}\"}", "!refers to itself"},
        {"{\"a\": \"${a}\"}", "!file.json:3:7 parameter 'a': '${a}' refers"},
        {"{\"a\": \"${b}\", \"b\": \"${c}\", \"c\": \"$(1)$${a}\"}",
         "!refers to itself"},
        {"{\"k\": \"b\", \"b\": \"${${k}}\"}", "!refers to itself"},
        {"{\"b\": \"${a\"}", "!file.json:3:7 parameter 'b': '${'"},
        {"{\"b\": \"${}\"}", "!without a name"},
        {"{\"b\": \"${a{b}\"}", "!without a name"},
        {"{\"b\": \"${nobody_has_this}\"}",
         "!'${nobody_has_this}' is neither a parameter nor in the environ"},
        /* the parameter that is wrong is named, not the one that asked */
        {"{\"a\": \"${b}\", \"b\": \"$(1/0)$\"}", "!parameter 'b'"},
        {"{\"a\": \"${__condition.m_1}\"}", "!captured"},
    };
    struct bench b;
    struct pr_expander *x;
    struct pr_err err = {0};

    (void)state;
    CHECK(rows, "{}");
    open_bench(&b, "{\"exp.model\": 1, \"b\": \"${exp.modle}\"}", "{}");
    x = expander(&b);
    assert_int_equal(pr_expand_params(x, &b.params, &err), PR_E_CONF);
    assert_string_equal(err.hint, "did you mean '${exp.model}'?");
    assert_int_equal(pr_expand_params(x, &b.params, NULL), PR_E_CONF);
    pr_expander_free(x);
    close_bench(&b);
}

static void the_environment_stands_in(void **state)
{
    static const struct row rows[] = {
        {"{\"b\": \"${PR_TEST_FOO}\"}", "{\"b\": \"envfoo\"}"},
        {"{\"PR_TEST_FOO\": \"p\", \"b\": \"${PR_TEST_FOO}\"}",
         "{\"PR_TEST_FOO\": \"p\", \"b\": \"p\"}"},
        {"{\"x.v\": \"V\", \"b\": \"${${PR_TEST_K}.v}\"}",
         "{\"x.v\": \"V\", \"b\": \"V\"}"},
        {"{\"b\": \"<${PR_TEST_EMPTY}>\"}", "{\"b\": \"<>\"}"},
        /* what it holds is text, but $( )$ in it is evaluated as DLBS does */
        {"{\"a\": 1, \"b\": \"${PR_TEST_REF}\"}",
         "{\"a\": 1, \"b\": \"${a}\"}"},
        {"{\"b\": \"${PR_TEST_EXPR}\"}", "{\"b\": \"2\"}"},
        /* promised by DLBS */
        {"{\"b\": \"[${http_proxy}${https_proxy}${CUDA_CACHE_PATH}]\"}",
         "{\"b\": \"[]\"}"},
    };

    (void)state;
    setenv("PR_TEST_FOO", "envfoo", 1);
    setenv("PR_TEST_K", "x", 1);
    setenv("PR_TEST_EMPTY", "", 1);
    setenv("PR_TEST_REF", "${a}", 1);
    setenv("PR_TEST_EXPR", "$(1+1)$", 1);
    unsetenv("http_proxy");
    unsetenv("https_proxy");
    unsetenv("CUDA_CACHE_PATH");
    CHECK(rows, "{}");
}

/* a0 = 1, a1 = ${a0}, … */
static const char *chain(struct pr_arena *a, int links)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);

    for (int i = links; i > 0; i--)
        pr_buf_printf(&text, "%s\"a%d\": \"${a%d}\"", i == links ? "{" : ", ",
                      i, i - 1);
    pr_buf_str(&text, ", \"a0\": \"end\"}");
    return pr_arena_copy(a, text.data, text.len);
}

static void chains_are_long_but_not_without_end(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);

    (void)state;
    assert_non_null(
        strstr(expand(a, chain(a, 450), "{}"), "{\"a450\": \"end\""));
    assert_int_equal(expand(a, chain(a, 1000), "{}")[0], '!');
    /* Nothing in it names itself, and nobody says so. */
    assert_non_null(strstr(expand_hint(a, chain(a, 1000)), "more names"));
    assert_non_null(strstr(expand_hint(a, "{\"a\": \"${b}\", \"b\": \"${a}\"}"),
                           "names it again"));
}

/* Doubling 40 times must stop at the limit, soon. */
static void growth_is_bounded(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);

    (void)state;
    pr_buf_str(&text, "{\"a0\": \"0123456789\"");
    for (int i = 1; i <= 40; i++)
        pr_buf_printf(&text, ", \"a%d\": \"${a%d}${a%d}\"", i, i - 1, i - 1);
    pr_buf_char(&text, '}');
    assert_non_null(strstr(expand(a, text.data, "{}"), "16 MiB"));
}

static void a_uuid_differs_in_every_experiment(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct bench b;
    struct pr_expander *x;
    const char *before = "";

    (void)state;
    open_bench(&b,
               "{\"u\": \"$(uuid.uuid4())$\", \"d\": \"${u}\", "
               "\"s\": \"$(1+1)$\"}",
               "{}");
    x = expander(&b);
    for (int i = 0; i < 5; i++) {
        const char *now = expand_with(x, &b, a);
        char u[40], d[40];
        assert_int_equal(sscanf(now, "{\"u\": \"%36s\", \"d\": \"%36s\"", u, d),
                         2);
        assert_string_equal(u, d); /* but not within one */
        assert_int_equal(strlen(u), 36);
        assert_string_not_equal(now, before);
        before = now;
    }
    pr_expander_free(x);
    close_bench(&b);
}

/* Whatever came before, the next set is expanded as by a new expander. */
static void a_failed_set_does_not_spoil_the_next(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_value bad = pr_str("${nobody}"), good = pr_str("${a}!");
    struct bench b;
    struct pr_expander *x;

    (void)state;
    open_bench(&b, "{\"a\": \"x\", \"b\": \"${a}\", \"c\": \"${b}\"}", "{}");
    pr_names_add(b.names, "nobody", 6);
    x = expander(&b);
    for (int i = 0; i < 3; i++) {
        assert_true(set_value(&b, b.arena, "b", &bad));
        assert_int_equal(expand_with(x, &b, a)[0], '!');
        assert_true(set_value(&b, b.arena, "b", &good));
        assert_string_equal(expand_with(x, &b, a),
                            "{\"a\": \"x\", \"b\": \"x!\", \"c\": \"x!\"}");
    }
    assert_null(pr_expanded_value(x, 9999));
    pr_expander_free(x);
    close_bench(&b);
}

/* Equal for Python, yet other text: both must be seen. */
static void values_that_are_equal_are_still_told_apart(void **state)
{
    static const char *const values[] = {"1",
                                         "true",
                                         "1.0",
                                         "\"1\"",
                                         "[1]",
                                         "[true]",
                                         "[1.0]",
                                         "[[1]]",
                                         "{\"x\": 1}",
                                         "{\"x\": true}",
                                         "0.0",
                                         "-0.0",
                                         "{\"a\": 1, \"b\": 2}",
                                         "{\"b\": 2, \"a\": 1}",
                                         "null",
                                         "\"None\"",
                                         "\"null\"",
                                         "\"\""};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    size_t n = sizeof values / sizeof *values;
    struct bench b;
    struct pr_expander *x;

    (void)state;
    open_bench(&b, "{\"l\": [], \"t\": \"<${l}>\"}",
               "{\"l\": {\"opt\": \"exp.model_opts\"}}");
    x = expander(&b);
    for (size_t i = 0; i < n * n; i++) {
        const char *text = values[i % n == 0 ? i / n : i % n];
        struct pr_value v = json(a, text);
        const char *want = pr_arena_printf(a, "{\"l\": %s, ", text);

        assert_true(set_value(&b, b.arena, "l", &v));
        const char *got = expand_with(x, &b, a);
        assert_int_equal(strncmp(got, want, strlen(want)), 0);
        struct pr_expander *fresh = expander(&b);
        assert_string_equal(expand_with(fresh, &b, a), got);
        pr_expander_free(fresh);
    }
    pr_expander_free(x);
    close_bench(&b);
}

static uint64_t seed = 20240817;

static unsigned dice(unsigned sides)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % sides;
}

static const char *random_text(struct pr_arena *a)
{
    static const char *const parts[] = {"x",
                                        "y",
                                        "",
                                        "7",
                                        " ",
                                        "${a}",
                                        "${b}",
                                        "${c}",
                                        "${d}",
                                        "${x.v}",
                                        "${y.v}",
                                        "${${k}.v}",
                                        "${l}",
                                        "${i}",
                                        "$(1+1)$",
                                        "$(len('${a}'))$",
                                        "$('${b}'.upper())$",
                                        "$('${${k}.v}'.strip('x'))$",
                                        "$(${i}+1)$",
                                        "${PR_TEST_FOO}",
                                        "${gone}"};
    const char *text = "";

    for (unsigned n = dice(4); n > 0; n--)
        text = pr_arena_printf(a, "%s%s", text,
                               parts[dice(sizeof parts / sizeof *parts)]);
    return text;
}

static struct pr_value random_value(struct pr_arena *a, const char *name)
{
    struct pr_value *items;

    if (strcmp(name, "k") == 0)
        return pr_str(dice(2) ? "x" : "y");
    switch (dice(8)) {
    case 0:
        return pr_int(dice(3));
    case 1:
        return pr_bool(dice(2));
    case 2:
        return pr_float(dice(3));
    case 3:
        items = PR_ARENA_ARRAY(a, struct pr_value, 2);
        items[0] = pr_str(random_text(a));
        items[1] = dice(2) ? pr_int(1) : pr_bool(true);
        return (struct pr_value){
            .kind = PR_LIST, .len = dice(3), .items = items};
    default:
        return pr_str(random_text(a));
    }
}

/* Random changes from one set to the next, as variables and extensions make
 * them. The settings of a set are gone when the next is expanded. */
static void a_sweep_gives_what_fresh_expanders_give(void **state)
{
    /* The last is in the environment, too. */
    static const char *const names[] = {
        "a", "b", "c", "d", "x.v", "y.v", "k", "l", "i", "gone", "PR_TEST_FOO"};
    enum { COUNT = sizeof names / sizeof *names };
    struct pr_value values[COUNT];
    bool there[COUNT] = {false};
    struct bench b;
    struct pr_expander *x;
    PR_AUTO_ARENA struct pr_arena *keep = pr_arena_new(1 << 16);
    int expanded = 0, refused = 0;

    (void)state;
    setenv("PR_TEST_FOO", "envfoo", 1);
    open_bench(&b, "{}",
               "{\"l\": {\"opt\": \"exp.command\"}, "
               "\"i\": {\"type\": \"int\"}}");
    for (size_t i = 0; i < COUNT; i++)
        pr_names_add(b.names, names[i], strlen(names[i]));
    assert_true(pr_params_reserve(&b.params, b.arena, MAX_NAMES));
    x = expander(&b);
    for (int round = 0; round < 6000; round++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        for (unsigned n = round ? 1 + dice(3) : COUNT; n > 0; n--) {
            unsigned i = round ? dice(COUNT) : n - 1;
            there[i] = dice(8) != 0;
            values[i] = random_value(keep, names[i]);
        }
        for (size_t i = 0; i < COUNT; i++) {
            struct pr_value copy;
            pr_params_unset(&b.params,
                            pr_names_find(b.names, names[i], strlen(names[i])));
            if (!there[i])
                continue;
            assert_true(pr_value_copy(a, &values[i], &copy));
            assert_true(set_value(&b, a, names[i], &copy));
        }
        const char *got = expand_with(x, &b, a);
        struct pr_expander *fresh = expander(&b);
        const char *want = expand_with(fresh, &b, a);
        pr_expander_free(fresh);
        if (strcmp(got, want) != 0)
            fail_msg("round %d:\n got  %s\n want %s", round, got, want);
        *(got[0] == '!' ? &refused : &expanded) += 1;
    }
    assert_true(expanded > 500 && refused > 500);
    pr_expander_free(x);
    close_bench(&b);
}

/* All of it, from names to text, with one allocation failing. */
static int expand_once(void)
{
    struct bench b = {0};
    struct pr_decl decl = {.type = PR_DECL_INT};
    struct pr_value item = pr_str("${a}");
    struct pr_value list = {.kind = PR_LIST, .len = 1, .items = &item};
    struct pr_value values[] = {
        pr_str("1"), pr_str("$(${a} + ${${k}.v})$ ${HOME}"),
        list,        pr_str("x"),
        pr_str("2"), list};
    static const char *const names[] = {"a", "b", "l", "k", "x.v", "j"};
    struct pr_decl keeps = {.opt = pr_opt_find("exp.args", NULL)};
    struct pr_expander *x = NULL;
    int rc = PR_E_NOMEM;
    size_t len;

    setenv("HOME", "/home", 1);
    b.arena = pr_arena_new(256);
    b.names = pr_names_new();
    for (size_t i = 0; b.arena && b.names && i < 6; i++)
        if (!set_value(&b, b.arena, names[i], &values[i]))
            goto out;
    if (!b.arena || !b.names)
        goto out;
    b.decls[0] = &decl;
    b.decls[2] = &keeps;
    x = pr_expander_new(b.names, (const struct pr_decl *const *)b.decls);
    if (!x)
        goto out;
    for (int i = 0; i < 2; i++) {
        rc = pr_expand_params(x, &b.params, NULL);
        if (rc)
            goto out;
    }
    assert_string_equal(pr_expanded_value(x, 1)->s, "3 /home");
    for (uint32_t i = 0; i < 6; i++)
        if (!pr_expanded_json(x, i, &len))
            rc = PR_E_NOMEM;
out:
    pr_expander_free(x);
    pr_names_free(b.names);
    pr_arena_free(b.arena);
    return rc;
}

static void out_of_memory(void **state)
{
    (void)state;
    torture(expand_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stand_for_values),
        cmocka_unit_test(names_nest),
        cmocka_unit_test(expressions_are_evaluated),
        cmocka_unit_test(lists_are_joined_unless_declared),
        cmocka_unit_test(declared_types_and_domains),
        cmocka_unit_test(mistakes_are_named_with_their_place),
        cmocka_unit_test(the_environment_stands_in),
        cmocka_unit_test(chains_are_long_but_not_without_end),
        cmocka_unit_test(growth_is_bounded),
        cmocka_unit_test(a_uuid_differs_in_every_experiment),
        cmocka_unit_test(a_failed_set_does_not_spoil_the_next),
        cmocka_unit_test(values_that_are_equal_are_still_told_apart),
        cmocka_unit_test(a_sweep_gives_what_fresh_expanders_give),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
