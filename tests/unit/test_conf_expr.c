/* The evaluator of $(...)$: results as Python gives them, errors in words,
 * limits, purity, and what is left alone on failure. */
#include "conf/expr/expr_eval.h"
#include "torture.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct row {
    const char *text, *want;
};

static int eval(const char *text, struct pr_buf *out, bool *pure,
                struct pr_err *err)
{
    struct pr_arena *scratch = pr_arena_new(4096);
    int r;

    if (!scratch)
        return PR_E_NOMEM;
    r = pr_expr_eval(text, strlen(text), scratch, out, pure, err);
    pr_arena_free(scratch);
    return r;
}

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 22);
        struct pr_err err = {0};

        if (eval(rows[i].text, &out, NULL, &err) != PR_OK)
            fail_msg("%s: %s", rows[i].text, err.msg);
        if (strcmp(out.data ? out.data : "", rows[i].want) != 0)
            fail_msg("%s: got '%s', want '%s'", rows[i].text, out.data,
                     rows[i].want);
    }
}
#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof *(rows))

/* The message must hold want. */
static void check_errors(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 22);
        struct pr_err err = {0};

        pr_buf_str(&out, "before");
        if (eval(rows[i].text, &out, NULL, &err) != PR_E_CONF)
            fail_msg("%s: no error, got '%s'", rows[i].text, out.data);
        if (!strstr(err.msg, rows[i].want))
            fail_msg("%s: message '%s' lacks '%s'", rows[i].text, err.msg,
                     rows[i].want);
        assert_string_equal(err.where, "");
        assert_string_equal(out.data, "before");
        assert_int_equal(out.len, 6);
        assert_true(pr_buf_ok(&out));
    }
}
#define CHECK_ERRORS(rows) check_errors((rows), sizeof(rows) / sizeof *(rows))

/* As they stand in DLBS's configs, names already replaced. */
static void dlbs_expressions_give_what_dlbs_gives(void **state)
{
    static const struct row rows[] = {
        {"1+1", "2"},
        {"not True", "False"},
        {"None", "None"},
        {"[1,2]", "[1, 2]"},
        {"1e3", "1000.0"},
        {"0.1+0.2", "0.30000000000000004"},
        {"7//2", "3"},
        {"-7//2", "-4"},
        {"7%4", "3"},
        {"2**10", "1024"},
        {"1>0", "True"},
        {"len(re.sub('[:,]', ' ', '0:1,2').split())", "3"},
        {"len(re.sub('[:,]', ' ', '').split())", "0"},
        {"re.sub('[:]', ',', '0:1,2:3')", "0,1,2,3"},
        {"len('0,1,2'.replace(',', ' ').split()) if 'gpu' == 'gpu' else 1",
         "3"},
        {"4*16 if 'gpu' == 'gpu' else 1 * 16", "64"},
        {"4*16 if 'cpu' == 'gpu' else 1 * 16", "16"},
        {"'gpu' if 4 > 0 else 'cpu'", "gpu"},
        {"'synthetic' if '' == '' else 'real'", "synthetic"},
        {"'A' if True is False else 'B'", "B"},
        {"'FLOAT' if 'float16' in ('float32', 'mixed') else 'FLOAT16'",
         "FLOAT16"},
        {"'' if not '/d' else '--data_dir=/d' if False is False else "
         "'--data_dir=/workspace/data'",
         "--data_dir=/d"},
        {"'--v=%s:/w' % 'file:///x/y'[7:] if "
         "'file:///x/y'.startswith('file://') and True else ''",
         "--v=/x/y:/w"},
        {"'true' if 'm.onnx'.endswith(('.onnx', '.prototxt')) else 'false'",
         "true"},
        {"os.path.splitext(os.path.basename('/a/m.b.onnx'))[0]", "m.b"},
        {"os.path.dirname(os.path.abspath('/data/x/mean.bin')) if "
         "'/data/x/mean.bin' else ''",
         "/data/x"},
        {"'m/v1/{}.xml'.format('m/v1'.split('/')[0])", "m/v1/m.xml"},
        {"'host:99'.split(':')[1] if ':' in 'host:99' else ''", "99"},
        {"'${x.v}:tail'.strip(':')", "${x.v}:tail"},
        {"':\\$LD_LIBRARY_PATH'.strip(' \\t:')", "\\$LD_LIBRARY_PATH"},
        {"'layer_wise_reduce: False'.lower() if 'bvlc' == 'bvlc' else ''",
         "layer_wise_reduce: false"},
        {"'float16' == 'float16'", "True"},
        {"\"0,1\".replace(\",\",\".\")", "0.1"},
        {"256//8", "32"},
        {"256/8", "32.0"},
        {"'$'+'{b}'", "${b}"},
    };

    (void)state;
    CHECK_ROWS(rows);
}

