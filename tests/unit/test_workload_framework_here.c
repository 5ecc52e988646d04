/* Which interpreter has a package, and whether a framework is here. */
#include "test_workload_framework.h"
#include "workload/framework_workload.h"

/* ---- interpreters */

static void a_package_is_looked_for_where_the_interpreter_would(void **state)
{
    static const struct {
        const char *python;
        bool want;
    } rows[] = {
        {"none/bin/python3", false},    {"with/bin/python3", true},
        {"debian/bin/python3", true},   {"nowhere/bin/python3", false},
        {"venv/bin/python3", false},    {"./linked", true},
        {"no-such-python-here", false}, {"", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (pr_python_has_package(rows[i].python, "torch") != rows[i].want)
            fail_msg("%s", rows[i].python);
    assert_false(pr_python_has_package("with/bin/python3", "tensorflow"));
    assert_int_equal(setenv("PYTHONPATH", ":nothing:path", 1), 0);
    assert_true(pr_python_has_package("none/bin/python3", "torch"));
    assert_false(pr_python_has_package("nowhere/bin/python3", "torch"));
    assert_int_equal(unsetenv("PYTHONPATH"), 0);
    shell("mkdir -p .local/lib/python3.11/site-packages/torch");
    assert_true(pr_python_has_package("none/bin/python3", "torch"));
    assert_false(pr_python_has_package("venv/bin/python3", "torch"));
}

static void the_first_that_has_it_is_taken(void **state)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
    const char *none = "none/bin/python3", *with = "with/bin/python3";
    const char *other = "debian/bin/python3";

    (void)state;
    assert_non_null(a);
    assert_string_equal(pr_python_find_with("torch", with, other, a), with);
    assert_string_equal(pr_python_find_with("torch", none, other, a), other);
    assert_string_equal(pr_python_find_with("torch", none, none, a), none);
    assert_string_equal(pr_python_find_with("torch", none, NULL, a), none);
    assert_string_equal(pr_python_find_with("torch", "missing", "", a),
                        "missing");
    shell("mkdir -p share/build && mv with share/build/venv && "
          "ln -s python3 share/build/venv/bin/python");
    assert_string_equal(pr_python_find_with("torch", none, NULL, a),
                        "share/build/venv/bin/python");
}

/* ---- whether it is here */

static void a_framework_is_looked_for(void **state)
{
    static const struct {
        const char *more, *python, *detail;
        int want;
    } rows[] = {
        {"kind: python\nprogram: p\nmodule: torch\n", "with/bin/python3",
         "with/bin/python3", PR_FRAMEWORK_HERE},
        {"kind: python\nprogram: p\nmodule: torch\n", "none/bin/python3",
         "in no Python looked at", PR_FRAMEWORK_ABSENT},
        {"find: {module: torch}\n", "with/bin/python3", "with/bin/python3",
         PR_FRAMEWORK_HERE},
        {"find: {program: sh}\n", "none", "/sh", PR_FRAMEWORK_HERE},
        {"find: {program: sh, module: torch}\n", "none", "/sh",
         PR_FRAMEWORK_HERE},
        {"find: {program: no-such}\n", "none", "no 'no-such' on PATH",
         PR_FRAMEWORK_ABSENT},
        {"", "none", "", PR_FRAMEWORK_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(4096);
        struct pr_framework *f;
        const char *detail = NULL;
        char text[128];

        snprintf(text, sizeof text, "framework: x\n%s", rows[i].more);
        assert_int_equal(
            pr_framework_parse(text, strlen(text), "x", "x", a, &f, NULL),
            PR_OK);
        assert_int_equal(
            pr_framework_find_installed(f, rows[i].python, a, &detail, NULL),
            rows[i].want);
        assert_non_null(strstr(detail, rows[i].detail));
        assert_non_null(strstr(pr_framework_remedy(f, a), "framework=x needs"));
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, enter_share, leave)
    const struct CMUnitTest tests[] = {
        T(a_package_is_looked_for_where_the_interpreter_would),
        T(the_first_that_has_it_is_taken),
        T(a_framework_is_looked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
