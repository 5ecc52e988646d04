/* The JSON schema, and the reference in Markdown: parameters by section,
 * options by verb. */
#include "cli/help_json.h"
#include "conf/option/alias.h"

#include <stdio.h>
#include <string.h>

/* ---- schema */

/*
 * Of Prony's own configs, for editors. Every parameter is one entry of $defs;
 * forms, sections and lists of variables refer to it.
 */

/* The section names that Prony owns, as a pattern: "^(exp|null)\\.". */
static void owned_pattern(struct pr_buf *out)
{
    const struct pr_opt_section *const *s = pr_opt_sections();

    pr_buf_str(out, "^(");
    for (size_t i = 0; s[i]; i++) {
        pr_buf_str(out, i ? "|" : "");
        for (const char *c = s[i]->name; *c; c++)
            pr_buf_printf(out, *c == '.' ? "\\%c" : "%c", *c);
    }
    pr_buf_str(out, ")\\.");
}

static void schema_write_ref(struct pr_json_writer *jb, const char *key,
                             const char *name)
{
    char path[160];

    snprintf(path, sizeof path, "#/$defs/%s", name);
    pr_json_open_object(jb, key);
    pr_json_put_str(jb, "$ref", path);
    pr_json_close(jb);
}

static void text_like(struct pr_json_writer *jb, const char *pattern)
{
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "type", "string");
    pr_json_put_str(jb, "pattern", pattern);
    pr_json_close(jb);
}

static void schema_write_number(struct pr_json_writer *jb,
                                const struct pr_opt *o, const char *type)
{
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "type", type);
    if (o->min || o->max) {
        json_limit(jb, "minimum", o->min);
        json_limit(jb, "maximum", o->max);
    }
    pr_json_close(jb);
}

static void one_of_types(struct pr_json_writer *jb, const char *types)
{
    const char *at = types, *item;
    size_t len;

    pr_json_open_object(jb, NULL);
    pr_json_open_array(jb, "type");
    while ((item = choice_next(&at, &len)))
        pr_json_put_strn(jb, NULL, item, len);
    pr_json_close(jb);
    pr_json_close(jb);
}

static void schema_write_choices(struct pr_json_writer *jb, const char *list)
{
    const char *at = list, *item;
    size_t len;

    pr_json_open_object(jb, NULL);
    pr_json_open_array(jb, "enum");
    while ((item = choice_next(&at, &len)))
        pr_json_put_strn(jb, NULL, item, len);
    pr_json_close(jb);
    pr_json_close(jb);
}

/* What a value of this kind may be, as items of anyOf. Numbers may be written
 * as text, as everywhere. */
static void schema_write_kinds(struct pr_json_writer *jb,
                               const struct pr_opt *o)
{
    switch (o->kind) {
    case PR_OPT_BOOL:
        one_of_types(jb, "boolean");
        text_like(jb, "^([Tt]rue|[Ff]alse|[Oo]n|[Oo]ff|[Yy]es|[Nn]o|0|1)$");
        break;
    case PR_OPT_INT:
        schema_write_number(jb, o, "integer");
        text_like(jb, "^[-+]?[0-9]+(_[0-9]+)*$");
        break;
    case PR_OPT_FLOAT:
        schema_write_number(jb, o, "number");
        text_like(jb, "^[-+]?[0-9._]+([eE][-+]?[0-9]+)?$");
        break;
    case PR_OPT_SIZE:
        schema_write_number(jb, o, "integer");
        text_like(jb, "^[0-9._]+([eE][-+]?[0-9]+)? *([kKMGTP]i?)?B?$");
        break;
    case PR_OPT_SECONDS:
        schema_write_number(jb, o, "number");
        text_like(jb, "^[0-9._]+([eE][-+]?[0-9]+)? *(s|ms|us|m|min|h|d)?$");
        break;
    case PR_OPT_STR:
        if (!o->choices)
            one_of_types(jb, "string|number|boolean|null|array");
        else
            schema_write_choices(jb, o->choices);
        if (o->choices && strstr(o->choices, "off|") &&
            strstr(o->choices, "|on"))
            one_of_types(jb, "boolean"); /* what YAML makes of off and on */
        break;
    case PR_OPT_WORDS:
        one_of_types(jb, "string|array|number|boolean");
        break;
    case PR_OPT_LIST:
        one_of_types(jb, "array");
        break;
    case PR_OPT_ANY:
        one_of_types(jb, "string|number|boolean|null|array|object");
        break;
    }
}

