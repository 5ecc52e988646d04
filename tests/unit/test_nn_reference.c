/*
 * The plain network's gradients are what finite differences of its own loss
 * say, in double: for every kind of layer, its settings and the joins of them.
 * The engine is compared with that network, so this is what its gradients rest
 * on.
 */
#include "base/random.h"

#include "nn_model_text.h"
#include "nn_models_images.h"
#include "nn_models_losses.h"
#include "nn_models_rows.h"
#include "nn_reference_run.h"

#include <stdlib.h>

#define STEP 1e-5  /* errors of about 1e-10, by its square and by rounding */
#define SHARE 1e-6 /* of a gradient, that it may be off */
#define NOISE 2e-9 /* what may be there where a gradient is 0 */

enum { MOST = 6 }; /* elements of a tensor that are tried */

struct tried {
    struct ref *r;
    struct pr_rng rng;
    const char *layers; /* for messages */
    unsigned turn;
    unsigned compared, skipped, nonzero;
};

/* ---- random numbers in all of it */

static double draw(struct pr_rng *rng, const struct pr_layer_tensor *t,
                   size_t elements)
{
    double g = pr_rng_gauss(rng);

    if (t->dims > 1)
        return g * sqrt(2.0 * (double)t->at[0] / (double)elements);
    if (strcmp(t->suffix, "bias") == 0)
        return 0.3 * g;
    return 0.5 + pr_rng_double(rng);
}

static void fill_layer(struct ref *r, unsigned i, struct pr_rng *rng)
{
    const struct pr_layer *pl = &r->m->layers[i];
    struct pr_layer_tensor ts[PR_LAYER_TENSORS];
    unsigned n = pr_layer_tensors(r->m, pl, ts);
    struct ref_layer *l = &r->l[i];

    for (unsigned k = 0; k < n && pl->like == i; k++)
        for (size_t e = 0; e < l->elements[k]; e++)
            l->p[k][e] = draw(rng, &ts[k], l->elements[k]);
    for (size_t e = 0; e < r->batch * l->size; e++) {
        if (pl->op == PR_LAYER_DROPOUT)
            l->mask[e] = pr_rng_double(rng) < pl->rate ? 0 : 1 / (1 - pl->rate);
        if (pl->op == PR_LAYER_INPUT)
            l->y[e] = draw_input(r->m, i, rng);
    }
    for (size_t e = 0; pl->carry && e < 2 * r->batch * (size_t)pl->out; e++)
        l->begin[e] = 0.5 * pr_rng_gauss(rng);
}

/* What is a target stays, as no gradient goes there. */
static void fix_targets(struct ref *r, struct pr_arena *a)
{
    for (unsigned i = 0; i < r->m->loss_count; i++) {
        const struct pr_loss *l = &r->m->losses[i];
        size_t n;

        if (!l->target_count || l->targets[0] < r->m->input_count)
            continue;
        n = r->batch * r->l[l->targets[0]].size;
        r->fixed[i] = PR_ARENA_ARRAY(a, double, n);
        memcpy(r->fixed[i], r->l[l->targets[0]].y, n * sizeof(double));
    }
}

/* ---- one element */

/* Which side every relu takes, and which place every max_pool: the loss has no
 * bend between two points where this is the same. */
static uint64_t sides(const struct ref *r)
{
    uint64_t h = 0;

    for (unsigned i = 1; i < r->m->layer_count; i++) {
        const struct ref_layer *l = &r->l[i];
        enum pr_layer_op op = r->m->layers[i].op;
        bool max = op == PR_LAYER_MAX_POOL;

        if (op != PR_LAYER_RELU && op != PR_LAYER_LEAKY_RELU && !max)
            continue;
        for (size_t e = 0; e < r->batch * l->size; e++)
            h = pr_mix64(h + (max ? (uint64_t)l->mask[e] : l->y[e] > 0));
    }
    return h;
}

/* All losses of a turn. */
static double loss_at(struct ref *r, unsigned turn, double *x, double at,
                      uint64_t *side)
{
    double was = *x, sum = 0;

    *x = at;
    ref_forward(r);
    ref_loss(r);
    *x = was;
    *side = sides(r);
    for (unsigned i = 0; i < r->m->loss_count; i++)
        if (r->m->losses[i].turn == turn)
            sum += r->losses[i];
    return sum;
}

static void compare(struct tried *t, const char *what, double *x, double got)
{
    uint64_t below, above;
    double low = loss_at(t->r, t->turn, x, *x - STEP, &below);
    double high = loss_at(t->r, t->turn, x, *x + STEP, &above);
    double want = (high - low) / (2 * STEP);

    t->compared++;
    if (below != above) {
        t->skipped++;
        return;
    }
    t->nonzero += fabs(want) > 10 * NOISE;
    if (!(fabs(got - want) <= SHARE * fabs(want) + NOISE))
        fail_msg("gradient of %s is %.12g, differences say %.12g\n%s", what,
                 got, want, t->layers);
}

/* ---- a model */

/* Some of the elements of a tensor, all of a small one. dx is copied, as it
 * shall not change with what is tried. */
static void compare_some(struct tried *t, struct pr_arena *a, const char *what,
                         double *x, const double *dx, size_t n)
{
    double *got = PR_ARENA_ARRAY(a, double, n);

    memcpy(got, dx, n * sizeof *got);
    for (size_t k = 0; k < n && k < MOST; k++) {
        size_t e = n <= MOST ? k : pr_rng_u64(&t->rng) % n;

        compare(t, what, &x[e], got[e]);
    }
}

