/*
 * Reading arguments: '-' and '_' are the same in long options, unambiguous
 * prefixes are accepted, --no-NAME undoes a flag, -Pa=1 and -P a=1 and -P=a=1
 * all work, and what stands after -- is left alone. And what is said: answers
 * on stdout, the conversation on stderr.
 */
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "present/screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct option options[] = {
#define ARG(id, name, letter, kind, argument, choices, verbs, help) \
    {A_##id, name, letter, ARG_##kind, argument, choices, ON_##verbs, help},
#include "cli/args.def"
#undef ARG
};

const struct option *option_at(size_t i)
{
    return i < sizeof options / sizeof *options ? &options[i] : NULL;
}

/* Other spellings, from the programs whose users come here. */
static const char *resolve_option_alias(const char *name)
{
    static const char *const names[][2] = {
        {"discard-default-config", "no-defaults"},
        {"cgexec", "isolation"},
        {"colour", "color"},
        {"colors", "color"},
        {"plan", "output"},
        {"output", "output-file"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i][0]) == 0)
            return names[i][1];
    return name;
}

static bool on_verb(const struct option *o, const struct cli *c)
{
    return o->verbs & c->verb->bit;
}

static const struct option *find_option_by_letter(const struct cli *c,
                                                  char letter)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].letter == letter && on_verb(&options[i], c))
            return &options[i];
    return NULL;
}

/* Exact, else the only one that starts so. *ret_many: several do. */
static const struct option *
find_option_by_name(const struct cli *c, const char *name, bool *ret_many)
{
    const struct option *found = NULL;
    size_t n = strlen(name);

    *ret_many = false;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const struct option *o = &options[i];
        if (!on_verb(o, c) || strncmp(o->name, name, n) != 0)
            continue;
        if (!o->name[n])
            return o;
        *ret_many = found != NULL;
        found = o;
    }
    return *ret_many ? NULL : found;
}

static int fail_unknown_option(const struct cli *c, const char *given,
                               bool many, struct pr_err *err)
{
    struct pr_nearest near;

    if (many)
        return pr_fail(err, PR_E_USAGE, "", "'%s' is ambiguous", given);
    pr_fail(err, PR_E_USAGE, "", "unknown option '%s'", given);
    pr_nearest_init(&near, given + 2);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (on_verb(&options[i], c))
            pr_nearest_offer(&near, options[i].name);
    if (given[1] == '-' && near.best)
        return pr_hint(err, "did you mean '--%s'?", near.best);
    return pr_hint(err, "'prony %s --help' lists the options", c->verb->name);
}

/* The choice as the table spells it; NULL: none of them. In the arena. */
static const char *match_option_choice(struct cli *c, const char *choices,
                                       const char *value)
{
    size_t n = strlen(value);

    for (const char *p = choices;; p++) {
        size_t len = strcspn(p, "|");
        if (len == n && strncasecmp(p, value, n) == 0)
            return pr_arena_copy(c->arena, p, len);
        p += len;
        if (!*p)
            return NULL;
    }
}

static int no_choice(const struct option *o, const char *value,
                     struct pr_err *err)
{
    char choices[128] = "";
    size_t n = 0;

    for (const char *p = o->choices; *p && n + 3 < sizeof choices; p++) {
        choices[n++] = *p == '|' ? ',' : *p;
        if (*p == '|')
            choices[n++] = ' ';
        choices[n] = '\0';
    }
    return pr_fail(err, PR_E_USAGE, "", "--%s wants one of %s, got '%s'",
                   o->name, choices, value);
}

static int push_arg(struct cli *c, enum arg_id id, const char *value, bool off,
                    struct pr_err *err)
{
    struct arg *args = pr_arena_grow(c->arena, c->args, c->arg_count,
                                     &c->arg_cap, sizeof *args);

    if (!args)
        return pr_fail_nomem(err);
    c->args = args;
    args[c->arg_count++] = (struct arg){id, value, off};
    return PR_OK;
}

static int push_option(struct cli *c, const struct option *o, const char *value,
                       bool off, struct pr_err *err)
{
    if (*o->choices) {
        const char *known = match_option_choice(c, o->choices, value);
        if (!known)
            return no_choice(o, value, err);
        value = known;
    }
    return push_arg(c, o->id, value, off, err);
}

