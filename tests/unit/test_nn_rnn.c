/* Recurrent layers: products with packed weights, and layers by samples,
 * against a plain computation in doubles and its differences. */
#include "test_nn_rnn.h"
#include "test_nn_kernel.h"

/* ---- products */

static const struct {
    size_t m, n, k;
} products[] = {{1, 1, 1},    {6, 16, 4},  {7, 17, 3},    {5, 8, 9},
                {13, 24, 30}, {49, 56, 7}, {12, 41, 600}, {3, 100, 257}};

static void fill_whole(const struct pr_panels *b, const float *from,
                       bool turned)
{
    struct pr_panel_fill f = {.from = from,
                              .by_k = turned ? 1 : b->n,
                              .by_n = turned ? b->k : 1,
                              .k = b->k,
                              .n = b->n};

    memset(b->data, 0, pr_panels_floats(b->k, b->n) * sizeof(float));
    for (unsigned t = 0; t < 3; t++)
        pr_kernel_panel_fill(b, &f, t, 3);
}

static void check_product(size_t m, size_t n, size_t k, bool turned, bool add)
{
    float *a = drawn(m * k, 1, 0), *from = drawn(k * n, 2, 0);
    float *data = tensor(pr_panels_floats(k, n));
    float *c = drawn(m * n, 3, 0), *before = copied(c, m * n);
    struct pr_panels b = {k, n, data};
    struct pr_panel_product p = {.b = &b,
                                 .m = m,
                                 .to = n,
                                 .a = a,
                                 .a_row = turned ? 1 : k,
                                 .a_col = turned ? m : 1,
                                 .c = c,
                                 .c_row = n,
                                 .add = add};

    fill_whole(&b, from, turned);
    pr_kernel_panel_product(&p);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double want = add ? (double)before[i * n + j] : 0;

            for (size_t d = 0; d < k; d++)
                want += (double)a[turned ? d * m + i : i * k + d] *
                        (double)from[turned ? j * k + d : d * n + j];
            assert_near(c[i * n + j], want, 1e-5 * sqrt((double)k));
        }
    tensor_free(a, m * k);
    tensor_free(from, k * n);
    tensor_free(data, pr_panels_floats(k, n));
    tensor_free(c, m * n);
    tensor_free(before, m * n);
}

static void products_are_those_of_matrices(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(products); i++)
        for (unsigned way = 0; way < 4; way++)
            check_product(products[i].m, products[i].n, products[i].k, way & 1,
                          way & 2);
}

/* Columns of a part, and nothing beside them. */
static void a_part_writes_its_columns_alone(void **state)
{
    enum { M = 7, N = 50, K = 5 };
    float *a = drawn(M * K, 1, 0), *from = drawn(K * N, 2, 0);
    float *data = tensor(pr_panels_floats(K, N));
    float *whole = tensor(M * N), *parts = tensor(M * N);
    struct pr_panels b = {K, N, data};
    struct pr_panel_product p = {.b = &b,
                                 .m = M,
                                 .to = N,
                                 .a = a,
                                 .a_row = K,
                                 .a_col = 1,
                                 .c = whole,
                                 .c_row = N};

    (void)state;
    fill_whole(&b, from, false);
    pr_kernel_panel_product(&p);
    p.c = parts;
    p.from = 16;
    p.to = 48;
    pr_kernel_panel_product(&p);
    for (size_t i = 0; i < M * N; i++)
        assert_true(parts[i] == (i % N >= 16 && i % N < 48 ? whole[i] : 777.f));
    p.from = 0, p.to = 16;
    pr_kernel_panel_product(&p);
    p.from = 48, p.to = N;
    pr_kernel_panel_product(&p);
    assert_same_bits(parts, whole, M * N);
    tensor_free(a, M * K);
    tensor_free(from, K * N);
    tensor_free(data, pr_panels_floats(K, N));
    tensor_free(whole, M * N);
    tensor_free(parts, M * N);
}

/* ---- layers */

static void samples_all(const struct pr_threads *p)
{
    check_all(p, &by_samples);
}

static void by_samples_is_as_computed_plainly(void **state)
{
    (void)state;
    with_threads(samples_all);
}

/* A sigmoid that overflows would be no number here. */
static void large_sums_stay_numbers(void **state)
{
    float gates[32], before[8], cell[8], y[8];

    (void)state;
    for (unsigned is_gru = 0; is_gru < 2; is_gru++) {
        struct pr_rnn_gates g = {.is_gru = is_gru,
                                 .count = 1,
                                 .out = 8,
                                 .gap = 8,
                                 .gates = gates,
                                 .before = before,
                                 .cell = cell,
                                 .y = y};

        for (size_t i = 0; i < 32; i++)
            gates[i] = i % 2 ? 1000.f : -1000.f;
        for (size_t i = 0; i < 8; i++)
            before[i] = 0.5f;
        pr_kernel_rnn_gates(&g);
        for (size_t i = 0; i < 8; i++)
            assert_near(y[i],
                        is_gru    ? (i % 2 ? 0.5 : -1)
                        : (i % 2) ? tanh(1.5)
                                  : 0,
                        1e-6);
    }
}

static void what_fits_is_small_or_has_samples_enough(void **state)
{
    struct pr_rnn toy = {.batch = 97, .rows = 999, .in = 51, .out = 51};
    struct pr_rnn large = {.batch = 64, .rows = 50, .in = 1024, .out = 1024};
    struct pr_rnn middle = {.batch = 4, .rows = 50, .in = 128, .out = 128};

    (void)state;
    assert_true(pr_rnn_samples_fit(&toy, 2));
    assert_false(pr_rnn_samples_fit(&large, 2));
    assert_false(pr_rnn_samples_fit(&middle, 2));
    middle.batch = 64;
    assert_true(pr_rnn_samples_fit(&middle, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_matrices),
        cmocka_unit_test(a_part_writes_its_columns_alone),
        cmocka_unit_test(by_samples_is_as_computed_plainly),
        cmocka_unit_test(large_sums_stay_numbers),
        cmocka_unit_test(what_fits_is_small_or_has_samples_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
