/*
 * A recurrent layer computed plainly: one sample after another, in doubles,
 * by the formulas of PyTorch's documentation. Gradients are differences of the
 * loss, which is the sum of all outputs times fixed numbers.
 */
#ifndef TESTS_UNIT_TEST_NN_RNN_H
#define TESTS_UNIT_TEST_NN_RNN_H

#include "test_nn_kernel.h"

#include "nn/engine/onednn.h"
#include "nn/kernel/kernel_rnn.h"

struct rnn_row {
    struct pr_rnn r;
    bool carry;
};

/* Sizes around those of vectors and tiles; one row, one sample. */
static const struct rnn_row rnn_rows[] = {
    {.r = {.batch = 1, .rows = 1, .in = 1, .out = 1}},
    {.r = {.batch = 3, .rows = 4, .in = 2, .out = 3}},
    {.r = {.batch = 1, .rows = 5, .in = 3, .out = 8}},
    {.r = {.batch = 5, .rows = 1, .in = 9, .out = 5}},
    {.r = {.batch = 7, .rows = 3, .in = 1, .out = 11}},
    {.r = {.batch = 14, .rows = 2, .in = 5, .out = 17}},
    {.r = {.batch = 2, .rows = 6, .in = 16, .out = 16}},
    {.r = {.batch = 49, .rows = 2, .in = 2, .out = 47}}, /* for threads */
};

enum { RNN_ARRAYS = 5 }; /* x, weight, recurrent, bias, recurrent_bias */

/* How it is computed. */
struct rnn_way {
    struct pr_onednn *dnn;
    size_t (*kept)(const struct pr_rnn *r, bool training);
    size_t (*room)(const struct pr_rnn *r, unsigned threads, bool backward);
    void (*forward)(struct pr_onednn *dnn, const struct pr_threads *p,
                    const struct pr_rnn *r, const struct pr_rnn_data *d,
                    bool training);
    void (*backward)(struct pr_onednn *dnn, const struct pr_threads *p,
                     const struct pr_rnn *r, const struct pr_rnn_data *d);
};

struct rnn_case {
    const struct rnn_row *row;
    const struct rnn_way *way;
    unsigned threads;
    size_t sizes[RNN_ARRAYS];
    float *arrays[RNN_ARRAYS];
    size_t states; /* numbers */
    float *state, *factors;
};

/* ---- plainly */

static inline double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

/* Gate number `gate` of the input or the state: one sum. */
static inline double gate_sum(const struct pr_rnn *r, double *const *v,
                              size_t gate, size_t j, const double *x,
                              const double *h, bool recurrent)
{
    size_t n = recurrent ? r->out : r->in, at = gate * r->out + j;
    const double *row = v[recurrent ? 2 : 1] + at * n;
    double sum = v[recurrent ? 4 : 3][at];

    for (size_t i = 0; i < n; i++)
        sum += row[i] * (recurrent ? h : x)[i];
    return sum;
}

static inline void plain_row(const struct pr_rnn *r, double *const *v,
                             const double *x, double *h, double *c)
{
    double next[64];

    assert_true(r->out <= COUNT(next));
    for (size_t j = 0; j < r->out; j++) {
        double a[4], b[4];

        for (size_t g = 0; g < pr_rnn_gate_count(r); g++) {
            a[g] = gate_sum(r, v, g, j, x, h, false);
            b[g] = gate_sum(r, v, g, j, x, h, true);
        }
        if (r->is_gru) {
            double reset = logistic(a[0] + b[0]);
            double update = logistic(a[1] + b[1]);

            next[j] = (1 - update) * tanh(a[2] + reset * b[2]) + update * h[j];
        } else {
            c[j] = logistic(a[1] + b[1]) * c[j] +
                   logistic(a[0] + b[0]) * tanh(a[2] + b[2]);
            next[j] = logistic(a[3] + b[3]) * tanh(c[j]);
        }
    }
    memcpy(h, next, r->out * sizeof *h);
}

