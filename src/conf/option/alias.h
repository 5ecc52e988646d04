/*
 * Older names of parameters (aliases.def). A name that a user writes is looked
 * up here once, where it enters; everything behind knows today's names only.
 */
#ifndef PR_CONF_ALIAS_H
#define PR_CONF_ALIAS_H

#include "base/names.h"
#include "base/value.h"

enum pr_alias_form {
    PR_ALIAS_NAME,
    PR_ALIAS_SECTION,
    PR_ALIAS_TOP,
    PR_ALIAS_PREFETCH,
};

struct pr_alias {
    enum pr_alias_form form;
    const char *old, *now;
    bool first;       /* of DLIO's first documentation */
    const char *note; /* a sentence, or "" */
};

/* Rows in the order of the table; NULL when i is too large. */
const struct pr_alias *pr_alias_at(size_t i);

/* A name as it was written, looked up. */
struct pr_alias_found {
    char name[160];             /* today's name of a parameter */
    const struct pr_alias *row; /* NULL: it is no older name */
    const char *below;          /* in name: "type" when a key of the map that
                                 * a parameter takes was meant; or NULL */
};

/* False, and nothing found, when the name is too long for any of ours. */
bool pr_alias_find(const char *name, size_t len, struct pr_alias_found *ret);

/* The value as today's name takes it. False: it says nothing, so that nothing
 * is set. row may be NULL. */
bool pr_alias_value(const struct pr_alias *row, const struct pr_value *in,
                    struct pr_value *ret);

/* Today's name of a key beside the sections of a DLIO file, or NULL. */
const struct pr_alias *pr_alias_top(const char *key);

/* The number of a name, also of an older one; PR_NO_NAME: not there. */
uint32_t pr_alias_find_number(const struct pr_names *names, const char *name,
                              size_t len);

/* The i-th older way to write a full name, sections included; false: there
 * are no more. */
bool pr_alias_older_name(const char *now, size_t i, char out[static 160]);

#endif
