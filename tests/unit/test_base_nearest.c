/* "Did you mean": slips are found, other words are not offered. */
#include "base/text.h"

#include "torture.h"

#include <string.h>

static const char *const words[] = {
    "exp.model",     "exp.model_title", "exp.num_batches",
    "exp.num_nodes", "exp.gpus",        "run",
    "plan",          "report"};

static const char *nearest(const char *typed)
{
    struct pr_nearest n;

    pr_nearest_init(&n, typed);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        pr_nearest_offer(&n, words[i]);
    return n.best;
}

static void a_slip_is_found(void **state)
{
    static const struct {
        const char *typed, *want;
    } rows[] = {
        {"exp.model", "exp.model"},
        {"exp.modle", "exp.model"},  /* neighbours swapped */
        {"exp.mode", "exp.model"},   /* one missing */
        {"exp.modell", "exp.model"}, /* one too many */
        {"exp.nodel", "exp.model"},  /* one wrong */
        {"exp.num_batchs", "exp.num_batches"},
        {"num_batches", "exp.num_batches"},
        {"exp.num_node", "exp.num_nodes"},
        {"exp.modeltitle", "exp.model_title"},
        {"rnu", "run"},
        {"paln", "plan"},
        {"reprot", "report"},
        {"repot", "report"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = nearest(rows[i].typed);
        if (!got || strcmp(got, rows[i].want) != 0)
            fail_msg("'%s' gives '%s'", rows[i].typed, got ? got : "none");
    }
}

static void another_word_is_not_offered(void **state)
{
    static const char *const typed[] = {"my.own.name", "zebra", "capacity",
                                        "dataset.num_files_train"};

    (void)state;
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        assert_null(nearest(typed[i]));
}

/* A swap is one slip, not two. */
static void the_nearest_of_several_wins_and_the_first_of_equals(void **state)
{
    struct pr_nearest n;

    (void)state;
    pr_nearest_init(&n, "abcdef");
    pr_nearest_offer(&n, "abcxyf");
    pr_nearest_offer(&n, "abcdfe");
    assert_string_equal(n.best, "abcdfe");
    assert_int_equal(n.distance, 1);
    pr_nearest_offer(&n, "abcdeg");
    assert_string_equal(n.best, "abcdfe");
    pr_nearest_offer(&n, "abcdef");
    assert_string_equal(n.best, "abcdef");
    assert_int_equal(n.distance, 0);
}

static void long_and_empty_words_are_safe(void **state)
{
    char name[200];
    struct pr_nearest n;

    (void)state;
    memset(name, 'a', sizeof name);
    name[199] = '\0';
    pr_nearest_init(&n, name);
    pr_nearest_offer(&n, name);
    pr_nearest_offer(&n, "a");
    assert_null(n.best);
    pr_nearest_init(&n, "");
    pr_nearest_offer(&n, name);
    pr_nearest_offer(&n, "");
    assert_string_equal(n.best, "");
    for (size_t len = 60; len < 70; len++) {
        name[len] = '\0';
        pr_nearest_init(&n, name);
        pr_nearest_offer(&n, name);
        assert_true((len <= 64) == (n.best != NULL));
        name[len] = 'a';
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_is_found),
        cmocka_unit_test(another_word_is_not_offered),
        cmocka_unit_test(the_nearest_of_several_wins_and_the_first_of_equals),
        cmocka_unit_test(long_and_empty_words_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
