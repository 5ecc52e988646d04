/* Completion for zsh: one _arguments call a verb, and lists of parameters. */
#include "cli/docs.h"

#include <string.h>

static const char *const actions[] = {
    [WORD_ANY] = " ",
    [WORD_FILE] = "_files",
    [WORD_DIR] = "_files -/",
    [WORD_NAME] = "_prony_names",
    [WORD_SETTING] = "_prony_settings",
    [WORD_VARIABLE] = "_prony_settings",
    [WORD_SET_FILE] = "_prony_set_file",
    [WORD_TARGET] = "_prony_targets",
    [WORD_TOPIC] = "_prony_topics",
};

static const char docs_zsh_head[] =
    "#compdef prony\n"
    "# zsh completion for prony. Written by \"prony __complete zsh\"; do not "
    "edit.\n\n";

static const char docs_zsh_functions[] =
    "\n"
    "_prony_names() {\n"
    "    _describe -t parameters parameter _prony_params\n"
    "}\n"
    "\n"
    "_prony_settings() {\n"
    "    if compset -P '*='; then\n"
    "        local name=${${IPREFIX%=}##*=}\n"
    "        local -a values=(${=_prony_values[${name#-?}]})\n"
    "        (( $#values )) && _describe -t values value values\n"
    "    else\n"
    "        _describe -t parameters parameter _prony_params -S =\n"
    "    fi\n"
    "}\n"
    "\n"
    "_prony_set_file() {\n"
    "    if compset -P '*='; then\n"
    "        _files\n"
    "    else\n"
    "        _describe -t parameters parameter _prony_params -S =\n"
    "    fi\n"
    "}\n"
    "\n"
    "_prony_targets() {\n"
    "    if [[ $PREFIX != *=* ]]; then\n"
    "        local -a bundled\n"
    "        bundled=(${${(f)\"$(prony plan --list 2>/dev/null |\n"
    "            awk '{print $1}')\"}:#})\n"
    "        (( $#bundled )) && _describe -t targets 'bundled target' bundled\n"
    "        _files\n"
    "    fi\n"
    "    [[ -n $PREFIX ]] && _prony_settings\n"
    "}\n"
    "\n"
    "_prony_topics() {\n"
    "    _describe -t verbs command _prony_verbs\n"
    "    _describe -t sections section _prony_sections\n"
    "    [[ -n $PREFIX ]] && _prony_names\n"
    "}\n"
    "\n"
    "_prony() {\n"
    "    if (( CURRENT == 2 )); then\n"
    "        _describe -t verbs command _prony_verbs\n"
    "        _arguments --help --version\n"
    "        return\n"
    "    fi\n"
    "    local verb=$words[2]\n"
    "    shift words\n"
    "    (( CURRENT-- ))\n"
    "    (( $+functions[_prony_$verb] )) && _prony_$verb\n"
    "}\n"
    "\n"
    "_prony \"$@\"\n";

/* Text inside '…', with what is special in there escaped. */
static void zsh_write_text(struct pr_buf *out, const char *s, size_t len,
                           const char *escaped)
{
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '\'') {
            pr_buf_str(out, "'\\''");
            continue;
        }
        if (strchr(escaped, s[i]))
            pr_buf_char(out, '\\');
        pr_buf_char(out, s[i]);
    }
}

static void zsh_write_lists(struct pr_buf *out)
{
    const struct pr_opt_section *const *s = pr_opt_sections();
    const struct verb *v;
    struct param p;

    pr_buf_str(out, "typeset -ga _prony_verbs=(\n");
    for (size_t i = 0; (v = verb_at(i)); i++) {
        pr_buf_printf(out, "    '%s:", v->name);
        zsh_write_text(out, v->summary, strlen(v->summary), ":\\");
        pr_buf_str(out, "'\n");
    }
    pr_buf_str(out, ")\ntypeset -ga _prony_sections=(\n");
    for (; *s; s++) {
        pr_buf_printf(out, "    '%s:", (*s)->name);
        zsh_write_text(out, (*s)->desc, strlen((*s)->desc), ":\\");
        pr_buf_str(out, "'\n");
    }
    pr_buf_str(out, ")\ntypeset -ga _prony_params=(\n");
    for (size_t i = 0; param_at(i, &p); i++) {
        if (p.opt->flags & PR_OPT_PREFIX)
            continue;
        pr_buf_printf(out, "    '%s:", p.name);
        zsh_write_text(out, p.opt->help, text_sentence(p.opt->help), ":\\");
        pr_buf_str(out, "'\n");
    }
    pr_buf_str(out, ")\ntypeset -gA _prony_values=(\n");
    for (size_t i = 0; param_at(i, &p); i++) {
        if (!p.opt->choices && p.opt->kind != PR_OPT_BOOL)
            continue;
        pr_buf_printf(out, "    %s '", p.name);
        text_choices(out, p.opt->choices ? p.opt->choices : "true|false", " ");
        pr_buf_str(out, "'\n");
    }
    pr_buf_str(out, ")\n");
}

/* '*'{-P,--param}'[set a parameter]:NAME=JSON:_prony_settings' */
static void zsh_write_option(struct pr_buf *out, const struct option *o)
{
    const char *many = o->kind == ARG_MANY ? "*-*:" : "";

    pr_buf_str(out, " \\\n        '*'");
    if (o->letter)
        pr_buf_printf(out, "{-%c%s,--%s%s}", o->letter,
                      o->kind == ARG_FLAG ? "" : "+", o->name,
                      o->kind == ARG_FLAG ? "" : "=");
    else
        pr_buf_printf(out, "--%s%s", o->name, o->kind == ARG_FLAG ? "" : "=");
    pr_buf_str(out, "'[");
    zsh_write_text(out, o->help, strlen(o->help), "[]:\\");
    pr_buf_char(out, ']');
    if (o->kind != ARG_FLAG) {
        pr_buf_printf(out, ":%s", many);
        zsh_write_text(out, o->argument, strlen(o->argument), "[]:\\");
        pr_buf_char(out, ':');
        if (*o->choices) {
            pr_buf_char(out, '(');
            text_choices(out, o->choices, " ");
            pr_buf_char(out, ')');
        } else {
            pr_buf_str(out, actions[option_words(o)]);
        }
    }
    pr_buf_char(out, '\'');
}

static void zsh_write_verb(struct pr_buf *out, const struct verb *v)
{
    const struct option *o;

    pr_buf_printf(out, "\n_prony_%s() {\n    _arguments -s -S", v->name);
    for (size_t i = 0; (o = option_at(i)); i++)
        if (option_of(o, v))
            zsh_write_option(out, o);
    if (verb_words(v) != WORD_NONE) {
        pr_buf_str(out, " \\\n        '*:");
        zsh_write_text(out, v->takes, strlen(v->takes), "[]:\\");
        pr_buf_printf(out, ":%s'", actions[verb_words(v)]);
    }
    pr_buf_str(out, "\n}\n");
}

void complete_zsh(struct pr_buf *out)
{
    const struct verb *v;

    pr_buf_str(out, docs_zsh_head);
    zsh_write_lists(out);
    for (size_t i = 0; (v = verb_at(i)); i++)
        zsh_write_verb(out, v);
    pr_buf_str(out, docs_zsh_functions);
}
