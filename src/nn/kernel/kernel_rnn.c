/*
 * Recurrent layers: the gates of lstm and gru, one row of some samples and its
 * way back; and layers by samples. Of these each thread takes some through all
 * rows, and nobody waits for anybody. For this input, state and a 1 lie side by
 * side, and weights and biases are one matrix, packed at the start; so are
 * their gradients, of which each thread has its own sum. It pays as long as
 * that matrix stays in a cache.
 */
#include "nn/kernel/kernel_rnn.h"

#include "nn/kernel/kernel_exp.h"
#include "nn/kernel/kernel_vec.h"

#include <string.h>

/* ---- gates */

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

void pr_kernel_rnn_bias(bool is_gru, size_t out, const float *bias,
                        const float *recurrent, float *to)
{
    size_t wide = pr_round_up(out, PR_LANES);

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

/* ---- gates forward: n outputs from j on, `own` of them in what is ours */

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
        load_gates(g->bias + j, pr_round_up(g->out, PR_LANES), PR_LANES, b);
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

/* ---- gates backward: v becomes the gradients of the sums */

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

/* ---- layers by samples: memory */

/* Sizes that follow from those of the layer. */
struct samples_sizes {
    size_t wide;  /* outputs, rounded up */
    size_t gates; /* of a sample: four times that */
    size_t cat;   /* input, state and the 1 */
    size_t cats;  /* rounded up */
};

struct rnn_samples {
    const struct pr_rnn *r;
    const struct pr_rnn_data *d;
    struct samples_sizes z;
    float *gates, *cells; /* kept */
    size_t kept_rows;     /* of a sample: all, or 1 */
    float *cat;           /* of each sample; backward: as panels */
    float *bias;
    struct pr_panels all;                /* weights: from cat to gates */
    struct pr_panels to_state, to_input; /* and back */
    float *sums, *dh, *dc, *dall;        /* dall: of each thread */
    unsigned used;                       /* threads */
};

/* Samples of a thread, and the row that it is at. */
struct samples_share {
    size_t first, count, row;
    bool is_first; /* row to be computed */
};

static size_t rnn_samples_row(const struct pr_rnn *r, size_t i)
{
    return r->reverse ? r->rows - 1 - i : i;
}

/* The place of this row of the share's first sample. */
static size_t rnn_samples_place(const struct samples_share *s, size_t rows,
                                size_t numbers)
{
    return (s->first * rows + (rows > 1 ? s->row : 0)) * numbers;
}

static struct samples_sizes rnn_samples_sizes(const struct pr_rnn *r)
{
    size_t wide = pr_round_up(r->out, PR_LANES), cat = r->in + r->out + 1;

    return (struct samples_sizes){wide, 4 * wide, cat,
                                  pr_round_up(cat, PR_LANES)};
}

bool pr_rnn_samples_fit(const struct pr_rnn *r, unsigned threads)
{
    enum { FEW = 32 * 1024, MANY = 160 * 1024, EACH = 8 };
    struct samples_sizes z = rnn_samples_sizes(r);
    size_t floats = z.gates * z.cat;

    return floats <= FEW || (floats <= MANY && r->batch >= EACH * threads);
}

static size_t rnn_samples_lay_out(struct rnn_samples *j, unsigned threads,
                                  bool backward)
{
    const struct pr_rnn *r = j->r;
    const struct samples_sizes *z = &j->z;
    size_t at = 0;

    j->cat = pr_rnn_cut_room(j->d, &at, r->batch * z->cats);
    j->bias = pr_rnn_cut_room(j->d, &at, z->gates);
    if (!backward) {
        j->all = (struct pr_panels){z->cat, z->gates, NULL};
        j->all.data =
            pr_rnn_cut_room(j->d, &at, pr_panels_floats(z->cat, z->gates));
        return at;
    }
    j->to_state = (struct pr_panels){z->gates, z->wide, NULL};
    j->to_state.data =
        pr_rnn_cut_room(j->d, &at, pr_panels_floats(z->gates, z->wide));
    j->to_input = (struct pr_panels){z->gates, r->in, NULL};
    j->to_input.data =
        pr_rnn_cut_room(j->d, &at, pr_panels_floats(z->gates, r->in));
    j->sums = pr_rnn_cut_room(j->d, &at, r->batch * z->gates);
    j->dh = pr_rnn_cut_room(j->d, &at, r->batch * z->wide);
    j->dc = pr_rnn_cut_room(j->d, &at, r->batch * z->wide);
    j->dall = pr_rnn_cut_room(j->d, &at, threads * z->gates * z->cats);
    return at;
}

size_t pr_rnn_samples_room(const struct pr_rnn *r, unsigned threads,
                           bool backward)
{
    struct pr_rnn_data none = {0};
    struct rnn_samples j = {.r = r, .d = &none, .z = rnn_samples_sizes(r)};

    return rnn_samples_lay_out(&j, threads, backward);
}

size_t pr_rnn_samples_kept(const struct pr_rnn *r, bool training)
{
    struct samples_sizes z = rnn_samples_sizes(r);
    size_t rows = r->batch * (training ? r->rows : 1);

    return rows * (z.gates + (r->is_gru ? 0 : z.wide));
}

/* What d says, with room cut up. */
static void rnn_samples_init(const struct pr_threads *p, const struct pr_rnn *r,
                             const struct pr_rnn_data *d, bool training,
                             bool backward, struct rnn_samples *ret)
{
    struct rnn_samples j = {.r = r, .d = d, .z = rnn_samples_sizes(r)};

    j.kept_rows = training ? r->rows : 1;
    j.gates = d->kept;
    j.cells = d->kept + r->batch * j.kept_rows * j.z.gates;
    rnn_samples_lay_out(&j, pr_threads_count(p), backward);
    *ret = j;
}

/* On all threads, or on the caller where there is little to do. */
static void rnn_samples_run(const struct pr_threads *p, struct rnn_samples *j,
                            pr_threads_fn *fn)
{
    const struct pr_rnn *r = j->r;

    pr_kernel_run(p, r->batch * r->rows * j->z.gates, fn, j);
}

/* The samples of a thread. */
static struct samples_share rnn_samples_share_of(const struct rnn_samples *j,
                                                 unsigned thread,
                                                 unsigned threads)
{
    struct samples_share s = {0};
    size_t end;

    pr_threads_part(j->r->batch, 1, thread, threads, &s.first, &end);
    s.count = end - s.first;
    return s;
}

/* ---- layers by samples: packing of weights */

static int rnn_samples_gate(const struct pr_rnn *r, size_t b, bool recurrent)
{
    if (!r->is_gru)
        return (int)b;
    return !recurrent ? (int)b - 1 : b == 0 ? 2 : b == 3 ? -1 : (int)b - 1;
}

static void rnn_samples_pack(const struct rnn_samples *j)
{
    const struct pr_rnn *r = j->r;
    size_t wide = j->z.wide;

    memset(j->all.data, 0, j->z.cat * j->z.gates * sizeof(float));
    for (size_t b = 0; b < 4; b++) {
        int in = rnn_samples_gate(r, b, false),
            out = rnn_samples_gate(r, b, true);
        struct pr_panel_fill f = {
            .by_k = 1, .n0 = b * wide, .n = r->out, .by_n = r->in, .k = r->in};

        if (in >= 0) {
            f.from = j->d->weight + (size_t)in * r->out * r->in;
            pr_kernel_panel_fill(&j->all, &f, 0, 1);
        }
        if (out >= 0) {
            f.from = j->d->recurrent + (size_t)out * r->out * r->out;
            f.k0 = r->in;
            f.k = f.by_n = r->out;
            pr_kernel_panel_fill(&j->all, &f, 0, 1);
        }
    }
    pr_kernel_rnn_bias(r->is_gru, r->out, j->d->bias, j->d->recurrent_bias,
                       j->bias);
    pr_kernel_panel_fill(&j->all,
                         &(struct pr_panel_fill){.from = j->bias,
                                                 .by_n = 1,
                                                 .k0 = j->z.cat - 1,
                                                 .k = 1,
                                                 .n = j->z.gates},
                         0, 1);
}

/* Of the weights of input or state, for the way back. */
static void rnn_samples_pack_back(const struct rnn_samples *j,
                                  const struct pr_panels *to,
                                  const float *weights, size_t n,
                                  bool recurrent)
{
    const struct pr_rnn *r = j->r;

    memset(to->data, 0, pr_panels_floats(to->k, to->n) * sizeof(float));
    for (size_t b = 0; b < 4; b++) {
        int gate = rnn_samples_gate(r, b, recurrent);
        struct pr_panel_fill f = {
            .by_k = n, .by_n = 1, .k0 = b * j->z.wide, .k = r->out, .n = n};

        if (gate < 0)
            continue;
        f.from = weights + (size_t)gate * r->out * n;
        pr_kernel_panel_fill(to, &f, 0, 1);
    }
}

/* ---- layers by samples: forward */

static const float *state_c(const struct rnn_samples *j, const float *state,
                            const struct samples_share *s)
{
    return state ? state + (j->r->batch + s->first) * j->r->out : NULL;
}

static void rnn_samples_begin(const struct rnn_samples *j,
                              const struct samples_share *s)
{
    const struct pr_rnn *r = j->r;
    const float *h = j->d->state ? j->d->state + s->first * r->out : NULL;

    for (size_t i = 0; i < s->count; i++) {
        float *cat = j->cat + (s->first + i) * j->z.cats;

        cat[r->in + r->out] = 1;
        if (h)
            memcpy(cat + r->in, h + i * r->out, r->out * sizeof *h);
        else
            memset(cat + r->in, 0, r->out * sizeof *cat);
    }
}

static void rnn_samples_keep_state(const struct rnn_samples *j,
                                   const struct samples_share *s)
{
    const struct pr_rnn *r = j->r;
    size_t bytes = r->out * sizeof(float);
    float *h = j->d->state + s->first * r->out;
    float *c = h + r->batch * r->out;

    for (size_t i = 0; i < s->count; i++) {
        memcpy(h + i * r->out,
               j->d->y + rnn_samples_place(s, r->rows, r->out) +
                   i * r->rows * r->out,
               bytes);
        if (!r->is_gru)
            memcpy(c + i * r->out,
                   j->cells + rnn_samples_place(s, j->kept_rows, j->z.wide) +
                       i * j->kept_rows * j->z.wide,
                   bytes);
    }
}

/* The cells of the row before, or the state that the call began with. */
static const float *rnn_samples_cell_before(const struct rnn_samples *j,
                                            const float *state,
                                            const struct samples_share *s,
                                            size_t *ret_row)
{
    struct samples_share other = *s;

    if (s->is_first) {
        *ret_row = j->r->out;
        return state_c(j, state, s);
    }
    other.row += j->r->reverse ? 1 : (size_t)-1;
    *ret_row = j->kept_rows * j->z.wide;
    return j->cells + rnn_samples_place(&other, j->kept_rows, j->z.wide);
}

static void rnn_samples_forward_row(const struct rnn_samples *j,
                                    const struct samples_share *s)
{
    const struct pr_rnn *r = j->r;
    const struct samples_sizes *z = &j->z;
    float *cat = j->cat + s->first * z->cats;
    const float *x = j->d->x + rnn_samples_place(s, r->rows, r->in);
    struct pr_rnn_gates g = {.is_gru = r->is_gru,
                             .count = s->count,
                             .out = r->out,
                             .gap = z->wide,
                             .gate_row = j->kept_rows * z->gates,
                             .cell_row = j->kept_rows * z->wide,
                             .y_row = r->rows * r->out,
                             .state = cat + r->in,
                             .state_row = z->cats};

    for (size_t i = 0; i < s->count; i++)
        memcpy(cat + i * z->cats, x + i * r->rows * r->in, r->in * sizeof *cat);
    g.gates = j->gates + rnn_samples_place(s, j->kept_rows, z->gates);
    g.cell = j->cells + rnn_samples_place(s, j->kept_rows, z->wide);
    g.y = j->d->y + rnn_samples_place(s, r->rows, r->out);
    g.before = cat + r->in;
    g.before_row = z->cats;
    if (!r->is_gru)
        g.before = rnn_samples_cell_before(j, j->d->state, s, &g.before_row);
    pr_kernel_panel_product(&(struct pr_panel_product){.b = &j->all,
                                                       .m = s->count,
                                                       .to = z->gates,
                                                       .a = cat,
                                                       .a_row = z->cats,
                                                       .a_col = 1,
                                                       .c = g.gates,
                                                       .c_row = g.gate_row});
    pr_kernel_rnn_gates(&g);
}

static void rnn_samples_forward(void *ctx, unsigned thread, unsigned threads)
{
    const struct rnn_samples *j = ctx;
    const struct pr_rnn *r = j->r;
    struct samples_share s = rnn_samples_share_of(j, thread, threads);

    if (!s.count)
        return;
    rnn_samples_begin(j, &s);
    for (size_t i = 0; i < r->rows; i++) {
        s.row = rnn_samples_row(r, i);
        s.is_first = i == 0;
        rnn_samples_forward_row(j, &s);
    }
    if (j->d->state)
        rnn_samples_keep_state(j, &s);
}

void pr_rnn_samples_forward(const struct pr_threads *p, const struct pr_rnn *r,
                            const struct pr_rnn_data *d, bool training)
{
    size_t state = (r->is_gru ? 1 : 2) * r->batch * r->out;
    struct rnn_samples j;

    if (d->state && d->begin)
        memcpy(d->begin, d->state, state * sizeof(float));
    rnn_samples_init(p, r, d, training, false, &j);
    rnn_samples_pack(&j);
    rnn_samples_run(p, &j, rnn_samples_forward);
}

/* ---- layers by samples: backward */

/* What the share's samples began with, and h of the row before. */
static const float *state_before(const struct rnn_samples *j,
                                 const struct samples_share *s, size_t *ret_row)
{
    const struct pr_rnn *r = j->r;
    struct samples_share other = *s;

    if (s->is_first) {
        *ret_row = r->out;
        return j->d->begin ? j->d->begin + s->first * r->out : NULL;
    }
    other.row += r->reverse ? 1 : (size_t)-1;
    *ret_row = r->rows * r->out;
    return j->d->y + rnn_samples_place(&other, r->rows, r->out);
}

static void rnn_samples_gates_back(const struct rnn_samples *j,
                                   const struct samples_share *s, bool is_last)
{
    const struct pr_rnn *r = j->r;
    const struct samples_sizes *z = &j->z;
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

    g.gates = j->gates + rnn_samples_place(s, r->rows, z->gates);
    g.sums = j->sums + s->first * z->gates;
    g.cell = j->cells + rnn_samples_place(s, r->rows, z->wide);
    g.dy = j->d->dy + rnn_samples_place(s, r->rows, r->out);
    g.dh = j->dh + s->first * z->wide;
    g.dc = j->dc + s->first * z->wide;
    g.before = r->is_gru
                   ? state_before(j, s, &g.before_row)
                   : rnn_samples_cell_before(j, j->d->begin, s, &g.before_row);
    pr_kernel_rnn_gates_back(&g);
}

/* The sums' gradients times weights. */
static void rnn_samples_product_back(const struct rnn_samples *j,
                                     const struct samples_share *s,
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
static void rnn_samples_weights_back(const struct rnn_samples *j,
                                     const struct samples_share *s, float *dall,
                                     bool add)
{
    const struct pr_rnn *r = j->r;
    struct pr_panels cat = {s->count, j->z.cats, j->cat + s->first * j->z.cats};
    struct pr_panel_fill f = {.from = j->d->x +
                                      rnn_samples_place(s, r->rows, r->in),
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
static void rnn_samples_begin_back(const struct rnn_samples *j,
                                   const struct samples_share *s)
{
    struct pr_panels cat = {s->count, j->z.cats, j->cat + s->first * j->z.cats};
    struct pr_panel_fill f = {
        .from = (const float[]){1}, .k = s->count, .n0 = j->z.cat - 1, .n = 1};

    memset(cat.data, 0, s->count * j->z.cats * sizeof(float));
    pr_kernel_panel_fill(&cat, &f, 0, 1);
}

static void rnn_samples_backward(void *ctx, unsigned thread, unsigned threads)
{
    struct rnn_samples *j = ctx;
    const struct pr_rnn *r = j->r;
    struct samples_share s = rnn_samples_share_of(j, thread, threads);
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

        s.row = rnn_samples_row(r, i);
        s.is_first = i == 0;
        rnn_samples_gates_back(j, &s, is_last);
        if (i)
            rnn_samples_product_back(j, &s, &j->to_state,
                                     j->dh + s.first * j->z.wide, j->z.wide,
                                     r->is_gru);
        if (j->d->dx)
            rnn_samples_product_back(j, &s, &j->to_input,
                                     j->d->dx +
                                         rnn_samples_place(&s, r->rows, r->in),
                                     r->rows * r->in, false);
        if (j->d->dweight)
            rnn_samples_weights_back(j, &s, dall, !is_last);
    }
}

/* ---- layers by samples: the gradients of all threads, as tensors */

static float sum_thread_gradients(const struct rnn_samples *j, size_t at)
{
    float sum = j->dall[at];

    for (unsigned t = 1; t < j->used; t++)
        sum += j->dall[t * j->z.gates * j->z.cats + at];
    return sum;
}

static void rnn_samples_gather(void *ctx, unsigned thread, unsigned threads)
{
    const struct rnn_samples *j = ctx;
    const struct pr_rnn *r = j->r;
    size_t from, to;

    pr_threads_part(4 * r->out, 1, thread, threads, &from, &to);
    for (; from < to; from++) {
        size_t b = from / r->out, k = from % r->out;
        size_t at = (b * j->z.wide + k) * j->z.cats, gate;

        if (rnn_samples_gate(r, b, false) >= 0) {
            gate = (size_t)rnn_samples_gate(r, b, false) * r->out + k;
            for (size_t i = 0; i < r->in; i++)
                j->d->dweight[gate * r->in + i] =
                    sum_thread_gradients(j, at + i);
            j->d->dbias[gate] = sum_thread_gradients(j, at + j->z.cat - 1);
        }
        if (rnn_samples_gate(r, b, true) >= 0) {
            gate = (size_t)rnn_samples_gate(r, b, true) * r->out + k;
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
    struct rnn_samples j;

    rnn_samples_init(p, r, d, true, true, &j);
    rnn_samples_pack_back(&j, &j.to_state, d->recurrent, r->out, true);
    if (d->dx)
        rnn_samples_pack_back(&j, &j.to_input, d->weight, r->in, false);
    rnn_samples_run(p, &j, rnn_samples_backward);
    if (d->dweight)
        pr_kernel_run(p, j.used * j.z.gates * j.z.cats, rnn_samples_gather, &j);
}
