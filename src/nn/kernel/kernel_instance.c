/* Instance norm: batch norm of one sample after the other. */
#include "nn/kernel/kernels_rows.h"

static size_t count_padded_channels(const struct pr_grid *v)
{
    return (v->c + v->block - 1) / v->block * v->block;
}

/* The norm of sample i. */
static struct pr_norm sample_norm(const struct pr_grid *v,
                                  const struct pr_norm *norm, size_t i)
{
    struct pr_norm ret = *norm;

    ret.mean += i * count_padded_channels(v);
    ret.inv_std += i * count_padded_channels(v);
    ret.running_mean = ret.running_var = NULL;
    return ret;
}

void pr_kernel_instance_norm(const struct pr_threads *p,
                             const struct pr_grid *v,
                             const struct pr_norm *norm, const float *x,
                             float *y)
{
    struct pr_grid one = *v;
    size_t step;

    one.n = 1;
    step = pr_grid_elements(&one);
    for (size_t i = 0; i < v->n; i++) {
        struct pr_norm of = sample_norm(v, norm, i);

        pr_kernel_norm_train(p, &one, &of, x + i * step, NULL, false,
                             y + i * step);
    }
}

size_t pr_kernel_instance_norm_work(const struct pr_grid *v)
{
    return 2 * v->n * count_padded_channels(v);
}

/* to[c] = sum of from[n][c] */
static void sum_over_samples(const float *from, size_t n, size_t c, float *to)
{
    for (size_t k = 0; k < c; k++) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += (double)from[i * c + k];
        to[k] = (float)sum;
    }
}

void pr_kernel_instance_norm_back(const struct pr_threads *p,
                                  const struct pr_grid *v,
                                  const struct pr_instance_back *b)
{
    size_t c = count_padded_channels(v), step;
    float *gammas = b->work, *betas = b->work + v->n * c;
    struct pr_grid one = *v;

    one.n = 1;
    step = pr_grid_elements(&one);
    for (size_t i = 0; i < v->n; i++) {
        struct pr_norm of = sample_norm(v, b->norm, i);
        struct pr_norm_back back = {
            .norm = &of,
            .x = b->x + i * step,
            .terms = {b->dy + i * step},
            .term_count = 1,
            .dx = b->dx + i * step,
            .dgamma = gammas + i * c,
            .dbeta = betas + i * c,
        };

        pr_kernel_norm_back(p, &one, &back);
    }
    if (b->dgamma)
        sum_over_samples(gammas, v->n, c, b->dgamma);
    if (b->dbeta)
        sum_over_samples(betas, v->n, c, b->dbeta);
}