static void define_param(struct pr_json_writer *jb, const struct param *p)
{
    struct pr_value def = pr_opt_default(p->opt);

    pr_json_open_object(jb, p->name);
    pr_json_put_str(jb, "description", p->opt->help);
    if (!(p->opt->flags & PR_OPT_PREFIX))
        pr_json_put_value(jb, "default", &def);
    pr_json_open_array(jb, "anyOf");
    schema_write_kinds(jb, p->opt);
    schema_write_ref(jb, NULL, "expression");
    pr_json_close(jb);
    pr_json_close(jb);
}

/* A prefix as a map, and as a pattern of dotted names. */
static void prefix_map(struct pr_json_writer *jb, const struct param *p,
                       const char *key)
{
    pr_json_open_object(jb, key);
    pr_json_put_str(jb, "type", "object");
    schema_write_ref(jb, "additionalProperties", p->name);
    pr_json_close(jb);
}

static void prefix_patterns(struct pr_json_writer *jb,
                            const struct pr_opt_section *only)
{
    struct param p;

    pr_json_open_object(jb, "patternProperties");
    for (size_t i = 0; param_at(i, &p); i++) {
        char pattern[160];

        if (!(p.opt->flags & PR_OPT_PREFIX) || (only && p.section != only))
            continue;
        snprintf(pattern, sizeof pattern, "^%s\\..",
                 only ? p.opt->name : p.name);
        schema_write_ref(jb, pattern, p.name);
    }
    pr_json_close(jb);
}

/* Older names: all of them in full, or those of one section without it. */
static void older_names(struct pr_json_writer *jb,
                        const struct pr_opt_section *only)
{
    const struct pr_alias *a;
    size_t n = only ? strlen(only->name) : 0;

    for (size_t i = 0; (a = pr_alias_at(i)); i++) {
        struct param p;
        bool below = only && strncmp(a->old, only->name, n) == 0 &&
                     a->old[n] == '.' && !strchr(a->old + n + 1, '.');

        if ((a->form != PR_ALIAS_NAME && a->form != PR_ALIAS_PREFETCH) ||
            (only && !below) || !param_find(a->now, &p))
            continue;
        pr_json_open_object(jb, only ? a->old + n + 1 : a->old);
        pr_json_put_str(jb, "description", a->now);
        pr_json_put_bool(jb, "deprecated", true);
        pr_json_open_array(jb, "anyOf");
        schema_write_ref(jb, NULL, a->now);
        if (a->form == PR_ALIAS_PREFETCH)
            one_of_types(jb, "boolean");
        pr_json_close(jb);
        pr_json_close(jb);
    }
}

/* "section.exp": names below it, and no others. */
static void define_section(struct pr_json_writer *jb,
                           const struct pr_opt_section *s)
{
    char key[96];
    struct param p;

    snprintf(key, sizeof key, "section.%s", s->name);
    pr_json_open_object(jb, key);
    pr_json_put_str(jb, "description", s->desc);
    pr_json_put_str(jb, "type", "object");
    pr_json_open_object(jb, "properties");
    for (size_t i = 0; param_at(i, &p); i++) {
        if (p.section != s)
            continue;
        if (p.opt->flags & PR_OPT_PREFIX)
            prefix_map(jb, &p, p.opt->name);
        else
            schema_write_ref(jb, p.opt->name, p.name);
    }
    older_names(jb, s);
    pr_json_close(jb);
    prefix_patterns(jb, s);
    pr_json_put_bool(jb, "additionalProperties", false);
    pr_json_close(jb);
}

/* A section with a dot in its name can be nested: sys: {plan_builder: {…}}. */
static void nested_section(struct pr_json_writer *jb,
                           const struct pr_opt_section *s)
{
    const char *dot = strchr(s->name, '.');
    char outer[64], inner[96];

    if (!dot)
        return;
    snprintf(outer, sizeof outer, "%.*s", (int)(dot - s->name), s->name);
    snprintf(inner, sizeof inner, "section.%s", s->name);
    pr_json_open_object(jb, outer);
    pr_json_put_str(jb, "type", "object");
    pr_json_open_object(jb, "properties");
    schema_write_ref(jb, dot + 1, inner);
    pr_json_close(jb);
    pr_json_close(jb);
}

