/* Gates of lstm and gru: one row of some samples, and its way back. */
#include "nn/kernel/kernel_exp.h"
#include "nn/kernel/rnn.h"

#include <string.h>

PR_INLINE void gate_sigmoid(pr_vec *x)
{
    pr_vec e = -*x;

    pr_vec_exp(&e, &e);
    *x = 1 / (1 + e);
}

/* The first n of a vector; the others are 0, or stay. */
PR_INLINE void load_gate(const float *from, size_t n, pr_vec *ret)
{
    float part[PR_LANES] = {0};

    if (n == PR_LANES) {
        *ret = PR_AT(from);
        return;
    }
    for (size_t i = 0; i < n; i++)
        part[i] = from[i];
    *ret = PR_AT(part);
}

PR_INLINE void store_gate(float *to, size_t n, const pr_vec *v)
{
    float part[PR_LANES];

    if (n == PR_LANES) {
        PR_PUT(to, *v);
        return;
    }
    PR_PUT(part, *v);
    for (size_t i = 0; i < n; i++)
        to[i] = part[i];
}

PR_INLINE void load_gates(const float *from, size_t gap, size_t n,
                          pr_vec ret[4])
{
    load_gate(from, n, &ret[0]);
    load_gate(from + gap, n, &ret[1]);
    load_gate(from + 2 * gap, n, &ret[2]);
    load_gate(from + 3 * gap, n, &ret[3]);
}

PR_INLINE void store_gates(float *to, size_t gap, size_t n, const pr_vec v[4])
{
    store_gate(to, n, &v[0]);
    store_gate(to + gap, n, &v[1]);
    store_gate(to + 2 * gap, n, &v[2]);
    store_gate(to + 3 * gap, n, &v[3]);
}

static size_t round_up_lanes(size_t out)
{
    return (out + PR_LANES - 1) / PR_LANES * PR_LANES;
}

void pr_kernel_rnn_bias(bool is_gru, size_t out, const float *bias,
                        const float *recurrent, float *to)
{
    size_t wide = round_up_lanes(out);

    memset(to, 0, 4 * wide * sizeof *to);
    for (size_t j = 0; j < out; j++) {
        for (size_t k = 0; k < 4 && !is_gru; k++)
            to[k * wide + j] = bias[k * out + j] + recurrent[k * out + j];
        if (!is_gru)
            continue;
        to[j] = recurrent[2 * out + j];
        to[wide + j] = bias[j] + recurrent[j];
        to[2 * wide + j] = bias[out + j] + recurrent[out + j];
        to[3 * wide + j] = bias[2 * out + j];
    }
}

/* ---- forward: n outputs from j on, of which `own` are in what is ours */

PR_INLINE void lstm_at(pr_vec v[4], pr_vec *c, pr_vec *h)
{
    gate_sigmoid(&v[0]);
    gate_sigmoid(&v[1]);
    pr_vec_tangent(&v[2]);
    gate_sigmoid(&v[3]);
    *c = v[1] * *c + v[0] * v[2];
    *h = *c;
    pr_vec_tangent(h);
    *h *= v[3];
}

PR_INLINE void gru_at(pr_vec v[4], const pr_vec *before, pr_vec *h)
{
    gate_sigmoid(&v[1]);
    gate_sigmoid(&v[2]);
    v[3] += v[1] * v[0];
    pr_vec_tangent(&v[3]);
    *h = v[3] + v[2] * (*before - v[3]);
}

PR_INLINE void gates_forward_at(const struct pr_rnn_gates *g, size_t i,
                                size_t j, size_t own, size_t n, bool is_gru)
{
    float *gates = g->gates + i * g->gate_row + j;
    pr_vec v[4], b[4], before = {0}, h;

    load_gates(gates, g->gap, own, v);
    if (g->bias) {
        load_gates(g->bias + j, round_up_lanes(g->out), PR_LANES, b);
        v[0] += b[0], v[1] += b[1], v[2] += b[2], v[3] += b[3];
    }
    if (g->before)
        load_gate(g->before + i * g->before_row + j, n, &before);
    if (is_gru) {
        gru_at(v, &before, &h);
    } else {
        lstm_at(v, &before, &h);
        store_gate(g->cell + i * g->cell_row + j, own, &before);
    }
    store_gates(gates, g->gap, own, v);
    store_gate(g->y + i * g->y_row + j, n, &h);
    if (g->state)
        store_gate(g->state + i * g->state_row + j, n, &h);
}