static void operators_bind_as_in_python(void **state)
{
    static const struct row rows[] = {
        {"-2**2", "-4"},
        {"2**3**2", "512"},
        {"2**-1", "0.5"},
        {"-7 % 3", "2"},
        {"7 % -3", "-2"},
        {"-7.5 // 2", "-4.0"},
        /* What lies between is more than 63 bits hold. */
        {"(-9223372036854775807 - 1) % 3", "1"},
        {"(-9223372036854775807 - 1) % 9223372036854775807",
         "9223372036854775806"},
        {"9223372036854775807 % (-9223372036854775807 - 1)", "-1"},
        {"(-9223372036854775807 - 1) / 2", "-4.611686018427388e+18"},
        {"7 in range(-9000000000000000000, 9000000000000000000, "
         "4000000000000000000)",
         "False"},
        {"list(range(-9000000000000000000, 9000000000000000000, "
         "9000000000000000000))",
         "[-9000000000000000000, 0]"},
        {"range(-9000000000000000000, 9000000000000000000, "
         "4000000000000000000)[4]",
         "7000000000000000000"},
        {"1 + 2 * 3 - 4", "3"},
        {"10 - 3 - 2", "5"},
        {"1 | 6 ^ 3 & 2 << 1", "7"},
        {"~5", "-6"},
        {"1 < 2 < 3", "True"},
        {"3 > 2 > 2", "False"},
        {"not 1 == 2", "True"},
        {"1 and 0 or 3", "3"},
        {"'' or 'x'", "x"},
        {"0 and 1/0", "0"},
        {"1 if 0 else 2 if 0 else 3", "3"},
        {"1 or 2 if 0 else 3", "3"},
        {"'a' 'b'", "ab"},
        {"1, 2", "(1, 2)"},
        {"(1,)", "(1,)"},
        {"True + True", "2"},
        {"True is True is not None", "True"},
        {"9007199254740993 > 9007199254740992.0", "True"},
        {"1if 1else 2", "1"},
        {" \t1 # a comment", "1"},
        {"(1 +\n 2)", "3"},
    };

    (void)state;
    CHECK_ROWS(rows);
}

static void text_is_counted_in_characters(void **state)
{
    static const struct row rows[] = {
        {"len('h\xc3\xa9llo')", "5"},
        {"'h\xc3\xa9llo'[1]", "\xc3\xa9"},
        {"'h\xc3\xa9llo'[::-1]", "oll\xc3\xa9h"},
        {"'h\xc3\xa9llo'.find('l')", "2"},
        {"'%4s|' % '\xc3\xa9'", "   \xc3\xa9|"},
        {"'\\u00e9\\x41'", "\xc3\xa9"
                           "A"},
        {"len('\xff\xfe')", "2"},
        {"'a\xff'[1:]", "\xff"},
        {"re.sub('b', 'x', 'a\xff"
         "b')",
         "a\xffx"},
        {"repr('\xc3\xa9\\n')", "'\xc3\xa9\\n'"},
    };

    (void)state;
    CHECK_ROWS(rows);
}

