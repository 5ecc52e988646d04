/*
 * Walking over the channels of a view. A unit is up to 32 channels that lie
 * side by side: a block, or a piece of one that is larger. Its rows (places of
 * all samples) are taken in steps of four vectors; in a block that divides 32
 * a step is several rows, so that the parameters of a channel are repeated in
 * the lanes, and sums over lanes of the same channel are folded.
 */
#ifndef PR_NN_KERNEL_UNIT_H
#define PR_NN_KERNEL_UNIT_H

#include "nn/kernel/kernel_vec.h"

enum { PR_TILE = 32, PR_SLOTS = PR_TILE / PR_LANES };

/* Steps whose sum is taken in float32, before it is added up in doubles. */
enum { PR_STEPS = 64 };

struct pr_unit {
    size_t block; /* which one */
    size_t lane;  /* first channel of it */
    size_t lanes; /* channels, with those that fill up */
    size_t first; /* number of the first channel */
    size_t real;  /* channels without those that fill up */
};

/* Two sums (or a mean and a sum) for each channel of a unit. */
struct pr_tally {
    double count; /* rows */
    double a[PR_TILE], b[PR_TILE];
};

/* What a loop over a unit has beside what it reads and writes. */
struct pr_lanes {
    float p[4][PR_TILE];          /* parameters; the first is x's centre */
    float s[PR_TILE], q[PR_TILE]; /* sums */
    int32_t relu;                 /* 0 or -1 */
    size_t lanes;                 /* of the unit; only sums want it */
    struct pr_tally *tally;
    bool centred; /* the tally has a mean, without rows */
};

PR_INLINE bool pr_view_is_narrow(const struct pr_grid *v)
{
    return PR_TILE % v->block == 0;
}

PR_INLINE size_t pr_view_blocks(const struct pr_grid *v)
{
    return (v->c + v->block - 1) / v->block;
}

PR_INLINE size_t pr_unit_count(const struct pr_grid *v)
{
    return pr_view_blocks(v) * ((v->block + PR_TILE - 1) / PR_TILE);
}

PR_INLINE void pr_unit_at(const struct pr_grid *v, size_t i,
                          struct pr_unit *ret)
{
    size_t per = (v->block + PR_TILE - 1) / PR_TILE;
    size_t left;

    ret->block = i / per;
    ret->lane = i % per * PR_TILE;
    left = v->block - ret->lane;
    ret->lanes = left < PR_TILE ? left : PR_TILE;
    ret->first = ret->block * v->block + ret->lane;
    left = ret->first < v->c ? v->c - ret->first : 0;
    ret->real = left < ret->lanes ? left : ret->lanes;
}

/* Repeats the first lanes in all, where a step is several rows. */
PR_INLINE void pr_lanes_repeat(const struct pr_grid *v, float *p)
{
    if (!pr_view_is_narrow(v))
        return;
    for (size_t w = v->block; w < PR_LANES; w *= 2)
        for (size_t i = 0; i < w; i++)
            p[w + i] = p[i];
    for (size_t w = v->block < PR_LANES ? PR_LANES : v->block; w < PR_TILE;
         w *= 2)
        for (size_t i = 0; i < w; i += PR_LANES)
            PR_PUT(p + w + i, PR_AT(p + i));
}

/* The opposite: sums of lanes that are the same channel's. */
PR_INLINE void pr_lanes_fold(const struct pr_grid *v, float *p)
{
    size_t w = PR_TILE / 2;

    if (!pr_view_is_narrow(v))
        return;
    for (; w >= v->block && w >= PR_LANES; w /= 2)
        for (size_t i = 0; i < w; i += PR_LANES)
            PR_PUT(p + i, PR_AT(p + i) + PR_AT(p + w + i));
    for (; w >= v->block && w; w /= 2)
        for (size_t i = 0; i < w; i++)
            p[i] += p[w + i];
}

/* Four vectors: X(0) to X(3); in a loop with one, the others do nothing. */
#define PR_EACH_SLOT(X) X(0) X(1) X(2) X(3)

/*
 * Makes NAME_range(io, lanes, view, unit, from, to), which goes over rows
 * [from, to), out of
 *     NAME_core(io, lanes, at, steps, step, lane, slots)
 *         steps of slots vectors, step floats apart, from element at on, which
 *         belongs to lane;
 *     NAME_start(io, lanes, view, at), before rows from element at on;
 *     NAME_flush(lanes, view, rows), after at most PR_STEPS steps.
 */
