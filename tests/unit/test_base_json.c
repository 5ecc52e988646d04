/* JSON: what is read, where it stood, what is refused, and how it is written.
 */
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

/* From a block of exactly its size, so that the sanitizer sees every byte read
 * beyond it. */
static int read_exactly(const char *text, size_t len, unsigned flags,
                        struct pr_value *ret, struct pr_err *err)
{
    char *copy = pr_alloc(len);
    struct pr_json_in in = {copy, len, "t.json", flags, 0};
    int rc;

    memcpy(copy, text, len);
    rc = pr_json_read(&in, arena, ret, NULL, err);
    pr_free(copy);
    return rc;
}

static struct pr_value read_ok(const char *text)
{
    struct pr_value v = {0};
    struct pr_err err;

    if (read_exactly(text, strlen(text), 0, &v, &err) != PR_OK)
        fail_msg("%s: %s: %s", text, err.where, err.msg);
    return v;
}

static void values_come_back_as_written(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"null", "null"},
        {" true ", "true"},
        {"\tfalse\r\n", "false"},
        {"0", "0"},
        {"-0", "0"},
        {"-1", "-1"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"9223372036854775808", "9.223372036854776e+18"},
        {"-9223372036854775809", "-9.223372036854776e+18"},
        {"18446744073709551616", "1.8446744073709552e+19"},
        {"99999999999999999999999", "1e+23"},
        {"-0.0", "-0.0"},
        {"1.5", "1.5"},
        {"1e2", "100.0"},
        {"1E+2", "100.0"},
        {"12e-1", "1.2"},
        {"1e999", "Infinity"},
        {"-1e999", "-Infinity"},
        {"1e-999", "0.0"},
        {"NaN", "NaN"},
        {"Infinity", "Infinity"},
        {"-Infinity", "-Infinity"},
        {"\"\"", "\"\""},
        {"\"abc\"", "\"abc\""},
        {"\"a\\\"b\\\\c\\/d\"", "\"a\\\"b\\\\c/d\""},
        {"\"\\b\\f\\n\\r\\t\"", "\"\\b\\f\\n\\r\\t\""},
        {"\"\\u0041\\u00e9\\u20AC\"", "\"A\xc3\xa9\xe2\x82\xac\""},
        {"\"\\u0000\\u001f\\u007f\"", "\"\\u0000\\u001f\\u007f\""},
        {"\"\x7f\"", "\"\\u007f\""},
        {"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""},
        {"\"\\uDBFF\\uDFFF\"", "\"\xf4\x8f\xbf\xbf\""},
        {"\"\\uD83D\"", "\"\xef\xbf\xbd\""},
        {"\"\\ude00x\"", "\"\xef\xbf\xbdx\""},
        {"\"\\ud83d\\u0041\"", "\"\xef\xbf\xbd"
                               "A\""},
        {"\"\\ud83d\\ud83d\\ude00\"", "\"\xef\xbf\xbd\xf0\x9f\x98\x80\""},
        {"\"h\xc3\xa9llo \xf0\x9f\x98\x80\"",
         "\"h\xc3\xa9llo \xf0\x9f\x98\x80\""},
        {"\"12345678\\n12345678\xc3\xa9"
         "12345678\"",
         "\"12345678\\n12345678\xc3\xa9"
         "12345678\""},
        {"[]", "[]"},
        {"[ ]", "[]"},
        {"{}", "{}"},
        {"{ }", "{}"},
        {"[1,2 , 3]", "[1, 2, 3]"},
        {"[[],[[]],{}]", "[[], [[]], {}]"},
        {"{\"a\":1,\"b\":[true,null]}", "{\"a\": 1, \"b\": [true, null]}"},
        {"{\"a\\u0000b\": 1}", "{\"a\\u0000b\": 1}"},
        {"{\"\": {\"\": 0}}", "{\"\": {\"\": 0}}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1000);
        struct pr_value v = read_ok(rows[i].text);
        pr_json_write(&out, &v);
        assert_string_equal(out.data, rows[i].want);
        assert_int_equal(out.len, strlen(rows[i].want));
    }
}

