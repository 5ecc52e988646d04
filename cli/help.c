/* `prony help`: the overview, pages, and searching among the parameters. */
#include "base/text.h"
#include "cli/help_frameworks.h"
#include "cli/help_json.h"
#include "conf/expr/regex.h"
#include "conf/option/alias.h"

#include <stdlib.h>
#include <string.h>

/* ---- prony, prony --help and prony VERB --help */

enum { VERB_COLUMN = 12, GOAL_COLUMN = 20, OPTION_COLUMN = 26 };

/* What most people want, as commands that can be pasted as they are. */
static const struct {
    const char *verb, *goal, *command;
} goals[] = {
    {"demo", "see it work", "prony demo"},
    {"capacity", "size a storage", "prony capacity unet3d_h100 -d /mnt/data"},
    {"probe", "find a bottleneck", "prony probe unet3d_h100 -d /mnt/data"},
    {"run", "train a network",
     "prony run -P exp.framework=native -P exp.model=resnet50"},
    {"run", "score a machine",
     "prony run quick -o out && prony report out --weights quick"},
    {"run", "sweep anything",
     "prony run -P exp.command='sleep ${t}' -V t='[1, 2]' -o out"},
    {"compare", "compare two runs", "prony compare before after"},
};

/* All verbs, in the order in which they are used. */
static const struct {
    const char *what, *verbs[9];
} kinds[] = {
    {"run", {"demo", "plan", "run", "rerun", "generate", "capacity", "probe"}},
    {"read",
     {"report", "summary", "compare", "parse", "scaling", "plot", "gather"}},
    {"know", {"help", "doctor", "model"}},
};

/* Blanks up to a column, or a new line when the text is past it. */
static void to_column(struct pr_buf *out, size_t col, size_t want)
{
    if (col + 1 > want) {
        pr_buf_char(out, '\n');
        col = 0;
    }
    text_blanks(out, want - col);
}

void help_overview(struct pr_buf *out)
{
    pr_buf_str(out, "Prony benchmarks deep-learning systems: it plans, runs, "
                    "records and reports.\n\nThe things most people want:\n");
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        if (verb_find(goals[i].verb))
            pr_buf_printf(out, "  %-*s %s\n", GOAL_COLUMN - 3, goals[i].goal,
                          goals[i].command);
    pr_buf_str(out, "\nCommands ('prony help commands' says what each "
                    "does):\n");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pr_buf_printf(out, "  %-*s", GOAL_COLUMN - 3, kinds[i].what);
        for (size_t k = 0; kinds[i].verbs[k]; k++)
            if (verb_find(kinds[i].verbs[k]))
                pr_buf_printf(out, " %s", kinds[i].verbs[k]);
        pr_buf_char(out, '\n');
    }
    pr_buf_str(out, "\n'prony VERB --help' shows examples and options, 'prony "
                    "help exp' parameters.\n");
}

/* a line each */
static void help_commands(struct pr_buf *out)
{
    const struct verb *v;

    for (size_t i = 0; (v = verb_at(i)); i++) {
        pr_buf_printf(out, "  %-*s ", VERB_COLUMN - 3, v->name);
        text_wrap(out, v->summary, VERB_COLUMN, VERB_COLUMN);
    }
}

static void help_write_option(struct pr_buf *out, const struct option *o)
{
    PR_AUTO_BUF struct pr_buf head = PR_BUF_INIT(1024);
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(4096);

    if (o->letter)
        pr_buf_printf(&head, "  -%c, --%s", o->letter, o->name);
    else
        pr_buf_printf(&head, "      --%s", o->name);
    if (o->kind != ARG_FLAG)
        pr_buf_char(&head, ' ');
    option_argument(o, &head);
    option_help(o, &text);
    if (!pr_buf_ok(&head) || !pr_buf_ok(&text)) {
        out->failed = true;
        return;
    }
    pr_buf_str(out, head.data);
    to_column(out, pr_utf8_columns(head.data), OPTION_COLUMN);
    text_wrap(out, text.data, OPTION_COLUMN, OPTION_COLUMN);
}

static void help_write_group(struct pr_buf *out, const struct verb *v,
                             enum option_group g)
{
    const struct option *o;
    bool any = false;

    for (size_t i = 0; (o = option_at(i)); i++) {
        if (!option_of(o, v) || option_group(o) != g)
            continue;
        if (!any)
            pr_buf_printf(out, "\n%s:\n", option_group_title(g));
        any = true;
        help_write_option(out, o);
    }
}

