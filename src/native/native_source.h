/*
 * Where the batches of a training come from: noise that is made once, digits
 * in another order each epoch, the model's own task, a data set, or a batch
 * that a file brought.
 */
#ifndef PR_NATIVE_SOURCE_H
#define PR_NATIVE_SOURCE_H

#include "base/random.h"
#include "loader/order.h"
#include "native/images/image_set.h"
#include "native/native.h"
#include "native/task/task.h"

#include <stdbool.h>

struct pr_native_source {
    const struct pr_native *n;
    size_t elements; /* numbers in a sample of the first input */
    bool is_filled;  /* noise, a file: the batch is there and stays */
    /* digits */
    uint64_t pixels; /* of one */
    uint8_t *gray;   /* of all samples; or of one, when they are too many */
    int32_t *labels; /* -1: not drawn yet; NULL: none is kept */
    struct pr_permutation order;
    uint64_t epoch, at; /* samples of this epoch that came */
    /* a task */
    struct pr_task_batches task;
    uint64_t step;
    /* a data set */
    struct pr_image_set *set;
};

/* Also makes the data set where that is asked for. */
int pr_native_source_open(struct pr_native_source *s, const struct pr_native *n,
                          struct pr_progress *progress, const bool *stop,
                          struct pr_err *err) PR_MUST_CHECK;
void pr_native_source_close(struct pr_native_source *s);

/* Puts the next batch into the net's inputs. *ret_wait_ns: how long a data set
 * made wait for it, else 0. */
int pr_native_source_next(struct pr_native_source *s, struct pr_net *net,
                          uint64_t *ret_wait_ns,
                          struct pr_err *err) PR_MUST_CHECK;

/* Samples that are not trained with, from `first` on, one batch of them; of a
 * data set the next one. */
int pr_native_source_next_held_out(struct pr_native_source *s, uint64_t first,
                                   struct pr_net *net,
                                   struct pr_err *err) PR_MUST_CHECK;

/* ---- a pole on a cart, to be kept upright by pushing the cart left or right:
 * Barto, Sutton and Anderson 1983, with the numbers of Gym's CartPole-v0 */

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

/* ---- learning by playing (REINFORCE): a network of batch 1 says how likely
 * each action is, and after each episode the network that learns is told what
 * its actions were worth */

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
