/* What the files of the TOML reader share. */
#ifndef PR_CONF_TOML_IMPL_H
#define PR_CONF_TOML_IMPL_H

#include "conf/read/toml.h"

enum { PR_TOML_DEPTH = 64 };

/* A table while it grows; values are immutable, so it becomes one at the
 * end. */
struct pr_toml_table {
    struct pr_toml_entry *first, *last;
    uint32_t count;
    bool given;  /* it had a head of its own */
    bool closed; /* an inline table, or made by dotted keys: no head may add */
};

struct pr_toml_entry {
    const char *key;
    uint32_t key_len, line, col;
    struct pr_value value;
    struct pr_toml_table *table; /* NULL: value counts */
    struct pr_toml_entry *next;
};

struct pr_toml {
    const char *p, *end, *line_start;
    unsigned line;
    const char *name;
    struct pr_arena *arena;
    struct pr_err *err;
    int depth;
};

int pr_toml_fail(struct pr_toml *t, const char *fmt, ...) PR_PRINTF(2, 3);

/* Blanks; and with lines, line ends and comments, too. */
void pr_toml_skip_blanks(struct pr_toml *t, bool lines);

unsigned pr_toml_column(const struct pr_toml *t, const char *at);

/* A string at the cursor, any of the four kinds. */
int pr_toml_read_string(struct pr_toml *t, const char **ret, uint32_t *ret_len);

/* A value at the cursor. */
int pr_toml_read_value(struct pr_toml *t, struct pr_value *ret);

/* KEY[.KEY…] = VALUE into a table. */
int pr_toml_read_assignment(struct pr_toml *t, struct pr_toml_table *into);

/* A table as a map. */
int pr_toml_make_map(struct pr_toml *t, const struct pr_toml_table *table,
                     int depth, struct pr_value *ret);

#endif
