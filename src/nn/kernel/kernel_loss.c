/*
 * Cross entropy of rows, and losses of single numbers. A thread leaves its sums
 * in its own memory; they are added up in the order of threads.
 */
#include "nn/kernel/kernel_logits.h"
#include "nn/kernel/losses.h"

#include <math.h>

/* Of one thread. */
struct part {
    double loss;
    uint64_t right;
};

struct job {
    const struct pr_threads *par;
    const struct pr_loss_rows *l;
    double scale; /* of each row, or number */
    float *dy;    /* kl: of the other one */
};

/* Runs it, and adds up what threads have left. Few elements take no longer than
 * starting threads does. */
static struct part run_loss_loop(struct job *j, size_t elements,
                                 pr_threads_fn *fn)
{
    enum { FEW = 14 * 1024 };
    unsigned threads = elements < FEW ? 1 : pr_threads_count(j->par);
    struct part all = {0};

    for (unsigned i = 0; i < threads; i++)
        *(struct part *)pr_threads_scratch(j->par, i) = all;
    if (threads == 1)
        fn(j, 0, 1);
    else
        pr_threads_run(j->par, fn, j);
    for (unsigned i = 0; i < threads; i++) {
        const struct part *part = pr_threads_scratch(j->par, i);

        all.loss += part->loss;
        all.right += part->right;
    }
    return all;
}

/* ---- cross entropy */

/* What a row counts; 0: not at all. */
PR_INLINE double row_weight(const struct pr_loss_rows *l, size_t row)
{
    if (l->ignore >= 0 && l->ids[row] == l->ignore)
        return 0;
    return l->weights ? (double)l->weights[row] : 1;
}

PR_INLINE void row_fill(float *x, size_t c, float value)
{
    for (size_t i = 0; i < c; i++)
        x[i] = value;
}

/* The id is the first of the largest. */
PR_INLINE bool is_right(const float *x, size_t id, float max)
{
    return x[id] >= max && (id == 0 || pr_row_max(x, id) < max);
}

/* The sum of x - max. */
PR_INLINE double row_below(const float *x, size_t c, float max)
{
    pr_dvec sum = {0};
    pr_vec v;

    for (size_t i = 0; i < c; i += PR_LANES) {
        pr_row_load(x + i, c - i, max, &v);
        v -= max;
        pr_vec_add_up(&v, &sum);
    }
    return pr_dvec_total(&sum);
}

/* dx: exp(x - max); becomes g * (softmax - wanted). */
PR_INLINE void entropy_row_gradient(const struct pr_loss_rows *l, size_t id,
                                    double sum, double g, float *dx)
{
    double spread = l->smoothing / (double)l->width;
    double at = (double)dx[id] / sum - (1 - l->smoothing) - spread;

    pr_logits_scale(dx, l->width, (float)(g / sum), (float)(-g * spread));
    dx[id] = (float)(g * at);
}

/* x and dx may be the same: x is read for the last time when dx is written. */
PR_INLINE void entropy_row(const struct job *j, size_t row, double weight,
                           struct part *part)
{
    const struct pr_loss_rows *l = j->l;
    const float *x = l->x + row * l->width;
    float *dx = l->dx ? l->dx + row * l->width : NULL;
    size_t id = (size_t)l->ids[row];
    double sum, loss, below;
    float max;

    if (l->ids[row] < 0 || id >= l->width) {
        part->loss = NAN;
        if (dx)
            row_fill(dx, l->width, NAN);
        return;
    }
    max = pr_row_max(x, l->width);
    part->right += is_right(x, id, max);
    below = (double)x[id] - (double)max;
    if (l->smoothing != 0)
        below = (1 - l->smoothing) * below +
                l->smoothing * row_below(x, l->width, max) / (double)l->width;
    sum = pr_logits_exp(x, l->width, max, row + 1 < l->rows ? l->width : 0, dx);
    loss = log(sum) - below;
    part->loss += weight * loss;
    if (dx)
        entropy_row_gradient(l, id, sum, weight * j->scale, dx);
}

PR_INLINE void row_entropy_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    const struct pr_loss_rows *l = j->l;
    struct part *out = pr_threads_scratch(j->par, thread);
    struct part part = {0};
    size_t from, to;

    pr_threads_part(l->rows, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        double weight = row_weight(l, i);

        if (weight != 0)
            entropy_row(j, i, weight, &part);
        else if (l->dx)
            row_fill(l->dx + i * l->width, l->width, 0);
    }
    *out = part;
}
PR_KERNEL(row_entropy)