static void kinds_are_kept(void **state)
{
    (void)state;
    assert_int_equal(read_ok("1").kind, PR_INT);
    assert_int_equal(read_ok("1.0").kind, PR_FLOAT);
    assert_int_equal(read_ok("1e0").kind, PR_FLOAT);
    assert_int_equal(read_ok("9223372036854775808").kind, PR_FLOAT);
    assert_int_equal(read_ok("\"1\"").kind, PR_STR);
    assert_int_equal(read_ok("\"a\\u0000b\"").len, 3);
    assert_memory_equal(read_ok("\"a\\u0000b\"").s, "a\0b", 4);
}

static void everything_wrong_is_placed(void **state)
{
    static const struct {
        const char *text, *where, *what;
    } rows[] = {
        {"", "1:1", "the text ends where a value is expected"},
        {"  \n ", "2:2", "the text ends where a value is expected"},
        {"x", "1:1", "expected a value"},
        {"tru", "1:1", "expected a value"},
        {"True", "1:1", "expected a value"},
        {"'a'", "1:1", "expected a value"},
        {"+1", "1:1", "expected a value"},
        {".5", "1:1", "expected a value"},
        {"-", "1:1", "expected a value"},
        {"-NaN", "1:1", "expected a value"},
        {"-x", "1:1", "expected a value"},
        {"\xef\xbb\xbf"
         "1",
         "1:1", "expected a value"},
        {"01", "1:1", "a number with a leading zero"},
        {"-00", "1:1", "a number with a leading zero"},
        {"[1.]", "1:2", "a number without digits after its point"},
        {"1.e5", "1:1", "a number without digits after its point"},
        {"1e", "1:1", "a number without digits in its exponent"},
        {"1e+", "1:1", "a number without digits in its exponent"},
        {"1_000", "1:2", "text after the value"},
        {"nullx", "1:5", "text after the value"},
        {"1 2", "1:3", "text after the value"},
        {"{} \n\n  x", "3:3", "text after the value"},
        {"\"abc", "1:1", "a string without its closing quote"},
        {"[\"abc\\\"", "1:2", "a string without its closing quote"},
        {"\"\\", "1:1", "a string without its closing quote"},
        {"\"a\\x\"", "1:3", "unknown escape in a string"},
        {"\"\\u12\"", "1:4", "\\u wants four hexadecimal digits"},
        {"\"\\u12g4\"", "1:4", "\\u wants four hexadecimal digits"},
        {"\"\\ud83d\\u12\"", "1:10", "\\u wants four hexadecimal digits"},
        {"\"a\nb\"", "1:3", "a control character in a string"},
        {"\"a\tb\"", "1:3", "a control character in a string"},
        {"\"0123456789\x01\"", "1:12", "a control character in a string"},
        {"\"a\xff\"", "1:3", "a string that is not UTF-8"},
        {"\"\xc0\x80\"", "1:2", "a string that is not UTF-8"},
        {"\"\xed\xa0\x80\"", "1:2", "a string that is not UTF-8"},
        {"\"\xc3\"", "1:2", "a string that is not UTF-8"},
        {"\"\xf4\x90\x80\x80\"", "1:2", "a string that is not UTF-8"},
        {"[1, 2", "1:6", "expected ',' or ']'"},
        {"[1, 2}", "1:6", "expected ',' or ']'"},
        {"[1 2]", "1:4", "expected ',' or ']'"},
        {"[", "1:2", "the text ends inside a list or map"},
        {"{", "1:2", "the text ends inside a list or map"},
        {"[1,", "1:4", "the text ends inside a list or map"},
        {"[1,]", "1:4", "expected a value"},
        {"[,1]", "1:2", "expected a value"},
        {"{\"a\": 1,}", "1:9", "expected a key in double quotes"},
        {"{a: 1}", "1:2", "expected a key in double quotes"},
        {"{1: 2}", "1:2", "expected a key in double quotes"},
        {"{\"a\" 1}", "1:6", "expected ':' after a key"},
        {"{\"a\"", "1:5", "expected ':' after a key"},
        {"{\"a\":}", "1:6", "expected a value"},
        {"{\"a\":", "1:6", "the text ends where a value is expected"},
        {"{\n \"a\": 1\n \"b\": 2}", "3:2", "expected ',' or '}'"},
        {"{\"a\": 1]", "1:8", "expected ',' or '}'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_value v = {.kind = PR_MAP};
        struct pr_err err;
        char where[64], what[200];

        snprintf(where, sizeof where, "t.json:%s", rows[i].where);
        snprintf(what, sizeof what, "not valid JSON: %s", rows[i].what);
        assert_int_equal(
            read_exactly(rows[i].text, strlen(rows[i].text), 0, &v, &err),
            PR_E_FORMAT);
        assert_string_equal(err.msg, what);
        assert_string_equal(err.where, where);
        assert_int_equal(v.kind, PR_MAP); /* untouched */
    }
}

static void a_nul_is_no_end(void **state)
{
    struct pr_value v;
    struct pr_err err;

    (void)state;
    assert_int_equal(read_exactly("1\0", 2, 0, &v, &err), PR_E_FORMAT);
    assert_int_equal(read_exactly("\"\\\0\"", 4, 0, &v, &err), PR_E_FORMAT);
    assert_int_equal(read_exactly("\"a\0\"", 4, 0, &v, &err), PR_E_FORMAT);
}

static void lines_and_columns_are_kept(void **state)
{
    struct pr_value v =
        read_ok("\n {\"a\": 1,\n  \"b\": [\ntrue,\n\t\"x\"],\r\n"
                "  \"c\" :\n   {}}");
    const struct pr_member *m = v.members;
    const struct pr_value *b = &m[1].value;

    (void)state;
    assert_int_equal(v.line * 100 + v.col, 202);
    assert_int_equal(m[0].line * 100 + m[0].col, 203);
    assert_int_equal(m[0].value.line * 100 + m[0].value.col, 208);
    assert_int_equal(m[1].line * 100 + m[1].col, 303);
    assert_int_equal(b->line * 100 + b->col, 308);
    assert_int_equal(b->items[0].line * 100 + b->items[0].col, 401);
    assert_int_equal(b->items[1].line * 100 + b->items[1].col, 502);
    assert_int_equal(m[2].line * 100 + m[2].col, 603);
    assert_int_equal(m[2].value.line * 100 + m[2].value.col, 704);
}

static void the_first_line_can_be_another(void **state)
{
    struct pr_json_in in = {"\nx", 2, "log", 0, 41};
    struct pr_value v;
    struct pr_err err;

    (void)state;
    assert_int_equal(pr_json_read(&in, arena, &v, NULL, &err), PR_E_FORMAT);
    assert_string_equal(err.where, "log:42:1");
}

static void nested(char *text, size_t depth, char open, char close)
{
    memset(text, open, depth);
    memset(text + depth, close, depth);
    text[2 * depth] = '\0';
}

static void depth_has_a_limit(void **state)
{
    char text[500];
    struct pr_value v;
    struct pr_err err;

    (void)state;
    nested(text, 200, '[', ']');
    (void)read_ok(text);
    nested(text, 201, '[', ']');
    assert_int_equal(read_exactly(text, strlen(text), 0, &v, &err),
                     PR_E_FORMAT);
    assert_string_equal(err.msg, "not valid JSON: nested more than 200 deep");
    assert_string_equal(err.where, "t.json:1:201");
    /* Side by side is not deep. */
    for (int i = 0; i < 100; i++)
        memcpy(text + 1 + i * 3, "[],", 3);
    memcpy(text + 301, "0]", 3);
    assert_int_equal(read_ok(text).len, 101);
}

static void of_equal_keys_the_last_wins_in_the_first_place(void **state)
{
    struct pr_value v = read_ok("{\"a\": 1, \"b\": 2,\n \"a\": 3}");

    (void)state;
    assert_int_equal(v.len, 2);
    assert_string_equal(v.members[0].key, "a");
    assert_int_equal(v.members[0].value.i, 3);
    assert_int_equal(v.members[0].line, 2);
    assert_string_equal(v.members[1].key, "b");
}

static void equal_keys_can_be_refused(void **state)
{
    static const char text[] = "{\"x\": {\"a\": 1},\n \"a\": 1,\n \"a\": 3}";
    static const char nuls[] = "{\"a\\u0000b\": 1, \"a\\u0000c\": 2}";
    struct pr_value v;
    struct pr_err err;

    (void)state;
    assert_int_equal(
        read_exactly(text, sizeof text - 1, PR_JSON_UNIQUE_KEYS, &v, &err),
        PR_E_FORMAT);
    assert_string_equal(err.msg,
                        "'a' stands twice in the same map, first on line 2");
    assert_string_equal(err.where, "t.json:3:2");
    assert_int_equal(
        read_exactly(nuls, sizeof nuls - 1, PR_JSON_UNIQUE_KEYS, &v, &err),
        PR_OK);
}

/* keys 0 … n - 1, then key again once more */
static void many_keys(struct pr_buf *text, int n, int again)
{
    pr_buf_char(text, '{');
    for (int i = 0; i <= n; i++)
        pr_buf_printf(text, "%s\"key%d\": %d", i ? ",\n" : "",
                      i < n ? i : again, i);
    pr_buf_char(text, '}');
}

static void equal_keys_are_seen_in_maps_of_any_size(void **state)
{
    static const int sizes[] = {1, 30, 31, 32, 33, 34, 63, 64, 65, 200, 3000};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int n = sizes[i];
        for (int again = 0; again < n; again += n / 3 + 1) {
            PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 20);
            struct pr_value v;
            struct pr_err err;
            char want[100];

            many_keys(&text, n, again);
            v = read_ok(text.data);
            assert_int_equal(v.len, n);
            for (int k = 0; k < n; k++)
                assert_int_equal(v.members[k].value.i, k == again ? n : k);
            assert_int_equal(read_exactly(text.data, text.len,
                                          PR_JSON_UNIQUE_KEYS, &v, &err),
                             PR_E_FORMAT);
            snprintf(want, sizeof want,
                     "'key%d' stands twice in the same map, first on line %d",
                     again, again + 1);
            assert_string_equal(err.msg, want);
        }
    }
}