/* Keys of the maps that parameters take, as items of anyOf. */
static void map_keys(struct pr_json_writer *jb)
{
    struct param p;

    for (size_t i = 0; param_at(i, &p); i++) {
        char pattern[160];

        if (p.opt->kind != PR_OPT_ANY || p.opt->flags & PR_OPT_PREFIX)
            continue;
        snprintf(pattern, sizeof pattern, "^%s\\..", p.name);
        text_like(jb, pattern);
    }
}

/* Names of ours are known ones; all others are the user's. */
static void define_name(struct pr_json_writer *jb)
{
    PR_AUTO_BUF struct pr_buf owned = PR_BUF_INIT(1024);
    const struct pr_alias *a;
    struct param p;

    owned_pattern(&owned);
    if (!pr_buf_ok(&owned))
        jb->out->failed = true;
    pr_json_open_object(jb, "name");
    pr_json_open_array(jb, "anyOf");
    pr_json_open_object(jb, NULL);
    pr_json_open_object(jb, "not");
    pr_json_put_str(jb, "pattern", owned.data);
    pr_json_close(jb);
    pr_json_close(jb);
    pr_json_open_object(jb, NULL);
    pr_json_open_array(jb, "enum");
    for (size_t i = 0; param_at(i, &p); i++)
        pr_json_put_str(jb, NULL, p.name);
    for (size_t i = 0; (a = pr_alias_at(i)); i++)
        if (a->form == PR_ALIAS_NAME || a->form == PR_ALIAS_PREFETCH)
            pr_json_put_str(jb, NULL, a->old);
    pr_json_close(jb);
    pr_json_close(jb);
    map_keys(jb);
    for (size_t i = 0; param_at(i, &p); i++) {
        char pattern[160];
        if (!(p.opt->flags & PR_OPT_PREFIX))
            continue;
        snprintf(pattern, sizeof pattern, "^%s\\..", p.name);
        text_like(jb, pattern);
    }
    pr_json_close(jb);
    pr_json_close(jb);
}

/* Flat names; nested: sections as well. */
static void define_params(struct pr_json_writer *jb, const char *key,
                          bool nested)
{
    const struct pr_opt_section *const *s = pr_opt_sections();
    struct param p;

    pr_json_open_object(jb, key);
    pr_json_put_str(jb, "type", "object");
    pr_json_open_object(jb, "properties");
    for (; nested && *s; s++) {
        char name[96];
        snprintf(name, sizeof name, "section.%s", (*s)->name);
        schema_write_ref(jb, (*s)->name, name);
        nested_section(jb, *s);
    }
    for (size_t i = 0; param_at(i, &p); i++) {
        if (!(p.opt->flags & PR_OPT_PREFIX))
            schema_write_ref(jb, p.name, p.name);
        else if (nested)
            prefix_map(jb, &p, p.name);
    }
    older_names(jb, NULL);
    pr_json_close(jb);
    prefix_patterns(jb, NULL);
    schema_write_ref(jb, "propertyNames", "name");
    pr_json_close(jb);
}

/* A value, or a list of values, of each parameter. */
static void define_variables(struct pr_json_writer *jb)
{
    struct param p;

    pr_json_open_object(jb, "variables");
    pr_json_put_str(jb, "description", "One experiment for each combination.");
    pr_json_put_str(jb, "type", "object");
    pr_json_open_object(jb, "properties");
    for (size_t i = 0; param_at(i, &p); i++) {
        if (p.opt->flags & PR_OPT_PREFIX)
            continue;
        pr_json_open_object(jb, p.name);
        pr_json_open_array(jb, "anyOf");
        schema_write_ref(jb, NULL, p.name);
        pr_json_open_object(jb, NULL);
        pr_json_put_str(jb, "type", "array");
        schema_write_ref(jb, "items", p.name);
        pr_json_close(jb);
        pr_json_close(jb);
        pr_json_close(jb);
    }
    pr_json_close(jb);
    schema_write_ref(jb, "propertyNames", "name");
    pr_json_close(jb);
}

