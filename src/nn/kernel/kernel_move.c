/*
 * Values that move: places that are repeated, mirrored or averaged, matrices
 * turned around, and channels that become places.
 */
#include "nn/kernel/kernel_unit.h"
#include "nn/kernel/kernel_vec.h"

#include <string.h>

/* ---- places that are repeated or mirrored, in any layout: a place is a block
 * of floats. Backward adds up what went to several places, row by row of the
 * smaller tensor, always in the same order. */

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

/* ---- means over the places of a view, and their way back */

struct mean_job {
    const struct pr_grid *v;
    struct pr_io io;
    const float *dy;
    float *y;
};

size_t pr_grid_elements(const struct pr_grid *v)
{
    return v->n * pr_view_blocks(v) * v->block * v->s;
}

/* Sums of x. */
PR_INLINE void view_sums_core(const struct pr_io *io, struct pr_lanes *l,
                              size_t at, size_t steps, size_t step, size_t lane,
                              int slots)
{
    const float *x = io->in[0] + at;

#define OPEN(i) pr_vec s##i = {0};
#define STEP(i)    \
    if (slots > i) \
        s##i += PR_AT(x + PR_LANES * i);
#define CLOSE(i)                                    \
    if (slots > i) {                                \
        size_t to = lane + PR_LANES * i;            \
        PR_PUT(l->s + to, PR_AT(l->s + to) + s##i); \
    }
    PR_EACH_SLOT(OPEN)
    for (size_t n = 0; n < steps; n++, x += step) {
        PR_EACH_SLOT(STEP)
    }
    PR_EACH_SLOT(CLOSE)
#undef OPEN
#undef STEP
#undef CLOSE
}

PR_INLINE void view_sums_start(const struct pr_io *io, struct pr_lanes *l,
                               const struct pr_grid *v, size_t at)
{
    (void)io, (void)v, (void)at;
    memset(l->s, 0, sizeof l->s);
}

PR_INLINE void view_sums_flush(struct pr_lanes *l, const struct pr_grid *v,
                               size_t rows)
{
    double *a = l->tally->a;

    (void)rows;
    pr_lanes_fold(v, l->s);
    for (size_t i = 0; i < l->lanes; i += PR_DLANES)
        PR_DPUT(a + i, PR_DAT(a + i) + PR_TO_DOUBLE(l->s + i));
}

PR_UNIT_LOOP(view_sums)

PR_INLINE void view_mean_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct mean_job *j = ctx;
    const struct pr_grid *v = j->v;
    size_t units = pr_unit_count(v), from, to;

    pr_threads_part(v->n * units, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t n = i / units;
        struct pr_tally t = {0};
        struct pr_lanes l = {.tally = &t};
        struct pr_unit u;

        pr_unit_at(v, i % units, &u);
        l.lanes = u.lanes;
        view_sums_range(&j->io, &l, v, &u, n * v->s, (n + 1) * v->s);
        for (size_t k = 0; k < u.real; k++)
            j->y[n * v->c + u.first + k] = (float)(t.a[k] / (double)v->s);
    }
}
PR_KERNEL(view_mean)

void pr_kernel_mean(const struct pr_threads *p, const struct pr_grid *v,
                    const float *x, float *y)
{
    struct mean_job j = {.v = v, .io = {.in = {x}, .ins = 1}, .y = y};

    pr_kernel_run(p, pr_grid_elements(v), view_mean(), &j);
}

/* dx = p0. */
PR_INLINE void view_fill_core(const struct pr_io *io, struct pr_lanes *l,
                              size_t at, size_t steps, size_t step, size_t lane,
                              int slots)
{
    float *dx = io->out[0] + at;

    for (size_t n = 0; n < steps; n++, dx += step)
        for (int i = 0; i < slots; i++)
            PR_PUT(dx + PR_LANES * i, PR_AT(l->p[0] + lane + PR_LANES * i));
}

PR_UNIT_NO_SUMS(view_fill)
PR_UNIT_LOOP(view_fill)

PR_INLINE void view_mean_back_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct mean_job *j = ctx;
    const struct pr_grid *v = j->v;
    size_t units = pr_unit_count(v), from, to;

    pr_threads_part(v->n * units, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t n = i / units;
        struct pr_lanes l = {.relu = 0};
        struct pr_unit u;

        pr_unit_at(v, i % units, &u);
        for (size_t k = 0; k < u.real; k++)
            l.p[0][k] = j->dy[n * v->c + u.first + k] / (float)v->s;
        pr_lanes_repeat(v, l.p[0]);
        view_fill_range(&j->io, &l, v, &u, n * v->s, (n + 1) * v->s);
    }
}
PR_KERNEL(view_mean_back)

void pr_kernel_mean_back(const struct pr_threads *p, const struct pr_grid *v,
                         const float *dy, float *dx)
{
    struct mean_job j = {.v = v, .io = {.out = {dx}, .outs = 1}, .dy = dy};

    pr_kernel_run(p, pr_grid_elements(v), view_mean_back(), &j);
}

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
