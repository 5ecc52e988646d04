/*
 * Parameter lines in logs: the grammar row by row, whole files with everything
 * that strangers write into them, and the tail that reports show.
 */
#include "record/log.h"

#include "base/file.h"
#include "base/json/json.h"

#include "skip.h"
#include "torture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAD "?" /* matched, but the value is not JSON */

struct row {
    const char *line, *key, *value; /* key NULL: no parameter line */
};

static const struct row rows[] = {
    /* as in the collection of lines tried with the real program */
    {"__a.b__=1", "a.b", "1"},
    {"__a.b__= 1", "a.b", "1"},
    {"  \t__a.b__ \t=  \"x\"  ", "a.b", "\"x\""},
    {"__a__=", NULL, NULL},
    {"__a__= ", "a", "null"},
    {"__a__=abc", "a", BAD},
    {"__a__=NaN", "a", "NaN"},
    {"__a__=-Infinity", "a", "-Infinity"},
    {"__a__=[1, 2.5, \"z\"]", "a", "[1, 2.5, \"z\"]"},
    {"__a__={\"b\": {\"c\": true}}", "a", "{\"b\": {\"c\": true}}"},
    {"__a__==1", "a", BAD},
    {"__a__=\"x\" # c", "a", BAD},
    {"__pytorch.__master_addr__=\"h\"", "pytorch.__master_addr", "\"h\""},
    {"__a__b__=1", "a__b", "1"},
    {"____=1", NULL, NULL},
    {"__a__=1__b__=2", "a", BAD},
    {"__ sp ace __=1", "sp ace", "1"},
    {"__a__=\"caf\\u00e9\"", "a", "\"caf\xc3\xa9\""},
    {"__a__ =1", "a", "1"},
    {"__a_=1", NULL, NULL},
    {"__a__:1", NULL, NULL},
    {"__results.time__= 11\r", "results.time", "11"},
    {"__a__=01", "a", BAD},
    {"__a__=-0.5", "a", "-0.5"},
    {"__a__=.5", "a", BAD},
    {"x__a__=1", NULL, NULL},
    /* the corners of the expression */
    {"", NULL, NULL},
    {"_", NULL, NULL},
    {"__", NULL, NULL},
    {"__=", NULL, NULL},
    {"___=1", NULL, NULL},
    {"_____=1", "_", "1"},
    {"______=1", "__", "1"},
    {"__a___=1", "a_", "1"},
    {"__ __=1", "", "1"},
    {"__a__ __=1", "a__", "1"},
    {"__a__ x =1", NULL, NULL},
    {"__a__\n=1", NULL, NULL},
    {"__a=b__=1", "a=b", "1"},
    {"__a__=\"__b__=1\"", "a", "\"__b__=1\""},
    {"\v__a__=1", NULL, NULL},
    {"__a__=\f1\x1f", "a", "1"},
    {"__\xc2\xa0k\xe2\x80\x83__=\xe3\x80\x80[]\xc2\x85", "k", "[]"},
    {"__\xe2\x80\x8bk__=1", "\xe2\x80\x8bk", "1"},
    {"__a__=\"\xff\"", "a", BAD},
    {"__\xff__=1", "a", BAD},
    {"__a__=\"\t\"", "a", BAD},
    {"__a__=[1,]", "a", BAD},
    {"__a__='x'", "a", BAD},
    {"__a__=True", "a", BAD},
};

static void check(const struct row *r, const char *line, size_t len)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf json = PR_BUF_INIT(4096);
    struct pr_value v = pr_str("untouched");
    struct pr_err err = {0};
    const char *key = "untouched";
    size_t key_len = 9;
    int want = !r->key ? 0 : strcmp(r->value, BAD) == 0 ? PR_E_FORMAT : 1;
    int rc = pr_log_parse_line(line, len, a, &key, &key_len, &v, &err);

    if (rc != want)
        print_message("line '%s'\n", r->line);
    assert_int_equal(rc, want);
    if (rc != 1) {
        assert_string_equal(key, "untouched");
        assert_string_equal(v.s, "untouched");
        assert_int_equal(err.code, rc);
        return;
    }
    assert_int_equal(key_len, strlen(r->key));
    assert_memory_equal(key, r->key, key_len);
    pr_json_write(&json, &v);
    assert_string_equal(json.data, r->value);
}

/* Each in a block of its own size, so that a sanitizer sees one byte more. */
static void grammar_row_by_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i].line);
        char *exact = malloc(len ? len : 1);
        assert_non_null(exact);
        memcpy(exact, rows[i].line, len);
        check(&rows[i], exact, len);
        free(exact);
    }
}

