/*
 * Products with a matrix that was packed once and is used many times, as the
 * weights of a recurrent layer are for each of its rows: packing for every
 * product, as a general one must, would cost about as much as small products.
 */
#include "nn/kernel/kernel_rnn.h"
#include "nn/kernel/kernel_vec.h"

#include <string.h>

enum { HALF = PR_LANES, TALL = 6, DEEP = 256 };

size_t pr_panels_floats(size_t k, size_t n)
{
    return k * pr_round_up(n, HALF);
}

/* Floats from one row of the panel with column n to the next. */
PR_INLINE size_t width_at(const struct pr_panels *b, size_t n)
{
    return b->n - n > HALF ? PR_PANEL : HALF;
}

static void fill_panel(const struct pr_panels *to,
                       const struct pr_panel_fill *f, size_t first)
{
    size_t width = width_at(to, first);
    size_t from = first > f->n0 ? first : f->n0;
    size_t end = first + width, most = f->n0 + f->n;
    float *at = to->data + first * to->k + f->k0 * width;

    end = end < most ? end : most;
    for (size_t k = 0; k < f->k; k++, at += width)
        for (size_t n = from; n < end; n++)
            at[n - first] = f->from[k * f->by_k + (n - f->n0) * f->by_n];
}

void pr_kernel_panel_fill(const struct pr_panels *to,
                          const struct pr_panel_fill *f, unsigned thread,
                          unsigned threads)
{
    size_t from, end;

    pr_threads_part(to->n, PR_PANEL, thread, threads, &from, &end);
    for (; from < end; from += PR_PANEL)
        if (from < f->n0 + f->n && from + PR_PANEL > f->n0)
            fill_panel(to, f, from);
}

/* ---- a tile of c: up to 6 rows of two vectors, or of one */

struct tile {
    const float *a, *b;
    size_t a_row, a_col, k;
    float *c;
    size_t c_row;
    bool add;
};

#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5)

/* rows and wide are constants: what they exclude is not compiled. */
PR_INLINE void multiply_tile_of(const struct tile *t, unsigned rows, bool wide)
{
    const float *a = t->a, *b = t->b;
    const size_t a_row = t->a_row, a_col = t->a_col, c_row = t->c_row;
    float *c = t->c;

#define START(i) pr_vec s##i = {0}, u##i = {0};
    EACH(START)
#undef START
    if (t->add) {
#define LOAD(i)                      \
    if (i < rows)                    \
        s##i = PR_AT(c + i * c_row); \
    if (i < rows && wide)            \
        u##i = PR_AT(c + i * c_row + PR_LANES);
        EACH(LOAD)
#undef LOAD
    }
    for (size_t k = t->k; k; k--) {
        pr_vec v = PR_AT(b), w = {0};

        if (wide)
            w = PR_AT(b + PR_LANES);
#define STEP(i)                 \
    if (i < rows) {             \
        float x = a[i * a_row]; \
        s##i += x * v;          \
        if (wide)               \
            u##i += x * w;      \
    }
        EACH(STEP)
#undef STEP
        a += a_col;
        b += wide ? 2 * PR_LANES : PR_LANES;
    }
#define STORE(i)                     \
    if (i < rows)                    \
        PR_PUT(c + i * c_row, s##i); \
    if (i < rows && wide)            \
        PR_PUT(c + i * c_row + PR_LANES, u##i);
    EACH(STORE)
#undef STORE
}

PR_INLINE void multiply_tile(const struct tile *t, size_t rows, bool wide)
{
    switch (rows) {
#define CASE(n)                            \
    case n:                                \
        if (wide)                          \
            multiply_tile_of(t, n, true);  \
        else                               \
            multiply_tile_of(t, n, false); \
        break;
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
        CASE(6)
#undef CASE
    }
}

/* A tile whose columns c has not all: in a copy. */
PR_INLINE void multiply_cut_tile(const struct tile *t, size_t rows,
                                 size_t columns, bool wide)
{
    float copy[TALL * PR_PANEL];
    struct tile mine = *t;

    mine.c = copy;
    mine.c_row = PR_PANEL;
    if (t->add)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < PR_PANEL; j++)
                copy[i * PR_PANEL + j] =
                    j < columns ? t->c[i * t->c_row + j] : 0;
    multiply_tile(&mine, rows, wide);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            t->c[i * t->c_row + j] = copy[i * PR_PANEL + j];
}

/* A panel, or a piece of its depth, with all rows: in tiles of equal height. */
PR_INLINE void multiply_panel(const struct pr_panel_product *p, struct tile *t,
                              size_t n)
{
    size_t width = width_at(p->b, n), columns = p->to - n;
    size_t tiles = (p->m + TALL - 1) / TALL;
    size_t low = p->m / tiles, tall = p->m % tiles;

    for (size_t i = 0; i < tiles; i++) {
        size_t rows = low + (i < tall);

        if (columns < width)
            multiply_cut_tile(t, rows, columns, width == PR_PANEL);
        else
            multiply_tile(t, rows, width == PR_PANEL);
        t->a += rows * t->a_row;
        t->c += rows * t->c_row;
    }
}

/* In pieces of the depth, so that one of a panel stays in the nearest cache
 * for all rows. */
PR_INLINE void panel_product_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_panel_product *p = ctx;
    size_t depth = p->b->k;

    (void)thread, (void)threads;
    for (size_t k = 0; k < depth; k += DEEP)
        for (size_t n = p->from; n < p->to; n += PR_PANEL) {
            struct tile t = {
                .a = p->a + k * p->a_col,
                .b = p->b->data + n * depth + k * width_at(p->b, n),
                .a_row = p->a_row,
                .a_col = p->a_col,
                .k = depth - k < DEEP ? depth - k : DEEP,
                .c = p->c + n,
                .c_row = p->c_row,
                .add = p->add || k,
            };

            multiply_panel(p, &t, n);
        }
}
PR_KERNEL(panel_product)

void pr_kernel_panel_product(const struct pr_panel_product *p)
{
    if (p->m)
        panel_product()((void *)(uintptr_t)p, 0, 1);
}
