/*
 * The loss of SSD, in three passes: the cross entropy of every box; of each
 * sample, which boxes count; and gradients, which are 0 in most boxes. Boxes
 * lie side by side, so a vector is eight boxes of one class; of a piece of
 * boxes all classes stay in the cache.
 */
#include "nn/kernel/kernel_logits.h"
#include "nn/kernel/losses.h"

#include <math.h>
#include <string.h>

enum { PIECE = 256, OTHERS = 3 };

/* One number for each box: its cross entropy, which then becomes the factor of
 * its gradient; the largest logit; 1 / sum of exp(x - largest). */
struct room {
    double *losses; /* of samples */
    float *loss, *max, *share;
};

static void room_at(const struct pr_multibox *m, struct room *ret)
{
    size_t head = (2 * m->samples + 15) / 16 * 16;
    size_t all = m->samples * m->boxes;

    ret->losses = (double *)(void *)m->work;
    ret->loss = m->work + head;
    ret->max = ret->loss + all;
    ret->share = ret->max + all;
}

size_t pr_kernel_multibox_work(const struct pr_multibox *m)
{
    return (2 * m->samples + 15) / 16 * 16 + 3 * m->samples * m->boxes;
}

static size_t count_box_pieces(const struct pr_multibox *m)
{
    return (m->boxes + PIECE - 1) / PIECE;
}

static bool is_id(const struct pr_multibox *m, int32_t id)
{
    return id >= 0 && (size_t)id < m->classes;
}

/* ---- cross entropy of a piece */

/* max and sum have room for whole vectors. */
PR_INLINE void piece_sums(const struct pr_multibox *m, const float *x,
                          size_t count, float *max, double *sum)
{
    pr_vec v, most;

    for (size_t i = 0; i < count; i += PR_LANES) {
        pr_row_load(x + i, count - i, 0, &v);
        PR_PUT(max + i, v);
        PR_DPUT(sum + i, (pr_dvec){0});
        PR_DPUT(sum + i + PR_DLANES, (pr_dvec){0});
    }
    for (size_t k = 1; k < m->classes; k++)
        for (size_t i = 0; i < count; i += PR_LANES) {
            pr_row_load(x + k * m->boxes + i, count - i, 0, &v);
            most = PR_AT(max + i);
            pr_vec_most(&most, &v);
            PR_PUT(max + i, most);
        }
    for (size_t k = 0; k < m->classes; k++)
        for (size_t i = 0; i < count; i += PR_LANES) {
            float e[PR_LANES];

            pr_row_load(x + k * m->boxes + i, count - i, 0, &v);
            v -= PR_AT(max + i);
            pr_vec_exp_down(&v, &v);
            PR_PUT(e, v);
            PR_DPUT(sum + i, PR_DAT(sum + i) + PR_TO_DOUBLE(e));
            PR_DPUT(sum + i + PR_DLANES,
                    PR_DAT(sum + i + PR_DLANES) + PR_TO_DOUBLE(e + PR_DLANES));
        }
}

PR_INLINE void entropy_piece(const struct pr_multibox *m, size_t sample,
                             size_t from)
{
    size_t at = sample * m->boxes + from;
    size_t count = m->boxes - from < PIECE ? m->boxes - from : PIECE;
    const float *x = m->logits + sample * m->classes * m->boxes + from;
    float max[PIECE];
    double sum[PIECE];
    struct room r;

    room_at(m, &r);
    piece_sums(m, x, count, max, sum);
    for (size_t i = 0; i < count; i++) {
        size_t id = is_id(m, m->ids[at + i]) ? (size_t)m->ids[at + i] : 0;
        double below = (double)x[id * m->boxes + i] - (double)max[i];

        r.loss[at + i] = (float)(log(sum[i]) - below);
        r.max[at + i] = max[i];
        r.share[at + i] = (float)(1 / sum[i]);
    }
}

PR_INLINE void box_entropy_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_multibox *m = ctx;
    size_t each = count_box_pieces(m), from, to;

    pr_threads_part(m->samples * each, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++)
        entropy_piece(m, i / each, i % each * PIECE);
}
PR_KERNEL(box_entropy)

/* ---- which boxes count */

/* A loss is never below 0, so its bits are in the same order, NaN last. */
static uint32_t loss_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits & INT32_MAX;
}

/* The count-th largest loss of boxes without a class, and how many of those
 * that are equal to it belong to the count. From the highest byte on: how many
 * have which. */
static uint32_t find_least(const int32_t *ids, const float *loss, size_t boxes,
                           size_t count, size_t *ret_equal)
{
    uint32_t found = 0, mask = 0;

    for (int shift = 24; shift >= 0; shift -= 8) {
        size_t have[256] = {0};
        uint32_t byte = 255;

        for (size_t i = 0; i < boxes; i++)
            if (ids[i] == 0 && (loss_bits(loss[i]) & mask) == found)
                have[loss_bits(loss[i]) >> shift & 255]++;
        for (; have[byte] < count; byte--)
            count -= have[byte];
        found |= byte << shift;
        mask |= 255u << shift;
    }
    *ret_equal = count;
    return found;
}

/* Adds up the losses of boxes that count; theirs become scale, others 0. */
static double choose_boxes(const int32_t *ids, size_t boxes, size_t mine,
                           double scale, float *loss)
{
    size_t others = OTHERS * mine, equal = 0;
    uint32_t least;
    double sum = 0;

    if (others > boxes - mine)
        others = boxes - mine;
    least = others ? find_least(ids, loss, boxes, others, &equal) : UINT32_MAX;
    for (size_t i = 0; i < boxes; i++) {
        uint32_t bits = loss_bits(loss[i]);
        bool counts = ids[i] || bits > least;

        if (!counts && bits == least && equal) {
            counts = true;
            equal--;
        }
        sum += counts ? (double)loss[i] : 0;
        loss[i] = counts ? (float)scale : 0;
    }
    return sum;
}