static void methods_and_functions_work(void **state)
{
    static const struct row rows[] = {
        {"'a,b,c'.split(',', 1)", "['a', 'b,c']"},
        {"' a  b '.split()", "['a', 'b']"},
        {"'a,b,c'.rsplit(',', maxsplit=1)", "['a,b', 'c']"},
        {"'aaa'.replace('a', 'b', 2)", "bba"},
        {"'hello world'.title()", "Hello World"},
        {"'a=b'.partition('=')", "('a', '=', 'b')"},
        {"','.join(['x', 'y'])", "x,y"},
        {"'7'.zfill(3) + 'x'.rjust(3, '*')", "007**x"},
        {"'%5.2f|%-4d|%05d|%x|%r' % (3.14159, 7, -42, 255, 'q')",
         " 3.14|7   |-0042|ff|'q'"},
        {"'{0}{1}{0} {n:>4} {f:.2f} {{}}'.format(1, 2, n='x', f=0.125)",
         "121    x 0.12 {}"},
        {"'{:,}'.format(1234567)", "1,234,567"},
        {"max(3, 7, 5) + min([4, 2])", "9"},
        {"round(2.5), round(3.5), round(2.675, 2)", "(2, 4, 2.67)"},
        {"sorted(['bb', 'a'], key=len, reverse=True)", "['bb', 'a']"},
        {"sum(map(int, '1,2,3'.split(',')))", "6"},
        {"int('0x1f', 16), int('12'), int(-3.9)", "(31, 12, -3)"},
        {"[x * 2 for x in range(5) if x % 2]", "[2, 6]"},
        {"', '.join(k + '=' + str(v) for k, v in {'a': 1}.items())", "a=1"},
        {"{'a': 1}.get('b', 'none')", "none"},
        {"len(set('0,1,1'.split(',')))", "2"},
        {"re.search(r'(\\d+)', 'gpu12').group(1)", "12"},
        {"re.sub(r'(\\w)-(\\w)', r'\\2-\\1', 'a-b')", "b-a"},
        {"re.findall('[a-c]', 'abcd')", "['a', 'b', 'c']"},
        {"re.split('[,:]', '0:1,2')", "['0', '1', '2']"},
        {"json.dumps({'a': [1, None, True]})", "{\"a\": [1, null, true]}"},
        {"json.loads('{\"a\": 2.5}')['a']", "2.5"},
        {"math.ceil(1.2), math.log2(8)", "(2, 3.0)"},
        {"os.path.join('a', 'b'), os.sep", "('a/b', '/')"},
        {"isinstance('a', str)", "True"},
    };

    (void)state;
    CHECK_ROWS(rows);
}

static void branch_not_taken_is_not_run(void **state)
{
    static const struct row fine[] = {
        {"1/0 if False else 3", "3"},
        {"3 if True else no_such_name", "3"},
        {"True or 1/0", "True"},
    };
    static const struct row wrong[] = {
        {"1 +* 2 if False else 3", "invalid syntax at '*'"},
        {"3 if True else (1", "invalid syntax at the end"},
    };

    (void)state;
    CHECK_ROWS(fine);
    CHECK_ERRORS(wrong);
}

