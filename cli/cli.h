/*
 * The program around the library: verbs, options, and what is said where.
 * Answers go to stdout, everything else to stderr, the verdict is the exit
 * status. One file a verb (cmd_*.c), no logic in them.
 */
#ifndef PR_CLI_H
#define PR_CLI_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>

/* Verbs as bits, for the option table. */
enum verb_bit {
    ON_DEMO = 1 << 0,
    ON_PLAN = 1 << 1,
    ON_RUN = 1 << 2,
    ON_REPORT = 1 << 3,
    ON_HELP = 1 << 4,
    ON_DOCTOR = 1 << 5,
    ON_GENERATE = 1 << 6,
    ON_CAPACITY = 1 << 7,
    ON_MODEL = 1 << 8,
    ON_PARSE = 1 << 9,
    ON_SCALING = 1 << 10,
    ON_PLOT = 1 << 11,
    ON_SUMMARY = 1 << 12,
    ON_RERUN = 1 << 13,
    ON_GATHER = 1 << 20,
    ON_COMPARE = 1 << 16,
    ON_PROBE = 1 << 21,
    ON_RUNS = ON_RUN | ON_PROBE,
    ON_PLANS = ON_PLAN | ON_RUN,
    ON_STRICT = ON_RUN | ON_REPORT,
    ON_TARGETS = ON_PLAN | ON_RUNS | ON_GENERATE | ON_CAPACITY,
    ON_READS = ON_PARSE | ON_SCALING | ON_PLOT,
    ON_EVERY = 0xffffff,
};

enum arg_kind { ARG_FLAG, ARG_VALUE, ARG_MANY };

enum arg_id {
#define ARG(id, ...) A_##id,
#include "cli/args.def"
#undef ARG
    A_COUNT,
};

struct option {
    enum arg_id id;
    const char *name;
    char letter; /* 0: none */
    enum arg_kind kind;
    const char *argument; /* what stands in the help */
    const char *choices;  /* "a|b"; empty: anything */
    unsigned verbs;
    const char *help;
};

const struct option *option_at(size_t i); /* NULL at the end */

/* One option as given. */
struct arg {
    enum arg_id id;
    const char *value; /* "" for a flag */
    bool off;          /* --no-NAME */
};

struct verb;

struct cli {
    const struct verb *verb;
    struct pr_arena *arena;
    struct arg *args;
    size_t arg_count, arg_cap;
    const char **rest; /* what is no option, in order */
    size_t rest_count, rest_cap;
    const char **tail; /* what stands after -- */
    size_t tail_count;
    int signo; /* out: the signal that stopped the verb; 0: none */
};

struct verb {
    const char *name;
    unsigned bit;
    const char *takes;    /* "TARGET…", "DIR", "" */
    const char *summary;  /* one line */
    const char *about;    /* a paragraph or more for help and manual */
    const char *examples; /* "  prony plan …\n" lines */
    int (*run)(struct cli *c, struct pr_err *err);
};

const struct verb *verb_at(size_t i); /* NULL at the end */
const struct verb *verb_find(const char *name);

/* Reads the arguments after the verb. PR_E_USAGE. */
int args_read(struct cli *c, int argc, char **argv,
              struct pr_err *err) PR_MUST_CHECK;

/* The last value given, or NULL. */
const char *arg_get(const struct cli *c, enum arg_id id);
/* Whether a flag is on. */
bool arg_on(const struct cli *c, enum arg_id id);
/* A whole number of at least min; what the option says otherwise. */
int arg_number(const struct cli *c, enum arg_id id, long min, long otherwise,
               long *ret, struct pr_err *err) PR_MUST_CHECK;

/* Saying things on stderr, by level. */
enum level { SAY_CRITICAL, SAY_ERROR, SAY_WARNING, SAY_INFO, SAY_DEBUG };
void message_set_level(enum level l);
enum level message_level(void);
void message_print(enum level l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void message_print_text(enum level l, const char *text); /* of any length */
void message_print_error(const struct pr_err *err);
void message_print_warning(const char *where, const char *text,
                           const char *remedy);

/* Writes an answer to stdout; PR_E_IO when it cannot (a full disk, a closed
 * pipe). */
int answer_print(const char *data, size_t len,
                 struct pr_err *err) PR_MUST_CHECK;
int answer_print_buf(const struct pr_buf *b, struct pr_err *err) PR_MUST_CHECK;

/* Answers go there until NULL is given; then to stdout again. */
void answer_print_into(struct pr_buf *b);

/* Whether anything was answered yet. */
bool has_answered(void);

/* Whether stdout may be coloured, and its width (0: not a terminal). */
bool stdout_colour(const struct cli *c);
unsigned stdout_width(void);

/* Help texts from the tables. */
void help_overview(struct pr_buf *out);
void help_verb(const struct verb *v, struct pr_buf *out);

/* Generated documents: __man, __complete, __schema, __reference, __verbs.
 * PR_E_USAGE for a name that is none. */
int hidden_verb(const char *name, int argc, char **argv, struct pr_err *err);
bool is_hidden_verb(const char *name);

/* The command line of `prony`, argv[0] included; the exit status. */
int cli_main(int argc, char **argv);

/* The verbs. */
int cmd_demo(struct cli *c, struct pr_err *err);
int cmd_plan(struct cli *c, struct pr_err *err);
int cmd_run(struct cli *c, struct pr_err *err);
int cmd_rerun(struct cli *c, struct pr_err *err);
int cmd_generate(struct cli *c, struct pr_err *err);
int cmd_capacity(struct cli *c, struct pr_err *err);
int cmd_probe(struct cli *c, struct pr_err *err);
int cmd_report(struct cli *c, struct pr_err *err);
int cmd_summary(struct cli *c, struct pr_err *err);
int cmd_parse(struct cli *c, struct pr_err *err);
int cmd_scaling(struct cli *c, struct pr_err *err);
int cmd_plot(struct cli *c, struct pr_err *err);
int cmd_gather(struct cli *c, struct pr_err *err);
int cmd_compare(struct cli *c, struct pr_err *err);
int cmd_model(struct cli *c, struct pr_err *err);
int cmd_help(struct cli *c, struct pr_err *err);
int cmd_doctor(struct cli *c, struct pr_err *err);

#endif
