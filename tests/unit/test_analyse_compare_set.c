/* Large sets: many tests, and many figures of one. */
#include "analyse/compare/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void add_one(struct pr_compare_set *s, const char *test,
                    const char *measure, double value, struct pr_arena *a)
{
    struct pr_compare_run run = {.value = value, .device = ""};
    struct pr_compare_test *t = pr_compare_get_test(s, test, measure, a);

    assert_non_null(t);
    assert_true(pr_compare_add_run(t, &run, a));
}

static struct pr_compare compare_two(struct pr_compare_set sets[static 2],
                                     struct pr_arena *a)
{
    struct pr_compare_opts o = {.least = 0.01};
    struct pr_compare out;

    assert_int_equal(pr_compare_sets(sets, 2, &o, a, &out, NULL), PR_OK);
    assert_int_equal(out.count, 1);
    return out;
}

/* Each of them is a speed, and but one of them counts over all. With time that
 * doubles with each figure this does not end. */
static void a_test_may_have_many_figures(void **state)
{
    enum { MANY = 60 };
    struct pr_arena *a = pr_arena_new(4096);
    struct pr_compare_set sets[2] = {{.label = "a"}, {.label = "b"}};
    struct pr_compare out;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        const char *name = pr_arena_printf(a, "time_%zu", i);

        for (size_t k = 0; k < 4; k++)
            add_one(&sets[k / 2], k % 2 ? "one" : "two", name,
                    i       ? 1
                    : k / 2 ? 2
                            : 4,
                    a);
    }
    out = compare_two(sets, a);
    assert_int_equal(out.pairs[0].count, 2 * MANY);
    assert_true(out.pairs[0].has_all);
    assert_int_equal(out.pairs[0].all.runs_a, 2);
    assert_true(fabs(out.pairs[0].all.ratio - 2) < 1e-9);
    pr_arena_free(a);
}

static void sets_may_have_many_tests(void **state)
{
    enum { MANY = 3000 };
    struct pr_arena *a = pr_arena_new(4096);
    struct pr_compare_set sets[2] = {{.label = "a"}, {.label = "b"}};
    struct pr_compare out;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        const char *name = pr_arena_printf(a, "%zu", i);

        add_one(&sets[0], name, "throughput", (double)(i + 1), a);
        add_one(&sets[0], name, "time", 1, a);
        name = pr_arena_printf(a, "%zu", MANY - 1 - i);
        add_one(&sets[1], name, "throughput", 2 * (double)(MANY - i), a);
    }
    assert_int_equal(sets[0].count, 2 * MANY);
    out = compare_two(sets, a);
    assert_int_equal(out.pairs[0].count, 2 * MANY);
    for (size_t i = 0; i < 2 * MANY; i++) {
        const struct pr_compare_row *r = &out.pairs[0].rows[i];

        if (i % 2)
            assert_int_equal(r->verdict, PR_VERDICT_MISSING);
        else
            assert_true(fabs(r->ratio - 2) < 1e-9);
    }
    pr_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_test_may_have_many_figures),
        cmocka_unit_test(sets_may_have_many_tests),
    };

    return cmocka_run_group_tests_name("analyse/compare_set", tests, NULL,
                                       NULL);
}