static void mistakes_are_told_in_words(void **state)
{
    static const struct row rows[] = {
        {"", "the expression is empty"},
        {"   ", "the expression is empty"},
        {"1/0", "division by zero"},
        {"1 % 0", "division by zero"},
        {"foo", "name 'foo' is not defined"},
        {"'abc", "unterminated string"},
        {"1 + xyz!", "invalid syntax at '!'"},
        {"1 2", "invalid syntax at '2'"},
        {"1 +", "invalid syntax at the end"},
        {"x = 1", "to compare, write '=='"},
        {"'a' + 1", "'+' cannot add text and a whole number"},
        {"'a' - 1", "'-' does not work on text and a whole number"},
        {"1 < 'a'", "'<' cannot compare a whole number and text"},
        {"'abc'[5]", "index 5 is out of range: there are 3 items"},
        {"{'a': 1}['b']", "a dict has no key 'b'"},
        {"int('x')", "a whole number cannot be read from 'x'"},
        {"len(5)", "a whole number has no length"},
        {"len()", "'len' wants 1 argument, got 0"},
        {"'a'.replace('b')", "'replace' wants 2 to 3 arguments, got 1"},
        {"'a'.split(x=1)", "'split' has no argument named 'x'"},
        {"'a'.upper", "'upper' is a method: call it with ()"},
        {"len", "a function cannot be written as text: is () missing?"},
        {"lambda: 1", "'lambda' is not supported"},
        {"f'{x}'", "f'...' is not supported"},
        {"open('/etc/passwd')", "'open' is not supported"},
        {"__import__('os')", "'__import__' is not supported"},
        {"''.__class__", "attribute '__class__' is not allowed"},
        {"os.path.exists('/')", "'os.path.exists' is not supported"},
        {"os.system('true')", "touches no file and starts no program"},
        {"re.sub('(', 'x', 'a')", "bad regular expression"},
        {"re.match('a', 'b').group()", "None has no 'group'"},
        {"'%d' % 'a'", "'%d' wants a number, got text"},
        {"'%s %s' % 'a'", "not enough values for '%'"},
        {"'{}'.format()", "'format' has 0 values"},
        {"9223372036854775807 + 1", "does not fit in 64 bits"},
        {"9223372036854775808", "does not fit in 64 bits"},
        {"-9223372036854775807 - 2", "does not fit in 64 bits"},
        {"4611686018427387904 * 2", "does not fit in 64 bits"},
        {"1 << 63", "does not fit in 64 bits"},
        {"int('9223372036854775808')", "does not fit in 64 bits"},
        {"(-8) ** 0.5", "complex"},
        {"0777", "invalid number '0777'"},
        {"12abc", "invalid number '12abc'"},
        {"os.environ['NO_SUCH_VARIABLE_X']", "os.environ has no key"},
    };

    (void)state;
    CHECK_ERRORS(rows);
}

static void typo_gets_a_hint(void **state)
{
    static const struct row rows[] = {
        {"'a'.uper()", "upper"},   {"'a'.endwith('a')", "endswith"},
        {"sotred([1])", "sorted"}, {"os.path.basname('x')", "basename"},
        {"true", "True"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1024);
        struct pr_err err = {0};

        assert_int_equal(eval(rows[i].text, &out, NULL, &err), PR_E_CONF);
        if (!strstr(err.hint, rows[i].want))
            fail_msg("%s: hint '%s'", rows[i].text, err.hint);
    }
}

static void giants_are_refused_quickly(void **state)
{
    static const struct row rows[] = {
        {"9**9**9", "64 bits"},
        {"'a' * 10**9", "too large"},
        {"[0] * 10**9", "too large"},
        {"'%1000000000d' % 1", "too large"},
        {"'%.1000000000f' % 1", "too large"},
        {"'{:1000000000}'.format(1)", "too large"},
        {"'{:.1000000000f}'.format(1.0)", "too large"},
        {"'a'.rjust(10**9)", "too large"},
        {"'a'.zfill(10**18)", "too large"},
        {"list(range(10**9))", "too large"},
        {"'x'.join(['y' * 1000] * 100000)", "too large"},
        {"[[0] * 1000 for x in range(100000)]", "too much work"},
        {"[x for x in range(1000) for y in range(1000)]", "100000 steps"},
        {"([['a' * 1000] * 90000] * 90000) == ([['a' * 1000] * 90000] * 90000)",
         "too much work"},
        {"str([[[['a'] * 1000] * 1000] * 1000] * 1000)", "too large"},
        {"re.match('(a*)*b', 'a' * 5000)", "takes too long"},
        {"re.search('(x+x+)+[yz]', 'x' * 100000)", "takes too long"},
        {"re.search('a*b', 'a' * 1000000)", "takes too long"},
        {"sum([[0] * 99999] * 99999, [])", "too"},
    };
    clock_t start = clock();

    (void)state;
    CHECK_ERRORS(rows);
    /* Far more than it takes, far less than any of them in full. */
    assert_true(clock() - start < 30 * CLOCKS_PER_SEC);
}

