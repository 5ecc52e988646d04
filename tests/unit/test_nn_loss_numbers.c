/* Losses of numbers, and kl, against doubles and their own slopes. */
#include "test_nn_kernel.h"

#include "nn/kernel/losses.h"

struct shape {
    size_t rows, width;
};

typedef double loss_fn(const struct pr_threads *p,
                       const struct pr_loss_rows *l);

static double mse(double x, double y, double beta)
{
    (void)beta;
    return pow(x - y, 2);
}

static double bce(double x, double y, double beta)
{
    double s = 1 / (1 + exp(-x));

    (void)beta;
    return -y * log(s) - (1 - y) * log(1 - s);
}

static double smooth_l1(double x, double y, double beta)
{
    if (fabs(x - y) >= beta)
        return fabs(x - y) - beta / 2;
    return (x - y) * (x - y) / 2 / beta;
}

static const struct number {
    loss_fn *fn;
    double (*want)(double x, double y, double beta);
    double beta;
} numbers[] = {
    {pr_kernel_mse, mse, 0},
    {pr_kernel_bce, bce, 0},
    {pr_kernel_smooth_l1, smooth_l1, 1},
    {pr_kernel_smooth_l1, smooth_l1, 0.1},
    {pr_kernel_smooth_l1, smooth_l1, 0},
};

static const struct shape plain[] = {{1, 1},  {1, 7},     {8, 1},   {3, 8},
                                     {9, 11}, {1, 20003}, {50, 401}};

static void check_numbers(const struct pr_threads *p, const struct number *k,
                          const struct pr_loss_rows *l)
{
    size_t count = l->rows * l->width;
    double want = 0, scale = l->factor / (l->sum ? 1 : (double)count);

    assert_near(k->fn(p, l), 0, 1e30); /* fills dx */
    for (size_t i = 0; i < count; i++) {
        double x = (double)l->x[i];
        double y = (double)(l->y ? l->y[i] : l->value);
        double w = l->weights ? (double)l->weights[i / l->width] : 1;
        double slope =
            (k->want(x + 1e-5, y, k->beta) - k->want(x - 1e-5, y, k->beta)) /
            2e-5;

        want += w * k->want(x, y, k->beta);
        if (k->beta == 0 && fabs(x - y) < 1e-4)
            continue;
        assert_near((double)l->dx[i] / scale, w * slope, 5e-5);
    }
    assert_near(k->fn(p, l), want * scale, 2e-7);
}

static void numbers_once(const struct pr_threads *p, const struct number *k,
                         const struct shape *s)
{
    size_t count = s->rows * s->width;
    float *x = drawn(count, 1, 0.3), *y = drawn(count, 2, 0.5);
    float *dx = tensor(count), *weights = drawn(s->rows, 3, 2);
    float *same = copied(x, count);

    for (size_t i = 0; i < count; i++)
        y[i] = fabsf(y[i]) > 1 ? 1 / y[i] : y[i];
    for (unsigned way = 0; way < 8; way++) {
        struct pr_loss_rows l = {
            .rows = s->rows,
            .width = s->width,
            .x = x,
            .y = way & 1 ? y : NULL,
            .value = 0.75f,
            .weights = way & 2 ? weights : NULL,
            .sum = way & 4,
            .factor = way == 5 ? 1 : 0.125,
            .beta = k->beta,
            .dx = dx,
        };
        double loss;

        check_numbers(p, k, &l);
        l.dx = NULL;
        loss = k->fn(p, &l);
        memcpy(same, x, count * sizeof *x);
        l.x = l.dx = same;
        assert_true(k->fn(p, &l) == loss);
        assert_same_bits(same, dx, count);
    }
    tensor_free(x, count);
    tensor_free(y, count);
    tensor_free(dx, count);
    tensor_free(same, count);
    tensor_free(weights, s->rows);
}

static void numbers_all(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(numbers); i++)
        for (size_t k = 0; k < COUNT(plain); k++)
            if (!is_brief() || plain[k].width < 1000)
                numbers_once(p, &numbers[i], &plain[k]);
}

static void numbers_and_their_slopes(void **state)
{
    (void)state;
    with_threads(numbers_all);
}

