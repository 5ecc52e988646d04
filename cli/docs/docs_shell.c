/* Completion for fish, zsh and bash, from the tables. */
#include "cli/help_json.h"

#include <string.h>

/* ---- fish: one `complete` line an option, functions for names */

static const char fish_head[] =
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

    pr_buf_str(out, fish_head);
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

/* ---- zsh: one _arguments call a verb, and lists of parameters */

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

static const char zsh_head[] =
    "#compdef prony\n"
    "# zsh completion for prony. Written by \"prony __complete zsh\"; do not "
    "edit.\n\n";

static const char zsh_functions[] =
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

    pr_buf_str(out, zsh_head);
    zsh_write_lists(out);
    for (size_t i = 0; (v = verb_at(i)); i++)
        zsh_write_verb(out, v);
    pr_buf_str(out, zsh_functions);
}

static const char head[] = "# bash completion for prony. Written by \"prony "
                           "__complete bash\"; do not\n"
                           "# edit.\n"
                           "\n";

/* How the fixed part names the kinds of words. */
static const char *const kind_names[] = {
    [WORD_NONE] = "",
    [WORD_ANY] = "any",
    [WORD_CHOICE] = "choice",
    [WORD_FILE] = "file",
    [WORD_DIR] = "dir",
    [WORD_NAME] = "name",
    [WORD_SETTING] = "set",
    [WORD_VARIABLE] = "var",
    [WORD_SET_FILE] = "set-file",
    [WORD_TARGET] = "target",
    [WORD_TOPIC] = "topic",
};

static const char functions[] =
    "\n"
    "# Offers the words of $1 that begin with $2, each with $3 in front.\n"
    "_prony_offer()\n"
    "{\n"
    "    local word\n"
    "    for word in $1; do\n"
    "        [[ $word == \"$2\"* ]] && COMPREPLY+=(\"$3$word\")\n"
    "    done\n"
    "}\n"
    "\n"
    "_prony_files()\n"
    "{\n"
    "    local word\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r word; do\n"
    "        COMPREPLY+=(\"$3$word\")\n"
    "    done < <(compgen \"-$1\" -- \"$2\")\n"
    "}\n"
    "\n"
    "# NAME=, or after it the values of that parameter.\n"
    "_prony_settings()\n"
    "{\n"
    "    case $1 in\n"
    "    *=*) _prony_offer \"$(_prony_values \"${1%%=*}\")\" \"${1#*=}\" \\\n"
    "        \"$2${1%%=*}=\" ;;\n"
    "    *)\n"
    "        _prony_offer \"${_prony_names//$'\\n'/= }=\" \"$1\" \"$2\"\n"
    "        ((${#COMPREPLY[@]})) && compopt -o nospace 2>/dev/null ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "# Bundled targets, files and settings. Readline would put a \\ before\n"
    "# the '=' of names it takes for files: so not both at once.\n"
    "_prony_targets()\n"
    "{\n"
    "    [[ $1 ]] && _prony_settings \"$1\" \"$2\"\n"
    "    [[ $1 == *=* ]] && return\n"
    "    if ((${#COMPREPLY[@]})); then\n"
    "        COMPREPLY+=($(compgen -f -- \"$1\"))\n"
    "    else\n"
    "        _prony_offer \"$(\"${COMP_WORDS[0]}\" plan --list 2>/dev/null |\n"
    "            awk '{print $1}')\" \"$1\" \"$2\"\n"
    "        _prony_files f \"$1\" \"$2\"\n"
    "    fi\n"
    "}\n"
    "\n"
    "# Words of kind $1 that begin with $2; $3 stands in front of them.\n"
    "_prony_words()\n"
    "{\n"
    "    case $1 in\n"
    "    file) _prony_files f \"$2\" \"$3\" ;;\n"
    "    dir) _prony_files d \"$2\" \"$3\" ;;\n"
    "    name) _prony_offer \"$_prony_names\" \"$2\" \"$3\" ;;\n"
    "    set) _prony_settings \"$2\" \"$3\" ;;\n"
    "    var) [[ $2 == *=* ]] || _prony_settings \"$2\" \"$3\" ;;\n"
    "    set-file)\n"
    "        case $2 in\n"
    "        *=*) _prony_files f \"${2#*=}\" \"$3${2%%=*}=\" ;;\n"
    "        *) _prony_settings \"$2\" \"$3\" ;;\n"
    "        esac ;;\n"
    "    target) _prony_targets \"$2\" \"$3\" ;;\n"
    "    topic)\n"
    "        _prony_offer \"$_prony_verbs $_prony_sections\" \"$2\" \"$3\"\n"
    "        [[ $2 ]] && _prony_offer \"$_prony_names\" \"$2\" \"$3\" ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "# The argument of option $2 of verb $1, so far $3; $4 in front.\n"
    "_prony_argument()\n"
    "{\n"
    "    local kind\n"
    "    kind=$(_prony_option \"$1\" \"$2\")\n"
    "    case $kind in\n"
    "    '') return 1 ;;\n"
    "    choice*) _prony_offer \"${kind#choice}\" \"$3\" \"$4\" ;;\n"
    "    *) _prony_words \"$kind\" \"$3\" \"$4\" ;;\n"
    "    esac\n"
    "    return 0\n"
    "}\n"
    "\n"
    "_prony()\n"
    "{\n"
    "    local words=() word glue= i verb cur prev head\n"
    "    COMPREPLY=()\n"
    "    # Where '=' breaks words, put together again what it broke.\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if [[ ($word == = || $glue) && ${#words[@]} -gt 2 ]]; then\n"
    "            words[${#words[@]} - 1]+=$word\n"
    "        else\n"
    "            words+=(\"$word\")\n"
    "        fi\n"
    "        glue=\n"
    "        [[ $word == = ]] && glue=yes\n"
    "    done\n"
    "    verb=${words[1]} cur=${words[${#words[@]} - 1]}\n"
    "    prev=${words[${#words[@]} - 2]}\n"
    "    if ((${#words[@]} <= 2)); then\n"
    "        _prony_offer \"$_prony_verbs --help --version\" \"$cur\" ''\n"
    "        return\n"
    "    fi\n"
    "    for word in \"${words[@]:2:${#words[@]}-3}\"; do\n"
    "        [[ $word == -- ]] && { _prony_files f \"$cur\" ''; return; }\n"
    "    done\n"
    "    head=${cur%%=*}\n"
    "    if [[ $cur == --*=* ]]; then\n"
    "        _prony_argument \"$verb\" \"$head\" \"${cur#*=}\" \"$head=\"\n"
    "    elif [[ $cur == -[A-Za-z]?* ]]; then\n"
    "        head=${cur:0:2} cur=${cur:2}\n"
    "        _prony_argument \"$verb\" \"$head\" \"$cur\" \"$head\"\n"
    "        cur=$head$cur\n"
    "    elif [[ $prev == -* && $prev != *=* ]] &&\n"
    "        _prony_argument \"$verb\" \"$prev\" \"$cur\" ''; then\n"
    "        :\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        _prony_offer \"$(_prony_options \"$verb\")\" \"$cur\" ''\n"
    "    else\n"
    "        _prony_words \"$(_prony_takes \"$verb\")\" \"$cur\" ''\n"
    "    fi\n"
    "    # Readline replaces only what stands after the last '='.\n"
    "    if [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]]; then\n"
    "        head=${cur%\"${cur##*=}\"}\n"
    "        COMPREPLY=(\"${COMPREPLY[@]#\"$head\"}\")\n"
    "    fi\n"
    "}\n"
    "\n"
    "complete -F _prony prony\n";

