/* A recurrent layer by samples: backward. */
#include "nn/kernel/rnn_samples.h"

#include <string.h>

/* What the share's samples began with, and h of the row before. */
static const float *state_before(const struct pr_rnn_samples *j,
                                 const struct pr_rnn_samples_share *s,
                                 size_t *ret_row)
{
    const struct pr_rnn *r = j->r;
    struct pr_rnn_samples_share other = *s;

    if (s->is_first) {
        *ret_row = r->out;
        return j->d->begin ? j->d->begin + s->first * r->out : NULL;
    }
    other.row += r->reverse ? 1 : (size_t)-1;
    *ret_row = r->rows * r->out;
    return j->d->y + pr_rnn_samples_place(&other, r->rows, r->out);
}

static void rnn_samples_gates_back(const struct pr_rnn_samples *j,
                                   const struct pr_rnn_samples_share *s,
                                   bool is_last)
{
    const struct pr_rnn *r = j->r;
    const struct pr_rnn_samples_sizes *z = &j->z;
    struct pr_rnn_gates_back g = {.is_gru = r->is_gru,
                                  .count = s->count,
                                  .out = r->out,
                                  .gap = z->wide,
                                  .gate_row = r->rows * z->gates,
                                  .sum_row = z->gates,
                                  .cell_row = r->rows * z->wide,
                                  .dy_row = r->rows * r->out,
                                  .d_row = z->wide,
                                  .is_last = is_last};

    g.gates = j->gates + pr_rnn_samples_place(s, r->rows, z->gates);
    g.sums = j->sums + s->first * z->gates;
    g.cell = j->cells + pr_rnn_samples_place(s, r->rows, z->wide);
    g.dy = j->d->dy + pr_rnn_samples_place(s, r->rows, r->out);
    g.dh = j->dh + s->first * z->wide;
    g.dc = j->dc + s->first * z->wide;
    g.before = r->is_gru ? state_before(j, s, &g.before_row)
                         : pr_rnn_samples_cell_before(j, j->d->begin, s,
                                                      &g.before_row);
    pr_kernel_rnn_gates_back(&g);
}

/* The sums' gradients times weights. */
static void rnn_samples_product_back(const struct pr_rnn_samples *j,
                                     const struct pr_rnn_samples_share *s,
                                     const struct pr_panels *weights, float *to,
                                     size_t to_row, bool add)
{
    pr_kernel_panel_product(
        &(struct pr_panel_product){.b = weights,
                                   .m = s->count,
                                   .to = weights->n,
                                   .a = j->sums + s->first * j->z.gates,
                                   .a_row = j->z.gates,
                                   .a_col = 1,
                                   .c = to,
                                   .c_row = to_row,
                                   .add = add});
}

/* Adds this row's part to the gradient of the weights. */
static void rnn_samples_weights_back(const struct pr_rnn_samples *j,
                                     const struct pr_rnn_samples_share *s,
                                     float *dall, bool add)
{
    const struct pr_rnn *r = j->r;
    struct pr_panels cat = {s->count, j->z.cats, j->cat + s->first * j->z.cats};
    struct pr_panel_fill f = {.from = j->d->x +
                                      pr_rnn_samples_place(s, r->rows, r->in),
                              .by_k = r->rows * r->in,
                              .by_n = 1,
                              .k = s->count,
                              .n = r->in};

    pr_kernel_panel_fill(&cat, &f, 0, 1);
    f.from = state_before(j, s, &f.by_k);
    f.n0 = r->in;
    f.n = r->out;
    if (f.from) {
        pr_kernel_panel_fill(&cat, &f, 0, 1);
    } else {
        f.from = (const float[]){0};
        f.by_k = f.by_n = 0;
        pr_kernel_panel_fill(&cat, &f, 0, 1);
    }
    pr_kernel_panel_product(
        &(struct pr_panel_product){.b = &cat,
                                   .m = j->z.gates,
                                   .to = j->z.cats,
                                   .a = j->sums + s->first * j->z.gates,
                                   .a_row = 1,
                                   .a_col = j->z.gates,
                                   .c = dall,
                                   .c_row = j->z.cats,
                                   .add = add});
}