/* Would take minutes if each key were compared with all before it. */
static void a_map_of_many_keys_is_no_trouble(void **state)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 26);
    struct pr_value v;

    (void)state;
    many_keys(&text, 300000, 7);
    v = read_ok(text.data);
    assert_int_equal(v.len, 300000);
    assert_int_equal(v.members[299999].value.i, 299999);
}

/* The reader shares strings that come again; they must not be mixed up. */
static void strings_that_come_again_are_the_right_ones(void **state)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 22);
    struct pr_value v;

    (void)state;
    pr_buf_char(&text, '[');
    for (int i = 0; i < 20000; i++)
        pr_buf_printf(&text, "%s\"%0*d\"", i ? "," : "", i % 70,
                      (i * 7919) % 1000);
    pr_buf_char(&text, ']');
    v = read_ok(text.data);
    for (int i = 0; i < 20000; i++) {
        char want[100];
        int n = snprintf(want, sizeof want, "%0*d", i % 70, (i * 7919) % 1000);
        assert_string_equal(v.items[i].s, want);
        assert_int_equal(v.items[i].len, n);
    }
}

static void text_may_go_on_after_a_prefix(void **state)
{
    static const struct {
        const char *text;
        size_t used;
    } rows[] = {
        {"1 x", 1},    {" {\"a\": [1]}}", 11}, {"\"a\"b", 3},
        {"[]\n[]", 2}, {"nullnull", 4},        {"1.5e3e", 5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_json_in in = {rows[i].text, strlen(rows[i].text), "t",
                                PR_JSON_PREFIX, 0};
        struct pr_value v;
        size_t used = 0;
        assert_int_equal(pr_json_read(&in, arena, &v, &used, NULL), PR_OK);
        assert_int_equal(used, rows[i].used);
        assert_int_equal(pr_json_read(&in, arena, &v, NULL, NULL), PR_OK);
    }
}

static void indented_text_is_pythons(void **state)
{
    struct pr_value v = read_ok("{\"a\":[1,{\"b\":[]}],\"c\":{},\"d\":\"x\"}");
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1000);

    (void)state;
    pr_json_write_indented(&out, &v, 2, 0);
    assert_string_equal(out.data, "{\n  \"a\": [\n    1,\n    {\n"
                                  "      \"b\": []\n    }\n  ],\n"
                                  "  \"c\": {},\n  \"d\": \"x\"\n}");
    pr_buf_clear(&out);
    pr_json_write_indented(&out, &v.members[0].value, 1, 2);
    assert_string_equal(out.data, "[\n   1,\n   {\n    \"b\": []\n   }\n  ]");
    pr_buf_clear(&out);
    pr_json_write_indented(&out, &v, 0, 0);
    assert_string_equal(out.data, "{\"a\": [1, {\"b\": []}], \"c\": {}, "
                                  "\"d\": \"x\"}");
}

