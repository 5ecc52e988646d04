/*
 * Values that move: each loop against the plainest way to say where a value
 * goes. Ways back are checked by what they mean: for any x and g, the product
 * of y(x) with g is that of x with the gradient of x.
 */
#include "test_nn_kernel.h"

/* <a, b>, in doubles. */
static double dot(const float *a, const float *b, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* x goes to y, g comes back as dx: all four are freed. */
static void assert_adjoint(float *x, float *dx, size_t n, float *y, float *g,
                           size_t m)
{
    double there = dot(y, g, m), back = dot(x, dx, n);

    if (fabs(there - back) > 2e-6 * sqrt((double)m) * (1 + fabs(there)))
        fail_msg("%.9g there, %.9g back", there, back);
    tensor_free(x, n);
    tensor_free(dx, n);
    tensor_free(y, m);
    tensor_free(g, m);
}

/* ---- parts of rows */

static void parts_once(const struct pr_threads *p, size_t rows, size_t whole,
                       size_t first, size_t width)
{
    size_t n = rows * whole, m = rows * width;
    float *x = drawn(n, 1, 0), *y = tensor(m), *dx = tensor(n);

    pr_kernel_part(p, rows, width, x + first, whole, y, width);
    for (size_t i = 0; i < m; i++)
        assert_true(y[i] == x[i / width * whole + first + i % width]);
    pr_kernel_part_back(p, rows, width, y, dx, first, whole);
    for (size_t i = 0; i < n; i++) {
        bool inside = i % whole >= first && i % whole < first + width;

        assert_true(dx[i] == (inside ? x[i] : 0));
    }
    tensor_free(x, n);
    tensor_free(y, m);
    tensor_free(dx, n);
}

static void parts_all(const struct pr_threads *p)
{
    static const struct {
        size_t rows, whole, first, width;
    } all[] = {
        {1, 1, 0, 1},  {3, 7, 2, 4},    {5, 9, 0, 9},      {4, 9, 8, 1},
        {2, 64, 1, 5}, {1, 9000, 7, 8}, {501, 40, 13, 20}, {4000, 5, 0, 3},
    };

    for (size_t i = 0; i < COUNT(all); i++)
        parts_once(p, all[i].rows, all[i].whole, all[i].first, all[i].width);
}

static void parts_of_rows(void **state)
{
    (void)state;
    with_threads(parts_all);
}

/* ---- matrices */

static void turn_once(const struct pr_threads *p, size_t n, size_t rows,
                      size_t columns)
{
    size_t each = rows * columns, count = n * each;
    float *x = drawn(count, 2, 0), *y = tensor(count);

    pr_kernel_transpose(p, n, rows, columns, x, y);
    for (size_t i = 0; i < count; i++) {
        size_t at = i % each;

        assert_true(x[i] == y[i - at + at % columns * rows + at / columns]);
    }
    if (rows == columns) {
        pr_kernel_fold(p, n, rows, x, y);
        for (size_t i = 0; i < count; i++) {
            size_t at = i % each;

            assert_true(y[i] ==
                        x[i] + x[i - at + at % rows * rows + at / rows]);
        }
    }
    tensor_free(x, count);
    tensor_free(y, count);
}

static void turn_all(const struct pr_threads *p)
{
    static const size_t all[][3] = {
        {1, 1, 1},   {2, 3, 5},     {3, 16, 16},  {1, 17, 33},   {4, 1, 9},
        {2, 31, 31}, {1, 200, 130}, {70, 12, 20}, {3, 100, 100},
    };

    for (size_t i = 0; i < COUNT(all); i++)
        turn_once(p, all[i][0], all[i][1], all[i][2]);
}

static void matrices_turned_around(void **state)
{
    (void)state;
    with_threads(turn_all);
}

/* ---- channels to places */

static void shuffle_once(const struct pr_threads *p, const struct pr_shuffle *s)
{
    size_t r = s->size, rows = s->rows, columns = s->columns;
    size_t count = s->n * r * r * rows * columns;
    float *x = drawn(count, 3, 0), *y = tensor(count), *dx = tensor(count);

    pr_kernel_shuffle(p, s, x, y);
    for (size_t c = 0; c < s->n; c++)
        for (size_t h = 0; h < rows * r; h++)
            for (size_t w = 0; w < columns * r; w++) {
                size_t from = c * r * r + h % r * r + w % r;
                float want = x[(from * rows + h / r) * columns + w / r];

                assert_true(y[(c * rows * r + h) * columns * r + w] == want);
            }
    pr_kernel_shuffle_back(p, s, y, dx);
    assert_same_bits(dx, x, count);
    tensor_free(x, count);
    tensor_free(y, count);
    tensor_free(dx, count);
}

static void shuffle_all(const struct pr_threads *p)
{
    static const struct pr_shuffle all[] = {
        {1, 1, 1, 1}, {2, 3, 4, 2},   {3, 5, 7, 3},
        {1, 4, 9, 4}, {6, 20, 31, 2}, {2, 40, 40, 3},
    };

    for (size_t i = 0; i < COUNT(all); i++)
        shuffle_once(p, &all[i]);
}

static void channels_become_places(void **state)
{
    (void)state;
    with_threads(shuffle_all);
}

/* ---- places */

static const struct pr_places fields[] = {
    {1, 2, 2, 1}, {3, 5, 4, 1},   {2, 4, 7, 8},   {1, 9, 6, 16},
    {2, 3, 5, 5}, {6, 30, 40, 1}, {2, 24, 21, 8}, {1, 40, 33, 11},
};

static size_t floats(const struct pr_places *v)
{
    return v->n * v->rows * v->columns * v->block;
}

static const float *at(const struct pr_places *v, const float *x, size_t n,
                       size_t row, size_t column)
{
    return x + ((n * v->rows + row) * v->columns + column) * v->block;
}

static void stretch_once(const struct pr_threads *p, const struct pr_places *v,
                         size_t size)
{
    struct pr_places large = {v->n, v->rows * size, v->columns * size,
                              v->block};
    size_t n = floats(v), m = floats(&large);
    float *x = drawn(n, 4, 0), *g = drawn(m, 5, 0);
    float *y = tensor(m), *dx = tensor(n);

    pr_kernel_upsample(p, v, size, x, y);
    for (size_t i = 0; i < v->n; i++)
        for (size_t h = 0; h < large.rows; h++)
            for (size_t w = 0; w < large.columns; w++)
                assert_same_bits(at(&large, y, i, h, w),
                                 at(v, x, i, h / size, w / size), v->block);
    pr_kernel_upsample_back(p, v, size, g, dx);
    assert_adjoint(x, dx, n, y, g, m);
}

static void stretch_all(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(fields); i++)
        for (size_t size = 1; size <= 3; size++)
            stretch_once(p, &fields[i], size);
}

