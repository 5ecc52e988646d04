/* Matrices turned around, and channels that become places. */
#include "nn/kernel/kernel_vec.h"

/* ---- matrices turned around */

struct turn {
    size_t n, rows, columns;
    const float *x;
    float *y;
    bool add; /* x itself */
};

enum { TILE = 16 };

/* Rows [from, to) of y, which are columns of x, in tiles that the cache keeps
 * both sides of. */
PR_INLINE void turn_strip(const struct turn *t, const float *x, float *y,
                          size_t from, size_t to)
{
    for (size_t r = 0; r < t->rows; r += TILE) {
        size_t end = r + TILE < t->rows ? r + TILE : t->rows;

        for (size_t c = from; c < to; c++)
            for (size_t k = r; k < end; k++)
                y[c * t->rows + k] = x[k * t->columns + c];
    }
}

PR_INLINE void add_strip(const struct turn *t, const float *x, float *y,
                         size_t from, size_t to)
{
    for (size_t i = from * t->rows; i < to * t->rows; i++)
        y[i] += x[i];
}

PR_INLINE void turn_matrix_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct turn *t = ctx;
    size_t strips = (t->columns + TILE - 1) / TILE, from, to;

    pr_threads_part(t->n * strips, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t at = i / strips * t->rows * t->columns;
        size_t first = i % strips * TILE;
        size_t end = first + TILE < t->columns ? first + TILE : t->columns;

        turn_strip(t, t->x + at, t->y + at, first, end);
        if (t->add)
            add_strip(t, t->x + at, t->y + at, first, end);
    }
}
PR_KERNEL(turn_matrix)

void pr_kernel_transpose(const struct pr_threads *p, size_t n, size_t rows,
                         size_t columns, const float *x, float *y)
{
    struct turn t = {n, rows, columns, x, y, false};

    pr_kernel_run(p, n * rows * columns, turn_matrix(), &t);
}

void pr_kernel_fold(const struct pr_threads *p, size_t n, size_t rows,
                    const float *x, float *y)
{
    struct turn t = {n, rows, rows, x, y, true};

    pr_kernel_run(p, n * rows * rows, turn_matrix(), &t);
}

/* ---- channels that become places */

struct shuffle {
    const struct pr_shuffle *s;
    const float *x;
    float *y;
};

/* Item i: the rows of the larger places that are row i % rows of the smaller
 * ones. */
static void shuffle_rows(void *ctx, unsigned thread, unsigned threads)
{
    const struct shuffle *j = ctx;
    const struct pr_shuffle *s = j->s;
    size_t size = s->size, columns = s->columns, from, to;

    pr_threads_part(s->n * s->rows, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++)
        for (size_t k = 0; k < size * size; k++) {
            size_t channel = i / s->rows * size * size + k;
            const float *x = j->x + (channel * s->rows + i % s->rows) * columns;
            float *y = j->y + (i * size + k / size) * columns * size + k % size;

            for (size_t c = 0; c < columns; c++)
                y[c * size] = x[c];
        }
}

static void unshuffle_rows(void *ctx, unsigned thread, unsigned threads)
{
    const struct shuffle *j = ctx;
    const struct pr_shuffle *s = j->s;
    size_t size = s->size, columns = s->columns, from, to;

    pr_threads_part(s->n * s->rows, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++)
        for (size_t k = 0; k < size * size; k++) {
            size_t channel = i / s->rows * size * size + k;
            float *y = j->y + (channel * s->rows + i % s->rows) * columns;
            const float *x =
                j->x + (i * size + k / size) * columns * size + k % size;

            for (size_t c = 0; c < columns; c++)
                y[c] = x[c * size];
        }
}

static size_t shuffle_elements(const struct pr_shuffle *s)
{
    return s->n * s->rows * s->columns * s->size * s->size;
}

void pr_kernel_shuffle(const struct pr_threads *p, const struct pr_shuffle *s,
                       const float *x, float *y)
{
    struct shuffle j = {s, x, y};

    pr_kernel_run(p, shuffle_elements(s), shuffle_rows, &j);
}

void pr_kernel_shuffle_back(const struct pr_threads *p,
                            const struct pr_shuffle *s, const float *dy,
                            float *dx)
{
    struct shuffle j = {s, dy, dx};

    pr_kernel_run(p, shuffle_elements(s), unshuffle_rows, &j);
}