static void written_text_is_valid_whatever_it_gets(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *want;
    } rows[] = {
        {"", 0, "\"\""},
        {"a\0b", 3, "\"a\\u0000b\""},
        {"\xff", 1, "\"\xef\xbf\xbd\""},
        {"a\xc3", 2, "\"a\xef\xbf\xbd\""},
        {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc3\xa9\xff\"", 4, "\"\xc3\xa9\xef\xbf\xbd\\\"\""},
        {"\x1f\x20\x7e\x7f", 4, "\"\\u001f ~\\u007f\""},
        {"\v\x0e", 2, "\"\\u000b\\u000e\""},
        {"1234567\x7f", 8, "\"1234567\\u007f\""},
        {"12345678\\", 9, "\"12345678\\\\\""},
        {"\x80\x80\x80\x80\x80\x80\x80\x80", 0, "\"\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1000);
        pr_json_write_string(&out, rows[i].text, rows[i].len);
        assert_string_equal(out.data, rows[i].want);
    }
}

static void every_byte_is_escaped_at_every_place(void **state)
{
    (void)state;
    for (int c = 0; c < 128; c++) {
        for (size_t at = 0; at < 17; at++) {
            PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1000);
            char text[17];
            struct pr_value v;

            memset(text, 'x', sizeof text);
            text[at] = (char)c;
            pr_json_write_string(&out, text, sizeof text);
            v = read_ok(out.data);
            assert_int_equal(v.len, sizeof text);
            assert_memory_equal(v.s, text, sizeof text);
            for (size_t i = 0; i < out.len; i++)
                assert_true(out.data[i] >= 0x20 && out.data[i] < 0x7f);
        }
    }
}

