/* A recurrent layer by samples: forward. */
#include "nn/kernel/rnn_samples.h"

#include <string.h>

static const float *state_h(const struct pr_rnn_samples *j, const float *state,
                            const struct pr_rnn_samples_share *s)
{
    return state ? state + s->first * j->r->out : NULL;
}

static const float *state_c(const struct pr_rnn_samples *j, const float *state,
                            const struct pr_rnn_samples_share *s)
{
    return state ? state + (j->r->batch + s->first) * j->r->out : NULL;
}

static void rnn_samples_begin(const struct pr_rnn_samples *j,
                              const struct pr_rnn_samples_share *s)
{
    const struct pr_rnn *r = j->r;
    const float *h = state_h(j, j->d->state, s);

    for (size_t i = 0; i < s->count; i++) {
        float *cat = j->cat + (s->first + i) * j->z.cats;

        cat[r->in + r->out] = 1;
        if (h)
            memcpy(cat + r->in, h + i * r->out, r->out * sizeof *h);
        else
            memset(cat + r->in, 0, r->out * sizeof *cat);
    }
}

static void rnn_samples_keep_state(const struct pr_rnn_samples *j,
                                   const struct pr_rnn_samples_share *s)
{
    const struct pr_rnn *r = j->r;
    size_t bytes = r->out * sizeof(float);
    float *h = j->d->state + s->first * r->out;
    float *c = h + r->batch * r->out;

    for (size_t i = 0; i < s->count; i++) {
        memcpy(h + i * r->out,
               j->d->y + pr_rnn_samples_place(s, r->rows, r->out) +
                   i * r->rows * r->out,
               bytes);
        if (!r->is_gru)
            memcpy(c + i * r->out,
                   j->cells + pr_rnn_samples_place(s, j->kept_rows, j->z.wide) +
                       i * j->kept_rows * j->z.wide,
                   bytes);
    }
}

/* The cells of the row before, or the state that the call began with. */
const float *pr_rnn_samples_cell_before(const struct pr_rnn_samples *j,
                                        const float *state,
                                        const struct pr_rnn_samples_share *s,
                                        size_t *ret_row)
{
    struct pr_rnn_samples_share other = *s;

    if (s->is_first) {
        *ret_row = j->r->out;
        return state_c(j, state, s);
    }
    other.row += j->r->reverse ? 1 : (size_t)-1;
    *ret_row = j->kept_rows * j->z.wide;
    return j->cells + pr_rnn_samples_place(&other, j->kept_rows, j->z.wide);
}

static void rnn_samples_forward_row(const struct pr_rnn_samples *j,
                                    const struct pr_rnn_samples_share *s)
{
    const struct pr_rnn *r = j->r;
    const struct pr_rnn_samples_sizes *z = &j->z;
    float *cat = j->cat + s->first * z->cats;
    const float *x = j->d->x + pr_rnn_samples_place(s, r->rows, r->in);
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
    g.gates = j->gates + pr_rnn_samples_place(s, j->kept_rows, z->gates);
    g.cell = j->cells + pr_rnn_samples_place(s, j->kept_rows, z->wide);
    g.y = j->d->y + pr_rnn_samples_place(s, r->rows, r->out);
    g.before = cat + r->in;
    g.before_row = z->cats;
    if (!r->is_gru)
        g.before = pr_rnn_samples_cell_before(j, j->d->state, s, &g.before_row);
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
    const struct pr_rnn_samples *j = ctx;
    const struct pr_rnn *r = j->r;
    struct pr_rnn_samples_share s = pr_rnn_samples_share_of(j, thread, threads);

    if (!s.count)
        return;
    rnn_samples_begin(j, &s);
    for (size_t i = 0; i < r->rows; i++) {
        s.row = pr_rnn_samples_row(r, i);
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
    struct pr_rnn_samples j;

    if (d->state && d->begin)
        memcpy(d->begin, d->state, state * sizeof(float));
    pr_rnn_samples_init(p, r, d, training, false, &j);
    pr_rnn_samples_pack(&j);
    pr_rnn_samples_run(p, &j, rnn_samples_forward);
}