static void places_repeated(void **state)
{
    (void)state;
    with_threads(stretch_all);
}

/* Walks from the first place on and turns at both ends. */
static size_t bounce(int64_t i, size_t count)
{
    int64_t last = (int64_t)count - 1;

    return (size_t)(i < 0 ? -i : i > last ? 2 * last - i : i);
}

static void frame_once(const struct pr_threads *p, const struct pr_places *v,
                       const int64_t *pad)
{
    struct pr_places large = {v->n, v->rows + (size_t)(pad[0] + pad[2]),
                              v->columns + (size_t)(pad[1] + pad[3]), v->block};
    size_t n = floats(v), m = floats(&large);
    float *x = drawn(n, 6, 0), *g = drawn(m, 7, 0);
    float *y = tensor(m), *dx = tensor(n);

    pr_kernel_reflect(p, v, pad, x, y);
    for (size_t i = 0; i < v->n; i++)
        for (size_t h = 0; h < large.rows; h++)
            for (size_t w = 0; w < large.columns; w++) {
                size_t row = bounce((int64_t)h - pad[0], v->rows);
                size_t column = bounce((int64_t)w - pad[1], v->columns);

                assert_same_bits(at(&large, y, i, h, w),
                                 at(v, x, i, row, column), v->block);
            }
    pr_kernel_reflect_back(p, v, pad, g, dx);
    assert_adjoint(x, dx, n, y, g, m);
}

static void frame_all(const struct pr_threads *p)
{
    static const int64_t pads[][4] = {
        {1, 1, 1, 1}, {0, 0, 0, 0}, {1, 0, 0, 1}, {2, 3, 2, 3}, {0, 1, 1, 0},
    };

    for (size_t i = 0; i < COUNT(fields); i++)
        for (size_t k = 0; k < COUNT(pads); k++)
            if (fields[i].rows > 2 || pads[k][0] < 2)
                frame_once(p, &fields[i], pads[k]);
}

static void places_mirrored(void **state)
{
    (void)state;
    with_threads(frame_all);
}

/* The whole of a gradient, not only its sum with one x. */
static void mirrored_places_get_both_gradients(void **state)
{
    static const float g[] = {1, 2, 4, 8, 16, 32, 64};
    static const int64_t pad[4] = {0, 2, 0, 2};
    const struct pr_places v = {1, 1, 3, 1};
    struct pr_threads *p = threads_new(1);
    float dx[3];

    (void)state;
    /* x2 x1 x0 x1 x2 x1 x0 */
    pr_kernel_reflect_back(p, &v, pad, g, dx);
    assert_true(dx[0] == 4 + 64);
    assert_true(dx[1] == 2 + 8 + 32);
    assert_true(dx[2] == 1 + 16);
    pr_threads_free(p);
}

/* ---- what is added to channels */

static void bias_once(const struct pr_threads *p, const struct pr_grid *v,
                      bool has_bias, bool relu)
{
    size_t count = pr_grid_elements(v);
    float *x = drawn_view(v, 8, 0), *y = copied(x, count);
    float *bias = drawn_channels(v, 9, 0);

    pr_kernel_bias(p, v, has_bias ? bias : NULL, relu, y);
    for (size_t n = 0; n < v->n; n++)
        for (size_t c = 0; c < v->c; c++)
            for (size_t s = 0; s < v->s; s++) {
                size_t i = place(v, n, c, s);
                float want = x[i] + (has_bias ? bias[c] : 0);

                assert_true(y[i] == (relu && want < 0 ? 0 : want));
            }
    assert_rest_is_zero(v, y);
    tensor_free(x, count);
    tensor_free(y, count);
    tensor_free(bias, channels(v));
}

static void bias_all(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(views); i++)
        for (int k = 0; k < 4; k++)
            bias_once(p, &views[i], k & 1, k & 2);
}

static void bias_and_relu(void **state)
{
    (void)state;
    with_threads(bias_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_rows),
        cmocka_unit_test(matrices_turned_around),
        cmocka_unit_test(channels_become_places),
        cmocka_unit_test(places_repeated),
        cmocka_unit_test(places_mirrored),
        cmocka_unit_test(mirrored_places_get_both_gradients),
        cmocka_unit_test(bias_and_relu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
