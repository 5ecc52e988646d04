/* TOML: values, tables, and what is refused, by line and column. */
#include "base/json/json.h"
#include "conf/read/toml.h"

#include "torture.h"

#include <string.h>

/* As JSON on one line; "!LINE:COL message" when refused. */
static const char *read(struct pr_arena *a, const char *text)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_err err = {0};
    struct pr_value v;
    int rc = pr_toml_read(text, strlen(text), "f", a, &v, &err);

    if (rc) {
        assert_int_equal(rc, PR_E_FORMAT);
        assert_int_equal(err.code, rc);
        return pr_arena_printf(a, "!%s %s", err.where + 2, err.msg);
    }
    pr_json_write(&out, &v);
    assert_true(pr_buf_ok(&out));
    return pr_arena_str(a, out.data);
}

static void values_and_tables(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", "{}"},
        {"# nothing\n\n", "{}"},
        {"a = 1", "{\"a\": 1}"},
        {"a=-1_000 # one\n", "{\"a\": -1000}"},
        {"a = 0xff\nb = 0o17\nc = 0b101", "{\"a\": 255, \"b\": 15, \"c\": 5}"},
        {"a = +3\nb = 0", "{\"a\": 3, \"b\": 0}"},
        {"a = 1.5\nb = 1e3\nc = -2.5E-1\nd = 1_0.5",
         "{\"a\": 1.5, \"b\": 1000.0, \"c\": -0.25, \"d\": 10.5}"},
        {"a = inf\nb = -inf\nc = nan",
         "{\"a\": Infinity, \"b\": -Infinity, \"c\": NaN}"},
        {"a = true\nb = false", "{\"a\": true, \"b\": false}"},
        {"a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00\nc = 07:32:00",
         "{\"a\": \"1979-05-27T07:32:00Z\", \"b\": \"1979-05-27 07:32:00\", "
         "\"c\": \"07:32:00\"}"},
        {"a = \"x\\ty\\u00e9\\\"\\\\\"", "{\"a\": \"x\\tyé\\\"\\\\\"}"},
        {"a = 'x\\t'", "{\"a\": \"x\\\\t\"}"},
        {"a = ''\nb = \"\"", "{\"a\": \"\", \"b\": \"\"}"},
        {"a = \"\"\"\nx\n \"y\" \\\n   z\"\"\"",
         "{\"a\": \"x\\n \\\"y\\\" z\"}"},
        {"a = '''x\n'y''''", "{\"a\": \"x\\n'y'\"}"},
        {"a = [1, 'x', [true], ]", "{\"a\": [1, \"x\", [true]]}"},
        {"a = [ # first\n 1,\n\n 2 # last\n]", "{\"a\": [1, 2]}"},
        {"a = {b = 1, c.d = 2}", "{\"a\": {\"b\": 1, \"c\": {\"d\": 2}}}"},
        {"a = {}", "{\"a\": {}}"},
        {"a.b = 1\na.c = 2", "{\"a\": {\"b\": 1, \"c\": 2}}"},
        {"[a]\nb = 1\n[a.c]\nd = 2\n[e]\n",
         "{\"a\": {\"b\": 1, \"c\": {\"d\": 2}}, \"e\": {}}"},
        {"[a.b]\nx = 1\n[a]\ny = 2", "{\"a\": {\"b\": {\"x\": 1}, \"y\": 2}}"},
        {"[ \"*\" ]\n\"--batch-size\" = 8\n'x.y' = 1",
         "{\"*\": {\"--batch-size\": 8, \"x.y\": 1}}"},
        {"1234 = 1\n--x = 2", "{\"1234\": 1, \"--x\": 2}"},
        {"a = 1\r\n[b]\r\nc = 2\r\n", "{\"a\": 1, \"b\": {\"c\": 2}}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        const char *got = read(a, rows[i].text);

        if (strcmp(got, rows[i].want) != 0)
            fail_msg("<%s> gives %s", rows[i].text, got);
    }
}

