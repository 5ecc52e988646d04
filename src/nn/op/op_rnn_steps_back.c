/* A recurrent layer row by row: backward. */
#include "nn/op/rnn_steps.h"

static void pack_back(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_rnn_steps *j = ctx;
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

static float *rnn_steps_sums_at(const struct pr_rnn_steps *j, size_t sample,
                                size_t row)
{
    return j->d->sums + (sample * j->r->rows + row) * 4 * j->r->out;
}

static void rnn_steps_gates_back(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_rnn_steps *j = ctx;
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
    g.gates = pr_rnn_steps_kept_at(j, from, j->row);
    g.sums = rnn_steps_sums_at(j, from, j->row);
    g.cell = j->cells + (from * r->rows + j->row) * r->out;
    g.dy = j->d->dy + (from * r->rows + j->row) * r->out;
    g.dh = j->dh + from * r->out;
    g.dc = j->dc + from * r->out;
    g.before =
        (r->is_gru ? pr_rnn_steps_state_before
                   : pr_rnn_steps_cell_before)(j, j->d->begin, &g.before_row);
    if (g.before)
        g.before += from * g.before_row;
    pr_kernel_rnn_gates_back(&g);
}

static void rnn_steps_product_back(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_rnn_steps *j = ctx;
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
    const struct pr_rnn_steps *j = ctx;
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

static void bias_back(const struct pr_rnn_steps *j)
{
    const struct pr_rnn *r = j->r;
    size_t bytes = r->out * sizeof(float);
    const float *sums = j->sums;

    memcpy(j->d->dbias, sums + pr_rnn_steps_input_at(r),
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
static int state_turned(const struct pr_onednn *dnn,
                        const struct pr_rnn_steps *j, struct pr_gemm *g,
                        struct pr_err *err)
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
static int recurrent_back(const struct pr_onednn *dnn, struct pr_rnn_steps *j,
                          struct pr_err *err)
{
    const struct pr_rnn *r = j->r;
    size_t out = r->out, wide = 4 * out;
    struct pr_gemm g = {.n = (int64_t)out, .ldb = (int64_t)out};
    int rc = PR_OK;

    pr_rnn_steps_go_to(j, 0);
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

static int input_back(const struct pr_onednn *dnn, const struct pr_rnn_steps *j,
                      struct pr_err *err)
{
    const struct pr_rnn *r = j->r;
    struct pr_gemm g = {.m = (int64_t)(r->batch * r->rows),
                        .n = (int64_t)r->in,
                        .k = (int64_t)(pr_rnn_gate_count(r) * r->out),
                        .alpha = 1,
                        .a = j->d->sums + pr_rnn_steps_input_at(r),
                        .b = j->d->weight,
                        .c = j->d->dx,
                        .lda = (int64_t)(4 * r->out),
                        .ldb = (int64_t)r->in,
                        .ldc = (int64_t)r->in};

    return j->d->dx ? pr_onednn_gemm(dnn, &g, err) : PR_OK;
}

static int rnn_steps_weights_back(const struct pr_onednn *dnn,
                                  const struct pr_threads *p,
                                  struct pr_rnn_steps *j, struct pr_err *err)
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
    int rc = multiply_turned(dnn, &g, pr_rnn_steps_input_at(r),
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
    struct pr_rnn_steps j = pr_rnn_steps_init(r, d, true);
    int rc;

    pr_rnn_steps_clear_last(&j.weights);
    pr_kernel_run(p, r->out * r->out, pack_back, &j);
    for (size_t i = r->rows; i-- > 0;) {
        pr_rnn_steps_go_to(&j, i);
        pr_kernel_run(p, r->batch * r->out * 4, rnn_steps_gates_back, &j);
        if (i)
            pr_kernel_run(p, r->batch * r->out * r->out / 8,
                          rnn_steps_product_back, &j);
    }
    rc = input_back(dnn, &j, err);
    return rc || !d->dweight ? rc : rnn_steps_weights_back(dnn, p, &j, err);
}