void help_verb(const struct verb *v, struct pr_buf *out)
{
    pr_buf_printf(out, "usage: prony %s [OPTION…]%s%s\n\nexamples:\n%s\n",
                  v->name, *v->takes ? " " : "", v->takes, v->examples);
    text_wrap(out, v->about, 0, 0);
    for (int g = 0; g < GROUP_COUNT; g++)
        help_write_group(out, v, (enum option_group)g);
}

/* ---- prony help: pages, and searching among the parameters */

static bool json_wanted(const struct cli *c)
{
    const char *format = arg_get(c, A_HELP_FORMAT);

    return format && strcasecmp(format, "json") == 0;
}

/* re.search: 1, 0 or an error. A pattern is part of the command line, so what
 * is wrong with it is a usage error. */
static int found_in(const char *pattern, const char *text, struct pr_err *err)
{
    struct pr_regex *re = NULL;
    int rc =
        pr_regex_new(pattern, strlen(pattern), PR_REGEX_IGNORE_CASE, &re, err);

    if (!rc)
        rc = pr_regex_search(re, text, strlen(text), 0, NULL, err);
    pr_regex_free(re);
    if (rc != PR_E_CONF || !err)
        return rc;
    return pr_fail(err, PR_E_USAGE, "", "bad pattern '%s': %s", pattern,
                   err->msg);
}

/* Whether text matches one of the patterns given to the option; with none
 * given everything does. 1, 0 or an error. */
static int match_patterns(const struct cli *c, enum arg_id id, const char *text,
                          struct pr_err *err)
{
    int rc = 1;

    for (size_t i = 0; i < c->arg_count; i++) {
        /* The first entry of an option that takes many is empty. */
        if (c->args[i].id != id || !*c->args[i].value)
            continue;
        rc = found_in(c->args[i].value, text, err);
        if (rc)
            return rc;
    }
    return rc;
}

/* Whether a name of the parameter, today's or an older one, matches. */
static int named_like(const struct cli *c, const char *name, struct pr_err *err)
{
    int rc = match_patterns(c, A_PARAMS, name, err);
    char old[160];

    for (size_t i = 0; !rc && pr_alias_older_name(name, i, old); i++)
        rc = match_patterns(c, A_PARAMS, old, err);
    return rc;
}

static int compare_params_by_name(const void *a, const void *b)
{
    return strcmp(((const struct param *)a)->name,
                  ((const struct param *)b)->name);
}

/* Parameters that match both options, sorted. In the arena. */
static int search_params(struct cli *c, struct param **ret, size_t *ret_count,
                         struct pr_err *err)
{
    struct param *found = NULL, p;
    size_t count = 0, cap = 0;

    for (size_t i = 0; param_at(i, &p); i++) {
        int named = named_like(c, p.name, err);
        int described = match_patterns(c, A_TEXT, p.opt->help, err);

        if (named < 0 || described < 0)
            return named < 0 ? named : described;
        if (!named || !described)
            continue;
        found = pr_arena_grow(c->arena, found, count, &cap, sizeof *found);
        if (!found)
            return pr_fail_nomem(err);
        found[count++] = p;
    }
    if (count)
        qsort(found, count, sizeof *found, compare_params_by_name);
    *ret = found;
    *ret_count = count;
    return PR_OK;
}

static int print_params_json(const struct param *params, size_t count,
                             struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(DOCS_MAX);
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, &out, 2);
    pr_json_open_array(&jb, NULL);
    for (size_t i = 0; i < count; i++)
        param_json(&params[i], &jb);
    pr_json_close(&jb);
    pr_buf_char(&out, '\n');
    return answer_print_buf(&out, err);
}

static int print_param_list(struct cli *c, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(DOCS_MAX);
    struct param *found = NULL;
    size_t count = 0;
    int rc = search_params(c, &found, &count, err);

    if (rc)
        return rc;
    if (!count)
        message_print(SAY_INFO, "no parameter matches\n");
    if (json_wanted(c))
        return print_params_json(found, count, err);
    for (size_t i = 0; i < count; i++)
        param_entry(&found[i], &out);
    return answer_print_buf(&out, err);
}

/* A parameter by its name without the section: 'timeout' for exp.timeout. */
static const char *nearest_short(const struct cli *c, const char *name,
                                 size_t *ret_distance)
{
    struct pr_nearest near;
    struct param p;

    pr_nearest_init(&near, name);
    for (size_t i = 0; param_at(i, &p); i++)
        pr_nearest_offer(&near, p.opt->name);
    *ret_distance = near.distance;
    for (size_t i = 0; near.best && param_at(i, &p); i++)
        if (p.opt->name == near.best)
            return pr_arena_str(c->arena, p.name);
    return NULL;
}

