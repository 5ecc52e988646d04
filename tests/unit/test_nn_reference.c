/*
 * The plain network's gradients are what finite differences of its own loss
 * say, in double: for every kind of layer, its settings and the joins of them.
 * The engine is compared with that network, so this is what its gradients rest
 * on.
 */
#include "base/rng.h"

#include "nn_model_text.h"
#include "nn_models.h"
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

    for (unsigned k = 0; k < n; k++)
        for (size_t e = 0; e < l->elements[k]; e++)
            l->p[k][e] = draw(rng, &ts[k], l->elements[k]);
    for (size_t e = 0; e < r->batch * l->size; e++) {
        if (pl->op == PR_LAYER_DROPOUT)
            l->mask[e] = pr_rng_double(rng) < pl->rate ? 0 : 1 / (1 - pl->rate);
        if (pl->op == PR_LAYER_INPUT)
            l->y[e] = pr_rng_gauss(rng);
    }
}

static void fill(struct ref *r, struct pr_arena *a, struct pr_rng *rng)
{
    int32_t *labels = PR_ARENA_ARRAY(a, int32_t, r->batch);

    for (unsigned i = 0; i < r->m->layer_count; i++)
        fill_layer(r, i, rng);
    for (size_t n = 0; n < r->batch; n++)
        labels[n] = (int32_t)(pr_rng_u64(rng) % (uint64_t)r->m->classes);
    r->labels = labels;
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

        if (op != PR_LAYER_RELU && op != PR_LAYER_MAX_POOL)
            continue;
        for (size_t e = 0; e < r->batch * l->size; e++)
            h = pr_mix64(
                h + (op == PR_LAYER_RELU ? l->y[e] > 0 : (uint64_t)l->mask[e]));
    }
    return h;
}

static double loss_at(struct ref *r, double *x, double at, uint64_t *side)
{
    double was = *x;

    *x = at;
    ref_forward(r);
    ref_loss(r);
    *x = was;
    *side = sides(r);
    return r->loss;
}

static void compare(struct tried *t, const char *what, double *x, double got)
{
    uint64_t below, above;
    double low = loss_at(t->r, x, *x - STEP, &below);
    double high = loss_at(t->r, x, *x + STEP, &above);
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

static void compare_tensors(struct tried *t, struct pr_arena *a)
{
    struct ref *r = t->r;

    compare_some(t, a, "input", r->l[0].y, r->l[0].dy, r->batch * r->l[0].size);
    for (unsigned i = 1; i < r->m->layer_count; i++) {
        struct pr_layer_tensor ts[PR_LAYER_TENSORS];
        unsigned n = pr_layer_tensors(r->m, &r->m->layers[i], ts);

        for (unsigned k = 0; k < n; k++)
            if (ts[k].is_learned)
                compare_some(t, a,
                             pr_arena_printf(a, "%s.%s", r->m->layers[i].name,
                                             ts[k].suffix),
                             r->l[i].p[k], r->l[i].dp[k], r->l[i].elements[k]);
    }
}

static void compare_model(const struct nn_row *row, uint64_t seed)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 16);
    struct ref r;
    struct tried t = {.r = &r, .layers = row->layers};

    pr_rng_seed(&t.rng, seed, 2);
    ref_new(&r, a, model_of(a, row->input, row->layers), row->batch, true);
    fill(&r, a, &t.rng);
    ref_forward(&r);
    ref_loss(&r);
    ref_backward(&r);
    compare_tensors(&t, a);
    if (t.skipped * 20 > t.compared)
        fail_msg("%u of %u skipped at a bend\n%s", t.skipped, t.compared,
                 row->layers);
    if (t.nonzero * 2 < t.compared)
        fail_msg("only %u of %u gradients are not 0\n%s", t.nonzero, t.compared,
                 row->layers);
}

static void compare_all(const struct nn_row *all, size_t count)
{
    size_t step = getenv("PRONY_TEST_SHORT") ? 7 : 1;

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

static void every_kind_of_layer_is_in_a_model(void **state)
{
    bool is_there[PR_LAYER_OP_COUNT] = {false};

    (void)state;
    for (size_t i = 0; i < NN_ROWS + NN_JOINS; i++) {
        PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(1 << 14);
        const struct nn_row *row =
            i < NN_ROWS ? &nn_rows[i] : &nn_joins[i - NN_ROWS];
        const struct pr_model *m = model_of(a, row->input, row->layers);

        for (unsigned k = 0; k < m->layer_count; k++)
            is_there[m->layers[k].op] = true;
    }
    for (int op = 0; op < PR_LAYER_OP_COUNT; op++)
        if (!is_there[op])
            fail_msg("no model has a layer '%s'",
                     pr_layer_op_name((enum pr_layer_op)op));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_layers_are_finite_differences),
        cmocka_unit_test(gradients_of_joins_are_finite_differences),
        cmocka_unit_test(every_kind_of_layer_is_in_a_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
