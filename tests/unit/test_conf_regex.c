/* Python's regular expressions: matching, replacing, limits, threads. */
#include "conf/expr/regex.h"
#include "torture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pr_regex *compile(const char *pattern, unsigned flags)
{
    struct pr_regex *re = NULL;
    struct pr_err err = {0};

    if (pr_regex_new(pattern, strlen(pattern), flags, &re, &err) != PR_OK)
        fail_msg("%s: %s", pattern, err.msg);
    return re;
}

static int sub_all(const struct pr_regex *re, const char *repl, size_t repl_len,
                   const char *s, size_t len, struct pr_buf *out,
                   struct pr_err *err)
{
    struct pr_regex_sub_in in = {repl, repl_len, s, len, 0};

    return pr_regex_sub(re, &in, out, err);
}

static void match_is_anchored_at_the_start_only(void **state)
{
    static const struct {
        const char *pattern, *text;
        int match, search;
    } rows[] = {
        {"b", "abc", 0, 1},
        {"a", "abc", 1, 1},
        {"ab", "abc", 1, 1},
        {"abcd", "abc", 0, 0},
        {"", "abc", 1, 1},
        {"^b", "a\nb", 0, 0},
        {"c$", "abc\n", 0, 1},
        {"c\\Z", "abc\n", 0, 0},
        {"c\\Z", "abc", 0, 1},
        {"a.c", "a\nc", 0, 0},
        {"a.c", "a\rc", 1, 1},
        {"\\d", "x1", 0, 1},
        {"[[:a]", "[", 1, 1},
        {"[:a:]", "a", 1, 1},
        {"[]x]", "]", 1, 1},
        {"a{,2}b", "aab", 1, 1},
        {"a{,2}b", "aaab", 0, 1},
        {"a{x}", "a{x}", 1, 1},
        {"\\v", "\x0b", 1, 1},
        {"\\v", "\n", 0, 0},
        {"\\x41", "A", 1, 1},
        {"\\u00e9", "\xc3\xa9", 1, 1},
        {"^.$", "\xc3\xa9", 1, 1},
        {"\\w", "\xc3\xa9", 1, 1},
        {"(?i)ABC", "abc", 1, 1},
        {"(?P<q>['\"]).*(?P=q)", "'x'", 1, 1},
        {"(?:a|b)(?!c)", "ad", 1, 1},
        {"(?<=a)b", "ab", 0, 1},
        {"a(?#note)b", "ab", 1, 1},
        {"(a)?(?(1)b|c)", "ab", 1, 1},
        {"(?u)a", "a", 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pr_regex *re = compile(rows[i].pattern, 0);
        const char *s = rows[i].text;
        size_t len = strlen(s);

        if (pr_regex_match(re, s, len, NULL, NULL) != rows[i].match ||
            pr_regex_search(re, s, len, 0, NULL, NULL) != rows[i].search)
            fail_msg("'%s' on '%s'", rows[i].pattern, s);
        pr_regex_free(re);
    }
}

static void flags_are_heeded(void **state)
{
    struct pr_regex *re = compile(
        "^b.C$", PR_REGEX_IGNORE_CASE | PR_REGEX_MULTILINE | PR_REGEX_DOTALL);

    (void)state;
    assert_int_equal(pr_regex_search(re, "a\nB\nc\nd", 7, 0, NULL, NULL), 1);
    pr_regex_free(re);
    re = compile("^b.C$", 0);
    assert_int_equal(pr_regex_search(re, "a\nB\nc\nd", 7, 0, NULL, NULL), 0);
    pr_regex_free(re);
}

static void spans_tell_where_groups_are(void **state)
{
    struct pr_regex *re = compile("(a)(x)?(?P<last>b+)", 0);
    struct pr_regex_span spans[4] = {{0, 0}};

    (void)state;
    assert_int_equal(pr_regex_group_count(re), 3);
    assert_int_equal(pr_regex_find_group(re, "last", 4), 3);
    assert_int_equal(pr_regex_find_group(re, "lost", 4), 0);
    assert_int_equal(pr_regex_search(re, "--abb-", 6, 0, spans, NULL), 1);
    assert_int_equal(spans[0].start, 2);
    assert_int_equal(spans[0].end, 5);
    assert_int_equal(spans[1].start, 2);
    assert_true(spans[2].start == PR_REGEX_NO_SPAN);
    assert_int_equal(spans[3].start, 3);
    assert_int_equal(spans[3].end, 5);
    assert_int_equal(pr_regex_search(re, "--abb-", 6, 3, spans, NULL), 0);
    assert_int_equal(pr_regex_search(re, "--abb-", 6, 7, spans, NULL), 0);
    pr_regex_free(re);
}

static void sub_replaces_as_python_does(void **state)
{
    static const struct {
        const char *pattern, *repl, *text, *want;
    } rows[] = {
        {"[:,]", " ", "0:1,2", "0 1 2"},
        {"x*", "-", "abxd", "-a-b--d-"},
        {"", "-", "a\xc3\xa9", "-a-\xc3\xa9-"},
        {"(a)(n)", "\\2\\1", "banana", "bnanaa"},
        {"(?P<x>a)", "<\\g<x>\\g<1>\\g<0>>", "ba", "b<aaa>"},
        {"(a)|b", "[\\1]", "ab", "[a][]"},
        {"a", "\\n\\\\", "a", "\n\\"},
        {"a", "\\&", "a", "\\&"},
        {"a", "\\101", "a", "A"},
        {"\xc3\xa9", "e", "caf\xc3\xa9\xff\xc3\xa9",
         "cafe\xff"
         "e"},
        {"q", "x", "abc", "abc"},
        {"b", "x", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1000);
        struct pr_regex *re = compile(rows[i].pattern, 0);
        struct pr_err err = {0};

        pr_buf_str(&out, "<");
        if (sub_all(re, rows[i].repl, strlen(rows[i].repl), rows[i].text,
                    strlen(rows[i].text), &out, &err) != PR_OK)
            fail_msg("row %zu: %s", i, err.msg);
        assert_int_equal(out.data[0], '<');
        assert_string_equal(out.data + 1, rows[i].want);
        pr_regex_free(re);
    }
}

static void bad_replacement_leaves_the_output(void **state)
{
    static const char *const repls[] = {"\\2", "\\g<x>", "\\g<", "\\q",
                                        "\\",  "\\g<>",  "\\777"};
    struct pr_regex *re = compile("(a)", 0);

    (void)state;
    for (size_t i = 0; i < sizeof repls / sizeof *repls; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1000);
        struct pr_err err = {0};

        pr_buf_str(&out, "kept");
        assert_int_equal(
            sub_all(re, repls[i], strlen(repls[i]), "zzz", 3, &out, &err),
            PR_E_CONF);
        assert_string_equal(out.data, "kept");
    }
    PR_AUTO_BUF struct pr_buf small = PR_BUF_INIT(6);
    pr_buf_str(&small, "kept");
    assert_int_equal(sub_all(re, "xx", 2, "aaa", 3, &small, NULL), PR_E_CONF);
    assert_string_equal(small.data, "kept");
    assert_true(pr_buf_ok(&small));
    pr_regex_free(re);
}

