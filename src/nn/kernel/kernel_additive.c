/*
 * Additive attention. The hyperbolic tangents, of each query with each key,
 * are by far the most of the work; to compute them again on the way back takes
 * less than to keep them.
 */
#include "nn/kernel/kernel_row.h"
#include "nn/kernel/kernels_attention.h"

#include <string.h>

struct kernel_additive_job {
    const struct pr_additive *a;
    const struct pr_additive_back *b;
    float *y;
    float *ds; /* [samples, queries, keys] */
    float *dw; /* [samples, width] */
};

static size_t count_sample_keys(const struct pr_additive *a, size_t sample)
{
    return a->lengths ? (size_t)a->lengths[sample] : a->keys;
}

PR_INLINE void add_score(const float *q, const float *k, const float *w,
                         size_t i, size_t count, pr_vec *sum)
{
    pr_vec x, y, z;

    pr_row_load(q + i, count, 0, &x);
    pr_row_load(k + i, count, 0, &y);
    pr_row_load(w + i, count, 0, &z);
    x += y;
    pr_vec_tangent(&x);
    *sum += z * x;
}

PR_INLINE float additive_score(const float *q, const float *k, const float *w,
                               size_t n)
{
    pr_vec s = {0}, t = {0};
    size_t i = 0;

    for (; i + 2 * PR_LANES <= n; i += 2 * PR_LANES) {
        add_score(q, k, w, i, PR_LANES, &s);
        add_score(q, k, w, i + PR_LANES, PR_LANES, &t);
    }
    for (; i < n; i += PR_LANES)
        add_score(q, k, w, i, n - i, &s);
    s += t;
    return pr_vec_total(&s);
}

/* to = sum of p[i * step] * x[i], n of them, columns [from, end) */
PR_INLINE void weigh_rows(const float *p, size_t step, size_t n, const float *x,
                          size_t width, size_t from, size_t end, float *to)
{
    size_t c = from;

    for (; c + 2 * PR_LANES <= end; c += 2 * PR_LANES) {
        pr_vec s = {0}, t = {0};

        for (size_t i = 0; i < n; i++) {
            s += PR_AT(x + i * width + c) * p[i * step];
            t += PR_AT(x + i * width + c + PR_LANES) * p[i * step];
        }
        PR_PUT(to + c, s);
        PR_PUT(to + c + PR_LANES, t);
    }
    for (; c < end; c++) {
        float s = 0;

        for (size_t i = 0; i < n; i++)
            s += x[i * width + c] * p[i * step];
        to[c] = s;
    }
}

PR_INLINE void additive_forward_body(void *ctx, unsigned thread,
                                     unsigned threads)
{
    const struct kernel_additive_job *j = ctx;
    const struct pr_additive *a = j->a;
    size_t from, to;

    pr_threads_part(a->samples * a->queries, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t sample = i / a->queries, n = count_sample_keys(a, sample);
        const float *k = a->k + sample * a->keys * a->width;
        const float *v = a->v + sample * a->keys * a->value_width;
        float *p = a->p + i * a->keys;

        for (size_t r = 0; r < n; r++)
            p[r] = additive_score(a->q + i * a->width, k + r * a->width, a->w,
                                  a->width);
        pr_row_softmax(p, n);
        memset(p + n, 0, (a->keys - n) * sizeof *p);
        weigh_rows(p, 1, n, v, a->value_width, 0, a->value_width,
                   j->y + i * a->value_width);
    }
}
PR_KERNEL(additive_forward)

void pr_kernel_additive(const struct pr_threads *par,
                        const struct pr_additive *a, float *y)
{
    struct kernel_additive_job j = {.a = a, .y = y};

    pr_kernel_run(par, a->samples * a->queries * a->keys * a->width,
                  additive_forward(), &j);
}

/* ---- backward */

size_t pr_kernel_additive_work(const struct pr_additive *a)
{
    return a->samples * (a->queries * a->keys + a->width);
}

/* Gradients of the scores. */
PR_INLINE void additive_scores_back_body(void *ctx, unsigned thread,
                                         unsigned threads)
{
    const struct kernel_additive_job *j = ctx;
    const struct pr_additive *a = j->a;
    size_t width = a->value_width, from, to;

    pr_threads_part(a->samples * a->queries, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t sample = i / a->queries, n = count_sample_keys(a, sample);
        const float *v = a->v + sample * a->keys * width;
        float *ds = j->ds + i * a->keys;

        for (size_t r = 0; r < n; r++)
            ds[r] =
                (float)pr_row_dot(j->b->dy + i * width, v + r * width, width);
        pr_row_softmax_back(a->p + i * a->keys, n, 1, ds);
    }
}
PR_KERNEL(additive_scores_back)