static void a_nul_is_a_byte_like_others(void **state)
{
    static const struct row in_key = {"__a\0b__=1", "a\0b", "1"};
    struct row bad = {"__a__=\0", "a", BAD};
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;
    const char *key;
    size_t len;

    (void)state;
    assert_int_equal(pr_log_parse_line(in_key.line, 9, a, &key, &len, &v, NULL),
                     1);
    assert_int_equal(len, 3);
    assert_memory_equal(key, in_key.key, 3);
    check(&bad, bad.line, 7);
}

static void errors_name_key_and_value(void **state)
{
    static const char line[] = "__results.time__= 12 ms";
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    struct pr_value v;
    struct pr_err err;
    const char *key;
    size_t len;

    (void)state;
    assert_int_equal(
        pr_log_parse_line(line, strlen(line), a, &key, &len, &v, &err),
        PR_E_FORMAT);
    assert_string_equal(err.msg,
                        "the value of 'results.time' is not JSON: '12 ms'");
}

/* The vectors name the parameters read, or "error". NaN stands as text. */
static void check_vector(const struct pr_value *vector, struct pr_arena *a)
{
    const struct pr_value *line = pr_get(vector, "line");
    const struct pr_value *want = pr_get(pr_get(vector, "result"), "ok");
    struct pr_value v;
    const char *key;
    size_t len;
    int rc = pr_log_parse_line(line->s, line->len, a, &key, &len, &v, NULL);

    if (rc != (!want ? PR_E_FORMAT : want->len ? 1 : 0))
        fail_msg("'%s' gave %d", line->s, rc);
    if (rc != 1)
        return;
    assert_int_equal(want->members[0].key_len, len);
    assert_memory_equal(want->members[0].key, key, len);
    if (want->members[0].value.kind == PR_STR && v.kind == PR_FLOAT)
        assert_string_equal(want->members[0].value.s, "NaN");
    else
        assert_true(pr_value_equal(&want->members[0].value, &v));
}

static void vectors_of_the_real_program(void **state)
{
    struct pr_json_in in = {.name = "vectors"};
    struct pr_value all;
    struct pr_view file;
    char path[4096];

    (void)state;
    find_peers("dlbs/golden/log_line_vectors.json", path);
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    assert_int_equal(pr_file_map(path, &file, NULL), PR_OK);
    in.text = file.data;
    in.len = file.len;
    assert_int_equal(pr_json_read(&in, a, &all, NULL, NULL), PR_OK);
    assert_true(all.kind == PR_LIST && all.len >= 20);
    for (uint32_t i = 0; i < all.len; i++)
        check_vector(&all.items[i], a);
    pr_file_unmap(&file);
}

/* Writes "key=value;" for each parameter. */
static int note(void *ctx, const char *key, size_t key_len,
                const struct pr_value *value, struct pr_err *err)
{
    struct pr_buf *out = ctx;

    if (key_len == 4 && memcmp(key, "stop", 4) == 0)
        return pr_fail(err, PR_E_JOB, "", "stopped");
    pr_buf_add(out, key, key_len);
    pr_buf_char(out, '=');
    pr_json_write(out, value);
    pr_buf_char(out, ';');
    return 0;
}

static void scan_text(const char *text, size_t len, size_t piece,
                      struct pr_buf *out, struct pr_log_counts *counts)
{
    struct pr_log_scanner *s = pr_log_scanner_new("x.log", note, out);

    assert_non_null(s);
    for (size_t i = 0; i < len; i += piece)
        assert_int_equal(pr_log_scanner_feed(s, text + i,
                                             len - i < piece ? len - i : piece,
                                             NULL),
                         PR_OK);
    assert_int_equal(pr_log_scanner_finish(s, counts, NULL), PR_OK);
    pr_log_scanner_free(s);
}

static void lines_end_as_python_has_it(void **state)
{
    static const struct {
        const char *text, *want;
        uint64_t lines, bad;
    } cases[] = {
        {"", "", 0, 0},
        {"__a__=1", "a=1;", 1, 0},
        {"__a__=1\n", "a=1;", 1, 0},
        {"\n\n__a__=1\n\n", "a=1;", 4, 0},
        {"__a__=1\r\n__b__=2\r\n", "a=1;b=2;", 2, 0},
        {"10%\r20%\r__a__=1\rdone", "a=1;", 4, 0},
        {"\r\r\n\n", "", 3, 0},
        {"__b__=\r\n__c__= \r\n", "c=null;", 2, 0},
        {"chatter\n  __a__ = [1]\n__b__=x\n__c__=y\n", "a=[1];", 4, 2},
        {"\xff\xfe\n__a__=1\n__b__=\"\xc3\"\n", "a=1;", 3, 1},
        {"__a__=1\n__a__=2\n", "a=1;a=2;", 2, 0},
        {"  \n   __a__=1\n    chatter __b__=2", "a=1;", 3, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t piece = 1; piece < 40; piece++) {
            PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
            struct pr_log_counts c;
            pr_buf_str(&out, "");
            scan_text(cases[i].text, strlen(cases[i].text), piece, &out, &c);
            assert_string_equal(out.data, cases[i].want);
            assert_int_equal(c.lines, cases[i].lines);
            assert_int_equal(c.bad, cases[i].bad);
            assert_int_equal(c.too_long, 0);
        }
    }
}

