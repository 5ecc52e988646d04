/*
 * Places that are repeated or mirrored, in any layout: a place is a block of
 * floats. Backward adds up what went to several places, row by row of the
 * smaller tensor, always in the same order.
 */
#include "nn/kernel/kernel_vec.h"

#include <string.h>

struct job {
    const struct pr_places *v;
    size_t size;        /* upsample */
    const int64_t *pad; /* reflect */
    const float *x;
    float *y;
};

/* y += x, or y = x. */
PR_INLINE void add_floats(float *y, const float *x, size_t count, bool is_first)
{
    size_t i = 0;

    for (; i + PR_LANES <= count; i += PR_LANES) {
        pr_vec v = PR_AT(x + i);

        if (!is_first)
            v += PR_AT(y + i);
        PR_PUT(y + i, v);
    }
    for (; i < count; i++)
        y[i] = is_first ? x[i] : y[i] + x[i];
}

PR_INLINE void copy_floats(float *y, const float *x, size_t count)
{
    add_floats(y, x, count, true);
}

/* ---- upsample. Places of one float are common enough to be told apart. */

PR_INLINE void stretch_row(const struct pr_places *v, size_t size,
                           const float *x, float *y)
{
    for (size_t c = 0; c < v->columns; c++, x += v->block)
        for (size_t k = 0; k < size; k++, y += v->block) {
            if (v->block == 1)
                *y = *x;
            else
                copy_floats(y, x, v->block);
        }
}

PR_INLINE void stretch_places_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    const struct pr_places *v = j->v;
    size_t row = v->columns * v->block, wide = row * j->size, from, to;

    pr_threads_part(v->n * v->rows, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        const float *x = j->x + i * row;
        float *y = j->y + i * wide * j->size;

        stretch_row(v, j->size, x, y);
        for (size_t k = 1; k < j->size; k++)
            memcpy(y + k * wide, y, wide * sizeof *y);
    }
}
PR_KERNEL(stretch_places)

static size_t count_place_elements(const struct pr_places *v)
{
    return v->n * v->rows * v->columns * v->block;
}

void pr_kernel_upsample(const struct pr_threads *p, const struct pr_places *v,
                        size_t size, const float *x, float *y)
{
    struct job j = {.v = v, .size = size, .x = x, .y = y};

    pr_kernel_run(p, count_place_elements(v) * size * size, stretch_places(),
                  &j);
}

/* x: size rows of the larger tensor. */
PR_INLINE void shrink_row(const struct pr_places *v, size_t size,
                          const float *x, float *y)
{
    size_t wide = v->columns * v->block * size;

    for (size_t k = 0; k < size; k++, x += wide)
        for (size_t c = 0; c < v->columns; c++)
            for (size_t m = 0; m < size; m++)
                add_floats(y + c * v->block, x + (c * size + m) * v->block,
                           v->block, k + m == 0);
}

PR_INLINE void shrink_line(const struct pr_places *v, size_t size,
                           const float *x, float *y)
{
    size_t wide = v->columns * size;

    for (size_t c = 0; c < v->columns; c++, x += size) {
        float sum = 0;

        for (size_t k = 0; k < size; k++)
            for (size_t m = 0; m < size; m++)
                sum += x[k * wide + m];
        y[c] = sum;
    }
}

PR_INLINE void shrink_places_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    const struct pr_places *v = j->v;
    size_t row = v->columns * v->block, wide = row * j->size, from, to;

    pr_threads_part(v->n * v->rows, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        const float *x = j->x + i * wide * j->size;
        float *y = j->y + i * row;

        if (v->block == 1)
            shrink_line(v, j->size, x, y);
        else
            shrink_row(v, j->size, x, y);
    }
}
PR_KERNEL(shrink_places)

void pr_kernel_upsample_back(const struct pr_threads *p,
                             const struct pr_places *v, size_t size,
                             const float *dy, float *dx)
{
    struct job j = {.v = v, .size = size, .x = dy, .y = dx};

    pr_kernel_run(p, count_place_elements(v) * size * size, shrink_places(),
                  &j);
}