#define PR_UNIT_LOOP(name)                                                   \
    PR_INLINE void name##_piece(const struct pr_io *io, struct pr_lanes *l,  \
                                size_t at, size_t steps, size_t step,        \
                                size_t lanes)                                \
    {                                                                        \
        size_t lane = 0;                                                     \
                                                                             \
        if (lanes == PR_TILE) {                                              \
            name##_core(io, l, at, steps, step, 0, PR_SLOTS);                \
            return;                                                          \
        }                                                                    \
        for (; lane + PR_LANES <= lanes; lane += PR_LANES)                   \
            name##_core(io, l, at + lane, steps, step, lane, 1);             \
        for (size_t i = 0; lane < lanes && i < steps; i++) {                 \
            struct pr_io_tail t;                                             \
            size_t from = at + lane + i * step;                              \
                                                                             \
            pr_io_cut(io, from, lanes - lane, l->p[0] + lane, &t);           \
            name##_core(&t.io, l, 0, 1, PR_LANES, lane, 1);                  \
            pr_io_paste(io, from, lanes - lane, &t);                         \
        }                                                                    \
    }                                                                        \
                                                                             \
    PR_INLINE void name##_range(                                             \
        const struct pr_io *io, struct pr_lanes *l, const struct pr_grid *v, \
        const struct pr_unit *u, size_t from, size_t to)                     \
    {                                                                        \
        bool narrow = pr_view_is_narrow(v);                                  \
        size_t most = narrow ? PR_STEPS * PR_TILE / v->block : PR_STEPS;     \
        size_t blocks = pr_view_blocks(v), done = 0, rows;                   \
                                                                             \
        for (size_t r = from; r < to; r += rows) {                           \
            size_t row = r % v->s;                                           \
            size_t at =                                                      \
                ((r / v->s * blocks + u->block) * v->s + row) * v->block +   \
                u->lane;                                                     \
                                                                             \
            rows = v->s - row < to - r ? v->s - row : to - r;                \
            rows = rows < most - done ? rows : most - done;                  \
            if (done == 0)                                                   \
                name##_start(io, l, v, at);                                  \
            if (narrow) {                                                    \
                size_t floats = rows * v->block;                             \
                size_t rest = floats % PR_TILE;                              \
                                                                             \
                name##_piece(io, l, at, floats / PR_TILE, PR_TILE, PR_TILE); \
                name##_piece(io, l, at + floats - rest, 1, PR_TILE, rest);   \
            } else {                                                         \
                name##_piece(io, l, at, rows, v->block, u->lanes);           \
            }                                                                \
            done += rows;                                                    \
            if (done == most || r + rows == to) {                            \
                name##_flush(l, v, done);                                    \
                done = 0;                                                    \
            }                                                                \
        }                                                                    \
    }

/* For loops without sums. */
#define PR_UNIT_NO_SUMS(name)                                                \
    PR_INLINE void name##_start(const struct pr_io *io, struct pr_lanes *l,  \
                                const struct pr_grid *v, size_t at)          \
    {                                                                        \
        (void)io, (void)l, (void)v, (void)at;                                \
    }                                                                        \
    PR_INLINE void name##_flush(struct pr_lanes *l, const struct pr_grid *v, \
                                size_t rows)                                 \
    {                                                                        \
        (void)l, (void)v, (void)rows;                                        \
    }

/* How the work is shared. Whole units, if there is one for each thread: what
 * the second pass over a unit reads is still in the cache then. Else rows, with
 * a tally of each unit in the memory of the thread; so it is done also where
 * units lie side by side, in the order of memory. */
PR_INLINE bool pr_unit_by_rows(const struct pr_threads *p,
                               const struct pr_grid *v)
{
    size_t units = pr_unit_count(v);

    return (units < pr_threads_count(p) || !pr_view_is_narrow(v)) &&
           units <= PR_THREADS_SCRATCH_BYTES / sizeof(struct pr_tally);
}

/* Rows that are taken of one unit before the next one's turn. */
PR_INLINE size_t pr_unit_turn(const struct pr_grid *v)
{
    return pr_view_is_narrow(v) ? (size_t)-1 : 4 * PR_STEPS;
}

PR_INLINE void pr_unit_rows(const struct pr_grid *v, unsigned thread,
                            unsigned threads, size_t *ret_from, size_t *ret_to)
{
    enum { GRAIN = 16 }; /* a cache line of the smallest block */

    pr_threads_part(v->n * v->s, GRAIN, thread, threads, ret_from, ret_to);
}

#endif