static void some_places_only_when_asked(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1000);
    struct pr_regex *re = compile("a", 0);
    struct pr_regex_sub_in in = {"b", 1, "aaa", 3, 2};

    (void)state;
    assert_int_equal(pr_regex_sub(re, &in, &out, NULL), PR_OK);
    assert_string_equal(out.data, "bba");
    pr_regex_free(re);
}

/* What Python refuses, and what only PCRE2 knows. */
static void wrong_patterns_are_refused(void **state)
{
    static const char *const patterns[] = {
        "(",       "[",    "a**",    "*a",        ")",       "a\\",   "(?P<a",
        "(?R)",    "(?1)", "(?C1)",  "(*ACCEPT)", "(*UTF)a", "\\K",   "\\Qa",
        "\\R",     "\\C",  "\\p{L}", "\\x4",      "\\u12",   "[\\A]", "(?<n>a)",
        "(?P>a)",  "(?#x", "\\1",    "(?|a)",     "(?&a)",   "[b-a]", "a{2,1}",
        "(?(R)a)", "(?",   "(?P",    "\\g1",      "(?i",     "(?z)",
    };

    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct pr_regex *re = NULL;
        struct pr_err err = {0};

        if (pr_regex_new(patterns[i], strlen(patterns[i]), 0, &re, &err) !=
            PR_E_CONF)
            fail_msg("'%s' was taken", patterns[i]);
        assert_null(re);
        if (!strstr(err.msg, "character"))
            fail_msg("'%s': %s", patterns[i], err.msg);
    }
}

static void stray_bytes_never_fail(void **state)
{
    static const char text[] = "a\xff\x80"
                               "b\xc3"
                               "c\xe2\x82";
    struct pr_regex *re = compile("b", 0);
    struct pr_regex_span span = {0, 0};

    (void)state;
    assert_int_equal(pr_regex_search(re, text, sizeof text - 1, 0, &span, NULL),
                     1);
    assert_int_equal(span.start, 3);
    assert_int_equal(pr_regex_search(re, text, sizeof text - 1, 2, &span, NULL),
                     1);
    pr_regex_free(re);
    /* A pattern of stray bytes matches them. */
    re = compile("\xff.", 0);
    assert_int_equal(pr_regex_search(re, text, sizeof text - 1, 0, &span, NULL),
                     1);
    assert_int_equal(span.start, 1);
    pr_regex_free(re);
}

