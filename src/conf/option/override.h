/*
 * Hydra's command-line overrides: name=value, +name=value, ++name=value,
 * ~name and ~name=value. The value has hydra's own grammar: quoted or bare
 * text, numbers, booleans, null, [lists], {maps}.
 */
#ifndef PR_CONF_OVERRIDE_H
#define PR_CONF_OVERRIDE_H

#include "base/err.h"
#include "base/value.h"

enum pr_override_op {
    PR_OVERRIDE_SET,    /* name=value: hydra wants the name to exist */
    PR_OVERRIDE_ADD,    /* +name=value: hydra wants it not to */
    PR_OVERRIDE_FORCE,  /* ++name=value */
    PR_OVERRIDE_DELETE, /* ~name */
};

struct pr_override {
    enum pr_override_op op;
    const char *name;      /* dotted, without a leading "workload." */
    struct pr_value value; /* null for a bare ~name */
};

/* Whether a command-line argument looks like an override at all: it has a '='
 * after a name, or starts with '~' or '+'. A path never does. */
bool pr_override_is_likely(const char *arg);

/* Reads one; name and value are in the arena. A top-level a,b,c (hydra's
 * multirun sweep) is refused with a hint to use -V. PR_E_USAGE. */
int pr_override_read(const char *arg, struct pr_arena *a,
                     struct pr_override *ret, struct pr_err *err) PR_MUST_CHECK;

#endif