static void repeat(struct pr_buf *b, const char *s, size_t n)
{
    while (n--)
        pr_buf_str(b, s);
}

static void nesting_has_an_end_but_length_has_not(void **state)
{
    static const char *const openers[] = {
        "(",     "[",      "-",    "not ",         "2**",
        "len(",  "[0][",   "{1:",  "[x for x in ", "[*",
        "len(*", "[1 if ", "f(a=", "[0][:"};
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);

    (void)state;
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
        PR_AUTO_BUF struct pr_buf deep = PR_BUF_INIT(1 << 20);
        struct pr_err err = {0};

        repeat(&deep, openers[i], 50000);
        pr_buf_char(&deep, '1');
        assert_int_equal(eval(deep.data, &out, NULL, &err), PR_E_CONF);
        assert_non_null(strstr(err.msg, "100 deep"));
    }
    PR_AUTO_BUF struct pr_buf wide = PR_BUF_INIT(1 << 20);
    repeat(&wide, "1+", 20000);
    repeat(&wide, "0 if 0 else ", 2000);
    repeat(&wide, "0 or ", 2000);
    pr_buf_str(&wide, "5 ");
    repeat(&wide, "< 6 ", 2000);
    assert_int_equal(eval(wide.data, &out, NULL, NULL), PR_OK);
    assert_string_equal(out.data, "False");
    pr_buf_clear(&out);
    pr_buf_clear(&wide);
    repeat(&wide, "(", 90);
    pr_buf_str(&wide, "7");
    repeat(&wide, ")", 90);
    repeat(&wide, ".__str__()", 1000);
    assert_int_equal(eval(wide.data, &out, NULL, NULL), PR_OK);
    assert_string_equal(out.data, "7");
}

