/* The program under one of DLIO's names: its command lines. */
#include "compat/dlio/dlio.h"

#include "base/file.h"
#include "base/units.h"
#include "cli/ranks.h"
#include "conf/option/option.h"
#include "present/report/report_dlio.h"
#include "present/screen.h"
#include "prony_config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- hydra's command line */

/* Flags, and overrides told apart by whom they are for: the job (workload.*),
 * hydra itself, or Prony (exp.accelerators=8). */

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

/* PR_E_USAGE. */
static int dlio_args_read(struct dlio_args *args, int argc, char **argv,
                          struct pr_err *err)
{
    int rc = PR_OK;

    args->output_subdir = ".hydra";
    for (int i = 0; i < argc && !rc; i++)
        rc = argv[i][0] == '-' ? hydra_read_option(args, argc, argv, &i, err)
                               : hydra_read_override(args, argv[i], err);
    return rc;
}

/* ---- dlio_postprocessor: DLIO's report of a folder, as a file in it */

struct post {
    const char *folder, *hydra;
    struct pr_dlio_setup setup;
    bool help;
};

enum kind { TEXT, COUNT, SWITCH, IGNORED };

static const struct flag {
    const char *name, *letter, *help;
    enum kind kind;
    size_t offset;
} flags[] = {
    {"--output-folder", "-of", "folder of the results (default: ./output)",
     TEXT, offsetof(struct post, folder)},
    {"--hydra-folder", "-hf", "folder of hydra's files in it (default: .hydra)",
     TEXT, offsetof(struct post, hydra)},
    {"--num-proc", "-np", "not used: files of ranks are counted", IGNORED, 0},
    {"--epochs", "-e", "epochs, if the config does not say", COUNT,
     offsetof(struct post, setup.epochs)},
    {"--batch-size", "-bs", "batch of a rank, likewise", COUNT,
     offsetof(struct post, setup.batch)},
    {"--do-eval", "-de", "whether evaluations were made, likewise", SWITCH,
     offsetof(struct post, setup.evaluation)},
    {"--batch-size-eval", "-bse", "batch when evaluating, likewise", COUNT,
     offsetof(struct post, setup.batch_eval)},
    {"--do-checkpoint", "-c", "not used", IGNORED, 0},
    {"--debug", "-d", "not used", IGNORED, 0},
    {"--name", "-n", "name of the run, likewise", TEXT,
     offsetof(struct post, setup.name)},
};

static const struct flag *flag_of(const char *arg, const char **ret_value)
{
    *ret_value = NULL;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        size_t n = strlen(flags[i].name);
        if (strcmp(arg, flags[i].name) == 0 ||
            strcmp(arg, flags[i].letter) == 0)
            return &flags[i];
        if (strncmp(arg, flags[i].name, n) == 0 && arg[n] == '=') {
            *ret_value = arg + n + 1;
            return &flags[i];
        }
    }
    return NULL;
}

static int postprocessor_set_flag(struct post *p, const struct flag *f,
                                  const char *value, struct pr_err *err)
{
    static const char *const yes[] = {"yes", "true", "t", "y", "1"};
    void *at = (char *)p + f->offset;
    int64_t n;

    if (f->kind == TEXT)
        *(const char **)at = value;
    for (size_t i = 0; f->kind == SWITCH && i < sizeof yes / sizeof *yes; i++)
        if (strcasecmp(value, yes[i]) == 0)
            *(bool *)at = true;
    if (f->kind != COUNT)
        return PR_OK;
    if (!pr_parse_int(value, &n) || n < 1)
        return pr_fail(err, PR_E_USAGE, "",
                       "%s wants a whole number of at least 1, got '%s'",
                       f->name, value);
    *(uint64_t *)at = (uint64_t)n;
    return PR_OK;
}

static int postprocessor_read_args(struct post *p, int argc, char **argv,
                                   struct pr_err *err)
{
    int rc = PR_OK;

    for (int i = 0; i < argc && !rc; i++) {
        const char *value;
        const struct flag *f = flag_of(argv[i], &value);

        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            p->help = true;
            continue;
        }
        if (!f)
            return pr_fail(err, PR_E_USAGE, "", "unknown option '%s'", argv[i]);
        if (!value && i + 1 == argc)
            return pr_fail(err, PR_E_USAGE, "", "%s wants a value", argv[i]);
        rc = postprocessor_set_flag(p, f, value ? value : argv[++i], err);
    }
    return rc;
}

static int postprocessor_print_help(struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);

    pr_buf_str(&out, "usage: dlio_postprocessor --output-folder DIR\n\n"
                     "Writes DLIO_NAME_report.txt into a folder of DLIO's "
                     "results.\n\n");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        pr_buf_printf(&out, "  %-5s %-18s %s\n", flags[i].letter, flags[i].name,
                      flags[i].help);
    return answer_print_buf(&out, err);
}

