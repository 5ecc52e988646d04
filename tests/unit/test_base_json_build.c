/* JSON written piece by piece: layout, commas, and what is left out. */
#include "base/json/json_write.h"

#include "base/json/json.h"

#include "torture.h"

#include <math.h>
#include <string.h>

static void fill(struct pr_json_writer *jb)
{
    struct pr_value item[2] = {pr_int(1), pr_str("x")};
    struct pr_value list = {.kind = PR_LIST, .len = 2, .items = item};

    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "s", "a\"\n");
    pr_json_put_str(jb, "gone", NULL);
    pr_json_put_strn(jb, "part", "abcdef", 3);
    pr_json_put_int(jb, "i", INT64_MIN);
    pr_json_put_uint(jb, "u", 42);
    pr_json_put_float(jb, "f", 0.1);
    pr_json_put_float(jb, "nan", NAN);
    pr_json_put_bool(jb, "b", true);
    pr_json_put_null(jb, "n");
    pr_json_put_value(jb, "v", &list);
    pr_json_open_object(jb, "empty");
    pr_json_close(jb);
    pr_json_open_array(jb, "list");
    pr_json_put_int(jb, NULL, 1);
    pr_json_put_str(jb, NULL, NULL);
    pr_json_put_float(jb, NULL, -INFINITY);
    pr_json_open_object(jb, NULL);
    pr_json_put_bool(jb, "c", false);
    pr_json_close(jb);
    pr_json_open_array(jb, NULL);
    pr_json_close(jb);
    pr_json_close(jb);
    pr_json_close(jb);
}

static const char one_line[] =
    "{\"s\": \"a\\\"\\n\", \"part\": \"abc\", \"i\": -9223372036854775808, "
    "\"u\": 42, \"f\": 0.1, \"b\": true, \"n\": null, "
    "\"v\": [1, \"x\"], \"empty\": {}, "
    "\"list\": [1, null, null, {\"c\": false}, []]}";

static void everything_on_one_line(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    struct pr_json_writer jb;

    (void)state;
    pr_json_writer_init(&jb, &out, 0);
    fill(&jb);
    assert_true(pr_buf_ok(&out));
    assert_string_equal(out.data, one_line);
}

/* Indented text is the layout of pr_json_write_indented. */
static void indented_as_the_writer_of_values_does(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    PR_AUTO_BUF struct pr_buf want = PR_BUF_INIT(4096);
    struct pr_json_in in = {.text = one_line, .len = strlen(one_line)};
    struct pr_value v;
    struct pr_json_writer jb;

    (void)state;
    assert_int_equal(pr_json_read(&in, a, &v, NULL, NULL), PR_OK);
    pr_json_write_indented(&want, &v, 2, 0);
    pr_json_writer_init(&jb, &out, 2);
    fill(&jb);
    assert_string_equal(out.data, want.data);
}

static void top_may_be_a_plain_value(void **state)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(64);
    struct pr_json_writer jb;

    (void)state;
    pr_json_writer_init(&jb, &out, 2);
    pr_json_put_uint(&jb, NULL, UINT64_MAX);
    assert_string_equal(out.data, "18446744073709551615");
}

static int attempt(void)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &out, 4);
    fill(&jb);
    return pr_buf_ok(&out) ? PR_OK : PR_E_NOMEM;
}

static void out_of_memory_is_the_buffers(void **state)
{
    (void)state;
    torture(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_on_one_line),
        cmocka_unit_test(indented_as_the_writer_of_values_does),
        cmocka_unit_test(top_may_be_a_plain_value),
        cmocka_unit_test(out_of_memory_is_the_buffers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