/* --no-NAME of an option with a value: as if it had not been given. */
static int drop_option(struct cli *c, enum arg_id id)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->arg_count; i++)
        if (c->args[i].id != id)
            c->args[kept++] = c->args[i];
    c->arg_count = kept;
    return PR_OK;
}

static int push_rest(struct cli *c, const char *word, struct pr_err *err)
{
    const char **rest = pr_arena_grow(c->arena, c->rest, c->rest_count,
                                      &c->rest_cap, sizeof *rest);

    if (!rest)
        return pr_fail_nomem(err);
    c->rest = rest;
    rest[c->rest_count++] = word;
    return push_arg(c, A_COUNT, word, false, err); /* its place counts, too */
}

/* The words after an option that takes many. */
static int read_many_values(struct cli *c, const struct option *o, int argc,
                            char **argv, int *i, struct pr_err *err)
{
    int rc = push_option(c, o, "", false, err);

    while (!rc && *i + 1 < argc && argv[*i + 1][0] != '-')
        rc = push_option(c, o, argv[++*i], false, err);
    return rc;
}

static int read_option_value(struct cli *c, const struct option *o,
                             const char *value, int argc, char **argv, int *i,
                             struct pr_err *err)
{
    if (!value) {
        if (*i + 1 == argc) {
            pr_fail(err, PR_E_USAGE, "", "%s%s wants %s",
                    o->name[1] ? "--" : "-", o->name, o->argument);
            return pr_hint(err, "'prony %s --help' shows examples",
                           c->verb->name);
        }
        value = argv[++*i];
        if (value[0] == '-' && value[1] &&
            (value[1] == '-' || find_option_by_letter(c, value[1])))
            return pr_fail(err, PR_E_USAGE, "", "--%s wants %s, got '%s'",
                           o->name, o->argument, value);
    }
    return push_option(c, o, value, false, err);
}

/* --name, --name=value, --no-name, with '_' for '-'. */
static int read_long_option(struct cli *c, int argc, char **argv, int *i,
                            struct pr_err *err)
{
    const char *equals = strchr(argv[*i], '=');
    size_t n = equals ? (size_t)(equals - argv[*i]) - 2 : strlen(argv[*i]) - 2;
    const struct option *o;
    bool many, off = false;
    char name[64];

    if (n >= sizeof name)
        return fail_unknown_option(c, argv[*i], false, err);
    memcpy(name, argv[*i] + 2, n);
    name[n] = '\0';
    for (char *p = name; *p; p++)
        if (*p == '_')
            *p = '-';
    o = find_option_by_name(c, name, &many);
    if (!o && resolve_option_alias(name) != name)
        o = find_option_by_name(c, resolve_option_alias(name), &many);
    if (!o && !many && strncmp(name, "no-", 3) == 0) {
        o = find_option_by_name(c, resolve_option_alias(name + 3), &many);
        if (o && o->id == A_COLOR)
            return push_option(c, o, "never", false, err);
        if (o && o->kind != ARG_FLAG)
            return drop_option(c, o->id);
        off = o != NULL;
    }
    if (!o)
        return fail_unknown_option(c, argv[*i], many, err);
    if (o->kind == ARG_FLAG && equals)
        return pr_fail(err, PR_E_USAGE, "", "--%s takes no value", o->name);
    if (o->kind == ARG_FLAG)
        return push_option(c, o, "", off, err);
    if (o->kind == ARG_MANY && !equals)
        return read_many_values(c, o, argc, argv, i, err);
    return read_option_value(c, o, equals ? equals + 1 : NULL, argc, argv, i,
                             err);
}

/* -v, -vq, -Pa=1, -P a=1, -P=a=1. */
static int read_short_option(struct cli *c, int argc, char **argv, int *i,
                             struct pr_err *err)
{
    for (const char *p = argv[*i] + 1; *p; p++) {
        const struct option *o = find_option_by_letter(c, *p);
        int rc;

        if (!o)
            return fail_unknown_option(c, argv[*i], false, err);
        if (o->kind == ARG_FLAG) {
            rc = push_option(c, o, "", false, err);
            if (rc)
                return rc;
            continue;
        }
        p += p[1] == '=' ? 2 : 1;
        return read_option_value(c, o, *p ? p : NULL, argc, argv, i, err);
    }
    return PR_OK;
}

