/* Curves against the library's, and their slopes against differences. */
#include "test_nn_kernel.h"

static const size_t counts[] = {1, 7, 8, 9, 31, 1000, 8191, 20003};

static const enum pr_curve kinds[] = {PR_CURVE_RELU, PR_CURVE_SIGMOID,
                                      PR_CURVE_TANH, PR_CURVE_EXP,
                                      PR_CURVE_GELU};

static double curve_of(enum pr_curve kind, double x)
{
    switch (kind) {
    case PR_CURVE_RELU:
        return x > 0 ? x : 0;
    case PR_CURVE_TANH:
        return tanh(x);
    case PR_CURVE_EXP:
        return exp(x);
    case PR_CURVE_GELU:
        return x * erfc(-x / sqrt(2)) / 2;
    default:
        return 1 / (1 + exp(-x));
    }
}

/* Far out gelu is an exponential of -x * x / 2, rounded. */
static double error_of(enum pr_curve kind, double x, double want)
{
    double rounded = kind == PR_CURVE_GELU && x < 0 ? x * x * 6e-8 : 0;

    return (4e-7 + rounded) * fabs(want) + (rounded > 9e-6 ? 1e-33 : 1e-37);
}

static void curve_once(const struct pr_threads *p, size_t count,
                       enum pr_curve kind)
{
    float *x = drawn(count, 3, 0), *y = tensor(count);

    for (size_t i = 0; i < count; i++)
        x[i] *= i % 3 == 0 ? 30 : i % 3 == 1 ? 1 : 1e-3f;
    for (size_t i = 0; kind == PR_CURVE_EXP && i < count; i++)
        x[i] = x[i] > 88.7f ? 88.7f : x[i] < -86 ? -86 : x[i];
    pr_kernel_curve(p, count, kind, x, y);
    for (size_t i = 0; i < count; i++) {
        double want = curve_of(kind, (double)x[i]);

        if (fabs((double)y[i] - want) > error_of(kind, (double)x[i], want))
            fail_msg("%d of %.9g is %.9g", (int)kind, (double)x[i],
                     (double)y[i]);
    }
    pr_kernel_curve(p, count, kind, x, x);
    assert_same_bits(x, y, count);
    tensor_free(x, count);
    tensor_free(y, count);
}

static void curve_all(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(counts); i++)
        for (size_t k = 0; k < COUNT(kinds); k++)
            curve_once(p, counts[i], kinds[k]);
}

static void curves(void **state)
{
    (void)state;
    with_threads(curve_all);
}

/* Also where erf is next to -1 and what is left of it is small. */
static void gelu_is_exact_to_1e_6(void **state)
{
    enum { N = 100000 };
    struct pr_threads *p = threads_new(1);
    float *x = tensor(N), *y = tensor(N);

    (void)state;
    for (size_t i = 0; i < N; i++)
        x[i] = ((float)i - 0.45f * N) * 1e-4f;
    pr_kernel_curve(p, N, PR_CURVE_GELU, x, y);
    for (size_t i = 0; i < N; i++) {
        double want = curve_of(PR_CURVE_GELU, (double)x[i]);

        if (fabs((double)y[i] - want) > 1e-6 * fabs(want))
            fail_msg("gelu(%.9g) is %.9g, not %.9g", (double)x[i], (double)y[i],
                     want);
    }
    tensor_free(x, N);
    tensor_free(y, N);
    pr_threads_free(p);
}

static void ends_of_curves(void **state)
{
    static const struct {
        float x, y[COUNT(kinds)];
    } rows[] = {
        {0, {0, 0.5f, 0, 1, 0}},
        {-0.0f, {0, 0.5f, 0, 1, 0}},
        {500, {500, 1, 1, INFINITY, 500}},
        {-500, {0, 0, -1, 0, 0}},
        {INFINITY, {INFINITY, 1, 1, INFINITY, INFINITY}},
        {NAN, {NAN, NAN, NAN, NAN, NAN}},
    };
    struct pr_threads *p = threads_new(1);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t k = 0; k < COUNT(kinds); k++) {
            float y = 7, want = rows[i].y[k];

            pr_kernel_curve(p, 1, kinds[k], &rows[i].x, &y);
            if (isnan(want) || isinf(want))
                assert_true(isnan(want) ? isnan(y) : y == want);
            else
                assert_near(y, want, 1e-30);
        }
    pr_threads_free(p);
}

