/*
 * Recurrent layers by loops of ours: small ones by samples, each thread on its
 * own (kernel_rnn.c); large ones, whose weights would not stay in a cache, row
 * by row, all threads together.
 */
#include "nn/engine/onednn.h"
#include "nn/kernel/kernel_rnn.h"
#include "nn/kernel/kernel_vec.h"
#include "nn/op/op_rnn_onednn.h"

#include <string.h>

/* ---- row by row. All threads share the product of each row's state with the
 * weights. They are packed once for all rows; the products with the input and
 * those for the weights' gradients are each one of oneDNN's for all rows. */

struct rnn_steps {
    const struct pr_rnn *r;
    const struct pr_rnn_data *d;
    size_t row;    /* that is computed */
    size_t before; /* the one before it; rows: none */
    bool is_last;  /* to be computed */
    float *cells, *bias, *dh, *dc, *sums;
    struct pr_panels weights, more; /* of states; gru: more is r and z */
};

/* Where what depends on the input begins in what is kept of a row. */
static size_t rnn_steps_input_at(const struct pr_rnn *r)
{
    return r->is_gru ? r->out : 0;
}

static float *rnn_steps_kept_at(const struct rnn_steps *j, size_t sample,
                                size_t row)
{
    return j->d->kept + (sample * j->r->rows + row) * 4 * j->r->out;
}

static size_t rnn_steps_sums(const struct pr_rnn *r)
{
    return r->batch * r->rows * r->out * 4;
}

size_t pr_rnn_steps_kept(const struct pr_rnn *r)
{
    return r->batch * r->rows * r->out * (r->is_gru ? 4 : 5);
}

/* ---- row by row: memory and packing */

static size_t rnn_steps_lay_out(struct rnn_steps *j, bool backward)
{
    const struct pr_rnn *r = j->r;
    size_t at = 0, gates = pr_rnn_gate_count(r) * r->out;

    if (backward) {
        j->weights = (struct pr_panels){gates, r->out, NULL};
        j->weights.data =
            pr_rnn_cut_room(j->d, &at, pr_panels_floats(gates, r->out));
        j->dh = pr_rnn_cut_room(j->d, &at, r->batch * r->out);
        j->dc = pr_rnn_cut_room(j->d, &at, r->batch * r->out);
        j->sums = pr_rnn_cut_room(j->d, &at, 4 * r->out);
        return at;
    }
    j->bias = pr_rnn_cut_room(j->d, &at, 4 * pr_round_up(r->out, PR_LANES));
    j->weights = (struct pr_panels){r->out, r->is_gru ? r->out : gates, NULL};
    j->more = (struct pr_panels){r->out, r->is_gru ? 2 * r->out : 0, NULL};
    j->weights.data =
        pr_rnn_cut_room(j->d, &at, pr_panels_floats(r->out, j->weights.n));
    j->more.data =
        pr_rnn_cut_room(j->d, &at, pr_panels_floats(r->out, j->more.n));
    return at;
}

size_t pr_rnn_steps_room(const struct pr_rnn *r, bool backward)
{
    struct pr_rnn_data none = {0};
    struct rnn_steps j = {.r = r, .d = &none};

    return rnn_steps_lay_out(&j, backward);
}

/* What d says, with room cut up. */
static struct rnn_steps rnn_steps_init(const struct pr_rnn *r,
                                       const struct pr_rnn_data *d,
                                       bool backward)
{
    struct rnn_steps j = {.r = r, .d = d};

    j.cells = d->kept + r->batch * r->rows * 4 * r->out;
    rnn_steps_lay_out(&j, backward);
    return j;
}

/* What fills up the last panel becomes 0. */
static void rnn_steps_clear_last(const struct pr_panels *to)
{
    size_t last = to->n ? (to->n - 1) / PR_PANEL * PR_PANEL : 0;
    size_t all = pr_panels_floats(to->k, to->n);

    memset(to->data + last * to->k, 0, (all - last * to->k) * sizeof *to->data);
}

