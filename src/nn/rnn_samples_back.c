/* A recurrent layer by samples: backward. */
#include "nn/rnn_samples.h"

#include <string.h>

/* What the share's samples began with, and h of the row before. */
static const float *state_before(const struct pr_rs *j,
                                 const struct pr_rs_share *s, size_t *ret_row)
{
    const struct pr_rnn *r = j->r;
    struct pr_rs_share other = *s;

    if (s->is_first) {
        *ret_row = r->out;
        return j->d->begin ? j->d->begin + s->first * r->out : NULL;
    }
    other.row += r->reverse ? 1 : (size_t)-1;
    *ret_row = r->rows * r->out;
    return j->d->y + pr_rs_place(&other, r->rows, r->out);
}

static void gates_back(const struct pr_rs *j, const struct pr_rs_share *s,
                       bool is_last)
{
    const struct pr_rnn *r = j->r;
    const struct pr_rs_sizes *z = &j->z;
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

    g.gates = j->gates + pr_rs_place(s, r->rows, z->gates);
    g.sums = j->sums + s->first * z->gates;
    g.cell = j->cells + pr_rs_place(s, r->rows, z->wide);
    g.dy = j->d->dy + pr_rs_place(s, r->rows, r->out);
    g.dh = j->dh + s->first * z->wide;
    g.dc = j->dc + s->first * z->wide;
    g.before = r->is_gru ? state_before(j, s, &g.before_row)
                         : pr_rs_cell_before(j, j->d->begin, s, &g.before_row);
    pr_k_rnn_gates_back(&g);
}

/* The sums' gradients times weights. */
static void product_back(const struct pr_rs *j, const struct pr_rs_share *s,
                         const struct pr_panels *weights, float *to,
                         size_t to_row, bool add)
{
    pr_k_panel_product(
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
static void weights_back(const struct pr_rs *j, const struct pr_rs_share *s,
                         float *dall, bool add)
{
    const struct pr_rnn *r = j->r;
    struct pr_panels cat = {s->count, j->z.cats, j->cat + s->first * j->z.cats};
    struct pr_panel_fill f = {.from = j->d->x + pr_rs_place(s, r->rows, r->in),
                              .by_k = r->rows * r->in,
                              .by_n = 1,
                              .k = s->count,
                              .n = r->in};

    pr_k_panel_fill(&cat, &f, 0, 1);
    f.from = state_before(j, s, &f.by_k);
    f.n0 = r->in;
    f.n = r->out;
    if (f.from) {
        pr_k_panel_fill(&cat, &f, 0, 1);
    } else {
        f.from = (const float[]){0};
        f.by_k = f.by_n = 0;
        pr_k_panel_fill(&cat, &f, 0, 1);
    }
    pr_k_panel_product(
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
static void begin(const struct pr_rs *j, const struct pr_rs_share *s)
{
    struct pr_panels cat = {s->count, j->z.cats, j->cat + s->first * j->z.cats};
    struct pr_panel_fill f = {
        .from = (const float[]){1}, .k = s->count, .n0 = j->z.cat - 1, .n = 1};

    memset(cat.data, 0, s->count * j->z.cats * sizeof(float));
    pr_k_panel_fill(&cat, &f, 0, 1);
}

static void backward(void *ctx, unsigned thread, unsigned threads)
{
    struct pr_rs *j = ctx;
    const struct pr_rnn *r = j->r;
    struct pr_rs_share s = pr_rs_part(j, thread, threads);
    float *dall = j->dall + thread * j->z.gates * j->z.cats;

    if (thread == 0)
        j->used = threads;
    if (!s.count) {
        memset(dall, 0, j->z.gates * j->z.cats * sizeof *dall);
        return;
    }
    begin(j, &s);
    for (size_t i = r->rows; i-- > 0;) {
        bool is_last = i == r->rows - 1;

        s.row = pr_rs_row(r, i);
        s.is_first = i == 0;
        gates_back(j, &s, is_last);
        if (i)
            product_back(j, &s, &j->to_state, j->dh + s.first * j->z.wide,
                         j->z.wide, r->is_gru);
        if (j->d->dx)
            product_back(j, &s, &j->to_input,
                         j->d->dx + pr_rs_place(&s, r->rows, r->in),
                         r->rows * r->in, false);
        if (j->d->dweight)
            weights_back(j, &s, dall, !is_last);
    }
}

/* ---- the gradients of all threads, as tensors */

static float sum_at(const struct pr_rs *j, size_t at)
{
    float sum = j->dall[at];

    for (unsigned t = 1; t < j->used; t++)
        sum += j->dall[t * j->z.gates * j->z.cats + at];
    return sum;
}

static void gather(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_rs *j = ctx;
    const struct pr_rnn *r = j->r;
    size_t from, to;

    pr_par_part(4 * r->out, 1, thread, threads, &from, &to);
    for (; from < to; from++) {
        size_t b = from / r->out, k = from % r->out;
        size_t at = (b * j->z.wide + k) * j->z.cats, gate;

        if (pr_rs_gate(r, b, false) >= 0) {
            gate = (size_t)pr_rs_gate(r, b, false) * r->out + k;
            for (size_t i = 0; i < r->in; i++)
                j->d->dweight[gate * r->in + i] = sum_at(j, at + i);
            j->d->dbias[gate] = sum_at(j, at + j->z.cat - 1);
        }
        if (pr_rs_gate(r, b, true) >= 0) {
            gate = (size_t)pr_rs_gate(r, b, true) * r->out + k;
            for (size_t i = 0; i < r->out; i++)
                j->d->drecurrent[gate * r->out + i] = sum_at(j, at + r->in + i);
            j->d->drecurrent_bias[gate] = sum_at(j, at + j->z.cat - 1);
        }
    }
}

void pr_rnn_samples_back(const struct pr_par *p, const struct pr_rnn *r,
                         const struct pr_rnn_data *d)
{
    struct pr_rs j;

    pr_rs_job(p, r, d, true, true, &j);
    pr_rs_pack_back(&j, &j.to_state, d->recurrent, r->out, true);
    if (d->dx)
        pr_rs_pack_back(&j, &j.to_input, d->weight, r->in, false);
    pr_rs_run(p, &j, backward);
    if (d->dweight)
        pr_kernel_run(p, j.used * j.z.gates * j.z.cats, gather, &j);
}
