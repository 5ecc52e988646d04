/* What the tables of parameters, options and verbs say, laid out for help and
 * for documents, and the hidden verbs that write these. */
#include "cli/help_json.h"

#include "base/units.h"
#include "conf/option/alias.h"

#include <stdio.h>
#include <string.h>

/* ---- laying out text: wrapping, sentences, lists of choices */

void text_blanks(struct pr_buf *out, size_t n)
{
    while (n-- > 0)
        pr_buf_char(out, ' ');
}

static size_t text_count_columns(const char *s, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    return n;
}

void text_wrap(struct pr_buf *out, const char *text, size_t col, size_t indent)
{
    bool fresh = true; /* nothing on this line yet */

    while (*text) {
        size_t len = strcspn(text, " \n"), wide = text_count_columns(text, len);

        if (!fresh && col + 1 + wide > DOCS_WIDTH) {
            pr_buf_char(out, '\n');
            text_blanks(out, indent);
            col = indent;
            fresh = true;
        }
        if (!fresh && len) {
            pr_buf_char(out, ' ');
            col++;
        }
        pr_buf_add(out, text, len);
        col += wide;
        fresh = fresh && !len;
        text += len;
        if (*text == '\n') {
            pr_buf_char(out, '\n');
            text_blanks(out, text[1] == '\n' ? 0 : indent);
            col = indent;
            fresh = true;
        }
        text += *text != '\0';
    }
    pr_buf_char(out, '\n');
}

void text_clear(struct pr_buf *part, struct pr_buf *out)
{
    if (!pr_buf_ok(part))
        out->failed = true;
    pr_buf_clear(part);
}

size_t text_sentence(const char *text)
{
    const char *end = strstr(text, ". ");

    return end ? (size_t)(end - text) + 1 : strlen(text);
}

const char *choice_next(const char **at, size_t *ret_len)
{
    const char *item = *at;

    if (!item)
        return NULL;
    *ret_len = strcspn(item, "|");
    *at = item[*ret_len] ? item + *ret_len + 1 : NULL;
    return item;
}

void text_choices(struct pr_buf *out, const char *choices, const char *sep)
{
    const char *at = choices, *item;
    size_t len;

    while ((item = choice_next(&at, &len))) {
        if (item != choices)
            pr_buf_str(out, sep ? sep : at ? ", " : " or ");
        if (!len && !sep)
            pr_buf_str(out, "(empty)");
        pr_buf_add(out, item, len);
    }
}

/* ---- options and verbs */

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

/* ---- hidden verbs */

/* What the program knows about itself, written for tools/gen_docs and the
 * tests. Each takes at most one argument. */

static int no_argument(const char *name, const char *arg, struct pr_err *err)
{
    return arg ? pr_fail(err, PR_E_USAGE, "", "%s takes no argument", name)
               : PR_OK;
}

static int write_verbs(const char *arg, struct pr_buf *out, struct pr_err *err)
{
    const struct verb *v;

    for (size_t i = 0; (v = verb_at(i)); i++)
        pr_buf_printf(out, "%s\n", v->name);
    return no_argument("__verbs", arg, err);
}

static int write_man(const char *arg, struct pr_buf *out, struct pr_err *err)
{
    if (arg)
        return man_page(arg, out, err);
    man_list(out);
    return PR_OK;
}

static int write_reference(const char *arg, struct pr_buf *out,
                           struct pr_err *err)
{
    if (arg)
        return reference_page(arg, out, err);
    reference_list(out);
    return PR_OK;
}

static int write_complete(const char *arg, struct pr_buf *out,
                          struct pr_err *err)
{
    static const struct {
        const char *shell;
        void (*write)(struct pr_buf *out);
    } shells[] = {
        {"bash", complete_bash},
        {"zsh", complete_zsh},
        {"fish", complete_fish},
    };

    for (size_t i = 0; arg && i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(arg, shells[i].shell) == 0) {
            shells[i].write(out);
            return PR_OK;
        }
    }
    return pr_fail(err, PR_E_USAGE, "",
                   "__complete wants bash, zsh or fish, got '%s'",
                   arg ? arg : "");
}

static int write_schema(const char *arg, struct pr_buf *out, struct pr_err *err)
{
    schema_write(out);
    return no_argument("__schema", arg, err);
}