static void rnn_steps_pack(void *ctx, unsigned thread, unsigned threads)
{
    const struct rnn_steps *j = ctx;
    size_t out = j->r->out;
    struct pr_panel_fill f = {.from = j->d->recurrent,
                              .by_k = 1,
                              .by_n = out,
                              .k = out,
                              .n = j->weights.n};

    if (j->r->is_gru) {
        pr_kernel_panel_fill(
            &j->more,
            &(struct pr_panel_fill){f.from, 1, out, 0, out, 0, 2 * out}, thread,
            threads);
        f.from += 2 * out * out;
    }
    pr_kernel_panel_fill(&j->weights, &f, thread, threads);
}

/* ---- row by row: forward */

/* The row to be computed i-th. */
static void rnn_steps_go_to(struct rnn_steps *j, size_t i)
{
    const struct pr_rnn *r = j->r;

    j->row = r->reverse ? r->rows - 1 - i : i;
    j->before = i == 0 ? r->rows : r->reverse ? j->row + 1 : j->row - 1;
    j->is_last = i == r->rows - 1;
}

static const float *rnn_steps_state_before(const struct rnn_steps *j,
                                           const float *state, size_t *ret_row)
{
    const struct pr_rnn *r = j->r;

    if (j->before == r->rows) {
        *ret_row = r->out;
        return state;
    }
    *ret_row = r->rows * r->out;
    return j->d->y + j->before * r->out;
}

static const float *rnn_steps_cell_before(const struct rnn_steps *j,
                                          const float *state, size_t *ret_row)
{
    const struct pr_rnn *r = j->r;

    *ret_row = r->rows * r->out;
    if (j->before < r->rows)
        return j->cells + j->before * r->out;
    *ret_row = r->out;
    return state ? state + r->batch * r->out : NULL;
}

static void rnn_steps_product(void *ctx, unsigned thread, unsigned threads)
{
    const struct rnn_steps *j = ctx;
    const struct pr_rnn *r = j->r;
    struct pr_panel_product p = {.m = r->batch,
                                 .b = &j->weights,
                                 .a_col = 1,
                                 .c = rnn_steps_kept_at(j, 0, j->row),
                                 .c_row = r->rows * 4 * r->out,
                                 .add = !r->is_gru};

    p.a = rnn_steps_state_before(j, j->d->state, &p.a_row);
    if (!p.a) {
        for (size_t i = 0; i < r->batch && r->is_gru && !thread; i++)
            memset(p.c + i * p.c_row, 0, r->out * sizeof(float));
        return;
    }
    pr_threads_part(p.b->n, PR_PANEL, thread, threads, &p.from, &p.to);
    pr_kernel_panel_product(&p);
    if (!r->is_gru)
        return;
    p.b = &j->more;
    p.c += r->out;
    p.add = true;
    pr_threads_part(p.b->n, PR_PANEL, thread, threads, &p.from, &p.to);
    pr_kernel_panel_product(&p);
}

static void rnn_steps_gates(void *ctx, unsigned thread, unsigned threads)
{
    const struct rnn_steps *j = ctx;
    const struct pr_rnn *r = j->r;
    size_t from, to;
    struct pr_rnn_gates g = {.is_gru = r->is_gru,
                             .out = r->out,
                             .gap = r->out,
                             .gate_row = r->rows * 4 * r->out,
                             .bias = j->bias,
                             .cell_row = r->rows * r->out,
                             .y_row = r->rows * r->out};

    pr_threads_part(r->batch, 1, thread, threads, &from, &to);
    g.count = to - from;
    g.gates = rnn_steps_kept_at(j, from, j->row);
    g.cell = j->cells + (from * r->rows + j->row) * r->out;
    g.y = j->d->y + (from * r->rows + j->row) * r->out;
    g.before = (r->is_gru ? rnn_steps_state_before : rnn_steps_cell_before)(
        j, j->d->state, &g.before_row);
    if (g.before)
        g.before += from * g.before_row;
    pr_kernel_rnn_gates(&g);
}

