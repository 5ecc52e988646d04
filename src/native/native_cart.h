/*
 * Learning by playing (REINFORCE): a network of batch 1 says how likely each
 * action is, and after each episode the network that learns is told what its
 * actions were worth.
 */
#ifndef PR_NATIVE_CART_H
#define PR_NATIVE_CART_H

#include "native/cartpole.h"
#include "native/native.h"

struct pr_cartpole_agent {
    struct pr_net *acting;
    unsigned observation, action, worth; /* inputs of the model */
    struct pr_rng rng;
    double reward; /* of an episode, the mean of about the last ten */
};

/* Whether it has the inputs and outputs of such a game. */
int pr_cartpole_check_model(const struct pr_model *m,
                            struct pr_err *err) PR_MUST_CHECK;

/* learning: the net of batch PR_CARTPOLE_STEPS. */
int pr_cartpole_open(struct pr_cartpole_agent *c, const struct pr_native *n,
                     struct pr_net *learning, struct pr_err *err) PR_MUST_CHECK;
void pr_cartpole_close(struct pr_cartpole_agent *c);

/* Plays an episode, and learns from it where the net is one for training.
 * *ret_steps: how long it was. */
int pr_cartpole_run_episode(struct pr_cartpole_agent *c,
                            const struct pr_native *n, struct pr_net *learning,
                            uint64_t *ret_steps, struct pr_net_score *ret,
                            struct pr_err *err) PR_MUST_CHECK;

#endif
