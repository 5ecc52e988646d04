/* Plots on one line. */
#include "base/text.h"

#include "torture.h"

static void numbers_become_blocks(void **state)
{
    static const struct {
        double numbers[8];
        size_t count;
        unsigned width;
        const char *want;
    } rows[] = {
        {{0}, 0, 8, ""},
        {{5}, 1, 8, "▁"},
        {{3, 3, 3}, 3, 8, "▁▁▁"},
        {{8, 7, 6, 5, 4, 3, 2, 1}, 8, 8, "█▇▆▅▄▃▂▁"},
        {{-1, 1}, 2, 8, "▁█"},
        /* two numbers to a block: 0.5, 2.5, 4.5, 6.5 */
        {{0, 1, 2, 3, 4, 5, 6, 7}, 8, 4, "▁▃▆█"},
        {{1, 9, 1}, 3, 1, "▁"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(4096);

        pr_spark_write(rows[i].numbers, rows[i].count, rows[i].width, &out);
        assert_true(pr_buf_ok(&out));
        assert_string_equal(out.data ? out.data : "", rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_become_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
