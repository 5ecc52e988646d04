/* Rows of each sample, by their numbers. */
#include "nn/kernel/kernel_row.h"
#include "nn/kernel/kernels_rows.h"

#include <string.h>

/* Columns that are one piece of work on the way back. */
enum { KERNEL_GATHER_CHUNK = 256 };

struct kernel_gather_job {
    const struct pr_gather_args *g;
    const float *from;
    float *to;
};

static void gather_sample_rows(void *ctx, unsigned thread, unsigned threads)
{
    const struct kernel_gather_job *j = ctx;
    const struct pr_gather_args *g = j->g;
    size_t from, to;

    pr_threads_part(g->samples * g->count, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t row = i / g->count * g->rows + (size_t)g->ids[i];

        memcpy(j->to + i * g->width, j->from + row * g->width,
               g->width * sizeof *j->to);
    }
}

void pr_kernel_gather(const struct pr_threads *p,
                      const struct pr_gather_args *g, const float *x, float *y)
{
    struct kernel_gather_job j = {g, x, y};

    pr_kernel_run(p, g->samples * g->count * g->width, gather_sample_rows, &j);
}

/* Columns [column, end) of a sample. */
PR_INLINE void gather_back_piece(const struct kernel_gather_job *j,
                                 size_t sample, size_t column, size_t end)
{
    const struct pr_gather_args *g = j->g;
    const float *dy = j->from + sample * g->count * g->width;
    float *dx = j->to + sample * g->rows * g->width;

    for (size_t r = 0; r < g->rows; r++)
        memset(dx + r * g->width + column, 0, (end - column) * sizeof *dx);
    for (size_t i = 0; i < g->count; i++) {
        const float *x = dy + i * g->width;
        float *y = dx + (size_t)g->ids[sample * g->count + i] * g->width;
        size_t c = column;

        for (; c + PR_LANES <= end; c += PR_LANES)
            PR_PUT(y + c, PR_AT(y + c) + PR_AT(x + c));
        for (; c < end; c++)
            y[c] += x[c];
    }
}

PR_INLINE void gather_back_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct kernel_gather_job *j = ctx;
    size_t width = j->g->width,
           pieces = (width + KERNEL_GATHER_CHUNK - 1) / KERNEL_GATHER_CHUNK;
    size_t from, to;

    pr_threads_part(j->g->samples * pieces, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t column = i % pieces * KERNEL_GATHER_CHUNK;

        gather_back_piece(j, i / pieces, column,
                          width - column < KERNEL_GATHER_CHUNK
                              ? width
                              : column + KERNEL_GATHER_CHUNK);
    }
}
PR_KERNEL(gather_back)

void pr_kernel_gather_back(const struct pr_threads *p,
                           const struct pr_gather_args *g, const float *dy,
                           float *dx)
{
    struct kernel_gather_job j = {g, dy, dx};

    pr_kernel_run(p, g->samples * g->rows * g->width, gather_back(), &j);
}
