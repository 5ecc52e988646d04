/* Products of tensors, what is added to channels, and parts of rows. */
#include "nn/kernel/kernel_flat.h"

#include <string.h>

/* ---- y = product of factors */

PR_INLINE void multiply_elements_loop(const struct pr_flat *f,
                                      const struct pr_io *io, size_t first,
                                      size_t from, size_t to)
{
    (void)f, (void)first;
    for (size_t i = from; i < to; i += PR_LANES) {
        pr_vec y = PR_AT(io->in[0] + i);

        for (unsigned k = 1; k < io->ins; k++)
            y *= PR_AT(io->in[k] + i);
        PR_PUT(io->out[0] + i, y);
    }
}
PR_FLAT(multiply_elements)

void pr_kernel_multiply(const struct pr_threads *p, size_t count,
                        const float *const *factors, unsigned factor_count,
                        float *y)
{
    struct pr_flat f = {
        .io = {.out = {y}, .ins = factor_count, .outs = 1},
        .count = count,
    };

    for (unsigned i = 0; i < factor_count; i++)
        f.io.in[i] = factors[i];
    pr_kernel_run(p, count, multiply_elements(), &f);
}

/* ---- y = relu?(y + bias) */

struct bias_job {
    const struct pr_grid *v;
    size_t blocks;
    const float *bias;
    bool relu;
    float *y;
};

PR_INLINE void bias_one(const struct bias_job *j, float add, float *y)
{
    *y += add;
    if (j->relu && *y <= 0)
        *y = 0;
}

/* Places that have the same floats added to each. */
PR_INLINE void bias_plane(const struct bias_job *j, const float *bias, float *y)
{
    const pr_ivec relu = (pr_ivec){0} + (j->relu ? -1 : 0);
    size_t s = j->v->s, block = j->v->block;
    bool is_lone = block == 1;
    size_t width = is_lone ? s : block, whole = width / PR_LANES * PR_LANES;

    for (size_t i = 0; i < (is_lone ? 1 : s); i++, y += block) {
        for (size_t k = 0; k < whole; k += PR_LANES) {
            pr_vec at = PR_AT(y + k);

            if (bias && is_lone)
                at += bias[0];
            else if (bias)
                at += PR_AT(bias + k);
            PR_PUT(y + k, PR_CUT(at, relu));
        }
        for (size_t k = whole; k < width; k++)
            bias_one(j, bias ? bias[is_lone ? 0 : k] : 0, y + k);
    }
}

PR_INLINE void add_channel_bias_body(void *ctx, unsigned thread,
                                     unsigned threads)
{
    const struct bias_job *j = ctx;
    const struct pr_grid *v = j->v;
    size_t from, to;

    pr_threads_part(v->n * j->blocks, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++)
        bias_plane(j, j->bias ? j->bias + i % j->blocks * v->block : NULL,
                   j->y + i * v->s * v->block);
}
PR_KERNEL(add_channel_bias)

void pr_kernel_bias(const struct pr_threads *p, const struct pr_grid *v,
                    const float *bias_values, bool relu, float *y)
{
    struct bias_job j = {v, (v->c + v->block - 1) / v->block, bias_values, relu,
                         y};

    pr_kernel_run(p, pr_grid_elements(v), add_channel_bias(), &j);
}

/* ---- parts of rows */

struct part_job {
    size_t rows, width;
    const float *x;
    float *y;
    size_t x_step, y_step;
    size_t before, after; /* floats of y that become 0 */
};

static void copy_parts(void *ctx, unsigned thread, unsigned threads)
{
    const struct part_job *j = ctx;
    size_t from, to;

    pr_threads_part(j->rows, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        float *y = j->y + i * j->y_step;

        if (j->before)
            memset(y, 0, j->before * sizeof *y);
        y += j->before;
        memcpy(y, j->x + i * j->x_step, j->width * sizeof *y);
        if (j->after)
            memset(y + j->width, 0, j->after * sizeof *y);
    }
}

void pr_kernel_part(const struct pr_threads *p, size_t rows, size_t width,
                    const float *x, size_t x_step, float *y, size_t y_step)
{
    struct part_job j = {.rows = rows,
                         .width = width,
                         .x = x,
                         .y = y,
                         .x_step = x_step,
                         .y_step = y_step};

    pr_kernel_run(p, rows * width, copy_parts, &j);
}

void pr_kernel_part_back(const struct pr_threads *p, size_t rows, size_t width,
                         const float *x, float *y, size_t first, size_t y_step)
{
    struct part_job j = {.rows = rows,
                         .width = width,
                         .x = x,
                         .y = y,
                         .x_step = width,
                         .y_step = y_step,
                         .before = first,
                         .after = y_step - first - width};

    pr_kernel_run(p, rows * y_step, copy_parts, &j);
}
