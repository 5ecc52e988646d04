/* Man pages of the program and its verbs: prony.1, prony-VERB.1. */
#include "cli/docs/docs_man.h"

#include "cli/docs.h"
#include "cli/docs/docs_roff.h"

#include <stdio.h>
#include <string.h>

static const struct page {
    const char *name;
    void (*write)(struct pr_buf *out);
} pages[] = {
    {"prony.1", man_prony},
    {"prony-config.5", man_config},
    {"prony-run-directory.5", man_run_directory},
    {"prony-options.7", man_options},
};

static void man_write_option(struct pr_buf *out, const struct option *o)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(8192);

    pr_buf_str(out, ".TP\n");
    if (o->letter)
        pr_buf_printf(out, "\\fB\\-%c\\fR, ", o->letter);
    option_argument(o, &text);
    pr_buf_str(out, "\\fB\\-\\-");
    roff_text(out, o->name);
    pr_buf_str(out, "\\fR");
    if (text.len) {
        pr_buf_char(out, ' ');
        roff_italic(out, text.data);
    }
    pr_buf_char(out, '\n');
    text_clear(&text, out);
    option_help(o, &text);
    pr_buf_char(&text, '.');
    if (pr_buf_ok(&text))
        roff_lines(out, text.data, text.len);
    else
        out->failed = true;
}

void man_option_group(struct pr_buf *out, const struct verb *v,
                      enum option_group g)
{
    const struct option *o;
    bool any = false;

    for (size_t i = 0; (o = option_at(i)); i++) {
        if ((v && !option_of(o, v)) || option_group(o) != g)
            continue;
        if (!any)
            roff_section(out, option_group_title(g));
        any = true;
        man_write_option(out, o);
    }
}

static void man_write_see_also(struct pr_buf *out)
{
    pr_buf_str(out, ".SH SEE ALSO\n.BR prony (1),\n.BR prony\\-config (5),\n"
                    ".BR prony\\-run\\-directory (5),\n"
                    ".BR prony\\-options (7)\n");
}

static void man_verb(struct pr_buf *out, const struct verb *v)
{
    char name[64];

    snprintf(name, sizeof name, "prony-%s", v->name);
    roff_head(out, name, "1", v->summary);
    roff_section(out, "synopsis");
    pr_buf_printf(out, ".B prony %s\n", v->name);
    roff_text(out, *v->takes ? "[OPTION…] " : "[OPTION…]");
    roff_text(out, v->takes);
    pr_buf_char(out, '\n');
    roff_section(out, "examples");
    roff_verbatim(out, v->examples, strlen(v->examples));
    roff_section(out, "description");
    roff_prose(out, v->about);
    for (int g = 0; g < GROUP_COUNT; g++)
        man_option_group(out, v, (enum option_group)g);
    man_write_see_also(out);
}

void man_list(struct pr_buf *out)
{
    const struct verb *v;

    pr_buf_printf(out, "%s\n", pages[0].name);
    for (size_t i = 0; (v = verb_at(i)); i++)
        pr_buf_printf(out, "prony-%s.1\n", v->name);
    for (size_t i = 1; i < sizeof pages / sizeof *pages; i++)
        pr_buf_printf(out, "%s\n", pages[i].name);
}

int man_page(const char *name, struct pr_buf *out, struct pr_err *err)
{
    const struct verb *v;
    char page[64];

    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        if (strcmp(name, pages[i].name) == 0) {
            pages[i].write(out);
            man_write_see_also(out);
            return PR_OK;
        }
    }
    for (size_t i = 0; (v = verb_at(i)); i++) {
        snprintf(page, sizeof page, "prony-%s.1", v->name);
        if (strcmp(name, page) == 0) {
            man_verb(out, v);
            return PR_OK;
        }
    }
    pr_fail(err, PR_E_USAGE, "", "no man page is named '%s'", name);
    return pr_hint(err, "'prony __man' lists them");
}
