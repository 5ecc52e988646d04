/*
 * Who likes what: one in five things was chosen by its user, by taste, the
 * others are drawn at random, as recommenders are trained. Both users and
 * things follow Zipf's law. Tastes are four hidden numbers of each.
 */
#include "base/random.h"
#include "native/task/task_words.h"

#include <math.h>

enum { USER, THING, LIKED };
enum { TASTES = 4, NEGATIVES = 4, CHOICES = 8 };

static int ratings_open(struct pr_task_run *t, struct pr_err *err)
{
    bool fits = t->model->layers[t->input[USER]].ids > 1 &&
                t->model->layers[t->input[THING]].ids > 1;

    for (unsigned i = USER; i <= LIKED; i++)
        fits = fits && pr_task_input_shape(t, i)->dims == 1 &&
               pr_task_input_shape(t, i)->at[0] == 1;
    return fits ? PR_OK
                : pr_fail(err, PR_E_CONF, t->model->path,
                          "data 'ratings' wants 'user' and 'thing' of ids and "
                          "'liked', each of the shape [1]");
}

/* How well a thing suits a user: a product of tastes from -1 to 1. */
static double rating_affinity(uint64_t seed, int32_t user, int32_t thing)
{
    uint64_t a = pr_mix64(seed ^ (uint64_t)user << 1);
    uint64_t b = pr_mix64(seed ^ ((uint64_t)thing << 1 | 1));
    double sum = 0;

    for (unsigned i = 0; i < TASTES; i++) {
        double x = (double)(a >> 16 * i & 0xffff) / 32768 - 1;
        double y = (double)(b >> 16 * i & 0xffff) / 32768 - 1;

        sum += x * y;
    }
    return sum;
}

static void ratings_fill(const struct pr_task_run *t,
                         const struct pr_task_at *at, void *const *out)
{
    const struct pr_layer *l = t->model->layers;
    bool liked = at->column % (NEGATIVES + 1) == 0;
    struct pr_words users, things;
    struct pr_rng rng;
    int32_t user, best;

    pr_task_seed_rng(t, at, 0, &rng);
    pr_words_init(&users, t->seed, 0, l[t->input[USER]].ids);
    pr_words_init(&things, t->seed, 0, l[t->input[THING]].ids);
    user = pr_words_draw(&users, pr_rng_u64(&rng));
    best = pr_words_draw(&things, pr_rng_u64(&rng));
    for (unsigned i = 1; liked && i < CHOICES; i++) {
        int32_t other = pr_words_draw(&things, pr_rng_u64(&rng));

        if (rating_affinity(t->seed, user, other) >
            rating_affinity(t->seed, user, best))
            best = other;
    }
    *(int32_t *)out[USER] = user;
    *(int32_t *)out[THING] = best;
    *(float *)out[LIKED] = liked;
}

const struct pr_task pr_task_ratings = {
    .name = "ratings",
    .says = "users and things, and whether they chose them",
    .inputs = {"user", "thing", "liked"},
    .ids = 1 << USER | 1 << THING,
    .open = ratings_open,
    .fill = ratings_fill,
};
