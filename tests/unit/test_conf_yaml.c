/* YAML: what PyYAML reads, where it stood, and what is refused. */
#include "conf/read/yaml.h"

#include "base/json/json.h"

#include "torture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct pr_arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = pr_arena_new(4096);
    return arena ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    pr_arena_free(arena);
    return 0;
}

static struct pr_value read_ok(const char *text)
{
    struct pr_value v = {0};
    struct pr_err err;

    if (pr_yaml_read(text, strlen(text), "t.yaml", arena, &v, &err) != PR_OK)
        fail_msg("%s: %s: %s", text, err.where, err.msg);
    return v;
}

static void check_json(const char *yaml, const char *want)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_value v = read_ok(yaml);

    pr_json_write(&out, &v);
    if (strcmp(out.data, want) != 0)
        fail_msg("%s\n gave %s\n not  %s", yaml, out.data, want);
}

/* Written by PyYAML 6.0 with OmegaConf's floats, dates as text. */
static void plain_scalars_mean_what_pyyaml_says(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", "null"},
        {"~", "null"},
        {"null", "null"},
        {"Null", "null"},
        {"NULL", "null"},
        {"nULL", "\"nULL\""},
        {"None", "\"None\""},
        {"yes", "true"},
        {"Yes", "true"},
        {"YES", "true"},
        {"yEs", "\"yEs\""},
        {"on", "true"},
        {"On", "true"},
        {"ON", "true"},
        {"true", "true"},
        {"True", "true"},
        {"TRUE", "true"},
        {"tRue", "\"tRue\""},
        {"no", "false"},
        {"No", "false"},
        {"NO", "false"},
        {"off", "false"},
        {"Off", "false"},
        {"OFF", "false"},
        {"false", "false"},
        {"False", "false"},
        {"FALSE", "false"},
        {"y", "\"y\""},
        {"N", "\"N\""},
        {"0", "0"},
        {"-0", "0"},
        {"+12", "12"},
        {"-12", "-12"},
        {"1_000_000", "1000000"},
        {"1_", "1"},
        {"_1", "\"_1\""},
        {"010", "8"},
        {"-010", "-8"},
        {"0_7", "7"},
        {"0_", "0"},
        {"00", "0"},
        {"08", "\"08\""},
        {"0o10", "\"0o10\""},
        {"0b101", "5"},
        {"-0b1_1", "-3"},
        {"0b", "\"0b\""},
        {"0b2", "\"0b2\""},
        {"0x1F", "31"},
        {"0xfg", "\"0xfg\""},
        {"0X1F", "\"0X1F\""},
        {"0x_", "\"0x_\""},
        {"1:30", "90"},
        {"-1:30", "-90"},
        {"1:5", "65"},
        {"190:20:30", "685230"},
        {"1:60", "\"1:60\""},
        {"1:300", "\"1:300\""},
        {"0:30", "\"0:30\""},
        {"1:", "\"1:\""},
        {"1:2:", "\"1:2:\""},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"9223372036854775808", "9.223372036854776e+18"},
        {"-9223372036854775809", "-9.223372036854776e+18"},
        {"0x7fffffffffffffff", "9223372036854775807"},
        {"-0x8000000000000000", "-9223372036854775808"},
        {"0x8000000000000000", "9.223372036854776e+18"},
        {"0x20000000000000000001", "1.5111572745182865e+23"},
        {"0x100000000000008000000001", "4.951760157141522e+27"},
        {"153722867280912930:7", "9223372036854775807"},
        {"153722867280912930:8", "9.223372036854776e+18"},
        {"1.0", "1.0"},
        {"1.", "1.0"},
        {".5", "0.5"},
        {"-.5", "\"-.5\""},
        {"-1.5", "-1.5"},
        {"-0.0", "-0.0"},
        {"1_0.5_0", "10.5"},
        {"1e3", "1000.0"},
        {"1E3", "1000.0"},
        {"1e-5", "1e-05"},
        {"1.e3", "1000.0"},
        {"1.5e+3", "1500.0"},
        {".5e3", "500.0"},
        {"1e", "\"1e\""},
        {"1e+", "\"1e+\""},
        {"1e3.5", "\"1e3.5\""},
        {"e3", "\"e3\""},
        {"1.2.3", "\"1.2.3\""},
        {"1e999", "Infinity"},
        {".inf", "Infinity"},
        {"+.Inf", "Infinity"},
        {"-.INF", "-Infinity"},
        {"inf", "\"inf\""},
        {".iNf", "\".iNf\""},
        {".nan", "NaN"},
        {".NaN", "NaN"},
        {".NAN", "NaN"},
        {"-.nan", "\"-.nan\""},
        {"nan", "\"nan\""},
        {"1:30.5", "90.5"},
        {"-1:30.5", "-90.5"},
        {"0:30.", "30.0"},
        {"1:60.5", "\"1:60.5\""},
        {".", "\".\""},
        {"-", "\"-\""},
        {"+", "\"+\""},
        {"=", "\"=\""},
        {"<<", "\"<<\""},
        {"2001-12-14", "\"2001-12-14\""},
        {"2001-12-14t21:59:43Z", "\"2001-12-14t21:59:43Z\""},
        {"text", "\"text\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1000);
        struct pr_value v =
            pr_yaml_read_scalar(rows[i].text, strlen(rows[i].text));
        pr_json_write(&out, &v);
        if (strcmp(out.data, rows[i].want) != 0)
            fail_msg("%s gave %s not %s", rows[i].text, out.data, rows[i].want);
    }
}