static void rnn_steps_keep_state(const struct rnn_steps *j)
{
    const struct pr_rnn *r = j->r;
    size_t bytes = r->out * sizeof(float);

    for (size_t i = 0; i < r->batch; i++) {
        size_t at = (i * r->rows + j->row) * r->out;
        float *h = j->d->state + i * r->out;

        memcpy(h, j->d->y + at, bytes);
        if (!r->is_gru)
            memcpy(h + r->batch * r->out, j->cells + at, bytes);
    }
}

/* The input's part of all gates. */
static int input_product(const struct pr_onednn *dnn, const struct rnn_steps *j,
                         struct pr_err *err)
{
    const struct pr_rnn *r = j->r;
    int64_t gates_all = (int64_t)(pr_rnn_gate_count(r) * r->out);

    return pr_onednn_gemm(
        dnn,
        &(struct pr_gemm){.turn_b = true,
                          .m = (int64_t)(r->batch * r->rows),
                          .n = gates_all,
                          .k = (int64_t)r->in,
                          .alpha = 1,
                          .a = j->d->x,
                          .b = j->d->weight,
                          .c = j->d->kept + rnn_steps_input_at(r),
                          .lda = (int64_t)r->in,
                          .ldb = (int64_t)r->in,
                          .ldc = (int64_t)(4 * r->out)},
        err);
}

int pr_rnn_steps_forward(const struct pr_onednn *dnn,
                         const struct pr_threads *p, const struct pr_rnn *r,
                         const struct pr_rnn_data *d, struct pr_err *err)
{
    struct rnn_steps j = rnn_steps_init(r, d, false);
    size_t state = (r->is_gru ? 1 : 2) * r->batch * r->out;
    int rc = input_product(dnn, &j, err);

    if (rc)
        return rc;
    if (d->state && d->begin)
        memcpy(d->begin, d->state, state * sizeof(float));
    pr_kernel_rnn_bias(r->is_gru, r->out, d->bias, d->recurrent_bias, j.bias);
    rnn_steps_clear_last(&j.weights);
    rnn_steps_clear_last(&j.more);
    pr_kernel_run(p, r->out * r->out, rnn_steps_pack, &j);
    for (size_t i = 0; i < r->rows; i++) {
        rnn_steps_go_to(&j, i);
        pr_kernel_run(p, r->batch * r->out * r->out / 8, rnn_steps_product, &j);
        pr_kernel_run(p, r->batch * r->out * 4, rnn_steps_gates, &j);
    }
    if (d->state)
        rnn_steps_keep_state(&j);
    return PR_OK;
}

/* ---- row by row: backward */

static void pack_back(void *ctx, unsigned thread, unsigned threads)
{
    const struct rnn_steps *j = ctx;
    size_t out = j->r->out;
    struct pr_panel_fill f = {.from = j->d->recurrent,
                              .by_k = out,
                              .by_n = 1,
                              .k = j->weights.k,
                              .n = out};

    if (j->r->is_gru) { /* n is first in what is kept, and last in tensors */
        f.k = 2 * out;
        f.k0 = out;
        pr_kernel_panel_fill(&j->weights, &f, thread, threads);
        f.from += 2 * out * out;
        f.k = out;
        f.k0 = 0;
    }
    pr_kernel_panel_fill(&j->weights, &f, thread, threads);
}

static float *rnn_steps_sums_at(const struct rnn_steps *j, size_t sample,
                                size_t row)
{
    return j->d->sums + (sample * j->r->rows + row) * 4 * j->r->out;
}

static void rnn_steps_gates_back(void *ctx, unsigned thread, unsigned threads)
{
    const struct rnn_steps *j = ctx;
    const struct pr_rnn *r = j->r;
    size_t from, to;
    struct pr_rnn_gates_back g = {.is_gru = r->is_gru,
                                  .out = r->out,
                                  .gap = r->out,
                                  .gate_row = r->rows * 4 * r->out,
                                  .sum_row = r->rows * 4 * r->out,
                                  .cell_row = r->rows * r->out,
                                  .dy_row = r->rows * r->out,
                                  .d_row = r->out,
                                  .is_last = j->is_last};

    pr_threads_part(r->batch, 1, thread, threads, &from, &to);
    g.count = to - from;
    g.gates = rnn_steps_kept_at(j, from, j->row);
    g.sums = rnn_steps_sums_at(j, from, j->row);
    g.cell = j->cells + (from * r->rows + j->row) * r->out;
    g.dy = j->d->dy + (from * r->rows + j->row) * r->out;
    g.dh = j->dh + from * r->out;
    g.dc = j->dc + from * r->out;
    g.before = (r->is_gru ? rnn_steps_state_before : rnn_steps_cell_before)(
        j, j->d->begin, &g.before_row);
    if (g.before)
        g.before += from * g.before_row;
    pr_kernel_rnn_gates_back(&g);
}

