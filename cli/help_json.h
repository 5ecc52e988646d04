/*
 * Documents made from the tables: help, man pages, completions, the schema and
 * the reference. Writers append to a buffer and check nothing: its failure is
 * seen once, when the answer is printed.
 */
#ifndef PR_CLI_HELP_JSON_H
#define PR_CLI_HELP_JSON_H

#include "base/json/json_write.h"
#include "cli/cli.h"
#include "conf/option/option.h"

enum { DOCS_WIDTH = 80, DOCS_MAX = 4 << 20 };

/* A row of an option table with its full name. */
struct param {
    const struct pr_opt_section *section;
    const struct pr_opt *opt;
    char name[128];  /* "exp.timeout" */
    char title[136]; /* the same, or "runtime.env.NAME" for a prefix */
    char env[160];   /* "PRONY_EXP_TIMEOUT"; empty for a prefix */
};

/* Parameters in the order of the tables; false when i is too large. */
bool param_at(size_t i, struct param *ret);
/* By full name, today's or an older one; also one below a prefix, as
 * runtime.env.PATH. */
bool param_find(const char *name, struct param *ret);
const struct pr_opt_section *section_find(const char *name);

/* How help shows a parameter: a page, "name = default" with its text, one
 * line of a section's list, or a JSON object. */
void param_page(const struct param *p, struct pr_buf *out);
void param_entry(const struct param *p, struct pr_buf *out);
void param_json(const struct param *p, struct pr_json_writer *jb);
/* A number, without a point when it is whole. */
void json_limit(struct pr_json_writer *jb, const char *key, double f);
void section_page(const struct pr_opt_section *s, struct pr_buf *out);

/* The older names of a parameter or section, "a, b"; nothing when it has
 * none. notes: each with what is to be known of it. */
void param_older(const char *name, bool notes, struct pr_buf *out);
/* A value one could give, quoted for a shell. */
void param_example(const struct param *p, struct pr_buf *out);
/* The default for a reader: "(empty)", "16", "computed: $(…)$". */
void param_default(const struct param *p, struct pr_buf *out);

/* Appends text wrapped at DOCS_WIDTH: begins at column col, further lines are
 * indented. A word longer than a line is not broken. */
void text_wrap(struct pr_buf *out, const char *text, size_t col, size_t indent);
void text_blanks(struct pr_buf *out, size_t n);
/* Empties part, whose failure becomes that of out. */
void text_clear(struct pr_buf *part, struct pr_buf *out);
/* Bytes of the first sentence. */
size_t text_sentence(const char *text);
/* "a, b or c" of "a|b|c"; with sep instead when it is not NULL. */
void text_choices(struct pr_buf *out, const char *choices, const char *sep);
/* Walks "a|b|c": the item at *at, its length to *ret_len; NULL at the end. */
const char *choice_next(const char **at, size_t *ret_len);

/* Options of a verb in groups. */
enum option_group { GROUP_OWN, GROUP_TARGETS, GROUP_EVERY, GROUP_COUNT };
enum option_group option_group(const struct option *o);
/* "options", "setting parameters", "everywhere". */
const char *option_group_title(enum option_group g);
bool option_of(const struct option *o, const struct verb *v);
/* "NAME=JSON", "[RE…]"; empty for a flag. */
void option_argument(const struct option *o, struct pr_buf *out);
/* Help and choices as one sentence without a full stop. */
void option_help(const struct option *o, struct pr_buf *out);

/* What a completion offers after an option, or where no option stands. */
enum word_kind {
    WORD_NONE, /* nothing follows */
    WORD_ANY,
    WORD_CHOICE,
    WORD_FILE,
    WORD_DIR,
    WORD_NAME,     /* a parameter */
    WORD_SETTING,  /* NAME=value */
    WORD_VARIABLE, /* NAME=[…] */
    WORD_SET_FILE, /* NAME=FILE */
    WORD_TARGET,   /* bundled names, files and settings */
    WORD_TOPIC,    /* verbs, sections and parameters */
};
enum word_kind option_words(const struct option *o);
enum word_kind verb_words(const struct verb *v);

/* The documents. A page that is not there is PR_E_USAGE. */
void man_list(struct pr_buf *out);
int man_page(const char *name, struct pr_buf *out, struct pr_err *err);
void reference_list(struct pr_buf *out);
int reference_page(const char *name, struct pr_buf *out, struct pr_err *err);
void complete_bash(struct pr_buf *out);
void complete_zsh(struct pr_buf *out);
void complete_fish(struct pr_buf *out);
void schema_write(struct pr_buf *out);

#endif