/* The panels of a share with the 1 behind input and state. */
static void rnn_samples_begin_back(const struct pr_rnn_samples *j,
                                   const struct pr_rnn_samples_share *s)
{
    struct pr_panels cat = {s->count, j->z.cats, j->cat + s->first * j->z.cats};
    struct pr_panel_fill f = {
        .from = (const float[]){1}, .k = s->count, .n0 = j->z.cat - 1, .n = 1};

    memset(cat.data, 0, s->count * j->z.cats * sizeof(float));
    pr_kernel_panel_fill(&cat, &f, 0, 1);
}

static void rnn_samples_backward(void *ctx, unsigned thread, unsigned threads)
{
    struct pr_rnn_samples *j = ctx;
    const struct pr_rnn *r = j->r;
    struct pr_rnn_samples_share s = pr_rnn_samples_share_of(j, thread, threads);
    float *dall = j->dall + thread * j->z.gates * j->z.cats;

    if (thread == 0)
        j->used = threads;
    if (!s.count) {
        memset(dall, 0, j->z.gates * j->z.cats * sizeof *dall);
        return;
    }
    rnn_samples_begin_back(j, &s);
    for (size_t i = r->rows; i-- > 0;) {
        bool is_last = i == r->rows - 1;

        s.row = pr_rnn_samples_row(r, i);
        s.is_first = i == 0;
        rnn_samples_gates_back(j, &s, is_last);
        if (i)
            rnn_samples_product_back(j, &s, &j->to_state,
                                     j->dh + s.first * j->z.wide, j->z.wide,
                                     r->is_gru);
        if (j->d->dx)
            rnn_samples_product_back(
                j, &s, &j->to_input,
                j->d->dx + pr_rnn_samples_place(&s, r->rows, r->in),
                r->rows * r->in, false);
        if (j->d->dweight)
            rnn_samples_weights_back(j, &s, dall, !is_last);
    }
}

/* ---- the gradients of all threads, as tensors */

static float sum_thread_gradients(const struct pr_rnn_samples *j, size_t at)
{
    float sum = j->dall[at];

    for (unsigned t = 1; t < j->used; t++)
        sum += j->dall[t * j->z.gates * j->z.cats + at];
    return sum;
}

static void rnn_samples_gather(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_rnn_samples *j = ctx;
    const struct pr_rnn *r = j->r;
    size_t from, to;

    pr_threads_part(4 * r->out, 1, thread, threads, &from, &to);
    for (; from < to; from++) {
        size_t b = from / r->out, k = from % r->out;
        size_t at = (b * j->z.wide + k) * j->z.cats, gate;

        if (pr_rnn_samples_gate(r, b, false) >= 0) {
            gate = (size_t)pr_rnn_samples_gate(r, b, false) * r->out + k;
            for (size_t i = 0; i < r->in; i++)
                j->d->dweight[gate * r->in + i] =
                    sum_thread_gradients(j, at + i);
            j->d->dbias[gate] = sum_thread_gradients(j, at + j->z.cat - 1);
        }
        if (pr_rnn_samples_gate(r, b, true) >= 0) {
            gate = (size_t)pr_rnn_samples_gate(r, b, true) * r->out + k;
            for (size_t i = 0; i < r->out; i++)
                j->d->drecurrent[gate * r->out + i] =
                    sum_thread_gradients(j, at + r->in + i);
            j->d->drecurrent_bias[gate] =
                sum_thread_gradients(j, at + j->z.cat - 1);
        }
    }
}

void pr_rnn_samples_back(const struct pr_threads *p, const struct pr_rnn *r,
                         const struct pr_rnn_data *d)
{
    struct pr_rnn_samples j;

    pr_rnn_samples_init(p, r, d, true, true, &j);
    pr_rnn_samples_pack_back(&j, &j.to_state, d->recurrent, r->out, true);
    if (d->dx)
        pr_rnn_samples_pack_back(&j, &j.to_input, d->weight, r->in, false);
    pr_rnn_samples_run(p, &j, rnn_samples_backward);
    if (d->dweight)
        pr_kernel_run(p, j.used * j.z.gates * j.z.cats, rnn_samples_gather, &j);
}
