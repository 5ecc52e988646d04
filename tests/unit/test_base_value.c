/* Values: equality, copies, and the text Python would write. */
#include "base/json/json.h"
#include "base/names.h"
#include "base/number.h"
#include "base/text.h"

#include "skip.h"
#include "torture.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

static struct pr_value json(const char *text)
{
    struct pr_json_in in = {.text = text, .len = strlen(text), .name = "t"};
    struct pr_value v = {0};

    assert_int_equal(pr_json_read(&in, arena, &v, NULL, NULL), PR_OK);
    return v;
}

static void floats_are_written_as_python_does(void **state)
{
    static const struct {
        double f;
        const char *want;
    } rows[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {100.0, "100.0"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {2.0 / 3, "0.6666666666666666"},
        {1e15, "1000000000000000.0"},
        {123456789012345.6, "123456789012345.6"},
        {9999999999999998.0, "9999999999999998.0"},
        {1e16, "1e+16"},
        {1.5e16, "1.5e+16"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {0.0001, "0.0001"},
        {0.00012345, "0.00012345"},
        {1e-5, "1e-05"},
        {2.5e-07, "2.5e-07"},
        {1.23e-10, "1.23e-10"},
        {6.2e-11, "6.2e-11"}, /* 6.200000000000001e-11 is as good, but longer */
        {6.9e-11, "6.9e-11"},
        {7.5e-09, "7.5e-09"},
        {1e-100, "1e-100"},
        {5e-324, "5e-324"},
        {1.5e-323, "1.5e-323"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {2.225073858507201e-308, "2.225073858507201e-308"},
        {1.7976931348623157e+308, "1.7976931348623157e+308"},
        {9007199254740992.0, "9007199254740992.0"},
        {562949953421312.25, "562949953421312.2"}, /* a tie goes to even */
        {562949953421312.75, "562949953421312.8"},
        {0x1p-44, "5.684341886080802e-14"}, /* nearest 16 digits read as less */
        {0x1p-1022, "2.2250738585072014e-308"},
        {0x1p-24, "5.960464477539063e-08"},
        {4.35, "4.35"},
        {0.323, "0.323"},
        {299792458.0, "299792458.0"},
        {(double)INFINITY, "inf"},
        {-(double)INFINITY, "-inf"},
        {(double)NAN, "nan"},
    };
    char out[32];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = pr_float_repr(out, rows[i].f);
        assert_string_equal(out, rows[i].want);
        assert_int_equal(n, strlen(rows[i].want));
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed ^ *seed >> 29;
}

static void floats_read_back_and_are_no_longer_than_17_digits(void **state)
{
    uint64_t seed = 7;
    char out[32];

    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&seed);
        double f;
        size_t n;

        memcpy(&f, &bits, sizeof f);
        if (i % 2)
            f = ldexp((double)(bits >> 11), (int)(bits % 90) - 70);
        if (!isfinite(f))
            continue;
        n = pr_float_repr(out, f);
        assert_true(n <= 24);
        assert_true(pr_decimal_read(out, n) == f);
        assert_true(strtod(out, NULL) == f);
    }
}

static void decimals_are_read_to_the_last_bit(void **state)
{
    static const struct {
        const char *text;
        double want;
    } rows[] = {
        {"0", 0},
        {"12", 12},
        {"+12", 12},
        {"-1.", -1},
        {".5", 0.5},
        {"1e3", 1e3},
        {"1E+3", 1e3},
        {"-1e-3", -1e-3},
        {"1_000.5_0", 1000.5},
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740993.0000001", 9007199254740994.0},
        {"9007199254740993.00000000000000000000000000001", 9007199254740994.0},
        {"0.1000000000000000055511151231257827021181583404541015625", 0.1},
        {"1.7976931348623157e308", DBL_MAX},
        {"1e309", (double)INFINITY},
        {"-1e99999999999999999999", -(double)INFINITY},
        {"1e-400", 0},
        {"0e99999999999", 0},
        {"4.9e-324", 5e-324},
        {"13360322420765220713e-27", 1.3360322420765222e-08},
        {"13539590900071248639e-27", 1.353959090007125e-08},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
        {"3.1415926535897932384626433832795", 3.141592653589793},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(pr_decimal_read(rows[i].text, strlen(rows[i].text)) ==
                    rows[i].want);
    assert_true(signbit(pr_decimal_read("-0", 2)));
    assert_true(signbit(pr_decimal_read("-0.0e5", 6)));
}

static void assert_fixed(double f, unsigned digits)
{
    char want[400], out[PR_DECIMAL_FIXED_MAX];
    int n = snprintf(want, sizeof want, "%.*f", (int)digits, f);

    assert_int_equal(pr_decimal_fixed(f, digits, out), n);
    assert_memory_equal(out, want, (size_t)n);
}

static void fixed_digits_are_those_of_printf(void **state)
{
    static const double rows[] = {
        0,      -0.0,   0.005,  0.015,   0.125,  0.375,   2.5,  3.5,
        1e-300, 5e-324, 0x1p-9, 0x3p-10, 1.0005, 99.995,  1e14, 999999999999999,
        -1.005, 0.4999, 0.5,    1.5,     0x1p49, 0x1.8p-1};
    uint64_t seed = 3;
    char out[PR_DECIMAL_FIXED_MAX];

    (void)state;
    for (unsigned digits = 0; digits <= 3; digits++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            assert_fixed(rows[i], digits);
        for (int i = 0; i < 20000; i++) {
            uint64_t bits = next_random(&seed);

            assert_fixed(ldexp((double)(bits >> 11), (int)(bits % 80) - 84),
                         digits);
            /* ties: a few bits after the point */
            assert_fixed((double)(bits >> 40) / 1024, digits);
        }
    }
    assert_int_equal(pr_decimal_fixed(1e15, 2, out), 0);
    assert_int_equal(pr_decimal_fixed((double)NAN, 2, out), 0);
    assert_int_equal(pr_decimal_fixed(-(double)INFINITY, 2, out), 0);
    assert_int_equal(pr_decimal_fixed(1, 4, out), 0);
}

/* As Python's float() has it. */
static void numbers_have_a_length(void **state)
{
    static const struct {
        const char *text;
        size_t len;
    } rows[] = {{"", 0},        {"_", 0},       {"-", 0},       {".", 0},
                {"+.", 0},      {"e5", 0},      {"_1", 0},      {"nan", 0},
                {"inf", 0},     {"1", 1},       {"1.", 2},      {".5", 2},
                {"-1.5", 4},    {"+7", 2},      {"1_000.5", 7}, {"1__0", 1},
                {"1_", 1},      {"1._5", 2},    {"1e", 1},      {"1e+", 1},
                {"1e5", 3},     {"1E-05", 5},   {"1e1_0", 5},   {"1e_1", 1},
                {"1.5e3x", 5},  {"1 ", 1},      {"1.2.3", 3},   {"--1", 0},
                {"12345,6", 5}, {"0x10", 1},    {"1_0_0", 5},   {".e1", 0},
                {"5.e1", 4},    {"-.5e-1_2", 8}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pr_decimal_length(rows[i].text, strlen(rows[i].text)),
                         rows[i].len);
    assert_int_equal(pr_decimal_length("12", 1), 1);
    assert_int_equal(pr_decimal_length("1_2", 2), 1);
    assert_int_equal(pr_decimal_length("1e5", 2), 1);
}

/* Of every length, with the point at every place; strtod knows better. */
static void decimals_of_every_length_are_read(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int len = 1; len < 30; len++)
        for (int point = 0; point <= len; point++)
            for (int round = 0; round < 20; round++) {
                char text[40];
                int n = 0;

                for (int i = 0; i < len; i++) {
                    if (i == point)
                        text[n++] = '.';
                    seed = seed * 6364136223846793005u + 1442695040888963407u;
                    text[n++] = (char)('0' + (seed >> 40) % 10);
                }
                text[n] = '\0';
                assert_true(pr_decimal_read(text, (size_t)n) ==
                            strtod(text, NULL));
            }
}

static void digits_are_told_from_the_rest(void **state)
{
    char text[9];
    uint32_t got;

    (void)state;
    for (unsigned n = 0; n <= 8; n++)
        for (int c = 0; c < 256; c++) {
            uint32_t want = 0;

            memcpy(text, "90817265", 9);
            if (n < 8)
                text[n] = (char)c;
            if (n < 8 && c >= '0' && c <= '9')
                continue;
            for (unsigned i = 0; i < n; i++)
                want = want * 10 + (uint32_t)(text[i] - '0');
            got = 0;
            assert_int_equal(pr_decimal_read_eight(text, &got), n);
            assert_int_equal(got, want);
        }
}

/* Half way between two doubles, decided by the thousandth digit. */
static void long_decimals_are_not_cut(void **state)
{
    char text[1200];
    int n = snprintf(text, sizeof text, "9007199254740993.");

    (void)state;
    memset(text + n, '0', 1000);
    assert_true(pr_decimal_read(text, (size_t)n + 1000) == 9007199254740992.0);
    text[n + 999] = '1';
    assert_true(pr_decimal_read(text, (size_t)n + 1000) == 9007199254740994.0);
    memset(text, '0', 1000);
    memcpy(text + 1000, "1e5", 3);
    assert_true(pr_decimal_read(text, 1003) == 1e5);
    memset(text, '1', 1000);
    memcpy(text + 1000, "e-999", 5);
    assert_true(pr_decimal_read(text, 1005) == 1.1111111111111112);
}

static void numbers_ignore_the_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8",
                                        "de_DE.utf8", "nl_NL.UTF-8"};
    bool found = false;
    char out[32];

    (void)state;
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found)
        skip_because("no locale that writes a decimal comma; install the "
                     "package locales-all");
    pr_float_repr(out, 1.5e-300);
    assert_true(pr_decimal_read("1.2345678901234567890123", 24) ==
                1.2345678901234568);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(out, "1.5e-300");
}

