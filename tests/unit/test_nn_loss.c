/* Cross entropy of rows, against doubles and its own slope. */
#include "test_nn_kernel.h"

#include "nn/kernel/losses.h"

struct shape {
    size_t rows, width;
};

static const struct shape shapes[] = {{1, 1},  {3, 2},    {5, 7},    {4, 8},
                                      {7, 10}, {2, 1000}, {33, 601}, {4, 9001}};

static const struct kind {
    double smoothing, factor;
    int32_t ignore;
    bool sum, weighted;
} kinds[] = {
    {0, 1, -1, false, false},   {0, 1, -1, true, false},
    {0.1, 1, -1, false, false}, {0, 0.25, 0, false, false},
    {0, 3, -1, false, true},    {0.3, 2, 0, true, true},
    {0.2, 1, 1, false, true},
};

/* Logits: some rows far up, some with wide steps. */
static float *logits(size_t rows, size_t width)
{
    float *x = drawn(rows * width, 4, 0);

    for (size_t i = 0; i < rows * width; i++)
        x[i] =
            x[i] * (i / width % 3 == 1 ? 20 : 2) + (i / width % 2 ? 500 : -3);
    return x;
}

/* Of one row, with one number moved: -sum(wanted * log(softmax)). */
static double row_loss(const float *x, size_t c, size_t id, double smoothing,
                       size_t moved, double by)
{
    double sum = 0, ret = 0, base = (double)x[id];

    for (size_t i = 0; i < c; i++)
        sum += exp((double)x[i] - base + (i == moved ? by : 0));
    for (size_t i = 0; i < c; i++) {
        double wanted = smoothing / (double)c + (i == id ? 1 - smoothing : 0);

        ret -=
            wanted * ((double)x[i] - base + (i == moved ? by : 0) - log(sum));
    }
    return ret;
}

static double weight_of(const struct pr_loss_rows *l, size_t row)
{
    if (l->ids[row] == l->ignore)
        return 0;
    return l->weights ? (double)l->weights[row] : 1;
}

/* What was not looked at by itself: gradients of a row come to 0. */
static void check_sums(const struct pr_loss_rows *l)
{
    for (size_t r = 0; r < l->rows; r++) {
        const float *dx = l->dx + r * l->width;
        double sum = 0, size = 0;

        for (size_t i = 0; i < l->width; i++) {
            sum += (double)dx[i];
            size += fabs((double)dx[i]);
        }
        assert_true(fabs(sum) <= 1e-6 * size + 1e-7);
    }
}

static void check_entropy(const struct pr_threads *p,
                          const struct pr_loss_rows *l)
{
    size_t c = l->width, want_right = 0, want_rows = 0;
    double want = 0, weights = 0, got, scale;
    uint64_t rows = 99, right = 99;

    for (size_t r = 0; r < l->rows; r++) {
        const float *x = l->x + r * c;
        double weight = weight_of(l, r);
        size_t best = 0, id = (size_t)l->ids[r];

        for (size_t i = 0; i < c; i++)
            best = x[i] > x[best] ? i : best;
        want += weight * row_loss(x, c, id, l->smoothing, 0, 0);
        weights += weight;
        want_rows += weight != 0;
        want_right += weight != 0 && best == id;
    }
    scale = l->factor / (l->sum || weights == 0 ? 1 : weights);
    got = pr_kernel_cross_entropy(p, l, &rows, &right);
    assert_near(got, want * scale, 2e-7);
    assert_int_equal(rows, want_rows);
    assert_int_equal(right, want_right);
    for (size_t i = 0; i < l->rows * c; i += 1 + (c > 100 ? c / 13 : 0)) {
        const float *x = l->x + i / c * c;
        size_t id = (size_t)l->ids[i / c];
        double up = row_loss(x, c, id, l->smoothing, i % c, 1e-4);
        double down = row_loss(x, c, id, l->smoothing, i % c, -1e-4);

        assert_near((double)l->dx[i] / scale,
                    weight_of(l, i / c) * (up - down) / 2e-4, 1e-6);
    }
    check_sums(l);
}

static void entropy_once(const struct pr_threads *p, const struct shape *s,
                         const struct kind *k)
{
    size_t count = s->rows * s->width;
    float *x = logits(s->rows, s->width), *dx = tensor(count);
    float *weights = drawn(s->rows, 9, 2), *same = copied(x, count);
    int32_t ids[64];
    struct pr_loss_rows l = {
        .rows = s->rows,
        .width = s->width,
        .x = x,
        .ids = ids,
        .weights = k->weighted ? weights : NULL,
        .ignore = k->ignore,
        .sum = k->sum,
        .factor = k->factor,
        .smoothing = k->smoothing,
        .dx = dx,
    };
    uint64_t n, right;
    double loss;

    for (size_t r = 0; r < s->rows; r++) {
        size_t best = 0;

        for (size_t i = 0; i < s->width; i++)
            best = x[r * s->width + i] > x[r * s->width + best] ? i : best;
        ids[r] = (int32_t)(r % 2 ? best : r * 13 % s->width);
        weights[r] = r % 5 == 3 ? 0 : fabsf(weights[r]) + 0.1f;
    }
    check_entropy(p, &l);
    l.dx = same; /* in place, and without a gradient */
    l.x = same;
    loss = pr_kernel_cross_entropy(p, &l, &n, &right);
    assert_same_bits(same, dx, count);
    l.x = x;
    l.dx = NULL;
    assert_true(pr_kernel_cross_entropy(p, &l, &n, &right) == loss);
    tensor_free(x, count);
    tensor_free(dx, count);
    tensor_free(same, count);
    tensor_free(weights, s->rows);
}

