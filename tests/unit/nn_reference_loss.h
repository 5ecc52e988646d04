/* The plain network: losses. Each gives its value and adds its gradient to dy
 * of what it is about; without `back` the value alone. */
#ifndef TESTS_UNIT_NN_REFERENCE_LOSS_H
#define TESTS_UNIT_NN_REFERENCE_LOSS_H

#include "nn_reference.h"

/* -log of what softmax gives to the id; dx: g times its gradient is added,
 * NULL: not wanted. smoothing: share of the id that goes to all. */
static inline double ref_entropy_row(const double *x, size_t n, size_t step,
                                     size_t id, double smoothing, double g,
                                     double *dx)
{
    double most = x[0], sum = 0, loss = 0;

    for (size_t i = 1; i < n; i++)
        most = fmax(most, x[i * step]);
    for (size_t i = 0; i < n; i++)
        sum += exp(x[i * step] - most);
    for (size_t i = 0; i < n; i++) {
        double p = exp(x[i * step] - most) / sum;
        double want = smoothing / (double)n + (i == id ? 1 - smoothing : 0);

        loss -= want * (x[i * step] - most - log(sum));
        if (dx)
            dx[i * step] += g * (p - want);
    }
    return loss;
}

static inline double ref_cross_entropy(struct ref *r, const struct pr_loss *l,
                                       bool back)
{
    struct ref_layer *of = &r->l[l->of[0]];
    size_t w = ref_width(&r->m->layers[l->of[0]].shape);
    const double *ids = r->l[l->targets[0]].y, *weights = NULL;
    size_t rows = r->batch * of->size / w;
    double all = 0, loss = 0;

    if (l->weights >= 0)
        weights = r->l[l->weights].y;
    for (size_t i = 0; i < rows; i++)
        if ((int64_t)ids[i] != l->ignore)
            all += weights ? weights[i] : 1;
    all = l->sum ? 1 : all;
    for (size_t i = 0; i < rows; i++) {
        double g = l->factor * (weights ? weights[i] : 1) / all;

        if ((int64_t)ids[i] != l->ignore && g != 0)
            loss += g * ref_entropy_row(of->y + i * w, w, 1, (size_t)ids[i],
                                        l->smoothing, g,
                                        back ? of->dy + i * w : NULL);
    }
    return loss;
}

/* ---- number by number */

static inline double ref_smooth(double d, double beta, double *slope)
{
    double size = fabs(d);

    *slope = size < beta ? d / beta : d > 0 ? 1 : -1;
    return size < beta ? d * d / (2 * beta) : size - beta / 2;
}

static inline double ref_off(const struct pr_loss *l, double x, double y,
                             double *slope)
{
    switch (l->kind) {
    case PR_LOSS_MSE:
        *slope = 2 * (x - y);
        return (x - y) * (x - y);
    case PR_LOSS_BCE:
        *slope = 1 / (1 + exp(-x)) - y;
        return log(1 + exp(-fabs(x))) + fmax(x, 0) - x * y;
    default:
        return ref_smooth(x - y, l->beta, slope);
    }
}

static inline double ref_numbers(struct ref *r, const struct pr_loss *l,
                                 bool back)
{
    struct ref_layer *of = &r->l[l->of[0]];
    const double *fixed = r->fixed[l - r->m->losses];
    const double *y = fixed             ? fixed
                      : l->target_count ? r->l[l->targets[0]].y
                                        : NULL;
    size_t n = r->batch * of->size;
    double g = l->factor / (l->sum ? 1 : (double)n), loss = 0;

    for (size_t i = 0; i < n; i++) {
        double slope;

        loss += g * ref_off(l, of->y[i], y ? y[i] : l->value, &slope);
        if (back)
            of->dy[i] += g * slope;
    }
    return loss;
}

static inline double ref_kl(struct ref *r, const struct pr_loss *l, bool back)
{
    struct ref_layer *mean = &r->l[l->of[0]], *var = &r->l[l->of[1]];
    double loss = 0;

    for (size_t i = 0; i < r->batch * mean->size; i++) {
        double m = mean->y[i], v = var->y[i];

        loss -= 0.5 * l->factor * (1 + v - m * m - exp(v));
        if (back) {
            mean->dy[i] += l->factor * m;
            var->dy[i] += 0.5 * l->factor * (exp(v) - 1);
        }
    }
    return loss;
}

/* ---- ctc of one sample: states are blank, id, blank, id … blank. p[t][k]:
 * softmax; a[t][s]: chance to be in state s at row t. */

enum { REF_CTC = 24 };

struct ref_ctc {
    size_t rows, classes, states;
    const double *ids;
    double p[REF_CTC][REF_CTC], dp[REF_CTC][REF_CTC];
    double a[REF_CTC][REF_CTC], da[REF_CTC][REF_CTC];
};

static inline size_t ref_ctc_class(const struct ref_ctc *c, size_t s)
{
    return s % 2 ? (size_t)c->ids[s / 2] : 0;
}

/* How many states back one may come from. */
static inline size_t ref_ctc_back(const struct ref_ctc *c, size_t s)
{
    bool skips = s % 2 && s > 1 && c->ids[s / 2] != c->ids[s / 2 - 1];

    return skips ? 2 : s ? 1 : 0;
}