static void the_writer_stops_at_the_maximum(void **state)
{
    struct pr_value v = read_ok("{\"abc\": [\"defghijk\", 12, 1.5, true]}");
    PR_AUTO_BUF struct pr_buf whole = PR_BUF_INIT(1000);

    (void)state;
    pr_json_write(&whole, &v);
    for (size_t max = 0; max <= whole.len; max++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(max);
        pr_json_write(&out, &v);
        assert_int_equal(pr_buf_ok(&out), max == whole.len);
        assert_true(out.len <= max);
    }
}

/* Walking */

static void a_walk_sees_what_is_there(void **state)
{
    static const char text[] = " {\"n\": 1,\n \"list\": [ 10, [20],\n  \"x\" ] "
                               ",\"empty\":[], \"m\": {}}";
    struct pr_json_walk w;
    struct pr_value v;
    const char *key;

    (void)state;
    pr_json_walk_init(&w, text, sizeof text - 1, "t.json");
    assert_int_equal(pr_json_walk_enter(&w, '{', NULL), PR_OK);
    assert_int_equal(pr_json_walk_next(&w, '}', arena, &key, NULL), 1);
    assert_string_equal(key, "n");
    assert_int_equal(pr_json_walk_read(&w, arena, &v, NULL), PR_OK);
    assert_int_equal(v.i, 1);
    assert_int_equal(v.line * 100 + v.col, 108);
    assert_int_equal(pr_json_walk_next(&w, '}', arena, &key, NULL), 1);
    assert_string_equal(key, "list");
    assert_int_equal(pr_json_walk_enter(&w, '[', NULL), PR_OK);
    assert_int_equal(pr_json_walk_next(&w, ']', arena, NULL, NULL), 1);
    assert_int_equal(pr_json_walk_read(&w, arena, &v, NULL), PR_OK);
    assert_int_equal(v.i, 10);
    assert_int_equal(v.line * 100 + v.col, 212);
    assert_int_equal(pr_json_walk_next(&w, ']', arena, NULL, NULL), 1);
    assert_int_equal(pr_json_walk_read(&w, arena, &v, NULL), PR_OK);
    assert_int_equal(v.items[0].i, 20);
    assert_int_equal(v.items[0].line * 100 + v.items[0].col, 217);
    assert_int_equal(pr_json_walk_next(&w, ']', arena, NULL, NULL), 1);
    assert_int_equal(pr_json_walk_read(&w, arena, &v, NULL), PR_OK);
    assert_string_equal(v.s, "x");
    assert_int_equal(v.line * 100 + v.col, 303);
    assert_int_equal(pr_json_walk_next(&w, ']', arena, NULL, NULL), 0);
    assert_int_equal(pr_json_walk_next(&w, '}', arena, &key, NULL), 1);
    assert_string_equal(key, "empty");
    assert_int_equal(pr_json_walk_enter(&w, '[', NULL), PR_OK);
    assert_int_equal(pr_json_walk_next(&w, ']', arena, NULL, NULL), 0);
    assert_int_equal(pr_json_walk_next(&w, '}', arena, &key, NULL), 1);
    assert_int_equal(pr_json_walk_enter(&w, '{', NULL), PR_OK);
    assert_int_equal(pr_json_walk_next(&w, '}', arena, &key, NULL), 0);
    assert_int_equal(pr_json_walk_next(&w, '}', arena, &key, NULL), 0);
    assert_true(w.pos == w.end);
}

