/*
 * Hydra's command line: flags, and overrides told apart by whom they are for:
 * the job (workload.*), hydra itself, or Prony (exp.accelerators=8).
 */
#include "compat/dlio/dlio.h"
#include "conf/option/option.h"

#include <string.h>
#include <strings.h>

enum { MAX_DEPTH = 50 }; /* of a name */

static int keep_hydra(struct dlio_args *args, const char *text,
                      struct pr_err *err)
{
    const char **items =
        pr_arena_grow(args->arena, args->hydra, args->hydra_count,
                      &args->hydra_cap, sizeof *items);

    if (!items)
        return pr_fail_nomem(err);
    args->hydra = items;
    items[args->hydra_count++] = text;
    return PR_OK;
}

/* The name of an override, without its operator. */
static const char *hydra_override_key(struct pr_arena *a, const char *text)
{
    const char *key = text + strspn(text, "+~");

    return pr_arena_copy(a, key, strcspn(key, "="));
}

static bool is_hydra_key_below(const char *key, const char *root)
{
    size_t n = strlen(root);

    return strncmp(key, root, n) == 0 &&
           (key[n] == '\0' || key[n] == '.' || key[n] == '/');
}

/* The text of a value; NULL for null. */
static const char *value_text(struct pr_arena *a, const struct pr_value *v,
                              struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1 << 16);
    const char *copy;

    pr_value_write_text(&text, v);
    copy = pr_buf_ok(&text)
               ? pr_arena_copy(a, text.data ? text.data : "", text.len)
               : NULL;
    if (!copy)
        (void)pr_fail_nomem(err);
    return copy;
}

static int hydra_read_own_override(struct dlio_args *args, const char *text,
                                   const char *key, struct pr_err *err)
{
    struct pr_override o;
    int rc = keep_hydra(args, text, err);
    bool dir = strcmp(key, "hydra.run.dir") == 0;
    bool subdir = strcmp(key, "hydra.output_subdir") == 0;

    if (rc)
        return rc;
    if (!dir && !subdir) {
        message_print_warning(text,
                              "hydra's own settings are not used, but for "
                              "hydra.run.dir and hydra.output_subdir",
                              "");
        return PR_OK;
    }
    rc = pr_override_read(text, args->arena, &o, err);
    if (rc)
        return rc;
    if (subdir)
        args->no_output_subdir = o.value.kind == PR_NULL;
    text = value_text(args->arena, &o.value, err);
    if (!text)
        return err->code;
    *(dir ? &args->run_dir : &args->output_subdir) = text;
    return PR_OK;
}

/* workload=NAME picks a file. */
static int hydra_read_workload(struct dlio_args *args,
                               const struct hydra_override *o,
                               struct pr_err *err)
{
    size_t n;

    if (o->read.op == PR_OVERRIDE_ADD)
        return pr_fail(err, PR_E_USAGE, "command line",
                       "could not append '%s': there is a workload already; "
                       "use 'workload=NAME'",
                       o->text);
    if (o->read.op == PR_OVERRIDE_DELETE || o->read.value.kind != PR_STR)
        return pr_fail(err, PR_E_USAGE, "command line",
                       "'%s': expected 'workload=NAME'", o->text);
    n = o->read.value.len;
    if (n > 5 && strcmp(o->read.value.s + n - 5, ".yaml") == 0)
        n -= 5;
    args->workload = pr_arena_copy(args->arena, o->read.value.s, n);
    return args->workload ? PR_OK : pr_fail_nomem(err);
}

/* Whether a name outside workload is a parameter that only Prony has. */
static bool is_own(const char *key)
{
    const struct pr_opt_section *section = NULL;
    static const char *const own[] = {"exp", "emulate", "runtime", "mlperf",
                                      NULL};

    (void)pr_opt_find(key, &section);
    for (size_t i = 0; section && own[i]; i++)
        if (is_hydra_key_below(section->name, own[i]))
            return true;
    return false;
}

static int hydra_read_task_override(struct dlio_args *args, const char *text,
                                    const char *key, struct pr_err *err)
{
    struct hydra_override *list =
        pr_arena_grow(args->arena, args->task, args->task_count,
                      &args->task_cap, sizeof *list);
    struct hydra_override o = {.text = text, .key = key, .own = is_own(key)};
    int rc;

    if (!list)
        return pr_fail_nomem(err);
    args->task = list;
    rc = pr_override_read(text, args->arena, &o.read, err);
    if (!rc && strcmp(key, "workload") == 0)
        rc = hydra_read_workload(args, &o, err);
    if (!rc)
        list[args->task_count++] = o;
    return rc;
}