static void rnn_steps_product_back(void *ctx, unsigned thread, unsigned threads)
{
    const struct rnn_steps *j = ctx;
    const struct pr_rnn *r = j->r;
    struct pr_panel_product p = {.m = r->batch,
                                 .b = &j->weights,
                                 .a = rnn_steps_sums_at(j, 0, j->row),
                                 .a_row = r->rows * 4 * r->out,
                                 .a_col = 1,
                                 .c = j->dh,
                                 .c_row = r->out,
                                 .add = r->is_gru};

    pr_threads_part(p.b->n, PR_PANEL, thread, threads, &p.from, &p.to);
    pr_kernel_panel_product(&p);
}

/* The sums over rows, which are the gradients of the biases. */
static void sum_columns(void *ctx, unsigned thread, unsigned threads)
{
    const struct rnn_steps *j = ctx;
    size_t wide = 4 * j->r->out, rows = j->r->batch * j->r->rows, from, to;

    pr_threads_part(wide, PR_LANES, thread, threads, &from, &to);
    memset(j->sums + from, 0, (to - from) * sizeof(float));
    for (size_t i = 0; i < rows; i++) {
        const float *row = j->d->sums + i * wide;
        size_t k = from;

        for (; k + PR_LANES <= to; k += PR_LANES)
            PR_PUT(j->sums + k, PR_AT(j->sums + k) + PR_AT(row + k));
        for (; k < to; k++)
            j->sums[k] += row[k];
    }
}

static void bias_back(const struct rnn_steps *j)
{
    const struct pr_rnn *r = j->r;
    size_t bytes = r->out * sizeof(float);
    const float *sums = j->sums;

    memcpy(j->d->dbias, sums + rnn_steps_input_at(r),
           pr_rnn_gate_count(r) * bytes);
    if (!r->is_gru) {
        memcpy(j->d->drecurrent_bias, sums, 4 * bytes);
        return;
    }
    memcpy(j->d->drecurrent_bias, sums + r->out, 2 * bytes);
    memcpy(j->d->drecurrent_bias + 2 * r->out, sums, bytes);
}

/* c = gradients of `count` sums from column `at` on, turned, times b, over k
 * rows. */
static int multiply_turned(const struct pr_onednn *dnn, const struct pr_gemm *g,
                           size_t at, size_t count, struct pr_err *err)
{
    struct pr_gemm mine = *g;

    mine.turn_a = true;
    mine.m = (int64_t)count;
    mine.a += at;
    mine.alpha = 1;
    mine.ldc = mine.n;
    return mine.k ? pr_onednn_gemm(dnn, &mine, err) : PR_OK;
}

/* For all gates; in tensors n is the last one of a gru. */
static int state_turned(const struct pr_onednn *dnn, const struct rnn_steps *j,
                        struct pr_gemm *g, struct pr_err *err)
{
    size_t out = j->r->out;
    int rc;

    g->c = j->d->drecurrent;
    if (!j->r->is_gru)
        return multiply_turned(dnn, g, 0, 4 * out, err);
    rc = multiply_turned(dnn, g, out, 2 * out, err);
    g->c += 2 * out * out;
    return rc ? rc : multiply_turned(dnn, g, 0, out, err);
}

/* The first row began with a state of its own; of the others it is the output
 * one row before. All of these in one product, over the ends of samples: there
 * the first row of the next one is 0 by then. */
static int recurrent_back(const struct pr_onednn *dnn, struct rnn_steps *j,
                          struct pr_err *err)
{
    const struct pr_rnn *r = j->r;
    size_t out = r->out, wide = 4 * out;
    struct pr_gemm g = {.n = (int64_t)out, .ldb = (int64_t)out};
    int rc = PR_OK;

