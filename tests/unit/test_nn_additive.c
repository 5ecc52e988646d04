/* Additive attention, against doubles and its own slopes. */
#include "test_nn_attention.h"

static const struct {
    size_t samples, queries, keys, width, value_width;
    bool lengths;
} adds[] = {
    {1, 1, 1, 1, 1, false},   {2, 3, 4, 5, 6, true},    {3, 5, 7, 16, 9, false},
    {2, 9, 11, 33, 40, true}, {4, 6, 20, 64, 17, true},
};

struct additive {
    struct pr_additive a;
    size_t in[4], probs, out; /* q, k, v, w */
    float *x[4], *dx[4], *y, *dy, *work;
    int32_t lengths[4];
};

static void additive_new(size_t i, struct additive *t)
{
    size_t n = adds[i].samples, q = adds[i].queries, k = adds[i].keys;

    *t = (struct additive){
        .a = {n, q, k, adds[i].width, adds[i].value_width, NULL, NULL, NULL,
              NULL, NULL, NULL},
        .in = {n * q * adds[i].width, n * k * adds[i].width,
               n * k * adds[i].value_width, adds[i].width},
        .probs = n * q * k,
        .out = n * q * adds[i].value_width,
    };
    for (size_t j = 0; j < 4; j++) {
        t->x[j] = drawn(t->in[j], 30 + j, 0);
        t->dx[j] = tensor(t->in[j]);
        t->lengths[j] = (int32_t)(j == 0 ? k : 1 + k / (j + 1));
    }
    t->a.q = t->x[0];
    t->a.k = t->x[1];
    t->a.v = t->x[2];
    t->a.w = t->x[3];
    t->a.lengths = adds[i].lengths ? t->lengths : NULL;
    t->a.p = tensor(t->probs);
    t->y = tensor(t->out);
    t->dy = drawn(t->out, 40, 0);
    t->work = tensor(pr_kernel_additive_work(&t->a));
}

static void additive_free(struct additive *t)
{
    for (size_t j = 0; j < 4; j++) {
        tensor_free(t->x[j], t->in[j]);
        tensor_free(t->dx[j], t->in[j]);
    }
    tensor_free(t->a.p, t->probs);
    tensor_free(t->y, t->out);
    tensor_free(t->dy, t->out);
    tensor_free(t->work, pr_kernel_additive_work(&t->a));
}

/* Of all: sum(dy * y); y itself where it is wanted. */
static double additive_objective(const struct additive *t,
                                 const struct moved *m, double *y)
{
    const struct pr_additive *a = &t->a;
    double p[MOST], sum = 0;

    for (size_t r = 0; r < a->samples * a->queries; r++) {
        size_t n = r / a->queries;
        size_t keys = a->lengths ? (size_t)a->lengths[n] : a->keys;

        for (size_t k = 0; k < keys; k++) {
            p[k] = 0;
            for (size_t f = 0; f < a->width; f++)
                p[k] += value(a->w + f, m) *
                        tanh(value(a->q + r * a->width + f, m) +
                             value(a->k + (n * a->keys + k) * a->width + f, m));
        }
        soften(p, keys);
        for (size_t c = 0; c < a->value_width; c++) {
            size_t at = r * a->value_width + c;
            double v = 0;

            for (size_t k = 0; k < keys; k++)
                v += p[k] *
                     value(a->v + (n * a->keys + k) * a->value_width + c, m);
            sum += v * (double)t->dy[at];
            if (y)
                y[at] = v;
        }
    }
    return sum;
}

static void additive_once(const struct pr_threads *p, size_t i)
{
    struct additive t;
    double *want;

    additive_new(i, &t);
    want = pr_alloc(t.out * sizeof *want);
    assert_non_null(want);
    pr_kernel_additive(p, &t.a, t.y);
    (void)additive_objective(&t, &(struct moved){NULL, 0}, want);
    for (size_t k = 0; k < t.out; k++)
        assert_near(t.y[k], want[k], 3e-6);
    pr_kernel_additive_back(p, &t.a,
                            &(struct pr_additive_back){t.dy, t.dx[0], t.dx[1],
                                                       t.dx[2], t.dx[3],
                                                       t.work});
    for (size_t j = 0; j < 4; j++)
        for (size_t k = 0; k < t.in[j]; k += t.in[j] / 29 + 1) {
            struct moved up = {t.x[j] + k, 1e-4}, down = {t.x[j] + k, -1e-4};

            assert_near(t.dx[j][k],
                        (additive_objective(&t, &up, NULL) -
                         additive_objective(&t, &down, NULL)) /
                            2e-4,
                        1e-5);
        }
    for (size_t j = 0; j < 4; j++) { /* one alone is the same */
        float *old = copied(t.dx[j], t.in[j]), *to[4] = {NULL};

        to[j] = t.dx[j];
        memset(t.dx[j], 0, t.in[j] * sizeof *old);
        pr_kernel_additive_back(p, &t.a,
                                &(struct pr_additive_back){
                                    t.dy, to[0], to[1], to[2], to[3], t.work});
        assert_same_bits(t.dx[j], old, t.in[j]);
        tensor_free(old, t.in[j]);
    }
    pr_free(want);
    additive_free(&t);
}

static void additive_all(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(adds); i++)
        additive_once(p, i);
}

static void additive_attention_and_its_slope(void **state)
{
    (void)state;
    with_threads(additive_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(additive_attention_and_its_slope),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
