/* The inside of an expander, shared by the two files that make it. */
#ifndef PR_CONF_EXPAND_IMPL_H
#define PR_CONF_EXPAND_IMPL_H

#include "conf/expr/expand.h"

enum {
    PR_EXPAND_MAX_TEXT = 16 << 20, /* of one expanded parameter */
    PR_EXPAND_MAX_CHAIN = 500,     /* parameters that refer to one another */
};

struct pr_expand_dep {
    uint32_t name;
    uint64_t version;
};

struct pr_expand_entry {
    uint64_t hash;    /* of the setting that value was computed from */
    uint64_t version; /* changes when the value does; 0: none yet */
    uint64_t round;   /* experiment it was last checked in */
    bool whole;       /* value, hash and deps belong together */
    bool busy;        /* being computed: meeting it again is a cycle */
    bool pure;        /* the same inputs give the same value */
    struct pr_value value;
    struct pr_buf text;        /* holds the text of a computed value */
    struct pr_buf work, spare; /* while it is computed */
    struct pr_arena *arena;    /* holds lists and cast results */
    struct pr_arena *next;     /* the same while computing */
    struct pr_expand_dep *deps;
    size_t dep_count, dep_cap;
    struct pr_buf json;
    uint64_t json_version;
};

struct pr_expander {
    const struct pr_names *names;
    const struct pr_decl *const *decls;
    const struct pr_params *params;
    struct pr_expand_entry *slots;
    uint32_t slot_count;
    uint64_t round, next_version;
    unsigned depth;
    struct pr_arena *scratch; /* of the expression evaluator */
};

/* Computes a parameter of the present set, unless it is known already. */
int pr_expand_resolve(struct pr_expander *x, uint32_t name,
                      struct pr_err *err) PR_MUST_CHECK;

/* Expands text to s->spare, and notes in s what it depends on. */
int pr_expand_text(struct pr_expander *x, struct pr_expand_entry *s,
                   const char *text, size_t len,
                   struct pr_err *err) PR_MUST_CHECK;

#endif
