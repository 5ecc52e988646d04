/*
 * Conditions and queries by DLBS's rules. Where the reference data are there
 * ($PRONY_PEERS, else beside the project), DLBS's own answers too.
 */
#include "conf/option/query.h"

#include "base/file.h"

#include "skip.h"
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char dictionary[] =
    "{\"f\": \"TensorFlow\", \"m\": \"resnet50\", \"b\": 16, \"e\": \"\", "
    "\"t\": true, \"x\": 1.5, \"z\": 0, \"n\": null, \"l\": [1, 2], "
    "\"u\": \"gr\\u00fc\\u00df\"}";

static const struct pr_value *get(const void *ctx, const char *name, size_t len)
{
    const struct pr_value *map = ctx;

    for (uint32_t i = 0; i < map->len; i++)
        if (map->members[i].key_len == len &&
            memcmp(map->members[i].key, name, len) == 0)
            return &map->members[i].value;
    return NULL;
}

static int match(struct pr_arena *a, const char *dict, const char *query,
                 enum pr_query_policy policy)
{
    struct pr_value d = json(a, dict), v = json(a, query);
    struct pr_query *q = NULL;
    struct pr_err err = {0};
    int rc = pr_query_new(&v, "test", &q, &err);

    if (!rc)
        rc = pr_query_match(q, get, &d, policy, &err);
    pr_query_free(q);
    return rc;
}

static void rules(void **state)
{
    static const struct {
        const char *query;
        int strict, relaxed;
    } rows[] = {
        {"null", 1, 1},
        {"{}", 1, 1},
        {"[]", 1, 1},
        {"[\"f\", \"n\"]", 1, 1},
        {"[\"f\", \"zz\"]", 0, 0}, /* names must be there, whatever policy */
        {"{\"zz\": 1}", 0, 1},
        {"{\"zz\": \"x\", \"f\": \"Tensor\"}", 0, 1},
        {"{\"zz\": \"x\", \"f\": \"Caffe\"}", 0, 0},
        /* text: a pattern, from the start */
        {"{\"f\": \"TensorFlow\"}", 1, 1},
        {"{\"f\": \"Tensor\"}", 1, 1},
        {"{\"f\": \"Flow\"}", 0, 0},
        {"{\"f\": \".*Flow\"}", 1, 1},
        {"{\"f\": \"tensorflow\"}", 0, 0},
        {"{\"f\": \"(?i)tensorflow\"}", 1, 1},
        {"{\"f\": \"Tensor$\"}", 0, 0},
        {"{\"f\": \"Caffe|Tensor\"}", 1, 1},
        {"{\"u\": \"gr.\\u00df$\"}", 1, 1},
        /* empty text: equality, not the pattern that matches all */
        {"{\"f\": \"\"}", 0, 0},
        {"{\"e\": \"\"}", 1, 1},
        {"{\"e\": \".*\"}", 1, 1},
        {"{\"z\": \"\"}", 0, 0},
        {"{\"n\": \"\"}", 0, 0},
        /* lists: membership, no patterns */
        {"{\"f\": [\"Caffe\", \"TensorFlow\"]}", 1, 1},
        {"{\"f\": [\"Tensor\"]}", 0, 0},
        {"{\"f\": []}", 0, 0},
        {"{\"b\": [8, 16.0]}", 1, 1},
        {"{\"b\": [\"16\"]}", 0, 0},
        {"{\"t\": [1]}", 1, 1},
        {"{\"n\": [null]}", 1, 1},
        {"{\"l\": [1, 2]}", 0, 0},
        {"{\"l\": [[1, 2]]}", 1, 1},
        /* anything else: Python's == */
        {"{\"b\": 16}", 1, 1},
        {"{\"b\": 16.0}", 1, 1},
        {"{\"b\": 15}", 0, 0},
        {"{\"t\": true}", 1, 1},
        {"{\"t\": 1}", 1, 1},
        {"{\"t\": 1.0}", 1, 1},
        {"{\"t\": false}", 0, 0},
        {"{\"z\": false}", 1, 1},
        {"{\"z\": null}", 0, 0},
        {"{\"n\": null}", 1, 1},
        {"{\"n\": 0}", 0, 0},
        {"{\"x\": 1.5}", 1, 1},
        {"{\"e\": 0}", 0, 0},
        {"{\"l\": {\"a\": 1}}", 0, 0},
        /* a pattern on what is no text sees it as JSON (DLBS crashed) */
        {"{\"b\": \"16\"}", 1, 1},
        {"{\"b\": \"1\"}", 1, 1},
        {"{\"b\": \"6\"}", 0, 0},
        {"{\"t\": \"true\"}", 1, 1},
        {"{\"x\": \"1\\\\.5\"}", 1, 1},
        {"{\"n\": \"null\"}", 1, 1},
        /* all must hold */
        {"{\"f\": \"Tensor\", \"b\": 16, \"t\": true}", 1, 1},
        {"{\"f\": \"Tensor\", \"b\": 17, \"t\": true}", 0, 0},
        /* what is no condition */
        {"5", PR_E_CONF, PR_E_CONF},
        {"true", PR_E_CONF, PR_E_CONF},
        {"1.5", PR_E_CONF, PR_E_CONF},
        {"\"\"", PR_E_CONF, PR_E_CONF},
        {"\"f\"", PR_E_CONF, PR_E_CONF},
        {"[5]", PR_E_CONF, PR_E_CONF},
        {"{\"f\": \"(\"}", PR_E_CONF, PR_E_CONF},
        {"{\"zz\": \"[\"}", PR_E_CONF, PR_E_CONF},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
        int strict = match(a, dictionary, rows[i].query, PR_QUERY_STRICT);
        int relaxed = match(a, dictionary, rows[i].query, PR_QUERY_RELAXED);

        if (strict != rows[i].strict || relaxed != rows[i].relaxed)
            fail_msg("%s: strict %d, relaxed %d", rows[i].query, strict,
                     relaxed);
    }
}

