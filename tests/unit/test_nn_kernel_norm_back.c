/* Batch norm backward: doubles, finite differences, terms that are outputs. */
#include "test_nn_kernel.h"

enum { GAMMA = 1, RELU = 2, MASKED = 4 };

/* A norm, its input, and the terms of a gradient. */
struct rig {
    const struct pr_grid *v;
    size_t count;
    float *gamma, *beta, *mean, *inv_std, *x, *y, *terms[PR_TERMS];
    struct pr_norm norm;
};

static struct rig rig_new(const struct pr_threads *p, const struct pr_grid *v,
                          unsigned flags)
{
    struct rig r = {
        .v = v,
        .count = pr_grid_elements(v),
        .gamma = drawn_channels(v, 1, 1),
        .beta = drawn_channels(v, 2, 0),
        .mean = tensor(channels(v)),
        .inv_std = tensor(channels(v)),
        .x = drawn_view(v, 3, 3),
    };

    for (unsigned i = 0; i < PR_TERMS; i++)
        r.terms[i] = drawn_view(v, 10 + i, 0.5);
    r.norm = (struct pr_norm){
        .gamma = flags & GAMMA ? r.gamma : NULL,
        .beta = r.beta,
        .mean = r.mean,
        .inv_std = r.inv_std,
        .epsilon = 1e-3f,
    };
    r.y = tensor(r.count);
    pr_kernel_norm_train(p, v, &r.norm, r.x, NULL, flags & RELU, r.y);
    return r;
}

static void rig_free(struct rig *r)
{
    float *all[] = {r->gamma, r->beta, r->mean, r->inv_std};

    for (size_t i = 0; i < COUNT(all); i++)
        tensor_free(all[i], channels(r->v));
    for (unsigned i = 0; i < PR_TERMS; i++)
        tensor_free(r->terms[i], r->count);
    tensor_free(r->x, r->count);
    tensor_free(r->y, r->count);
}

/* The gradient before relu, in doubles. */
static double *gradient(const struct rig *r, unsigned terms, unsigned flags)
{
    double *g = pr_alloc_zeroed(r->count * sizeof *g);

    assert_non_null(g);
    for (size_t i = 0; i < r->count; i++) {
        for (unsigned t = 0; t < terms; t++)
            g[i] += (double)r->terms[t][i];
        if (flags & RELU && r->y[i] <= 0)
            g[i] = 0;
    }
    return g;
}

/* Sums of a channel; the mean is the one that was kept, as a float. */
struct sums {
    double mean, inv, g, gh, g_abs, gh_abs;
};

static struct sums sums_of(const struct rig *r, const double *g, size_t c)
{
    const struct pr_grid *v = r->v;
    struct sums w = {.mean = (double)r->mean[c], .inv = (double)r->inv_std[c]};

    for (size_t n = 0; n < v->n; n++)
        for (size_t s = 0; s < v->s; s++) {
            size_t i = place(v, n, c, s);
            double gh = g[i] * ((double)r->x[i] - w.mean) * w.inv;

            w.g += g[i];
            w.gh += gh;
            w.g_abs += fabs(g[i]);
            w.gh_abs += fabs(gh);
        }
    return w;
}

static void check_channel(const struct rig *r, const double *g, size_t c,
                          const struct pr_norm_back *b)
{
    const struct pr_grid *v = r->v;
    struct sums w = sums_of(r, g, c);
    double m = (double)(v->n * v->s);
    double gamma = r->norm.gamma ? (double)r->norm.gamma[c] : 1;

    assert_near(b->dbeta[c], w.g, 1e-6);
    assert_true(fabs((double)b->dgamma[c] - w.gh) <= 3e-7 * w.gh_abs);
    for (size_t n = 0; n < v->n; n++)
        for (size_t s = 0; s < v->s; s++) {
            size_t i = place(v, n, c, s);
            double h = ((double)r->x[i] - w.mean) * w.inv;
            double want = gamma * w.inv * (g[i] - w.g / m - h * w.gh / m);
            /* Of what is added up, not of what is left of it. */
            double size = fabs(gamma * w.inv) *
                          (fabs(g[i]) + (w.g_abs + fabs(h) * w.gh_abs) / m);

            assert_true(fabs((double)b->dx[i] - want) <= 5e-7 * size);
            if (b->masked)
                assert_near(b->masked[i], g[i], 1e-6);
        }
}

/* dx_at, masked_at: which term they are; PR_TERMS: none of them. */
static void back_once(const struct pr_threads *p, const struct pr_grid *v,
                      unsigned terms, unsigned flags, unsigned dx_at,
                      unsigned masked_at)
{
    struct rig r = rig_new(p, v, flags);
    double *g = gradient(&r, terms, flags);
    float *dx = tensor(r.count), *masked = tensor(r.count);
    float *dgamma = tensor(channels(v)), *dbeta = tensor(channels(v));
    struct pr_norm_back b = {
        .norm = &r.norm,
        .x = r.x,
        .y = flags & RELU ? r.y : NULL,
        .term_count = terms,
        .dx = dx_at < terms ? r.terms[dx_at] : dx,
        .dgamma = dgamma,
        .dbeta = dbeta,
    };

    for (unsigned i = 0; i < terms; i++)
        b.terms[i] = r.terms[i];
    if (flags & MASKED)
        b.masked = masked_at < terms ? r.terms[masked_at] : masked;
    pr_kernel_norm_back(p, v, &b);
    for (size_t c = 0; c < v->c; c++)
        check_channel(&r, g, c, &b);
    assert_rest_is_zero(v, b.dx);
    for (size_t c = v->c; c < channels(v); c++)
        assert_true(dgamma[c] == 0 && dbeta[c] == 0);
    tensor_free(dgamma, channels(v));
    tensor_free(dbeta, channels(v));
    tensor_free(dx, r.count);
    tensor_free(masked, r.count);
    pr_free(g);
    rig_free(&r);
}

