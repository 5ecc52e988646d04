/* Parameters: finding rows, and showing them to a reader. */
#include "cli/docs.h"
#include "conf/option/alias.h"

#include <stdio.h>
#include <string.h>

enum { FACT_COLUMN = 15, NAME_COLUMN = 28, TAB_COLUMNS = 8 };

static void param_fill(struct param *p, const struct pr_opt_section *s,
                       const struct pr_opt *o)
{
    bool prefix = o->flags & PR_OPT_PREFIX;

    *p = (struct param){.section = s, .opt = o};
    snprintf(p->name, sizeof p->name, "%s.%s", s->name, o->name);
    snprintf(p->title, sizeof p->title, "%s%s", p->name, prefix ? ".NAME" : "");
    if (prefix)
        return; /* the environment sets only what is a parameter already */
    (void)pr_opt_env_name(p->name, p->env);
}

bool param_at(size_t i, struct param *ret)
{
    const struct pr_opt_section *const *s = pr_opt_sections();

    for (; *s && i >= (*s)->count; s++)
        i -= (*s)->count;
    if (!*s)
        return false;
    param_fill(ret, *s, &(*s)->opts[i]);
    return true;
}

bool param_find(const char *name, struct param *ret)
{
    const struct pr_opt_section *section;
    struct pr_alias_found found;
    const struct pr_opt *o;
    struct param p;

    if (pr_alias_find(name, strlen(name), &found))
        name = found.name;
    o = pr_opt_find(name, &section);
    if (o) {
        param_fill(ret, section, o);
        return true;
    }
    for (size_t i = 0; param_at(i, &p); i++) {
        if (strcmp(p.name, name) == 0 || strcmp(p.title, name) == 0) {
            *ret = p;
            return true;
        }
    }
    return false;
}

/* Today's name of a section. */
static const char *section_name(const char *name)
{
    const struct pr_alias *a;

    for (size_t i = 0; (a = pr_alias_at(i)); i++)
        if (a->form == PR_ALIAS_SECTION && strcmp(a->old, name) == 0)
            return a->now;
    return name;
}

const struct pr_opt_section *section_find(const char *name)
{
    const struct pr_opt_section *const *s = pr_opt_sections();

    name = section_name(name);
    while (*s && strcmp((*s)->name, name) != 0)
        s++;
    return *s;
}

void param_older(const char *name, bool notes, struct pr_buf *out)
{
    const struct pr_alias *a;
    bool first = true;

    for (size_t i = 0; (a = pr_alias_at(i)); i++) {
        size_t n = strlen(a->note);

        if (a->form == PR_ALIAS_TOP || strcmp(a->now, name) != 0)
            continue;
        pr_buf_printf(out, "%s%s", first ? "" : ", ", a->old);
        if (notes && n)
            pr_buf_printf(out, " (%.*s)", (int)n - 1, a->note);
        first = false;
    }
}

void param_default(const struct param *p, struct pr_buf *out)
{
    const char *def = p->opt->def;

    if (!*def)
        pr_buf_str(out, p->opt->flags & PR_OPT_PREFIX ? "none" : "(empty)");
    else if (strchr(def, '$'))
        pr_buf_printf(out, "computed: %s", def);
    else
        pr_buf_str(out, def);
}

/* "0 to 1000"; nothing when any number will do. */
static void param_range(const struct param *p, struct pr_buf *out)
{
    if (p->opt->min || p->opt->max)
        pr_buf_printf(out, "%.16g to %.16g", p->opt->min, p->opt->max);
}

static void write_param_fact(struct pr_buf *out, const char *name,
                             const char *text)
{
    if (!text || !*text)
        return;
    pr_buf_printf(out, "  %-*s", FACT_COLUMN - 2, name);
    text_wrap(out, text, FACT_COLUMN, FACT_COLUMN);
}