double pr_kernel_cross_entropy(const struct pr_threads *p,
                               const struct pr_loss_rows *l, uint64_t *ret_rows,
                               uint64_t *ret_right)
{
    struct job j = {p, l, l->factor, NULL};
    struct part all;
    double weights = 0;
    uint64_t rows = 0;

    for (size_t i = 0; i < l->rows; i++) {
        double weight = row_weight(l, i);

        weights += weight;
        rows += weight != 0;
    }
    if (!l->sum && rows)
        j.scale /= weights;
    all = run_loss_loop(&j, l->rows * l->width, row_entropy());
    *ret_rows = rows;
    *ret_right = all.right;
    return rows ? all.loss * j.scale : 0;
}

/* ---- numbers: what one costs, and the slope */

PR_INLINE void mse_loss_one(const pr_vec *x, const pr_vec *y, float beta,
                            pr_vec *loss, pr_vec *slope)
{
    pr_vec d = *x - *y;

    (void)beta;
    *loss = d * d;
    *slope = 2 * d;
}

PR_INLINE void smooth_l1_loss_one(const pr_vec *x, const pr_vec *y, float beta,
                                  pr_vec *loss, pr_vec *slope)
{
    pr_vec d = *x - *y, one = PR_ALL(1.f);
    pr_ivec minus = PR_BITS(d) & INT32_MIN;
    pr_vec size = (pr_vec)(PR_BITS(d) ^ minus);
    pr_ivec near = size < beta, off = d != 0;
    pr_vec curve = size * size * (0.5f / beta), line = size - 0.5f * beta;
    pr_vec sign = (pr_vec)((PR_BITS(one) | minus) & off);

    *loss = (pr_vec)((PR_BITS(curve) & near) | (PR_BITS(line) & ~near));
    d *= 1 / beta;
    *slope = (pr_vec)((PR_BITS(d) & near) | (PR_BITS(sign) & ~near));
}

/* log(1 + u) of u from 0 to 1: with s = u / (2 + u) it is 2 atanh(s). */
PR_INLINE void log_after_one(const pr_vec *u, pr_vec *ret)
{
    pr_vec s = *u / (2 + *u), q = s * s, p;

    p = q * (1 / 15.f) + 1 / 13.f;
    p = p * q + 1 / 11.f;
    p = p * q + 1 / 9.f;
    p = p * q + 1 / 7.f;
    p = p * q + 1 / 5.f;
    p = p * q + 1 / 3.f;
    p = p * q * s + s;
    *ret = 2 * p;
}

/* With u = exp(-|x|): log(1 + exp(x)) = max(x, 0) + log(1 + u), and the same
 * with -x. */
PR_INLINE void bce_loss_one(const pr_vec *x, const pr_vec *y, float beta,
                            pr_vec *loss, pr_vec *slope)
{
    pr_ivec above = *x > 0;
    pr_vec down = (pr_vec)(PR_BITS(*x) | INT32_MIN), u, more, sigmoid;
    pr_vec up = (pr_vec)(PR_BITS(*x) & above), one = PR_ALL(1.f);
    pr_vec low = (pr_vec)(PR_BITS(-*x) & ~above);

    (void)beta;
    pr_vec_exp_down(&down, &u);
    log_after_one(&u, &more);
    *loss = *y * low + (1 - *y) * up + more;
    sigmoid = (pr_vec)((PR_BITS(one) & above) | (PR_BITS(u) & ~above));
    *slope = sigmoid / (1 + u) - *y;
}

/* x is the mean, y the log of the variance; e is exp(y) - 1, infinite where
 * that does not fit. */
PR_INLINE void kl_loss_one(const pr_vec *x, const pr_vec *y, pr_vec *loss,
                           pr_vec *slope_y)
{
    pr_ivec high = *y > 88;
    pr_vec scale, rest, e, most = PR_ALL(INFINITY);

    pr_vec_exp_parts(y, &scale, &rest);
    e = scale * rest + (scale - 1);
    e = (pr_vec)((PR_BITS(e) & ~high) | (PR_BITS(most) & high));
    *loss = 0.5f * (*x * *x + (e - *y));
    *slope_y = 0.5f * e;
}

PR_INLINE void part_add(const pr_vec *v, size_t count, pr_dvec *sum)
{
    float all[PR_LANES];
    pr_vec some;

    if (count == PR_LANES) {
        pr_vec_add_up(v, sum);
        return;
    }
    PR_PUT(all, *v);
    pr_row_load(all, count, 0, &some);
    pr_vec_add_up(&some, sum);
}