    rnn_steps_go_to(j, 0);
    if (j->d->begin) {
        g.k = (int64_t)r->batch;
        g.a = rnn_steps_sums_at(j, 0, j->row);
        g.lda = (int64_t)(r->rows * wide);
        g.b = j->d->begin;
        rc = state_turned(dnn, j, &g, err);
        g.beta = 1;
    } else if (r->rows == 1) {
        memset(j->d->drecurrent, 0,
               pr_rnn_gate_count(r) * out * out * sizeof(float));
    }
    if (rc || r->rows == 1)
        return rc;
    for (size_t i = 0; i < r->batch; i++)
        memset(rnn_steps_sums_at(j, i, j->row), 0, wide * sizeof(float));
    g.k = (int64_t)(r->batch * r->rows - 1);
    g.lda = (int64_t)wide;
    g.a = j->d->sums + (r->reverse ? 0 : wide);
    g.b = j->d->y + (r->reverse ? out : 0);
    return state_turned(dnn, j, &g, err);
}

static int input_back(const struct pr_onednn *dnn, const struct rnn_steps *j,
                      struct pr_err *err)
{
    const struct pr_rnn *r = j->r;
    struct pr_gemm g = {.m = (int64_t)(r->batch * r->rows),
                        .n = (int64_t)r->in,
                        .k = (int64_t)(pr_rnn_gate_count(r) * r->out),
                        .alpha = 1,
                        .a = j->d->sums + rnn_steps_input_at(r),
                        .b = j->d->weight,
                        .c = j->d->dx,
                        .lda = (int64_t)(4 * r->out),
                        .ldb = (int64_t)r->in,
                        .ldc = (int64_t)r->in};

    return j->d->dx ? pr_onednn_gemm(dnn, &g, err) : PR_OK;
}

static int rnn_steps_weights_back(const struct pr_onednn *dnn,
                                  const struct pr_threads *p,
                                  struct rnn_steps *j, struct pr_err *err)
{
    const struct pr_rnn *r = j->r;
    size_t rows = r->batch * r->rows;
    struct pr_gemm g = {.n = (int64_t)r->in,
                        .k = (int64_t)rows,
                        .a = j->d->sums,
                        .lda = (int64_t)(4 * r->out),
                        .b = j->d->x,
                        .ldb = (int64_t)r->in,
                        .c = j->d->dweight};
    int rc = multiply_turned(dnn, &g, rnn_steps_input_at(r),
                             pr_rnn_gate_count(r) * r->out, err);

    if (rc)
        return rc;
    pr_kernel_run(p, rows * 4 * r->out, sum_columns, j);
    bias_back(j);
    return recurrent_back(dnn, j, err);
}

int pr_rnn_steps_back(const struct pr_onednn *dnn, const struct pr_threads *p,
                      const struct pr_rnn *r, const struct pr_rnn_data *d,
                      struct pr_err *err)
{
    struct rnn_steps j = rnn_steps_init(r, d, true);
    int rc;

    rnn_steps_clear_last(&j.weights);
    pr_kernel_run(p, r->out * r->out, pack_back, &j);
    for (size_t i = r->rows; i-- > 0;) {
        rnn_steps_go_to(&j, i);
        pr_kernel_run(p, r->batch * r->out * 4, rnn_steps_gates_back, &j);
        if (i)
            pr_kernel_run(p, r->batch * r->out * r->out / 8,
                          rnn_steps_product_back, &j);
    }
    rc = input_back(dnn, &j, err);
    return rc || !d->dweight ? rc : rnn_steps_weights_back(dnn, p, &j, err);
}

/* ---- steps of either way */

/* What a tensor of a step is for: places in struct pr_rnn_data. */
enum {
    X,
    WEIGHT,
    RECURRENT,
    BIAS,
    RECURRENT_BIAS,
    Y,
    STATE,
    BEGIN,
    KEPT,
    ROOM,
    SUMS,
    DY,
    DX,
    DWEIGHT, /* … of the other three in that order */
    ROLES = DWEIGHT + 4,
};

