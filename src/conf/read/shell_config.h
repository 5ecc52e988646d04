/*
 * Configs that are written as shell scripts, read without a shell. Of its
 * language there are assignments, arrays, maps (declare -A), comments, quotes,
 * ${NAME} of what was assigned before, and `source`; anything else is an error
 * that names its line. Nothing is ever executed.
 */
#ifndef PR_CONF_SHELL_CONFIG_H
#define PR_CONF_SHELL_CONFIG_H

#include "base/err.h"
#include "base/value.h"

struct pr_shell_word {
    const char *text; /* NUL-terminated, has no other NUL */
    const char *key;  /* of a map; else NULL */
    const char *file;
    unsigned line;
    const char *first; /* what it was before it was replaced; or NULL */
};

enum pr_shell_kind { PR_SHELL_TEXT, PR_SHELL_ARRAY, PR_SHELL_MAP };

struct pr_shell_var {
    const char *name, *file;
    unsigned line;
    enum pr_shell_kind kind;
    struct pr_shell_word *words; /* one of a text */
    size_t count, cap;
};

struct pr_shell_config {
    struct pr_arena *arena;
    struct pr_shell_var *vars; /* in the order they were first assigned */
    size_t count, cap;
    size_t bytes; /* of all words that were read */
};

struct pr_shell_opts {
    /* A file that is not read: this is called instead. NULL: none. */
    const char *builtin; /* its name, without a folder */
    int (*call)(void *ctx, struct pr_shell_config *c, const char *file,
                unsigned line, struct pr_err *err);
    void *ctx;
};

/* Reads text; source is relative to the folder of name, or the folders above
 * it. PR_E_CONF, PR_E_IO, PR_E_NOMEM. In the arena. */
int pr_shell_config_parse(const char *text, size_t len, const char *name,
                          const struct pr_shell_opts *opts, struct pr_arena *a,
                          struct pr_shell_config *ret,
                          struct pr_err *err) PR_MUST_CHECK;
int pr_shell_config_read(const char *path, const struct pr_shell_opts *opts,
                         struct pr_arena *a, struct pr_shell_config *ret,
                         struct pr_err *err) PR_MUST_CHECK;

struct pr_shell_var *pr_shell_find_var(const struct pr_shell_config *c,
                                       const char *name);

/* Sets word i of an array, which grows if need be; what is replaced stays as
 * the word's first value. */
int pr_shell_set_word(struct pr_shell_config *c, struct pr_shell_var *v,
                      size_t i, const struct pr_shell_word *word,
                      struct pr_err *err) PR_MUST_CHECK;

#endif