/* y may be NULL; state (or NULL: 0) is changed. */
static inline double plain_loss(const struct rnn_case *k, double *const *v,
                                double *state, double *y)
{
    const struct pr_rnn *r = &k->row->r;
    double loss = 0, h[64], c[64];

    for (size_t b = 0; b < r->batch; b++) {
        for (size_t j = 0; j < r->out; j++) {
            h[j] = state ? state[b * r->out + j] : 0;
            c[j] = state && !r->is_gru ? state[(r->batch + b) * r->out + j] : 0;
        }
        for (size_t i = 0; i < r->rows; i++) {
            size_t at = b * r->rows + (r->reverse ? r->rows - 1 - i : i);

            plain_row(r, v, v[0] + at * r->in, h, c);
            for (size_t j = 0; j < r->out; j++) {
                loss += h[j] * (double)k->factors[at * r->out + j];
                if (y)
                    y[at * r->out + j] = h[j];
            }
        }
        for (size_t j = 0; state && j < r->out; j++) {
            state[b * r->out + j] = h[j];
            if (!r->is_gru)
                state[(r->batch + b) * r->out + j] = c[j];
        }
    }
    return loss;
}

/* ---- cases */

static inline double *doubles(const float *x, size_t count)
{
    double *y = pr_alloc(count * sizeof *y);

    assert_non_null(y);
    for (size_t i = 0; i < count; i++)
        y[i] = (double)x[i];
    return y;
}

static inline void case_new(struct rnn_case *k, const struct rnn_row *row,
                            unsigned threads, const struct rnn_way *way)
{
    const struct pr_rnn *r = &row->r;
    size_t gates = pr_rnn_gate_count(r) * r->out;
    size_t sizes[] = {r->batch * r->rows * r->in, gates * r->in, gates * r->out,
                      gates, gates};

    *k = (struct rnn_case){.row = row, .way = way, .threads = threads};
    for (size_t i = 0; i < RNN_ARRAYS; i++) {
        k->sizes[i] = sizes[i];
        k->arrays[i] = drawn(sizes[i], 10 + i, 0);
        for (size_t e = 0; e < sizes[i] && i; e++)
            k->arrays[i][e] *= 0.4f;
    }
    k->states = (r->is_gru ? 1 : 2) * r->batch * r->out;
    k->state = drawn(k->states, 20, 0);
    k->factors = drawn(r->batch * r->rows * r->out, 21, 0);
}

static inline void case_free(struct rnn_case *k)
{
    for (size_t i = 0; i < RNN_ARRAYS; i++)
        tensor_free(k->arrays[i], k->sizes[i]);
    tensor_free(k->state, k->states);
    tensor_free(k->factors, k->row->r.batch * k->row->r.rows * k->row->r.out);
}

struct rnn_run {
    struct pr_rnn_data d;
    size_t outs, kept, room;
};

static inline void run_new(struct rnn_run *run, const struct rnn_case *k,
                           bool training)
{
    const struct pr_rnn *r = &k->row->r;
    size_t back = training ? k->way->room(r, k->threads, true) : 0;

    run->outs = r->batch * r->rows * r->out;
    run->kept = k->way->kept(r, training);
    run->room = k->way->room(r, k->threads, false);
    run->room = back > run->room ? back : run->room;
    run->d = (struct pr_rnn_data){
        .x = k->arrays[0],
        .weight = k->arrays[1],
        .recurrent = k->arrays[2],
        .bias = k->arrays[3],
        .recurrent_bias = k->arrays[4],
        .y = tensor(run->outs),
        .state = k->row->carry ? copied(k->state, k->states) : NULL,
        .begin = k->row->carry && training ? tensor(k->states) : NULL,
        .kept = tensor(run->kept),
        .room = tensor(run->room),
    };
}

static inline void run_free(struct rnn_run *run, const struct rnn_case *k)
{
    tensor_free(run->d.y, run->outs);
    if (run->d.state)
        tensor_free(run->d.state, k->states);
    if (run->d.begin)
        tensor_free(run->d.begin, k->states);
    tensor_free(run->d.kept, run->kept);
    tensor_free(run->d.room, run->room);
}

