/* What the files of milarun's table share. */
#ifndef PR_CATALOG_MILARUN_IMPL_H
#define PR_CATALOG_MILARUN_IMPL_H

#include "catalog/milarun_table.h"

struct pr_milarun_test {
    const char *experiment, *model, *workload, *data;
    int half;
    const char *missing;
};

enum pr_milarun_takes {
    PR_TAKES_FLAG,
    PR_TAKES_INT,
    PR_TAKES_FLOAT,
    PR_TAKES_TEXT,
};

enum pr_milarun_does {
    PR_DOES_SET,
    PR_DOES_GIVEN,
    PR_DOES_SAME,
    PR_DOES_MUST,
    PR_DOES_NOTHING,
    PR_DOES_UNLIKE,
    PR_DOES_MODEL,
    PR_DOES_HALF,
    PR_DOES_READERS,
    PR_DOES_DATA,
    PR_DOES_LAYERS,
    PR_DOES_CROP,
};

struct pr_milarun_arg {
    const char *experiment, *name, *alias;
    enum pr_milarun_takes takes;
    const char *def;
    enum pr_milarun_does does;
    const char *with;
};

/* A map that grows in the arena. */
struct pr_milarun_map {
    struct pr_member *members;
    size_t len, cap;
};

enum { PR_MILARUN_ARGS = 256 }; /* rows of the table, at most */

struct pr_milarun_build {
    const struct pr_milarun_ask *ask;
    struct pr_arena *arena;
    struct pr_buf *notes;
    struct pr_err *err;
    struct pr_milarun_test test;
    bool ours;

    bool is_given[PR_MILARUN_ARGS]; /* by row: it was in argv */
    struct pr_value given[PR_MILARUN_ARGS];
    struct pr_milarun_map dotted; /* --SECTION.NAME */
    struct pr_milarun_map arguments, params, opts;

    const char *model, *missing;
    int64_t readers; /* 0: nothing was said */
    bool half, images;
};

/* ---- milarun_table.c */

/* Row i of the table; NULL: i is too large. */
const struct pr_milarun_arg *pr_milarun_arg_at(size_t i);

/* Whether the row is for the experiment that is looked at. */
bool pr_milarun_arg_is_for(const struct pr_milarun_build *b,
                           const struct pr_milarun_arg *arg);

/* Sets a member; one of that name is replaced. Key and value are borrowed. */
int pr_milarun_map_set(struct pr_milarun_build *b, struct pr_milarun_map *m,
                       const char *key, struct pr_value v);

/* ---- milarun_args.c */

/* Takes argv apart: given, dotted, arguments. */
int pr_milarun_read_args(struct pr_milarun_build *b);

/* A value as text, by what its row takes. */
int pr_milarun_read_value(struct pr_milarun_build *b,
                          const struct pr_milarun_arg *arg, const char *text,
                          struct pr_value *ret);

/* ---- milarun_apply.c */

/* What the arguments, or their defaults, do. */
int pr_milarun_apply_args(struct pr_milarun_build *b);

/* The torchvision network as a model of ours. In the arena, or borrowed. */
const char *pr_milarun_find_model(const char *name);

#endif
