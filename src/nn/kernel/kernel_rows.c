/* Softmax of rows, and its way back. */
#include "nn/kernel/kernel_logits.h"

struct job {
    size_t n, c;
    const float *x, *dy;
    float *out;
};

PR_INLINE void softmax_rows_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    size_t from, to;

    pr_threads_part(j->n, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        const float *x = j->x + i * j->c;
        float *y = j->out + i * j->c;
        size_t ahead = i + 1 < to ? j->c : 0;
        double sum = pr_logits_exp(x, j->c, pr_row_max(x, j->c), ahead, y);

        pr_logits_scale(y, j->c, (float)(1 / sum), 0);
    }
}
PR_KERNEL(softmax_rows)

void pr_kernel_softmax(const struct pr_threads *p, size_t n, size_t c,
                       const float *x, float *y)
{
    struct job j = {.n = n, .c = c, .x = x, .out = y};

    pr_kernel_run(p, n * c, softmax_rows(), &j);
}

/* dx = y * (dy - sum(y * dy)) */
PR_INLINE void back_row(const float *y, const float *dy, size_t c, float *dx)
{
    size_t whole = c - c % PR_LANES;
    pr_dvec sum = {0};
    pr_vec a, b;
    float mean;

    for (size_t i = 0; i < whole; i += PR_LANES) {
        a = PR_AT(y + i) * PR_AT(dy + i);
        pr_vec_add_up(&a, &sum);
    }
    pr_row_load(y + whole, c - whole, 0, &a);
    pr_row_load(dy + whole, c - whole, 0, &b);
    a *= b;
    pr_vec_add_up(&a, &sum);
    mean = (float)pr_dvec_total(&sum);
    for (size_t i = 0; i < whole; i += PR_LANES)
        PR_PUT(dx + i, PR_AT(y + i) * (PR_AT(dy + i) - mean));
    for (size_t i = whole; i < c; i++)
        dx[i] = y[i] * (dy[i] - mean);
}

PR_INLINE void softmax_rows_back_body(void *ctx, unsigned thread,
                                      unsigned threads)
{
    const struct job *j = ctx;
    size_t from, to;

    pr_threads_part(j->n, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++)
        back_row(j->x + i * j->c, j->dy + i * j->c, j->c, j->out + i * j->c);
}
PR_KERNEL(softmax_rows_back)

void pr_kernel_softmax_back(const struct pr_threads *p, size_t n, size_t c,
                            const float *y, const float *dy, float *dx)
{
    struct job j = {.n = n, .c = c, .x = y, .dy = dy, .out = dx};

    pr_kernel_run(p, n * c, softmax_rows_back(), &j);
}