static void back_all(const struct pr_threads *p)
{
    static const struct {
        unsigned terms, flags, dx_at, masked_at;
    } rows[] = {
        {1, GAMMA, PR_TERMS, PR_TERMS},
        {1, GAMMA, 0, PR_TERMS},
        {1, GAMMA | RELU, PR_TERMS, PR_TERMS},
        {1, RELU, 0, PR_TERMS},
        {1, GAMMA | RELU | MASKED, PR_TERMS, 0},
        {1, GAMMA | MASKED, PR_TERMS, PR_TERMS},
        {1, GAMMA | MASKED, PR_TERMS, 0},
        {2, GAMMA | RELU | MASKED, 1, 0},
        {2, GAMMA | RELU | MASKED, 0, PR_TERMS},
        {2, GAMMA, 1, PR_TERMS},
        {3, GAMMA | RELU, 2, PR_TERMS},
        {4, GAMMA | RELU | MASKED, 3, 2},
        {4, 0, PR_TERMS, PR_TERMS},
    };
    size_t step = is_brief() ? COUNT(rows) : 1;

    /* In brief each view with one row, and each row with a view or two. */
    for (size_t i = 0; i < COUNT(views); i++)
        for (size_t k = i % step; k < COUNT(rows); k += step)
            back_once(p, &views[i], rows[k].terms, rows[k].flags, rows[k].dx_at,
                      rows[k].masked_at);
}

static void backward_is_as_in_doubles(void **state)
{
    (void)state;
    with_threads(back_all);
}

/* sum(terms[0] * y) in doubles, with one x moved. */
static double objective(const struct rig *r, size_t moved, double by)
{
    const struct pr_grid *v = r->v;
    double m = (double)(v->n * v->s), ret = 0;

    for (size_t c = 0; c < v->c; c++) {
        double mean = 0, var = 0;

        for (int pass = 0; pass < 3; pass++)
            for (size_t i = 0; i < v->n * v->s; i++) {
                size_t e = place(v, i / v->s, c, i % v->s);
                double x = (double)r->x[e] + (e == moved ? by : 0), y;

                if (pass == 0) {
                    mean += x / m;
                } else if (pass == 1) {
                    var += (x - mean) * (x - mean) / m;
                } else {
                    y = (x - mean) / sqrt(var + (double)r->norm.epsilon);
                    y = y * (double)r->gamma[c] + (double)r->beta[c];
                    ret += (y > 0 ? y : 0) * (double)r->terms[0][e];
                }
            }
    }
    return ret;
}

static void backward_is_the_slope_of_forward(void **state)
{
    static const struct pr_grid small[] = {
        {2, 3, 5, 1}, {2, 9, 4, 8}, {3, 17, 2, 16}, {2, 5, 4, 5}};
    struct pr_threads *p = threads_new(1);

    (void)state;
    for (size_t k = 0; k < COUNT(small); k++) {
        const struct pr_grid *v = &small[k];
        struct rig r = rig_new(p, v, GAMMA | RELU);
        float *dx = tensor(r.count);
        struct pr_norm_back b = {.norm = &r.norm,
                                 .x = r.x,
                                 .y = r.y,
                                 .terms = {r.terms[0]},
                                 .term_count = 1,
                                 .dx = dx};

        pr_kernel_norm_back(p, v, &b);
        for (size_t i = 0; i < r.count; i++) {
            double slope = (objective(&r, i, 1e-6) - objective(&r, i, -1e-6));

            assert_near(dx[i], slope / 2e-6, 1e-5);
        }
        tensor_free(dx, r.count);
        rig_free(&r);
    }
    pr_threads_free(p);
}

static void twice(const struct pr_threads *p)
{
    for (size_t i = 0; i < COUNT(views); i++) {
        struct rig r = rig_new(p, &views[i], GAMMA | RELU);
        float *dx[2], *dgamma[2];

        for (int k = 0; k < 2; k++) {
            struct pr_norm_back b = {.norm = &r.norm,
                                     .x = r.x,
                                     .y = r.y,
                                     .terms = {r.terms[0], r.terms[1]},
                                     .term_count = 2};

            b.dx = dx[k] = tensor(r.count);
            b.dgamma = dgamma[k] = tensor(channels(r.v));
            pr_kernel_norm_back(p, r.v, &b);
        }
        assert_same_bits(dx[0], dx[1], r.count);
        assert_same_bits(dgamma[0], dgamma[1], channels(r.v));
        for (int k = 0; k < 2; k++) {
            tensor_free(dx[k], r.count);
            tensor_free(dgamma[k], channels(r.v));
        }
        rig_free(&r);
    }
}

static void the_same_bits_come_out_again(void **state)
{
    (void)state;
    with_threads(twice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backward_is_as_in_doubles),
        cmocka_unit_test(backward_is_the_slope_of_forward),
        cmocka_unit_test(the_same_bits_come_out_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
