/*
 * Layer norm. With h = (x - mean) * inv_std and t = dy * gamma, of a row:
 *     dx = (t - mean(t) - h * mean(t * h)) * inv_std,
 *     dgamma = sum(dy * h) and dbeta = sum(dy) over the rows.
 * A row is walked two or three times while it is in the nearest cache. Sums
 * over rows are taken in float32 for a few rows, then in doubles; each thread
 * has its own.
 */
#include "nn/kernel/kernel_row.h"
#include "nn/kernel/kernels.h"

#include <math.h>
#include <string.h>

/* Rows whose sum is taken in float32. */
enum { FEW_ROWS = 32 };

struct job {
    const struct pr_threads *par;
    const struct pr_row_norm *norm;
    const float *x, *dy;
    float *out; /* y or dx */
    float *dgamma, *dbeta;
    bool sums; /* each thread takes those of its rows */
    unsigned threads;
};

/* ---- forward */

PR_INLINE double row_sum(const float *x, size_t n)
{
    pr_dvec sum = {0};

    for (size_t at = 0; at < n; at += PR_ROW_PIECE) {
        size_t end = n - at < PR_ROW_PIECE ? n : at + PR_ROW_PIECE, i = at;
        pr_vec s = {0}, t = {0}, v;

        for (; i + 2 * PR_LANES <= end; i += 2 * PR_LANES) {
            s += PR_AT(x + i);
            t += PR_AT(x + i + PR_LANES);
        }
        for (; i < end; i += PR_LANES) {
            pr_row_load(x + i, end - i, 0, &v);
            s += v;
        }
        s += t;
        pr_vec_add_up(&s, &sum);
    }
    return pr_dvec_total(&sum);
}

/* Sum of squares around mean. */
PR_INLINE double row_squares(const float *x, size_t n, float mean)
{
    pr_dvec sum = {0};

    for (size_t at = 0; at < n; at += PR_ROW_PIECE) {
        size_t end = n - at < PR_ROW_PIECE ? n : at + PR_ROW_PIECE, i = at;
        pr_vec s = {0}, t = {0}, v, w;

        for (; i + 2 * PR_LANES <= end; i += 2 * PR_LANES) {
            v = PR_AT(x + i) - mean;
            w = PR_AT(x + i + PR_LANES) - mean;
            s += v * v;
            t += w * w;
        }
        for (; i < end; i += PR_LANES) {
            pr_row_load(x + i, end - i, mean, &v);
            v -= mean;
            s += v * v;
        }
        s += t;
        pr_vec_add_up(&s, &sum);
    }
    return pr_dvec_total(&sum);
}

/* gamma or beta at i; a number where there is none. */
PR_INLINE void per_column(const float *p, size_t i, size_t count, float none,
                          pr_vec *ret)
{
    if (p)
        pr_row_load(p + i, count, 0, ret);
    else
        *ret = PR_ALL(none);
}

PR_INLINE void normalise_columns(const struct pr_row_norm *norm, const float *x,
                                 float mean, float inv, size_t i, size_t count,
                                 float *y)
{
    pr_vec v, g, b;

    pr_row_load(x + i, count, 0, &v);
    per_column(norm->gamma, i, count, 1, &g);
    per_column(norm->beta, i, count, 0, &b);
    v = (v - mean) * inv * g + b;
    pr_row_store(&v, y + i, count);
}

PR_INLINE void row_norm_forward_row(const struct pr_row_norm *norm, size_t row,
                                    const float *x, float *y)
{
    size_t n = norm->width, i = 0;
    double width = (double)n;
    double sum = row_sum(x, n), mean, var, rest;
    float m, inv;

    mean = sum / width;
    m = (float)mean;
    rest = mean - (double)m;
    var = row_squares(x, n, m) / width - rest * rest;
    inv = (float)(1 / sqrt(var + (double)norm->epsilon));
    norm->mean[row] = m;
    norm->inv_std[row] = inv;
    for (; i + PR_LANES <= n; i += PR_LANES)
        normalise_columns(norm, x, m, inv, i, PR_LANES, y);
    if (i < n)
        normalise_columns(norm, x, m, inv, i, n - i, y);
}

PR_INLINE void row_norm_forward_body(void *ctx, unsigned thread,
                                     unsigned threads)
{
    const struct job *j = ctx;
    size_t n = j->norm->width, from, to;

    pr_threads_part(j->norm->rows, 1, thread, threads, &from, &to);
    for (size_t r = from; r < to; r++)
        row_norm_forward_row(j->norm, r, j->x + r * n, j->out + r * n);
}
PR_KERNEL(row_norm_forward)

