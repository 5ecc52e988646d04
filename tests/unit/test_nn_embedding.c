/* Tables of rows by ids: forward, back, and steps of optimisers on rows. */
#include "nn/kernel/kernels.h"

#include "test_nn_kernel.h"

static void ids_out_of_range_are_found(void **state)
{
    static const struct {
        size_t count, at;
        int32_t id;
        int64_t limit;
        size_t want;
    } rows[] = {
        {0, 0, 0, 5, 0},
        {1, 0, 4, 5, 1},
        {1, 0, 5, 5, 0},
        {7, 6, -1, 5, 6},
        {5000, 4999, 5, 5, 4999},
        {5000, 1024, INT32_MIN, 5, 1024},
        {5000, 1023, 6, 5, 1023},
        {5000, 17, 4, 5, 5000},
        {3, 1, INT32_MAX, 1ll << 40, 3},
        {3, 1, -1, 1ll << 40, 1},
    };
    static int32_t ids[5000];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        memset(ids, 0, sizeof ids);
        ids[rows[i].at] = rows[i].id;
        assert_int_equal(pr_ids_find_bad(ids, rows[i].count, rows[i].limit),
                         rows[i].want);
    }
}

/* Which ids: all the same, few that come often, each once, one of the last. */
enum kind { SAME, ZIPF, EACH, LAST };

static const struct {
    size_t rows, width, count;
    enum kind kind;
} shapes[] = {
    {1, 1, 1, SAME},      {7, 5, 3, EACH},      {2, 768, 300, ZIPF},
    {300, 8, 1000, ZIPF}, {300, 100, 77, ZIPF}, {70000, 3, 4000, ZIPF},
    {5, 32, 9000, SAME},  {400, 33, 400, EACH}, {70000, 16, 50, LAST},
    {257, 96, 513, ZIPF}, {3, 20, 0, EACH},
};

struct table {
    struct pr_embedding_table t;
    size_t all, out;
    int32_t *ids;
    float *dy;
};

static void table_new(size_t k, struct table *ret)
{
    size_t rows = shapes[k].rows, count = shapes[k].count;
    struct pr_rng r;

    pr_rng_seed(&r, 5, k);
    ret->all = rows * shapes[k].width;
    ret->out = count * shapes[k].width;
    ret->ids = pr_alloc(count * sizeof *ret->ids + 1);
    ret->dy = drawn(ret->out, 2, 0);
    assert_non_null(ret->ids);
    for (size_t i = 0; i < count; i++) {
        double u = pr_rng_double(&r);
        size_t id = shapes[k].kind == SAME   ? rows - 1
                    : shapes[k].kind == ZIPF ? (size_t)((double)rows * u * u)
                    : shapes[k].kind == EACH ? (i * 3 + 1) % rows
                                             : rows - 1 - i % 2;

        ret->ids[i] = (int32_t)id;
    }
    ret->t = (struct pr_embedding_table){
        rows, shapes[k].width, count, ret->ids,
        pr_alloc_aligned(64, pr_kernel_embedding_work(count))};
    assert_non_null(ret->t.work);
}

static void table_free(struct table *t)
{
    tensor_free(t->dy, t->out);
    pr_free(t->ids);
    pr_free(t->t.work);
}

/* The gradient of all rows, in doubles, in the order of places. */
static double *sums(const struct table *t)
{
    double *ret = pr_alloc_zeroed(t->all * sizeof *ret);

    assert_non_null(ret);
    for (size_t i = 0; i < t->out; i++)
        ret[(size_t)t->ids[i / t->t.width] * t->t.width + i % t->t.width] +=
            (double)t->dy[i];
    return ret;
}

static bool is_touched(const struct table *t, size_t row)
{
    for (size_t i = 0; i < t->t.count; i++)
        if ((size_t)t->ids[i] == row)
            return true;
    return false;
}

static void rows_all(const struct pr_threads *p)
{
    for (size_t k = 0; k < COUNT(shapes); k++) {
        struct table t;
        float *w, *y, *dw;
        double *want;

        table_new(k, &t);
        w = drawn(t.all, 1, 0);
        y = tensor(t.out);
        dw = tensor(t.all);
        want = sums(&t);
        pr_kernel_embedding(p, &t.t, w, y);
        for (size_t i = 0; i < t.out; i++)
            assert_true(
                y[i] ==
                w[(size_t)t.ids[i / t.t.width] * t.t.width + i % t.t.width]);
        pr_kernel_embedding_back(p, &t.t, t.dy, dw);
        for (size_t i = 0; i < t.all; i++)
            assert_near(dw[i], want[i], 2e-5);
        pr_free(want);
        tensor_free(w, t.all);
        tensor_free(y, t.out);
        tensor_free(dw, t.all);
        table_free(&t);
    }
}

static void rows_there_and_back(void **state)
{
    (void)state;
    with_threads(rows_all);
}

static void sgd_all(const struct pr_threads *p)
{
    for (size_t k = 0; k < COUNT(shapes); k++) {
        struct table t;
        float *w, *old;
        double *g;

        table_new(k, &t);
        w = drawn(t.all, 1, 0);
        old = copied(w, t.all);
        g = sums(&t);
        pr_kernel_embedding_sgd(p, &t.t, t.dy, 0.3f, w);
        for (size_t i = 0; i < t.all; i++)
            assert_near(w[i], (double)old[i] - (double)0.3f * g[i], 1e-5);
        pr_free(g);
        tensor_free(w, t.all);
        tensor_free(old, t.all);
        table_free(&t);
    }
}

static void sgd_on_rows(void **state)
{
    (void)state;
    with_threads(sgd_all);
}

