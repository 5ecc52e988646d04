/* The reference in Markdown: parameters by section, options by verb. */
#include "cli/docs.h"

#include <string.h>

static void reference_write_head(struct pr_buf *out, const char *title,
                                 const char *text)
{
    pr_buf_printf(out,
                  "# %s\n\n<!-- Written by \"prony __reference\"; do not "
                  "edit. -->\n\n",
                  title);
    text_wrap(out, text, 0, 0);
}

/* Cells of a table must not hold '|', nor text that looks like HTML. */
static void reference_write_cell(struct pr_buf *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '|' || *s == '<')
            pr_buf_char(out, '\\');
        pr_buf_char(out, *s);
    }
}

static void reference_write_code(struct pr_buf *out, const char *s)
{
    pr_buf_printf(out, "`%s`", s);
}

static void reference_write_fact(struct pr_buf *out, const char *label,
                                 const char *text, bool code)
{
    if (!text || !*text)
        return;
    pr_buf_printf(out, "- %s: ", label);
    if (code)
        reference_write_code(out, text);
    else
        pr_buf_str(out, text);
    pr_buf_char(out, '\n');
}

static void reference_write_param(struct pr_buf *out, const struct param *p)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);

    pr_buf_printf(out, "\n### %s\n\n", p->title);
    text_wrap(out, p->opt->help, 0, 0);
    pr_buf_char(out, '\n');
    pr_opt_describe(p->opt, &text);
    reference_write_fact(out, "takes", text.data, false);
    reference_write_fact(out, "unit", p->opt->unit, false);
    if (*p->opt->def)
        reference_write_fact(out, "default", p->opt->def, true);
    else if (!(p->opt->flags & PR_OPT_PREFIX))
        reference_write_fact(out, "default", "empty", false);
    text_clear(&text, out);
    param_example(p, &text);
    reference_write_fact(out, "example", text.data, true);
    reference_write_fact(out, "environment", p->env, true);
    reference_write_fact(out, "since", p->opt->since, false);
    text_clear(&text, out);
    param_older(p->name, true, &text);
    reference_write_fact(out, "older names", text.data, false);
    text_clear(&text, out);
}

static void reference_write_section(struct pr_buf *out,
                                    const struct pr_opt_section *s)
{
    PR_AUTO_BUF struct pr_buf older = PR_BUF_INIT(4096);

    pr_buf_printf(out, "\n## %s: %s\n", s->name, s->desc);
    param_older(s->name, true, &older);
    if (older.len)
        pr_buf_printf(out, "\nOlder names of the section: %s.\n", older.data);
    text_clear(&older, out);
}

static void reference_write_parameters(struct pr_buf *out)
{
    const struct pr_opt_section *section = NULL;
    struct param p;

    reference_write_head(
        out, "Parameters",
        "Every parameter that Prony itself knows, by section; names in other "
        "sections are yours. `prony help NAME` shows one of these entries, "
        "`prony plan … --explain NAME` tells who set one.");
    for (size_t i = 0; param_at(i, &p); i++) {
        if (p.section != section)
            reference_write_section(out, p.section);
        section = p.section;
        reference_write_param(out, &p);
    }
}

static void reference_write_option(struct pr_buf *out, const struct option *o)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(8192);

    pr_buf_str(out, "| `");
    if (o->letter)
        pr_buf_printf(out, "-%c`, `", o->letter);
    option_argument(o, &text);
    pr_buf_printf(out, "--%s%s%s` | ", o->name, text.len ? " " : "",
                  text.len ? text.data : "");
    text_clear(&text, out);
    option_help(o, &text);
    if (pr_buf_ok(&text))
        reference_write_cell(out, text.data);
    else
        out->failed = true;
    pr_buf_str(out, " |\n");
}

/* A table of the options of one group; v may be NULL: of all verbs. */
static void reference_write_group(struct pr_buf *out, const struct verb *v,
                                  enum option_group g)
{
    const struct option *o;
    bool any = false;

    for (size_t i = 0; (o = option_at(i)); i++) {
        if ((v && !option_of(o, v)) || option_group(o) != g)
            continue;
        if (!any)
            pr_buf_str(out, "\n| option | meaning |\n|---|---|\n");
        any = true;
        reference_write_option(out, o);
    }
}

static void reference_write_verb(struct pr_buf *out, const struct verb *v)
{
    pr_buf_printf(out, "\n## prony %s\n\n", v->name);
    pr_buf_printf(out, "`prony %s [OPTION…]%s%s`: %s.\n\n```sh\n", v->name,
                  *v->takes ? " " : "", v->takes, v->summary);
    for (const char *line = v->examples; *line;) {
        size_t n = strcspn(line, "\n"), blanks = strspn(line, " ");

        pr_buf_printf(out, "%.*s\n", (int)(n - blanks), line + blanks);
        line += n + (line[n] == '\n');
    }
    pr_buf_str(out, "```\n\n");
    text_wrap(out, v->about, 0, 0);
    reference_write_group(out, v, GROUP_OWN);
    if ((v->bit & ON_TARGETS) != 0)
        pr_buf_str(out, "\nIt also takes the options that "
                        "[set parameters](#setting-parameters).\n");
}

static void reference_write_commands(struct pr_buf *out)
{
    const struct verb *v;

    reference_write_head(
        out, "Commands",
        "The verbs of the program and their options. In long options `-` and "
        "`_` are the same, an unambiguous beginning is enough, and `--no-X` "
        "undoes `--X`.");
    for (size_t i = 0; (v = verb_at(i)); i++)
        reference_write_verb(out, v);
    pr_buf_str(out, "\n## Setting parameters\n");
    reference_write_group(out, NULL, GROUP_TARGETS);
    pr_buf_str(out, "\n## Everywhere\n");
    reference_write_group(out, NULL, GROUP_EVERY);
}

static const struct {
    const char *name;
    void (*write)(struct pr_buf *out);
} pages[] = {
    {"commands.md", reference_write_commands},
    {"parameters.md", reference_write_parameters},
};

void reference_list(struct pr_buf *out)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        pr_buf_printf(out, "%s\n", pages[i].name);
}

int reference_page(const char *name, struct pr_buf *out, struct pr_err *err)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        if (strcmp(name, pages[i].name) == 0) {
            pages[i].write(out);
            return PR_OK;
        }
    }
    pr_fail(err, PR_E_USAGE, "", "no page of the reference is named '%s'",
            name);
    return pr_hint(err, "'prony __reference' lists them");
}