static void impure_answers_are_marked(void **state)
{
    static const struct {
        const char *text;
        bool pure;
    } rows[] = {
        {"1 + 1", true},
        {"os.path.abspath('/a')", true},
        {"os.path.abspath('a')", true},
        {"os.getcwd()", true},
        {"uuid.uuid4().hex", false},
        {"os.environ.get('HOME', '')", true},
        {"'HOME' in os.environ", true},
        {"os.getenv('HOME', '')", true},
        {"sys.executable", true},
        {"sys.executable if False else 1", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(8192);
        bool pure = !rows[i].pure;

        assert_int_equal(eval(rows[i].text, &out, &pure, NULL), PR_OK);
        if (pure != rows[i].pure)
            fail_msg("%s: pure is %d", rows[i].text, pure);
    }
}

static void uuids_are_random_and_well_formed(void **state)
{
    PR_AUTO_BUF struct pr_buf a = PR_BUF_INIT(128), b = PR_BUF_INIT(128);

    (void)state;
    assert_int_equal(eval("str(uuid.uuid4())", &a, NULL, NULL), PR_OK);
    assert_int_equal(eval("uuid.uuid4().__str__()", &b, NULL, NULL), PR_OK);
    assert_int_equal(a.len, 36);
    assert_int_equal(b.len, 36);
    assert_string_not_equal(a.data, b.data);
    assert_int_equal(a.data[14], '4');
    assert_int_equal(a.data[8], '-');
    assert_non_null(strchr("89ab", a.data[19]));
    assert_int_equal(strspn(a.data, "0123456789abcdef-"), 36);
}

static void environment_and_directory_are_seen(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(8192);
    char cwd[4096];

    (void)state;
    setenv("PRONY_TEST_EXPR", "some value", 1);
    assert_int_equal(eval("os.environ['PRONY_TEST_EXPR'] + "
                          "os.environ.get('PRONY_TEST_NOT', '!')",
                          &out, NULL, NULL),
                     PR_OK);
    assert_string_equal(out.data, "some value!");
    unsetenv("PRONY_TEST_EXPR");
    pr_buf_clear(&out);
    assert_non_null(getcwd(cwd, sizeof cwd));
    assert_int_equal(eval("os.path.abspath('x/../.')", &out, NULL, NULL),
                     PR_OK);
    assert_string_equal(out.data, cwd);
}

static void python_is_found_on_the_path(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(8192);
    char *saved = getenv("PATH") ? strdup(getenv("PATH")) : NULL;

    (void)state;
    setenv("PATH", "/nonexistent", 1);
    assert_int_equal(eval("sys.executable", &out, NULL, NULL), PR_OK);
    assert_string_equal(out.data, "python3");
    if (saved)
        setenv("PATH", saved, 1);
    free(saved);
}

static void result_is_appended_and_bounded(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(10);
    struct pr_err err = {0};

    (void)state;
    pr_buf_str(&out, "a");
    assert_int_equal(eval("'bc' * 2", &out, NULL, &err), PR_OK);
    assert_string_equal(out.data, "abcbc");
    assert_int_equal(eval("'x' * 6", &out, NULL, &err), PR_E_CONF);
    assert_string_equal(out.data, "abcbc");
    assert_true(pr_buf_ok(&out));
    assert_int_equal(eval("'x' * 5", &out, NULL, &err), PR_OK);
    assert_int_equal(out.len, 10);
}

static void nul_byte_is_an_error(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(100);
    PR_AUTO_ARENA struct pr_arena *scratch = pr_arena_new(4096);

    (void)state;
    assert_int_equal(pr_expr_eval("1\0002", 3, scratch, &out, NULL, NULL),
                     PR_E_CONF);
    /* And the text need not end with one. */
    assert_int_equal(pr_expr_eval("123456", 2, scratch, &out, NULL, NULL),
                     PR_OK);
    assert_string_equal(out.data, "12");
    assert_int_equal(pr_expr_eval("'abc'x", 5, scratch, &out, NULL, NULL),
                     PR_OK);
    assert_string_equal(out.data, "12abc");
}

static int attempt(void)
{
    static const char *const texts[] = {
        "4*16 if 'gpu' == 'gpu' else 1 * 16",
        "[re.sub('(a)', r'<\\1>', x) for x in ['a', 'b'] * 40]",
        "json.dumps(json.loads('{\"a\": [1, 2.5, \"x\"]}')) * 2000",
        "'{:>5000}|%s'.format('x') % (sorted('hello'),)",
        "re.findall('x*', 'a' * 700)",
        "str(uuid.uuid4())[0:0] + os.path.join('a', 'b' * 9000)",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
        struct pr_err err = {0};
        int r = eval(texts[i], &out, NULL, &err);

        if (r != PR_OK) {
            if (out.len)
                return PR_E_BUG; /* touched on failure */
            return r;
        }
    }
    return PR_OK;
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dlbs_expressions_give_what_dlbs_gives),
        cmocka_unit_test(operators_bind_as_in_python),
        cmocka_unit_test(text_is_counted_in_characters),
        cmocka_unit_test(methods_and_functions_work),
        cmocka_unit_test(branch_not_taken_is_not_run),
        cmocka_unit_test(mistakes_are_told_in_words),
        cmocka_unit_test(typo_gets_a_hint),
        cmocka_unit_test(giants_are_refused_quickly),
        cmocka_unit_test(nesting_has_an_end_but_length_has_not),
        cmocka_unit_test(impure_answers_are_marked),
        cmocka_unit_test(uuids_are_random_and_well_formed),
        cmocka_unit_test(environment_and_directory_are_seen),
        cmocka_unit_test(python_is_found_on_the_path),
        cmocka_unit_test(result_is_appended_and_bounded),
        cmocka_unit_test(nul_byte_is_an_error),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