PR_INLINE void gates_forward_kind(const struct pr_rnn_gates *g, bool is_gru)
{
    size_t rest = g->out % PR_LANES, whole = g->out - rest;
    size_t own = g->gap > g->out ? PR_LANES : rest;

    for (size_t i = 0; i < g->count; i++) {
        for (size_t j = 0; j < whole; j += PR_LANES)
            gates_forward_at(g, i, j, PR_LANES, PR_LANES, is_gru);
        if (rest)
            gates_forward_at(g, i, whole, own, rest, is_gru);
    }
}

PR_INLINE void gates_forward_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_rnn_gates *g = ctx;

    (void)thread, (void)threads;
    if (g->is_gru)
        gates_forward_kind(g, true);
    else
        gates_forward_kind(g, false);
}
PR_KERNEL(gates_forward)

void pr_kernel_rnn_gates(const struct pr_rnn_gates *g)
{
    gates_forward()((void *)(uintptr_t)g, 0, 1);
}

/* ---- backward: v becomes the gradients of the sums */

PR_INLINE void lstm_back(pr_vec v[4], const pr_vec *before, const pr_vec *cell,
                         const pr_vec *dh, pr_vec *dc)
{
    pr_vec t = *cell, i = v[0], f = v[1], g = v[2], o = v[3];

    pr_vec_tangent(&t);
    *dc += *dh * o * (1 - t * t);
    v[0] = *dc * g * i * (1 - i);
    v[1] = *dc * *before * f * (1 - f);
    v[2] = *dc * i * (1 - g * g);
    v[3] = *dh * t * o * (1 - o);
    *dc *= f;
}

PR_INLINE void gru_back(pr_vec v[4], const pr_vec *before, pr_vec *dh)
{
    pr_vec from_state = v[0], r = v[1], z = v[2], n = v[3];

    v[3] = *dh * (1 - z) * (1 - n * n);
    v[2] = *dh * (*before - n) * z * (1 - z);
    v[1] = v[3] * from_state * r * (1 - r);
    v[0] = v[3] * r;
    *dh *= z;
}

PR_INLINE void gates_backward_at(const struct pr_rnn_gates_back *g, size_t i,
                                 size_t j, size_t own, size_t n, bool is_gru)
{
    size_t at = i * g->d_row + j;
    pr_vec v[4], before = {0}, cell, dh, more, dc = {0};

    load_gates(g->gates + i * g->gate_row + j, g->gap, own, v);
    load_gate(g->dy + i * g->dy_row + j, n, &dh);
    if (g->before)
        load_gate(g->before + i * g->before_row + j, n, &before);
    if (!g->is_last) {
        load_gate(g->dh + at, own, &more);
        dh += more;
        if (!is_gru)
            load_gate(g->dc + at, own, &dc);
    }
    if (is_gru) {
        gru_back(v, &before, &dh);
        store_gate(g->dh + at, own, &dh);
    } else {
        load_gate(g->cell + i * g->cell_row + j, own, &cell);
        lstm_back(v, &before, &cell, &dh, &dc);
        store_gate(g->dc + at, own, &dc);
    }
    store_gates(g->sums + i * g->sum_row + j, g->gap, own, v);
}

PR_INLINE void gates_backward_kind(const struct pr_rnn_gates_back *g,
                                   bool is_gru)
{
    size_t rest = g->out % PR_LANES, whole = g->out - rest;
    size_t own = g->gap > g->out ? PR_LANES : rest;

    for (size_t i = 0; i < g->count; i++) {
        for (size_t j = 0; j < whole; j += PR_LANES)
            gates_backward_at(g, i, j, PR_LANES, PR_LANES, is_gru);
        if (rest)
            gates_backward_at(g, i, whole, own, rest, is_gru);
    }
}

PR_INLINE void gates_backward_body(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_rnn_gates_back *g = ctx;

    (void)thread, (void)threads;
    if (g->is_gru)
        gates_backward_kind(g, true);
    else
        gates_backward_kind(g, false);
}
PR_KERNEL(gates_backward)

void pr_kernel_rnn_gates_back(const struct pr_rnn_gates_back *g)
{
    gates_backward()((void *)(uintptr_t)g, 0, 1);
}
