/* Layer norm and instance norm, against doubles and their own slopes. */
#include "nn/kernel/kernels.h"

#include "test_nn_kernel.h"

/* ---- layer norm */

static const struct {
    size_t rows, width;
    double mean;
    bool bare; /* without gamma and beta */
} shapes[] = {
    {1, 1, 0, false},    {3, 7, 5, false},     {5, 8, 0, true},
    {4, 33, -2, false},  {70, 768, 0, false},  {300, 100, 3, false},
    {333, 31, 1, true},  {2, 20000, 0, false}, {37, 11001, 1, false},
    {9, 1025, 0, false},
};

struct rows {
    struct pr_row_norm norm;
    size_t count;
    float *x, *y, *dy, *dx, *dgamma, *dbeta;
};

static void rows_new(size_t k, struct rows *r)
{
    size_t n = shapes[k].rows, width = shapes[k].width;
    bool bare = shapes[k].bare;

    r->count = n * width;
    r->x = drawn(r->count, 1, shapes[k].mean);
    r->dy = drawn(r->count, 2, 0.1);
    r->y = tensor(r->count);
    r->dx = tensor(r->count);
    r->dgamma = tensor(width);
    r->dbeta = tensor(width);
    r->norm = (struct pr_row_norm){n,
                                   width,
                                   bare ? NULL : drawn(width, 3, 1),
                                   bare ? NULL : drawn(width, 4, 0),
                                   tensor(n),
                                   tensor(n),
                                   1e-5f};
}

static void rows_free(struct rows *r)
{
    tensor_free(r->x, r->count);
    tensor_free(r->y, r->count);
    tensor_free(r->dy, r->count);
    tensor_free(r->dx, r->count);
    tensor_free(r->dgamma, r->norm.width);
    tensor_free(r->dbeta, r->norm.width);
    if (r->norm.gamma) {
        tensor_free((float *)(uintptr_t)r->norm.gamma, r->norm.width);
        tensor_free((float *)(uintptr_t)r->norm.beta, r->norm.width);
    }
    tensor_free(r->norm.mean, r->norm.rows);
    tensor_free(r->norm.inv_std, r->norm.rows);
}

/* Mean and 1 / deviation of a row, by its raw moments. */
static void moments(const float *x, size_t width, size_t moved, double by,
                    double *mean, double *inv)
{
    long double sum = 0, squares = 0;

    for (size_t i = 0; i < width; i++) {
        long double v = (long double)x[i] + (i == moved ? (long double)by : 0);

        sum += v;
        squares += v * v;
    }
    sum /= (long double)width;
    *mean = (double)sum;
    *inv = 1 / sqrt((double)(squares / (long double)width - sum * sum) +
                    (double)1e-5f);
}

static double gamma_of(const struct rows *r, size_t i)
{
    return r->norm.gamma ? (double)r->norm.gamma[i] : 1;
}

static void forward_all(const struct pr_threads *p)
{
    for (size_t k = 0; k < COUNT(shapes); k++) {
        size_t width = shapes[k].width;
        double mean = 0, inv = 0;
        struct rows r;

        rows_new(k, &r);
        pr_kernel_layer_norm(p, &r.norm, r.x, r.y);
        for (size_t i = 0; i < r.count; i++) {
            const float *x = r.x + i / width * width;

            if (i % width == 0) {
                moments(x, width, width, 0, &mean, &inv);
                assert_near(r.norm.mean[i / width], mean, 1e-6);
                assert_near(r.norm.inv_std[i / width] / inv, 1, 1e-6);
            }
            assert_near(r.y[i],
                        ((double)r.x[i] - mean) * inv *
                                gamma_of(&r, i % width) +
                            (r.norm.beta ? (double)r.norm.beta[i % width] : 0),
                        3e-6);
        }
        rows_free(&r);
    }
}

static void layer_norm_is_as_in_doubles(void **state)
{
    (void)state;
    with_threads(forward_all);
}

/* sum(dy * norm(x)) of a row, with one x moved. */
static double objective(const struct rows *r, size_t row, size_t moved,
                        double by)
{
    size_t width = r->norm.width;
    const float *x = r->x + row * width, *dy = r->dy + row * width;
    double mean, inv, sum = 0;

    moments(x, width, moved, by, &mean, &inv);
    for (size_t i = 0; i < width; i++)
        sum += ((double)x[i] + (i == moved ? by : 0) - mean) * inv *
               gamma_of(r, i) * (double)dy[i];
    return sum;
}

