/* Softmax, means over places, dropout. */
#include "test_nn_kernel.h"

static const struct {
    size_t n, c;
} shapes[] = {{1, 1}, {3, 2}, {5, 7}, {4, 8}, {7, 10}, {2, 1000}, {33, 301}};

/* Logits: some rows far up, some with wide steps. */
static float *logits(size_t n, size_t c)
{
    float *x = drawn(n * c, 4, 0);

    for (size_t i = 0; i < n * c; i++)
        x[i] = x[i] * (i / c % 3 == 1 ? 20 : 2) + (i / c % 2 ? 500 : -3);
    return x;
}

/* log(sum(exp)) of a row. */
static double log_sum(const float *x, size_t c)
{
    double sum = 0;

    for (size_t i = 0; i < c; i++)
        sum += exp((double)x[i] - (double)x[0]);
    return log(sum) + (double)x[0];
}

static void softmax_all(const struct pr_threads *p)
{
    for (size_t k = 0; k < COUNT(shapes); k++) {
        size_t n = shapes[k].n, c = shapes[k].c;
        float *x = logits(n, c), *y = tensor(n * c);

        pr_kernel_softmax(p, n, c, x, y);
        for (size_t r = 0; r < n; r++) {
            double all = log_sum(x + r * c, c);

            for (size_t i = 0; i < c; i++)
                assert_near(y[r * c + i], exp((double)x[r * c + i] - all),
                            2e-7);
        }
        tensor_free(x, n * c);
        tensor_free(y, n * c);
    }
}

static void softmax_is_as_in_doubles(void **state)
{
    (void)state;
    with_threads(softmax_all);
}

/* sum(dy * softmax(x)) of a row, with one x moved. */
static double weighted(const float *x, const float *dy, size_t c, size_t moved,
                       double by)
{
    double sum = 0, ret = 0;

    for (size_t i = 0; i < c; i++) {
        double e = exp((double)x[i] - (double)x[0] + (i == moved ? by : 0));

        sum += e;
        ret += e * (double)dy[i];
    }
    return ret / sum;
}

static void softmax_slopes(const struct pr_threads *p)
{
    for (size_t k = 0; k < COUNT(shapes); k++) {
        size_t n = shapes[k].n, c = shapes[k].c;
        float *x = drawn(n * c, 4, 0), *y = tensor(n * c);
        float *dy = drawn(n * c, 5, 0), *dx = tensor(n * c);

        pr_kernel_softmax(p, n, c, x, y);
        pr_kernel_softmax_back(p, n, c, y, dy, dx);
        for (size_t i = 0; i < n * c; i += is_brief() ? 37 : 1) {
            const float *row = x + i / c * c, *g = dy + i / c * c;
            double up = weighted(row, g, c, i % c, 1e-5);
            double down = weighted(row, g, c, i % c, -1e-5);

            assert_near(dx[i], (up - down) / 2e-5, 1e-6);
        }
        tensor_free(x, n * c);
        tensor_free(y, n * c);
        tensor_free(dy, n * c);
        tensor_free(dx, n * c);
    }
}

static void softmax_backward_is_the_slope(void **state)
{
    (void)state;
    with_threads(softmax_slopes);
}

static void mean_all(const struct pr_threads *p)
{
    for (size_t k = 0; k < COUNT(views); k++) {
        const struct pr_grid *v = &views[k];
        size_t count = pr_grid_elements(v), plain = v->n * v->c;
        float *x = drawn_view(v, 1, 2), *y = tensor(plain);
        float *dx = tensor(count);

        pr_kernel_mean(p, v, x, y);
        for (size_t i = 0; i < plain; i++) {
            double sum = 0;

            for (size_t s = 0; s < v->s; s++)
                sum += (double)x[place(v, i / v->c, i % v->c, s)];
            assert_near(y[i], sum / (double)v->s, 4e-7);
        }
        pr_kernel_mean_back(p, v, y, dx);
        for (size_t i = 0; i < plain; i++)
            for (size_t s = 0; s < v->s; s++)
                assert_near(dx[place(v, i / v->c, i % v->c, s)] * (float)v->s,
                            y[i], 1e-6);
        assert_rest_is_zero(v, dx);
        tensor_free(x, count);
        tensor_free(y, plain);
        tensor_free(dx, count);
    }
}

