/* Products of matrices that lie in rows. */
#include "test_nn_attention.h"

static void gemm_once(const struct pr_onednn *d, int64_t m, int64_t n,
                      int64_t k, bool turn_a, bool turn_b, float beta)
{
    int64_t lda = (turn_a ? m : k) + 3, ldb = (turn_b ? k : n) + 5;
    int64_t ldc = n + 2;
    size_t as = (size_t)((turn_a ? k : m) * lda);
    size_t bs = (size_t)((turn_b ? n : k) * ldb), cs = (size_t)(m * ldc);
    float *a = drawn(as, 1, 0), *b = drawn(bs, 2, 0), *c = drawn(cs, 3, 0);
    float *old = copied(c, cs);
    struct pr_gemm g = {turn_a, turn_b, m, n,   k,   0.5f, beta,
                        a,      b,      c, lda, ldb, ldc};

    assert_int_equal(pr_onednn_gemm(d, &g, NULL), PR_OK);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < ldc; j++) {
            double want = (double)beta * (double)old[i * ldc + j];

            for (int64_t h = 0; h < k && j < n; h++)
                want += 0.5 * (double)a[turn_a ? h * lda + i : i * lda + h] *
                        (double)b[turn_b ? j * ldb + h : h * ldb + j];
            if (j < n)
                assert_near(c[i * ldc + j], want, 2e-5);
            else
                assert_true(c[i * ldc + j] == old[i * ldc + j]);
        }
    tensor_free(a, as);
    tensor_free(b, bs);
    tensor_free(c, cs);
    tensor_free(old, cs);
}

static void products_of_rows(void **state)
{
    static const int64_t sizes[][3] = {
        {1, 1, 1}, {3, 5, 7}, {16, 1, 9}, {1, 40, 33}, {65, 70, 17}};
    struct pr_threads *p = threads_new(TEST_THREADS);
    struct pr_onednn *d = dnn_new();

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int turn = 0; turn < 4; turn++)
            for (int beta = 0; beta < 2; beta++)
                gemm_once(d, sizes[i][0], sizes[i][1], sizes[i][2], turn & 1,
                          turn >> 1, (float)beta);
    pr_onednn_free(d);
    pr_threads_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