/* Long texts go another way: in pieces. */
static void long_texts_match_as_short_ones(void **state)
{
    enum { LEN = 5000 };
    char *text = malloc(LEN);
    struct pr_regex *re = compile("(?<=x)yz*", 0);
    struct pr_regex *none = compile("q$", 0);
    struct pr_regex *empty = compile("(?=x)", 0);
    struct pr_regex_span span = {0, 0};

    (void)state;
    assert_non_null(text);
    for (size_t at = 1; at < LEN - 1; at += 61) {
        memset(text, 'z', LEN);
        text[at - 1] = 'x';
        text[at] = 'y';
        assert_int_equal(pr_regex_search(re, text, LEN, 0, &span, NULL), 1);
        assert_int_equal(span.start, at);
        assert_int_equal(span.end, LEN);
        assert_int_equal(pr_regex_search(none, text, LEN, 0, &span, NULL), 0);
        assert_int_equal(pr_regex_search(empty, text, LEN, 0, &span, NULL), 1);
        assert_int_equal(span.start, at - 1);
    }
    /* Characters of several bytes across the edges of the pieces. */
    for (size_t i = 0; i + 3 <= LEN; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    text[4998] = text[4999] = 'q';
    assert_int_equal(pr_regex_search(none, text, LEN, 0, &span, NULL), 1);
    assert_int_equal(span.start, 4999);
    pr_regex_free(re);
    pr_regex_free(none);
    pr_regex_free(empty);
    free(text);
}

static void walk_gives_every_match(void **state)
{
    struct pr_regex *re = compile("x*", 0);
    struct pr_regex_walk *w = NULL;
    static const size_t want[][2] = {{0, 0}, {1, 1}, {2, 3}, {3, 3}, {4, 4}};
    struct pr_regex_span span;

    (void)state;
    assert_int_equal(pr_regex_walk_new(re, "abxd", 4, &w, NULL), PR_OK);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_int_equal(pr_regex_walk_next(w, &span, NULL), 1);
        assert_int_equal(span.start, want[i][0]);
        assert_int_equal(span.end, want[i][1]);
    }
    assert_int_equal(pr_regex_walk_next(w, &span, NULL), 0);
    pr_regex_walk_free(w);
    pr_regex_free(re);
}

static void no_pattern_can_hang_us(void **state)
{
    static const char *const patterns[] = {"(a*)*b", "(a|aa)+$", "a*a*a*a*b",
                                           "a*b", "(.*)(.*)(.*)\\3\\2\\1x"};
    enum { LEN = 1 << 20 };
    char *text = malloc(LEN);

    (void)state;
    assert_non_null(text);
    memset(text, 'a', LEN);
    text[LEN - 1] = 'c';
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct pr_regex *re = compile(patterns[i], 0);
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(LEN * 4);
        struct pr_err err = {0};

        assert_int_equal(pr_regex_search(re, text, LEN, 0, NULL, &err),
                         PR_E_CONF);
        assert_non_null(strstr(err.msg, "too long"));
        assert_int_equal(sub_all(re, "", 0, text, LEN, &out, &err), PR_E_CONF);
        assert_int_equal(out.len, 0);
        pr_regex_free(re);
    }
    free(text);
}

static void *search_many(void *shared)
{
    const struct pr_regex *re = shared;
    struct pr_regex_span spans[2];

    for (int i = 0; i < 2000; i++) {
        char text[64];
        int n = snprintf(text, sizeof text, "iteration %d done", i);
        if (pr_regex_search(re, text, (size_t)n, 0, spans, NULL) != 1 ||
            atoi(text + spans[1].start) != i)
            return shared;
    }
    return NULL;
}

static void threads_may_share_one(void **state)
{
    struct pr_regex *re = compile("(\\d+) d", 0);
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, search_many, re), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    pr_regex_free(re);
}

static int attempt(void)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);
    struct pr_regex *re = NULL;
    char text[2000];
    int r;

    memset(text, 'a', sizeof text);
    r = pr_regex_new("(a+?)(?P<n>[b-z]*)\\Z|(a)", 25, 0, &re, NULL);
    if (r == PR_OK)
        r = sub_all(re, "\\1<\\g<n>>", 10, text, sizeof text, &out, NULL);
    if (r != PR_OK && out.len)
        r = PR_E_BUG; /* touched on failure */
    if (r == PR_OK) {
        r = pr_regex_search(re, text, sizeof text, 0, NULL, NULL);
        r = r == 1 ? PR_OK : r;
    }
    pr_regex_free(re);
    return r;
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    torture(attempt);
    pr_regex_free(NULL);
    pr_regex_walk_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(match_is_anchored_at_the_start_only),
        cmocka_unit_test(flags_are_heeded),
        cmocka_unit_test(spans_tell_where_groups_are),
        cmocka_unit_test(sub_replaces_as_python_does),
        cmocka_unit_test(bad_replacement_leaves_the_output),
        cmocka_unit_test(some_places_only_when_asked),
        cmocka_unit_test(wrong_patterns_are_refused),
        cmocka_unit_test(stray_bytes_never_fail),
        cmocka_unit_test(long_texts_match_as_short_ones),
        cmocka_unit_test(walk_gives_every_match),
        cmocka_unit_test(no_pattern_can_hang_us),
        cmocka_unit_test(threads_may_share_one),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