static void check_sums(const struct rows *r, size_t c)
{
    size_t width = r->norm.width;
    double gamma = 0, beta = 0;

    for (size_t i = 0; i < r->norm.rows; i++) {
        double mean, inv, g = (double)r->dy[i * width + c];

        moments(r->x + i * width, width, width, 0, &mean, &inv);
        gamma += ((double)r->x[i * width + c] - mean) * inv * g;
        beta += g;
    }
    assert_near(r->dgamma[c], gamma, 5e-6);
    assert_near(r->dbeta[c], beta, 5e-6);
}

static void slopes_all(const struct pr_threads *p)
{
    for (size_t k = 0; k < COUNT(shapes); k++) {
        struct rows r;
        struct pr_row_norm_back b;
        size_t step;

        rows_new(k, &r);
        step = r.count / 67 + 1;
        b = (struct pr_row_norm_back){&r.norm, r.x,      r.dy,
                                      r.dx,    r.dgamma, r.dbeta};
        pr_kernel_layer_norm(p, &r.norm, r.x, r.y);
        pr_kernel_layer_norm_back(p, &b);
        for (size_t i = 0; i < r.count; i += step) {
            size_t row = i / r.norm.width, c = i % r.norm.width;
            double up = objective(&r, row, c, 1e-3);
            double down = objective(&r, row, c, -1e-3);

            if (r.norm.width > 1)
                assert_near(r.dx[i], (up - down) / 2e-3, 1e-5);
            else
                assert_near(r.dx[i], 0, 1e-5); /* 1 / deviation is 316 */
        }
        for (size_t c = 0; c < r.norm.width; c += r.norm.width / 13 + 1)
            check_sums(&r, c);
        check_sums(&r, r.norm.width - 1);
        rows_free(&r);
    }
}

static void layer_norm_backward_is_the_slope(void **state)
{
    (void)state;
    with_threads(slopes_all);
}

/* In place, without the sums, without dx: what is there is the same bits. */
static void parts_all(const struct pr_threads *p)
{
    for (size_t k = 0; k < COUNT(shapes); k++) {
        struct rows r;
        struct pr_row_norm_back b;
        float *dx, *dgamma, *dbeta;

        rows_new(k, &r);
        b = (struct pr_row_norm_back){&r.norm, r.x,      r.dy,
                                      r.dx,    r.dgamma, r.dbeta};
        pr_kernel_layer_norm(p, &r.norm, r.x, r.y);
        pr_kernel_layer_norm_back(p, &b);
        dx = copied(r.dx, r.count);
        dgamma = copied(r.dgamma, r.norm.width);
        dbeta = copied(r.dbeta, r.norm.width);
        b.dgamma = b.dbeta = NULL;
        memset(r.dx, 0, r.count * sizeof *r.dx);
        pr_kernel_layer_norm_back(p, &b);
        assert_same_bits(r.dx, dx, r.count);
        b = (struct pr_row_norm_back){&r.norm, r.x,      r.dy,
                                      NULL,    r.dgamma, r.dbeta};
        memset(r.dgamma, 0, r.norm.width * sizeof *r.dgamma);
        pr_kernel_layer_norm_back(p, &b);
        assert_same_bits(r.dgamma, dgamma, r.norm.width);
        b.dx = r.dy;
        pr_kernel_layer_norm_back(p, &b);
        assert_same_bits(r.dy, dx, r.count);
        assert_same_bits(r.dgamma, dgamma, r.norm.width);
        assert_same_bits(r.dbeta, dbeta, r.norm.width);
        tensor_free(dx, r.count);
        tensor_free(dgamma, r.norm.width);
        tensor_free(dbeta, r.norm.width);
        rows_free(&r);
    }
}

static void layer_norm_backward_in_parts_and_in_place(void **state)
{
    (void)state;
    with_threads(parts_all);
}

/* A mean that is large beside the deviation does not cancel it. */
static void layer_norm_far_from_zero(void **state)
{
    enum { WIDTH = 500 };
    struct pr_threads *p = threads_new(1);
    float *x = drawn(WIDTH, 1, 4096), *y = tensor(WIDTH), mean, inv;
    struct pr_row_norm norm = {1, WIDTH, NULL, NULL, &mean, &inv, 1e-5f};
    double m, s;

    (void)state;
    pr_kernel_layer_norm(p, &norm, x, y);
    moments(x, WIDTH, WIDTH, 0, &m, &s);
    assert_near(inv, s, 1e-5);
    for (size_t i = 0; i < WIDTH; i++)
        assert_near(y[i], ((double)x[i] - m) * s, 3e-4);
    tensor_free(x, WIDTH);
    tensor_free(y, WIDTH);
    pr_threads_free(p);
}

/* ---- instance norm */