static void first_bad_line_is_told(void **state)
{
    static const char text[] = "x\n__a__=1\n__b__=oops\n__c__=worse\n";
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    struct pr_log_counts c;

    (void)state;
    scan_text(text, strlen(text), 7, &out, &c);
    assert_int_equal(c.params, 1);
    assert_int_equal(c.bad, 2);
    assert_int_equal(c.first_bad_line, 3);
    assert_string_equal(c.first_bad.where, "x.log:3");
    assert_string_equal(c.first_bad.msg,
                        "the value of 'b' is not JSON: 'oops'");
}

static char temp_path[] = "/tmp/prony_logline.XXXXXX";

static void write_log(const void *text, size_t len)
{
    assert_int_equal(pr_file_write(temp_path, text, len, NULL), PR_OK);
}

/* A parameter line of exactly n bytes. */
static void add_long_line(struct pr_buf *log, char key, size_t n)
{
    pr_buf_printf(log, "__%c__=\"", key);
    for (size_t i = 8; i < n; i++)
        pr_buf_char(log, 'x');
    pr_buf_str(log, "\"\n");
}

static int count_bytes(void *ctx, const char *key, size_t key_len,
                       const struct pr_value *value, struct pr_err *err)
{
    uint64_t *bytes = ctx;

    (void)err;
    assert_int_equal(key_len, 1);
    assert_true(*key != 'l');
    *bytes += value->kind == PR_STR ? value->len : 1;
    return 0;
}

static void lines_over_the_limit_are_counted(void **state)
{
    PR_AUTO_BUF struct pr_buf log = PR_BUF_INIT((size_t)64 << 20);
    struct pr_log_counts c;
    uint64_t bytes = 0;

    (void)state;
    add_long_line(&log, 'a', 200000);
    add_long_line(&log, 'm', PR_LOG_MAX_LINE);
    add_long_line(&log, 'l', PR_LOG_MAX_LINE + 1);
    for (size_t i = 0; i <= PR_LOG_MAX_LINE; i++)
        pr_buf_char(&log, ' ' + (char)(i > 99));
    pr_buf_str(&log, "\n__z__=1");
    write_log(log.data, log.len);
    assert_int_equal(pr_log_scan(temp_path, count_bytes, &bytes, &c, NULL),
                     PR_OK);
    assert_int_equal(c.lines, 5);
    assert_int_equal(c.params, 3);
    assert_int_equal(c.too_long, 2);
    assert_int_equal(c.bad, 1); /* one of them had a figure */
    assert_int_equal(c.first_bad_line, 3);
    assert_non_null(strstr(c.first_bad.msg, "__l__ takes more than 8 MiB"));
    assert_int_equal(bytes, 200000 - 8 + PR_LOG_MAX_LINE - 8 + 1);
}

static void the_callback_can_stop(void **state)
{
    static const char text[] = "__a__=1\n__stop__=1\n__b__=1\n";
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    struct pr_log_counts c = {.lines = 77};
    struct pr_err err;

    (void)state;
    write_log(text, strlen(text));
    assert_int_equal(pr_log_scan(temp_path, note, &out, &c, &err), PR_E_JOB);
    assert_string_equal(err.msg, "stopped");
    assert_string_equal(out.data, "a=1;");
    assert_int_equal(c.lines, 77);
}

static void missing_and_unreadable_files_fail(void **state)
{
    struct pr_log_counts c;
    struct pr_buf out = PR_BUF_INIT(100);
    struct pr_err err;

    (void)state;
    assert_int_equal(pr_log_scan("/no/such.log", note, &out, &c, &err),
                     PR_E_IO);
    assert_string_equal(err.where, "/no/such.log");
    assert_int_equal(pr_log_scan("/tmp", note, &out, &c, &err), PR_E_IO);
    assert_int_equal(pr_log_tail("/no/such.log", 1, 1, &out, &err), PR_E_IO);
    assert_int_equal(pr_log_tail("/tmp", 1, 1, &out, &err), PR_E_IO);
    assert_int_equal(pr_log_tail("/dev/null", 1, 1, &out, &err), PR_E_IO);
    assert_null(out.data);
}

