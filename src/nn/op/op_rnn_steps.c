/* A recurrent layer row by row: memory, and forward. */
#include "nn/op/rnn_steps.h"

static size_t rnn_steps_round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

size_t pr_rnn_steps_sums(const struct pr_rnn *r)
{
    return r->batch * r->rows * r->out * 4;
}

size_t pr_rnn_steps_kept(const struct pr_rnn *r)
{
    return r->batch * r->rows * r->out * (r->is_gru ? 4 : 5);
}

/* ---- memory and packing */

static float *rnn_steps_cut_room(const struct pr_rnn_steps *j, size_t *at,
                                 size_t floats)
{
    float *piece = j->d->room ? j->d->room + *at : NULL;

    *at += rnn_steps_round_up(floats, 16);
    return piece;
}

static size_t rnn_steps_lay_out(struct pr_rnn_steps *j, bool backward)
{
    const struct pr_rnn *r = j->r;
    size_t at = 0, gates = pr_rnn_gate_count(r) * r->out;

    if (backward) {
        j->weights = (struct pr_panels){gates, r->out, NULL};
        j->weights.data =
            rnn_steps_cut_room(j, &at, pr_panels_floats(gates, r->out));
        j->dh = rnn_steps_cut_room(j, &at, r->batch * r->out);
        j->dc = rnn_steps_cut_room(j, &at, r->batch * r->out);
        j->sums = rnn_steps_cut_room(j, &at, 4 * r->out);
        return at;
    }
    j->bias =
        rnn_steps_cut_room(j, &at, 4 * rnn_steps_round_up(r->out, PR_LANES));
    j->weights = (struct pr_panels){r->out, r->is_gru ? r->out : gates, NULL};
    j->more = (struct pr_panels){r->out, r->is_gru ? 2 * r->out : 0, NULL};
    j->weights.data =
        rnn_steps_cut_room(j, &at, pr_panels_floats(r->out, j->weights.n));
    j->more.data =
        rnn_steps_cut_room(j, &at, pr_panels_floats(r->out, j->more.n));
    return at;
}

size_t pr_rnn_steps_room(const struct pr_rnn *r, bool backward)
{
    struct pr_rnn_data none = {0};
    struct pr_rnn_steps j = {.r = r, .d = &none};

    return rnn_steps_lay_out(&j, backward);
}

struct pr_rnn_steps pr_rnn_steps_init(const struct pr_rnn *r,
                                      const struct pr_rnn_data *d,
                                      bool backward)
{
    struct pr_rnn_steps j = {.r = r, .d = d};

    j.cells = d->kept + r->batch * r->rows * 4 * r->out;
    rnn_steps_lay_out(&j, backward);
    return j;
}

void pr_rnn_steps_clear_last(const struct pr_panels *to)
{
    size_t last = to->n ? (to->n - 1) / PR_PANEL * PR_PANEL : 0;
    size_t all = pr_panels_floats(to->k, to->n);

    memset(to->data + last * to->k, 0, (all - last * to->k) * sizeof *to->data);
}

static void rnn_steps_pack(void *ctx, unsigned thread, unsigned threads)
{
    const struct pr_rnn_steps *j = ctx;
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

/* ---- forward */

void pr_rnn_steps_go_to(struct pr_rnn_steps *j, size_t i)
{
    const struct pr_rnn *r = j->r;

    j->row = r->reverse ? r->rows - 1 - i : i;
    j->before = i == 0 ? r->rows : r->reverse ? j->row + 1 : j->row - 1;
    j->is_last = i == r->rows - 1;
}

const float *pr_rnn_steps_state_before(const struct pr_rnn_steps *j,
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

const float *pr_rnn_steps_cell_before(const struct pr_rnn_steps *j,
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
    const struct pr_rnn_steps *j = ctx;
    const struct pr_rnn *r = j->r;
    struct pr_panel_product p = {.m = r->batch,
                                 .b = &j->weights,
                                 .a_col = 1,
                                 .c = pr_rnn_steps_kept_at(j, 0, j->row),
                                 .c_row = r->rows * 4 * r->out,
                                 .add = !r->is_gru};

    p.a = pr_rnn_steps_state_before(j, j->d->state, &p.a_row);
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
    const struct pr_rnn_steps *j = ctx;
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
    g.gates = pr_rnn_steps_kept_at(j, from, j->row);
    g.cell = j->cells + (from * r->rows + j->row) * r->out;
    g.y = j->d->y + (from * r->rows + j->row) * r->out;
    g.before =
        (r->is_gru ? pr_rnn_steps_state_before
                   : pr_rnn_steps_cell_before)(j, j->d->state, &g.before_row);
    if (g.before)
        g.before += from * g.before_row;
    pr_kernel_rnn_gates(&g);
}

static void rnn_steps_keep_state(const struct pr_rnn_steps *j)
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
static int input_product(const struct pr_onednn *dnn,
                         const struct pr_rnn_steps *j, struct pr_err *err)
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
                          .c = j->d->kept + pr_rnn_steps_input_at(r),
                          .lda = (int64_t)r->in,
                          .ldb = (int64_t)r->in,
                          .ldc = (int64_t)(4 * r->out)},
        err);
}

int pr_rnn_steps_forward(const struct pr_onednn *dnn,
                         const struct pr_threads *p, const struct pr_rnn *r,
                         const struct pr_rnn_data *d, struct pr_err *err)
{
    struct pr_rnn_steps j = pr_rnn_steps_init(r, d, false);
    size_t state = (r->is_gru ? 1 : 2) * r->batch * r->out;
    int rc = input_product(dnn, &j, err);

    if (rc)
        return rc;
    if (d->state && d->begin)
        memcpy(d->begin, d->state, state * sizeof(float));
    pr_kernel_rnn_bias(r->is_gru, r->out, d->bias, d->recurrent_bias, j.bias);
    pr_rnn_steps_clear_last(&j.weights);
    pr_rnn_steps_clear_last(&j.more);
    pr_kernel_run(p, r->out * r->out, rnn_steps_pack, &j);
    for (size_t i = 0; i < r->rows; i++) {
        pr_rnn_steps_go_to(&j, i);
        pr_kernel_run(p, r->batch * r->out * r->out / 8, rnn_steps_product, &j);
        pr_kernel_run(p, r->batch * r->out * 4, rnn_steps_gates, &j);
    }
    if (d->state)
        rnn_steps_keep_state(&j);
    return PR_OK;
}
