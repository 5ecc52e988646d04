/* Shell configs, read without a shell. */
#include "conf/read/shell_config.h"

#include "torture.h"

#include "scratch.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Everything that was assigned, on one line; "!LINE" when it is refused. */
static const char *show(struct pr_arena *a, const char *text)
{
    struct pr_shell_config c;
    struct pr_err err = {0};
    const char *all = "";
    int rc = pr_shell_config_parse(text, strlen(text), "f", NULL, a, &c, &err);

    if (rc) {
        assert_int_equal(rc, PR_E_CONF);
        assert_true(*err.msg);
        assert_int_equal(strncmp(err.where, "f:", 2), 0);
        return pr_arena_printf(a, "!%s", err.where + 2);
    }
    for (size_t i = 0; i < c.count; i++) {
        all = pr_arena_printf(a, "%s%s%s", all, i ? " " : "", c.vars[i].name);
        for (size_t k = 0; k < c.vars[i].count; k++) {
            const struct pr_shell_word *w = &c.vars[i].words[k];
            all = pr_arena_printf(a, "%s|%s%s%s", all, w->key ? w->key : "",
                                  w->key ? ":" : "", w->text);
        }
    }
    return all;
}

static void statements(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", ""},
        {"#!/bin/bash\n# x\n\n \t\n", ""},
        {"A=1", "A|1"},
        {"A=1\r\nB=\"2\"\r\n", "A|1 B|2"},
        {"A=\nB=''", "A| B|"},
        {"A=1 # x\nA=2", "A|2"},
        {"A=( )", "A"},
        {"A=(x)", "A|x"},
        {"A=( x \"y z\" 'a b' )", "A|x|y z|a b"},
        {"A=(\n\tx # one\n\n  # two\n y)\nB=3", "A|x|y B|3"},
        {"A=( a#b c'd'\"e\" \\* )", "A|a#b|cde|*"},
        {"N=8\nA=( ${N} \"x${N}y\" '${N}' $N )", "N|8 A|8|x8y|${N}|8"},
        {"N=1\nA=( ${N} )\nN=2", "N|2 A|1"},
        {"declare -A M=( [a]=1 [b]=\"2 3\" [a]=4 )", "M|a:4|b:2 3"},
        {"declare -A M=(\n# [a]=1\n)", "M"},
        {"declare -A M=( [a]= [b]=1 )", "M|a:|b:1"},
        {"declare -A M=( [a]=1 )\ndeclare -A M=()", "M"},
        {"declare -A M=( [a]=1 )\ndeclare -A M", "M|a:1"},
        {"M=( a b )\ndeclare -A M", "M"},
        {"M=a\ndeclare -A M\ndeclare -A M=( [a]=1 )", "M|a:1"},
        {"A=\"a\\\"b\\\\c\\$d\\`\\n\"", "A|a\"b\\c$d`\\n"},
        {"A=\"x\ny\"\nB=1", "A|x\ny B|1"},
        /* Refused, with the line. */
        {"\nif true; then\n", "!2"},
        {"A", "!1"},
        {"1A=2", "!1"},
        {"A=1 B=2", "!1"},
        {"A =1", "!1"},
        {"A=(x) y", "!1"},
        {"A=(x\n\n", "!1"},
        {"\nA=\"x\n", "!2"},
        {"\nA='x\n", "!2"},
        {"A=$(x)", "!1"},
        {"A=${x}", "!1"},
        {"A=$", "!1"},
        {"A=1\nB=${A", "!2"},
        {"A=(1 2)\nB=${A}", "!2"},
        {"A=`x`", "!1"},
        {"A=\"`x`\"", "!1"},
        {"A=~", "!1"},
        {"A=(*)", "!1"},
        {"A=a;b", "!1"},
        {"A=a&", "!1"},
        {"A=<x", "!1"},
        {"A=a\\", "!1"},
        {"export A=1", "!1"},
        {"declare -a A=(1)", "!1"},
        {"declare -A A=1", "!1"},
        {"declare -A A=(x)", "!1"},
        {"declare -A A=([x y]=1)", "!1"},
        {"A+=(1)", "!1"},
        {"A[0]=1", "!1"},
        {"f() { x; }", "!1"},
        {"source", "!1"},
        {"source x.sh y", "!1"},
        {"source /x.sh", "!1"},
        {"\nsource not-there.sh", "!2"},
        {". x.sh", "!1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_arena *a = pr_arena_new(4096);
        const char *got = show(a, rows[i].text);

        if (strcmp(got, rows[i].want) != 0)
            fail_msg("%zu: '%s' gives '%s'", i, rows[i].text, got);
        pr_arena_free(a);
    }
}

static int called;