static void tail_shows_the_last_lines(void **state)
{
    static const struct {
        const char *text;
        size_t lines, bytes;
        const char *want;
    } cases[] = {
        {"", 5, 100, ""},
        {"a\nb\nc\n", 2, 100, "b\nc\n"},
        {"a\nb\nc", 2, 100, "b\nc\n"},
        {"a\nb\nc\n", 9, 100, "a\nb\nc\n"},
        {"a\nb\nc\n", 0, 100, ""},
        {"a\n\n\n", 2, 100, "\n\n"},
        {"a\r\nb\r\nc\r\n", 2, 100, "b\nc\n"},
        {"10%\r20%\r\nend", 2, 100, "20%\nend\n"},
        /* by bytes: whole lines only, unless there is but one */
        {"aaaa\nbbbb\n", 9, 6, "bbbb\n"},
        {"aaaa\nbbbb\n", 9, 5, "bbbb\n"},
        {"aa\nbb\ncc\n", 9, 6, "bb\ncc\n"},
        {"aaaa\nbbbb\n", 9, 4, "bbb\n"},
        {"aaaa\r\nbbbb", 9, 5, "bbbb\n"},
        {"aaaa\r\nbbbb", 9, 4, "bbbb\n"},
        {"aaaa\nbbbb\n", 9, 10, "aaaa\nbbbb\n"},
        {"\xe2\x82\xac\xe2\x82\xac", 9, 5, "\xe2\x82\xac\n"},
        /* nothing that could steer a terminal */
        {"a\tb\x01\x7f\n", 9, 99, "a\tb\n"},
        {"\x1b[1;31merror\x1b[0m: x\n", 9, 99, "error: x\n"},
        {"\x1b]0;title\aok\x1b]8;;u\x1b\\link\n", 9, 99, "oklink\n"},
        {"\x1b(Bx\x1b", 9, 99, "x\n"},
        {"\x1b[31\nnext\n", 9, 99, "\nnext\n"},
        {"a\xc2\x9b"
         "31mb\xe2\x80\xaeg\n",
         9, 99, "a31mbg\n"},
        {"caf\xe9 \xc3\xa9\n", 9, 99, "caf\xef\xbf\xbd \xc3\xa9\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
        pr_buf_str(&out, ">");
        write_log(cases[i].text, strlen(cases[i].text));
        assert_int_equal(
            pr_log_tail(temp_path, cases[i].lines, cases[i].bytes, &out, NULL),
            PR_OK);
        assert_string_equal(out.data + 1, cases[i].want);
    }
}

static void tail_removes_nuls(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);

    (void)state;
    write_log("a\0b\n", 4);
    assert_int_equal(pr_log_tail(temp_path, 1, 100, &out, NULL), PR_OK);
    assert_int_equal(out.len, 3);
    assert_string_equal(out.data, "ab\n");
}

static int attempt(void)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);
    struct pr_log_counts c;
    int rc = pr_log_scan(temp_path, note, &out, &c, NULL);

    if (!rc)
        rc = pr_log_tail(temp_path, 2, 100, &out, NULL);
    return !rc && !pr_buf_ok(&out) ? PR_E_NOMEM : rc;
}

static void out_of_memory_is_an_error(void **state)
{
    PR_AUTO_BUF struct pr_buf log = PR_BUF_INIT(1 << 20);

    (void)state;
    pr_buf_str(&log, "__a__={\"b\": [1, 2, \"c\"]}\n");
    add_long_line(&log, 'a', 70000);
    write_log(log.data, log.len);
    torture(attempt);
}

static int make_temp(void **state)
{
    int fd = mkstemp(temp_path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_temp(void **state)
{
    (void)state;
    return unlink(temp_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grammar_row_by_row),
        cmocka_unit_test(a_nul_is_a_byte_like_others),
        cmocka_unit_test(errors_name_key_and_value),
        cmocka_unit_test(vectors_of_the_real_program),
        cmocka_unit_test(lines_end_as_python_has_it),
        cmocka_unit_test(first_bad_line_is_told),
        cmocka_unit_test(lines_over_the_limit_are_counted),
        cmocka_unit_test(the_callback_can_stop),
        cmocka_unit_test(missing_and_unreadable_files_fail),
        cmocka_unit_test(tail_shows_the_last_lines),
        cmocka_unit_test(tail_removes_nuls),
        cmocka_unit_test(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, make_temp, remove_temp);
}