static struct pr_rnn_data fill_rnn_data(const struct pr_net *net,
                                        const struct pr_net_step *s)
{
    float *at[ROLES] = {0};

    for (unsigned i = 0; i < s->count; i++)
        at[s->args[i]] = pr_op_data(net, s, i);
    return (struct pr_rnn_data){.x = at[X],
                                .weight = at[WEIGHT],
                                .recurrent = at[RECURRENT],
                                .bias = at[BIAS],
                                .recurrent_bias = at[RECURRENT_BIAS],
                                .y = at[Y],
                                .state = at[STATE],
                                .begin = at[BEGIN],
                                .kept = at[KEPT],
                                .room = at[ROOM],
                                .dy = at[DY],
                                .sums = at[SUMS] ? at[SUMS] : at[KEPT],
                                .dx = at[DX],
                                .dweight = at[DWEIGHT],
                                .drecurrent = at[DWEIGHT + 1],
                                .dbias = at[DWEIGHT + 2],
                                .drecurrent_bias = at[DWEIGHT + 3]};
}

static int run_rnn_samples(struct pr_net *net, struct pr_net_step *s,
                           struct pr_err *err)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, s->layer);
    struct pr_rnn_data d = fill_rnn_data(net, s);

    (void)err;
    pr_rnn_samples_forward(net->par, &r, &d, net->opts.training);
    return PR_OK;
}

static int run_rnn_samples_back(struct pr_net *net, struct pr_net_step *s,
                                struct pr_err *err)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, s->layer);
    struct pr_rnn_data d = fill_rnn_data(net, s);

    (void)err;
    pr_rnn_samples_back(net->par, &r, &d);
    return PR_OK;
}

static int run_rnn_steps(struct pr_net *net, struct pr_net_step *s,
                         struct pr_err *err)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, s->layer);
    struct pr_rnn_data d = fill_rnn_data(net, s);

    return pr_rnn_steps_forward(net->dnn, net->par, &r, &d, err);
}

static int run_rnn_steps_back(struct pr_net *net, struct pr_net_step *s,
                              struct pr_err *err)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, s->layer);
    struct pr_rnn_data d = fill_rnn_data(net, s);

    return pr_rnn_steps_back(net->dnn, net->par, &r, &d, err);
}

/* ---- compiling: tensors by what they are for, PR_NO_TENSOR is left out */

static int add_step(struct pr_net *net, pr_net_step_fn *run,
                    const int tensors[static ROLES], struct pr_err *err)
{
    struct pr_net_step *s = pr_net_step_new(net, run);

    if (!s)
        return pr_fail_nomem(err);
    for (int i = 0; i < ROLES; i++)
        if (tensors[i] >= 0)
            pr_net_step_use(net, s, i, tensors[i]);
    return PR_OK;
}

static bool is_by_samples(const struct pr_net *net, const struct pr_rnn *r)
{
    return pr_rnn_samples_fit(r, pr_threads_count(net->par));
}

static int new_rnn_room(struct pr_net *net, const struct pr_rnn *r,
                        bool backward, int *ret, struct pr_err *err)
{
    unsigned threads = pr_threads_count(net->par);
    size_t floats = is_by_samples(net, r)
                        ? pr_rnn_samples_room(r, threads, backward)
                        : pr_rnn_steps_room(r, backward);

    return pr_op_new_room(net, floats, ret, err);
}

/* What forward and backward both name. */
static void fill_common(struct pr_net *net, unsigned layer,
                        int tensors[static ROLES])
{
    const struct pr_net_node *n = &net->nodes[layer];

    for (int i = 0; i < ROLES; i++)
        tensors[i] = PR_NO_TENSOR;
    tensors[X] = n->src;
    tensors[Y] = n->out;
    tensors[KEPT] = n->extra[PR_RNN_KEPT];
    tensors[BEGIN] = n->extra[PR_RNN_BEGIN];
    for (unsigned i = 0; i <= PR_RNN_RECURRENT_BIAS; i++)
        tensors[WEIGHT + i] = pr_net_param_value(net, layer, i);
}