/* dv = p^T dy; by samples and keys. */
PR_INLINE void additive_values_back_body(void *ctx, unsigned thread,
                                         unsigned threads)
{
    const struct kernel_additive_job *j = ctx;
    const struct pr_additive *a = j->a;
    size_t width = a->value_width, from, to;

    pr_threads_part(a->samples * a->keys, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t sample = i / a->keys;

        weigh_rows(a->p + sample * a->queries * a->keys + i % a->keys, a->keys,
                   a->queries, j->b->dy + sample * a->queries * width, width, 0,
                   width, j->b->dv + i * width);
    }
}
PR_KERNEL(additive_values_back)

/* Columns of a sample, a cache line of them or less. */
enum { KERNEL_ADDITIVE_LINE = 16 };

/* One vector of columns: rows q, k; sums over all pairs. With u = ds * (1 -
 * tanh²): dq = w * sum over keys of u, dk = w * sum over queries of u, dw = sum
 * of ds * tanh. */
PR_INLINE void additive_pair_columns(const struct kernel_additive_job *j,
                                     size_t sample, size_t c, size_t count)
{
    const struct pr_additive *a = j->a;
    const float *q = a->q + sample * a->queries * a->width + c;
    const float *k = a->k + sample * a->keys * a->width + c;
    float *dq = j->b->dq ? j->b->dq + (q - a->q) : NULL;
    float *dk = j->b->dk ? j->b->dk + (k - a->k) : NULL;
    size_t n = count_sample_keys(a, sample);
    pr_vec zero = {0}, dw = {0}, w, x, y, u;

    pr_row_load(a->w + c, count, 0, &w);
    for (size_t r = 0; dk && r < a->keys; r++)
        pr_row_store(&zero, dk + r * a->width, count);
    for (size_t i = 0; i < a->queries; i++) {
        const float *ds = j->ds + (sample * a->queries + i) * a->keys;
        pr_vec sum = {0};

        pr_row_load(q + i * a->width, count, 0, &x);
        for (size_t r = 0; r < n; r++) {
            pr_row_load(k + r * a->width, count, 0, &y);
            y += x;
            pr_vec_tangent(&y);
            dw += y * ds[r];
            u = (1 - y * y) * ds[r] * w;
            sum += u;
            if (dk) {
                pr_row_load(dk + r * a->width, count, 0, &y);
                y += u;
                pr_row_store(&y, dk + r * a->width, count);
            }
        }
        if (dq)
            pr_row_store(&sum, dq + i * a->width, count);
    }
    pr_row_store(&dw, j->dw + sample * a->width + c, count);
}

PR_INLINE void additive_pairs_back_body(void *ctx, unsigned thread,
                                        unsigned threads)
{
    const struct kernel_additive_job *j = ctx;
    size_t width = j->a->width,
           lines = (width + KERNEL_ADDITIVE_LINE - 1) / KERNEL_ADDITIVE_LINE,
           from, to;

    pr_threads_part(j->a->samples * lines, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t c = i % lines * KERNEL_ADDITIVE_LINE;

        for (size_t k = 0; k < KERNEL_ADDITIVE_LINE && c < width;
             k += PR_LANES, c += PR_LANES)
            if (width - c >= PR_LANES)
                additive_pair_columns(j, i / lines, c, PR_LANES);
            else
                additive_pair_columns(j, i / lines, c, width - c);
    }
}
PR_KERNEL(additive_pairs_back)

static void sum_additive_weights(const struct kernel_additive_job *j, float *to)
{
    size_t width = j->a->width;

    for (size_t c = 0; c < width; c++) {
        double sum = 0;

        for (size_t i = 0; i < j->a->samples; i++)
            sum += (double)j->dw[i * width + c];
        to[c] = (float)sum;
    }
}

void pr_kernel_additive_back(const struct pr_threads *par,
                             const struct pr_additive *a,
                             const struct pr_additive_back *b)
{
    size_t scored = a->samples * a->queries * a->keys;
    struct kernel_additive_job j = {
        .a = a, .b = b, .ds = b->work, .dw = b->work + scored};

    if (b->dv)
        pr_kernel_run(par, scored * a->value_width, additive_values_back(), &j);
    if (!b->dq && !b->dk && !b->dw)
        return;
    pr_kernel_run(par, scored * a->value_width, additive_scores_back(), &j);
    pr_kernel_run(par, scored * a->width, additive_pairs_back(), &j);
    if (b->dw)
        sum_additive_weights(&j, b->dw);
}