int args_read(struct cli *c, int argc, char **argv, struct pr_err *err)
{
    int rc = PR_OK;

    for (int i = 0; i < argc && !rc; i++) {
        const char *a = argv[i];
        if (strcmp(a, "--") == 0) {
            c->tail = (const char **)(argv + i + 1);
            c->tail_count = (size_t)(argc - i - 1);
            break;
        }
        if (a[0] == '-' && a[1] == '-')
            rc = read_long_option(c, argc, argv, &i, err);
        else if (a[0] == '-' && a[1])
            rc = read_short_option(c, argc, argv, &i, err);
        else
            rc = push_rest(c, a, err);
    }
    return rc;
}

const char *arg_get(const struct cli *c, enum arg_id id)
{
    for (size_t i = c->arg_count; i-- > 0;)
        if (c->args[i].id == id)
            return c->args[i].value;
    return NULL;
}

bool arg_on(const struct cli *c, enum arg_id id)
{
    for (size_t i = c->arg_count; i-- > 0;)
        if (c->args[i].id == id)
            return !c->args[i].off;
    return false;
}

int arg_number(const struct cli *c, enum arg_id id, long min, long otherwise,
               long *ret, struct pr_err *err)
{
    const char *value = arg_get(c, id);
    int64_t n;

    *ret = otherwise;
    if (!value)
        return PR_OK;
    if (!pr_parse_int(value, &n) || n < min || n > 1000000000)
        return pr_fail(err, PR_E_USAGE, "",
                       "--%s wants a whole number of at least %ld, got '%s'",
                       options[id].name, min, value);
    *ret = (long)n;
    return PR_OK;
}

/* ---- what is said */

static enum level level = SAY_INFO;

void message_set_level(enum level l)
{
    level = l;
}

enum level message_level(void)
{
    return level;
}

/* What configs and logs hold must not steer the terminal: line by line. */
static void put_safe(const char *text)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);

    while (*text) {
        size_t n = strcspn(text, "\n");
        pr_screen_clean(&out, text, n);
        text += n;
        if (*text)
            pr_buf_char(&out, *text++);
    }
    if (out.data)
        (void)pr_write_all(STDERR_FILENO, out.data, out.len);
}

void message_print(enum level l, const char *fmt, ...)
{
    char text[4096];
    va_list ap;

    if (l > level)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    put_safe(text);
}

void message_print_text(enum level l, const char *text)
{
    if (l <= level)
        put_safe(text);
}

void message_print_error(const struct pr_err *err)
{
    message_print(SAY_CRITICAL, "prony: %s%s%s\n", err->where,
                  *err->where ? ": " : "", err->msg);
    if (*err->hint)
        message_print(SAY_CRITICAL, "hint: %s\n", err->hint);
}

void message_print_warning(const char *where, const char *text,
                           const char *remedy)
{
    message_print(SAY_WARNING, "warning: %s%s%s\n", where, *where ? ": " : "",
                  text);
    if (*remedy)
        message_print(SAY_WARNING, "         %s\n", remedy);
}

static bool answered;
static struct pr_buf *kept;

void answer_print_into(struct pr_buf *b)
{
    kept = b;
}

bool has_answered(void)
{
    return answered;
}

int answer_print(const char *data, size_t len, struct pr_err *err)
{
    if (kept) {
        pr_buf_add(kept, data, len);
        return PR_OK;
    }
    answered = true;
    if (pr_write_all(STDOUT_FILENO, data, len))
        return PR_OK;
    return pr_fail_errno(err, PR_E_IO, "stdout", "cannot write");
}

int answer_print_buf(const struct pr_buf *b, struct pr_err *err)
{
    if (!pr_buf_ok(b))
        return pr_fail_nomem(err);
    return b->len ? answer_print(b->data, b->len, err) : PR_OK;
}

bool stdout_colour(const struct cli *c)
{
    const char *when = arg_get(c, A_COLOR);
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

    if (when && strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    return isatty(STDOUT_FILENO) && !(no && *no) &&
           !(term && strcmp(term, "dumb") == 0);
}

unsigned stdout_width(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
        return 0;
    return size.ws_col;
}
