/* Sums, scaling, products: all sizes, in place and not. */
#include "test_nn_kernel.h"

static const size_t counts[] = {1, 7, 8, 9, 31, 1000, 8191, 20003};

static double relu_of(double x, bool relu)
{
    return relu && x < 0 ? 0 : x;
}

/* at: which term y is; PR_TERMS: none. */
static void sum_once(const struct pr_threads *p, size_t count, unsigned terms,
                     bool relu, unsigned at)
{
    float *term[PR_TERMS], *y = tensor(count);
    const float *in[PR_TERMS];
    double *want = pr_alloc_zeroed(count * sizeof *want);

    assert_non_null(want);
    for (unsigned t = 0; t < PR_TERMS; t++) {
        in[t] = term[t] = drawn(count, t, 0);
        for (size_t i = 0; t < terms && i < count; i++)
            want[i] += (double)term[t][i];
    }
    pr_kernel_sum(p, count, in, terms, relu, at < terms ? term[at] : y);
    for (size_t i = 0; i < count; i++)
        assert_near((at < terms ? term[at] : y)[i], relu_of(want[i], relu),
                    1e-6);
    for (unsigned t = 0; t < PR_TERMS; t++)
        tensor_free(term[t], count);
    tensor_free(y, count);
    pr_free(want);
}

static void sum_all(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(counts); i++)
        for (unsigned terms = 1; terms <= PR_TERMS; terms++)
            for (unsigned at = 0; at <= terms; at++)
                for (int relu = 0; relu < 2; relu++) {
                    if (is_brief() && (i + at + (unsigned)relu) % 2)
                        continue;
                    sum_once(p, counts[i], terms, relu, at);
                }
}

static void sums_of_terms(void **state)
{
    (void)state;
    with_threads(sum_all);
}

static void scale_all(const struct pr_threads *p)
{
    for (size_t k = 0; k < COUNT(counts); k++) {
        size_t count = counts[k];
        float *x = drawn(count, 1, 0), *y = tensor(count);

        pr_kernel_scale(p, count, 0.17f, x, y);
        for (size_t i = 0; i < count; i++)
            assert_true(y[i] == x[i] * 0.17f);
        pr_kernel_scale(p, count, 0.17f, x, x);
        assert_same_bits(x, y, count);
        tensor_free(x, count);
        tensor_free(y, count);
    }
}

static void scaling(void **state)
{
    (void)state;
    with_threads(scale_all);
}

/* at: which factor y is; PR_TERMS: none. */
static void multiply_once(const struct pr_threads *p, size_t count,
                          unsigned factors, unsigned at)
{
    float *factor[PR_TERMS], *y = tensor(count);
    const float *in[PR_TERMS];
    double *want = pr_alloc_zeroed(count * sizeof *want);

    assert_non_null(want);
    for (unsigned t = 0; t < PR_TERMS; t++) {
        in[t] = factor[t] = drawn(count, 40 + t, 0);
        for (size_t i = 0; t < factors && i < count; i++)
            want[i] = (t ? want[i] : 1) * (double)factor[t][i];
    }
    pr_kernel_multiply(p, count, in, factors, at < factors ? factor[at] : y);
    for (size_t i = 0; i < count; i++)
        assert_near((at < factors ? factor[at] : y)[i], want[i], 1e-6);
    for (unsigned t = 0; t < PR_TERMS; t++)
        tensor_free(factor[t], count);
    tensor_free(y, count);
    pr_free(want);
}

static void multiply_all(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(counts); i++)
        for (unsigned factors = 1; factors <= PR_TERMS; factors++)
            for (unsigned at = 0; at <= factors; at++)
                multiply_once(p, counts[i], factors, at);
}

static void products_of_factors(void **state)
{
    (void)state;
    with_threads(multiply_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_terms),
        cmocka_unit_test(scaling),
        cmocka_unit_test(products_of_factors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