static inline double ref_ctc_forward(struct ref_ctc *c)
{
    for (size_t t = 0; t < c->rows; t++)
        for (size_t s = 0; s < c->states; s++) {
            double sum = t ? 0 : s < 2;

            for (size_t k = 0; t && k <= ref_ctc_back(c, s); k++)
                sum += c->a[t - 1][s - k];
            c->a[t][s] = sum * c->p[t][ref_ctc_class(c, s)];
        }
    return c->a[c->rows - 1][c->states - 1] +
           (c->states > 1 ? c->a[c->rows - 1][c->states - 2] : 0);
}

/* g: gradient of the chance. */
static inline void ref_ctc_backward(struct ref_ctc *c, double g)
{
    memset(c->da, 0, sizeof c->da);
    memset(c->dp, 0, sizeof c->dp);
    c->da[c->rows - 1][c->states - 1] = g;
    if (c->states > 1)
        c->da[c->rows - 1][c->states - 2] = g;
    for (size_t t = c->rows; t-- > 0;)
        for (size_t s = 0; s < c->states; s++) {
            size_t k = ref_ctc_class(c, s);

            c->dp[t][k] += c->da[t][s] * c->a[t][s] / c->p[t][k];
            for (size_t b = 0; t && b <= ref_ctc_back(c, s); b++)
                c->da[t - 1][s - b] += c->da[t][s] * c->p[t][k];
        }
}

static inline double ref_ctc(struct ref *r, const struct pr_loss *l, bool back)
{
    struct ref_layer *of = &r->l[l->of[0]];
    const struct pr_layer_shape *shape = &r->m->layers[l->of[0]].shape;
    size_t most = r->l[l->targets[0]].size;
    struct ref_ctc c = {(size_t)shape->at[0],
                        (size_t)shape->at[1],
                        0,
                        NULL,
                        {{0}},
                        {{0}},
                        {{0}},
                        {{0}}};
    double loss = 0;

    for (size_t n = 0; n < r->batch; n++) {
        double length = r->l[l->lengths].y[n], chance, g;
        double *x = of->y + n * of->size, *dx = of->dy + n * of->size;

        c.states = 2 * (size_t)length + 1;
        c.ids = r->l[l->targets[0]].y + n * most;
        for (size_t t = 0; t < c.rows; t++)
            ref_softmax_row(x + t * c.classes, c.classes, c.p[t]);
        chance = ref_ctc_forward(&c);
        if (chance == 0) /* they do not fit */
            continue;
        g = l->factor / (l->sum ? 1 : fmax(length, 1) * (double)r->batch);
        loss -= g * log(chance);
        ref_ctc_backward(&c, -g / chance);
        for (size_t t = 0; t < c.rows && back; t++)
            ref_softmax_row_back(c.p[t], c.dp[t], c.classes, dx + t * c.classes,
                                 true);
    }
    return loss;
}

/* ---- multibox of one sample */

/* Whether the box counts, with `most` of those without a class. */
static inline bool ref_box_counts(struct ref *r, const double *ids,
                                  const double *loss, size_t boxes, size_t i,
                                  size_t most)
{
    size_t before = 0;

    if (ids[i] > 0)
        return true;
    for (size_t k = 0; k < boxes; k++) {
        if (ids[k] > 0 || k == i)
            continue;
        ref_near(r, loss[k] - loss[i]);
        before += loss[k] > loss[i] || (loss[k] == loss[i] && k < i);
    }
    return before < most;
}

static inline double ref_box(struct ref *r, const struct pr_loss *l, size_t n,
                             bool back)
{
    struct ref_layer *where = &r->l[l->of[0]], *what = &r->l[l->of[1]];
    const double *want = r->l[l->targets[0]].y + n * where->size;
    size_t boxes = where->size / 4, classes = what->size / boxes, has = 0;
    const double *ids = r->l[l->targets[1]].y + n * boxes;
    double *x = what->y + n * what->size, *dx = what->dy + n * what->size;
    double *losses = r->room, g, loss = 0;

    for (size_t i = 0; i < boxes; i++) {
        losses[i] =
            ref_entropy_row(x + i, classes, boxes, (size_t)ids[i], 0, 0, NULL);
        has += ids[i] > 0;
    }
    g = has ? l->factor / (double)(has * r->batch) : 0;
    for (size_t i = 0; i < boxes; i++) {
        for (size_t k = i; ids[i] > 0 && k < where->size; k += boxes) {
            double slope;

            loss += g * ref_smooth(where->y[n * where->size + k] - want[k], 1,
                                   &slope);
            if (back)
                where->dy[n * where->size + k] += g * slope;
        }
        if (has && ref_box_counts(r, ids, losses, boxes, i, 3 * has))
            loss += g * ref_entropy_row(x + i, classes, boxes, (size_t)ids[i],
                                        0, g, back ? dx + i : NULL);
    }
    return loss;
}

static inline double ref_multibox(struct ref *r, const struct pr_loss *l,
                                  bool back)
{
    double loss = 0;

    for (size_t n = 0; n < r->batch; n++)
        loss += ref_box(r, l, n, back);
    return loss;
}

/* ---- all of them */

static inline double ref_one_loss(struct ref *r, unsigned i, bool back)
{
    const struct pr_loss *l = &r->m->losses[i];

    switch (l->kind) {
    case PR_LOSS_CROSS_ENTROPY:
        return ref_cross_entropy(r, l, back);
    case PR_LOSS_KL:
        return ref_kl(r, l, back);
    case PR_LOSS_CTC:
        return ref_ctc(r, l, back);
    case PR_LOSS_MULTIBOX:
        return ref_multibox(r, l, back);
    default:
        return ref_numbers(r, l, back);
    }
}

#endif
