/* The inside of reading frameworks/NAME.yaml, shared by its files. */
#ifndef PR_CATALOG_FRAMEWORK_IMPL_H
#define PR_CATALOG_FRAMEWORK_IMPL_H

#include "catalog/framework.h"

enum {
    PR_FRAMEWORK_BYTES = 1 << 20, /* of a file */
    PR_FRAMEWORK_PARAMS = 1000,
};

struct pr_framework_reader {
    const char *path; /* for errors */
    struct pr_arena *arena;
    struct pr_framework *f;
    struct pr_err *err;
};

/* What one key of a map means; place is where in the struct it goes. */
struct pr_framework_key {
    const char *name;
    int (*read)(struct pr_framework_reader *r, const struct pr_value *v,
                const char *key, void *place);
    size_t offset;
};

/* Reads every member of a map by the table into the struct at base; a key that
 * is not there is an error with the nearest one. what: "a framework". */
int pr_framework_read_map(struct pr_framework_reader *r,
                          const struct pr_value *v, const char *what,
                          const struct pr_framework_key *keys, size_t count,
                          void *base) PR_MUST_CHECK;

#define PR_FRAMEWORK_FAIL(r, v, ...) \
    pr_fail_at((r)->err, PR_E_CONF, (r)->path, (v)->line, (v)->col, __VA_ARGS__)

int pr_framework_fail_wants(struct pr_framework_reader *r,
                            const struct pr_value *v, const char *key,
                            const char *what);

/* Kinds of values: text on one line; a name of letters, digits and '_'; true
 * or false; a list of text, which becomes NULL-terminated. */
int pr_framework_read_text(struct pr_framework_reader *r,
                           const struct pr_value *v, const char *key,
                           void *place);
int pr_framework_read_name(struct pr_framework_reader *r,
                           const struct pr_value *v, const char *key,
                           void *place);
int pr_framework_read_bool(struct pr_framework_reader *r,
                           const struct pr_value *v, const char *key,
                           void *place);
int pr_framework_read_list(struct pr_framework_reader *r,
                           const struct pr_value *v, const char *key,
                           void *place);

/* Whether it could be a part of a parameter's name. */
bool pr_framework_is_name(const char *s, size_t len);

/* The map of parameters; the name and the family are known. */
int pr_framework_read_params(struct pr_framework_reader *r,
                             const struct pr_value *v) PR_MUST_CHECK;

/* One parameter of the family more; it gets a place in line and col. */
int pr_framework_add_param(struct pr_framework_reader *r, const char *key,
                           const struct pr_value *v,
                           struct pr_framework_param *p) PR_MUST_CHECK;

#endif
