/*
 * ${name} and $(expression)$ in parameters, as DLBS means them.
 *
 * An expander goes through the experiments of a plan one after another and
 * remembers: a parameter is computed again only when its text, or something it
 * refers to, is another than in the experiment before. So a sweep costs what
 * its variables touch.
 */
#ifndef PR_CONF_EXPAND_H
#define PR_CONF_EXPAND_H

#include "conf/option/parameters.h"

struct pr_expander;

/* decls is indexed by name, entries may be NULL; both are borrowed. Names
 * must not be added to while the expander lives. NULL: out of memory. */
struct pr_expander *pr_expander_new(const struct pr_names *names,
                                    const struct pr_decl *const *decls);
void pr_expander_free(struct pr_expander *x);

/* Expands a whole set. Errors name the place and parameter. */
int pr_expand_params(struct pr_expander *x, const struct pr_params *params,
                     struct pr_err *err) PR_MUST_CHECK;

/* The final value of a name of the last set; borrowed until the next
 * pr_expand_params. NULL when the set has no such name. */
const struct pr_value *pr_expanded_value(const struct pr_expander *x,
                                         uint32_t name);

/* The i-th name that the value was computed from; PR_NO_NAME: no more. */
uint32_t pr_expanded_from(const struct pr_expander *x, uint32_t name, size_t i);

/* Another expander over the same names. NULL: out of memory. */
struct pr_expander *pr_expander_like(const struct pr_expander *x);

/* As pr_expand_params, of one name and what it refers to. */
int pr_expand_name(struct pr_expander *x, const struct pr_params *params,
                   uint32_t name, struct pr_err *err) PR_MUST_CHECK;

/* The same as `"name": value`, JSON text; borrowed likewise. */
const char *pr_expanded_json(struct pr_expander *x, uint32_t name,
                             size_t *ret_len);

#endif
