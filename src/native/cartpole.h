/*
 * A pole on a cart, to be kept upright by pushing the cart left or right:
 * Barto, Sutton and Anderson 1983, with the numbers of Gym's CartPole-v0.
 */
#ifndef PR_NATIVE_CARTPOLE_H
#define PR_NATIVE_CARTPOLE_H

#include "base/random.h"

#include <stdbool.h>

enum { PR_CARTPOLE_STEPS = 200 }; /* an episode is no longer */

struct pr_cartpole {
    double x, speed, angle, turning;
    unsigned steps; /* of this episode */
};

/* Nearly upright, at random. */
void pr_cartpole_start(struct pr_cartpole *c, struct pr_rng *rng);

/* One fiftieth of a second. False: the episode is over, this was its last
 * step. */
bool pr_cartpole_push(struct pr_cartpole *c, bool right);

#endif