/* Whether a loss takes the input as it is. */
static bool is_target(const struct pr_model *m, unsigned input)
{
    for (unsigned i = 0; i < m->loss_count; i++)
        for (unsigned k = 0; k < m->losses[i].target_count; k++)
            if (m->losses[i].targets[k] == input)
                return true;
    return is_weight(m, input);
}

static void compare_inputs(struct tried *t, struct pr_arena *a)
{
    struct ref *r = t->r;

    for (unsigned i = 0; i < r->m->input_count; i++)
        if (!r->m->layers[i].ids && !is_target(r->m, i))
            compare_some(t, a, r->m->layers[i].name, r->l[i].y, r->l[i].dy,
                         r->batch * r->l[i].size);
}

/* What learns in the turn. */
static void compare_tensors(struct tried *t, struct pr_arena *a)
{
    struct ref *r = t->r;

    for (unsigned i = 0; i < r->m->layer_count; i++)
        for (unsigned k = 0; k < PR_LAYER_TENSORS; k++)
            if (ref_learns(r, i, t->turn) && r->l[i].is_learned[k])
                compare_some(t, a,
                             pr_arena_printf(a, "%s, tensor %u",
                                             r->m->layers[i].name, k),
                             r->l[i].p[k], r->l[i].dp[k], r->l[i].elements[k]);
}

static void compare_model(const struct nn_row *row, uint64_t seed)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct ref r;
    struct tried t = {.r = &r, .layers = row->layers};

    pr_rng_seed(&t.rng, seed, 2);
    ref_new(&r, a, model_of(a, row->input, row->layers), row->batch, true);
    for (unsigned i = 0; i < r.m->layer_count; i++)
        fill_layer(&r, i, &t.rng);
    ref_forward(&r);
    fix_targets(&r, a);
    for (t.turn = 0; t.turn < r.m->turn_count; t.turn++) {
        ref_forward(&r);
        ref_backward_turn(&r, t.turn);
        compare_inputs(&t, a);
        compare_tensors(&t, a);
    }
    if (t.skipped * 20 > t.compared)
        fail_msg("%u of %u skipped at a bend\n%s", t.skipped, t.compared,
                 row->layers);
    if (t.nonzero * 2 < t.compared)
        fail_msg("only %u of %u gradients are not 0\n%s", t.nonzero, t.compared,
                 row->layers);
}

static void compare_all(const struct nn_row *all, size_t count)
{
    size_t step = is_brief() ? 7 : 1;

    for (size_t i = 0; i < count; i += step)
        compare_model(&all[i], i);
}

/* ---- the tests */

static void gradients_of_layers_are_finite_differences(void **state)
{
    (void)state;
    compare_all(nn_rows, NN_ROWS);
}

static void gradients_of_joins_are_finite_differences(void **state)
{
    (void)state;
    compare_all(nn_joins, NN_JOINS);
}

static void gradients_of_images_are_finite_differences(void **state)
{
    (void)state;
    compare_all(nn_images, NN_IMAGES);
}

static void gradients_of_sequences_are_finite_differences(void **state)
{
    (void)state;
    compare_all(nn_sequences, NN_SEQUENCES);
}

static void gradients_of_losses_are_finite_differences(void **state)
{
    (void)state;
    compare_all(nn_losses, NN_LOSSES);
}

/* ---- nothing is left out */

struct found {
    bool layers[PR_LAYER_OP_COUNT], losses[PR_LOSS_KIND_COUNT];
};

static void find(struct found *f, const struct nn_row *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 14);
        const struct pr_model *m = model_of(a, all[i].input, all[i].layers);

        for (unsigned k = 0; k < m->layer_count; k++)
            f->layers[m->layers[k].op] = true;
        for (unsigned k = 0; k < m->loss_count; k++)
            f->losses[m->losses[k].kind] = true;
    }
}

static void every_kind_of_layer_and_loss_is_in_a_model(void **state)
{
    struct found f = {{false}, {false}};

    (void)state;
    find(&f, nn_rows, NN_ROWS);
    find(&f, nn_joins, NN_JOINS);
    find(&f, nn_images, NN_IMAGES);
    find(&f, nn_sequences, NN_SEQUENCES);
    find(&f, nn_losses, NN_LOSSES);
    for (int op = 0; op < PR_LAYER_OP_COUNT; op++)
        if (!f.layers[op])
            fail_msg("no model has a layer '%s'",
                     pr_layer_op_name((enum pr_layer_op)op));
    for (int kind = 0; kind < PR_LOSS_KIND_COUNT; kind++)
        if (!f.losses[kind])
            fail_msg("no model has a loss '%s'",
                     pr_loss_kind_name((enum pr_loss_kind)kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_layers_are_finite_differences),
        cmocka_unit_test(gradients_of_joins_are_finite_differences),
        cmocka_unit_test(gradients_of_images_are_finite_differences),
        cmocka_unit_test(gradients_of_sequences_are_finite_differences),
        cmocka_unit_test(gradients_of_losses_are_finite_differences),
        cmocka_unit_test(every_kind_of_layer_and_loss_is_in_a_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