static size_t depth_of(const char *key)
{
    size_t n = 0;

    while ((key = strchr(key, '.'))) {
        key++;
        n++;
    }
    return n;
}

static int hydra_read_override(struct dlio_args *args, const char *text,
                               struct pr_err *err)
{
    const char *key = hydra_override_key(args->arena, text);

    if (!key)
        return pr_fail_nomem(err);
    if (is_hydra_key_below(key, "hydra"))
        return hydra_read_own_override(args, text, key, err);
    if (depth_of(key) > MAX_DEPTH)
        return pr_fail(err, PR_E_USAGE, "command line",
                       "'%.60s…' is nested too deep", text);
    if (!strchr(text, '=') && *text != '~')
        return pr_fail(err, PR_E_USAGE, "command line",
                       "'%s' is neither an option nor an override such as "
                       "workload.train.epochs=1",
                       text);
    return hydra_read_task_override(args, text, key, err);
}

static int hydra_read_cfg(struct dlio_args *args, const char *what,
                          struct pr_err *err)
{
    args->print_job = strcmp(what, "job") == 0 || strcmp(what, "all") == 0;
    args->print_hydra = strcmp(what, "hydra") == 0 || strcmp(what, "all") == 0;
    if (args->print_job || args->print_hydra)
        return PR_OK;
    return pr_fail(err, PR_E_USAGE, "",
                   "--cfg wants one of job, hydra, all, got '%s'", what);
}

static int hydra_refuse_option(const char *option, struct pr_err *err)
{
    static const char *const known[] = {
        "-m", "--multirun", "--run", "-r",        "--info",
        "-i", "--job",      "-p",    "--package", "--shell-completion"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(option, known[i]) == 0)
            return pr_fail(err, PR_E_USAGE, "",
                           "hydra's option '%s' is not supported", option);
    return pr_fail(err, PR_E_USAGE, "", "unknown option '%s'", option);
}

/* Flags with a value, also as --name=value. *ret: the value, NULL: not it. */
static int hydra_read_option_value(int argc, char **argv, int *i,
                                   const char *name, const char *letters,
                                   const char **ret, struct pr_err *err)
{
    size_t n = strlen(name);

    *ret = NULL;
    if (strncmp(argv[*i], name, n) == 0 && argv[*i][n] == '=') {
        *ret = argv[*i] + n + 1;
    } else if (strcmp(argv[*i], name) == 0 || strcmp(argv[*i], letters) == 0) {
        if (*i + 1 == argc)
            return pr_fail(err, PR_E_USAGE, "", "%s wants a value", argv[*i]);
        *ret = argv[++*i];
    }
    return PR_OK;
}

static int hydra_read_option(struct dlio_args *args, int argc, char **argv,
                             int *i, struct pr_err *err)
{
    const char *cfg = NULL, *path = NULL, *value = NULL;
    int rc = hydra_read_option_value(argc, argv, i, "--cfg", "-c", &cfg, err);

    if (!rc && !cfg)
        rc = hydra_read_option_value(argc, argv, i, "--config-dir", "-cd",
                                     &path, err);
    if (!rc && !cfg && !path)
        rc = hydra_read_option_value(argc, argv, i, "--config-path", "-cp",
                                     &path, err);
    if (!rc && !cfg && !path)
        rc = hydra_read_option_value(argc, argv, i, "--config-name", "-cn",
                                     &value, err);
    if (rc)
        return rc;
    if (cfg)
        return hydra_read_cfg(args, cfg, err);
    if (path)
        args->config_dir = path;
    else if (value)
        args->config_name = value;
    else if (strcmp(argv[*i], "--help") == 0 || strcmp(argv[*i], "-h") == 0)
        args->help = true;
    else if (strcmp(argv[*i], "--version") == 0)
        args->version = true;
    else if (strcmp(argv[*i], "--resolve") == 0)
        args->resolve = true;
    else
        return hydra_refuse_option(argv[*i], err);
    return PR_OK;
}

int dlio_args_read(struct dlio_args *args, int argc, char **argv,
                   struct pr_err *err)
{
    int rc = PR_OK;

    args->output_subdir = ".hydra";
    for (int i = 0; i < argc && !rc; i++)
        rc = argv[i][0] == '-' ? hydra_read_option(args, argc, argv, &i, err)
                               : hydra_read_override(args, argv[i], err);
    return rc;
}