static int postprocessor_write_report(const struct post *p,
                                      const struct pr_dlio_run *run,
                                      struct pr_arena *a, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf text = PR_BUF_INIT(1u << 30);
    PR_AUTO_BUF struct pr_buf name = PR_BUF_INIT(4096);
    const char *path;
    int rc;

    pr_dlio_report_text(run, &text);
    pr_dlio_report_name(run, &name);
    if (!pr_buf_ok(&text) || !pr_buf_ok(&name))
        return pr_fail_nomem(err);
    path = pr_arena_printf(a, "%s/%s", p->folder, name.data);
    if (!path)
        return pr_fail_nomem(err);
    rc = pr_file_write(path, text.data, text.len, err);
    pr_buf_clear(&name);
    pr_buf_str(&name, "report: ");
    pr_screen_clean(&name, path, strlen(path));
    pr_buf_char(&name, '\n');
    return rc ? rc : answer_print_buf(&name, err);
}

static int dlio_postprocessor(int argc, char **argv, struct pr_err *err)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct post p = {.folder = "./output"};
    struct pr_dlio_opts opts = {0};
    struct pr_dlio_run run;
    int rc =
        a ? postprocessor_read_args(&p, argc, argv, err) : pr_fail_nomem(err);

    if (rc || p.help)
        return rc ? rc : postprocessor_print_help(err);
    opts.hydra = p.hydra;
    opts.setup = p.setup;
    rc = pr_dlio_read(p.folder, &opts, a, &run, err);
    if (rc)
        return rc;
    if (!run.has_iostat)
        message_print_warning(p.folder,
                              "there is no iostat.json, so nothing is said of "
                              "disks and processors",
                              "");
    return postprocessor_write_report(&p, &run, a, err);
}

/* ---- the names */

/* Python's repr of the list of overrides, as hydra says it. */
static void say_failed(const struct dlio_args *args)
{
    PR_AUTO_BUF struct pr_buf list = PR_BUF_INIT(1 << 16);

    for (size_t i = 0; i < args->task_count; i++) {
        struct pr_value v = pr_str(args->task[i].text);
        pr_buf_str(&list, i ? ", " : "");
        pr_value_write_repr(&list, &v);
    }
    message_print(SAY_CRITICAL, "Error executing job with overrides: [%s]\n",
                  list.data ? list.data : "");
}

/* DLIO's words for what is said. Its default leaves out what is only of
 * interest to those who look for errors. */
static int dlio_set_log_level(struct pr_err *err)
{
    static const char *const names[] = {"critical", "error", "warning", "info",
                                        "debug"};
    const char *level = getenv("DLIO_LOG_LEVEL");

    message_set_level(SAY_WARNING);
    if (!level || !*level)
        return PR_OK;
    for (int i = 0; i <= SAY_DEBUG; i++)
        if (strcasecmp(level, names[i]) == 0) {
            message_set_level((enum level)i);
            return PR_OK;
        }
    return pr_fail(err, PR_E_USAGE, "DLIO_LOG_LEVEL",
                   "expected error, warning, info, debug or critical, got "
                   "'%s'",
                   level);
}

/* How many processes a launcher has started, 0: none was used. On one machine
 * the first of them emulates as many accelerators; otherwise that would not be
 * what was asked for. */
static int count_processes(const struct ranks *r, long *ret, struct pr_err *err)
{
    *ret = 0;
    if (r->launcher && (!r->size || r->rank < 0))
        return ranks_refuse(r, err);
    if (!r->launcher || r->on_one_machine) {
        *ret = r->size;
        return PR_OK;
    }
    pr_fail(err, PR_E_UNAVAIL, "",
            "started as %ld processes on several machines, which comes in a "
            "later version",
            r->size);
    return pr_hint(err, "start it on one machine, with ++exp.accelerators=%ld",
                   r->size);
}

static int dlio_print_help(const struct dlio_args *args, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(1 << 16);

    pr_buf_printf(
        &out,
        "%s: emulated training by Prony, with DLIO's command line\n\n"
        "  %s workload=NAME [++workload.SECTION.KEY=VALUE…]\n\n"
        "  key=value     set what is there\n"
        "  +key=value    add what is not\n"
        "  ++key=value   set or add\n"
        "  ~key          take away\n\n"
        "  ++exp.accelerators=N    accelerators to emulate, in one process\n"
        "  hydra.run.dir=DIR       where results go (default:\n"
        "                          ./hydra_log/MODEL/TIME)\n"
        "  hydra.output_subdir=D   where the config goes, below that\n"
        "                          (default: .hydra)\n\n"
        "  -cd, --config-dir DIR   a folder with workload/NAME.yaml\n"
        "  -cn, --config-name N    a primary config N.yaml in it\n"
        "  -c, --cfg job|hydra|all print the config and do nothing\n"
        "  --resolve               … with references resolved\n"
        "  --help, --version\n\nworkloads:\n",
        args->program, args->program);
    hydra_list_workloads(args, "  ", &out);
    return answer_print_buf(&out, err);
}