static void schema_write_list(struct pr_json_writer *jb, const char *key,
                              const char *name)
{
    pr_json_open_object(jb, key);
    pr_json_put_str(jb, "type", "array");
    schema_write_ref(jb, "items", name);
    pr_json_close(jb);
}

static void define_extension(struct pr_json_writer *jb)
{
    pr_json_open_object(jb, "extension");
    pr_json_put_str(jb, "description", "A change to experiments that match.");
    pr_json_put_str(jb, "type", "object");
    pr_json_open_object(jb, "properties");
    pr_json_open_object(jb, "condition");
    pr_json_open_array(jb, "type");
    pr_json_put_str(jb, NULL, "object");
    pr_json_put_str(jb, NULL, "array");
    pr_json_close(jb);
    pr_json_close(jb);
    schema_write_ref(jb, "parameters", "settings");
    schema_write_list(jb, "cases", "settings");
    pr_json_close(jb);
    pr_json_put_bool(jb, "additionalProperties", false);
    pr_json_close(jb);
}

/* A group of experiments, or the top, which holds the groups. */
static void define_group(struct pr_json_writer *jb, const char *key, bool top)
{
    pr_json_open_object(jb, key);
    pr_json_put_str(jb, "type", "object");
    pr_json_open_object(jb, "properties");
    if (top) {
        pr_json_open_object(jb, "experiments");
        pr_json_put_str(jb, "type", "array");
        pr_json_put_int(jb, "minItems", 1);
        schema_write_ref(jb, "items", "group");
        pr_json_close(jb);
    } else {
        pr_json_open_object(jb, "name");
        pr_json_put_str(jb, "type", "string");
        pr_json_close(jb);
    }
    schema_write_ref(jb, "parameters", "parameters");
    schema_write_ref(jb, "variables", "variables");
    schema_write_list(jb, "extensions", "extension");
    pr_json_close(jb);
    pr_json_put_bool(jb, "additionalProperties", false);
    pr_json_close(jb);
}

static void define_all(struct pr_json_writer *jb)
{
    const struct pr_opt_section *const *s = pr_opt_sections();
    struct param p;

    pr_json_open_object(jb, "$defs");
    pr_json_open_object(jb, "expression");
    pr_json_put_str(
        jb, "description",
        "Text that holds ${name} or $(expression)$ is computed when the "
        "plan is made.");
    pr_json_put_str(jb, "type", "string");
    pr_json_put_str(jb, "pattern", "\\$[{(]");
    pr_json_close(jb);
    define_name(jb);
    define_group(jb, "groups", true);
    define_group(jb, "group", false);
    define_params(jb, "parameters", true);
    define_params(jb, "settings", false);
    define_variables(jb);
    define_extension(jb);
    for (; *s; s++)
        define_section(jb, *s);
    for (size_t i = 0; param_at(i, &p); i++)
        define_param(jb, &p);
    pr_json_close(jb);
}

void schema_write(struct pr_buf *out)
{
    struct pr_json_writer jb;

    pr_json_writer_init(&jb, out, 2);
    pr_json_open_object(&jb, NULL);
    pr_json_put_str(&jb, "$schema",
                    "https://json-schema.org/draft/2020-12/schema");
    pr_json_put_str(&jb, "title", "Prony config");
    pr_json_put_str(&jb, "description",
                    "Experiments for prony plan and prony run: groups under "
                    "'experiments', or parameters.");
    pr_json_put_str(&jb, "type", "object");
    pr_json_open_object(&jb, "if");
    pr_json_open_array(&jb, "required");
    pr_json_put_str(&jb, NULL, "experiments");
    pr_json_close(&jb);
    pr_json_close(&jb);
    schema_write_ref(&jb, "then", "groups");
    schema_write_ref(&jb, "else", "parameters");
    define_all(&jb);
    pr_json_close(&jb);
    pr_buf_char(out, '\n');
}

/* ---- reference */

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

static void reference_write_fact(struct pr_buf *out, const char *label,
                                 const char *text, bool code)
{
    if (!text || !*text)
        return;
    pr_buf_printf(out, "- %s: ", label);
    if (code)
        pr_buf_printf(out, "`%s`", text);
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
