/* Completion for fish: one `complete` line an option, functions for names. */
#include "cli/docs.h"

#include <string.h>

static const char docs_fish_head[] =
    "# fish completion for prony. Written by \"prony __complete fish\"; do "
    "not\n"
    "# edit.\n"
    "\n"
    "# The verb that was typed, if it is one of the arguments.\n"
    "function __prony_verb\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) -gt 1; and contains -- $words[2] $argv\n"
    "end\n"
    "\n"
    "function __prony_no_verb\n"
    "    test (count (commandline -opc)) -eq 1\n"
    "end\n"
    "\n"
    "function __prony_bundled\n"
    "    prony plan --list 2>/dev/null | awk '{print $1}'\n"
    "end\n"
    "\n";

/* Text inside '…'. */
static void fish_write_text(struct pr_buf *out, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '\'' || s[i] == '\\')
            pr_buf_char(out, '\\');
        pr_buf_char(out, s[i]);
    }
}

/* NAME<TAB>first sentence, one a line. */
static void fish_write_names(struct pr_buf *out)
{
    struct param p;

    pr_buf_str(out, "function __prony_names\n    printf '%s\\t%s\\n'");
    for (size_t i = 0; param_at(i, &p); i++) {
        if (p.opt->flags & PR_OPT_PREFIX)
            continue;
        pr_buf_printf(out, " \\\n        %s '", p.name);
        fish_write_text(out, p.opt->help, text_sentence(p.opt->help));
        pr_buf_char(out, '\'');
    }
    pr_buf_str(out, "\nend\n\n");
}

/* NAME= of all, and NAME=VALUE where the values are known. */
static void fish_write_settings(struct pr_buf *out)
{
    struct param p;

    pr_buf_str(out, "function __prony_variables\n"
                    "    __prony_names | string replace \\t =\\t\n"
                    "end\n\n"
                    "function __prony_settings\n"
                    "    __prony_variables\n"
                    "    printf '%s\\n'");
    for (size_t i = 0; param_at(i, &p); i++) {
        const char *at =
            p.opt->kind == PR_OPT_BOOL ? "true|false" : p.opt->choices;
        const char *item;
        size_t len;

        while ((item = choice_next(&at, &len)))
            if (len)
                pr_buf_printf(out, " \\\n        %s=%.*s", p.name, (int)len,
                              item);
    }
    pr_buf_str(out, "\nend\n\n"
                    "function __prony_set_file\n"
                    "    set -l name (string match -r '^[^=]+=' -- "
                    "(commandline -ct))\n"
                    "    test -z \"$name\"; and __prony_variables; and "
                    "return\n"
                    "    for file in (string replace -- $name '' "
                    "(commandline -ct))*\n"
                    "        echo $name$file\n"
                    "    end\n"
                    "end\n\n");
}

static void fish_write_verbs(struct pr_buf *out)
{
    const struct verb *v;
    const struct pr_opt_section *const *s = pr_opt_sections();

    pr_buf_str(out, "function __prony_topics\n    printf '%s\\t%s\\n'");
    for (size_t i = 0; (v = verb_at(i)); i++) {
        pr_buf_printf(out, " \\\n        %s '", v->name);
        fish_write_text(out, v->summary, strlen(v->summary));
        pr_buf_char(out, '\'');
    }
    for (; *s; s++) {
        pr_buf_printf(out, " \\\n        %s '", (*s)->name);
        fish_write_text(out, (*s)->desc, strlen((*s)->desc));
        pr_buf_char(out, '\'');
    }
    pr_buf_str(out, "\n    __prony_names\nend\n\n"
                    "complete -c prony -f\n"
                    "complete -c prony -n __prony_no_verb -l version -d "
                    "'show the version'\n"
                    "complete -c prony -n __prony_no_verb -l help -s h -d "
                    "'show an overview'\n");
    for (size_t i = 0; (v = verb_at(i)); i++) {
        pr_buf_printf(out, "complete -c prony -n __prony_no_verb -a %s -d '",
                      v->name);
        fish_write_text(out, v->summary, strlen(v->summary));
        pr_buf_str(out, "'\n");
    }
}

/* What follows "complete …": whether an argument is needed and which. */
static void fish_write_words(struct pr_buf *out, enum word_kind kind)
{
    static const char *const words[] = {
        [WORD_NONE] = "",
        [WORD_ANY] = " -x",
        [WORD_CHOICE] = " -x",
        [WORD_FILE] = " -r -F",
        [WORD_DIR] = " -x -a '(__fish_complete_directories)'",
        [WORD_NAME] = " -x -a '(__prony_names)'",
        [WORD_SETTING] = " -x -a '(__prony_settings)'",
        [WORD_VARIABLE] = " -x -a '(__prony_variables)'",
        [WORD_SET_FILE] = " -x -a '(__prony_set_file)'",
        [WORD_TARGET] = " -F -a '(__prony_bundled; __prony_settings)'",
        [WORD_TOPIC] = " -a '(__prony_topics)'",
    };
    pr_buf_str(out, words[kind]);
}

static void fish_write_option(struct pr_buf *out, const struct option *o)
{
    const struct verb *v;

    pr_buf_str(out, "complete -c prony -n '__prony_verb");
    for (size_t i = 0; (v = verb_at(i)); i++)
        if (option_of(o, v))
            pr_buf_printf(out, " %s", v->name);
    pr_buf_printf(out, "' -l %s", o->name);
    if (o->letter)
        pr_buf_printf(out, " -s %c", o->letter);
    fish_write_words(out, option_words(o));
    if (*o->choices) {
        pr_buf_str(out, " -a '");
        text_choices(out, o->choices, " ");
        pr_buf_char(out, '\'');
    }
    pr_buf_str(out, " -d '");
    fish_write_text(out, o->help, strlen(o->help));
    pr_buf_str(out, "'\n");
}

void complete_fish(struct pr_buf *out)
{
    const struct option *o;
    const struct verb *v;

    pr_buf_str(out, docs_fish_head);
    fish_write_names(out);
    fish_write_settings(out);
    fish_write_verbs(out);
    for (size_t i = 0; (o = option_at(i)); i++)
        fish_write_option(out, o);
    for (size_t i = 0; (v = verb_at(i)); i++) {
        enum word_kind kind = verb_words(v);

        if (kind == WORD_NONE)
            continue;
        pr_buf_printf(out, "complete -c prony -n '__prony_verb %s'", v->name);
        if (kind == WORD_DIR)
            pr_buf_str(out, " -a '(__fish_complete_directories)'");
        else
            fish_write_words(out, kind);
        pr_buf_char(out, '\n');
    }
}
