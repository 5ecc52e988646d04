/* Text to arguments, by our own quoting rules. */
#include "conf/read/literal.h"

#include "torture.h"

#include <string.h>

/* The words joined by '|'; "!" when refused. */
static const char *split(struct pr_arena *a, const char *text)
{
    const char **words = NULL;
    struct pr_err err = {0};
    size_t n = 99;
    const char *all = "";
    int rc = pr_words_split(text, a, &words, &n, &err);

    if (rc) {
        assert_int_equal(rc, PR_E_CONF);
        assert_int_equal(err.code, PR_E_CONF);
        assert_true(err.msg[0] && err.hint[0]);
        assert_null(words);
        assert_int_equal(n, 99);
        return "!";
    }
    assert_null(words[n]);
    for (size_t i = 0; i < n; i++)
        all = pr_arena_printf(a, "%s%s%s", all, i ? "|" : "", words[i]);
    return pr_arena_printf(a, "%zu:%s", n, all);
}

static void words_and_quotes(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", "0:"},
        {"   \t\n\r ", "0:"},
        {"a", "1:a"},
        {"  a  b\tc\nd\r\n", "4:a|b|c|d"},
        {"'a b' c", "2:a b|c"},
        {"\"a b\" c", "2:a b|c"},
        {"a'b c'd", "1:ab cd"},
        {"''", "1:"},
        {"a '' \"\" b", "4:a|||b"},
        {"'it''s'", "1:its"},
        {"\"it's\"", "1:it's"},
        {"'say \"hi\"'", "1:say \"hi\""},
        {"\"say \\\"hi\\\"\"", "1:say \"hi\""},
        {"\"a\\\\b\"", "1:a\\b"},
        {"\"a\\nb\"", "1:a\\nb"}, /* only \" and \\ mean something */
        {"\"$HOME `x` $(y)\"", "1:$HOME `x` $(y)"},
        {"'a\\b'", "1:a\\b"},
        {"'a\\'", "1:a\\"},
        {"a\\ b c", "2:a b|c"},
        {"\\'a\\'", "1:'a'"},
        {"\\\\", "1:\\"},
        {"a\\", "1:a\\"},
        {"a#b # c", "3:a#b|#|c"},
        {"*.c ~ $x ; | > &", "7:*.c|~|$x|;|||>|&"},
        {"sh -c 'echo \"$1\"; exit 3'", "3:sh|-c|echo \"$1\"; exit 3"},
        {"é 'ü ö'", "2:é|ü ö"},
        {"a=b --c='d e'", "2:a=b|--c=d e"},
        {"'", "!"},
        {"\"", "!"},
        {"a 'b", "!"},
        {"a \"b\\\"", "!"},
        {"'a\" b", "!"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
        const char *got = split(a, rows[i].text);
        if (strcmp(got, rows[i].want) != 0)
            fail_msg("<%s> gives <%s>, want <%s>", rows[i].text, got,
                     rows[i].want);
    }
}

/* As many words as can be: the array must hold them. */
static void every_second_character_a_word(void **state)
{
    for (size_t n = 1; n < 300; n++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(64);
        const char **words;
        char text[600];
        size_t count;

        for (size_t i = 0; i < n; i++)
            memcpy(text + 2 * i, "a ", 3);
        text[2 * n - 1] = '\0';
        assert_int_equal(pr_words_split(text, a, &words, &count, NULL), 0);
        assert_int_equal(count, n);
        assert_null(words[n]);
        for (size_t i = 0; i < n; i++)
            assert_string_equal(words[i], "a");
    }
    (void)state;
}

static void options_and_values(void **state)
{
    static const char *const options[] = {"-a",      "-ab", "--a",
                                          "--a=1 2", "---", "-_"};
    static const char *const values[] = {"",     "-",   "--",   "a",      "-1",
                                         "-0.5", "-.5", "-a b", "--a b=c"};

    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (!pr_word_is_option(options[i]))
            fail_msg("'%s' is an option", options[i]);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (pr_word_is_option(values[i]))
            fail_msg("'%s' is a value", values[i]);
}

static int split_once(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(16);
    const char **words;
    size_t n;

    return a ? pr_words_split("one 'two three' four", a, &words, &n, NULL)
             : PR_E_NOMEM;
}

static void out_of_memory(void **state)
{
    (void)state;
    torture(split_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_quotes),
        cmocka_unit_test(every_second_character_a_word),
        cmocka_unit_test(options_and_values),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
