/*
 * Connectionist temporal classification. Between and around the ids of a sample
 * there are blanks: id i is state 2 i + 1. Forward gives the probability of all
 * ways to each state of each row, backward that of all ways on from there;
 * their product over all is how sure the ids are of the state. A sample is one
 * thread's, and samples are added up in order: the result does not depend on
 * threads.
 */
#include "nn/kernel/kernel_logits.h"
#include "nn/kernel/kernel_vec.h"
#include "nn/kernel/losses.h"

#include <float.h>
#include <math.h>
#include <string.h>

/*
 * ---- numbers
 *
 * Vectors of positive numbers that each have an exponent of their own, a float
 * from 1 to 2 times a power of 2: products of thousands of probabilities do not
 * vanish. It is as good as logarithms, and adding two takes neither exp nor
 * log.
 */

/* Whole numbers, anywhere in memory. */
typedef int32_t pr_iloose
    __attribute__((vector_size(32), aligned(4), may_alias));
#define PR_IAT(p) (*(const pr_iloose *)(const void *)(p))
#define PR_IPUT(p, v) (*(pr_iloose *)(void *)(p) = (v))

enum {
    PR_NEVER = -(1 << 29), /* exponent of 0 */
    PR_PAD = PR_LANES,     /* states of probability 0 before and after all */
};

/* m * 2^e of each state; two before and two after them may be read. */
struct pr_line {
    float *m;
    int32_t *e;
};

struct pr_pair {
    pr_vec m;
    pr_ivec e;
};

static inline void pr_line_at(float *at, size_t floats, struct pr_line *ret)
{
    ret->m = at + PR_PAD;
    ret->e = (int32_t *)(void *)(at + floats) + PR_PAD;
}

static inline void pr_line_zero(const struct pr_line *l, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        l->m[i] = 0;
        l->e[i] = PR_NEVER;
    }
}

/* What is around states; and these too. */
static inline void pr_line_pads(const struct pr_line *l, size_t wide)
{
    struct pr_line before = {l->m - PR_PAD, l->e - PR_PAD};

    pr_line_zero(&before, 0, PR_PAD);
    pr_line_zero(l, wide, wide + PR_PAD);
}

static inline void pr_line_clear(const struct pr_line *l, size_t wide)
{
    pr_line_pads(l, wide);
    pr_line_zero(l, 0, wide);
}

PR_INLINE void pr_pair_load(const struct pr_line *l, size_t at, int before,
                            struct pr_pair *ret)
{
    ret->m = PR_AT(l->m + at - before);
    ret->e = PR_IAT(l->e + at - before);
}

PR_INLINE void pr_pair_store(const struct pr_pair *p, const struct pr_line *l,
                             size_t at)
{
    PR_PUT(l->m + at, p->m);
    PR_IPUT(l->e + at, p->e);
}

PR_INLINE void pr_pair_mask(const pr_ivec *mask, struct pr_pair *p)
{
    p->m = (pr_vec)(PR_BITS(p->m) & *mask);
    p->e = (p->e & *mask) | (PR_NEVER & ~*mask);
}

PR_INLINE void pr_ivec_most(const pr_ivec *v, pr_ivec *most)
{
    pr_ivec more = *v > *most;

    *most = (*v & more) | (*most & ~more);
}

/* p->m * 2^(p->e - top), with p->e not above top. */
PR_INLINE void pr_pair_at(const struct pr_pair *p, const pr_ivec *top,
                          pr_vec *ret)
{
    pr_ivec d = p->e - *top, is_some = d > -127;

    *ret = p->m * (pr_vec)(((d + 127) << 23) & is_some);
}

/* Makes m from 1 to 2 again; what is 0, or too small, becomes 0. */
PR_INLINE void pr_pair_normalise(struct pr_pair *p)
{
    pr_ivec bits = PR_BITS(p->m), k = (bits >> 23) - 127;
    pr_ivec is_some = (k > -127) & (p->e > PR_NEVER);

    p->m = (pr_vec)((bits & 0x7fffff) | (127 << 23));
    p->e += k;
    pr_pair_mask(&is_some, p);
}