/* SparseAdam in doubles: rows that were not chosen keep what they have. */
static void adam_step(const struct table *t, const struct pr_adam *o,
                      const double *g, double *w, double *m, double *v)
{
    double one = 1 - pow(o->beta1, (double)o->step);
    double two = 1 - pow(o->beta2, (double)o->step);

    for (size_t r = 0; r < t->t.rows; r++) {
        if (!is_touched(t, r))
            continue;
        for (size_t i = r * t->t.width; i < (r + 1) * t->t.width; i++) {
            m[i] = o->beta1 * m[i] + (1 - o->beta1) * g[i];
            v[i] = o->beta2 * v[i] + (1 - o->beta2) * g[i] * g[i];
            w[i] -=
                o->rate * sqrt(two) / one * m[i] / (sqrt(v[i]) + o->epsilon);
        }
    }
}

static void adam_once(const struct pr_threads *p, size_t k)
{
    struct table t;
    struct pr_adam o = {0.01, 0.9, 0.99, 1e-3, 0.5, 0};
    float *w, *m, *v;
    double *want[3], *g;

    table_new(k, &t);
    w = drawn(t.all, 1, 0);
    m = tensor(t.all);
    v = tensor(t.all);
    memset(m, 0, t.all * sizeof *m);
    memset(v, 0, t.all * sizeof *v);
    for (size_t i = 0; i < 3; i++) {
        want[i] = pr_alloc_zeroed(t.all * sizeof **want);
        assert_non_null(want[i]);
    }
    for (size_t i = 0; i < t.all; i++)
        want[0][i] = (double)w[i];
    for (o.step = 1; o.step <= 3; o.step++) {
        for (size_t i = 0; i < t.t.count; i++) /* others than before */
            t.ids[i] = (int32_t)(((size_t)t.ids[i] + o.step - 1) % t.t.rows);
        g = sums(&t);
        pr_kernel_embedding_adam(p, &t.t, t.dy, &o, w, m, v);
        adam_step(&t, &o, g, want[0], want[1], want[2]);
        pr_free(g);
    }
    for (size_t i = 0; i < t.all; i++) {
        assert_near(w[i], want[0][i], 3e-6);
        assert_near(m[i], want[1][i], 3e-6);
        assert_near(v[i], want[2][i], 3e-6);
    }
    for (size_t i = 0; i < 3; i++)
        pr_free(want[i]);
    tensor_free(w, t.all);
    tensor_free(m, t.all);
    tensor_free(v, t.all);
    table_free(&t);
}

static void adam_all(const struct pr_threads *p)
{
    for (size_t k = 0; k < COUNT(shapes); k++)
        if (shapes[k].rows * shapes[k].count < 10000000)
            adam_once(p, k);
}

static void adam_on_rows_as_sparse_adam(void **state)
{
    (void)state;
    with_threads(adam_all);
}

/* Whatever the number of threads, the bits are the same. */
static void sums_do_not_depend_on_threads(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(shapes); k++) {
        struct table t;
        float *first, *dw;

        table_new(k, &t);
        first = tensor(t.all);
        dw = tensor(t.all);
        for (unsigned n = 1; n <= TEST_THREADS; n++) {
            struct pr_threads *p = threads_new(n);

            pr_kernel_embedding_back(p, &t.t, t.dy, n == 1 ? first : dw);
            if (n > 1)
                assert_same_bits(dw, first, t.all);
            pr_threads_free(p);
        }
        tensor_free(first, t.all);
        tensor_free(dw, t.all);
        table_free(&t);
    }
}

/* ---- gather */

static void gather_all(const struct pr_threads *p)
{
    static const struct pr_gather_args rows[] = {
        {1, 1, 1, 1, NULL},     {3, 5, 7, 4, NULL},     {2, 20, 300, 9, NULL},
        {8, 128, 64, 20, NULL}, {1, 3, 1000, 50, NULL},
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        struct pr_gather_args g = rows[k];
        size_t in = g.samples * g.rows * g.width;
        size_t out = g.samples * g.count * g.width;
        int32_t ids[256];
        float *x = drawn(in, 1, 0), *y = tensor(out);
        float *dy = drawn(out, 2, 0), *dx = tensor(in);
        double *want = pr_alloc_zeroed(in * sizeof *want);

        assert_non_null(want);
        for (size_t i = 0; i < g.samples * g.count; i++)
            ids[i] = (int32_t)((i * i * 7 + i / 3) % g.rows);
        g.ids = ids;
        pr_kernel_gather(p, &g, x, y);
        pr_kernel_gather_back(p, &g, dy, dx);
        for (size_t i = 0; i < out; i++) {
            size_t n = i / (g.count * g.width), c = i % g.width;
            size_t from = (n * g.rows + (size_t)ids[i / g.width]) * g.width + c;

            assert_true(y[i] == x[from]);
            want[from] += (double)dy[i];
        }
        for (size_t i = 0; i < in; i++)
            assert_near(dx[i], want[i], 1e-6);
        pr_free(want);
        tensor_free(x, in);
        tensor_free(y, out);
        tensor_free(dx, in);
        tensor_free(dy, out);
    }
}

static void rows_of_each_sample(void **state)
{
    (void)state;
    with_threads(gather_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_out_of_range_are_found),
        cmocka_unit_test(rows_there_and_back),
        cmocka_unit_test(sgd_on_rows),
        cmocka_unit_test(adam_on_rows_as_sparse_adam),
        cmocka_unit_test(sums_do_not_depend_on_threads),
        cmocka_unit_test(rows_of_each_sample),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
