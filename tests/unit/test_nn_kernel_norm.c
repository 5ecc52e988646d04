/* Batch norm forward against doubles, in all layouts. */
#include "test_nn_kernel.h"

/* Mean and variance (with n) of a channel, and the same of running ones. */
struct want {
    double mean, var;
};

static struct want stats(const struct pr_grid *v, const float *x, size_t c)
{
    double m = (double)(v->n * v->s), sum = 0, squares = 0;

    for (size_t n = 0; n < v->n; n++)
        for (size_t s = 0; s < v->s; s++)
            sum += (double)x[place(v, n, c, s)];
    for (size_t n = 0; n < v->n; n++)
        for (size_t s = 0; s < v->s; s++) {
            double d = (double)x[place(v, n, c, s)] - sum / m;

            squares += d * d;
        }
    return (struct want){sum / m, squares / m};
}

struct norm {
    struct pr_norm n;
    float *gamma, *beta, *had_mean, *had_var;
};

static struct norm norm_new(const struct pr_grid *v)
{
    struct norm t = {
        .gamma = drawn_channels(v, 11, 1),
        .beta = drawn_channels(v, 12, 0),
        .had_mean = drawn_channels(v, 13, 2),
        .had_var = drawn_channels(v, 14, 9),
    };

    t.n = (struct pr_norm){
        .gamma = t.gamma,
        .beta = t.beta,
        .mean = tensor(channels(v)),
        .inv_std = tensor(channels(v)),
        .running_mean = copied(t.had_mean, channels(v)),
        .running_var = copied(t.had_var, channels(v)),
        .epsilon = 1e-3f,
        .momentum = 0.3f,
    };
    return t;
}

static void norm_free(const struct pr_grid *v, struct norm *t)
{
    float *all[] = {t->gamma,          t->beta,         t->had_mean,
                    t->had_var,        t->n.mean,       t->n.inv_std,
                    t->n.running_mean, t->n.running_var};

    for (size_t i = 0; i < COUNT(all); i++)
        tensor_free(all[i], channels(v));
}

static void check_y(const struct pr_grid *v, const struct norm *t, size_t c,
                    struct want w, const float *x, const float *add, bool relu,
                    const float *y)
{
    double inv = 1 / sqrt(w.var + (double)t->n.epsilon);
    double gamma = t->n.gamma ? (double)t->n.gamma[c] : 1;

    for (size_t n = 0; n < v->n; n++)
        for (size_t s = 0; s < v->s; s++) {
            size_t i = place(v, n, c, s);
            double z = ((double)x[i] - w.mean) * inv * gamma +
                       (double)t->n.beta[c] + (add ? (double)add[i] : 0);

            assert_near(y[i], relu && z < 0 ? 0 : z, 2e-6);
        }
}

static void check_stats(const struct pr_grid *v, const struct norm *t, size_t c,
                        struct want w)
{
    double m = (double)(v->n * v->s), rest = m > 1 ? m - 1 : 1;
    double k = (double)t->n.momentum;

    assert_near(t->n.mean[c], w.mean, 2e-7);
    assert_near(t->n.inv_std[c], 1 / sqrt(w.var + (double)t->n.epsilon), 2e-7);
    assert_near(t->n.running_mean[c],
                (1 - k) * (double)t->had_mean[c] + k * w.mean, 3e-7);
    assert_near(t->n.running_var[c],
                (1 - k) * (double)t->had_var[c] + k * w.var * m / rest, 3e-7);
}

static void check_rest(const struct pr_grid *v, const struct norm *t,
                       const float *y)
{
    assert_rest_is_zero(v, y);
    for (size_t c = v->c; c < channels(v); c++) {
        assert_true(t->n.mean[c] == 0 && t->n.inv_std[c] == 0);
        assert_true(t->n.running_mean[c] == 0 && t->n.running_var[c] == 0);
    }
}

static void train_once(const struct pr_threads *p, const struct pr_grid *v,
                       bool with_add, bool relu, bool gamma, bool in_place)
{
    size_t count = pr_grid_elements(v);
    float *x = drawn_view(v, 1, 3), *add = drawn_view(v, 2, 0);
    float *given = copied(add, count), *y = in_place ? add : tensor(count);
    struct norm t = norm_new(v);

    if (!gamma)
        t.n.gamma = NULL;
    pr_kernel_norm_train(p, v, &t.n, x, with_add ? add : NULL, relu, y);
    for (size_t c = 0; c < v->c; c++) {
        struct want w = stats(v, x, c);

        check_stats(v, &t, c, w);
        check_y(v, &t, c, w, x, with_add ? given : NULL, relu, y);
    }
    check_rest(v, &t, y);
    norm_free(v, &t);
    tensor_free(x, count);
    tensor_free(given, count);
    tensor_free(add, count);
    if (!in_place)
        tensor_free(y, count);
}

static void train_all(const struct pr_threads *p)
{
    static const struct {
        bool add, relu, gamma, in_place;
    } rows[] = {{false, false, true, false},
                {true, true, true, false},
                {true, true, true, true},
                {false, true, false, false}};
    size_t step = is_brief() ? COUNT(rows) : 1;

    for (size_t i = 0; i < COUNT(views); i++)
        for (size_t k = i % step; k < COUNT(rows); k += step)
            train_once(p, &views[i], rows[k].add, rows[k].relu, rows[k].gamma,
                       rows[k].in_place);
}