PR_INLINE void pr_pair_add(const struct pr_pair *a, const struct pr_pair *b,
                           const struct pr_pair *c, struct pr_pair *ret)
{
    pr_ivec top = a->e;
    pr_vec x, y, z;

    pr_ivec_most(&b->e, &top);
    pr_ivec_most(&c->e, &top);
    pr_pair_at(a, &top, &x);
    pr_pair_at(b, &top, &y);
    pr_pair_at(c, &top, &z);
    ret->m = (x + y) + z;
    ret->e = top;
}

PR_INLINE void pr_pair_multiply(const struct pr_pair *a, struct pr_pair *b)
{
    b->m *= a->m;
    b->e += a->e;
}

struct sample {
    const struct pr_ctc *c;
    const float *x;
    float *dx;
    size_t length, states, wide; /* wide: in whole vectors */
    int32_t *ids, *skip;         /* of states; skip: -1 where the one before
                                    may be left out, else 0 */
    float *max, *share;          /* of rows; share: 1 / sum of exp(x - max) */
    struct pr_line emit, back, both, first_row;
    size_t step; /* from a row's line to the next one's, in floats */
};

/* ---- where things are in work */

static size_t line_floats(const struct pr_ctc *c)
{
    return pr_round_up(2 * c->most + 1, PR_LANES) + 2 * PR_PAD;
}

/* Results of samples are first, as doubles. */
static size_t head_floats(const struct pr_ctc *c)
{
    return pr_round_up(2 * c->samples, 16);
}

static size_t sample_floats(const struct pr_ctc *c)
{
    enum { LINES = 3 }; /* emit, back, both */
    size_t line = line_floats(c);

    return 2 * (LINES + c->rows) * line + 2 * line +
           pr_round_up(2 * c->rows, 8);
}

size_t pr_kernel_ctc_work(const struct pr_ctc *c)
{
    return head_floats(c) + c->samples * sample_floats(c);
}

static void row_line(const struct sample *s, size_t row, struct pr_line *ret)
{
    ret->m = s->first_row.m + row * s->step;
    ret->e = s->first_row.e + row * s->step;
}

static void find_states(const struct pr_ctc *c, size_t i, struct sample *s)
{
    const int32_t *ids = c->ids + i * c->most;

    memset(s->ids - PR_PAD, 0, (s->wide + 2 * PR_PAD) * sizeof *s->ids);
    memset(s->skip - PR_PAD, 0, (s->wide + 2 * PR_PAD) * sizeof *s->skip);
    for (size_t k = 0; k < s->length; k++) {
        s->ids[2 * k + 1] = ids[k];
        s->skip[2 * k + 1] = k && ids[k] != ids[k - 1] ? -1 : 0;
    }
}

static void ctc_sample_at(const struct pr_ctc *c, size_t i, struct sample *s)
{
    size_t line = line_floats(c);
    float *at = c->work + head_floats(c) + i * sample_floats(c);

    s->c = c;
    s->x = c->x + i * c->rows * c->classes;
    s->dx = c->dx ? c->dx + i * c->rows * c->classes : NULL;
    s->length = (size_t)c->lengths[i];
    s->states = 2 * s->length + 1;
    s->wide = pr_round_up(s->states, PR_LANES);
    s->step = 2 * line;
    pr_line_at(at, line, &s->emit);
    pr_line_at(at + 2 * line, line, &s->back);
    pr_line_at(at + 4 * line, line, &s->both);
    s->ids = (int32_t *)(void *)(at + 6 * line) + PR_PAD;
    s->skip = (int32_t *)(void *)(at + 7 * line) + PR_PAD;
    pr_line_at(at + 8 * line, line, &s->first_row);
    s->max = at + (8 + 2 * c->rows) * line;
    s->share = s->max + c->rows;
    pr_line_clear(&s->emit, s->wide);
    pr_line_clear(&s->back, s->wide);
    pr_line_clear(&s->both, s->wide);
    find_states(c, i, s);
}

/* ---- rows */

/* Largest logit, and the sum of exponentials, which go to dx. */
PR_INLINE bool row_softmax(const struct sample *s, size_t t)
{
    size_t n = s->c->classes;
    const float *x = s->x + t * n;
    float max = pr_row_max(x, n);
    double sum = pr_logits_exp(x, n, max, 0, s->dx ? s->dx + t * n : NULL);

    s->max[t] = max;
    s->share[t] = (float)(1 / sum);
    return isfinite(max) && isfinite(sum);
}