static void means_over_places(void **state)
{
    (void)state;
    with_threads(mean_all);
}

/* ---- dropout */

enum { MANY = 300001 };

static void dropout_all(const struct pr_threads *p)
{
    static const float rates[] = {0, 0.1f, 0.5f, 0.8f, 1};
    float *x = drawn(MANY, 1, 5), *y = tensor(MANY), *z = tensor(MANY);

    for (size_t k = 0; k < COUNT(rates); k += is_brief() ? 2 : 1) {
        double rate = (double)rates[k], kept = 0, sum = 0, want = 0;
        double dev = sqrt(rate * (1 - rate) * MANY);

        pr_kernel_dropout(p, MANY, rates[k], 99, x, y);
        for (size_t i = 0; i < MANY; i++) {
            assert_true(y[i] == 0 ||
                        fabs((double)y[i] * (1 - rate) / (double)x[i] - 1) <
                            2e-7);
            kept += y[i] != 0;
            sum += (double)y[i];
            want += (double)x[i];
        }
        assert_true(fabs(kept - MANY * (1 - rate)) <= 5 * dev);
        if (rate < 1)
            assert_true(fabs(sum / want - 1) < 0.02);
        memcpy(z, x, MANY * sizeof *z);
        pr_kernel_dropout(p, MANY, rates[k], 99, z, z);
        assert_same_bits(y, z, MANY);
    }
    tensor_free(x, MANY);
    tensor_free(y, MANY);
    tensor_free(z, MANY);
}

static void dropout_keeps_its_share(void **state)
{
    (void)state;
    with_threads(dropout_all);
}

/* What is kept is the same in backward and with any number of threads, other
 * with another key, and without a pattern from one element to those after. */
static void dropout_follows_key_and_place(void **state)
{
    static const uint64_t keys[] = {0, 1, 2, 1ull << 32, 1ull << 63, 12345};
    struct pr_threads *p = threads_new(1), *q;
    float *ones = tensor(MANY), *y[COUNT(keys)], *z = tensor(MANY);

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        ones[i] = 1;
    for (size_t k = 0; k < COUNT(keys); k++) {
        y[k] = tensor(MANY);
        pr_kernel_dropout(p, MANY, 0.5f, keys[k], ones, y[k]);
        for (size_t lag = 1; lag <= 64; lag += is_brief() ? 31 : 1) {
            size_t same = 0;

            for (size_t i = lag; i < MANY; i++)
                same += y[k][i] == y[k][i - lag];
            assert_in_range(same, MANY / 2 - 1600, MANY / 2 + 1600);
        }
        for (size_t o = 0; o < k; o++) {
            size_t same = 0;

            for (size_t i = 0; i < MANY; i++)
                same += y[k][i] == y[o][i];
            assert_in_range(same, MANY / 2 - 1600, MANY / 2 + 1600);
        }
    }
    pr_threads_free(p);
    q = threads_new(TEST_THREADS);
    pr_kernel_dropout(q, MANY, 0.5f, keys[5], ones, z);
    assert_same_bits(z, y[5], MANY);
    pr_threads_free(q);
    for (size_t k = 0; k < COUNT(keys); k++)
        tensor_free(y[k], MANY);
    tensor_free(ones, MANY);
    tensor_free(z, MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_is_as_in_doubles),
        cmocka_unit_test(softmax_backward_is_the_slope),
        cmocka_unit_test(means_over_places),
        cmocka_unit_test(dropout_keeps_its_share),
        cmocka_unit_test(dropout_follows_key_and_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