static void equality_is_pythons(void **state)
{
    static const struct {
        const char *a, *b;
        bool want;
    } rows[] = {
        {"1", "1", true},
        {"1", "2", false},
        {"1", "1.0", true},
        {"1", "true", true},
        {"0", "false", true},
        {"2", "true", false},
        {"0.0", "-0.0", true},
        {"NaN", "NaN", false},
        {"Infinity", "Infinity", true},
        {"9007199254740993", "9007199254740992.0", false},
        {"9007199254740992", "9007199254740992.0", true},
        {"9223372036854775807", "9223372036854775808.0", false},
        {"-9223372036854775808", "-9223372036854775808.0", true},
        {"6917529027641081856", "6917529027641081856.0", true},
        {"1", "NaN", false},
        {"1", "1.5", false},
        {"1", "\"1\"", false},
        {"null", "null", true},
        {"null", "false", false},
        {"null", "0", false},
        {"\"a\"", "\"a\"", true},
        {"\"a\"", "\"ab\"", false},
        {"\"a\\u0000b\"", "\"a\\u0000c\"", false},
        {"[]", "[]", true},
        {"[]", "{}", false},
        {"[1, [2]]", "[1.0, [2]]", true},
        {"[1]", "[1, 2]", false},
        {"[1, 2]", "[2, 1]", false},
        {"{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}", true},
        {"{\"a\": 1}", "{\"a\": 2}", false},
        {"{\"a\": 1}", "{\"b\": 1}", false},
        {"{\"a\": 1}", "{\"a\": 1, \"b\": 1}", false},
        {"{\"a\\u0000x\": 1}", "{\"a\\u0000y\": 1}", false},
        {"{\"a\\u0000x\": 1, \"a\": 2}", "{\"a\": 2, \"a\\u0000x\": 1}", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_value a = json(rows[i].a), b = json(rows[i].b);
        assert_int_equal(pr_value_equal(&a, &b), rows[i].want);
        assert_int_equal(pr_value_equal(&b, &a), rows[i].want);
    }
}

static void text_is_what_python_prints(void **state)
{
    static const struct {
        const char *value, *want;
    } rows[] = {
        {"null", "None"},
        {"true", "True"},
        {"false", "False"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"1e16", "1e+16"},
        {"NaN", "nan"},
        {"\"a'b\\n\"", "a'b\n"},
        {"[]", "[]"},
        {"[1, 2.5, null, true, \"x\", [\"y\"]]",
         "[1, 2.5, None, True, 'x', ['y']]"},
        {"[\"it's\"]", "[\"it's\"]"},
        {"[\"say \\\"it's\\\"\"]", "['say \"it\\'s\"']"},
        {"[\"\\n\\r\\t\\\\ \\u0001\\u007f\"]", "['\\n\\r\\t\\\\ \\x01\\x7f']"},
        {"{\"a\": [1, \"x\"]}", "{\"a\": [1, \"x\"]}"},
        {"[{\"a\": null}]", "[{'a': None}]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1000);
        struct pr_value v = json(rows[i].value);
        pr_value_write_text(&out, &v);
        assert_string_equal(out.data, rows[i].want);
    }
}

static void members_are_found_by_their_whole_key(void **state)
{
    struct pr_value map = json("{\"ab\": 1, \"a\": 2, \"a\\u0000\": 3}");
    struct pr_value number = pr_int(1);

    (void)state;
    assert_int_equal(pr_get(&map, "a")->i, 2);
    assert_int_equal(pr_get(&map, "ab")->i, 1);
    assert_null(pr_get(&map, "b"));
    assert_null(pr_get(&map, ""));
    assert_null(pr_get(&number, "a"));
}

static void a_copy_is_deep(void **state)
{
    struct pr_arena *other = pr_arena_new(1024);
    struct pr_value v, copy;

    (void)state;
    v = json("{\"a\": [1, {\"b\": \"text\"}], \"c\": null, \"d\": [], "
             "\"e\": {}}");
    assert_true(pr_value_copy(other, &v, &copy));
    assert_true(pr_value_equal(&v, &copy));
    assert_int_equal(copy.members[1].col, v.members[1].col);
    pr_arena_reset(arena); /* the sanitizer knows if it still pointed there */
    assert_string_equal(copy.members[0].value.items[1].members[0].value.s,
                        "text");
    pr_arena_free(other);
}

static struct pr_value to_copy;

static int try_copy(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    struct pr_value copy;

    if (!a)
        return PR_E_NOMEM;
    for (int i = 0; i < 40; i++)
        if (!pr_value_copy(a, &to_copy, &copy))
            return PR_E_NOMEM;
    return PR_OK;
}

static void a_copy_survives_running_out(void **state)
{
    (void)state;
    to_copy = json("{\"a\": [1, {\"b\": \"text\"}]}");
    torture(try_copy);
}

static void kinds_have_names(void **state)
{
    static const char *const names[] = {
        "null", "true or false", "a whole number", "a number",
        "text", "a list",        "a map"};

    (void)state;
    for (int i = PR_NULL; i <= PR_MAP; i++)
        assert_string_equal(pr_kind_name((enum pr_kind)i), names[i]);
}

/* names.h */

static void a_keyset_finds_all_its_keys(void **state)
{
    enum { COUNT = 5000 };
    struct pr_keyset set = {0};
    static char keys[COUNT][24];
    uint32_t index = 0;

    (void)state;
    assert_int_equal(pr_keyset_find(&set, "a", 1, &index), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        int len = snprintf(keys[i], sizeof keys[i], "%.*s%u", (int)(i % 12),
                           "section.name", i);
        assert_int_equal(pr_keyset_put(&set, keys[i], (uint32_t)len, i, &index),
                         0);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t len = (uint32_t)strlen(keys[i]);
        assert_int_equal(pr_keyset_find(&set, keys[i], len, &index), 1);
        assert_int_equal(index, i);
        index = 0;
        assert_int_equal(pr_keyset_put(&set, keys[i], len, 9, &index), 1);
        assert_int_equal(index, i);
    }
    assert_int_equal(pr_keyset_find(&set, "nothing", 7, &index), 0);
    assert_int_equal(pr_keyset_find(&set, "", 0, &index), 0);
    assert_int_equal(pr_keyset_put(&set, "", 0, 77, &index), 0);
    assert_int_equal(pr_keyset_find(&set, "", 0, &index), 1);
    assert_int_equal(index, 77);
    pr_keyset_free(&set);
    assert_int_equal(pr_keyset_find(&set, keys[0], 1, &index), 0);
}

/* text.h */

static void utf8_is_told_from_what_is_not(void **state)
{
    static const struct {
        const char *text;
        size_t want;
    } rows[] = {
        {"a", 1},
        {"\x7f", 1},
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xe0\xa0\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\x80", 0},
        {"\xbf", 0},
        {"\xc0\x80", 0}, /* overlong */
        {"\xc1\xbf", 0},
        {"\xe0\x9f\xbf", 0},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xed\xa0\x80", 0}, /* a surrogate */
        {"\xed\xbf\xbf", 0},
        {"\xf4\x90\x80\x80", 0}, /* above U+10FFFF */
        {"\xf5\x80\x80\x80", 0},
        {"\xff", 0},
        {"\xc2", 0}, /* cut short */
        {"\xe2\x82", 0},
        {"\xf0\x9f\x98", 0},
        {"\xc2\x41", 0},
        {"\xe2\x82\x41", 0},
        {"\xf0\x9f\x41\x80", 0},
        {"", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pr_utf8_len(rows[i].text, strlen(rows[i].text)),
                         rows[i].want);
    assert_int_equal(pr_utf8_len("\xc2\x80", 1), 0);
}

static void text_is_cut_between_characters(void **state)
{
    static const struct {
        const char *text;
        size_t len, room, want;
    } rows[] = {
        {"abc", 3, 9, 3},
        {"abc", 3, 3, 3},
        {"abc", 3, 2, 2},
        {"abc", 3, 0, 0},
        {"", 0, 5, 0},
        {"a\0b", 3, 9, 1},
        {"\xc3\xa9\xc3\xa9", 4, 3, 2},
        {"\xc3\xa9\xc3\xa9", 4, 4, 4},
        {"\xc3\xa9\xc3\xa9", 3, 9, 2},
        {"ok\xff!", 4, 9, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(pr_utf8_fit(rows[i].text, rows[i].len, rows[i].room),
                         rows[i].want);
}

static void every_code_point_is_written_validly(void **state)
{
    (void)state;
    for (unsigned c = 0; c <= 0x10ffff; c += c < 0x900 ? 1 : 61) {
        char out[4];
        size_t n = pr_utf8_put(out, c);
        if (c >= 0xd800 && c < 0xe000)
            continue;
        assert_int_equal(pr_utf8_len(out, n), n);
    }
    assert_int_equal(pr_utf8_columns("h\xc3\xa9\xf0\x9f\x98\x80"), 3);
}

/* What does not fit leaves what was there as it was. */
static void printf_stops_at_the_maximum(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(70);

    (void)state;
    for (int i = 0; i < 7; i++) /* the first room is of 64 bytes */
        pr_buf_printf(&out, "%010d", i);
    assert_true(pr_buf_ok(&out));
    assert_int_equal(out.len, 70);
    assert_string_equal(out.data + 60, "0000000006");
    out.len = 69;
    out.data[69] = '\0';
    for (int i = 0; i < 2; i++) {
        pr_buf_printf(&out, "%d", 42);
        assert_true(out.over);
        assert_int_equal(strlen(out.data), 69);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(floats_are_written_as_python_does),
        TEST(floats_read_back_and_are_no_longer_than_17_digits),
        TEST(decimals_are_read_to_the_last_bit),
        TEST(fixed_digits_are_those_of_printf),
        TEST(numbers_have_a_length),
        TEST(decimals_of_every_length_are_read),
        TEST(digits_are_told_from_the_rest),
        TEST(long_decimals_are_not_cut),
        TEST(numbers_ignore_the_locale),
        TEST(equality_is_pythons),
        TEST(text_is_what_python_prints),
        TEST(members_are_found_by_their_whole_key),
        TEST(a_copy_is_deep),
        TEST(a_copy_survives_running_out),
        TEST(kinds_have_names),
        TEST(a_keyset_finds_all_its_keys),
        TEST(utf8_is_told_from_what_is_not),
        TEST(text_is_cut_between_characters),
        TEST(every_code_point_is_written_validly),
        cmocka_unit_test(printf_stops_at_the_maximum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
