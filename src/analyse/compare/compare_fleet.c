/*
 * Fleets: when two sides have no machine in common, their machines are repeats
 * of each other, and not tests of their own.
 */
#include "analyse/compare/compare_impl.h"
#include "analyse/results/bench.h"

#include <string.h>

static bool has_value(const struct pr_results *b, const char *name,
                      const struct pr_value *v)
{
    for (size_t i = 0; i < pr_results_size(b); i++) {
        const struct pr_value *o =
            pr_get(&pr_results_row_at(b, i)->params, name);
        if (o && pr_value_equal(o, v))
            return true;
    }
    return false;
}

bool pr_compare_has_common_value(struct pr_results *const *sets, size_t count,
                                 const char *name)
{
    const struct pr_value *last = NULL;

    for (size_t i = 0; count && sets[0] && i < pr_results_size(sets[0]); i++) {
        const struct pr_value *v =
            pr_get(&pr_results_row_at(sets[0], i)->params, name);

        if (!v || (last && pr_value_equal(v, last)))
            continue; /* rows of one machine stand together */
        last = v;
        for (size_t k = 1; k < count; k++)
            if (sets[k] && has_value(sets[k], name, v))
                return true;
    }
    return false;
}
