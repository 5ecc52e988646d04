/*
 * Frameworks as data: frameworks/NAME.yaml in the share folder says how one is
 * found, launched and described. Adding a framework is adding a file; a user's
 * own folder is $PRONY_FRAMEWORKS, looked at first.
 */
#ifndef PR_CATALOG_FRAMEWORK_H
#define PR_CATALOG_FRAMEWORK_H

#include "base/err.h"
#include "base/value.h"
#include "conf/option/option.h"

#include <stdbool.h>
#include <stdint.h>

/* How an experiment of it is started. */
enum pr_framework_kind {
    PR_FRAMEWORK_NATIVE, /* the engine that is built in */
    PR_FRAMEWORK_PYTHON, /* a program of ours in Python, reading our models */
    PR_FRAMEWORK_SCRIPT, /* the user's script or container, by DLBS's contract:
                            NAME.launcher */
};

/* A parameter NAME.something of a framework. */
struct pr_framework_param {
    const char *name;    /* whole: "pytorch.cudnn_benchmark" */
    struct pr_value def; /* its default; text may hold ${} and $()$; NULL
                            kind: it has none and is not added */
    const char *type;    /* "bool", "int", "float", "str", "list", "any" */
    const char *choices; /* "a|b", or NULL */
    const char *help;
    bool contract; /* only a launcher of the user's looks at it */
    uint32_t line, col;
};

struct pr_framework {
    const char *name;  /* as in exp.framework */
    const char *title; /* "PyTorch"; the default of exp.framework_title */
    const char *desc;  /* a sentence or two */
    const char *family;
    const char *path; /* of the file */
    enum pr_framework_kind kind;

    /* PYTHON: */
    const char *program;    /* in the share folder; a whole path if the file
                               says ./NAME, which is beside it */
    const char *module;     /* what it imports */
    const char *python_var; /* environment variable that may name an
                               interpreter that has it */

    /* How a framework that the user brings is found on bare metal; each may
     * be NULL. Nothing of it is run by reading. */
    const char *find_program; /* on PATH */
    const char *find_module;  /* of Python */
    const char *remedy;       /* how to get it */

    const char *image; /* default container image; NULL: none */
    bool trains, infers;
    bool bare, contained; /* where it can run */
    const char **models;  /* NULL-terminated; NULL: all of Prony's, or
                             what the launcher knows */
    const char **results; /* names of what it reports, NULL-terminated; NULL:
                             nothing is said */

    const struct pr_honour *honours; /* of Prony's parameters; NULL: nothing is
                                        said */

    struct pr_framework_param *params;
    size_t param_count;
};

/* "native", "python", "script": as in a file. */
const char *pr_framework_kind_name(enum pr_framework_kind kind);

/* "did you mean …", or where files are looked for: after pr_fail, for a name
 * that is none. Returns the code of that failure. */
int pr_framework_hint(const char *name, struct pr_err *err);

/* The framework of that name, in the arena. 1: there; 0: no such file;
 * negative: the file is wrong, with its line and key. */
int pr_framework_find(const char *name, struct pr_arena *a,
                      const struct pr_framework **ret,
                      struct pr_err *err) PR_MUST_CHECK;

/* Reads the text of a file. name is that of the framework, path is for
 * errors. */
int pr_framework_parse(const char *text, size_t len, const char *name,
                       const char *path, struct pr_arena *a,
                       struct pr_framework **ret,
                       struct pr_err *err) PR_MUST_CHECK;

/* Calls back for each framework there is, sorted by name. A file that is wrong
 * ends it. */
int pr_framework_each(struct pr_arena *a,
                      int (*each)(void *ctx, const struct pr_framework *f,
                                  struct pr_err *err),
                      void *ctx, struct pr_err *err) PR_MUST_CHECK;

/* Those of one name are read once and kept, for a caller that asks for each of
 * many experiments. NULL: out of memory. */
struct pr_frameworks;
struct pr_frameworks *pr_frameworks_new(void);
void pr_frameworks_free(struct pr_frameworks *fs);
int pr_frameworks_get(struct pr_frameworks *fs, const char *name,
                      const struct pr_framework **ret,
                      struct pr_err *err) PR_MUST_CHECK; /* as ..._find */

#endif