static int new_state(struct pr_net *net, unsigned layer, size_t floats,
                     struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    int rc = PR_OK;

    n->extra[PR_RNN_STATE] = n->extra[PR_RNN_BEGIN] = PR_NO_TENSOR;
    if (!n->layer->carry)
        return PR_OK;
    rc = pr_op_new_kept(net, floats, &n->extra[PR_RNN_STATE], err);
    if (!rc && net->opts.training)
        rc = pr_op_new_room(net, floats, &n->extra[PR_RNN_BEGIN], err);
    return rc;
}

static int rnn_unrolled_forward(struct pr_net *net, unsigned layer,
                                struct pr_err *err)
{
    struct pr_net_node *n = &net->nodes[layer];
    struct pr_rnn r = pr_op_rnn_sizes(net, layer);
    bool samples = is_by_samples(net, &r);
    size_t kept = samples ? pr_rnn_samples_kept(&r, net->opts.training)
                          : pr_rnn_steps_kept(&r);
    int tensors[ROLES], room = PR_NO_TENSOR;
    int rc = pr_op_input_tensor(net, layer, 0, &n->src, err);

    if (!rc)
        rc = pr_op_new_output(net, layer, err);
    if (!rc)
        rc = pr_op_new_room(net, kept, &n->extra[PR_RNN_KEPT], err);
    if (!rc)
        rc = new_rnn_room(net, &r, false, &room, err);
    if (!rc)
        rc = new_state(net, layer, (r.is_gru ? 1 : 2) * r.batch * r.out, err);
    if (rc)
        return rc;
    fill_common(net, layer, tensors);
    tensors[ROOM] = room;
    tensors[STATE] = n->extra[PR_RNN_STATE];
    return add_step(net, samples ? run_rnn_samples : run_rnn_steps, tensors,
                    err);
}

/* Gradients, their room, and those of sums where another turn wants what was
 * kept. */
static int fill_back(struct pr_net *net, unsigned layer, const struct pr_rnn *r,
                     int tensors[static ROLES], struct pr_err *err)
{
    bool own, learns = pr_net_param_is_updated(net, layer);
    int rc = pr_op_gradient(net, layer, &tensors[DY], &own, err);

    if (!rc)
        rc = new_rnn_room(net, r, true, &tensors[ROOM], err);
    if (!rc && net->model->turn_count > 1 && !is_by_samples(net, r))
        rc = pr_op_new_room(net, rnn_steps_sums(r), &tensors[SUMS], err);
    if (!rc && pr_op_needs_gradient(net, layer, 0)) {
        const struct pr_layer *l = &net->model->layers[layer];
        const struct pr_layout *lay = pr_op_plain_layout(net, l->inputs[0]);

        tensors[DX] = lay ? pr_net_tensor_new(net, lay, 0, err) : PR_NO_TENSOR;
        rc = tensors[DX] < 0 ? pr_fail_nomem(err) : PR_OK;
    }
    for (unsigned i = 0; i <= PR_RNN_RECURRENT_BIAS && learns && !rc; i++)
        rc = pr_net_param_gradient(net, layer, i, NULL, &tensors[DWEIGHT + i],
                                   err);
    return rc;
}

static int rnn_unrolled_backward(struct pr_net *net, unsigned layer,
                                 struct pr_err *err)
{
    struct pr_rnn r = pr_op_rnn_sizes(net, layer);
    int tensors[ROLES], rc;

    fill_common(net, layer, tensors);
    rc = fill_back(net, layer, &r, tensors, err);
    if (!rc)
        rc = add_step(net,
                      is_by_samples(net, &r) ? run_rnn_samples_back
                                             : run_rnn_steps_back,
                      tensors, err);
    if (!rc && tensors[DX] >= 0)
        rc = pr_op_give_gradient(net, layer, 0, tensors[DX], err);
    if (!rc && pr_net_param_is_updated(net, layer))
        rc = pr_net_param_update(net, layer, err);
    return rc;
}

const struct pr_op pr_op_rnn_unrolled = {rnn_unrolled_forward,
                                         rnn_unrolled_backward};