/* The probability of each state's class in a row. exp(x) is 2^n * exp(r). */
PR_INLINE void row_emit(const struct sample *s, size_t t)
{
    const float round = 12582912; /* 1.5 * 2^23: its last bit is worth 1 */
    const float least = -1e6f;
    const float *x = s->x + t * s->c->classes;

    for (size_t i = 0; i < s->states; i++)
        s->emit.m[i] = x[s->ids[i]] - s->max[t];
    for (size_t i = s->states; i < s->wide; i++)
        s->emit.m[i] = -INFINITY;
    for (size_t i = 0; i < s->wide; i += PR_LANES) {
        pr_vec v = PR_AT(s->emit.m + i), low = PR_ALL(least), n;
        pr_ivec is_some = v >= -FLT_MAX;
        struct pr_pair p;

        pr_vec_most(&low, &v);
        n = low * 1.44269504f + round;
        p.e = PR_BITS(n) - PR_BITS(PR_ALL(round));
        n -= round;
        v = low - n * 0.693359375f; /* ln 2 in two parts */
        v -= n * -2.12194440e-4f;
        pr_vec_exp(&v, &p.m);
        p.m *= s->share[t];
        pr_pair_mask(&is_some, &p);
        pr_pair_store(&p, &s->emit, i);
    }
}

/* to(i) = (from(i) + from(i - 1) + from(i - 2) if it may) * emit(i) */
PR_INLINE void row_forward(const struct sample *s, const struct pr_line *from,
                           const struct pr_line *to)
{
    for (size_t i = 0; i < s->wide; i += PR_LANES) {
        pr_ivec skip = PR_IAT(s->skip + i);
        struct pr_pair a, b, c, emit;

        pr_pair_load(from, i, 0, &a);
        pr_pair_load(from, i, 1, &b);
        pr_pair_load(from, i, 2, &c);
        pr_pair_mask(&skip, &c);
        pr_pair_add(&a, &b, &c, &a);
        pr_pair_load(&s->emit, i, 0, &emit);
        pr_pair_multiply(&emit, &a);
        pr_pair_normalise(&a);
        pr_pair_store(&a, to, i);
    }
}

/* Backwards the same. What follows a state, times what led to it (from), is in
 * both; returns the largest exponent there. */
PR_INLINE int32_t row_backward(const struct sample *s,
                               const struct pr_line *from)
{
    pr_ivec most = (pr_ivec){0} + 2 * PR_NEVER;
    int32_t ret;

    for (size_t i = 0; i < s->wide; i += PR_LANES) {
        pr_ivec skip = PR_IAT(s->skip + i + 2);
        struct pr_pair a, b, c, p;

        pr_pair_load(&s->back, i, 0, &a);
        pr_pair_load(&s->back, i, -1, &b);
        pr_pair_load(&s->back, i, -2, &c);
        pr_pair_mask(&skip, &c);
        pr_pair_add(&a, &b, &c, &a);
        pr_pair_load(from, i, 0, &p);
        pr_pair_multiply(&a, &p);
        pr_pair_normalise(&p);
        pr_pair_store(&p, &s->both, i);
        pr_ivec_most(&p.e, &most);
        pr_pair_load(&s->emit, i, 0, &p);
        pr_pair_multiply(&p, &a);
        pr_pair_normalise(&a);
        pr_pair_store(&a, &s->back, i); /* nobody reads it there again */
    }
    ret = most[0];
    for (int k = 1; k < PR_LANES; k++)
        ret = most[k] > ret ? most[k] : ret;
    return ret;
}

/* both becomes numbers; their sum. */
PR_INLINE double row_shares(const struct sample *s, int32_t top)
{
    pr_ivec tops = (pr_ivec){0} + top;
    pr_dvec sum = {0};

    for (size_t i = 0; i < s->wide; i += PR_LANES) {
        struct pr_pair p;

        pr_pair_load(&s->both, i, 0, &p);
        pr_pair_at(&p, &tops, &p.m);
        PR_PUT(s->both.m + i, p.m);
        pr_vec_add_up(&p.m, &sum);
    }
    return pr_dvec_total(&sum);
}

