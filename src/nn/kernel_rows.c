/* Softmax of rows, its way back, and the loss. */
#include "nn/kernel_exp.h"

#include <math.h>

struct job {
    const struct pr_par *par;
    size_t n, c;
    const float *x, *dy;
    float *out; /* may be NULL for the loss */
    const int32_t *labels;
};

/* Of one thread. */
struct part {
    double loss;
    unsigned right;
};

/* A vector of what is left of a row; what is missing becomes fill. */
PR_INLINE void load(const float *x, size_t count, float fill, pr_vec *ret)
{
    if (count >= PR_LANES) {
        *ret = PR_AT(x);
        return;
    }
    *ret = PR_ALL(fill);
    for (size_t i = 0; i < count; i++)
        (*ret)[i] = x[i];
}

PR_INLINE void store(const pr_vec *v, float *to, size_t count)
{
    if (count >= PR_LANES) {
        PR_PUT(to, *v);
        return;
    }
    for (size_t i = 0; i < count; i++)
        to[i] = (*v)[i];
}

PR_INLINE void add_up(const pr_vec *v, pr_dvec *sum)
{
    *sum += PR_TO_DOUBLE((const float *)v);
    *sum += PR_TO_DOUBLE((const float *)v + PR_DLANES);
}

PR_INLINE double total(const pr_dvec *v)
{
    return ((*v)[0] + (*v)[1]) + ((*v)[2] + (*v)[3]);
}

PR_INLINE float row_max(const float *x, size_t c)
{
    pr_vec most = PR_ALL(x[0]), v;
    float ret;

    for (size_t i = 0; i < c; i += PR_LANES) {
        load(x + i, c - i, x[0], &v);
        pr_ivec more = (pr_ivec)(v > most);
        most = (pr_vec)((PR_BITS(v) & more) | (PR_BITS(most) & ~more));
    }
    ret = most[0];
    for (int i = 1; i < PR_LANES; i++)
        ret = most[i] > ret ? most[i] : ret;
    return ret;
}

/* The sum of exp(x - max); each of them goes to "to" unless that is NULL. */
PR_INLINE double row_exp(const float *x, size_t c, float max, float *to)
{
    pr_dvec sum = {0};

    for (size_t i = 0; i < c; i += PR_LANES) {
        pr_vec v, e;

        load(x + i, c - i, -INFINITY, &v);
        v -= max;
        pr_vec_exp(&v, &e);
        add_up(&e, &sum);
        if (to)
            store(&e, to + i, c - i);
    }
    return total(&sum);
}

PR_INLINE void row_scale(float *x, size_t c, float factor)
{
    for (size_t i = 0; i < c; i += PR_LANES) {
        pr_vec v;

        load(x + i, c - i, 0, &v);
        v *= factor;
        store(&v, x + i, c - i);
    }
}

PR_INLINE void softmax_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    size_t from, to;

    pr_par_part(j->n, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        const float *x = j->x + i * j->c;
        float *y = j->out + i * j->c;
        double sum = row_exp(x, j->c, row_max(x, j->c), y);

        row_scale(y, j->c, (float)(1 / sum));
    }
}
PR_KERNEL(softmax)

void pr_k_softmax(const struct pr_par *p, size_t n, size_t c, const float *x,
                  float *y)
{
    struct job j = {.par = p, .n = n, .c = c, .x = x, .out = y};

    pr_kernel_run(p, n * c, softmax(), &j);
}

/* dx = y * (dy - sum(y * dy)) */
PR_INLINE void back_row(const float *y, const float *dy, size_t c, float *dx)
{
    pr_dvec sum = {0};
    float mean;

    for (size_t i = 0; i < c; i += PR_LANES) {
        pr_vec a, b;

        load(y + i, c - i, 0, &a);
        load(dy + i, c - i, 0, &b);
        a *= b;
        add_up(&a, &sum);
    }
    mean = (float)total(&sum);
    for (size_t i = 0; i < c; i += PR_LANES) {
        pr_vec a, b;

        load(y + i, c - i, 0, &a);
        load(dy + i, c - i, 0, &b);
        a *= b - mean;
        store(&a, dx + i, c - i);
    }
}

PR_INLINE void back_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    size_t from, to;

    pr_par_part(j->n, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++)
        back_row(j->x + i * j->c, j->dy + i * j->c, j->c, j->out + i * j->c);
}
PR_KERNEL(back)

void pr_k_softmax_back(const struct pr_par *p, size_t n, size_t c,
                       const float *y, const float *dy, float *dx)
{
    struct job j = {.par = p, .n = n, .c = c, .x = y, .dy = dy, .out = dx};

    pr_kernel_run(p, n * c, back(), &j);
}

/* The label is the first of the largest. */
static bool is_right(const float *x, size_t label, float max)
{
    if (!(x[label] >= max))
        return false;
    for (size_t i = 0; i < label; i++)
        if (x[i] >= max)
            return false;
    return true;
}

PR_INLINE void loss_row(const struct job *j, size_t row, struct part *part)
{
    const float *x = j->x + row * j->c;
    float *dx = j->out ? j->out + row * j->c : NULL;
    size_t label = (size_t)j->labels[row];
    float max = row_max(x, j->c), at;
    double sum;

    if (j->labels[row] < 0 || label >= j->c) {
        part->loss = NAN;
        label = 0;
    }
    at = x[label];
    part->right += is_right(x, label, max);
    sum = row_exp(x, j->c, max, dx);
    part->loss += log(sum) - ((double)at - (double)max);
    if (dx) {
        double e = (double)dx[label];

        row_scale(dx, j->c, (float)(1 / (sum * (double)j->n)));
        dx[label] = (float)((e / sum - 1) / (double)j->n);
    }
}

PR_INLINE void loss_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct job *j = ctx;
    struct part *out = pr_par_scratch(j->par, thread);
    struct part part = {0};
    size_t from, to;

    pr_par_part(j->n, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++)
        loss_row(j, i, &part);
    *out = part;
}
PR_KERNEL(loss)

double pr_k_loss(const struct pr_par *p, size_t n, size_t c, const float *x,
                 const int32_t *labels, float *dx, unsigned *ret_right)
{
    struct job j = {p, n, c, x, NULL, dx, labels};
    struct part all = {0};

    for (unsigned i = 0; i < pr_par_threads(p); i++)
        *(struct part *)pr_par_scratch(p, i) = all;
    pr_kernel_run(p, n * c, loss(), &j);
    for (unsigned i = 0; i < pr_par_threads(p); i++) {
        const struct part *part = pr_par_scratch(p, i);

        all.loss += part->loss;
        all.right += part->right;
    }
    *ret_right = all.right;
    return all.loss / (double)n;
}
