/* `prony`, `prony --help` and `prony VERB --help`, from the tables. */
#include "base/text.h"
#include "cli/docs.h"

#include <string.h>

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

void help_commands(struct pr_buf *out)
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
