/* One value of the order against a sort, and bytes against one by one. */
#include "base/json/json_walk.h"
#include "base/mem.h"
#include "base/stats/statistics.h"

#include "torture.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void check(double *v, size_t n, size_t k)
{
    double sorted[600];

    memcpy(sorted, v, n * sizeof *v);
    qsort(sorted, n, sizeof *v, ascending);
    pr_select_nth(v, n, k);
    assert_true(v[k] == sorted[k]);
    for (size_t i = 0; i < n; i++)
        assert_true(i < k ? v[i] <= v[k] : v[i] >= v[k]);
    qsort(v, n, sizeof *v, ascending);
    assert_memory_equal(v, sorted, n * sizeof *v);
}

static void the_value_of_a_place_is_found(void **state)
{
    double v[600];
    uint64_t seed = 7;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        size_t n = 1 + (seed = seed * 6364136223846793005u + 1) % 60;
        uint64_t kinds = 1 + (seed >> 33) % (round % 2 ? 4 : 1000);

        n = round % 50 ? n : n * 10;
        for (size_t i = 0; i < n; i++)
            v[i] =
                (double)((seed = seed * 6364136223846793005u + 1) >> 40) - 1000;
        for (size_t i = 0; i < n; i++)
            v[i] = (double)((uint64_t)(v[i] + 1000) % kinds);
        check(v, n, (seed >> 20) % n);
    }
}

static void order_of_any_kind_is_fine(void **state)
{
    double v[600];

    (void)state;
    for (size_t n = 1; n < 600; n += 7) {
        for (size_t i = 0; i < n; i++)
            v[i] = (double)i;
        check(v, n, n / 2);
        for (size_t i = 0; i < n; i++)
            v[i] = -(double)i;
        check(v, n, n - 1);
        for (size_t i = 0; i < n; i++)
            v[i] = (double)(i < n / 2 ? i : n - i);
        check(v, n, 0);
    }
}

static void bytes_are_counted(void **state)
{
    char *text = pr_alloc(20000);

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < 20000; i++)
        text[i] = i % 3 && i % 7 ? '\n' : (char)(i % 256);
    for (size_t from = 0; from < 70; from += 3)
        for (size_t len = 0; len < 20000 - from; len += len < 200 ? 1 : 997) {
            size_t want = 0;

            for (size_t i = from; i < from + len; i++)
                want += text[i] == '\n';
            assert_int_equal(
                pr_count_byte(text + from, text + from + len, '\n'), want);
        }
    memset(text, '\n', 20000); /* no counter runs over */
    assert_int_equal(pr_count_byte(text, text + 20000, '\n'), 20000);
    pr_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_value_of_a_place_is_found),
        cmocka_unit_test(order_of_any_kind_is_fine),
        cmocka_unit_test(bytes_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