static void bash_write_lists(struct pr_buf *out)
{
    const struct pr_opt_section *const *s = pr_opt_sections();
    const struct verb *v;
    struct param p;

    pr_buf_str(out, "_prony_verbs='");
    for (size_t i = 0; (v = verb_at(i)); i++)
        pr_buf_printf(out, "%s%s", i ? " " : "", v->name);
    pr_buf_str(out, "'\n_prony_sections='");
    for (size_t i = 0; s[i]; i++)
        pr_buf_printf(out, "%s%s", i ? " " : "", s[i]->name);
    pr_buf_str(out, "'\n_prony_names='");
    for (size_t i = 0; param_at(i, &p); i++)
        if (!(p.opt->flags & PR_OPT_PREFIX))
            pr_buf_printf(out, "%s%s", i ? "\n" : "", p.name);
    pr_buf_str(out, "'\n");
}

/* Choices of parameters; the empty one needs no completion. */
static void bash_write_values(struct pr_buf *out)
{
    struct param p;

    pr_buf_str(out, "\n# Values of a parameter.\n_prony_values()\n{\n"
                    "    case $1 in\n");
    for (size_t i = 0; param_at(i, &p); i++) {
        if (!p.opt->choices && p.opt->kind != PR_OPT_BOOL)
            continue;
        pr_buf_printf(out, "    %s) echo ", p.name);
        text_choices(out, p.opt->choices ? p.opt->choices : "true|false", " ");
        pr_buf_str(out, " ;;\n");
    }
    pr_buf_str(out, "    esac\n}\n");
}

static void bash_write_options(struct pr_buf *out)
{
    const struct verb *v;
    const struct option *o;

    pr_buf_str(out, "\n# Options of a verb.\n_prony_options()\n{\n"
                    "    case $1 in\n");
    for (size_t i = 0; (v = verb_at(i)); i++) {
        pr_buf_printf(out, "    %s) echo", v->name);
        for (size_t k = 0; (o = option_at(k)); k++)
            if (option_of(o, v))
                pr_buf_printf(out, " \\\n        --%s", o->name);
        pr_buf_str(out, " ;;\n");
    }
    pr_buf_str(out, "    esac\n}\n");
}

static void bash_write_kinds(struct pr_buf *out)
{
    const struct verb *v;
    const struct option *o;

    pr_buf_str(out, "\n# What follows an option ($2) of a verb ($1).\n"
                    "_prony_option()\n{\n    case \"$1 $2\" in\n");
    for (size_t i = 0; (v = verb_at(i)); i++) {
        for (size_t k = 0; (o = option_at(k)); k++) {
            if (!option_of(o, v) || o->kind == ARG_FLAG)
                continue;
            pr_buf_printf(out, "    '%s --%s'", v->name, o->name);
            if (o->letter)
                pr_buf_printf(out, " | '%s -%c'", v->name, o->letter);
            pr_buf_printf(out, ") echo '%s", kind_names[option_words(o)]);
            if (*o->choices)
                pr_buf_char(out, ' ');
            text_choices(out, o->choices, " ");
            pr_buf_str(out, "' ;;\n");
        }
    }
    pr_buf_str(out, "    esac\n}\n\n# What else a verb takes.\n"
                    "_prony_takes()\n{\n    case $1 in\n");
    for (size_t i = 0; (v = verb_at(i)); i++)
        if (verb_words(v) != WORD_NONE)
            pr_buf_printf(out, "    %s) echo %s ;;\n", v->name,
                          kind_names[verb_words(v)]);
    pr_buf_str(out, "    esac\n}\n");
}

void complete_bash(struct pr_buf *out)
{
    pr_buf_str(out, head);
    bash_write_lists(out);
    bash_write_values(out);
    bash_write_options(out);
    bash_write_kinds(out);
    pr_buf_str(out, functions);
}
