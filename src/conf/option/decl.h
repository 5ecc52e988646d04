/*
 * What is known of a parameter beyond its value: the row of our option tables,
 * and what a DLBS config says of it (type, val_domain, val_regexp, desc).
 */
#ifndef PR_CONF_DECL_H
#define PR_CONF_DECL_H

#include "conf/expr/regex.h"
#include "conf/option/opt.h"

enum pr_decl_type {
    PR_DECL_NONE,
    PR_DECL_STR,
    PR_DECL_INT,
    PR_DECL_FLOAT,
    PR_DECL_BOOL,
};

struct pr_decl {
    const struct pr_opt *opt; /* NULL: not in a table */
    bool declared;            /* by a config; the first one stands */
    enum pr_decl_type type;
    const struct pr_value *domain; /* a list, or NULL */
    struct pr_regex *regexp;       /* NULL: any */
    const char *regexp_text;
};

/* "int", "str", "float", "bool"; PR_DECL_NONE for anything else. */
enum pr_decl_type pr_decl_find_type(const char *name);

/* Whether a list value stays a list instead of being joined to text. */
static inline bool pr_decl_keeps_lists(const struct pr_decl *d)
{
    return d && d->opt &&
           (d->opt->kind == PR_OPT_LIST || d->opt->kind == PR_OPT_ANY ||
            d->opt->kind == PR_OPT_WORDS);
}

/* Brings a final value to its declared type and checks it. As DLBS has it,
 * what a config declares is applied to values that were text; our own tables
 * apply to every value. d may be NULL. The message has no place yet. */
int pr_decl_apply(const struct pr_decl *d, const struct pr_value *in,
                  struct pr_arena *a, struct pr_value *ret,
                  struct pr_err *err) PR_MUST_CHECK;

#endif