static void mistakes(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"a", "!1:2 expected '=' after key 'a'"},
        {"= 1", "!1:1 expected a key"},
        {"a = ", "!1:5 expected a value"},
        {"a = x", "!1:5 expected a value"},
        {"a = 007", "!1:5 expected a value"},
        {"a = 1__0", "!1:5 expected a value"},
        {"a = 1.", "!1:5 expected a value"},
        {"a = .5", "!1:5 expected a value"},
        {"a = 99999999999999999999", "!1:5 expected a value"},
        {"a = 1 2", "!1:7 expected the end of the line"},
        {"a = 1\na = 2", "!2:3 key 'a' is set twice"},
        {"a = 1\na.b = 2", "!2:3 'a' is a value already, not a table"},
        {"[a]\n[a]", "!2:3 table 'a' is given twice"},
        {"a.b = 1\n[a]", "!2:3 table 'a' is given twice"},
        {"[a]\nx = 1\n[b]\n[a.x]", "!4:5 'x' is a value already, not a table"},
        {"[a", "!1:3 expected ']' after the name of a table"},
        {"[[a]]", "!1:2 arrays of tables ([[…]]) are not read"},
        {"a = \"x", "!1:7 the text does not end"},
        {"a = \"x\ny\"", "!1:7 the text does not end on this line"},
        {"a = \"\\q\"", "!1:7 unknown escape '\\q'"},
        {"a = \"\\ud800\"", "!1:12 no such character"},
        {"a = \"\\u12\"", "!1:10 expected 4 hexadecimal digits"},
        {"a = \"\xff\"", "!1:6 text that is not UTF-8"},
        {"a = \"\x01\"", "!1:6 a control character in text"},
        {"a = [1 2]", "!1:8 expected ',' or ']'"},
        {"a = [1", "!1:7 expected ',' or ']'"},
        {"a = {b = 1", "!1:11 expected ',' or '}'"},
        {"\"\"\"a\"\"\" = 1", "!1:1 a key must be on one line"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        const char *got = read(a, rows[i].text);

        if (strcmp(got, rows[i].want) != 0)
            fail_msg("<%s> gives %s", rows[i].text, got);
    }
}

static void deep_and_wide(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);

    (void)state;
    pr_buf_str(&text, "a = ");
    for (int i = 0; i < 100; i++)
        pr_buf_char(&text, '[');
    assert_non_null(strstr(read(a, text.data), "nested too deeply"));
    pr_buf_clear(&text);
    for (int i = 0; i < 100; i++)
        pr_buf_str(&text, "a.");
    pr_buf_str(&text, "b = 1");
    assert_non_null(strstr(read(a, text.data), "nested too deeply"));
    pr_buf_clear(&text);
    for (int i = 0; i < 10001; i++)
        pr_buf_printf(&text, "k%d = 1\n", i);
    assert_non_null(strstr(read(a, text.data), "more than 10000 keys"));
}

static void told_from_yaml_and_json(void **state)
{
    static const struct {
        const char *text;
        bool want;
    } rows[] = {
        {"[vae]\nexperiment = \"x\"\n", true},
        {"# c\n\n[\"*\"]\n[a]\nb = 1", true},
        {"a = 1\n", true},
        {"a.b = 1", true},
        {"\"a b\" = 1", true},
        {"", false},
        {"[1, 2]", false},
        {"[a]\n", false}, /* a list of one in YAML */
        {"[\n  1\n]", false},
        {"a: 1\n", false},
        {"a: x = 1\n", false},
        {"- a = 1\n", false},
        {"{\"a\": 1}", false},
        {"a == 1", false},
        {"just text = 1", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (pr_toml_is_likely(rows[i].text) != rows[i].want)
            fail_msg("<%s>", rows[i].text);
}

static int attempt(void)
{
    static const char text[] = "[a]\nb = [1, {c = \"x\"}, '''y''']\nd.e = 2\n";
    struct pr_arena *a = pr_arena_new(64);
    struct pr_value v;
    int rc =
        a ? pr_toml_read(text, strlen(text), "f", a, &v, NULL) : PR_E_NOMEM;

    pr_arena_free(a);
    return rc;
}

static void out_of_memory(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_tables),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(deep_and_wide),
        cmocka_unit_test(told_from_yaml_and_json),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