static void fill_floats(float *x, size_t count, float value)
{
    for (size_t i = 0; x && i < count; i++)
        x[i] = value;
}

/* Smooth l1 of one number; *ret_slope is between -1 and 1. */
static double smooth_l1_value(double d, double *ret_slope)
{
    double size = fabs(d);

    *ret_slope = size < 1 ? d : copysign(1, d);
    return size < 1 ? 0.5 * d * d : size - 0.5;
}

/* The sum over boxes with a class; gradients of others are 0. */
static double place_loss(const struct pr_multibox *m, size_t sample,
                         double scale)
{
    const int32_t *ids = m->ids + sample * m->boxes;
    size_t first = sample * 4 * m->boxes;
    double sum = 0, slope;

    fill_floats(m->dplaces ? m->dplaces + first : NULL, 4 * m->boxes, 0);
    for (size_t i = 0; i < m->boxes; i++)
        for (size_t k = 0; ids[i] && k < 4; k++) {
            size_t at = first + k * m->boxes + i;

            sum += smooth_l1_value(
                (double)m->places[at] - (double)m->wanted[at], &slope);
            if (m->dplaces)
                m->dplaces[at] = (float)(scale * slope);
        }
    return sum;
}

/* How many boxes have a class; -1: one has none of them. */
static int64_t count_mine(const struct pr_multibox *m, size_t sample)
{
    const int32_t *ids = m->ids + sample * m->boxes;
    int64_t mine = 0;

    for (size_t i = 0; i < m->boxes; i++) {
        if (!is_id(m, ids[i]))
            return -1;
        mine += ids[i] != 0;
    }
    return mine;
}

static double choose_sample_boxes(const struct pr_multibox *m, size_t sample)
{
    size_t at = sample * m->boxes;
    int64_t mine = count_mine(m, sample);
    double scale;
    struct room r;

    room_at(m, &r);
    if (mine <= 0) {
        float value = mine < 0 ? NAN : 0;

        fill_floats(r.loss + at, m->boxes, value);
        fill_floats(m->dplaces ? m->dplaces + 4 * at : NULL, 4 * m->boxes,
                    value);
        return (double)value;
    }
    scale = m->factor / ((double)mine * (double)m->samples);
    return scale * (place_loss(m, sample, scale) +
                    choose_boxes(m->ids + at, m->boxes, (size_t)mine, scale,
                                 r.loss + at));
}

static void choose_all_boxes(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_multibox *m = ctx;
    size_t from, to;
    struct room r;

    room_at(m, &r);
    pr_threads_part(m->samples, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++)
        r.losses[i] = choose_sample_boxes(m, i);
}

/* ---- gradients of logits */

/* Of a box: scale * (softmax - one-hot). */
PR_INLINE void box_gradient(const struct pr_multibox *m, size_t sample,
                            size_t box, const struct room *r)
{
    size_t at = sample * m->boxes + box;
    size_t first = sample * m->classes * m->boxes + box;
    const float *x = m->logits + first;
    float *dx = m->dlogits + first;
    float scale = r->loss[at], factor = r->share[at] * scale;
    size_t id = is_id(m, m->ids[at]) ? (size_t)m->ids[at] : 0;

    for (size_t k = 0; k < m->classes; k += PR_LANES) {
        size_t end = m->classes - k < PR_LANES ? m->classes - k : PR_LANES;
        float e[PR_LANES] = {0};
        pr_vec v;

        for (size_t i = 0; i < end; i++)
            e[i] = x[(k + i) * m->boxes] - r->max[at];
        v = PR_AT(e);
        pr_vec_exp_down(&v, &v);
        PR_PUT(e, v * factor);
        for (size_t i = 0; i < end; i++)
            dx[(k + i) * m->boxes] = e[i];
    }
    dx[id * m->boxes] -= scale;
}

PR_INLINE void logit_gradients_body(void *ctx, unsigned thread,
                                    unsigned threads)
{
    const struct pr_multibox *m = ctx;
    size_t each = count_box_pieces(m), from, to;
    struct room r;

    room_at(m, &r);
    pr_threads_part(m->samples * each, 1, thread, threads, &from, &to);
    for (size_t i = from; i < to; i++) {
        size_t sample = i / each, box = i % each * PIECE;
        size_t end = m->boxes - box < PIECE ? m->boxes : box + PIECE;
        float *dx = m->dlogits + sample * m->classes * m->boxes;

        for (size_t k = 0; k < m->classes; k++)
            fill_floats(dx + k * m->boxes + box, end - box, 0);
        for (; box < end; box++)
            if (r.loss[sample * m->boxes + box] != 0)
                box_gradient(m, sample, box, &r);
    }
}
PR_KERNEL(logit_gradients)

static void run_multibox_loop(const struct pr_threads *p, size_t numbers,
                              pr_threads_fn *fn, struct pr_multibox *m)
{
    enum { FEW = 16 * 1024 };

    if (numbers < FEW)
        fn(m, 0, 1);
    else
        pr_threads_run(p, fn, m);
}

double pr_kernel_multibox(const struct pr_threads *p,
                          const struct pr_multibox *m)
{
    size_t numbers = m->samples * m->classes * m->boxes;
    struct pr_multibox job = *m;
    double sum = 0;
    struct room r;

    run_multibox_loop(p, numbers, box_entropy(), &job);
    run_multibox_loop(p, numbers, choose_all_boxes, &job);
    if (m->dlogits)
        run_multibox_loop(p, numbers, logit_gradients(), &job);
    room_at(m, &r);
    for (size_t i = 0; i < m->samples; i++)
        sum += r.losses[i];
    return sum;
}