/* Walks a list or map to its end; the last return value. */
static int walk_all(const char *text, struct pr_err *err)
{
    struct pr_json_walk w;
    struct pr_value v;
    const char *key;
    char open = text[0] == '{' ? '{' : '[';
    int rc;

    pr_json_walk_init(&w, text, strlen(text), "t.json");
    rc = pr_json_walk_enter(&w, open, err);
    while (rc == PR_OK) {
        rc = pr_json_walk_next(&w, open == '{' ? '}' : ']', arena, &key, err);
        if (rc != 1)
            return rc;
        rc = pr_json_walk_read(&w, arena, &v, err);
    }
    return rc;
}

static void a_walk_is_as_strict_as_reading(void **state)
{
    static const struct {
        const char *text, *where, *what;
    } rows[] = {
        {"", "1:1", "expected a list"},
        {"\n 5", "2:2", "expected a list"},
        {"[", "1:2", "the text ends inside a list or map"},
        {"[1", "1:3", "the text ends inside a list or map"},
        {"[1,", "1:4", "the text ends inside a list or map"},
        {"[,1]", "1:2", "expected a value"},
        {"[1,]", "1:4", "expected a value"},
        {"[1,,2]", "1:4", "expected a value"},
        {"[1 2]", "1:4", "expected ',' or ']'"},
        {"[1\n x]", "2:2", "expected ',' or ']'"},
        {"[1,\n  x]", "2:3", "expected a value"},
        {"{\"a\": 1 \"b\": 2}", "1:9", "expected ',' or '}'"},
        {"{\"a\": 1,}", "1:9", "expected a key in double quotes"},
        {"{,\"a\": 1}", "1:2", "expected a key in double quotes"},
        {"{a: 1}", "1:2", "expected a key in double quotes"},
        {"{\"a\", 1}", "1:5", "expected ':' after a key"},
        {"{\"a\"", "1:5", "expected ':' after a key"},
        {"{\"a\": }", "1:7", "expected a value"},
        {"{\"a\":", "1:6", "the text ends where a value is expected"},
    };
    struct pr_err err;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char where[64], what[200];

        snprintf(where, sizeof where, "t.json:%s", rows[i].where);
        snprintf(what, sizeof what, "not valid JSON: %s", rows[i].what);
        assert_int_equal(walk_all(rows[i].text, &err), PR_E_FORMAT);
        assert_string_equal(err.msg, what);
        assert_string_equal(err.where, where);
    }
    assert_int_equal(walk_all("[]", &err), 0);
    assert_int_equal(walk_all("[ 1 , [2] , {\"a\": 3} ] junk", &err), 0);
    assert_int_equal(walk_all("{\"a\":1,\"a\":2}", &err), 0);
}

/* Torture */

static struct pr_buf long_text = PR_BUF_INIT(1 << 20);

static int try_json(void)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_json_in in = {long_text.data, long_text.len, "t", 0, 0};
    struct pr_value v;
    struct pr_err err;
    int rc;

    if (!a)
        return PR_E_NOMEM;
    rc = pr_json_read(&in, a, &v, NULL, &err);
    if (rc) {
        assert_int_equal(err.code, rc);
        return rc;
    }
    pr_json_write(&out, &v);
    pr_json_write_indented(&out, &v, 4, 0);
    pr_value_write_text(&out, &v);
    return pr_buf_ok(&out) ? PR_OK : PR_E_NOMEM;
}