static void write_param_facts(const struct param *p, struct pr_buf *out)
{
    PR_AUTO_BUF struct pr_buf def = PR_BUF_INIT(1 << 16);
    PR_AUTO_BUF struct pr_buf range = PR_BUF_INIT(256);
    PR_AUTO_BUF struct pr_buf choices = PR_BUF_INIT(4096);
    PR_AUTO_BUF struct pr_buf older = PR_BUF_INIT(4096);

    param_older(p->name, true, &older);
    param_default(p, &def);
    param_range(p, &range);
    if (p->opt->choices)
        text_choices(&choices, p->opt->choices, NULL);
    write_param_fact(out, "takes", pr_opt_kind_words(p->opt->kind));
    write_param_fact(out, "default", def.data);
    write_param_fact(out, "range", range.data);
    write_param_fact(out, "choices", choices.data);
    write_param_fact(out, "unit", p->opt->unit);
    write_param_fact(out, "since", p->opt->since);
    write_param_fact(out, "environment", p->env);
    write_param_fact(out, "older names", older.data);
    if (!pr_buf_ok(&def) || !pr_buf_ok(&range) || !pr_buf_ok(&choices) ||
        !pr_buf_ok(&older))
        out->failed = true;
}

void param_page(const struct param *p, struct pr_buf *out)
{
    pr_buf_printf(out, "%s\n\nexample:\n  prony run sweep.yaml ", p->title);
    param_example(p, out);
    pr_buf_str(out, "\n\n");
    text_wrap(out, p->opt->help, 0, 0);
    pr_buf_char(out, '\n');
    write_param_facts(p, out);
}

/* The help, and the older names as a sentence. */
static void put_help(const struct param *p, struct pr_buf *out)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    size_t len;

    pr_buf_printf(&text, "%s Older names: ", p->opt->help);
    len = text.len;
    param_older(p->name, false, &text);
    pr_buf_char(&text, '.');
    if (!pr_buf_ok(&text))
        out->failed = true;
    else
        text_wrap(out, text.len > len + 1 ? text.data : p->opt->help,
                  TAB_COLUMNS, TAB_COLUMNS);
}

/* As DLBS prints it: a reader's script may look for "name = ". */
void param_entry(const struct param *p, struct pr_buf *out)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

    pr_buf_printf(out, "%s = %s\n", p->title,
                  *p->opt->def ? p->opt->def : "\"\"");
    put_help(p, &text);
    if (!pr_buf_ok(&text)) {
        out->failed = true;
        return;
    }
    for (const char *line = text.data; *line;) {
        size_t n = strcspn(line, "\n");
        size_t blanks = strspn(line, " ");

        pr_buf_printf(out, "\t%.*s\n", (int)(n - blanks), line + blanks);
        line += n + 1;
    }
}

void section_page(const struct pr_opt_section *s, struct pr_buf *out)
{
    PR_AUTO_BUF struct pr_buf older = PR_BUF_INIT(4096);
    struct param p;

    pr_buf_printf(out, "%s: %s\n", s->name, s->desc);
    param_older(s->name, false, &older);
    if (older.len)
        pr_buf_printf(out, "older names: %s\n", older.data);
    pr_buf_char(out, '\n');
    for (size_t i = 0; param_at(i, &p); i++) {
        char text[512];
        size_t col = strlen(p.title) + 2;

        if (p.section != s)
            continue;
        pr_buf_printf(out, "  %s", p.title);
        if (col >= NAME_COLUMN) {
            pr_buf_char(out, '\n');
            col = 0;
        }
        text_blanks(out, NAME_COLUMN - col);
        snprintf(text, sizeof text, "%.*s", (int)text_sentence(p.opt->help),
                 p.opt->help);
        text_wrap(out, text, NAME_COLUMN, NAME_COLUMN);
    }
    pr_buf_printf(out, "\n'prony help %s.%s' shows one of them in full.\n",
                  s->name, s->opts[0].name);
}
