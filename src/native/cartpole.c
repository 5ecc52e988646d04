/* The motion of a pole on a cart, by Euler's method. */
#include "native/cartpole.h"

#include <math.h>

static const double gravity = 9.8, cart = 1.0, pole = 0.1, half = 0.5;
static const double force = 10.0, tick = 0.02;
static const double farthest = 2.4, steepest = 12 * 2 * 3.141592653589793 / 360;

void pr_cartpole_start(struct pr_cartpole *c, struct pr_rng *rng)
{
    *c = (struct pr_cartpole){.x = 0.1 * pr_rng_double(rng) - 0.05,
                              .speed = 0.1 * pr_rng_double(rng) - 0.05,
                              .angle = 0.1 * pr_rng_double(rng) - 0.05,
                              .turning = 0.1 * pr_rng_double(rng) - 0.05};
}

bool pr_cartpole_push(struct pr_cartpole *c, bool right)
{
    double push = right ? force : -force, all = cart + pole;
    double cosine = cos(c->angle), sine = sin(c->angle);
    double pull = (push + pole * half * c->turning * c->turning * sine) / all;
    double bend = (gravity * sine - cosine * pull) /
                  (half * (4.0 / 3.0 - pole * cosine * cosine / all));

    c->x += tick * c->speed;
    c->speed += tick * (pull - pole * half * bend * cosine / all);
    c->angle += tick * c->turning;
    c->turning += tick * bend;
    c->steps++;
    return fabs(c->x) <= farthest && fabs(c->angle) <= steepest &&
           c->steps < PR_CARTPOLE_STEPS;
}