static void no_value_at_all_matches(void **state)
{
    struct pr_value d = {.kind = PR_MAP};
    struct pr_query *q;

    (void)state;
    assert_int_equal(pr_query_new(NULL, "test", &q, NULL), PR_OK);
    assert_int_equal(pr_query_match(q, get, &d, PR_QUERY_STRICT, NULL), 1);
    assert_null(pr_query_name(q, 0));
    pr_query_free(q);
    pr_query_free(NULL);
}

static void a_bad_pattern_says_where(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    struct pr_value v = json(a, "{\"ok\": 1,\n  \"m\": \"a(b\"}");
    struct pr_query *q = NULL;
    struct pr_err err = {0};

    (void)state;
    assert_int_equal(pr_query_new(&v, "file.json", &q, &err), PR_E_CONF);
    assert_null(q);
    assert_string_equal(err.where, "file.json:2:8");
    assert_non_null(strstr(err.msg, "'m'"));
}

static void names_come_in_order(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
    struct pr_value v = json(a, "{\"b\": 1, \"a\": \"x\"}");
    struct pr_query *q;

    (void)state;
    assert_int_equal(pr_query_new(&v, "test", &q, NULL), PR_OK);
    assert_string_equal(pr_query_name(q, 0), "b");
    assert_string_equal(pr_query_name(q, 1), "a");
    assert_null(pr_query_name(q, 2));
    pr_query_free(q);
}