static const struct hidden {
    const char *name;
    int (*write)(const char *arg, struct pr_buf *out, struct pr_err *err);
} hidden[] = {
    {"__verbs", write_verbs},         {"__man", write_man},
    {"__complete", write_complete},   {"__schema", write_schema},
    {"__reference", write_reference},
};

static const struct hidden *find_hidden_verb(const char *name)
{
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (strcmp(name, hidden[i].name) == 0)
            return &hidden[i];
    return NULL;
}

bool is_hidden_verb(const char *name)
{
    return find_hidden_verb(name) != NULL;
}

int hidden_verb(const char *name, int argc, char **argv, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(DOCS_MAX);
    const struct hidden *h = find_hidden_verb(name);
    int rc;

    if (!h)
        return pr_fail(err, PR_E_USAGE, "", "unknown command '%s'", name);
    if (argc > 1)
        return pr_fail(err, PR_E_USAGE, "", "%s takes at most one argument",
                       name);
    rc = h->write(argc ? argv[0] : NULL, &out, err);
    return rc ? rc : answer_print_buf(&out, err);
}

/* ---- parameters as JSON, and a value to try for each */

static const char *kind_word(enum pr_opt_kind kind)
{
    static const char *const words[] = {
        [PR_OPT_BOOL] = "bool",       [PR_OPT_INT] = "int",
        [PR_OPT_FLOAT] = "float",     [PR_OPT_SIZE] = "size",
        [PR_OPT_SECONDS] = "seconds", [PR_OPT_STR] = "str",
        [PR_OPT_WORDS] = "words",     [PR_OPT_LIST] = "list",
        [PR_OPT_ANY] = "any",
    };
    return words[kind];
}

void json_limit(struct pr_json_writer *jb, const char *key, double f)
{
    if (f > -9e15 && f < 9e15 && f == (double)(int64_t)f)
        pr_json_put_int(jb, key, (int64_t)f);
    else
        pr_json_put_float(jb, key, f);
}

static void put_choices(struct pr_json_writer *jb, const char *choices)
{
    const char *at = choices, *item;
    size_t len;

    pr_json_open_array(jb, "choices");
    while ((item = choice_next(&at, &len)))
        pr_json_put_strn(jb, NULL, item, len);
    pr_json_close(jb);
}

static void put_older(struct pr_json_writer *jb, const char *name)
{
    const struct pr_alias *a;
    bool any = false;

    for (size_t i = 0; (a = pr_alias_at(i)); i++) {
        if (a->form == PR_ALIAS_TOP || strcmp(a->now, name) != 0)
            continue;
        if (!any)
            pr_json_open_array(jb, "older_names");
        any = true;
        pr_json_put_str(jb, NULL, a->old);
    }
    if (any)
        pr_json_close(jb);
}

void param_json(const struct param *p, struct pr_json_writer *jb)
{
    PR_AUTO_BUF struct pr_buf example = PR_BUF_INIT(4096);
    const struct pr_opt *o = p->opt;
    struct pr_value def = pr_opt_default(o);

    param_example(p, &example);
    if (!pr_buf_ok(&example))
        jb->out->failed = true;
    pr_json_open_object(jb, NULL);
    pr_json_put_str(jb, "name", p->name);
    pr_json_put_str(jb, "kind", kind_word(o->kind));
    if (!(o->flags & PR_OPT_PREFIX))
        pr_json_put_value(jb, "default", &def);
    if (o->min || o->max) {
        json_limit(jb, "min", o->min);
        json_limit(jb, "max", o->max);
    }
    if (o->choices)
        put_choices(jb, o->choices);
    pr_json_put_str(jb, "unit", *o->unit ? o->unit : NULL);
    if (o->flags & PR_OPT_DERIVED)
        pr_json_put_bool(jb, "derived", true);
    if (o->flags & PR_OPT_PREFIX)
        pr_json_put_bool(jb, "prefix", true);
    pr_json_put_str(jb, "since", o->since);
    pr_json_put_str(jb, "help", o->help);
    pr_json_put_str(jb, "env", *p->env ? p->env : NULL);
    put_older(jb, p->name);
    pr_json_put_str(jb, "example", example.data);
    pr_json_close(jb);
}