/* ---- reflect. Place i of a line is i - before of the inner ones; outside of
 * them the first and the last one are mirrors. */

PR_INLINE size_t mirror_index(size_t i, size_t before, size_t count)
{
    size_t at = i < before ? before - i : i - before;

    return at < count ? at : 2 * (count - 1) - at;
}

PR_INLINE void frame_places_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    const struct pr_places *v = j->v;
    size_t top = (size_t)j->pad[0], left = (size_t)j->pad[1], from, to;
    size_t rows = v->rows + top + (size_t)j->pad[2];
    size_t columns = v->columns + left + (size_t)j->pad[3], block = v->block;

    pr_threads_part(v->n * rows, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t row = mirror_index(i % rows, top, v->rows);
        const float *x = j->x + (i / rows * v->rows + row) * v->columns * block;
        float *y = j->y + i * columns * block;

        for (size_t c = 0; c < left; c++)
            copy_floats(y + c * block, x + (left - c) * block, block);
        memcpy(y + left * block, x, v->columns * block * sizeof *y);
        for (size_t c = left + v->columns; c < columns; c++)
            copy_floats(y + c * block,
                        x + mirror_index(c, left, v->columns) * block, block);
    }
}
PR_KERNEL(frame_places)

static size_t count_framed_elements(const struct pr_places *v,
                                    const int64_t *pad)
{
    return v->n * (v->rows + (size_t)(pad[0] + pad[2])) *
           (v->columns + (size_t)(pad[1] + pad[3])) * v->block;
}

void pr_kernel_reflect(const struct pr_threads *p, const struct pr_places *v,
                       const int64_t pad[static 4], const float *x, float *y)
{
    struct job j = {.v = v, .pad = pad, .x = x, .y = y};

    pr_kernel_run(p, count_framed_elements(v, pad), frame_places(), &j);
}

/* Adds a row of the larger tensor to the one that it was made of. */
PR_INLINE void add_framed_row(const struct job *j, const float *x, float *y,
                              bool is_first)
{
    const struct pr_places *v = j->v;
    size_t left = (size_t)j->pad[1], right = (size_t)j->pad[3];
    size_t block = v->block;

    add_floats(y, x + left * block, v->columns * block, is_first);
    for (size_t c = 0; c < left; c++)
        add_floats(y + (left - c) * block, x + c * block, block, false);
    x += (left + v->columns) * block;
    for (size_t c = 0; c < right; c++)
        add_floats(y + (v->columns - 2 - c) * block, x + c * block, block,
                   false);
}

PR_INLINE void unframe_places_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    const struct pr_places *v = j->v;
    size_t top = (size_t)j->pad[0], bottom = (size_t)j->pad[2], from, to;
    size_t columns = v->columns + (size_t)(j->pad[1] + j->pad[3]);
    size_t wide = columns * v->block, last = v->rows - 1;

    pr_threads_part(v->n * v->rows, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t row = i % v->rows;
        const float *x = j->x + i / v->rows * (v->rows + top + bottom) * wide;
        float *y = j->y + i * v->columns * v->block;

        add_framed_row(j, x + (top + row) * wide, y, true);
        if (row > 0 && row <= top)
            add_framed_row(j, x + (top - row) * wide, y, false);
        if (row < last && last - row <= bottom)
            add_framed_row(j, x + (top + 2 * last - row) * wide, y, false);
    }
}
PR_KERNEL(unframe_places)

void pr_kernel_reflect_back(const struct pr_threads *p,
                            const struct pr_places *v,
                            const int64_t pad[static 4], const float *dy,
                            float *dx)
{
    struct job j = {.v = v, .pad = pad, .x = dy, .y = dx};

    pr_kernel_run(p, count_framed_elements(v, pad), unframe_places(), &j);
}