void pr_kernel_layer_norm(const struct pr_threads *p,
                          const struct pr_row_norm *norm, const float *x,
                          float *y)
{
    struct job j = {.par = p, .norm = norm, .x = x, .out = y};

    pr_kernel_run(p, norm->rows * norm->width, row_norm_forward(), &j);
}

/* ---- sums over rows */

/* Of columns; arrays have room for whole vectors. */
struct sums {
    double *gamma, *beta;
    float *few_gamma, *few_beta;
    size_t width;
};

static size_t row_sums_bytes(size_t width)
{
    return pr_round_up(width, PR_LANES) * 2 * (sizeof(double) + sizeof(float));
}

static void row_sums_at(void *memory, size_t width, struct sums *ret)
{
    size_t n = pr_round_up(width, PR_LANES);

    ret->gamma = memory;
    ret->beta = ret->gamma + n;
    ret->few_gamma = (float *)(ret->beta + n);
    ret->few_beta = ret->few_gamma + n;
    ret->width = width;
}

PR_INLINE void row_sums_flush(const struct sums *s)
{
    for (size_t i = 0; i < s->width; i += PR_DLANES) {
        PR_DPUT(s->gamma + i,
                PR_DAT(s->gamma + i) + PR_TO_DOUBLE(s->few_gamma + i));
        PR_DPUT(s->beta + i,
                PR_DAT(s->beta + i) + PR_TO_DOUBLE(s->few_beta + i));
    }
    memset(s->few_gamma, 0,
           pr_round_up(s->width, PR_LANES) * 2 * sizeof(float));
}

PR_INLINE void row_sums_add_column(const struct sums *s, const float *x,
                                   const float *dy, float mean, float inv,
                                   size_t i, size_t count)
{
    pr_vec h, g;

    pr_row_load(x + i, count, mean, &h);
    pr_row_load(dy + i, count, 0, &g);
    h = (h - mean) * inv;
    PR_PUT(s->few_gamma + i, PR_AT(s->few_gamma + i) + g * h);
    PR_PUT(s->few_beta + i, PR_AT(s->few_beta + i) + g);
}

/* A row, or the columns of it that x and dy point to. */
PR_INLINE void row_sums_add(const struct sums *s, const float *x,
                            const float *dy, float mean, float inv)
{
    size_t i = 0;

    for (; i + PR_LANES <= s->width; i += PR_LANES)
        row_sums_add_column(s, x, dy, mean, inv, i, PR_LANES);
    if (i < s->width)
        row_sums_add_column(s, x, dy, mean, inv, i, s->width - i);
}

/* ---- backward */

/* What is summed over a row of t and of t * h. */
struct means {
    pr_vec t, th;
};

PR_INLINE void add_row_means(const struct job *j, const float *x,
                             const float *dy, float mean, float inv, size_t i,
                             size_t count, struct means *m)
{
    pr_vec h, t, g;

    pr_row_load(x + i, count, mean, &h);
    pr_row_load(dy + i, count, 0, &t);
    per_column(j->norm->gamma, i, count, 1, &g);
    h = (h - mean) * inv;
    t *= g;
    m->t += t;
    m->th += t * h;
}

/* The two means of a row. */
PR_INLINE void row_means(const struct job *j, const float *x, const float *dy,
                         float mean, float inv, float ret[static 2])
{
    size_t n = j->norm->width;
    pr_dvec t = {0}, th = {0};

    for (size_t at = 0; at < n; at += PR_ROW_PIECE) {
        size_t end = n - at < PR_ROW_PIECE ? n : at + PR_ROW_PIECE, i = at;
        struct means a = {{0}, {0}}, b = {{0}, {0}};

        for (; i + 2 * PR_LANES <= end; i += 2 * PR_LANES) {
            add_row_means(j, x, dy, mean, inv, i, PR_LANES, &a);
            add_row_means(j, x, dy, mean, inv, i + PR_LANES, PR_LANES, &b);
        }
        for (; i < end; i += PR_LANES)
            add_row_means(j, x, dy, mean, inv, i, end - i, &a);
        a.t += b.t;
        a.th += b.th;
        pr_vec_add_up(&a.t, &t);
        pr_vec_add_up(&a.th, &th);
    }
    ret[0] = (float)(pr_dvec_total(&t) / (double)n);
    ret[1] = (float)(pr_dvec_total(&th) / (double)n);
}

PR_INLINE void put_dx(const struct job *j, const float *x, const float *dy,
                      float mean, float inv, const float *means, size_t i,
                      size_t count, float *dx)
{
    pr_vec h, t, g;

    pr_row_load(x + i, count, 0, &h);
    pr_row_load(dy + i, count, 0, &t);
    per_column(j->norm->gamma, i, count, 1, &g);
    h = (h - mean) * inv;
    t = (t * g - means[0] - h * means[1]) * inv;
    pr_row_store(&t, dx + i, count);
}

