/* What the option table of the command line says of each option and verb. */
#include "cli/docs.h"

#include <string.h>

enum option_group option_group(const struct option *o)
{
    return o->verbs == ON_EVERY     ? GROUP_EVERY
           : o->verbs == ON_TARGETS ? GROUP_TARGETS
                                    : GROUP_OWN;
}

const char *option_group_title(enum option_group g)
{
    static const char *const titles[GROUP_COUNT] = {
        "options", "setting parameters", "everywhere"};

    return titles[g];
}

bool option_of(const struct option *o, const struct verb *v)
{
    return o->verbs & v->bit;
}

void option_argument(const struct option *o, struct pr_buf *out)
{
    if (o->kind == ARG_MANY)
        pr_buf_printf(out, "[%s…]", o->argument);
    else
        pr_buf_str(out, o->argument);
}

void option_help(const struct option *o, struct pr_buf *out)
{
    const char *def = strstr(o->help, " (default: ");

    if (!*o->choices) {
        pr_buf_str(out, o->help);
        return;
    }
    pr_buf_add(out, o->help, def ? (size_t)(def - o->help) : strlen(o->help));
    pr_buf_str(out, ": ");
    text_choices(out, o->choices, NULL);
    pr_buf_str(out, def ? def : "");
}

enum word_kind option_words(const struct option *o)
{
    static const struct {
        const char *argument;
        enum word_kind kind;
    } rows[] = {
        {"FILE", WORD_FILE},         {"DIR", WORD_DIR},
        {"NAME", WORD_NAME},         {"NAME=JSON", WORD_SETTING},
        {"NAME=[…]", WORD_VARIABLE}, {"NAME=FILE", WORD_SET_FILE},
    };

    if (o->kind == ARG_FLAG)
        return WORD_NONE;
    if (*o->choices)
        return WORD_CHOICE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(o->argument, rows[i].argument) == 0)
            return rows[i].kind;
    return WORD_ANY;
}

enum word_kind verb_words(const struct verb *v)
{
    if (strstr(v->takes, "TARGET"))
        return WORD_TARGET;
    if (strstr(v->takes, "VERB"))
        return WORD_TOPIC;
    if (strncmp(v->takes, "DIR", 3) == 0)
        return WORD_DIR;
    return *v->takes ? WORD_FILE : WORD_NONE;
}
