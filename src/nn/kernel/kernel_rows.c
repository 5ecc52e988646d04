/*
 * Rows of [rows, width]: those of each sample by their numbers, those of a
 * table by ids, and softmax.
 */
#include "nn/kernel/kernel_logits.h"
#include "nn/kernel/kernel_root.h"
#include "nn/kernel/kernel_row.h"
#include "nn/kernel/kernels.h"

#include <math.h>
#include <string.h>

/* ---- rows of each sample, by their numbers */

/* Columns that are one piece of work on the way back. */
enum { GATHER_CHUNK = 256 };

struct gather_job {
    const struct pr_gather_args *g;
    const float *from;
    float *to;
};

static void gather_sample_rows(void *ctx, unsigned thread, unsigned threads)
{
    const struct gather_job *j = ctx;
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
    struct gather_job j = {g, x, y};

    pr_kernel_run(p, g->samples * g->count * g->width, gather_sample_rows, &j);
}

/* Columns [column, end) of a sample. */
PR_INLINE void gather_back_piece(const struct gather_job *j, size_t sample,
                                 size_t column, size_t end)
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
    const struct gather_job *j = ctx;
    size_t width = j->g->width,
           pieces = (width + GATHER_CHUNK - 1) / GATHER_CHUNK;
    size_t from, to;

    pr_threads_part(j->g->samples * pieces, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t column = i % pieces * GATHER_CHUNK;

        gather_back_piece(
            j, i / pieces, column,
            width - column < GATHER_CHUNK ? width : column + GATHER_CHUNK);
    }
}
PR_KERNEL(gather_back)

void pr_kernel_gather_back(const struct pr_threads *p,
                           const struct pr_gather_args *g, const float *dy,
                           float *dx)
{
    struct gather_job j = {g, dy, dx};

    pr_kernel_run(p, g->samples * g->rows * g->width, gather_back(), &j);
}

/*
 * ---- tables of rows that ids choose from
 *
 * On the way back the places are sorted by id: rows that were chosen several
 * times are then runs, each summed by one thread in the order of places, so
 * that the bits do not depend on threads.
 */

size_t pr_ids_find_bad(const int32_t *ids, size_t count, int64_t limit)
{
    enum { PIECE = 1024 };
    uint32_t most = limit > INT32_MAX ? INT32_MAX : (uint32_t)limit - 1;
    size_t i = 0;

    if (limit <= 0)
        return 0;
    for (uint32_t bad = 0; i + PIECE <= count && !bad; i += bad ? 0 : PIECE)
        for (size_t k = 0; k < PIECE; k++)
            bad |= (uint32_t)ids[i + k] > most;
    while (i < count && (uint32_t)ids[i] <= most)
        i++;
    return i;
}

/* ---- tables: forward */

struct copy {
    const struct pr_embedding_table *t;
    const float *w;
    float *y;
};

static void copy_rows(void *ctx, unsigned thread, unsigned threads)
{
    const struct copy *c = ctx;
    size_t width = c->t->width, from, to;

    pr_threads_part(c->t->count, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++)
        memcpy(c->y + i * width, c->w + (size_t)c->t->ids[i] * width,
               width * sizeof *c->y);
}

void pr_kernel_embedding(const struct pr_threads *p,
                         const struct pr_embedding_table *t, const float *w,
                         float *y)
{
    struct copy c = {t, w, y};

    pr_kernel_run(p, t->count * t->width, copy_rows, &c);
}

/* ---- tables: runs, places with the same id */

struct runs {
    const uint64_t *order; /* id << 32 | place, sorted */
    const uint32_t *start; /* of each run, and the end of the last */
    size_t count;
};

size_t pr_kernel_embedding_work(size_t count)
{
    return 2 * count * sizeof(uint64_t) +
           (count / 2 + 1) * 2 * sizeof(uint32_t);
}