PR_INLINE void dx_row(const struct job *j, const float *x, const float *dy,
                      float mean, float inv, float *dx)
{
    size_t n = j->norm->width, i = 0;
    float means[2];

    row_means(j, x, dy, mean, inv, means);
    for (; i + PR_LANES <= n; i += PR_LANES)
        put_dx(j, x, dy, mean, inv, means, i, PR_LANES, dx);
    if (i < n)
        put_dx(j, x, dy, mean, inv, means, i, n - i, dx);
}

PR_INLINE void row_norm_back_body(void *ctx, unsigned thread, unsigned threads)
{
    struct job *j = ctx;
    size_t n = j->norm->width, from, to;
    struct sums s = {0};

    if (thread == 0)
        j->threads = threads;
    if (j->sums) {
        void *memory = pr_threads_scratch(j->par, thread);

        memset(memory, 0, row_sums_bytes(n));
        row_sums_at(memory, n, &s);
    }
    pr_threads_part(j->norm->rows, 1, thread, threads, &from, &to);
    for (size_t r = from; r < to; r++) {
        const float *x = j->x + r * n, *dy = j->dy + r * n;
        float mean = j->norm->mean[r], inv = j->norm->inv_std[r];

        if (j->sums) {
            row_sums_add(&s, x, dy, mean, inv);
            if ((r - from) % FEW_ROWS == FEW_ROWS - 1 || r + 1 == to)
                row_sums_flush(&s);
        }
        if (j->out)
            dx_row(j, x, dy, mean, inv, j->out + r * n);
    }
}
PR_KERNEL(row_norm_back)

static void write_row_sums(const struct job *j, const struct sums *s, size_t at)
{
    for (size_t i = 0; i < s->width; i++) {
        if (j->dgamma)
            j->dgamma[at + i] = (float)s->gamma[i];
        if (j->dbeta)
            j->dbeta[at + i] = (float)s->beta[i];
    }
}

/* Puts the sums of all threads together, in their order. */
static void gather_row_sums(const struct job *j)
{
    struct sums all, s;

    row_sums_at(pr_threads_scratch(j->par, 0), j->norm->width, &all);
    for (unsigned k = 1; k < j->threads; k++) {
        row_sums_at(pr_threads_scratch(j->par, k), j->norm->width, &s);
        for (size_t i = 0; i < s.width; i++) {
            all.gamma[i] += s.gamma[i];
            all.beta[i] += s.beta[i];
        }
    }
    write_row_sums(j, &all, 0);
}

/* Sums of rows that are too wide for the memory of a thread: some columns of
 * all rows. */
PR_INLINE void row_norm_columns_body(void *ctx, unsigned thread,
                                     unsigned threads)
{
    enum { TILE = 4096 };
    const struct job *j = ctx;
    size_t n = j->norm->width, from, to;
    void *memory = pr_threads_scratch(j->par, thread);

    pr_threads_part(n, 64, thread, threads, &from, &to);
    for (size_t at = from; at < to; at += TILE) {
        struct sums s;

        row_sums_at(memory, to - at < TILE ? to - at : TILE, &s);
        memset(memory, 0, row_sums_bytes(s.width));
        for (size_t r = 0; r < j->norm->rows; r++) {
            row_sums_add(&s, j->x + r * n + at, j->dy + r * n + at,
                         j->norm->mean[r], j->norm->inv_std[r]);
            if (r % FEW_ROWS == FEW_ROWS - 1 || r + 1 == j->norm->rows)
                row_sums_flush(&s);
        }
        write_row_sums(j, &s, at);
    }
}
PR_KERNEL(row_norm_columns)

void pr_kernel_layer_norm_back(const struct pr_threads *p,
                               const struct pr_row_norm_back *b)
{
    size_t elements = b->norm->rows * b->norm->width;
    bool wanted = b->dgamma || b->dbeta;
    bool fits = row_sums_bytes(b->norm->width) <= PR_THREADS_SCRATCH_BYTES;
    struct job j = {
        .par = p,
        .norm = b->norm,
        .x = b->x,
        .dy = b->dy,
        .out = b->dx,
        .dgamma = b->dgamma,
        .dbeta = b->dbeta,
        .sums = wanted && fits,
    };

    if (wanted && !fits) /* before dx is written over dy */
        pr_kernel_run(p, elements, row_norm_columns(), &j);
    if (j.sums || b->dx)
        pr_kernel_run(p, elements, row_norm_back(), &j);
    if (j.sums)
        gather_row_sums(&j);
}
