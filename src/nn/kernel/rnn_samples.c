/* A recurrent layer by samples: its memory, and packing of weights. */
#include "nn/kernel/rnn_samples.h"

#include <string.h>

static size_t rnn_samples_round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static struct pr_rnn_samples_sizes rnn_samples_sizes(const struct pr_rnn *r)
{
    size_t wide = rnn_samples_round_up(r->out, PR_LANES),
           cat = r->in + r->out + 1;

    return (struct pr_rnn_samples_sizes){wide, 4 * wide, cat,
                                         rnn_samples_round_up(cat, PR_LANES)};
}

bool pr_rnn_samples_fit(const struct pr_rnn *r, unsigned threads)
{
    enum { FEW = 32 * 1024, MANY = 160 * 1024, EACH = 8 };
    struct pr_rnn_samples_sizes z = rnn_samples_sizes(r);
    size_t floats = z.gates * z.cat;

    return floats <= FEW || (floats <= MANY && r->batch >= EACH * threads);
}

/* A piece of room; NULL while it is only measured. */
static float *rnn_samples_cut_room(const struct pr_rnn_samples *j, size_t *at,
                                   size_t floats)
{
    float *piece = j->d->room ? j->d->room + *at : NULL;

    *at += rnn_samples_round_up(floats, 16);
    return piece;
}

static size_t rnn_samples_lay_out(struct pr_rnn_samples *j, unsigned threads,
                                  bool backward)
{
    const struct pr_rnn *r = j->r;
    const struct pr_rnn_samples_sizes *z = &j->z;
    size_t at = 0;

    j->cat = rnn_samples_cut_room(j, &at, r->batch * z->cats);
    j->bias = rnn_samples_cut_room(j, &at, z->gates);
    if (!backward) {
        j->all = (struct pr_panels){z->cat, z->gates, NULL};
        j->all.data =
            rnn_samples_cut_room(j, &at, pr_panels_floats(z->cat, z->gates));
        return at;
    }
    j->to_state = (struct pr_panels){z->gates, z->wide, NULL};
    j->to_state.data =
        rnn_samples_cut_room(j, &at, pr_panels_floats(z->gates, z->wide));
    j->to_input = (struct pr_panels){z->gates, r->in, NULL};
    j->to_input.data =
        rnn_samples_cut_room(j, &at, pr_panels_floats(z->gates, r->in));
    j->sums = rnn_samples_cut_room(j, &at, r->batch * z->gates);
    j->dh = rnn_samples_cut_room(j, &at, r->batch * z->wide);
    j->dc = rnn_samples_cut_room(j, &at, r->batch * z->wide);
    j->dall = rnn_samples_cut_room(j, &at, threads * z->gates * z->cats);
    return at;
}

size_t pr_rnn_samples_room(const struct pr_rnn *r, unsigned threads,
                           bool backward)
{
    struct pr_rnn_data none = {0};
    struct pr_rnn_samples j = {.r = r, .d = &none, .z = rnn_samples_sizes(r)};

    return rnn_samples_lay_out(&j, threads, backward);
}

size_t pr_rnn_samples_kept(const struct pr_rnn *r, bool training)
{
    struct pr_rnn_samples_sizes z = rnn_samples_sizes(r);
    size_t rows = r->batch * (training ? r->rows : 1);

    return rows * (z.gates + (r->is_gru ? 0 : z.wide));
}

void pr_rnn_samples_init(const struct pr_threads *p, const struct pr_rnn *r,
                         const struct pr_rnn_data *d, bool training,
                         bool backward, struct pr_rnn_samples *ret)
{
    struct pr_rnn_samples j = {.r = r, .d = d, .z = rnn_samples_sizes(r)};

    j.kept_rows = training ? r->rows : 1;
    j.gates = d->kept;
    j.cells = d->kept + r->batch * j.kept_rows * j.z.gates;
    rnn_samples_lay_out(&j, pr_threads_count(p), backward);
    *ret = j;
}

void pr_rnn_samples_run(const struct pr_threads *p, struct pr_rnn_samples *j,
                        pr_threads_fn *fn)
{
    const struct pr_rnn *r = j->r;

    pr_kernel_run(p, r->batch * r->rows * j->z.gates, fn, j);
}

struct pr_rnn_samples_share
pr_rnn_samples_share_of(const struct pr_rnn_samples *j, unsigned thread,
                        unsigned threads)
{
    struct pr_rnn_samples_share s = {0};
    size_t end;

    pr_threads_part(j->r->batch, 1, thread, threads, &s.first, &end);
    s.count = end - s.first;
    return s;
}

/* ---- packing */

int pr_rnn_samples_gate(const struct pr_rnn *r, size_t b, bool recurrent)
{
    if (!r->is_gru)
        return (int)b;
    return !recurrent ? (int)b - 1 : b == 0 ? 2 : b == 3 ? -1 : (int)b - 1;
}

void pr_rnn_samples_pack(const struct pr_rnn_samples *j)
{
    const struct pr_rnn *r = j->r;
    size_t wide = j->z.wide;

    memset(j->all.data, 0, j->z.cat * j->z.gates * sizeof(float));
    for (size_t b = 0; b < 4; b++) {
        int in = pr_rnn_samples_gate(r, b, false),
            out = pr_rnn_samples_gate(r, b, true);
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
void pr_rnn_samples_pack_back(const struct pr_rnn_samples *j,
                              const struct pr_panels *to, const float *weights,
                              size_t n, bool recurrent)
{
    const struct pr_rnn *r = j->r;

    memset(to->data, 0, pr_panels_floats(to->k, to->n) * sizeof(float));
    for (size_t b = 0; b < 4; b++) {
        int gate = pr_rnn_samples_gate(r, b, recurrent);
        struct pr_panel_fill f = {
            .by_k = n, .by_n = 1, .k0 = b * j->z.wide, .k = r->out, .n = n};

        if (gate < 0)
            continue;
        f.from = weights + (size_t)gate * r->out * n;
        pr_kernel_panel_fill(to, &f, 0, 1);
    }
}
