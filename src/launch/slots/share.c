/* Sharing out cores: those with wishes choose first, the rest spread evenly. */
#include "launch/slots/share.h"

/* How close together cores are to be. */
enum closeness { ONE_CACHE, ONE_NODE, ANYWHERE };

struct sharing {
    const struct pr_topology *t;
    struct pr_cpuset left; /* of cores that are nobody's yet */
    unsigned per;          /* cores a slot */
};

static bool is_close_together(const struct pr_core *a, const struct pr_core *b,
                              enum closeness how)
{
    if (how == ANYWHERE)
        return true;
    return a->node == b->node && (how == ONE_NODE || a->cache == b->cache);
}

static bool free_for(const struct sharing *x, const struct pr_core *c,
                     const struct pr_cpuset *near)
{
    return pr_cpuset_overlaps(&c->cpus, &x->left) &&
           (!near || pr_cpuset_overlaps(&c->cpus, near));
}

static unsigned count_free(const struct sharing *x, const struct pr_core *with,
                           enum closeness how, const struct pr_cpuset *near)
{
    unsigned n = 0;

    for (unsigned i = 0; i < x->t->n_cores; i++) {
        const struct pr_core *c = &x->t->cores[i];

        n += is_close_together(c, with, how) && free_for(x, c, near);
    }
    return n;
}

static void give_core(struct sharing *x, const struct pr_core *c,
                      struct pr_slot_share *s)
{
    pr_cpuset_join(&s->cpus, &c->cpus);
    pr_cpuset_add(&s->nodes, c->node);
    pr_cpuset_subtract(&x->left, &c->cpus);
    s->n_cores++;
}

/* From the place with the most free cores, so that slots spread over caches
 * and memory channels. False when none has enough. */
static bool choose_free_cores(struct sharing *x, enum closeness how,
                              const struct pr_cpuset *near,
                              struct pr_slot_share *s)
{
    const struct pr_core *best = NULL;
    unsigned most = x->per - 1;

    for (unsigned i = 0; i < x->t->n_cores; i++) {
        const struct pr_core *c = &x->t->cores[i];
        unsigned n;

        if (i && is_close_together(c, c - 1, how))
            continue; /* the same place as before */
        n = count_free(x, c, how, near);
        if (n > most) {
            most = n;
            best = c;
        }
    }
    for (unsigned i = 0; best && s->n_cores < x->per; i++) {
        const struct pr_core *c = &x->t->cores[i];

        if (is_close_together(c, best, how) && free_for(x, c, near))
            give_core(x, c, s);
    }
    return best != NULL;
}

static void choose_slot_cores(struct sharing *x, struct pr_slot_share *s)
{
    const struct pr_cpuset *near = s->has_near ? &s->near : NULL;

    for (int any = !near; any < 2; any++)
        for (int how = ONE_CACHE; how <= ANYWHERE; how++)
            if (choose_free_cores(x, (enum closeness)how, any ? NULL : near, s))
                return;
}

bool pr_slots_share_cores(const struct pr_topology *t,
                          struct pr_slot_share *shares, unsigned n)
{
    struct sharing x = {.t = t, .left = t->allowed, .per = t->n_cores / n};

    for (unsigned i = 0; i < n; i++) {
        shares[i].cpus = shares[i].nodes = (struct pr_cpuset){0};
        shares[i].n_cores = 0;
    }
    if (!x.per) {
        for (unsigned i = 0; i < n; i++)
            give_core(&x, &t->cores[i % t->n_cores], &shares[i]);
        return false;
    }
    for (int wishes = 1; wishes >= 0; wishes--)
        for (unsigned i = 0; i < n; i++)
            if (shares[i].has_near == (wishes == 1))
                choose_slot_cores(&x, &shares[i]);
    return true;
}