static int dlio_print_config(struct dlio_args *args, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(64 << 20);
    struct pr_value root;
    const char *run_dir;
    int rc = hydra_compose(args, &root, err);

    if (!rc)
        rc = dlio_run_dir(args, &root, &run_dir, err);
    if (!rc && args->resolve)
        rc = hydra_resolve(args->arena, &root, &root, &root, err);
    if (rc)
        return rc;
    if (args->print_hydra)
        dlio_write_hydra_yaml(args, run_dir, &out);
    if (args->print_job)
        hydra_yaml_write(&out, &root);
    return answer_print_buf(&out, err);
}

static int dlio_print_version(const struct dlio_args *args, struct pr_err *err)
{
    PR_AUTO_BUF struct pr_buf out = PR_BUF_INIT(256);

    pr_buf_printf(&out, "%s: prony %s (%s)\n", args->program, PR_VERSION,
                  PR_GIT_REV);
    return answer_print_buf(&out, err);
}

/* The exit status: 0; 1 as DLIO has it; 2 for the command line itself. */
static int status_of(int rc, const struct pr_err *err)
{
    if (rc == PR_OK || (rc == PR_E_IO && err->sys_errno == EPIPE &&
                        !strcmp(err->where, "stdout")))
        return 0; /* also when a reader has seen enough */
    message_print_error(err);
    if (rc == PR_E_USAGE || rc == PR_E_UNAVAIL)
        return pr_code_exit_status(rc);
    return 1;
}

static int dlio_run_benchmark(struct dlio_args *args, struct pr_err *err)
{
    int signo = 0, rc = dlio_run(args, &signo, err);

    if (signo)
        return 128 + signo;
    if (rc && args->composed)
        say_failed(args);
    if (rc == PR_E_UNAVAIL)
        rc = PR_E_CONF; /* of a job: 1, as for every other reason */
    return status_of(rc, err);
}

/* Reads the command line, with what mpirun says in front of it. */
static int dlio_read_args(struct dlio_args *args, long processes, int argc,
                          char **argv, struct pr_err *err)
{
    char **all = PR_ARENA_ARRAY(args->arena, char *, (size_t)argc + 1);
    int n = 0;

    if (!all)
        return pr_fail_nomem(err);
    if (processes)
        all[n++] =
            pr_arena_printf(args->arena, "++exp.accelerators=%ld", processes);
    if (processes && !all[0])
        return pr_fail_nomem(err);
    for (int i = 0; i < argc; i++)
        all[n++] = argv[i];
    return dlio_args_read(args, n, all, err);
}

static int hydra_main(const char *program, bool query, int argc, char **argv)
{
    PR_AUTO_ARENA struct pr_arena *a = pr_arena_new(65536);
    struct dlio_args args = {.arena = a, .program = program};
    struct pr_err err = {0};
    struct ranks ranks;
    long processes = 0;
    int rc = a ? dlio_set_log_level(&err) : pr_fail_nomem(&err);

    ranks_read(&ranks);
    if (!rc && !query)
        rc = count_processes(&ranks, &processes, &err);
    if (ranks.rank > 0) /* one of them does the work, and talks */
        return rc ? pr_code_exit_status(rc) : 0;
    if (!rc)
        rc = dlio_read_args(&args, processes, argc, argv, &err);
    if (rc)
        return status_of(rc, &err);
    if (args.help)
        rc = dlio_print_help(&args, &err);
    else if (args.version)
        rc = dlio_print_version(&args, &err);
    else if (args.print_job || args.print_hydra)
        rc = dlio_print_config(&args, &err);
    else if (query)
        rc = hydra_query(&args, &err);
    else
        return dlio_run_benchmark(&args, &err);
    return status_of(rc, &err);
}

static int post_main(int argc, char **argv)
{
    struct pr_err err = {0};

    return status_of(dlio_postprocessor(argc, argv, &err), &err);
}

bool dlio_called(int argc, char **argv, int *ret_status)
{
    const char *slash = argc ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc ? argv[0] : "";

    if (strcmp(name, "dlio_benchmark") == 0)
        *ret_status = hydra_main(name, false, argc - 1, argv + 1);
    else if (strcmp(name, "dlio_benchmark_query") == 0)
        *ret_status = hydra_main(name, true, argc - 1, argv + 1);
    else if (strcmp(name, "dlio_postprocessor") == 0)
        *ret_status = post_main(argc - 1, argv + 1);
    else
        return false;
    return true;
}