static void slope_once(const struct pr_threads *p, size_t count,
                       enum pr_curve kind, unsigned terms, unsigned at)
{
    float *x = drawn(count, 3, 0), *y = tensor(count), *term[PR_TERMS];
    float *given = tensor(count), *dx = tensor(count), *out;
    const float *in[PR_TERMS];

    pr_kernel_curve(p, count, kind, x, y);
    memset(given, 0, count * sizeof *given);
    for (unsigned t = 0; t < PR_TERMS; t++) {
        in[t] = term[t] = drawn(count, 20 + t, 0);
        for (size_t i = 0; t < terms && i < count; i++)
            given[i] += term[t][i];
    }
    out = at < terms ? term[at] : dx;
    pr_kernel_curve_back(p, count, kind, kind == PR_CURVE_GELU ? x : y, in,
                         terms, out);
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

static void slope_all(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(counts); i++)
        for (size_t k = 0; k < COUNT(kinds); k++)
            for (unsigned terms = 1; terms <= PR_TERMS;
                 terms += is_brief() ? 3 : 1)
                slope_once(p, counts[i], kinds[k], terms,
                           terms % 2 ? terms - 1 : PR_TERMS);
}

static void slopes_of_curves(void **state)
{
    (void)state;
    with_threads(slope_all);
}

/* Where gelu is flat and where it is straight. */
static void slopes_of_gelu_far_out(void **state)
{
    static const float x[] = {-1e30f, -500, -20, -6, 6, 20, 500, 1e30f};
    static const float one = 1;
    const float *term = &one;
    struct pr_threads *p = threads_new(1);

    (void)state;
    for (size_t i = 0; i < COUNT(x); i++) {
        float dx = 7;

        pr_kernel_curve_back(p, 1, PR_CURVE_GELU, &x[i], &term, 1, &dx);
        assert_near(dx, x[i] > 0, 1e-6);
    }
    pr_threads_free(p);
}

static void leaky_once(const struct pr_threads *p, size_t count, float factor)
{
    float *x = drawn(count, 5, 0), *y = tensor(count);
    float *g = drawn(count, 6, 0), *dx = tensor(count);

    pr_kernel_leaky(p, count, factor, x, y);
    pr_kernel_leaky_back(p, count, factor, factor < 0 ? x : y, g, dx);
    for (size_t i = 0; i < count; i++) {
        assert_true(y[i] == (x[i] > 0 ? x[i] : factor * x[i]));
        assert_true(dx[i] == (x[i] > 0 ? g[i] : factor * g[i]));
    }
    pr_kernel_leaky_back(p, count, factor, x, g, g);
    assert_same_bits(g, dx, count);
    pr_kernel_leaky(p, count, factor, x, x);
    assert_same_bits(x, y, count);
    tensor_free(x, count);
    tensor_free(y, count);
    tensor_free(g, count);
    tensor_free(dx, count);
}

static void leaky_all(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(counts); i++) {
        leaky_once(p, counts[i], 0.2f);
        leaky_once(p, counts[i], 0);
        leaky_once(p, counts[i], -0.5f);
    }
}

static void leaky_relu(void **state)
{
    (void)state;
    with_threads(leaky_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves),
        cmocka_unit_test(gelu_is_exact_to_1e_6),
        cmocka_unit_test(ends_of_curves),
        cmocka_unit_test(slopes_of_curves),
        cmocka_unit_test(slopes_of_gelu_far_out),
        cmocka_unit_test(leaky_relu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