static void captures(void **state)
{
    static const struct {
        const char *query, *name;
        unsigned group;
        const char *want; /* NULL: nothing captured */
    } rows[] = {
        {"{\"m\": \"([a-z]+)([0-9]+)\"}", "m", 0, "resnet50"},
        {"{\"m\": \"([a-z]+)([0-9]+)\"}", "m", 1, "resnet"},
        {"{\"m\": \"([a-z]+)([0-9]+)\"}", "m", 2, "50"},
        {"{\"m\": \"([a-z]+)([0-9]+)\"}", "m", 3, NULL},
        {"{\"m\": \"([a-z]+)([0-9]+)\"}", "f", 0, NULL},
        {"{\"m\": \"res\"}", "m", 0, "resnet50"}, /* not what matched */
        {"{\"m\": \"res\"}", "m", 1, NULL},
        {"{\"m\": \"(r)(x)?\"}", "m", 2, "None"},
        {"{\"m\": \"(r)(x*)\"}", "m", 2, ""},
        {"{\"m\": \"((r)e)s\"}", "m", 2, "r"},
        {"{\"m\": \"(?P<name>res)(net)\"}", "m", 2, "net"},
        {"{\"m\": \"(?:res)(net)\"}", "m", 1, "net"},
        {"{\"b\": 16}", "b", 0, "16"},
        {"{\"b\": [8, 16]}", "b", 0, "16"},
        {"{\"b\": [8, 16]}", "b", 1, NULL},
        {"{\"t\": 1}", "t", 0, "True"},
        {"{\"x\": 1.5}", "x", 0, "1.5"},
        {"{\"n\": null}", "n", 0, "None"},
        {"{\"e\": \"\"}", "e", 0, ""},
        {"{\"zz\": 1}", "zz", 0, NULL},
        {"{\"u\": \"gr(..)\"}", "u", 1, "\303\274\303\237"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1024);
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(100);
        struct pr_value d = json(a, dictionary), v = json(a, rows[i].query);
        struct pr_query *q;
        int rc;

        assert_int_equal(pr_query_new(&v, "test", &q, NULL), PR_OK);
        assert_int_equal(pr_query_match(q, get, &d, PR_QUERY_RELAXED, NULL), 1);
        pr_buf_str(&out, "<");
        rc = pr_query_capture(q, get, &d, rows[i].name, strlen(rows[i].name),
                              rows[i].group, &out, NULL);
        pr_query_free(q);
        assert_int_equal(rc, rows[i].want != NULL);
        assert_string_equal(out.data + 1, rows[i].want ? rows[i].want : "");
    }
}

/* DLBS's answers; TypeErrors are matches on text with us. */
static void as_dlbs_answers(void **state)
{
    const char *text;
    struct pr_value doc;
    size_t len, compared = 0;
    char path[4096];

    (void)state;
    find_peers("dlbs/golden/match_vectors.json", path);
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    assert_int_equal(pr_file_read(path, 1 << 20, a, &text, &len, NULL), PR_OK);
    doc = json(a, text);
    const struct pr_value *vectors = pr_get(&doc, "vectors");
    const char *dict = json_text(a, pr_get(&doc, "dictionary"));
    for (uint32_t i = 0; i < vectors->len; i++) {
        const struct pr_value *v = &vectors->items[i];
        const struct pr_value *want = pr_get(v, "result");
        const char *query = json_text(a, pr_get(v, "query"));
        bool strict = strcmp(pr_get(v, "policy")->s, "strict") == 0;
        int got =
            match(a, dict, query, strict ? PR_QUERY_STRICT : PR_QUERY_RELAXED);
        if (got != (want->kind == PR_STR ? 1 : want->b))
            fail_msg("%s gives %d", query, got);
        compared++;
    }
    assert_true(compared > 30);
}

static int query_once(void)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(100);
    struct pr_member want[] = {{"m", 1, 0, 0, pr_str("(res)(.*)")},
                               {"b", 1, 0, 0, pr_str("1")}};
    struct pr_member have[] = {{"m", 1, 0, 0, pr_str("resnet")},
                               {"b", 1, 0, 0, pr_int(16)}};
    struct pr_value v = {.kind = PR_MAP, .len = 2, .members = want};
    struct pr_value d = {.kind = PR_MAP, .len = 2, .members = have};
    struct pr_query *q = NULL;
    int rc = pr_query_new(&v, "test", &q, NULL);

    if (!rc)
        rc = pr_query_match(q, get, &d, PR_QUERY_STRICT, NULL);
    if (rc == 1)
        rc = pr_query_capture(q, get, &d, "m", 1, 2, &out, NULL);
    pr_query_free(q);
    if (rc == 1)
        rc = pr_buf_ok(&out) ? PR_OK : PR_E_NOMEM;
    return rc;
}

static void out_of_memory(void **state)
{
    (void)state;
    torture(query_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),
        cmocka_unit_test(no_value_at_all_matches),
        cmocka_unit_test(a_bad_pattern_says_where),
        cmocka_unit_test(names_come_in_order),
        cmocka_unit_test(captures),
        cmocka_unit_test(as_dlbs_answers),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