static void documents_become_values(void **state)
{
    static const struct {
        const char *yaml, *json;
    } rows[] = {
        {"", "null"},
        {"# nothing\n\n", "null"},
        {"---\n", "null"},
        {"--- a\n...\n", "\"a\""},
        {"\xef\xbb\xbf"
         "a: 1",
         "{\"a\": 1}"},
        {"a: 1\nb:\n - x\n - y: 2\n   z: ~\nc: {}\nd: []",
         "{\"a\": 1, \"b\": [\"x\", {\"y\": 2, \"z\": null}], \"c\": {}, "
         "\"d\": []}"},
        {"a: 1\r\nb:\r\n  c: 2\r\n", "{\"a\": 1, \"b\": {\"c\": 2}}"},
        {"a: 'yes'\nb: \"1\"\nc: '~'\nd: \"\"",
         "{\"a\": \"yes\", \"b\": \"1\", \"c\": \"~\", \"d\": \"\"}"},
        {"a: 'it''s'\nb: \"\\x41\\u00e9\\n\\0\"",
         "{\"a\": \"it's\", \"b\": \"A\xc3\xa9\\n\\u0000\"}"},
        {"a: |\n  1\n  2\nb: >-\n  3\n  4\n",
         "{\"a\": \"1\\n2\\n\", \"b\": \"3 4\"}"},
        {"a: b\n  c # d\n", "{\"a\": \"b c\"}"},
        {"a: b#c", "{\"a\": \"b#c\"}"},
        {"{a: [1, {b: c}], d, \"e\": f}",
         "{\"a\": [1, {\"b\": \"c\"}], \"d\": null, \"e\": \"f\"}"},
        {"? a\n: b\n", "{\"a\": \"b\"}"},
        {"[a: 1, b]", "[{\"a\": 1}, \"b\"]"},
        {"a: ${x.y}/${now:%H-%M}\nb: $(1 + 2)$",
         "{\"a\": \"${x.y}/${now:%H-%M}\", \"b\": \"$(1 + 2)$\"}"},
        /* keys are the text as written */
        {"1: a\n1.0: b\ntrue: c\n~: d\n0x10: e\n'': f",
         "{\"1\": \"a\", \"1.0\": \"b\", \"true\": \"c\", \"~\": \"d\", "
         "\"0x10\": \"e\", \"\": \"f\"}"},
        {"- &k a\n- {*k : 2}\n", "[\"a\", {\"a\": 2}]"},
        {"- &k 0x10\n- {*k : *k }\n", "[16, {\"0x10\": 16}]"},
        /* tags */
        {"[!!str 1, !!str ~, !!str yes, !!str ]",
         "[\"1\", \"~\", \"yes\", \"\"]"},
        {"[!!int 12, !!int '12', !!int \"0x1f\", !!int 1:30]",
         "[12, 12, 31, 90]"},
        {"[!!float 1, !!float '2.5', !!float -.5, !!float 1e3, !!float -0]",
         "[1.0, 2.5, -0.5, 1000.0, -0.0]"},
        {"[!!bool yes, !!bool 'OFF', !!bool tRuE]", "[true, false, true]"},
        {"[!!null x, !!null ]", "[null, null]"},
        {"[!!seq [a], !!map {b: c}]", "[[\"a\"], {\"b\": \"c\"}]"},
        {"[! 12, ! \"12\", ! [a]]", "[12, 12, [\"a\"]]"},
        {"!<tag:yaml.org,2002:str> 5", "\"5\""},
        {"%TAG !y! tag:yaml.org,2002:\n---\n!y!int '7'\n", "7"},
        /* aliases */
        {"a: &x {p: [1, 2]}\nb: *x\nc: [*x, *x]",
         "{\"a\": {\"p\": [1, 2]}, \"b\": {\"p\": [1, 2]}, "
         "\"c\": [{\"p\": [1, 2]}, {\"p\": [1, 2]}]}"},
        {"a: &x\nb: *x", "{\"a\": null, \"b\": null}"},
        {"[&x !!str 1, *x]", "[\"1\", \"1\"]"},
        /* merges, in the order PyYAML gives */
        {"{<<: {a: 1, b: 2}, b: 3}", "{\"a\": 1, \"b\": 3}"},
        {"{b: 3, <<: {a: 1, b: 2}, c: 4}", "{\"a\": 1, \"b\": 3, \"c\": 4}"},
        {"{<<: [{a: 1}, {a: 2, b: 3}]}", "{\"a\": 1, \"b\": 3}"},
        {"{<<: {a: 1}, <<: {a: 2, c: 3}}", "{\"a\": 2, \"c\": 3}"},
        {"{<<: []}", "{}"},
        {"{<<: {}}", "{}"},
        {"- &a {x: 1}\n- &b {<<: *a, y: 2}\n- {<<: *b, z: 3}",
         "[{\"x\": 1}, {\"x\": 1, \"y\": 2}, {\"x\": 1, \"y\": 2, \"z\": 3}]"},
        {"{'<<': 1}", "{\"<<\": 1}"},
        {"{!!str <<: 1}", "{\"<<\": 1}"},
        {"[<<, =]", "[\"<<\", \"=\"]"},
        {"{=: 1}", "{\"=\": 1}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_json(rows[i].yaml, rows[i].json);
}

static void lines_and_columns_are_kept(void **state)
{
    struct pr_value v = read_ok("# head\na: 1\n\xc3\xa9: {c: [x,\n   y]}\n"
                                "d: &k z\ne: *k\n");
    const struct pr_member *m = v.members;
    const struct pr_value *list = &m[1].value.members[0].value;

    (void)state;
    assert_int_equal(v.line * 100 + v.col, 201);
    assert_int_equal(m[0].line * 100 + m[0].col, 201);
    assert_int_equal(m[0].value.line * 100 + m[0].value.col, 204);
    assert_int_equal(m[1].value.line * 100 + m[1].value.col, 304);
    assert_int_equal(list->line * 100 + list->col, 308);
    assert_int_equal(list->items[1].line * 100 + list->items[1].col, 404);
    /* A value that comes by an alias stands where the alias does. */
    assert_int_equal(m[3].value.line * 100 + m[3].value.col, 604);
    assert_int_equal(m[3].line * 100 + m[3].col, 601);
}

static void everything_wrong_is_placed(void **state)
{
    static const struct {
        const char *yaml, *where, *what, *hint;
    } rows[] = {
        {"a:\n\tb: 1", "2:1",
         "not valid YAML: found character that cannot start any token while "
         "scanning for the next token",
         "indent with spaces: YAML takes no tabs there"},
        {"a:\n  b: 1\n \tc: 2", "3:2",
         "not valid YAML: found a tab character that violates indentation "
         "while scanning a plain scalar begun on line 2",
         "indent with spaces: YAML takes no tabs there"},
        {"a: b: c", "1:5",
         "not valid YAML: mapping values are not allowed in this context",
         "put quotes around text that holds ': '"},
        {"a: @b", "1:4",
         "not valid YAML: found character that cannot start any token while "
         "scanning for the next token",
         "put quotes around text that starts like this"},
        {"a: [1,\n 2", "3:1",
         "not valid YAML: did not find expected ',' or ']' while parsing a "
         "flow sequence begun on line 1",
         ""},
        {"a: \"x\n", "2:1",
         "not valid YAML: found unexpected end of stream while scanning a "
         "quoted scalar begun on line 1",
         ""},
        {"a: 1\nb: \xff", "2:4", "not valid YAML: the text is not UTF-8", ""},
        {"\xc3\xa9: \xc3", "1:4", "not valid YAML: the text is not UTF-8", ""},
        {"a: 1\nb: \x01", "2:4",
         "not valid YAML: control characters are not allowed", ""},
        {"a: 1\nb: 2\na: 3", "3:1",
         "'a' stands twice in the same map, first on line 1", ""},
        {"1: a\n'1': b", "2:1",
         "'1' stands twice in the same map, first on line 1", ""},
        {"x:\n  {a: 1,\n   a: 1}", "3:4",
         "'a' stands twice in the same map, first on line 2", ""},
        {"&k a: 1\n*k : 2\n", "2:1",
         "'a' stands twice in the same map, first on line 1", ""},
        {"a: 1\n---\nb: 2", "2:1",
         "a second document starts here, but one file holds one", ""},
        {"--- a\n--- b", "2:1",
         "a second document starts here, but one file holds one", ""},
        {"? [a]\n: b", "1:3", "a list cannot be a key",
         "put quotes around text that starts with a bracket or a brace"},
        {"{{a: b}: c}", "1:2", "a map cannot be a key",
         "put quotes around text that starts with a bracket or a brace"},
        {"- &x [1]\n- {*x : 2}", "2:4", "a list cannot be a key",
         "put quotes around text that starts with a bracket or a brace"},
        {"a: *x", "1:4", "the alias '*x' names no anchor above it", ""},
        {"a: *x\nb: &x 1", "1:4", "the alias '*x' names no anchor above it",
         ""},
        {"&x [1, *x]", "1:8", "the alias '*x' stands inside the value it names",
         ""},
        {"a: &x {b: [{c: *x}]}", "1:16",
         "the alias '*x' stands inside the value it names", ""},
        {"a: &x {<<: *x}", "1:12",
         "the alias '*x' stands inside the value it names", ""},
        {"- &x 1\n- &x 2", "2:3",
         "the anchor '&x' is given twice, first on line 1", ""},
        {"a: !foo 1", "1:4", "the tag '!foo' is not known here",
         "known are !!str !!int !!float !!bool !!null !!seq and !!map; plain "
         "values need none"},
        {"!!python/object:os.system x", "1:1",
         "the tag '!!python/object:os.system' is not known here", NULL},
        {"!!python/object/apply:os.system [x]", "1:1",
         "the tag '!!python/object/apply:os.system' is not known here", NULL},
        {"a: !!binary aGk=", "1:4", "the tag '!!binary' is not known here",
         NULL},
        {"!!set {a}", "1:1", "the tag '!!set' is not known here", NULL},
        {"!!omap [a: 1]", "1:1", "the tag '!!omap' is not known here", NULL},
        {"!!timestamp 2001-01-01", "1:1",
         "the tag '!!timestamp' is not known here", NULL},
        {"{!foo a: 1}", "1:2", "the tag '!foo' is not known here", NULL},
        {"!!int x", "1:1", "'x' is not what its tag '!!int' says", ""},
        {"!!int 1.5", "1:1", "'1.5' is not what its tag '!!int' says", ""},
        {"!!int ''", "1:1", "'' is not what its tag '!!int' says", ""},
        {"!!float x", "1:1", "'x' is not what its tag '!!float' says", ""},
        {"!!bool 1", "1:1", "'1' is not what its tag '!!bool' says", ""},
        {"!!seq {a: 1}", "1:1", "a map is not what its tag '!!seq' says", ""},
        {"!!map [a]", "1:1", "a list is not what its tag '!!map' says", ""},
        {"!!seq x", "1:1", "'x' is not what its tag '!!seq' says", ""},
        {"!!str [a]", "1:1", "a list is not what its tag '!!str' says", ""},
        {"a:\n  <<: 1", "2:7", "'<<' wants a map or a list of maps to merge",
         ""},
        {"{<<: [{a: 1}, 2]}", "1:6",
         "'<<' wants a map or a list of maps to merge", ""},
        {"{<<: }", "1:6", "'<<' wants a map or a list of maps to merge", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_value v = {.kind = PR_LIST};
        struct pr_err err = {0};
        char where[64];
        int rc = pr_yaml_read(rows[i].yaml, strlen(rows[i].yaml), "t.yaml",
                              arena, &v, &err);

        snprintf(where, sizeof where, "t.yaml:%s", rows[i].where);
        assert_int_equal(rc, PR_E_FORMAT);
        assert_string_equal(err.msg, rows[i].what);
        assert_string_equal(err.where, where);
        if (rows[i].hint)
            assert_string_equal(err.hint, rows[i].hint);
        assert_int_equal(v.kind, PR_LIST); /* untouched */
        assert_int_equal(pr_yaml_read(rows[i].yaml, strlen(rows[i].yaml),
                                      "t.yaml", arena, &v, NULL),
                         PR_E_FORMAT);
    }
}

/* Every byte of every prefix of a document that has a bit of all: no crash,
 * no leak, and never a value together with an error. */
static void cut_documents_do_no_harm(void **state)
{
    static const char text[] =
        "%YAML 1.1\n---\n&a !!map {\"x\\n\": &b [1, 'y'],"
        " ? z : *b }\n...\n";

    (void)state;
    for (size_t len = 0; len < sizeof text; len++) {
        char *copy = pr_alloc(len);
        struct pr_value v;
        memcpy(copy, text, len);
        (void)!pr_yaml_read(copy, len, "t", arena, &v, NULL);
        pr_free(copy);
    }
}

static const char *must_fail(const char *text, struct pr_err *err)
{
    struct pr_value v;

    assert_int_equal(pr_yaml_read(text, strlen(text), "t", arena, &v, err),
                     PR_E_FORMAT);
    return err->msg;
}

static void a_billion_laughs_are_refused(void **state)
{
    static const char too_many[] = "the document stands for more than 1000000 "
                                   "values, aliases written out";
    PR_AUTO_BUF struct pr_buf lists = PR_BUF_INIT(1 << 20);
    PR_AUTO_BUF struct pr_buf merges = PR_BUF_INIT(1 << 20);
    struct pr_err err;

    (void)state;
    pr_buf_str(&lists, "- &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    pr_buf_str(&merges, "- &a0 {a: 1, b: 2, c: 3}\n");
    for (int i = 1; i < 30; i++) {
        pr_buf_printf(&lists, "- &a%d [*a%d", i, i - 1);
        pr_buf_printf(&merges, "- &a%d {k%d: *a%d, <<: [*a%d", i, i, i - 1,
                      i - 1);
        for (int k = 1; k < 10; k++) {
            pr_buf_printf(&lists, ",*a%d", i - 1);
            pr_buf_printf(&merges, ",*a%d", i - 1);
        }
        pr_buf_str(&lists, "]\n");
        pr_buf_str(&merges, "]}\n");
    }
    assert_string_equal(must_fail(lists.data, &err), too_many);
    assert_string_equal(err.where, "t:6:36"); /* the eighth of its ten */
    assert_string_equal(must_fail(merges.data, &err), too_many);
    assert_true(pr_arena_bytes(arena) < 50000000);
}

static void aliases_share_what_they_name(void **state)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
    struct pr_value v;

    (void)state;
    pr_buf_str(&text, "- &a [");
    for (int i = 0; i < 1000; i++)
        pr_buf_str(&text, "x, ");
    pr_buf_str(&text, "x]\n");
    for (int i = 0; i < 900; i++)
        pr_buf_str(&text, "- *a\n");
    v = read_ok(text.data);
    assert_int_equal(v.len, 901);
    assert_ptr_equal(v.items[900].items, v.items[0].items);
    assert_true(pr_arena_bytes(arena) < 1000000);
}

static void depth_has_a_limit_also_through_aliases(void **state)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
    struct pr_err err;
    char deep[500];

    (void)state;
    memset(deep, '[', 200);
    memset(deep + 200, ']', 200);
    deep[400] = '\0';
    (void)read_ok(deep);
    memset(deep, '[', 201);
    deep[201] = '\0';
    assert_string_equal(must_fail(deep, &err), "nested more than 200 deep");
    assert_string_equal(err.where, "t:1:201");
    pr_buf_str(&text, "- &a0 [x]\n");
    for (int i = 1; i < 199; i++)
        pr_buf_printf(&text, "- &a%d [*a%d]\n", i, i - 1);
    (void)read_ok(text.data); /* 199 in the list around them */
    pr_buf_str(&text, "- &a199 {k: *a198 }\n");
    assert_string_equal(must_fail(text.data, &err),
                        "nested more than 200 deep");
    assert_string_equal(err.where, "t:200:13");
}

static void large_maps_notice_equal_keys(void **state)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 24);
    struct pr_err err;

    (void)state;
    for (int i = 0; i < 20000; i++)
        pr_buf_printf(&text, "key%d: %d\n", i, i);
    assert_int_equal(read_ok(text.data).len, 20000);
    pr_buf_str(&text, "key12345: 1\n");
    assert_string_equal(must_fail(text.data, &err),
                        "'key12345' stands twice in the same map, first on "
                        "line 12346");
}