/* Elements at, of which the first count are there. */
#define ONE(name)                                                          \
    PR_INLINE void name##_at(const struct job *j, size_t at, size_t count, \
                             double weight, pr_dvec *sum)                  \
    {                                                                      \
        const struct pr_loss_rows *l = j->l;                               \
        pr_vec x, y = PR_ALL(l->value), loss, slope;                       \
                                                                           \
        pr_row_load(l->x + at, count, 0, &x);                              \
        if (l->y)                                                          \
            pr_row_load(l->y + at, count, 0, &y);                          \
        name##_one(&x, &y, (float)l->beta, &loss, &slope);                 \
        slope *= (float)(j->scale * weight);                               \
        if (l->dx)                                                         \
            pr_row_store(&slope, l->dx + at, count);                       \
        part_add(&loss, count, sum);                                       \
    }

/* Elements [from, to), all with the same weight; and all those of a thread,
 * which are cut in rows only where these have weights. */
#define NUMBERS(name)                                                          \
    PR_INLINE double name##_range(const struct job *j, size_t from, size_t to, \
                                  double weight)                               \
    {                                                                          \
        pr_dvec sum = {0};                                                     \
        size_t i = from;                                                       \
                                                                               \
        for (; i + PR_LANES <= to; i += PR_LANES)                              \
            name##_at(j, i, PR_LANES, weight, &sum);                           \
        if (i < to)                                                            \
            name##_at(j, i, to - i, weight, &sum);                             \
        return weight * pr_dvec_total(&sum);                                   \
    }                                                                          \
    PR_INLINE void name##_body(void *ctx, unsigned thread, unsigned n)         \
    {                                                                          \
        const struct job *j = ctx;                                             \
        const struct pr_loss_rows *l = j->l;                                   \
        struct part *out = pr_threads_scratch(j->par, thread);                 \
        size_t w = l->width, from, to;                                         \
        double loss = 0;                                                       \
                                                                               \
        if (!l->weights) {                                                     \
            pr_threads_part(l->rows *w, GRAIN, thread, n, &from, &to);         \
            out->loss = name##_range(j, from, to, 1);                          \
            return;                                                            \
        }                                                                      \
        pr_threads_part(l->rows, 1, thread, n, &from, &to);                    \
        for (size_t i = from; i < to; i++)                                     \
            loss += name##_range(j, i * w, i * w + w, (double)l->weights[i]);  \
        out->loss = loss;                                                      \
    }                                                                          \
    PR_KERNEL(name)

enum { GRAIN = 1024 };
ONE(mse_loss)
NUMBERS(mse_loss)
ONE(bce_loss)
NUMBERS(bce_loss)
ONE(smooth_l1_loss)
NUMBERS(smooth_l1_loss)

PR_INLINE void kl_loss_at(const struct job *j, size_t at, size_t count,
                          double weight, pr_dvec *sum)
{
    const struct pr_loss_rows *l = j->l;
    pr_vec x, y, loss, slope;

    (void)weight;
    pr_row_load(l->x + at, count, 0, &x);
    pr_row_load(l->y + at, count, 0, &y);
    kl_loss_one(&x, &y, &loss, &slope);
    x *= (float)j->scale;
    slope *= (float)j->scale;
    if (l->dx)
        pr_row_store(&x, l->dx + at, count);
    if (j->dy)
        pr_row_store(&slope, j->dy + at, count);
    part_add(&loss, count, sum);
}
NUMBERS(kl_loss)

static double number_loss(const struct pr_threads *p,
                          const struct pr_loss_rows *l, pr_threads_fn *fn)
{
    size_t count = l->rows * l->width;
    struct job j = {p, l, l->factor, NULL};

    if (count == 0)
        return 0;
    if (!l->sum)
        j.scale /= (double)count;
    return run_loss_loop(&j, count, fn).loss * j.scale;
}

double pr_kernel_mse(const struct pr_threads *p, const struct pr_loss_rows *l)
{
    return number_loss(p, l, mse_loss());
}

double pr_kernel_bce(const struct pr_threads *p, const struct pr_loss_rows *l)
{
    return number_loss(p, l, bce_loss());
}

double pr_kernel_smooth_l1(const struct pr_threads *p,
                           const struct pr_loss_rows *l)
{
    return number_loss(p, l, smooth_l1_loss());
}

double pr_kernel_kl(const struct pr_threads *p, size_t count, const float *mean,
                    const float *log_variance, double factor, float *dmean,
                    float *dlog_variance)
{
    struct pr_loss_rows l = {
        .rows = 1, .width = count, .x = mean, .y = log_variance, .dx = dmean};
    struct job j = {p, &l, factor, dlog_variance};

    return run_loss_loop(&j, count, kl_loss()).loss * factor;
}
