/* Overrides: hydra's grammar, what we take beyond it, and what we refuse. */
#include "conf/option/override.h"

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

static struct pr_override read_ok(const char *arg)
{
    struct pr_override o = {0};
    struct pr_err err;

    if (pr_override_read(arg, arena, &o, &err) != PR_OK)
        fail_msg("%s: %s", arg, err.msg);
    return o;
}

static void names_and_operations(void **state)
{
    static const struct {
        const char *arg;
        enum pr_override_op op;
        const char *name;
    } rows[] = {
        {"a=1", PR_OVERRIDE_SET, "a"},
        {"+a=1", PR_OVERRIDE_ADD, "a"},
        {"++a=1", PR_OVERRIDE_FORCE, "a"},
        {"~a", PR_OVERRIDE_DELETE, "a"},
        {"~a=1", PR_OVERRIDE_DELETE, "a"},
        {"a.b.c=1", PR_OVERRIDE_SET, "a.b.c"},
        {"_a-b.c_d.0=1", PR_OVERRIDE_SET, "_a-b.c_d.0"},
        {"workload=unet3d_a100", PR_OVERRIDE_SET, "workload"},
        {"workload.train.epochs=1", PR_OVERRIDE_SET, "train.epochs"},
        {"++workload.train.epochs=1", PR_OVERRIDE_FORCE, "train.epochs"},
        {"~workload.train", PR_OVERRIDE_DELETE, "train"},
        {"+workload.workload.x=1", PR_OVERRIDE_ADD, "workload.x"},
        {"workloads.x=1", PR_OVERRIDE_SET, "workloads.x"},
        {"~workload", PR_OVERRIDE_DELETE, "workload"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_override o = read_ok(rows[i].arg);
        assert_int_equal(o.op, rows[i].op);
        assert_string_equal(o.name, rows[i].name);
    }
    assert_int_equal(read_ok("~a").value.kind, PR_NULL);
    assert_int_equal(read_ok("~a=1").value.i, 1);
}

static void values_have_hydras_types(void **state)
{
    static const struct {
        const char *value, *want;
    } rows[] = {
        {"", "\"\""},
        {"   ", "\"\""},
        {"1", "1"},
        {"-1", "-1"},
        {"+1", "1"},
        {"0", "0"},
        {"-0", "0"},
        {" 12 ", "12"},
        {"1_000", "1000"},
        {"1__0", "\"1__0\""},
        {"1_", "\"1_\""},
        {"_1", "\"_1\""},
        {"01", "\"01\""},
        {"0x10", "\"0x10\""},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"9223372036854775808", "9.223372036854776e+18"},
        {"-9223372036854775809", "-9.223372036854776e+18"},
        {"1.5", "1.5"},
        {"1.", "1.0"},
        {".5", "0.5"},
        {"-.5", "-0.5"},
        {"0.5", "0.5"},
        {"00.5", "\"00.5\""},
        {"1_0.0_5", "10.05"},
        {"1.0_", "\"1.0_\""},
        {"1._5", "\"1._5\""},
        {"1e3", "1000.0"},
        {"1E-3", "0.001"},
        {"1.e+3", "1000.0"},
        {"0e0", "0.0"},
        {"1e05", "100000.0"},
        {"1e0_5", "100000.0"},
        {"1e", "\"1e\""},
        {"1e+", "\"1e+\""},
        {"e3", "\"e3\""},
        {".", "\".\""},
        {"-", "\"-\""},
        {"+.", "\"+.\""},
        {"1.2.3", "\"1.2.3\""},
        {"inf", "Infinity"},
        {"-INF", "-Infinity"},
        {"+Inf", "Infinity"},
        {"NaN", "NaN"},
        {"-nan", "NaN"},
        {"infinity", "\"infinity\""},
        {"true", "true"},
        {"False", "false"},
        {"TrUe", "true"},
        {"null", "null"},
        {"NULL", "null"},
        {"None", "\"None\""},
        {"yes", "\"yes\""},
        {"off", "\"off\""},
        {"~", "\"~\""},
        {"truex", "\"truex\""},
        {"1 2", "\"1 2\""},
        /* bare text */
        {"abc", "\"abc\""},
        {"  hello  world  ", "\"hello  world\""},
        {"a/b-c\\d+e.f$g%h*i@j?k|l", "\"a/b-c\\\\d+e.f$g%h*i@j?k|l\""},
        {"b=c", "\"b=c\""},
        {"0:1", "\"0:1\""},
        {"http://h:80/p?q=1&r=#2", "\"http://h:80/p?q=1&r=#2\""},
        {"it's", "\"it's\""},
        {"f(x, y)", "\"f(x, y)\""},
        {"x[0]", "\"x[0]\""},
        {"x{a,b}", "\"x{a,b}\""},
        {"h\xc3\xa9", "\"h\xc3\xa9\""},
        {"a\\,b", "\"a,b\""},
        {"\\ a\\ ", "\" a \""},
        {"a\\ \\ ", "\"a  \""},
        {"\\[a\\]\\{\\}\\(\\)\\:\\=", "\"[a]{}():=\""},
        {"a\\\\", "\"a\\\\\""},
        {"a\\nb", "\"a\\\\nb\""},
        {"1\\ ", "\"1 \""},
        {"tr\\=ue", "\"tr=ue\""},
        {"choice\\(a\\)", "\"choice(a)\""},
        {"\\\\1", "\"\\\\1\""},
        /* quotes */
        {"''", "\"\""},
        {"'1'", "\"1\""},
        {"\"true\"", "\"true\""},
        {" 'a, b' ", "\"a, b\""},
        {"'it\\'s'", "\"it's\""},
        {"\"it's\"", "\"it's\""},
        {"'say \"x\"'", "\"say \\\"x\\\"\""},
        {"\"say \\\"x\\\"\"", "\"say \\\"x\\\"\""},
        {"'a\\nb\\\\c'", "\"a\\\\nb\\\\\\\\c\""},
        {"'a\\\\'", "\"a\\\\\""},
        {"'a\\\\\\'b'", "\"a\\\\'b\""},
        {"'\\\"'", "\"\\\\\\\"\""},
        {"'[1,2]'", "\"[1,2]\""},
        {"'${a,b}'", "\"${a,b}\""},
        /* expansions pass through */
        {"${a.b}", "\"${a.b}\""},
        {"${oc.env:X,y}/z", "\"${oc.env:X,y}/z\""},
        {"x${a:{b},${c,d}}y", "\"x${a:{b},${c,d}}y\""},
        {"$(1, 2)$", "\"$(1, 2)$\""},
        {"$(','.join(['a', ')']))$-x", "\"$(','.join(['a', ')']))$-x\""},
        {"$('\\,')$", "\"$('\\\\,')$\""},
        {"${a\\,b}", "\"${a\\\\,b}\""},
        {"$(cmd)", "\"$(cmd)\""},
        {"a$", "\"a$\""},
        {"${1}", "\"${1}\""},
        /* lists and maps */
        {"[]", "[]"},
        {"[ ]", "[]"},
        {"{}", "{}"},
        {"{ }", "{}"},
        {"[1,two, 3.5 ,true,null]", "[1, \"two\", 3.5, true, null]"},
        {"[a,[b,[c]],{}]", "[\"a\", [\"b\", [\"c\"]], {}]"},
        {"['a,b', \"c]\"]", "[\"a,b\", \"c]\"]"},
        {"[a b, c\\,d]", "[\"a b\", \"c,d\"]"},
        {"[a:b, http://x/]", "[\"a:b\", \"http://x/\"]"},
        {"[x[0], f(1,2)]", "[\"x[0]\", \"f(1,2)\"]"},
        {"[${a,b}, $(1,2)$]", "[\"${a,b}\", \"$(1,2)$\"]"},
        {" [ 1 ] ", "[1]"},
        {"['']", "[\"\"]"},
        {"{a:1,b: two}", "{\"a\": 1, \"b\": \"two\"}"},
        {"{ a : {b : [1]} }", "{\"a\": {\"b\": [1]}}"},
        {"{'a b': 1, \"c,d\" :2, 3: 4, true: x}",
         "{\"a b\": 1, \"c,d\": 2, \"3\": 4, \"true\": \"x\"}"},
        {"{a:b:c}", "{\"a\": \"b:c\"}"},
        {"{a\\:b:c}", "{\"a:b\": \"c\"}"},
        {"{a: ''}", "{\"a\": \"\"}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1000);
        char arg[200];
        struct pr_override o;

        snprintf(arg, sizeof arg, "a=%s", rows[i].value);
        o = read_ok(arg);
        pr_json_write(&out, &o.value);
        if (strcmp(out.data, rows[i].want) != 0)
            fail_msg("%s gave %s not %s", arg, out.data, rows[i].want);
    }
}

static void mistakes_name_the_argument(void **state)
{
    static const struct {
        const char *arg, *what;
        bool hint;
    } rows[] = {
        {"=1", "a name is missing", false},
        {"", "a name is missing", false},
        {"+=1", "a name is missing", false},
        {"~", "a name is missing", false},
        {"1a=2", "a name starts with a letter", false},
        {".a=2", "a name starts with a letter", false},
        {"-a=2", "a name starts with a letter", false},
        {"+++a=2", "a name starts with a letter", false},
        {"+~a=2", "a name starts with a letter", false},
        {"workload.0=2", "a name starts with a letter", false},
        {"a b=2", "a name has letters, digits, '_', '-' and '.'", false},
        {"a =2", "a name has letters, digits, '_', '-' and '.'", false},
        {"a,b=2", "a name has letters, digits, '_', '-' and '.'", false},
        {"a[0]=2", "a name has letters, digits, '_', '-' and '.'", false},
        {"h\xc3\xa9=2", "a name has letters, digits, '_', '-' and '.'", false},
        {"a..b=2", "a part of the name is missing", false},
        {"a.=2", "a part of the name is missing", false},
        {"workload.=2", "a part of the name is missing", false},
        {"~a.", "a part of the name is missing", false},
        {"db@pkg=x", "hydra's packages ('@') are not known here", false},
        {"hydra/launcher=x",
         "hydra's config groups ('/') are not known here, but for "
         "workload=NAME",
         false},
        {"+a", "a '=' and a value are missing", false},
        {"a", "a '=' and a value are missing", false},
        {"a=1,2", "several values for one name are a sweep", true},
        {"a=1,", "several values for one name are a sweep", true},
        {"a=,", "several values for one name are a sweep", true},
        {"a='x','y'", "several values for one name are a sweep", true},
        {"a=[1],[2]", "several values for one name are a sweep", true},
        {"a=hello, world", "several values for one name are a sweep", true},
        {"a=choice(1,2)", "hydra's choice() is not known here", true},
        {"a=range (1,5)", "hydra's range() is not known here", true},
        {"a=[int('3')]", "hydra's int() is not known here", true},
        {"a='x", "the quote ' is never closed", false},
        {"a=\"x'", "the quote \" is never closed", false},
        {"a='x\\'", "the quote ' is never closed", false},
        {"a='x'y", "text after '''", true},
        {"a=[1]x", "text after ']'", true},
        {"a=[1", "a ']' is missing", true},
        {"a=[1}", "'}' closes nothing", true},
        {"a=[", "a value is missing", false},
        {"a=[1,", "a value is missing", false},
        {"a=[1,]", "a value is missing", false},
        {"a=[,1]", "a value is missing", false},
        {"a=[1,,2]", "a value is missing", false},
        {"a={a:}", "a value is missing", false},
        {"a={a", "the key 'a' has no ':' after it", false},
        {"a={a,b:1}", "the key 'a' has no ':' after it", false},
        {"a={a}", "the key 'a' has no ':' after it", false},
        {"a={:1}", "a key is missing", false},
        {"a={a:1,}", "a key is missing", false},
        {"a={a:1", "a '}' is missing", true},
        {"a={a:1,a:2}", "the key 'a' stands twice", false},
        {"a={a:1,'a':2}", "the key 'a' stands twice", false},
        {"a=x]", "']' closes nothing", true},
        {"a=x)", "')' closes nothing", true},
        {"a=f(x]", "']' closes nothing", true},
        {"a=f(x", "'(' is never closed", true},
        {"a=x[1,2", "'[' is never closed", true},
        {"a=${b", "'${' is never closed", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_override o = {.name = "untouched"};
        struct pr_err err;
        char want[400];

        snprintf(want, sizeof want, "'%s': %s", rows[i].arg, rows[i].what);
        assert_int_equal(pr_override_read(rows[i].arg, arena, &o, &err),
                         PR_E_USAGE);
        assert_string_equal(err.msg, want);
        assert_string_equal(err.where, "command line");
        assert_int_equal(err.hint[0] != '\0', rows[i].hint);
        assert_string_equal(o.name, "untouched");
        assert_int_equal(pr_override_read(rows[i].arg, arena, &o, NULL),
                         PR_E_USAGE);
    }
}

static void a_sweep_is_sent_to_dash_v(void **state)
{
    struct pr_override o;
    struct pr_err err;

    (void)state;
    assert_int_equal(
        pr_override_read("++workload.train.epochs=1,2", arena, &o, &err),
        PR_E_USAGE);
    assert_string_equal(err.hint,
                        "write -V train.epochs='[a, b]' for a sweep, "
                        "\"train.epochs='a,b'\" for text with a comma");
}

static void arguments_must_be_utf8(void **state)
{
    struct pr_override o;
    struct pr_err err;

    (void)state;
    assert_int_equal(pr_override_read("a=x\xff", arena, &o, &err), PR_E_USAGE);
    assert_string_equal(err.msg, "an argument is not UTF-8 (byte 4)");
}

static void long_arguments_are_shown_shortened(void **state)
{
    struct pr_override o;
    struct pr_err err;
    char arg[1000] = "a=x]";

    (void)state;
    for (size_t i = 4; i + 2 < sizeof arg; i += 2)
        memcpy(arg + i, "\xc3\xa9", 3);
    assert_int_equal(pr_override_read(arg, arena, &o, &err), PR_E_USAGE);
    assert_non_null(strstr(err.msg, "\xc3\xa9...': ']' closes"));
    assert_true(strlen(err.msg) < 150);
}

static void overrides_are_told_from_paths(void **state)
{
    static const struct {
        const char *arg;
        bool want;
    } rows[] = {
        {"a=1", true},          {"a.b=", true},        {"workload.x=a/b", true},
        {"+a=1", true},         {"++a=1", true},       {"+a", true},
        {"~a", true},           {"~a=/x", true},       {"db@pkg=x", true},
        {"1a=2", true}, /* an error to be told, not a file */
        {"a", false},           {"", false},           {"=1", false},
        {"unet3d_a100", false}, {"file.yaml", false},  {"./a=b", false},
        {".a=b", false},        {"/a=b", false},       {"dir/a=b.yaml", false},
        {"~/a=b", false},       {"~user/file", false}, {"+x/y", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (pr_override_is_likely(rows[i].arg) != rows[i].want)
            fail_msg("%s", rows[i].arg);
}

static void depth_has_a_limit(void **state)
{
    struct pr_override o;
    struct pr_err err;
    char arg[1000] = "a=";

    (void)state;
    memset(arg + 2, '[', 100);
    memset(arg + 102, ']', 100);
    (void)read_ok(arg);
    memset(arg + 2, '[', 300);
    assert_int_equal(pr_override_read(arg, arena, &o, &err), PR_E_USAGE);
    assert_non_null(strstr(err.msg, "nested too deep"));
    arg[2] = 'x';
    assert_int_equal(pr_override_read(arg, arena, &o, &err), PR_E_USAGE);
    assert_non_null(strstr(err.msg, "nested too deep"));
}

/* Linux lets an argument be 128 KiB long. */
static void long_lists_take_no_undue_memory(void **state)
{
    PR_AUTO_BUF struct pr_buf arg = PR_BUF_INIT(1 << 20);
    struct pr_override o;

    (void)state;
    pr_buf_str(&arg, "a=[x");
    for (int i = 0; i < 60000; i++)
        pr_buf_str(&arg, ",y");
    pr_buf_char(&arg, ']');
    o = read_ok(arg.data);
    assert_int_equal(o.value.len, 60001);
    assert_string_equal(o.value.items[60000].s, "y");
    assert_true(pr_arena_bytes(arena) < 4000000);
    pr_buf_clear(&arg);
    pr_buf_str(&arg, "a={k:0");
    for (int i = 0; i < 9999; i++)
        pr_buf_printf(&arg, ",k%d:%d", i, i);
    pr_buf_char(&arg, '}');
    assert_int_equal(read_ok(arg.data).value.len, 10000);
    pr_buf_clear(&arg);
    pr_buf_str(&arg, "a=");
    for (int i = 0; i < 30000; i++)
        pr_buf_str(&arg, "$()");
    assert_int_equal(read_ok(arg.data).value.len, 90000);
}

static char *torture_arg;

static int try_override(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    struct pr_override o;
    struct pr_err err;
    int rc;

    if (!a)
        return PR_E_NOMEM;
    rc = pr_override_read(torture_arg, a, &o, &err);
    if (rc)
        assert_int_equal(err.code, rc);
    return rc;
}

static void running_out_of_memory_is_an_error(void **state)
{
    PR_AUTO_BUF struct pr_buf arg = PR_BUF_INIT(1 << 20);

    (void)state;
    pr_buf_str(&arg, "++workload.x={a: 'text', \"b\": [1, 2, {c: d}]");
    for (int i = 0; i < 200; i++)
        pr_buf_printf(&arg, ", key%d: value %d", i, i);
    pr_buf_char(&arg, '}');
    torture_arg = arg.data;
    torture(try_override);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(names_and_operations),
        TEST(values_have_hydras_types),
        TEST(mistakes_name_the_argument),
        TEST(a_sweep_is_sent_to_dash_v),
        TEST(arguments_must_be_utf8),
        TEST(long_arguments_are_shown_shortened),
        TEST(overrides_are_told_from_paths),
        TEST(depth_has_a_limit),
        TEST(long_lists_take_no_undue_memory),
        TEST(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
