/* Sums, scaling, curves, dropout: all sizes, in place and not. */
#include "test_nn_kernel.h"

static const size_t counts[] = {1, 7, 8, 9, 31, 1000, 8191, 20003};

static double relu_of(double x, bool relu)
{
    return relu && x < 0 ? 0 : x;
}

/* at: which term y is; PR_TERMS: none. */
static void sum_once(const struct pr_par *p, size_t count, unsigned terms,
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
    pr_k_sum(p, count, in, terms, relu, at < terms ? term[at] : y);
    for (size_t i = 0; i < count; i++)
        assert_near((at < terms ? term[at] : y)[i], relu_of(want[i], relu),
                    1e-6);
    for (unsigned t = 0; t < PR_TERMS; t++)
        tensor_free(term[t], count);
    tensor_free(y, count);
    pr_free(want);
}

static void sum_all(const struct pr_par *p)
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

static void scale_all(const struct pr_par *p)
{
    for (size_t k = 0; k < COUNT(counts); k++) {
        size_t count = counts[k];
        float *x = drawn(count, 1, 0), *y = tensor(count);

        pr_k_scale(p, count, 0.17f, x, y);
        for (size_t i = 0; i < count; i++)
            assert_true(y[i] == x[i] * 0.17f);
        pr_k_scale(p, count, 0.17f, x, x);
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

static double curve_of(enum pr_curve kind, double x)
{
    if (kind == PR_CURVE_RELU)
        return x > 0 ? x : 0;
    return kind == PR_CURVE_TANH ? tanh(x) : 1 / (1 + exp(-x));
}

static void curve_once(const struct pr_par *p, size_t count, enum pr_curve kind)
{
    float *x = drawn(count, 3, 0), *y = tensor(count);

    for (size_t i = 0; i < count; i++)
        x[i] *= i % 3 == 0 ? 30 : i % 3 == 1 ? 1 : 1e-3f;
    pr_k_curve(p, count, kind, x, y);
    for (size_t i = 0; i < count; i++) {
        double want = curve_of(kind, (double)x[i]);

        if (fabs((double)y[i] - want) > 4e-7 * fabs(want) + 1e-37)
            fail_msg("%d of %.9g is %.9g", kind, (double)x[i], (double)y[i]);
    }
    pr_k_curve(p, count, kind, x, x);
    assert_same_bits(x, y, count);
    tensor_free(x, count);
    tensor_free(y, count);
}

static void curve_all(const struct pr_par *p)
{
    for (size_t i = 0; i < COUNT(counts); i++)
        for (int kind = PR_CURVE_RELU; kind <= PR_CURVE_TANH; kind++)
            curve_once(p, counts[i], (enum pr_curve)kind);
}

static void curves(void **state)
{
    (void)state;
    with_threads(curve_all);
}

static void ends_of_curves(void **state)
{
    static const struct {
        float x, relu, sigmoid, tanh;
    } rows[] = {
        {0, 0, 0.5f, 0},      {-0.0f, 0, 0.5f, 0},        {500, 500, 1, 1},
        {-500, 0, 0, -1},     {INFINITY, INFINITY, 1, 1}, {-INFINITY, 0, 0, -1},
        {NAN, NAN, NAN, NAN},
    };
    struct pr_par *p = threads_new(1);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        float want[] = {rows[i].relu, rows[i].sigmoid, rows[i].tanh};

        for (int k = 0; k < 3; k++) {
            float y = 7;

            pr_k_curve(p, 1, (enum pr_curve)k, &rows[i].x, &y);
            if (isnan(want[k]) || isinf(want[k]))
                assert_true(isnan(want[k]) ? isnan(y) : y == want[k]);
            else
                assert_near(y, want[k], 1e-30);
        }
    }
    pr_par_free(p);
}

static void slope_once(const struct pr_par *p, size_t count, enum pr_curve kind,
                       unsigned terms, unsigned at)
{
    float *x = drawn(count, 3, 0), *y = tensor(count), *term[PR_TERMS];
    float *given = tensor(count), *dx = tensor(count), *out;
    const float *in[PR_TERMS];

    pr_k_curve(p, count, kind, x, y);
    memset(given, 0, count * sizeof *given);
    for (unsigned t = 0; t < PR_TERMS; t++) {
        in[t] = term[t] = drawn(count, 20 + t, 0);
        for (size_t i = 0; t < terms && i < count; i++)
            given[i] += term[t][i];
    }
    out = at < terms ? term[at] : dx;
    pr_k_curve_back(p, count, kind, y, in, terms, out);
    for (size_t i = 0; i < count; i++) {
        double h = 1e-6, at_x = (double)x[i];
        double slope = curve_of(kind, at_x + h) - curve_of(kind, at_x - h);

        if (fabs(at_x) > 1e-5)
            assert_near(out[i], (double)given[i] * slope / (2 * h), 2e-6);
    }
    for (unsigned t = 0; t < PR_TERMS; t++)
        tensor_free(term[t], count);
    tensor_free(x, count);
    tensor_free(y, count);
    tensor_free(given, count);
    tensor_free(dx, count);
}

static void slope_all(const struct pr_par *p)
{
    for (size_t i = 0; i < COUNT(counts); i++)
        for (int kind = PR_CURVE_RELU; kind <= PR_CURVE_TANH; kind++)
            for (unsigned terms = 1; terms <= PR_TERMS;
                 terms += is_brief() ? 3 : 1)
                slope_once(p, counts[i], (enum pr_curve)kind, terms,
                           terms % 2 ? terms - 1 : PR_TERMS);
}

static void slopes_of_curves(void **state)
{
    (void)state;
    with_threads(slope_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_terms),    cmocka_unit_test(scaling),
        cmocka_unit_test(curves),           cmocka_unit_test(ends_of_curves),
        cmocka_unit_test(slopes_of_curves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
