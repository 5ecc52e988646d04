/*
 * A parameter set: names to settings, in order of first assignment. A setting
 * is a value and who set it; a later one replaces it but remembers it, so that
 * --explain can tell the whole story.
 *
 * Names are numbers (base/names.h), so a set is two small arrays and copying
 * one for the next experiment is cheap. Settings are immutable and shared.
 */
#ifndef PR_CONF_PARAMETERS_H
#define PR_CONF_PARAMETERS_H

#include "base/err.h"
#include "base/names.h"
#include "base/value.h"
#include "conf/expr/regex.h"
#include "conf/option/option.h"

/* ---- declarations
 * What is known of a parameter beyond its value: the row of our option tables,
 * and what a DLBS config says of it (type, val_domain, val_regexp, desc). */

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

/* Weakest first: CLI.md, "Setting parameters". */
enum pr_origin_kind {
    PR_FROM_DEFAULT,
    PR_FROM_FRAMEWORK, /* frameworks/NAME.yaml: nobody set it either */
    PR_FROM_TARGET,
    PR_FROM_CONFIG,
    PR_FROM_ENVIRONMENT,
    PR_FROM_COMMAND_LINE,
    PR_FROM_VARIABLE,
    PR_FROM_EXTENSION,
};

struct pr_origin {
    enum pr_origin_kind kind;
    const char *name; /* a file, or the text of an argument; may be "" */
    uint32_t line, col;
};

struct pr_setting {
    uint32_t name;
    bool dynamic; /* some text in it holds ${ or $( */
    struct pr_value value;
    struct pr_origin origin;
    const struct pr_setting *under; /* what it replaced, or NULL */
    const char *below; /* the key of a map that the value is for, or NULL */
    const char *spelt; /* the older name it was given by, or NULL */
    uint32_t laid;     /* keys that were laid over a map one by one */
    uint64_t hash;     /* of the name and the value as written */
};

struct pr_params {
    const struct pr_setting **slot; /* by name; NULL: not set */
    uint32_t *order;                /* names, in order of first assignment */
    uint32_t count;                 /* of order */
    uint32_t room;                  /* names that fit */
};

/* Makes a setting in the arena; NULL when out of memory. */
struct pr_setting *pr_setting_new(struct pr_arena *a, struct pr_names *names,
                                  const char *name, size_t len,
                                  const struct pr_value *value,
                                  const struct pr_origin *origin);

/* Grows the set so that names below n fit. False when out of memory. */
bool pr_params_reserve(struct pr_params *p, struct pr_arena *a, uint32_t n);

/* Sets; s->name must fit. The caller sets s->under if it wants the story. */
void pr_params_set(struct pr_params *p, const struct pr_setting *s);

/* Forgets a name. */
void pr_params_unset(struct pr_params *p, uint32_t name);

/* Copies into memory of at least the same room. */
void pr_params_copy(struct pr_params *to, const struct pr_params *from);

static inline const struct pr_setting *pr_params_get(const struct pr_params *p,
                                                     uint32_t name)
{
    return name < p->room ? p->slot[name] : NULL;
}

/* "run.yaml:12:7", "-P exp.model", "default": for messages. In out. */
const char *pr_origin_text(const struct pr_origin *o, char out[static 256]);

/* Whether somebody set it: it is no default of ours or of a framework's. */
static inline bool pr_is_given(const struct pr_setting *s)
{
    return s->origin.kind > PR_FROM_FRAMEWORK;
}

/* "built-in default", "target", "--config", …: for --explain. */
const char *pr_origin_kind_text(enum pr_origin_kind kind);

/* Whether text asks to be expanded: holds ${ or $(. */
bool pr_is_dynamic(const struct pr_value *v);

#endif