/* Nearest of verbs, sections and parameters. */
static const char *nearest_topic(const struct cli *c, const char *name)
{
    const struct pr_opt_section *const *s = pr_opt_sections();
    struct pr_nearest near;
    const struct verb *v;
    const char *shorter;
    size_t distance;
    struct param p;

    pr_nearest_init(&near, name);
    for (size_t i = 0; (v = verb_at(i)); i++)
        pr_nearest_offer(&near, v->name);
    for (; *s; s++)
        pr_nearest_offer(&near, (*s)->name);
    for (size_t i = 0; param_at(i, &p); i++) {
        const char *kept = pr_arena_str(c->arena, p.name);
        if (kept)
            pr_nearest_offer(&near, kept);
    }
    shorter = nearest_short(c, name, &distance);
    return shorter && (!near.best || distance < near.distance) ? shorter
                                                               : near.best;
}

static int unknown_topic(const struct cli *c, const char *name,
                         struct pr_err *err)
{
    const char *best = nearest_topic(c, name);

    pr_fail(err, PR_E_USAGE, "", "nothing is named '%s'", name);
    return best ? pr_hint(err, "did you mean '%s'?", best)
                : pr_hint(err, "'prony help --params %s' searches the names",
                          name);
}

static int write_help_topic(struct cli *c, const char *name, struct pr_buf *out,
                            struct pr_err *err)
{
    const struct verb *v = verb_find(name);
    const struct pr_opt_section *s = section_find(name);
    struct param p;

    if (v)
        help_verb(v, out);
    else if (strcmp(name, "commands") == 0)
        help_commands(out);
    else if (s)
        section_page(s, out);
    else if (param_find(name, &p))
        param_page(&p, out);
    else
        return unknown_topic(c, name, err);
    return PR_OK;
}

static int print_help_topics(struct cli *c, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(DOCS_MAX);

    for (size_t i = 0; i < c->rest_count; i++) {
        int rc;
        if (i)
            pr_buf_char(&out, '\n');
        rc = write_help_topic(c, c->rest[i], &out, err);
        if (rc)
            return rc;
    }
    if (!c->rest_count)
        help_overview(&out);
    return answer_print_buf(&out, err);
}

/* Adds the parameters that a topic names. */
static int add_topic(struct cli *c, const char *name, struct param **found,
                     size_t *count, size_t *cap, struct pr_err *err)
{
    const struct pr_opt_section *s = section_find(name);
    struct param one, p;
    bool known = param_find(name, &one);

    if (!s && !known && verb_find(name))
        return pr_fail(err, PR_E_USAGE, "",
                       "--format json shows parameters, '%s' is a command",
                       name);
    if (!s && !known)
        return unknown_topic(c, name, err);
    for (size_t i = 0; param_at(i, &p); i++) {
        struct param *grown;

        if (s ? p.section != s : p.opt != one.opt)
            continue;
        grown = pr_arena_grow(c->arena, *found, *count, cap, sizeof p);
        if (!grown)
            return pr_fail_nomem(err);
        *found = grown;
        grown[(*count)++] = p;
    }
    return PR_OK;
}

static int json_pages(struct cli *c, struct pr_err *err)
{
    struct param *found = NULL;
    size_t count = 0, cap = 0;
    int rc = PR_OK;

    for (size_t i = 0; i < c->rest_count && !rc; i++)
        rc = add_topic(c, c->rest[i], &found, &count, &cap, err);
    return rc ? rc : print_params_json(found, count, err);
}

int cmd_help(struct cli *c, struct pr_err *err)
{
    bool searching = arg_get(c, A_PARAMS) || arg_get(c, A_TEXT);

    if (arg_get(c, A_FRAMEWORKS))
        return help_frameworks(c, json_wanted(c), err);
    if (searching && c->rest_count) {
        pr_fail(err, PR_E_USAGE, "", "'%s' stands beside --params or --text",
                c->rest[0]);
        return pr_hint(err, "patterns follow their option: --params %s",
                       c->rest[0]);
    }
    if (searching || (json_wanted(c) && !c->rest_count))
        return print_param_list(c, err);
    return json_wanted(c) ? json_pages(c, err) : print_help_topics(c, err);
}
