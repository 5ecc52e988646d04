/* Rows of models against the plain network: a step or more of training, or
 * inference. */
#ifndef TESTS_UNIT_TEST_NN_NET_ROWS_H
#define TESTS_UNIT_TEST_NN_NET_ROWS_H

#include "nn_models.h"
#include "test_nn_net.h"

struct way {
    bool training;
    unsigned threads;
    enum pr_nn_rnn rnn;
    int steps;
    bool in_turns;
    bool all_losses; /* of inference */
};

static inline struct pr_net_opts way_opts(const struct way *w, unsigned batch)
{
    struct pr_net_opts o = opts_of(batch, w->training);

    o.threads = w->threads;
    o.rnn = w->rnn;
    o.all_losses = w->all_losses;
    o.optimizer.learning_rate = 0.02;
    return o;
}

/* One step in both. False when it could not be compared: something is so near
 * to where it bends that float32 may take the other side. */
static inline bool train(struct ref *r, struct pr_net *net, double limit,
                         const char *what)
{
    struct pr_net_score score;
    struct pr_err err = {0};

    load_masks(r, net);
    ref_step(r, &net->opts.optimizer);
    if (pr_net_train(net, &score, &err))
        fail_msg("%s: %s\n%s", err.where, err.msg, what);
    if (r->has_kink)
        return false;
    compare_output(r, net, limit, what);
    compare_losses(r, &score, limit, what);
    compare_tensors(r, net, true, limit, what);
    compare_tensors(r, net, false, limit, what);
    return true;
}

/* Losses of what is not computed for the output are 0. */
static inline void drop_losses(struct ref *r, const struct pr_net *net)
{
    r->loss = 0;
    for (unsigned i = 0; i < r->m->loss_count; i++) {
        const struct pr_loss *l = &r->m->losses[i];

        for (unsigned k = 0; k < l->of_count; k++)
            if (net->nodes[net->nodes[l->of[k]].leader].out < 0)
                r->losses[i] = 0;
        for (unsigned k = 0; k < l->target_count; k++)
            if (net->nodes[net->nodes[l->targets[k]].leader].out < 0)
                r->losses[i] = 0;
        r->loss += r->losses[i];
    }
}

static inline void infer(struct ref *r, struct pr_net *net, const char *what)
{
    for (int i = 0; i < 2; i++) { /* twice: what is carried */
        struct pr_net_score score;
        struct pr_err err = {0};

        ref_forward(r);
        ref_loss(r);
        ref_carry(r);
        if (!net->opts.all_losses)
            drop_losses(r, net);
        if (pr_net_infer(net, &score, &err))
            fail_msg("%s: %s\n%s", err.where, err.msg, what);
        compare_output(r, net, 1e-4, what);
        compare_losses(r, &score, 1e-4, what);
    }
}

/* One draw of numbers. */
static inline bool compare(const struct nn_row *row, uint64_t seed,
                           const struct way *w)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct pr_model *m = model_of(a, row->input, row->layers);
    struct pr_net_opts o = way_opts(w, row->batch);
    struct pr_net *net;
    bool is_clear = true;
    struct ref r;

    if (w->in_turns && (m->turn_count > 1 || !split_turns(a, m)))
        return true;
    net = net_of(m, &o);
    check_plan(net, row->layers);
    fill_net(net, seed);
    ref_new(&r, a, m, row->batch, w->training);
    load_ref(&r, net);
    if (!w->training)
        infer(&r, net, row->layers);
    else
        is_clear = train(&r, net, 1e-4, row->layers);
    for (int i = 1; i < w->steps && is_clear; i++)
        if (!train(&r, net, 1e-3, row->layers))
            break;
    pr_net_free(net);
    return is_clear;
}

/* Draws again until gradients were compared: no row may go without. */
static inline void compare_row(const struct nn_row *row, uint64_t seed,
                               const struct way *w)
{
    enum { DRAWS = 10 };

    for (uint64_t k = 0; k < DRAWS; k++)
        if (compare(row, seed + 1000 * k, w))
            return;
    fail_msg("gradients not compared: all %d draws are near a bend\n%s", DRAWS,
             row->layers);
}

static inline void compare_all(const struct nn_row *all, size_t count,
                               const struct way *w)
{
    size_t step = is_brief() ? 11 : 1;

    for (size_t i = 0; i < count; i += step)
        compare_row(&all[i], i, w);
}

#endif