static int call(void *ctx, struct pr_shell_config *c, const char *file,
                unsigned line, struct pr_err *err)
{
    struct pr_shell_word w = {.text = "new", .file = file, .line = line};

    (void)ctx;
    called++;
    return pr_shell_set_word(c, pr_shell_find_var(c, "A"), 1, &w, err);
}

static void sources(void **state)
{
    static const struct pr_shell_opts opts = {"fix.sh", call, NULL};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_shell_config c;
    struct pr_err err = {0};
    const struct pr_shell_var *v;

    (void)state;
    called = 0;
    assert_int_equal(mkdir("d", 0755), 0);
    spit("top.sh", "N=2\n");
    spit("d/one.sh", "source top.sh\nsource d/two.sh\nsource d/fix.sh\nB=3");
    spit("d/two.sh", "A=( ${N} old )");
    assert_int_equal(pr_shell_config_read("d/one.sh", &opts, a, &c, &err),
                     PR_OK);
    assert_int_equal(called, 1);
    v = pr_shell_find_var(&c, "A");
    assert_string_equal(v->words[0].text, "2");
    assert_string_equal(v->words[1].text, "new");
    assert_string_equal(v->words[1].first, "old");
    assert_int_equal(v->words[1].line, 3);
    assert_string_equal(pr_shell_find_var(&c, "B")->words[0].text, "3");
    assert_null(pr_shell_find_var(&c, "C"));
    /* Without a name for it, fix.sh is a file like any other. */
    assert_int_equal(pr_shell_config_read("d/one.sh", NULL, a, &c, &err),
                     PR_E_CONF);
}

static void circles(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_shell_config c;
    struct pr_err err = {0};
    char name[32], text[64];

    (void)state;
    spit("a.sh", "source b.sh\n");
    spit("b.sh", "source ../x/./c.sh\nsource c.sh");
    assert_int_equal(pr_shell_config_read("a.sh", NULL, a, &c, &err),
                     PR_E_CONF);
    spit("b.sh", "source ./a.sh\n");
    assert_int_equal(pr_shell_config_read("a.sh", NULL, a, &c, &err),
                     PR_E_CONF);
    assert_non_null(strstr(err.msg, "inside itself"));
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "%d.sh", i);
        snprintf(text, sizeof text, "source %d.sh\n", i + 1);
        spit(name, text);
    }
    assert_int_equal(pr_shell_config_read("0.sh", NULL, a, &c, &err),
                     PR_E_CONF);
    assert_non_null(strstr(err.msg, "deep"));
    /* Twice the same is no circle, but there is an end to it. */
    spit("one.sh", "A=1\n");
    spit("two.sh", "source one.sh\nsource one.sh\n");
    assert_int_equal(pr_shell_config_read("two.sh", NULL, a, &c, &err), PR_OK);
}

static void assert_too_much(const struct pr_buf *text, const char *words)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_shell_config c;
    struct pr_err err = {0};

    assert_true(pr_buf_ok(text));
    assert_int_equal(
        pr_shell_config_parse(text->data, text->len, "f", NULL, a, &c, &err),
        PR_E_CONF);
    assert_non_null(strstr(err.msg, words));
}

/* A small file must not take minutes, or all memory. */
static void much_of_little(void **state)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4 << 20);

    (void)state;
    for (int i = 0; i < 400000; i++)
        pr_buf_printf(&text, "a%d=\n", i);
    assert_too_much(&text, "more than 4096 variables");
    pr_buf_clear(&text);
    pr_buf_str(&text, "declare -A m=(");
    for (int i = 0; i < 200000; i++)
        pr_buf_printf(&text, " [a%d]=", i);
    pr_buf_char(&text, ')');
    assert_too_much(&text, "more than 8192 words");
    pr_buf_clear(&text);
    pr_buf_str(&text, "a=");
    for (int i = 0; i < 1000000; i++)
        pr_buf_char(&text, 'x');
    for (int i = 0; i < 300000; i++)
        pr_buf_str(&text, "\nb=$a");
    assert_too_much(&text, "too long");
}

static int read_once(void)
{
    static const char text[] =
        "N=2\nA=( x \"${N}\" )\ndeclare -A M=( [a]=1 )\n";
    struct pr_arena *a = pr_arena_new(256);
    struct pr_shell_config c;
    int rc =
        a ? pr_shell_config_parse(text, strlen(text), "f", NULL, a, &c, NULL)
          : PR_E_NOMEM;

    pr_arena_free(a);
    return rc;
}

static void out_of_memory(void **state)
{
    (void)state;
    torture(read_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements),
        cmocka_unit_test_setup_teardown(sources, enter, leave),
        cmocka_unit_test_setup_teardown(circles, enter, leave),
        cmocka_unit_test(much_of_little),
        cmocka_unit_test(out_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
