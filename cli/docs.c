/*
 * The hidden verbs: what the program knows about itself, written for
 * tools/gen_docs and the tests. Each takes at most one argument.
 */
#include "cli/docs.h"

#include <string.h>

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