static double sample_objective(const struct pr_grid *v, const float *x,
                               const float *dy, double gamma, size_t n,
                               size_t c, size_t moved, double by)
{
    double sum = 0, squares = 0, ret = 0, inv;

    for (size_t s = 0; s < v->s; s++)
        sum += (double)x[place(v, n, c, s)] + (s == moved ? by : 0);
    sum /= (double)v->s;
    for (size_t s = 0; s < v->s; s++) {
        double d = (double)x[place(v, n, c, s)] + (s == moved ? by : 0) - sum;

        squares += d * d;
        ret += d * (double)dy[place(v, n, c, s)];
    }
    inv = 1 / sqrt(squares / (double)v->s + (double)1e-5f);
    return ret * inv * gamma;
}

static void check_sample(const struct pr_grid *v, const struct pr_norm *norm,
                         const float *x, const float *y, size_t n, size_t c)
{
    double sum = 0, squares = 0, inv;

    for (size_t s = 0; s < v->s; s++)
        sum += (double)x[place(v, n, c, s)];
    sum /= (double)v->s;
    for (size_t s = 0; s < v->s; s++)
        squares += pow((double)x[place(v, n, c, s)] - sum, 2);
    inv = 1 / sqrt(squares / (double)v->s + (double)1e-5f);
    for (size_t s = 0; s < v->s; s++)
        assert_near(y[place(v, n, c, s)],
                    ((double)x[place(v, n, c, s)] - sum) * inv *
                            (double)norm->gamma[c] +
                        (double)norm->beta[c],
                    5e-6);
}

static void instance_once(const struct pr_threads *p, const struct pr_grid *v)
{
    size_t count = pr_grid_elements(v), all = channels(v);
    float *x = drawn_view(v, 1, 2), *y = tensor(count);
    float *dy = drawn_view(v, 2, 0), *dx = tensor(count);
    float *dgamma = tensor(all), *dbeta = tensor(all);
    float *gamma = drawn_channels(v, 3, 1), *beta = drawn_channels(v, 4, 0);
    float *mean = tensor(v->n * all), *inv = tensor(v->n * all);
    float *work = tensor(pr_kernel_instance_norm_work(v));
    struct pr_norm norm = {
        gamma, beta, mean, inv, NULL, NULL, 1e-5f, 0,
    };
    struct pr_instance_back b = {&norm, x, dy, dx, dgamma, dbeta, work};

    pr_kernel_instance_norm(p, v, &norm, x, y);
    assert_rest_is_zero(v, y);
    pr_kernel_instance_norm_back(p, v, &b);
    assert_rest_is_zero(v, dx);
    for (size_t c = 0; c < v->c; c++) {
        double g = 0, h = 0, wide = v->s > 1 ? 1 : 0;

        for (size_t n = 0; n < v->n; n++) {
            size_t s = (n * 7 + c * 3) % v->s;
            double k = (double)gamma[c];
            double up = sample_objective(v, x, dy, k, n, c, s, 1e-3);
            double down = sample_objective(v, x, dy, k, n, c, s, -1e-3);

            check_sample(v, &norm, x, y, n, c);
            assert_near(dx[place(v, n, c, s)], wide * (up - down) / 2e-3, 2e-5);
            g += sample_objective(v, x, dy, 1, n, c, 0, 0);
            for (s = 0; s < v->s; s++)
                h += (double)dy[place(v, n, c, s)];
        }
        assert_near(dgamma[c], g, 1e-5);
        assert_near(dbeta[c], h, 1e-5);
    }
    b.dgamma = b.dbeta = NULL;
    b.dx = dy;
    pr_kernel_instance_norm_back(p, v, &b);
    assert_same_bits(dx, dy, count);
    tensor_free(x, count);
    tensor_free(y, count);
    tensor_free(dx, count);
    tensor_free(dy, count);
    tensor_free(dgamma, all);
    tensor_free(dbeta, all);
    tensor_free(gamma, all);
    tensor_free(beta, all);
    tensor_free(mean, v->n * all);
    tensor_free(inv, v->n * all);
    tensor_free(work, pr_kernel_instance_norm_work(v));
}

static void instance_all(const struct pr_threads *p)
{
    for (size_t k = 0; k < COUNT(views); k += is_brief() ? 3 : 1)
        instance_once(p, &views[k]);
}

static void instance_norm_and_its_slope(void **state)
{
    (void)state;
    with_threads(instance_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layer_norm_is_as_in_doubles),
        cmocka_unit_test(layer_norm_backward_is_the_slope),
        cmocka_unit_test(layer_norm_backward_in_parts_and_in_place),
        cmocka_unit_test(layer_norm_far_from_zero),
        cmocka_unit_test(instance_norm_and_its_slope),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