/* dx: exp(x - max); becomes (softmax - what the ids say) * scale. */
PR_INLINE void ctc_row_gradient(const struct sample *s, size_t t, double scale)
{
    float *dx = s->dx + t * s->c->classes;
    struct pr_line from;
    double sum, blank = 0;

    row_line(s, t, &from);
    row_emit(s, t);
    sum = row_shares(s, row_backward(s, &from));
    pr_logits_scale(dx, s->c->classes, (float)((double)s->share[t] * scale), 0);
    for (size_t i = 0; i < s->states; i += 2)
        blank += (double)s->both.m[i];
    dx[0] -= (float)(blank / sum * scale);
    for (size_t i = 1; i < s->states; i += 2)
        dx[s->ids[i]] -= (float)((double)s->both.m[i] / sum * scale);
}

/* ---- samples */

static bool is_valid_ctc_sample(const struct pr_ctc *c, size_t i)
{
    const int32_t *ids = c->ids + i * c->most;

    if (c->lengths[i] < 0 || (size_t)c->lengths[i] > c->most)
        return false;
    for (size_t k = 0; k < (size_t)c->lengths[i]; k++)
        if (ids[k] < 1 || (size_t)ids[k] >= c->classes)
            return false;
    return true;
}

/* log of the probability of a state; of one before the first too. */
static double state_log(const struct pr_line *l, size_t state_and_pad)
{
    float m = (l->m - PR_PAD)[state_and_pad];

    return m > 0 ? log((double)m) + (l->e - PR_PAD)[state_and_pad] * M_LN2
                 : -INFINITY;
}

/* -log p(ids): NaN, or infinite where they do not fit. */
PR_INLINE double ctc_forward(const struct sample *s)
{
    struct pr_line from = s->both, to = s->both;
    double a, b;

    s->both.m[0] = 1; /* before the first row: next is state 0 or 1 */
    s->both.e[0] = 0;
    for (size_t t = 0; t < s->c->rows; t++) {
        if (!row_softmax(s, t))
            return NAN;
        row_emit(s, t);
        row_line(s, t, &to);
        pr_line_pads(&to, s->wide);
        row_forward(s, &from, &to);
        from = to;
    }
    a = state_log(&to, s->states - 1 + PR_PAD); /* a blank after the last id */
    b = state_log(&to, s->states - 2 + PR_PAD);
    if (isinf(a) && isinf(b))
        return INFINITY;
    return -(fmax(a, b) + log1p(exp(-fabs(a - b))));
}

PR_INLINE void ctc_backward(const struct sample *s, double scale)
{
    size_t end = s->states - 1;

    s->back.m[end] = 1; /* after the last row: that was the last state */
    s->back.e[end] = 0;
    for (size_t t = s->c->rows; t-- > 0;)
        ctc_row_gradient(s, t, scale);
}

static void ctc_fill_gradient(const struct pr_ctc *c, size_t i, float value)
{
    size_t count = c->rows * c->classes;

    for (size_t k = 0; c->dx && k < count; k++)
        c->dx[i * count + k] = value;
}

/* The loss of a sample, as it goes into the sum. */
PR_INLINE double ctc_sample_loss(const struct pr_ctc *c, size_t i)
{
    struct sample s = {0};
    double loss = NAN, scale = c->factor;

    if (is_valid_ctc_sample(c, i)) {
        ctc_sample_at(c, i, &s);
        loss = ctc_forward(&s);
    }
    if (!isfinite(loss)) {
        loss = isnan(loss) ? NAN : 0;
        ctc_fill_gradient(c, i, (float)loss);
        return loss;
    }
    if (!c->sum)
        scale /= (double)c->samples * (double)(s.length ? s.length : 1);
    if (c->dx)
        ctc_backward(&s, scale);
    return loss * scale;
}

PR_INLINE void ctc_samples_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_ctc *c = ctx;
    double *losses = (double *)(void *)c->work;
    size_t from, to;

    pr_threads_part(c->samples, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++)
        losses[i] = ctc_sample_loss(c, i);
}
PR_KERNEL(ctc_samples)

double pr_kernel_ctc(const struct pr_threads *p, const struct pr_ctc *c)
{
    enum { FEW = 16 * 1024 };
    struct pr_ctc job = *c;
    const double *losses = (const double *)(const void *)c->work;
    size_t numbers = c->samples * c->rows * (c->classes + line_floats(c));
    double sum = 0;

    if (numbers < FEW)
        ctc_samples()(&job, 0, 1);
    else
        pr_threads_run(p, ctc_samples(), &job);
    for (size_t i = 0; i < c->samples; i++)
        sum += losses[i];
    return sum;
}