static void entropy_all(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t k = 0; k < COUNT(kinds); k++)
            if (!is_brief() || shapes[i].width < 1000)
                entropy_once(p, &shapes[i], &kinds[k]);
}

static void entropy_and_its_slope(void **state)
{
    (void)state;
    with_threads(entropy_all);
}

static void broken_and_extreme_rows(void **state)
{
    static const struct {
        float x[3];
        int32_t id;
        uint64_t right;
        double loss; /* NaN: that */
        float dx[3];
    } rows[] = {
        {{2, 2, -1e4f}, 0, 1, 0.69314718056, {-0.5f, 0.5f, 0}}, /* the first */
        {{2, 2, -1e4f}, 1, 0, 0.69314718056, {0.5f, -0.5f, 0}},
        {{1e4f, 0, -1e4f}, 0, 1, 0, {0, 0, 0}},
        {{1e4f, 0, -1e4f}, 1, 0, 1e4, {1, -1, 0}},
        {{1e4f, 0, -1e4f}, 2, 0, 2e4, {1, 0, -1}},
        {{-1e4f, -1e4f, -1e30f}, 0, 1, 0.69314718056, {-0.5f, 0.5f, 0}},
        {{0, -INFINITY, -INFINITY}, 0, 1, 0, {0, 0, 0}},
        {{0, -INFINITY, 0}, 1, 0, (double)INFINITY, {0.5f, -1, 0.5f}},
        {{0, INFINITY, 0}, 1, 0, (double)NAN, {0}},
        {{1, NAN, 2}, 2, 0, (double)NAN, {0}},
        {{NAN, NAN, NAN}, 0, 0, (double)NAN, {0}},
        {{1, 2, 3}, 3, 0, (double)NAN, {0}},
        {{3, 2, 1}, -1, 0, (double)NAN, {0}},
        {{3, 2, 1}, INT32_MIN, 0, (double)NAN, {0}},
    };
    struct pr_threads *p = threads_new(1);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        float dx[3];
        uint64_t n, right;
        struct pr_loss_rows l = {.rows = 1,
                                 .width = 3,
                                 .x = rows[i].x,
                                 .ids = &rows[i].id,
                                 .ignore = -1,
                                 .factor = 1,
                                 .dx = dx};
        double loss = pr_kernel_cross_entropy(p, &l, &n, &right);

        assert_int_equal(isnan(loss), isnan(rows[i].loss));
        if (isnan(loss)) {
            assert_true(isnan(dx[0]) && isnan(dx[2]));
            continue;
        }
        if (isinf(rows[i].loss))
            assert_true(loss == rows[i].loss);
        else
            assert_near(loss, rows[i].loss, 1e-7);
        assert_int_equal(right, rows[i].right);
        for (size_t k = 0; k < 3; k++)
            assert_near(dx[k], (double)rows[i].dx[k], 1e-7);
    }
    pr_threads_free(p);
}

/* One bad id spoils the loss, but not other rows' gradients; an ignored one
 * that is out of range does not. */
static void rows_that_do_not_count(void **state)
{
    static const float x[] = {1, 2, 3, 4, NAN, NAN};
    static const struct {
        int32_t ids[3], ignore;
        float weights[3];
        uint64_t rows;
        bool broken;
    } cases[] = {
        {{7, 7, 7}, 7, {1, 1, 1}, 0, false},
        {{0, 1, 1}, -1, {0, 0, 0}, 0, false},
        {{0, 1, 7}, 7, {1, 1, 1}, 2, false},
        {{0, 1, 1}, -1, {1, 1, 0}, 2, false},
        {{0, 1, 0}, 7, {1, 1, 1}, 3, true},
        {{0, 9, 7}, 7, {1, 1, 1}, 2, true},
        {{0, -1, 7}, 7, {1, 1, 1}, 2, true},
    };
    struct pr_threads *p = threads_new(1);

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        float dx[6] = {9, 9, 9, 9, 9, 9};
        uint64_t n, right;
        struct pr_loss_rows l = {.rows = 3,
                                 .width = 2,
                                 .x = x,
                                 .ids = cases[i].ids,
                                 .weights = cases[i].weights,
                                 .ignore = cases[i].ignore,
                                 .factor = 1,
                                 .smoothing = 0.1,
                                 .dx = dx};
        double loss = pr_kernel_cross_entropy(p, &l, &n, &right);

        assert_int_equal(n, cases[i].rows);
        assert_int_equal(isnan(loss), cases[i].broken);
        if (n == 0)
            assert_true(loss == 0 && dx[0] == 0 && dx[3] == 0 && right == 0);
        else
            assert_true(dx[0] < 0 && dx[1] > 0);
        if (!cases[i].broken)
            assert_true(dx[4] == 0 && dx[5] == 0);
    }
    pr_threads_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entropy_and_its_slope),
        cmocka_unit_test(broken_and_extreme_rows),
        cmocka_unit_test(rows_that_do_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
