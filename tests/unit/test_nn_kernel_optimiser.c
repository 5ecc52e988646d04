/* Optimisers against PyTorch's formulas in doubles; the peak of the machine. */
#include "test_nn_kernel.h"

static const size_t counts[] = {1, 8, 13, 1000, 20003};
enum { STEPS = 5 };

static double *doubles(const float *x, size_t count)
{
    double *d = pr_alloc_zeroed(count * sizeof *d);

    assert_non_null(d);
    for (size_t i = 0; x && i < count; i++)
        d[i] = (double)x[i];
    return d;
}

static void sgd_once(const struct pr_threads *p, size_t count, float momentum,
                     float decay)
{
    float *w = drawn(count, 1, 0), *m = tensor(count);
    double *want = doubles(w, count), *buf = doubles(NULL, count);

    m[0] = NAN; /* the first step does not look */
    for (int step = 0; step < STEPS; step++) {
        float *g = drawn(count, 10 + (uint64_t)step, 0);

        pr_kernel_sgd(p, count, 0.1f, momentum, decay, step == 0, w, g,
                      momentum != 0 ? m : NULL);
        for (size_t i = 0; i < count; i++) {
            double d = (double)g[i] + (double)decay * want[i];

            buf[i] = step == 0 ? d : (double)momentum * buf[i] + d;
            want[i] -= (double)0.1f * (momentum != 0 ? buf[i] : d);
            assert_near(w[i], want[i], 1e-6);
            if (momentum != 0)
                assert_near(m[i], buf[i], 1e-6);
        }
        tensor_free(g, count);
    }
    tensor_free(w, count);
    tensor_free(m, count);
    pr_free(want);
    pr_free(buf);
}

static void sgd_all(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(counts); i++) {
        sgd_once(p, counts[i], 0.9f, 1e-2f);
        sgd_once(p, counts[i], 0.9f, 0);
        sgd_once(p, counts[i], 0, 1e-2f);
        sgd_once(p, counts[i], 0, 0);
    }
}

static void sgd_steps(void **state)
{
    (void)state;
    with_threads(sgd_all);
}

static void adam_once(const struct pr_threads *p, size_t count, double decay)
{
    struct pr_adam o = {1e-2, 0.9, 0.999, 1e-8, decay, 0};
    float *w = drawn(count, 1, 0), *m = tensor(count), *v = tensor(count);
    double *want = doubles(w, count), *a = doubles(NULL, count);
    double *b = doubles(NULL, count);

    memset(m, 0, count * sizeof *m);
    memset(v, 0, count * sizeof *v);
    for (o.step = 1; o.step <= STEPS; o.step++) {
        double t = (double)o.step;
        float *g = drawn(count, 10 + o.step, 0);

        g[0] = 0; /* no gradient at all: stays */
        pr_kernel_adam(p, count, &o, w, g, m, v);
        for (size_t i = 0; i < count; i++) {
            double d = (double)g[i] + decay * want[i];
            double root;

            a[i] = o.beta1 * a[i] + (1 - o.beta1) * d;
            b[i] = o.beta2 * b[i] + (1 - o.beta2) * d * d;
            root = sqrt(b[i] / (1 - pow(o.beta2, t))) + o.epsilon;
            want[i] -= o.rate * a[i] / (1 - pow(o.beta1, t)) / root;
            assert_near(w[i], want[i], 1e-6);
            assert_near(m[i], a[i], 1e-6);
            assert_near(v[i], b[i], 1e-6);
        }
        tensor_free(g, count);
    }
    tensor_free(w, count);
    tensor_free(m, count);
    tensor_free(v, count);
    pr_free(want);
    pr_free(a);
    pr_free(b);
}

static void adam_all(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(counts); i++) {
        adam_once(p, counts[i], 0);
        adam_once(p, counts[i], 0.1);
    }
}

static void adam_steps(void **state)
{
    (void)state;
    with_threads(adam_all);
}

/* No figure can be asked of a busy machine; this one no machine misses, and
 * none that there is passes the other. */
static void peak_once(const struct pr_threads *p)
{
    double rate = pr_kernel_peak(p);

    assert_true(rate > 1e7 && rate < 1e13 * pr_threads_count(p));
}

static void the_peak_is_a_rate(void **state)
{
    (void)state;
    with_threads(peak_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd_steps),
        cmocka_unit_test(adam_steps),
        cmocka_unit_test(the_peak_is_a_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
