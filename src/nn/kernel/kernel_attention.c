/*
 * Attention: additive, and of several heads.
 *
 * Of several heads: a thread takes a head of a sample, some queries at a time,
 * so that their scores stay in its cache; columns of a head are reached where
 * they lie. Probabilities are kept for backward: to read them again takes less
 * than to compute them again. Keys that no query of a piece sees are left out
 * of the products.
 */
#include "nn/kernel/kernel_attention.h"

#include "nn/kernel/kernel_row.h"

#include <math.h>
#include <string.h>

/* ---- additive. The hyperbolic tangents, of each query with each key, are by
 * far the most of the work; to compute them again on the way back takes less
 * than to keep them. */

struct additive_job {
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
    const struct additive_job *j = ctx;
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
    struct additive_job j = {.a = a, .y = y};

    pr_kernel_run(par, a->samples * a->queries * a->keys * a->width,
                  additive_forward(), &j);
}

/* ---- additive: backward */

size_t pr_kernel_additive_work(const struct pr_additive *a)
{
    return a->samples * (a->queries * a->keys + a->width);
}

/* Gradients of the scores. */
PR_INLINE void additive_scores_back_body(void *ctx, unsigned thread,
                                         unsigned threads)
{
    const struct additive_job *j = ctx;
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
    const struct additive_job *j = ctx;
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
enum { ADDITIVE_LINE = 16 };

/* One vector of columns: rows q, k; sums over all pairs. With u = ds * (1 -
 * tanh²): dq = w * sum over keys of u, dk = w * sum over queries of u, dw = sum
 * of ds * tanh. */
PR_INLINE void additive_pair_columns(const struct additive_job *j,
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
    const struct additive_job *j = ctx;
    size_t width = j->a->width,
           lines = (width + ADDITIVE_LINE - 1) / ADDITIVE_LINE, from, to;

    pr_threads_part(j->a->samples * lines, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t c = i % lines * ADDITIVE_LINE;

        for (size_t k = 0; k < ADDITIVE_LINE && c < width;
             k += PR_LANES, c += PR_LANES)
            if (width - c >= PR_LANES)
                additive_pair_columns(j, i / lines, c, PR_LANES);
            else
                additive_pair_columns(j, i / lines, c, width - c);
    }
}
PR_KERNEL(additive_pairs_back)

static void sum_additive_weights(const struct additive_job *j, float *to)
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
    struct additive_job j = {
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

/* ---- of several heads */

struct job {
    const struct pr_threads *par;
    const struct pr_onednn *dnn;
    const struct pr_attention *a;
    const struct pr_attention_back *b;
    float *y;
    int rc; /* of a product that failed */
};

/* A head of a sample. */
struct head {
    const struct pr_attention *a;
    size_t q, k, v, y; /* where it begins in these */
    float *p;          /* its probabilities, or NULL */
    size_t keys;       /* that count */
};

/* Some of its queries: [from, to), which see keys [0, keys) together. */
struct piece {
    size_t from, to, keys;
};

/* Queries that are taken at a time. */
static size_t queries_per_piece(const struct pr_attention *a)
{
    enum { FLOATS = 64 * 1024, FEW = 64 };
    size_t n = a->causal ? FEW : FLOATS / a->keys;

    n = n < FEW ? FEW : n;
    return n < a->queries ? n : a->queries;
}

static size_t work_each(const struct pr_attention *a)
{
    enum { LINE = 16 };

    return (queries_per_piece(a) * a->keys + LINE - 1) / LINE * LINE;
}

size_t pr_kernel_attention_work(const struct pr_threads *par,
                                const struct pr_attention *a)
{
    return pr_threads_count(par) * work_each(a);
}

static void head_at(const struct pr_attention *a, size_t i, struct head *ret)
{
    size_t n = i / a->heads, h = i % a->heads;

    *ret = (struct head){
        .a = a,
        .q = n * a->queries * a->ldq + h * a->width,
        .k = n * a->keys * a->ldk + h * a->width,
        .v = n * a->keys * a->ldv + h * a->value_width,
        .y = n * a->queries * a->ldy + h * a->value_width,
        .p = a->p ? a->p + i * a->queries * a->keys : NULL,
        .keys = a->lengths ? (size_t)a->lengths[n] : a->keys,
    };
}

static size_t lesser_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void piece_at(const struct head *h, size_t i, struct piece *ret)
{
    size_t rows = queries_per_piece(h->a);

    ret->from = i * rows;
    ret->to = lesser_size(ret->from + rows, h->a->queries);
    ret->keys = h->a->causal ? lesser_size(ret->to, h->keys) : h->keys;
}

static size_t count_query_pieces(const struct pr_attention *a)
{
    size_t rows = queries_per_piece(a);

    return (a->queries + rows - 1) / rows;
}

/* Keys that query i sees. */
PR_INLINE size_t count_seen_keys(const struct head *h, size_t i)
{
    return h->a->causal && i + 1 < h->keys ? i + 1 : h->keys;
}

static float score_scale(const struct pr_attention *a)
{
    return (float)(1 / sqrt((double)a->width));
}

/* c = alpha * a * b + beta * c of the piece; a failure is kept. */
static void multiply_piece(struct job *j, struct pr_gemm g)
{
    int rc = pr_onednn_gemm(j->dnn, &g, NULL);

    if (rc)
        __atomic_store_n(&j->rc, rc, __ATOMIC_RELAXED);
}

static void compute_scores(struct job *j, const struct head *h,
                           const struct piece *p, float *to)
{
    const struct pr_attention *a = h->a;

    multiply_piece(j, (struct pr_gemm){
                          .turn_b = true,
                          .m = (int64_t)(p->to - p->from),
                          .n = (int64_t)p->keys,
                          .k = (int64_t)a->width,
                          .alpha = score_scale(a),
                          .a = a->q + h->q + p->from * a->ldq,
                          .b = a->k + h->k,
                          .c = to,
                          .lda = (int64_t)a->ldq,
                          .ldb = (int64_t)a->ldk,
                          .ldc = (int64_t)a->keys,
                      });
}

static void weigh_values(struct job *j, const struct head *h,
                         const struct piece *p, const float *prob)
{
    const struct pr_attention *a = h->a;

    multiply_piece(j, (struct pr_gemm){
                          .m = (int64_t)(p->to - p->from),
                          .n = (int64_t)a->value_width,
                          .k = (int64_t)p->keys,
                          .alpha = 1,
                          .a = prob,
                          .b = a->v + h->v,
                          .c = j->y + h->y + p->from * a->ldy,
                          .lda = (int64_t)a->keys,
                          .ldb = (int64_t)a->ldv,
                          .ldc = (int64_t)a->ldy,
                      });
}

PR_INLINE void attend_heads_body(void *ctx, unsigned thread, unsigned threads)
{
    struct job *j = ctx;
    const struct pr_attention *a = j->a;
    size_t from, to;

    pr_threads_part(a->samples * a->heads, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        struct head h;

        head_at(a, i, &h);
        for (size_t k = 0; k < count_query_pieces(a); k++) {
            struct piece p;
            float *prob;

            piece_at(&h, k, &p);
            prob =
                h.p ? h.p + p.from * a->keys : a->work + thread * work_each(a);
            compute_scores(j, &h, &p, prob);
            for (size_t r = p.from; r < p.to; r++) {
                float *row = prob + (r - p.from) * a->keys;
                size_t n = count_seen_keys(&h, r);

                pr_row_softmax(row, n);
                memset(row + n, 0, (p.keys - n) * sizeof *row);
            }
            weigh_values(j, &h, &p, prob);
        }
    }
}
PR_KERNEL(attend_heads)

static int run_attention(struct job *j, pr_threads_fn *fn, struct pr_err *err)
{
    const struct pr_attention *a = j->a;

    pr_kernel_run(j->par, a->samples * a->heads * a->queries * a->keys, fn, j);
    if (j->rc == PR_E_NOMEM)
        return pr_fail_nomem(err);
    return j->rc ? pr_fail(err, j->rc, "oneDNN",
                           "a product of matrices in attention failed")
                 : PR_OK;
}

int pr_kernel_attention(const struct pr_threads *par, const struct pr_onednn *d,
                        const struct pr_attention *a, float *y,
                        struct pr_err *err)
{
    struct job j = {.par = par, .dnn = d, .a = a, .y = y};

    return run_attention(&j, attend_heads(), err);
}

/* ---- backward: with s the scores, p = softmax(s), dp = dy v^T,
 *     ds = p * (dp - sum(p * dp)),
 *     dv = p^T dy, dq = ds k / sqrt(width), dk = ds^T q / sqrt(width) */

static void compute_score_slopes(struct job *j, const struct head *h,
                                 const struct piece *p, float *to)
{
    const struct pr_attention *a = h->a;

    multiply_piece(j, (struct pr_gemm){
                          .turn_b = true,
                          .m = (int64_t)(p->to - p->from),
                          .n = (int64_t)p->keys,
                          .k = (int64_t)a->value_width,
                          .alpha = 1,
                          .a = j->b->dy + h->y + p->from * a->ldy,
                          .b = a->v + h->v,
                          .c = to,
                          .lda = (int64_t)a->ldy,
                          .ldb = (int64_t)a->ldv,
                          .ldc = (int64_t)a->keys,
                      });
}

/* x is [queries of the piece, keys]: to = x^T of, over all pieces. The last
 * one comes first, as it has all keys. */
static void multiply_to_keys(struct job *j, const struct head *h,
                             const struct piece *p, const float *x,
                             const float *of, size_t ldof, size_t width,
                             float *to, size_t ldto)
{
    multiply_piece(j, (struct pr_gemm){
                          .turn_a = true,
                          .m = (int64_t)p->keys,
                          .n = (int64_t)width,
                          .k = (int64_t)(p->to - p->from),
                          .alpha = 1,
                          .beta = p->to == h->a->queries ? 0 : 1,
                          .a = x,
                          .b = of,
                          .c = to,
                          .lda = (int64_t)h->a->keys,
                          .ldb = (int64_t)ldof,
                          .ldc = (int64_t)ldto,
                      });
}

static void multiply_to_queries(struct job *j, const struct head *h,
                                const struct piece *p, const float *ds)
{
    const struct pr_attention *a = h->a;

    multiply_piece(j, (struct pr_gemm){
                          .m = (int64_t)(p->to - p->from),
                          .n = (int64_t)a->width,
                          .k = (int64_t)p->keys,
                          .alpha = 1,
                          .a = ds,
                          .b = a->k + h->k,
                          .c = j->b->dq + h->q + p->from * a->ldq,
                          .lda = (int64_t)a->keys,
                          .ldb = (int64_t)a->ldk,
                          .ldc = (int64_t)a->ldq,
                      });
}

/* Keys that nobody saw. */
static void clear_keys(const struct job *j, const struct head *h, size_t from)
{
    const struct pr_attention *a = h->a;

    for (size_t i = from; i < a->keys; i++) {
        if (j->b->dk)
            memset(j->b->dk + h->k + i * a->ldk, 0, a->width * sizeof(float));
        if (j->b->dv)
            memset(j->b->dv + h->v + i * a->ldv, 0,
                   a->value_width * sizeof(float));
    }
}

PR_INLINE void attend_piece_back(struct job *j, const struct head *h,
                                 const struct piece *p, float *ds)
{
    const struct pr_attention *a = h->a;
    const struct pr_attention_back *b = j->b;
    const float *prob = h->p + p->from * a->keys;
    float scale = score_scale(a);

    if (b->dv)
        multiply_to_keys(j, h, p, prob, b->dy + h->y + p->from * a->ldy, a->ldy,
                         a->value_width, b->dv + h->v, a->ldv);
    if (!b->dq && !b->dk)
        return;
    compute_score_slopes(j, h, p, ds);
    for (size_t r = p->from; r < p->to; r++) {
        float *row = ds + (r - p->from) * a->keys;
        size_t n = count_seen_keys(h, r);

        pr_row_softmax_back(h->p + r * a->keys, n, scale, row);
        memset(row + n, 0, (p->keys - n) * sizeof *row);
    }
    if (b->dq)
        multiply_to_queries(j, h, p, ds);
    if (b->dk)
        multiply_to_keys(j, h, p, ds, a->q + h->q + p->from * a->ldq, a->ldq,
                         a->width, b->dk + h->k, a->ldk);
}

PR_INLINE void attend_heads_back_body(void *ctx, unsigned thread,
                                      unsigned threads)
{
    struct job *j = ctx;
    const struct pr_attention *a = j->a;
    size_t from, to;

    pr_threads_part(a->samples * a->heads, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t last = count_query_pieces(a) - 1;
        struct piece p;
        struct head h;

        head_at(a, i, &h);
        piece_at(&h, last, &p);
        clear_keys(j, &h, p.keys);
        for (size_t k = last + 1; k-- > 0;) {
            piece_at(&h, k, &p);
            attend_piece_back(j, &h, &p, a->work + thread * work_each(a));
        }
    }
}
PR_KERNEL(attend_heads_back)

int pr_kernel_attention_back(const struct pr_threads *par,
                             const struct pr_onednn *d,
                             const struct pr_attention *a,
                             const struct pr_attention_back *b,
                             struct pr_err *err)
{
    struct job j = {.par = par, .dnn = d, .a = a, .b = b};

    return run_attention(&j, attend_heads_back(), err);
}
