/*
 * Sets of tests: found by a hash of their names, since a set may have as many
 * as a plan has experiments.
 */
#include "analyse/compare/compare_impl.h"
#include "base/names.h"

#include <string.h>

enum { FIRST_CHAINS = 64 };

static size_t *get_test_chain(const struct pr_compare_set *s, const char *name)
{
    return &s->chains[pr_hash_bytes(name, strlen(name), 0) &
                      (s->chain_count - 1)];
}

/* Newest first: what comes now is most often what came last. */
static void link_in(struct pr_compare_set *s, size_t i)
{
    size_t *chain = get_test_chain(s, s->tests[i].name);

    s->tests[i].chained = *chain;
    *chain = i + 1;
}

/* Twice as many chains, with all tests in them anew. */
static bool more_chains(struct pr_compare_set *s, struct pr_arena *a)
{
    size_t n = s->chain_count ? 2 * s->chain_count : FIRST_CHAINS;
    size_t *chains = PR_ARENA_ARRAY(a, size_t, n);

    if (!chains)
        return false;
    s->chains = chains;
    s->chain_count = n;
    for (size_t i = 0; i < s->count; i++)
        link_in(s, i);
    return true;
}

struct pr_compare_test *
pr_compare_next_test(const struct pr_compare_set *s, const char *name,
                     const struct pr_compare_test *after)
{
    size_t at = after            ? after->chained
                : s->chain_count ? *get_test_chain(s, name)
                                 : 0;

    while (at && strcmp(s->tests[at - 1].name, name) != 0)
        at = s->tests[at - 1].chained;
    return at ? &s->tests[at - 1] : NULL;
}

struct pr_compare_test *pr_compare_get_test(struct pr_compare_set *s,
                                            const char *name,
                                            const char *measure,
                                            struct pr_arena *a)
{
    struct pr_compare_test *t = pr_compare_next_test(s, name, NULL);

    while (t && strcmp(t->measure, measure) != 0)
        t = pr_compare_next_test(s, name, t);
    if (t)
        return t;
    t = pr_arena_grow(a, s->tests, s->count, &s->cap, sizeof *t);
    if (!t)
        return NULL;
    s->tests = t;
    if (s->count == s->chain_count && !more_chains(s, a))
        return NULL;
    t += s->count;
    *t = (struct pr_compare_test){
        .name = name, .measure = measure, .better = pr_measure_better(measure)};
    link_in(s, s->count++);
    return t;
}

bool pr_compare_add_run(struct pr_compare_test *t,
                        const struct pr_compare_run *r, struct pr_arena *a)
{
    t->runs = pr_arena_grow(a, t->runs, t->count, &t->cap, sizeof *t->runs);
    if (!t->runs)
        return false;
    t->runs[t->count++] = *r;
    return true;
}
