/* Parameters: finding rows, and showing them to a reader. */
#include "cli/docs.h"

#include <stdio.h>
#include <string.h>

enum { FACT_COLUMN = 15, NAME_COLUMN = 28, TAB_COLUMNS = 8 };

static void fill(struct param *p, const struct pr_opt_section *s,
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
    fill(ret, *s, &(*s)->opts[i]);
    return true;
}

bool param_find(const char *name, struct param *ret)
{
    const struct pr_opt_section *section;
    const struct pr_opt *o = pr_opt_find(name, &section);
    struct param p;

    if (o) {
        fill(ret, section, o);
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

const struct pr_opt_section *section_find(const char *name)
{
    const struct pr_opt_section *const *s = pr_opt_sections();

    while (*s && strcmp((*s)->name, name) != 0)
        s++;
    return *s;
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

void param_range(const struct param *p, struct pr_buf *out)
{
    if (p->opt->min || p->opt->max)
        pr_buf_printf(out, "%.16g to %.16g", p->opt->min, p->opt->max);
}

static void fact(struct pr_buf *out, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    pr_buf_printf(out, "  %-*s", FACT_COLUMN - 2, name);
    text_wrap(out, text, FACT_COLUMN, FACT_COLUMN);
}

static void facts(const struct param *p, struct pr_buf *out)
{
    PR_AUTO_BUF struct pr_buf def = PR_BUF_INIT(1 << 16);
    PR_AUTO_BUF struct pr_buf range = PR_BUF_INIT(256);
    PR_AUTO_BUF struct pr_buf choices = PR_BUF_INIT(4096);

    param_default(p, &def);
    param_range(p, &range);
    if (p->opt->choices)
        text_choices(&choices, p->opt->choices, NULL);
    fact(out, "takes", pr_opt_kind_words(p->opt->kind));
    fact(out, "default", def.data);
    fact(out, "range", range.data);
    fact(out, "choices", choices.data);
    fact(out, "unit", p->opt->unit);
    fact(out, "since", p->opt->since);
    fact(out, "environment", p->env);
    if (!pr_buf_ok(&def) || !pr_buf_ok(&range) || !pr_buf_ok(&choices))
        out->failed = true;
}

void param_page(const struct param *p, struct pr_buf *out)
{
    pr_buf_printf(out, "%s\n\nexample:\n  prony run sweep.yaml ", p->title);
    param_example(p, out);
    pr_buf_str(out, "\n\n");
    text_wrap(out, p->opt->help, 0, 0);
    pr_buf_char(out, '\n');
    facts(p, out);
}

/* As DLBS prints it: a reader's script may look for "name = ". */
void param_entry(const struct param *p, struct pr_buf *out)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

    pr_buf_printf(out, "%s = %s\n", p->title,
                  *p->opt->def ? p->opt->def : "\"\"");
    text_wrap(&text, p->opt->help, TAB_COLUMNS, TAB_COLUMNS);
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
    struct param p;

    pr_buf_printf(out, "%s: %s\n\n", s->name, s->desc);
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