/* Places of the same key keep their order. */
static void sort_by_byte(const uint64_t *from, size_t count, unsigned shift,
                         uint64_t *to)
{
    size_t at[256] = {0}, sum = 0;

    for (size_t i = 0; i < count; i++)
        at[from[i] >> shift & 255]++;
    for (size_t i = 0; i < 256; i++) {
        size_t n = at[i];

        at[i] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[at[from[i] >> shift & 255]++] = from[i];
}

static const uint64_t *sort_table_ids(const struct pr_embedding_table *t)
{
    uint64_t *a = t->work, *b = a + t->count, *swap;

    for (size_t i = 0; i < t->count; i++)
        a[i] = (uint64_t)(uint32_t)t->ids[i] << 32 | i;
    for (unsigned shift = 0; shift < 32 && (t->rows - 1) >> shift; shift += 8) {
        sort_by_byte(a, t->count, 32 + shift, b);
        swap = a;
        a = b;
        b = swap;
    }
    return a;
}

static void find_runs(const struct pr_embedding_table *t, struct runs *ret)
{
    uint32_t *start = (uint32_t *)((uint64_t *)t->work + 2 * t->count);
    const uint64_t *order = sort_table_ids(t);
    size_t n = 0;

    for (size_t i = 0; i < t->count; i++)
        if (i == 0 || order[i] >> 32 != order[i - 1] >> 32)
            start[n++] = (uint32_t)i;
    start[n] = (uint32_t)t->count;
    *ret = (struct runs){order, start, n};
}

/* The first run that begins at a place or behind it. */
static size_t run_from(const struct runs *r, size_t place)
{
    size_t low = 0, high = r->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->start[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- tables: what becomes of a sum */

enum what { PUT, SGD, ADAM };
enum { RATE, KEEP1, KEEP2, EPSILON };

struct back {
    const struct pr_embedding_table *t;
    struct runs runs;
    const float *dy;
    enum what what;
    float *w, *m, *v; /* w: the gradient, of PUT */
    float f[4];       /* of the optimiser */
    bool by_columns;
};

/* As torch.optim.SparseAdam does it: epsilon is not corrected. */
PR_INLINE void table_adam_step(const struct back *b, const pr_vec *g, size_t at,
                               size_t count)
{
    pr_vec w, m, v, s;

    pr_row_load(b->w + at, count, 0, &w);
    pr_row_load(b->m + at, count, 0, &m);
    pr_row_load(b->v + at, count, 0, &v);
    m += (*g - m) * b->f[KEEP1];
    v += (*g * *g - v) * b->f[KEEP2];
    s = v;
    pr_vec_root(&s);
    w -= m / (s + b->f[EPSILON]) * b->f[RATE];
    pr_row_store(&w, b->w + at, count);
    pr_row_store(&m, b->m + at, count);
    pr_row_store(&v, b->v + at, count);
}

PR_INLINE void apply_row_sum(const struct back *b, const pr_vec *g, size_t at,
                             size_t count)
{
    pr_vec w = *g;

    if (b->what == ADAM) {
        table_adam_step(b, g, at, count);
        return;
    }
    if (b->what == SGD) {
        pr_row_load(b->w + at, count, 0, &w);
        w -= *g * b->f[RATE];
    }
    pr_row_store(&w, b->w + at, count);
}

/* ---- tables: backward */

enum { SLOTS = 4, CHUNK = SLOTS * PR_LANES };

/* Sums of four vectors of columns over a run; many places in two stages, as
 * float32 wants. */
PR_INLINE void sum_wide(const struct back *b, size_t from, size_t to,
                        size_t column, pr_vec all[static SLOTS])
{
    enum { FEW = 64 };

    for (int k = 0; k < SLOTS; k++)
        all[k] = PR_ALL(0.f);
    for (size_t i = from; i < to; i += FEW) {
        size_t end = to - i < FEW ? to : i + FEW;
        pr_vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};

        for (size_t k = i; k < end; k++) {
            const float *x =
                b->dy + (uint32_t)b->runs.order[k] * b->t->width + column;

            s0 += PR_AT(x);
            s1 += PR_AT(x + PR_LANES);
            s2 += PR_AT(x + 2 * PR_LANES);
            s3 += PR_AT(x + 3 * PR_LANES);
        }
        all[0] += s0;
        all[1] += s1;
        all[2] += s2;
        all[3] += s3;
    }
}

/* The same for one vector that may not be full. */
PR_INLINE void sum_narrow(const struct back *b, size_t from, size_t to,
                          size_t column, size_t count, pr_vec *all)
{
    enum { FEW = 64 };

    *all = PR_ALL(0.f);
    for (size_t i = from; i < to; i += FEW) {
        size_t end = to - i < FEW ? to : i + FEW;
        pr_vec s = {0}, x;

        for (size_t k = i; k < end; k++) {
            pr_row_load(b->dy + (uint32_t)b->runs.order[k] * b->t->width +
                            column,
                        count, 0, &x);
            s += x;
        }
        *all += s;
    }
}

PR_INLINE void apply_table_run(const struct back *b, size_t run, size_t column,
                               size_t end)
{
    size_t from = b->runs.start[run], to = b->runs.start[run + 1];
    size_t at = (size_t)(b->runs.order[from] >> 32) * b->t->width;
    pr_vec g[SLOTS];

    for (; column + CHUNK <= end; column += CHUNK) {
        sum_wide(b, from, to, column, g);
        for (size_t k = 0; k < SLOTS; k++)
            apply_row_sum(b, &g[k], at + column + k * PR_LANES, PR_LANES);
    }
    for (; column + PR_LANES <= end; column += PR_LANES) {
        sum_narrow(b, from, to, column, PR_LANES, g);
        apply_row_sum(b, g, at + column, PR_LANES);
    }
    if (column < end) {
        sum_narrow(b, from, to, column, end - column, g);
        apply_row_sum(b, g, at + column, end - column);
    }
}

PR_INLINE void table_back_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct back *b = ctx;
    size_t column = 0, end = b->t->width, from = 0, to = b->runs.count;

    if (b->by_columns) {
        pr_threads_part(end, CHUNK, thread, threads, &column, &end);
    } else {
        size_t first, last;

        pr_threads_part(b->t->count, 1, thread, threads, &first, &last);
        from = run_from(&b->runs, first);
        to = run_from(&b->runs, last);
    }
    for (size_t i = from; i < to; i++)
        apply_table_run(b, i, column, end);
}
PR_KERNEL(table_back)

static void run_table_back(const struct pr_threads *p, struct back *b)
{
    const struct pr_embedding_table *t = b->t;

    if (t->count == 0)
        return;
    find_runs(t, &b->runs);
    /* Columns are shared out evenly also where all ids are the same. */
    b->by_columns = t->width >= (size_t)pr_threads_count(p) * CHUNK;
    pr_kernel_run(p, t->count * t->width, table_back(), b);
}

struct clear {
    float *x;
    size_t count;
};

static void clear_floats(void *ctx, unsigned thread, unsigned threads)
{
    const struct clear *c = ctx;
    size_t from, to;

    pr_threads_part(c->count, 1024, thread, threads, &from, &to);
    memset(c->x + from, 0, (to - from) * sizeof *c->x);
}

void pr_kernel_embedding_back(const struct pr_threads *p,
                              const struct pr_embedding_table *t,
                              const float *dy, float *dw)
{
    struct back b = {.t = t, .dy = dy, .what = PUT, .w = dw};
    struct clear c = {dw, t->rows * t->width};

    pr_kernel_run(p, c.count, clear_floats, &c);
    run_table_back(p, &b);
}

void pr_kernel_embedding_sgd(const struct pr_threads *p,
                             const struct pr_embedding_table *t,
                             const float *dy, float rate, float *w)
{
    struct back b = {
        .t = t, .dy = dy, .what = SGD, .w = w, .f = {[RATE] = rate}};

    run_table_back(p, &b);
}

void pr_kernel_embedding_adam(const struct pr_threads *p,
                              const struct pr_embedding_table *t,
                              const float *dy, const struct pr_adam *o,
                              float *w, float *m, float *v)
{
    double left1 = 1 - pow(o->beta1, (double)o->step);
    double left2 = 1 - pow(o->beta2, (double)o->step);
    struct back b = {
        .t = t,
        .dy = dy,
        .what = ADAM,
        .w = w,
        .m = m,
        .v = v,
        .f = {[RATE] = (float)(o->rate * sqrt(left2) / left1),
              [KEEP1] = (float)(1 - o->beta1),
              [KEEP2] = (float)(1 - o->beta2),
              [EPSILON] = (float)o->epsilon},
    };

    run_table_back(p, &b);
}

/* ---- softmax */

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