/* Two calls: the second begins where the first ended, with carry. */
static inline void case_check_forward(struct rnn_case *k,
                                      const struct pr_threads *p, bool training)
{
    double *v[RNN_ARRAYS], *state = doubles(k->state, k->states), *y;
    struct rnn_run run;

    run_new(&run, k, training);
    for (size_t i = 0; i < RNN_ARRAYS; i++)
        v[i] = doubles(k->arrays[i], k->sizes[i]);
    y = pr_alloc(run.outs * sizeof *y);
    assert_non_null(y);
    for (unsigned call = 0; call < 2; call++) {
        plain_loss(k, v, k->row->carry ? state : NULL, y);
        k->way->forward(k->way->dnn, p, &k->row->r, &run.d, training);
        for (size_t i = 0; i < run.outs; i++)
            assert_near(run.d.y[i], y[i], 2e-6);
        for (size_t i = 0; i < k->states && run.d.state; i++)
            assert_near(run.d.state[i], state[i], 2e-6);
    }
    for (size_t i = 0; i < RNN_ARRAYS; i++)
        pr_free(v[i]);
    pr_free(state);
    pr_free(y);
    run_free(&run, k);
}

/* The derivative of the loss by one number. */
static inline double slope(const struct rnn_case *k, double **v, size_t array,
                           size_t at)
{
    const double step = 1e-5;
    double was = v[array][at], loss[2];

    for (int side = 0; side < 2; side++) {
        double *state = k->row->carry ? doubles(k->state, k->states) : NULL;

        v[array][at] = side ? was + step : was - step;
        loss[side] = plain_loss(k, v, state, NULL);
        pr_free(state);
    }
    v[array][at] = was;
    return (loss[1] - loss[0]) / (2 * step);
}

static inline void case_check_backward(struct rnn_case *k,
                                       const struct pr_threads *p)
{
    double *v[RNN_ARRAYS];
    float *got[RNN_ARRAYS];
    struct rnn_run run;

    run_new(&run, k, true);
    for (size_t i = 0; i < RNN_ARRAYS; i++) {
        v[i] = doubles(k->arrays[i], k->sizes[i]);
        got[i] = tensor(k->sizes[i]);
    }
    run.d.dy = k->factors;
    run.d.sums = run.d.kept;
    run.d.dx = got[0];
    run.d.dweight = got[1];
    run.d.drecurrent = got[2];
    run.d.dbias = got[3];
    run.d.drecurrent_bias = got[4];
    k->way->forward(k->way->dnn, p, &k->row->r, &run.d, true);
    k->way->backward(k->way->dnn, p, &k->row->r, &run.d);
    for (size_t i = 0; i < RNN_ARRAYS; i++) {
        size_t step = k->sizes[i] / 20 + 1;

        for (size_t e = 0; e < k->sizes[i]; e += step)
            assert_near(got[i][e], slope(k, v, i, e), 1e-5);
        tensor_free(got[i], k->sizes[i]);
    }
    for (size_t i = 0; i < RNN_ARRAYS; i++)
        pr_free(v[i]);
    run_free(&run, k);
}

/* ---- by samples; the other way is in test_nn_net_rnn_steps.c */

static inline void samples_forward(struct pr_onednn *dnn,
                                   const struct pr_threads *p,
                                   const struct pr_rnn *r,
                                   const struct pr_rnn_data *d, bool training)
{
    (void)dnn;
    pr_rnn_samples_forward(p, r, d, training);
}

static inline void samples_backward(struct pr_onednn *dnn,
                                    const struct pr_threads *p,
                                    const struct pr_rnn *r,
                                    const struct pr_rnn_data *d)
{
    (void)dnn;
    pr_rnn_samples_back(p, r, d);
}

static const struct rnn_way by_samples = {
    .kept = pr_rnn_samples_kept,
    .room = pr_rnn_samples_room,
    .forward = samples_forward,
    .backward = samples_backward,
};

/* ---- all rows, as lstm and gru, both ways round, with a state and without */

static inline void check_layer(const struct rnn_row *row,
                               const struct pr_threads *p,
                               const struct rnn_way *way)
{
    struct rnn_case c;

    case_new(&c, row, pr_threads_count(p), way);
    case_check_forward(&c, p, false);
    case_check_forward(&c, p, true);
    case_check_backward(&c, p);
    case_free(&c);
}

static inline void check_all(const struct pr_threads *p,
                             const struct rnn_way *way)
{
    size_t step = is_brief() ? 5 : 1;

    for (size_t i = 0; i < COUNT(rnn_rows); i += step)
        for (unsigned k = 0; k < 8; k++) {
            struct rnn_row row = rnn_rows[i];

            row.r.is_gru = k & 1;
            row.r.reverse = k & 2;
            row.carry = k & 4;
            check_layer(&row, p, way);
        }
}

#endif
