/* Episodes of a pole on a cart, and what is learned from them. */
#include "native/native_cart.h"

#include <math.h>

enum { SEES = 4, ACTIONS = 2 };
static const double discount = 0.99;

static bool is_vector(const struct pr_layer *l, int64_t count)
{
    return l->shape.dims == 1 && l->shape.at[0] == count;
}

static int cartpole_find_inputs(struct pr_cartpole_agent *c,
                                const struct pr_model *m, struct pr_err *err)
{
    int see = pr_model_input(m, "observation");
    int act = pr_model_input(m, "action");
    int worth = pr_model_input(m, "worth");
    const struct pr_layer *l = m->layers;

    if (see < 0 || act < 0 || worth < 0 || !is_vector(&l[see], SEES) ||
        l[see].ids || !is_vector(&l[worth], 1) || l[worth].ids ||
        !is_vector(&l[act], 1) || l[act].ids != ACTIONS ||
        !is_vector(&l[m->output], ACTIONS))
        return pr_fail(err, PR_E_CONF, m->path,
                       "data 'cartpole' wants inputs 'observation' of [4], "
                       "'action' of two ids and 'worth', and an output of two "
                       "classes");
    c->observation = (unsigned)see;
    c->action = (unsigned)act;
    c->worth = (unsigned)worth;
    return PR_OK;
}

int pr_cartpole_check_model(const struct pr_model *m, struct pr_err *err)
{
    struct pr_cartpole_agent c;

    return cartpole_find_inputs(&c, m, err);
}

int pr_cartpole_open(struct pr_cartpole_agent *c, const struct pr_native *n,
                     struct pr_net *learning, struct pr_err *err)
{
    struct pr_net_opts opts = n->net;
    int rc;

    *c = (struct pr_cartpole_agent){.reward = 0};
    opts.batch = 1;
    opts.training = opts.profile = opts.keep_gradients = false;
    opts.threads = 1; /* there is nothing to share out */
    opts.reduce = NULL;
    rc = cartpole_find_inputs(c, n->model, err);
    if (!rc)
        rc = pr_net_new(n->model, &opts, &c->acting, err);
    if (!rc)
        rc = pr_net_copy(c->acting, learning, err);
    pr_rng_seed(&c->rng, (uint64_t)n->nn.seed, 1 + n->rank);
    return rc;
}

void pr_cartpole_close(struct pr_cartpole_agent *c)
{
    pr_net_free(c->acting);
    c->acting = NULL;
}

/* Draws an action by the logits of the acting net. */
static int cartpole_draw_action(struct pr_cartpole_agent *c, const float *sees,
                                int32_t *ret, struct pr_err *err)
{
    float *in = pr_net_input(c->acting, c->observation);
    const float *logits;
    int rc;

    for (unsigned i = 0; i < SEES; i++)
        in[i] = sees[i];
    rc = pr_net_infer(c->acting, NULL, err);
    if (rc)
        return rc;
    logits = pr_net_output(c->acting);
    *ret = pr_rng_double(&c->rng) >=
           1 / (1 + exp((double)(logits[1] - logits[0])));
    return PR_OK;
}

/* Each step is worth what came from it on, later rewards less, measured by
 * mean and deviation of the episode. */
static void cartpole_compute_worth(unsigned steps, float *worth)
{
    double later = 0, mean = 0, squares = 0, deviation;

    for (unsigned i = steps; i-- > 0;) {
        later = 1 + discount * later;
        worth[i] = (float)later;
        mean += later / steps;
    }
    for (unsigned i = 0; i < steps; i++)
        squares += (worth[i] - mean) * (worth[i] - mean);
    deviation = steps > 1 ? sqrt(squares / (steps - 1)) : 0;
    for (unsigned i = 0; i < PR_CARTPOLE_STEPS; i++)
        worth[i] =
            i < steps ? (float)((worth[i] - mean) / (deviation + 1.2e-7)) : 0;
}

static int cartpole_play_episode(struct pr_cartpole_agent *c,
                                 struct pr_net *learning, unsigned *ret_steps,
                                 struct pr_err *err)
{
    float *sees = pr_net_input(learning, c->observation);
    int32_t *actions = pr_net_input(learning, c->action);
    struct pr_cartpole world;
    bool goes_on = true;
    int rc = PR_OK;

    pr_cartpole_start(&world, &c->rng);
    for (; goes_on && !rc; sees += SEES, actions++) {
        sees[0] = (float)world.x;
        sees[1] = (float)world.speed;
        sees[2] = (float)world.angle;
        sees[3] = (float)world.turning;
        rc = cartpole_draw_action(c, sees, actions, err);
        if (!rc)
            goes_on = pr_cartpole_push(&world, *actions);
    }
    *ret_steps = world.steps;
    return rc;
}

int pr_cartpole_run_episode(struct pr_cartpole_agent *c,
                            const struct pr_native *n, struct pr_net *learning,
                            uint64_t *ret_steps, struct pr_net_score *ret,
                            struct pr_err *err)
{
    unsigned steps = 0;
    int rc = cartpole_play_episode(c, learning, &steps, err);

    if (rc)
        return rc;
    c->reward += (c->reward > 0 ? 0.1 : 1) * (steps - c->reward);
    *ret_steps = steps;
    if (!n->net.training)
        return PR_OK;
    cartpole_compute_worth(steps, pr_net_input(learning, c->worth));
    rc = pr_net_train(learning, ret, err);
    return rc ? rc : pr_net_copy(c->acting, learning, err);
}
