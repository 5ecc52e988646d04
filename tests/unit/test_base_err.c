/* Errors: what the one-line fillers write, and the codes' words. */
#include "base/err.h"

#include "torture.h"

#include <errno.h>
#include <string.h>

static void every_code_has_words_and_a_status(void **state)
{
    static const struct {
        int code, status;
    } rows[] = {
        {PR_OK, 0},          {PR_E_USAGE, 2},   {PR_E_CONF, 3},
        {PR_E_UNAVAIL, 4},   {PR_E_IO, 5},      {PR_E_FORMAT, 5},
        {PR_E_JOB, 1},       {PR_E_PARTIAL, 6}, {PR_E_THRESHOLD, 7},
        {PR_E_TIMEOUT, 124}, {PR_E_INTR, 130},  {PR_E_NOMEM, 71},
        {PR_E_BUG, 70},      {-1000, 70},       {1000, 70},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(pr_code_exit_status(rows[i].code), rows[i].status);
        assert_true(strlen(pr_code_text(rows[i].code)) > 3);
    }
    assert_string_equal(pr_code_text(PR_E_CONF), "bad configuration");
    assert_string_equal(pr_code_text(-1000), "unknown error");
}

static void failing_fills_everything_and_forgets_the_past(void **state)
{
    struct pr_err err = {.sys_errno = 5, .hint = "old", .msg = "old"};
    int rc = pr_fail(&err, PR_E_CONF, "x.yaml", "'%s' wants %d", "a", 3);

    (void)state;
    assert_int_equal(rc, PR_E_CONF);
    assert_int_equal(err.code, PR_E_CONF);
    assert_int_equal(err.sys_errno, 0);
    assert_string_equal(err.where, "x.yaml");
    assert_string_equal(err.msg, "'a' wants 3");
    assert_string_equal(err.hint, "");
    (void)pr_fail(&err, PR_E_IO, NULL, "x");
    assert_string_equal(err.where, "");
}

static void without_a_struct_there_is_still_a_code(void **state)
{
    (void)state;
    assert_int_equal(pr_fail(NULL, PR_E_IO, "", "x"), PR_E_IO);
    assert_int_equal(pr_fail_errno(NULL, PR_E_IO, "", "x"), PR_E_IO);
    assert_int_equal(pr_fail_at(NULL, PR_E_FORMAT, "f", 1, 2, "x"),
                     PR_E_FORMAT);
    assert_int_equal(pr_fail_nomem(NULL), PR_E_NOMEM);
    (void)pr_hint(NULL, "x");
}

static void errno_is_told_and_kept(void **state)
{
    struct pr_err err;

    (void)state;
    errno = ENOENT;
    assert_int_equal(pr_fail_errno(&err, PR_E_IO, "f", "cannot open"), PR_E_IO);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_string_equal(err.msg, "cannot open: No such file or directory");
}

static void places_have_line_and_column_if_known(void **state)
{
    struct pr_err err;

    (void)state;
    (void)pr_fail_at(&err, PR_E_FORMAT, "a.json", 12, 7, "bad");
    assert_string_equal(err.where, "a.json:12:7");
    (void)pr_fail_at(&err, PR_E_FORMAT, "a.json", 0, 7, "bad");
    assert_string_equal(err.where, "a.json");
}

static void long_texts_are_cut_not_spilled(void **state)
{
    struct pr_err err;
    char text[2000];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)pr_fail(&err, PR_E_IO, text, "%s", text);
    (void)pr_hint(&err, "%s", text);
    assert_int_equal(strlen(err.where), sizeof err.where - 1);
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
    assert_int_equal(strlen(err.hint), sizeof err.hint - 1);
    (void)pr_fail_at(&err, PR_E_IO, text, 1, 1, "%s", text);
    assert_int_equal(strlen(err.where), sizeof err.where - 1);
    errno = EIO;
    (void)pr_fail_errno(&err, PR_E_IO, text, "%s", text);
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
}

/* A caller that knows more writes the message anew, from the old one. */
static void a_message_may_be_made_from_itself(void **state)
{
    struct pr_err err;

    (void)state;
    (void)pr_fail(&err, PR_E_IO, "f", "inner");
    (void)pr_fail(&err, PR_E_CONF, err.where, "outer: %s", err.msg);
    assert_string_equal(err.where, "f");
    assert_string_equal(err.msg, "outer: inner");
    (void)pr_fail_at(&err, PR_E_CONF, err.where, 3, 4, "again: %s", err.msg);
    assert_string_equal(err.where, "f:3:4");
    assert_string_equal(err.msg, "again: outer: inner");
}

static void a_hint_leaves_the_rest(void **state)
{
    struct pr_err err;

    (void)state;
    (void)pr_fail(&err, PR_E_USAGE, "w", "m");
    assert_int_equal(pr_hint(&err, "try %d", 2), PR_E_USAGE);
    assert_string_equal(err.hint, "try 2");
    assert_string_equal(err.msg, "m");
    assert_string_equal(err.where, "w");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_words_and_a_status),
        cmocka_unit_test(failing_fills_everything_and_forgets_the_past),
        cmocka_unit_test(without_a_struct_there_is_still_a_code),
        cmocka_unit_test(errno_is_told_and_kept),
        cmocka_unit_test(places_have_line_and_column_if_known),
        cmocka_unit_test(long_texts_are_cut_not_spilled),
        cmocka_unit_test(a_message_may_be_made_from_itself),
        cmocka_unit_test(a_hint_leaves_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
