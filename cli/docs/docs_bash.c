/*
 * Completion for bash: tables as functions with a case each, then a fixed
 * part that looks things up in them. It needs nothing of bash-completion.
 */
#include "cli/docs.h"

#include <string.h>

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