/* Whatever is before and after, and wherever in a block of sixteen it ends. */
static void a_step_over_a_value_ends_behind_it(void **state)
{
    static const char *const values[] = {
        "{}",
        "[]",
        "12.5",
        "\"a]}\"",
        "\"\\\\\"",
        "\"\\\"]\"",
        "null",
        "{\"a\": [1, {\"b\": \"}\\\"]\"}], \"c\\\\\": \"\xc3\xa4{\"}",
        "[\n  [\n    1.0,\r\n\t2\n  ],\n  {\"k\":\n\"v\"}\n]",
        "[[[[[[[[[[[[[[[[[[\"abcdefghijklmnopqrstuvwxyz\"]]]]]]]]]]]]]]]]]]"};
    struct pr_json_walk w;
    const char *got;
    size_t len;

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int pad = 0; pad < 40; pad++) {
            PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
            size_t n = strlen(values[i]);
            unsigned lines = 1;

            pr_buf_printf(&text, "[%*s%s%*s\n,  oops", pad, "", values[i],
                          pad / 3, "");
            for (size_t k = 0; k < text.len; k++)
                lines += text.data[k] == '\n';
            pr_json_walk_init(&w, text.data, text.len, "t");
            assert_int_equal(pr_json_walk_enter(&w, '[', NULL), PR_OK);
            assert_int_equal(pr_json_walk_span(&w, &got, &len, NULL), PR_OK);
            assert_int_equal(len, n);
            assert_memory_equal(got, values[i], n);
            assert_ptr_equal(w.pos, got + n);
            assert_int_equal(pr_json_walk_next(&w, ']', arena, NULL, NULL), 1);
            assert_int_equal(w.line, lines);
            assert_memory_equal(w.text, ",  oops", 7); /* its line */
        }
}

static void what_cannot_be_stepped_over_is_placed(void **state)
{
    static const struct {
        const char *text, *place, *what;
    } rows[] = {
        {"", "1:1", "the text ends where a value is expected"},
        {"]", "1:1", "expected a value"},
        {"\"abc\\\"", "1:1", "a string without its closing quote"},
        {"[1,\n {\"a\": 2\n", "3:1", "the text ends inside a list or map"},
        {"[1,\n\n  \"abc\n", "3:3", "a string without its closing quote"},
        {"[1,\n       2,              \n 3\x01]", "3:3", "expected a value"},
    };
    struct pr_json_walk w;
    struct pr_err err;
    const char *got;
    size_t len;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char where[16];

        pr_json_walk_init(&w, rows[i].text, strlen(rows[i].text), "t");
        assert_int_equal(pr_json_walk_span(&w, &got, &len, &err), PR_E_FORMAT);
        snprintf(where, sizeof where, "t:%s", rows[i].place);
        assert_string_equal(err.where, where);
        assert_non_null(strstr(err.msg, rows[i].what));
    }
}

static int try_walk(void)
{
    struct pr_arena *saved = arena;
    int rc;

    arena = pr_arena_new(1024);
    rc = arena ? walk_all(long_text.data, NULL) : PR_E_NOMEM;
    pr_arena_free(arena);
    arena = saved;
    return rc;
}

static void running_out_of_memory_is_an_error(void **state)
{
    struct pr_value v;

    (void)state;
    pr_buf_str(&long_text, "{\"a\\n\": [");
    for (int i = 0; i < 400; i++)
        pr_buf_printf(&long_text, "\"text %d\", {\"k\": %d.5}, ", i, i);
    pr_buf_str(&long_text, "0], \"big\": ");
    many_keys(&long_text, 150, 3);
    pr_buf_str(&long_text, "}");
    v = read_ok(long_text.data);
    assert_int_equal(v.len, 2);
    torture(try_json);
    torture(try_walk);
    pr_buf_free(&long_text);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(values_come_back_as_written),
        TEST(kinds_are_kept),
        TEST(everything_wrong_is_placed),
        TEST(a_nul_is_no_end),
        TEST(lines_and_columns_are_kept),
        TEST(the_first_line_can_be_another),
        TEST(depth_has_a_limit),
        TEST(of_equal_keys_the_last_wins_in_the_first_place),
        TEST(equal_keys_can_be_refused),
        TEST(equal_keys_are_seen_in_maps_of_any_size),
        TEST(a_map_of_many_keys_is_no_trouble),
        TEST(strings_that_come_again_are_the_right_ones),
        TEST(text_may_go_on_after_a_prefix),
        TEST(indented_text_is_pythons),
        TEST(written_text_is_valid_whatever_it_gets),
        TEST(every_byte_is_escaped_at_every_place),
        TEST(the_writer_stops_at_the_maximum),
        TEST(a_walk_sees_what_is_there),
        TEST(a_walk_is_as_strict_as_reading),
        TEST(a_step_over_a_value_ends_behind_it),
        TEST(what_cannot_be_stepped_over_is_placed),
        TEST(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