static void large_merges_override_in_place(void **state)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
    struct pr_value v;

    (void)state;
    pr_buf_str(&text, "a: &a\n");
    for (int i = 0; i < 100; i++)
        pr_buf_printf(&text, "  key%d: %d\n", i, i);
    pr_buf_str(&text, "b:\n  key70: own\n  <<: *a\n  new: 1\n");
    v = read_ok(text.data).members[1].value;
    assert_int_equal(v.len, 101);
    assert_string_equal(v.members[70].key, "key70");
    assert_string_equal(v.members[70].value.s, "own");
    assert_int_equal(v.members[70].line, 103);
    assert_int_equal(v.members[71].value.i, 71);
    assert_string_equal(v.members[100].key, "new");
}

static struct pr_buf long_text = PR_BUF_INIT(1 << 20);

static int try_yaml(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    struct pr_value v;
    struct pr_err err;
    int rc;

    if (!a)
        return PR_E_NOMEM;
    rc = pr_yaml_read(long_text.data, long_text.len, "t", a, &v, &err);
    if (rc)
        assert_int_equal(err.code, rc);
    return rc;
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    pr_buf_str(&long_text, "list: [a, 'b', 3]\nmap: &base\n");
    for (int i = 0; i < 100; i++)
        pr_buf_printf(&long_text, "  key%d: &n%d [%d]\n", i, i, i);
    pr_buf_str(&long_text, "other: {<<: [*base, {x: 1}], y: *n3 }\n");
    (void)read_ok(long_text.data);
    torture(try_yaml);
    pr_buf_free(&long_text);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(plain_scalars_mean_what_pyyaml_says),
        TEST(documents_become_values),
        TEST(lines_and_columns_are_kept),
        TEST(everything_wrong_is_placed),
        TEST(cut_documents_do_no_harm),
        TEST(a_billion_laughs_are_refused),
        TEST(aliases_share_what_they_name),
        TEST(depth_has_a_limit_also_through_aliases),
        TEST(large_maps_notice_equal_keys),
        TEST(large_merges_override_in_place),
        TEST(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