static void training_is_as_in_doubles(void **state)
{
    (void)state;
    with_threads(train_all);
}

static void infer_once(const struct pr_threads *p, const struct pr_grid *v,
                       bool with_add, bool relu)
{
    size_t count = pr_grid_elements(v);
    float *x = drawn_view(v, 1, 3), *add = drawn_view(v, 2, 0);
    float *y = copied(x, count);
    struct norm t = norm_new(v);

    pr_kernel_norm_infer(p, v, &t.n, y, with_add ? add : NULL, relu, y);
    for (size_t c = 0; c < v->c; c++) {
        struct want w = {(double)t.had_mean[c], (double)t.had_var[c]};

        check_y(v, &t, c, w, x, with_add ? add : NULL, relu, y);
    }
    assert_rest_is_zero(v, y);
    assert_same_bits(t.n.running_mean, t.had_mean, channels(v));
    pr_kernel_norm_infer(p, v, &t.n, x, with_add ? add : NULL, relu, add);
    if (with_add)
        assert_same_bits(add, y, count);
    norm_free(v, &t);
    tensor_free(x, count);
    tensor_free(add, count);
    tensor_free(y, count);
}

static void infer_all(const struct pr_threads *p)
{
    static const struct {
        bool add, relu;
    } rows[] = {{false, true}, {true, true}, {true, false}};
    size_t step = is_brief() ? COUNT(rows) : 1;

    for (size_t i = 0; i < COUNT(views); i++)
        for (size_t k = i % step; k < COUNT(rows); k += step)
            infer_once(p, &views[i], rows[k].add, rows[k].relu);
}

static void inference_takes_running_values_and_works_in_place(void **state)
{
    (void)state;
    with_threads(infer_all);
}

/* Numbers far from 0, and a beginning unlike the rest: the sum of squares less
 * the square of the sum would leave nothing. */
static void far_from_zero(const struct pr_threads *p)
{
    static const struct pr_grid hard[] = {
        {4, 9, 1500, 8}, {4, 3, 1500, 1}, {2, 40, 1500, 40}, {1, 16, 9000, 16}};

    for (size_t i = 0; i < COUNT(hard); i++)
        for (int outlier = 0; outlier < 2; outlier++) {
            const struct pr_grid *v = &hard[i];
            size_t count = pr_grid_elements(v);
            float *x = drawn_view(v, 5, 4000), *y = tensor(count);
            struct norm t = norm_new(v);

            for (size_t c = 0; outlier && c < v->c; c++)
                for (size_t s = 0; s < 40; s++)
                    x[place(v, 0, c, s)] = -20;
            pr_kernel_norm_train(p, v, &t.n, x, NULL, false, y);
            for (size_t c = 0; c < v->c; c++) {
                struct want w = stats(v, x, c);
                double inv = 1 / sqrt(w.var + (double)t.n.epsilon);

                assert_near(t.n.mean[c] / w.mean, 1, 1e-7);
                assert_near(t.n.inv_std[c] / inv, 1, 3e-7);
            }
            norm_free(v, &t);
            tensor_free(x, count);
            tensor_free(y, count);
        }
}

static void statistics_far_from_zero_are_exact(void **state)
{
    (void)state;
    with_threads(far_from_zero);
}

static void twice(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(views); i++) {
        const struct pr_grid *v = &views[i];
        size_t count = pr_grid_elements(v);
        float *x = drawn_view(v, 1, 3), *a = tensor(count), *b = tensor(count);
        struct norm t = norm_new(v), u = norm_new(v);

        pr_kernel_norm_train(p, v, &t.n, x, NULL, true, a);
        pr_kernel_norm_train(p, v, &u.n, x, NULL, true, b);
        assert_same_bits(a, b, count);
        assert_same_bits(t.n.running_var, u.n.running_var, channels(v));
        norm_free(v, &t);
        norm_free(v, &u);
        tensor_free(x, count);
        tensor_free(a, count);
        tensor_free(b, count);
    }
}

static void the_same_bits_come_out_again(void **state)
{
    (void)state;
    with_threads(twice);
}

/* A tensor that is broken stays so: relu does not hide it. */
static void nan_is_not_lost(void **state)
{
    const struct pr_grid v = {2, 8, 50, 8};
    struct pr_threads *p = threads_new(1);
    float *x = drawn_view(&v, 1, 3), *y = tensor(800);
    struct norm t = norm_new(&v);

    (void)state;
    x[3] = NAN;
    pr_kernel_norm_train(p, &v, &t.n, x, NULL, true, y);
    assert_true(isnan(y[3]) && isnan(y[11]) && !isnan(y[4]));
    norm_free(&v, &t);
    tensor_free(x, 800);
    tensor_free(y, 800);
    pr_threads_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_is_as_in_doubles),
        cmocka_unit_test(inference_takes_running_values_and_works_in_place),
        cmocka_unit_test(statistics_far_from_zero_are_exact),
        cmocka_unit_test(the_same_bits_come_out_again),
        cmocka_unit_test(nan_is_not_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
