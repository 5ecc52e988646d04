/* Arguments of a profile with those of the command line over them. */
#include "base/json/json.h"
#include "workload/suite_workload.h"

#include "torture.h"

#include <string.h>

static struct pr_value list(struct pr_arena *a, const char *json)
{
    struct pr_json_in in = {.name = "t", .text = json, .len = strlen(json)};
    struct pr_value v;

    assert_int_equal(pr_json_read(&in, a, &v, NULL, NULL), PR_OK);
    return v;
}

static const char *as_json(struct pr_arena *a, const struct pr_value *v)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 20);

    pr_json_write(&out, v);
    return pr_arena_str(a, out.data);
}

static void later_words_win(void **state)
{
    static const struct {
        const char *first, *later, *want, *options;
    } rows[] = {
        {"[]", "[]", "[]", "{}"},
        {"[\"--a\", \"1\"]", "[]", "[\"--a\", \"1\"]", "{\"a\": 1}"},
        /* milarun's own rule: both stay, the last counts */
        {"[\"--batch-size\", \"8\"]", "[\"--batch-size\", \"16\"]",
         "[\"--batch-size\", \"8\", \"--batch-size\", \"16\"]",
         "{\"batch_size\": 16}"},
        /* a flag can be taken back, which argparse would refuse */
        {"[\"--cuda\", \"--x\", \"1\"]", "[\"--no-cuda\"]",
         "[\"--x\", \"1\", \"--no-cuda\"]", "{\"x\": 1, \"cuda\": false}"},
        {"[\"--no-cuda\"]", "[\"--cuda\"]", "[\"--cuda\"]", "{\"cuda\": true}"},
        {"[\"--x\", \"1\", \"--y\"]", "[\"--no-x\"]", "[\"--y\", \"--no-x\"]",
         "{\"y\": true, \"x\": false}"},
        {"[\"--x=1\", \"--y\"]", "[\"--no-x\"]", "[\"--y\", \"--no-x\"]",
         "{\"y\": true, \"x\": false}"},
        /* names that only look alike */
        {"[\"--cuda\"]", "[\"--no-cud\"]", "[\"--cuda\", \"--no-cud\"]",
         "{\"cuda\": true, \"cud\": false}"},
        {"[\"--no\"]", "[\"--no-\"]", "[\"--no\", \"--no-\"]",
         "{\"no\": true, \"\": false}"},
        /* values that begin with a dash */
        {"[\"--lr\", \"-0.5\", \"--n\", \"-3\"]", "[]",
         "[\"--lr\", \"-0.5\", \"--n\", \"-3\"]", "{\"lr\": -0.5, \"n\": -3}"},
        /* numbers as Python reads them; the rest is text */
        {"[\"--a\", \"1_000\", \"--b\", \"1e3\", \"--c\", \"0x10\", \"--d\", "
         "\"1.2.3\", \"--e\", \"GRU\"]",
         "[]",
         "[\"--a\", \"1_000\", \"--b\", \"1e3\", \"--c\", \"0x10\", \"--d\", "
         "\"1.2.3\", \"--e\", \"GRU\"]",
         "{\"a\": 1000, \"b\": 1000.0, \"c\": \"0x10\", \"d\": \"1.2.3\", "
         "\"e\": \"GRU\"}"},
        {"[\"stray\"]", "[5, true]", "[\"stray\", \"5\", \"True\"]", "{}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_value first = list(a, rows[i].first);
        struct pr_value later = list(a, rows[i].later), all, options;

        assert_int_equal(pr_suite_merge_args(&first, &later, a, &all, NULL),
                         PR_OK);
        assert_string_equal(as_json(a, &all), rows[i].want);
        assert_int_equal(pr_suite_read_options(&all, a, &options, NULL), PR_OK);
        assert_string_equal(as_json(a, &options), rows[i].options);
    }
}

static int attempt(void)
{
    static const struct pr_value words[] = {
        {.kind = PR_STR, .len = 3, .s = "--x"}, {.kind = PR_INT, .i = 5}};
    static const struct pr_value all = {
        .kind = PR_LIST, .len = 2, .items = words};
    struct pr_arena *a = pr_arena_new(64);
    struct pr_value args, options;
    int rc = a ? pr_suite_merge_args(&all, &all, a, &args, NULL) : PR_E_NOMEM;

    if (!rc)
        rc = pr_suite_read_options(&args, a, &options, NULL);
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
        cmocka_unit_test(later_words_win),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