/* Texts for which no example follows from the kind. */
static const char *example_text(const char *name)
{
    static const char *const rows[][2] = {
        {"exp.command", "'sleep 1'"},
        {"exp.cwd", "/tmp"},
        {"exp.name", "warm"},
        {"exp.timeout", "2m"},
        {"exp.status", "disabled"},
        {"exp.status_msg", "'needs a GPU'"},
        {"exp.proj", "vision"},
        {"exp.framework", "pytorch"},
        {"exp.framework_title", "PyTorch"},
        {"exp.framework_family", "pytorch"},
        {"exp.framework_ver", "2.1.0"},
        {"exp.framework_commit", "c60a445"},
        {"exp.model", "resnet50"},
        {"exp.model_title", "ResNet-50"},
        {"exp.model_opts", "'{\"input\": [3, 64, 64]}'"},
        {"exp.dtype", "bfloat16"},
        {"exp.gpus", "0"},
        {"exp.device_title", "V100"},
        {"exp.node_id", "node7"},
        {"exp.node_nic", "infiniband"},
        {"exp.cuda", "12.2"},
        {"exp.cudnn", "8.9"},
        {"exp.data_dir", "/data/imagenet"},
        {"exp.data_store", "local-ssd"},
        {"exp.docker_image", "pytorch:2.1"},
        {"exp.docker_launcher", "podman"},
        {"exp.docker_args", "--rm"},
        {"exp.log_file", "/tmp/exp.log"},
        {"exp.sys_info", "cpuinfo"},
        {"runtime.launcher", "'nice -n 5'"},
        {"runtime.cuda_cache", "/tmp/cuda_cache"},
        {"runtime.visible_gpus", "0"},
        {"runtime.python", "/usr/bin/python3"},
        {"null.sleep", "0.1"},
        {"reader.data_loader", "pytorch"},
        {"dataset.record_dims", "'[256, 256]'"},
        {"dataset.record_element_type", "float32"},
        {"dataset.compression", "zip"},
        {"train.computation_time", "0.323"},
        {"evaluation.eval_time", "0.5"},
        {"reader.preprocess_time", "0.01"},
        {"reader.transformed_record_dims", "'[224, 224]'"},
        {"reader.transformed_record_element_type", "float32"},
        {"profiling.iostat_devices", "'[sda, nvme0n1]'"},
        {"output.folder", "/tmp/results"},
        {"output.log_file", "run.log"},
        {"checkpoint.checkpoint_mechanism_classname", "None"},
        {"reader.data_loader_classname", "None"},
        {"reader.reader_classname", "None"},
        {"sys.plan_builder.var_order", "'[exp.model, exp.gpus]'"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i][0], name) == 0)
            return rows[i][1];
    return NULL;
}

/* A number in the range that is not the default. */
static void example_number(const struct pr_opt *o, struct pr_buf *out)
{
    bool any = !o->min && !o->max;
    double value, def = 0;

    (void)pr_parse_float(o->def, &def);
    value = def > 0 ? 2 * def : 1;
    if (!any && value > o->max)
        value = o->max;
    if (!any && value < o->min)
        value = o->min;
    pr_buf_printf(out, "%.16g", value);
}

static void example_choice(const struct pr_opt *o, struct pr_buf *out)
{
    const char *at = o->choices, *item, *last = "";
    size_t len, last_len = 0;

    while ((item = choice_next(&at, &len))) {
        bool def = len == strlen(o->def) && memcmp(item, o->def, len) == 0;
        if (!def) {
            last = item;
            last_len = len;
        }
    }
    pr_buf_add(out, last, last_len);
}

void param_example(const struct param *p, struct pr_buf *out)
{
    const struct pr_opt *o = p->opt;
    const char *text = example_text(p->name);

    if (o->flags & PR_OPT_PREFIX) {
        pr_buf_printf(out, "%s.OMP_NUM_THREADS=4", p->name);
        return;
    }
    pr_buf_printf(out, "%s=", p->name);
    if (text)
        pr_buf_str(out, text);
    else if (o->choices)
        example_choice(o, out);
    else if (o->kind == PR_OPT_BOOL)
        pr_buf_str(out, o->def[0] == 't' ? "false" : "true");
    else if (o->kind == PR_OPT_LIST)
        pr_buf_str(out, "'[a, b]'");
    else if (o->kind == PR_OPT_SIZE)
        pr_buf_str(out, "1M");
    else if (o->kind == PR_OPT_STR || o->kind == PR_OPT_ANY ||
             o->kind == PR_OPT_WORDS)
        pr_buf_str(out, "text");
    else
        example_number(o, out);
}

/* ---- parameters for a reader */

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