static void extreme_numbers(void **state)
{
    static const struct {
        loss_fn *fn;
        float x, y;
        double beta, loss;
        float dx;
    } rows[] = {
        {pr_kernel_bce, 1e4f, 1, 0, 0, 0},
        {pr_kernel_bce, 1e4f, 0, 0, 1e4, 1},
        {pr_kernel_bce, -1e4f, 0, 0, 0, 0},
        {pr_kernel_bce, -1e4f, 1, 0, 1e4, -1},
        {pr_kernel_bce, -1e4f, 0.5f, 0, 5e3, -0.5f},
        {pr_kernel_bce, 0, 0.5f, 0, 0.69314718056, 0},
        {pr_kernel_bce, INFINITY, 0, 0, (double)INFINITY, 1},
        {pr_kernel_bce, NAN, 0, 0, (double)NAN, NAN},
        {pr_kernel_mse, 1e4f, -1e4f, 0, 4e8, 4e4f},
        {pr_kernel_mse, NAN, 0, 0, (double)NAN, NAN},
        {pr_kernel_smooth_l1, 1e4f, 0, 1, 9999.5, 1},
        {pr_kernel_smooth_l1, -1e4f, 0, 1, 9999.5, -1},
        {pr_kernel_smooth_l1, 1, 0, 1, 0.5, 1},
        {pr_kernel_smooth_l1, 2, 2, 0, 0, 0},
        {pr_kernel_smooth_l1, -INFINITY, 0, 1, (double)INFINITY, -1},
    };
    struct pr_threads *p = threads_new(1);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        float dx;
        struct pr_loss_rows l = {.rows = 1,
                                 .width = 1,
                                 .x = &rows[i].x,
                                 .y = &rows[i].y,
                                 .factor = 1,
                                 .beta = rows[i].beta,
                                 .dx = &dx};
        double loss = rows[i].fn(p, &l);

        if (!isfinite(rows[i].loss)) {
            assert_int_equal(isnan(loss), isnan(rows[i].loss));
            assert_true(!isfinite(loss));
            continue;
        }
        assert_near(loss, rows[i].loss, 1e-7);
        assert_near(dx, (double)rows[i].dx, 1e-7);
        l.rows = 0;
        assert_true(rows[i].fn(p, &l) == 0);
    }
    pr_threads_free(p);
}

/* ---- kl */

static void kl_all(const struct pr_threads *p)
{
    static const size_t counts[] = {1, 7, 8, 100, 20003};

    for (size_t k = 0; k < COUNT(counts); k++) {
        size_t n = counts[k];
        float *m = drawn(n, 1, 0), *v = drawn(n, 2, 0);
        float *dm = tensor(n), *dv = tensor(n);
        double want = 0, got = pr_kernel_kl(p, n, m, v, 0.5, dm, dv);

        for (size_t i = 0; i < n; i++) {
            double a = (double)m[i], b = (double)v[i];

            want -= 0.25 * (1 + b - a * a - exp(b));
            assert_near(dm[i], 0.5 * a, 1e-7);
            assert_near(dv[i], 0.25 * expm1(b), 1e-7);
        }
        assert_near(got, want, 2e-7);
        assert_true(pr_kernel_kl(p, n, m, v, 0.5, NULL, NULL) == got);
        tensor_free(m, n);
        tensor_free(v, n);
        tensor_free(dm, n);
        tensor_free(dv, n);
    }
}

static void kl_and_its_slopes(void **state)
{
    static const float m[] = {0, 3, 0, 0}, v[] = {0, -1e4f, 1e4f, NAN};
    static const double want[] = {0, 5004, (double)INFINITY, (double)NAN};
    struct pr_threads *p = threads_new(1);

    (void)state;
    for (size_t i = 0; i < COUNT(m); i++) {
        float dm, dv;
        double got = pr_kernel_kl(p, 1, m + i, v + i, 1, &dm, &dv);

        if (isfinite(want[i]))
            assert_near(got, want[i], 1e-7);
        else
            assert_true(isnan(want[i]) ? isnan(got) : isinf(got));
    }
    pr_threads_free(p);
    with_threads(kl_all);
}

/* ---- threads */

/* Whether the second thread left something in its memory. */
static bool was_used(struct pr_threads *p, size_t width)
{
    float *x = drawn(width, 1, 0);
    struct pr_loss_rows l = {.rows = 1, .width = width, .x = x, .factor = 1};
    char *mark = pr_threads_scratch(p, 1);

    *mark = 111;
    (void)pr_kernel_mse(p, &l);
    tensor_free(x, width);
    return *mark != 111;
}

static void few_elements_start_no_threads(void **state)
{
    struct pr_threads *p;

    (void)state;
    if (TEST_THREADS < 2)
        skip_because(ONE_THREAD);
    p = threads_new(2);
    assert_false(was_used(p, 12000));
    assert_true(was_used(p, 20000));
    pr_threads_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_their_slopes),
        cmocka_unit_test(extreme_numbers),
        cmocka_unit_test(kl_and_its_slopes),
        cmocka_unit_test(few_elements_start_no_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
