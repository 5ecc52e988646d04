/* Names of strangers as names of files. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name, *clean;
} rows[] = {
    {"", ""},
    {"vae", "vae"},
    {"a b.c", "a b.c"},
    {"..", "_."},
    {".hidden", "_hidden"},
    {"a/../b", "a_.._b"},
    {"/etc", "_etc"},
    {"line\nbreak", "line_break"},
    {"\x1b[2J", "_[2J"},
    {"\x7f", "_"},
    {"\xc2\x9b", "__"}, /* an escape sequence in one character */
    {"gr\xc3\xb6\xc3\x9f", "gr\xc3\xb6\xc3\x9f"}, /* no control in it */
    {"\xc2", "\xc2"},
};

static void what_fits_stays_as_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool same = strcmp(rows[i].name, rows[i].clean) == 0;
        char name[32];

        assert_int_equal(pr_filename_is_safe(rows[i].name),
                         same && *rows[i].name);
        strcpy(name, rows[i].name);
        pr_filename_clean(name, strlen(name));
        assert_string_equal(name, rows[i].clean);
    }
}

static void only_controls_are_controls(void **state)
{
    (void)state;
    assert_false(pr_filename_has_control("../a b/\xc3\xb6"));
    assert_true(pr_filename_has_control("a\tb"));
    assert_true(pr_filename_has_control("\xc2\x80"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_stays_as_it_is),
        cmocka_unit_test(only_controls_are_controls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
